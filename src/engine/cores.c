/*
 * cores.c - the cores that rows ran on, for results by core.
 *
 * A core is what the order of the trace says (TROD_COL_CORE), the file of a trace that is sharded
 * by core, what the last CPU_ID marker of the thread says (drmemtrace, section 4), or, in traces of
 * the other families, the cpu that is the stream of the row.
 */
#include "core/grow.h"
#include "engine/run_int.h"
#include "engine/stream_run.h"
#include "trod/drmemtrace.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

/* The core that the stream of KEY is on as its markers say, + 1. NULL: no memory. */
static uint32_t *core_of(struct engine_instance *in, uint32_t key)
{
    if (!trod_grow_to(&in->core_of, &in->n_core_of, key, sizeof *in->core_of, NULL))
        return NULL;
    return &in->core_of[key];
}

static bool is_marked(const struct trod_batch *b)
{
    const struct trod_format *f = b->meta ? b->meta->driver : NULL;

    return f && f->flags & TROD_FMT_MARKERS;
}

/* Row I of B, whose stream is on the core *AT (+ 1), may name another one. */
static void follow(const struct trod_batch *b, uint32_t i, uint32_t *at)
{
    const uint32_t said = TROD_COL_SUB | TROD_COL_VALUE;

    if (b->kind[i] == TROD_MARKER && (b->have & b->has[i] & said) == said &&
        b->sub[i] == TROD_DRM_CPU_ID)
        *at = b->value[i] < ENGINE_CORES ? (uint32_t)b->value[i] + 1 : 0;
}

/* The key of row I of B. 0: its core is not known. */
static uint32_t key_of(const struct engine_instance *in, const struct trod_batch *b, uint32_t i,
                       uint32_t marked)
{
    const uint32_t stream = trod_stream_key(b, i);
    const struct trod_stream *s =
        stream && stream - 1 < b->meta->n_streams ? &b->meta->streams[stream - 1] : NULL;

    if (b->have & b->has[i] & TROD_COL_CORE)
        return b->core[i] + 1u;
    if (in->cpus)
        return s && s->tid == TROD_NOWHERE ? stream : 0;
    if (b->meta->filetype & TROD_DRM_CORE_SHARDED && s) /* idle time may be renumbered elsewhere */
        return (s->tid == TROD_NOWHERE && !in->context.merged ? b->meta->file : s->file) + 1;
    if (b->meta->filetype & TROD_DRM_CORE_SHARDED)
        return 0;
    return marked;
}

bool engine_core_rows(struct engine_instance *in, const struct trod_batch *b, uint32_t from,
                      uint32_t to, uint32_t *end, uint32_t *key)
{
    const bool marked = is_marked(b);
    uint32_t i = from;

    in->cpus = !marked && !(b->have & TROD_COL_CORE);
    for (; i < to; i++) {
        uint32_t none = 0, *at = marked ? core_of(in, trod_stream_key(b, i)) : &none, k;

        if (!at)
            return false;
        follow(b, i, at);
        k = key_of(in, b, i, *at);
        if (i == from)
            *key = k;
        else if (k != *key)
            break;
    }
    *end = i;
    return true;
}

bool engine_core_ran(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (b->kind[i] != TROD_MARKER && b->kind[i] != TROD_THREAD && b->kind[i] != TROD_NOTE)
            return true;
    return false;
}

int engine_core_results(const struct engine_instance *in, struct trod_result *r)
{
    const struct trod_meta *m = in->context.meta;
    int rc = TROD_OK;

    trod_result_list(r, "cores", "by core");
    for (uint32_t i = 0; rc == TROD_OK && i < in->n_streams; i++) {
        const struct trod_stream *s =
            in->cpus && i && i - 1 < m->n_streams ? &m->streams[i - 1] : NULL;

        if (!in->stream[i])
            continue;
        trod_result_open(r, NULL, NULL);
        if (s)
            trod_result_strn(r, "core", s->name, s->name_len);
        else if (i)
            trod_result_u64(r, "core", i - 1);
        else
            trod_result_str(r, "core", "unknown");
        rc = in->analysis->result(in->stream[i], r);
        trod_result_close(r);
    }
    trod_result_list_close(r);
    return rc;
}
