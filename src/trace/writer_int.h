/*
 * writer_int.h - the inside of a writer, for those who write without rows (copy.c).
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
    enum trod_isa isa;
    int failed;
};

#endif
