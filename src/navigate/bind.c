/*
 * bind.c - what ties an index to its trace: size, time and hashes. Implements index.h.
 */
#include "navigate/index.h"

#include "core/endian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHUNK = 1 << 16 };

static uint64_t stir(uint64_t h)
{
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

/* Four lanes of eight bytes, so that multiplications overlap. */
uint64_t nav_hash(uint64_t h, const void *data, size_t n)
{
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    const uint8_t *p = data;
    uint64_t lane[4] = {h, h + 1, h + 2, h + 3}, tail = n;

    for (; n >= 32; p += 32, n -= 32)
        for (unsigned i = 0; i < 4; i++) {
            lane[i] = (lane[i] ^ trod_load_le64(p + 8 * i)) * k;
            lane[i] ^= lane[i] >> 29;
        }
    for (; n; p++, n--)
        tail = (tail ^ *p) * k;
    return stir(stir(stir(stir(stir(tail) ^ lane[0]) ^ lane[1]) ^ lane[2]) ^ lane[3]);
}

/* The hash of SIZE bytes of F from AT on. */
static int hash_part(FILE *f, uint64_t at, uint64_t size, uint8_t *room, uint64_t *h)
{
    if (fseeko(f, (off_t)at, SEEK_SET) != 0)
        return TROD_ERR_IO;
    while (size) {
        const size_t some = size < CHUNK ? (size_t)size : CHUNK;

        if (fread(room, 1, some, f) != some)
            return TROD_ERR_IO;
        *h = nav_hash(*h, room, some);
        size -= some;
    }
    return TROD_OK;
}

/* The same for a trace that had SIZE bytes: its beginning now. */
static int bind_size(const char *path, uint64_t size, bool whole, struct nav_bound *out)
{
    uint8_t *room = malloc(CHUNK);
    FILE *f = fopen(path, "rb");
    const uint64_t edge = size < NAV_EDGE ? size : NAV_EDGE;
    int rc = !room ? TROD_ERR_NOMEM : !f ? TROD_ERR_IO : TROD_OK;

    out->edges = out->whole = size;
    if (rc == TROD_OK)
        rc = hash_part(f, 0, edge, room, &out->edges);
    if (rc == TROD_OK)
        rc = hash_part(f, size - edge, edge, room, &out->edges);
    if (rc == TROD_OK && whole)
        rc = hash_part(f, 0, size, room, &out->whole);
    if (f)
        fclose(f);
    free(room);
    return rc;
}

int nav_bind(const char *path, bool whole, struct nav_bound *out)
{
    struct stat st;

    memset(out, 0, sizeof *out);
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return TROD_ERR_IO;
    out->size = (uint64_t)st.st_size;
    out->mtime_s = (uint64_t)st.st_mtim.tv_sec;
    out->mtime_ns = (uint64_t)st.st_mtim.tv_nsec;
    return bind_size(path, out->size, whole, out);
}

int nav_bind_as(const char *path, uint64_t size, struct nav_bound *out)
{
    memset(out, 0, sizeof *out);
    out->size = size;
    return bind_size(path, size, true, out);
}
