/*
 * lane.c - what is counted of one thread, file or run (locality.h).
 */
#include "analysis/locality/locality.h"

#include <stdlib.h>
#include <string.h>

/* Set-associative caches have from 1 to 2^16 sets. */
enum { SETS_LOG = 17 };

static uint32_t lines_of(uint64_t bytes, unsigned shift)
{
    const uint64_t lines = bytes >> shift;

    return lines == 0 ? 1 : lines < UINT32_MAX - 2 ? (uint32_t)lines : UINT32_MAX - 2;
}

/*
 * The memory for STREAM: half of all is for the sum. Threads with files of their own get equal
 * shares; how many threads one file has is not known, so each gets less than the one before. Rows
 * that say no thread get what the first one gets: mostly no row says one, or all do.
 */
static uint64_t share_of(const struct loc_state *s, int64_t stream)
{
    const uint64_t files = s->context.meta->n_files, k = stream < 0 ? 1 : (uint64_t)stream + 1;

    if (s->opt->shared)
        return s->opt->memory;
    if (stream == TROD_ALL_STREAMS || files > 1)
        return s->opt->memory / 2 / (stream == TROD_ALL_STREAMS ? 1 : files);
    return s->opt->memory / 2 / (k * (k + 1)); /* 1/2 + 1/6 + 1/12 + ... = 1 */
}

/* The first state whose share is too small tells. */
static void tell_least(const struct loc_state *s)
{
    const int64_t stream = s->context.stream;
    const uint64_t share = share_of(s, stream), least = trod_shards_least();

    if (share < least && (stream == TROD_ALL_STREAMS ||
                          share_of(s, stream > 0 ? stream - 1 : TROD_ALL_STREAMS) >= least))
        trod_warning(s->context.diag, TROD_ERR_LIMIT, "locality.memory", NULL,
                     "of --memory %" PRIu64 " a sample gets %" PRIu64
                     " bytes: it takes more, at least %" PRIu64,
                     s->opt->memory, share, least);
}

static int init_stack(struct loc_lane *l, const struct loc_state *s)
{
    const struct loc_options *o = s->opt;
    const uint32_t resident = o->resident ? lines_of(o->resident, s->shift) : 0;
    const struct trod_stack_options exact = {
        .first = loc_parts(o) && !s->context.merged, /* orders across files are not parted */
        .distant = o->distant < UINT32_MAX ? (uint32_t)o->distant : UINT32_MAX - 1,
        .limit = o->limit < UINT32_MAX ? (uint32_t)o->limit : UINT32_MAX - 1,
        .resident = resident,
    };
    if (o->sample || o->memory) {
        l->shards = trod_shards_new(
            o->sample ? 1 / (double)o->sample : 1,
            o->memory ? trod_shards_lines_in(share_of(s, s->context.stream)) : 0, resident);
        if (o->memory)
            tell_least(s);
        return l->shards ? TROD_OK : TROD_ERR_NOMEM;
    }
    l->stack = trod_stack_new(&exact);
    return l->stack ? TROD_OK : TROD_ERR_NOMEM;
}

int loc_lane_init(struct loc_lane *l, const struct loc_state *s)
{
    const struct loc_options *o = s->opt;
    int rc = TROD_OK;

    if (o->like != LOC_REUSE_TIME)
        rc = init_stack(l, s);
    if (rc == TROD_OK && (o->times || o->window || o->like == LOC_REUSE_TIME) &&
        !(l->times = trod_times_new(o->window, true)))
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK && o->ways && !(l->sets = trod_sets_new(0, SETS_LOG, (unsigned)o->ways)))
        rc = TROD_ERR_NOMEM;
    return rc;
}

void loc_lane_fini(struct loc_lane *l)
{
    trod_stack_free(l->stack);
    trod_shards_free(l->shards);
    trod_times_free(l->times);
    trod_sets_free(l->sets);
    *l = (struct loc_lane){0};
}

/* The references of B and what they are to be weighed by: the rate may fall among them. */
static bool sample(struct trod_shards *s, struct loc_block *b, bool distances)
{
    for (size_t i = 0, n; i < b->n; i += n) {
        const struct trod_refs refs = {b->line + i, b->class + i, b->touched + i};
        const uint64_t same = trod_shards_same_rate(s);

        n = same < b->n - i ? (size_t)same : b->n - i;
        for (size_t k = i; distances && k < i + n; k++)
            b->weight[k] = 1 / trod_shards_rate(s);
        if (!trod_shards_feed(s, &refs, n, distances ? b->out + i : NULL))
            return false;
    }
    return true;
}

int loc_lane_feed(struct loc_lane *l, struct loc_block *b, bool distances)
{
    const struct trod_refs refs = {b->line, b->class, b->touched};
    uint32_t *out = distances ? b->out : NULL;
    bool ok = true;

    if (l->stack)
        ok = trod_stack_feed(l->stack, &refs, b->n, out);
    else if (l->shards)
        ok = sample(l->shards, b, distances);
    if (ok && l->times)
        ok = trod_times_feed(l->times, b->line, b->class, b->n);
    if (l->sets)
        trod_sets_feed(l->sets, b->line, b->class, b->n);
    return ok ? TROD_OK : TROD_ERR_NOMEM;
}

int loc_lane_append(struct loc_lane *into, const struct loc_lane *from)
{
    bool ok = true;

    if (into->stack)
        ok = trod_stack_append(into->stack, from->stack);
    if (ok && into->times)
        ok = trod_times_append(into->times, from->times);
    return ok ? TROD_OK : TROD_ERR_NOMEM;
}

bool loc_lane_is_new(const struct loc_lane *l)
{
    return l->stack && trod_stack_lines(l->stack) == 0;
}

void loc_lane_swap(struct loc_lane *a, struct loc_lane *b)
{
    const struct loc_lane was = *a;

    a->stack = b->stack;
    a->times = b->times;
    b->stack = was.stack;
    b->times = was.times;
}

/* The first of the threads is appended to nothing: its windows stay those of a thread. */
static bool times_sum(struct trod_times *into, const struct trod_times *from)
{
    if (into->now == 0 && into->summed == 0) {
        into->summed = 1;
        into->n_sets = 0;
        return trod_times_append(into, from) && trod_times_copy_sets(into, from);
    }
    trod_times_sum(into, from);
    return true;
}

int loc_lane_sum(struct loc_lane *into, const struct loc_lane *from)
{
    bool ok = true;

    if (into->stack)
        ok = trod_stack_sum(into->stack, from->stack);
    if (into->shards)
        ok = trod_shards_sum(into->shards, from->shards);
    if (ok && into->times)
        ok = times_sum(into->times, from->times);
    if (into->sets)
        trod_sets_sum(into->sets, from->sets);
    return ok ? TROD_OK : TROD_ERR_NOMEM;
}

uint64_t loc_lane_refs(const struct loc_lane *l, unsigned classes)
{
    const uint64_t *refs = l->stack    ? l->stack->refs
                           : l->shards ? l->shards->refs
                           : l->times  ? l->times->refs
                                       : NULL;
    uint64_t n = 0;

    for (unsigned k = 0; refs && k < TROD_REFS; k++)
        n += classes >> k & 1 ? refs[k] : 0;
    return n;
}

void loc_lane_restart(struct loc_lane *l)
{
    if (l->stack)
        trod_stack_restart(l->stack);
    if (l->shards)
        trod_shards_restart(l->shards);
    if (l->sets)
        trod_sets_restart(l->sets);
}

bool loc_lane_misses(const struct loc_lane *l, uint64_t size, uint64_t *misses, uint64_t *cold)
{
    double n;

    if (!l->shards) {
        trod_dist_misses(&l->stack->dist, LOC_ALL, &size, 1, misses);
        *cold = trod_dist_cold(&l->stack->dist, LOC_ALL);
        return true;
    }
    if (!trod_shards_misses(l->shards, LOC_ALL, &size, 1, &n, NULL))
        return false;
    *misses = (uint64_t)(n + 0.5);
    *cold = (uint64_t)(trod_shards_cold(l->shards) + 0.5);
    return true;
}
