/*
 * crc32c.c - CRC-32C by the processor's instruction where it has one, by tables elsewhere.
 *
 * Polynomial 0x1edc6f41, reflected (RFC 3720, B.4).
 */
#include "crc32c.h"

#include "core/endian.h"

#include <pthread.h>

enum { POLYNOMIAL = (int)0x82f63b78, SLICES = 8 };

static uint32_t table[SLICES][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

/* table[k][b]: the CRC of byte b followed by k zero bytes */
static void table_make(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t c = b;
        for (int i = 0; i < 8; i++)
            c = c >> 1 ^ (c & 1 ? (uint32_t)POLYNOMIAL : 0);
        table[0][b] = c;
    }
    for (int k = 1; k < SLICES; k++)
        for (int b = 0; b < 256; b++)
            table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

uint32_t trod_crc32c_portable(const void *p, size_t n)
{
    pthread_once(&table_once, table_make);
    const uint8_t *q = p;
    uint32_t c = UINT32_MAX;
    for (; n >= 8; n -= 8, q += 8) {
        const uint64_t v = trod_load_le64(q) ^ c;
        c = 0;
        for (int k = 0; k < SLICES; k++)
            c ^= table[SLICES - 1 - k][v >> 8 * k & 0xff];
    }
    for (; n; n--, q++)
        c = c >> 8 ^ table[0][(c ^ *q) & 0xff];
    return ~c;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(const uint8_t *q, size_t n)
{
    uint64_t c = UINT32_MAX;
    for (; n >= 8; n -= 8, q += 8)
        c = __builtin_ia32_crc32di(c, trod_load_le64(q));
    uint32_t d = (uint32_t)c;
    for (; n; n--, q++)
        d = __builtin_ia32_crc32qi(d, *q);
    return ~d;
}

uint32_t trod_crc32c(const void *p, size_t n)
{
    return __builtin_cpu_supports("sse4.2") ? crc32c_sse42(p, n) : trod_crc32c_portable(p, n);
}

#else

uint32_t trod_crc32c(const void *p, size_t n)
{
    return trod_crc32c_portable(p, n);
}

#endif
