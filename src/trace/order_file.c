/*
 * order_file.c - one file after the other, each in its own order.
 *
 * Implements docs/design.md, `trod_trace`, order "file". A file that cannot be read is reported and
 * passed over: the others are still delivered.
 */
#include "trace/trace_impl.h"

struct state {
    struct trod_reader *reader; /* of file next - 1, or NULL */
    size_t next;
    struct trod_batch *batch;
    int failed; /* what the trace ends with: the first error of a file */
};

static int open_first(struct trod_trace *t)
{
    struct state *s = t->state;
    int rc = trod_batch_new(&s->batch, t->opt.batch_rows);

    if (rc < 0)
        return rc;
    s->batch->want = t->opt.want;
    while (!s->reader && s->next < t->n_inputs) {
        rc = trod_trace_reader(t, s->next++, &s->reader);
        if (rc < 0 && s->failed == 0)
            s->failed = rc;
    }
    return s->reader ? TROD_OK : s->failed;
}

static int next(struct trod_trace *t, struct trod_batch **batch)
{
    struct state *s = t->state;

    for (;;) {
        int rc;

        if (s->reader) {
            s->batch->want = t->opt.want;
            rc = trod_reader_next(s->reader, s->batch);
            if (rc == 1) {
                if (t->n_inputs > 1)
                    s->batch->first = t->done.rows;
                t->done.rows += s->batch->n;
                *batch = s->batch;
                return 1;
            }
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

const struct trod_order_ops trod_order_file = {
    "file", sizeof(struct state), open_first, next, close_all,
};
