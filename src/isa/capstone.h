/*
 * capstone.h - what disassembly and decoding share: opening Capstone for an instruction set, and
 * the place of an instruction in a table.
 */
#ifndef TROD_ISA_CAPSTONE_H
#define TROD_ISA_CAPSTONE_H

#include "trod/batch.h"
#include "trod/meta.h"
#include "trod_config.h"

#include <string.h>

#if TROD_HAVE_CAPSTONE
#include "core/lazy.h"

#include <capstone/capstone.h>

#define TROD_CAPSTONE_FUNCTIONS(F)                                                                 \
    F(cs_open)                                                                                     \
    F(cs_close)                                                                                    \
    F(cs_option)                                                                                   \
    F(cs_malloc)                                                                                   \
    F(cs_free) F(cs_disasm_iter) F(cs_reg_name) F(cs_regs_access) F(cs_group_name)

/* Capstone's functions; there once a handle is open. */
struct trod_capstone_library {
    TROD_CAPSTONE_FUNCTIONS(TROD_LAZY_MEMBER)
};
extern struct trod_capstone_library trod_capstone_library;

/* One handle an instruction set, opened when it is first needed. */
struct trod_capstone {
    enum trod_isa isa;
    enum trod_endian endian;
    bool detail;
    csh handle[TROD_ISET_A64 + 1]; /* by iset; 0: not open */
    cs_insn *insn[TROD_ISET_A64 + 1];
    bool in_block; /* the T32 instruction decoded last was IT */
};

/* The handle's number for ISET of the ISA: ISET itself, or what the ISA has. */
unsigned trod_capstone_iset(const struct trod_capstone *c, unsigned iset);
/*
 * Has Capstone instruction set ISET (of trod_capstone_iset), and is Capstone to be had? It is not
 * loaded for that: a decoder or disassembler that nobody asks costs no more than its memory.
 */
bool trod_capstone_there(const struct trod_capstone *c, unsigned iset);
/*
 * Open handle ISET (of trod_capstone_iset) if need be, and load Capstone before the first. False:
 * Capstone has none, or is not there.
 */
bool trod_capstone_open(struct trod_capstone *c, unsigned iset);
/*
 * Decode one instruction of the N bytes at CODE; the result is c->insn[iset]. False: it is none, or
 * there is no handle.
 */
bool trod_capstone_decode(struct trod_capstone *c, unsigned iset, uint64_t pc, const uint8_t *code,
                          size_t n);
void trod_capstone_close(struct trod_capstone *c);
#endif

static inline bool trod_is_ppc(enum trod_isa isa)
{
    return isa == TROD_ISA_PPC32 || isa == TROD_ISA_PPC64;
}

static inline bool trod_is_riscv(enum trod_isa isa)
{
    return isa == TROD_ISA_RISCV32 || isa == TROD_ISA_RISCV64;
}

/* Is there a decoder of our own for ISA? */
static inline bool trod_is_own(enum trod_isa isa)
{
    return trod_is_ppc(isa) || trod_is_riscv(isa);
}

static inline unsigned trod_riscv_bits(enum trod_isa isa)
{
    return isa == TROD_ISA_RISCV32 ? 32 : 64;
}

/* The word that four bytes of code in memory order are. */
static inline uint32_t trod_code_word(const uint8_t *code, enum trod_endian endian)
{
    uint32_t word =
        (uint32_t)code[0] << 24 | (uint32_t)code[1] << 16 | (uint32_t)code[2] << 8 | code[3];

    return endian == TROD_ENDIAN_LITTLE ? __builtin_bswap32(word) : word;
}

/* Where the N bytes at CODE, at address PC, belong in a table of SLOTS (a power of two) entries. */
static inline size_t trod_code_slot(uint64_t pc, const uint8_t *code, uint32_t n, unsigned iset,
                                    size_t slots)
{
    uint64_t h = 0;

    memcpy(&h, code, n < 8 ? n : 8);
    h = (h ^ pc * 0x9e3779b97f4a7c15u ^ iset) * 0xd6e8feb86659fd93u;
    return (size_t)(h >> 40) & (slots - 1);
}

#endif
