/*
 * encode.c - writing packet traces of gem5.
 *
 * Implements docs/formats/gem5packet.md, "Writing".
 */
#include "format/gem5packet/packet.h"

#include <string.h>

enum {
    PACKET_MAX = 128, /* bytes of a packet with its length */
    HEADER_ROOM = 64
};

static const char object[] = "system.cpu.dcache_port";

static bool has(const struct trod_batch *b, uint32_t row, uint32_t columns)
{
    return (b->have & b->has[row] & columns) == columns;
}

int gp_begin(void *state, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    struct gp_enc *enc = state;

    (void)opt;
    (void)diag;
    enc->meta = meta;
    enc->own = meta && meta->format && strcmp(meta->format, "gem5packet") == 0;
    return TROD_OK;
}

void gp_drop(void *enc)
{
    fmt_last_pc_fini(&((struct gp_enc *)enc)->last);
}

int gp_target(void *enc, const struct trod_target *t, struct trod_diag *diag)
{
    (void)diag;
    ((struct gp_enc *)enc)->loss = t->loss;
    return TROD_OK;
}

void gp_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    const uint32_t flags = TROD_F_UNCACHED | TROD_F_LOCKED | TROD_F_EXCLUSIVE;

    (void)opt;
    if (meta->format && strcmp(meta->format, "gem5packet") == 0)
        return;
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        k->flags[i] = flags;
    }
    k->flags[TROD_BUS] |= TROD_F_IFETCH;
}

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

static uint8_t *put_field(uint8_t *p, unsigned number, uint64_t v)
{
    return put_varint(put_varint(p, number << 3), v);
}

static uint8_t *put_text(uint8_t *p, unsigned number, const char *s, size_t n)
{
    p = put_varint(put_varint(p, number << 3 | 2), n);
    memcpy(p, s, n);
    return p + n;
}

static size_t varint_size(uint64_t v)
{
    size_t n = 1;

    for (; v > 0x7f; v >>= 7)
        n++;
    return n;
}

/* Bytes of the entry that names STREAM; 0: its name is too long. */
static size_t entry_size(const struct trod_stream *s, uint64_t id)
{
    return s->name_len > 255 ? 0 : 2 + varint_size(id) + varint_size(s->name_len) + s->name_len;
}

static uint64_t id_of(const struct gp_enc *enc, uint32_t stream)
{
    const struct trod_meta *m = enc->meta;

    if (enc->own && m && stream < m->n_streams && m->streams[stream].cpu != TROD_NOWHERE)
        return m->streams[stream].cpu;
    return stream;
}

/* The header's bytes without its length, or how many they are (P NULL). */
static size_t make_header(const struct gp_enc *enc, uint8_t *p)
{
    const struct trod_meta *m = enc->meta;
    const uint64_t freq = UINT64_C(1000000000000);
    size_t n = 2 + sizeof object - 1 + 1 + varint_size(freq);

    if (p) {
        p = put_text(p, GP_OBJECT, object, sizeof object - 1);
        p = put_field(p, GP_TICK_FREQ, freq);
    }
    for (uint32_t i = 0; m && i < m->n_streams; i++) {
        const struct trod_stream *s = &m->streams[i];
        const uint64_t id = id_of(enc, i);
        const size_t size = entry_size(s, id);

        if (size == 0 || n + size > GP_MESSAGE_MAX - HEADER_ROOM)
            continue;
        n += 1 + varint_size(size) + size;
        if (p) {
            p = put_varint(put_varint(p, GP_ID_STRINGS << 3 | 2), size);
            p = put_text(put_field(p, 1, id), 2, s->name, s->name_len);
        }
    }
    return n;
}

/* The magic number and the header; false: there is no room for it. */
static bool put_header(struct gp_enc *enc, struct trod_room *out)
{
    size_t n = 0;
    const void *kept = enc->own ? trod_meta_file(enc->meta, GP_KEPT_HEADER, &n) : NULL;

    if (enc->begun)
        return true;
    if (!kept)
        n = make_header(enc, NULL);
    if ((size_t)(out->end - out->p) < n + HEADER_ROOM)
        return false;
    memcpy(out->p, GP_MAGIC, 4);
    out->p = put_varint(out->p + 4, n);
    if (kept)
        memcpy(out->p, kept, n);
    else
        make_header(enc, out->p);
    out->p += n;
    enc->begun = true;
    return true;
}

/* Picoseconds of the time V in UNIT: *TICK. A clock counts as a nanosecond. False: no number. */
static bool ticks(const struct gp_enc *enc, uint64_t v, uint8_t unit, uint64_t *tick)
{
    static const uint64_t scale[16] = {
        [TROD_UNIT_NONE] = 1000,       [TROD_UNIT_CLK] = 1000,       [TROD_UNIT_PS] = 1,
        [TROD_UNIT_NS] = 1000,         [TROD_UNIT_US] = 1000000,     [TROD_UNIT_MS] = 1000000000,
        [TROD_UNIT_S] = 1000000000000, [TROD_UNIT_CS] = 10000000000, [TROD_UNIT_CYC] = 1000,
        [TROD_UNIT_CYCLES] = 1000,     [TROD_UNIT_TIC] = 1000};
    uint64_t by = unit ? scale[unit & 15] : enc->own ? 1 : 1000, divide = 1;

    for (unsigned i = 0; i < trod_unit_decimals(unit); i++)
        divide *= 10;
    if ((unit & 15) == TROD_UNIT_FS) {
        by = 1;
        divide *= 1000;
    } else if (by == 0) {
        by = 1000; /* a unit of the trace's own */
    }
    while (divide >= 10 && by >= 10) {
        divide /= 10;
        by /= 10;
    }
    if (__builtin_mul_overflow(v, by, tick) || *tick % divide)
        return false;
    *tick /= divide;
    return true;
}

/* Go on to the tick of ROW; without a time, or one that there is no tick for, it stays. */
static void go_on(struct gp_enc *enc, const struct trod_batch *b, uint32_t row)
{
    const uint8_t unit = has(b, row, TROD_COL_UNIT) ? b->unit[row]
                         : enc->meta                ? enc->meta->unit
                                                    : 0;
    uint64_t tick;

    if (!has(b, row, TROD_COL_TIME))
        return;
    if (ticks(enc, b->time[row], unit, &tick))
        enc->tick = tick;
    else
        trod_loss_columns(enc->loss, b, row, TROD_COL_TIME, "it is no number of picoseconds");
}

/* The pc of ROW: its own, or that of the last instruction of its stream. False: not known. */
static bool pc_of(struct gp_enc *enc, const struct trod_batch *b, uint32_t row, uint64_t *pc)
{
    const uint32_t stream = has(b, row, TROD_COL_STREAM) ? b->stream[row] : 0;

    if (b->kind[row] == TROD_INSTR && has(b, row, TROD_COL_ADDR))
        fmt_last_pc_set(&enc->last, stream, b->addr[row]);
    if (has(b, row, TROD_COL_PC)) {
        *pc = b->pc[row];
        return true;
    }
    if (b->kind[row] == TROD_INSTR && has(b, row, TROD_COL_ADDR)) {
        *pc = b->addr[row];
        return true;
    }
    *pc = fmt_last_pc_of(&enc->last, stream);
    return *pc != 0;
}

/* A packet of ROW with command CMD. */
static uint8_t *put_packet(struct gp_enc *enc, const struct trod_batch *b, uint32_t row,
                           uint64_t cmd, bool fetch, uint64_t addr, uint8_t *p)
{
    const uint32_t said = has(b, row, TROD_COL_FLAGS) ? b->flags[row] : 0;
    const uint64_t flags = (fetch ? (uint64_t)GP_FETCH : 0) |
                           (said & TROD_F_UNCACHED ? (uint64_t)GP_UNCACHED : 0) |
                           (said & TROD_F_LOCKED ? (uint64_t)GP_LOCKED : 0) |
                           (said & TROD_F_EXCLUSIVE ? (uint64_t)GP_LLSC : 0);
    uint8_t message[PACKET_MAX], *q = message;
    uint64_t pc;

    q = put_field(q, GP_TICK, enc->tick);
    q = put_field(q, GP_CMD, cmd);
    q = put_field(q, GP_ADDR, addr);
    q = put_field(q, GP_SIZE, has(b, row, TROD_COL_SIZE) ? b->size[row] : 1);
    if (flags)
        q = put_field(q, GP_FLAGS, flags);
    if (has(b, row, TROD_COL_STREAM))
        q = put_field(q, GP_PKT_ID, id_of(enc, b->stream[row]));
    if (pc_of(enc, b, row, &pc))
        q = put_field(q, GP_PC, pc);
    p = put_varint(p, (uint64_t)(q - message));
    memcpy(p, message, (size_t)(q - message));
    return p + (q - message);
}

static uint8_t *put_row(struct gp_enc *enc, const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    const uint8_t kind = b->kind[row];
    const bool fetch = kind == TROD_INSTR || (kind == TROD_BUS && has(b, row, TROD_COL_FLAGS) &&
                                              (b->flags[row] & TROD_F_IFETCH));
    uint64_t addr;

    if (!fetch && kind != TROD_READ && kind != TROD_WRITE && kind != TROD_ATOMIC) {
        trod_loss_row(enc->loss, b, row, "packets are reads and writes");
        return p;
    }
    if (!has(b, row, TROD_COL_ADDR) && !has(b, row, TROD_COL_PADDR)) {
        trod_loss_row(enc->loss, b, row, "it has no address");
        return p;
    }
    addr = has(b, row, TROD_COL_ADDR) ? b->addr[row] : b->paddr[row];
    go_on(enc, b, row);
    if (kind != TROD_WRITE)
        p = put_packet(enc, b, row, GP_READ_REQ, fetch, addr, p);
    if (kind == TROD_WRITE || kind == TROD_ATOMIC)
        p = put_packet(enc, b, row, GP_WRITE_REQ, false, addr, p);
    return p;
}

int gp_encode(void *state, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
              struct trod_diag *diag)
{
    struct gp_enc *enc = state;

    (void)diag;
    if (!put_header(enc, out))
        return TROD_ENC_FULL;
    for (; *row < in->n; ++*row) {
        const bool copy = enc->own && has(in, *row, TROD_COL_RAW);
        const size_t n = copy ? in->raw[*row].len : 0;

        if ((size_t)(out->end - out->p) < 2 * PACKET_MAX + n)
            return TROD_ENC_FULL;
        if (copy) {
            memcpy(out->p, trod_batch_bytes(in, in->raw[*row]), n);
            out->p += n;
        } else {
            out->p = put_row(enc, in, *row, out->p);
        }
    }
    return TROD_ENC_DONE;
}

/* A trace without packets has its header. */
int gp_finish(void *enc, struct trod_room *out, struct trod_diag *diag)
{
    (void)diag;
    return put_header(enc, out) ? TROD_ENC_DONE : TROD_ENC_FULL;
}
