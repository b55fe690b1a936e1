/*
 * crc32c.h - the Castagnoli CRC (RFC 3720, B.4), as snappy's framing format uses it.
 */
#ifndef TROD_IO_CRC32C_H
#define TROD_IO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C of N bytes at P. */
uint32_t trod_crc32c(const void *p, size_t n);

/* The same without special instructions. */
uint32_t trod_crc32c_portable(const void *p, size_t n);

/* Framing format, section 3: a checksum stored in data that is itself summed is masked. */
static inline uint32_t trod_crc32c_mask(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

#endif
