/*
 * champsim.c - reading traces of ChampSim: 64 bytes an instruction, and the 96 of CloudSuite.
 *
 * Implements docs/formats/champsim.md. A record is an INSTR row and a row for each of its
 * addresses. Where a branch goes stands in the next record, which must be there before its row can
 * be given. There is no header, and a decoder that begins anywhere but at a record's first byte
 * would not see that: no resync.
 */
#include "format/champsim/champsim.h"
#include "format/records.h"

#include "core/endian.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BID_RECORDS = 128, STEP_MAX = 16, EVIDENCE = 6, BITS_MAX = 60 };

const struct chs_layout chs_champsim = {64, 2, 12, 2, 16, 32};
const struct chs_layout chs_cloudsuite = {96, 4, 14, 4, 24, 56};

static const char *const suffixes[] = {".champsim", ".champsimtrace", NULL};
static const char *const suffixes_cloudsuite[] = {".cloudsuite", NULL};

struct dec {
    uint32_t stream;
};

const struct chs_layout *chs_layout_of(const struct trod_meta *meta)
{
    if (meta && meta->format && strcmp(meta->format, "champsim") == 0)
        return &chs_champsim;
    if (meta && meta->format && strcmp(meta->format, "cloudsuite") == 0)
        return &chs_cloudsuite;
    return NULL;
}

/* Which of the registers that tell branches are among the N at P: bits of enum reg. */
enum reg { REG_SP = 1, REG_FLAGS = 2, REG_IP = 4, REG_OTHER = 8 };

static unsigned registers(const uint8_t *p, unsigned n)
{
    unsigned seen = 0;

    for (unsigned i = 0; i < n; i++)
        seen |= p[i] == 0           ? 0u
                : p[i] == CHS_SP    ? (unsigned)REG_SP
                : p[i] == CHS_FLAGS ? (unsigned)REG_FLAGS
                : p[i] == CHS_IP    ? (unsigned)REG_IP
                                    : (unsigned)REG_OTHER;
    return seen;
}

unsigned chs_branch(const struct chs_layout *l, const uint8_t *p)
{
    const unsigned src = registers(p + l->at_src, CHS_SLOTS),
                   dst = registers(p + CHS_AT_DST, l->n_dst);
    const bool other = src & REG_OTHER, stack = (src & REG_SP) && (dst & REG_SP);

    if (!p[CHS_AT_BRANCH])
        return TROD_BR_NONE;
    if (!(dst & REG_IP))
        return TROD_BR_OTHER;
    if (stack)
        return !(src & REG_IP) ? TROD_BR_RETURN : other ? TROD_BR_ICALL : TROD_BR_CALL;
    if (src & REG_SP || dst & REG_SP)
        return TROD_BR_OTHER;
    if (!(src & (REG_FLAGS | REG_OTHER)))
        return TROD_BR_DIRECT;
    if (src & REG_IP)
        return p[CHS_AT_TAKEN] ? TROD_BR_COND_TAKEN : TROD_BR_COND_UNTAKEN;
    return src & REG_FLAGS ? TROD_BR_OTHER : TROD_BR_INDIRECT;
}

/*
 * A branch passes by chance with 2 bytes of 65536 and one register of 128; two instructions that
 * follow each other in memory with 2 of 65536 and a distance of up to 16. Only what differs from
 * record to record is evidence.
 */
static int weigh(const struct chs_layout *l, const struct trod_probe *probe)
{
    const uint8_t *p = probe->head.p;
    const size_t whole = probe->head.n / l->record, n = whole < BID_RECORDS ? whole : BID_RECORDS;
    int bits = 0;

    for (size_t i = 0; i < n; i++, p += l->record) {
        const uint64_t ip = trod_load_le64(p);
        const uint64_t step = i + 1 < n ? trod_load_le64(p + l->record) - ip : 0;

        if (p[CHS_AT_BRANCH] > 1 || p[CHS_AT_TAKEN] > p[CHS_AT_BRANCH] || ip == 0)
            return 0;
        if (p[CHS_AT_BRANCH])
            bits += registers(p + CHS_AT_DST, l->n_dst) & REG_IP ? EVIDENCE : -2 * EVIDENCE;
        else if (step > 0 && step <= STEP_MAX)
            bits += EVIDENCE;
    }
    return bits < 0 ? 0 : bits < BITS_MAX ? bits : BITS_MAX;
}

static int bid(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return weigh(&chs_champsim, probe);
}

static int bid_cloudsuite(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return weigh(&chs_cloudsuite, probe);
}

/* A file is a cpu. */
static int start(void *state, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    struct dec *dec = state;
    char name[16];
    int n = snprintf(name, sizeof name, "%" PRIu32, meta->file), stream;

    (void)opt;
    (void)head;
    (void)diag;
    stream = trod_meta_stream(meta, name, (size_t)n);
    if (stream < 0)
        return stream;
    meta->streams[stream].cpu = meta->file;
    meta->endian = TROD_ENDIAN_LITTLE;
    meta->addr_bits = 64;
    dec->stream = (uint32_t)stream;
    return TROD_OK;
}

static uint32_t add_row(const struct dec *d, struct trod_batch *b, uint8_t kind, uint64_t pc)
{
    const uint32_t at = b->n++;

    b->has[at] = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_ADDR | TROD_COL_PC;
    b->kind[at] = kind;
    b->flags[at] = kind == TROD_INSTR ? 0 : TROD_F_CONT;
    b->stream[at] = d->stream;
    b->pc[at] = pc;
    return at;
}

/* Rows for the addresses of N slots at P; 0 is an empty one. SUB is the number of the slot. */
static void add_accesses(const struct dec *d, struct trod_batch *b, uint8_t kind, const uint8_t *p,
                         unsigned n, uint64_t pc)
{
    for (unsigned i = 0; i < n; i++) {
        const uint64_t addr = trod_load_le64(p + 8 * i);
        uint32_t at;

        if (addr == 0)
            continue;
        at = add_row(d, b, kind, pc);
        b->has[at] |= TROD_COL_SUB;
        b->addr[at] = addr;
        b->sub[at] = (uint16_t)i;
    }
}

/* The rows of the record at P, which the one at NEXT follows (NULL: none). */
static void add_record(const struct chs_layout *l, const struct dec *d, struct trod_batch *b,
                       const uint8_t *p, const uint8_t *next, uint32_t off)
{
    const uint64_t pc = trod_load_le64(p);
    const uint32_t at = add_row(d, b, TROD_INSTR, pc);
    const unsigned branch = chs_branch(l, p);

    b->has[at] |= TROD_COL_DETAIL | TROD_COL_RAW;
    b->addr[at] = pc;
    b->flags[at] = branch;
    b->detail[at] = b->raw[at] = (struct trod_slice){off, l->record};
    if (next && branch != TROD_BR_NONE && branch != TROD_BR_COND_UNTAKEN) {
        b->has[at] |= TROD_COL_TARGET;
        b->target[at] = trod_load_le64(next);
    }
    add_accesses(d, b, TROD_READ, p + l->at_loads, CHS_SLOTS, pc);
    add_accesses(d, b, TROD_WRITE, p + l->at_stores, l->n_stores, pc);
}

static int decode_records(const struct chs_layout *l, const struct dec *d, struct trod_span *in,
                          struct trod_batch *b, struct trod_diag *diag)
{
    const uint32_t record = l->record, rows = 1 + CHS_SLOTS + l->n_stores;
    uint32_t off = 0;
    int rc = TROD_DEC_MORE;

    b->have = CHS_READS & (b->want | TROD_COL_KIND);
    for (; in->n - off >= 2 * record || (in->last && in->n - off >= record); off += record) {
        const uint8_t *p = in->p + off;

        if (b->n + rows > b->cap) {
            rc = TROD_DEC_FULL;
            break;
        }
        add_record(l, d, b, p, in->n - off >= 2 * record ? p + record : NULL, off);
    }
    return fmt_records_eaten(in, off, record, rc, "champsim.truncated", diag);
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    return decode_records(&chs_champsim, dec, in, out, diag);
}

static int decode_cloudsuite(void *dec, struct trod_span *in, struct trod_batch *out,
                             struct trod_diag *diag)
{
    return decode_records(&chs_cloudsuite, dec, in, out, diag);
}

static int begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    (void)opt;
    (void)diag;
    return chs_begin(enc, &chs_champsim, meta);
}

static int begin_cloudsuite(void *enc, const void *opt, const struct trod_meta *meta,
                            struct trod_diag *diag)
{
    (void)opt;
    (void)diag;
    return chs_begin(enc, &chs_cloudsuite, meta);
}

/* Records of the other layout have their registers in the detail; the larger one has more. */
static void keeps_in(const struct chs_layout *l, const struct trod_meta *meta, struct trod_keeps *k)
{
    const struct chs_layout *from = chs_layout_of(meta);

    if (from == l)
        return;
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        k->flags[i] = 0;
        if (!from || from->record > l->record)
            k->columns[i] &= ~(uint32_t)TROD_COL_DETAIL;
    }
    k->flags[TROD_INSTR] = TROD_F_BRANCH;
}

static void keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    (void)opt;
    keeps_in(&chs_champsim, meta, k);
}

static void keeps_cloudsuite(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    (void)opt;
    keeps_in(&chs_cloudsuite, meta, k);
}

static bool verbatim(const void *opt_in, const char *dialect_in, const void *opt_out)
{
    (void)opt_in;
    (void)dialect_in;
    (void)opt_out;
    return true;
}

/* Records do not depend on each other, and the stream is that of the file. */
static int save(void *dec, struct trod_buf *state, struct trod_buf *log)
{
    (void)dec;
    (void)state;
    (void)log;
    return TROD_OK;
}

static int load(void *dec, struct trod_span *state, struct trod_span *log)
{
    (void)dec;
    (void)state;
    (void)log;
    return TROD_OK;
}

#define DRIVER                                                                                     \
    .reads = CHS_READS, .writes = CHS_READS,                                                       \
    .kinds = 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE,                                \
    .flags = TROD_FMT_PER_STREAM | TROD_FMT_ONE_STREAM | TROD_FMT_FOLLOWS | TROD_FMT_BRANCHES,     \
    .row_max = CHS_RECORD_MAX, .record_rows = 1 + 2 * CHS_SLOTS, .dec_size = sizeof(struct dec),   \
    .enc_size = sizeof(struct chs_enc), .start = start, .save = save, .load = load,                \
    .encode = chs_encode, .target = chs_target, .finish = chs_finish, .drop = chs_drop,            \
    .verbatim = verbatim, .copies = chs_copies

const struct trod_format trod_format_champsim = {
    DRIVER,
    .name = "champsim",
    .title = "ChampSim trace (64 bytes an instruction)",
    .suffixes = suffixes,
    .bid = bid,
    .decode = decode,
    .begin = begin,
    .keeps = keeps,
};

const struct trod_format trod_format_cloudsuite = {
    DRIVER,
    .name = "cloudsuite",
    .title = "ChampSim trace of CloudSuite (96 bytes an instruction)",
    .suffixes = suffixes_cloudsuite,
    .bid = bid_cloudsuite,
    .decode = decode_cloudsuite,
    .begin = begin_cloudsuite,
    .keeps = keeps_cloudsuite,
};
