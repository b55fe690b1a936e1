/*
 * analysis.c - the analysis "cache".
 *
 * Implements trod/cache.h, trod_analysis_cache: one state, fed in the order of the trace.
 */
#include "trod/cache.h"

#include "sim/refs.h"

struct state {
    struct trod_cache *cache;
    const struct trod_meta *meta;
    struct trod_symbols *symbols;
    bool over; /* nothing more is to be simulated */
};

static int init(void *st, const void *opt, const struct trod_context *context)
{
    struct state *s = st;

    s->meta = context->meta;
    s->symbols = context->symbols;
    return trod_cache_new(&s->cache, opt, context->diag);
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct state *s = st;
    int rc;

    if (s->over)
        return 0;
    rc = trod_cache_feed(s->cache, b, from, to);
    s->over = rc == 0;
    return rc < 0 ? rc : 0;
}

static int boundary(void *st, const struct trod_boundary *at)
{
    struct state *s = st;

    if (at->type == TROD_BOUNDARY_WARM)
        trod_cache_warm(s->cache);
    return 0;
}

static int result(const void *st, struct trod_result *r)
{
    const struct state *s = st;
    const int rc = trod_cache_result(s->cache, s->symbols, s->meta, r);

    return rc == TROD_ERR_USAGE ? 0 : rc; /* another tool's result is its layout */
}

static int layout(const void *st, struct trod_buf *out)
{
    const struct state *s = st;
    const int rc = trod_cache_layout(s->cache, out);

    return rc == TROD_ERR_USAGE ? 0 : rc < 0 ? rc : 1;
}

static void fini(void *st)
{
    struct state *s = st;

    trod_cache_free(s->cache);
}

static const struct trod_cache_options defaults = {.top = 20};

const struct trod_analysis trod_analysis_cache = {
    .name = "cache",
    .title = "simulate caches: who hits, who misses, and why",
    .options_size = sizeof(struct trod_cache_options),
    .state_size = sizeof(struct state),
    .defaults = &defaults,
    .order = TROD_GLOBAL_ORDER,
    .needs = TROD_COL_KIND | TROD_COL_ADDR,
    .uses = TROD_REFS_COLUMNS,
    .init = init,
    .feed = feed,
    .boundary = boundary,
    .result = result,
    .layout = layout,
    .fini = fini,
};
