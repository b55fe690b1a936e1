/*
 * tarmac_parts.c - parts of a Tarmac or Trace Matcher file: what is thought of a stream, and what
 * it is.
 *
 * Implements seam and join (parts.h). A few hundred rows on a stream is all that came before has
 * left: the time, the last instruction and its accesses, the mode. What may come from far before
 * are exceptions at all, pages (tarmac_memory.c), and cache lines and TLB entries, whose rules take
 * all rows in one go.
 */
#include "check/tarmac.h"

/* Are the facts that rules ask of A and B the same? */
static bool same_word(const struct chk_word *a, const struct chk_word *b)
{
    return a->valid == b->valid && a->branch == b->branch && a->flags == b->flags &&
           (!(a->flags & TROD_INSN_TARGET) || a->target == b->target) && a->loads == b->loads &&
           a->stores == b->stores && a->read_size == b->read_size && a->write_size == b->write_size;
}

static bool same_order(const struct tarmac *a, const struct tarmac *b)
{
    return a->time_known == b->time_known &&
           (!a->time_known || (a->time == b->time && a->unit == b->unit)) &&
           a->index_known == b->index_known && (!a->index_known || a->index == b->index);
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
    if (!same_order(t, s) || !same_flow(t, s) || t->mode != s->mode || t->new_mode != s->new_mode ||
        (t->events && !s->events && f->rises) || !chk_tarmac_memory_join(t, f))
        return false;
    behind = *f;
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
