/*
 * insn.h - what an instruction does: flow, memory, registers.
 *
 * One set of facts for every ISA that traces have: PowerPC and RISC-V from decoders of our own, the
 * others from Capstone's operand details, with what those leave out (implicit stack accesses,
 * operands that are named but not accessed) put right from the architecture manuals. A decoded
 * instruction is kept under its address and bytes, so that analyses may ask for every row.
 */
#ifndef TROD_INSN_H
#define TROD_INSN_H

#include "trod/batch.h"
#include "trod/meta.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TROD_INSN_REGS = 20, TROD_INSN_CODE = 16 };

enum trod_insn_flag {
    TROD_INSN_TARGET = 1 << 0,     /* target is known from the opcode */
    TROD_INSN_PREDICATED = 1 << 1, /* may do nothing: condition codes, cmov, masked vectors */
    TROD_INSN_REPEAT = 1 << 2,     /* rep: any number of accesses */
    TROD_INSN_SIZES = 1 << 3,      /* read_size and write_size are known */
    TROD_INSN_COUNTS = 1 << 4,     /* loads and stores are known */
    TROD_INSN_PREFETCH = 1 << 5,   /* its memory operand is a hint */
    TROD_INSN_FLUSH = 1 << 6,      /* cache line maintenance */
    TROD_INSN_FP = 1 << 7,         /* floating point or vector */
    TROD_INSN_TRAP = 1 << 8,       /* may enter a handler by itself: breakpoint, undefined, trap */
    TROD_INSN_SIMD = 1 << 9,       /* of FP: several numbers at once, or integers in vectors */
    TROD_INSN_CRYPTO = 1 << 10,    /* of FP: steps of a cipher or a hash */
    TROD_INSN_STRING = 1 << 11,    /* moves, compares or fills a string of elements */
    TROD_INSN_ATOMIC = 1 << 12,    /* reads and writes at once, or is half of such a pair */
    TROD_INSN_SYSTEM = 1 << 13     /* privileged, or about the machine and not about data */
};

struct trod_insn {
    uint32_t flags;        /* enum trod_insn_flag */
    uint8_t valid;         /* 0: no instruction that the decoder knows */
    uint8_t size;          /* bytes */
    uint8_t branch;        /* enum trod_branch; COND where the direction is decided at run time */
    uint8_t loads, stores; /* memory operands read, written */
    uint8_t n_reads, n_writes;
    uint32_t read_size, write_size; /* bytes read, written in all */
    uint64_t target;                /* address of the branch target (TROD_INSN_TARGET) */
    uint16_t reads[TROD_INSN_REGS], writes[TROD_INSN_REGS]; /* see trod_insn_reg_name */
    const char *extension; /* of the instruction set ("sse2", "neon"); static; NULL: the base */
    /* PowerPC: what it is for ("integer", "cr"), and its class in TT6 and in TT6E traces
     * ("compute", "flow_altering", "memory", "memory_extended"); static. NULL: another instruction
     * set. */
    const char *group, *tt6, *tt6e;
};

struct trod_insn_decoder;

/*
 * A decoder of instructions of ISA, code in ENDIAN. Returns 0, TROD_ERR_NOMEM or
 * TROD_ERR_UNSUPPORTED (no decoder for ISA in this build; not reported). Release it with
 * trod_insn_decoder_free; NULL is allowed.
 */
int trod_insn_decoder_new(struct trod_insn_decoder **out, enum trod_isa isa,
                          enum trod_endian endian);
void trod_insn_decoder_free(struct trod_insn_decoder *d);

/*
 * The instruction of N bytes at CODE (memory order) at address PC, in instruction set ISET (enum
 * trod_iset, NONE: what the ISA has). Never NULL; valid is 0 for what is no instruction. The result
 * stays until the next call.
 */
const struct trod_insn *trod_insn_decode(struct trod_insn_decoder *d, unsigned iset, uint64_t pc,
                                         const uint8_t *code, uint32_t n);

enum { TROD_INSN_REGDEPS_FLAGS = 256 }; /* the arithmetic flags, as a register */

/*
 * What the N bytes at CODE of a REGDEPS trace say (file type ARCH_REGDEPS of drmemtrace): registers
 * by their virtual numbers, whether it loads and stores, whether it is floating point or vector.
 * valid is 0 where they are no such encoding. Size, branch and sizes of accesses are not known.
 */
void trod_insn_regdeps(struct trod_insn *out, const uint8_t *code, uint32_t n);

/* The name of register REG of an instruction of instruction set ISET ("x0", "rax"); never NULL. */
const char *trod_insn_reg_name(struct trod_insn_decoder *d, unsigned iset, unsigned reg);

#ifdef __cplusplus
}
#endif

#endif
