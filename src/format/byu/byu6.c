/*
 * byu6.c - BYU address traces, 6 bytes a record: bus references of a Pentium.
 *
 * Implements "Address Trace Specification V1.0" (Performance Evaluation Laboratory, Brigham Young
 * University, 1996) as laid out in docs/formats/byu.md. A record is one row whose detail is the
 * record itself. There is no header; a decoder can begin at any multiple of 6 and nowhere else, and
 * the bytes alone do not show where that is: no resync.
 */
#include "format/byu/byu.h"

#include "core/endian.h"
#include "trod/detail.h"

#include <stdio.h>
#include <string.h>

enum {
    RECORD = 6,
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PADDR |
            TROD_COL_SUB | TROD_COL_DETAIL | TROD_COL_RAW
};

/* The transactions: control >> 4. */
static const struct {
    char name[12];
    uint8_t valid, kind;
    uint32_t flags;
} codes[16] = {
    [0] = {"INVALID", 0, TROD_MARKER, 0},
    [1] = {"INT_ACK", 1, TROD_MARKER, 0},
    [2] = {"INVALID", 0, TROD_MARKER, 0},
    [3] = {"SPECIAL", 1, TROD_MARKER, 0},
    [4] = {"INVALID", 0, TROD_MARKER, 0},
    [5] = {"IO_READ", 1, TROD_READ, TROD_F_IO},
    [6] = {"INVALID", 0, TROD_MARKER, 0},
    [7] = {"IO_WRITE", 1, TROD_WRITE, TROD_F_IO},
    [8] = {"I_FETCH", 1, TROD_BUS, TROD_F_IFETCH},
    [9] = {"NC_I_FETCH", 1, TROD_BUS, TROD_F_IFETCH | TROD_F_UNCACHED},
    [10] = {"INVALID", 0, TROD_MARKER, 0},
    [11] = {"INVALID", 0, TROD_MARKER, 0},
    [12] = {"D_READ", 1, TROD_READ, 0},
    [13] = {"NC_D_READ", 1, TROD_READ, TROD_F_UNCACHED},
    [14] = {"WRITE_BACK", 1, TROD_WRITE, 0},
    [15] = {"D_WRITE", 1, TROD_WRITE, 0},
};

static const char *const suffixes[] = {".byu6", NULL};
static const char *const dialects[] = {"complete", "cached", NULL};

/*
 * What the enables mean: size in bits 0-3 (the zero bits), the lowest requested byte in bits 4-6,
 * in bit 7 that nothing is requested (the address is then taken as it stands), and in bit 8 that
 * the requested bytes are not neighbours.
 */
#define BIT0(e, i) (((e) >> (i)&1) == 0)
#define COUNT(e)                                                                                   \
    (BIT0(e, 0) + BIT0(e, 1) + BIT0(e, 2) + BIT0(e, 3) + BIT0(e, 4) + BIT0(e, 5) + BIT0(e, 6) +    \
     BIT0(e, 7))
#define LOWEST(e)                                                                                  \
    (BIT0(e, 0)   ? 0                                                                              \
     : BIT0(e, 1) ? 1                                                                              \
     : BIT0(e, 2) ? 2                                                                              \
     : BIT0(e, 3) ? 3                                                                              \
     : BIT0(e, 4) ? 4                                                                              \
     : BIT0(e, 5) ? 5                                                                              \
     : BIT0(e, 6) ? 6                                                                              \
     : BIT0(e, 7) ? 7                                                                              \
                  : 8)
/* The requested bytes, from the lowest on, are one run when adding its bit leaves at most one. */
#define RUN(e) ((~(e)&0xff) + (1 << LOWEST(e)))
#define GAP(e) ((RUN(e) & (RUN(e) - 1)) != 0 && ((e)&0xff) != 0xff)
#define E1(e)  (COUNT(e) | LOWEST(e) << 4 | GAP(e) << 8)
#define E4(e)  E1(e), E1((e) + 1), E1((e) + 2), E1((e) + 3)
#define E16(e) E4(e), E4((e) + 4), E4((e) + 8), E4((e) + 12)
#define E64(e) E16(e), E16((e) + 16), E16((e) + 32), E16((e) + 48)
static const uint16_t enables[256] = {E64(0), E64(64), E64(128), E64(192)};

struct dec {
    uint32_t unused;
};

struct enc {
    struct byu_rows rows;
};

/*
 * Bits that a control byte weighs, and an address. Foreign data are often words whose low byte is a
 * multiple of 4: one in four of these ends in four zero bits, and 10 of 16 transactions are valid;
 * one in two is a multiple of 8.
 */
static const double valid_bits = 2.7, straight_bits = 1;

/*
 * Evidence (docs/formats/byu.md, "Detection"): only a record that was not there before counts, for
 * what differs from the one before it, so that a repeated pattern is no evidence, however long.
 */
static int bid(const struct trod_probe *probe, const char **dialect)
{
    const uint8_t *p = probe->head.p;
    size_t n = probe->head.n / RECORD, bad = 0, crooked = 0, changes = 0, moves = 0;
    size_t cached = 0, uncached = 0;
    struct byu_seen seen = {{{0}}};
    double bits;

    for (size_t i = 0; i < n && bad <= n / 64; i++, p += RECORD) {
        const bool fresh = byu_is_new(&seen, trod_load_be32(p), (unsigned)p[4] << 8 | p[5]);
        unsigned code = p[5] >> 4;

        bad += (p[5] & 15) || !codes[code].valid;
        crooked += (p[3] & 7) != 0;
        changes += fresh && (i == 0 || p[5] != p[5 - RECORD]);
        moves += fresh && (i == 0 || memcmp(p, p - RECORD, 4) != 0);
        cached += code == 8 || code == 12;
        uncached += code == 9 || code == 13;
    }
    *dialect = cached == 0 && uncached > 0 ? "complete" : "cached";
    if (n == 0 || bad > n / 64)
        return 0;
    bits = valid_bits * ((double)changes - 8.0 * (double)bad);
    if (crooked <= n / 64)
        bits += straight_bits * ((double)moves - 8.0 * (double)crooked);
    if (bad == 0 && bits < TROD_BID_NAMED) /* a name can settle it */
        bits = TROD_BID_NAMED;
    return bits < 1 ? 0 : bits > 60 ? 60 : (int)bits;
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    (void)dec;
    (void)opt;
    (void)head;
    (void)diag;
    meta->isa = TROD_ISA_X86_32;
    meta->endian = TROD_ENDIAN_LITTLE;
    meta->addr_bits = 32;
    meta->line_size = 32;
    return TROD_OK;
}

/* The columns that differ from row to row, of N records at P. */
static void fill_columns(struct trod_batch *b, const uint8_t *p, uint32_t n)
{
    uint64_t *restrict addr = b->addr, *restrict paddr = b->paddr;
    uint32_t *restrict flags = b->flags, *restrict size = b->size;
    uint16_t *restrict sub = b->sub;
    uint8_t *restrict kind = b->kind;

    for (uint32_t i = 0; i < n; i++, p += RECORD) {
        uint32_t address = trod_load_be32(p);
        unsigned e = enables[p[4]], code = p[5] >> 4;
        /* nothing requested (lowest = 8): the address as it stands */
        uint32_t at = (address & ~(e & 0x80 ? 0u : 7u)) + (e >> 4 & 7);

        addr[i] = at;
        paddr[i] = at;
        size[i] = e & 15;
        sub[i] = (uint16_t)code;
        kind[i] = codes[code].kind;
        flags[i] = codes[code].flags | (e >> 8) * TROD_F_HOLES;
    }
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    const uint32_t n = byu_records_begin(&trod_format_byu6, in, out);

    (void)dec;
    fill_columns(out, in->p, n);
    return byu_records_end(&trod_format_byu6, "byu6.truncated", n, in, out, diag);
}

static int begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    (void)diag;
    byu_rows_begin(&((struct enc *)enc)->rows, "byu6", opt, meta);
    return TROD_OK;
}

static int target(void *enc, const struct trod_target *t, struct trod_diag *diag)
{
    (void)diag;
    ((struct enc *)enc)->rows.loss = t->loss;
    return TROD_OK;
}

static void keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    (void)opt;
    byu_rows_keeps("byu6", meta, k);
}

static void put_reference(uint8_t *p, const struct byu_reference *ref)
{
    static const uint8_t control[BYU_OPS][2] = {
        [BYU_FETCH] = {8, 9},       [BYU_READ] = {12, 13},   [BYU_READ_OWN] = {12, 13},
        [BYU_WRITE] = {15, 15},     [BYU_IO_READ] = {5, 5},  [BYU_IO_WRITE] = {7, 7},
        [BYU_INT_ACK] = {1, 1},     [BYU_SHUTDOWN] = {3, 3}, [BYU_FLUSH] = {3, 3},
        [BYU_HALT] = {3, 3},        [BYU_SYNC] = {3, 3},     [BYU_FLUSH_ACK] = {3, 3},
        [BYU_BRANCH_TRACE] = {3, 3}};
    unsigned bytes = ((1u << ref->n) - 1) << ref->first;

    if (ref->op >= BYU_SHUTDOWN)
        bytes = 1u << (ref->op - BYU_SHUTDOWN);
    trod_store_be32(p, ref->address);
    p[4] = (uint8_t)~bytes;
    p[5] = (uint8_t)(control[ref->op][ref->uncached] << 4);
}

/* Rows whose records stand in their detail. Returns how many were copied. */
static uint32_t copy_rows(const struct trod_batch *in, uint32_t row, struct trod_room *out)
{
    uint32_t from = row;

    while (row < in->n && out->end - out->p >= RECORD) {
        const void *d = trod_batch_detail(in, row);

        if (!d)
            break;
        memcpy(out->p, d, RECORD);
        out->p += RECORD;
        row++;
    }
    return row - from;
}

static int encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
                  struct trod_diag *diag)
{
    struct byu_rows *rows = &((struct enc *)enc)->rows;
    struct byu_reference ref;

    while (*row < in->n) {
        if (rows->source == BYU_FROM_6 && rows->done == 0)
            *row += copy_rows(in, *row, out);
        if (out->end - out->p < RECORD)
            return *row < in->n ? TROD_ENC_FULL : TROD_ENC_DONE;
        if (*row == in->n)
            break;
        if (byu_rows_next(rows, in, *row, &ref, diag)) {
            put_reference(out->p, &ref);
            out->p += RECORD;
        } else {
            ++*row;
        }
    }
    return TROD_ENC_DONE;
}

/* The line that the specification's sample program prints (with the address in its true order). */
static int native(struct trod_native *listing, const struct trod_batch *b, uint32_t row,
                  struct trod_room *out)
{
    const uint8_t *d = row == TROD_NATIVE_END ? NULL : trod_batch_detail(b, row);
    char line[32];
    int n;

    (void)listing;
    if (!d)
        return TROD_ENC_DONE;
    n = snprintf(line, sizeof line, "%08x %02x %s\n", (unsigned)trod_load_be32(d), d[4],
                 codes[d[5] >> 4].name);
    return byu_line(out, line, n);
}

static const char *sub_name(unsigned kind, unsigned sub)
{
    (void)kind;
    return sub < 16 ? codes[sub].name : NULL;
}

/* Every record stands for itself. */
static int save(void *state, struct trod_buf *out, struct trod_buf *log)
{
    (void)state;
    (void)out;
    (void)log;
    return TROD_OK;
}

static int load(void *state, struct trod_span *in, struct trod_span *log)
{
    (void)state;
    (void)in;
    (void)log;
    return TROD_OK;
}

static bool verbatim(const void *opt_in, const char *dialect_in, const void *opt_out)
{
    (void)opt_in;
    (void)dialect_in;
    (void)opt_out;
    return true;
}

const struct trod_format trod_format_byu6 = {
    .name = "byu6",
    .title = "BYU address trace V1.0 (Pentium bus, 6 bytes a record)",
    .suffixes = suffixes,
    .dialects = dialects,
    .reads = READS,
    .isas = 1u << TROD_ISA_X86_32,
    .kinds = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_MARKER | 1u << TROD_BUS,
    .flags = TROD_FMT_BUS,
    .writes = READS,
    .row_max = RECORD,
    .options = byu_options,
    .options_size = sizeof(struct byu_options),
    .dec_size = sizeof(struct dec),
    .enc_size = sizeof(struct enc),
    .defaults = &byu_defaults,
    .bid = bid,
    .start = start,
    .decode = decode,
    .stride = RECORD,
    .begin = begin,
    .encode = encode,
    .target = target,
    .keeps = keeps,
    .verbatim = verbatim,
    .native = native,
    .sub_name = sub_name,
    .subs = 16,
    .streams = "agent",
    .save = save,
    .load = load,
};
