/*
 * pixie.c - traces of IRIX pixie as Dinero IV reads them: -informat p (32 bits a record) and P
 * (64).
 *
 * Implements docs/formats/dinero.md, "pixie32" and "pixie64". A record counts the instructions
 * since the one before it and then says what happens; so it is one row an instruction, and one for
 * the access. Where the program is, block records say. Reading only.
 */
#include "core/pack.h"
#include "format/dinero/dinero.h"
#include "format/records.h"

#include "core/endian.h"

enum {
    WORD = 4,
    BLOCK = 12, /* types that are no accesses */
    ANNUL = 13,
    SYSCALL = 14,
    TYPES = 15,
    ROWS_32 = 15 + 2,
    ROWS_64 = 255 + 2,
    BID_RECORDS = 256,
    READS =
        TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_RAW
};

/* A record, of either width. */
struct record {
    unsigned count, type;
    uint64_t addr;
};

static const uint8_t sizes[BLOCK] = {4, 8, 4, 8, 1, 2, 4, 4, 4, 8, 4, 8};
/* sw, sd, sb, sh, swr, swl, swc1, sdc1 */
static const uint16_t stores =
    1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 10 | 1 << 11;

static const char *const suffixes_32[] = {".pixie32", NULL};
static const char *const suffixes_64[] = {".pixie64", NULL};

struct dec {
    uint64_t pc;
    bool has_pc;
};

static struct record load(const uint8_t *p, bool wide)
{
    struct record r;
    uint32_t word;

    if (wide) {
        r.count = p[0];
        r.type = p[1];
        r.addr = (uint64_t)trod_load_be16(p + 2) << 32 | trod_load_be32(p + 4);
    } else {
        word = trod_load_be32(p);
        r.count = word >> 28;
        r.type = word >> 24 & 15;
        r.addr = word & 0xffffff;
    }
    return r;
}

/* Letters, digits and line ends pass as records too, but addresses are seldom written with them. */
static bool is_text(const uint8_t *p, size_t n)
{
    size_t i = 0;

    while (i < n && ((p[i] >= ' ' && p[i] < 0x7f) || (p[i] >= '\t' && p[i] <= '\r')))
        i++;
    return i == n;
}

/*
 * Small numbers pass as records, so blocks and accesses must both occur, and nothing that is no
 * record. It is never enough without the file's name or --from.
 */
static int weigh(const struct trod_probe *probe, size_t bytes)
{
    const uint8_t *p = probe->head.p;
    size_t n = probe->head.n / bytes < BID_RECORDS ? probe->head.n / bytes : BID_RECORDS;
    unsigned blocks = 0, accesses = 0, counts = 0;

    if (is_text(p, n * bytes))
        return 0;
    for (size_t i = 0; i < n; i++, p += bytes) {
        const struct record r = load(p, bytes == 8);

        if (i == 0 && bytes == 8 && r.type != TYPES)
            return 0;
        if (r.type > TYPES || (r.type == TYPES && (i > 0 || bytes == 4)))
            return 0;
        blocks += r.type == BLOCK;
        accesses += r.type < BLOCK;
        counts |= 1u << (r.count & 15);
    }
    return blocks * 16 >= n && accesses * 16 >= n && n >= 8 && (counts & (counts - 1)) ? 8 : 0;
}

static int bid_32(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return weigh(probe, 4);
}

static int bid_64(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return weigh(probe, 8);
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    (void)dec;
    (void)opt;
    (void)head;
    (void)diag;
    meta->isa = TROD_ISA_MIPS32;
    meta->endian = TROD_ENDIAN_BIG;
    meta->addr_bits = 32;
    return TROD_OK;
}

static void add_row(struct trod_batch *b, uint8_t kind, uint32_t flags, uint32_t has)
{
    const uint32_t at = b->n++;

    b->has[at] = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | has;
    b->kind[at] = kind;
    b->flags[at] = flags;
    b->size[at] = WORD;
}

static void add_fetch(struct dec *d, struct trod_batch *b, uint32_t flags)
{
    add_row(b, TROD_INSTR, flags, d->has_pc ? TROD_COL_ADDR | TROD_COL_PC : 0);
    b->addr[b->n - 1] = b->pc[b->n - 1] = d->pc;
    d->pc += WORD;
}

/* The rows of R. */
static void add_record(struct dec *d, struct trod_batch *b, const struct record *r,
                       struct trod_slice raw)
{
    const uint32_t first = b->n;

    for (unsigned i = 0; i < r->count; i++)
        add_fetch(d, b, 0);
    if (r->type == BLOCK) {
        d->pc = r->addr * WORD;
        d->has_pc = true;
    } else {
        add_fetch(d, b,
                  r->type == ANNUL     ? (uint32_t)TROD_F_SKIPPED
                  : r->type == SYSCALL ? (uint32_t)TROD_BR_SYSCALL
                                       : 0);
    }
    if (r->type < BLOCK) {
        add_row(b, stores >> r->type & 1 ? TROD_WRITE : TROD_READ, 0,
                TROD_COL_ADDR | (d->has_pc ? (uint32_t)TROD_COL_PC : 0));
        b->size[b->n - 1] = sizes[r->type];
        b->addr[b->n - 1] = r->addr;
        b->pc[b->n - 1] = d->pc - WORD;
    }
    for (uint32_t i = first + 1; i < b->n; i++)
        b->flags[i] |= TROD_F_CONT;
    if (b->n > first) {
        b->has[first] |= TROD_COL_RAW;
        b->raw[first] = raw;
    }
}

static int bad_type(uint64_t offset, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_offset(NULL, offset);

    return trod_error(diag, TROD_ERR_CORRUPT, "pixie32.type", &at,
                      "record of type 15, which pixie does not have");
}

static int decode_records(struct dec *d, struct trod_span *in, struct trod_batch *b, bool wide,
                          struct trod_diag *diag)
{
    const uint32_t bytes = wide ? 8 : 4, rows = wide ? ROWS_64 : ROWS_32;
    uint32_t off = 0;
    int rc = TROD_DEC_MORE;

    b->have = READS & (b->want | TROD_COL_KIND);
    for (; in->n - off >= bytes && rc == TROD_DEC_MORE; off += bytes) {
        const struct record r = load(in->p + off, wide);

        if (b->n + rows > b->cap && b->n > 0) {
            rc = TROD_DEC_FULL;
            break;
        }
        if (r.type < TYPES) {
            add_record(d, b, &r, (struct trod_slice){off, bytes});
        } else if (!wide) {
            const int bad = bad_type(in->offset + off, diag);

            if (diag && diag->strict) {
                rc = bad;
                break;
            }
        }
    }
    return fmt_records_eaten(in, off, bytes, rc, "pixie.truncated", diag);
}

static int decode_32(void *dec, struct trod_span *in, struct trod_batch *out,
                     struct trod_diag *diag)
{
    return decode_records(dec, in, out, false, diag);
}

static int decode_64(void *dec, struct trod_span *in, struct trod_batch *out,
                     struct trod_diag *diag)
{
    return decode_records(dec, in, out, true, diag);
}

static int save_state(void *dec, struct trod_buf *state, struct trod_buf *log)
{
    const struct dec *d = dec;
    int rc = trod_pack(state, d->pc);

    (void)log;
    return rc < 0 ? rc : trod_pack(state, d->has_pc);
}

static int load_state(void *dec, struct trod_span *state, struct trod_span *log)
{
    struct dec *d = dec;
    uint64_t has_pc;

    (void)log;
    if (trod_unpack(state, &d->pc) < 0 || trod_unpack(state, &has_pc) < 0 || has_pc > 1)
        return TROD_ERR_CORRUPT;
    d->has_pc = has_pc;
    return TROD_OK;
}

#define PIXIE(NAME, TITLE, BITS)                                                                   \
    {                                                                                              \
        .name = NAME, .title = TITLE, .suffixes = suffixes_##BITS, .reads = READS,                 \
        .kinds = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_INSTR, .flags = TROD_FMT_FOLLOWS, \
        .record_rows = ROWS_##BITS, .dec_size = sizeof(struct dec), .bid = bid_##BITS,             \
        .start = start, .decode = decode_##BITS, .save = save_state, .load = load_state            \
    }

const struct trod_format trod_format_pixie32 =
    PIXIE("pixie32", "pixie trace, 32 bits a record (Dinero's -informat p)", 32);
const struct trod_format trod_format_pixie64 =
    PIXIE("pixie64", "pixie trace, 64 bits a record (Dinero's -informat P)", 64);
