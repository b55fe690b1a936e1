/*
 * ticks.c - times of mixed units in one tick. Implements ticks.h.
 *
 * Batches whose times all count ticks, as almost all do, are followed as they are. Of others a view
 * is made that differs in its times.
 */
#include "callstack/callstack_int.h"

#include "core/wide.h"

#include <stdlib.h>
#include <string.h>

void trod_callstack_scales(struct trod_callstack *c, void (*fn)(void *ctx, unsigned power))
{
    c->scale = fn;
}

const struct trod_ticks *trod_callstack_ticks(const struct trod_callstack *c)
{
    return &c->ticks;
}

void trod_callstack_new_ticks(struct trod_callstack *c)
{
    c->ticks = (struct trod_ticks){.known = false};
}

const uint64_t *trod_callstack_times(const struct trod_callstack *c)
{
    return c->times;
}

static inline bool says(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return (b->have & b->has[i] & column) != 0;
}

/* Of a format whose rows say their units, one that does not has none. */
static uint8_t unit_of(const struct trod_batch *b, uint32_t i)
{
    if (b->have & TROD_COL_UNIT)
        return b->has[i] & TROD_COL_UNIT ? b->unit[i] : 0;
    return b->meta ? b->meta->unit : 0;
}

/* ---- one tick to the next */

static void scale_moment(struct trod_moment *at, unsigned power)
{
    at->time = trod_ticks_scale(at->time, power);
}

static void scale_saved(struct cs_saved *s, unsigned power)
{
    scale_moment(&s->last.at, power);
    scale_moment(&s->before.at, power);
}

static void scale_lane(struct cs_lane *l, unsigned power)
{
    l->time = trod_ticks_scale(l->time, power);
    scale_moment(&l->last.at, power);
    scale_moment(&l->before.at, power);
    for (uint32_t i = 0; i < l->n_contexts; i++) {
        struct cs_context *x = l->context[i];

        for (uint32_t k = 0; k < x->n; k++) {
            scale_moment(&x->frame[k].entry, power);
            scale_moment(&x->frame[k].site, power);
        }
        for (uint32_t k = 0; k < x->n_saved; k++)
            scale_saved(&x->saved[k], power);
        if (x->parked)
            scale_saved(&x->at, power);
    }
}

/* Ticks are 10^POWER from here on. */
static void refine(struct trod_callstack *c, int power)
{
    const unsigned by = (unsigned)(c->ticks.power - power);

    for (uint32_t i = 0; i < c->n_lanes; i++)
        if (c->lane[i])
            scale_lane(c->lane[i], by);
    c->ticks.power = power;
    c->scale(c->sink.ctx, by);
}

/* ---- batches */

/* Does one of rows [FROM, TO) of B have a time, but say no unit? */
TROD_HOT bool unsaid(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint32_t *const restrict has = b->has;
    uint32_t alone = 0;

    for (uint32_t i = from; i < to; i++)
        alone |= has[i] & ~(has[i] / (TROD_COL_UNIT / TROD_COL_TIME));
    return (alone & TROD_COL_TIME) != 0;
}

#if TROD_AVX2
TROD_WIDE static bool unsaid_wide(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return unsaid(b, from, to);
}
#endif

/* Are all times of rows [FROM, TO) of B ticks? No may mean that they may be. */
static bool all_ticks(const struct trod_callstack *c, const struct trod_batch *b, uint32_t from,
                      uint32_t to)
{
    const uint8_t unit = c->ticks.unit;

    if (trod_time_exponent(unit) != c->ticks.power)
        return false;
    if (!(b->have & TROD_COL_UNIT))
        return (b->meta ? b->meta->unit : 0) == unit;
    if (from < to && (b->unit[from] != unit ||
                      memcmp(b->unit + from, b->unit + from + 1, (size_t)(to - from - 1)) != 0))
        return false;
#if TROD_AVX2
    if (trod_wide())
        return !unsaid_wide(b, from, to);
#endif
    return !unsaid(b, from, to);
}

/* Learn what the times of rows [FROM, TO) of B count. Are they ticks? */
static bool survey(struct trod_callstack *c, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct trod_ticks *t = &c->ticks;
    int finest = INT8_MAX, coarsest = INT8_MIN;

    for (uint32_t i = from; i < to; i++) {
        const uint8_t unit = unit_of(b, i);
        int power;

        if (!says(b, i, TROD_COL_TIME))
            continue;
        if (!t->known)
            *t =
                (struct trod_ticks){.known = true, .unit = unit, .power = trod_time_exponent(unit)};
        power = trod_ticks_power(t, unit);
        t->mixed |= unit != t->unit;
        finest = power < finest ? power : finest;
        coarsest = power > coarsest ? power : coarsest;
    }
    if (finest < t->power && c->scale)
        refine(c, finest);
    return finest > coarsest || (finest == t->power && coarsest == t->power);
}

static uint64_t in_ticks(const struct trod_ticks *t, uint64_t time, uint8_t unit)
{
    const int power = trod_ticks_power(t, unit) - t->power;

    if (power == 0)
        return time;
    time = trod_time_scale(time, power);
    return time > TROD_LAST_TIME ? TROD_LAST_TIME : time;
}

int cs_ticks(struct trod_callstack *c, const struct trod_batch *b, uint32_t from, uint32_t to,
             struct trod_batch *view)
{
    *view = *b;
    c->times = b->time;
    if (!(b->have & TROD_COL_TIME) || (c->ticks.known && all_ticks(c, b, from, to)) ||
        survey(c, b, from, to))
        return TROD_OK;
    if (c->room < b->n) {
        free(c->scaled);
        c->room = 0;
        if (!(c->scaled = malloc(b->n * sizeof *c->scaled)))
            return TROD_ERR_NOMEM;
        c->room = b->n;
    }
    for (uint32_t i = from; i < to; i++)
        c->scaled[i] =
            says(b, i, TROD_COL_TIME) ? in_ticks(&c->ticks, b->time[i], unit_of(b, i)) : 0;
    c->times = view->time = c->scaled;
    return TROD_OK;
}
