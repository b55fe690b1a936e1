/*
 * lanes.c - streams, their branches, and the predictors that see them (branches.h).
 *
 * Where files come one after the other, the predictors of one are released when the next begins.
 * Where they come by turns their streams tell them apart, and all are of file 0.
 */
#include "analysis/branches/branches.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

static void free_lane(struct br_lane *l)
{
    for (unsigned i = 0; i < TROD_BP_MOST; i++) {
        trod_bp_free(l->predictor[i]);
        free(l->rest[i]);
    }
    free(l->last);
    br_part_free(&l->part);
    free(l);
}

void br_lanes_free(struct br_state *s)
{
    for (size_t i = 0; i < s->n_lanes; i++)
        free_lane(s->lane[i]);
    free(s->lane);
    free(s->of_stream);
    free(s->fed);
    for (unsigned i = 0; i < TROD_BP_MOST * BR_SHIFTS; i++) {
        trod_bp_free(s->fresh[i / BR_SHIFTS][i % BR_SHIFTS]);
        s->fresh[i / BR_SHIFTS][i % BR_SHIFTS] = NULL;
    }
    s->n_awake = s->turn = 0;
    s->lane = s->of_stream = s->fed = NULL;
    s->n_lanes = s->cap_lanes = s->n_fed = s->cap_fed = 0;
    s->n_of_stream = 0;
}

/* L is about to be released. */
static void forget(struct br_state *s, const struct br_lane *l)
{
    size_t n = 0;

    if (s->of_stream[l->stream] == l)
        s->of_stream[l->stream] = NULL;
    for (size_t i = 0; l->fed && i < s->n_fed; i++)
        if (s->fed[i] != l)
            s->fed[n++] = s->fed[i];
    s->n_fed = l->fed ? n : s->n_fed;
    for (unsigned i = 0; l->awake && i < s->n_awake; i++)
        if (s->awake[i] == l)
            s->awake[i] = NULL;
}

int br_end_files(struct br_state *s, uint32_t file, bool others)
{
    size_t n = 0;
    int rc = TROD_OK;

    for (size_t i = 0; i < s->n_lanes; i++) {
        struct br_lane *l = s->lane[i];

        if ((l->file == file) == others) {
            s->lane[n++] = l;
            continue;
        }
        if (l->waits && rc == TROD_OK)
            rc = br_given_up(s, l);
        if (rc == TROD_OK)
            rc = br_flush(s, l);
        forget(s, l);
        free_lane(l);
    }
    s->n_lanes = n;
    return rc;
}

struct br_lane *br_lane(struct br_state *s, uint32_t stream, uint32_t file)
{
    struct br_lane *l = stream < s->n_of_stream ? s->of_stream[stream] : NULL;

    if (l && l->file == file)
        return l;
    if (!s->context.merged && br_end_files(s, file, true) < 0)
        return NULL;
    if (!trod_grow_to(&s->of_stream, &s->n_of_stream, stream, sizeof(struct br_lane *), NULL) ||
        !trod_grow(&s->lane, s->n_lanes, &s->cap_lanes, sizeof(struct br_lane *), 4))
        return NULL;
    l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->stream = stream;
    l->file = file;
    l->part.open = s->context.recording;
    s->lane[s->n_lanes++] = l;
    s->of_stream[stream] = l;
    return l;
}

int br_begin_fed(struct br_state *s, struct br_lane *l)
{
    if (l->fed)
        return TROD_OK;
    if (!trod_grow(&s->fed, s->n_fed, &s->cap_fed, sizeof(struct br_lane *), 4))
        return TROD_ERR_NOMEM;
    l->fed = true;
    s->fed[s->n_fed++] = l;
    return TROD_OK;
}

/*
 * Where files come by turns a stream has few rows in a batch: its branches wait until there are
 * many, unless somebody wants to know about each row.
 */
int br_end_fed(struct br_state *s)
{
    const bool waits = s->context.merged && !s->weighed && !s->context.recording;
    int rc = TROD_OK;

    for (size_t i = 0; i < s->n_fed; i++) {
        struct br_lane *const l = s->fed[i];

        l->fed = false;
        l->row = BR_EARLIER;
        if (rc == TROD_OK && !waits)
            rc = br_flush(s, l);
    }
    s->n_fed = 0;
    return rc;
}

int br_flush_all(struct br_state *s)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < s->n_lanes; i++)
        rc = br_flush(s, s->lane[i]);
    return rc;
}

/* ---- branches */

void br_deal(struct br_state *s)
{
    unsigned load[TROD_BP_MOST] = {0}, most = 0;

    for (unsigned i = 0; i < s->n_choices; i++)
        most = s->choice[i].type->cost > most ? s->choice[i].type->cost : most;
    for (unsigned cost = most; cost > 0; cost--) /* the costliest first */
        for (unsigned i = 0, least = 0; i < s->n_choices; i++) {
            if (s->choice[i].type->cost != cost)
                continue;
            for (unsigned k = 0; k < s->context.shards; k++)
                if (load[k] < load[least])
                    least = k;
            load[least] += cost;
            s->mine[i] = least == s->context.shard;
        }
}

/* ---- predictors, of which only so many are in memory as they are */

/* Put L to rest. What cannot be stays as it is. */
static void put_to_rest(struct br_state *s, struct br_lane *l)
{
    for (unsigned i = 0; i < s->n_choices; i++) {
        void **const fresh = &s->fresh[i][l->shift];

        if (!l->predictor[i])
            continue;
        if (!*fresh)
            *fresh = s->choice[i].type->make(s->choice[i].value, l->shift);
        if (*fresh && (l->rest[i] = trod_bp_rest(l->predictor[i], *fresh)))
            l->predictor[i] = NULL;
    }
    l->awake = false;
}

static void take_place(struct br_state *s, struct br_lane *l)
{
    if (s->n_awake < BR_AWAKE) {
        s->awake[s->n_awake++] = l;
    } else {
        if (s->awake[s->turn])
            put_to_rest(s, s->awake[s->turn]);
        s->awake[s->turn] = l;
        s->turn = (s->turn + 1) % BR_AWAKE;
    }
    l->awake = true;
}

/* See to the predictors of L. */
static int wake(struct br_state *s, struct br_lane *l)
{
    if (l->awake)
        return TROD_OK;
    take_place(s, l);
    for (unsigned i = 0; i < s->n_choices; i++) {
        const struct trod_bp_choice *const c = &s->choice[i];

        if (!s->mine[i] || l->predictor[i])
            continue;
        l->predictor[i] = l->rest[i] ? trod_bp_wake(c->type, l->rest[i], s->fresh[i][l->shift])
                                     : c->type->make(c->value, l->shift);
        if (!l->predictor[i])
            return TROD_ERR_NOMEM;
        l->rest[i] = NULL;
    }
    return TROD_OK;
}

/* ---- predictions */

/* Predictor K was wrong about the branch of ROW. */
static void tell(struct br_state *s, const struct br_lane *l, unsigned k, uint32_t row)
{
    const struct trod_weighed *w = s->weighed;

    if (row != BR_EARLIER)
        w->number[k][row]++;
    else if (s->owed == TROD_OK)
        s->owed = w->late(w->ctx, l->stream - 1, k, 1);
}

int br_predict(struct br_state *s, struct br_lane *l, const struct trod_bp_event *e, size_t n)
{
    uint8_t wrong[BR_EVENTS];

    if (n && wake(s, l) < 0)
        return TROD_ERR_NOMEM;
    for (unsigned k = 0; n && k < s->n_choices; k++) {
        uint64_t *by_site = &s->wrong[k];

        if (!l->predictor[k])
            continue;
        s->choice[k].type->run(l->predictor[k], e, n, wrong);
        for (uint32_t i = 0; i < n; i++) {
            s->sums.judged[k] += trod_bp_judged(s->choice[k].type->class, &e[i]);
            s->sums.wrong[k] += wrong[i];
            by_site[(size_t)e[i].site * s->n_choices] += wrong[i];
            if (s->weighed && wrong[i])
                tell(s, l, k, l->rows[i]);
        }
    }
    return TROD_OK;
}

int br_flush(struct br_state *s, struct br_lane *l)
{
    const int rc =
        s->context.recording ? br_part_keep(s, l) : br_predict(s, l, l->events, l->event_n);

    l->event_n = 0;
    return rc;
}

/* Outcomes are counted by the first shard alone. */
static int count(struct br_state *s, struct br_lane *l, uint32_t to)
{
    const struct trod_bp_event *e = &l->event;
    struct br_site *site = &s->site[e->site];
    struct br_fact *fact = &s->fact[e->site];
    const uint8_t outcome = e->taken ? 2 : 1;
    uint8_t *last;

    if (s->context.shard)
        return TROD_OK;
    if (e->site >= l->n_last) {
        uint8_t *p = realloc(l->last, s->n_sites);

        if (!p)
            return TROD_ERR_NOMEM;
        memset(p + l->n_last, 0, s->n_sites - l->n_last);
        l->last = p;
        l->n_last = s->n_sites;
    }
    if (!fact->counted || e->kind + 1 < fact->counted)
        fact->counted = (uint8_t)(e->kind + 1);
    s->sums.kind[e->kind]++;
    s->sums.taken[e->kind] += e->taken;
    site->executions++;
    site->taken += e->taken;
    last = &l->last[e->site];
    site->turns += *last && (*last & BR_OUTCOME) != outcome;
    *last = (uint8_t)(*last ? (*last & ~BR_OUTCOME) | outcome : outcome << BR_FIRST | outcome);
    if (to != TROD_NO_SITE && e->taken && e->kind >= TROD_BP_INDIRECT)
        return trod_pairs_count(&s->targets, (uint64_t)e->site << 32 | to);
    return TROD_OK;
}

/* The branch that L waits for is complete. */
static int complete(struct br_state *s, struct br_lane *l, uint32_t to)
{
    l->waits = false;
    l->rows[l->event_n] = l->row;
    l->events[l->event_n++] = l->event;
    if (l->event_n == BR_EVENTS && br_flush(s, l) < 0)
        return TROD_ERR_NOMEM;
    return count(s, l, to);
}

int br_led_to(struct br_state *s, struct br_lane *l, uint64_t target, uint32_t to)
{
    struct trod_bp_event *e = &l->event;

    if (!l->known)
        e->taken = target != e->next;
    /* the target of a conditional branch is known from its opcode, or once it was taken */
    if (e->taken && e->target == 0)
        e->target = target;
    return complete(s, l, e->target == target ? to : TROD_NO_SITE);
}

int br_given_up(struct br_state *s, struct br_lane *l)
{
    if (l->known)
        return complete(s, l, TROD_NO_SITE);
    l->waits = false;
    s->sums.unresolved += s->context.shard == 0;
    return TROD_OK;
}
