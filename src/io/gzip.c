/*
 * gzip.c - the gzip filter (RFC 1952), any number of members.
 *
 * ISA-L inflates; it deflates at levels up to 3, zlib at those above. zlib does all of it where
 * ISA-L is missing. Names, times and comments in headers are not kept.
 */
#include "gzip.h"

#include "trod_config.h"

#include <stdlib.h>

enum { ISAL_LEVELS = 3 };

/* RFC 1952, 2.3: magic, deflate, reserved flags zero */
static int gzip_bid(const uint8_t *p, size_t n)
{
    const int bits = trod_bid_magic(p, n, "\x1f\x8b\x08", 3);
    if (bits <= 0)
        return bits;
    if (n < 4)
        return TROD_BID_MORE;
    return p[3] & 0xe0 ? 0 : bits + 3;
}

/*
 * What comes after a member of S: *END is set at the end of the input (padding with zeros is
 * allowed there); else another member begins. Returns 0 or an error.
 */
static int boundary(struct trod_stage *s, bool *end)
{
    int status;
    *end = trod_stage_at_end(s, &status);
    if (*end)
        return status;
    bool padding = false;
    while (*s->p == 0) {
        padding = true;
        trod_stage_use(s, 1);
        *end = trod_stage_at_end(s, &status);
        if (*end)
            return status;
    }
    if (s->n < 2)
        trod_stage_more(s);
    if (padding || s->p[0] != 0x1f || (s->n > 1 && s->p[1] != 0x8b))
        return trod_stage_corrupt(s, "what follows a member is no other one");
    return s->n < 2 ? trod_stage_starved(s) : TROD_OK;
}

int trod_gzip_read(struct trod_stage *s, trod_inflate_fn *inflate, bool *between, uint8_t *out,
                   size_t cap, size_t *n)
{
    while (*n < cap) {
        const size_t before = *n;
        const bool reset = *between;
        if (reset) {
            bool end;
            const int status = boundary(s, &end);
            if (status != TROD_OK || end)
                return status;
            *between = false;
        }
        const int status = inflate(s, reset, out, cap, n, between);
        if (status != TROD_OK)
            return status;
        if (s->n || (*n > before && !*between) || (*n == 0 && *between))
            continue;
        /* neither output nor input is left; what was made goes out before more is waited for */
        if (*n)
            return TROD_OK;
        if (!trod_stage_more(s))
            return trod_stage_starved(s);
    }
    return TROD_OK;
}

#if TROD_HAVE_ISAL && TROD_HAVE_ZLIB

struct gzip_encoder {
    bool zlib;
    void *state;
};

static int gzip_enc_open(void **state, int level, struct trod_fault *fault)
{
    struct gzip_encoder *e = malloc(sizeof *e);
    if (!e)
        return trod_fault_nomem(fault, "the gzip filter");
    e->zlib = level > ISAL_LEVELS;
    const int status = e->zlib ? trod_zlib_enc_open(&e->state, level, fault)
                               : trod_isal_enc_open(&e->state, level, fault);
    if (status != TROD_OK) {
        free(e);
        return status;
    }
    *state = e;
    return TROD_OK;
}

static int gzip_enc_write(void *state, const uint8_t *p, size_t n, bool finish,
                          struct trod_sink *sink)
{
    const struct gzip_encoder *e = state;
    return e->zlib ? trod_zlib_enc_write(e->state, p, n, finish, sink)
                   : trod_isal_enc_write(e->state, p, n, finish, sink);
}

static void gzip_enc_close(void *state)
{
    struct gzip_encoder *e = state;
    if (e->zlib)
        trod_zlib_enc_close(e->state);
    else
        trod_isal_enc_close(e->state);
    free(e);
}

#elif TROD_HAVE_ISAL
#define gzip_enc_open  trod_isal_enc_open
#define gzip_enc_write trod_isal_enc_write
#define gzip_enc_close trod_isal_enc_close
#elif TROD_HAVE_ZLIB
#define gzip_enc_open  trod_zlib_enc_open
#define gzip_enc_write trod_zlib_enc_write
#define gzip_enc_close trod_zlib_enc_close
#endif

#if TROD_HAVE_ZLIB
const struct trod_filter trod_filter_gzip_zlib = {
    .name = "gzip",
    .suffixes = {".gz"},
    .bid = gzip_bid,
    .open = trod_zlib_open,
    .read = trod_zlib_read,
    .close = trod_zlib_close,
    .enc_open = trod_zlib_enc_open,
    .enc_write = trod_zlib_enc_write,
    .enc_close = trod_zlib_enc_close,
};
#endif

const struct trod_filter trod_filter_gzip = {
    .name = "gzip",
    .suffixes = {".gz"},
    .bid = gzip_bid,
#if TROD_HAVE_ISAL
    .open = trod_isal_open,
    .read = trod_isal_read,
    .close = trod_isal_close,
#elif TROD_HAVE_ZLIB
    .open = trod_zlib_open,
    .read = trod_zlib_read,
    .close = trod_zlib_close,
#endif
#if TROD_HAVE_ISAL || TROD_HAVE_ZLIB
    .enc_open = gzip_enc_open,
    .enc_write = gzip_enc_write,
    .enc_close = gzip_enc_close,
#endif
};
