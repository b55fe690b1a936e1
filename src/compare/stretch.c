/*
 * stretch.c - the fast path, column by column: as long as traces are equal, many rows are compared
 * in one go, a column at a time.
 *
 * Implements cmp_stretch of fast.h. What it says is the same is what rows compared one by one would
 * be (fast.c); any row of which it is not sure ends the stretch, and is looked at there. The loops
 * have as many rounds as are known to the compiler, which makes vectors of them.
 */
#include "compare/fast.h"

#include "core/wide.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = CMP_STRETCH, FEW = 8 };

_Static_assert(ROWS == 64, "a bit a row");

/* Bits of rows, the first lowest. */
struct marks {
    uint64_t differ;                         /* or it cannot be told here */
    uint64_t code, data, text, name, detail; /* is to be looked at */
    uint64_t instr, writes;                  /* kinds of rows: see cmp_stretch */
};

/* Where the rows are that are looked at. */
struct at {
    const struct trod_batch *b;
    const uint64_t *addr, *target;
    const uint32_t *has;
    const uint8_t *kind;
    uint32_t i;
};

/* Rows whose element of P has BIT. */
#if TROD_AVX2
TROD_WIDE static uint64_t rows_with_wide(const uint32_t *p, uint32_t bit)
{
    const __m128i shift = _mm_cvtsi32_si128(__builtin_clz(bit));
    uint64_t rows = 0;

    for (unsigned k = 0; k < ROWS; k += 8) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + k));

        rows |=
            (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_sll_epi32(v, shift)))
            << k;
    }
    return rows;
}
#endif

TROD_HOT uint64_t rows_with(const uint32_t *p, uint32_t bit, unsigned n, bool wide)
{
    uint64_t rows = 0;

#if TROD_AVX2
    if (wide)
        return rows_with_wide(p, bit);
#endif
    (void)wide;
    for (unsigned k = 0; k < n; k++)
        rows |= (uint64_t)((p[k] & bit) != 0) << k;
    return rows;
}

/* Rows of KIND. */
#if TROD_AVX2
TROD_WIDE static uint64_t of_kind_wide(const uint8_t *p, unsigned kind)
{
    const __m256i is = _mm256_set1_epi8((char)kind);
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)p);
    const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));

    return (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, is)) |
           (uint64_t)(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, is)) << 32;
}
#endif

TROD_HOT uint64_t of_kind(const uint8_t *p, unsigned kind, unsigned n, bool wide)
{
    uint64_t rows = 0;

#if TROD_AVX2
    if (wide)
        return of_kind_wide(p, kind);
#endif
    (void)wide;
    for (unsigned k = 0; k < n; k++)
        rows |= (uint64_t)(p[k] == kind) << k;
    return rows;
}

/* Rows whose elements are not the same; mostly there are none. */
#define DIFFER(bits)                                                                               \
    TROD_HOT uint64_t differ##bits(const uint##bits##_t *a, const uint##bits##_t *b, unsigned n)   \
    {                                                                                              \
        uint64_t rows = 0;                                                                         \
        uint##bits##_t any = 0;                                                                    \
                                                                                                   \
        for (unsigned k = 0; k < n; k++)                                                           \
            any |= a[k] ^ b[k];                                                                    \
        for (unsigned k = 0; any && k < n; k++)                                                    \
            rows |= (uint64_t)(a[k] != b[k]) << k;                                                 \
        return rows;                                                                               \
    }

DIFFER(8)
DIFFER(16)
DIFFER(32)
DIFFER(64)

/* Kinds that are decided on here: those that are compared, whatever else their rows say. */
uint32_t cmp_stretch_kinds(const struct trod_compare *c)
{
    uint32_t kinds = 0;

    for (unsigned kind = 0; kind < TROD_KINDS; kind++)
        if (kind != TROD_NOTE && cmp_class_of[kind] < TROD_TRACK_CLASSES &&
            (c->rules.track >> cmp_class_of[kind] & 1))
            kinds |= 1u << kind;
    if (c->side[0].run_markers || c->side[1].run_markers)
        kinds &= ~(1u << TROD_MARKER);
    return kinds;
}

/* Rows of which A and B have other kinds, or none of KINDS. */
TROD_HOT uint64_t other_kinds(const uint8_t *a, const uint8_t *b, uint32_t kinds, unsigned n)
{
    uint64_t rows = differ8(a, b, n);
    uint32_t there = 0;

    for (unsigned k = 0; k < n; k++)
        there |= 1u << (a[k] & 31);
    for (unsigned k = 0; (there & ~kinds) && k < n; k++)
        rows |= (uint64_t) !(kinds >> (a[k] & 31) & 1) << k;
    return rows;
}

/* Rows whose flags say other things in the bits that count, or something that is hard. */
TROD_HOT uint64_t other_flags(const struct at *a, const struct at *b, uint32_t counts, unsigned n)
{
    const uint32_t said[2] = {a->b->have & TROD_COL_FLAGS, b->b->have & TROD_COL_FLAGS};
    const uint32_t *f = a->b->flags + a->i, *g = b->b->flags + b->i;
    uint32_t other[ROWS], any = 0;
    uint64_t rows = 0;

    for (unsigned k = 0; k < n; k++) {
        const uint32_t x = a->has[k] & said[0] ? f[k] : 0, y = b->has[k] & said[1] ? g[k] : 0;

        other[k] = ((x ^ y) & counts) | ((x | y) & CMP_HARD);
        any |= other[k];
    }
    for (unsigned k = 0; any && k < n; k++)
        rows |= (uint64_t)(other[k] != 0) << k;
    return rows;
}

/* Rows where units have other names, or names of a trace's own. */
TROD_HOT uint64_t other_units(const uint8_t *a, const uint8_t *b, unsigned n)
{
    uint64_t rows = 0;

    for (unsigned k = 0; k < n; k++)
        rows |= (uint64_t)(a[k] != b[k] || (a[k] & 15) >= TROD_UNITS) << k;
    return rows;
}

/* Rows of which numbers in COLUMNS differ where BOTH says that both sides have them. */
TROD_HOT uint64_t other_numbers(const struct at *a, const struct at *b, const uint32_t *both,
                                uint32_t columns, unsigned n, bool wide)
{
    const struct trod_batch *s = a->b, *t = b->b;
    const uint64_t *const wide_columns[][2] = {
        {a->addr, b->addr}, {s->value, t->value}, {a->target, b->target}, {s->paddr, t->paddr},
        {s->time, t->time}, {s->index, t->index}, {s->pc, t->pc}};
    static const uint32_t bits[] = {TROD_COL_ADDR, TROD_COL_VALUE, TROD_COL_TARGET, TROD_COL_PADDR,
                                    TROD_COL_TIME, TROD_COL_INDEX, TROD_COL_PC};
    uint64_t rows = 0, some;

    for (unsigned w = 0; w < sizeof bits / sizeof *bits; w++)
        if ((columns & bits[w]) &&
            (some = differ64(wide_columns[w][0] + a->i, wide_columns[w][1] + b->i, n)) != 0)
            rows |= some & rows_with(both, bits[w], n, wide);
    if ((columns & TROD_COL_SIZE) && (some = differ32(s->size + a->i, t->size + b->i, n)) != 0)
        rows |= some & rows_with(both, TROD_COL_SIZE, n, wide);
    if ((columns & TROD_COL_SUB) && (some = differ16(s->sub + a->i, t->sub + b->i, n)) != 0)
        rows |= some & rows_with(both, TROD_COL_SUB, n, wide);
    if (columns & TROD_COL_UNIT)
        rows |= other_units(s->unit + a->i, t->unit + b->i, n) &
                rows_with(both, TROD_COL_UNIT, n, wide);
    return rows;
}

/*
 * Where one row says something and the other does not: rows for which that counts, or may do so
 * for their kind. *BOTH and *EITHER: what both rows say, and what one of them does.
 */
TROD_HOT uint64_t other_has(const struct trod_compare *c, const struct at *a, const struct at *b,
                            uint32_t *both, uint32_t *either, unsigned n)
{
    const uint32_t count = TROD_COL_DATA | (c->rules.fields.alike ? c->rules.fields.columns : 0);
    const uint32_t have[2] = {a->b->have, b->b->have};
    uint32_t any = 0;
    uint64_t rows = 0;

    for (unsigned k = 0; k < n; k++) {
        const uint32_t x = a->has[k] & have[0], y = b->has[k] & have[1];

        both[k] = x & y;
        either[k] = x | y;
        any |= x ^ y;
    }
    for (unsigned k = 0; (any & count) && k < n; k++)
        rows |= (uint64_t)(((both[k] ^ either[k]) & c->rules.fields.given[a->kind[k]]) != 0 ||
                           ((both[k] ^ either[k]) & TROD_COL_DATA))
                << k;
    return rows;
}

/* All that is to be told of N rows by their columns. */
TROD_HOT struct marks look(const struct trod_compare *c, const struct at *a, const struct at *b,
                           unsigned n, bool wide)
{
    const uint32_t have = a->b->have & b->b->have, columns = c->rules.fields.columns;
    const bool details = c->modes || (columns & TROD_COL_DETAIL);
    struct marks m = {.differ = other_kinds(a->kind, b->kind, c->kinds, n)};
    uint32_t both[ROWS], either[ROWS];

    if (m.differ & 1)
        return m;
    m.instr = of_kind(a->kind, TROD_INSTR, n, wide);
    m.writes = of_kind(a->kind, TROD_WRITE, n, wide) | of_kind(a->kind, TROD_REG, n, wide) |
               of_kind(a->kind, TROD_ATOMIC, n, wide);
    m.differ |= other_has(c, a, b, both, either, n) | other_flags(a, b, c->flags, n) |
                other_numbers(a, b, both, columns & have, n, wide);
    if (columns & have & TROD_COL_CODE)
        m.code = rows_with(both, TROD_COL_CODE, n, wide);
    if (columns & have & TROD_COL_DATA)
        m.data = rows_with(both, TROD_COL_DATA, n, wide);
    if (details && ((a->b->have | b->b->have) & TROD_COL_DETAIL))
        m.detail = rows_with(either, TROD_COL_DETAIL, n, wide);
    if (!(have & TROD_COL_TEXT) || !(columns & (TROD_COL_TEXT | TROD_COMPARE_NAME)))
        return m;
    m.text = rows_with(both, TROD_COL_TEXT, n, wide);
    m.name = columns & TROD_COMPARE_NAME ? m.text & ~m.instr : 0;
    m.text = columns & TROD_COL_TEXT ? m.text & m.instr : 0;
    return m;
}

static struct marks look_few(const struct trod_compare *c, const struct at *a, const struct at *b)
{
    return look(c, a, b, FEW, false);
}

static struct marks look_plain(const struct trod_compare *c, const struct at *a, const struct at *b)
{
    return look(c, a, b, ROWS, false);
}

TROD_WIDE static struct marks look_wide(const struct trod_compare *c, const struct at *a,
                                        const struct at *b)
{
    return look(c, a, b, ROWS, true);
}

static struct at place(const struct cmp_view *v, uint32_t i)
{
    return (struct at){v->b, v->addr, v->target, v->b->has + i, v->b->kind + i, i};
}

/* Bits below the lowest of ROWS. */
static uint64_t before(uint64_t rows)
{
    return rows ? (rows & -rows) - 1 : UINT64_MAX;
}

/* The first of ROWS whose bytes in column S of A and T of B differ, as a bit; 0: none. */
static uint64_t other_slices(const struct at *a, const struct trod_slice *s, const struct at *b,
                             const struct trod_slice *t, uint64_t rows)
{
    for (; rows; rows &= rows - 1) {
        const unsigned k = (unsigned)__builtin_ctzll(rows);

        if (!cmp_same_slice(a->b, s[a->i + k], b->b, t[b->i + k]))
            return rows & -rows;
    }
    return 0;
}

/* Of the rows that M lets pass, those before the first whose bytes differ. */
static uint64_t same_bytes(struct trod_compare *c, const struct at *a, const struct at *b,
                           const struct marks *m)
{
    uint64_t same = before(m->differ);

    same &=
        before(c->rules.mixed_code ? m->code & same
                                   : other_slices(a, a->b->code, b, b->b->code, m->code & same));
    same &= before(other_slices(a, a->b->data, b, b->b->data, m->data & same));
    same &= before(other_slices(a, a->b->text, b, b->b->text, m->text & same));
    for (uint64_t left = (m->name | m->detail) & same; left; left &= left - 1) {
        const uint32_t k = (uint32_t)__builtin_ctzll(left), i = a->i + k, j = b->i + k;
        const uint64_t bit = left & -left;

        if (((m->detail & bit) && !cmp_same_details(c, a->b, i, b->b, j)) ||
            ((m->name & bit) && !cmp_same_names(c, a->b, i, b->b, j)))
            return same & (bit - 1);
    }
    return same;
}

/* The pair that STREAM of SIDE is known to belong to. */
static int known_pair(const struct cmp_side *s, uint32_t stream)
{
    return stream < s->n_pair ? s->pair[stream] : CMP_UNPAIRED;
}

/* Bits of the first rows of A, N at most, that are of one stream. */
static uint64_t of_stream(const struct at *a, unsigned n)
{
    const uint32_t *p = a->b->stream + a->i;
    unsigned k = 1;

    if (!(a->b->have & TROD_COL_STREAM))
        return UINT64_MAX;
    while (k < n && p[k] == p[0])
        k++;
    return k < ROWS ? ((uint64_t)1 << k) - 1 : UINT64_MAX;
}

static uint32_t stream_at(const struct at *a)
{
    return a->b->have & TROD_COL_STREAM ? a->b->stream[a->i] : 0;
}

uint32_t cmp_stretch(struct trod_compare *c, const struct cmp_view *va, uint32_t i,
                     const struct cmp_view *vb, uint32_t j, struct cmp_stretch *out)
{
    const uint32_t left = va->b->n - i < vb->b->n - j ? va->b->n - i : vb->b->n - j;
    const unsigned n = left >= ROWS ? ROWS : FEW;
    const struct at a = place(va, i), b = place(vb, j);
    struct marks m;
    uint64_t same;

    if (left < FEW || (c->rules.fields.columns & (TROD_COL_STREAM | TROD_COMPARE_PID)))
        return 0;
    if (!out->single) {
        out->pair = known_pair(&c->side[0], stream_at(&a));
        if (out->pair < 0 || out->pair != known_pair(&c->side[1], stream_at(&b)))
            return 0;
    }
    if (n == FEW)
        m = look_few(c, &a, &b);
    else
        m = trod_wide() ? look_wide(c, &a, &b) : look_plain(c, &a, &b);
    if (!out->single)
        m.differ |= ~(of_stream(&a, n) & of_stream(&b, n));
    if (n < ROWS)
        m.differ |= (uint64_t)1 << n;
    same = same_bytes(c, &a, &b, &m);
    out->instr = m.instr & same;
    out->writes = m.writes & same;
    return same == UINT64_MAX ? ROWS : (uint32_t)__builtin_ctzll(~same);
}
