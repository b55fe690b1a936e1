/*
 * spike.h - what the parts of the driver of Spike's logs share.
 */
#ifndef TROD_FORMAT_SPIKE_SPIKE_H
#define TROD_FORMAT_SPIKE_SPIKE_H

#include "format/lines/riscv.h"

enum {
    SPIKE_ROWS_MAX = 2048, /* of one line: registers of a vector, an access for each element */
    SPIKE_TEXT_MAX = 96,
    SPIKE_HARTS = 16
};

/* What a hart fetched last. */
struct spike_fetched {
    uint64_t hart, pc;
    uint64_t opcode;
    uint8_t known, text_n;
    uint8_t text[SPIKE_TEXT_MAX];
};

struct spike_dec {
    struct ln_state lines;
    struct trod_meta *meta;
    struct ln_cpus cpus;
    struct spike_fetched
        fetched[SPIKE_HARTS]; /* by number of the hart; of commits: [0], the line before */
    bool commits;             /* rows are what was committed, not what was fetched */
    struct ln_rv_decoded decoded;
};

/* A line of either kind up to the opcode. */
struct spike_head {
    uint64_t hart, pc, opcode;
    unsigned pc_digits, opcode_digits, privilege;
    bool has_hart, commit;
};

/* LN_OK or LN_FULL. */
static inline enum ln_result spike_put(struct ln_line *l, const struct ln_row *r)
{
    return ln_put(l, r) ? LN_OK : LN_FULL;
}

/* Rows of what the instruction H did, from the cursor on; R has its stream. */
enum ln_result spike_effects(struct spike_dec *d, struct ln_line *l, struct ln_row r,
                             const struct spike_head *h);

#endif
