/*
 * bits.c - a bit for each position of a stream (bits.h).
 */
#include "bits.h"

#include "core/slab.h"

/* Bytes of an array with ELEMENT bytes for each block of 2^LOG of SIZE positions, with room for a
   group of GROUP to be read as a whole. */
static size_t bytes(uint32_t size, unsigned log, size_t group, size_t element)
{
    const size_t n = ((size_t)size >> log) + 1;

    return (n + group - 1) / group * group * element;
}

static size_t bytes_of_words(uint32_t size)
{
    return bytes(size, 6, 8, sizeof(uint64_t));
}

static size_t bytes_of_a(uint32_t size)
{
    return bytes(size, TROD_BITS_A, 32, sizeof(uint16_t));
}

static size_t bytes_of_b(uint32_t size)
{
    return bytes(size, TROD_BITS_B, 64, sizeof(uint32_t));
}

static size_t bytes_of_c(uint32_t size)
{
    return bytes(size, TROD_BITS_C, 1, sizeof(uint32_t));
}

bool trod_bits_init(struct trod_bits *s, uint32_t size)
{
    *s = (struct trod_bits){.size = size};
    s->word = trod_slab_zeroed(bytes_of_words(size));
    s->a = trod_slab_zeroed(bytes_of_a(size));
    s->b = trod_slab_zeroed(bytes_of_b(size));
    s->c = trod_slab_zeroed(bytes_of_c(size));
    if (!s->word || !s->a || !s->b || !s->c) {
        trod_bits_free(s);
        return false;
    }
    return true;
}

void trod_bits_free(struct trod_bits *s)
{
    trod_slab_give(s->word, bytes_of_words(s->size));
    trod_slab_give(s->a, bytes_of_a(s->size));
    trod_slab_give(s->b, bytes_of_b(s->size));
    trod_slab_give(s->c, bytes_of_c(s->size));
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
