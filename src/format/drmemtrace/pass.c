/*
 * pass.c - how decoding begins in the middle of a plain trace: one decoder passes over all entries,
 * others are forked from it.
 *
 * Implements struct trod_parts. Plain data and instruction entries change only counters and the
 * last instruction: those of which the hot loop of decode.c would make rows are counted. All other
 * entries are decoded as usual, and so is the last instruction of each run of plain entries with
 * the entries behind it, so that the state of the decoder is the same as after decoding.
 *
 * What is counted of a run of plain entries does not depend on the decoder: several threads make
 * outlines of the file, each of a stretch, in which long runs are hidden.
 */
#include "format/drmemtrace/assumed.h"

#include "core/endian.h"
#include "core/wide.h"
#include "format/outline.h"

#include <string.h>

/*
 * CLEAR: a part begins behind so many entries of known types, the last of them plain. LONG: runs of
 * more entries than that are hidden in outlines.
 */
enum { CLEAR = 8, LONG = 64 };

/* Does the hot loop make a row of the entry at P? */
static inline bool is_plain(const struct drm_hot *hot, const uint8_t *p)
{
    const uint32_t key = trod_load_le32(p), type = key & 0xffff;

    return key >> 16 >= hot[type < 64 ? type : 63].least;
}

/*
 * A plain instruction behind another plain entry begins a tile. Whether the stream is out of step
 * is decided by looking at up to CLEAR entries: behind so many of known types it is not.
 */
static size_t cut(const void *dec, uint64_t offset, const uint8_t *p, size_t n)
{
    const struct drm_dec *d = dec;
    const size_t width = d->width;
    const size_t first = (size_t)((width - offset % width) % width);
    unsigned clear = 0;

    for (size_t at = first; at + width <= n; at += width) {
        const bool plain = is_plain(d->side->hot, p + at);

        if (plain && d->side->hot[trod_load_le16(p + at)].instr && clear >= CLEAR &&
            is_plain(d->side->hot, p + at - width))
            return at;
        clear = drm_type_info(trod_load_le16(p + at))->class == DRM_C_UNKNOWN ? 0 : clear + 1;
    }
    return SIZE_MAX;
}

/*
 * Count plain entries from P on, MOST at the most, and add the fetched instructions among them to
 * *INSTRS. Returns where they end.
 */
static const uint8_t *plain_entries(const struct drm_dec *d, const uint8_t *p, size_t most,
                                    uint64_t *instrs)
{
    const struct drm_hot *const hot = d->side->hot;
    size_t i = 0;

    for (; i < most && is_plain(hot, p); i++, p += d->width)
        *instrs += hot[trod_load_le16(p)].counts;
    return p;
}

#if TROD_AVX2

enum { GROUP = 16, BYTES = GROUP * DRM_ENTRY_64 };

static inline TROD_WIDE __m256i load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* The first 4 bytes of 8 entries, in some order. */
static inline TROD_WIDE __m256i keys(const uint8_t *p)
{
    return _mm256_blend_epi32(_mm256_blend_epi32(load(p), load(p + 32), 0x92), load(p + 64), 0x24);
}

/*
 * As plain_entries, for groups of 8 that are plain as a whole and whose sizes are not 0. For a type
 * with the hexadecimal digits h and l, byte l of side->pass has bit h where it is plain, and bit 4
 * + h where it is an instruction that is counted.
 */
static TROD_WIDE const uint8_t *plain_groups(const struct drm_dec *d, const uint8_t *p, size_t most,
                                             uint64_t *instrs)
{
    const __m128i digit = _mm_set1_epi8(15), zero = _mm_setzero_si128();
    const __m128i bits =
        _mm_setr_epi8(0x11, 0x22, 0x44, (char)0x88, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i low = _mm256_set1_epi32(0xffff), last = _mm256_set1_epi16(63);
    const __m128i table = _mm_loadu_si128((const __m128i *)(const void *)d->side->pass);
    size_t i = 0;

    for (; most - i >= GROUP; i += GROUP, p += BYTES) {
        const __m256i k0 = keys(p), k1 = keys(p + BYTES / 2);
        const __m256i s0 = _mm256_srli_epi32(k0, 16), s1 = _mm256_srli_epi32(k1, 16);
        const __m256i sizes = _mm256_packus_epi32(s0, s1);
        const __m256i types = _mm256_min_epu16(
            _mm256_packus_epi32(_mm256_and_si256(k0, low), _mm256_and_si256(k1, low)), last);
        const __m128i t =
            _mm_packus_epi16(_mm256_castsi256_si128(types), _mm256_extracti128_si256(types, 1));
        const __m128i is =
            _mm_and_si128(_mm_shuffle_epi8(table, _mm_and_si128(t, digit)),
                          _mm_shuffle_epi8(bits, _mm_and_si128(_mm_srli_epi16(t, 4), digit)));
        const __m128i plain = _mm_cmpeq_epi8(_mm_and_si128(is, digit), zero);
        const __m256i empty = _mm256_cmpeq_epi16(sizes, _mm256_setzero_si256());
        const __m128i counted = _mm_cmpeq_epi8(_mm_andnot_si128(digit, is), zero);

        if (!_mm_testz_si128(plain, plain) || !_mm256_testz_si256(empty, empty))
            break;
        *instrs += GROUP - (unsigned)__builtin_popcount((unsigned)_mm_movemask_epi8(counted));
    }
    return p;
}

#endif

/* All plain entries from P on up to END: as plain_entries. */
static const uint8_t *run(const struct drm_dec *d, const uint8_t *p, const uint8_t *end,
                          uint64_t *instrs)
{
    enum { SOME = 64 };
    const uint8_t *from;
    size_t most;

    do {
#if TROD_AVX2
        if (d->width == DRM_ENTRY_64 && trod_wide())
            p = plain_groups(d, p, (size_t)(end - p) / d->width, instrs);
#endif
        from = p;
        most = (size_t)(end - p) / d->width;
        most = most < SOME ? most : SOME;
        p = plain_entries(d, p, most, instrs);
    } while (p > from && p == from + most * d->width);
    return p;
}

const uint8_t *drm_pass_rows(struct drm_call *c, const uint8_t *p)
{
    struct drm_dec *d = c->d;
    const size_t width = d->width;
    const uint8_t *const from = p, *const end = c->end - (c->last ? 0 : width), *q;
    uint64_t instrs = 0;

    p = end > p ? run(d, p, end, &instrs) : p;
    if (p == from)
        return p;
    /* back to the last instruction; where there is none, to the last entry */
    for (q = p - width; q > from && !d->side->hot[trod_load_le16(q)].instr; q -= width)
        ;
    if (!d->side->hot[trod_load_le16(q)].instr)
        q = p - width;
    for (const uint8_t *left = q; left < p; left += width)
        instrs -= d->side->hot[trod_load_le16(left)].counts;
    d->instrs += instrs;
    d->records += (uint64_t)(q - from) / width;
    d->footer = d->footer && q == from;
    c->out->first += (uint64_t)(q - from) / width;
    return q;
}

/*
 * In a run of plain entries from P to END: where what an outline hides of it ends, at the last
 * instruction that stands behind a plain entry. NULL: the run is too short, or there is none.
 */
static const uint8_t *hidden_end(const struct drm_dec *d, const uint8_t *p, const uint8_t *end)
{
    const size_t width = d->width;
    const uint8_t *q = end - width;

    if ((size_t)(end - p) <= LONG * width)
        return NULL;
    while (q > end - LONG / 2 * width && !d->side->hot[trod_load_le16(q)].instr)
        q -= width;
    return d->side->hot[trod_load_le16(q)].instr ? q : NULL;
}

/* Fetched instructions among the N plain entries at P. */
static uint64_t fetched(const struct drm_dec *d, const uint8_t *p, size_t n)
{
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++)
        all += d->side->hot[trod_load_le16(p + i * d->width)].counts;
    return all;
}

/*
 * As with a cut, what is hidden begins behind enough entries that are not out of step, and with a
 * plain entry behind a plain one; what is shown behind it begins with an instruction.
 */
static size_t outline(const void *dec, const uint8_t *p, size_t n, struct trod_outline *out)
{
    const struct drm_dec *d = dec;
    const size_t width = d->width, head = 2 * CLEAR * width;
    const uint8_t *const from = p, *const end = p + n / width * width, *shown = p;

    while (p < end) {
        uint64_t instrs = 0;
        const uint8_t *const behind = run(d, p, end, &instrs);
        const uint8_t *const to = hidden_end(d, p, behind);

        if (to) {
            struct trod_outline_piece *piece;

            if (!outline_show(out, shown, (size_t)(p + head - shown)))
                return SIZE_MAX;
            piece = &out->piece[out->n - 1];
            piece->hidden = (uint64_t)(to - p) - head;
            piece->rows = piece->hidden / width;
            piece->counted = instrs - fetched(d, p, head / width) -
                             fetched(d, to, (size_t)(behind - to) / width);
            shown = to;
        }
        p = behind < end ? behind + width : behind;
    }
    return outline_show(out, shown, (size_t)(end - shown)) ? (size_t)(end - from) : SIZE_MAX;
}

static int hidden(void *dec, const struct trod_outline_piece *piece)
{
    struct drm_dec *d = dec;

    if (!drm_is_plain(d))
        return TROD_ERR_CORRUPT;
    d->instrs += piece->counted;
    d->records += piece->rows;
    d->footer = false;
    return TROD_OK;
}

static int pass(void *dec, struct trod_span *in, struct trod_batch *out)
{
    return drm_go(dec, in, out, NULL, true);
}

static int fork_state(void *dec, void *from)
{
    struct drm_dec *d = dec, *f = from;
    struct drm_side *side = d->side;
    struct trod_meta *meta = d->meta;
    const int rc = drm_side_fork(side, f->side);

    *d = *f;
    d->side = side;
    d->meta = meta;
    d->ended = false;
    if (rc == TROD_OK && d->filetype & TROD_DRM_ENCODINGS)
        drm_side_begin(side);
    return rc;
}

const struct trod_parts drm_parts = {
    .cut = cut,
    .pass = pass,
    .fork = fork_state,
    .outline = outline,
    .hidden = hidden,
    .cost = 25,
    .may_assume = drm_may_assume,
    .assume = drm_assume,
    .assumed = drm_assumed,
};
