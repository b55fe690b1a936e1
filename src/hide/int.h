/*
 * int.h - the inside of hiding.
 */
#ifndef TROD_HIDE_INT_H
#define TROD_HIDE_INT_H

#include "trod/hide.h"
#include "trod/insn.h"

enum {
    HIDE_CODE = 16,    /* bytes of an opcode, and of what stands for it */
    HIDE_REGS = 65536, /* numbers that registers may have */
    HIDE_ROUNDS = 4
};

/* Where a branch goes by its opcode: unknown, at a distance from itself, to an address. */
enum hide_leads { HIDE_NOWHERE, HIDE_FAR, HIDE_AT };

/* An opcode that has been seen, and where what stands for it is. */
struct hide_code {
    uint8_t code[HIDE_CODE], n, iset, taken, branch;
    uint8_t leads; /* it says where: enum hide_leads */
    uint32_t at, len;
    uint64_t target; /* as from address 0 */
};

struct hide_codes {
    struct hide_code *slot; /* open addressing, a power of two of them */
    uint32_t size, used;
    uint8_t *bytes; /* shared by all batches */
    uint32_t n_bytes;
    uint8_t *reg; /* by number of the decoder: number of the trace; 0: none yet */
    unsigned regs;
    struct trod_insn_decoder *decoder;
    enum trod_isa isa;
};

/*
 * address.c: an offset, and a permutation of the upper halves of addresses, both made from the key.
 */
struct hide_space {
    uint64_t shift, mask;
    uint64_t round[HIDE_ROUNDS];
    bool wide;
};

void hide_space_init(struct hide_space *s, uint64_t seed, uint64_t granule, unsigned bits);
uint64_t hide_address(const struct hide_space *s, uint64_t a);

/* code.c: the replacement for the N bytes at CODE. Returns 0, TROD_ERR_LIMIT or TROD_ERR_NOMEM. */
int hide_codes_init(struct hide_codes *c);
void hide_codes_fini(struct hide_codes *c);
int hide_codes_find(struct hide_codes *c, const struct trod_meta *m, unsigned iset,
                    const uint8_t *code, uint32_t n, const struct hide_code **out);

/* The first of times that can be compared. */
struct hide_time {
    uint64_t time;
    uint8_t unit, coarsest; /* its unit; the coarsest of all */
    bool any;
};

struct trod_hide {
    struct trod_hide_options opt;
    const struct trod_meta *source;
    struct trod_meta meta;
    struct hide_space space;
    struct hide_codes codes;
    struct trod_batch *b;
    uint32_t *stream; /* by stream of the source: number + 1 in the meta */
    uint32_t n_streams;
    uint64_t *cpu; /* numbers of cpus in the order of their appearance */
    size_t n_cpus, cap_cpus;
    struct hide_time first[16]; /* by trod_time_class() of their units */
    uint64_t early;             /* times before it */
    uint64_t stamp0;            /* the first time stamp of a drmemtrace trace */
    uint64_t rows, kept, kind[TROD_KINDS], gone[TROD_KINDS];
    uint64_t synthetic; /* instructions that the tracer put in */
};

#endif
