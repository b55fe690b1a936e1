/*
 * local.c - two levels: the history of each branch, and a counter of two bits by history.
 *
 * Document: T.-Y. Yeh, Y. N. Patt, "Two-level adaptive training branch prediction", MICRO 1991, and
 * "Alternative implementations of two-level adaptive branch prediction", ISCA 1992: PAg. Histories
 * begin with nothing taken (0), counters weakly taken (2).
 */
#include "sim/branch/types.h"

#include <stdlib.h>
#include <string.h>

enum { LOG, HISTORY };

struct state {
    uint64_t mask;
    uint32_t history_mask;
    unsigned shift;
    uint8_t *counter; /* by history */
    uint32_t history[];
};

static void moved(void *state)
{
    struct state *s = state;

    s->counter = (uint8_t *)(s->history + s->mask + 1);
}

static void *make(const uint64_t *p, unsigned shift)
{
    const size_t n = (size_t)1 << p[LOG], counters = (size_t)1 << p[HISTORY];
    struct state *s = trod_bp_new(sizeof *s + n * sizeof *s->history + counters);

    if (!s)
        return NULL;
    s->mask = n - 1;
    s->history_mask = (uint32_t)(counters - 1);
    s->shift = shift;
    moved(s);
    memset(s->counter, 2, counters);
    return s;
}

static void run(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    struct state *s = state;

    for (size_t i = 0; i < n; i++) {
        uint32_t *h = &s->history[e[i].pc >> s->shift & s->mask];
        uint8_t *c = &s->counter[*h];

        wrong[i] = 0;
        if (e[i].kind != TROD_BP_COND)
            continue;
        wrong[i] = (*c >= 2) != e[i].taken;
        *c = trod_bp_count(*c, e[i].taken, 3);
        *h = (*h << 1 | e[i].taken) & s->history_mask;
    }
}

static uint64_t bits(const uint64_t *p)
{
    return (p[HISTORY] << p[LOG]) + (UINT64_C(2) << p[HISTORY]);
}

const struct trod_bp_type trod_bp_local = {
    .name = "local",
    .class = TROD_BP_DIRECTION,
    .param = {[LOG] = {"log", 10, 1, 20}, [HISTORY] = {"history", 10, 1, 24}},
    .make = make,
    .moved = moved,
    .run = run,
    .bits = bits,
    .cost = 1,
};
