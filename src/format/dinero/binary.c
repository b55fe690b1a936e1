/*
 * binary.c - Dinero IV's binary format (-informat b): 8 bytes a reference, little-endian.
 *
 * Implements docs/formats/dinero.md, "dinerob". An access gets its pc from the fetch before it, so
 * a record is not decoded by itself: no stride.
 */
#include "format/dinero/dinero.h"
#include "format/records.h"

#include "core/endian.h"

enum {
    RECORD = 8,
    BID_RECORDS = 64,
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC |
            TROD_COL_SUB | TROD_COL_RAW,
    WRITES = TROD_COL_KIND | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SUB
};

static const char *const suffixes[] = {".dinb", NULL};

/*
 * Of 64 bits 13 are fixed (label below 6, padding 0, the upper byte of the size 0), but small
 * numbers have them too: never enough without the file's name or --from. With the name any records
 * are enough that have label, padding and, one of them, a size.
 */
static int bid(const struct trod_probe *probe, const char **dialect)
{
    const uint8_t *p = probe->head.p;
    const size_t n = probe->head.n / RECORD < BID_RECORDS ? probe->head.n / RECORD : BID_RECORDS;
    unsigned kinds = 0, sizes = 0;
    bool sized = false, usual = true;

    (void)dialect;
    for (size_t i = 0; i < n; i++, p += RECORD) {
        const unsigned size = trod_load_le16(p + 4);

        if (p[6] >= DIN_LABELS || p[7] != 0)
            return 0;
        sized = sized || size;
        usual = usual && size && size <= 64;
        kinds |= 1u << p[6];
        sizes |= size > 1;
    }
    if (n >= 4 && usual && sizes && (kinds & (kinds - 1)))
        return RL_DOUBT;
    return sized ? TROD_BID_NAMED : 0;
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    (void)dec;
    (void)opt;
    (void)head;
    (void)diag;
    meta->addr_bits = 32;
    meta->endian = TROD_ENDIAN_LITTLE;
    return TROD_OK;
}

static void add_row(struct rl_dec *d, struct trod_batch *b, const uint8_t *p, uint32_t off)
{
    const uint64_t word = trod_load_le64(p);
    const uint32_t at = b->n++, addr = (uint32_t)word;
    const unsigned label = word >> 48 & 0xff;

    if (label == DIN_FETCH) {
        d->pc = addr;
        d->has_pc = true;
    }
    b->has[at] = READS & ~(d->has_pc ? 0u : (uint32_t)TROD_COL_PC);
    b->kind[at] = din_kinds[label];
    b->flags[at] = 0;
    b->size[at] = word >> 32 & 0xffff;
    b->addr[at] = addr;
    b->pc[at] = d->pc;
    b->sub[at] = (uint16_t)label;
    b->raw[at] = (struct trod_slice){off, RECORD};
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    struct rl_dec *d = dec;
    uint32_t off = 0;
    int rc = TROD_DEC_MORE;

    out->have = READS & (out->want | TROD_COL_KIND);
    for (; in->n - off >= RECORD && rc == TROD_DEC_MORE; off += RECORD) {
        const uint8_t *p = in->p + off;

        if (out->n == out->cap) {
            rc = TROD_DEC_FULL;
            break;
        }
        if (p[6] < DIN_LABELS) {
            add_row(d, out, p, off);
        } else {
            const struct trod_place at = trod_place_offset(NULL, in->offset + off);
            const int bad = trod_error(diag, TROD_ERR_CORRUPT, "dinerob.label", &at,
                                       "label of a reference is %u, not 0 to 5", (unsigned)p[6]);

            if (diag && diag->strict) {
                rc = bad;
                break;
            }
        }
    }
    return fmt_records_eaten(in, off, RECORD, rc, "dinerob.truncated", diag);
}

static int begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    (void)opt;
    (void)diag;
    ((struct rl_enc *)enc)->own = din_source(meta);
    return TROD_OK;
}

static void keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    (void)opt;
    din_keeps(&trod_format_dinerob, meta, k);
}

static uint8_t *put(struct rl_enc *enc, const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    uint8_t label[2];
    uint64_t at;
    const unsigned n = din_labels(enc, b, row, label, &at);
    const uint32_t size = rl_size(b, row);

    for (unsigned i = 0; i < n; i++, p += RECORD) {
        trod_store_le32(p, (uint32_t)at);
        trod_store_le32(p + 4, (size > UINT16_MAX ? UINT16_MAX : size) | (uint32_t)label[i] << 16);
    }
    din_follow(enc, b, row, n, label, (uint32_t)at);
    if (n && at >> 32)
        trod_loss_columns(enc->loss, b, row,
                          rl_has(b, row, TROD_COL_ADDR) ? (uint32_t)TROD_COL_ADDR
                                                        : (uint32_t)TROD_COL_PADDR,
                          "it is cut to the 32 bits of an address");
    if (n && size > UINT16_MAX)
        trod_loss_columns(enc->loss, b, row, TROD_COL_SIZE, "a size has 16 bits");
    return p;
}

static int encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
                  struct trod_diag *diag)
{
    (void)diag;
    return rl_encode(put, NULL, enc, in, row, out);
}

const struct trod_format trod_format_dinerob = {
    .name = "dinerob",
    .title = "Dinero references (binary, -informat b)",
    .suffixes = suffixes,
    .reads = READS,
    .writes = WRITES,
    .kinds = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_INSTR | 1u << TROD_NOTE |
             1u << TROD_CACHE_OP,
    .flags = TROD_FMT_FOLLOWS,
    .row_max = RL_ROW_MAX,
    .dec_size = sizeof(struct rl_dec),
    .enc_size = sizeof(struct rl_enc),
    .bid = bid,
    .start = start,
    .decode = decode,
    .save = rl_save,
    .load = rl_load,
    .begin = begin,
    .encode = encode,
    .target = rl_target,
    .keeps = keeps,
    .verbatim = rl_verbatim,
    .sub_name = din_sub_name,
    .subs = DIN_LABELS,
};
