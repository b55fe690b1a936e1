/*
 * writer_int.h - the inside of a writer, for its parts, and for copy.c, which writes without rows.
 */
#ifndef TROD_TRACE_WRITER_INT_H
#define TROD_TRACE_WRITER_INT_H

#include "trace/sinks.h"

struct trod_writer {
    struct trod_optspec spec;
    struct trod_writer_options opt;
    const struct trod_meta *meta;
    struct trod_diag *diag;
    bool verbatim, same; /* SAME: the rest of a trace in its own format: loss cannot be allowed */
    struct trod_sinks sinks;
    struct trod_writer_summary sum;
    uint32_t lost; /* columns that rows of some kind lose */
    uint32_t told; /* columns that the format does not write, but that others tell of some kind */
    enum trod_isa isa;
    int failed;
};

/* The rows of B to the files of W, encoded or as they were. 0 or an error. (writer_put.c) */
int trod_writer_rows(struct trod_writer *w, const struct trod_batch *b);

#endif
