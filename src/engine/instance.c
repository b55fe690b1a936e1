/*
 * instance.c - the states of an analysis: made, fed, ended, merged.
 *
 * Implements docs/design.md, "The engine": scopes and intervals. An analysis only ever sees a state
 * and rows; which state that is - of all rows, of a stream, of an interval - is decided here.
 */
#include "engine/run_int.h"

#include "engine/stream_run.h"
#include "engine/streams.h"

#include <stdlib.h>
#include <string.h>

/*
 * A new state of IN for STREAM (TROD_ALL_STREAMS: all rows); calls that are given are those of the
 * stream GIVEN_OF. NULL: in->rc says why.
 */
static void *make_of(struct engine_instance *in, int64_t stream, int64_t given_of)
{
    const struct trod_analysis *a = in->analysis;
    struct trod_context context = in->context;
    void *st = calloc(1, a->state_size ? a->state_size : 1);
    int rc;

    if (!st) {
        in->rc = TROD_ERR_NOMEM;
        return NULL;
    }
    context.stream = stream;
    context.given_of = given_of;
    context.diag = &in->keeper.diag;
    rc = a->init ? a->init(st, in->opt, &context) : TROD_OK;
    if (rc < 0) {
        if (a->fini)
            a->fini(st);
        free(st);
        in->rc = rc;
        return NULL;
    }
    return st;
}

/* A new state of IN for all rows. */
static void *make(struct engine_instance *in)
{
    return make_of(in, TROD_ALL_STREAMS, TROD_ALL_STREAMS);
}

static void drop(const struct engine_instance *in, void **st)
{
    if (*st && in->analysis->fini)
        in->analysis->fini(*st);
    free(*st);
    *st = NULL;
}

static int begin_one(struct engine_instance *in, const struct trod_run *r,
                     const struct engine_item *it, const struct trod_meta *meta, unsigned shard,
                     unsigned shards, bool recording)
{
    const struct trod_analysis *a = it->analysis;

    *in = (struct engine_instance){
        .analysis = a,
        .opt = it->opt,
        .context = {.meta = meta,
                    .sites = r->sites,
                    .symbols = r->opt.symbols,
                    .stream = TROD_ALL_STREAMS,
                    .shard = shard,
                    .shards = shards,
                    .merged = r->opt.trace.order != TROD_ORDER_FILE,
                    .by = r->opt.by,
                    .base = &in->base,
                    .recording = recording,
                    .takers = recording ? it->shards : 1,
                    .given = r->given},
        .keyed = it->scope == TROD_PER_STREAM ||
                 ((r->opt.by_stream || r->opt.by == TROD_BY_CORE) && (a->merge || a->apart)),
        .by_core = r->opt.by == TROD_BY_CORE && (a->merge || a->apart),
        .listed = (r->opt.by_stream || r->opt.by == TROD_BY_CORE) && (a->merge || a->apart),
        .fresh = r->opt.interval && !a->boundary && a->merge,
        .divided = r->opt.interval != 0,
    };
    in->both = in->keyed && it->scope == TROD_PER_RUN &&
               (a->apart      ? true
                : in->by_core ? (a->order_of ? a->order_of(it->opt) : a->order) != TROD_ANY_ORDER
                              : a->order == TROD_GLOBAL_ORDER || it->order == TROD_GLOBAL_ORDER);
    trod_keeper_init(&in->keeper, r->diag && r->diag->strict);
    in->st = make(in);
    return in->rc;
}

/*
 * Where an analysis depends on an order, states of intervals cannot be merged into that of all
 * rows: a second instance (parts) has the intervals.
 */
static int begin(struct engine_instance *in, const struct trod_run *r, const struct engine_item *it,
                 const struct trod_meta *meta, unsigned shard, unsigned shards, bool recording)
{
    const struct trod_analysis *a = it->analysis;
    int rc = begin_one(in, r, it, meta, shard, shards, recording);

    if (rc < 0 || !in->fresh || (a->order_of ? a->order_of(it->opt) : a->order) == TROD_ANY_ORDER)
        return rc;
    in->fresh = in->divided = false;
    in->parts = calloc(1, sizeof *in->parts);
    if (!in->parts)
        return in->rc = TROD_ERR_NOMEM;
    in->rc = begin_one(in->parts, r, it, meta, shard, shards, recording);
    return in->rc;
}

int engine_instance_begin(struct engine_instance *in, const struct trod_run *r,
                          const struct engine_item *it, const struct trod_meta *meta,
                          unsigned shard)
{
    return begin(in, r, it, meta, shard, it->shards, false);
}

int engine_instance_begin_part(struct engine_instance *in, const struct trod_run *r,
                               const struct engine_item *it, const struct trod_meta *meta,
                               enum run_cut cut)
{
    return begin(in, r, it, meta, 0, 1, engine_item_records(it, cut));
}

size_t engine_instance_recorded(const struct engine_instance *in)
{
    return in->context.recording && in->analysis->recorded ? in->analysis->recorded(in->st) : 0;
}

static void end_parts(struct engine_instance *in)
{
    if (in->parts)
        engine_instance_end(in->parts);
    free(in->parts);
    in->parts = NULL;
}

void engine_instance_end(struct engine_instance *in)
{
    if (!in->analysis)
        return;
    end_parts(in);
    drop(in, &in->st);
    drop(in, &in->total);
    for (uint32_t i = 0; i < in->n_streams; i++)
        drop(in, &in->stream[i]);
    for (uint32_t i = 0; i < in->n_past; i++)
        drop(in, &in->past[i]);
    free(in->stream);
    free(in->past);
    free(in->core_of);
    trod_result_free(in->intervals);
    trod_keeper_tell(&in->keeper, NULL);
    *in = (struct engine_instance){.analysis = NULL};
}

int run_instances(struct trod_run *r)
{
    for (size_t i = 0; i < r->n_items; i++) {
        struct engine_item *it = &r->item[i];

        it->instance = calloc(it->shards, sizeof *it->instance);
        if (!it->instance)
            return TROD_ERR_NOMEM;
    }
    return TROD_OK;
}

int run_begin_items(struct trod_run *r, bool alone)
{
    int rc;

    for (size_t i = 0; i < r->n_items; i++)
        r->item[i].shards = alone ? 1 : run_takers(r, &r->item[i]);
    rc = run_instances(r);
    for (size_t i = 0; i < r->n_items; i++)
        for (unsigned k = 0; rc == TROD_OK && k < r->item[i].shards; k++)
            rc = engine_instance_begin(&r->item[i].instance[k], r, &r->item[i],
                                       trod_trace_meta(r->whole), k);
    return rc;
}

/*
 * The place of state I, the key of a stream or of a core, among the *N at *LIST, made if new. NULL:
 * in->rc says why.
 */
static void **place(struct engine_instance *in, void ***list, uint32_t *n_list, uint32_t i)
{
    if (i >= *n_list) {
        uint32_t n = *n_list ? *n_list : 8;
        void **p;

        while (n <= i)
            n *= 2;
        p = realloc(*list, n * sizeof *p);
        if (!p) {
            in->rc = TROD_ERR_NOMEM;
            return NULL;
        }
        memset(p + *n_list, 0, (n - *n_list) * sizeof *p);
        *list = p;
        *n_list = n;
    }
    if (!(*list)[i]) { /* calls are given of cpus alone, each of which is a stream */
        const int64_t stream = i ? (int64_t)i - 1 : TROD_UNSAID_STREAM;

        (*list)[i] = make_of(in, in->by_core ? TROD_ALL_STREAMS : stream, stream);
    }
    return (*list)[i] ? &(*list)[i] : NULL;
}

void *engine_instance_stream(struct engine_instance *in, uint32_t key)
{
    void **at = key < in->n_streams && in->stream[key]
                    ? &in->stream[key]
                    : place(in, &in->stream, &in->n_streams, key);

    return at ? *at : NULL;
}

/* How a state is given rows: trod_analysis.feed, follow. */
typedef int (*feed_fn)(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);

/* Rows [FROM, TO), run by run of one stream. */
static void feed_streams(struct engine_instance *in, const struct trod_batch *b, uint32_t from,
                         uint32_t to, feed_fn fn)
{
    while (in->rc == TROD_OK && from < to) {
        const uint32_t end = engine_stream_run(b, from, to);
        void *st = engine_instance_stream(in, trod_stream_key(b, from));

        if (st)
            in->rc = fn(st, b, from, end);
        from = end;
    }
}

/* Rows [FROM, TO), run by run of one core. */
static void feed_cores(struct engine_instance *in, const struct trod_batch *b, uint32_t from,
                       uint32_t to, feed_fn fn)
{
    while (in->rc == TROD_OK && from < to) {
        uint32_t end, key;
        void *st = NULL;

        if (!engine_core_rows(in, b, from, to, &end, &key))
            in->rc = TROD_ERR_NOMEM;
        else if (key || engine_core_ran(b, from, end))
            st = engine_instance_stream(in, key);
        else if (!in->both)
            st = in->st;
        if (st)
            in->rc = fn(st, b, from, end);
        from = end;
    }
}

/*
 * Rows of another file come: all states are shown the change by a call without rows, whichever
 * streams the file has. Where reading began inside a later file, streams of the files before it get
 * states, too.
 */
static void turn_file(struct engine_instance *in, const struct trod_batch *b, uint32_t from,
                      feed_fn fn)
{
    const struct trod_meta *m = b->meta;
    const uint32_t file = m ? m->file : 0;

    for (uint32_t i = 0; in->context.given && !in->by_core && m && i < m->n_streams; i++)
        if (m->streams[i].file < file && in->file == 0 && in->rc == TROD_OK)
            engine_instance_stream(in, i + 1);
    for (uint32_t i = 0; in->file != file && in->rc == TROD_OK && i < in->n_streams; i++)
        if (in->stream[i])
            in->rc = fn(in->stream[i], b, from, from);
    in->file = file;
}

static void feed(struct engine_instance *in, const struct trod_batch *b, uint32_t from, uint32_t to,
                 feed_fn fn)
{
    if (!in->keyed || in->both)
        in->rc = fn(in->st, b, from, to);
    if (!in->keyed || in->rc < 0)
        return;
    if (in->analysis->follow)
        turn_file(in, b, from, fn);
    if (in->by_core)
        feed_cores(in, b, from, to, fn);
    else
        feed_streams(in, b, from, to, fn);
}

/* Report the boundary AT to every state. */
static void report_boundary(struct engine_instance *in, const struct trod_boundary *at)
{
    if (!in->analysis->boundary)
        return;
    if (in->keyed)
        for (uint32_t i = 0; in->rc == TROD_OK && i < in->n_streams; i++)
            if (in->stream[i])
                in->rc = in->analysis->boundary(in->stream[i], at);
    if (in->rc == TROD_OK)
        in->rc = in->analysis->boundary(in->st, at);
}

/* What the streams have together, in in->st; their states stay. */
static void gather(struct engine_instance *in)
{
    if (!in->keyed || !in->analysis->merge || in->both)
        return;
    for (uint32_t i = 0; in->rc == TROD_OK && i < in->n_streams; i++)
        if (in->stream[i])
            in->rc = in->analysis->merge(in->st, in->stream[i]);
}

int engine_instance_refresh(struct engine_instance *in)
{
    if (!in->stale)
        return TROD_OK;
    in->stale = false;
    drop(in, &in->st);
    in->st = make(in);
    if (in->st)
        gather(in);
    return in->rc;
}

/* The results of streams or cores, whose states stand in in->stream, into R. */
static int stream_results(const struct engine_instance *in, struct trod_result *r);

/* The states of streams or cores go to those of all intervals. */
static void add_past(struct engine_instance *in)
{
    for (uint32_t i = 0; in->listed && in->rc == TROD_OK && i < in->n_streams; i++) {
        void **at = in->stream[i] ? place(in, &in->past, &in->n_past, i) : NULL;

        if (at)
            in->rc = in->analysis->merge(*at, in->stream[i]);
    }
}

/* An interval with a state of its own is over: its result is kept, its numbers go to the total. */
static void end_interval(struct engine_instance *in, const struct trod_boundary *at)
{
    struct trod_result *r;

    in->context.given = NULL; /* stacks of further ones begin empty */
    gather(in);
    if (in->rc == TROD_OK && !in->intervals)
        in->rc = trod_result_new(&in->intervals);
    if (in->rc < 0)
        return;
    r = in->intervals;
    trod_result_open(r, NULL, NULL); /* an item of a list: keys would be compared */
    trod_result_u64(r, "interval", at->number);
    trod_result_u64(r, "rows_end", at->rows);
    trod_result_u64(r, "instructions_end", at->instructions);
    if (at->time != TROD_NOWHERE)
        trod_result_u64(r, "time_end", at->time);
    in->rc = in->analysis->result(in->st, r);
    if (in->rc == TROD_OK && in->listed && in->n_streams)
        in->rc = stream_results(in, r);
    trod_result_close(r);
    add_past(in);
    if (in->rc == TROD_OK && !in->total)
        in->total = make(in);
    if (in->rc == TROD_OK)
        in->rc = in->analysis->merge(in->total, in->st);
    drop(in, &in->st);
    for (uint32_t i = 0; i < in->n_streams; i++)
        drop(in, &in->stream[i]);
    if (in->rc == TROD_OK)
        in->st = make(in);
}

void engine_instance_feed(struct engine_instance *in, const struct trod_batch *b,
                          const struct engine_cut *cut)
{
    const bool warm = cut->warm && !in->analysis->boundary;

    if (in->rc < 0 || (cut->gap && !in->analysis->idle))
        return;
    if (in->parts) {
        engine_instance_feed(in->parts, b, cut);
        in->rc = in->parts->rc;
    }
    if (cut->fed && cut->to > cut->from && !warm) {
        feed(in, b, cut->from, cut->to, in->analysis->feed);
        in->begun = true;
    } else if (in->analysis->follow && cut->to > cut->from && (cut->fed || cut->before)) {
        feed(in, b, cut->from, cut->to, in->analysis->follow);
    }
    if (!cut->ends || in->rc < 0)
        return;
    if (cut->at.type == TROD_BOUNDARY_INTERVAL && in->fresh)
        end_interval(in, &cut->at);
    else
        report_boundary(in, &cut->at);
    in->begun = false;
}

void engine_instance_settle(struct engine_instance *in, uint32_t file)
{
    /* where cores make the whole, what a thread did on one is merged with what it did on others */
    if (!in->analysis->settle || (in->by_core && !in->both))
        return;
    for (uint32_t i = 0; in->rc == TROD_OK && i < in->n_streams; i++)
        if (in->stream[i])
            in->rc = in->analysis->settle(in->stream[i], file);
    if (in->rc == TROD_OK)
        in->rc = in->analysis->settle(in->st, file);
}

/* End the intervals of IN, which are in parts, at AT: their results become those of IN. */
static void close_parts(struct engine_instance *in, const struct trod_boundary *at, size_t n_files)
{
    struct engine_instance *parts = in->parts;

    engine_instance_close(parts, at, n_files);
    in->rc = parts->rc;
    in->intervals = parts->intervals;
    parts->intervals = NULL;
    end_parts(in);
}

void engine_instance_close(struct engine_instance *in, const struct trod_boundary *at,
                           size_t n_files)
{
    struct trod_boundary end = *at;

    if (in->parts && in->rc == TROD_OK)
        close_parts(in, at, n_files);
    if (in->rc < 0)
        return;
    if (at->type == TROD_BOUNDARY_WARM) { /* the warm-up had no end: no row is counted */
        report_boundary(in, &end);
    } else if (in->divided && in->begun && !in->fresh) { /* the last one ends with the rows */
        end.type = TROD_BOUNDARY_INTERVAL;
        report_boundary(in, &end);
    }
    end.type = TROD_BOUNDARY_END;
    report_boundary(in, &end);
    /* the state of an interval is merged once more: it is not summed up */
    for (size_t i = 0; i < n_files && !in->fresh; i++)
        engine_instance_settle(in, (uint32_t)i);
    if (in->fresh && in->rc == TROD_OK) {
        if (in->begun || !in->intervals) /* else the last one ended with the rows */
            end_interval(in, at);
        drop(in, &in->st);
        in->st = in->total;
        in->total = NULL;
        for (uint32_t i = 0; i < in->n_past; i++) {
            void **st = place(in, &in->stream, &in->n_streams, i);

            if (!st)
                return;
            drop(in, st);
            *st = in->past[i];
            in->past[i] = NULL;
        }
    } else {
        gather(in);
    }
}

/* The key in INTO of what has KEY in FROM: the traces of units number their own streams. */
static int same_key(struct engine_instance *into, const struct engine_instance *from, uint32_t key)
{
    struct trod_meta *to = (struct trod_meta *)(uintptr_t)into->context.meta;

    if (into->by_core)
        into->cpus = from->cpus;
    return into->by_core && !from->cpus ? (int)key
                                        : engine_stream_same_key(to, from->context.meta, key);
}

/* Merge FROM into INTO. FROM may be emptied by it: it can only be released then. */
static int take(const struct trod_analysis *a, void *into, void *from)
{
    return a->take ? a->take(into, from) : a->merge(into, from);
}

int engine_instance_merge(struct engine_instance *into, struct engine_instance *from, bool renumber)
{
    int rc = take(into->analysis, into->st, from->st);

    for (uint32_t i = 0; rc == TROD_OK && i < from->n_streams; i++) {
        int key;
        void *st;

        if (!from->stream[i])
            continue;
        key = renumber ? same_key(into, from, i) : (int)i;
        if (key < 0)
            return key;
        st = engine_instance_stream(into, (uint32_t)key);
        rc = st ? take(into->analysis, st, from->stream[i]) : into->rc;
    }
    return rc;
}

/* ---- results */

static int stream_results(const struct engine_instance *in, struct trod_result *r)
{
    const struct trod_meta *m = in->context.meta;
    int rc = TROD_OK;

    if (in->by_core)
        return engine_core_results(in, r);
    trod_result_list(r, "streams", "by thread, cpu or agent");
    for (uint32_t i = 0; rc == TROD_OK && i < in->n_streams; i++) {
        const struct trod_stream *s = i && i - 1 < m->n_streams ? &m->streams[i - 1] : NULL;

        if (!in->stream[i])
            continue;
        trod_result_open(r, NULL, s ? s->name : "-"); /* as rows are shown */
        if (s)
            trod_result_strn(r, "stream", s->name, s->name_len);
        if (s && s->tid != TROD_NOWHERE)
            trod_result_u64(r, "tid", s->tid);
        if (s && s->pid != TROD_NOWHERE)
            trod_result_u64(r, "pid", s->pid);
        rc = in->analysis->result(in->stream[i], r);
        trod_result_close(r);
    }
    trod_result_list_close(r);
    return rc;
}

int engine_instance_result(const struct engine_instance *in, struct trod_result *r)
{
    int rc = TROD_OK;

    if (!in->keyed || in->analysis->merge || in->both)
        rc = in->analysis->result(in->st, r);
    if (rc == TROD_OK && in->intervals) {
        trod_result_list(r, "intervals", "intervals");
        trod_result_add(r, in->intervals);
        trod_result_list_close(r);
    }
    if (rc == TROD_OK && in->keyed && in->n_streams)
        rc = stream_results(in, r);
    return rc < 0 ? rc : trod_result_status(r);
}
