/*
 * flow.h - rows of a trace that are chosen and shown by several threads, in their order.
 *
 * The caller's thread decodes and writes; others choose the rows of a batch and make their lines.
 * What is written is, byte for byte, what one thread writes.
 */
#ifndef CLI_FLOW_H
#define CLI_FLOW_H

#include "sink.h"

struct cli_flow {
    struct cli *c;
    const struct cli_input *input;
    struct trod_trace *trace;
    struct trod_match *match;
    const struct trod_match_options *filter; /* of MATCH */
    struct trod_show *rows;                  /* NULL: rows are only counted */
    struct trod_show_options show;           /* of ROWS */
    int format;                              /* enum trod_emit_format, of the lines */
    bool disassemble;                        /* instructions without text */
    const bool *settled;                     /* PUT has a disassembler for ROWS */
    struct cli_sink *sink;
    uint64_t *found; /* rows, counted here */
    /*
     * Show the rows of B that KEEP names, FIRST being the number of its first row: the first ones
     * of all, and those that columns must become wider for. On the caller's thread.
     */
    void (*put)(void *user, const struct trod_batch *b, const uint8_t *keep, uint64_t first);
    /* Rows before row ROW were put: lines that wait for others may be written. */
    void (*pass)(void *user, uint64_t row);
    const bool *measured; /* widths of columns are known: PUT has written all lines so far */
    void *user;
};

/* Can the rows be chosen and shown so, and are there threads for it? */
bool cli_flow_can(const struct cli_flow *f);
/* Do it, with progress. Returns 0 or the error of the trace, or TROD_ERR_NOMEM. */
int cli_flow(struct cli_flow *f);

#endif
