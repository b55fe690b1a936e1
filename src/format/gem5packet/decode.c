/*
 * decode.c - reading packet traces of gem5.
 *
 * Implements docs/formats/gem5packet.md, "Reading": the messages of gem5's packet.proto, each
 * behind its length. Where a message begins does not show: no resync.
 */
#include "format/gem5packet/packet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAGIC = 4, STREAMS = 256 };

static const char *const suffixes[] = {".ptrc", NULL};

struct dec {
    bool headed;
    int32_t stream[STREAMS]; /* by pkt_id, -1: not met before */
};

/* A packet. */
struct packet {
    uint32_t has; /* bits 1 << enum gp_field */
    uint64_t field[GP_FIELDS];
};

/* The next field of a message: number, and its value or bytes. */
struct item {
    unsigned number, wire;
    uint64_t value;
    const uint8_t *p;
    size_t n;
};

/* Take the next field off [*P, E). False: it is none. */
static bool next_item(const uint8_t **p, const uint8_t *e, struct item *it)
{
    uint64_t tag;

    if (!gp_varint(p, e, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
        return false;
    *it = (struct item){.number = (unsigned)(tag >> 3), .wire = tag & 7};
    switch (it->wire) {
    case 0:
        return gp_varint(p, e, &it->value);
    case 1:
    case 5:
        it->n = it->wire == 1 ? 8 : 4;
        break;
    case 2:
        if (!gp_varint(p, e, &tag) || tag > GP_MESSAGE_MAX)
            return false;
        it->n = (size_t)tag;
        break;
    default:
        return false;
    }
    if ((size_t)(e - *p) < it->n)
        return false;
    it->p = *p;
    *p += it->n;
    return true;
}

/*
 * The message at *P, which is then behind it. False: it is not all there, or no length of one:
 * then *N is SIZE_MAX.
 */
static bool next_message(const uint8_t **p, const uint8_t *e, const uint8_t **message, size_t *n)
{
    const uint8_t *q = *p;
    uint64_t len;

    *n = 0;
    if (!gp_varint(&q, e, &len)) {
        if (e - *p >= 10)
            *n = SIZE_MAX;
        return false;
    }
    if (len > GP_MESSAGE_MAX) {
        *n = SIZE_MAX;
        return false;
    }
    if ((uint64_t)(e - q) < len)
        return false;
    *message = q;
    *n = (size_t)len;
    *p = q + len;
    return true;
}

static bool has_magic(const struct trod_span *head)
{
    return head->n >= MAGIC && memcmp(head->p, GP_MAGIC, MAGIC) == 0;
}

/* Is it the magic number but for one byte? Then it is damaged, and not another format's. */
static bool is_nearly_magic(const struct trod_span *head)
{
    unsigned same = 0;

    for (unsigned i = 0; i < MAGIC && head->n >= MAGIC; i++)
        same += head->p[i] == (uint8_t)GP_MAGIC[i];
    return same == MAGIC - 1;
}

/* The magic number, and a header that says how long a tick is. */
static int bid(const struct trod_probe *probe, const char **dialect)
{
    const uint8_t *p = probe->head.p + MAGIC, *e = probe->head.p + probe->head.n, *message;
    struct item it;
    size_t n;

    (void)dialect;
    if (!has_magic(&probe->head) || !next_message(&p, e, &message, &n))
        return 0;
    for (e = message + n; message < e;)
        if (!next_item(&message, e, &it))
            return 0;
        else if (it.number == GP_TICK_FREQ && it.wire == 0)
            return 56;
    return 0;
}

/* The stream of pkt_id ID, called NAME. */
static int add_stream(struct dec *d, struct trod_meta *meta, uint64_t id, const char *name,
                      size_t n)
{
    const int stream = trod_meta_stream(meta, name, n);

    if (stream < 0)
        return stream;
    if (meta->streams[stream].cpu == TROD_NOWHERE)
        meta->streams[stream].cpu = id;
    if (id < STREAMS)
        d->stream[id] = stream;
    return stream;
}

/* A name of the header: which pkt_id it is of. */
static int take_name(struct dec *d, struct trod_meta *meta, const struct item *entry)
{
    const uint8_t *p = entry->p, *e = p + entry->n;
    struct item it, name = {0};
    uint64_t key = 0;

    while (p < e && next_item(&p, e, &it)) {
        if (it.number == 1 && it.wire == 0)
            key = it.value;
        if (it.number == 2 && it.wire == 2)
            name = it;
    }
    if (name.n == 0 || name.n > 255)
        return TROD_OK;
    return add_stream(d, meta, key, (const char *)name.p, name.n);
}

/* 10^12, 10^9, ... ticks a second are ps, ns, ... */
static uint8_t unit_of(uint64_t freq)
{
    static const uint8_t units[] = {TROD_UNIT_FS, TROD_UNIT_PS, TROD_UNIT_NS,
                                    TROD_UNIT_US, TROD_UNIT_MS, TROD_UNIT_S};
    uint64_t power = UINT64_C(1000000000000000);

    for (size_t i = 0; i < sizeof units; i++, power /= 1000)
        if (freq == power)
            return units[i];
    return TROD_UNIT_NONE;
}

static int take_header(struct dec *d, struct trod_meta *meta, const uint8_t *p, const uint8_t *e)
{
    struct item it;
    int rc = trod_meta_keep(meta, GP_KEPT_HEADER, p, (size_t)(e - p));

    while (rc >= 0 && p < e && next_item(&p, e, &it)) {
        if (it.number == GP_TICK_FREQ && it.wire == 0)
            meta->unit = unit_of(it.value);
        if (it.number == GP_ID_STRINGS && it.wire == 2)
            rc = take_name(d, meta, &it);
    }
    return rc < 0 ? rc : TROD_OK;
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    const uint8_t *p = head->p + MAGIC, *e = head->p + head->n, *message;
    struct dec *d = dec;
    size_t n;

    (void)opt;
    for (unsigned i = 0; i < STREAMS; i++)
        d->stream[i] = -1;
    meta->addr_bits = 64;
    if (head->n == 0)
        return TROD_OK;
    if (!has_magic(head)) {
        const struct trod_place at = trod_place_offset(NULL, 0);
        const int rc = trod_error(diag, TROD_ERR_CORRUPT, "gem5packet.magic", &at,
                                  "a packet trace begins with '" GP_MAGIC "'");

        if (!is_nearly_magic(head) || (diag && diag->strict))
            return rc;
    }
    return next_message(&p, e, &message, &n) ? take_header(d, meta, message, message + n) : TROD_OK;
}

/* The packet of N bytes at P; false: they are none. */
static bool parse(const uint8_t *p, size_t n, struct packet *out)
{
    const uint8_t *e = p + n;
    struct item it;

    out->has = 0;
    while (p < e) {
        if (!next_item(&p, e, &it))
            return false;
        if (it.number >= GP_FIELDS || it.wire != 0)
            continue;
        out->has |= 1u << it.number;
        out->field[it.number] = it.value;
    }
    return out->has >> GP_TICK & 1 && out->has >> GP_CMD & 1;
}

static int stream_of(struct dec *d, struct trod_meta *meta, uint64_t id)
{
    char name[24];
    int n;

    if (id < STREAMS && d->stream[id] >= 0)
        return d->stream[id];
    n = snprintf(name, sizeof name, "%" PRIu64, id);
    return add_stream(d, meta, id, name, (size_t)n);
}

/* Append the row of packet K. Returns 0 or an error of its stream. */
static int add_row(struct dec *d, struct trod_batch *b, const struct packet *k,
                   struct trod_slice raw)
{
    const uint64_t flags = k->has >> GP_FLAGS & 1 ? k->field[GP_FLAGS] : 0;
    const uint64_t cmd = k->field[GP_CMD];
    const bool known = cmd == GP_READ_REQ || cmd == GP_WRITE_REQ;
    const uint32_t at = b->n;

    b->has[at] = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_TIME | TROD_COL_SUB | TROD_COL_RAW;
    if (k->has >> GP_PKT_ID & 1) {
        const int stream = stream_of(d, b->meta, k->field[GP_PKT_ID]);

        if (stream < 0)
            return stream;
        b->stream[at] = (uint32_t)stream;
        b->has[at] |= TROD_COL_STREAM;
    }
    b->n++;
    b->kind[at] = !known                ? TROD_NOTE
                  : cmd == GP_WRITE_REQ ? TROD_WRITE
                  : flags & GP_FETCH    ? TROD_INSTR
                                        : TROD_READ;
    b->flags[at] = (flags & GP_UNCACHED ? (uint32_t)TROD_F_UNCACHED : 0) |
                   (flags & GP_LOCKED ? (uint32_t)TROD_F_LOCKED : 0) |
                   (flags & GP_LLSC ? (uint32_t)TROD_F_EXCLUSIVE : 0);
    b->sub[at] = cmd > UINT16_MAX ? UINT16_MAX : (uint16_t)cmd;
    b->time[at] = k->field[GP_TICK];
    b->raw[at] = raw;
    if (k->has >> GP_ADDR & 1) {
        b->addr[at] = k->field[GP_ADDR];
        b->has[at] |= TROD_COL_ADDR;
    }
    if (k->has >> GP_SIZE & 1 && k->field[GP_SIZE] <= UINT32_MAX) {
        b->size[at] = (uint32_t)k->field[GP_SIZE];
        b->has[at] |= TROD_COL_SIZE;
    }
    if (k->has >> GP_PC & 1 || (b->kind[at] == TROD_INSTR && k->has >> GP_ADDR & 1)) {
        b->pc[at] = k->has >> GP_PC & 1 ? k->field[GP_PC] : k->field[GP_ADDR];
        b->has[at] |= TROD_COL_PC;
    }
    return TROD_OK;
}

/* Step over the magic number and the header. False: they are not there yet. */
static bool skip_head(struct dec *d, struct trod_span *in)
{
    const uint8_t *p = in->p + MAGIC, *message;
    size_t n;

    if (in->n < MAGIC || !next_message(&p, in->p + in->n, &message, &n))
        return false;
    in->n -= (size_t)(p - in->p);
    in->offset += (uint64_t)(p - in->p);
    in->p = p;
    d->headed = true;
    return true;
}

static int bad(const struct trod_span *in, const uint8_t *p, int status, const char *kind,
               const char *what, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_offset(NULL, in->offset + (uint64_t)(p - in->p));

    return trod_error(diag, status, kind, &at, "%s", what);
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *b, struct trod_diag *diag)
{
    struct dec *d = dec;
    const uint8_t *const base = in->p, *p;
    int rc = TROD_DEC_MORE;
    size_t n = 0;

    b->have = GP_READS & (b->want | TROD_COL_KIND);
    if (!d->headed && !skip_head(d, in)) {
        if (in->last && in->n)
            return bad(in, in->p, TROD_ERR_TRUNCATED, "gem5packet.truncated",
                       "trace ends in its header", diag);
        return TROD_DEC_MORE;
    }
    for (p = in->p; rc == TROD_DEC_MORE;) {
        const uint8_t *q = p, *message;
        struct packet k;

        if (!next_message(&q, in->p + in->n, &message, &n))
            break;
        if (b->n == b->cap || q - base >= TROD_SLICE_SHARED) {
            rc = TROD_DEC_FULL;
            break;
        }
        if (parse(message, n, &k)) {
            rc = add_row(d, b, &k, (struct trod_slice){(uint32_t)(p - base), (uint32_t)(q - p)});
        } else {
            const int status = bad(in, p, TROD_ERR_CORRUPT, "gem5packet.bad",
                                   "message is no packet with a tick and a command", diag);

            if (diag && diag->strict)
                rc = status;
        }
        if (rc == TROD_DEC_MORE)
            p = q;
    }
    if (rc == TROD_DEC_MORE && n == SIZE_MAX)
        rc = bad(in, p, TROD_ERR_CORRUPT, "gem5packet.length",
                 "length of a message is out of all proportion; what follows cannot be read", diag);
    else if (rc == TROD_DEC_MORE && in->last && p < in->p + in->n)
        rc =
            bad(in, p, TROD_ERR_TRUNCATED, "gem5packet.truncated", "trace ends in a message", diag);
    in->offset += (uint64_t)(p - in->p);
    in->n -= (size_t)(p - in->p);
    in->p = p;
    return rc;
}

const struct trod_format trod_format_gem5packet = {
    .name = "gem5packet",
    .title = "packet trace of gem5 (protobuf)",
    .suffixes = suffixes,
    .reads = GP_READS,
    .writes = GP_READS | TROD_COL_UNIT, /* which says what a time is */
    .kinds = 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_NOTE,
    .flags = TROD_FMT_MAGIC,
    .row_max = 1 << 9,
    .dec_size = sizeof(struct dec),
    .enc_size = sizeof(struct gp_enc),
    .bid = bid,
    .start = start,
    .decode = decode,
    .begin = gp_begin,
    .encode = gp_encode,
    .finish = gp_finish,
    .target = gp_target,
    .keeps = gp_keeps,
    .drop = gp_drop,
};
