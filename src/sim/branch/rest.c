/*
 * rest.c - states of predictors, and what is kept of those of threads that wait.
 *
 * A thread that executed few branches has changed little of tables of some 100 KiB: the words that
 * are not as they were at first.
 */
#include "sim/branch/branch.h"

#include <stdlib.h>
#include <string.h>

/* In front of a state; its size, in words. */
struct head {
    _Alignas(16) size_t words;
};

struct trod_bp_rest {
    size_t words, n;
    struct changed {
        uint32_t at;
        uint32_t half[2]; /* of the word */
    } changed[];
};

enum { WORD = sizeof(uint64_t) };

void *trod_bp_new(size_t n)
{
    const size_t words = (n + WORD - 1) / WORD;
    struct head *h = calloc(1, sizeof *h + words * WORD);

    if (!h)
        return NULL;
    h->words = words;
    return h + 1;
}

void trod_bp_free(void *state)
{
    if (state)
        free((struct head *)state - 1);
}

static size_t words_of(const void *state)
{
    return ((const struct head *)state - 1)->words;
}

struct trod_bp_rest *trod_bp_rest(void *state, const void *fresh)
{
    const uint64_t *is = state, *was = fresh;
    const size_t words = words_of(state);
    struct trod_bp_rest *r;
    size_t n = 0;

    for (size_t i = 0; i < words; i++)
        n += is[i] != was[i];
    if (words > UINT32_MAX || n > words / 3 || !(r = malloc(sizeof *r + n * sizeof *r->changed)))
        return NULL;
    r->words = words;
    r->n = 0;
    for (size_t i = 0; i < words; i++)
        if (is[i] != was[i]) {
            r->changed[r->n].at = (uint32_t)i;
            memcpy(r->changed[r->n++].half, &is[i], WORD);
        }
    trod_bp_free(state);
    return r;
}

void *trod_bp_wake(const struct trod_bp_type *type, struct trod_bp_rest *rest, const void *fresh)
{
    uint64_t *state = trod_bp_new(rest->words * WORD);

    if (!state)
        return NULL;
    memcpy(state, fresh, rest->words * WORD);
    for (size_t i = 0; i < rest->n; i++)
        memcpy(&state[rest->changed[i].at], rest->changed[i].half, WORD);
    if (type->moved)
        type->moved(state);
    free(rest);
    return state;
}
