/*
 * corrector.c - implements corrector.h.
 */
#include "sim/branch/corrector.h"

#include "sim/branch/branch.h"

enum { FIRST = 6, COUNTER = 31, BALANCE = 63 };

static const unsigned lengths[TROD_BP_SC_TABLES] = {0, 3, 6, 11, 16};

void trod_bp_corrector_init(struct trod_bp_corrector *c)
{
    *c = (struct trod_bp_corrector){.threshold = FIRST};
}

static int8_t *counter(struct trod_bp_corrector *c, unsigned table, uint64_t x, uint32_t history,
                       bool predicted)
{
    const uint32_t newest = history & ((UINT32_C(1) << lengths[table]) - 1);
    const uint64_t at = (x ^ newest ^ newest >> (TROD_BP_SC_LOG - 1)) << 1 | predicted;

    return &c->counter[table][at & ((1 << TROD_BP_SC_LOG) - 1)];
}

/* The threshold is adapted until uncertain but right sums and wrong sums are equally many. */
static void adapt(struct trod_bp_corrector *c, bool wrong, bool unsure)
{
    if (!wrong && !unsure)
        return;
    c->balance = trod_bp_step(c->balance, wrong, BALANCE);
    if (c->balance == BALANCE || c->balance == -BALANCE - 1) {
        c->threshold += c->balance > 0 ? 1 : c->threshold > 1 ? -1 : 0;
        c->balance = 0;
    }
}

bool trod_bp_corrector_step(struct trod_bp_corrector *c, uint64_t x, uint32_t history,
                            bool predicted, bool taken)
{
    int32_t sum = predicted ? 8 : -8; /* the weight of the prediction */
    bool says, unsure;

    for (unsigned i = 0; i < TROD_BP_SC_TABLES; i++)
        sum += 2 * *counter(c, i, x, history, predicted) + 1;
    says = sum >= 0;
    unsure = (sum < 0 ? -sum : sum) < c->threshold;
    if (says != taken || unsure)
        for (unsigned i = 0; i < TROD_BP_SC_TABLES; i++) {
            int8_t *k = counter(c, i, x, history, predicted);

            *k = trod_bp_step(*k, taken, COUNTER);
        }
    adapt(c, says != taken, unsure);
    return unsure ? predicted : says;
}
