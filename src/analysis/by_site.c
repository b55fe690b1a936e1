/*
 * by_site.c - numbers by site as bytes and back, for other processes.
 *
 * The number of elements, less the last ones that are all zero, then their numbers (core/pack.h).
 */
#include "analysis/by_site.h"

#include "core/pack.h"
#include "trod/site.h"

static bool is_zero(const uint64_t *p, unsigned width)
{
    uint64_t any = 0;

    for (unsigned k = 0; k < width; k++)
        any |= p[k];
    return any == 0;
}

int trod_by_site_save(struct trod_buf *out, const void *array, size_t n, unsigned width)
{
    const uint64_t *const p = array;
    int rc;

    while (n && is_zero(p + (n - 1) * width, width))
        n--;
    rc = trod_pack(out, n);
    for (size_t i = 0; rc == TROD_OK && i < n * width; i++)
        rc = trod_pack(out, p[i]);
    return rc;
}

int trod_by_site_load(struct trod_span *in, void *array, size_t *have, unsigned width,
                      const uint32_t *sites)
{
    uint64_t n, *p, v;

    if (trod_unpack(in, &n) < 0 || n > in->n / width || (n > 1 && !sites))
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        const size_t at = i ? (size_t)sites[i - 1] + 1 : 0;

        if (i && sites[i - 1] == TROD_NO_SITE)
            return TROD_ERR_CORRUPT;
        if (trod_by_site_room(array, have, at + 1, width * sizeof *p) < 0)
            return TROD_ERR_NOMEM;
        memcpy(&p, array, sizeof p);
        for (unsigned k = 0; k < width; k++) {
            if (trod_unpack(in, &v) < 0)
                return TROD_ERR_CORRUPT;
            p[at * width + k] += v;
        }
    }
    return TROD_OK;
}
