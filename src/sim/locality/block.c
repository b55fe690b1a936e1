/*
 * block.c - a block of references to a stack (stack.h).
 *
 * After filter.h and looks.c a part of the references is looked up. These look-ups are done one
 * after the other, so that their memory can be prefetched.
 */
#include "core/wide.h"
#include "filter.h"
#include "window.h"

#include <string.h>

/* If the table has more slots than this, the bits are prefetched, too. */
enum { NEAR_SLOTS = 1 << 15 };
/* Looks between loading ahead of the table, and of the bits, and what needs it. */
enum { TABLE_AHEAD = TROD_STACK_AHEAD, BITS_AHEAD = TABLE_AHEAD / 2 };
/* No position: there is none after it. */
#define NO_PIN UINT32_MAX

/* ---- looks */

/* Rare cases, compiled for each kind of processor; the usual case stays in registers. */
struct seldom {
    uint32_t (*take_far)(struct trod_bits *bits, uint32_t p);
    struct trod_window (*turn)(struct trod_window w, struct trod_bits *bits, uint64_t *word);
};

struct at_work {
    struct trod_stack *s;
    struct trod_stack_block *b;
    struct trod_lines lines; /* a copy, but for what is in them */
    struct trod_window window;
    uint32_t distant;
    uint32_t *note;
    uint32_t c, second; /* where pinned lines are */
    const struct seldom *seldom;
};

/* Prefetch what the look-ups after number I will need: the table, then bits. */
TROD_HOT void fetch_ahead(const struct at_work *k, uint32_t i, const bool bits)
{
    const uint32_t *const home = k->b->home + i;
    uint32_t pos;

    __builtin_prefetch(&k->lines.at[home[TABLE_AHEAD]], 1);
    if (bits && (pos = k->lines.at[home[BITS_AHEAD]].pos) < TROD_LINE_PRUNED) {
        __builtin_prefetch(&k->s->bits.word[pos >> 6], 1);
        __builtin_prefetch(&k->s->bits.a[pos >> TROD_BITS_A], 1);
    }
}

/* Take the line at position POS out of the stack: returns how many are after it. */
TROD_HOT uint32_t take(struct at_work *k, uint32_t pos, const bool wide)
{
    const uint32_t relative = pos - k->window.base;

    if (__builtin_expect((int32_t)relative < 0, 0))
        return k->seldom->take_far(&k->s->bits, pos) + trod_window_sum(k->window.counts, wide) -
               trod_window_ahead(&k->window);
    return trod_window_take(&k->window, k->b->word, relative, wide);
}

/* Put the line of E on top. */
TROD_HOT void put(struct at_work *k, struct trod_line *e)
{
    e->pos = k->window.now++;
    if (__builtin_expect(trod_window_turns(&k->window), 0))
        k->window = k->seldom->turn(k->window, &k->s->bits, k->b->word);
}

/* Look number I, whose line comes to the top of the stack. *AT: its entry. Its distance. */
TROD_HOT uint32_t look_up(struct at_work *k, uint32_t i, struct trod_line **at, const bool wide)
{
    struct trod_stack_block *const b = k->b;
    const struct trod_stack_look *const l = &b->look[i];
    const uint64_t line = b->line[l->item];
    struct trod_line *const e = trod_lines_entry_from(&k->lines, line, b->home[i]);
    const uint32_t pos = e->pos;
    uint32_t d = TROD_DIST_COLD, distant = 0;

    *at = e;
    if (__builtin_expect(pos < TROD_LINE_PRUNED, 1)) {
        d = (uint32_t)(pos > k->c) + (uint32_t)(pos > k->second) + take(k, pos, wide);
        *k->note++ = trod_stack_note(d, b->class[l->item]);
        distant = d > k->distant;
    } else {
        trod_stack_cold(k->s, (size_t)(e - k->lines.at), line, b->class[l->item]);
    }
    put(k, e);
    trod_tally_note(&k->s->tally, e, l->notes + trod_tally_notes(0, distant));
    return d;
}

/* The line of E comes to the top of the stack. */
TROD_HOT void lift(struct at_work *k, struct trod_line *e, const bool wide)
{
    take(k, e->pos, wide);
    put(k, e);
}

/* All look-ups, where distances of single items are not wanted. BITS: they are prefetched. */
TROD_HOT void all_looks(struct at_work *k, const bool bits, const bool wide)
{
    const uint32_t n = k->b->n_looks;
    struct trod_line *e, *c = NULL, *second = NULL;

    for (uint32_t i = 0; i < n; i++) {
        unsigned then;

        fetch_ahead(k, i, bits);
        look_up(k, i, &e, wide);
        then = k->b->look[i].then;
        if (__builtin_expect(then == 0, 1))
            continue;
        if (then & TROD_STACK_PIN_C) {
            k->c = e->pos;
            c = e;
        }
        if (then & TROD_STACK_PIN_S) {
            k->second = e->pos;
            second = e;
        }
        if (then & TROD_STACK_LIFT_S) {
            lift(k, second, wide);
            k->second = NO_PIN;
        }
        if (then & TROD_STACK_LIFT_C) {
            lift(k, c, wide);
            k->c = NO_PIN;
        }
    }
}

/* All items, with the distance of each, and the touched parts of their lines. */
TROD_HOT void each_look(struct at_work *k, const struct trod_refs *refs, uint32_t *out,
                        const bool wide)
{
    struct trod_stack *const s = k->s;
    const struct trod_stack_block *const b = k->b;
    uint64_t *const touched = s->lines.touched;

    for (uint32_t j = 0; j < b->n_looks; j++) {
        struct trod_line *e;
        size_t slot;
        uint32_t d;

        fetch_ahead(k, j, true);
        d = look_up(k, j, &e, wide);
        slot = (size_t)(e - k->lines.at);
        if (touched && d != TROD_DIST_COLD && d >= s->opt.resident) {
            s->parts[__builtin_popcountll(touched[slot])]++;
            touched[slot] = 0;
        }
        for (uint32_t i = b->at[j]; touched && i < b->at[j + 1]; i++)
            touched[slot] |= refs->touched[i];
        for (uint32_t i = b->at[j]; out && i < b->at[j + 1]; i++)
            out[i] = i == b->at[j] ? d : 0;
    }
}

/* ---- blocks */

bool trod_stack_noted(struct trod_stack *s)
{
    const struct trod_stack_block *const b = s->block;
    const struct trod_dist *const h = &s->dist;
    struct trod_dist_chunk *const *chunk = h->chunk;
    size_t n_chunks = h->n_chunks;

    for (uint32_t i = 0; i < b->n_noted; i++) {
        const uint32_t d = b->noted[i] >> 2;
        const size_t c = d >> TROD_DIST_CHUNK_LOG;

        if (__builtin_expect(c >= n_chunks || !chunk[c], 0)) {
            if (!trod_dist_make(&s->dist, d))
                return false;
            chunk = h->chunk;
            n_chunks = h->n_chunks;
        }
        chunk[c]->n[d & (TROD_DIST_CHUNK - 1)][b->noted[i] & 3]++;
    }
    return true;
}

/* TOTAL references by class, as the settled ones, are a block: what it found is counted. */
static bool count_block(struct trod_stack *s, uint64_t total)
{
    struct trod_stack_block *const b = s->block;

    if (!trod_stack_noted(s))
        return false;
    b->settled[0] = total - b->kept;
    for (unsigned k = 0; k < TROD_REFS; k++) {
        s->refs[k] += total >> 16 * k & 0xffff;
        for (unsigned d = 0; d < TROD_STACK_SETTLED; d++) {
            const uint64_t n = b->settled[d] >> 16 * k & 0xffff;

            if (n && !trod_dist_count(&s->dist, d, k, n))
                return false;
        }
    }
    return true;
}

/* The items of a block of N references, which are returned by class. */
TROD_HOT uint64_t block(struct trod_stack *s, const struct trod_refs *refs, uint32_t n,
                        uint32_t *out, const struct seldom *seldom, const bool wide)
{
    struct trod_stack_block *const b = s->block;
    const bool each = out || s->lines.touched;
    struct at_work k = {.s = s,
                        .b = b,
                        .lines = s->lines,
                        .distant = s->opt.distant,
                        .note = b->noted,
                        .c = NO_PIN,
                        .second = NO_PIN,
                        .seldom = seldom};

    for (uint32_t i = 0; i < b->n_looks; i++)
        b->home[i] = (uint32_t)trod_lines_home(&k.lines, b->line[b->look[i].item]);
    for (uint32_t i = 0; i < TABLE_AHEAD; i++)
        b->home[b->n_looks + i] = b->home[0];
    k.window = trod_window_open(&s->bits, b->word);
    if (each)
        each_look(&k, refs, out, wide);
    else if (k.lines.size > NEAR_SLOTS)
        all_looks(&k, true, wide);
    else
        all_looks(&k, false, wide);
    trod_window_close(&k.window, &s->bits, b->word);
    b->n_noted = (uint32_t)(k.note - b->noted);
    return trod_stack_total(refs->class, n, wide);
}

TROD_APART static uint32_t take_far_portable(struct trod_bits *bits, uint32_t p)
{
    return trod_window_take_far(bits, p);
}

TROD_APART static struct trod_window turn(struct trod_window w, struct trod_bits *bits,
                                          uint64_t *word)
{
    return trod_window_turn(w, bits, word);
}

static uint64_t block_portable(struct trod_stack *s, const struct trod_refs *refs, uint32_t n,
                               uint32_t *out)
{
    static const struct seldom seldom = {take_far_portable, turn};

    return block(s, refs, n, out, &seldom, false);
}

#if TROD_AVX2
TROD_WIDE TROD_APART static uint32_t take_far_wide(struct trod_bits *bits, uint32_t p)
{
    return trod_window_take_far(bits, p);
}

TROD_WIDE static uint64_t block_wide(struct trod_stack *s, const struct trod_refs *refs, uint32_t n,
                                     uint32_t *out)
{
    static const struct seldom seldom = {take_far_wide, turn};

    return block(s, refs, n, out, &seldom, true);
}
#endif

/* The items of N references, to S's block. */
static void find_items(struct trod_stack *s, const struct trod_refs *refs, uint32_t n)
{
#if TROD_AVX2
    if (trod_widest_unless(s->opt.without))
        trod_stack_repeats_widest(s->block, refs, n);
    else if (trod_wide_unless(s->opt.without))
        trod_stack_repeats_wide(s->block, refs, n);
    else
#endif
        trod_stack_repeats(s->block, refs, n);
}

bool trod_stack_block(struct trod_stack *s, const struct trod_refs *refs, uint32_t n, uint32_t *out)
{
    find_items(s, refs, n);
    s->block->at[s->block->n] = (uint16_t)n;
    if (out || s->lines.touched)
        trod_stack_look_at_all(s);
    else
        trod_stack_choose(s);
    if (!trod_stack_reserve(s, s->block->n)) /* lines come to the top no more often */
        return false;
#if TROD_AVX2
    if (trod_wide_unless(s->opt.without))
        return count_block(s, block_wide(s, refs, n, out));
#endif
    return count_block(s, block_portable(s, refs, n, out));
}
