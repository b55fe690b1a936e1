/*
 * instance.c - the states of an analysis: made, fed, ended, merged.
 *
 * Implements docs/design.md, "The engine": scopes and intervals. An analysis only ever sees a state
 * and rows; which state that is - of all rows, of a stream, of an interval - is decided here.
 */
#include "engine/run_int.h"

#include <stdlib.h>
#include <string.h>

/* A new state of IN for STREAM (TROD_ALL_STREAMS: all rows). NULL: in->rc says why. */
static void *make(struct engine_instance *in, int64_t stream)
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

static void drop(const struct engine_instance *in, void **st)
{
    if (*st && in->analysis->fini)
        in->analysis->fini(*st);
    free(*st);
    *st = NULL;
}

int engine_instance_begin(struct engine_instance *in, const struct trod_run *r,
                          const struct engine_item *it, const struct trod_meta *meta,
                          unsigned shard)
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
                    .shards = it->shards,
                    .merged = r->opt.trace.order != TROD_ORDER_FILE},
        .keyed = it->scope == TROD_PER_STREAM || (r->opt.by_stream && a->merge),
        .fresh = r->opt.interval && !a->boundary && a->merge,
    };
    trod_keeper_init(&in->keeper, r->diag && r->diag->strict);
    in->st = make(in, TROD_ALL_STREAMS);
    return in->rc;
}

void engine_instance_end(struct engine_instance *in)
{
    if (!in->analysis)
        return;
    drop(in, &in->st);
    drop(in, &in->total);
    for (uint32_t i = 0; i < in->n_streams; i++)
        drop(in, &in->stream[i]);
    free(in->stream);
    trod_result_free(in->intervals);
    trod_keeper_tell(&in->keeper, NULL);
    *in = (struct engine_instance){.analysis = NULL};
}

/* The state of STREAM; NULL: in->rc says why. */
static void *stream_state(struct engine_instance *in, uint32_t stream)
{
    if (stream >= in->n_streams) {
        uint32_t n = in->n_streams ? in->n_streams : 8;
        void **p;

        while (n <= stream)
            n *= 2;
        p = realloc(in->stream, n * sizeof *p);
        if (!p) {
            in->rc = TROD_ERR_NOMEM;
            return NULL;
        }
        memset(p + in->n_streams, 0, (n - in->n_streams) * sizeof *p);
        in->stream = p;
        in->n_streams = n;
    }
    if (!in->stream[stream])
        in->stream[stream] = make(in, stream);
    return in->stream[stream];
}

/* Rows [FROM, TO), run by run of one stream. */
static void feed_streams(struct engine_instance *in, const struct trod_batch *b, uint32_t from,
                         uint32_t to)
{
    bool said = b->have & TROD_COL_STREAM;

    while (in->rc == TROD_OK && from < to) {
        uint32_t stream = said && (b->has[from] & TROD_COL_STREAM) ? b->stream[from] : 0;
        uint32_t end = said ? from + 1 : to;
        void *st;

        while (end < to && b->stream[end] == b->stream[from] &&
               !((b->has[end] ^ b->has[from]) & TROD_COL_STREAM))
            end++;
        st = stream_state(in, stream);
        if (st)
            in->rc = in->analysis->feed(st, b, from, end);
        from = end;
    }
}

/* Tell every state what ends. */
static void tell(struct engine_instance *in, const struct trod_boundary *at)
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
    if (!in->keyed || !in->analysis->merge)
        return;
    for (uint32_t i = 0; in->rc == TROD_OK && i < in->n_streams; i++)
        if (in->stream[i])
            in->rc = in->analysis->merge(in->st, in->stream[i]);
}

/* An interval with a state of its own is over: its result is kept, its numbers go to the total. */
static void end_interval(struct engine_instance *in, const struct trod_boundary *at)
{
    struct trod_result *r;

    gather(in);
    if (in->rc == TROD_OK && !in->intervals)
        in->rc = trod_result_new(&in->intervals);
    if (in->rc < 0)
        return;
    r = in->intervals;
    trod_result_open(r, "interval", NULL);
    trod_result_u64(r, "interval", at->number);
    trod_result_u64(r, "rows_end", at->rows);
    trod_result_u64(r, "instructions_end", at->instructions);
    if (at->time != TROD_NOWHERE)
        trod_result_u64(r, "time_end", at->time);
    in->rc = in->analysis->result(in->st, r);
    trod_result_close(r);
    if (in->rc == TROD_OK && !in->total)
        in->total = make(in, TROD_ALL_STREAMS);
    if (in->rc == TROD_OK)
        in->rc = in->analysis->merge(in->total, in->st);
    drop(in, &in->st);
    for (uint32_t i = 0; i < in->n_streams; i++)
        drop(in, &in->stream[i]);
    if (in->rc == TROD_OK)
        in->st = make(in, TROD_ALL_STREAMS);
}

void engine_instance_feed(struct engine_instance *in, const struct trod_batch *b,
                          const struct engine_cut *cut)
{
    if (in->rc < 0)
        return;
    if (cut->fed && cut->to > cut->from && !(cut->warm && !in->analysis->boundary)) {
        if (in->keyed)
            feed_streams(in, b, cut->from, cut->to);
        else
            in->rc = in->analysis->feed(in->st, b, cut->from, cut->to);
    }
    if (!cut->ends || in->rc < 0)
        return;
    if (cut->at.type == TROD_BOUNDARY_INTERVAL && in->fresh)
        end_interval(in, &cut->at);
    else
        tell(in, &cut->at);
}

void engine_instance_settle(struct engine_instance *in, uint32_t file)
{
    if (!in->analysis->settle)
        return;
    for (uint32_t i = 0; in->rc == TROD_OK && i < in->n_streams; i++)
        if (in->stream[i])
            in->rc = in->analysis->settle(in->stream[i], file);
    if (in->rc == TROD_OK)
        in->rc = in->analysis->settle(in->st, file);
}

void engine_instance_close(struct engine_instance *in, const struct trod_boundary *at,
                           size_t n_files)
{
    struct trod_boundary end = *at;

    if (in->rc < 0)
        return;
    end.type = TROD_BOUNDARY_END;
    tell(in, &end);
    for (size_t i = 0; i < n_files; i++)
        engine_instance_settle(in, (uint32_t)i);
    if (in->fresh && in->rc == TROD_OK) {
        end_interval(in, at);
        drop(in, &in->st);
        in->st = in->total;
        in->total = NULL;
    } else {
        gather(in);
    }
}

/* The stream of INTO that is stream I of FROM: the traces of units number their own. */
static int same_stream(struct engine_instance *into, const struct engine_instance *from, uint32_t i)
{
    const struct trod_meta *m = from->context.meta;
    struct trod_meta *to = (struct trod_meta *)(uintptr_t)into->context.meta;
    const struct trod_stream *s;

    if (i >= m->n_streams)
        return (int)i;
    s = &m->streams[i];
    if (s->tid == TROD_NOWHERE)
        return trod_meta_stream(to, s->name, s->name_len);
    return trod_meta_thread(to, s->tid, s->pid, s->file);
}

int engine_instance_merge(struct engine_instance *into, const struct engine_instance *from,
                          bool renumber)
{
    int rc = into->analysis->merge(into->st, from->st);

    for (uint32_t i = 0; rc == TROD_OK && i < from->n_streams; i++) {
        int stream;
        void *st;

        if (!from->stream[i])
            continue;
        stream = renumber ? same_stream(into, from, i) : (int)i;
        if (stream < 0)
            return stream;
        st = stream_state(into, (uint32_t)stream);
        rc = st ? into->analysis->merge(st, from->stream[i]) : into->rc;
    }
    return rc;
}

/* ---- results */

static int stream_results(const struct engine_instance *in, struct trod_result *r)
{
    const struct trod_meta *m = in->context.meta;
    int rc = TROD_OK;

    trod_result_list(r, "streams", "by thread, cpu or agent");
    for (uint32_t i = 0; rc == TROD_OK && i < in->n_streams; i++) {
        const struct trod_stream *s = i < m->n_streams ? &m->streams[i] : NULL;

        if (!in->stream[i])
            continue;
        trod_result_open(r, NULL, s ? s->name : NULL);
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

    if (!in->keyed || in->analysis->merge)
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
