/*
 * times.c - reuse times of a stream of references (times.h).
 */
#include "times.h"

#include "trod/diag.h"

#include <stdlib.h>

enum { FIRST = 1 << 10, AHEAD = 8 };

static bool table(struct trod_times *t, size_t size)
{
    t->at = calloc(size, sizeof *t->at);
    t->size = size;
    t->shift = 64;
    for (size_t n = size; n > 1; n /= 2)
        t->shift--;
    return t->at != NULL;
}

struct trod_times *trod_times_new(uint64_t window, bool parts)
{
    struct trod_times *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->window = window;
    t->parts = parts;
    if (!table(t, FIRST)) {
        free(t);
        return NULL;
    }
    return t;
}

void trod_times_free(struct trod_times *t)
{
    if (!t)
        return;
    free(t->at);
    free(t->sets);
    free(t->order);
    free(t);
}

static inline size_t home(const struct trod_times *t, uint64_t line)
{
    return (size_t)((line ^ line >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> t->shift);
}

static inline struct trod_time_line *find(const struct trod_times *t, uint64_t line)
{
    size_t i = home(t, line);

    while (t->at[i].last && t->at[i].line != line)
        i = (i + 1) & (t->size - 1);
    return &t->at[i];
}

/* Room for N more lines. */
static bool reserve(struct trod_times *t, size_t n)
{
    struct trod_time_line *old = t->at;
    size_t size = t->size, was = t->size;

    if (t->parts && t->lines + n > t->cap_order) {
        const size_t cap = 2 * t->cap_order + n;
        struct trod_first_time *more = realloc(t->order, cap * sizeof *more);

        if (!more)
            return false;
        t->order = more;
        t->cap_order = cap;
    }
    while (3 * (t->lines + n) > 2 * size)
        size *= 2;
    if (size == was)
        return true;
    if (!table(t, size)) {
        t->at = old;
        t->size = was;
        return false;
    }
    for (size_t i = 0; i < was; i++)
        if (old[i].last)
            *find(t, old[i].line) = old[i];
    free(old);
    return true;
}

static inline void count(struct trod_times *t, uint64_t time)
{
    if (time < TROD_TIME_SHORT)
        t->brief[time]++;
    trod_bin_count(t->reuse, time, 1);
}

/* A window ends after the current reference. */
static bool end_window(struct trod_times *t)
{
    if (t->n_sets == t->cap_sets) {
        const size_t cap = t->cap_sets ? 2 * t->cap_sets : 256;
        uint64_t *more = realloc(t->sets, cap * sizeof *more);

        if (!more)
            return false;
        t->sets = more;
        t->cap_sets = cap;
    }
    t->sets[t->n_sets++] = t->fresh;
    t->fresh = 0;
    t->begin = t->now;
    return true;
}

/* References of one window and of a table that has room for them. */
static void stretch(struct trod_times *t, const uint64_t *line, size_t n)
{
    uint64_t same = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t now = ++t->now;
        struct trod_time_line *e;

        if (line[i] == t->recent && now != t->begin + 1 && now > 1) {
            same++;
            continue;
        }
        __builtin_prefetch(&t->at[home(t, line[i + AHEAD < n ? i + AHEAD : i])], 1);
        if (same) {
            find(t, t->recent)->last = now - 1;
            t->brief[1] += same;
            trod_bin_count(t->reuse, 1, same);
            same = 0;
        }
        e = find(t, line[i]);
        if (e->last) {
            count(t, now - e->last);
        } else {
            if (t->parts)
                t->order[t->lines] = (struct trod_first_time){line[i], now};
            e->line = line[i];
            t->lines++;
            trod_bin_count(t->first, now, 1);
        }
        t->fresh += e->last <= t->begin;
        e->last = now;
        t->recent = line[i];
    }
    if (same) {
        find(t, t->recent)->last = t->now;
        t->brief[1] += same;
        trod_bin_count(t->reuse, 1, same);
    }
}

bool trod_times_feed(struct trod_times *t, const uint64_t *line, const uint8_t *class, size_t n)
{
    for (size_t i = 0; i < n; i++)
        t->refs[class[i]]++;
    while (n) {
        size_t k = n < 4096 ? n : 4096;

        if (t->window && k > t->begin + t->window - t->now)
            k = (size_t)(t->begin + t->window - t->now);
        if (!reserve(t, k))
            return false;
        stretch(t, line, k);
        if (t->window && t->now == t->begin + t->window && !end_window(t))
            return false;
        line += k;
        n -= k;
    }
    return true;
}

uint64_t trod_times_last(const struct trod_times *t, uint64_t line)
{
    return find(t, line)->last;
}

int trod_times_put(struct trod_times *t, uint64_t line, uint64_t first, uint64_t last)
{
    struct trod_time_line *e;

    if (!reserve(t, 1))
        return TROD_ERR_NOMEM;
    e = find(t, line);
    if (e->last)
        return TROD_ERR_CORRUPT;
    *e = (struct trod_time_line){line, last};
    t->order[t->lines++] = (struct trod_first_time){line, first};
    trod_bin_count(t->first, first, 1);
    return TROD_OK;
}

/* Histograms of reuses, and counts. */
static void add(struct trod_times *t, const struct trod_times *other)
{
    for (unsigned i = 0; i < TROD_TIME_SHORT; i++)
        t->brief[i] += other->brief[i];
    for (unsigned i = 0; i < TROD_BINS; i++) {
        t->reuse[i].n += other->reuse[i].n;
        t->reuse[i].beyond += other->reuse[i].beyond;
    }
    for (unsigned k = 0; k < TROD_REFS; k++)
        t->refs[k] += other->refs[k];
}

void trod_times_sum(struct trod_times *t, const struct trod_times *other)
{
    add(t, other);
    t->now += other->now;
    t->lines += other->lines;
    t->summed++;
}

bool trod_times_append(struct trod_times *t, const struct trod_times *later)
{
    if (!reserve(t, later->lines))
        return false;
    for (uint64_t i = 0; i < later->lines; i++) {
        const struct trod_first_time *f = &later->order[i];
        const uint64_t now = t->now + f->time;
        struct trod_time_line *e = find(t, f->line);

        if (e->last) {
            count(t, now - e->last);
        } else {
            t->order[t->lines++] = (struct trod_first_time){f->line, now};
            e->line = f->line;
            trod_bin_count(t->first, now, 1);
        }
        e->last = t->now + find(later, f->line)->last;
    }
    add(t, later);
    t->now += later->now;
    if (later->now)
        t->recent = later->recent;
    return true;
}

bool trod_times_copy_sets(struct trod_times *t, const struct trod_times *from)
{
    uint64_t *sets = malloc((from->n_sets ? from->n_sets : 1) * sizeof *sets);

    if (!sets)
        return false;
    for (size_t i = 0; i < from->n_sets; i++)
        sets[i] = from->sets[i];
    free(t->sets);
    t->sets = sets;
    t->n_sets = t->cap_sets = from->n_sets;
    return true;
}

void trod_times_tail(const struct trod_times *t, struct trod_bin *tail)
{
    for (unsigned i = 0; i < TROD_BINS; i++)
        tail[i] = (struct trod_bin){0};
    for (size_t i = 0; i < t->size; i++)
        if (t->at[i].last)
            trod_bin_count(tail, t->now + 1 - t->at[i].last, 1);
}
