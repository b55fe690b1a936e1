/*
 * waves.h - a trace as waveforms: a value change dump (VCD) for viewers of signals.
 *
 * Implements docs/waves.md; the syntax is that of IEEE 1364-2005, 18.2 ("Four-state VCD file
 * format"), with variables of type string as gtkwave has them. The rows are given twice: the first
 * time to find out what signals there are, the second time to write what they do.
 */
#ifndef TROD_WAVES_H
#define TROD_WAVES_H

#include "trod/batch.h"
#include "trod/buf.h"
#include "trod/diag.h"
#include "trod/option.h"
#include "trod/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_waves;

struct trod_waves_options {
    size_t struct_size;           /* sizeof the struct; 0 stands for its size in version 0 */
    struct trod_symbols *symbols; /* names of functions; NULL: their addresses. Outlives it */
    struct trod_list signals;     /* patterns (fnmatch) of names or SCOPE.NAME; none: all */
    bool cycles;                  /* a tick an instruction, whatever the trace says of time */
    bool merged;                  /* rows come in an order other than that of the files */
    bool tarmac;                  /* as tarmac-vcd of Arm's Tarmac Trace Utilities writes it */
    bool tarmac_times;            /* ... with its option --use-tarmac-timestamps */
    const char *calls;            /* ... the call tree that its functions are taken from, as
                                     trod calls --like tarmac --no-offsets prints it; NULL: none */
    const char *date;             /* ... for its header; NULL: none */
};

/* What was written. */
struct trod_waves_summary {
    uint64_t signals, changes;
    uint64_t shared; /* instructions with the same time as the one before them in their stream */
    uint64_t back;   /* rows that are shown and have an earlier time than a row before them */
};

/*
 * Waves of a trace with META. Returns 0, TROD_ERR_NOMEM or TROD_ERR_USAGE (options of another
 * version). Release it with trod_waves_free; NULL is allowed. DIAG and META outlive it.
 */
int trod_waves_new(struct trod_waves **out, const struct trod_waves_options *opt,
                   const struct trod_meta *meta, struct trod_diag *diag);
void trod_waves_free(struct trod_waves *w);

/* Columns that W reads. */
uint32_t trod_waves_columns(const struct trod_waves *w);

/* The next rows, for the first time. Returns 0 or TROD_ERR_NOMEM. */
int trod_waves_survey(struct trod_waves *w, const struct trod_batch *b);

/*
 * All rows were surveyed: append the header to OUT. Returns 0, TROD_ERR_NOMEM, or TROD_ERR_USAGE
 * (there is no signal of a name that was asked for; reported with those there are).
 */
int trod_waves_begin(struct trod_waves *w, struct trod_buf *out);

/*
 * The next rows, for the second time: the same as the first time; META is that of the trace they
 * come from. Appends to OUT. Returns 0, TROD_ERR_NOMEM, or with tarmac TROD_ERR_LIMIT (more
 * accesses at a time than tarmac-vcd takes; reported).
 */
int trod_waves_feed(struct trod_waves *w, const struct trod_batch *b, struct trod_buf *out);
/* The trace has ended: append to OUT what is pending. Returns what trod_waves_feed returns. */
int trod_waves_end(struct trod_waves *w, struct trod_buf *out);

/* What was written so far, to *OUT. */
void trod_waves_count(const struct trod_waves *w, struct trod_waves_summary *out);

#ifdef __cplusplus
}
#endif

#endif
