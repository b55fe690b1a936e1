/*
 * slow_branch.h - branch predictors without cleverness, for test_branch.
 *
 * All outcomes since the beginning are kept in a list, whatever a predictor needs of them is worked
 * out anew for every branch, and tables of tagged predictors are searched from the longest history
 * down. The documents are those that the files of src/sim/branch name.
 */
#ifndef TROD_TEST_SLOW_BRANCH_H
#define TROD_TEST_SLOW_BRANCH_H

#include "sim/branch/branch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOW_TABLES = 16, SLOW_PLACES = 1 << 17 };

struct slow_entry {
    long tag, counter, useful;
    uint64_t target;
};

struct slow_way {
    long tag, past, now, sure, age;
    bool body;
};

struct slow {
    const uint64_t *p;
    unsigned shift;
    uint8_t *past; /* outcomes, the newest last */
    size_t n_past;
    long *number; /* counters, weights or histories by place */
    long *other;  /* the same again */
    struct slow_entry *entry[SLOW_TABLES + 1];
    uint64_t (*list)[2];
    size_t n_list;
    struct slow_way way[64][4];
    long corrector[5][1 << 10], threshold, balance, use, alternate, lfsr, branches, cleared;
};

static long slow_clamp(long v, long least, long most)
{
    return v < least ? least : v > most ? most : v;
}

/* Outcome J, 0 being the newest; before the first one there were zeros. */
static unsigned slow_outcome(const struct slow *s, size_t j)
{
    return j < s->n_past ? s->past[s->n_past - 1 - j] : 0;
}

static uint64_t slow_fold(const struct slow *s, size_t length, unsigned width)
{
    uint64_t fold = 0;

    for (size_t j = 0; j < length; j++)
        fold ^= (uint64_t)slow_outcome(s, j) << j % width;
    return fold;
}

/* The newest N outcomes as a number, the newest in bit 0. */
static uint64_t slow_recent(const struct slow *s, size_t n)
{
    uint64_t v = 0;

    for (size_t j = 0; j < n; j++)
        v |= (uint64_t)slow_outcome(s, j) << j;
    return v;
}

static void slow_remember(struct slow *s, bool outcome)
{
    s->past[s->n_past++] = outcome;
}

static bool slow_static(struct slow *s, const struct trod_bp_event *e, bool backwards)
{
    (void)s;
    return backwards ? e->target <= e->pc : true;
}

/* Counters of two bits in NUMBER, at PLACE. */
static bool slow_counter(struct slow *s, uint64_t place, bool taken)
{
    const bool says = s->number[place] > 1;

    s->number[place] = slow_clamp(s->number[place] + (taken ? 1 : -1), 0, 3);
    return says;
}

static bool slow_gshare(struct slow *s, const struct trod_bp_event *e)
{
    const uint64_t log = s->p[0], length = s->p[1] < log ? s->p[1] : log;
    const uint64_t at = (e->pc >> s->shift) ^ slow_recent(s, length) << (log - length);
    const bool says = slow_counter(s, at % (UINT64_C(1) << log), e->taken);

    slow_remember(s, e->taken);
    return says;
}

static bool slow_local(struct slow *s, const struct trod_bp_event *e)
{
    long *history = &s->other[(e->pc >> s->shift) % (UINT64_C(1) << s->p[0])];
    const bool says = slow_counter(s, (uint64_t)*history, e->taken);

    *history = (*history * 2 + e->taken) % (1L << s->p[1]);
    return says;
}

static bool slow_perceptron(struct slow *s, const struct trod_bp_event *e)
{
    const size_t h = s->p[1];
    long *w = &s->number[(e->pc >> s->shift) % (UINT64_C(1) << s->p[0]) * (h + 1)];
    const long t = e->taken ? 1 : -1;
    long y = w[h];

    for (size_t j = 0; j < h; j++)
        y += w[j] * (slow_outcome(s, j) ? 1 : -1);
    if ((y >= 0) != e->taken || labs(y) <= (long)floor(1.93 * (double)h + 14)) {
        for (size_t j = 0; j < h; j++)
            w[j] = slow_clamp(w[j] + t * (slow_outcome(s, j) ? 1 : -1), -128, 127);
        w[h] = slow_clamp(w[h] + t, -128, 127);
    }
    slow_remember(s, e->taken);
    return y >= 0;
}

/* --- tagged tables --- */

static size_t slow_length(const struct slow *s, unsigned i, unsigned n)
{
    const double least = (double)s->p[2], most = (double)s->p[3];

    return (size_t)floor(least * pow(most / least, (double)i / (double)(n - 1)) + 0.5);
}

static struct slow_entry *slow_place(const struct slow *s, unsigned i, uint64_t x, long *tag)
{
    const unsigned log = (unsigned)s->p[0], n = (unsigned)s->p[1], width = (unsigned)s->p[4];
    const size_t length = slow_length(s, i, n);

    *tag = (long)((x ^ slow_fold(s, length, width) ^ slow_fold(s, length, width - 1) << 1) %
                  (UINT64_C(1) << width));
    return &s->entry[i][(x ^ x >> log ^ slow_fold(s, length, log)) % (UINT64_C(1) << log)];
}

static bool slow_loop_says(const struct slow_way *w)
{
    return (w->now + 1 == w->past) != w->body;
}

static struct slow_way *slow_way_of(struct slow *s, uint64_t x)
{
    for (unsigned i = 0; i < 4; i++)
        if (s->way[x % 64][i].age > 0 && s->way[x % 64][i].tag == (long)(x / 64 % 16384))
            return &s->way[x % 64][i];
    return NULL;
}

static void slow_loop_learn(struct slow *s, uint64_t x, bool taken, bool predicted)
{
    struct slow_way *w = slow_way_of(s, x), *set = s->way[x % 64];

    if (w && w->sure == 3) {
        const bool says = slow_loop_says(w);

        if (says != predicted)
            s->use = slow_clamp(s->use + (says == taken ? 1 : -1), -64, 63);
        if (says != taken) {
            w->age = 0;
            return;
        }
        if (predicted != taken)
            w->age = slow_clamp(w->age + 1, 0, 7);
    }
    if (!w) {
        for (unsigned i = 0; i < 4 && predicted != taken; i++)
            if (set[i].age == 0) {
                set[i] = (struct slow_way){(long)(x / 64 % 16384), 0, 0, 0, 7, !taken};
                return;
            }
        for (unsigned i = 0; i < 4 && predicted != taken; i++)
            set[i].age--;
        return;
    }
    if (++w->now == 16383) {
        w->age = 0;
    } else if (taken != w->body) {
        if (w->now < 3)
            w->age = 0;
        else if (w->now == w->past)
            w->sure = slow_clamp(w->sure + 1, 0, 3);
        else
            w->past = w->past == 0 ? w->now : 0, w->sure = 0;
        w->now = 0;
    }
}

static bool slow_correct(struct slow *s, uint64_t x, bool predicted, bool taken)
{
    static const unsigned lengths[5] = {0, 3, 6, 11, 16};
    long sum = predicted ? 8 : -8, *c[5];
    bool unsure, says;

    for (unsigned i = 0; i < 5; i++) {
        const uint64_t h = slow_recent(s, lengths[i]);

        c[i] = &s->corrector[i][(2 * (x ^ h ^ h >> 9) + predicted) % 1024];
        sum += 2 * *c[i] + 1;
    }
    says = sum >= 0;
    unsure = labs(sum) < s->threshold;
    for (unsigned i = 0; i < 5 && (unsure || says != taken); i++)
        *c[i] = slow_clamp(*c[i] + (taken ? 1 : -1), -32, 31);
    if (unsure || says != taken)
        s->balance = slow_clamp(s->balance + (says != taken ? 1 : -1), -64, 63);
    if (s->balance == 63)
        s->threshold++, s->balance = 0;
    if (s->balance == -64)
        s->threshold -= s->threshold > 1, s->balance = 0;
    return unsure ? predicted : says;
}

static void slow_tage_allocate(struct slow *s, struct slow_entry **at, const long *tag, int from,
                               int n, bool taken)
{
    int place[2] = {-1, -1};

    for (int i = n - 1; i >= from; i--)
        if (at[i]->useful == 0) {
            place[1] = place[0];
            place[0] = i;
        }
    if (place[0] < 0) {
        for (int i = from; i < n; i++)
            at[i]->useful--;
        return;
    }
    s->lfsr = s->lfsr / 2 + ((s->lfsr ^ s->lfsr / 4 ^ s->lfsr / 8 ^ s->lfsr / 32) & 1) * 32768;
    if (place[1] >= 0 && s->lfsr % 2)
        place[0] = place[1];
    *at[place[0]] = (struct slow_entry){.tag = tag[place[0]], .counter = taken ? 4 : 3};
}

static bool slow_tage(struct slow *s, const struct trod_bp_event *e)
{
    const uint64_t x = e->pc >> s->shift;
    const int n = (int)s->p[1];
    struct slow_entry *at[SLOW_TABLES], *hit = NULL, *next = NULL;
    long tag[SLOW_TABLES], *base = &s->number[x % (UINT64_C(4) << s->p[0])];
    int from = 0;
    bool says, otherwise, fresh, predicted, tage;

    for (int i = n - 1; i >= 0; i--) {
        at[i] = slow_place(s, (unsigned)i, x, &tag[i]);
        if (at[i]->tag != tag[i])
            continue;
        if (!hit)
            hit = at[i], from = i + 1;
        else if (!next)
            next = at[i];
    }
    otherwise = next ? next->counter > 3 : *base > 1;
    says = hit ? hit->counter > 3 : *base > 1;
    fresh = hit && hit->useful == 0 && (hit->counter == 3 || hit->counter == 4);
    predicted = tage = fresh && s->alternate >= 8 ? otherwise : says;
    if (s->p[5]) {
        const struct slow_way *w = slow_way_of(s, x);
        const bool known = w && w->sure == 3, loops = known && slow_loop_says(w);

        predicted = slow_correct(s, x, tage, e->taken);
        slow_loop_learn(s, x, e->taken, predicted);
        if (known && s->use >= 0)
            predicted = loops;
    }
    if (fresh && says != otherwise)
        s->alternate = slow_clamp(s->alternate + (otherwise == e->taken ? 1 : -1), 0, 15);
    if (tage != e->taken && from < n)
        slow_tage_allocate(s, at, tag, from, n, e->taken);
    if (!hit || (hit->useful == 0 && !next))
        *base = slow_clamp(*base + (e->taken ? 1 : -1), 0, 3);
    if (hit && hit->useful == 0 && next)
        next->counter = slow_clamp(next->counter + (e->taken ? 1 : -1), 0, 7);
    if (hit)
        hit->counter = slow_clamp(hit->counter + (e->taken ? 1 : -1), 0, 7);
    if (hit && says != otherwise)
        hit->useful = slow_clamp(hit->useful + (says == e->taken ? 1 : -1), 0, 3);
    if (++s->branches % 262144 == 0) { /* the upper bits of all, then the lower ones */
        for (int i = 0; i < n; i++)
            for (long k = 0; k < 1L << s->p[0]; k++)
                s->entry[i][k].useful &= s->cleared % 2 ? 2 : 1;
        s->cleared++;
    }
    slow_remember(s, e->taken);
    return predicted;
}

/* --- targets --- */

static bool slow_btb(struct slow *s, const struct trod_bp_event *e)
{
    const uint64_t sets = UINT64_C(1) << s->p[0], set = (e->pc >> s->shift) % sets;
    size_t in_set = 0, found = s->n_list, oldest = s->n_list;
    bool right;

    /* the list has pairs in the order of their use, the most recent last */
    for (size_t i = 0; i < s->n_list; i++) {
        if ((s->list[i][0] >> s->shift) % sets != set)
            continue;
        if (in_set++ == 0)
            oldest = i;
        if (s->list[i][0] == e->pc)
            found = i;
    }
    right = found < s->n_list && s->list[found][1] == e->target;
    if (found == s->n_list && in_set == s->p[1])
        found = oldest;
    if (found < s->n_list) {
        memmove(s->list[found], s->list[found + 1], (s->n_list - found - 1) * sizeof *s->list);
        s->n_list--;
    }
    s->list[s->n_list][0] = e->pc;
    s->list[s->n_list++][1] = e->target;
    return right;
}

static bool slow_ras(struct slow *s, const struct trod_bp_event *e)
{
    if (e->kind != TROD_BP_RETURN) {
        if (s->n_list == s->p[0])
            memmove(s->list[0], s->list[1], --s->n_list * sizeof *s->list);
        s->list[s->n_list++][0] = e->next;
        return true;
    }
    return s->n_list && s->list[--s->n_list][0] == e->target;
}

static void slow_it_learn(struct slow_entry *e, uint64_t target)
{
    if (e->target == target)
        e->counter = slow_clamp(e->counter + 1, 0, 3);
    else if (e->counter > 0)
        e->counter--;
    else
        e->target = target;
}

static bool slow_ittage(struct slow *s, const struct trod_bp_event *e)
{
    const uint64_t x = e->pc >> s->shift, t = (e->target ^ e->target >> 4) >> s->shift;
    const int n = (int)s->p[1];
    struct slow_entry *at[SLOW_TABLES], *base = &s->entry[n][x % (UINT64_C(1) << s->p[0])];
    struct slow_entry *hit = NULL, *next = NULL, *used;
    long tag[SLOW_TABLES];
    int from = 0;
    bool right, done = false;

    for (int i = n - 1; i >= 0; i--) {
        at[i] = slow_place(s, (unsigned)i, x, &tag[i]);
        if (at[i]->target == 0 || at[i]->tag != tag[i])
            continue;
        if (!hit)
            hit = at[i], from = i + 1;
        else if (!next)
            next = at[i];
    }
    next = next ? next : base;
    used = !hit ? base : hit->counter ? hit : next;
    right = used->target == e->target;
    if (hit && hit->target != next->target)
        hit->useful = hit->target == e->target;
    if (hit && hit->counter == 0)
        slow_it_learn(next, e->target);
    slow_it_learn(hit ? hit : base, e->target);
    for (int i = from; i < n && !right && !done; i++)
        if (at[i]->useful == 0) {
            *at[i] = (struct slow_entry){.tag = tag[i], .target = e->target};
            done = true;
        }
    for (int i = from; i < n && !right && !done; i++)
        at[i]->useful = 0;
    s->branches++;
    for (int i = 0; i < n && s->branches % 262144 == 0; i++)
        for (long k = 0; k < 1L << s->p[0]; k++)
            s->entry[i][k].useful = 0;
    slow_remember(s, t % 2);
    slow_remember(s, t / 2 % 2);
    return right;
}

/* --- all of them --- */

static bool slow_wrong(struct slow *s, const char *name, const struct trod_bp_event *e)
{
    const bool cond = e->kind == TROD_BP_COND, is = e->kind == TROD_BP_INDIRECT;

    if (strcmp(name, "btb") == 0)
        return e->taken && !slow_btb(s, e);
    if (strcmp(name, "ras") == 0)
        return (e->kind == TROD_BP_CALL || e->kind == TROD_BP_ICALL || e->kind == TROD_BP_RETURN) &&
               !slow_ras(s, e);
    if (strcmp(name, "ittage") == 0) {
        if (cond)
            slow_remember(s, e->taken);
        return (is || e->kind == TROD_BP_ICALL) && !slow_ittage(s, e);
    }
    if (!cond) {
        if (strcmp(name, "tage") == 0)
            slow_remember(s, true);
        return false;
    }
    if (strcmp(name, "bimodal") == 0)
        return slow_counter(s, (e->pc >> s->shift) % (UINT64_C(1) << s->p[0]), e->taken) !=
               e->taken;
    if (strcmp(name, "gshare") == 0)
        return slow_gshare(s, e) != e->taken;
    if (strcmp(name, "local") == 0)
        return slow_local(s, e) != e->taken;
    if (strcmp(name, "perceptron") == 0)
        return slow_perceptron(s, e) != e->taken;
    if (strcmp(name, "tage") == 0)
        return slow_tage(s, e) != e->taken;
    return slow_static(s, e, strcmp(name, "btfn") == 0) != e->taken;
}

/* The N branches at E, by predictor NAME with parameters P; addresses are multiples of 1 << SHIFT.
 */
static void slow_branch(const char *name, const uint64_t *p, unsigned shift,
                        const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    struct slow *s = calloc(1, sizeof *s);
    const bool zero = strcmp(name, "perceptron") == 0;

    s->p = p;
    s->shift = shift;
    s->threshold = 6;
    s->alternate = 8;
    s->lfsr = 1;
    s->past = calloc(2 * n + 2, 1);
    s->number = calloc(SLOW_PLACES, sizeof *s->number);
    s->other = calloc(SLOW_PLACES, sizeof *s->other);
    s->list = calloc(n + 1, sizeof *s->list);
    for (size_t i = 0; i < SLOW_PLACES && !zero; i++)
        s->number[i] = 2;
    for (unsigned i = 0; i <= SLOW_TABLES; i++) {
        s->entry[i] = calloc(SLOW_PLACES / 8, sizeof *s->entry[i]);
        for (size_t k = 0; k < SLOW_PLACES / 8 && strcmp(name, "tage") == 0; k++)
            s->entry[i][k].counter = 4;
    }
    for (size_t i = 0; i < n; i++)
        wrong[i] = slow_wrong(s, name, &e[i]);
    for (unsigned i = 0; i <= SLOW_TABLES; i++)
        free(s->entry[i]);
    free(s->past);
    free(s->number);
    free(s->other);
    free(s->list);
    free(s);
}

#endif
