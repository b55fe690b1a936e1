/*
 * btb.c - a branch target buffer.
 *
 * Document: J. K. F. Lee, A. J. Smith, "Branch prediction strategies and branch target buffer
 * design", IEEE Computer 17 (1984). Sets of ways with the whole address as tag; the least recently
 * used way is replaced. Taken branches are entered; the prediction is the last target.
 */
#include "sim/branch/types.h"

#include <stdlib.h>
#include <string.h>

enum { LOG, WAYS };

struct entry {
    uint64_t pc, target; /* target 0: empty */
};

struct state {
    uint64_t mask;
    size_t ways;
    unsigned shift;
    struct entry at[]; /* of each set the most recently used first */
};

static void *make(const uint64_t *p, unsigned shift)
{
    struct state *s =
        trod_bp_new(sizeof *s + ((size_t)1 << p[LOG]) * p[WAYS] * sizeof(struct entry));

    if (!s)
        return NULL;
    s->mask = (UINT64_C(1) << p[LOG]) - 1;
    s->ways = p[WAYS];
    s->shift = shift;
    return s;
}

static void run(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    struct state *s = state;

    for (size_t i = 0; i < n; i++) {
        struct entry *set = &s->at[(e[i].pc >> s->shift & s->mask) * s->ways];
        size_t way = 0;

        wrong[i] = 0;
        if (!trod_bp_judged(TROD_BP_TARGETS, &e[i]))
            continue;
        while (way + 1 < s->ways && set[way].pc != e[i].pc)
            way++;
        wrong[i] = set[way].pc != e[i].pc || set[way].target != e[i].target;
        memmove(set + 1, set, way * sizeof *set);
        set[0] = (struct entry){e[i].pc, e[i].target};
    }
}

static uint64_t bits(const uint64_t *p)
{
    return (UINT64_C(128) << p[LOG]) * p[WAYS];
}

const struct trod_bp_type trod_bp_btb = {
    .name = "btb",
    .class = TROD_BP_TARGETS,
    .param = {[LOG] = {"log", 10, 0, 20}, [WAYS] = {"ways", 4, 1, 64}},
    .make = make,
    .run = run,
    .bits = bits,
    .cost = 2,
};
