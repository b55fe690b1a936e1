/*
 * working.c - the working set of each interval: how many different lines were touched in it
 * (phases.h).
 *
 * Each line has the number of the interval that touched it last. When an interval touches a line
 * for the first time, the line is counted by the distance to that earlier interval, measured in how
 * often neighbouring intervals must be joined until both are one. When neighbours are joined, lines
 * that were new only because of the border between them are dropped from the count, and the rest is
 * exact, however often that happens. The numbers of the intervals of a file begin at a multiple of
 * 2^FILE_SHIFT: those of two files are not joined.
 *
 * Beyond a number of lines those are kept whose hash ends in LEVEL zero bits, each standing for
 * 2^LEVEL of them.
 */
#include "analysis/phases/phases.h"

#include <stdlib.h>
#include <string.h>

enum { RECENT = 1024, FIRST_PLACES = 1024, FILE_SHIFT = 40 };

struct place {
    uint64_t line, at; /* at: the interval that touched it last, and 1 more; 0: empty */
};

struct phases_working {
    uint64_t recent[RECENT]; /* lines that this interval has counted, and 1 more */
    struct place *place;
    size_t places, n, most; /* places: a power of two */
    uint64_t at;            /* the interval, counted in intervals of the first length */
    unsigned joined, level;
    bool failed;
};

int phases_working_new(struct phases_working **out, size_t most)
{
    struct phases_working *w = calloc(1, sizeof *w);

    *out = w;
    if (!w || !(w->place = calloc(FIRST_PLACES, sizeof *w->place)))
        return TROD_ERR_NOMEM;
    w->places = FIRST_PLACES;
    w->most = most;
    return TROD_OK;
}

void phases_working_free(struct phases_working *w)
{
    if (w)
        free(w->place);
    free(w);
}

/* Finalizer of splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators"):
 * lines that lie beside each other do not. */
static uint64_t hash_of(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The place that LINE has or would have. The low bits of a hash choose samples, others places. */
static struct place *place_of(const struct phases_working *w, uint64_t line, uint64_t hash)
{
    size_t i = (size_t)(hash >> 32) & (w->places - 1);

    while (w->place[i].at && w->place[i].line != line)
        i = (i + 1) & (w->places - 1);
    return &w->place[i];
}

static bool sampled(const struct phases_working *w, uint64_t hash)
{
    return (hash & ((UINT64_C(1) << w->level) - 1)) == 0;
}

/* PLACES of them, with the lines that belong to the sample. */
static bool rebuild(struct phases_working *w, size_t places)
{
    const struct phases_working old = *w;

    w->place = calloc(places, sizeof *w->place);
    if (!w->place) {
        w->place = old.place;
        return false;
    }
    w->places = places;
    w->n = 0;
    for (size_t i = 0; i < old.places; i++) {
        const struct place *p = &old.place[i];
        const uint64_t hash = hash_of(p->line);

        if (!p->at || !sampled(w, hash))
            continue;
        *place_of(w, p->line, hash) = *p;
        w->n++;
    }
    free(old.place);
    return true;
}

static bool make_room(struct phases_working *w)
{
    if (w->n > w->most) {
        w->level++;
        return rebuild(w, w->places);
    }
    return 4 * w->n < 3 * w->places || rebuild(w, 2 * w->places);
}

/* How often neighbours must be joined until X and Y, which differ, are one: from 0. */
static unsigned distance(uint64_t x, uint64_t y)
{
    unsigned n = 0;

    for (x ^= y; x >>= 1;)
        n++;
    return n < PHASES_FILES ? n : PHASES_FILES - 1;
}

void phases_working_line(struct phases_working *w, uint64_t line, uint64_t fresh[PHASES_AGES])
{
    const uint64_t hash = hash_of(line), one = UINT64_C(1) << w->level;
    uint64_t *recent = &w->recent[line % RECENT];
    struct place *p;

    if (*recent == line + 1)
        return;
    *recent = line + 1;
    if (!sampled(w, hash))
        return;
    p = place_of(w, line, hash);
    if (!p->at) {
        *p = (struct place){line, w->at + 1};
        w->n++;
        fresh[PHASES_COLD] += one;
        while (!w->failed && (w->n > w->most || 4 * w->n >= 3 * w->places))
            w->failed = !make_room(w);
    } else if ((p->at - 1) >> w->joined != w->at >> w->joined) {
        fresh[(p->at - 1) >> FILE_SHIFT != w->at >> FILE_SHIFT
                  ? PHASES_FILES
                  : distance((p->at - 1) >> w->joined, w->at >> w->joined)] += one;
        p->at = w->at + 1;
    }
}

bool phases_working_end(struct phases_working *w)
{
    w->at += UINT64_C(1) << w->joined;
    memset(w->recent, 0, sizeof w->recent);
    return !w->failed;
}

void phases_working_joined(struct phases_working *w)
{
    w->joined++;
}

void phases_working_cut(struct phases_working *w)
{
    w->joined = 0;
}

/* Behind a file in which no interval ended its last one goes on, with the lines it has. */
void phases_working_file(struct phases_working *w)
{
    const uint64_t one = UINT64_C(1) << FILE_SHIFT;

    w->at = (w->at + one - 1) & ~(one - 1);
}

void phases_working_forget(struct phases_working *w)
{
    memset(w->place, 0, w->places * sizeof *w->place);
    memset(w->recent, 0, sizeof w->recent);
    w->n = 0;
    w->at = 0;
    w->joined = 0;
}

unsigned phases_working_level(const struct phases_working *w)
{
    return w->level;
}

void phases_working_join(uint64_t fresh[PHASES_AGES])
{
    for (unsigned i = 0; i + 1 < PHASES_FILES; i++)
        fresh[i] = fresh[i + 1];
    fresh[PHASES_FILES - 1] = 0;
}

void phases_working_all(uint64_t fresh[PHASES_AGES])
{
    memset(fresh, 0, PHASES_COLD * sizeof *fresh);
}

uint64_t phases_working_lines(const uint64_t fresh[PHASES_AGES])
{
    uint64_t n = 0;

    for (unsigned i = 0; i < PHASES_AGES; i++)
        n += fresh[i];
    return n;
}
