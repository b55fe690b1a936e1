/*
 * snappy.c - the snappy filter ("Snappy framing format description", 2013-10-25), with the two
 * private chunk types of DynamoRIO's traces, which carry no checksum.
 */
#include "filter.h"

#include "core/endian.h"
#include "core/lazy.h"
#include "crc32c.h"
#include "trod/io.h"
#include "trod_config.h"

#define IDENTIFIER "\xff\x06\x00\x00sNaPpY" /* 4.1, with its chunk header */

enum { IDENTIFIER_SIZE = 10 };

static int snappy_bid(const uint8_t *p, size_t n)
{
    return trod_bid_magic(p, n, IDENTIFIER, IDENTIFIER_SIZE);
}

#if TROD_HAVE_SNAPPY

#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_HEADER = 4,
    CHECKSUM = 4,
    BLOCK_MAX = 1 << 16,                       /* uncompressed bytes in a chunk */
    CHUNK_MAX = 32 + BLOCK_MAX + BLOCK_MAX / 6 /* snappy's bound for a block */
};

enum chunk_type {
    CHUNK_COMPRESSED = 0x00,
    CHUNK_PLAIN = 0x01,
    CHUNK_COMPRESSED_UNSUMMED = 0x02, /* DynamoRIO's */
    CHUNK_PLAIN_UNSUMMED = 0x03,      /* DynamoRIO's */
    CHUNK_SKIPPABLE = 0x80,           /* this and all above but the identifier */
    CHUNK_IDENTIFIER = 0xff
};

#define FUNCTIONS(F) F(snappy_compress) F(snappy_uncompress) F(snappy_uncompressed_length)

static struct {
    FUNCTIONS(TROD_LAZY_MEMBER)
} lib;
static const char *const names[] = {FUNCTIONS(TROD_LAZY_NAME)};
static struct trod_lazy library = TROD_LAZY(TROD_SNAPPY_SONAME, names, &lib);

/* Have the library, or say that it is not there. */
static int need_library(struct trod_fault *fault)
{
    return trod_lazy_need(&library)
               ? TROD_OK
               : trod_fault_set(fault, TROD_ERR_UNSUPPORTED, "io.unsupported",
                                "snappy data: %s cannot be loaded", TROD_SNAPPY_SONAME);
}

struct snappy_decoder {
    uint32_t skip;  /* bytes of a skippable chunk that are still to come */
    uint32_t at, n; /* what of the block was not yet handed out */
    uint8_t block[BLOCK_MAX];
};

struct snappy_encoder {
    bool begun;
    size_t n;
    uint8_t block[BLOCK_MAX];
    uint8_t out[CHUNK_HEADER + CHECKSUM + CHUNK_MAX];
};

static int snappy_open(struct trod_stage *s)
{
    const int status = need_library(s->fault);
    if (status != TROD_OK)
        return status;
    struct snappy_decoder *d = malloc(sizeof *d);
    if (!d)
        return trod_fault_nomem(s->fault, "the snappy filter");
    d->skip = d->at = d->n = 0;
    s->state = d;
    return TROD_OK;
}

/* Have N bytes of input at hand. */
static bool snappy_need(struct trod_stage *s, size_t n)
{
    while (s->n < n)
        if (!trod_stage_more(s))
            return false;
    return true;
}

/*
 * The data chunk of TYPE with LEN bytes at P: decode it to OUT if it fits into CAP bytes there,
 * else to d->block. *N is its size. Returns 0 or an error.
 */
static int decode_chunk(struct trod_stage *s, int type, const uint8_t *p, size_t len, uint8_t *out,
                        size_t cap, size_t *n)
{
    struct snappy_decoder *d = s->state;
    const bool summed = type == CHUNK_COMPRESSED || type == CHUNK_PLAIN;
    const bool plain = type == CHUNK_PLAIN || type == CHUNK_PLAIN_UNSUMMED;
    if (summed && len < CHECKSUM)
        return trod_stage_corrupt(s, "a chunk shorter than its checksum");
    const uint32_t sum = summed ? trod_load_le32(p) : 0;
    p += summed ? CHECKSUM : 0;
    len -= summed ? CHECKSUM : 0;

    size_t size = len;
    if (!plain && lib.snappy_uncompressed_length((const char *)p, len, &size) != SNAPPY_OK)
        return trod_stage_corrupt(s, "a block without a length");
    if (size > BLOCK_MAX)
        return trod_stage_corrupt(s, "a chunk of more than 65536 bytes");
    s->frame_size = size;
    uint8_t *to = size <= cap ? out : d->block;
    if (plain)
        memcpy(to, p, size);
    else if (lib.snappy_uncompress((const char *)p, len, (char *)to, &size) != SNAPPY_OK)
        return trod_stage_corrupt(s, "an invalid block");
    if (summed && trod_crc32c_mask(trod_crc32c(to, size)) != sum)
        return trod_stage_corrupt(s, "wrong checksum");
    if (to == d->block) {
        d->at = 0;
        d->n = (uint32_t)size;
        size = 0;
    }
    *n = size;
    return TROD_OK;
}

/* The next chunk. *N is what it put at OUT. Returns 0, 1 at the end of the input, or an error. */
static int next_chunk(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    struct snappy_decoder *d = s->state;
    int status;
    *n = 0;
    if (trod_stage_at_end(s, &status))
        return status == TROD_OK ? 1 : status;
    if (!snappy_need(s, CHUNK_HEADER))
        return trod_stage_starved(s);
    const int type = s->p[0];
    const uint32_t len = trod_load_le32(s->p) >> 8;
    if (type >= CHUNK_SKIPPABLE && type != CHUNK_IDENTIFIER) {
        trod_stage_use(s, CHUNK_HEADER);
        d->skip = len;
        return TROD_OK;
    }
    if (type != CHUNK_IDENTIFIER && type > CHUNK_PLAIN_UNSUMMED)
        return trod_stage_corrupt(s, "a chunk of unknown type");
    if (len > CHUNK_MAX + CHECKSUM)
        return trod_stage_corrupt(s, "a chunk that is too long");
    if (!snappy_need(s, CHUNK_HEADER + len))
        return trod_stage_starved(s);
    if (type != CHUNK_IDENTIFIER)
        status = decode_chunk(s, type, s->p + CHUNK_HEADER, len, out, cap, n);
    else if (len != IDENTIFIER_SIZE - CHUNK_HEADER ||
             memcmp(s->p, IDENTIFIER, IDENTIFIER_SIZE) != 0)
        status = trod_stage_corrupt(s, "a stream identifier that is none");
    if (status == TROD_OK)
        trod_stage_use(s, CHUNK_HEADER + len);
    return status;
}

static int snappy_read(struct trod_stage *s, uint8_t *out, size_t cap, size_t *n)
{
    struct snappy_decoder *d = s->state;
    while (*n < cap) {
        if (d->n) {
            const size_t some = d->n < cap - *n ? d->n : cap - *n;
            memcpy(out + *n, d->block + d->at, some);
            d->at += (uint32_t)some;
            d->n -= (uint32_t)some;
            *n += some;
            continue;
        }
        if (s->n == 0 && *n)
            break; /* what was made goes out before more is waited for */
        if (d->skip) {
            if (s->n == 0 && !trod_stage_more(s))
                return trod_stage_starved(s);
            const uint32_t some = s->n < d->skip ? (uint32_t)s->n : d->skip;
            trod_stage_use(s, some);
            d->skip -= some;
            continue;
        }
        size_t got;
        trod_stage_frame(s, s->made + *n);
        const int status = next_chunk(s, out + *n, cap - *n, &got);
        if (status != TROD_OK)
            return status < 0 ? status : TROD_OK;
        *n += got;
    }
    return TROD_OK;
}

/* A chunk with data that its checksum confirms, or the beginning of a stream. */
static int snappy_again(const uint8_t *p, size_t n)
{
    const size_t len = n < CHUNK_HEADER ? 0 : trod_load_le32(p) >> 8;
    uint8_t *block;
    size_t size = len - CHECKSUM;
    bool sound;

    if (*p > CHUNK_PLAIN)
        return snappy_bid(p, n);
    if (n < CHUNK_HEADER)
        return TROD_BID_MORE;
    if (len <= CHECKSUM || len > CHUNK_MAX + CHECKSUM || (*p == CHUNK_PLAIN && size > BLOCK_MAX))
        return 0;
    if (n < CHUNK_HEADER + len)
        return TROD_BID_MORE;
    p += CHUNK_HEADER;
    if (p[-CHUNK_HEADER] == CHUNK_PLAIN)
        return trod_crc32c_mask(trod_crc32c(p + CHECKSUM, size)) == trod_load_le32(p) ? 32 : 0;
    if (lib.snappy_uncompressed_length((const char *)p + CHECKSUM, len - CHECKSUM, &size) ||
        size > BLOCK_MAX || !(block = malloc(BLOCK_MAX)))
        return 0;
    sound = lib.snappy_uncompress((const char *)p + CHECKSUM, len - CHECKSUM, (char *)block,
                                  &size) == SNAPPY_OK &&
            trod_crc32c_mask(trod_crc32c(block, size)) == trod_load_le32(p);
    free(block);
    return sound ? 32 : 0;
}

static size_t snappy_again_costs(const uint8_t *p, size_t n)
{
    const size_t len = n < CHUNK_HEADER ? 0 : trod_load_le32(p) >> 8;
    size_t size;

    if (*p > CHUNK_PLAIN || len <= CHECKSUM || len > CHUNK_MAX + CHECKSUM)
        return 0;
    if (*p == CHUNK_PLAIN)
        return len - CHECKSUM > BLOCK_MAX ? 0 : len;
    p += CHUNK_HEADER + CHECKSUM;
    n = n < CHUNK_HEADER + len ? 0 : len - CHECKSUM;
    return n == 0 || lib.snappy_uncompressed_length((const char *)p, n, &size) || size > BLOCK_MAX
               ? 0
               : size + len;
}

static void snappy_close(struct trod_stage *s)
{
    free(s->state);
}

static int snappy_enc_open(void **state, int level, struct trod_fault *fault)
{
    (void)level; /* snappy has none */
    const int status = need_library(fault);
    if (status != TROD_OK)
        return status;
    struct snappy_encoder *e = malloc(sizeof *e);
    if (!e)
        return trod_fault_nomem(fault, "the snappy filter");
    e->begun = false;
    e->n = 0;
    *state = e;
    return TROD_OK;
}

/* Write the N bytes at P, BLOCK_MAX at the most, as one chunk: plain where snappy saves nothing. */
static int put_chunk(struct snappy_encoder *e, const uint8_t *p, size_t n, struct trod_sink *sink)
{
    uint8_t *payload = e->out + CHUNK_HEADER + CHECKSUM;
    size_t size = CHUNK_MAX;
    uint32_t type = CHUNK_COMPRESSED;
    if (lib.snappy_compress((const char *)p, n, (char *)payload, &size) != SNAPPY_OK ||
        size >= n - n / 8) {
        type = CHUNK_PLAIN;
        size = n;
        memcpy(payload, p, n);
    }
    trod_store_le32(e->out, type | (uint32_t)(size + CHECKSUM) << 8);
    trod_store_le32(e->out + CHUNK_HEADER, trod_crc32c_mask(trod_crc32c(p, n)));
    return sink->put(sink, e->out, CHUNK_HEADER + CHECKSUM + size);
}

static int snappy_enc_write(void *state, const uint8_t *p, size_t n, bool finish,
                            struct trod_sink *sink)
{
    struct snappy_encoder *e = state;
    int status = TROD_OK;
    if (!e->begun) {
        e->begun = true;
        status = sink->put(sink, (const uint8_t *)IDENTIFIER, IDENTIFIER_SIZE);
    }
    while (status == TROD_OK && (n || (finish && e->n))) {
        if (e->n == 0 && n >= BLOCK_MAX) {
            status = put_chunk(e, p, BLOCK_MAX, sink);
            p += BLOCK_MAX;
            n -= BLOCK_MAX;
            continue;
        }
        const size_t some = n < BLOCK_MAX - e->n ? n : BLOCK_MAX - e->n;
        if (some)
            memcpy(e->block + e->n, p, some);
        e->n += some;
        p += some;
        n -= some;
        if (e->n == BLOCK_MAX || (finish && n == 0)) {
            status = put_chunk(e, e->block, e->n, sink);
            e->n = 0;
        }
    }
    e->begun = !finish;
    return status;
}

static size_t snappy_enc_piece(int level)
{
    (void)level;
    return TROD_WINDOW;
}

static void snappy_enc_close(void *state)
{
    free(state);
}
#endif

const struct trod_filter trod_filter_snappy = {
    .name = "snappy",
    .suffixes = {".sz", ".snappy"},
    .bid = snappy_bid,
#if TROD_HAVE_SNAPPY
    .open = snappy_open,
    .read = snappy_read,
    .close = snappy_close,
    .again = snappy_again,
    .again_costs = snappy_again_costs,
    .enc_open = snappy_enc_open,
    .enc_write = snappy_enc_write,
    .enc_close = snappy_enc_close,
    .enc_piece = snappy_enc_piece,
    .enc_once = IDENTIFIER_SIZE,
#endif
};
