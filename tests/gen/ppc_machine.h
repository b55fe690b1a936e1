/*
 * ppc_machine.h - a small PowerPC machine that executes a program and says what each instruction
 * did: what trod-gen makes traces of, and what the tests of the Amber drivers compare with.
 *
 * It knows nothing of the library: instructions with memory accesses are listed here by hand, from
 * the class macros of the Amber documents, with sizes from the PowerPC and AltiVec manuals.
 * Floating point and vector arithmetic is not executed; nothing here faults.
 */
#ifndef TROD_GEN_PPC_MACHINE_H
#define TROD_GEN_PPC_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum { MACHINE_MEMORY = 1 << 16, MACHINE_CODE = 0x10000, MACHINE_PROGRAM = 512 };

/* The states of a FULL record, in its order. */
struct machine {
    uint32_t pc, msr, gpr[32], cr, xer, lr, ctr, mq, vrsave;
    uint64_t fpr[32];
    uint32_t fpscr;
    uint8_t vr[32][16], vscr[16];
    uint32_t vrvalid;
    uint8_t memory[MACHINE_MEMORY];
    uint32_t program[MACHINE_PROGRAM]; /* at MACHINE_CODE */
    uint32_t length;                   /* of the program, instructions */
};

enum machine_class { CLASS_COMPUTE, CLASS_FLOW, CLASS_MEMORY, CLASS_EXTENDED, CLASS_CACHE };
enum machine_access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE, ACCESS_TOUCH, ACCESS_CACHE };

/* What one instruction did. */
struct machine_step {
    uint32_t opcode, pc, next;
    uint8_t class;        /* enum machine_class; CLASS_CACHE: MEMORY in TT6E, COMPUTE in TT6 */
    uint8_t access;       /* enum machine_access */
    uint32_t ea;          /* as the instruction computes it */
    uint32_t third;       /* of CLASS_EXTENDED */
    uint32_t first, size; /* bytes accessed; a cache line is 32 bytes */
    bool trap;            /* a twi */
};

/* The machine with its program: every instruction of the class lists, loops, calls, a trap. */
void machine_init(struct machine *m);
void machine_step(struct machine *m, struct machine_step *s);

/* The record of M before a step, with its opcode: 1,004 bytes. */
void machine_full(const struct machine *m, uint8_t *out);

/* The record of a step in TT6 or TT6E: words, 1 to 3 (7 with the synthetic return of a trap). */
unsigned machine_tt6(const struct machine_step *s, bool extended, uint32_t *words);

/* Entry I of the list of instructions with accesses: its major and minor opcode. False past the
 * last. */
bool machine_listed(unsigned i, uint32_t *major, uint32_t *minor, enum machine_class *class);

#endif
