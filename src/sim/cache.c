/*
 * cache.c - gives the rows of a trace to one of the models.
 *
 * Implements trod/cache.h.
 */
#include "trod/cache.h"

#include "core/sized.h"
#include "sim/cache_int.h"
#include "sim/layout.h"
#include "sim/miss_files.h"
#include "sim/own/first.h"
#include "sim/own/report.h"
#include "sim/refs.h"
#include "sim/sweep.h"
#include "trod/buf.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80 };

struct trod_cache {
    int like;
    struct trod_diag *diag;
    struct trod_refs refs;
    struct trod_whose *whose; /* of by DATA and those behind it; else NULL */
    struct trod_dr_config dr_config;
    struct trod_dr_sim dr;
    struct trod_din_sim din;
    struct trod_cg_sim cg;
    struct trod_own_config own_config;
    struct trod_own_sim own;
    struct trod_first *first; /* the first level of a plain hierarchy; else NULL */
    struct trod_sweep *sweep; /* NULL: own */
    uint64_t top;
    int by; /* enum trod_cache_by */
    bool plot, ended;
    bool recording;      /* trod_cache_new_part */
    bool first_part;     /* of the parts of the simulation, the one that warns */
    bool fed, ran;       /* there were rows; and an instruction in the warm-up */
    bool warms, counts;  /* there is a warm-up of rows or instructions; rows came behind it */
    const char *nothing; /* why nothing is counted; NULL: something is */
    unsigned width;
    uint64_t warm_rows;            /* still to come */
    uint64_t warm;                 /* instructions up to the first that counts, still to come */
    struct trod_miss_files misses; /* of DynamoRIO's model */
    struct trod_sim_ref *ref;      /* of a batch, two a row at the most; NULL: not needed */
};

/* --- the models --- */

/* RESULT: see trod_cache_options. */
static int new_dr(struct trod_cache *c, const char *with, const char *result)
{
    struct trod_dr_config *k = &c->dr_config;
    struct trod_buf text = {0};
    int rc = trod_cache_configure_dr(k, with, c->diag);

    c->refs.flags = TROD_REFS_CANONICAL;
    if (rc == 0)
        rc = trod_dr_sim_init(&c->dr, k, k->config_file, c->diag);
    if (rc == 0 && k->v2p_file && k->physical)
        rc = trod_cache_file(k->v2p_file, &text, c->diag);
    if (rc == 0 && k->v2p_file && k->physical)
        rc = trod_dr_pages_read(&c->dr.pages, (const char *)text.p, text.n, k->v2p_file, c->diag);
    trod_buf_fini(&text);
    return rc == 0 ? trod_miss_files_begin(&c->misses, &c->dr, result, c->diag) : rc;
}

/* What the references are counted by. */
static int attribute(struct trod_cache *c, const struct trod_cache_options *o)
{
    static const uint8_t whose[] = {TROD_WHOSE_DATA, TROD_WHOSE_BLOCK, TROD_WHOSE_REGION};
    int rc;

    for (unsigned i = 0; o->by && i < c->own_config.n; i++)
        if (strcmp(c->own_config.spec[i].name, trod_own_who_column(o->by, o->symbols)) == 0)
            return trod_error(c->diag, TROD_ERR_USAGE, "cache.by", NULL,
                              "the table of --by has a column '%s' already: give the cache of this "
                              "name another one",
                              c->own_config.spec[i].name);
    c->by = o->by;
    if (o->by < TROD_CACHE_BY_DATA) {
        /* what an instruction belongs to is looked up when all is counted */
        c->own.by = o->by >= TROD_CACHE_BY_FUNCTION ? TROD_OWN_BY_INSTRUCTION : (uint8_t)o->by;
        return 0;
    }
    rc = trod_whose_new(&c->whose, whose[o->by - TROD_CACHE_BY_DATA], o->symbols);
    if (rc < 0)
        return rc;
    c->refs.whose = c->whose;
    c->own.by = TROD_OWN_BY_OWNER;
    c->own.tables = trod_whose_tables(c->whose);
    return trod_whose_failed(c->whose) ? TROD_ERR_NOMEM : 0;
}

/* A sweep with options O, of which C is part SHARD of SHARDS. */
static int new_sweep(struct trod_cache *c, const struct trod_cache_options *o, unsigned shard,
                     unsigned shards)
{
    if (o->skip || o->window_every || o->warm_full || o->memory)
        return trod_error(c->diag, TROD_ERR_USAGE, "cache.windows", NULL,
                          "--sweep simulates all references: it cannot be combined with --skip, "
                          "--windows, --warmup full and --misses");
    c->sweep = calloc(1, sizeof *c->sweep);
    return !c->sweep      ? TROD_ERR_NOMEM
           : c->recording ? trod_sweep_init_part(c->sweep, o->sweep, c->diag)
                          : trod_sweep_init(c->sweep, o->sweep, shard, shards, c->diag);
}

/* What comes to a core without a cache is not simulated. */
static void tell_bare(const struct trod_own_config *k, struct trod_diag *diag)
{
    static const char *const sides[] = {"code", "data"};

    for (unsigned i = 0; i < 2; i++) {
        const int core = trod_own_config_bare(k, i);

        if (core >= 0)
            trod_warning(diag, TROD_OK, "cache.bare", NULL,
                         "core %d has no cache for %s, as others have: its references are not "
                         "simulated",
                         core, sides[i]);
    }
}

static int new_own(struct trod_cache *c, const struct trod_cache_options *o, unsigned shard,
                   unsigned shards)
{
    unsigned shift = 0;
    bool plain;
    int rc;

    c->top = o->top;
    c->plot = o->plot;
    c->width = o->width ? o->width : WIDTH;
    c->warm_rows = o->warm_rows;
    c->warms = o->warm || o->warm_rows;
    c->warm = o->warm && o->warm < UINT64_MAX ? o->warm + 1 : o->warm;
    if (o->window_every && (o->window == 0 || o->window > o->window_every ||
                            o->window_warm > o->window_every - o->window))
        return trod_error(c->diag, TROD_ERR_USAGE, "cache.windows", NULL,
                          "option 'windows' (EVERY,WARM,COUNT): WARM and COUNT together are more "
                          "than EVERY, or COUNT is 0");
    if (o->sweep)
        return new_sweep(c, o, shard, shards);
    rc = trod_cache_configure(&c->own_config, o, c->diag);
    if (rc < 0)
        return rc;
    if (c->recording) {
        trod_own_sim_classes(&c->own_config, &shift);
        trod_first_alone(&c->own_config);
    } else if (shard == 0 && (!o->future || o->future->of.turned)) {
        tell_bare(&c->own_config, c->diag);
    }
    c->own_config.classify = c->own_config.classify || o->classify;
    c->own_config.physical = c->own_config.physical || o->physical;
    if (c->own_config.physical)
        c->refs.flags = TROD_REFS_PHYSICAL;
    if (o->future && o->future->of.turned)
        trod_own_future_rewind(&o->future->of);
    else if (!o->future && trod_own_config_looks_ahead(&c->own_config))
        return trod_error(c->diag, TROD_ERR_USAGE, "cache.future", NULL,
                          "policy opt needs two passes over the trace");
    plain = trod_cache_plain(o, &c->own_config);
    if (plain)
        trod_first_claim(&c->own_config);
    rc = trod_own_sim_init_pass(&c->own, &c->own_config, o->future ? &o->future->of : NULL);
    if (rc == 0)
        rc = trod_own_sim_phases(&c->own, &(struct trod_own_phases){.skip = o->skip,
                                                                    .every = o->window_every,
                                                                    .warm = o->window_warm,
                                                                    .count = o->window,
                                                                    .until_full = o->warm_full});
    c->by = o->by;
    if (rc == 0 && o->memory && (!o->future || o->future->of.turned))
        rc = trod_own_sim_memory(&c->own, o->memory, o->memory_user);
    c->own.sharing = o->sharing;
    c->own.interval = o->interval;
    if (rc == 0 && plain && !(c->first = trod_first_new(&c->own)))
        rc = TROD_ERR_NOMEM;
    if (rc == 0)
        rc = attribute(c, o);
    if (rc == 0 && c->recording)
        return trod_first_part(c->first, shards, shift) ? 0 : TROD_ERR_NOMEM;
    if (rc == 0 && shards > 1)
        trod_own_sim_take(&c->own, shard, shards);
    return rc;
}

/* Part SHARD of SHARDS; RECORDING: of some rows, for all of them. */
static int cache_new(struct trod_cache **out, const struct trod_cache_options *options,
                     unsigned shard, unsigned shards, struct trod_diag *diag, bool recording)
{
    struct trod_cache_options own;
    const struct trod_cache_options *o = &own;
    struct trod_cache *c;
    const char *with;
    int rc;

    *out = NULL;
    if (!trod_sized(&own, sizeof own, sizeof own, options))
        return trod_cache_version(diag);
    with = o->with ? o->with : "";
    c = calloc(1, sizeof *c);
    if (!c)
        return TROD_ERR_NOMEM;
    c->like = o->like;
    c->diag = diag;
    c->recording = recording;
    c->first_part = shard == 0;
    switch (o->like) {
    case TROD_CACHE_OWN:
        rc = new_own(c, o, shard, shards);
        break;
    case TROD_CACHE_DRCACHESIM:
        rc = new_dr(c, with, o->result);
        break;
    case TROD_CACHE_DINERO:
        c->refs.flags = TROD_REFS_LABELS;
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
    if (rc == 0 && !c->first && !(c->sweep && c->sweep->by_rows) &&
        !(c->ref = malloc(2 * TROD_BATCH_ROWS * sizeof *c->ref)))
        rc = TROD_ERR_NOMEM;
    if (rc < 0)
        trod_cache_free(c);
    else
        *out = c;
    return rc;
}

int trod_cache_new(struct trod_cache **out, const struct trod_cache_options *options,
                   struct trod_diag *diag)
{
    return cache_new(out, options, 0, 1, diag, false);
}

int trod_cache_new_shard(struct trod_cache **out, const struct trod_cache_options *options,
                         unsigned shard, unsigned shards, struct trod_diag *diag)
{
    return cache_new(out, options, shard, shards, diag, false);
}

int trod_cache_new_part(struct trod_cache **out, const struct trod_cache_options *options,
                        unsigned shards, struct trod_diag *diag)
{
    return cache_new(out, options, 0, shards, diag, true);
}

static int feed_dr(struct trod_cache *c, size_t n)
{
    int rc = trod_dr_sim_feed(&c->dr, c->ref, n, c->diag);

    if (rc == 0)
        rc = trod_miss_files_failed(&c->misses);
    return rc < 0 ? rc : !c->dr.over;
}

static int feed(struct trod_cache *c, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    size_t n;
    int rc;

    if (c->first) {
        rc = trod_first_feed(c->first, b, from, to);
        return rc < 0 ? rc : 1;
    }
    if (c->sweep && c->sweep->by_rows) {
        rc = trod_sweep_rows(c->sweep, b, from, to);
        return rc < 0 ? rc : 1;
    }
    n = trod_refs_get(&c->refs, b, from, to, c->ref);
    switch (c->like) {
    case TROD_CACHE_OWN:
        if (c->whose && trod_whose_failed(c->whose))
            return TROD_ERR_NOMEM;
        if (c->own.memory.rows)
            c->own.memory.rows->meta = b->meta;
        rc = c->sweep ? trod_sweep_feed(c->sweep, c->ref, n)
                      : trod_own_sim_feed(&c->own, c->ref, n, b->have & TROD_COL_CORE);
        return rc < 0 ? rc : 1;
    case TROD_CACHE_DRCACHESIM:
        if (c->dr.cores.mode == TROD_DR_BY_THREAD && trod_refs_sharded(b))
            c->dr.cores.mode = TROD_DR_BY_SHARD;
        return feed_dr(c, n);
    case TROD_CACHE_DINERO:
        rc = trod_din_sim_feed(&c->din, c->ref, n);
        return rc < 0 ? rc : !c->din.over;
    default:
        trod_cg_sim_feed(&c->cg, c->ref, n);
        return 1;
    }
}

static bool is_instruction(const struct trod_batch *b, uint32_t row)
{
    return b->kind[row] == TROD_INSTR &&
           !(b->have & b->has[row] & TROD_COL_FLAGS && b->flags[row] & TROD_F_SYNTHETIC);
}

/* The first row of B that counts, TO if it comes later. */
static uint32_t warm_end(struct trod_cache *c, const struct trod_batch *b, uint32_t from,
                         uint32_t to)
{
    for (; from < to && (c->warm || c->warm_rows); from++) {
        if (c->warm && is_instruction(b, from)) {
            c->ran = true;
            if (--c->warm == 0 && !c->warm_rows)
                break;
        }
        c->warm_rows -= c->warm_rows > 0;
    }
    return from;
}

int trod_cache_feed(struct trod_cache *c, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    int rc = 1;

    c->fed = c->fed || from < to;
    if (c->warm || c->warm_rows) {
        const uint32_t end = warm_end(c, b, from, to);

        rc = feed(c, b, from, end);
        from = end;
        if (rc > 0 && !c->warm && !c->warm_rows)
            trod_cache_warm(c);
    }
    c->counts = c->counts || from < to;
    return rc > 0 && from < to ? feed(c, b, from, to) : rc;
}

int trod_cache_apart(const struct trod_cache *c, const struct trod_meta *meta)
{
    return trod_miss_files_apart(&c->misses, meta);
}

size_t trod_cache_recorded(const struct trod_cache *c)
{
    return c->sweep ? c->sweep->kept.bytes : trod_first_kept(c->first);
}

/* The option that left nothing to count, with what else it could be; NULL: none. */
static const char *why_nothing(const struct trod_cache *c)
{
    const struct trod_own_sim *s = &c->own;

    if (!c->fed)
        return NULL;
    if (c->warm && !c->ran)
        return "nothing is counted: --warmup N counts instructions, of which the trace has none; "
               "--warmup rows:N counts rows";
    if (c->warms && !c->counts)
        return "nothing is counted: what was read ended within --warmup";
    if (c->sweep || !s->phased || s->mode == TROD_OWN_COUNTING || s->windows)
        return NULL;
    if (s->seen == 0)
        return "nothing is counted: --skip and --windows count instructions, of which the trace "
               "has none; --range chooses rows";
    return s->seen <= s->phases.skip
               ? "nothing is counted: what was read ended within --skip"
               : "nothing is counted: what was read ended before the first of --windows";
}

int trod_cache_end(struct trod_cache *c)
{
    if (c->like != TROD_CACHE_OWN)
        return 0;
    if (!c->ended && (c->nothing = why_nothing(c)) && c->first_part)
        trod_warning(c->diag, TROD_OK, "cache.nothing", NULL, "%s", c->nothing);
    if (!c->ended && (c->warm || c->warm_rows)) /* nothing came that counts */
        trod_cache_warm(c);
    if (!c->ended && c->sweep) {
        trod_sweep_end(c->sweep);
    } else if (!c->ended) {
        trod_own_sim_end(&c->own);
        trod_own_memory_end(&c->own.memory);
    }
    c->ended = true;
    return c->own.memory.rc;
}

int trod_cache_merge(struct trod_cache *c, const struct trod_cache *from)
{
    if (c->like != TROD_CACHE_OWN)
        return TROD_ERR_UNSUPPORTED;
    if (from->recording)
        return c->sweep ? trod_sweep_merge(c->sweep, from->sweep)
                        : trod_first_merge(c->first, from->first);
    if (!c->sweep)
        return trod_own_sim_merge(&c->own, &from->own);
    trod_sweep_sum(c->sweep, from->sweep);
    return 0;
}

const char *trod_cache_preset(size_t i, const char **title)
{
    return trod_own_preset_at(i, title);
}

void trod_cache_warm(struct trod_cache *c)
{
    if (c->like != TROD_CACHE_OWN)
        return;
    if (c->sweep)
        trod_sweep_restart(c->sweep);
    else
        trod_own_sim_reset(&c->own);
}

int trod_cache_result(struct trod_cache *c, struct trod_symbols *symbols,
                      const struct trod_meta *meta, struct trod_result *r)
{
    const struct trod_own_report o = {c->top, symbols, c->by, c->whose};

    if (c->like != TROD_CACHE_OWN)
        return TROD_ERR_USAGE;
    if (trod_cache_end(c) < 0)
        return c->own.memory.rc;
    if (c->whose && trod_whose_end(c->whose) < 0)
        return TROD_ERR_NOMEM;
    if (c->nothing)
        trod_result_str(r, "note", c->nothing);
    if (!c->sweep)
        return trod_own_report(&c->own, &o, meta, r);
    trod_sweep_report(c->sweep, r);
    return 0;
}

int trod_cache_layout(struct trod_cache *c, struct trod_buf *out)
{
    int rc;

    switch (c->like) {
    case TROD_CACHE_OWN:
        if (!c->sweep || !c->plot)
            return TROD_ERR_USAGE;
        trod_cache_end(c);
        return trod_sweep_chart(c->sweep, c->width, out);
    case TROD_CACHE_DRCACHESIM:
        rc = trod_miss_files_end(&c->misses);
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
    trod_miss_files_fini(&c->misses);
    if (c->like == TROD_CACHE_DRCACHESIM) {
        if (c->dr.config)
            trod_dr_sim_fini(&c->dr);
        trod_dr_config_fini(&c->dr_config);
    }
    free(c->ref);
    trod_first_free(c->first);
    if (c->own.config)
        trod_own_sim_fini(&c->own);
    trod_whose_free(c->whose);
    if (c->sweep)
        trod_sweep_fini(c->sweep);
    free(c->sweep);
    trod_din_sim_fini(&c->din);
    trod_cg_sim_fini(&c->cg);
    free(c);
}
