/*
 * stores_only.c - the stores of a trace, in the format that the name of the output says.
 *
 *   stores_only IN OUT
 *
 * Rows are chosen by the options that `trod convert` has (trod/match.h) and written by a writer,
 * which says what the output cannot hold. OUT appears under its name when it is complete.
 */
#include <inttypes.h>
#include <stdio.h>
#include <trod/trod.h>

static void problem(void *user, const struct trod_problem *p)
{
    (void)user;
    fprintf(stderr, "%s: %s\n", p->at.path ? p->at.path : "stores_only", p->message);
}

/* Write the rows of TRACE that MATCH wants. */
static int copy(struct trod_trace *trace, struct trod_match *match, struct trod_writer *writer)
{
    struct trod_batch *batch;
    int r;

    while ((r = trod_trace_next(trace, &batch)) > 0) {
        r = trod_match_batch(match, batch);
        if (r >= 0)
            r = trod_writer_put_some(writer, batch, trod_match_keep(match));
        if (r < 0 || trod_match_done(match))
            return r;
    }
    return r;
}

static int convert(struct trod_trace *trace, struct trod_match *match, const char *out,
                   struct trod_diag *diag)
{
    const struct trod_format *source = trod_trace_format(trace), *to;
    struct trod_writer_options options = {.struct_size = sizeof options};
    struct trod_writer_summary sum;
    struct trod_writer *writer;
    int r = trod_format_by_name(&to, out, source, trod_trace_path(trace, 0), diag);

    if (r < 0)
        return r;
    options.to = to->name;
    options.allow_loss = true; /* and tell what it was */
    options.source = source;
    options.source_options = trod_trace_format_options(trace);
    options.drops = trod_match_drops(match);
    r = trod_writer_open(&writer, out, &options, trod_trace_meta(trace), diag);
    if (r < 0)
        return r;
    trod_trace_want(trace, trod_writer_want(writer) | trod_match_want(match));
    r = copy(trace, match, writer);
    if (r < 0) {
        trod_writer_discard(writer);
        return r;
    }
    r = trod_writer_commit(writer, &sum);
    if (r == TROD_OK)
        printf("%" PRIu64 " of %" PRIu64 " rows as %s, %" PRIu64 " lost\n", sum.rows,
               trod_match_seen(match), to->name, trod_loss_rows(&sum.loss));
    return r;
}

int main(int argc, char **argv)
{
    struct trod_match_options filter = {.struct_size = sizeof filter};
    struct trod_trace *trace;
    struct trod_match *match;
    struct trod_diag diag;
    char kinds[] = "WRITE,ATOMIC"; /* cut up by trod_option_set */
    int r;

    if (argc != 3) {
        fprintf(stderr, "usage: stores_only IN OUT\n");
        return 2;
    }
    trod_diag_init(&diag, problem, NULL);
    if (trod_option_set(trod_match_option_table, &filter, "kind", kinds, &diag) != TROD_OK ||
        trod_match_new(&match, &filter, &diag) != TROD_OK)
        return 2;
    r = trod_trace_open(&trace, (const char *const *)argv + 1, 1, NULL, &diag);
    if (r == TROD_OK) {
        r = convert(trace, match, argv[2], &diag);
        trod_trace_close(trace);
    }
    trod_match_free(match);
    return r < 0 || diag.errors ? 2 : 0;
}
