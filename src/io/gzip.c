/*
 * gzip.c - the gzip filter (RFC 1952), any number of members.
 *
 * ISA-L inflates; it deflates at levels up to 3, zlib at those above. zlib does all of it where
 * ISA-L is missing. Names, times and comments in headers are not kept.
 */
#include "gzip.h"
#include "frames.h"

#include "core/endian.h"
#include "trod/io.h"
#include "trod_config.h"

#include <stdlib.h>
#include <string.h>

enum {
    ISAL_LEVELS = 3,
    SURE_LENGTH = 1 << 21 /* bytes that cannot make 4 GiB: deflate makes 1,032 of one at most */
};

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

/* The bytes of a member that begins with the N bytes at P, as an extra field says; 0: none does. */
static uint64_t said_length(const uint8_t *p)
{
    if (p[0] != 0x1f || p[1] != 0x8b || p[2] != 8 || p[3] != 4)
        return 0;
    if (trod_load_le16(p + 10) == 6 && memcmp(p + 12, "BC\2", 4) == 0)
        return (uint64_t)trod_load_le16(p + 16) + 1;
    if (trod_load_le16(p + 10) == 8 && memcmp(p + 12, "MZ\4", 4) == 0)
        return (uint64_t)trod_load_le32(p + 16) + TROD_GZIP_HEADER + TROD_GZIP_TRAILER;
    return 0;
}

/*
 * RFC 1952, 2.3.1.1, and the SAM specification, 4.1 (BGZF): the extra field "BC" says the bytes of
 * a member, and so does "MZ" (gzip.h); the trailer says what it makes, modulo 2 to the power of 32.
 */
static bool gzip_frame(struct trod_source *s, uint64_t at, uint64_t *packed, uint64_t *decoded)
{
    uint8_t p[TROD_GZIP_HEADER], made[4];

    if (!trod_frame_look(s, at, p, sizeof p))
        return false;
    *packed = said_length(p);
    if (*packed < sizeof p + TROD_GZIP_TRAILER || *packed > SURE_LENGTH ||
        !trod_frame_look(s, at + *packed - 4, made, sizeof made))
        return false;
    *decoded = trod_load_le32(made);
    return true;
}

/* Could a member begin with the bytes at P, as RFC 1952 has it and programs write it? */
static bool like_header(const uint8_t *p)
{
    return p[0] == 0x1f && p[1] == 0x8b && p[2] == 8 && (p[3] & 0xe0) == 0 &&
           (p[8] == 0 || p[8] == 2 || p[8] == 4) && (p[9] <= 13 || p[9] == 255);
}

static int gzip_again(const uint8_t *p, size_t n)
{
    enum { LEAST = 10 }; /* bytes of a header */
    const int bits = gzip_bid(p, n);

    return bits <= 0 ? bits : n < LEAST ? TROD_BID_MORE : like_header(p) ? bits : 0;
}

/* The trailer says it, modulo 2 to the power of 32. */
static uint64_t gzip_made_before(const uint8_t *p, size_t n)
{
    return n < 4 ? TROD_NOWHERE : trod_load_le32(p - 4);
}

struct members {
    struct trod_frames *f;
    uint64_t at, decoded; /* the last one; what those before it make */
};

/* A member may begin at byte AT of the file; the 4 bytes at MADE end the one before it. */
static bool take_member(struct members *m, uint64_t at, const uint8_t *made)
{
    const uint64_t packed = at - m->at, makes = trod_load_le32(made);

    /* deflate makes 1,032 bytes of one at most, and hardly more bytes than it is given */
    if (packed < 10 + TROD_GZIP_TRAILER || makes / 1032 > packed ||
        makes + makes / 1000 + 64 < packed / 2)
        return true;
    m->at = at;
    m->decoded += makes;
    return trod_frames_add(m->f, at, m->decoded);
}

/*
 * Members that do not say their lengths: what looks like a header begins one, and the bytes before
 * it say what the one before makes, modulo 2 to the power of 32. It may prove wrong (agrees).
 */
static bool gzip_find(struct trod_frames *f, struct trod_source *s, uint64_t *decoded)
{
    enum { LOOK = 1 << 18, LAP = 16 };
    uint8_t *buf = malloc(LOOK);
    struct members m = {.f = f};
    bool sound = buf && trod_frames_add(f, 0, 0);

    for (uint64_t at = 0; sound && at + LAP < s->size; at += LOOK - LAP) {
        struct trod_fault fault = {0};
        size_t n = 0;

        sound = trod_source_pread(s, buf, LOOK, at, &n, &fault) == TROD_OK && n > LAP;
        /* from 4 bytes behind AT on, with 12 more: a header, and what stands before it */
        for (const uint8_t *p = buf + 4, *end = buf + n - 12; sound && p < end; p++) {
            p = memchr(p, 0x1f, (size_t)(end - p));
            if (!p)
                break;
            if (like_header(p))
                sound = take_member(&m, at + (uint64_t)(p - buf), p - 4);
        }
    }
    free(buf);
    sound = sound && m.at;
    if (sound) {
        uint8_t made[4];

        sound = trod_frame_look(s, s->size - 4, made, sizeof made);
        *decoded = m.decoded + trod_load_le32(made);
    }
    f->guessed = true;
    return sound;
}

const uint8_t trod_gzip_header[TROD_GZIP_HEADER] = {0x1f, 0x8b, 8,   4,   0, 0, 0, 0, 0, 255,
                                                    8,    0,    'M', 'Z', 4, 0, 0, 0, 0, 0};

int trod_gzip_length(struct trod_sink *sink, uint64_t n)
{
    uint8_t length[4];

    trod_store_le32(length, (uint32_t)(n - TROD_GZIP_HEADER - TROD_GZIP_TRAILER));
    return sink->patch(sink, TROD_GZIP_LENGTH_AT, length, sizeof length);
}

/*
 * What comes after a member of S: *END is set at the end of the input (padding with zeros is
 * allowed there); else another member begins. Returns 0 or an error.
 */
static int boundary(struct trod_stage *s, uint64_t made, bool *end)
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
    if ((status = trod_stage_frame(s, made)) != TROD_OK)
        return status;
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
            const int status = boundary(s, s->made + *n, &end);
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

static size_t gzip_enc_piece(int level)
{
    (void)level;
    return TROD_WINDOW;
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
    .frame = gzip_frame,
    .find = gzip_find,
    .again = gzip_again,
    .made_before = gzip_made_before,
    .open = trod_zlib_open,
    .resume = trod_zlib_resume,
    .read = trod_zlib_read,
    .close = trod_zlib_close,
    .enc_open = trod_zlib_enc_open,
    .enc_write = trod_zlib_enc_write,
    .enc_close = trod_zlib_enc_close,
    .enc_piece = gzip_enc_piece,
};
#endif

const struct trod_filter trod_filter_gzip = {
    .name = "gzip",
    .suffixes = {".gz"},
    .bid = gzip_bid,
    .frame = gzip_frame,
    .find = gzip_find,
    .again = gzip_again,
    .made_before = gzip_made_before,
#if TROD_HAVE_ISAL && TROD_HAVE_ZLIB
    .lean = &trod_filter_gzip_zlib, /* half the memory, half the speed */
#endif
#if TROD_HAVE_ISAL
    .open = trod_isal_open,
    .resume = trod_isal_resume,
    .read = trod_isal_read,
    .close = trod_isal_close,
#elif TROD_HAVE_ZLIB
    .open = trod_zlib_open,
    .resume = trod_zlib_resume,
    .read = trod_zlib_read,
    .close = trod_zlib_close,
#endif
#if TROD_HAVE_ISAL || TROD_HAVE_ZLIB
    .enc_open = gzip_enc_open,
    .enc_write = gzip_enc_write,
    .enc_close = gzip_enc_close,
    .enc_piece = gzip_enc_piece,
#endif
};
