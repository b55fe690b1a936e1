/*
 * order_cores.c - the files of a trace as threads on cores that take turns, a row each.
 *
 * Implements trace.h, order "dynamic": dynamic.h decides which file's next row comes, and on which
 * core, which column CORE says; and order "recorded" in lock-step, where a schedule decides
 * (replay.h). Rows are copied together, so that a batch holds rows of many files. What the
 * schedulers look at are markers of drmemtrace; files of other formats have none and share the
 * cores without ever waiting.
 */
#include "trace/batch_own.h"
#include "trace/crowd.h"
#include "trace/dynamic.h"
#include "trace/poison.h"
#include "trace/replay.h"
#include "trod/drmemtrace.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 1024,
    LOOK = 64, /* rows that a file's first times are looked for in, at least */
    AHEAD = 8, /* files that may be read and decompressed ahead, by a thread each */
    NEEDS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_STREAM
};

struct stream {
    struct trod_reader *reader;
    struct trod_batch *batch;
    uint8_t *kind; /* of its rows: struct trod_dyn_rows */
    uint16_t *fetched, *stop;
    uint32_t core; /* that it ran on last */
    bool ended;
    bool begun; /* rows have been read */
};

/* Rows [FROM, FROM + N) of INPUT, on CORE, are row TO of the batch and every STRIDE-th behind it.
 */
struct piece {
    uint32_t to, stride, from, n, input, core;
};

struct state {
    struct stream *stream;
    struct trod_crowd crowd;
    struct trod_dyn_rows *rows;   /* by stream */
    struct trod_dynamic *dynamic; /* one of the two decides */
    struct trod_replay *replay;
    struct trod_plan plan; /* of the replay */
    struct trod_core *counts;
    struct trod_batch *out;
    struct piece *piece; /* what is decided and not copied yet; at most a row each */
    uint32_t n_pieces, cap_pieces;
    uint32_t
        most; /* rows of this batch, which may be another one than the first (trod_trace_take) */
    struct trod_dyn_turn *turn;
    bool numbered;        /* the format's markers are those of drmemtrace */
    uint32_t input, core; /* of the row that is due, the last one taken of its input */
    uint32_t cores;
    /* by core: steps that rows were given for; idle NULL: nobody wants them */
    uint64_t *idle, *waits;
    uint32_t n_gaps; /* rows of the batch that put_gap put there */
    bool due;
    bool over;
    bool ended;
    int failed;
};

/* --- what either scheduler says --- */

static int decide(struct state *s)
{
    return s->replay ? trod_replay_next(s->replay, &s->core, &s->input)
                     : trod_dynamic_next(s->dynamic, &s->core, &s->input);
}

static uint64_t idle_of(const struct state *s, uint32_t core)
{
    return s->replay ? trod_replay_idle(s->replay, core) : trod_dynamic_idle(s->dynamic, core);
}

static uint64_t waits_of(const struct state *s, uint32_t core)
{
    return s->replay ? trod_replay_waits(s->replay, core) : 0;
}

/* --- inputs --- */

static uint8_t marker_kind(unsigned sub)
{
    switch (sub) {
    case TROD_DRM_TIMESTAMP:
        return TROD_DYN_TIMESTAMP;
    case TROD_DRM_SYSCALL:
        return TROD_DYN_SYSCALL;
    case TROD_DRM_MAYBE_BLOCKING:
        return TROD_DYN_MAYBE_BLOCKING;
    case TROD_DRM_SYSCALL_TRACE_START:
    case TROD_DRM_CONTEXT_SWITCH_START:
        return TROD_DYN_KERNEL_BEGIN;
    case TROD_DRM_SYSCALL_TRACE_END:
    case TROD_DRM_CONTEXT_SWITCH_END:
        return TROD_DYN_KERNEL_END;
    case TROD_DRM_DIRECT_THREAD_SWITCH:
        return TROD_DYN_SWITCH;
    case TROD_DRM_SYSCALL_UNSCHEDULE:
        return TROD_DYN_UNSCHEDULE;
    case TROD_DRM_SYSCALL_SCHEDULE:
        return TROD_DYN_SCHEDULE;
    case TROD_DRM_SYSCALL_ARG_TIMEOUT:
        return TROD_DYN_TIMEOUT;
    default:
        return TROD_DYN_OTHER;
    }
}

/* Markers among the N rows of B, for the scheduler. */
static uint16_t *find_stops(const struct trod_batch *b, uint8_t *kind, uint16_t *stop)
{
    const uint8_t *p = b->kind, *end = b->kind + b->n;

    while (p < end && (p = memchr(p, TROD_MARKER, (size_t)(end - p))) != NULL) {
        const size_t i = (size_t)(p++ - b->kind);

        kind[i] = marker_kind(b->sub[i]);
        if (kind[i] != TROD_DYN_OTHER)
            *stop++ = (uint16_t)i;
    }
    return stop;
}

/* Tell the scheduler of the rows of ST's batch. */
static void tell(const struct state *s, struct stream *st, struct trod_dyn_rows *r)
{
    const struct trod_batch *b = st->batch;
    const uint8_t *row = b->kind;
    const uint32_t *flags = b->flags, n = b->n;
    uint8_t *kind = st->kind;
    uint16_t *fetched = st->fetched, *stop = st->stop;
    uint16_t before = 0;

    _Static_assert(TROD_DYN_OTHER == 0 && TROD_DYN_INSTR == 1, "they are added up");
    for (uint32_t i = 0; i < n; i++)
        kind[i] = (row[i] == TROD_INSTR) & !(flags[i] & TROD_F_NOFETCH);
    for (uint32_t i = 0; i < n; i++) {
        fetched[i] = before;
        before = (uint16_t)(before + kind[i]);
    }
    fetched[n] = before;
    if (s->numbered)
        stop = find_stops(b, kind, stop);
    *stop = (uint16_t)n;
    *r = (struct trod_dyn_rows){
        .kind = kind, .value = b->value, .fetched = fetched, .stop = st->stop, .n = n};
}

/* The rows of input I that come next: 1, 0 at the end, or an error. */
static int fill(struct trod_trace *t, uint32_t i)
{
    struct state *s = t->state;
    struct stream *st = &s->stream[i];
    int rc;

    s->rows[i].at = s->rows[i].n = 0;
    if (st->ended)
        return 0;
    /* the first rows are read before everything that is wanted has been said (trod_trace_want) */
    st->batch->want = st->begun ? t->opt.want | NEEDS : TROD_COL_ALL;
    st->begun = true;
    rc = trod_crowd_wake(&s->crowd, st->reader, st->batch);
    if (rc == 0 && st->reader)
        rc = trod_reader_next(st->reader, st->batch);
    if (rc == 1) {
        tell(s, st, &s->rows[i]);
        return 1;
    }
    if (rc < 0 && s->failed == 0)
        s->failed = rc;
    st->batch->n = 0;
    st->ended = true;
    trod_crowd_forget(&s->crowd, st->reader);
    trod_trace_reader_done(t, i);
    st->reader = NULL;
    return rc < 0 && (rc == TROD_ERR_NOMEM || (t->diag && t->diag->strict)) ? rc : 0;
}

/* Copy what is decided. */
static int copy(const struct trod_trace *t)
{
    struct state *s = t->state;
    struct trod_batch *out = s->out;

    for (uint32_t k = 0; k < s->n_pieces; k++) {
        const struct piece *p = &s->piece[k];
        const struct stream *st = &s->stream[p->input];
        const int rc = trod_crowd_wake(&s->crowd, st->reader, st->batch);

        if (rc < 0)
            return rc;
        if (!trod_batch_scatter(out, p->to, p->stride, st->batch, p->from, p->n,
                                t->opt.want | NEEDS))
            return TROD_ERR_LIMIT; /* ROWS rows have room for 512 bytes each */
        for (uint32_t i = 0, row = p->to; i < p->n; i++, row += p->stride)
            out->core[row] = (uint16_t)p->core;
    }
    s->n_pieces = 0;
    return TROD_OK;
}

/* All rows of INPUT are given, and copied before others take their place. */
static int more(void *user, uint32_t input)
{
    const int rc = copy(user);

    return rc < 0 ? rc : fill(user, input);
}

/* Rows of a batch of one file. */
static uint32_t rows_of(const struct trod_crowd *c)
{
    return c->rows < LOOK ? LOOK : c->rows < ROWS ? c->rows : ROWS;
}

/* The times at the beginning of input I: as far as a reader looks before it is scheduled. */
static int look_at(struct trod_trace *t, uint32_t i, struct trod_dyn_input *in)
{
    struct state *s = t->state;
    struct stream *st = &s->stream[i];
    const uint32_t rows = rows_of(&s->crowd);
    unsigned times = 0;
    int rc = trod_batch_new(&st->batch, rows);

    st->kind = malloc(rows);
    st->fetched = malloc((rows + 1) * sizeof *st->fetched);
    st->stop = malloc((rows + 1) * sizeof *st->stop);
    if (rc < 0 || !st->kind || !st->fetched || !st->stop)
        return rc < 0 ? rc : TROD_ERR_NOMEM;
    rc = trod_trace_reader(t, i, &st->reader);
    if (rc < 0 || !st->reader) {
        st->ended = true;
        if (rc < 0 && s->failed == 0)
            s->failed = rc;
        return rc == TROD_ERR_NOMEM ? rc : 0;
    }
    s->numbered = trod_reader_format(st->reader)->flags & TROD_FMT_MARKERS;
    if ((rc = fill(t, i)) < 0)
        return rc;
    for (uint32_t row = 0; row < st->batch->n && times < 2; row++) {
        if (st->batch->kind[row] != TROD_MARKER)
            break;
        if (st->kind[row] != TROD_DYN_TIMESTAMP)
            continue;
        in->key = st->batch->value[row];
        if (times++ == 0)
            in->first = in->key;
    }
    in->version = t->meta.version;
    return 0;
}

/* Look at all inputs, which stay open. *IN: what a scheduler wants to know, to be freed. */
static int look_at_all(struct trod_trace *t, struct trod_dyn_input **in)
{
    const uint32_t n = (uint32_t)t->n_inputs;
    struct state *s = t->state;
    int rc = 0;

    s->stream = calloc(n, sizeof *s->stream);
    s->rows = calloc(n, sizeof *s->rows);
    *in = calloc(n, sizeof **in);
    if (!s->stream || !s->rows || !*in)
        return TROD_ERR_NOMEM;
    s->crowd = trod_crowd_of(t);
    if (n > AHEAD)
        t->opt.input.no_thread = true;
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = look_at(t, i, &(*in)[i]);
    if (rc == 0 && t->first)
        rc = trod_batch_new(&s->out, t->opt.batch_rows < ROWS ? t->opt.batch_rows : ROWS);
    s->cap_pieces = s->out ? s->out->cap : 0;
    if (rc == 0 && s->out && !(s->piece = malloc(s->cap_pieces * sizeof *s->piece)))
        rc = TROD_ERR_NOMEM;
    return rc;
}

/* A scheduler is there: what is counted of its CORES cores. */
static int begin(struct trod_trace *t, uint32_t cores)
{
    struct state *s = t->state;

    s->cores = cores;
    s->counts = calloc(cores, sizeof *s->counts);
    s->turn = calloc(cores, sizeof *s->turn);
    s->idle = t->opt.idle ? calloc(cores, sizeof *s->idle) : NULL;
    s->waits = t->opt.idle ? calloc(cores, sizeof *s->waits) : NULL;
    if (!s->counts || !s->turn || (t->opt.idle && (!s->idle || !s->waits)))
        return TROD_ERR_NOMEM;
    t->meta.cores = s->replay ? s->counts : trod_dynamic_counts(s->dynamic, &t->meta.last_core);
    t->meta.n_cores = cores;
    return t->first ? TROD_OK : s->failed;
}

/* The thread of input I, as its first row says. */
static uint64_t thread_of(const struct trod_trace *t, uint32_t i)
{
    const struct trod_batch *b = ((const struct state *)t->state)->stream[i].batch;

    return b && b->n && (b->have & b->has[0] & TROD_COL_STREAM) ? t->meta.streams[b->stream[0]].tid
                                                                : TROD_NOWHERE;
}

static int open_dynamic(struct trod_trace *t)
{
    struct state *s = t->state;
    const struct trod_dyn_options opt = {.cores = t->opt.cores,
                                         .quantum = t->opt.quantum,
                                         .scale = t->opt.block_scale,
                                         .parallel = t->opt.parallel,
                                         .all = t->opt.all_inputs};
    struct trod_dyn_input *in;
    int rc = look_at_all(t, &in);

    for (uint32_t i = 0; rc == 0 && i < t->n_inputs; i++)
        in[i].thread = thread_of(t, i);
    if (rc == 0)
        rc = trod_dynamic_new(&s->dynamic, in, (uint32_t)t->n_inputs, &opt, s->rows, more, t);
    free(in);
    return rc < 0 ? rc : begin(t, trod_dynamic_cores(s->dynamic));
}

/* The plan of the schedule that T goes by: recorded by a scheduler, or as traced. */
static int make_plan(struct trod_trace *t)
{
    const uint32_t n = (uint32_t)t->n_inputs;
    struct state *s = t->state;
    struct trod_schedule schedule = {0};
    uint64_t *threads;
    int rc = t->opt.schedule ? trod_plan_read(&s->plan, t->opt.schedule, n, t->diag) : 0;

    if (rc != 0)
        return rc < 0 ? rc : TROD_OK;
    threads = malloc(n * sizeof *threads);
    for (uint32_t i = 0; threads && i < n; i++)
        threads[i] = thread_of(t, i);
    rc = threads ? trod_schedule_of(&schedule, t, threads, TROD_ROLE_CPU_SCHEDULE) : TROD_ERR_NOMEM;
    if (rc == TROD_OK)
        rc = trod_plan_traced(&s->plan, &schedule, n);
    free(threads);
    trod_schedule_fini(&schedule);
    return rc;
}

static int open_lockstep(struct trod_trace *t)
{
    struct state *s = t->state;
    struct trod_dyn_input *in;
    int rc = look_at_all(t, &in);

    free(in);
    if (rc == 0)
        rc = make_plan(t);
    if (rc == 0)
        rc = trod_replay_new(&s->replay, &s->plan, (uint32_t)t->n_inputs, s->rows, more, t);
    return rc < 0 ? rc : begin(t, (uint32_t)s->plan.n);
}

/* --- rows --- */

/* Has CORE been idle, or waited, since the last row that said so? */
static bool gap_due(const struct state *s, uint32_t core)
{
    return s->idle && (s->idle[core] != idle_of(s, core) || s->waits[core] != waits_of(s, core));
}

/* A row for the steps without a record that CORE had, the idle ones first; there is room. */
static void put_gap(struct state *s, uint32_t core)
{
    const uint32_t says =
        TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_CORE;
    const bool idle = s->idle[core] != idle_of(s, core);
    const uint64_t n = idle ? idle_of(s, core) : waits_of(s, core);
    uint64_t *reported = idle ? &s->idle[core] : &s->waits[core];
    struct trod_batch *out = s->out;
    const uint32_t row = out->n++;

    out->have |= says;
    out->has[row] = says;
    out->kind[row] = TROD_MARKER;
    out->flags[row] = TROD_F_SYNTHETIC;
    out->sub[row] = idle ? TROD_DRM_CORE_IDLE : TROD_DRM_CORE_WAIT;
    out->value[row] = n - *reported;
    out->stream[row] = 0;
    out->core[row] = (uint16_t)core;
    *reported = n;
    s->n_gaps++;
}

/* What the cores were idle at the end. */
static void put_gaps(struct state *s)
{
    for (uint32_t core = 0; core < s->cores; core++)
        while (s->out->n < s->most && gap_due(s, core))
            put_gap(s, core);
}

/* All is done; once. */
static void end(struct trod_trace *t)
{
    struct state *s = t->state;
    uint32_t left;

    put_gaps(s);
    if (s->replay) {
        t->meta.last_core = trod_replay_last(s->replay);
        return;
    }
    trod_dynamic_counts(s->dynamic, &t->meta.last_core);
    if (t->opt.parallel)
        t->meta.last_core = TROD_NO_CORE;
    left = trod_dynamic_left(s->dynamic);
    if (left && !s->ended)
        trod_warning(t->diag, TROD_ERR_LIMIT, "order.left", NULL,
                     "%u of %zu threads are not given to their end: the scheduler ends when a "
                     "tenth is left (dynamic:all goes on)",
                     left, t->n_inputs);
    s->ended = true;
}

/* Row FROM of INPUT and the N - 1 behind it come next on CORE, every STRIDE-th row. */
static void put(struct state *s, const struct trod_dyn_turn *at, uint32_t from, uint32_t n,
                uint32_t to, uint32_t stride)
{
    struct piece *last = &s->piece[s->n_pieces ? s->n_pieces - 1 : 0];

    if (s->n_pieces && last->input == at->input && last->core == at->core && stride == 1 &&
        last->stride == 1 && last->from + last->n == from && last->to + last->n == to)
        last->n += n;
    else
        s->piece[s->n_pieces++] = (struct piece){to, stride, from, n, at->input, at->core};
}

/* Take what cores give in whole rounds. False: the next row has to be decided on. */
static bool rounds(struct state *s)
{
    struct trod_batch *out = s->out;
    uint32_t n;
    const uint64_t taken =
        s->dynamic ? trod_dynamic_rounds(s->dynamic, s->most - out->n, s->turn, &n) : 0;

    for (uint32_t k = 0; taken && k < n; k++) {
        const uint32_t each = (uint32_t)taken;

        put(s, &s->turn[k], s->rows[s->turn[k].input].at - each, each, out->n + k, n);
    }
    if (taken)
        out->n += n * (uint32_t)taken;
    return taken > 0;
}

/*
 * The row that is due, and what is to be said before it: that its core was idle, and so was the
 * core that its thread comes from, which has let it go.
 */
static void put_due(struct state *s)
{
    const struct trod_dyn_turn at = {s->core, s->input};
    struct stream *st = &s->stream[s->input];

    if (gap_due(s, s->core)) {
        put_gap(s, s->core);
    } else if (st->core != s->core && gap_due(s, st->core)) {
        put_gap(s, st->core);
    } else {
        st->core = s->core;
        put(s, &at, s->rows[s->input].at - 1, 1, s->out->n++, 1);
        s->due = false;
    }
}

/* The rows that come next, until there is no room: 1, 0 at the end, or an error. */
static int gather(struct state *s)
{
    while (s->out->n < s->most) {
        int rc = 1;

        if (!s->due && rounds(s))
            continue;
        if (!s->due && (rc = decide(s)) != 1)
            return rc;
        s->due = true;
        put_due(s);
    }
    return 1;
}

/*
 * The rows that put_gap put into OUT get the number of the row behind them: those of the files have
 * the numbers that they have without them.
 */
static void number_gaps(struct trod_batch *out)
{
    uint32_t *rows = trod_batch_rows_room(out), gaps = 0;

    for (uint32_t i = 0; i < out->n; i++) {
        rows[i] = i - gaps;
        gaps += trod_gap_row(out, i);
    }
    ((struct trod_batch_own *)out->own)->source.rows = rows;
}

static int next(struct trod_trace *t, struct trod_batch **batch)
{
    struct state *s = t->state;
    struct trod_batch *out = s->out;
    int rc, copied;

    if (!out)
        return s->failed;
    trod_batch_clear(out);
    trod_batch_changed(out);
    out->want = t->opt.want | NEEDS;
    s->most = out->cap < s->cap_pieces ? out->cap : s->cap_pieces;
    rc = s->over ? 0 : gather(s);
    copied = copy(t);
    if (copied < 0)
        return copied;
    s->over = rc == 0;
    if (rc == 0)
        end(t);
    if (out->n == 0)
        return rc < 0 ? rc : s->failed;
    out->have |= TROD_COL_CORE;
    out->meta = &t->meta;
    trod_batch_poison(out);
    out->first = t->done.rows;
    if (s->n_gaps)
        number_gaps(out);
    t->done.rows += out->n - s->n_gaps;
    s->n_gaps = 0;
    *batch = out;
    return 1;
}

static void close_all(struct trod_trace *t)
{
    struct state *s = t->state;

    for (size_t i = 0; s->stream && i < t->n_inputs; i++) {
        trod_batch_free(s->stream[i].batch);
        free(s->stream[i].kind);
        free(s->stream[i].fetched);
        free(s->stream[i].stop);
    }
    trod_dynamic_free(s->dynamic);
    trod_replay_free(s->replay);
    trod_plan_fini(&s->plan);
    trod_batch_free(s->out);
    free(s->stream);
    free(s->rows);
    free(s->piece);
    free(s->turn);
    free(s->idle);
    free(s->waits);
    free(s->counts);
    t->meta.cores = NULL;
}

static struct trod_batch **slot(struct trod_trace *t)
{
    return &((struct state *)t->state)->out;
}

const struct trod_order_ops trod_order_dynamic = {
    "dynamic", sizeof(struct state), open_dynamic, next, close_all, slot,
};

const struct trod_order_ops trod_order_lockstep = {
    "recorded", sizeof(struct state), open_lockstep, next, close_all, slot,
};
