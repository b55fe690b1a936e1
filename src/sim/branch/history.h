/*
 * history.h - outcomes of branches, newest first, and folds of the first of them.
 *
 * Documents: P. Michaud, "A PPM-like, tag-based branch predictor", JILP 7 (2005), section 2.2
 * (folded registers); A. Seznec, P. Michaud, "A case for (partially) tagged geometric history
 * length branch prediction", JILP 8 (2006). The fold of the newest LENGTH outcomes to WIDTH bits is
 * the exclusive or of outcome j (0: the newest) at bit j mod WIDTH; a register keeps it up to date.
 */
#ifndef TROD_SIM_BRANCH_HISTORY_H
#define TROD_SIM_BRANCH_HISTORY_H

#include "trod/types.h"

enum { TROD_BP_HISTORY = 2048 }; /* outcomes kept: longer than any length */

struct trod_bp_history {
    uint32_t at; /* of the newest */
    uint8_t bit[TROD_BP_HISTORY];
};

enum { TROD_BP_LENGTHS = 16, TROD_BP_FOLDS = 3 };

/*
 * Folds of N lengths to TROD_BP_FOLDS widths each. All registers are updated in the same way, with
 * masks: TOP is the bit above a register's width, DROP the bit that holds the outcome which leaves
 * the history.
 */
struct trod_bp_folds {
    uint32_t n, length[TROD_BP_LENGTHS];
    struct {
        uint32_t value[TROD_BP_LENGTHS], top[TROD_BP_LENGTHS], drop[TROD_BP_LENGTHS];
    } of[TROD_BP_FOLDS];
};

/* Outcome I, 0 being the newest. */
static inline uint32_t trod_bp_outcome(const struct trod_bp_history *h, uint32_t i)
{
    return h->bit[(h->at + i) & (TROD_BP_HISTORY - 1)];
}

static inline void trod_bp_push(struct trod_bp_history *h, bool bit)
{
    h->at = (h->at - 1) & (TROD_BP_HISTORY - 1);
    h->bit[h->at] = bit;
}

/* Another length for F, with its widths. */
void trod_bp_fold_add(struct trod_bp_folds *f, uint32_t length,
                      const uint32_t width[TROD_BP_FOLDS]);
/* Outcome BIT becomes the newest of H and F. */
void trod_bp_fold_push(struct trod_bp_folds *f, struct trod_bp_history *h, bool bit);

/* The length of history I of N, from LEAST to MOST in a geometric series, rounded. */
uint32_t trod_bp_geometric(unsigned i, unsigned n, uint64_t least, uint64_t most);

#endif
