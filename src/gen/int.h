/*
 * int.h - the inside of a generator: a small machine, the code that it executes, its rows.
 *
 * A pattern writes its code once (gen_code, before the first row), operation by operation, and then
 * executes it: each call of gen_run is one operation with its instructions and their accesses.
 * Elsewhere an operation is one instruction; on PowerPC, whose registers FULL shows, those are
 * added that give the registers what the operation needs.
 */
#ifndef TROD_GEN_INT_H
#define TROD_GEN_INT_H

#include "core/rng.h"
#include "trod/gen.h"

enum {
    GEN_CODE = 24,  /* instructions of a program, and one behind */
    GEN_STEPS = 8,  /* operations */
    GEN_BYTES = 8,  /* of an instruction */
    GEN_ROOM = 512, /* rows that one step of a pattern may add, with those beside instructions */
    GEN_STATES = 16 << 10, /* bytes of registers that it may add */
    GEN_STREAMS = 2
};

/* Where things lie; the stack grows down. Small numbers, so that every format can say them. */
enum { GEN_TEXT = 0x10000, GEN_STACK = 0xff0000, GEN_DATA = 0x1000000 };

enum gen_op {
    GEN_LOAD,  /* a word from the address in a register */
    GEN_STORE, /* a word to it */
    GEN_ADD,   /* the address goes on */
    GEN_COND,  /* branch if not equal */
    GEN_CALL,
    GEN_RETURN,
    GEN_SAVE,    /* the return address to the stack, where calls do not put it there */
    GEN_RESTORE, /* and back */
    /* PowerPC: instructions that come with them. */
    GEN_ADDRESS, /* the address of the access, from outside */
    GEN_DATUM,   /* the word to be stored, from outside */
    GEN_TRIP,    /* whether to branch, from outside */
    GEN_COMPARE, /* that with zero */
    GEN_LINK,    /* the link register into one that can be stored */
    GEN_UNLINK,  /* and back */
    GEN_DROP,    /* the frame from the stack */
    GEN_OPS
};

struct gen_insn {
    enum gen_op op;
    unsigned target; /* COND, CALL: number of the operation */
    uint64_t pc;
    uint32_t size, flags;
    uint8_t code[GEN_BYTES];
    struct trod_slice at, text; /* in the batch's shared bytes */
};

/* Options of all patterns; each takes some of them. */
struct gen_options {
    uint64_t lines, line, laps, count, stride, depth, trips, items, seed;
    const char *skew;
};

/* The registers of a PowerPC thread that its program uses. */
struct gen_ppc {
    uint32_t gpr[8], cr, lr;
};

struct gen_desc {
    struct trod_gen_pattern pattern;
    unsigned streams;
    struct gen_options defaults;
    int (*begin)(struct trod_gen *g, struct trod_diag *diag);
    /* Execute some instructions. False: there is nothing more. */
    bool (*step)(struct trod_gen *g);
    void (*answers)(const struct trod_gen *g, struct trod_result *r);
};

struct trod_gen {
    const struct gen_desc *desc;
    struct gen_options o;
    char *spec; /* what the options point into */
    struct trod_meta *meta;
    struct trod_batch *b;
    enum trod_isa isa;
    unsigned word; /* bytes of a register */
    bool pushes;   /* a call puts the return address on the stack */
    bool delays;   /* the instruction behind a branch is executed before it goes on */
    bool markers;  /* drmemtrace: the thread that runs, and since when */
    bool threads;  /* streams are threads, not processors */
    bool bus;      /* addresses are physical as well */
    bool states;   /* all registers at each instruction: FULL */
    bool over, shown;
    uint64_t time;
    uint32_t stream[GEN_STREAMS], running; /* numbers in the meta; index of the one that ran last */
    uint64_t executed[GEN_STREAMS];
    uint64_t sp, link; /* of stream 0: its stack pointer; where its last call returns to */
    uint64_t saved[2]; /* return addresses on the stack: the outermost, all others */
    struct gen_ppc ppc[GEN_STREAMS];
    struct gen_insn code[GEN_CODE];
    unsigned n_code;
    unsigned step[GEN_STEPS + 1], n_steps; /* where the code of each operation begins; behind it */
    uint8_t *bytes; /* shared by all batches: opcodes, disassembly, details */
    uint32_t n_bytes;
    struct trod_slice mode;
    struct trod_rng rng;
    uint64_t i, k;     /* where the pattern is */
    unsigned at;       /* its phase */
    double *share;     /* zipf: cumulated shares of the lines */
    uint64_t *touched; /* random, zipf: accesses by line */
};

/* code.c: append an operation; its number. */
unsigned gen_code(struct trod_gen *g, enum gen_op op, unsigned target);
/* Give the instructions addresses and bytes. Returns 0 or TROD_ERR_NOMEM. */
int gen_assemble(struct trod_gen *g);
/* Bytes of P (N of them) to what all batches share. */
struct trod_slice gen_keep(struct trod_gen *g, const void *p, uint32_t n);

/* The address of line N of the data. */
static inline uint64_t gen_line(const struct trod_gen *g, uint64_t n)
{
    return GEN_DATA + n * g->o.line;
}

/* The number that lies in memory at ADDR: it follows from the address. */
static inline uint64_t gen_content(uint64_t addr)
{
    return addr * UINT64_C(0x9e3779b97f4a7c15) >> 8;
}

/* Where the code of operation N begins. */
static inline uint64_t gen_pc(const struct trod_gen *g, unsigned n)
{
    return g->code[g->step[n]].pc;
}

/* ppc.c: instructions that operation OP has before its own (BEHIND: behind it); how many. */
unsigned gen_ppc_beside(enum gen_op op, bool behind, const enum gen_op **ops);
/* The registers when a program begins. */
void gen_ppc_begin(struct gen_ppc *r);
/*
 * What instruction IN does to the registers. ADDR: of the operation's access; TAKEN: it branches;
 * LINK: the return address that RESTORE reads.
 */
void gen_ppc_execute(struct gen_ppc *r, const struct gen_insn *in, uint64_t addr, bool taken,
                     uint64_t link);
/* Its registers at PC, to a row's DATA as FULL has them. */
struct trod_slice gen_ppc_state(const struct gen_ppc *r, uint64_t pc, struct trod_batch *b);

/*
 * rows.c: stream S executes operation N. ADDR: of the access of LOAD and STORE. NEXT: number of the
 * operation that follows, for those that branch.
 */
void gen_run(struct trod_gen *g, unsigned s, unsigned n, uint64_t addr, unsigned next);

#endif
