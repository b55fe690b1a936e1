/*
 * static.c - predictions without a state: always taken; backwards taken, forwards not taken.
 *
 * Document: J. E. Smith, "A study of branch prediction strategies", ISCA 1981, strategies 1 and 3.
 */
#include "sim/branch/types.h"

#include <stdlib.h>

static void *make(const uint64_t *p, unsigned shift)
{
    (void)p;
    (void)shift;
    return trod_bp_new(1);
}

static uint64_t bits(const uint64_t *p)
{
    (void)p;
    return 0;
}

static void taken(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    (void)state;
    for (size_t i = 0; i < n; i++)
        wrong[i] = e[i].kind == TROD_BP_COND && !e[i].taken;
}

/*
 * A branch that is not taken has a known target only if its opcode is known: 0 counts as forwards.
 */
static void backwards(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    (void)state;
    for (size_t i = 0; i < n; i++)
        wrong[i] =
            e[i].kind == TROD_BP_COND && (e[i].target != 0 && e[i].target <= e[i].pc) != e[i].taken;
}

const struct trod_bp_type trod_bp_taken = {.name = "taken",
                                           .class = TROD_BP_DIRECTION,
                                           .make = make,
                                           .run = taken,
                                           .bits = bits,
                                           .cost = 1};

const struct trod_bp_type trod_bp_btfn = {.name = "btfn",
                                          .class = TROD_BP_DIRECTION,
                                          .make = make,
                                          .run = backwards,
                                          .bits = bits,
                                          .cost = 1};
