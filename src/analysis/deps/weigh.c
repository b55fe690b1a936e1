/*
 * weigh.c - cycles by row, for `--weight`: what a pipeline waits for loaded values ("stalls"), and
 * by how much each instruction makes the program longer if only dependences hold it back
 * ("cycles").
 *
 * Implements docs/navigating.md, "Weights", after the model of docs/analysing.md, "deps". Each
 * stream has a state of its own, which is fed row by row. How long an instruction takes is known
 * when the next one of its stream comes.
 */
#include "analysis/deps/deps.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

enum { STALLS, CYCLES, NUMBERS };

static const char *const names[NUMBERS] = {"stalls", "cycles"};

struct lane {
    uint32_t stream;
    uint32_t last; /* row of its instruction executed last; NOWHERE: it came before these rows */
    uint64_t given[NUMBERS];
    struct deps_state deps;
};

struct weighing {
    const struct trod_analysis *deps;
    struct trod_context context;
    unsigned number[TROD_WEIGHER_MOST]; /* of what was asked for: STALLS, CYCLES */
    unsigned n;
    struct lane **lane; /* by stream + 1; 0: rows without one */
    uint32_t n_lanes;
};

#define NOWHERE UINT32_MAX

static void fini(void *st)
{
    struct weighing *w = st;

    for (uint32_t i = 0; w && i < w->n_lanes; i++) {
        if (w->lane[i])
            w->deps->fini(&w->lane[i]->deps);
        free(w->lane[i]);
    }
    free(w ? w->lane : NULL);
    free(w);
}

static int make(void **st, const char *const *what, unsigned n, const struct trod_context *c)
{
    struct weighing *w = calloc(1, sizeof *w);

    *st = w;
    if (!w)
        return TROD_ERR_NOMEM;
    w->deps = trod_analysis_find("deps", 4);
    w->context = *c;
    w->n = n;
    for (unsigned i = 0; i < n; i++) {
        while (w->number[i] < NUMBERS && strcmp(names[w->number[i]], what[i]) != 0)
            w->number[i]++;
        if (w->number[i] == NUMBERS)
            return trod_error(c->diag, TROD_ERR_USAGE, "weight.deps", NULL,
                              "weight 'deps.%s': there are deps.stalls and deps.cycles", what[i]);
    }
    return TROD_OK;
}

/* NULL: no memory. */
static struct lane *lane_of(struct weighing *w, uint32_t stream)
{
    const uint32_t at = stream == TROD_NO_STREAM ? 0 : stream + 1;

    if (!trod_grow_to(&w->lane, &w->n_lanes, at, sizeof *w->lane, NULL))
        return NULL;
    if (!w->lane[at] && (w->lane[at] = calloc(1, sizeof *w->lane[at])) != NULL) {
        w->lane[at]->stream = stream;
        w->lane[at]->last = NOWHERE;
        w->deps->init(&w->lane[at]->deps, NULL, &w->context); /* nothing of it can fail */
    }
    return w->lane[at];
}

/* What there is of NUMBER so far. */
static uint64_t so_far(const struct deps_state *s, unsigned number)
{
    const uint64_t part = s->live.best > s->live.cycles ? s->live.best : s->live.cycles;

    return number == STALLS ? s->sums.stall_cycles : s->sums.cycles + part;
}

/* Take over new results: stalls belong to row I, cycles to the instruction before it. */
static int tell(struct weighing *w, struct lane *l, uint32_t i, const struct trod_weighed *out)
{
    int rc = TROD_OK;

    for (unsigned k = 0; rc == TROD_OK && k < w->n; k++) {
        const unsigned number = w->number[k];
        const uint64_t now = so_far(&l->deps, number), more = now - l->given[number];
        const uint32_t row = number == STALLS ? i : l->last;

        if (more && row != NOWHERE)
            out->number[k][row] += more;
        else if (more)
            rc = out->late(out->ctx, l->stream, k, more);
    }
    for (unsigned number = 0; number < NUMBERS; number++)
        l->given[number] = so_far(&l->deps, number);
    return rc;
}

static int end(struct weighing *w, const struct trod_weighed *out)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < w->n_lanes; i++)
        if (w->lane[i] && (rc = deps_flow_end(&w->lane[i]->deps)) == TROD_OK)
            rc = tell(w, w->lane[i], NOWHERE, out);
    return rc;
}

static int weigh(void *st, const struct trod_batch *b, uint32_t from, uint32_t to,
                 const struct trod_weighed *out)
{
    struct weighing *w = st;
    struct trod_batch plain;
    int rc = TROD_OK;

    for (uint32_t i = 0; i < w->n_lanes; i++)
        if (w->lane[i])
            w->lane[i]->last = NOWHERE;
    if (!b)
        return end(w, out);
    if (!(b->have & TROD_COL_FLAGS))
        return TROD_OK;
    plain = *b;
    plain.streaks = NULL;
    for (uint32_t i = from; rc == TROD_OK && i < to; i++) {
        struct lane *l;

        if (b->kind[i] != TROD_INSTR && (b->kind[i] < TROD_READ || b->kind[i] > TROD_ATOMIC))
            continue;
        l = lane_of(w, b->have & b->has[i] & TROD_COL_STREAM ? b->stream[i] : TROD_NO_STREAM);
        if (!l)
            return TROD_ERR_NOMEM;
        rc = deps_flow_rows(&l->deps, &plain, i, i + 1);
        if (rc == TROD_OK)
            rc = tell(w, l, i, out);
        if (b->kind[i] == TROD_INSTR && !(b->flags[i] & TROD_F_SYNTHETIC))
            l->last = i;
    }
    return rc;
}

const struct trod_weigher deps_weigher = {
    .about = "stalls, cycles",
    .unit = "cycles",
    .uses = TROD_COL_SITE | TROD_COL_FLAGS | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_STREAM,
    .order = TROD_STREAM_ORDER,
    .make = make,
    .weigh = weigh,
    .fini = fini,
};
