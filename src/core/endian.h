/*
 * endian.h - numbers of a stated byte order at any address.
 *
 * The only way by which the library reads and writes binary numbers (docs/design.md, house style).
 * Compilers make one instruction of each memcpy and swap; no address needs to be aligned.
 */
#ifndef TROD_CORE_ENDIAN_H
#define TROD_CORE_ENDIAN_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TROD_SWAP_LE(bits, v) __builtin_bswap##bits(v)
#define TROD_SWAP_BE(bits, v) (v)
#else
#define TROD_SWAP_LE(bits, v) (v)
#define TROD_SWAP_BE(bits, v) __builtin_bswap##bits(v)
#endif

static inline uint16_t trod_load_le16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return TROD_SWAP_LE(16, v);
}

static inline void trod_store_le16(void *p, uint16_t v)
{
    v = TROD_SWAP_LE(16, v);
    memcpy(p, &v, sizeof v);
}

static inline uint32_t trod_load_le32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return TROD_SWAP_LE(32, v);
}

static inline void trod_store_le32(void *p, uint32_t v)
{
    v = TROD_SWAP_LE(32, v);
    memcpy(p, &v, sizeof v);
}

static inline uint64_t trod_load_le64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return TROD_SWAP_LE(64, v);
}

static inline void trod_store_le64(void *p, uint64_t v)
{
    v = TROD_SWAP_LE(64, v);
    memcpy(p, &v, sizeof v);
}

static inline uint16_t trod_load_be16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return TROD_SWAP_BE(16, v);
}

static inline void trod_store_be16(void *p, uint16_t v)
{
    v = TROD_SWAP_BE(16, v);
    memcpy(p, &v, sizeof v);
}

static inline uint32_t trod_load_be32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return TROD_SWAP_BE(32, v);
}

static inline void trod_store_be32(void *p, uint32_t v)
{
    v = TROD_SWAP_BE(32, v);
    memcpy(p, &v, sizeof v);
}

static inline uint64_t trod_load_be64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return TROD_SWAP_BE(64, v);
}

static inline void trod_store_be64(void *p, uint64_t v)
{
    v = TROD_SWAP_BE(64, v);
    memcpy(p, &v, sizeof v);
}

#endif
