/*
 * dynamic_queue.c - the queues of threads that are ready, one a core (dynamic_int.h).
 *
 * Heaps whose order is that of DynamoRIO's: among equals the places in the array decide.
 */
#include "trace/dynamic_int.h"

#include <stdlib.h>

static const uint64_t migration_threshold = 500 * 1000;

static bool before(const struct trod_dynamic *d, uint32_t a, uint32_t b)
{
    const struct input *x = &d->input[a], *y = &d->input[b];
    const uint64_t tx = x->last - x->base, ty = y->last - y->base;

    return tx != ty ? tx < ty : x->order < y->order;
}

static void swap(struct core *c, uint32_t i, uint32_t j)
{
    const uint32_t x = c->queue[i];

    c->queue[i] = c->queue[j];
    c->queue[j] = x;
}

static void sift_up(const struct trod_dynamic *d, struct core *c, uint32_t i)
{
    for (; i && before(d, c->queue[i], c->queue[i / 2]); i /= 2)
        swap(c, i, i / 2);
}

static void sift_down(const struct trod_dynamic *d, struct core *c, uint32_t i)
{
    for (;;) {
        uint32_t best = i;

        for (uint32_t child = 2 * i; child <= 2 * i + 1; child++)
            if (child < c->n && before(d, c->queue[child], c->queue[best]))
                best = child;
        if (best == i)
            return;
        swap(c, i, best);
        i = best;
    }
}

static void put(const struct trod_dynamic *d, struct core *c, uint32_t input)
{
    c->queue[c->n++] = input;
    c->settled = false;
    d->input[input].queued = (uint32_t)(c - d->core);
    sift_up(d, c, c->n - 1);
}

/* As the newest of its time. */
void dyn_enqueue(struct trod_dynamic *d, struct core *c, uint32_t input)
{
    d->input[input].order = ++c->counter;
    put(d, c, input);
}

uint32_t dyn_take(const struct trod_dynamic *d, struct core *c, uint32_t place)
{
    const uint32_t input = c->queue[place];

    d->input[input].queued = NONE;
    c->settled = false;
    swap(c, place, --c->n);
    if (place < c->n) {
        sift_down(d, c, place);
        sift_up(d, c, place);
    }
    return input;
}

static bool blocked(const struct trod_dynamic *d, uint32_t i, uint64_t time)
{
    struct input *in = &d->input[i];

    if (in->block_time == 0)
        return false;
    if (time - in->block_start < in->block_time)
        return true;
    in->block_time = 0;
    in->unscheduled = false;
    return false;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/*
 * The first input of FROM's queue that may run, for FROM itself or (AWAY) elsewhere; with LAST the
 * last ones of the array are looked at first. NONE and *ANY_BLOCKED where there is none.
 */
uint32_t dyn_pop(struct trod_dynamic *d, struct core *from, bool away, bool last, bool *any_blocked)
{
    uint32_t *held = d->scratch, *stay = d->scratch + d->n;
    uint32_t n_held = 0, n_stay = 0, found = NONE;
    const uint64_t time = dyn_now(d, from);

    while (from->n && found == NONE) {
        const uint32_t i = dyn_take(d, from, last ? from->n - 1 : 0);

        if (blocked(d, i, time))
            held[n_held++] = i;
        else if (away && !d->starting && time - d->input[i].last_run <= migration_threshold)
            stay[n_stay++] = i;
        else
            found = i;
    }
    for (uint32_t k = 0; k < n_stay; k++)
        put(d, from, stay[k]);
    if (n_held)
        qsort(held, n_held, sizeof *held, by_number);
    for (uint32_t k = 0; k < n_held; k++)
        dyn_enqueue(d, from, held[k]);
    from->settled = found == NONE && n_stay == 0;
    *any_blocked = n_held > 0;
    return found;
}

/* Queues of nearly the same length; C asks for it. */
void dyn_rebalance(struct trod_dynamic *d, const struct core *by)
{
    const uint32_t most = (d->live + d->cores - 1) / d->cores;
    uint32_t *moving = d->scratch + 2 * (size_t)d->n;
    uint32_t n = 0;
    bool any;

    by->counts->rebalances++;
    for (unsigned pass = 0; pass == 0 || n; pass++)
        for (uint32_t i = 0; i < d->cores; i++) {
            struct core *c = &d->core[i];

            while (pass == 0 && c->n > most) {
                const uint32_t in = dyn_pop(d, c, true, true, &any);

                if (in == NONE)
                    break;
                moving[n++] = in;
            }
            while (n && (c->n < most || pass > 1))
                dyn_enqueue(d, c, moving[--n]);
        }
}
