/*
 * touched.c - the lines that rows reference, without repeats.
 *
 * Implements own/touched.h. A reference repeats the one before it of its kind, code or data, if
 * that was to the same line, which is then in front of its set, and, for a write where that
 * matters, was a write. With AVX-512 many rows are handled together; the result is that of the form
 * for single rows.
 */
#include "sim/own/touched_int.h"

/* The line at ADDR is referenced; BITS: what and how. */
static inline void put(struct trod_touched *t, uint64_t addr, unsigned bits)
{
    const uint64_t ref = (addr >> t->line_bits << t->line_bits) | TROD_TOUCHED_IS | bits;
    uint64_t *last = &t->last[bits / TROD_TOUCHED_DATA];

    if (t->n >= TROD_TOUCHED_REFS)
        t->run(t);
    t->ref[t->n] = ref;
    t->n += ref != *last && ref != (*last & ~(uint64_t)TROD_TOUCHED_DIRTY);
    *last = ref;
}

/* The bits of a reference. */
static inline unsigned bits_of_kind(const struct trod_touched *t, enum trod_touched_kind kind)
{
    return kind == TROD_TOUCHED_CODE   ? 0
           : kind == TROD_TOUCHED_READ ? TROD_TOUCHED_DATA
                                       : TROD_TOUCHED_DATA | t->dirty;
}

/* So many lines of one row are given as one reference. */
enum { MANY = 64 };

/* SIZE bytes at ADDR are referenced, line by line. */
static void put_lines(struct trod_touched *t, uint64_t addr, uint32_t size,
                      enum trod_touched_kind kind)
{
    const uint64_t line = UINT64_C(1) << t->line_bits, end = addr + size - 1;
    const unsigned bits = bits_of_kind(t, kind);

    t->rows++;
    if (size == 0)
        return;
    t->refs[kind]++;
    for (unsigned i = 0, shift = t->line_bits; i < t->sizes; i++, shift++)
        t->more[i][kind] += ((end >> shift) - (addr >> shift)) & UINT64_MAX >> shift;
    if (t->lines && size >> t->line_bits > MANY) {
        const uint64_t more = (end >> t->line_bits) - (addr >> t->line_bits);

        t->lines(t, (addr >> t->line_bits << t->line_bits) | TROD_TOUCHED_IS | bits,
                 (more & UINT64_MAX >> t->line_bits) + 1);
        t->last[bits / TROD_TOUCHED_DATA] = TROD_TOUCHED_NONE;
        return;
    }
    while (size) {
        const uint64_t room = line - (addr & (line - 1));
        const uint32_t n = size < room ? size : (uint32_t)room;

        put(t, addr, bits);
        addr += n;
        size -= n;
    }
}

/* Row I of B, whatever it says. */
static void put_row(struct trod_touched *t, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i], size = said & TROD_COL_SIZE ? b->size[i] : 1;
    const uint32_t flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;
    const bool made = !(flags & TROD_NO_REFERENCE);
    const unsigned kind = b->kind[i];
    const bool placed = trod_ref_is_placed(said, kind);
    const uint64_t addr = trod_ref_place(b, i, said);

    if (kind == TROD_INSTR && !(flags & TROD_F_SYNTHETIC) && (!made || placed))
        t->instructions++;
    if (!made || !placed)
        return;
    if (kind == TROD_INSTR || (kind == TROD_BUS && flags & TROD_F_IFETCH))
        put_lines(t, addr, size, TROD_TOUCHED_CODE);
    if (kind == TROD_READ || kind == TROD_ATOMIC)
        put_lines(t, addr, size, TROD_TOUCHED_READ);
    if (kind == TROD_WRITE || kind == TROD_ATOMIC)
        put_lines(t, addr, size, TROD_TOUCHED_WRITE);
}

/* Is row I of B, which has columns SAID, a reference within one line of LINE bytes? */
static inline bool usual(const struct trod_batch *b, uint32_t i, uint32_t said, uint64_t line)
{
    const uint32_t size = b->size[i];
    const uint32_t flags = b->flags[i] & -(said / TROD_COL_FLAGS & 1);

    return (said / TROD_COL_ADDR & said / TROD_COL_SIZE & 1) & !(flags & TROD_NO_REFERENCE) &
           (size - 1 < line - (b->addr[i] & (line - 1)));
}

/* By kind of row: kind of a reference + 1; 0: none; ODD: to be looked at by itself. */
enum { ODD = 0xff };
static const uint8_t kind_of[UINT8_MAX + 1] = {
    [TROD_INSTR] = 1 + TROD_TOUCHED_CODE,
    [TROD_READ] = 1 + TROD_TOUCHED_READ,
    [TROD_WRITE] = 1 + TROD_TOUCHED_WRITE,
    [TROD_ATOMIC] = ODD,
    [TROD_BUS] = ODD,
};

void trod_touched_each(struct trod_touched *t, const struct trod_batch *b, uint32_t from,
                       uint32_t to)
{
    const uint64_t line = UINT64_C(1) << t->line_bits;
    const unsigned bits[] = {0, TROD_TOUCHED_DATA, TROD_TOUCHED_DATA | t->dirty};
    uint64_t n[3] = {0};

    for (uint32_t i = from; i < to; i++) {
        const unsigned kind = kind_of[b->kind[i]];

        if (kind == 0)
            continue;
        if (kind == ODD || !usual(b, i, b->have & b->has[i], line)) {
            put_row(t, b, i);
            continue;
        }
        put(t, b->addr[i], bits[kind - 1]);
        n[kind - 1]++;
    }
    t->instructions += n[TROD_TOUCHED_CODE];
    t->rows += n[0] + n[1] + n[2];
    for (unsigned k = 0; k < 3; k++)
        t->refs[k] += n[k];
}

#if TROD_AVX2
enum { WORD = TROD_TOUCHED_WORD, GROUP = TROD_TOUCHED_GROUP };

/* Is one of the WORD rows from row I on without an address or a size, or perhaps no reference? */
TROD_WIDEST static inline bool said_less(const struct trod_batch *b, uint32_t i)
{
    const __m512i need = _mm512_set1_epi32(TROD_COL_ADDR | TROD_COL_SIZE);
    const __m512i never = _mm512_set1_epi32(TROD_NO_REFERENCE);
    __m512i less = _mm512_setzero_si512();

    for (unsigned k = 0; k < WORD; k += 16) {
        const __m512i has = _mm512_loadu_si512(b->has + i + k);
        const __m512i flags = _mm512_loadu_si512(b->flags + i + k);

        less = _mm512_or_si512(less, _mm512_andnot_si512(has, need));
        less = _mm512_or_si512(less, _mm512_and_si512(flags, never));
    }
    return _mm512_test_epi32_mask(less, less) != 0;
}

/* The rows of M, from row I on, that are to be looked at one by one for what they do not say. */
TROD_APART TROD_WIDEST static uint64_t odd_of(const struct trod_batch *b, uint32_t i,
                                              const struct trod_touched_masks *m)
{
    const __m512i need = _mm512_set1_epi32(TROD_COL_ADDR | TROD_COL_SIZE);
    const __m512i flags = _mm512_set1_epi32(TROD_COL_FLAGS);
    const __m512i never = _mm512_set1_epi32(TROD_NO_REFERENCE);
    uint64_t said = 0, not_made = 0;

    for (unsigned k = 0; k < WORD; k += 16) {
        const __m512i has = _mm512_loadu_si512(b->has + i + k);
        const __mmask16 on = _mm512_test_epi32_mask(has, flags);

        said |= (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_and_si512(has, need), need) << k;
        not_made |=
            (uint64_t)_mm512_mask_test_epi32_mask(on, _mm512_loadu_si512(b->flags + i + k), never)
            << k;
    }
    return (m->code | m->read | m->write) & (not_made | ~said);
}

TROD_WIDEST static inline struct trod_touched_masks masks_of(const struct trod_batch *b, uint32_t i)
{
    const __m512i kind = _mm512_loadu_si512(b->kind + i);
    struct trod_touched_masks m = {
        .code = _mm512_cmpeq_epi8_mask(kind, _mm512_set1_epi8(TROD_INSTR)),
        .read = _mm512_cmpeq_epi8_mask(kind, _mm512_set1_epi8(TROD_READ)),
        .write = _mm512_cmpeq_epi8_mask(kind, _mm512_set1_epi8(TROD_WRITE)),
        .odd = _mm512_cmpeq_epi8_mask(kind, _mm512_set1_epi8(TROD_ATOMIC)) |
               _mm512_cmpeq_epi8_mask(kind, _mm512_set1_epi8(TROD_BUS)),
    };

    if (said_less(b, i))
        m.odd |= odd_of(b, i, &m);
    return m;
}

/* The last references so far, in lane 7, and where the next ones go. */
struct carried {
    __m512i code, data;
    uint64_t *out;
};

TROD_WIDEST static inline struct carried carry(const struct trod_touched *t)
{
    return (struct carried){_mm512_set1_epi64((int64_t)t->last[0]),
                            _mm512_set1_epi64((int64_t)t->last[1]), t->ref + t->n};
}

TROD_WIDEST static inline uint64_t lane7(__m512i v)
{
    const __m128i high = _mm512_extracti64x2_epi64(v, 3);

    return (uint64_t)_mm_extract_epi64(high, 1);
}

/*
 * Convert the eight rows from row I on; CODE, READ and WRITE are masks of their kinds. *CROSSED
 * becomes the mask of rows that reference two lines. Returns false, with nothing done, if a row
 * must be handled by itself.
 */
TROD_WIDEST static inline bool put_group(const struct trod_touched *t, const struct trod_batch *b,
                                         uint32_t i, __mmask8 code, __mmask8 read, __mmask8 write,
                                         struct carried *last, unsigned *crossed)
{
    const __mmask8 data = read | write, all = code | data;
    const __m512i line = _mm512_set1_epi64(1LL << t->line_bits);
    const __m512i to_line = _mm512_sub_epi64(_mm512_setzero_si512(), line);
    const __m512i bits = _mm512_set1_epi64(TROD_TOUCHED_BITS);
    const __m512i addr = _mm512_loadu_si512(b->addr + i);
    const __m512i size =
        _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(b->size + i)));
    const __m512i end = _mm512_add_epi64(addr, _mm512_sub_epi64(size, _mm512_set1_epi64(1)));
    const __m512i from = _mm512_and_si512(addr, to_line), to = _mm512_and_si512(end, to_line);
    const __mmask8 cross = _mm512_mask_cmpneq_epi64_mask(all, from, to);
    __m512i ref = _mm512_or_si512(to, _mm512_set1_epi64(TROD_TOUCHED_IS)), codes, datas, was;
    __mmask8 odd, keep;

    ref = _mm512_mask_or_epi64(ref, data, ref, _mm512_set1_epi64(TROD_TOUCHED_DATA));
    ref = _mm512_mask_or_epi64(ref, write, ref, _mm512_set1_epi64(t->dirty));
    codes = _mm512_maskz_compress_epi64(code, ref);
    datas = _mm512_maskz_compress_epi64(data, ref);
    was = _mm512_maskz_expand_epi64(code, _mm512_alignr_epi64(codes, last->code, 7));
    was = _mm512_mask_expand_epi64(was, data, _mm512_alignr_epi64(datas, last->data, 7));
    /* no bytes, three lines or more, or two of which the first was not referenced last */
    odd = _mm512_mask_cmplt_epu64_mask(all, end, addr) |
          _mm512_mask_cmpgt_epu64_mask(all, _mm512_sub_epi64(to, from), line) | (cross & data) |
          _mm512_mask_cmpneq_epi64_mask(cross, from, _mm512_andnot_si512(bits, was));
    if (odd)
        return false;
    /* what differs, unless only the one before was a write */
    keep = _mm512_mask_test_epi64_mask(
        all, _mm512_xor_si512(ref, was),
        _mm512_or_si512(ref, _mm512_set1_epi64(~(int64_t)TROD_TOUCHED_DIRTY)));
    _mm512_storeu_si512(last->out, _mm512_maskz_compress_epi64(keep, ref));
    last->out += __builtin_popcount(keep);
    last->code = _mm512_permutex2var_epi64(last->code,
                                           _mm512_set1_epi64(7 + __builtin_popcount(code)), codes);
    last->data = _mm512_permutex2var_epi64(last->data,
                                           _mm512_set1_epi64(7 + __builtin_popcount(data)), datas);
    *crossed = cross;
    return true;
}

/*
 * WORD rows from row I on have the kinds in M. Are all instructions in the two lines of P, and does
 * each row stay within one line, or, if an instruction, within two? *CROSSED becomes the mask of
 * the instructions in two lines.
 */
TROD_WIDEST static inline bool is_calm(const struct trod_touched *t, const struct trod_batch *b,
                                       uint32_t i, const struct trod_touched_masks *m,
                                       const struct trod_touched_pair *p, uint64_t *crossed)
{
    const uint32_t line = UINT32_C(1) << t->line_bits;
    const __m512i in_line = _mm512_set1_epi32((int)-line), less = _mm512_set1_epi32(-1);
    const __m512i one = _mm512_set1_epi32((int)p->one), two = _mm512_set1_epi32((int)p->two);
    const __m512i above = _mm512_set1_epi32((int)p->above);
    const __m512i high = _mm512_set1_epi32((int)p->high);
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd =
        _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    __m512i off = _mm512_setzero_si512(), elsewhere = off; /* bits of lines; any bits */

    *crossed = 0;
    for (unsigned k = 0; k < WORD; k += 16) {
        const __mmask16 code = (__mmask16)(m->code >> k);
        const __mmask16 all = (__mmask16)((m->code | m->read | m->write) >> k);
        const __m512i first = _mm512_loadu_si512(b->addr + i + k);
        const __m512i second = _mm512_loadu_si512(b->addr + i + k + 8);
        const __m512i low = _mm512_permutex2var_epi32(first, even, second);
        /* of no bytes: more than a line */
        const __m512i more = _mm512_add_epi32(_mm512_loadu_si512(b->size + i + k), less);
        const __m512i end = _mm512_add_epi32(low, more);
        const __mmask16 cross = _mm512_test_epi32_mask(_mm512_xor_si512(low, end), in_line);

        elsewhere = _mm512_mask_or_epi32(
            elsewhere, code, elsewhere,
            _mm512_xor_si512(_mm512_permutex2var_epi32(first, odd, second), high));
        off = _mm512_mask_or_epi32(off, all, off, more);
        off = _mm512_mask_or_epi32(
            off, code, off,
            _mm512_min_epu32(_mm512_xor_si512(end, one), _mm512_xor_si512(end, two)));
        off = _mm512_mask_or_epi32(off, code & cross, off, _mm512_xor_si512(end, above));
        *crossed |= (uint64_t)cross << k;
    }
    off = _mm512_or_si512(_mm512_and_si512(off, in_line), elsewhere);
    return !_mm512_test_epi32_mask(off, off) && !(*crossed & (m->read | m->write));
}

/* Append the data references of the WORD rows from row I on at OUT. Returns their end. */
TROD_WIDEST static inline uint64_t *put_data(const struct trod_touched *t,
                                             const struct trod_batch *b, uint32_t i,
                                             const struct trod_touched_masks *m, uint64_t *out)
{
    const __m512i in_line = _mm512_set1_epi64(-(1LL << t->line_bits));
    const __m512i bits = _mm512_set1_epi64(TROD_TOUCHED_IS | TROD_TOUCHED_DATA);
    const __m512i dirty = _mm512_set1_epi64(t->dirty);
    uint64_t data = m->read | m->write, write = m->write;

    for (unsigned k = 0; k < WORD; k += GROUP, data >>= GROUP, write >>= GROUP) {
        __m512i ref = _mm512_loadu_si512(b->addr + i + k);

        ref = _mm512_or_si512(_mm512_and_si512(ref, in_line), bits);
        ref = _mm512_mask_or_epi64(ref, (__mmask8)write, ref, dirty);
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi64((__mmask8)data, ref));
        out += __builtin_popcount((unsigned)data & 0xff);
    }
    return out;
}

/*
 * Convert the words from row FROM on whose instructions are all in the two code lines referenced
 * last, each at the front of its set: only their data references remain, repeats included. Returns
 * the first row of a word for which this does not hold, in which a row must be handled by itself,
 * or for which there is no room.
 */
TROD_APART TROD_WIDEST static uint32_t put_calm(struct trod_touched *t, const struct trod_batch *b,
                                                uint32_t from, uint32_t to)
{
    uint64_t *out = t->ref + t->n, *const end = t->ref + TROD_TOUCHED_REFS - WORD;
    uint64_t instrs = 0, reads = 0, writes = 0;
    struct trod_touched_pair p;

    if (!trod_touched_pair_of(t, t->last[0], &p))
        return from;
    for (; to - from >= WORD && out <= end; from += WORD) {
        const struct trod_touched_masks m = masks_of(b, from);
        uint64_t cross;

        if (m.odd || !is_calm(t, b, from, &m, &p, &cross))
            break;
        out = put_data(t, b, from, &m, out);
        instrs += trod_touched_bits_in(m.code);
        reads += trod_touched_bits_in(m.read);
        writes += trod_touched_bits_in(m.write);
        trod_touched_crossed(t, b, from, cross & m.code);
    }
    if (reads + writes)
        t->last[1] = out[-1];
    t->n = (size_t)(out - t->ref);
    trod_touched_count(t, instrs, reads, writes);
    return from;
}

/* The code line referenced before LAST, which was the last one, if both are in front of a set. */
static uint64_t second_line(const struct trod_touched *t, uint64_t last)
{
    for (size_t i = t->n; i > 0 && i + WORD > t->n; i--) {
        const uint64_t ref = t->ref[i - 1];

        if (!(ref & TROD_TOUCHED_DATA) && ref != last)
            return (ref ^ last) & t->sets ? ref : TROD_TOUCHED_NONE;
    }
    return TROD_TOUCHED_NONE;
}

/* WORD rows from row I on. */
TROD_WIDEST static void put_word(struct trod_touched *t, const struct trod_batch *b, uint32_t i)
{
    const struct trod_touched_masks m = masks_of(b, i);
    struct carried last = carry(t);
    uint64_t done = 0, crossed = 0;

    for (unsigned k = 0; k < WORD; k += GROUP) {
        unsigned cross;

        if (!(m.odd >> k & 0xff) &&
            put_group(t, b, i + k, (__mmask8)(m.code >> k), (__mmask8)(m.read >> k),
                      (__mmask8)(m.write >> k), &last, &cross)) {
            done |= UINT64_C(0xff) << k;
            crossed |= (uint64_t)cross << k;
            continue;
        }
        t->n = (size_t)(last.out - t->ref);
        t->last[0] = lane7(last.code);
        t->last[1] = lane7(last.data);
        trod_touched_each(t, b, i + k, i + k + GROUP);
        last = carry(t);
    }
    t->n = (size_t)(last.out - t->ref);
    t->last[0] = lane7(last.code);
    t->last[1] = lane7(last.data);
    trod_touched_count(t, trod_touched_bits_in(m.code & done), trod_touched_bits_in(m.read & done),
                       trod_touched_bits_in(m.write & done));
    trod_touched_crossed(t, b, i, crossed);
}

/*
 * Leave out references to the line of the one before, and those to the line of the last but one or
 * two where the references between are to other sets: the line is in front of its set then. Writes
 * are kept where they are the first to their line.
 */
TROD_WIDEST static void skip_repeats_widest(struct trod_touched *t)
{
    const __m512i read = _mm512_set1_epi64(~(int64_t)TROD_TOUCHED_DIRTY);
    const __m512i sets = _mm512_set1_epi64((int64_t)(t->sets | TROD_TOUCHED_DATA));
    __m512i before = _mm512_set1_epi64((int64_t)TROD_TOUCHED_NONE);
    size_t k = 0;

    for (size_t i = 0; i < t->n; i += 8) {
        const __m512i ref = _mm512_loadu_si512(t->ref + i), matter = _mm512_or_si512(ref, read);
        const __m512i one = _mm512_xor_si512(ref, _mm512_alignr_epi64(ref, before, 7));
        const __m512i two = _mm512_xor_si512(ref, _mm512_alignr_epi64(ref, before, 6));
        const __m512i three = _mm512_xor_si512(ref, _mm512_alignr_epi64(ref, before, 5));
        const unsigned rest = t->n - i < 8 ? (1u << (t->n - i)) - 1 : 0xff;
        const __mmask8 other = _mm512_test_epi64_mask(one, sets);
        const __mmask8 others = other & _mm512_test_epi64_mask(two, sets);
        const unsigned back = (_mm512_testn_epi64_mask(two, matter) & other) |
                              (_mm512_testn_epi64_mask(three, matter) & others);
        const __mmask8 keep = (__mmask8)(_mm512_test_epi64_mask(one, matter) & ~back & rest);

        _mm512_storeu_si512(t->ref + k, _mm512_maskz_compress_epi64(keep, ref));
        k += (unsigned)__builtin_popcount(keep);
        before = ref;
    }
    t->n = k;
}

/* The functions for AVX2, and those for AVX-512. */
static const struct form {
    uint32_t (*calm)(struct trod_touched *t, const struct trod_batch *b, uint32_t from,
                     uint32_t to);
    void (*word)(struct trod_touched *t, const struct trod_batch *b, uint32_t i);
    void (*skip)(struct trod_touched *t);
} wide = {trod_touched_calm_wide, trod_touched_word_wide, trod_touched_skip_wide},
  widest = {put_calm, put_word, skip_repeats_widest};

/* NULL: row by row. */
static const struct form *form_of(const struct trod_touched *t)
{
    return trod_widest_unless(t->without) ? &widest : trod_wide_unless(t->without) ? &wide : NULL;
}

/* As many rows as fill words. Returns where the others begin. */
static uint32_t put_words(struct trod_touched *t, const struct form *f, const struct trod_batch *b,
                          uint32_t from, uint32_t to)
{
    enum { MOST = 15 }; /* words for which nothing is tried where it was in vain */

    for (uint32_t calm; to - from >= WORD; from += WORD) {
        if (t->n > TROD_TOUCHED_REFS - WORD)
            t->run(t);
        if (t->restless > 0) {
            t->restless--;
        } else if ((calm = f->calm(t, b, from, to)) > from) {
            t->in_vain = 0;
            from = calm - WORD;
            continue;
        } else {
            t->restless = t->in_vain = t->in_vain < MOST ? 2 * t->in_vain + 1 : MOST;
        }
        f->word(t, b, from);
        if (t->restless == 0)
            t->second = second_line(t, t->last[0]);
    }
    return from;
}
#endif

void trod_touched_begin(struct trod_touched *t)
{
    t->ref = t->own;
    trod_touched_forget(t);
}

void trod_touched_rows(struct trod_touched *t, const struct trod_batch *b, uint32_t from,
                       uint32_t to)
{
#if TROD_AVX2
    const struct form *const f = form_of(t);

    if (f && (b->have & TROD_TOUCHED_COLUMNS) == TROD_TOUCHED_COLUMNS)
        from = put_words(t, f, b, from, to);
#endif
    if (from < to)
        t->second = TROD_TOUCHED_NONE;
    trod_touched_each(t, b, from, to);
}

void trod_touched_thin(struct trod_touched *t, size_t worth)
{
    (void)t;
    (void)worth;
#if TROD_AVX2
    const struct form *const f = form_of(t);

    for (size_t before = SIZE_MAX; f && t->n < before - before / worth;) {
        before = t->n;
        f->skip(t);
    }
#endif
}
