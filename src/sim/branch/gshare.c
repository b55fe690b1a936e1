/*
 * gshare.c - counters of two bits by address and global history.
 *
 * Document: S. McFarling, "Combining branch predictors", WRL TN-36, 1993, section 7. The history is
 * that of the conditional branches, the newest in bit 0; where it is shorter than the index it
 * stands in the upper bits. Counters begin weakly taken (2).
 */
#include "sim/branch/types.h"

#include <stdlib.h>
#include <string.h>

enum { LOG, HISTORY };

struct state {
    uint64_t mask, history, history_mask;
    unsigned shift, up;
    uint8_t counter[];
};

static void *make(const uint64_t *p, unsigned shift)
{
    const size_t n = (size_t)1 << p[LOG];
    const uint64_t length = p[HISTORY] < p[LOG] ? p[HISTORY] : p[LOG];
    struct state *s = trod_bp_new(sizeof *s + n);

    if (!s)
        return NULL;
    *s = (struct state){.mask = n - 1,
                        .history_mask = (UINT64_C(1) << length) - 1,
                        .shift = shift,
                        .up = (unsigned)(p[LOG] - length)};
    memset(s->counter, 2, n);
    return s;
}

static void run(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    struct state *s = state;

    for (size_t i = 0; i < n; i++) {
        uint8_t *c = &s->counter[(e[i].pc >> s->shift ^ s->history << s->up) & s->mask];

        wrong[i] = 0;
        if (e[i].kind != TROD_BP_COND)
            continue;
        wrong[i] = (*c >= 2) != e[i].taken;
        *c = trod_bp_count(*c, e[i].taken, 3);
        s->history = (s->history << 1 | e[i].taken) & s->history_mask;
    }
}

static uint64_t bits(const uint64_t *p)
{
    return UINT64_C(2) << p[LOG];
}

const struct trod_bp_type trod_bp_gshare = {
    .name = "gshare",
    .class = TROD_BP_DIRECTION,
    .param = {[LOG] = {"log", 14, 1, 24}, [HISTORY] = {"history", 14, 0, 24}},
    .make = make,
    .run = run,
    .bits = bits,
    .cost = 1,
};
