/*
 * full.h - what the files of the FULL driver share: records, the access that follows from one,
 * writing.
 *
 * Implements docs/formats/amber.md, "FULL".
 */
#ifndef TROD_FORMAT_AMBER_FULL_H
#define TROD_FORMAT_AMBER_FULL_H

#include "core/endian.h"
#include "format/amber/amber.h"

#define AMBER_FULL_MAGIC UINT32_C(0xA1118E17)

/* Word W of STATE. */
static inline uint32_t full_word(const uint8_t *state, unsigned w)
{
    return trod_load_be32(state + 4 * w);
}

/* What an instruction accesses in its state. */
struct full_access {
    struct amber_access row;
    uint32_t ea, third; /* third: XER, or rB of dst and dstst */
    uint8_t rule;       /* enum trod_ppc_rule */
};

/* The access of OPCODE in STATE; LINE: bytes of a cache line. False: there is none. */
bool full_access(uint32_t opcode, const uint8_t *state, uint32_t line, struct full_access *out);

/* Writing FULL (full_encode.c). */

/* A REG row that follows from two records: the second one shows whether it does. */
struct full_reg {
    struct trod_loss_held row;
    uint8_t first, words; /* of the state */
};

/* The record that was written last. */
struct full_last {
    struct trod_loss_held row; /* its instruction */
    uint32_t opcode, target;
    bool any, aimed, accessed; /* AIMED: target is said; ACCESSED: the row of its access was met */
    unsigned n;
    struct full_reg reg[TROD_PPC_STATE_REGISTERS];
    uint8_t state[AMBER_FULL_STATE];
    uint8_t after[AMBER_FULL_STATE]; /* with the registers of the rows */
};

struct full_enc {
    const struct trod_meta *meta;
    struct trod_loss *loss;
    uint32_t line;
    bool begun, broken; /* BROKEN: a break in the flow was reported */
    /* An instruction that waits for its state. */
    struct trod_loss_held row;
    uint32_t opcode, target;
    uint64_t at;
    bool pending, aimed;
    struct full_last last;
};

int full_begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag);
int full_target(void *enc, const struct trod_target *target, struct trod_diag *diag);
int full_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
                struct trod_diag *diag);
int full_finish(void *enc, struct trod_room *out, struct trod_diag *diag);

#endif
