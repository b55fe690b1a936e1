/*
 * gzip_isal.c - inflate and deflate with Intel's ISA-L (RFC 1951, 1952).
 *
 * ISA-L checks the trailers itself; members are put together here. Their headers are read here too:
 * ISA-L (2.30) cannot go on with one of which a name or comment is not all at hand.
 */
#include "trod_config.h"

#if TROD_HAVE_ISAL

#include "gzip.h"
#include "isal.h"
#include "isal_first.h"
#include "zip.h"

#include <stdlib.h>

/* RFC 1952, 2.3: the parts of a header, in their order; all but the first are there by a flag. */
enum header_part { FIXED, EXTRA_LENGTH, EXTRA, NAME, COMMENT, SUM, WHOLE };

enum { FHCRC = 2, FEXTRA = 4, FNAME = 8, FCOMMENT = 16, RESERVED = 0xe0 };

/* The header of a member as far as it is read. All zero: it begins. */
struct gzip_head {
    uint8_t part, flags;
    uint16_t at;    /* bytes of the part that are read; of no use where a zero ends it */
    uint16_t value; /* of a part of two bytes; EXTRA_LENGTH's stays until EXTRA ends */
    uint32_t crc;   /* of what is read, if it has a checksum */
};

struct isal_decoder {
    struct inflate_state z;
    struct gzip_head head;
    bool between; /* members */
    int wrong;    /* what ISA-L has found; told when what it held is given out */
    /* what goes on at a point: deflate data alone, then the trailer of the member (RFC 1952) */
    bool raw;
    uint8_t trailer; /* bytes of it to come */
};

struct isal_encoder {
    struct isal_zstream z;
    uint8_t *level_buf;
    uint32_t level;
    bool begun; /* a member */
    uint8_t out[TROD_ENCODE_CHUNK];
};

static const uint32_t level_sizes[] = {0, ISAL_DEF_LVL1_LARGE, ISAL_DEF_LVL2_LARGE,
                                       ISAL_DEF_LVL3_LARGE};

/* The library takes input it does not change without const. */
static uint8_t *without_const(const uint8_t *p)
{
    return (uint8_t *)(uintptr_t)p;
}

/* A part of H has ended; the next one that is there follows. */
static void next_part(struct gzip_head *h)
{
    static const uint8_t flag[] = {[EXTRA_LENGTH] = FEXTRA,
                                   [EXTRA] = FEXTRA,
                                   [NAME] = FNAME,
                                   [COMMENT] = FCOMMENT,
                                   [SUM] = FHCRC};

    h->at = 0;
    do
        h->part++;
    while (h->part < WHOLE && (!(h->flags & flag[h->part]) || (h->part == EXTRA && h->value == 0)));
}

/* C is the next byte of the header H. What is wrong with it, in zlib's words; NULL: nothing. */
static const char *header_byte(struct gzip_head *h, uint8_t c)
{
    enum { FIXED_BYTES = 10 };
    static const uint8_t begin[] = {0x1f, 0x8b, 8};
    const unsigned at = h->at++;
    bool ends = false;

    switch (h->part) {
    case FIXED:
        if (at < sizeof begin && c != begin[at])
            return at < 2 ? "incorrect header check" : "unknown compression method";
        if (at == sizeof begin) {
            h->flags = c;
            h->crc = trod_zip_crc(0, begin, sizeof begin);
            if (c & RESERVED)
                return "unknown header flags set";
        }
        ends = at + 1 == FIXED_BYTES;
        break;
    case EXTRA:
        ends = at + 1 == h->value;
        break;
    case NAME:
    case COMMENT:
        ends = c == 0;
        break;
    default: /* two bytes */
        h->value = at ? (uint16_t)(h->value | c << 8) : c;
        ends = at == 1;
    }
    if (h->part == SUM && ends && h->value != (h->crc & 0xffff))
        return "header crc mismatch";
    if ((h->flags & FHCRC) && h->part != SUM)
        h->crc = trod_zip_crc(h->crc, &c, 1);
    if (ends)
        next_part(h);
    return NULL;
}

/* Read on in the header H at the input of S, as far as it is at hand. Returns 0 or an error. */
static int read_header(struct trod_stage *s, struct gzip_head *h)
{
    const char *wrong = NULL;

    while (h->part != WHOLE && s->n && !wrong) {
        wrong = header_byte(h, *s->p);
        trod_stage_use(s, 1);
    }
    return wrong ? trod_stage_corrupt(s, wrong) : TROD_OK;
}

int trod_isal_open(struct trod_stage *s)
{
    /* zeros: corrupt data may refer to output before the first, which must not be anything */
    struct isal_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return trod_fault_nomem(s->fault, "the gzip filter");
    isal_inflate_init(&d->z);
    d->z.crc_flag = ISAL_GZIP_NO_HDR_VER;
    d->between = false;
    s->state = d;
    return TROD_OK;
}

/* The data of a member that was gone into has ended. Bytes of its trailer may have been taken. */
static void end_raw(struct isal_decoder *d, bool *between)
{
    const int32_t taken = d->z.read_in_length / 8;

    d->raw = false;
    d->trailer = taken < TROD_GZIP_TRAILER ? (uint8_t)(TROD_GZIP_TRAILER - taken) : 0;
    *between = d->trailer == 0;
}

/* Something is wrong behind what is made so far. What is held goes out first. */
static int give_held(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    struct isal_decoder *d = s->state;
    /* how much it has taken beyond the error depends on how much it was given */
    const size_t beyond = d->z.read_in_length > 0 ? (size_t)d->z.read_in_length / 8 : 0;

    *n += trod_isal_held(&d->z, out + *n, cap - *n);
    return *n < cap ? trod_stage_corrupt_from(s, beyond, trod_isal_error(d->wrong)) : TROD_OK;
}

static int inflate_some(struct trod_stage *s, bool reset, uint8_t *out, size_t cap, size_t *n,
                        bool *between)
{
    struct isal_decoder *d = s->state;
    if (d->wrong)
        return give_held(s, out, cap, n);
    if (d->trailer) {
        const size_t some = s->n < d->trailer ? s->n : d->trailer;

        trod_stage_use(s, some);
        d->trailer = (uint8_t)(d->trailer - some);
        *between = d->trailer == 0;
        return TROD_OK;
    }
    if (reset) {
        isal_inflate_reset(&d->z);
        d->z.crc_flag = ISAL_GZIP_NO_HDR_VER;
        d->head = (struct gzip_head){.part = FIXED};
    }
    if (d->head.part != WHOLE) {
        const int status = read_header(s, &d->head);

        if (status != TROD_OK || d->head.part != WHOLE || s->n == 0)
            return status;
    }
    const uint32_t in = s->n < TROD_GZIP_PIECE ? (uint32_t)s->n : TROD_GZIP_PIECE;
    const uint32_t room = cap - *n < TROD_GZIP_PIECE ? (uint32_t)(cap - *n) : TROD_GZIP_PIECE;
    d->z.next_in = without_const(s->p);
    d->z.avail_in = in;
    d->z.next_out = out + *n;
    d->z.avail_out = room;
    const int result = isal_inflate(&d->z);
    trod_stage_use(s, in - d->z.avail_in);
    *n += room - d->z.avail_out;
    if (result < 0 || result == ISAL_NEED_DICT) {
        d->wrong = result;
        return give_held(s, out, cap, n);
    }
    *between = d->z.block_state == ISAL_BLOCK_FINISH;
    if (*between && d->raw)
        end_raw(d, between);
    return TROD_OK;
}

int trod_isal_resume(struct trod_stage *s, const struct trod_point *point)
{
    struct isal_decoder *d;
    const int status = trod_isal_open(s);

    if (status != TROD_OK)
        return status;
    d = s->state;
    d->raw = true;
    d->head.part = WHOLE;
    d->z.crc_flag = ISAL_DEFLATE;
    if (point->window_n &&
        isal_inflate_set_dict(&d->z, without_const(point->window), point->window_n) != COMP_OK)
        return trod_stage_corrupt(s, "the window of a point in it is of no use");
    if (point->bits) {
        if (!trod_stage_more(s))
            return trod_stage_starved(s);
        d->z.read_in = (uint64_t)*s->p >> (8 - point->bits);
        d->z.read_in_length = (int32_t)point->bits;
        trod_stage_use(s, 1);
    }
    return TROD_OK;
}

int trod_isal_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    struct isal_decoder *d = s->state;
    return trod_gzip_read(s, inflate_some, &d->between, out, cap, n);
}

void trod_isal_close(struct trod_stage *s)
{
    free(s->state);
}

int trod_isal_enc_open(void **state, int level, struct trod_fault *fault)
{
    const size_t top = sizeof level_sizes / sizeof level_sizes[0] - 1;
    const size_t l = level < 1 ? 1 : (size_t)level > top ? top : (size_t)level;
    struct isal_encoder *e = malloc(sizeof *e);
    uint8_t *buf = malloc(level_sizes[l]);
    if (!e || !buf) {
        free(e);
        free(buf);
        return trod_fault_nomem(fault, "the gzip filter");
    }
    e->level = (uint32_t)l;
    e->level_buf = buf;
    e->begun = false;
    *state = e;
    return TROD_OK;
}

/* Begin a member. WHOLE: it is given at once, and says its length. */
static int member(struct isal_encoder *e, bool whole, struct trod_sink *sink)
{
    isal_deflate_init(&e->z);
    e->z.level = e->level;
    e->z.level_buf = e->level_buf;
    e->z.level_buf_size = level_sizes[e->level];
    e->z.gzip_flag = whole ? IGZIP_GZIP_NO_HDR : IGZIP_GZIP;
    e->begun = true;
    return whole ? sink->put(sink, trod_gzip_header, TROD_GZIP_HEADER) : TROD_OK;
}

/* Deflate N bytes at P, of which *MADE is advanced by what comes. */
static int deflate_some(struct isal_encoder *e, const uint8_t *p, uint32_t n, uint16_t flush,
                        struct trod_sink *sink, uint64_t *made)
{
    int status = TROD_OK;

    e->z.next_in = without_const(p);
    e->z.avail_in = n;
    e->z.flush = flush;
    do {
        e->z.next_out = e->out;
        e->z.avail_out = TROD_ENCODE_CHUNK;
        if (isal_deflate(&e->z) != COMP_OK)
            return trod_fault_set(sink->fault, TROD_ERR_IO, "io.compress", "cannot compress: gzip");
        status = sink->put(sink, e->out, TROD_ENCODE_CHUNK - e->z.avail_out);
        *made += TROD_ENCODE_CHUNK - e->z.avail_out;
    } while (status == TROD_OK && (e->z.avail_in || e->z.avail_out == 0));
    return status;
}

int trod_isal_enc_write(void *state, const uint8_t *p, size_t n, bool finish,
                        struct trod_sink *sink)
{
    struct isal_encoder *e = state;
    const bool whole = !e->begun && finish && n < TROD_GZIP_PIECE && sink->patch;
    int status = e->begun ? TROD_OK : member(e, whole, sink);
    uint64_t made = TROD_GZIP_HEADER;
    uint32_t in = trod_isal_first(&e->z, n, finish);

    if (status == TROD_OK && in)
        status = deflate_some(e, p, in, SYNC_FLUSH, sink, &made);
    while (status == TROD_OK) {
        p += in;
        n -= in;
        in = n < TROD_GZIP_PIECE ? (uint32_t)n : TROD_GZIP_PIECE;
        e->z.end_of_stream = finish && n == in;
        status = deflate_some(e, p, in, NO_FLUSH, sink, &made);
        if (n == in)
            break;
    }
    e->begun = !finish;
    return status == TROD_OK && whole ? trod_gzip_length(sink, made) : status;
}

void trod_isal_enc_close(void *state)
{
    struct isal_encoder *e = state;
    free(e->level_buf);
    free(e);
}

#else
struct trod_io_gzip_isal_is_empty; /* ISO C wants a declaration in a file */
#endif
