/*
 * mark.h - places in a trace from which reading can go on: where, and what the decoder knew there.
 *
 * Implements docs/design.md, rule 9: decoder state is plain data. Formats that can do it have save
 * and load (format.h).
 */
#ifndef TROD_TRACE_MARK_H
#define TROD_TRACE_MARK_H

#include "trod/buf.h"
#include "trod/trace.h"

/*
 * The place behind the last batch of T, in file order: *OFFSET in the decoded stream of the file
 * that this batch is of, the decoder's state appended to STATE, and to LOG what it has learned
 * since the last mark in that file. Returns 0, TROD_ERR_UNSUPPORTED (the format cannot be marked
 * here) or TROD_ERR_NOMEM.
 */
int trod_trace_mark(struct trod_trace *t, uint64_t *offset, struct trod_buf *state,
                    struct trod_buf *log);

struct trod_point;

/* Where reading is to go on. */
struct trod_mark {
    size_t file;
    bool start; /* at the beginning of the file: OFFSET, STATE and LOG do not matter */
    uint64_t offset;
    uint64_t rows, file_rows;       /* of the trace before the place; of these before the file */
    struct trod_span state, log;    /* LOG: all that was appended of this file up to the place */
    const struct trod_point *point; /* of a compressed file, not behind OFFSET; NULL: none */
};

struct trod_candidate;
struct trod_given_calls;

/* What struct trod_trace_options.begin points to. */
struct trod_begin {
    struct trod_mark mark;
    const struct trod_meta *meta;       /* of the whole trace */
    const struct trod_candidate *known; /* what its only file is; NULL: it is found out */
    uint64_t instructions; /* of the trace before the place, those of the tracer among them */
    const struct trod_given_calls *calls; /* from there on (callstack/given.h); NULL: not known */
    const struct trod_symbols *symbols;   /* that CALLS were followed with; NULL: none */
};

/*
 * Begin T, of which nothing was read yet, at M; META: what was known of the trace (its streams).
 * Returns 0, TROD_ERR_CORRUPT (no such state), TROD_ERR_UNSUPPORTED, TROD_ERR_NOMEM or what opening
 * the file returns.
 */
int trod_trace_resume(struct trod_trace *t, const struct trod_mark *m,
                      const struct trod_meta *meta);

/* The file that the last batch of T is of (the first one that can be read, before that). */
size_t trod_trace_at(const struct trod_trace *t);
/* Where decoding stands behind the last batch of T: an offset in the decoded stream of its file. */
uint64_t trod_trace_position(const struct trod_trace *t);
uint64_t trod_reader_position(const struct trod_reader *r);
/* Show drivers N bytes at a time, fewer only at the end of the input; more where a record is
 * larger. */
void trod_reader_window(struct trod_reader *r, size_t n);
struct trod_input;
struct trod_input *trod_reader_source(struct trod_reader *r);

int trod_reader_mark(struct trod_reader *r, uint64_t *offset, struct trod_buf *state,
                     struct trod_buf *log);
int trod_reader_resume(struct trod_reader *r, uint64_t offset, uint64_t rows,
                       struct trod_span state, struct trod_span log);

#endif
