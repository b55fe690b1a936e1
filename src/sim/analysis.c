/*
 * analysis.c - the analysis "cache".
 *
 * Implements trod/cache.h, trod_analysis_cache: one state, fed in the order of the trace.
 */
#include "core/sized.h"
#include "sim/cache_int.h"
#include "sim/refs.h"

#define AT(field) offsetof(struct trod_cache_options, field)

static const char *const owners[] = {"nothing", "instruction", "page",   "line",   "thread",
                                     "core",    "function",    "module", "source", "data",
                                     "block",   "region",      NULL};

const struct trod_option trod_cache_option_table[] = {
    {"config", 0, TROD_OPT_STR, AT(config), "FILE", "the hierarchy, in the words of docs/caches.md",
     NULL, NULL},
    {"preset", 0, TROD_OPT_STR, AT(preset), "NAME",
     "a hierarchy that is known by name; see --presets", NULL, NULL},
    {"classify", 0, TROD_OPT_BOOL, AT(classify), NULL,
     "misses into compulsory, capacity, conflict and coherence", NULL, NULL},
    {"by", 0, TROD_OPT_ENUM, AT(by), "WHAT",
     "a table of misses by instruction (with --symbols: by function), page, line of the data, "
     "thread, core of the hierarchy, "
     "data (objects of --symbols, blocks of the heap by where they were asked for, stacks), block "
     "(each for itself), region; with --symbols by function, module, line of source",
     owners, NULL},
    {"top", 0, TROD_OPT_U64, AT(top), "N",
     "rows of the tables of misses and of shared lines (20; 0: all)", NULL, NULL},
    {"sharing", 0, TROD_OPT_BOOL, AT(sharing), NULL, "lines that threads share, truly and falsely",
     NULL, NULL},
    {"interval", 0, TROD_OPT_COUNT, AT(interval), "N", "misses of every N instructions", NULL,
     NULL},
    {"sweep", 0, TROD_OPT_JOINED, AT(sweep), "RANGES",
     "caches of many shapes in one pass instead: "
     "size=4K..8M,ways=1..16,line=64,policy=lru+fifo",
     NULL, NULL},
    {"physical", 0, TROD_OPT_BOOL, AT(physical), NULL,
     "caches by physical addresses, where the trace has them; TLBs by virtual ones", NULL, NULL},
    {"skip", 0, TROD_OPT_U64, AT(skip), "N",
     "the first N instructions are not simulated; with an index they are not read either, but for "
     "--by data, block and region (they tell where blocks and stacks are) and --misses",
     NULL, NULL},
    {.type = TROD_OPT_END},
};

static const struct trod_cache_options defaults = {.top = 20};

struct state {
    struct trod_cache *cache;
    const struct trod_meta *meta;
    struct trod_symbols *symbols;
    bool over; /* nothing more is to be simulated */
};

static int init(void *st, const void *opt, const struct trod_context *context)
{
    struct state *s = st;

    struct trod_cache_options o;
    int rc;

    s->meta = context->meta;
    s->symbols = context->symbols;
    if (!trod_sized(&o, sizeof o, sizeof o, opt))
        return TROD_ERR_USAGE; /* trod_run_add has looked at them */
    if (!o.symbols)
        o.symbols = context->symbols;
    if (o.by >= TROD_CACHE_BY_FUNCTION && o.by < TROD_CACHE_BY_DATA && !o.symbols)
        return trod_error(context->diag, TROD_ERR_USAGE, "cache.symbols", NULL,
                          "misses by %s need the program's symbols: say --symbols", owners[o.by]);
    rc = context->recording
             ? trod_cache_new_part(&s->cache, &o, context->takers, context->diag)
             : trod_cache_new_shard(&s->cache, &o, context->shard, context->shards, context->diag);
    return rc == 0 && s->meta ? trod_cache_apart(s->cache, s->meta) : rc;
}

static unsigned shards(const void *opt, unsigned jobs)
{
    return trod_cache_shards(opt, jobs);
}

static unsigned takers(const void *opt, unsigned jobs)
{
    return trod_cache_takers(opt, jobs);
}

static bool records(const void *opt)
{
    return trod_cache_records(opt);
}

static size_t recorded(const void *st)
{
    const struct state *s = st;

    return trod_cache_recorded(s->cache);
}

static int merge(void *into, const void *from)
{
    const struct state *s = into, *t = from;

    return trod_cache_merge(s->cache, t->cache);
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

    if (!s->cache) /* it could not be made */
        return 0;
    if (at->type == TROD_BOUNDARY_WARM)
        trod_cache_warm(s->cache);
    else if (at->type == TROD_BOUNDARY_END)
        return trod_cache_end(s->cache);
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

static uint32_t uses_of(const char *format, const void *opt)
{
    return trod_cache_uses(format, opt);
}

/* Cores take turns as their time stamps have it. */
static bool timed_of(const void *opt)
{
    enum trod_order order;
    uint32_t cores;

    return trod_cache_order(opt, &order, &cores, NULL) == 0 && order == TROD_ORDER_TIME;
}

/* What goes to memory is given to the caller. */
static bool acts(const void *opt)
{
    struct trod_cache_options o;

    return trod_sized(&o, sizeof o, sizeof o, opt) && o.memory;
}

const struct trod_analysis trod_analysis_cache = {
    .name = "cache",
    .title = "simulate caches and TLBs: hits, misses and their causes",
    .names = true,
    .options = trod_cache_option_table,
    .options_size = sizeof(struct trod_cache_options),
    .sized = true,
    .state_size = sizeof(struct state),
    .defaults = &defaults,
    .order = TROD_GLOBAL_ORDER,
    .timed_of = timed_of,
    .needs = TROD_COL_KIND | TROD_COL_ADDR,
    .uses = TROD_REFS_COLUMNS,
    .uses_of = uses_of,
    .shards = shards,
    .init = init,
    .feed = feed,
    .boundary = boundary,
    .merge = merge,
    .result = result,
    .layout = layout,
    .fini = fini,
    .weigher = &trod_cache_weigher,
    .records = records,
    .recorded = recorded,
    .takers = takers,
    .acts = acts,
};
