/*
 * sweep_rows.c - converting rows to the lines of a sweep whose policies ignore repeated references.
 *
 * Implements sweep.h. A reference to the previous line of its stream, or to the most recently used
 * line of its set in all caches, hits in every cache and changes nothing: it is counted, and left
 * out of the simulation if this is found cheaply (own/touched.h). The remaining references are to
 * lines of the smallest size. Line numbers of longer lines are these shifted right, again without
 * repeats.
 */
#include "sim/sweep.h"

#include "core/wide.h"

#include <stddef.h>
#include <string.h>

/* Fill the buffer of line size number I from that of number I - 1, without repeats. */
static void longer(struct trod_sweep *s, unsigned i, unsigned k)
{
    const uint64_t *from = s->buffer[i - 1][k];
    uint64_t *to = s->buffer[i][k], was = s->last[i][k];
    uint32_t n = 0;

    for (uint32_t at = 0; at < s->n[i - 1][k]; at++) {
        const uint64_t line = from[at] >> 1;

        to[n] = line;
        n += line != was;
        was = line;
    }
    s->last[i][k] = was;
    s->n[i][k] = n;
}

/* Pass the buffer of the smallest size and stream K, and longer lines made from it, to the caches.
 */
static void drain(struct trod_sweep *s, unsigned k)
{
    for (unsigned i = 0; i < s->n_lines; i++) {
        if (i)
            longer(s, i, k);
        trod_sweep_caches(s, i, k);
    }
    for (unsigned i = 0; i < s->n_lines; i++)
        s->n[i][k] = 0;
}

/* Append those of N references that are of this part to the buffers: to that of code or of data. */
static void part(struct trod_sweep *s, const uint64_t *ref, size_t n)
{
    const unsigned longest = s->bits + s->n_lines - 1, low = s->n_lines - 1;
    const uint64_t classes = (UINT64_C(1) << s->class_bits) - 1,
                   mine = s->class_bits ? s->shard : 0;
    const uint64_t within = (UINT64_C(1) << low) - 1;

    for (size_t i = 0; i < n; i++) {
        const unsigned k = ref[i] / TROD_TOUCHED_DATA & 1;
        const uint64_t class = ref[i] >> longest & classes;

        s->buffer[0][k][s->n[0][k]] =
            ref[i] >> longest >> s->class_bits << low | (ref[i] >> s->bits & within);
        s->n[0][k] += class == mine;
    }
}

#if TROD_AVX2
/* The same. */
TROD_WIDEST static void part_widest(struct trod_sweep *s, const uint64_t *ref, size_t n)
{
    uint64_t *out[2] = {s->buffer[0][0] + s->n[0][0], s->buffer[0][1] + s->n[0][1]};
    const unsigned longest = s->bits + s->n_lines - 1, low = s->n_lines - 1;
    const __m128i bits = _mm_cvtsi32_si128((int)s->bits);
    const __m128i above = _mm_cvtsi32_si128((int)(longest + s->class_bits));
    const __m128i back = _mm_cvtsi32_si128((int)low);
    const __m512i within = _mm512_set1_epi64((1LL << low) - 1);
    const uint64_t bits_of_class = ((UINT64_C(1) << s->class_bits) - 1) << longest;
    const uint64_t own_class = s->class_bits ? (uint64_t)s->shard << longest : 0;
    const __m512i classes = _mm512_set1_epi64((int64_t)bits_of_class);
    const __m512i mine = _mm512_set1_epi64((int64_t)own_class);

    for (size_t i = 0; i < n; i += 8) {
        const __mmask8 some = (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 0xff);
        const __m512i refs = _mm512_maskz_loadu_epi64(some, ref + i);
        const __m512i line =
            _mm512_or_si512(_mm512_sll_epi64(_mm512_srl_epi64(refs, above), back),
                            _mm512_and_si512(_mm512_srl_epi64(refs, bits), within));
        const __mmask8 own =
            _mm512_mask_cmpeq_epi64_mask(some, _mm512_and_si512(refs, classes), mine);
        const __mmask8 data =
            _mm512_mask_test_epi64_mask(own, refs, _mm512_set1_epi64(TROD_TOUCHED_DATA));
        const __mmask8 code = (__mmask8)(own & ~data);

        _mm512_mask_storeu_epi64(out[0], (__mmask8)((1u << __builtin_popcount(code)) - 1),
                                 _mm512_maskz_compress_epi64(code, line));
        _mm512_mask_storeu_epi64(out[1], (__mmask8)((1u << __builtin_popcount(data)) - 1),
                                 _mm512_maskz_compress_epi64(data, line));
        out[0] += __builtin_popcount(code);
        out[1] += __builtin_popcount(data);
    }
    for (unsigned k = 0; k < 2; k++)
        s->n[0][k] = (uint32_t)(out[k] - s->buffer[0][k]);
}
#endif

void trod_sweep_refs(struct trod_sweep *s, const uint64_t *ref, size_t n)
{
#if TROD_AVX2
    if (trod_widest_unless(s->in.without))
        part_widest(s, ref, n);
    else
#endif
        part(s, ref, n);
    for (unsigned k = 0; k < 2; k++)
        drain(s, k);
}

enum { WORTH = 8 }; /* the share of the references that must go */

/* The references of T, which belongs to a sweep, go to its caches. */
static void run_all(struct trod_touched *t)
{
    struct trod_sweep *const s = t->user;

    trod_touched_thin(t, WORTH);
    if (s->recording)
        trod_sweep_keep(s, t);
    for (size_t at = 0, n; at < t->n && !s->recording; at += n) {
        n = t->n - at < TROD_SWEEP_BATCH ? t->n - at : TROD_SWEEP_BATCH;
        trod_sweep_refs(s, t->ref + at, n);
    }
    t->n = 0;
}

/* The references of T are kept, and behind them REF, which stands for LINES lines in a row. */
static void run_lines(struct trod_touched *t, uint64_t ref, uint64_t lines)
{
    struct trod_sweep *const s = t->user;

    run_all(t);
    s->failed |= !trod_kept_lines(&s->kept, t, ref, lines);
}

void trod_sweep_begin_rows(struct trod_sweep *s)
{
    const uint64_t way = s->size[0] / s->ways[1];

    s->in.line_bits = s->bits;
    s->in.sizes = s->n_lines;
    /* bits of the number of the set for the longest lines are so for all others */
    s->in.sets = way > s->line[1] ? way - s->line[1] : 0;
    s->in.run = run_all;
    s->in.lines = s->recording ? run_lines : NULL;
    s->in.user = s;
    trod_touched_begin(&s->in);
}

void trod_sweep_end_rows(struct trod_sweep *s)
{
    struct trod_touched *const t = &s->in;

    t->run(t);
    for (unsigned i = 0; i < s->n_lines && !s->shard; i++) { /* all parts see all references */
        s->refs[i][0] += t->refs[TROD_TOUCHED_CODE] + t->more[i][TROD_TOUCHED_CODE];
        s->refs[i][1] += t->refs[TROD_TOUCHED_READ] + t->more[i][TROD_TOUCHED_READ] +
                         t->refs[TROD_TOUCHED_WRITE] + t->more[i][TROD_TOUCHED_WRITE];
    }
    memset(t->refs, 0, sizeof t->refs);
    memset(t->more, 0, sizeof t->more);
}

int trod_sweep_rows(struct trod_sweep *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    trod_touched_rows(&s->in, b, from, to);
    if (s->part) /* it may be merged before it is ended */
        run_all(&s->in);
    return trod_sweep_failed(s) ? TROD_ERR_NOMEM : 0;
}
