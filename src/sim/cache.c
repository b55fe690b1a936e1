/*
 * cache.c - rows of a trace to one of the models.
 *
 * Implements trod/cache.h.
 */
#include "trod/cache.h"

#include "sim/layout.h"
#include "sim/own/report.h"
#include "sim/refs.h"
#include "sim/sweep.h"
#include "trod/buf.h"
#include "trod/io.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_MAX = 1 << 24 };

/* Where the misses of a cache go. */
struct miss_file {
    struct trod_output *out;
    int failed; /* first error of writing */
};

struct trod_cache {
    int like;
    struct trod_diag *diag;
    struct trod_refs refs;
    struct trod_dr_config dr_config;
    struct trod_dr_sim dr;
    struct trod_din_sim din;
    struct trod_cg_sim cg;
    struct trod_own_config own_config;
    struct trod_own_sim own;
    struct trod_sweep *sweep; /* NULL: own */
    uint64_t top;
    struct miss_file *miss; /* by cache of DynamoRIO's model */
    struct trod_sim_ref ref[2 * TROD_BATCH_ROWS];
};

/* The whole of file PATH. */
static int read_file(const char *path, struct trod_buf *out, struct trod_diag *diag)
{
    struct trod_input *in;
    struct trod_span span;
    int rc = trod_input_open(&in, path, &(struct trod_input_options){.no_thread = true}, diag);

    if (rc < 0)
        return rc;
    while ((rc = trod_input_ahead(in, 0, &span)) == 0 && span.n) {
        if (out->n + span.n > CONFIG_MAX) {
            rc = trod_error(diag, TROD_ERR_LIMIT, "cache.config", NULL,
                            "'%s' has more than 16 MiB: it is no configuration", path);
            break;
        }
        if ((rc = trod_buf_add(out, span.p, span.n)) < 0)
            break;
        trod_input_consume(in, span.n);
    }
    trod_input_close(in);
    return rc;
}

/* --- misses to a file --- */

static void write_miss(void *user, const struct trod_sim_ref *r, uint64_t addr)
{
    struct miss_file *m = user;
    const uint64_t pc = r->op == TROD_OP_FETCH ? addr : r->pc;
    struct trod_buf line = {0};
    int rc = trod_buf_printf(&line, "%" PRIu64 ",0x%" PRIx64 ",0x%" PRIx64 "\n", r->pid, pc, addr);

    if (rc == 0)
        rc = trod_output_write(m->out, line.p, line.n);
    if (rc < 0 && m->failed == 0)
        m->failed = rc;
    trod_buf_fini(&line);
}

static int begin_miss_files(struct trod_cache *c)
{
    const struct trod_dr_config *k = &c->dr_config;
    int rc = 0;

    if (k->tool != TROD_DR_CACHE)
        return 0;
    c->miss = calloc(k->n_spec ? k->n_spec : 1, sizeof *c->miss);
    if (!c->miss)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; rc == 0 && i < k->n_spec; i++) {
        const char *path = k->spec[i].miss_file;

        if (!k->config_file && i + 1 == k->n_spec)
            path = k->miss_file; /* of the last level */
        if (!path || !*path)
            continue;
        rc = trod_output_create(&c->miss[i].out, path, NULL, c->diag);
        c->dr.cache[i].missed = write_miss;
        c->dr.cache[i].user = &c->miss[i];
    }
    return rc;
}

/* Give the files their names. */
static int end_miss_files(struct trod_cache *c)
{
    int rc = 0;

    for (size_t i = 0; c->miss && i < c->dr_config.n_spec; i++) {
        struct trod_output *out = c->miss[i].out;
        int end = c->miss[i].failed;

        if (!out)
            continue;
        c->miss[i].out = NULL;
        if (end < 0)
            trod_output_discard(out);
        else
            end = trod_output_commit(out);
        rc = rc == 0 ? end : rc;
    }
    return rc;
}

/* --- the models --- */

/* Options WITH, and the configuration file that they name. */
static int configure_dr(struct trod_dr_config *k, const char *with, struct trod_diag *diag)
{
    struct trod_buf text = {0};
    int rc;

    trod_dr_config_init(k);
    rc = trod_dr_config_options(k, with ? with : "", diag);
    if (rc == 0 && k->config_file)
        rc = read_file(k->config_file, &text, diag);
    if (rc == 0 && k->config_file)
        rc = trod_dr_config_read(k, (const char *)text.p, text.n, k->config_file, diag);
    trod_buf_fini(&text);
    return rc;
}

static int new_dr(struct trod_cache *c, const char *with)
{
    struct trod_dr_config *k = &c->dr_config;
    struct trod_buf text = {0};
    int rc = configure_dr(k, with, c->diag);

    c->refs.flags = TROD_REFS_CANONICAL;
    if (rc == 0)
        rc = trod_dr_sim_init(&c->dr, k, k->config_file, c->diag);
    if (rc == 0 && k->v2p_file && k->physical)
        rc = read_file(k->v2p_file, &text, c->diag);
    if (rc == 0 && k->v2p_file && k->physical)
        rc = trod_dr_pages_read(&c->dr.pages, (const char *)text.p, text.n, k->v2p_file, c->diag);
    trod_buf_fini(&text);
    return rc == 0 ? begin_miss_files(c) : rc;
}

/* The hierarchy of options O. */
static int configure_own(struct trod_own_config *c, const struct trod_cache_options *o,
                         struct trod_diag *diag)
{
    const char *name = o->config ? o->config : o->preset ? o->preset : "default";
    struct trod_buf text = {0};
    int rc;

    if (o->config) {
        rc = read_file(o->config, &text, diag);
    } else {
        const char *preset = trod_own_preset(name);

        rc = preset ? trod_buf_add(&text, preset, strlen(preset))
                    : trod_error(diag, TROD_ERR_USAGE, "cache.preset", NULL,
                                 "no preset is called '%s'", name);
    }
    if (rc == 0)
        rc = trod_own_config_read(c, (const char *)text.p, text.n, name, diag);
    trod_buf_fini(&text);
    return rc;
}

static int new_own(struct trod_cache *c, const struct trod_cache_options *o)
{
    int rc;

    c->top = o->top;
    if (o->sweep) {
        c->sweep = calloc(1, sizeof *c->sweep);
        return c->sweep ? trod_sweep_init(c->sweep, o->sweep, c->diag) : TROD_ERR_NOMEM;
    }
    rc = configure_own(&c->own_config, o, c->diag);
    if (rc < 0)
        return rc;
    c->own_config.classify = c->own_config.classify || o->classify;
    rc = trod_own_sim_init(&c->own, &c->own_config);
    c->own.by = (uint8_t)o->by;
    c->own.sharing = o->sharing;
    c->own.interval = o->interval;
    return rc;
}

int trod_cache_new(struct trod_cache **out, const struct trod_cache_options *o,
                   struct trod_diag *diag)
{
    struct trod_cache *c = calloc(1, sizeof *c);
    const char *with = o->with ? o->with : "";
    int rc;

    *out = NULL;
    if (!c)
        return TROD_ERR_NOMEM;
    c->like = o->like;
    c->diag = diag;
    switch (o->like) {
    case TROD_CACHE_OWN:
        rc = new_own(c, o);
        break;
    case TROD_CACHE_DRCACHESIM:
        rc = new_dr(c, with);
        break;
    case TROD_CACHE_DINERO:
        rc = trod_din_sim_init(&c->din, with, diag);
        break;
    case TROD_CACHE_CACHEGRIND:
    case TROD_CACHE_CALLGRIND:
        rc = trod_cg_sim_init(&c->cg, o->like == TROD_CACHE_CALLGRIND, with, diag);
        break;
    default:
        rc = TROD_ERR_USAGE;
        break;
    }
    if (rc < 0)
        trod_cache_free(c);
    else
        *out = c;
    return rc;
}

int trod_cache_order(const struct trod_cache_options *o, enum trod_order *order, uint32_t *cores,
                     struct trod_diag *diag)
{
    struct trod_own_config own;
    struct trod_dr_config k;
    int rc = 0;

    *cores = 0;
    *order = TROD_ORDER_FILE;
    if (o->like == TROD_CACHE_OWN && !o->sweep) {
        rc = configure_own(&own, o, diag);
        if (rc == 0 && own.cores > 1)
            *order = TROD_ORDER_TIME;
    } else if (o->like == TROD_CACHE_DRCACHESIM) {
        rc = configure_dr(&k, o->with, diag);
        *order = k.by_thread || k.cpu_scheduling ? TROD_ORDER_TIME : TROD_ORDER_DYNAMIC;
        *cores = k.schedule_cores;
        trod_dr_config_fini(&k);
    }
    return rc;
}

static int feed_dr(struct trod_cache *c, size_t n)
{
    int rc = trod_dr_sim_feed(&c->dr, c->ref, n, c->diag);

    for (size_t i = 0; rc == 0 && c->miss && i < c->dr_config.n_spec; i++)
        rc = c->miss[i].failed;
    return rc < 0 ? rc : !c->dr.over;
}

int trod_cache_feed(struct trod_cache *c, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const size_t n = trod_refs_get(&c->refs, b, from, to, c->ref);
    int rc;

    switch (c->like) {
    case TROD_CACHE_OWN:
        if (c->sweep) {
            trod_sweep_feed(c->sweep, c->ref, n);
            return 1;
        }
        rc = trod_own_sim_feed(&c->own, c->ref, n, b->have & TROD_COL_CORE);
        return rc < 0 ? rc : 1;
    case TROD_CACHE_DRCACHESIM:
        return feed_dr(c, n);
    case TROD_CACHE_DINERO:
        rc = trod_din_sim_feed(&c->din, c->ref, n);
        return rc < 0 ? rc : !c->din.over;
    default:
        trod_cg_sim_feed(&c->cg, c->ref, n);
        return 1;
    }
}

const char *trod_cache_preset(size_t i, const char **title)
{
    return trod_own_preset_at(i, title);
}

void trod_cache_warm(struct trod_cache *c)
{
    if (c->like == TROD_CACHE_OWN && !c->sweep)
        trod_own_sim_reset(&c->own);
}

int trod_cache_result(struct trod_cache *c, struct trod_symbols *symbols,
                      const struct trod_meta *meta, struct trod_result *r)
{
    const struct trod_own_report o = {c->top, symbols};

    if (c->like != TROD_CACHE_OWN)
        return TROD_ERR_USAGE;
    if (!c->sweep)
        return trod_own_report(&c->own, &o, meta, r);
    trod_sweep_end(c->sweep);
    trod_sweep_report(c->sweep, r);
    return 0;
}

int trod_cache_layout(struct trod_cache *c, struct trod_buf *out)
{
    int rc;

    switch (c->like) {
    case TROD_CACHE_OWN:
        return TROD_ERR_USAGE;
    case TROD_CACHE_DRCACHESIM:
        rc = end_miss_files(c);
        return rc < 0 ? rc : trod_layout_dr(&c->dr, out);
    case TROD_CACHE_DINERO:
        trod_din_sim_end(&c->din);
        return trod_layout_din(&c->din, out);
    default:
        trod_cg_sim_end(&c->cg);
        return trod_layout_cg(&c->cg, out);
    }
}

void trod_cache_free(struct trod_cache *c)
{
    if (!c)
        return;
    for (size_t i = 0; c->miss && i < c->dr_config.n_spec; i++)
        if (c->miss[i].out)
            trod_output_discard(c->miss[i].out);
    free(c->miss);
    if (c->like == TROD_CACHE_DRCACHESIM) {
        if (c->dr.config)
            trod_dr_sim_fini(&c->dr);
        trod_dr_config_fini(&c->dr_config);
    }
    if (c->own.config)
        trod_own_sim_fini(&c->own);
    if (c->sweep)
        trod_sweep_fini(c->sweep);
    free(c->sweep);
    trod_din_sim_fini(&c->din);
    trod_cg_sim_fini(&c->cg);
    free(c);
}
