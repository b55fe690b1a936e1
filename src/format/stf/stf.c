/*
 * stf.c - STF, the Simulation Trace Format of RISC-V models.
 *
 * Implements docs/formats/stf.md. Records that stand before an opcode belong to its instruction:
 * they and the opcode are one group, which gives an INSTR row and the rows of what it did. The zstf
 * filter undoes the chunks of compressed traces; encode.c writes.
 */
#include "format/stf/encode.h"

#include "core/pack.h"
#include "format/stf/records.h"
#include "isa/riscv.h"
#include "trod/format.h"

#include <string.h>

enum {
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
            TROD_COL_PADDR | TROD_COL_PC | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB |
            TROD_COL_CODE | TROD_COL_DATA | TROD_COL_TEXT | TROD_COL_RAW,
    ROWS_MAX = 2048,
    GROUP_MAX = 1 << 22, /* bytes */
    MAGIC_BITS = 40
};

struct decoder {
    struct trod_meta *meta;
    struct stf_widths widths;
    uint64_t pc, records;
    uint64_t thread; /* process and thread that rows are of from here on, if named */
    uint32_t stream;
    bool named, has_stream; /* named: a stream when the first row is of it */
};

/* The group that is being read: where it begins and what it says of its instruction. */
struct group {
    const uint8_t *p, *opcode, *end;
    struct stf_widths widths, after; /* of its records where it begins, and behind it */
    uint64_t pc, target, next;       /* next: where execution goes on, if jumps */
    bool taken, fault, jumps;
};

/* Names of registers, where batches find them: three bytes each. */
#define NAMES(c)                                                                                   \
    c "0 " c "1 " c "2 " c "3 " c "4 " c "5 " c "6 " c "7 " c "8 " c "9 " c "10" c "11" c "12" c   \
      "13" c "14" c "15" c "16" c "17" c "18" c "19" c "20" c "21" c "22" c "23" c "24" c "25" c   \
      "26" c "27" c "28" c "29" c "30" c "31"

static const char names[] = NAMES("x") NAMES("f") NAMES("v");

static const char *const suffixes[] = {".stf", NULL};

/* ---- rows */

struct out {
    struct trod_batch *b;
    const struct decoder *d;
    struct stf_widths widths; /* of the next record */
    const uint8_t *base;
    uint32_t first;
};

/* Begin a row. -1: no room. */
static int64_t row(struct out *o, const struct group *g, unsigned kind, uint32_t has)
{
    struct trod_batch *b = o->b;
    const uint32_t i = b->n;
    const bool cont = i > o->first;

    if (i == b->cap || i - o->first >= ROWS_MAX)
        return -1;
    b->n++;
    has |= TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_PC | (cont ? 0 : (uint32_t)TROD_COL_RAW) |
           (o->d->has_stream ? (uint32_t)TROD_COL_STREAM : 0);
    b->has[i] = has & b->have;
    b->kind[i] = (uint8_t)kind;
    if (b->have & TROD_COL_FLAGS)
        b->flags[i] = cont ? (uint32_t)TROD_F_CONT : 0;
    if (b->have & TROD_COL_PC)
        b->pc[i] = g->pc;
    if (b->have & TROD_COL_STREAM)
        b->stream[i] = o->d->stream;
    if (b->have & TROD_COL_RAW)
        b->raw[i] = (struct trod_slice){cont ? 0 : (uint32_t)(g->p - o->base),
                                        cont ? 0 : (uint32_t)(g->end - g->p)};
    return i;
}

#define SET(column, field, v)                                                                      \
    do {                                                                                           \
        if (o->b->have & (column))                                                                 \
            o->b->field[i] = (v);                                                                  \
    } while (0)

static struct trod_slice slice(const struct out *o, const uint8_t *p, size_t n)
{
    return (struct trod_slice){(uint32_t)(p - o->base), (uint32_t)n};
}

static bool put_instr(struct out *o, const struct group *g)
{
    const unsigned size = *g->opcode == STF_INST_32 ? 4 : 2;
    const int64_t i = row(o, g, TROD_INSTR,
                          TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_CODE |
                              (g->taken ? (uint32_t)TROD_COL_TARGET : 0));

    if (i < 0)
        return false;
    if (g->fault && o->b->have & TROD_COL_FLAGS)
        o->b->flags[i] |= TROD_F_ABORTED;
    SET(TROD_COL_ADDR, addr, g->pc);
    SET(TROD_COL_SIZE, size, size);
    SET(TROD_COL_CODE, code, slice(o, g->opcode + 1, size));
    SET(TROD_COL_TARGET, target, g->target);
    return true;
}

/* A CSR's name, into the pool. */
static bool put_csr_name(struct out *o, uint32_t i, unsigned number)
{
    char text[TROD_RV_TEXT];
    const size_t n = trod_rv_csr(text, number);
    uint8_t *p;

    if (!(o->b->have & TROD_COL_TEXT))
        return true;
    p = trod_batch_pool(o->b, (uint32_t)n, &o->b->text[i]);
    if (p)
        memcpy(p, text, n);
    return p != NULL;
}

/* Registers that are written, and those of a state, which the tracer put in. */
static bool put_reg(struct out *o, const struct group *g, const uint8_t *p, size_t n)
{
    const unsigned number = trod_load_le16(p + 1), type = p[3] & 15, use = p[3] >> 4 & 3;
    int64_t i;

    if (use == STF_USE_SOURCE || use == 0 || type == 0 || type > STF_TYPE_CSR ||
        (type != STF_TYPE_CSR && number > 31))
        return true;
    i = row(o, g, TROD_REG,
            TROD_COL_SIZE | TROD_COL_TEXT |
                (type == STF_TYPE_V ? (uint32_t)TROD_COL_DATA : (uint32_t)TROD_COL_VALUE) |
                (type == STF_TYPE_CSR ? (uint32_t)TROD_COL_SUB : 0));
    if (i < 0)
        return false;
    if (use == STF_USE_STATE && o->b->have & TROD_COL_FLAGS)
        o->b->flags[i] |= TROD_F_SYNTHETIC;
    SET(TROD_COL_SIZE, size, (uint32_t)(n - 4));
    if (type == STF_TYPE_V)
        SET(TROD_COL_DATA, data, slice(o, p + 4, n - 4));
    else
        SET(TROD_COL_VALUE, value, trod_load_le64(p + 4));
    SET(TROD_COL_SUB, sub, (uint16_t)number);
    if (type == STF_TYPE_CSR)
        return put_csr_name(o, (uint32_t)i, number);
    SET(TROD_COL_TEXT, text,
        ((struct trod_slice){(3 * (32 * (type - 1) + number)) | (uint32_t)TROD_SLICE_SHARED,
                             number < 10 ? 2 : 3}));
    return true;
}

/* The contents of up to SIZE bytes that follow the access at P; their bytes into the pool. */
static bool put_contents(struct out *o, uint32_t i, const struct group *g, const uint8_t *p,
                         unsigned id, uint32_t size)
{
    uint8_t *to = NULL;
    uint32_t done = 0;

    if (p >= g->end || *p != id)
        return true;
    if (size <= 8) {
        o->b->has[i] |= TROD_COL_VALUE & o->b->have;
        SET(TROD_COL_VALUE, value,
            trod_load_le64(p + 1) & (size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX));
        return true;
    }
    o->b->has[i] |= TROD_COL_DATA & o->b->have;
    if (!(o->b->have & TROD_COL_DATA))
        return true;
    to = trod_batch_pool(o->b, size, &o->b->data[i]);
    if (!to)
        return false;
    memset(to, 0, size);
    for (; p < g->end && *p == id && done < size; p += 9, done += 8)
        memcpy(to + done, p + 1, size - done < 8 ? size - done : 8);
    return true;
}

static bool put_access(struct out *o, const struct group *g, const uint8_t *p)
{
    const uint32_t size = trod_load_le16(p + 9), attributes = trod_load_le16(p + 11);
    const int64_t i = row(o, g, p[13] == 2 ? TROD_WRITE : TROD_READ,
                          TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_SUB);

    if (i < 0)
        return false;
    SET(TROD_COL_ADDR, addr, trod_load_le64(p + 1));
    if (size == 0) /* not said */
        o->b->has[i] &= ~(uint32_t)TROD_COL_SIZE;
    SET(TROD_COL_SIZE, size, size);
    SET(TROD_COL_SUB, sub, (uint16_t)attributes);
    return put_contents(o, (uint32_t)i, g, p + 14, STF_CONTENT, size);
}

/* What another master did on the bus. */
static bool put_bus(struct out *o, const struct group *g, const uint8_t *p)
{
    const uint32_t size = trod_load_le16(p + 9);
    const int64_t i = row(o, g, TROD_BUS, TROD_COL_ADDR | TROD_COL_SIZE | (uint32_t)TROD_COL_SUB);

    if (i < 0)
        return false;
    SET(TROD_COL_ADDR, addr, trod_load_le64(p + 1));
    SET(TROD_COL_SIZE, size, size);
    SET(TROD_COL_SUB, sub, p[11]);
    return put_contents(o, (uint32_t)i, g, p + 18, STF_BUS_CONTENT, size);
}

static bool put_walk(struct out *o, const struct group *g, const uint8_t *p)
{
    for (unsigned k = 0; k < p[21]; k++) {
        const int64_t i = row(o, g, TROD_WALK, TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_VALUE);

        if (i < 0)
            return false;
        SET(TROD_COL_ADDR, addr, trod_load_le64(p + 1));
        SET(TROD_COL_PADDR, paddr, trod_load_le64(p + 22 + 16 * k));
        SET(TROD_COL_VALUE, value, trod_load_le64(p + 30 + 16 * k));
    }
    return true;
}

static bool put_event(struct out *o, const struct group *g, const uint8_t *p, const uint8_t *next)
{
    const uint8_t *field = p + (o->widths.event32 ? 6 : 10);
    const bool target = next<g->end && * next == STF_EVENT_TARGET, has_field = field[-1]> 0;
    bool mode;
    const uint64_t id = stf_event(&o->widths, p, &mode);
    const unsigned address = mode ? 0 : stf_address_field(id);
    const bool has_address = address && address <= field[-1];
    const int64_t i = row(o, g, mode ? TROD_MODE : TROD_EXCEPTION,
                          TROD_COL_VALUE | (has_address ? (uint32_t)TROD_COL_ADDR : 0) |
                              (target ? (uint32_t)TROD_COL_TARGET : 0));

    if (i < 0)
        return false;
    SET(TROD_COL_VALUE, value, mode && has_field ? trod_load_le64(field) : id);
    if (has_address)
        SET(TROD_COL_ADDR, addr, trod_load_le64(field + 8 * (address - 1)));
    if (target)
        SET(TROD_COL_TARGET, target, trod_load_le64(next + 1));
    return true;
}

/* The rows of G. False: there is no room for all. */
static bool put_group(struct out *o, const struct group *g)
{
    bool ok = put_instr(o, g);

    o->widths = g->widths;
    for (const uint8_t *p = g->p; ok && p < g->opcode;) {
        const int64_t n = stf_length(&o->widths, p, (size_t)(g->end - p));

        switch (*p) {
        case STF_REG:
            ok = put_reg(o, g, p, (size_t)n);
            break;
        case STF_ACCESS:
            ok = put_access(o, g, p);
            break;
        case STF_BUS_ACCESS:
            ok = put_bus(o, g, p);
            break;
        case STF_WALK:
            ok = put_walk(o, g, p);
            break;
        case STF_EVENT:
            ok = put_event(o, g, p, p + n);
            break;
        default:
            stf_widen(&o->widths, p);
            break;
        }
        p += n;
    }
    return ok;
}

/* ---- groups */

/* The stream of the thread that was named last. */
static int thread(struct decoder *d, struct trod_diag *diag)
{
    const int stream =
        trod_meta_thread(d->meta, d->thread & UINT32_MAX, d->thread >> 32, d->meta->file);

    if (stream < 0)
        return trod_error(diag, stream, "stf.threads", NULL, "%s",
                          stream == TROD_ERR_LIMIT ? "too many threads" : "out of memory");
    d->stream = (uint32_t)stream;
    d->has_stream = true;
    d->named = false;
    return TROD_OK;
}

/* The stream of the row at hand, before it is given. */
static int settle_stream(struct decoder *d, struct trod_diag *diag)
{
    if (d->named)
        return thread(d, diag);
    if (!d->meta->several || d->has_stream)
        return TROD_OK;
    d->has_stream = true;
    return stf_file_stream(d->meta, &d->stream);
}

/* What the record at P says of all that follows. */
static void learn(struct decoder *d, const uint8_t *p)
{
    switch (*p) {
    case STF_VERSION:
        d->meta->version = trod_load_le32(p + 1) * 100 + trod_load_le32(p + 5);
        break;
    case STF_ISA:
        if (trod_load_le16(p + 1) != STF_ISA_RISCV)
            d->meta->isa = TROD_ISA_UNKNOWN;
        break;
    case STF_INST_IEM:
        if (d->meta->isa != TROD_ISA_UNKNOWN)
            d->meta->isa =
                trod_load_le16(p + 1) == STF_IEM_RV32 ? TROD_ISA_RISCV32 : TROD_ISA_RISCV64;
        break;
    case STF_PROCESS:
        d->thread = trod_load_le32(p + 9) | (uint64_t)trod_load_le32(p + 5) << 32;
        d->named = true;
        break;
    default:
        break;
    }
}

/* What a record says of the group it stands in. */
static void note(struct group *g, const uint8_t *p)
{
    bool mode = true;

    switch (*p) {
    case STF_FORCE_PC:
        g->pc = trod_load_le64(p + 1);
        break;
    case STF_PC_TARGET:
        g->target = g->next = trod_load_le64(p + 1);
        g->taken = g->jumps = true;
        break;
    case STF_EVENT_TARGET:
        g->next = trod_load_le64(p + 1);
        g->jumps = true;
        break;
    case STF_EVENT:
        stf_event(&g->after, p, &mode);
        g->fault = g->fault || !mode;
        break;
    default:
        break;
    }
}

/* Is ID a record about all that follows, and not about an instruction? */
static bool stands_alone(unsigned id)
{
    return id <= STF_END_HEADER && id != STF_FORCE_PC;
}

static struct trod_place place(const struct decoder *d, const struct trod_span *in,
                               const uint8_t *p)
{
    struct trod_place at = trod_place_offset(NULL, in->offset + (uint64_t)(p - in->p));

    at.record = d->records;
    return at;
}

/* What is wrong at P, where no record begins or one is cut off. */
static int bad(const struct decoder *d, const struct trod_span *in, const uint8_t *p, int64_t why,
               struct trod_diag *diag)
{
    const struct trod_place at = place(d, in, p);

    if (why == STF_OTHER)
        return trod_error(diag, TROD_ERR_UNSUPPORTED, "stf.transactions", &at,
                          "transactions of a bus (record %u): only traces of instructions are read",
                          *p);
    if (why == STF_UNKNOWN)
        return trod_error(diag, TROD_ERR_CORRUPT, "stf.unknown-record", &at,
                          "no record of STF begins with %u", *p);
    return trod_error(diag, TROD_ERR_TRUNCATED, "stf.truncated", &at,
                      "trace ends inside the records of an instruction");
}

enum { NOT_HERE = -100, ALONE = 0, WHOLE = 1 };

/*
 * The group at G->p, up to its opcode: WHOLE. ALONE: a record that is none of an instruction's.
 * NOT_HERE: it ends behind LIMIT. Else a status, reported.
 */
static int find_group(struct decoder *d, const struct trod_span *in, struct group *g,
                      const uint8_t *limit, struct trod_diag *diag)
{
    bool header = false, more = false;

    g->widths = g->after = d->widths;
    for (const uint8_t *p = g->p;;) {
        const int64_t n = stf_length(&g->after, p, (size_t)(limit - p));
        const bool long_one = p - g->p >= GROUP_MAX;

        if (p == limit && in->last && header && !more)
            return ALONE; /* no instruction follows the first address, which the header says */
        if (n == STF_CUT && !in->last && !long_one)
            return NOT_HERE;
        if (n <= 0)
            return bad(d, in, p, long_one ? STF_UNKNOWN : n, diag);
        if (stands_alone(*p)) {
            learn(d, p);
            stf_widen(&g->after, p);
        }
        g->end = p + n;
        header = header || *p == STF_END_HEADER;
        more = more || !(stands_alone(*p) || *p == STF_FORCE_PC);
        if (p == g->p && stands_alone(*p))
            return ALONE;
        note(g, p);
        if (*p == STF_INST_32 || *p == STF_INST_16) {
            g->opcode = p;
            return WHOLE;
        }
        p += n;
    }
}

/* The rows of G into the batch, or TROD_DEC_FULL. */
static int give(struct out *o, const struct group *g, const struct trod_span *in,
                struct trod_diag *diag)
{
    const uint32_t pool_n = o->b->pool_n;
    struct trod_place at;

    o->first = o->b->n;
    if (put_group(o, g))
        return TROD_DEC_MORE;
    if (o->first > 0) {
        o->b->n = o->first;
        o->b->pool_n = pool_n;
        return TROD_DEC_FULL;
    }
    at = place(o->d, in, g->p);
    trod_warning(diag, TROD_ERR_LIMIT, "stf.rows", &at,
                 "instruction does more than there is room for: %u rows are given", o->b->n);
    return TROD_DEC_MORE;
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *b, struct trod_diag *diag)
{
    struct decoder *d = dec;
    const uint8_t *p = in->p, *const end = in->p + in->n;
    struct out o = {.b = b, .d = d, .base = in->p};
    int rc = TROD_DEC_MORE;

    b->have = (b->want & READS) | TROD_COL_KIND;
    b->shared = (const uint8_t *)names;
    while (p < end && rc == TROD_DEC_MORE) {
        struct group g = {.p = p, .pc = d->pc};
        int found;

        if (p - in->p >= TROD_SLICE_SHARED - GROUP_MAX) {
            rc = TROD_DEC_FULL;
            break;
        }
        found = find_group(d, in, &g, end, diag);
        if (found < 0) {
            rc = found == NOT_HERE ? TROD_DEC_MORE : found;
            break;
        }
        if (found == WHOLE) {
            rc = settle_stream(d, diag);
            if (rc == TROD_OK)
                rc = give(&o, &g, in, diag);
            if (rc != TROD_DEC_MORE)
                break;
            d->pc = g.jumps ? g.next : g.pc + (*g.opcode == STF_INST_32 ? 4 : 2);
            d->records++;
        }
        d->widths = g.after;
        p = g.end;
    }
    in->offset += (uint64_t)(p - in->p);
    in->n -= (size_t)(p - in->p);
    in->p = p;
    return rc;
}

/* What the header says is known before the first row. */
static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    struct decoder *d = dec;
    const uint8_t *p = head->p, *const end = head->p + head->n;
    int64_t n;

    (void)opt;
    (void)diag;
    d->meta = meta;
    meta->isa = TROD_ISA_RISCV64;
    meta->endian = TROD_ENDIAN_LITTLE;
    while ((n = stf_length(&d->widths, p, (size_t)(end - p))) > 0 && stands_alone(*p)) {
        learn(d, p);
        stf_widen(&d->widths, p);
        p += n;
    }
    meta->addr_bits = meta->isa == TROD_ISA_RISCV32 ? 32 : 64;
    return TROD_OK;
}

static int bid(const struct trod_probe *probe, const char **dialect)
{
    static const uint8_t magic[] = {STF_IDENTIFIER, 'S', 'T', 'F', STF_VERSION};

    (void)dialect;
    return probe->head.n >= sizeof magic && memcmp(probe->head.p, magic, sizeof magic) == 0
               ? MAGIC_BITS
               : 0;
}

static int save(void *dec, struct trod_buf *state, struct trod_buf *log)
{
    const struct decoder *d = dec;
    const uint64_t v[] = {d->widths.vlen, d->widths.event32, d->pc,     d->records,
                          d->stream,      d->has_stream,     d->thread, d->named};
    int rc = TROD_OK;

    (void)log;
    for (unsigned i = 0; rc == TROD_OK && i < sizeof v / sizeof *v; i++)
        rc = trod_pack(state, v[i]);
    return rc;
}

static int load(void *dec, struct trod_span *state, struct trod_span *log)
{
    struct decoder *d = dec;
    uint64_t v[8];

    (void)log;
    for (unsigned i = 0; i < sizeof v / sizeof *v; i++)
        if (trod_unpack(state, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    if (v[0] > UINT32_MAX || v[1] > 1 || v[4] > UINT32_MAX || v[5] > 1 || v[7] > 1 ||
        (v[5] && v[4] >= d->meta->n_streams))
        return TROD_ERR_CORRUPT;
    d->widths.vlen = (uint32_t)v[0];
    d->widths.event32 = v[1];
    d->pc = v[2];
    d->records = v[3];
    d->stream = (uint32_t)v[4];
    d->has_stream = v[5];
    d->thread = v[6];
    d->named = v[7];
    return TROD_OK;
}

const struct trod_format trod_format_stf = {
    .name = "stf",
    .title = "Simulation Trace Format (RISC-V)",
    .suffixes = suffixes,
    .reads = READS,
    .writes = READS,
    .kinds = 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_REG |
             1u << TROD_EXCEPTION | 1u << TROD_MODE | 1u << TROD_WALK | 1u << TROD_BUS,
    .isas = 1u << TROD_ISA_RISCV64 | 1u << TROD_ISA_RISCV32,
    .flags = TROD_FMT_MAGIC | TROD_FMT_FOLLOWS | TROD_FMT_PER_STREAM,
    .row_max = STF_ROW_MAX,
    .record_rows = ROWS_MAX,
    .dec_size = sizeof(struct decoder),
    .enc_size = sizeof(struct stf_enc),
    .bid = bid,
    .start = start,
    .decode = decode,
    .save = save,
    .load = load,
    .begin = stf_begin,
    .encode = stf_encode,
    .finish = stf_finish,
    .target = stf_target,
    .keeps = stf_keeps,
    .streams = "thread",
};
