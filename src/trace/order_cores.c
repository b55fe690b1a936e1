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
#include "trace/dynamic.h"
#include "trace/replay.h"
#include "trace/trace_impl.h"
#include "trod/drmemtrace.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 1024,
    FEW_ROWS = 256, /* with many files */
    MANY = 64,
    NEEDS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_STREAM
};

struct stream {
    struct trod_reader *reader;
    struct trod_batch *batch;
    uint32_t at;   /* next row that was not given */
    uint32_t core; /* that it ran on last */
    bool ended;
    bool begun; /* rows have been read */
};

struct state {
    struct stream *stream;
    struct trod_dynamic *dynamic; /* one of the two decides */
    struct trod_replay *replay;
    struct trod_plan plan; /* of the replay */
    struct trod_core *told;
    struct trod_batch *out;
    bool numbered;        /* the format's markers are those of drmemtrace */
    uint32_t input, core; /* of the row that is due */
    uint32_t cores;
    /* by core: steps that rows were given for; idle NULL: nobody wants them */
    uint64_t *idle, *waits;
    bool due;
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

/* Have a row at ST->at: 1, 0 at the end, or an error. */
static int fill(struct trod_trace *t, uint32_t i)
{
    struct state *s = t->state;
    struct stream *st = &s->stream[i];
    int rc;

    if (st->ended)
        return 0;
    if (st->at < st->batch->n)
        return 1;
    /* the first rows are read before everything that is wanted has been said (trod_trace_want) */
    st->batch->want = st->begun ? t->opt.want | NEEDS : TROD_COL_ALL;
    st->begun = true;
    st->at = 0;
    rc = st->reader ? trod_reader_next(st->reader, st->batch) : 0;
    if (rc == 1)
        return 1;
    if (rc < 0 && s->failed == 0)
        s->failed = rc;
    st->batch->n = 0;
    st->ended = true;
    trod_trace_reader_done(t, i);
    st->reader = NULL;
    return rc < 0 && (rc == TROD_ERR_NOMEM || (t->diag && t->diag->strict)) ? rc : 0;
}

static uint8_t kind_of(const struct state *s, const struct trod_batch *b, uint32_t row)
{
    if (b->kind[row] == TROD_INSTR)
        return b->flags[row] & TROD_F_NOFETCH ? TROD_DYN_OTHER : TROD_DYN_INSTR;
    if (b->kind[row] != TROD_MARKER || !s->numbered)
        return TROD_DYN_OTHER;
    switch (b->sub[row]) {
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

static int peek(void *user, uint32_t input, struct trod_dyn_record *r)
{
    struct trod_trace *t = user;
    struct state *s = t->state;
    const struct stream *st = &s->stream[input];
    const int rc = fill(t, input);

    if (rc == 1) {
        r->kind = kind_of(s, st->batch, st->at);
        r->value = r->kind == TROD_DYN_TIMESTAMP || r->kind >= TROD_DYN_SWITCH
                       ? st->batch->value[st->at]
                       : 0;
    }
    return rc;
}

/* The times at the beginning of input I: as far as a reader looks before it is scheduled. */
static int look_at(struct trod_trace *t, uint32_t i, struct trod_dyn_input *in)
{
    struct state *s = t->state;
    struct stream *st = &s->stream[i];
    const uint32_t rows = t->n_inputs > MANY ? FEW_ROWS : ROWS;
    unsigned times = 0;
    int rc = trod_batch_new(&st->batch, t->opt.batch_rows < rows ? t->opt.batch_rows : rows);

    if (rc < 0)
        return rc;
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
        if (kind_of(s, st->batch, row) != TROD_DYN_TIMESTAMP)
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
    *in = calloc(n, sizeof **in);
    if (!s->stream || !*in)
        return TROD_ERR_NOMEM;
    if (n > 1)
        t->opt.input.no_thread = true;
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = look_at(t, i, &(*in)[i]);
    if (rc == 0 && t->first)
        rc = trod_batch_new(&s->out, t->opt.batch_rows < ROWS ? t->opt.batch_rows : ROWS);
    return rc;
}

/* A scheduler is there: what is told of its CORES cores. */
static int begin(struct trod_trace *t, uint32_t cores)
{
    struct state *s = t->state;

    s->cores = cores;
    s->told = calloc(cores, sizeof *s->told);
    s->idle = t->opt.idle ? calloc(cores, sizeof *s->idle) : NULL;
    s->waits = t->opt.idle ? calloc(cores, sizeof *s->waits) : NULL;
    if (!s->told || (t->opt.idle && (!s->idle || !s->waits)))
        return TROD_ERR_NOMEM;
    t->meta.cores = s->replay ? s->told : trod_dynamic_told(s->dynamic, &t->meta.last_core);
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
        rc = trod_dynamic_new(&s->dynamic, in, (uint32_t)t->n_inputs, &opt, peek, t);
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
        rc = trod_replay_new(&s->replay, &s->plan, (uint32_t)t->n_inputs, peek, t);
    return rc < 0 ? rc : begin(t, (uint32_t)s->plan.n);
}

/* --- rows --- */

/* Copy rows [FROM, TO) of the batch of input I; all ran on CORE. */
static int copy(struct state *s, uint32_t i, uint32_t core, uint32_t from, uint32_t to)
{
    struct trod_batch *out = s->out;
    const uint32_t n = trod_batch_append(out, s->stream[i].batch, from, to - from);

    for (uint32_t row = out->n - n; row < out->n; row++) {
        out->core[row] = (uint16_t)core;
        out->has[row] |= TROD_COL_CORE;
    }
    return n == to - from ? 1 : TROD_ERR_LIMIT; /* ROWS rows have room for 512 bytes each */
}

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
    uint64_t *told = idle ? &s->idle[core] : &s->waits[core];
    struct trod_batch *out = s->out;
    const uint32_t row = out->n++;

    out->have |= says;
    out->has[row] = says;
    out->kind[row] = TROD_MARKER;
    out->flags[row] = TROD_F_SYNTHETIC;
    out->sub[row] = idle ? TROD_DRM_CORE_IDLE : TROD_DRM_CORE_WAIT;
    out->value[row] = n - *told;
    out->core[row] = (uint16_t)core;
    *told = n;
}

/* What the cores were idle at the end. */
static void put_gaps(struct state *s)
{
    for (uint32_t core = 0; core < s->cores; core++)
        while (s->out->n < s->out->cap && gap_due(s, core))
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
    trod_dynamic_told(s->dynamic, &t->meta.last_core);
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

/*
 * The rows that come next, until the batch of their input or the room is used up. The scheduler may
 * ask for the row behind the last one of a batch only when those before are copied.
 */
static int gather(struct state *s)
{
    int rc = 1;

    if (!s->due && (rc = decide(s)) != 1)
        return rc;
    s->due = true;
    while (s->out->n < s->out->cap) {
        const uint32_t input = s->input, core = s->core;
        struct stream *st = &s->stream[input];
        const uint32_t from = st->at, room = s->out->cap - s->out->n;
        int copied;

        if (gap_due(s, core)) {
            put_gap(s, core);
            continue;
        }
        if (st->core != core && gap_due(s, st->core)) { /* that core has let it go */
            put_gap(s, st->core);
            continue;
        }
        st->core = core;
        do {
            st->at++;
            s->due = false;
            if (st->at - from == room || st->at == st->batch->n)
                return copy(s, input, core, from, st->at);
            rc = decide(s);
            s->due = rc == 1;
        } while (s->due && s->input == input && s->core == core && !gap_due(s, core));
        copied = copy(s, input, core, from, st->at);
        if (rc != 1 || copied < 0)
            return copied < 0 ? copied : rc;
    }
    return 1;
}

static int next(struct trod_trace *t, struct trod_batch **batch)
{
    struct state *s = t->state;
    struct trod_batch *out = s->out;
    int rc = 1;

    if (!out)
        return s->failed;
    trod_batch_clear(out);
    trod_batch_changed(out);
    out->want = t->opt.want | NEEDS;
    while (rc == 1 && out->n < out->cap)
        rc = gather(s);
    if (rc == 0) {
        end(t);
    }
    if (out->n == 0)
        return rc < 0 ? rc : s->failed;
    out->have |= TROD_COL_CORE;
    out->meta = &t->meta;
    out->first = t->done.rows;
    t->done.rows += out->n;
    *batch = out;
    return 1;
}

static void close_all(struct trod_trace *t)
{
    struct state *s = t->state;

    for (size_t i = 0; s->stream && i < t->n_inputs; i++)
        trod_batch_free(s->stream[i].batch);
    trod_dynamic_free(s->dynamic);
    trod_replay_free(s->replay);
    trod_plan_fini(&s->plan);
    trod_batch_free(s->out);
    free(s->stream);
    free(s->idle);
    free(s->waits);
    free(s->told);
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
