/*
 * sync.c - the analysis "sync": sync points, signals and waits at them, contention, and the
 * critical path of the order graph.
 *
 * Implements amber, "Thread Synchronization Records", over rows in a legal order (order "sync").
 * Counts are those of the records; times are those of the ideal machine of sync_graph.h: one
 * instruction a tick. It does not check the trace: the order "sync" does.
 */
#include "analysis/sync_graph.h"
#include "core/grow.h"
#include "core/map.h"
#include "core/origin.h"
#include "engine/stream_run.h"
#include "trod/analysis.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SHOWN = 50 };

/* One sync point. */
struct point {
    uint64_t addr;
    uint64_t signals, broadcasts, waits, tries;
    uint64_t contended, waited; /* waits that had to wait; ticks they did */
    uint64_t first_row, last_count;
    uint32_t *threads; /* that touched it, in order of appearance */
    uint32_t n_threads, cap_threads;
};

struct thread {
    struct trod_sync_thread at;
    uint64_t instructions, signals, waits, contended, waited;
    bool met; /* it had rows */
};

struct state {
    const struct trod_meta *meta;
    struct trod_sync_graph graph;
    struct thread *threads; /* by key of a stream (trod_stream_key) */
    uint32_t n_threads;
    struct point *points;
    size_t n_points, cap_points;
    struct trod_map map; /* points by address */
};

static int init(void *st, const void *opt, const struct trod_context *context)
{
    struct state *s = st;

    (void)opt;
    s->meta = context->meta;
    return trod_sync_graph_init(&s->graph);
}

static void fini(void *st)
{
    struct state *s = st;

    for (size_t i = 0; i < s->n_points; i++)
        free(s->points[i].threads);
    free(s->points);
    trod_map_fini(&s->map);
    free(s->threads);
    trod_sync_graph_fini(&s->graph);
}

static int thread_of(struct state *s, uint32_t key, struct thread **out)
{
    if (key >= s->n_threads) {
        uint32_t n = key < 8 ? 16 : 2 * key;
        struct thread *t = realloc(s->threads, n * sizeof *t);

        if (!t)
            return TROD_ERR_NOMEM;
        memset(t + s->n_threads, 0, (n - s->n_threads) * sizeof *t);
        s->threads = t;
        s->n_threads = n;
    }
    *out = &s->threads[key];
    return TROD_OK;
}

static int point_of(struct state *s, uint64_t addr, uint64_t row, struct point **out)
{
    const uint32_t h = trod_map_hash(addr);
    uint32_t i;

    for (size_t at = h; trod_map_next(&s->map, h, &at, &i);)
        if (s->points[i].addr == addr) {
            *out = &s->points[i];
            return TROD_OK;
        }
    if (!trod_grow(&s->points, s->n_points, &s->cap_points, sizeof *s->points, 32) ||
        !trod_map_put(&s->map, h, (uint32_t)s->n_points))
        return TROD_ERR_NOMEM;
    *out = &s->points[s->n_points++];
    **out = (struct point){.addr = addr, .first_row = row};
    return TROD_OK;
}

/* Note that thread I touches P. */
static int touch(struct point *p, uint32_t i)
{
    for (uint32_t k = 0; k < p->n_threads; k++)
        if (p->threads[k] == i)
            return TROD_OK;
    if (p->n_threads == p->cap_threads) {
        uint32_t cap = p->cap_threads ? 2 * p->cap_threads : 4;
        uint32_t *t = realloc(p->threads, cap * sizeof *t);

        if (!t)
            return TROD_ERR_NOMEM;
        p->threads = t;
        p->cap_threads = cap;
    }
    p->threads[p->n_threads++] = i;
    return TROD_OK;
}

static int feed_sync(struct state *s, const struct trod_batch *b, uint32_t row)
{
    const uint32_t key = trod_stream_key(b, row);
    struct thread *t;
    struct point *p;
    int rc;

    if ((rc = thread_of(s, key, &t)) < 0 ||
        (rc = point_of(s, b->addr[row], trod_origin_row(b, row), &p)) < 0 ||
        (rc = touch(p, key)) < 0)
        return rc;
    if (trod_sync_is_signal(b->sub[row])) {
        p->signals += b->sub[row] == TROD_SYNC_SIGNAL;
        p->broadcasts += b->sub[row] == TROD_SYNC_BROADCAST;
        p->last_count = b->value[row];
        t->signals++;
        trod_sync_graph_signal(&s->graph, key, &t->at, p->addr, b->value[row]);
    } else if (trod_sync_is_wait(b->sub[row])) {
        uint64_t waited = trod_sync_graph_wait(&s->graph, key, &t->at, p->addr, b->value[row]);

        p->waits += b->sub[row] == TROD_SYNC_WAIT;
        p->tries += b->sub[row] == TROD_SYNC_TRY_WAIT;
        p->contended += waited > 0;
        p->waited += waited;
        t->waits++;
        t->contended += waited > 0;
        t->waited += waited;
    }
    return TROD_OK;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct state *s = st;
    uint32_t row = from;
    int rc = TROD_OK;

    while (row < to && rc == TROD_OK) {
        const uint32_t key = trod_stream_key(b, row);
        uint64_t n = 0;
        struct thread *t;

        for (; row < to && trod_stream_key(b, row) == key && b->kind[row] != TROD_SYNC; row++)
            n += b->kind[row] == TROD_INSTR && !(b->flags[row] & TROD_F_SYNTHETIC);
        if ((rc = thread_of(s, key, &t)) < 0)
            return rc;
        t->met = true;
        t->instructions += n;
        t->at.clock += n;
        if (row < to && b->kind[row] == TROD_SYNC)
            rc = feed_sync(s, b, row++);
    }
    return rc;
}

static int by_contention(const void *a, const void *b)
{
    const struct point *p = a, *q = b;

    if (p->waited != q->waited)
        return p->waited < q->waited ? 1 : -1;
    if (p->addr != q->addr)
        return p->addr < q->addr ? -1 : 1;
    return 0;
}

static void report_points(const struct state *s, struct trod_result *e, struct point *points)
{
    static const char *const columns[] = {"sync point", "signals",   "broadcasts",
                                          "waits",      "try waits", "contended",
                                          "waited",     "threads",   "last count"};

    trod_result_counts(e, "points", "sync points, by time waited", columns,
                       sizeof columns / sizeof *columns);
    for (size_t i = 0; i < s->n_points; i++) {
        const struct point *p = &points[i];

        trod_result_hex(e, "sync point", p->addr);
        trod_result_u64(e, "signals", p->signals);
        trod_result_u64(e, "broadcasts", p->broadcasts);
        trod_result_u64(e, "waits", p->waits);
        trod_result_u64(e, "try waits", p->tries);
        trod_result_u64(e, "contended", p->contended);
        trod_result_u64(e, "waited", p->waited);
        trod_result_u64(e, "threads", p->n_threads);
        trod_result_u64(e, "last count", p->last_count);
        trod_result_row_end(e);
    }
    trod_result_table_close(e);
}

static void emit_thread(const struct state *s, struct trod_result *e, uint32_t key)
{
    const struct trod_stream *t =
        key && key - 1 < s->meta->n_streams ? &s->meta->streams[key - 1] : NULL;

    if (t)
        trod_result_strn(e, "thread", t->name, t->name_len);
    else if (key)
        trod_result_u64(e, "thread", key - 1);
    else
        trod_result_absent(e);
}

/* Which threads without rows the meta knows depends on how far the trace was read. */
static void report_threads(const struct state *s, struct trod_result *e)
{
    static const char *const columns[] = {"thread",    "instructions", "signals", "waits",
                                          "contended", "waited",       "end"};

    trod_result_counts(e, "threads", "threads", columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; i < s->n_threads && i <= s->meta->n_streams; i++) {
        const struct thread *t = &s->threads[i];

        if (!t->met)
            continue;
        if (i == 0 && !(t->instructions || t->signals || t->waits)) /* of rows that say no thread */
            continue;
        emit_thread(s, e, i);
        trod_result_u64(e, "instructions", t->instructions);
        trod_result_u64(e, "signals", t->signals);
        trod_result_u64(e, "waits", t->waits);
        trod_result_u64(e, "contended", t->contended);
        trod_result_u64(e, "waited", t->waited);
        trod_result_u64(e, "end", t->at.clock);
        trod_result_row_end(e);
    }
    trod_result_table_close(e);
}

/* The last hops of the path that ends last, from its end backwards. */
static void report_path(const struct state *s, struct trod_result *e, uint32_t last)
{
    static const char *const columns[] = {"time", "from", "to", "sync point", "count"};
    const struct trod_sync_node *nodes = s->graph.nodes;
    uint32_t node = s->threads[last].at.path;

    trod_result_counts(e, "critical_path", "critical path, last hop first", columns,
                       sizeof columns / sizeof *columns);
    for (int i = 0; node && i < PATH_SHOWN; i++, node = nodes[node - 1].prev) {
        const struct trod_sync_node *n = &nodes[node - 1];

        trod_result_u64(e, "time", n->time);
        emit_thread(s, e, n->giver);
        emit_thread(s, e, n->thread);
        trod_result_hex(e, "sync point", n->point);
        trod_result_u64(e, "count", n->count);
        trod_result_row_end(e);
    }
    trod_result_table_close(e);
}

static void report_summary(const struct state *s, struct trod_result *e, uint32_t last)
{
    const struct thread *t = &s->threads[last];
    uint64_t work = 0, waited = 0, contended = 0, waits = 0, signals = 0;
    uint32_t path = t->at.path;

    for (uint32_t i = 0; i < s->n_threads; i++) {
        work += s->threads[i].instructions;
        waited += s->threads[i].waited;
        contended += s->threads[i].contended;
        waits += s->threads[i].waits;
        signals += s->threads[i].signals;
    }
    trod_result_u64(e, "sync_points", s->n_points);
    trod_result_u64(e, "signals", signals);
    trod_result_u64(e, "waits", waits);
    trod_result_u64(e, "contended_waits", contended);
    trod_result_u64(e, "instructions", work);
    if (s->n_points == 0) /* nothing orders the threads: there is no path through them */
        return;
    trod_result_u64(e, "waited", waited);
    trod_result_u64(e, "critical_path_length", t->at.clock);
    trod_result_u64(e, "critical_path_hops", path ? s->graph.nodes[path - 1].hops : 0);
    if (s->graph.cut)
        trod_result_bool(e, "critical_path_cut", true);
    if (t->at.clock)
        trod_result_f64(e, "parallelism", (double)work / (double)t->at.clock, 2);
}

static int result(const void *st, struct trod_result *e)
{
    const struct state *s = st;
    struct point *points = calloc(s->n_points + 1, sizeof *points);
    uint32_t last = 0;

    if (!points)
        return TROD_ERR_NOMEM;
    if (s->n_points)
        memcpy(points, s->points, s->n_points * sizeof *points);
    qsort(points, s->n_points, sizeof *points, by_contention);
    for (uint32_t i = 1; i < s->n_threads; i++)
        if (s->threads[i].at.clock > s->threads[last].at.clock)
            last = i;
    if (s->n_threads) {
        report_summary(s, e, last);
        report_threads(s, e);
        if (s->n_points) {
            report_points(s, e, points);
            report_path(s, e, last);
        }
    }
    free(points);
    return TROD_OK;
}

const struct trod_analysis trod_analysis_sync = {
    .name = "sync",
    .title = "thread synchronization: sync points, contention, critical path",
    .state_size = sizeof(struct state),
    .needs = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_ADDR |
             TROD_COL_VALUE,
    .order = TROD_GLOBAL_ORDER,
    .init = init,
    .feed = feed,
    .result = result,
    .fini = fini,
};
