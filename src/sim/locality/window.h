/*
 * window.h - the last 512 positions of a stream, while a block of references is processed.
 *
 * The bits of these positions (bits.h) are held in eight words, and the number of bits set in each
 * as the bytes of one number. So a line that was referenced recently is looked up in one word and
 * that number, whatever its distance, and no counters of blocks are updated. Words that leave the
 * window go back to the bits. Each position gets its bit before it comes: the bits of the next
 * position's word that are ahead are set, and taken off what is counted.
 */
#ifndef TROD_SIM_WINDOW_H
#define TROD_SIM_WINDOW_H

#include "bits.h"
#include "core/wide.h"

enum { TROD_WINDOW_WORDS = 8, TROD_WINDOW = 64 * TROD_WINDOW_WORDS };

struct trod_window {
    uint64_t counts;    /* bits set in each word, a byte each */
    uint32_t base, now; /* the first position in the window, and the next one */
};

#if TROD_AVX2
TROD_WIDE static inline uint32_t trod_window_sum_wide(uint64_t v)
{
    const __m128i sums = _mm_sad_epu8(_mm_cvtsi64_si128((int64_t)v), _mm_setzero_si128());

    return (uint32_t)_mm_cvtsi128_si32(sums);
}
#endif

/* The sum of the bytes of V, of which each is at most 64. */
TROD_HOT uint32_t trod_window_sum(uint64_t v, const bool wide)
{
    const uint64_t even = UINT64_C(0x00ff00ff00ff00ff);

#if TROD_AVX2
    if (wide)
        return trod_window_sum_wide(v);
#endif
    (void)wide;
    return (uint32_t)(((v & even) + (v >> 8 & even)) * UINT64_C(0x0001000100010001) >> 48);
}

/* The positions from the next one of W on, up to the end of its word: at least one. */
TROD_HOT uint32_t trod_window_ahead(const struct trod_window *w)
{
    return 64 - (w->now & 63);
}

/* N bits more in word number I of S. */
TROD_HOT void trod_window_count(struct trod_bits *s, uint32_t i, uint32_t n)
{
    s->a[i >> (TROD_BITS_A - 6)] = (uint16_t)(s->a[i >> (TROD_BITS_A - 6)] + n);
    s->b[i >> (TROD_BITS_B - 6)] += n;
    s->c[i >> (TROD_BITS_C - 6)] += n;
}

/* Set the bits of the positions that are ahead, or clear them; they are counted, too. */
TROD_HOT void trod_window_mark_ahead(struct trod_window *w, uint64_t *word, const bool set)
{
    const uint64_t ahead = trod_window_ahead(w);
    const uint32_t i = (w->now - w->base) >> 6;

    word[i] ^= UINT64_MAX << (w->now & 63);
    w->counts += (set ? ahead : -ahead) << 8 * i;
}

/* Take over the last positions of S: to WORD, with numbers of them. */
TROD_HOT struct trod_window trod_window_open(struct trod_bits *s, uint64_t *word)
{
    const uint32_t at = s->now >> 6;
    const uint32_t first = at < TROD_WINDOW_WORDS ? 0 : at - TROD_WINDOW_WORDS + 1;
    struct trod_window w = {0, first << 6, s->now};

    for (uint32_t i = 0; i < TROD_WINDOW_WORDS; i++) {
        const uint32_t n = (uint32_t)__builtin_popcountll(s->word[first + i]);

        word[i] = s->word[first + i];
        s->word[first + i] = 0;
        w.counts |= (uint64_t)n << 8 * i;
        trod_window_count(s, first + i, -n);
    }
    trod_window_mark_ahead(&w, word, true);
    return w;
}

/*
 * The next position is the first one of a word, whose bits are all set now. If all words are in use
 * the first one goes back to S, and a new one is the last.
 */
TROD_HOT struct trod_window trod_window_turn(struct trod_window w, struct trod_bits *s,
                                             uint64_t *word)
{
    if (w.now - w.base == TROD_WINDOW) {
        s->word[w.base >> 6] = word[0];
        trod_window_count(s, w.base >> 6, (uint32_t)(w.counts & 0xff));
        for (unsigned i = 1; i < TROD_WINDOW_WORDS; i++)
            word[i - 1] = word[i];
        word[TROD_WINDOW_WORDS - 1] = 0;
        s->now = w.now;
        w.counts >>= 8;
        w.base += 64;
    }
    trod_window_mark_ahead(&w, word, true);
    return w;
}

/* All goes back to S. */
TROD_HOT void trod_window_close(struct trod_window *w, struct trod_bits *s, uint64_t *word)
{
    trod_window_mark_ahead(w, word, false);
    for (uint32_t i = 0; i < TROD_WINDOW_WORDS; i++) {
        s->word[(w->base >> 6) + i] = word[i];
        trod_window_count(s, (w->base >> 6) + i, (uint32_t)(w->counts >> 8 * i & 0xff));
    }
    s->now = w->now;
}

/* Clear the bit of P, which is before the window. Returns how many are set after it in S. */
TROD_HOT uint32_t trod_window_take_far(struct trod_bits *s, uint32_t p)
{
    const uint32_t n = trod_bits_far(s, p);

    trod_bits_drop(s, p);
    return n;
}

/*
 * Clear the bit of the position that is RELATIVE to the first one of the window. Returns how many
 * are set after it and before the next position.
 */
TROD_HOT uint32_t trod_window_take(struct trod_window *w, uint64_t *word, uint32_t relative,
                                   const bool wide)
{
    const uint32_t byte = relative >> 6 << 3; /* where its word is, and, in bits, its count */
    const uint64_t was = word[byte >> 3];

    word[byte >> 3] = was & ~(UINT64_C(1) << (relative & 63));
    w->counts -= UINT64_C(1) << byte;
    return (uint32_t)__builtin_popcountll(was >> (relative & 63)) - 1 + /* its own bit is set */
           trod_window_sum(w->counts >> byte >> 8, wide) - trod_window_ahead(w);
}

/* Is the next position the first one of a word, so that trod_window_turn is due? */
TROD_HOT bool trod_window_turns(const struct trod_window *w)
{
    return (w->now & 63) == 0;
}

#endif
