/*
 * rows.h - the state of what makes rows of events, shared by the files rows*.c. Each calls those
 * whose part stands further up.
 */
#ifndef TROD_RECORD_ROWS_H
#define TROD_RECORD_ROWS_H

#include "record/record.h"

#include "trod/disasm.h"
#include "trod/insn.h"

enum {
    ROWS = 4096,
    /* what all rows have */
    ROW_COMMON = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_TIME | TROD_COL_UNIT,
    ROWS_KEPT = 16,    /* free when an event begins: the most rows an event makes but a segment */
    ROWS_BEHIND = 256, /* free behind a segment: the accesses of its last instruction */
    REC_EVENT_NAMES = 0x90, /* Arm: numbers of exceptions */
    REC_BANKED = 8,         /* A32: registers of which modes have their own */
    REC_BANKED_END = 15,
    REC_MOVED = 64,         /* bytes of an access whose value is reported */
    REC_FULL_BYTES = 1000,  /* of a state of FULL */
    REC_FULL_STATES = 2048, /* instructions of a batch of FULL */
    WHOLE = 0xffff,         /* one access of as many bytes as come */
    ERESTART = 512,         /* what they return that begin again behind a signal handler */
    ERRORS = 4096,          /* results above -ERRORS are errors */
    REC_ATOMICS = 10,       /* operations of MU lines */
    ESIGRETURN = 513,       /* what QEMU's system calls return from a signal handler's end */
    /* of rec_insn.flags: what rows of accesses have of it; an operation of Tarmac's MU lines */
    REC_ACCESS_FLAGS = TROD_F_EXCLUSIVE | TROD_F_UNPRIV | TROD_F_LOCKED,
    UNNAMED = 1 << 21,  /* the disassembler does not know it, and no row has it so far */
    UNTOLD = 1 << 22,   /* QEMU may tell nothing of its accesses */
    ELEMENTS = 1 << 23, /* accesses those elements of its operand that a mask chooses */
    AREA = 1 << 24,     /* an area, of which QEMU accesses what it knows, from the beginning on */
    REC_ATOMIC = 1 << 25,
    AT_START = 1 << 26,   /* recording begins there */
    AT_STOP = 1 << 27,    /* and ends there */
    NO_LOAD = 1 << 28,    /* stores, and loads nothing */
    NO_MORE = 1 << 29,    /* what QEMU tells beyond the operands is not the program's */
    SAME_AGAIN = 1 << 30, /* string operation */
    LOOKED_AT = (int)(1u << 31)
};

/* Is a thread of the program recorded? */
enum rec_thread {
    REC_UNSEEN,
    REC_LEFT_OUT, /* not wanted */
    REC_WANTED,
    REC_BEGUN /* it has a stream */
};

/* How far the instruction executed last has come. */
enum rec_progress {
    REC_PASSED_BY, /* not recorded, or none so far */
    REC_SHOWN,     /* it has a row */
    REC_ACCESSED,  /* and one of an access */
    REC_MADE       /* it was made from registers: what QEMU reports besides is the same */
};

struct rec_stream {
    uint32_t number;
    enum rec_thread thread;
    enum rec_progress progress;
    bool time_due;  /* TIMESTAMP and CPU_ID are to be written before the next instruction */
    bool held;      /* an iteration of a string operation without an access so far */
    uint32_t told;  /* accesses of the instruction executed last that QEMU has reported */
    uint32_t twice; /* so many come again: QEMU has begun it once more */
    uint64_t seq;   /* of the next block */
    uint64_t time;
    uint32_t cpu;
    const struct rec_insn *last; /* executed last */
    uint64_t next;               /* ARM: address behind it */
    uint64_t executed;           /* instructions recorded so far */
    uint8_t it;                  /* and where in an IT block that is */
    uint32_t access;             /* row of its last access + 1, 0: none in this batch */
    uint32_t row;                /* of its instruction + 1, as long as that is the last of all */
    uint64_t sync[2];            /* a synchronization record that waits for the next instruction */
    struct rec_registers *registers; /* NULL: none have been reported */
    uint8_t moved[REC_MOVED];        /* what its last access moved, as in memory */
    uint32_t n_moved;                /* bytes of it that are known */
    uint32_t at;                     /* what was reported last begins so many bytes behind it */
    uint32_t moving;                 /* bytes of the access whose value is reported next, 0: none */
    uint32_t reads, writes;          /* rows of accesses that it has */
    uint64_t window;                 /* of its last row */
    bool reported; /* its registers have been reported as a whole, for this window */
    bool open;     /* the last row of an instruction is a branch whose target is not known */
    bool skipped;  /* its condition does not hold */
    const struct rec_segment *segment; /* a whole machine: where that is from */
    uint32_t mode;                     /* 1 + what REC_MODE reported last; 0: nothing */
    uint32_t before;                   /* the same when the last instruction was executed */
    uint64_t vectors;                  /* 1 + where A64 vectors are, 0: not known */
};

struct rec_rows {
    struct rec_shared *shared;
    struct trod_meta *meta;
    struct trod_writer *writer;
    struct trod_batch *b;
    struct trod_insn_decoder *decoder;
    struct trod_disasm *disasm; /* text formats; else NULL */
    struct trod_slice mode;     /* text formats: detail of all instructions; else empty */
    struct rec_stream *streams;
    uint32_t kinds;                         /* of rows that are recorded, 1 << enum trod_kind */
    struct trod_slice atomics[REC_ATOMICS]; /* Tarmac: names of the operations of MU lines */
    uint64_t unnamed; /* static instructions that the disassembler does not know */
    bool letters;     /* accesses have those of Tarmac's M lines */
    bool flow;        /* a BRANCH row where a branch leads elsewhere */
    bool markers, memory;
    bool single;             /* only the first thread has a place */
    uint64_t others;         /* blocks of other threads */
    uint32_t threads, pid;   /* begun so far; process of the first */
    uint32_t pair;           /* TT6E: place in the log of what follows a twi, 0: nothing does */
    bool amber;              /* each access belongs to the record of its instruction */
    bool full;               /* each instruction comes with all registers */
    bool big;                /* values are big-endian in memory */
    bool narrow;             /* addresses have 32 bits */
    bool system;             /* a whole machine */
    bool bus;                /* of which the trace has what is on its bus */
    struct rec_names *names; /* a whole machine: texts of its rows */
    enum rec_isa set;
    uint8_t *states; /* FULL: the registers at the instructions of the batch */
    uint32_t n_states;
    uint32_t iset;
    uint32_t image; /* of the code that is executed, where places are looked for */
    struct rec_control control;
    uint64_t instructions, accesses, passed;
    uint32_t block;               /* A64: bytes that DC ZVA clears, 0: not known */
    uint64_t untold[REC_UNTOLDS]; /* instructions whose accesses are missing */
};

/* Reads of an iteration of the string operation executed last: cmps has two. */
static inline uint32_t rec_iteration_reads(const struct rec_stream *st)
{
    return st->last->flags & NO_LOAD ? 0 : st->last->access & 0xffff ? 1 : 2;
}

/*
 * Does an access of KIND show that a string operation has begun another iteration? QEMU 7.2 begins
 * the instruction anew for each, later versions do not.
 */
static inline bool rec_iterates(const struct rec_stream *st, uint8_t kind)
{
    if (!(st->last->flags & SAME_AGAIN))
        return false;
    return kind == TROD_WRITE ? st->writes > 0 : st->reads >= rec_iteration_reads(st);
}

/* What is in the log once: details of instructions and of changes by the mode, of exceptions. */
struct rec_names {
    struct trod_slice modes[REC_MODE_BITS + 1], changes[REC_MODE_BITS + 1];
    struct trod_slice events[REC_EVENT_NAMES], none, stacks[4];
    struct trod_slice banked[16][REC_BANKED_END - REC_BANKED]; /* A32: by mode and number */
};

/* What is known of the registers of a thread. */
struct rec_registers {
    uint64_t value[REC_REGS][2];
    uint8_t words[REC_REGS]; /* 0: never reported */
};

/* --- rows_put.c: the batch --- */

/* A row of marker NUMBER of drmemtrace. */
void rec_rows_marker(struct rec_rows *r, const struct rec_stream *st, unsigned number,
                     uint64_t value);
/*
 * What comes next is not the instruction that follows in the trace: a branch before it does not see
 * where the flow goes on, to PC: the row says so, as long as its row is not written.
 */
void rec_rows_leads(struct rec_rows *r, struct rec_stream *st, uint64_t pc);

/* --- rows_insn.c: instructions --- */

/* IN is executed. No time stands between a branch and what it leads to. Returns 0 or an error. */
int rec_rows_execute(struct rec_rows *r, struct rec_stream *st, struct rec_insn *in);
/* Another iteration of the string operation executed last begins. Returns 0 or an error. */
int rec_rows_iterate(struct rec_rows *r, struct rec_stream *st);
/* Does recording begin or end at IN? AT_START and AT_STOP. */
uint32_t rec_rows_places(const struct rec_rows *r, const struct rec_insn *in);

/* --- rows_x86.c: what is odd about x86 instructions --- */

/*
 * What IN, which the decoder calls WHAT, accesses beside its operands, and how QEMU parts these:
 * flags and sizes of IN.
 */
void rec_rows_x86(const struct rec_rows *r, struct rec_insn *in, const struct trod_insn *what);

/* --- rows_access.c: accesses of the instruction executed last --- */

/* Event WHAT of an access at ADDR. Returns 0 or an error. */
int rec_rows_moved(struct rec_rows *r, struct rec_stream *st, uint64_t what, uint64_t addr);
/* A row of an access. */
void rec_rows_access(struct rec_rows *r, struct rec_stream *st, uint8_t kind, uint64_t addr,
                     uint32_t size);
/*
 * Its access follows from VALUES (REC_REGISTERS): PowerPC: registers rA, rB and XER; A64: the one
 * that DC ZVA names.
 */
void rec_rows_by_registers(struct rec_rows *r, struct rec_stream *st, const uint64_t values[3]);
/* Count it if QEMU may tell nothing of its accesses (UNTOLD) and has told nothing. */
void rec_rows_untold(struct rec_rows *r, const struct rec_stream *st);

/* --- rows_names.c: texts of whole machines --- */

/* Is there room for them? False: no memory. The functions below need it but the last. */
bool rec_rows_named(struct rec_rows *r);
/* LEN bytes at P to what all batches share, unless KNOWN already. */
struct trod_slice rec_rows_once(struct rec_rows *r, struct trod_slice *known, const void *p,
                                size_t len);
/* The detail of instructions in MODE, and of a change to it. */
struct trod_slice rec_rows_mode(struct rec_rows *r, uint32_t mode);
struct trod_slice rec_rows_change(struct rec_rows *r, uint32_t mode);
/* The name of register NUMBER in the mode that the processor is in. */
struct trod_slice rec_rows_register_name(struct rec_rows *r, const struct rec_stream *st,
                                         unsigned number);

/* --- rows_state.c: registers and values --- */

/*
 * N words of REC_STATE or REC_ALL: registers of the instruction executed last; rows where RECORDED.
 * Returns 0 or an error.
 */
int rec_rows_state(struct rec_rows *r, struct rec_stream *st, const uint64_t *p, uint32_t n,
                   bool all, bool recorded);
/* Registers as they are before the first instruction of a window of ST. Returns 0 or an error. */
int rec_rows_told(struct rec_rows *r, struct rec_stream *st);
/* N words of REC_VALUE: what the access reported last moved. */
void rec_rows_value(struct rec_rows *r, struct rec_stream *st, const uint64_t *p, uint32_t n);
/* ARM, where registers are reported: does the condition of IN not hold? */
bool rec_rows_skips(const struct rec_rows *r, struct rec_stream *st, const struct rec_insn *in);
/* FULL: the registers at the instruction whose row was made last. */
void rec_rows_full(struct rec_rows *r, struct rec_stream *st, const struct rec_insn *in);

/* --- rows_calls.c: system calls and functions --- */

/* A system call: its number, its arguments where they are wanted. */
void rec_rows_call(struct rec_rows *r, const struct rec_stream *st, uint32_t number,
                   const uint64_t *arguments);
/* What it returns to the program; not where QEMU begins it again behind a signal handler. */
void rec_rows_result(struct rec_rows *r, const struct rec_stream *st, uint32_t number,
                     uint64_t value);
/* REC_CALL or REC_RETURN at P: rows where they are TOLD. Returns the words of the event. */
int64_t rec_rows_function(struct rec_rows *r, const struct rec_stream *st, const uint64_t *p,
                          bool marked);

/* --- rows_signals.c --- */

/*
 * The handler of signal NUMBER begins; what it interrupts goes on at PC. MARKED: the trace has what
 * was executed last.
 */
void rec_rows_signalled(struct rec_rows *r, struct rec_stream *st, uint32_t number, uint64_t pc,
                        bool marked);

/* --- rows_amber.c --- */

/* R is for FORMAT. */
void rec_rows_amber_begin(struct rec_rows *r, const struct trod_format *format);
/* TT6E: the instruction executed last may be a twi: the return from a trap, to PC. */
void rec_rows_trap(struct rec_rows *r, const struct rec_stream *st, uint64_t pc);
/* A synchronization record, before an instruction at PC. */
void rec_rows_sync(struct rec_rows *r, struct rec_stream *st, uint64_t pc);

/* --- rows_text.c: what lines of text formats have --- */

/* R is for FORMAT. Returns 0 or an error. */
int rec_rows_text_begin(struct rec_rows *r, const struct rec_target *t,
                        const struct trod_format *format);
/* The operation of the atomic instruction IN (REC_ATOMIC). */
struct trod_slice rec_rows_atomic(const struct rec_rows *r, const struct rec_insn *in);
/* A row where the instruction executed last is a branch that has led to NEXT. */
void rec_rows_branch(struct rec_rows *r, const struct rec_stream *st, const struct rec_insn *next);
/* Take rows of unwanted kinds out of the batch. */
void rec_rows_choose(struct rec_rows *r);
/* The disassembly of IN into the log. */
void rec_rows_text(struct rec_rows *r, struct rec_insn *in);
/* N bytes to the log. Returns their place, 0: it is full. */
uint32_t rec_rows_keep(struct rec_shared *s, const void *p, size_t n);

/* --- rows_physical.c: physical addresses of whole machines --- */

/* That of the instruction of the stream's segment whose row I is. */
void rec_rows_page(struct rec_rows *r, const struct rec_stream *st, uint32_t i);
/* REC_PHYSICAL at P: that of the access reported last. */
void rec_rows_physical(struct rec_rows *r, const struct rec_stream *st, const uint64_t *p);

/* --- rows_system.c: whole machines --- */

/* An event that only they have. Returns its words or an error. */
int64_t rec_rows_system(struct rec_rows *r, struct rec_stream *st, const uint64_t *p);
/* Segment S comes next: exceptions, the mode of its instructions. */
void rec_rows_flow(struct rec_rows *r, struct rec_stream *st, const struct rec_segment *s);
/* The number of the stream of processor CPU, or an error. */
int rec_rows_processor(struct rec_rows *r, uint32_t cpu);

#endif
