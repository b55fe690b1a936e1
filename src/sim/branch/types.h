/*
 * types.h - the predictors there are, for types.c.
 */
#ifndef TROD_SIM_BRANCH_TYPES_H
#define TROD_SIM_BRANCH_TYPES_H

#include "sim/branch/branch.h"

extern const struct trod_bp_type trod_bp_taken, trod_bp_btfn, trod_bp_bimodal, trod_bp_gshare,
    trod_bp_local, trod_bp_perceptron, trod_bp_tage, trod_bp_btb, trod_bp_ras, trod_bp_ittage;

#endif
