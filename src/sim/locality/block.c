/*
 * block.c - a block of references to a stack (stack.h).
 *
 * After filter.h many lines that come back need no look-up. Where C comes back after each other
 * line (C A C B C A ...), as the line of a loop's instructions does, its distance is 1: it is
 * pinned, that is, it keeps its place in the stack until that ends, and counts as after all lines
 * referenced meanwhile. Among the other lines the same may happen again (C S C A C S C B ...: the
 * distance of S is 2). Rounds of three or four lines have distances 2 or 3. The remaining look-ups
 * are done one after the other, so that their memory can be prefetched.
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

/* What follows a look, in that order. */
enum { PIN_C = 1, PIN_S = 2, LIFT_S = 4, LIFT_C = 8 };

/* ---- which looks there are */

struct looks {
    struct trod_stack_block *b;
    uint32_t n;
    uint64_t settled[TROD_STACK_SETTLED];
    uint32_t distant;
};

/* Is item J like item J - BY: the same line, the same class? */
static inline bool again(const struct looks *k, uint32_t j, uint32_t by)
{
    const struct trod_stack_block *const b = k->b;

    return j < b->n && b->line[j] == b->line[j - by] && b->class[j] == b->class[j - by];
}

/* References that items [J, TO) stand for. */
static inline uint32_t length(const struct looks *k, uint32_t j, uint32_t to)
{
    return (uint32_t)k->b->at[to] - k->b->at[j];
}

/* Item J needs a look. */
static inline struct trod_stack_look *look(struct looks *k, uint32_t j)
{
    struct trod_stack_look *const l = &k->b->look[k->n++];

    *l = (struct trod_stack_look){.item = (uint16_t)j, .refs = (uint16_t)length(k, j, j + 1)};
    return l;
}

/* N items like J, with REFS references to the line of L, need no look-up: their distance is D. */
static inline void settle(struct looks *k, struct trod_stack_look *l, uint32_t j, const unsigned d,
                          uint32_t n, uint32_t refs)
{
    k->settled[d] += n * trod_stack_unit(k->b->class[j]);
    l->refs = (uint16_t)(l->refs + refs);
    l->distant = (uint16_t)(l->distant + (d > k->distant ? n : 0));
}

/* Items J and J + 2 are C. Are J + 4 and J + 6, and is J + 5 S as J + 1 is, but not J + 3? */
static inline bool is_twice(const struct looks *k, uint32_t j)
{
    return again(k, j + 6, 2) && again(k, j + 4, 2) && again(k, j + 5, 4) &&
           k->b->line[j + 3] != k->b->line[j + 1];
}

/*
 * S is item J + 1, with look *L, which becomes the last one; *OTHERS more references are not to C.
 * Returns the last C before which all is done.
 */
static uint32_t alternate_twice(struct looks *k, uint32_t j, struct trod_stack_look **l,
                                uint32_t *others)
{
    struct trod_stack_look *const s = *l;
    const uint32_t first = j;
    uint32_t own = 0, more = 0;

    s->then |= PIN_S;
    do {
        const uint32_t refs = length(k, j + 3, j + 4);

        if (j > first && again(k, j + 3, 4))
            settle(k, *l, j + 3, 2, 1, refs);
        else
            *l = look(k, j + 3);
        more += refs;
        own += length(k, j + 5, j + 6);
        j += 4;
    } while (is_twice(k, j));
    settle(k, s, first + 1, 2, (j - first) / 4, own);
    (*l)->then |= LIFT_S;
    *others += own + more;
    return j;
}

/* Item J, which is C, comes back as item J + 2. Returns the next item to handle. */
static uint32_t alternate(struct looks *k, uint32_t j)
{
    struct trod_stack_look *const c = look(k, j), *l = c;
    const uint32_t first = j;
    uint32_t others = 0;

    c->then = PIN_C;
    do {
        const uint32_t refs = length(k, j + 1, j + 2);

        others += refs;
        if (j > first && again(k, j + 1, 2)) {
            settle(k, l, j + 1, 1, 1, refs);
        } else {
            l = look(k, j + 1);
            if (is_twice(k, j)) {
                struct trod_stack_look *s = l;

                j = alternate_twice(k, j, &l, &others);
                l = s; /* it is the one before the last C */
            }
        }
        j += 2;
    } while (again(k, j + 2, 2));
    settle(k, c, first, 1, (j - first) / 2, length(k, first + 1, j + 1) - others);
    k->b->look[k->n - 1].then |= LIFT_C;
    return j + 1;
}

/* Are the LINES items from J on all as LINES before? */
static inline bool is_round(const struct looks *k, uint32_t j, const uint32_t lines)
{
    return again(k, j + lines - 1, lines) && again(k, j, lines) && again(k, j + 1, lines) &&
           (lines < 4 || again(k, j + 2, lines));
}

/* Rounds of LINES different lines, which are three or four, from item J on. */
static inline uint32_t rounds(struct looks *k, uint32_t j, const uint32_t lines)
{
    const uint32_t first = j;
    struct trod_stack_look *const l = &k->b->look[k->n];
    uint32_t refs[4] = {0};

    for (uint32_t i = 0; i < lines; i++)
        look(k, j + i);
    do {
        j += lines;
        refs[0] += length(k, j, j + 1);
        refs[1] += length(k, j + 1, j + 2);
        refs[2] += length(k, j + 2, j + 3);
        if (lines > 3)
            refs[3] += length(k, j + 3, j + 4);
    } while (is_round(k, j + lines, lines));
    for (uint32_t i = 0; i < lines; i++)
        settle(k, &l[i], first + i, lines - 1, (j - first) / lines, refs[i]);
    return j + lines;
}

/* The look-ups that the items of S's block need, where distances of single items are not wanted. */
static void choose_looks(struct trod_stack *s)
{
    struct trod_stack_block *const b = s->block;
    struct looks k = {.b = b, .distant = s->opt.distant};

    for (uint32_t j = 0; j < b->n;) {
        if (again(&k, j + 2, 2))
            j = alternate(&k, j);
        else if (is_round(&k, j + 3, 3))
            j = rounds(&k, j, 3);
        else if (is_round(&k, j + 4, 4) && b->line[j] != b->line[j + 2] &&
                 b->line[j + 1] != b->line[j + 3])
            j = rounds(&k, j, 4);
        else
            look(&k, j++);
    }
    b->n_looks = k.n;
    memcpy(b->settled, k.settled, sizeof b->settled);
}

/* All items need a look. */
static void look_at_all(struct trod_stack *s)
{
    struct trod_stack_block *const b = s->block;
    struct looks k = {.b = b};

    for (uint32_t j = 0; j < b->n; j++)
        look(&k, j);
    b->n_looks = k.n;
    memset(b->settled, 0, sizeof b->settled);
}

/* ---- looks */

/* Rare cases, compiled for each kind of processor; the usual case stays in registers. */
struct seldom {
    uint32_t (*take_far)(struct trod_bits *bits, uint32_t p);
    struct trod_window (*slide)(struct trod_window w, struct trod_bits *bits, uint64_t *word);
};

struct at_work {
    struct trod_stack *s;
    struct trod_stack_block *b;
    struct trod_lines lines; /* a copy, but for what is in them */
    struct trod_window window;
    uint32_t distant, n_noted;
    uint32_t c, second; /* where pinned lines are */
    const struct seldom *seldom;
};

/* Prefetch what the look-ups after number I will need: table and counters, then bits. */
TROD_HOT void fetch_ahead(const struct at_work *k, uint32_t i, const bool bits)
{
    const uint32_t *const home = k->b->home + i;
    uint32_t pos;

    __builtin_prefetch(&k->lines.at[home[TABLE_AHEAD]], 1);
    if (k->lines.count)
        __builtin_prefetch(&k->lines.count[home[TABLE_AHEAD]], 1);
    if (bits && (pos = k->lines.at[home[BITS_AHEAD]].pos) < TROD_LINE_PRUNED) {
        __builtin_prefetch(&k->s->bits.word[pos >> 6], 1);
        __builtin_prefetch(&k->s->bits.a[pos >> TROD_BITS_A], 1);
    }
}

/* Take the line of E out of the stack: returns how many are after it. */
TROD_HOT uint32_t take(struct at_work *k, const struct trod_line *e, const bool wide)
{
    if (__builtin_expect(e->pos < k->window.base, 0))
        return k->seldom->take_far(&k->s->bits, e->pos) + trod_window_sum(k->window.counts, wide);
    return trod_window_take(&k->window, k->b->word, e->pos, wide);
}

/* Put the line of E on top. */
TROD_HOT void put(struct at_work *k, struct trod_line *e)
{
    if (__builtin_expect(trod_window_full(&k->window), 0))
        k->window = k->seldom->slide(k->window, &k->s->bits, k->b->word);
    e->pos = trod_window_put(&k->window, k->b->word);
}

/* Look number I, whose line comes to the top of the stack. *SLOT: that of it. Its distance. */
TROD_HOT uint32_t look_up(struct at_work *k, uint32_t i, size_t *slot, const bool wide)
{
    struct trod_stack_block *const b = k->b;
    const struct trod_stack_look *const l = &b->look[i];
    const uint64_t line = b->line[l->item];
    struct trod_line *e;
    uint32_t d = TROD_DIST_COLD, distant = l->distant;

    *slot = trod_lines_slot_from(&k->lines, line, b->home[i]);
    e = &k->lines.at[*slot];
    if (__builtin_expect(e->pos < TROD_LINE_PRUNED, 1)) {
        d = (uint32_t)(e->pos > k->c) + (uint32_t)(e->pos > k->second) + take(k, e, wide);
        b->noted[k->n_noted++] = trod_stack_note(d, b->class[l->item]);
        distant += d > k->distant;
    } else {
        trod_stack_cold(k->s, *slot, line, b->class[l->item]);
    }
    put(k, e);
    if (k->lines.count) {
        k->lines.count[*slot].refs += l->refs;
        k->lines.count[*slot].distant += distant;
    }
    return d;
}

/* The line in SLOT comes to the top of the stack. */
TROD_HOT void lift(struct at_work *k, size_t slot, const bool wide)
{
    struct trod_line *const e = &k->lines.at[slot];

    take(k, e, wide);
    put(k, e);
}

/* All look-ups, where distances of single items are not wanted. BITS: they are prefetched. */
TROD_HOT void all_looks(struct at_work *k, const bool bits, const bool wide)
{
    const uint32_t n = k->b->n_looks;
    size_t slot, c = 0, second = 0;

    for (uint32_t i = 0; i < n; i++) {
        const unsigned then = k->b->look[i].then;

        fetch_ahead(k, i, bits);
        look_up(k, i, &slot, wide);
        if (__builtin_expect(then == 0, 1))
            continue;
        if (then & PIN_C) {
            k->c = k->window.now - 1;
            c = slot;
        }
        if (then & PIN_S) {
            k->second = k->window.now - 1;
            second = slot;
        }
        if (then & LIFT_S) {
            lift(k, second, wide);
            k->second = NO_PIN;
        }
        if (then & LIFT_C) {
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
        size_t slot;
        uint32_t d;

        fetch_ahead(k, j, true);
        d = look_up(k, j, &slot, wide);
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

    for (uint32_t i = 0; i < b->n_noted; i++)
        if (!trod_dist_count(&s->dist, b->noted[i] >> 2, b->noted[i] & 3, 1))
            return false;
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
                        .c = NO_PIN,
                        .second = NO_PIN,
                        .seldom = seldom};

    b->at[b->n] = (uint16_t)n;
    if (each)
        look_at_all(s);
    else
        choose_looks(s);
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
    b->n_noted = k.n_noted;
    return trod_stack_total(refs->class, n, wide);
}

TROD_APART static uint32_t take_far_portable(struct trod_bits *bits, uint32_t p)
{
    return trod_window_take_far(bits, p);
}

TROD_APART static struct trod_window slide(struct trod_window w, struct trod_bits *bits,
                                           uint64_t *word)
{
    return trod_window_slide(w, bits, word);
}

static uint64_t block_portable(struct trod_stack *s, const struct trod_refs *refs, uint32_t n,
                               uint32_t *out)
{
    static const struct seldom seldom = {take_far_portable, slide};

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
    static const struct seldom seldom = {take_far_wide, slide};

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
    if (!trod_stack_reserve(s, s->block->n)) /* lines come to the top no more often */
        return false;
#if TROD_AVX2
    if (trod_wide_unless(s->opt.without))
        return count_block(s, block_wide(s, refs, n, out));
#endif
    return count_block(s, block_portable(s, refs, n, out));
}
