/*
 * dram.c - memory traces of the DRAM simulators Ramulator and DRAMsim3.
 *
 * Implements docs/formats/memtext.md, "ramulator" and "dramsim3". Not Ramulator's cpu traces.
 */
#include "format/memtext/memtext.h"

/* Both programs read an address as hex whether 0x stands before it or not. */
RL_INLINE bool dram_address(const uint8_t **p, const uint8_t *e, uint64_t *v)
{
    rl_word(p, e, "0x");
    return rl_hex(p, e, v) && *p < e && (**p == ' ' || **p == '\t');
}

static const char *const suffixes_ramulator[] = {".ramulator", NULL};
static const char *const suffixes_dramsim3[] = {".dramsim3", NULL};

/* "0xADDR R" or W */
RL_INLINE enum rl_line parse_ramulator(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    if (p == e)
        return RL_NOTHING;
    if (!dram_address(&p, e, &r->addr))
        return rl_bad(r, p, "it should begin with 0xADDRESS and a blank");
    rl_skip_blanks(&p, e);
    if (p == e || (*p != 'R' && *p != 'W'))
        return rl_bad(r, p, "R or W should follow the address");
    r->kind = *p++ == 'R' ? TROD_READ : TROD_WRITE;
    rl_skip_blanks(&p, e);
    if (p != e)
        return rl_bad(r, p, "R or W should end the line");
    r->has = TROD_COL_ADDR;
    r->flags = 0;
    return RL_ROW;
}

RL_INLINE uint8_t *put_ramulator(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                                 uint8_t *p)
{
    enum rl_what what;
    uint64_t at;

    if (!mt_access(enc, b, row, &what, &at))
        return p;
    for (unsigned pass = 0; pass < (what == RL_BOTH ? 2u : 1u); pass++)
        p = rl_put_text(mt_put_pointer(p, at), what == RL_WRITE || pass ? " W\n" : " R\n");
    return p;
}

/* The word of a reference: those that DRAMsim3 takes for writes, and their counterparts. */
RL_INLINE bool dram_word(const uint8_t **p, const uint8_t *e, uint8_t *kind)
{
    static const struct {
        const char *word;
        uint8_t kind;
    } words[] = {{"READ", TROD_READ},    {"WRITE", TROD_WRITE},   {"read", TROD_READ},
                 {"write", TROD_WRITE},  {"P_MEM_RD", TROD_READ}, {"P_MEM_WR", TROD_WRITE},
                 {"P_FETCH", TROD_READ}, {"BOFF", TROD_WRITE}};

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (rl_word(p, e, words[i].word)) {
            *kind = words[i].kind;
            return true;
        }
    return false;
}

/* "0xADDR READ CYCLE" or WRITE */
RL_INLINE enum rl_line parse_dramsim3(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    if (p == e)
        return RL_NOTHING;
    if (!dram_address(&p, e, &r->addr))
        return rl_bad(r, p, "it should begin with 0xADDRESS and a blank");
    rl_skip_blanks(&p, e);
    if (!dram_word(&p, e, &r->kind))
        return rl_bad(r, p, "READ or WRITE should follow the address");
    if (p == e || (*p != ' ' && *p != '\t'))
        return rl_bad(r, p, "a blank and a cycle should follow");
    rl_skip_blanks(&p, e);
    if (!rl_decimal(&p, e, &r->time) || (p < e && *p != ' ' && *p != '\t'))
        return rl_bad(r, p, "cycle should be a decimal number of up to 64 bits");
    rl_skip_blanks(&p, e);
    if (p != e)
        return rl_bad(r, p, "the cycle should end the line");
    r->has = TROD_COL_ADDR | TROD_COL_TIME;
    r->flags = 0;
    return RL_ROW;
}

RL_INLINE uint8_t *put_dramsim3(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                                uint8_t *p)
{
    enum rl_what what;
    uint64_t at;

    if (!mt_access(enc, b, row, &what, &at))
        return p;
    for (unsigned pass = 0; pass < (what == RL_BOTH ? 2u : 1u); pass++) {
        p = rl_put_text(mt_put_pointer(p, at), what == RL_WRITE || pass ? " WRITE " : " READ ");
        p = rl_put_decimal(p, rl_has(b, row, TROD_COL_TIME) ? b->time[row] : 0);
        *p++ = '\n';
    }
    if (rl_has(b, row, TROD_COL_TIME | TROD_COL_UNIT) && trod_unit_decimals(b->unit[row]))
        trod_loss_columns(enc->loss, b, row, TROD_COL_TIME, "cycles have no decimals");
    return p;
}

/* Two words a line: much is like that. */
static int bid_ramulator(const struct trod_probe *probe, const char **dialect)
{
    const int bits = rl_bid(probe, parse_ramulator, 4, 1, NULL);

    (void)dialect;
    return bits > RL_DOUBT ? RL_DOUBT : bits;
}

static int bid_dramsim3(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return rl_bid(probe, parse_dramsim3, 16, 1, NULL);
}

MT_CALLBACKS(ramulator, NULL)
MT_CALLBACKS(dramsim3, NULL)

const struct trod_format trod_format_ramulator = {
    MT_DRIVER(ramulator),
    .title = "memory trace for Ramulator",
    .suffixes = suffixes_ramulator,
    .reads = MT_ACCESS | TROD_COL_FLAGS | TROD_COL_RAW,
    .writes = MT_ACCESS,
    .kinds = MT_ACCESSES,
    .flags = TROD_FMT_TEXT,
    .verbatim = rl_verbatim,
};

const struct trod_format trod_format_dramsim3 = {
    MT_DRIVER(dramsim3),
    .title = "memory trace for DRAMsim3",
    .suffixes = suffixes_dramsim3,
    .reads = MT_ACCESS | TROD_COL_FLAGS | TROD_COL_TIME | TROD_COL_RAW,
    .writes = MT_ACCESS | TROD_COL_TIME | TROD_COL_UNIT, /* whose decimals are lost */
    .kinds = MT_ACCESSES,
    .flags = TROD_FMT_TEXT,
    .verbatim = rl_verbatim,
};
