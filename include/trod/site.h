/*
 * site.h - static instructions: a dense number for each, and what is known of it.
 *
 * Implements docs/design.md, "Sites". A site is an instruction of the program: an address with its
 * opcode bytes or, where the trace gives none, with the size, branch and instruction set that its
 * file says there first. The engine numbers the sites of a run from 0 as they come and fills the
 * site column with them: of instructions, and of the accesses and registers that belong to one (the
 * last instruction of their stream). Analyses count in arrays by site and decode each site once, at
 * the end. The order of the numbers depends on the number of threads; results must not: sort by
 * address.
 */
#ifndef TROD_SITE_H
#define TROD_SITE_H

#include "trod/insn.h"
#include "trod/meta.h"
#include "trod/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the site column: the row belongs to no instruction. */
#define TROD_NO_SITE UINT32_MAX

struct trod_sites;

struct trod_site {
    uint64_t pc;
    uint32_t stream; /* in which it was seen first */
    uint32_t size;   /* bytes, as the trace says; 0: not said */
    uint8_t iset;    /* enum trod_iset */
    uint8_t branch;  /* enum trod_branch, as first seen; of a conditional one TROD_BR_COND */
    uint8_t code_n;  /* opcode bytes; 0: the trace does not give them */
    uint8_t code[TROD_INSN_CODE];
};

/* Sites so far. Numbers 0 to trod_sites_count() - 1 are valid. */
uint32_t trod_sites_count(const struct trod_sites *s);
/* Site NUMBER; valid as long as S. Callable from any thread. */
const struct trod_site *trod_site_at(const struct trod_sites *s, uint32_t number);

/*
 * Which comes first, A (below 0) or B (above 0): by address, then by opcode, or without one by
 * size, branch and instruction set. 0 where both are the same. Unlike the order of their numbers it
 * is the same for every number of threads.
 */
int trod_site_compare(const struct trod_site *a, const struct trod_site *b);

/*
 * What instruction NUMBER does, decoded on the first call and kept. Never NULL; valid is 0 where
 * there are no opcode bytes, no decoder for the ISA, or no such instruction. Callable from any
 * thread; the result is valid as long as S.
 */
const struct trod_insn *trod_site_insn(struct trod_sites *s, uint32_t number);

/*
 * The name of register REG as trod_site_insn of site NUMBER gives it ("x0", "rax"); never NULL.
 */
const char *trod_site_register(struct trod_sites *s, uint32_t number, unsigned reg);

/*
 * The disassembly of site NUMBER into BUF (N bytes, NUL-terminated): mnemonic, a blank, operands.
 * Returns its length; 0 and an empty text where there is none.
 */
size_t trod_site_text(struct trod_sites *s, uint32_t number, char *buf, size_t n);

/* The function that site NUMBER lies in and how far in, where symbols are known; else false. */
bool trod_site_function(struct trod_sites *s, uint32_t number, const char **name, uint64_t *offset);

/*
 * The module whose code lay at ADDRESS, as a list beside the trace says, and how far ADDRESS is
 * from its beginning. False where there is none, or nobody wanted them (TROD_WANT_MODULES). PATH is
 * valid as long as S.
 */
bool trod_sites_module(const struct trod_sites *s, uint64_t address, const char **path,
                       uint64_t *offset);

/*
 * Where site NUMBER lies, as text into BUF (N bytes, NUL-terminated): its function, else the file
 * name of its module and how far in it lies ("libc.so.6+0x29d90"). Returns its length; 0 and an
 * empty text where neither is known.
 */
size_t trod_site_where(struct trod_sites *s, uint32_t number, char *buf, size_t n);

/*
 * The number of SITE, added if new; for states that are loaded from bytes. TROD_NO_SITE when there
 * is no memory.
 */
uint32_t trod_sites_add(struct trod_sites *s, const struct trod_site *site);

/* The meta of the trace that S belongs to. */
const struct trod_meta *trod_sites_meta(const struct trod_sites *s);

#ifdef __cplusplus
}
#endif

#endif
