/*
 * ras.c - a return address stack.
 *
 * Document: D. R. Kaeli, P. G. Emma, "Branch history table prediction of moving target branches due
 * to subroutine returns", ISCA 1991. A ring: a call beyond its depth overwrites the oldest address;
 * a return from an empty stack has no prediction, which is wrong.
 */
#include "sim/branch/types.h"

#include <stdlib.h>

enum { DEPTH };

struct state {
    uint64_t depth, top, n; /* of the ring; place of the next; addresses in it */
    uint64_t at[];
};

static void *make(const uint64_t *p, unsigned shift)
{
    struct state *s = trod_bp_new(sizeof *s + p[DEPTH] * sizeof *s->at);

    (void)shift;
    if (s)
        s->depth = p[DEPTH];
    return s;
}

static void run(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    struct state *s = state;

    for (size_t i = 0; i < n; i++) {
        const bool judged = trod_bp_judged(TROD_BP_RETURNS, &e[i]);

        wrong[i] = 0;
        if (!e[i].taken)
            continue;
        if (e[i].kind == TROD_BP_CALL || e[i].kind == TROD_BP_ICALL) {
            s->at[s->top] = e[i].next;
            s->top = s->top + 1 == s->depth ? 0 : s->top + 1;
            s->n += s->n < s->depth;
        } else if (e[i].kind == TROD_BP_RETURN && s->n == 0) {
            wrong[i] = judged;
        } else if (e[i].kind == TROD_BP_RETURN) {
            s->top = s->top ? s->top - 1 : s->depth - 1;
            s->n--;
            wrong[i] = judged && s->at[s->top] != e[i].target;
        }
    }
}

static uint64_t bits(const uint64_t *p)
{
    return 64 * p[DEPTH];
}

const struct trod_bp_type trod_bp_ras = {
    .name = "ras",
    .class = TROD_BP_RETURNS,
    .param = {[DEPTH] = {"depth", 16, 1, 4096}},
    .make = make,
    .run = run,
    .bits = bits,
    .cost = 1,
};
