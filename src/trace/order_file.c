/*
 * order_file.c - one file after the other, each in its own order.
 *
 * Implements docs/design.md, `trod_trace`, order "file". A file that cannot be read is reported and
 * passed over: the others are still delivered.
 */
#include "trace/batch_own.h"
#include "trace/mark.h"
#include "trace/trace_impl.h"

struct state {
    struct trod_reader *reader; /* of file next - 1, or NULL */
    size_t next;
    struct trod_batch *batch;
    uint64_t before; /* rows of the files before, where their first instructions are left out */
    int failed;      /* what the trace ends with: the first error of a file */
};

/* The batch for rows, made when the first one is asked for: of many traces none ever is. */
static int make_batch(struct trod_trace *t)
{
    struct state *s = t->state;
    int rc = TROD_OK;

    if (s->batch)
        return rc;
    if (t->spare && t->spare->cap == t->opt.batch_rows) {
        s->batch = t->spare;
        t->spare = NULL;
        trod_batch_clear(s->batch);
    } else {
        rc = trod_batch_new(&s->batch, t->opt.batch_rows);
    }
    if (rc == TROD_OK)
        s->batch->want = t->opt.want;
    return rc;
}

static int open_first(struct trod_trace *t)
{
    struct state *s = t->state;
    int rc = TROD_OK;

    while (!s->reader && s->next < t->n_inputs) {
        rc = trod_trace_reader(t, s->next++, &s->reader);
        if (rc < 0 && s->failed == 0)
            s->failed = rc;
    }
    t->at = s->next ? s->next - 1 : 0;
    return s->reader ? TROD_OK : s->failed;
}

int trod_order_file_go(struct trod_trace *t, size_t i, uint64_t rows)
{
    struct state *s = t->state;
    int rc = TROD_OK;

    if (t->n_inputs > 1)
        t->done.rows = rows;
    if (i >= t->n_inputs)
        return TROD_ERR_CORRUPT;
    if (s->reader && s->next == i + 1)
        return rc;
    if (s->reader)
        trod_trace_reader_drop(t, s->next - 1);
    s->reader = NULL;
    rc = trod_trace_reader(t, i, &s->reader);
    s->next = i + 1;
    t->at = i;
    return rc;
}

/* trod_reader_next, of no more rows than trod_trace_limit said. */
static int read_batch(struct trod_trace *t, struct state *s)
{
    const uint32_t cap = s->batch->cap, least = trod_reader_format(s->reader)->record_rows;
    const uint32_t limit = t->limit > least ? t->limit : least;
    int rc;

    if (t->window)
        trod_reader_window(s->reader, t->window);
    if (t->limit == 0 || limit >= cap)
        return trod_reader_next(s->reader, s->batch);
    t->limit = 0;
    s->batch->cap = limit;
    rc = trod_reader_next(s->reader, s->batch);
    s->batch->cap = cap;
    trod_batch_changed(s->batch); /* constants have been filled in up to the limit only */
    return rc;
}

static int next(struct trod_trace *t, struct trod_batch **batch)
{
    struct state *s = t->state;
    const int made = make_batch(t);

    if (made < 0)
        return made;
    for (;;) {
        int rc;

        if (s->reader) {
            s->batch->want = t->opt.want;
            rc = read_batch(t, s);
            if (rc == 1) {
                if (t->opt.skip_instructions)
                    s->batch->first += s->before;
                else if (t->n_inputs > 1)
                    s->batch->first = t->done.rows;
                t->done.rows += s->batch->n;
                t->at = s->next - 1;
                *batch = s->batch;
                return 1;
            }
            s->before += trod_reader_number(s->reader);
            trod_trace_reader_done(t, s->next - 1);
            s->reader = NULL;
        } else {
            if (s->next == t->n_inputs)
                return s->failed;
            rc = trod_trace_reader(t, s->next++, &s->reader);
        }
        if (rc < 0 && s->failed == 0)
            s->failed = rc;
        if (rc < 0 && t->diag && t->diag->strict)
            return rc;
    }
}

static void close_all(struct trod_trace *t)
{
    struct state *s = t->state;

    trod_batch_free(s->batch);
}

static struct trod_batch **slot(struct trod_trace *t)
{
    return &((struct state *)t->state)->batch;
}

const struct trod_order_ops trod_order_file = {
    "file", sizeof(struct state), open_first, next, close_all, slot,
};
