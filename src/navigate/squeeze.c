/*
 * squeeze.c - sections of an index, compressed. Implements index.h.
 */
#include "navigate/index.h"

#include "trod_config.h"

#include <string.h>

#if TROD_HAVE_ZSTD
#include <zstd.h>

enum { LEVEL = 1 };

int nav_squeezer_new(struct nav_squeezer **out)
{
    *out = (struct nav_squeezer *)ZSTD_createCCtx();
    return *out ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_squeezer_free(struct nav_squeezer *s)
{
    ZSTD_freeCCtx((ZSTD_CCtx *)s);
}

int nav_squeeze_by(struct nav_squeezer *s, const void *p, size_t n, struct trod_buf *out)
{
    const size_t bound = ZSTD_compressBound(n);
    size_t made;

    if (n == 0)
        return TROD_OK;
    if (trod_buf_reserve(out, bound > n ? bound : n) < 0)
        return TROD_ERR_NOMEM;
    made = ZSTD_compressCCtx((ZSTD_CCtx *)s, out->p + out->n, bound, p, n, LEVEL);
    if (ZSTD_isError(made) || made >= n) {
        memcpy(out->p + out->n, p, n);
        made = n;
    }
    out->n += made;
    return TROD_OK;
}

int nav_unpacker_new(struct nav_unpacker **out)
{
    *out = (struct nav_unpacker *)ZSTD_createDCtx();
    return *out ? TROD_OK : TROD_ERR_NOMEM;
}

void nav_unpacker_free(struct nav_unpacker *u)
{
    ZSTD_freeDCtx((ZSTD_DCtx *)u);
}

static bool unpack(struct nav_unpacker *u, const uint8_t *p, size_t n, uint8_t *to, size_t raw)
{
    return ZSTD_decompressDCtx((ZSTD_DCtx *)u, to, raw, p, n) == raw;
}
#else
int nav_squeezer_new(struct nav_squeezer **out)
{
    *out = NULL;
    return TROD_OK;
}

void nav_squeezer_free(struct nav_squeezer *s)
{
    (void)s;
}

int nav_squeeze_by(struct nav_squeezer *s, const void *p, size_t n, struct trod_buf *out)
{
    (void)s;
    return trod_buf_add(out, p, n);
}

int nav_unpacker_new(struct nav_unpacker **out)
{
    *out = NULL;
    return TROD_OK;
}

void nav_unpacker_free(struct nav_unpacker *u)
{
    (void)u;
}

static bool unpack(struct nav_unpacker *u, const uint8_t *p, size_t n, uint8_t *to, size_t raw)
{
    (void)u;
    (void)p;
    (void)n;
    (void)to;
    (void)raw;
    return false;
}
#endif

int nav_squeeze(const void *p, size_t n, struct trod_buf *out)
{
    struct nav_squeezer *s;
    int rc = nav_squeezer_new(&s);

    if (rc == TROD_OK)
        rc = nav_squeeze_by(s, p, n, out);
    nav_squeezer_free(s);
    return rc;
}

int nav_unsqueeze(const struct nav_index *x, const uint8_t *p, size_t n, size_t raw,
                  struct trod_buf *out)
{
    return nav_unsqueeze_by(x->unpacker, p, n, raw, out);
}

int nav_unsqueeze_by(struct nav_unpacker *u, const uint8_t *p, size_t n, size_t raw,
                     struct trod_buf *out)
{
    if (n == raw)
        return trod_buf_add(out, p, n);
    if (raw > TROD_AHEAD_MAX * 64ul)
        return TROD_ERR_CORRUPT;
    if (trod_buf_reserve(out, raw) < 0)
        return TROD_ERR_NOMEM;
    if (!unpack(u, p, n, out->p + out->n, raw))
        return TROD_ERR_CORRUPT;
    out->n += raw;
    return TROD_OK;
}
