/*
 * rvvitext.c - RVVI-TEXT, the text of the RISC-V verification interface, versions 0.1 to 0.4.
 *
 * Implements docs/formats/rvvitext.md. Reading only.
 */
#include "format/rvvitext/rvvitext.h"

#include "core/pack.h"

enum {
    READS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TIME |
            TROD_COL_UNIT | TROD_COL_INDEX | TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC |
            TROD_COL_VALUE | TROD_COL_SUB | TROD_COL_CODE | TROD_COL_DATA | TROD_COL_TEXT |
            TROD_COL_RAW,
    BID_VERSION = 20, /* bits of VERSION and two numbers, where something else follows */
    BID_KEY = 12,     /* of each key behind */
    BID_WORDS = 64,
    HEAD_WORDS = 1 << 14,
    SHORT_DIGITS = 8, /* of addresses and registers in 32-bit code */
    MAJOR_MAX = 9,
    MINOR_MAX = 99
};

static const char *const suffixes[] = {".rvvi", ".rvvitext", NULL};

static const struct ln_names names = {.bad = "rvvitext.bad-element",
                                      .cut = "rvvitext.truncated",
                                      .longer = "rvvitext.long-event",
                                      .limit = "rvvitext.limit",
                                      .unknown = "rvvitext.unknown-element",
                                      .joined = true};

/* ---- detection */

static struct ln_line head_line(const struct trod_span *head)
{
    return (struct ln_line){.p = head->p,
                            .start = head->p,
                            .e = head->p + head->n,
                            .next = head->p + head->n,
                            .limit = head->p + head->n,
                            .base = head->p};
}

static int bid(const struct trod_probe *probe, const char **dialect)
{
    struct ln_line l = head_line(&probe->head);
    const char *const why = "";
    uint64_t major, minor;
    int bits = BID_VERSION;

    (void)dialect;
    if (rvvi_space(&l) != LN_OK || rvvi_key_at(&l) != RVVI_VERSION || l.p[-1] != 'N' ||
        rvvi_dec(&l, &major, why) != LN_OK || rvvi_dec(&l, &minor, why) != LN_OK ||
        major > MAJOR_MAX || minor > MINOR_MAX)
        return 0;
    for (unsigned i = 0; i < BID_WORDS && rvvi_space(&l) == LN_OK && l.p < l.e; i++) {
        if (rvvi_key_at(&l) != RVVI_NONE)
            bits += BID_KEY;
        else if (bits == BID_VERSION || rvvi_word(&l) != LN_OK)
            break; /* a word that is no element comes next */
    }
    if (l.p == l.e && bits == BID_VERSION)
        bits += BID_KEY; /* nothing else is there */
    return bits < LN_BID_MAX ? bits : LN_BID_MAX;
}

/* ---- the head */

/* Bits of registers as the digits at P suggest, behind 0x or not: 64 where they have more than 32.
 */
static bool is_wide(const uint8_t *p, const uint8_t *e)
{
    const uint8_t *from;

    if (e - p > 1 && *p == '0' && (p[1] | 0x20) == 'x')
        p += 2;
    for (from = p; p < e && ln_digit(*p) < 16;)
        p++;
    return p == e && p - from > SHORT_DIGITS;
}

/* Which of the words behind KEY is as wide as a register. */
static unsigned wide_word(enum rvvi_key key)
{
    return key == RVVI_RET || key == RVVI_TRAP ? 1 : key == RVVI_X || key == RVVI_C ? 2 : 0;
}

/* Bits of integer registers: parameter XLEN, else what addresses and values look like. */
static unsigned look_at_head(const struct trod_span *head)
{
    struct ln_line l = head_line(head);
    const uint8_t *before = l.p; /* the word before */
    size_t before_n = 0;
    unsigned due = 0, bits = 32;

    for (unsigned i = 0; i < HEAD_WORDS && l.p < l.e; i++) {
        const uint8_t *from;
        enum rvvi_key key;
        uint64_t xlen;

        if (rvvi_space(&l) != LN_OK)
            continue;
        from = l.p;
        if (before_n == 4 && memcmp(before, "XLEN", 4) == 0 && ln_dec(&l, &xlen) && rvvi_ends(&l))
            return xlen <= 32 ? 32 : 64;
        l.p = from;
        key = due ? RVVI_NONE : rvvi_key_at(&l);
        if (key == RVVI_NONE && l.p < l.e && rvvi_word(&l) != LN_OK)
            l.p++;
        if (due == 1 && is_wide(from, l.p))
            bits = 64;
        due = key != RVVI_NONE ? wide_word(key) : due ? due - 1 : 0;
        before = from;
        before_n = (size_t)(l.p - from);
    }
    return bits;
}

static int start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
                 struct trod_diag *diag)
{
    struct rvvi_dec *d = dec;

    (void)opt;
    (void)diag;
    d->meta = meta;
    d->now.unit = TROD_UNIT_PS;
    meta->addr_bits = look_at_head(head);
    meta->isa = meta->addr_bits == 32 ? TROD_ISA_RISCV32 : TROD_ISA_RISCV64;
    meta->endian = TROD_ENDIAN_LITTLE;
    return TROD_OK;
}

/* ---- decoding */

struct rvvi_mode *rvvi_mode_of(struct rvvi_dec *d, uint64_t hart)
{
    const unsigned at = (unsigned)(hart % RVVI_HARTS);

    if (d->failed && d->modes[at].event == d->failed)
        d->modes[at].now = d->modes[at].before;
    if (d->modes[at].event != d->event) {
        d->modes[at].before = d->modes[at].now;
        d->modes[at].event = d->event;
    }
    if (!d->modes[at].now.used || d->modes[at].now.hart != hart)
        d->modes[at].now = (struct rvvi_mode){.hart = hart, .used = 1};
    return &d->modes[at].now;
}

static enum ln_result line(void *dec, struct ln_line *l)
{
    return rvvi_event(dec, l);
}

static int decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    struct rvvi_dec *d = dec;

    out->shared = (const uint8_t *)ln_rv_names;
    return ln_decode(&d->lines, d, in, out, READS, &names, diag, line);
}

/* ---- seeking */

static int save(void *dec, struct trod_buf *state, struct trod_buf *log)
{
    const struct rvvi_dec *d = dec;
    const struct rvvi_now *n = &d->now;
    const uint64_t word[] = {n->hart, n->cycles, n->time,     n->xlen,
                             n->flen, n->timed,  n->has_time, n->unit};
    int rc = ln_save(&d->lines, state);

    (void)log;
    for (size_t i = 0; rc == TROD_OK && i < sizeof word / sizeof *word; i++)
        rc = trod_pack(state, word[i]);
    for (unsigned i = 0; rc == TROD_OK && i < RVVI_HARTS; i++) {
        const bool undone = d->failed && d->modes[i].event == d->failed;
        const struct rvvi_mode *m = undone ? &d->modes[i].before : &d->modes[i].now;

        if (!m->known && !m->virtual && !m->debug)
            continue;
        rc = trod_pack(state, (uint64_t)m->known | (uint64_t)m->virtual << 1 |
                                  (uint64_t)m->debug << 2 | (uint64_t)m->mode << 3);
        if (rc == TROD_OK)
            rc = trod_pack(state, m->hart);
    }
    return rc < 0 ? rc : trod_pack(state, 0);
}

/* The modes of harts up to a zero. */
static int load_modes(struct rvvi_dec *d, struct trod_span *state)
{
    uint64_t bits, hart;

    for (;;) {
        if (trod_unpack(state, &bits) < 0 || bits >= 32)
            return TROD_ERR_CORRUPT;
        if (bits == 0)
            return TROD_OK;
        if (trod_unpack(state, &hart) < 0)
            return TROD_ERR_CORRUPT;
        d->modes[hart % RVVI_HARTS].now = (struct rvvi_mode){.hart = hart,
                                                             .used = 1,
                                                             .known = bits & 1,
                                                             .virtual = bits >> 1 & 1,
                                                             .debug = bits >> 2 & 1,
                                                             .mode = (uint8_t)(bits >> 3)};
    }
}

static int load(void *dec, struct trod_span *state, struct trod_span *log)
{
    struct rvvi_dec *d = dec;
    uint64_t timed, has_time, unit;
    uint64_t *const word[] = {&d->now.hart, &d->now.cycles, &d->now.time, &d->now.xlen,
                              &d->now.flen, &timed,         &has_time,    &unit};

    (void)log;
    if (ln_load(&d->lines, state) < 0)
        return TROD_ERR_CORRUPT;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (trod_unpack(state, word[i]) < 0)
            return TROD_ERR_CORRUPT;
    if (timed > 1 || has_time > timed || unit >= TROD_UNITS)
        return TROD_ERR_CORRUPT;
    d->now.timed = (uint8_t)timed;
    d->now.has_time = (uint8_t)has_time;
    d->now.unit = (uint8_t)unit;
    return load_modes(d, state);
}

const struct trod_format trod_format_rvvitext = {
    .name = "rvvitext",
    .title = "RVVI-TEXT (RISC-V verification interface)",
    .suffixes = suffixes,
    .reads = READS,
    .kinds = 1u << TROD_NOTE | 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE |
             1u << TROD_ATOMIC | 1u << TROD_PREFETCH | 1u << TROD_FLUSH | 1u << TROD_REG |
             1u << TROD_EXCEPTION | 1u << TROD_MODE,
    .isas = 1u << TROD_ISA_RISCV64 | 1u << TROD_ISA_RISCV32,
    .flags = TROD_FMT_TEXT | TROD_FMT_FOLLOWS,
    .record_rows = RVVI_ROWS_MAX,
    .dec_size = sizeof(struct rvvi_dec),
    .bid = bid,
    .start = start,
    .decode = decode,
    .save = save,
    .load = load,
    .streams = "core",
};
