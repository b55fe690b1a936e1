/*
 * streaks.c - making the streaks of a batch, and iterating over them.
 *
 * Implements trod/streak.h.
 */
#include "engine/streaks.h"

#include "core/wide.h"

#include <string.h>

static const uint32_t needs = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR;
static const uint32_t odd = TROD_F_SYNTHETIC | TROD_F_SKIPPED | TROD_F_NOFETCH | TROD_F_IFETCH;

/* ---- what rows have in common */

TROD_HOT struct engine_common common_of(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint32_t *const has = b->has, *const stream = b->stream, *const flags = b->flags;
    uint32_t all = b->have, any = 0, set = 0, every = UINT32_MAX, differ = 0;
    struct engine_common c = {.kernel = 0};

    for (uint32_t i = from; i < to; i++) {
        all &= has[i];
        any |= has[i];
    }
    any &= b->have;
    for (uint32_t i = from; any & TROD_COL_STREAM && i < to; i++)
        differ |= stream[i] ^ stream[from];
    c.all = all;
    c.any = any;
    c.one_stream = differ == 0 && !((all ^ any) & TROD_COL_STREAM);
    c.stream = all & TROD_COL_STREAM ? stream[from] + 1 : 0;
    if ((all & needs) != needs)
        return c;
    for (uint32_t i = from; i < to; i++) {
        set |= flags[i];
        every &= flags[i];
    }
    c.plain = c.one_stream && !(set & odd) && !((set ^ every) & TROD_F_KERNEL);
    c.kernel = set & TROD_F_KERNEL;
    return c;
}

#if TROD_AVX2
TROD_WIDE static struct engine_common common_wide(const struct trod_batch *b, uint32_t from,
                                                  uint32_t to)
{
    return common_of(b, from, to);
}
#endif

struct engine_common engine_common_of(const struct trod_batch *b, uint32_t from, uint32_t to)
{
#if TROD_AVX2
    if (trod_wide())
        return common_wide(b, from, to);
#endif
    return common_of(b, from, to);
}

/* ---- making them */

void engine_streaks_row(struct engine_streaks *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i];
    const uint32_t flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;

    if (b->kind[i] == TROD_REG)
        return;
    if ((said & needs) != needs || flags & odd) {
        engine_streaks_single(s, i);
        return;
    }
    if (b->kind[i] == TROD_INSTR)
        engine_streaks_turn(s, said & TROD_COL_STREAM ? b->stream[i] + 1 : 0,
                            flags & TROD_F_KERNEL);
    engine_streaks_plain_row(s, b, i);
}

void engine_streaks_make(struct trod_streaks *to, struct trod_batch *b)
{
    struct engine_streaks s;

    engine_streaks_begin(&s, to);
    for (uint32_t i = 0; i < b->n; i++)
        engine_streaks_row(&s, b, i);
    engine_streaks_close(&s);
    b->streaks = to;
}

/* ---- iterating over them */

void trod_streak_walk_begin(struct trod_streak_walk *w, const struct trod_batch *b, uint32_t from,
                            uint32_t to)
{
    const struct trod_streaks *s = b->streaks;
    uint32_t lo = 0, hi = s->n;

    w->b = b;
    w->from = from;
    w->to = to;
    while (from && lo < hi) { /* the first that ends after FROM */
        const uint32_t mid = lo + (hi - lo) / 2;

        if (s->at[mid].last < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    w->at = s->at + lo;
    w->end = s->at + s->n;
    while (to < b->n && w->end > w->at && w->end[-1].row >= to)
        w->end--;
}

/* The number of instructions in rows [FROM, TO). */
static uint32_t instructions(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    uint32_t n = 0;

    for (uint32_t i = from; i < to; i++)
        n += b->kind[i] == TROD_INSTR;
    return n;
}

const struct trod_streak *trod_streak_part(struct trod_streak_walk *w)
{
    const struct trod_batch *b = w->b;
    struct trod_streak *p = &w->part;

    *p = *w->at;
    if (p->row < w->from) {
        const uint32_t before = instructions(b, p->row, w->from);

        p->site += before;
        p->n -= before;
        for (p->row = w->from; b->kind[p->row] != TROD_INSTR;)
            p->row++;
    }
    if (p->last >= w->to) {
        p->n -= instructions(b, w->to, p->last + 1);
        for (p->last = w->to; p->n && b->kind[p->last - 1] != TROD_INSTR;)
            p->last--;
        p->last--;
    }
    return p->n ? p : NULL;
}

/* Index of the first access at ROW or after it. */
static uint32_t first_access(const struct trod_streaks *s, uint32_t row)
{
    uint32_t lo = 0, hi = s->n_accesses;

    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;

        if (s->access[mid] < row)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const uint16_t *trod_streak_accesses(const struct trod_batch *b, uint32_t from, uint32_t to,
                                     uint32_t *n)
{
    const struct trod_streaks *s = b->streaks;
    const uint32_t first = from ? first_access(s, from) : 0;

    *n = (to < b->n ? first_access(s, to) : s->n_accesses) - first;
    return s->access + first;
}
