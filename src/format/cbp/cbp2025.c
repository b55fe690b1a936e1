/*
 * cbp2025.c - traces of the championship branch prediction of 2025: AArch64 instructions
 * with their registers' values.
 *
 * Implements docs/formats/branch.md, "cbp2025". Records have different lengths and no mark at which
 * they begin: no resync, and what is damaged ends the trace. encode.c writes them.
 */
#include "format/cbp/cbp2025.h"

#include "core/endian.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    BID_RECORDS = 64,
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
            TROD_COL_PC | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_DATA |
            TROD_COL_TEXT | TROD_COL_RAW
};

static const char *const classes[CBP_CLASSES] = {
    "alu", "load",     "store",     "cond", "jump",  "ijump",
    "fp",  "slow_alu", "undefined", "call", "icall", "return",
};

const uint8_t cbp_branches[CBP_CLASSES] = {
    [CBP_COND] = TROD_BR_COND_UNTAKEN, [CBP_JUMP] = TROD_BR_DIRECT,
    [CBP_INDIRECT] = TROD_BR_INDIRECT, [CBP_CALL] = TROD_BR_CALL,
    [CBP_ICALL] = TROD_BR_ICALL,       [CBP_RETURN] = TROD_BR_RETURN,
};

const char cbp_names[CBP_REGISTERS][4] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",   "x10",
    "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20",  "x21",
    "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",   "v0",
    "v1",  "v2",  "v3",  "v4",  "v5",  "v6",  "v7",  "v8",  "v9",  "v10",  "v11",
    "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",  "v22",
    "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "nzcv", "xzr",
};

struct decoder {
    uint32_t stream;
};

static const char *const suffixes[] = {".cbp2025", NULL};

/* A list of registers at *P, which is then behind it. */
static enum cbp_parse list(const uint8_t **p, const uint8_t *e, uint8_t *n, const uint8_t **first)
{
    if (*p == e)
        return CBP_MORE;
    *n = **p;
    *first = *p + 1;
    if (*n > CBP_REGISTERS_MAX)
        return CBP_BAD;
    if (e - *first < *n)
        return CBP_MORE;
    for (unsigned i = 0; i < *n; i++)
        if ((*first)[i] >= CBP_REGISTERS)
            return CBP_BAD;
    *p = *first + *n;
    return CBP_OK;
}

/* What class of instruction it is decides on what follows the pc. */
static enum cbp_parse head(const uint8_t **at, const uint8_t *e, struct cbp_record *r)
{
    const uint8_t *p = *at;
    const bool access = p[8] == CBP_LOAD || p[8] == CBP_STORE;
    const unsigned more =
        access ? 10u + (p[8] == CBP_STORE) : p[8] < CBP_CLASSES && cbp_branches[p[8]];

    r->pc = trod_load_le64(p);
    r->class = p[8];
    if (r->class >= CBP_CLASSES)
        return CBP_BAD;
    p += 9;
    if ((size_t)(e - p) < more)
        return CBP_MORE;
    if (access) {
        r->addr = trod_load_le64(p);
        r->size = p[8];
        if (p[9] > 1 || (r->class == CBP_STORE && p[10] > 1))
            return CBP_BAD;
        r->writes_back = p[9];
        r->has_offset = r->class == CBP_STORE ? p[10] : 0;
    } else if (more) {
        r->taken = p[0];
        if (r->taken > 1)
            return CBP_BAD;
        if (r->taken && e - p < 9)
            return CBP_MORE;
        if (r->taken)
            r->target = trod_load_le64(p + 1);
    }
    *at = p + more + (r->taken ? 8 : 0);
    return CBP_OK;
}

/* The record at P, of which there are the bytes before E. */
enum cbp_parse cbp_parse(const uint8_t *p, const uint8_t *e, struct cbp_record *r)
{
    const uint8_t *const first = p;
    enum cbp_parse rc;
    size_t bytes = 0;

    memset(r, 0, sizeof *r);
    if (e - p < 9)
        return CBP_MORE;
    if ((rc = head(&p, e, r)) != CBP_OK || (rc = list(&p, e, &r->sources, &r->source)) != CBP_OK ||
        (rc = list(&p, e, &r->written, &r->registers)) != CBP_OK)
        return rc;
    for (unsigned i = 0; i < r->written; i++)
        bytes += cbp_is_simd(r->registers[i]) ? 16 : 8;
    if ((size_t)(e - p) < bytes)
        return CBP_MORE;
    r->values = p;
    r->n = (uint32_t)(p + bytes - first);
    return CBP_OK;
}

/*
 * A record passes with less than 8 bits of chance if the next one follows it in memory, or is where
 * it jumps to: class, registers' numbers, and the pc by itself. A record without such a successor
 * is no evidence.
 */
static int bid(const struct trod_probe *probe, const char **dialect)
{
    const uint8_t *p = probe->head.p, *e = p + probe->head.n;
    uint64_t next = 0;
    int bits = 0;

    (void)dialect;
    for (unsigned i = 0; i < BID_RECORDS && p < e; i++) {
        struct cbp_record r;
        const enum cbp_parse rc = cbp_parse(p, e, &r);

        if (rc == CBP_MORE && i > 0)
            break;
        if (rc != CBP_OK || r.pc % CBP_WORD || r.pc == 0)
            return 0;
        bits += r.pc == next ? 12 : 0;
        next = r.taken ? r.target : r.pc + CBP_WORD;
        p += r.n;
    }
    return bits < 60 ? bits : 60;
}

static int start(void *dec, const void *opt, const struct trod_span *span, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    struct decoder *d = dec;
    char name[16];
    const int n = snprintf(name, sizeof name, "%" PRIu32, meta->file);
    const int stream = trod_meta_stream(meta, name, (size_t)n);

    (void)opt;
    (void)span;
    (void)diag;
    if (stream < 0)
        return stream;
    meta->streams[stream].cpu = meta->file;
    d->stream = (uint32_t)stream;
    meta->isa = TROD_ISA_A64;
    meta->endian = TROD_ENDIAN_LITTLE;
    meta->addr_bits = 64;
    return TROD_OK;
}

static uint32_t add_row(const struct decoder *d, struct trod_batch *b, const struct cbp_record *r,
                        uint8_t kind, uint32_t size, uint32_t has)
{
    const uint32_t at = b->n++;

    b->has[at] =
        TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_PC | has;
    b->kind[at] = kind;
    b->flags[at] = TROD_F_CONT;
    b->size[at] = size;
    b->pc[at] = r->pc;
    b->stream[at] = d->stream;
    return at;
}

/* A row for each register that R writes. */
static void add_registers(const struct decoder *d, struct trod_batch *b, const struct cbp_record *r,
                          const uint8_t *base)
{
    const uint8_t *p = r->values;

    for (unsigned i = 0; i < r->written; i++) {
        const uint8_t reg = r->registers[i];
        const bool wide = cbp_is_simd(reg);
        const uint32_t at =
            add_row(d, b, r, TROD_REG, wide ? 16 : 8,
                    TROD_COL_TEXT | (wide ? (uint32_t)TROD_COL_DATA : (uint32_t)TROD_COL_VALUE));

        b->text[at] = (struct trod_slice){(uint32_t)(reg * sizeof cbp_names[0]) | TROD_SLICE_SHARED,
                                          (uint32_t)strnlen(cbp_names[reg], sizeof cbp_names[0])};
        if (wide)
            b->data[at] = (struct trod_slice){(uint32_t)(p - base), 16};
        else
            b->value[at] = trod_load_le64(p);
        p += wide ? 16 : 8;
    }
}

static void add_record(const struct decoder *d, struct trod_batch *b, const struct cbp_record *r,
                       const uint8_t *base, struct trod_slice raw)
{
    uint32_t at = add_row(d, b, r, TROD_INSTR, CBP_WORD,
                          TROD_COL_ADDR | TROD_COL_SUB | TROD_COL_RAW |
                              (r->taken ? (uint32_t)TROD_COL_TARGET : 0));

    b->flags[at] =
        (uint32_t)TROD_ISET_A64 << TROD_F_ISET_SHIFT |
        (r->class == CBP_COND && r->taken ? (uint32_t)TROD_BR_COND_TAKEN : cbp_branches[r->class]);
    b->addr[at] = r->pc;
    b->target[at] = r->target;
    b->sub[at] = r->class;
    b->raw[at] = raw;
    if (r->class == CBP_LOAD || r->class == CBP_STORE) {
        at =
            add_row(d, b, r, r->class == CBP_LOAD ? TROD_READ : TROD_WRITE, r->size, TROD_COL_ADDR);
        b->addr[at] = r->addr;
        if (r->size == 0) /* not said */
            b->has[at] &= ~(uint32_t)TROD_COL_SIZE;
    }
    add_registers(d, b, r, base);
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *b, struct trod_diag *diag)
{
    const struct decoder *d = dec;
    const uint8_t *const base = in->p, *const end = base + in->n;
    const uint8_t *p = base;
    int rc = TROD_DEC_MORE;
    enum cbp_parse what = CBP_OK;
    struct cbp_record r;

    b->have = READS & (b->want | TROD_COL_KIND);
    b->shared = (const uint8_t *)cbp_names;
    while (p < end && (what = cbp_parse(p, end, &r)) == CBP_OK) {
        if (b->n + 2 + r.written > b->cap || p + r.n - base >= TROD_SLICE_SHARED) {
            rc = TROD_DEC_FULL;
            break;
        }
        add_record(d, b, &r, base, (struct trod_slice){(uint32_t)(p - base), r.n});
        p += r.n;
    }
    in->offset += (uint64_t)(p - base);
    in->n -= (size_t)(p - base);
    in->p = p;
    if (rc == TROD_DEC_MORE && (what == CBP_BAD || (in->last && in->n > 0))) {
        const struct trod_place at = trod_place_offset(NULL, in->offset);

        if (what == CBP_BAD)
            return trod_error(diag, TROD_ERR_CORRUPT, "cbp2025.bad", &at,
                              "not a record of an instruction; where the next one begins cannot be "
                              "known");
        return trod_error(diag, TROD_ERR_TRUNCATED, "cbp2025.truncated", &at,
                          "trace ends in a record");
    }
    return rc;
}

static const char *sub_name(unsigned kind, unsigned sub)
{
    return kind == TROD_INSTR && sub < CBP_CLASSES ? classes[sub] : NULL;
}

extern const struct trod_format trod_format_cbp2025;
const struct trod_format trod_format_cbp2025 = {
    .name = "cbp2025",
    .title = "trace of the 2025 championship branch prediction",
    .suffixes = suffixes,
    .reads = READS,
    .kinds = 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_REG,
    .isas = 1u << TROD_ISA_A64,
    .writes = READS,
    .flags = TROD_FMT_FOLLOWS | TROD_FMT_PER_STREAM | TROD_FMT_ONE_STREAM | TROD_FMT_BRANCHES,
    .row_max = CBP_RECORD_MAX,
    .record_rows = 2 + CBP_REGISTERS_MAX,
    .dec_size = sizeof(struct decoder),
    .enc_size = sizeof(struct cbp_enc),
    .bid = bid,
    .start = start,
    .decode = decode,
    .begin = cbp_begin,
    .encode = cbp_encode,
    .finish = cbp_finish,
    .target = cbp_target,
    .keeps = cbp_keeps,
    .drop = cbp_drop,
    .sub_name = sub_name,
    .subs = CBP_CLASSES,
};
