/*
 * turns.c - instructions of cores that take turns, counted many at a time (schedule.h).
 *
 * Where cores come in the same order round after round, each running one thread, their rows are
 * counted core by core. The result is that of counting row after row.
 */
#include "analysis/schedule/schedule.h"

#include "trod/format.h"

#include <string.h>

enum { USER = 1, KERNEL = 3, STOP = 4 }; /* bit 0: an instruction; bit 1: of the kernel */

enum { MOST_TURNS = 64, BLOCK = 32, FEW = 64 };

/* What rows [FROM, TO) of B are, to KIND. STOP: more than an instruction or an access. */
static void classify(const struct trod_batch *b, uint32_t from, uint32_t to, uint8_t *kind)
{
    const uint8_t *row = b->kind;
    const uint32_t *flags = b->flags, *has = b->has;

    for (uint32_t i = from; i < to; i++) {
        const unsigned there = (row[i] == TROD_INSTR) & !(flags[i] & SCH_NOT_THERE);
        const unsigned kernel = there & ((flags[i] & TROD_F_KERNEL) != 0);
        const unsigned stop =
            (row[i] == TROD_MARKER) | (row[i] == TROD_THREAD) | !(has[i] & TROD_COL_CORE);

        kind[i] = (uint8_t)(stop ? STOP : there | kernel << 1);
    }
}

/* The first of T's rows from AT on that is more. */
static uint32_t next_stop(const struct sch_turns *t, uint32_t at)
{
    const uint8_t *p = at < t->to ? memchr(t->kind + at, STOP, t->to - at) : NULL;

    return p ? (uint32_t)(p - t->kind) : t->to;
}

void sch_turns_begin(struct sch_turns *t, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    classify(b, from, to, t->kind);
    t->to = to;
    t->stop = next_stop(t, from);
}

/* Rows behind AT and before END, of which each is of core and thread of that PERIOD before it. */
static uint32_t repeats(const struct trod_batch *b, uint32_t at, uint32_t end, uint32_t period)
{
    const uint16_t *core = b->core;
    const uint32_t *stream = b->stream;
    uint32_t i = at + period;

    while (i + BLOCK <= end && !memcmp(core + i, core + i - period, BLOCK * sizeof *core) &&
           !memcmp(stream + i, stream + i - period, BLOCK * sizeof *stream))
        i += BLOCK;
    while (i < end && core[i] == core[i - period] && stream[i] == stream[i - period])
        i++;
    return i;
}

/* Do the rows of C, every PERIOD-th from AT on, before END, change nothing but counters? */
static bool lane_fits(const struct sch_state *s, const struct sch_core *c, const uint8_t *kind,
                      uint32_t at, uint32_t end, uint32_t period)
{
    const uint64_t rows = (end - at + period - 1) / period;

    if (!sch_fits(s, c->steps + 1) || !sch_fits(s, c->steps + rows))
        return false;
    for (uint32_t i = at; !c->calm && i < end; i += period)
        if (kind[i] == USER)
            return false;
    return true;
}

/* Count them. Returns how many instructions there are. */
static uint64_t lane_count(struct sch_core *c, const uint8_t *kind, uint32_t at, uint32_t end,
                           uint32_t period)
{
    const uint64_t rows = (end - at + period - 1) / period;
    uint64_t n = 0, kernel = 0, behind = 0;

    for (uint32_t i = at; i < end; i += period) {
        n += kind[i] & 1;
        kernel += kind[i] >> 1;
    }
    for (uint64_t k = rows; n && !(kind[at + (k - 1) * period] & 1); k--)
        behind++;
    if (n)
        c->due = c->steps + rows - behind;
    c->steps += rows;
    c->more += n;
    c->kernel += kernel;
    return n;
}

/* Whole rounds from AT on, before END. Returns the first row that is left, AT where there are none.
 */
static uint32_t by_core(struct sch_state *s, const struct sch_turns *t, const struct trod_batch *b,
                        uint32_t at, uint32_t end)
{
    uint32_t period = 1, until = end;

    while (period <= MOST_TURNS && at + period < end && b->core[at + period] != b->core[at])
        period++;
    if (period > MOST_TURNS || at + 2 * period > end)
        return at;
    until = repeats(b, at, end, period);
    if (until < at + 2 * period)
        return at;
    s->round++;
    for (uint32_t k = at; k < at + period; k++) {
        struct sch_core *c = b->core[k] < s->n_ranked ? &s->core[b->core[k]] : NULL;

        if (!c || c->round == s->round || b->stream[k] != c->stream ||
            !lane_fits(s, c, t->kind, k, until, period))
            return at;
        c->round = s->round;
    }
    for (uint32_t k = at; k < at + period; k++) {
        const uint64_t n = lane_count(&s->core[b->core[k]], t->kind, k, until, period);

        s->instructions += n;
        s->position += n;
    }
    for (uint32_t k = until; k > at; k--)
        if (t->kind[k - 1] & 1) {
            s->last_core = b->core[k - 1];
            break;
        }
    return until;
}

/* The same row by row. */
static uint32_t by_row(struct sch_state *s, const struct sch_turns *t, const struct trod_batch *b,
                       uint32_t at, uint32_t end)
{
    for (; at < end && b->core[at] < s->n_ranked; at++) {
        struct sch_core *c = &s->core[b->core[at]];
        const unsigned kind = t->kind[at];

        if (kind & 1) {
            if (b->stream[at] != c->stream || (kind == USER && !c->calm) ||
                !sch_fits(s, c->steps + 1))
                break;
            c->due = c->steps + 1;
            c->kernel += kind == KERNEL;
            c->more++;
            s->instructions++;
            s->position++;
            s->last_core = b->core[at];
        }
        c->steps++;
    }
    return at;
}

uint32_t sch_turns(struct sch_state *s, struct sch_turns *t, const struct trod_batch *b,
                   uint32_t at)
{
    if (t->stop < at)
        t->stop = next_stop(t, at);
    while (at < t->stop) {
        const uint32_t next = by_core(s, t, b, at, t->stop);
        const uint32_t end = t->stop - at < FEW ? t->stop : at + FEW;

        if (next > at) {
            at = next;
            continue;
        }
        at = by_row(s, t, b, at, end);
        if (at < end)
            break;
    }
    return at;
}
