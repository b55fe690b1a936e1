/*
 * bloom.c - which lines of memory a segment can tell something of. Implements index.h.
 *
 * A Bloom filter (Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 13,
 * 1970) in parts of 512 bytes, one of which a key belongs to (Putze, Sanders, Singler, "Cache-,
 * hash- and space-efficient Bloom filters", 2007). Each part is checked by itself: a question about
 * a line reads nothing else.
 */
#include "navigate/index.h"

#include "core/endian.h"
#include "io/crc32c.h"

#include <string.h>

enum {
    PART = 512,      /* bytes: bits, their CRC-32C, 0 */
    DATA = PART - 8, /* bytes of bits */
    BITS = 8 * DATA,
    BITS_A_KEY = 10,
    PROBES = 5, /* of 12 bits of the second hash each; one key of 90 seems to be there */
    PROBE_BITS = 12,
    LOOKS = 64 /* lines that one question is about, as a rule */
};

/* The last step of splitmix64 (Steele, Lea, Flood, 2014). */
static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

/* The part of N that KEY belongs to; *BITS are where it has its bits. */
static size_t part_of(uint64_t key, size_t n, uint64_t *bits)
{
    const uint64_t h = mix(key + UINT64_C(0x9e3779b97f4a7c15));

    *bits = mix(h);
    return (size_t)((h >> 32) * n >> 32);
}

static unsigned bit_of(uint64_t bits, unsigned i)
{
    return (unsigned)((bits >> (PROBE_BITS * i) & ((1u << PROBE_BITS) - 1)) * BITS >> PROBE_BITS);
}

int nav_bloom_encode(const uint64_t *key, size_t n, struct trod_buf *out)
{
    const size_t parts = n * BITS_A_KEY / BITS + 1;
    uint8_t *p;

    if (trod_buf_reserve(out, parts * PART) < 0)
        return TROD_ERR_NOMEM;
    p = out->p + out->n;
    out->n += parts * PART;
    memset(p, 0, parts * PART);
    for (size_t k = 0; k < n; k++) {
        uint64_t bits;
        uint8_t *to = p + PART * part_of(key[k], parts, &bits);

        for (unsigned i = 0; i < PROBES; i++)
            to[bit_of(bits, i) / 8] |= (uint8_t)(1u << bit_of(bits, i) % 8);
    }
    for (size_t i = 0; i < parts; i++, p += PART)
        trod_store_le32(p + DATA, trod_crc32c(p, DATA));
    return TROD_OK;
}

int nav_bloom_may(const struct nav_index *x, const struct nav_segment *s, uint64_t key)
{
    const struct nav_section *section = s->bloom;
    const size_t parts = section ? section->length / PART : 0;
    struct trod_buf room = {0};
    const uint8_t *p;
    uint64_t bits;
    unsigned there = 1;
    int rc;

    if (parts == 0)
        return 1;
    p = x->file + section->offset + PART * part_of(key, parts, &bits);
    p = nav_index_copy(x, p, PART, nav_index_few(LOOKS, section->length), &room);
    rc = nav_index_check_part(x, section, p, DATA, trod_load_le32(p + DATA));
    for (unsigned i = 0; i < PROBES; i++)
        there &= p[bit_of(bits, i) / 8] >> bit_of(bits, i) % 8;
    trod_buf_fini(&room);
    return rc < 0 ? rc : (int)(there & 1);
}
