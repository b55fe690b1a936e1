/*
 * corrector.h - the statistical corrector of TAGE-SC-L, the part with the global history.
 *
 * Documents: A. Seznec, "TAGE-SC-L branch predictors", CBP-4 (2014); A. Seznec, "Analysis of the
 * O-GEHL branch predictor", ISCA 2005 (threshold). A sum of counters of 6 bits: one by address, and
 * four by address and the newest 3, 6, 11 and 16 outcomes, with separate tables for predictions of
 * taken and of not taken. Where the sum is beyond the threshold, its sign is the prediction. Not
 * here: the tables by local history and the IMLI counter.
 */
#ifndef TROD_SIM_BRANCH_CORRECTOR_H
#define TROD_SIM_BRANCH_CORRECTOR_H

#include "trod/types.h"

enum { TROD_BP_SC_TABLES = 5, TROD_BP_SC_LOG = 10 };

struct trod_bp_corrector {
    int8_t counter[TROD_BP_SC_TABLES][1 << TROD_BP_SC_LOG];
    int32_t threshold; /* begins with 6 */
    int8_t balance;    /* 7 bits: at its ends the threshold changes */
};

void trod_bp_corrector_init(struct trod_bp_corrector *c);
/*
 * Branch X with the outcomes HISTORY (the newest in bit 0) was PREDICTED and then TAKEN or not:
 * what the prediction becomes. Learns from the outcome.
 */
bool trod_bp_corrector_step(struct trod_bp_corrector *c, uint64_t x, uint32_t history,
                            bool predicted, bool taken);

#endif
