/*
 * loop.h - the loop predictor of TAGE-SC-L.
 *
 * Document: A. Seznec, "A 256 Kbits L-TAGE branch predictor", CBP-2 (2006), section 4: 4 ways of 64
 * entries; a tag of 14 bits, the iterations of the last and of this execution of the loop (14
 * bits), a confidence (2 bits) and an age. A loop is believed when three executions in a row had
 * the same number of iterations. Here a loop may also go on with its branch not taken, as in
 * TAGE-SC-L (A. Seznec, CBP-4, 2014).
 */
#ifndef TROD_SIM_BRANCH_LOOP_H
#define TROD_SIM_BRANCH_LOOP_H

#include "trod/types.h"

enum { TROD_BP_LOOP_SETS = 64, TROD_BP_LOOP_WAYS = 4 };

struct trod_bp_loop {
    struct {
        uint16_t tag, past, now; /* iterations; past 0: not known */
        uint8_t confidence, age; /* age 0: the entry is free */
        bool body;               /* outcome with which the loop goes on */
    } entry[TROD_BP_LOOP_SETS][TROD_BP_LOOP_WAYS];
    int8_t use; /* 7 bits; from 0 on loops are believed */
};

/* Is L confident about branch X (its address, shifted)? Then *TAKEN is its prediction. */
bool trod_bp_loop_predict(const struct trod_bp_loop *l, uint64_t x, bool *taken);
/* What branch X did, and what the others had predicted. */
void trod_bp_loop_update(struct trod_bp_loop *l, uint64_t x, bool taken, bool predicted);

#endif
