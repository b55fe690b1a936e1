/*
 * looks.c - which references of a block are looked up (filter.h).
 *
 * After filter.h many lines that come back need no look-up. Where C comes back after each other
 * line (C A C B C A ...), as the line of a loop's instructions does, its distance is 1: it is
 * pinned, that is, it keeps its place in the stack until that ends, and counts as after all lines
 * referenced meanwhile. Among the other lines the same may happen again (C S C A C S C B ...: the
 * distance of S is 2). Rounds of three or four lines have distances 2 or 3.
 *
 * With AVX2 or AVX-512 all items are compared with those behind them at first, and what is found
 * is looked at some tens of items at a time.
 */
#include "core/wide.h"
#include "filter.h"

#include <string.h>

struct looks {
    struct trod_stack_block *b;
    uint32_t n;
    uint64_t settled[TROD_STACK_SETTLED];
    uint32_t distant;
    bool marked; /* which items come back is in the block: mark_wide, for little-endian ones */
};

/* Is item J + BY like item J: the same line, the same class? */
TROD_HOT bool again(const struct looks *k, uint32_t j, uint32_t by)
{
    const struct trod_stack_block *const b = k->b;

    return j + by < b->n && b->line[j + by] == b->line[j] && b->class[j + by] == b->class[j];
}

/* Bits of items from J on, at least MARKS: of SAME, which is one of TROD_STACK_SAME_2 and so on. */
enum { MARKS = 57 };
TROD_HOT uint64_t marks(const struct looks *k, uint32_t j, const unsigned same)
{
    const uint8_t *const of = (const uint8_t *)k->b->same[same];
    uint64_t v;

    memcpy(&v, of + j / 8, sizeof v);
    return v >> j % 8;
}

/* Are all N items from J on the same as those BY behind them? */
TROD_HOT bool all_again(const struct looks *k, uint32_t j, const uint32_t by, const uint32_t n)
{
    if (k->marked)
        return !(~marks(k, j, TROD_STACK_SAME_2 + by - 2) & ((UINT64_C(1) << n) - 1));
    for (uint32_t i = n; i-- > 0;)
        if (!again(k, j + i, by))
            return false;
    return true;
}

/* References that items [J, TO) stand for. */
TROD_HOT uint32_t length(const struct looks *k, uint32_t j, uint32_t to)
{
    return (uint32_t)k->b->at[to] - k->b->at[j];
}

/* Item J, of REFS references, needs a look. */
TROD_HOT struct trod_stack_look *put_look(struct looks *k, uint32_t j, uint32_t refs)
{
    struct trod_stack_look *const l = &k->b->look[k->n++];

    *l = (struct trod_stack_look){.item = (uint16_t)j, .notes = refs};
    return l;
}

TROD_HOT struct trod_stack_look *look(struct looks *k, uint32_t j)
{
    return put_look(k, j, length(k, j, j + 1));
}

/* N items like J, with REFS references to the line of L, need no look-up: their distance is D. */
TROD_HOT void settle(struct looks *k, struct trod_stack_look *l, uint32_t j, const unsigned d,
                     uint32_t n, uint32_t refs)
{
    k->settled[d] += n * trod_stack_unit(k->b->class[j]);
    l->notes += trod_tally_notes(refs, d > k->distant ? n : 0);
}

/* Items J and J + 2 are C. Are J + 4 and J + 6, and is J + 5 S as J + 1 is, but not J + 3? */
TROD_HOT bool is_twice(const struct looks *k, uint32_t j)
{
    return all_again(k, j + 4, 2, 1) && all_again(k, j + 2, 2, 1) && all_again(k, j + 1, 4, 1) &&
           k->b->line[j + 3] != k->b->line[j + 1];
}

/* Lengths of items, four numbers of 16 bits: from J on. */
TROD_HOT uint64_t lengths(const struct looks *k, uint32_t j)
{
    uint64_t from, to;

    memcpy(&from, k->b->at + j, sizeof from);
    memcpy(&to, k->b->at + j + 1, sizeof to);
    return to - from; /* none of them is negative */
}

/* How many of items J, J + 4, J + 8, ... are C of is_twice before the first that is not. */
enum { TWICE = MARKS / 4 };
TROD_HOT uint32_t twice_marked(const struct looks *k, uint32_t j)
{
    const uint64_t two = marks(k, j, TROD_STACK_SAME_2), four = marks(k, j, TROD_STACK_SAME_4);
    const uint64_t line = marks(k, j, TROD_STACK_LINE_2);
    const uint64_t not = ~(two >> 2 & two >> 4 & four >> 1 & ~(line >> 1));
    const uint64_t looked = not &UINT64_C(0x0011111111111111);

    return looked ? (uint32_t)__builtin_ctzll(looked) / 4 : TWICE;
}

/* What alternate_twice is about. */
struct twice {
    struct trod_stack_look *l; /* of the last item that is not C or S */
    uint32_t own, more;        /* references to S and to the others */
};

/* All that are twice from J on, at least one. Returns the last C before which all is done. */
TROD_HOT uint32_t pass_twice_marked(struct looks *k, uint32_t j, struct twice *t)
{
    bool same = false; /* as the last item that is not C or S */
    uint64_t sums = 0;

    for (uint32_t n; (n = twice_marked(k, j)) > 0;)
        for (uint64_t next = marks(k, j + 3, TROD_STACK_SAME_4); n > 0; n--, j += 4, next >>= 4) {
            const uint64_t each = lengths(k, j + 3);

            sums += each;
            if (same)
                settle(k, t->l, j + 3, 2, 1, each & 0xffff);
            else
                t->l = put_look(k, j + 3, each & 0xffff);
            same = next & 1;
        }
    t->more = sums & 0xffff;
    t->own = sums >> 32 & 0xffff;
    return j;
}

TROD_HOT uint32_t pass_twice(struct looks *k, uint32_t j, struct twice *t)
{
    const uint32_t first = j;

    do {
        const uint32_t refs = length(k, j + 3, j + 4);

        if (j > first && again(k, j - 1, 4))
            settle(k, t->l, j + 3, 2, 1, refs);
        else
            t->l = put_look(k, j + 3, refs);
        t->more += refs;
        t->own += length(k, j + 5, j + 6);
        j += 4;
    } while (is_twice(k, j));
    return j;
}

/*
 * S is item J + 1, with look *L, which becomes the last one; *OTHERS more references are not to C.
 * Returns the last C before which all is done.
 */
TROD_HOT uint32_t alternate_twice(struct looks *k, uint32_t j, struct trod_stack_look **l,
                                  uint32_t *others)
{
    struct trod_stack_look *const s = *l;
    struct twice t = {s, 0, 0};
    const uint32_t end = k->marked ? pass_twice_marked(k, j, &t) : pass_twice(k, j, &t);

    s->then |= TROD_STACK_PIN_S;
    settle(k, s, j + 1, 2, (end - j) / 4, t.own);
    t.l->then |= TROD_STACK_LIFT_S;
    *l = t.l;
    *others += t.own + t.more;
    return end;
}

/* Item J, which is C, comes back as item J + 2. Returns the next item to handle. */
TROD_HOT uint32_t alternate(struct looks *k, uint32_t j)
{
    struct trod_stack_look *const c = look(k, j), *l = c;
    const uint32_t first = j;
    uint32_t others = 0;

    c->then = TROD_STACK_PIN_C;
    do {
        const uint32_t refs = length(k, j + 1, j + 2);

        others += refs;
        if (j > first && all_again(k, j - 1, 2, 1)) {
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
    } while (all_again(k, j, 2, 1));
    settle(k, c, first, 1, (j - first) / 2, length(k, first + 1, j + 1) - others);
    k->b->look[k->n - 1].then |= TROD_STACK_LIFT_C;
    return j + 1;
}

/* Are the LINES items from J on the same as LINES behind them? */
TROD_HOT bool is_round(const struct looks *k, uint32_t j, const uint32_t lines)
{
    return all_again(k, j, lines, lines);
}

/* All rounds of LINES lines behind that from J on, with REFS to each. Returns where they end. */
TROD_HOT uint32_t pass_rounds_marked(const struct looks *k, uint32_t j, const uint32_t lines,
                                     uint32_t *refs)
{
    uint64_t sums = 0;

    for (uint32_t n = MARKS / lines; n == MARKS / lines;) {
        const uint64_t not = ~marks(k, j, TROD_STACK_SAME_2 + lines - 2);
        const uint32_t same = not ? (uint32_t)__builtin_ctzll(not ) : 64;

        n = same < MARKS ? same / lines : MARKS / lines;
        for (uint32_t i = 0; i < n; i++) {
            j += lines;
            sums += lengths(k, j);
        }
    }
    for (uint32_t i = 0; i < lines; i++)
        refs[i] = sums >> 16 * i & 0xffff;
    return j + lines;
}

TROD_HOT uint32_t pass_rounds(const struct looks *k, uint32_t j, const uint32_t lines,
                              uint32_t *refs)
{
    do {
        j += lines;
        for (uint32_t i = 0; i < lines; i++)
            refs[i] += length(k, j + i, j + i + 1);
    } while (is_round(k, j, lines));
    return j + lines;
}

/* Rounds of LINES different lines, which are three or four, from item J on, at least two. */
TROD_HOT uint32_t rounds(struct looks *k, uint32_t j, const uint32_t lines)
{
    struct trod_stack_look *const l = &k->b->look[k->n];
    uint32_t refs[4] = {0}, end;

    for (uint32_t i = 0; i < lines; i++)
        look(k, j + i);
    end = k->marked ? pass_rounds_marked(k, j, lines, refs) : pass_rounds(k, j, lines, refs);
    for (uint32_t i = 0; i < lines; i++)
        settle(k, &l[i], j + i, lines - 1, (end - j) / lines - 1, refs[i]);
    return end;
}

/* The look-ups that the items of S's block need, where distances of single items are not wanted. */
TROD_HOT void choose_looks(struct trod_stack *s, const bool marked)
{
    struct trod_stack_block *const b = s->block;
    struct looks k = {.b = b, .distant = s->opt.distant, .marked = marked};

    for (uint32_t j = 0; j < b->n;) {
        if (all_again(&k, j, 2, 1))
            j = alternate(&k, j);
        else if (is_round(&k, j, 3))
            j = rounds(&k, j, 3);
        else if (is_round(&k, j, 4) && b->line[j] != b->line[j + 2] &&
                 b->line[j + 1] != b->line[j + 3])
            j = rounds(&k, j, 4);
        else
            look(&k, j++);
    }
    b->n_looks = k.n;
    memcpy(b->settled, k.settled, sizeof b->settled);
}

static void choose_portable(struct trod_stack *s)
{
    choose_looks(s, false);
}

#if TROD_AVX2
/* Nothing is behind the last item of B to come back. */
static void end_marks(struct trod_stack_block *b)
{
    static const uint8_t by[TROD_STACK_SAMES] = {2, 3, 4, 2};

    for (unsigned k = 0; k < TROD_STACK_SAMES; k++) {
        uint32_t *const same = b->same[k];
        const uint32_t n = b->n > by[k] ? b->n - by[k] : 0, i = n / TROD_STACK_WORD;

        same[i] &= (UINT32_C(1) << n % TROD_STACK_WORD) - 1;
        memset(same + i + 1, 0, 3 * sizeof *same);
    }
}

/* Which lines of TROD_STACK_WORD items from J on are the same as those BY behind them? */
TROD_WIDE static inline uint32_t same_lines(const struct trod_stack_block *b, uint32_t j,
                                            uint32_t by)
{
    uint32_t same = 0;

    for (uint32_t i = 0; i < TROD_STACK_WORD; i += TROD_PACK_LANES) {
        const __m256i line = trod_pack_load(b->line + j + i);
        const __m256i later = trod_pack_load(b->line + j + i + by);

        same |= (uint32_t)trod_pack_mask(_mm256_cmpeq_epi64(line, later)) << i;
    }
    return same;
}

TROD_WIDE static inline uint32_t same_classes(const struct trod_stack_block *b, uint32_t j,
                                              uint32_t by)
{
    return (uint32_t)_mm256_movemask_epi8(
        _mm256_cmpeq_epi8(trod_pack_load(b->class + j), trod_pack_load(b->class + j + by)));
}

TROD_WIDE static void mark_wide(struct trod_stack_block *b)
{
    for (uint32_t j = 0; j < b->n; j += TROD_STACK_WORD) {
        const uint32_t i = j / TROD_STACK_WORD, two = same_lines(b, j, 2);

        b->same[TROD_STACK_LINE_2][i] = two;
        b->same[TROD_STACK_SAME_2][i] = two & same_classes(b, j, 2);
        b->same[TROD_STACK_SAME_3][i] = same_lines(b, j, 3) & same_classes(b, j, 3);
        b->same[TROD_STACK_SAME_4][i] = same_lines(b, j, 4) & same_classes(b, j, 4);
    }
    end_marks(b);
}

/* The same, with AVX-512. */
TROD_WIDEST static void mark_widest(struct trod_stack_block *b)
{
    __m512i line = _mm512_loadu_si512(b->line);

    for (uint32_t j = 0; j < b->n; j += TROD_STACK_WORD) {
        uint32_t two = 0, three = 0, four = 0;

        for (uint32_t i = 0; i < TROD_STACK_WORD; i += 8) {
            const __m512i later = _mm512_loadu_si512(b->line + j + i + 8);

            two |= (uint32_t)_mm512_cmpeq_epi64_mask(line, _mm512_alignr_epi64(later, line, 2))
                   << i;
            three |= (uint32_t)_mm512_cmpeq_epi64_mask(line, _mm512_alignr_epi64(later, line, 3))
                     << i;
            four |= (uint32_t)_mm512_cmpeq_epi64_mask(line, _mm512_alignr_epi64(later, line, 4))
                    << i;
            line = later;
        }
        b->same[TROD_STACK_LINE_2][j / TROD_STACK_WORD] = two;
        b->same[TROD_STACK_SAME_2][j / TROD_STACK_WORD] = two & same_classes(b, j, 2);
        b->same[TROD_STACK_SAME_3][j / TROD_STACK_WORD] = three & same_classes(b, j, 3);
        b->same[TROD_STACK_SAME_4][j / TROD_STACK_WORD] = four & same_classes(b, j, 4);
    }
    end_marks(b);
}

TROD_WIDE static void choose_wide(struct trod_stack *s)
{
    choose_looks(s, true);
}
#endif

void trod_stack_choose(struct trod_stack *s)
{
#if TROD_AVX2
    if (trod_wide_unless(s->opt.without)) {
        if (trod_widest_unless(s->opt.without))
            mark_widest(s->block);
        else
            mark_wide(s->block);
        choose_wide(s);
        return;
    }
#endif
    choose_portable(s);
}

/* All items need a look. */
void trod_stack_look_at_all(struct trod_stack *s)
{
    struct trod_stack_block *const b = s->block;
    struct looks k = {.b = b};

    for (uint32_t j = 0; j < b->n; j++)
        look(&k, j);
    b->n_looks = k.n;
    memset(b->settled, 0, sizeof b->settled);
}
