/*
 * bits.c - a bit for each position of a stream (bits.h).
 */
#include "bits.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of 2^LOG positions in SIZE, with room for a group of GROUP to be read as a whole. */
static size_t blocks(uint32_t size, unsigned log, size_t group)
{
    const size_t n = ((size_t)size >> log) + 1;

    return (n + group - 1) / group * group;
}

bool trod_bits_init(struct trod_bits *s, uint32_t size)
{
    *s = (struct trod_bits){.size = size};
    s->word = calloc(blocks(size, 6, 8), sizeof *s->word);
    s->a = calloc(blocks(size, TROD_BITS_A, 32), sizeof *s->a);
    s->b = calloc(blocks(size, TROD_BITS_B, 64), sizeof *s->b);
    s->c = calloc(blocks(size, TROD_BITS_C, 1), sizeof *s->c);
    if (!s->word || !s->a || !s->b || !s->c) {
        trod_bits_free(s);
        return false;
    }
    return true;
}

void trod_bits_free(struct trod_bits *s)
{
    free(s->word);
    free(s->a);
    free(s->b);
    free(s->c);
    *s = (struct trod_bits){0};
}

void trod_bits_ranks(const struct trod_bits *s, uint32_t *rank)
{
    uint32_t n = 0;

    for (size_t i = 0; i < s->size >> 6; i++) {
        rank[i] = n;
        n += (uint32_t)__builtin_popcountll(s->word[i]);
    }
}

/* Set the counts of blocks of 2^LOG positions for N set ones at the beginning. */
static uint32_t first_in(uint32_t n, size_t i, unsigned log)
{
    const uint64_t begin = (uint64_t)i << log, whole = UINT64_C(1) << log;

    if (n <= begin)
        return 0;
    return n - begin < whole ? (uint32_t)(n - begin) : (uint32_t)whole;
}

void trod_bits_first(struct trod_bits *s, uint32_t n)
{
    for (size_t i = 0; i < s->size >> 6; i++) {
        const uint32_t k = first_in(n, i, 6);

        s->word[i] = k == 64 ? UINT64_MAX : (UINT64_C(1) << k) - 1;
    }
    for (size_t i = 0; i < s->size >> TROD_BITS_A; i++)
        s->a[i] = (uint16_t)first_in(n, i, TROD_BITS_A);
    for (size_t i = 0; i < s->size >> TROD_BITS_B; i++)
        s->b[i] = first_in(n, i, TROD_BITS_B);
    for (size_t i = 0; i <= s->size >> TROD_BITS_C; i++)
        s->c[i] = first_in(n, i, TROD_BITS_C);
    s->now = n;
}

void trod_bits_fill(struct trod_bits *s, uint32_t n)
{
    const uint32_t end = s->now + n;

    for (uint32_t p = s->now; p < end;) {
        const uint32_t next = (p | 63) + 1, to = next < end ? next : end, k = to - p;

        s->word[p >> 6] |= UINT64_MAX >> (64 - k) << (p & 63);
        s->a[p >> TROD_BITS_A] = (uint16_t)(s->a[p >> TROD_BITS_A] + k);
        s->b[p >> TROD_BITS_B] += k;
        s->c[p >> TROD_BITS_C] += k;
        p = to;
    }
    s->now = end;
}
