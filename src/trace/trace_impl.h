/*
 * trace_impl.h - the inside of a trace, for the files that order its streams (order_*.c).
 */
#ifndef TROD_TRACE_IMPL_H
#define TROD_TRACE_IMPL_H

#include "trod/trace.h"

struct trod_ahead;
struct trod_frames;

/* How rows of several files become one sequence. */
struct trod_order_ops {
    const char *name;
    size_t state_size;
    /* Prepare the state (zero bytes) at t->state. 0 or an error, reported. */
    int (*open)(struct trod_trace *t);
    /* As trod_trace_next. */
    int (*next)(struct trod_trace *t, struct trod_batch **batch);
    void (*close)(struct trod_trace *t);
    /* Where the batch stands that next gives. NULL: it gives windows. */
    struct trod_batch **(*slot)(struct trod_trace *t);
};

struct trod_trace {
    struct trod_trace_options opt;
    struct trod_diag *diag;
    struct trod_meta meta;
    struct trod_files files; /* inputs first */
    size_t n_inputs;
    uint32_t base;      /* number of the first input in the trace it is a part of */
    const char **names; /* of the inputs */
    /* By input: what the directory says that it was found in, or NULL. */
    const struct trod_format **claimed;
    const struct trod_candidate *known; /* what its file is, where that was found out before */
    const struct trod_format *format;   /* of the first file opened */
    enum trod_isa isa;                  /* that trod_trace_first_isa found; units begin with it */
    const struct trod_order_ops *order;
    void *state;
    void *beside; /* of the format, when begun: what files beside the inputs add */
    bool begun;
    uint32_t slices; /* columns whose slices the caller looks at */
    uint32_t limit;  /* rows of the next batch, at the most; 0: as many as it holds */
    size_t window;   /* bytes shown to drivers, exactly; 0: what is at hand */
    struct trod_trace_progress done; /* of files that are closed; rows: all delivered */
    uint64_t total;                  /* bytes of all files */
    uint32_t head;                   /* bytes a driver is shown to begin with; 0: as it comes */
    struct trod_reader **open;       /* by input: what is being read, or NULL */
    struct trod_frames *frames;      /* by input: as trod_trace_cuts found them */
    const struct trod_frames *found; /* of the trace it is a part of: those of its file, or NULL */
    size_t at;                       /* input that the last batch is of, in file order */
    struct trod_reader *first;       /* never closed before the trace: its options are asked for */
    bool given;               /* the caller has a batch that trod_trace_take may be asked for */
    bool *opened;             /* by input: it could be, at some time */
    int refused;              /* the error of the first input that could not be opened, or 0 */
    bool inputs_alone;        /* trod_trace_inputs_alone */
    struct trod_ahead *ahead; /* who decodes ahead of the caller, or NULL */
    struct trod_batch *spare; /* to fill, where it is opened with one; NULL: none */
};

/* Bytes that formats are asked about at first. */
enum { TROD_HEAD_SMALL = 1 << 16 };

/*
 * *HEAD is the first N bytes of IN, or all there are: what is recognised does not depend on how
 * much is at hand. Returns as trod_input_ahead.
 */
int trod_look_at_head(struct trod_input *in, size_t n, struct trod_span *head);
/* trod_detect on IN: the formats are asked about a little, then about more. */
int trod_detect_input(struct trod_input *in, struct trod_candidate *best, struct trod_diag *diag);

/*
 * trod_trace_open_file, of a file that is KNOWN (NULL: it is not), which outlives the trace. *SPARE
 * (NULL: none), a batch that another trace of this file had, becomes the new trace's.
 */
int trod_trace_open_known(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                          const struct trod_candidate *known,
                          const struct trod_input_options *input, struct trod_batch **spare,
                          struct trod_diag *diag);
/*
 * The first N rows of B (up to TROD_BATCH_ROWS) are left out: it begins with the number of the next
 * one.
 */
void trod_batch_leave_out(struct trod_batch *b, uint32_t n);
/* The batch of T, which is to be closed, as such a spare. NULL: it has none of its own. */
struct trod_batch *trod_trace_last_batch(struct trod_trace *t);

/*
 * trod_trace_next, trod_trace_take and trod_trace_progress of who decodes, which is another thread
 * than the caller's where there is t->ahead.
 */
int trod_trace_step(struct trod_trace *t, struct trod_batch **batch);
int trod_trace_swap(struct trod_trace *t, struct trod_batch *spare);
void trod_trace_count(const struct trod_trace *t, struct trod_trace_progress *p);

/*
 * Open input I. A file that fails is reported; *OUT is NULL then.
 * Returns 0 or what trod_input_open and trod_reader_open return.
 */
int trod_trace_reader(struct trod_trace *t, size_t i, struct trod_reader **out);

/* The input of R is read on the caller's thread if it is not compressed (trod_input_alone). */
void trod_reader_alone(struct trod_reader *r);

/* The input of R has these frames, and who looks for cuts in it need not look for them. */
void trod_reader_frames(struct trod_reader *r, const struct trod_frames *frames);

/* Number of the next row of R's file: rows that were left out count. */
uint64_t trod_reader_number(const struct trod_reader *r);

/*
 * R, which nothing was read of, passes over its records up to the offset TO, and from there on when
 * called again; B is what is decoded where that must be. FORK: R, which nothing was read of and
 * which begins where FROM has passed to, knows what FROM knows. 0 or an error, not reported.
 */
int trod_reader_pass(struct trod_reader *r, struct trod_batch *b, uint64_t to);
/* The part that trod_reader_bytes says is one apart (struct trod_stretch), of a format that can. */
void trod_reader_apart(struct trod_reader *r);
/* cuts.c: that batch of T, a trace of one file, to *B. 0, TROD_ERR_UNSUPPORTED or TROD_ERR_NOMEM.
 */
int trod_trace_pass_batch(struct trod_trace *t, struct trod_batch **b);
int trod_reader_fork(struct trod_reader *r, const struct trod_reader *from);
/* The callbacks of struct trod_parts, of a format that has them. */
bool trod_reader_may_assume(const struct trod_reader *r, uint32_t want);
int trod_reader_assume(struct trod_reader *r);
int trod_reader_assumed(struct trod_reader *r, struct trod_reader *before);

/*
 * Nothing is read of R for a while: it releases what it can make again, until it is woken; ROWS are
 * what it gave last. Both do nothing where R is NULL. Returns 0 or TROD_ERR_NOMEM.
 */
void trod_reader_rest(struct trod_reader *r);
int trod_reader_wake(struct trod_reader *r, struct trod_batch *rows);

/* Close the reader of input I, which was only looked at. Nothing if there is none. */
void trod_trace_reader_drop(struct trod_trace *t, size_t i);

/* Add what the reader of input I has read to t->done and close it. Nothing if there is none. */
void trod_trace_reader_done(struct trod_trace *t, size_t i);

/* T, in file order, of which nothing was read yet, goes on with input I, before which are ROWS. */
int trod_order_file_go(struct trod_trace *t, size_t i, uint64_t rows);

extern const struct trod_order_ops trod_order_file;
extern const struct trod_order_ops trod_order_sync;
extern const struct trod_order_ops trod_order_time;
extern const struct trod_order_ops trod_order_recorded;
extern const struct trod_order_ops trod_order_dynamic;
extern const struct trod_order_ops trod_order_lockstep; /* recorded, the cores taking turns */

#endif
