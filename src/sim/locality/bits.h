/*
 * bits.h - a bit for each position of a stream, and counting those set after a position.
 *
 * The last reference of each live line has its bit set. Bits are counted by blocks of 2^9, 2^14 and
 * 2^20 positions, and loops have fixed lengths wherever they can: their masks cost less than
 * branches that cannot be predicted. Positions run out: then the set ones are renumbered
 * (trod_bits_renumber). This is the method of Bennett and Kruskal ("LRU stack processing", 1975)
 * with counts by block in place of a tree.
 */
#ifndef TROD_SIM_BITS_H
#define TROD_SIM_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TROD_BITS_A = 9, TROD_BITS_B = 14, TROD_BITS_C = 20 };

struct trod_bits {
    uint64_t *word;
    uint16_t *a;        /* bits set in 2^9 positions */
    uint32_t *b;        /* in 2^14 */
    uint32_t *c;        /* in 2^20 */
    uint32_t now, size; /* the next position, and where they end: a power of two */
};

/* SIZE positions (a power of two, at least 2^14), none of them set. Returns false without memory.
 */
bool trod_bits_init(struct trod_bits *s, uint32_t size);
void trod_bits_free(struct trod_bits *s);
/* For each word the number of bits that are set before it: to RANK (size / 64 numbers). */
void trod_bits_ranks(const struct trod_bits *s, uint32_t *rank);
/* Make exactly the first N positions those that are set; N is the next position. */
void trod_bits_first(struct trod_bits *s, uint32_t n);
/* Set the next N positions. There is room. */
void trod_bits_fill(struct trod_bits *s, uint32_t n);

/* The same for a position that need not be near. */
static inline __attribute__((always_inline)) uint32_t trod_bits_far(const struct trod_bits *s,
                                                                    uint32_t p)
{
    const uint64_t *w = s->word + ((size_t)p >> TROD_BITS_A << 3);
    const uint16_t *a = s->a + ((size_t)p >> TROD_BITS_B << 5);
    const unsigned wi = p >> 6 & 7;
    const int16_t ai = p >> TROD_BITS_A & 31;
    uint32_t n = 0;
    uint16_t in_b = 0; /* at most 2^14 */

    for (unsigned i = 0; i < 8; i++) {
        const uint64_t mask = i > wi ? UINT64_MAX : i < wi ? 0 : ~UINT64_C(1) << (p & 63);

        n += (uint32_t)__builtin_popcountll(w[i] & mask);
    }
    for (int16_t i = 0; i < 32; i++)
        in_b = (uint16_t)(in_b + (a[i] & -(i > ai)));
    n += in_b;
    if (p >> TROD_BITS_B != s->now >> TROD_BITS_B) {
        const uint32_t *b = s->b + ((size_t)p >> TROD_BITS_C << 6);
        const int32_t bi = p >> TROD_BITS_B & 63;

        for (int32_t i = 0; i < 64; i++)
            n += b[i] & (uint32_t) - (i > bi);
        for (uint32_t i = (p >> TROD_BITS_C) + 1; i <= s->now >> TROD_BITS_C; i++)
            n += s->c[i];
    }
    return n;
}

/* The number of bits set after position P. */
static inline __attribute__((always_inline)) uint32_t trod_bits_after(const struct trod_bits *s,
                                                                      uint32_t p)
{
    const uint64_t *w = s->word + (p >> 6);

    /* most are in the last two words, where nothing is set from the next position on */
    if ((s->now >> 6) - (p >> 6) <= 1)
        return (uint32_t)__builtin_popcountll(w[0] & ~UINT64_C(1) << (p & 63)) +
               (uint32_t)__builtin_popcountll(w[1] & -(uint64_t)(s->now >> 6 != p >> 6));
    return trod_bits_far(s, p);
}

static inline void trod_bits_set(struct trod_bits *s, uint32_t p)
{
    s->word[p >> 6] |= UINT64_C(1) << (p & 63);
    s->a[p >> TROD_BITS_A]++;
    s->b[p >> TROD_BITS_B]++;
    s->c[p >> TROD_BITS_C]++;
}

static inline void trod_bits_drop(struct trod_bits *s, uint32_t p)
{
    s->word[p >> 6] &= ~(UINT64_C(1) << (p & 63));
    s->a[p >> TROD_BITS_A]--;
    s->b[p >> TROD_BITS_B]--;
    s->c[p >> TROD_BITS_C]--;
}

#endif
