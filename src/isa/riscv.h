/*
 * riscv.h - RISC-V instructions: RV64GC and RV32GC with bit manipulation, in two tables.
 *
 * A decoder of our own: the Capstone that Debian 12 has knows no RISC-V. Instructions of 16 bits
 * are decoded as the one of 32 bits that they stand for, and keep their name.
 */
#ifndef TROD_ISA_RISCV_H
#define TROD_ISA_RISCV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an instruction does (riscv_ops.def); the low four bits are the bytes of its access. */
enum trod_rv_facts {
    RV_SIZE = 0xf,
    RV_LOAD = 1 << 4,
    RV_STORE = 1 << 5,
    RV_AMO = 1 << 6, /* reads and writes */
    RV_LR = 1 << 7,
    RV_SC = 1 << 8,
    RV_JAL = 1 << 9,
    RV_JALR = 1 << 10,
    RV_COND = 1 << 11,
    RV_ECALL = 1 << 12,
    RV_ERET = 1 << 13,
    RV_TRAP = 1 << 14,
    RV_SYSTEM = 1 << 15,
    RV_PREFETCH = 1 << 16,
    RV_FLUSH = 1 << 17,
    RV_64 = 1 << 18, /* in 64-bit code only */
    RV_M = 1 << 19,  /* extensions */
    RV_F = 1 << 20,
    RV_D = 1 << 21,
    RV_B = 1 << 22
};

struct trod_rv {
    const char *name, *operands; /* static */
    uint32_t word;               /* the instruction, or the one of 32 bits that it stands for */
    uint32_t facts;              /* enum trod_rv_facts */
    uint8_t size;                /* bytes */
};

/*
 * The instruction that the N bytes at CODE begin with, in code of BITS (32 or 64). False: none that
 * the tables have.
 */
bool trod_rv_decode(const uint8_t *code, size_t n, unsigned bits, struct trod_rv *out);
/* The instruction of 32 bits that the one of 16 bits SHORT stands for; 0: none. Tables only. */
uint32_t trod_rv_expand(uint16_t code, unsigned bits, const char **name, const char **operands);

enum { TROD_RV_TEXT = 64 };

/*
 * Mnemonic, blank, operands of R at PC into BUF (TROD_RV_TEXT bytes), with the names of the ABI and
 * without aliases; its length.
 */
size_t trod_rv_format(char *buf, const struct trod_rv *r, uint64_t pc, unsigned bits);

/* Fields of the word W. */
static inline unsigned trod_rv_rd(uint32_t w)
{
    return w >> 7 & 31;
}
static inline unsigned trod_rv_rs1(uint32_t w)
{
    return w >> 15 & 31;
}
static inline unsigned trod_rv_rs2(uint32_t w)
{
    return w >> 20 & 31;
}
static inline unsigned trod_rv_rs3(uint32_t w)
{
    return w >> 27;
}
int32_t trod_rv_jump(uint32_t w);   /* offset of jal */
int32_t trod_rv_branch(uint32_t w); /* of a conditional branch */

/* The name of CSR NUMBER into BUF (TROD_RV_TEXT bytes); its length. */
size_t trod_rv_csr(char *buf, unsigned number);
/* The number of the CSR that trod_rv_csr names so, in N characters; -1: none. */
int trod_rv_csr_number(const char *name, size_t n);
/* "a0", "fa0"; N below 32. */
const char *trod_rv_x(unsigned n);
const char *trod_rv_f(unsigned n);

#endif
