/*
 * perceptron.c - a perceptron by address over the global history.
 *
 * Document: D. A. Jimenez, C. Lin, "Dynamic branch prediction with perceptrons", HPCA 2001: weights
 * of 8 bits, a threshold of floor(1.93 h + 14), training where the prediction was wrong or the sum
 * not beyond the threshold. The history is that of the conditional branches. Weights begin with 0,
 * the history with nothing taken; an outcome counts as 1, or -1 where the branch was not taken.
 */
#include "sim/branch/types.h"

#include <stdlib.h>

enum { LOG, HISTORY, LONGEST = 64 };

struct state {
    uint64_t mask;
    unsigned shift, length;
    int32_t threshold;
    int8_t input[LONGEST]; /* the newest outcome at 0: 1 or -1 */
    int8_t weight[];       /* length + 1 a perceptron; the first is the bias */
};

static void *make(const uint64_t *p, unsigned shift)
{
    const size_t n = (size_t)1 << p[LOG];
    struct state *s = trod_bp_new(sizeof *s + n * (p[HISTORY] + 1));

    if (!s)
        return NULL;
    s->mask = n - 1;
    s->shift = shift;
    s->length = (unsigned)p[HISTORY];
    s->threshold = (int32_t)(193 * p[HISTORY] / 100 + 14);
    for (unsigned i = 0; i < LONGEST; i++)
        s->input[i] = -1;
    return s;
}

static int8_t train(int8_t weight, bool up)
{
    return trod_bp_step(weight, up, 127);
}

static uint8_t step(struct state *s, uint64_t pc, bool taken)
{
    int8_t *w = &s->weight[(pc >> s->shift & s->mask) * (s->length + 1)];
    int32_t sum = 0;
    uint8_t wrong;

    sum += w[0];
    for (unsigned k = 0; k < s->length; k++)
        sum += w[k + 1] * s->input[k];
    wrong = (sum >= 0) != taken;
    if (wrong || (sum < 0 ? -sum : sum) <= s->threshold) {
        w[0] = train(w[0], taken);
        for (unsigned k = 0; k < s->length; k++)
            w[k + 1] = train(w[k + 1], (s->input[k] > 0) == taken);
    }
    for (unsigned k = s->length; k-- > 1;)
        s->input[k] = s->input[k - 1];
    s->input[0] = taken ? 1 : -1;
    return wrong;
}

static void run(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    for (size_t i = 0; i < n; i++)
        wrong[i] = e[i].kind == TROD_BP_COND ? step(state, e[i].pc, e[i].taken) : 0;
}

static uint64_t bits(const uint64_t *p)
{
    return 8 * (p[HISTORY] + 1) << p[LOG];
}

const struct trod_bp_type trod_bp_perceptron = {
    .name = "perceptron",
    .class = TROD_BP_DIRECTION,
    .param = {[LOG] = {"log", 10, 1, 20}, [HISTORY] = {"history", 28, 1, LONGEST}},
    .make = make,
    .run = run,
    .bits = bits,
    .cost = 10,
};
