/*
 * bimodal.c - a counter of two bits by address.
 *
 * Documents: J. E. Smith, "A study of branch prediction strategies", ISCA 1981, strategy 7;
 * S. McFarling, "Combining branch predictors", WRL TN-36, 1993, section 3. Counters begin weakly
 * taken (2).
 */
#include "sim/branch/types.h"

#include <stdlib.h>
#include <string.h>

enum { LOG };

struct state {
    uint64_t mask;
    unsigned shift;
    uint8_t counter[];
};

static void *make(const uint64_t *p, unsigned shift)
{
    const size_t n = (size_t)1 << p[LOG];
    struct state *s = trod_bp_new(sizeof *s + n);

    if (!s)
        return NULL;
    s->mask = n - 1;
    s->shift = shift;
    memset(s->counter, 2, n);
    return s;
}

static void run(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    struct state *s = state;

    for (size_t i = 0; i < n; i++) {
        uint8_t *c = &s->counter[e[i].pc >> s->shift & s->mask];

        wrong[i] = 0;
        if (e[i].kind != TROD_BP_COND)
            continue;
        wrong[i] = (*c >= 2) != e[i].taken;
        *c = trod_bp_count(*c, e[i].taken, 3);
    }
}

static uint64_t bits(const uint64_t *p)
{
    return UINT64_C(2) << p[LOG];
}

const struct trod_bp_type trod_bp_bimodal = {
    .name = "bimodal",
    .class = TROD_BP_DIRECTION,
    .param = {[LOG] = {"log", 12, 1, 24}},
    .make = make,
    .run = run,
    .bits = bits,
    .cost = 1,
};
