/*
 * byu12.c - BYUADDRESSTRACE v1.0 and v1.1, 12 bytes a record: bus requests of a Pentium II or Xeon.
 *
 * Implements docs/formats/byu.md, "byu12". A record is one row whose detail is the record itself.
 * Times are kept as differences, so a decoder that begins anywhere but at the start would not know
 * the clock: no resync.
 */
#include "format/byu/byu.h"

#include "core/endian.h"
#include "core/pack.h"
#include "core/wide.h"
#include "format/outline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECORD = 12,
    NO_STREAM = -1, /* of a processor not met before */
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
            TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_SUB | TROD_COL_DETAIL | TROD_COL_RAW
};

#define NO_TIME UINT32_MAX /* delta of a first record: no request before it */

/*
 * The request types; all others are kept as notes. One word a type, for speed: flags, kind from bit
 * 26 on, and in bit 31 that attributes say whether memory is cacheable.
 */
#define KIND(kind) ((uint32_t)(kind) << 26)
#define CACHEABLE  (UINT32_C(1) << 31)

static const uint32_t facts[256] = {
    [0x00] = KIND(TROD_BUS) | TROD_F_IFETCH | CACHEABLE,
    [0x01] = KIND(TROD_READ) | CACHEABLE,
    [0x02] = KIND(TROD_READ) | CACHEABLE,
    [0x03] = KIND(TROD_WRITE) | CACHEABLE,
    [0x10] = KIND(TROD_READ) | TROD_F_IO,
    [0x11] = KIND(TROD_WRITE) | TROD_F_IO,
    [0x20] = KIND(TROD_MARKER),
    [0x21] = KIND(TROD_MARKER),
    [0x22] = KIND(TROD_MARKER),
    [0x23] = KIND(TROD_MARKER),
    [0x31] = KIND(TROD_MARKER),
    [0x32] = KIND(TROD_MARKER),
    [0x33] = KIND(TROD_MARKER),
    [0x34] = KIND(TROD_MARKER),
    [0x35] = KIND(TROD_MARKER),
    [0x36] = KIND(TROD_MARKER),
    [0x37] = KIND(TROD_MARKER),
};

static const char *const names[256] = {
    [0x00] = "FETCH",        [0x01] = "MEMREAD",    [0x02] = "MEMREADINV", [0x03] = "MEMWRITE",
    [0x10] = "IOREAD",       [0x11] = "IOWRITE",    [0x20] = "DEFERREPLY", [0x21] = "INTA",
    [0x22] = "CNTRLAGNTRES", [0x23] = "BRTRACEREC", [0x31] = "SHUTDOWN",   [0x32] = "FLUSH",
    [0x33] = "HALT",         [0x34] = "SYNC",       [0x35] = "FLUSHACK",   [0x36] = "STOPCLKACK",
    [0x37] = "SMIACK",
};

static const char *const suffixes[] = {".byu12", ".tr", NULL};

struct dec {
    uint64_t time;
    int32_t stream[256]; /* by processor */
    bool begun;
};

struct enc {
    struct byu_rows rows;
    const struct trod_meta *meta;
    uint64_t time;
    bool begun; /* a record is written */
    bool timed; /* of a row with a time */
};

static bool plausible(const uint8_t *p)
{
    return names[p[4]] && (p[5] <= 8 || p[5] == 16 || p[5] == 32) && p[7] < 16;
}

/* As byu6: only records that were not there before are evidence. Times are not looked at. */
static int bid(const struct trod_probe *probe, const char **dialect)
{
    const uint8_t *p = probe->head.p;
    size_t n = probe->head.n / RECORD, bad = 0, moves = 0, types_differ = 0, late = 0;
    struct byu_seen seen = {{{0}}};
    double bits;

    (void)dialect;
    for (size_t i = 0; i < n && bad <= n / 64; i++, p += RECORD) {
        const bool fresh = byu_is_new(&seen, trod_load_le32(p), trod_load_le32(p + 4));
        const bool moved = fresh && (i == 0 || memcmp(p, p - RECORD, 4) != 0);

        bad += !plausible(p);
        moves += moved && plausible(p);
        types_differ += moved && plausible(p) && p[5] > 0 && (i == 0 || p[4] != p[4 - RECORD]);
        late += p[11] > 0 && i > 0; /* a gap of 16 M ticks and more */
    }
    if (n == 0 || bad > n / 64 || late > n / 16 || types_differ == 0)
        return 0;
    bits = 3.0 * (double)types_differ + 0.5 * (double)moves - 24.0 * (double)bad;
    if (trod_load_le32(probe->head.p + 8) == NO_TIME)
        bits += 24;
    if (bad == 0 && bits < TROD_BID_NAMED) /* a name can settle it */
        bits = TROD_BID_NAMED;
    return bits < 1 ? 0 : bits > 60 ? 60 : (int)bits;
}

static int start(void *state, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    struct dec *dec = state;

    (void)opt;
    (void)head;
    (void)diag;
    for (int i = 0; i < 256; i++)
        dec->stream[i] = NO_STREAM;
    meta->isa = TROD_ISA_X86_32;
    meta->endian = TROD_ENDIAN_LITTLE;
    meta->addr_bits = 32;
    meta->unit = TROD_UNIT_CLK;
    return TROD_OK;
}

/* Number the stream of a processor met for the first time. */
static int new_processor(struct dec *dec, unsigned processor, struct trod_meta *meta)
{
    char name[8];
    int n = snprintf(name, sizeof name, "%u", processor);
    int stream = meta ? trod_meta_stream(meta, name, (size_t)n) : (int)processor;

    if (stream >= 0 && meta)
        meta->streams[stream].cpu = processor;
    dec->stream[processor] = stream;
    return stream < 0 ? stream : TROD_OK;
}

/* Number the processors met for the first time in N records at P. */
static int new_processors(struct dec *dec, struct trod_meta *meta, const uint8_t *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, p += RECORD) {
        int rc;

        if (dec->stream[p[7]] < 0 && (rc = new_processor(dec, p[7], meta)) < 0)
            return rc;
    }
    return TROD_OK;
}

/*
 * The columns that differ from row to row, of N records at P. False when a processor has no stream
 * yet: then nothing counts.
 */
static bool fill_columns(struct dec *dec, struct trod_batch *b, const uint8_t *p, uint32_t n)
{
    uint64_t *restrict addr = b->addr, *restrict paddr = b->paddr, *restrict times = b->time;
    uint32_t *restrict flags = b->flags, *restrict size = b->size, *restrict stream = b->stream;
    uint16_t *restrict sub = b->sub;
    uint8_t *restrict kind = b->kind;
    uint64_t time = dec->time;
    int32_t any = 0;

    for (uint32_t i = 0; i < n; i++, p += RECORD) {
        uint64_t word = trod_load_le64(p);
        uint32_t fact = facts[word >> 32 & 0xff];
        uint32_t uncached = fact >> 31 & !(word >> 48 & 3);

        addr[i] = (uint32_t)word;
        paddr[i] = (uint32_t)word;
        size[i] = word >> 40 & 0xff;
        sub[i] = word >> 32 & 0xff;
        kind[i] = fact >> 26 & 31;
        flags[i] = (fact & 0x3ffffff) | uncached * TROD_F_UNCACHED;
        any |= dec->stream[word >> 56];
        stream[i] = (uint32_t)dec->stream[word >> 56];
        time += trod_load_le32(p + 8);
        times[i] = time;
    }
    if (any >= 0)
        dec->time = time;
    return any >= 0;
}

/* The first of the N records at P may be the first of all. */
static void begin_clock(struct dec *dec, const uint8_t *p, uint64_t n)
{
    if (n == 0 || dec->begun)
        return;
    dec->begun = true;
    if (trod_load_le32(p + 8) == NO_TIME) /* the clock begins with this record */
        dec->time = UINT64_C(0) - NO_TIME;
}

static int decode(void *state, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    struct dec *dec = state;
    const uint32_t n = byu_records_begin(&trod_format_byu12, in, out);
    int rc;

    begin_clock(dec, in->p, n);
    if (!fill_columns(dec, out, in->p, n)) {
        if ((rc = new_processors(dec, out->meta, in->p, n)) < 0)
            return rc;
        fill_columns(dec, out, in->p, n);
    }
    return byu_records_end(&trod_format_byu12, "byu12.truncated", n, in, out, diag);
}

static size_t cut(const void *dec, uint64_t offset, const uint8_t *p, size_t n)
{
    const size_t at = (RECORD - offset % RECORD) % RECORD;

    (void)dec;
    (void)p;
    return at < n ? at : SIZE_MAX;
}

/* Update what a record changes for those behind it: the time, and which processors there are. */
static int pass(void *state, struct trod_span *in, struct trod_batch *out)
{
    struct dec *dec = state;
    const uint8_t *p = in->p;
    const size_t n = in->n / RECORD;
    unsigned processor = 256; /* of the record before */
    uint64_t time = 0;
    int rc;

    begin_clock(dec, p, n);
    for (size_t i = 0; i < n; i++, p += RECORD) {
        time += trod_load_le32(p + 8);
        if (p[7] == processor)
            continue;
        processor = p[7];
        if (dec->stream[processor] < 0 && (rc = new_processor(dec, processor, out->meta)) < 0)
            return rc;
    }
    dec->time += time;
    out->first += n;
    in->p = p;
    in->offset += n * RECORD;
    in->n -= n * RECORD;
    return TROD_DEC_MORE;
}

static int fork_state(void *state, void *from)
{
    *(struct dec *)state = *(const struct dec *)from;
    return TROD_OK;
}

/* Processors whose records were met. */
struct met {
    bool is[256];
    uint32_t first; /* the first 32 of them, a bit each */
};

#if TROD_AVX2

/* Eight records are 24 words, in A, B, C: one word of each record, by two masks of 8 lanes. */
#define OF_EIGHT(a, b, c, ab, abc) _mm256_blend_epi32(_mm256_blend_epi32(a, b, ab), c, abc)

/* Hide what P begins with of the N records there, in eights of processors that were met. */
static TROD_WIDE size_t hide_wide(const struct met *met, const uint8_t *p, size_t n,
                                  struct trod_outline_piece *piece)
{
    const __m256i first = _mm256_set1_epi32((int)met->first), one = _mm256_set1_epi32(1);
    const __m256i low = _mm256_set1_epi64x(UINT32_MAX);
    __m256i time = _mm256_setzero_si256();
    uint64_t times[4];
    size_t i;

    for (i = 0; n - i >= 8; i += 8, p += 8 * RECORD) {
        const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)p);
        const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32));
        const __m256i c = _mm256_loadu_si256((const __m256i *)(const void *)(p + 64));
        const __m256i processor = _mm256_srli_epi32(OF_EIGHT(a, b, c, 0x24, 0x49), 24);
        const __m256i delta = OF_EIGHT(a, b, c, 0x49, 0x92);
        /* no bit for a processor from 32 on */
        const __m256i is = _mm256_and_si256(_mm256_sllv_epi32(one, processor), first);

        if (_mm256_movemask_epi8(_mm256_cmpeq_epi32(is, _mm256_setzero_si256())))
            break;
        time = _mm256_add_epi64(time, _mm256_and_si256(delta, low));
        time = _mm256_add_epi64(time, _mm256_srli_epi64(delta, 32));
    }
    _mm256_storeu_si256((__m256i *)(void *)times, time);
    piece->hidden += i * RECORD;
    piece->rows += i;
    piece->counted += times[0] + times[1] + times[2] + times[3];
    return i;
}

#endif

/* Hide what P begins with of the N records there, of processors that were met. */
static size_t hide(const struct met *met, const uint8_t *p, size_t n,
                   struct trod_outline_piece *piece)
{
    uint64_t time = 0;
    size_t i;

    for (i = 0; i < n && met->is[p[7]]; i++, p += RECORD)
        time += trod_load_le32(p + 8);
    piece->hidden += i * RECORD;
    piece->rows += i;
    piece->counted += time;
    return i;
}

/* Shown is the first record of each processor, in each of the calls that make an outline. */
static size_t outline(const void *state, const uint8_t *p, size_t n, struct trod_outline *out)
{
    const size_t records = n / RECORD;
    struct met met = {{false}, 0};

    (void)state;
    for (size_t i = 0; i < records;) {
        if (!met.is[p[RECORD * i + 7]]) {
            const unsigned processor = p[RECORD * i + 7];

            met.is[processor] = true;
            met.first |= processor < 32 ? UINT32_C(1) << processor : 0;
            if (!outline_show(out, p + RECORD * i++, RECORD))
                return SIZE_MAX;
        }
#if TROD_AVX2
        if (trod_wide())
            i += hide_wide(&met, p + RECORD * i, records - i, &out->piece[out->n - 1]);
#endif
        i += hide(&met, p + RECORD * i, records - i, &out->piece[out->n - 1]);
    }
    return records * RECORD;
}

static int hidden(void *state, const struct trod_outline_piece *piece)
{
    struct dec *dec = state;

    dec->time += piece->counted;
    return TROD_OK;
}

static const struct trod_parts parts = {cut, pass, fork_state, outline, hidden, .cost = 15};

static int save(void *state, struct trod_buf *out, struct trod_buf *log)
{
    const struct dec *dec = state;
    int rc;

    (void)log;
    trod_pack(out, dec->begun);
    rc = trod_pack(out, dec->time);
    for (unsigned i = 0; i < 256; i++)
        rc = trod_pack(out, (uint64_t)((int64_t)dec->stream[i] - NO_STREAM));
    return rc;
}

static int load(void *state, struct trod_span *in, struct trod_span *log)
{
    struct dec *dec = state;
    uint64_t v;

    (void)log;
    if (trod_unpack(in, &v) < 0 || trod_unpack(in, &dec->time) < 0)
        return TROD_ERR_CORRUPT;
    dec->begun = v != 0;
    for (unsigned i = 0; i < 256; i++) {
        if (trod_unpack(in, &v) < 0 || v > 256)
            return TROD_ERR_CORRUPT;
        dec->stream[i] = (int32_t)((int64_t)v + NO_STREAM);
    }
    return TROD_OK;
}

static int begin(void *state, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    struct enc *enc = state;

    (void)diag;
    byu_rows_begin(&enc->rows, "byu12", opt, meta);
    enc->meta = meta;
    return TROD_OK;
}

static int target(void *state, const struct trod_target *t, struct trod_diag *diag)
{
    (void)diag;
    ((struct enc *)state)->rows.loss = t->loss;
    return TROD_OK;
}

static void keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    (void)opt;
    byu_rows_keeps("byu12", meta, k);
}

/* Processor of a row of another format: the cpu of its stream, else the stream's number. */
static uint8_t processor_of(struct enc *enc, const struct trod_batch *in, uint32_t row)
{
    uint64_t cpu = 0;

    if (in->have & in->has[row] & TROD_COL_STREAM) {
        const struct trod_meta *m = enc->meta;

        cpu = in->stream[row];
        if (m && cpu < m->n_streams && m->streams[cpu].cpu != TROD_NOWHERE)
            cpu = m->streams[cpu].cpu;
    }
    if (cpu > 255)
        trod_loss_columns(enc->rows.loss, in, row, TROD_COL_STREAM,
                          "a processor is a number of 8 bits");
    return (uint8_t)cpu;
}

/* Time since the request before; OWN is what the record itself says, NO_TIME if it says nothing. */
static uint32_t delta_of(struct enc *enc, const struct trod_batch *in, uint32_t row, uint32_t own)
{
    const bool timed = in->have & in->has[row] & TROD_COL_TIME, first = !enc->timed;
    uint64_t now = timed ? in->time[row] : enc->time, delta = now - enc->time;
    const uint32_t begin = enc->begun && own == NO_TIME ? 0 : own;

    enc->begun = true;
    if (!timed)
        return begin;
    enc->timed = true;
    if (first || now < enc->time) { /* a clock begins */
        if (!first && own == NO_TIME)
            trod_loss_columns(enc->rows.loss, in, row, TROD_COL_TIME, "times never go back");
        enc->time = now;
        return begin;
    }
    enc->time = now;
    if (delta > UINT32_MAX) {
        trod_loss_columns(enc->rows.loss, in, row, TROD_COL_TIME,
                          "so much time between two requests does not fit 32 bits");
        delta = UINT32_MAX;
    }
    return (uint32_t)delta;
}

static void put_reference(struct enc *enc, const struct trod_batch *in, uint32_t row,
                          const struct byu_reference *ref, uint8_t *p)
{
    static const uint8_t type[BYU_OPS] = {
        [BYU_FETCH] = 0x00,    [BYU_READ] = 0x01,         [BYU_READ_OWN] = 0x02,
        [BYU_WRITE] = 0x03,    [BYU_IO_READ] = 0x10,      [BYU_IO_WRITE] = 0x11,
        [BYU_INT_ACK] = 0x21,  [BYU_BRANCH_TRACE] = 0x23, [BYU_SHUTDOWN] = 0x31,
        [BYU_FLUSH] = 0x32,    [BYU_HALT] = 0x33,         [BYU_SYNC] = 0x34,
        [BYU_FLUSH_ACK] = 0x35};

    trod_store_le32(p, ref->address + ref->first);
    p[4] = type[ref->op];
    p[5] = ref->op >= BYU_INT_ACK ? 0 : ref->n;
    p[6] = ref->uncached || ref->op >= BYU_IO_READ ? 0 : 3;
    p[7] = processor_of(enc, in, row);
    trod_store_le32(p + 8, ref->begins ? delta_of(enc, in, row, NO_TIME) : 0);
}

/* Rows whose records stand in their detail. Returns how many were written. */
static uint32_t copy_rows(struct enc *enc, const struct trod_batch *in, uint32_t row,
                          struct trod_room *out)
{
    uint32_t from = row;

    while (row < in->n && out->end - out->p >= RECORD) {
        const uint8_t *d = trod_batch_detail(in, row);

        if (!d)
            break;
        memcpy(out->p, d, 8);
        trod_store_le32(out->p + 8, delta_of(enc, in, row, trod_load_le32(d + 8)));
        out->p += RECORD;
        row++;
    }
    return row - from;
}

static int encode(void *state, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
                  struct trod_diag *diag)
{
    struct enc *enc = state;
    struct byu_reference ref;

    while (*row < in->n) {
        if (enc->rows.source == BYU_FROM_12 && enc->rows.done == 0)
            *row += copy_rows(enc, in, *row, out);
        if (*row == in->n)
            break;
        if (out->end - out->p < RECORD)
            return TROD_ENC_FULL;
        if (byu_rows_next(&enc->rows, in, *row, &ref, diag)) {
            put_reference(enc, in, *row, &ref, out->p);
            out->p += RECORD;
        } else {
            ++*row;
        }
    }
    return TROD_ENC_DONE;
}

/* A line in the manner of byu6: address, size, attributes, processor, ticks, name. */
static int native(struct trod_native *listing, const struct trod_batch *b, uint32_t row,
                  struct trod_room *out)
{
    const uint8_t *d = row == TROD_NATIVE_END ? NULL : trod_batch_detail(b, row);
    char line[64], hex[8];
    int n;

    (void)listing;
    if (!d)
        return TROD_ENC_DONE;
    snprintf(hex, sizeof hex, "0x%02x", d[4]);
    n = snprintf(line, sizeof line, "%08x %02x %02x %02x %08x %s\n", (unsigned)trod_load_le32(d),
                 d[5], d[6], d[7], (unsigned)trod_load_le32(d + 8),
                 names[d[4]] ? names[d[4]] : hex);
    return byu_line(out, line, n);
}

static const char *sub_name(unsigned kind, unsigned sub)
{
    (void)kind;
    return sub < 256 ? names[sub] : NULL;
}

const struct trod_format trod_format_byu12 = {
    .name = "byu12",
    .title = "BYUADDRESSTRACE v1.0 and v1.1 (Pentium II bus, 12 bytes a record)",
    .suffixes = suffixes,
    .isas = 1u << TROD_ISA_X86_32,
    .reads = READS,
    .kinds =
        1u << TROD_NOTE | 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_MARKER | 1u << TROD_BUS,
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
    .begin = begin,
    .encode = encode,
    .target = target,
    .keeps = keeps,
    .native = native,
    .sub_name = sub_name,
    .subs = 256,
    .streams = "agent",
    .save = save,
    .load = load,
    .parts = &parts,
};
