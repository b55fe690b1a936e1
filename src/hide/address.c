/*
 * address.c - addresses that have lost their meaning.
 *
 * Adding one number, a multiple of the granule, to all addresses keeps every distance, and permutes
 * the sets of a cache: addresses that shared a set share one afterwards. This is done in 32 bits;
 * the upper half of wide addresses is replaced by another one through a Feistel network, a
 * permutation. The 17 bits that distinguish the system from its programs stay, and so does the
 * first page: everybody knows where an access by a null pointer was, and moved it would tell by how
 * much all others are.
 */
#include "core/rng.h"
#include "hide/int.h"

enum { LOW = 32, HALF = 8, SIGN = 48, HALF_OF_SPACE = 1 << 15, FIRST_PAGE = 4096 };

void hide_space_init(struct hide_space *s, uint64_t seed, uint64_t granule, unsigned bits)
{
    struct trod_rng rng;

    trod_rng_seed(&rng, seed);
    do
        s->shift = trod_rng_next(&rng) & UINT32_MAX & ~(granule - 1);
    while (s->shift == 0); /* it would move nothing */
    for (unsigned i = 0; i < HIDE_ROUNDS; i++)
        s->round[i] = trod_rng_next(&rng);
    s->wide = bits == 0 || bits > LOW;
}

static uint64_t mixed(uint64_t key, uint64_t v)
{
    uint64_t x = key + v;

    return trod_splitmix64(&x) & ((1u << HALF) - 1);
}

/* Another 16 bits for each 16. */
static uint64_t permuted(const struct hide_space *s, uint64_t v)
{
    uint64_t left = v >> HALF, right = v & ((1u << HALF) - 1);

    for (unsigned i = 0; i < HIDE_ROUNDS; i++) {
        const uint64_t next = left ^ mixed(s->round[i], right);

        left = right;
        right = next;
    }
    return left << HALF | right;
}

static uint64_t moved(const struct hide_space *s, uint64_t a)
{
    const uint64_t low = (a + s->shift) & UINT32_MAX;
    uint64_t upper = a >> LOW & UINT16_MAX;

    if (!s->wide)
        return low;
    do
        upper = permuted(s, upper); /* some of these keep the half of the address space */
    while ((upper ^ a >> LOW) & HALF_OF_SPACE);
    return a >> SIGN << SIGN | upper << LOW | low;
}

uint64_t hide_address(const struct hide_space *s, uint64_t a)
{
    if (!s->wide)
        a &= UINT32_MAX;
    if (a < FIRST_PAGE)
        return a;
    do /* what would come to the first page goes where that would have come */
        a = moved(s, a);
    while (a < FIRST_PAGE);
    return a;
}
