/*
 * first_rows.c - rows to references of first-level caches, without repeats.
 *
 * Implements own/first.h. A reference repeats the one before it in its cache where that was to the
 * same line, which is then in front of its set, and, of a write, was a write. With AVX-512 eight
 * rows are looked at together; row by row the same comes of it.
 */
#include "core/wide.h"
#include "sim/own/first.h"
#include "trod/diag.h"

#include <string.h>

/* The line at ADDR is referenced; BITS: what and how. */
static inline void put(struct trod_first *f, uint64_t addr, unsigned bits)
{
    const uint64_t ref = (addr >> f->line_bits << f->line_bits) | TROD_FIRST_LINE_IS | bits;
    uint64_t *last = &f->last[bits / TROD_FIRST_DATA];

    if (f->n >= TROD_FIRST_REFS)
        trod_first_run(f);
    f->ref[f->n] = ref;
    f->n += ref != *last && ref != (*last & ~(uint64_t)TROD_FIRST_DIRTY);
    *last = ref;
}

/* So many lines of one row are recorded as one reference. */
enum { MANY = 64 };

/* SIZE bytes at ADDR are referenced, line by line. */
static void put_lines(struct trod_first *f, uint64_t addr, uint32_t size, unsigned bits)
{
    const uint64_t line = UINT64_C(1) << f->line_bits;
    uint64_t lines = 0;

    f->sim->refs++;
    if (f->recording && size >> f->line_bits > MANY) {
        lines = ((addr + size - 1) >> f->line_bits) - (addr >> f->line_bits) + 1;
        lines &= UINT64_MAX >> f->line_bits;
        trod_first_run_lines(f, (addr >> f->line_bits << f->line_bits) | TROD_FIRST_LINE_IS | bits,
                             lines);
        f->last[bits / TROD_FIRST_DATA] = TROD_FIRST_NONE;
        size = 0;
    }
    while (size) {
        const uint64_t room = line - (addr & (line - 1));
        const uint32_t n = size < room ? size : (uint32_t)room;

        put(f, addr, bits);
        lines++;
        addr += n;
        size -= n;
    }
    f->cache[bits / TROD_FIRST_DATA].of->n.refs[bits & TROD_FIRST_DIRTY  ? TROD_OWN_WRITE
                                                : bits & TROD_FIRST_DATA ? TROD_OWN_READ
                                                                         : TROD_OWN_FETCH] += lines;
}

/* Row I of B, whatever it says. */
static void put_row(struct trod_first *f, const struct trod_batch *b, uint32_t i)
{
    const uint32_t said = b->have & b->has[i], size = said & TROD_COL_SIZE ? b->size[i] : 1;
    const bool fetched = !(said & TROD_COL_FLAGS) || !(b->flags[i] & TROD_F_NOFETCH);
    const unsigned kind = b->kind[i];

    if (kind == TROD_INSTR && !fetched)
        f->sim->instructions++;
    else if (!(said & TROD_COL_ADDR))
        return;
    else if (kind == TROD_INSTR) {
        f->sim->instructions++;
        put_lines(f, b->addr[i], size, 0);
    } else {
        if (kind == TROD_READ || kind == TROD_ATOMIC)
            put_lines(f, b->addr[i], size, TROD_FIRST_DATA);
        if (kind == TROD_WRITE || kind == TROD_ATOMIC)
            put_lines(f, b->addr[i], size, TROD_FIRST_DATA | TROD_FIRST_DIRTY);
    }
}

/* By kind: bits of a reference; ODD: to be looked at by itself. */
enum { ODD = 0xff };
static const uint8_t bits_of[UINT8_MAX + 1] = {
    [TROD_READ] = TROD_FIRST_DATA,
    [TROD_WRITE] = TROD_FIRST_DATA | TROD_FIRST_DIRTY,
    [TROD_ATOMIC] = ODD,
};

static void put_rows(struct trod_first *f, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint64_t line = UINT64_C(1) << f->line_bits;
    uint64_t n[TROD_FIRST_BITS] = {0};

    for (uint32_t i = from; i < to; i++) {
        const unsigned kind = b->kind[i], bits = bits_of[kind];

        if (bits == 0 && kind != TROD_INSTR)
            continue;
        if (bits == ODD || !trod_first_usual(b, i, b->have & b->has[i], line)) {
            put_row(f, b, i);
            continue;
        }
        put(f, b->addr[i], bits);
        n[bits]++;
    }
    f->sim->instructions += n[0];
    f->sim->refs += n[0] + n[TROD_FIRST_DATA] + n[TROD_FIRST_DATA | TROD_FIRST_DIRTY];
    f->cache[0].of->n.refs[TROD_OWN_FETCH] += n[0];
    f->cache[1].of->n.refs[TROD_OWN_READ] += n[TROD_FIRST_DATA];
    f->cache[1].of->n.refs[TROD_OWN_WRITE] += n[TROD_FIRST_DATA | TROD_FIRST_DIRTY];
}

#if TROD_AVX2
enum { WORD = 64, GROUP = 8 };

/* What 64 rows are: bits of the rows. */
struct masks {
    uint64_t code, read, write;
    uint64_t odd; /* to be looked at one by one */
};

TROD_WIDEST static inline struct masks masks_of(const struct trod_batch *b, uint32_t i)
{
    const __m512i kind = _mm512_loadu_si512(b->kind + i);
    const __m512i need = _mm512_set1_epi32(TROD_COL_ADDR | TROD_COL_SIZE);
    const __m512i flags = _mm512_set1_epi32(TROD_COL_FLAGS);
    const __m512i nofetch = _mm512_set1_epi32(TROD_F_NOFETCH);
    struct masks m = {
        .code = _mm512_cmpeq_epi8_mask(kind, _mm512_set1_epi8(TROD_INSTR)),
        .read = _mm512_cmpeq_epi8_mask(kind, _mm512_set1_epi8(TROD_READ)),
        .write = _mm512_cmpeq_epi8_mask(kind, _mm512_set1_epi8(TROD_WRITE)),
    };
    uint64_t said = 0, not_fetched = 0;

    for (unsigned k = 0; k < WORD; k += 16) {
        const __m512i has = _mm512_loadu_si512(b->has + i + k);
        const __mmask16 on = _mm512_test_epi32_mask(has, flags);

        said |= (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_and_si512(has, need), need) << k;
        not_fetched |=
            (uint64_t)_mm512_mask_test_epi32_mask(on, _mm512_loadu_si512(b->flags + i + k), nofetch)
            << k;
    }
    m.odd = _mm512_cmpeq_epi8_mask(kind, _mm512_set1_epi8(TROD_ATOMIC)) | (m.code & not_fetched) |
            ((m.code | m.read | m.write) & ~said);
    return m;
}

/* The last references so far, in lane 7. */
struct carried {
    __m512i code, data;
};

TROD_WIDEST static inline struct carried carry(const struct trod_first *f)
{
    return (struct carried){_mm512_set1_epi64((int64_t)f->last[0]),
                            _mm512_set1_epi64((int64_t)f->last[1])};
}

TROD_WIDEST static inline uint64_t lane7(__m512i v)
{
    const __m128i high = _mm512_extracti64x2_epi64(v, 3);

    return (uint64_t)_mm_extract_epi64(high, 1);
}

/*
 * The eight rows from row I on, of which CODE, READ and WRITE are bits. *CROSSED gets those that
 * reference two lines. Returns false, with nothing done, where a row must be looked at by itself.
 */
TROD_WIDEST static inline bool put_group(struct trod_first *f, const struct trod_batch *b,
                                         uint32_t i, __mmask8 code, __mmask8 read, __mmask8 write,
                                         struct carried *last, unsigned *crossed)
{
    const __mmask8 data = read | write, all = code | data;
    const __m512i line = _mm512_set1_epi64(1LL << f->line_bits);
    const __m512i to_line = _mm512_sub_epi64(_mm512_setzero_si512(), line);
    const __m512i bits = _mm512_set1_epi64(TROD_FIRST_BITS);
    const __m512i addr = _mm512_loadu_si512(b->addr + i);
    const __m512i size =
        _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(b->size + i)));
    const __m512i end = _mm512_add_epi64(addr, _mm512_sub_epi64(size, _mm512_set1_epi64(1)));
    const __m512i from = _mm512_and_si512(addr, to_line), to = _mm512_and_si512(end, to_line);
    const __mmask8 cross = _mm512_mask_cmpneq_epi64_mask(all, from, to);
    __m512i ref = _mm512_or_si512(to, _mm512_set1_epi64(TROD_FIRST_LINE_IS)), codes, datas, was;
    __mmask8 odd, keep;

    ref = _mm512_mask_or_epi64(ref, data, ref, _mm512_set1_epi64(TROD_FIRST_DATA));
    ref = _mm512_mask_or_epi64(ref, write, ref, _mm512_set1_epi64(TROD_FIRST_DIRTY));
    codes = _mm512_maskz_compress_epi64(code, ref);
    datas = _mm512_maskz_compress_epi64(data, ref);
    was = _mm512_maskz_expand_epi64(code, _mm512_alignr_epi64(codes, last->code, 7));
    was = _mm512_mask_expand_epi64(was, data, _mm512_alignr_epi64(datas, last->data, 7));
    /* no bytes, three lines or more, or two of which the first was not the last one referenced */
    odd = _mm512_mask_cmplt_epu64_mask(all, end, addr) |
          _mm512_mask_cmpgt_epu64_mask(all, _mm512_sub_epi64(to, from), line) | (cross & data) |
          _mm512_mask_cmpneq_epi64_mask(cross, from, _mm512_andnot_si512(bits, was));
    if (odd)
        return false;
    /* what differs, unless only the one before was a write */
    keep = _mm512_mask_test_epi64_mask(
        all, _mm512_xor_si512(ref, was),
        _mm512_or_si512(ref, _mm512_set1_epi64(~(int64_t)TROD_FIRST_DIRTY)));
    _mm512_storeu_si512(f->ref + f->n, _mm512_maskz_compress_epi64(keep, ref));
    f->n += (unsigned)__builtin_popcount(keep);
    last->code = _mm512_permutex2var_epi64(last->code,
                                           _mm512_set1_epi64(7 + __builtin_popcount(code)), codes);
    last->data = _mm512_permutex2var_epi64(last->data,
                                           _mm512_set1_epi64(7 + __builtin_popcount(data)), datas);
    *crossed = cross;
    return true;
}

/* Rows DONE of those that M tells of were references, CROSSED of them to two lines. */
static inline void count_word(struct trod_first *f, const struct masks *m, uint64_t done,
                              uint64_t crossed)
{
    const uint64_t instrs = (uint64_t)__builtin_popcountll(m->code & done);
    const uint64_t reads = (uint64_t)__builtin_popcountll(m->read & done);
    const uint64_t writes = (uint64_t)__builtin_popcountll(m->write & done);
    uint64_t *code = f->cache[0].of->n.refs, *data = f->cache[1].of->n.refs;

    f->sim->instructions += instrs;
    f->sim->refs += instrs + reads + writes;
    code[TROD_OWN_FETCH] += instrs + (uint64_t)__builtin_popcountll(crossed);
    data[TROD_OWN_READ] += reads;
    data[TROD_OWN_WRITE] += writes;
}

/*
 * WORD rows from row I on, of which M tells, whose instructions are all in the two lines referenced
 * last, of which each is in front of its set: nothing but their data is left, repeats included.
 * Returns false, with nothing done, where it is not so, or a row must be looked at by itself.
 */
TROD_WIDEST static bool put_calm(struct trod_first *f, const struct trod_batch *b, uint32_t i,
                                 const struct masks *m, struct carried *last)
{
    const __m512i line = _mm512_set1_epi64(1LL << f->line_bits);
    const __m512i in_line = _mm512_sub_epi64(_mm512_setzero_si512(), line);
    const __m512i bits = _mm512_set1_epi64(TROD_FIRST_LINE_IS | TROD_FIRST_DATA);
    const __m512i dirty = _mm512_set1_epi64(TROD_FIRST_DIRTY);
    const __m512i one = _mm512_permutexvar_epi64(_mm512_set1_epi64(7), last->code);
    const __m512i two = f->second == TROD_FIRST_NONE ? one : _mm512_set1_epi64((int64_t)f->second);
    uint64_t *const begin = f->ref + f->n, *out = begin;
    uint64_t crossed = 0;
    unsigned odd = m->odd != 0 || lane7(last->code) == TROD_FIRST_NONE;

    for (unsigned k = 0; k < WORD; k += GROUP) {
        const __mmask8 code = (__mmask8)(m->code >> k);
        const __mmask8 data = (__mmask8)((m->read | m->write) >> k);
        const __m512i addr = _mm512_loadu_si512(b->addr + i + k);
        const __m512i more =
            _mm512_add_epi64(_mm512_cvtepu32_epi64(_mm256_loadu_si256(
                                 (const __m256i *)(const void *)(b->size + i + k))),
                             _mm512_set1_epi64(-1)); /* of no bytes: more than a line */
        const __m512i end = _mm512_add_epi64(addr, more);
        const __mmask8 cross = _mm512_test_epi64_mask(_mm512_xor_si512(addr, end), in_line);
        __m512i ref = _mm512_or_si512(_mm512_and_si512(end, in_line), bits);

        odd |= _mm512_mask_cmpge_epu64_mask(code | data, more, line) | (cross & data);
        odd |= _mm512_mask_test_epi64_mask(code, _mm512_xor_si512(addr, one), in_line) &
               _mm512_mask_test_epi64_mask(code, _mm512_xor_si512(addr, two), in_line);
        odd |= _mm512_mask_test_epi64_mask(code, _mm512_xor_si512(end, one), in_line) &
               _mm512_mask_test_epi64_mask(code, _mm512_xor_si512(end, two), in_line);
        crossed |= (uint64_t)(cross & code) << k;
        ref = _mm512_mask_or_epi64(ref, (__mmask8)(m->write >> k), ref, dirty);
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(data, ref));
        out += __builtin_popcount(data);
    }
    if (odd)
        return false;
    if (out > begin)
        last->data = _mm512_set1_epi64((int64_t)out[-1]);
    f->n = (size_t)(out - f->ref);
    count_word(f, m, UINT64_MAX, crossed);
    return true;
}

/* The code line referenced before LAST, which was the last one, if both are in front of a set. */
static uint64_t second_line(const struct trod_first *f, uint64_t last)
{
    const uint64_t sets = f->cache[0].mask << f->line_bits;

    for (size_t i = f->n; i > 0 && i + WORD > f->n; i--) {
        const uint64_t ref = f->ref[i - 1];

        if (!(ref & TROD_FIRST_DATA) && ref != last)
            return (ref ^ last) & sets ? ref : TROD_FIRST_NONE;
    }
    return TROD_FIRST_NONE;
}

/* WORD rows from row I on. */
TROD_WIDEST static void put_word(struct trod_first *f, const struct trod_batch *b, uint32_t i,
                                 struct carried *last)
{
    enum { MOST = 15 }; /* words for which nothing is tried where it was in vain */
    const struct masks m = masks_of(b, i);
    uint64_t done = 0, crossed = 0;

    if (f->n > TROD_FIRST_REFS - WORD)
        trod_first_run(f);
    if (f->restless > 0) {
        f->restless--;
    } else if (put_calm(f, b, i, &m, last)) {
        f->in_vain = 0;
        return;
    } else {
        f->restless = f->in_vain = f->in_vain < MOST ? 2 * f->in_vain + 1 : MOST;
    }
    for (unsigned k = 0; k < WORD; k += GROUP) {
        unsigned cross;

        if (!(m.odd >> k & 0xff) &&
            put_group(f, b, i + k, (__mmask8)(m.code >> k), (__mmask8)(m.read >> k),
                      (__mmask8)(m.write >> k), last, &cross)) {
            done |= UINT64_C(0xff) << k;
            crossed |= (uint64_t)cross << k;
            continue;
        }
        f->last[0] = lane7(last->code);
        f->last[1] = lane7(last->data);
        put_rows(f, b, i + k, i + k + GROUP);
        *last = carry(f);
    }
    count_word(f, &m, done, crossed);
    if (f->restless == 0)
        f->second = second_line(f, lane7(last->code));
}

/* As many rows as fill words. Returns where the others begin. */
TROD_WIDEST static uint32_t put_words(struct trod_first *f, const struct trod_batch *b,
                                      uint32_t from, uint32_t to)
{
    struct carried last = carry(f);

    for (; to - from >= WORD; from += WORD)
        put_word(f, b, from, &last);
    f->last[0] = lane7(last.code);
    f->last[1] = lane7(last.data);
    return from;
}
#endif

/* All parts see all references; the first one counts them. */
static void count_once(struct trod_first *f)
{
    f->sim->refs = 0;
    for (unsigned k = 0; k < 2; k++)
        memset(f->cache[k].of->n.refs, 0, sizeof f->cache[k].of->n.refs);
}

int trod_first_feed(struct trod_first *f, const struct trod_batch *b, uint32_t from, uint32_t to)
{
#if TROD_AVX2
    if (!f->portable && trod_widest() && (b->have & TROD_FIRST_COLUMNS) == TROD_FIRST_COLUMNS)
        from = put_words(f, b, from, to);
#endif
    if (from < to)
        f->second = TROD_FIRST_NONE;
    put_rows(f, b, from, to);
    trod_first_run(f);
    if (f->sim->shards > 1 && f->sim->shard)
        count_once(f);
    return trod_own_sim_check(f->sim);
}
