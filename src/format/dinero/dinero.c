/*
 * dinero.c - Dinero IV's text formats: din (-informat d) and extended din (-informat D).
 *
 * Implements docs/formats/dinero.md, "dinero" and "dinerox".
 */
#include "format/dinero/dinero.h"

enum {
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC |
            TROD_COL_SUB | TROD_COL_RAW,
    WRITES = TROD_COL_KIND | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SUB,
    KINDS = 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_INSTR | 1u << TROD_NOTE |
            1u << TROD_CACHE_OP
};

const uint8_t din_kinds[DIN_LABELS] = {TROD_READ, TROD_WRITE,    TROD_INSTR,
                                       TROD_NOTE, TROD_CACHE_OP, TROD_CACHE_OP};

static const char letters[] = "rwimcv"; /* by label */
static const char *const suffixes[] = {".din", NULL};
static const char *const suffixes_x[] = {".xdin", NULL};

bool din_source(const struct trod_meta *meta)
{
    static const char *const names[] = {"dinero", "dinerox", "dinerob"};

    for (size_t i = 0; meta && meta->format && i < sizeof names / sizeof *names; i++)
        if (strcmp(meta->format, names[i]) == 0)
            return true;
    return false;
}

unsigned din_labels(struct rl_enc *enc, const struct trod_batch *b, uint32_t row, uint8_t label[2],
                    uint64_t *at)
{
    static const uint8_t labels[] = {
        [RL_FETCH] = DIN_FETCH, [RL_READ] = DIN_READ, [RL_WRITE] = DIN_WRITE, [RL_BOTH] = DIN_READ};
    const enum rl_what what = rl_what(b, row);

    if (what == RL_NONE && enc->own && rl_has(b, row, TROD_COL_SUB) && b->sub[row] < DIN_LABELS &&
        din_kinds[b->sub[row]] == b->kind[row]) {
        label[0] = (uint8_t)b->sub[row];
    } else if (what == RL_NONE) {
        trod_loss_row(enc->loss, b, row, "Dinero has no label for it");
        return 0;
    } else {
        label[0] = labels[what];
        label[1] = DIN_WRITE;
    }
    if (!rl_address(enc, b, row, at))
        return 0;
    return what == RL_BOTH ? 2 : 1;
}

void din_keeps(const struct trod_format *f, const struct trod_meta *meta, struct trod_keeps *k)
{
    rl_keeps(f, meta, k);
    if (!din_source(meta))
        k->columns[TROD_NOTE] = k->columns[TROD_CACHE_OP] = 0;
}

const char *din_sub_name(unsigned kind, unsigned sub)
{
    static const char *const names[DIN_LABELS] = {"read", "write",     "fetch",
                                                  "misc", "copy-back", "invalidate"};

    (void)kind;
    return sub < DIN_LABELS ? names[sub] : NULL;
}

/* The row of LABEL; its address is the hex number at *P. */
RL_INLINE enum rl_line reference(unsigned label, const uint8_t **p, const uint8_t *e,
                                 struct rl_row *r)
{
    const uint8_t *q = *p;

    rl_skip_blanks(p, e);
    if (*p == q)
        return rl_bad(r, q, "a blank should follow the label");
    if (e - *p > 2 && (*p)[0] == '0' && ((*p)[1] | 0x20) == 'x')
        *p += 2;
    if (!rl_hex(p, e, &r->addr) || (*p < e && **p != ' ' && **p != '\t'))
        return rl_bad(r, *p, "address should be a hex number of up to 64 bits");
    r->has = TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_SUB;
    r->kind = din_kinds[label];
    r->flags = 0;
    r->sub = (uint16_t)label;
    r->size = DIN_SIZE;
    return RL_ROW;
}

/* LABEL ADDRESS; the rest of the line is for other programs. */
RL_INLINE enum rl_line parse(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    unsigned label;

    rl_skip_blanks(&p, e);
    if (p == e)
        return RL_NOTHING;
    label = (unsigned)(*p - '0');
    if (label >= DIN_LABELS)
        return rl_bad(r, p, "label should be 0 to 5");
    p++;
    return reference(label, &p, e, r);
}

/* LETTER ADDRESS SIZE, both hex. */
RL_INLINE enum rl_line parse_x(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    const char *letter;
    uint64_t size;
    enum rl_line what;

    rl_skip_blanks(&p, e);
    if (p == e)
        return RL_NOTHING;
    letter = memchr(letters, *p, DIN_LABELS);
    if (!letter)
        return rl_bad(r, p, "letter should be one of r, w, i, m, c and v");
    p++;
    what = reference((unsigned)(letter - letters), &p, e, r);
    if (what != RL_ROW)
        return what;
    rl_skip_blanks(&p, e);
    if (!rl_hex(&p, e, &size) || size > UINT32_MAX || (p < e && *p != ' ' && *p != '\t'))
        return rl_bad(r, p, "size should be a hex number of up to 32 bits");
    r->size = (uint32_t)size;
    return RL_ROW;
}

RL_INLINE uint8_t *put(struct rl_enc *enc, const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    uint8_t label[2];
    uint64_t at;
    const unsigned n = din_labels(enc, b, row, label, &at);

    for (unsigned i = 0; i < n; i++) {
        *p++ = (uint8_t)('0' + label[i]);
        *p++ = ' ';
        p = rl_put_hex(p, at);
        *p++ = '\n';
    }
    din_follow(enc, b, row, n, label, at);
    if (n && rl_has(b, row, TROD_COL_SIZE) && b->size[row] != DIN_SIZE)
        trod_loss_columns(enc->loss, b, row, TROD_COL_SIZE, "references are of 4 bytes");
    return p;
}

RL_INLINE uint8_t *put_x(struct rl_enc *enc, const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    uint8_t label[2];
    uint64_t at;
    const unsigned n = din_labels(enc, b, row, label, &at);

    for (unsigned i = 0; i < n; i++) {
        *p++ = (uint8_t)letters[label[i]];
        *p++ = ' ';
        p = rl_put_hex(p, at);
        *p++ = ' ';
        p = rl_put_hex(p, rl_size(b, row));
        *p++ = '\n';
    }
    din_follow(enc, b, row, n, label, at);
    return p;
}

static int bid(const struct trod_probe *probe, const char **dialect)
{
    const int bits = rl_bid(probe, parse, 4, 1, NULL);

    (void)dialect;
    return bits > RL_DOUBT ? RL_DOUBT : bits; /* two numbers a line: many texts are like that */
}

static int bid_x(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return rl_bid(probe, parse_x, 10, 2, NULL);
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    return rl_decode(&trod_format_dinero, parse, dec, in, out, diag);
}

static int decode_x(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    return rl_decode(&trod_format_dinerox, parse_x, dec, in, out, diag);
}

static size_t resync(const void *dec, const uint8_t *p, size_t n)
{
    (void)dec;
    return rl_resync(&trod_format_dinero, parse, p, n);
}

static size_t resync_x(const void *dec, const uint8_t *p, size_t n)
{
    (void)dec;
    return rl_resync(&trod_format_dinerox, parse_x, p, n);
}

static int begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    (void)opt;
    (void)diag;
    ((struct rl_enc *)enc)->own = din_source(meta);
    return TROD_OK;
}

static int encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
                  struct trod_diag *diag)
{
    (void)diag;
    return rl_encode(put, NULL, enc, in, row, out);
}

static int encode_x(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
                    struct trod_diag *diag)
{
    (void)diag;
    return rl_encode(put_x, NULL, enc, in, row, out);
}

static void keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    (void)opt;
    din_keeps(&trod_format_dinero, meta, k);
}

static void keeps_x(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    (void)opt;
    din_keeps(&trod_format_dinerox, meta, k);
}

#define DINERO(NAME, TITLE, SUFFIXES, X)                                                           \
    {                                                                                              \
        .name = NAME, .title = TITLE, .suffixes = SUFFIXES, .reads = READS, .writes = WRITES,      \
        .kinds = KINDS, .flags = TROD_FMT_TEXT | TROD_FMT_FOLLOWS, .row_max = RL_ROW_MAX,          \
        .dec_size = sizeof(struct rl_dec), .enc_size = sizeof(struct rl_enc), .bid = bid##X,       \
        .start = rl_start, .decode = decode##X, .resync = resync##X, .cuts = true,                 \
        .save = rl_save, .load = rl_load, .begin = begin, .encode = encode##X,                     \
        .target = rl_target, .keeps = keeps##X, .verbatim = rl_verbatim, .sub_name = din_sub_name, \
        .subs = DIN_LABELS                                                                         \
    }

const struct trod_format trod_format_dinero =
    DINERO("dinero", "Dinero references (din, -informat d)", suffixes, );
const struct trod_format trod_format_dinerox =
    DINERO("dinerox", "Dinero references with sizes (extended din, -informat D)", suffixes_x, _x);
