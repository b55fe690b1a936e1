/*
 * signals.c - sets of signal counts by sync point.
 *
 * Implements signals.h for order_sync.c (amber, "Thread Synchronization Records").
 */
#include "trace/signals.h"

#include <stdlib.h>
#include <string.h>

/* Counts [from, to], both included. */
struct range {
    uint64_t from, to;
};

struct trod_signal_point {
    uint64_t point;
    uint32_t n, cap; /* cap 0: the slot is free, or one range, held in place */
    bool taken;
    struct range one, *ranges; /* sorted, apart by more than 1 */
};

static struct range *ranges_of(struct trod_signal_point *p)
{
    return p->cap ? p->ranges : &p->one;
}

void trod_signals_fini(struct trod_signals *s)
{
    for (size_t i = 0; i < s->size; i++)
        free(s->points[i].ranges);
    free(s->points);
    *s = (struct trod_signals){0};
}

static struct trod_signal_point *slot_of(const struct trod_signals *s, uint64_t point)
{
    uint64_t at = (point ^ point >> 32) * 0x9e3779b97f4a7c15u >> 20;

    for (;; at++) {
        struct trod_signal_point *p = &s->points[at & (s->size - 1)];

        if (!p->taken || p->point == point)
            return p;
    }
}

static int grow(struct trod_signals *s)
{
    struct trod_signals bigger = {.size = s->size ? 2 * s->size : 64, .used = s->used};

    bigger.points = calloc(bigger.size, sizeof *bigger.points);
    if (!bigger.points)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < s->size; i++)
        if (s->points[i].taken)
            *slot_of(&bigger, s->points[i].point) = s->points[i];
    free(s->points);
    *s = bigger;
    return TROD_OK;
}

/* Put NEW at place AT of P's ranges. */
static int insert(struct trod_signal_point *p, uint32_t at, struct range new)
{
    if (p->n == (p->cap ? p->cap : 1)) {
        uint32_t cap = p->cap ? 2 * p->cap : 4;
        struct range *r = realloc(p->ranges, cap * sizeof *r);

        if (!r)
            return TROD_ERR_NOMEM;
        if (p->cap == 0)
            r[0] = p->one;
        p->ranges = r;
        p->cap = cap;
    }
    struct range *r = ranges_of(p);
    memmove(r + at + 1, r + at, (p->n - at) * sizeof *r);
    r[at] = new;
    p->n++;
    return TROD_OK;
}

/* First range of P that ends at COUNT - 1 or later: where COUNT belongs. */
static uint32_t place_of(struct trod_signal_point *p, uint64_t count)
{
    const struct range *r = ranges_of(p);
    uint32_t lo = 0, hi = p->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (r[mid].to + 1 < count)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int add(struct trod_signal_point *p, uint64_t count)
{
    uint32_t at = place_of(p, count);
    struct range *r = ranges_of(p);

    if (at == p->n || count + 1 < r[at].from)
        return insert(p, at, (struct range){count, count});
    if (count + 1 == r[at].from)
        r[at].from = count;
    else if (count == r[at].to + 1)
        r[at].to = count;
    if (at + 1 < p->n && r[at].to + 1 == r[at + 1].from) {
        r[at].to = r[at + 1].to;
        memmove(r + at + 1, r + at + 2, (p->n - at - 2) * sizeof *r);
        p->n--;
    }
    return TROD_OK;
}

int trod_signals_add(struct trod_signals *s, uint64_t point, uint64_t count)
{
    struct trod_signal_point *p;
    int rc;

    if (s->used * 2 >= s->size && (rc = grow(s)) < 0)
        return rc;
    p = slot_of(s, point);
    if (!p->taken) {
        *p = (struct trod_signal_point){.point = point, .taken = true};
        s->used++;
    }
    return add(p, count);
}

bool trod_signals_has(const struct trod_signals *s, uint64_t point, uint64_t count)
{
    struct trod_signal_point *p;
    uint32_t at;

    if (count == 0)
        return true;
    if (s->size == 0)
        return false;
    p = slot_of(s, point);
    if (!p->taken)
        return false;
    at = place_of(p, count);
    return at < p->n && ranges_of(p)[at].from <= count && count <= ranges_of(p)[at].to;
}
