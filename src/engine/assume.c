/*
 * assume.c - parts of plain files whose decoders assume what comes before them.
 *
 * For formats with assume (format.h), if the rows are to say nothing that only a decoder of all
 * before knows. Each part but the first begins with the state that the beginning of the file ends
 * with. When it is merged, the decoder of the part before says whether what it assumed was right.
 * If it was not, or something was wrong with a part, so that records have to be numbered in
 * problems, the run is repeated with chained parts (chain.c).
 */
#include "engine/run_int.h"

#include "trace/cuts.h"

#include <stdlib.h>

bool run_assume_ask(struct trod_run *r, size_t file)
{
    const struct trod_format *f = trod_trace_format(r->whole);
    struct run_assume *a = &r->assume;

    if (!f || !f->parts || !f->parts->assume || r->opt.parts > 1 || r->again || a->wrong)
        return false;
    trod_trace_close(a->beginning);
    a->file = file;
    a->beginning = trod_trace_beginning(r->whole, file, r->opt.trace.want);
    return a->beginning != NULL;
}

int run_assume(struct trod_run *r, const struct run_piece *piece, struct trod_trace *t)
{
    struct run_assume *a = &r->assume;
    int rc;

    pthread_mutex_lock(&r->lock);
    if (!a->beginning || a->file != piece->file)
        run_assume_ask(r, piece->file);
    rc = a->beginning ? trod_trace_assume(t, a->beginning) : TROD_ERR_NOMEM;
    pthread_mutex_unlock(&r->lock);
    return rc;
}

int run_assumed(struct trod_run *r, struct run_unit *u, const struct run_piece *piece)
{
    const bool sound = u->rc == TROD_OK && !u->keeper.first;

    if (u->rc == TROD_ERR_NOMEM)
        return u->rc;
    return sound && piece->part ? trod_trace_assumed(u->trace, r->assume.before->trace) : sound;
}

void run_assume_keep(struct trod_run *r, struct run_unit *u)
{
    struct run_unit *was = r->assume.before;

    r->assume.before = u;
    if (was)
        trod_trace_close(was->trace);
    free(was);
}

void run_assume_end(struct trod_run *r)
{
    run_assume_keep(r, NULL);
    trod_trace_close(r->assume.beginning);
    r->assume.beginning = NULL;
}
