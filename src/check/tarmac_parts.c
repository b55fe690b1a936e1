/*
 * tarmac_parts.c - parts of a Tarmac or Trace Matcher file: what is thought of a stream, and what
 * it is.
 *
 * Implements seam and join (parts.h). A few hundred rows on a stream is all that came before has
 * left: the time, the last instruction and its accesses, the mode. What may come from far before
 * are times in units that are seldom met, exceptions at all, pages (tarmac_memory.c), and cache
 * lines and TLB entries, whose rules take all rows in one go.
 */
#include "check/tarmac.h"

#include "core/times.h"

/* Are the facts that rules ask of A and B the same? */
static bool same_word(const struct chk_word *a, const struct chk_word *b)
{
    return a->valid == b->valid && a->branch == b->branch && a->flags == b->flags &&
           (!(a->flags & TROD_INSN_TARGET) || a->target == b->target) && a->loads == b->loads &&
           a->stores == b->stores && a->read_size == b->read_size && a->write_size == b->write_size;
}

static bool same_order(const struct tarmac *a, const struct tarmac *b)
{
    return a->index_known == b->index_known && (!a->index_known || a->index == b->index);
}

/*
 * Times: those of units that were met on the way to the seam are the same. Of units that were not
 * (a stream may seldom use one) the first one behind the seam is not before the last one that came
 * before the part.
 */
static bool times_go_on(const struct tarmac_time *before, const struct tarmac_time *seam,
                        const struct tarmac_time *behind)
{
    for (unsigned k = 0; k < TARMAC_TIMES; k++) {
        const struct tarmac_time *a = &before[k], *s = &seam[k], *f = &behind[k];

        if (s->known ? !a->known || a->last != s->last || a->unit != s->unit
                     : a->known && f->known &&
                           trod_time_before(f->first, f->first_unit, a->last, a->unit))
            return false;
    }
    return true;
}

/* BEHIND, the times behind a part, gets those that are known from BEFORE alone. */
static void add_times(struct tarmac_time *behind, const struct tarmac_time *before)
{
    for (unsigned k = 0; k < TARMAC_TIMES; k++) {
        if (!before[k].known)
            continue;
        if (!behind[k].known)
            behind[k] = before[k];
        behind[k].first = before[k].first;
        behind[k].first_unit = before[k].first_unit;
    }
}

static bool same_flow(const struct tarmac *a, const struct tarmac *b)
{
    return a->insn_known == b->insn_known && same_word(&a->insn, &b->insn) && a->pc == b->pc &&
           a->size == b->size && a->skipped == b->skipped && a->slot_known == b->slot_known &&
           (!a->slot_known || same_word(&a->slot, &b->slot)) && a->event == b->event &&
           a->unsure == b->unsure && a->read == b->read && a->written == b->written;
}

void chk_tarmac_seam(void *seam, void *st)
{
    struct tarmac *t = st, *s = seam;

    *s = *t;
    chk_tarmac_memory_seam(s, t);
    t->rises = false;
}

bool chk_tarmac_join(struct chk *c, void *into, const void *seam, void *from)
{
    const struct tarmac *s = seam;
    struct tarmac *t = into, *f = from;
    struct tarmac behind;

    (void)c;
    if (!same_order(t, s) || !times_go_on(t->times, s->times, f->times) || !same_flow(t, s) ||
        t->mode != s->mode || t->new_mode != s->new_mode || (t->events && !s->events && f->rises) ||
        !chk_tarmac_memory_join(t, f))
        return false;
    behind = *f;
    add_times(behind.times, t->times);
    behind.events = t->events || f->events;
    behind.rises = false;
    behind.generation = t->generation;
    behind.pages = t->pages;
    behind.met = NULL;
    behind.lines = t->lines;
    behind.n_lines = t->n_lines;
    behind.cap_lines = t->cap_lines;
    *t = behind;
    return true;
}
