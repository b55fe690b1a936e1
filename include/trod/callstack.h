/*
 * callstack.h - who called whom: a stack of activations for each stream of a trace.
 *
 * Implements docs/navigating.md, "What a call is". Fed with batches of rows, it follows calls,
 * returns, tail calls, exceptions, unwinding (longjmp, C++ exceptions) and switches between stacks,
 * for every instruction set, and tells a sink when an activation begins and ends. What kind of
 * branch an instruction is comes from its row, else from its opcode; link register and stack
 * pointer are used where the trace shows them. An instruction that does not branch costs only a
 * comparison.
 *
 * It needs rows of kind INSTR with their addresses. Knowledge is kept by stream, so that results do
 * not depend on how streams are shared out among threads.
 */
#ifndef TROD_CALLSTACK_H
#define TROD_CALLSTACK_H

#include "trod/batch.h"
#include "trod/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_callstack;

/* What made an activation. */
enum trod_frame_kind {
    TROD_FRAME_ROOT,      /* where the stream, or a stack of it, was seen first */
    TROD_FRAME_CALL,      /* a call instruction */
    TROD_FRAME_TAIL,      /* a jump to a function: it returns to its caller's caller */
    TROD_FRAME_EXCEPTION, /* exception, interrupt, signal, system call whose kernel code follows */
    TROD_FRAME_MANUAL,    /* a jump after a write of the link register */
    TROD_FRAME_KINDS
};

/* How an activation ended. */
enum trod_frame_end {
    TROD_FRAME_RETURNED,
    TROD_FRAME_UNWOUND, /* left by a jump or a return to a frame below */
    TROD_FRAME_TAILED,  /* it had jumped to the function that returned in its place */
    TROD_FRAME_OPEN,    /* the trace ends in it */
    TROD_FRAME_ENDS
};

/* The evidence that an activation begins or ends, the most certain first. */
enum trod_frame_sure {
    TROD_SURE_CLASS,    /* the kind of the instruction, or a record of the trace */
    TROD_SURE_REGISTER, /* link register or stack pointer */
    TROD_SURE_SYMBOL,   /* a function symbol */
    TROD_SURE_GUESS,    /* addresses that were called or returned to before */
    TROD_SURES
};

/*
 * An executed instruction of a stream. Times of one call stack all have the unit and the decimals
 * of the first one that it was fed: others are converted, rounded down where they are finer.
 */
struct trod_moment {
    uint64_t row;         /* its ordinal in the trace */
    uint64_t instruction; /* its ordinal in the stream */
    uint64_t time;        /* the largest time so far; TROD_NOWHERE: none yet */
    uint64_t pc;          /* TROD_NOWHERE: there is none */
};

/*
 * An activation. Those of a context lie one after the other: F's caller is F - 1 where F->depth is
 * not 0. Pointers are valid until the function they were given to returns.
 */
struct trod_frame {
    uint32_t stream;  /* as in batches; TROD_NO_STREAM: rows without one */
    uint32_t file;    /* number in the trace; 0 if rows of several files alternate */
    uint32_t context; /* 0; others are stacks of their own (tasks that a kernel switches between) */
    uint32_t depth;   /* frames below in its context */
    uint8_t kind;     /* enum trod_frame_kind */
    uint8_t sure;     /* enum trod_frame_sure: that it is an activation */
    /*
     * Of a root: it is the caller of the activation that ended just before it was seen (the trace
     * begins inside a function that returns). That activation, and all that it called, belong
     * under this root.
     */
    bool under;
    bool has_ra, has_sp;      /* ra, sp are known */
    uint32_t again;           /* activations of its function that are open already, in its stream */
    struct trod_moment entry; /* its first instruction */
    struct trod_moment site;  /* the instruction that it was entered from; pc NOWHERE: none */
    uint64_t function;        /* where its function begins: the symbol's address, else entry.pc */
    uint64_t ra, sp;          /* return address; stack pointer when it was entered */
    uint64_t user;            /* for the sink; 0 when the activation begins */
    uint64_t own[4];          /* internal */
};

/* The end of an activation. */
struct trod_frame_left {
    uint8_t how;             /* enum trod_frame_end */
    uint8_t sure;            /* enum trod_frame_sure */
    struct trod_moment last; /* the last instruction before */
    /* The first one after; at the end: pc NOWHERE, row and instruction one more than the last. */
    struct trod_moment next;
};

/* Callbacks of a call stack. They return 0, or an error that ends feeding; each may be NULL. */
struct trod_callstack_sink {
    void *ctx;
    int (*enter)(void *ctx, struct trod_frame *f);
    /* F is the innermost activation of its context: those above it have ended before. */
    int (*leave)(void *ctx, struct trod_frame *f, const struct trod_frame_left *end);
    /*
     * Rows [FROM, TO) of B belong to F, the innermost activation of their stream; NULL: they come
     * before its first instruction. All rows come once, in order, and before the events after
     * them.
     */
    int (*rows)(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct trod_frame *f);
};

/* What was seen, of all streams. */
struct trod_callstack_counts {
    uint64_t instructions;
    uint64_t transfers; /* instructions after which another than the next one was executed */
    uint64_t entered[TROD_FRAME_KINDS], left[TROD_FRAME_ENDS];
    uint64_t unmatched; /* returns to a place that no call came from; they count as jumps */
    uint64_t switches;  /* to another stack, by an exception that returned elsewhere */
    uint64_t too_deep;  /* calls beyond TROD_CALLSTACK_DEPTH: counted, not entered */
};

/* Add the numbers of FROM to those of TO. */
void trod_callstack_counts_add(struct trod_callstack_counts *to,
                               const struct trod_callstack_counts *from);

/* Frames of a context; contexts (stacks) of a stream. */
enum { TROD_CALLSTACK_DEPTH = 1 << 20, TROD_CALLSTACK_CONTEXTS = 1 << 10 };

/*
 * All activations that stand on the same stack of functions, summed up. Number 0 stands for what
 * belongs to none.
 */
struct trod_call_sum {
    uint64_t function; /* where it begins */
    uint64_t calls;    /* activations */
    /* By the function itself: instructions, and the time that passed after each of them. */
    uint64_t instructions, time;
    uint32_t parent; /* number of the stack below, which comes before it; 0: there is none */
    bool exception;  /* entered by an exception: it stands on what was interrupted */
};

/* N stacks; TIMED: instructions have times. Returns 0, or an error that ends it. */
typedef int (*trod_call_sums_fn)(void *user, const struct trod_call_sum *at, size_t n, bool timed);

/*
 * A source of calls that were followed before, such as an index of the trace
 * (trod_nav_callstack): it calls a sink as if the rows were read once more, without symbols or
 * with those that the calls were followed with.
 */
struct trod_callstack_source {
    /*
     * The meta of the trace or, while tell runs, of the file whose calls are reported, with all of
     * its streams. NULL: the calls are not known (TROD_ERR_UNKNOWN).
     */
    const struct trod_meta *(*meta)(void *ctx);
    /*
     * Call SINK (but not its rows) for all activations, in the order of the trace, and set *COUNTS.
     * Less is known than while rows are fed. Of frames ra, sp, again and own are not set, except
     * own[3]: the stream + 1, or 0 where rows do not say one; of site only row and pc, of
     * trod_frame_left.last only the time, of next all but the pc. What is not set is 0 or
     * TROD_NOWHERE. Returns 0, what the sink returned, or an error; in the latter cases, the sink
     * was not called for all activations.
     */
    int (*tell)(void *ctx, const struct trod_callstack_sink *sink,
                struct trod_callstack_counts *counts);
    void *ctx;
    /*
     * Optional: find the last row in [FROM, *ROW) of STREAM (as a frame has it) that writes the
     * register NAME (any of its names) or a part of it. Returns 1 with its number in *ROW, and the
     * row itself as row *I of *B (all columns; valid until the next call); 0: there is none; or an
     * error: TROD_ERR_UNKNOWN where it cannot be found out. Not to be called while tell runs.
     */
    int (*wrote)(void *ctx, uint32_t stream, const char *name, uint64_t from, uint64_t *row,
                 const struct trod_batch **b, uint32_t *i);
    /*
     * Optional: all calls summed up by stacks, instead of tell. FN is called with them and USER,
     * once for each index if there are several; *COUNTS is set. Returns 0, TROD_ERR_UNKNOWN (some
     * sums are missing: discard what FN got, and use tell), what FN returned, or an error.
     */
    int (*sums)(void *ctx, trod_call_sums_fn fn, void *user, struct trod_callstack_counts *counts);
    /*
     * Optional: as tell, but SINK is called only for the ends of activations that are open where
     * the trace ends, and less is known of them: entry.instruction is 0. Returns 0,
     * TROD_ERR_UNKNOWN (SINK was not called: use tell), what SINK returned, or an error.
     */
    int (*open)(void *ctx, const struct trod_callstack_sink *sink);
    /*
     * Optional: as tell, until SINK's enter returns more than 0. After that SINK is called only for
     * the ends of activations that are open then and whose user is not 0, not in the order of the
     * trace. Returns 0, TROD_ERR_UNKNOWN (SINK was not called: use tell), what SINK returned if
     * that is negative, or an error.
     */
    int (*first)(void *ctx, const struct trod_callstack_sink *sink);
};

/*
 * Columns that are used where present; kind and addr are required. Opcodes are not needed from
 * formats that give the branch kind of each instruction (drmemtrace): see trod_callstack_columns.
 */
enum {
    TROD_CALLSTACK_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM |
                             TROD_COL_TIME | TROD_COL_UNIT | TROD_COL_ADDR | TROD_COL_TARGET |
                             TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_CODE | TROD_COL_TEXT
};

/* The columns of TROD_CALLSTACK_COLUMNS that are used with the format called FORMAT. */
uint32_t trod_callstack_columns(const char *format);

/*
 * A call stack that calls SINK (copied). SYMBOLS, which may be NULL, outlive it and get no further
 * files. MERGED: rows of several files alternate (trod_context.merged); otherwise the streams of a
 * file end when rows of another one come. Returns 0 or TROD_ERR_NOMEM. Release it with
 * trod_callstack_free; NULL is allowed.
 */
int trod_callstack_new(struct trod_callstack **out, const struct trod_callstack_sink *sink,
                       const struct trod_symbols *symbols, bool merged);
void trod_callstack_free(struct trod_callstack *c);

/*
 * Rows [FROM, TO) of B, which follow those of the call before. Returns 0, TROD_ERR_NOMEM or what a
 * function of the sink returned.
 */
int trod_callstack_feed(struct trod_callstack *c, const struct trod_batch *b, uint32_t from,
                        uint32_t to);

/*
 * The trace ends: activations that are open are left, each stream's from the innermost on. Returns
 * 0 or what the sink returned.
 */
int trod_callstack_end(struct trod_callstack *c);

/*
 * The frames of the current context of STREAM, outermost first: *N of them; NULL where there are
 * none. Valid until C is fed again.
 */
const struct trod_frame *trod_callstack_frames(const struct trod_callstack *c, uint32_t stream,
                                               uint32_t *n);

/*
 * The instruction that STREAM executed last, into *OUT, its time the largest so far. False: none
 * yet.
 */
bool trod_callstack_last(const struct trod_callstack *c, uint32_t stream, struct trod_moment *out);

/* What was seen so far. */
void trod_callstack_count(const struct trod_callstack *c, struct trod_callstack_counts *out);

enum { TROD_FUNCTION_NAME = 24 };

/*
 * What the function at PC is called: the function symbol that PC lies in, else "0xADDRESS", written
 * into BUF. Valid as long as both. SYMBOLS may be NULL.
 */
const char *trod_function_name(const struct trod_symbols *symbols, uint64_t pc,
                               char buf[TROD_FUNCTION_NAME]);

/* "call", "returned", "class"; static, NULL past the last. */
const char *trod_frame_kind_name(unsigned kind);
const char *trod_frame_end_name(unsigned end);
const char *trod_frame_sure_name(unsigned sure);

#ifdef __cplusplus
}
#endif

#endif
