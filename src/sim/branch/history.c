/*
 * history.c - implements history.h.
 */
#include "sim/branch/history.h"

#include <math.h>

uint32_t trod_bp_geometric(unsigned i, unsigned n, uint64_t least, uint64_t most)
{
    const double step = n > 1 ? (double)i / (double)(n - 1) : 0;

    return (uint32_t)((double)least * pow((double)most / (double)least, step) + 0.5);
}

void trod_bp_fold_add(struct trod_bp_folds *f, uint32_t length, const uint32_t width[TROD_BP_FOLDS])
{
    f->length[f->n] = length;
    for (unsigned k = 0; k < TROD_BP_FOLDS; k++) {
        f->of[k].top[f->n] = UINT32_C(1) << width[k];
        f->of[k].drop[f->n] = UINT32_C(1) << length % width[k];
    }
    f->n++;
}

void trod_bp_fold_push(struct trod_bp_folds *f, struct trod_bp_history *h, bool bit)
{
    uint32_t leaves[TROD_BP_LENGTHS] = {0};

    trod_bp_push(h, bit);
    for (unsigned i = 0; i < f->n; i++)
        leaves[i] = 0 - trod_bp_outcome(h, f->length[i]);
    for (unsigned k = 0; k < TROD_BP_FOLDS; k++) {
        uint32_t *const value = f->of[k].value;
        const uint32_t *const top = f->of[k].top, *const drop = f->of[k].drop;

        for (unsigned i = 0; i < TROD_BP_LENGTHS; i++) {
            const uint32_t v = (value[i] + value[i]) ^ bit ^ (leaves[i] & drop[i]);
            const uint32_t high = v & top[i];

            value[i] = v ^ high ^ (high ? 1 : 0);
        }
    }
}
