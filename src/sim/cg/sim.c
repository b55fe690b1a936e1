/*
 * sim.c - Cachegrind's and Callgrind's caches.
 *
 * Implements cg/sim.h. The last level is neither inclusive nor exclusive: it is looked up when the
 * first one misses, with the whole reference again.
 */
#include "sim/cg/sim.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 12, AHEAD = 5 };

static const char *const level_names[TROD_CG_LEVELS] = {"--I1=", "--D1=", "--LL="};

/* --- options --- */

static bool geometry(struct trod_cg_cache *c, const char *text)
{
    uint64_t v[3];
    char *end;

    for (unsigned i = 0; i < 3; i++) {
        if (*text < '0' || *text > '9')
            return false;
        v[i] = strtoull(text, &end, 10);
        if (*end != (i < 2 ? ',' : 0))
            return false;
        text = end + 1;
    }
    if (v[0] == 0 || v[1] == 0 || v[2] < 16 || v[2] & (v[2] - 1) || v[2] > 4096 ||
        v[1] > UINT32_MAX || v[0] / v[1] < v[2])
        return false;
    c->size = v[0];
    c->ways = (uint32_t)v[1];
    c->line = (uint32_t)v[2];
    c->sets = v[0] / v[1] / v[2];
    return v[0] == c->sets * v[1] * v[2] && !(c->sets & (c->sets - 1));
}

/* Is O option NAME with "yes" or "no"? Then *ON becomes which of them. */
static bool switched(const char *o, const char *name, bool *on)
{
    const size_t n = strlen(name);

    if (strncmp(o, name, n) != 0 || (strcmp(o + n, "yes") != 0 && strcmp(o + n, "no") != 0))
        return false;
    *on = o[n] == 'y';
    return true;
}

static int one_option(struct trod_cg_sim *s, const char *o, struct trod_diag *diag)
{
    for (unsigned i = 0; i < TROD_CG_LEVELS; i++)
        if (strncmp(o, level_names[i], 5) == 0)
            return geometry(&s->cache[i], o + 5)
                       ? 0
                       : trod_error(diag, TROD_ERR_USAGE, "cache.options", NULL,
                                    "not SIZE,WAYS,LINE with a power of two of sets and of bytes "
                                    "a line: '%s'",
                                    o);
    if (strcmp(o, "--cache-sim=yes") == 0 || strncmp(o, "--tool=", 7) == 0)
        return 0;
    if (s->callgrind && (switched(o, "--simulate-wb=", &s->write_back) ||
                         switched(o, "--simulate-hwpref=", &s->prefetch)))
        return 0;
    return trod_error(diag, TROD_ERR_USAGE, "cache.options", NULL, "unknown option '%s'", o);
}

int trod_cg_sim_init(struct trod_cg_sim *s, bool callgrind, const char *text,
                     struct trod_diag *diag)
{
    static const char *const defaults[TROD_CG_LEVELS] = {"32768,8,64", "32768,8,64",
                                                         "8388608,16,64"};
    char *copy = strdup(text), *rest = NULL;
    int rc = copy ? 0 : TROD_ERR_NOMEM;

    memset(s, 0, sizeof *s);
    s->callgrind = callgrind;
    s->least_line = UINT32_MAX;
    for (unsigned i = 0; i < TROD_CG_LEVELS; i++)
        geometry(&s->cache[i], defaults[i]);
    for (char *o = copy ? strtok_r(copy, " \t\n\r", &rest) : NULL; rc == 0 && o;
         o = strtok_r(NULL, " \t\n\r", &rest))
        rc = one_option(s, o, diag);
    free(copy);
    if (rc == 0 && s->write_back && s->prefetch)
        return trod_error(diag, TROD_ERR_USAGE, "cache.options", NULL,
                          "--simulate-wb and --simulate-hwpref do not go together: their tags "
                          "differ in callgrind");
    for (unsigned i = 0; rc == 0 && i < TROD_CG_LEVELS; i++) {
        struct trod_cg_cache *c = &s->cache[i];

        while (1u << c->line_bits < c->line)
            c->line_bits++;
        if (c->line < s->least_line)
            s->least_line = c->line;
        c->tag = calloc(c->sets * c->ways, sizeof *c->tag);
        if (!c->tag)
            rc = TROD_ERR_NOMEM;
    }
    return rc;
}

void trod_cg_sim_fini(struct trod_cg_sim *s)
{
    for (unsigned i = 0; i < TROD_CG_LEVELS; i++)
        free(s->cache[i].tag);
}

/* --- references --- */

/* Look LINE up, bring it to the front, mark it where DIRTY. true: miss; *EVICTED: a dirty one. */
static bool touch(struct trod_cg_cache *c, uint64_t line, bool dirty, bool *evicted)
{
    uint64_t *set = c->tag + (line & (c->sets - 1)) * c->ways;
    const uint64_t tag = (line + 1) << 1;
    uint32_t w = 0;
    uint64_t found;

    while (w < c->ways && (set[w] & ~UINT64_C(1)) != tag)
        w++;
    found = w < c->ways ? set[w] : tag;
    if (w == c->ways) {
        *evicted = *evicted || (set[w - 1] & 1);
        memmove(set + 1, set, (w - 1) * sizeof *set);
    } else {
        memmove(set + 1, set, w * sizeof *set);
    }
    set[0] = found | dirty;
    return w == c->ways;
}

/* The same for all lines of a reference (two at the most): true where one misses. */
static bool look_up(struct trod_cg_cache *c, uint64_t addr, uint32_t size, bool dirty,
                    bool *evicted)
{
    const uint64_t first = addr >> c->line_bits, last = (addr + size - 1) >> c->line_bits;
    bool miss = touch(c, first, dirty, evicted);

    for (uint64_t line = first + 1; line <= last; line++)
        miss = touch(c, line, dirty, evicted) || miss;
    return miss;
}

/* Callgrind's streams: the line that ADDR continues towards is fetched into the last level. */
static void prefetch(struct trod_cg_sim *s, uint64_t addr)
{
    struct trod_cg_cache *ll = &s->cache[TROD_CG_LL];
    struct trod_cg_stream *t = &s->stream[(addr >> PAGE_BITS) % TROD_CG_STREAMS];
    const uint64_t line = addr >> ll->line_bits;
    bool evicted = false;

    if (line == t->last)
        return;
    if (line == t->last + 1)
        t->run = t->run >= 0 ? t->run + 1 : 1;
    else if (line == t->last - 1)
        t->run = t->run <= 0 ? t->run - 1 : -1;
    else
        t->run = 0;
    t->last = line;
    if (t->run >= 2)
        touch(ll, line + AHEAD, false, &evicted);
    else if (t->run <= -2)
        touch(ll, line - AHEAD, false, &evicted);
}

static void reference(struct trod_cg_sim *s, enum trod_cg_event e, uint64_t addr, uint32_t size)
{
    const bool write = e == TROD_CG_DW;
    bool evicted = false, ignored = false, miss;

    if (e != TROD_CG_IR && size > s->least_line)
        size = s->least_line;
    s->refs[e]++;
    miss =
        look_up(&s->cache[e == TROD_CG_IR ? TROD_CG_I1 : TROD_CG_D1], addr, size, false, &ignored);
    if (s->prefetch && miss)
        prefetch(s, addr);
    if (!miss) {
        if (s->write_back && write)
            look_up(&s->cache[TROD_CG_LL], addr, size, true, &ignored);
        return;
    }
    s->first_misses[e]++;
    if (look_up(&s->cache[TROD_CG_LL], addr, size, s->write_back && write, &evicted)) {
        s->last_misses[e]++;
        s->dirty_misses[e] += evicted;
    }
}

static void release(struct trod_cg_sim *s)
{
    if (s->holds)
        reference(s, TROD_CG_DR, s->held.addr, s->held.size);
    s->holds = false;
}

void trod_cg_sim_feed(struct trod_cg_sim *s, const struct trod_sim_ref *r, size_t n)
{
    for (const struct trod_sim_ref *end = r + n; r < end; r++) {
        if (r->op == TROD_OP_WRITE && s->holds && r->addr == s->held.addr &&
            r->size == s->held.size && r->pc == s->held.pc && r->tid == s->held.tid) {
            s->holds = false;
            reference(s, s->callgrind ? TROD_CG_DW : TROD_CG_DR, r->addr, r->size);
            continue;
        }
        if (r->op > TROD_OP_WRITE && r->op != TROD_OP_NOTHING)
            continue;
        release(s);
        if (r->size == 0)
            continue;
        if (r->op == TROD_OP_READ) {
            s->held = *r;
            s->holds = true;
        } else {
            reference(s, r->op == TROD_OP_WRITE ? TROD_CG_DW : TROD_CG_IR, r->addr, r->size);
        }
    }
}

void trod_cg_sim_end(struct trod_cg_sim *s)
{
    release(s);
}
