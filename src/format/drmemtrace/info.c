/*
 * info.c - the part of `trod info` that is special to drmemtrace: header, totals, events, system
 * calls.
 *
 * It is an analysis like any other, but belongs to the format. Numbers that are not in the trace
 * are absent.
 */
#include "format/drmemtrace/beside.h"
#include "format/drmemtrace/entries.h"
#include "trod/buf.h"
#include "trod/syscalls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 1024, CPUS = 4096, SIGNALS = 128 };

struct info {
    const struct trod_meta *meta;
    uint64_t marker[TROD_DRM_MARKERS], other_markers;
    uint64_t calls[CALLS], other_calls;
    uint64_t signals[SIGNALS];
    uint64_t instrs, encoded, nofetch, kernel;
    uint64_t chunk, vector;
    uint64_t first, last, windows_least, windows_most;
    uint64_t cpus[CPUS / 64], unknown_cpus;
    bool has_time, has_window;
};

static int init(void *st, const void *opt, const struct trod_context *context)
{
    (void)opt;
    ((struct info *)st)->meta = context->meta;
    return TROD_OK;
}

static void feed_time(struct info *s, uint64_t v)
{
    if (v == TROD_NOWHERE)
        return;
    if (!s->has_time || v < s->first)
        s->first = v;
    if (!s->has_time || v > s->last)
        s->last = v;
    s->has_time = true;
}

static void feed_cpu(struct info *s, uint64_t v)
{
    if (v == TROD_NOWHERE || v == UINT32_MAX)
        s->unknown_cpus++;
    else if ((v & 0xfff) < CPUS)
        s->cpus[(v & 0xfff) / 64] |= UINT64_C(1) << (v & 63);
}

static void feed_marker(struct info *s, unsigned m, uint64_t v)
{
    if (m >= TROD_DRM_MARKERS) {
        s->other_markers++;
        return;
    }
    s->marker[m]++;
    switch (m) {
    case TROD_DRM_TIMESTAMP:
        feed_time(s, v);
        break;
    case TROD_DRM_CPU_ID:
        feed_cpu(s, v);
        break;
    case TROD_DRM_SYSCALL:
        if (v < CALLS)
            s->calls[v]++;
        else
            s->other_calls++;
        break;
    case TROD_DRM_SIGNAL_NUMBER:
        s->signals[v < SIGNALS ? v : 0]++;
        break;
    case TROD_DRM_CHUNK_INSTR_COUNT:
        s->chunk = s->chunk ? s->chunk : v; /* of the first file, as in merge */
        break;
    case TROD_DRM_VECTOR_LENGTH:
        s->vector = s->vector ? s->vector : v;
        break;
    case TROD_DRM_WINDOW_ID:
        s->windows_least = s->has_window && s->windows_least < v ? s->windows_least : v;
        s->windows_most = s->has_window && s->windows_most > v ? s->windows_most : v;
        s->has_window = true;
        break;
    default:
        break;
    }
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct info *s = st;

    for (uint32_t i = from; i < to; i++) {
        if (b->kind[i] == TROD_MARKER) {
            feed_marker(s, b->sub[i], b->value[i]);
        } else if (b->kind[i] == TROD_INSTR) {
            bool fetched = drm_is_instr(b->sub[i]);

            s->instrs += fetched;
            s->nofetch += !fetched;
            s->kernel += fetched && b->flags[i] & TROD_F_KERNEL;
            s->encoded += fetched && b->have & b->has[i] & TROD_COL_CODE;
        }
    }
    return TROD_OK;
}

static int merge(void *into, const void *from)
{
    struct info *a = into;
    const struct info *b = from;

    for (unsigned i = 0; i < TROD_DRM_MARKERS; i++)
        a->marker[i] += b->marker[i];
    for (unsigned i = 0; i < CALLS; i++)
        a->calls[i] += b->calls[i];
    for (unsigned i = 0; i < SIGNALS; i++)
        a->signals[i] += b->signals[i];
    for (unsigned i = 0; i < CPUS / 64; i++)
        a->cpus[i] |= b->cpus[i];
    a->other_markers += b->other_markers;
    a->other_calls += b->other_calls;
    a->unknown_cpus += b->unknown_cpus;
    a->instrs += b->instrs;
    a->encoded += b->encoded;
    a->nofetch += b->nofetch;
    a->kernel += b->kernel;
    a->chunk = a->chunk ? a->chunk : b->chunk;
    a->vector = a->vector ? a->vector : b->vector;
    if (b->has_time) {
        feed_time(a, b->first);
        feed_time(a, b->last);
    }
    if (b->has_window && (!a->has_window || b->windows_least < a->windows_least))
        a->windows_least = b->windows_least;
    if (b->has_window && (!a->has_window || b->windows_most > a->windows_most))
        a->windows_most = b->windows_most;
    a->has_window = a->has_window || b->has_window;
    return TROD_OK;
}

/* "2025-03-14 09:26:53.589793 UTC" of microseconds since 1601. */
static void emit_time(struct trod_result *e, const char *key, uint64_t us)
{
    const uint64_t epoch = UINT64_C(11644473600);
    char text[64];
    struct tm tm;
    time_t t = (time_t)((int64_t)(us / 1000000) - (int64_t)epoch);
    size_t n;

    if (!gmtime_r(&t, &tm) || (n = strftime(text, 32, "%Y-%m-%d %H:%M:%S", &tm)) == 0) {
        trod_result_u64(e, key, us);
        return;
    }
    snprintf(text + n, sizeof text - n, ".%06u UTC", (unsigned)(us % 1000000));
    trod_result_str(e, key, text);
}

static uint64_t processes(const struct trod_meta *m, uint64_t *threads)
{
    uint64_t pids = 0;

    *threads = 0;
    for (uint32_t i = 0; i < m->n_streams; i++) {
        bool known = false;

        if (m->streams[i].tid == TROD_NOWHERE)
            continue;
        ++*threads;
        for (uint32_t k = 0; k < i && !known && k < 4096; k++)
            known = m->streams[k].tid != TROD_NOWHERE && m->streams[k].pid == m->streams[i].pid;
        pids += !known;
    }
    return pids;
}

static void emit_header(const struct info *s, struct trod_result *e)
{
    const struct trod_meta *m = s->meta;
    uint64_t threads, pids = processes(m, &threads), cpus = 0;

    trod_result_u64(e, "entry_bytes", m->addr_bits == 32 ? 8 : 12);
    trod_result_u64(e, "threads", threads);
    trod_result_u64(e, "processes", pids);
    for (unsigned i = 0; i < CPUS / 64; i++)
        for (uint64_t v = s->cpus[i]; v; v &= v - 1)
            cpus++;
    trod_result_u64(e, "cpus", cpus);
    if (s->has_time) {
        emit_time(e, "begun", s->first);
        emit_time(e, "ended", s->last);
        trod_result_f64(e, "seconds", (double)(s->last - s->first) / 1e6, 6);
    }
    if (s->chunk)
        trod_result_u64(e, "instructions_per_chunk", s->chunk);
    if (s->chunk)
        trod_result_u64(e, "chunk_footers", s->marker[TROD_DRM_CHUNK_FOOTER]);
    if (s->vector)
        trod_result_u64(e, "vector_bytes", s->vector);
    if (s->has_window) {
        trod_result_u64(e, "first_window", s->windows_least);
        trod_result_u64(e, "last_window", s->windows_most);
    }
    trod_result_u64(e, "instructions", s->instrs);
    trod_result_u64(e, "not_fetched_again", s->nofetch);
    trod_result_u64(e, "kernel_instructions", s->kernel);
    trod_result_u64(e, "instructions_with_opcode", s->encoded);
}

static void emit_calls(const struct info *s, struct trod_result *e)
{
    static const char *const columns[] = {"number", "name", "count"};

    if (s->marker[TROD_DRM_SYSCALL] == 0)
        return;
    trod_result_counts(e, "system_calls", "system calls", columns, 3);
    for (unsigned i = 0; i < CALLS; i++) {
        const char *name = trod_syscall_name(s->meta->isa, i);

        if (s->calls[i] == 0)
            continue;
        trod_result_u64(e, NULL, i);
        if (name)
            trod_result_str(e, NULL, name);
        else
            trod_result_absent(e);
        trod_result_u64(e, NULL, s->calls[i]);
        trod_result_row_end(e);
    }
    if (s->other_calls) {
        trod_result_absent(e);
        trod_result_str(e, NULL, "(others)");
        trod_result_u64(e, NULL, s->other_calls);
        trod_result_row_end(e);
    }
    trod_result_table_close(e);
}

static void emit_signals(const struct info *s, struct trod_result *e)
{
    static const char *const columns[] = {"signal", "count"};

    if (s->marker[TROD_DRM_SIGNAL_NUMBER] == 0)
        return;
    trod_result_counts(e, "signals", "signals", columns, 2);
    for (unsigned i = 0; i < SIGNALS; i++) {
        if (s->signals[i] == 0)
            continue;
        trod_result_u64(e, NULL, i);
        trod_result_u64(e, NULL, s->signals[i]);
        trod_result_row_end(e);
    }
    trod_result_table_close(e);
}

static int result(const void *st, struct trod_result *e)
{
    const struct info *s = st;

    emit_header(s, e);
    emit_calls(s, e);
    emit_signals(s, e);
    return TROD_OK;
}

const struct trod_analysis drm_info = {
    .name = "drmemtrace",
    .title = "what a drmemtrace trace tells of itself",
    .state_size = sizeof(struct info),
    .light = true,
    .needs = TROD_COL_KIND | TROD_COL_SUB | TROD_COL_VALUE,
    .uses = TROD_COL_FLAGS | TROD_COL_CODE,
    .init = init,
    .feed = feed,
    .merge = merge,
    .result = result,
};
