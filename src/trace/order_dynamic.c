/*
 * order_dynamic.c - the files of a trace as threads scheduled onto invented cores.
 *
 * Implements trace.h, order "dynamic": dynamic.h decides which file's next row comes, and on which
 * core, which column CORE says. Rows are copied together, so that a batch holds rows of many files.
 * What the scheduler looks at are markers of drmemtrace; files of other formats have none and share
 * the cores without ever waiting.
 */
#include "trace/dynamic.h"
#include "trace/trace_impl.h"
#include "trod/drmemtrace.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 1024,
    FEW_ROWS = 256, /* with many files */
    MANY = 64,
    CORES = 4, /* unless told */
    NEEDS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_STREAM
};

struct stream {
    struct trod_reader *reader;
    struct trod_batch *batch;
    uint32_t at; /* next row that was not given */
    bool ended;
    bool begun; /* rows have been read */
};

struct state {
    struct stream *stream;
    struct trod_dynamic *schedule;
    struct trod_batch *out;
    bool numbered;        /* the format's markers are those of drmemtrace */
    uint32_t input, core; /* of the row that is due */
    bool due;
    int failed;
};

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
        r->value = r->kind == TROD_DYN_TIMESTAMP ? st->batch->value[st->at] : 0;
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
    s->numbered = strcmp(trod_reader_format(st->reader)->name, "drmemtrace") == 0;
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

static int open_all(struct trod_trace *t)
{
    const uint32_t n = (uint32_t)t->n_inputs;
    struct state *s = t->state;
    struct trod_dyn_input *in = calloc(n, sizeof *in);
    int rc = 0;

    s->stream = calloc(n, sizeof *s->stream);
    if (!s->stream || !in) {
        free(in);
        return TROD_ERR_NOMEM;
    }
    if (n > 1)
        t->opt.input.no_thread = true;
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = look_at(t, i, &in[i]);
    if (rc == 0 && t->first)
        rc = trod_batch_new(&s->out, t->opt.batch_rows < ROWS ? t->opt.batch_rows : ROWS);
    if (rc == 0)
        rc = trod_dynamic_new(&s->schedule, in, n, t->opt.cores ? t->opt.cores : CORES, peek, t);
    free(in);
    return rc < 0 ? rc : t->first ? TROD_OK : s->failed;
}

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

/*
 * The rows that come next, until the batch of their input or the room is used up. The scheduler may
 * ask for the row behind the last one of a batch only when those before are copied.
 */
static int gather(struct state *s)
{
    int rc = 1;

    if (!s->due && (rc = trod_dynamic_next(s->schedule, &s->core, &s->input)) != 1)
        return rc;
    s->due = true;
    while (s->out->n < s->out->cap) {
        const uint32_t input = s->input, core = s->core;
        struct stream *st = &s->stream[input];
        const uint32_t from = st->at, room = s->out->cap - s->out->n;
        int copied;

        do {
            st->at++;
            s->due = false;
            if (st->at - from == room || st->at == st->batch->n)
                return copy(s, input, core, from, st->at);
            rc = trod_dynamic_next(s->schedule, &s->core, &s->input);
            s->due = rc == 1;
        } while (s->due && s->input == input && s->core == core);
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
    trod_dynamic_free(s->schedule);
    trod_batch_free(s->out);
    free(s->stream);
}

const struct trod_order_ops trod_order_dynamic = {
    "dynamic", sizeof(struct state), open_all, next, close_all,
};
