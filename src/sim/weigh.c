/*
 * weigh.c - what each row misses: caches, TLBs and page walks of hierarchies, for `--weight`.
 *
 * Implements docs/navigating.md, "Weights": "LEVEL[:preset=NAME|:config=FILE]". Numbers of the same
 * hierarchy are counted in one simulation.
 */
#include "sim/cache_int.h"
#include "sim/own/sim.h"
#include "sim/refs.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A hierarchy. */
struct place {
    const char *options; /* behind the colon of a number; NULL: none */
    struct trod_own_config config;
    struct trod_own_sim sim;
    struct trod_refs refs;
};

struct weighing {
    struct place *place[TROD_WEIGHER_MOST]; /* by number; the same ones stand there again */
    unsigned misser[TROD_WEIGHER_MOST];     /* number in trod_own_sim.by_row */
    unsigned n;
    struct trod_sim_ref ref[2 * TROD_BATCH_ROWS];
};

/* ---- names */

static const char *options_of(const char *what)
{
    const char *colon = strchr(what, ':');

    return colon ? colon + 1 : NULL;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Does WHAT, up to its colon, say NAME? */
static bool is_called(const char *what, const char *name)
{
    const size_t n = strcspn(what, ":");

    return strlen(name) == n && strncasecmp(what, name, n) == 0;
}

/* The hierarchy that OPTIONS ("preset=NAME", "config=FILE"; NULL: neither) say, into C. */
static int configure(struct trod_own_config *c, const char *options, struct trod_diag *diag)
{
    struct trod_cache_options o = {.struct_size = sizeof o};

    if (options && strncmp(options, "preset=", 7) == 0)
        o.preset = options + 7;
    else if (options && strncmp(options, "config=", 7) == 0)
        o.config = options + 7;
    else if (options)
        return trod_error(diag, TROD_ERR_USAGE, "weight.cache", NULL,
                          "weight 'cache.*:%s': after the colon there must be preset=NAME or "
                          "config=FILE",
                          options);
    return trod_cache_configure(c, &o, diag);
}

/* The number of what WHAT names in C, TROD_OWN_MISSERS: nothing. */
static unsigned misser_of(const struct trod_own_config *c, const char *what)
{
    for (unsigned i = 0; i < c->n; i++)
        if (is_called(what, c->spec[i].name))
            return i;
    for (unsigned i = 0; i < c->n_tlbs; i++)
        if (is_called(what, c->tlb[i].name))
            return TROD_OWN_CACHES + i;
    return c->n_tlbs && is_called(what, "walks") ? TROD_OWN_MISSERS - 1 : TROD_OWN_MISSERS;
}

/* ---- states */

static void place_free(struct place *p)
{
    if (p && p->sim.config)
        trod_own_sim_fini(&p->sim);
    free(p);
}

static int place_new(struct place **out, const char *options, struct trod_diag *diag)
{
    struct place *p = calloc(1, sizeof *p);
    int rc;

    *out = p;
    if (!p)
        return TROD_ERR_NOMEM;
    p->options = options;
    rc = configure(&p->config, options, diag);
    if (rc == 0 && trod_own_config_looks_ahead(&p->config))
        rc = trod_error(diag, TROD_ERR_USAGE, "cache.future", NULL,
                        "policy opt needs two passes over the trace: it is no weight");
    if (rc < 0)
        return rc;
    if (p->config.physical)
        p->refs.flags = TROD_REFS_PHYSICAL;
    rc = trod_own_sim_init(&p->sim, &p->config);
    p->sim.by = TROD_OWN_BY_ROW;
    return rc;
}

static int unknown(const struct trod_own_config *c, const char *what, struct trod_diag *diag)
{
    char names[(TROD_OWN_CACHES + TROD_OWN_TLBS) * (TROD_OWN_NAME + 2) + 16] = "";

    for (unsigned i = 0; i < c->n + c->n_tlbs; i++) {
        strcat(names, i ? ", " : "");
        strcat(names, i < c->n ? c->spec[i].name : c->tlb[i - c->n].name);
    }
    if (c->n_tlbs)
        strcat(names, ", walks");
    return trod_error(diag, TROD_ERR_USAGE, "weight.cache", NULL,
                      "weight 'cache.%s': the hierarchy has %s", what, names);
}

static int make(void **st, const char *const *what, unsigned n, const struct trod_context *c)
{
    struct weighing *w = calloc(1, sizeof *w);
    int rc = 0;

    *st = w;
    if (!w)
        return TROD_ERR_NOMEM;
    for (unsigned i = 0; rc == 0 && i < n; i++) {
        const char *options = options_of(what[i]);
        unsigned k = 0;

        while (k < i && !is_same(w->place[k]->options, options))
            k++;
        w->n = i + 1;
        if (k < i)
            w->place[i] = w->place[k];
        else
            rc = place_new(&w->place[i], options, c->diag);
        if (rc < 0)
            break;
        w->misser[i] = misser_of(&w->place[i]->config, what[i]);
        if (w->misser[i] == TROD_OWN_MISSERS)
            rc = unknown(&w->place[i]->config, what[i], c->diag);
    }
    return rc;
}

static bool is_first(const struct weighing *w, unsigned i)
{
    unsigned k = 0;

    while (w->place[k] != w->place[i])
        k++;
    return k == i;
}

static void fini(void *st)
{
    struct weighing *w = st;

    for (unsigned i = w ? w->n : 0; i-- > 0;)
        if (is_first(w, i))
            place_free(w->place[i]);
    free(w);
}

/* Several cores: the trace's threads run side by side, as in `trod cache`. */
static bool timed(const char *const *what, unsigned n)
{
    struct trod_own_config c;
    bool any = false;

    for (unsigned i = 0; i < n; i++)
        any = any || (configure(&c, options_of(what[i]), NULL) == 0 && c.cores > 1);
    return any;
}

/* ---- rows */

/* Say of each reference which row it is of. */
static void number(struct trod_sim_ref *r, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const bool two = b->kind[i] == TROD_ATOMIC && r->op == TROD_OP_READ;

        r++->owner = i;
        if (two)
            r++->owner = i;
    }
}

static int weigh(void *st, const struct trod_batch *b, uint32_t from, uint32_t to,
                 const struct trod_weighed *out)
{
    struct weighing *w = st;
    int rc = 0;

    for (unsigned i = 0; b && rc == 0 && i < w->n; i++) {
        struct place *p = w->place[i];
        size_t n;

        if (!is_first(w, i))
            continue;
        for (unsigned k = i; k < w->n; k++)
            if (w->place[k] == p)
                p->sim.by_row[w->misser[k]] = out->number[k];
        n = trod_refs_get(&p->refs, b, from, to, w->ref);
        number(w->ref, b, from, to);
        rc = trod_own_sim_feed(&p->sim, w->ref, n, b->have & TROD_COL_CORE);
    }
    return rc;
}

const struct trod_weigher trod_cache_weigher = {
    .about = "LEVEL[:preset=NAME|:config=FILE]",
    .unit = "misses",
    .uses = TROD_REFS_COLUMNS,
    .order = TROD_GLOBAL_ORDER,
    .timed = timed,
    .make = make,
    .weigh = weigh,
    .fini = fini,
};
