/*
 * lackey.c - what valgrind --tool=lackey prints with --trace-mem=yes, --trace-superblocks=yes.
 *
 * Implements docs/formats/memtext.md, "lackey".
 */
#include "format/memtext/memtext.h"

enum {
    READS = MT_ACCESS | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_PC | TROD_COL_TEXT | TROD_COL_RAW,
    WRITES = MT_ACCESS | TROD_COL_SIZE | TROD_COL_PC,
    KINDS = MT_ACCESSES | 1u << TROD_INSTR | 1u << TROD_ATOMIC | 1u << TROD_NOTE
};

static const char *const suffixes[] = {".lackey", NULL};

/*
 * "==PID== ...", "--PID-- ..." of its warnings, "**PID** ..." of the program's own messages: what
 * valgrind says besides, kept as a note; its type word is that in front.
 */
static bool is_note(const uint8_t *p, const uint8_t *e)
{
    return e - p > 3 && p[0] == p[1] && (p[0] == '=' || p[0] == '-' || p[0] == '*');
}

static enum rl_line note(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    const uint8_t *q = p + 2;

    while (q < e && *q != *p)
        q++;
    if (e - q < 2 || q[0] != *p || q[1] != *p)
        return rl_bad(r, q, "'==PID==' should stand before what valgrind says");
    r->has = TROD_COL_TEXT;
    r->kind = TROD_NOTE;
    r->flags = 0;
    r->text = p;
    r->text_n = (uint32_t)(q + 2 - p);
    return RL_ROW;
}

/* "SB ADDR", with --trace-superblocks=yes: a block of code is entered; no access. */
static enum rl_line superblock(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    const uint8_t *q = p + 3;

    if (!rl_hex(&q, e, &r->addr) || q != e)
        return rl_bad(r, q, "address of the block should be a hex number");
    r->has = TROD_COL_ADDR | TROD_COL_TEXT;
    r->kind = TROD_NOTE;
    r->flags = 0;
    r->size = 0;
    r->text = p;
    r->text_n = 2;
    return RL_ROW;
}

/* "I  ADDR,SIZE", " L ADDR,SIZE", " S ...", " M ..." */
RL_INLINE enum rl_line parse_lackey(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    uint64_t size;

    if (p == e)
        return RL_NOTHING;
    if (is_note(p, e))
        return note(p, e, r);
    if (e - p < 4 || p[2] != ' ' || (p[0] == 'I') != (p[1] == ' '))
        return rl_bad(r, p, "it should begin with 'I  ', ' L ', ' S ' or ' M '");
    if (p[0] == 'I')
        r->kind = TROD_INSTR;
    else if (p[0] == ' ' && p[1] == 'L')
        r->kind = TROD_READ;
    else if (p[0] == ' ' && p[1] == 'S')
        r->kind = TROD_WRITE;
    else if (p[0] == ' ' && p[1] == 'M')
        r->kind = TROD_ATOMIC;
    else if (p[0] == 'S' && p[1] == 'B')
        return superblock(p, e, r);
    else
        return rl_bad(r, p, "it should begin with 'I  ', ' L ', ' S ' or ' M '");
    p += 3;
    if (!rl_hex(&p, e, &r->addr) || p == e || *p != ',')
        return rl_bad(r, p, "address should be a hex number, and a comma");
    p++;
    if (!rl_decimal(&p, e, &size) || size > UINT32_MAX || p != e)
        return rl_bad(r, p, "size should be a decimal number of up to 32 bits");
    r->has = TROD_COL_ADDR | TROD_COL_SIZE;
    r->flags = 0;
    r->size = (uint32_t)size;
    return RL_ROW;
}

/* At least 8 digits, as valgrind prints addresses. */
RL_INLINE uint8_t *put_address(uint8_t *p, uint64_t v)
{
    if (v >> 32)
        return rl_put_hex(p, v);
    for (unsigned i = 8; i-- > 0;)
        *p++ = (uint8_t) "0123456789abcdef"[v >> 4 * i & 15];
    return p;
}

/* What valgrind said besides is as it was. */
static uint8_t *put_note(const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    const struct trod_slice raw = b->raw[row];

    memcpy(p, trod_batch_bytes(b, raw), raw.len);
    p += raw.len;
    if (raw.len && p[-1] != '\n')
        *p++ = '\n';
    return p;
}

RL_INLINE uint8_t *put_lackey(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                              uint8_t *p)
{
    static const char head[][4] = {"", "I  ", " L ", " S ", " M "};
    const enum rl_what what = rl_what(b, row);
    uint64_t at;

    if (enc->own && b->kind[row] == TROD_NOTE && rl_has(b, row, TROD_COL_RAW))
        return put_note(b, row, p);
    if (what == RL_NONE) {
        trod_loss_row(enc->loss, b, row, "lackey prints fetches and accesses only");
        return p;
    }
    if (!rl_address(enc, b, row, &at))
        return p;
    rl_follow(enc, b, row, what, at);
    memcpy(p, head[what], 3);
    p = put_address(p + 3, at);
    *p++ = ',';
    p = rl_put_decimal(p, rl_size(b, row));
    *p++ = '\n';
    return p;
}

static int bid_lackey(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return rl_bid(probe, parse_lackey, 16, 1, NULL);
}

MT_CALLBACKS(lackey, NULL)

const struct trod_format trod_format_lackey = {
    MT_DRIVER(lackey),
    .title = "memory trace of valgrind's lackey",
    .suffixes = suffixes,
    .reads = READS,
    .writes = WRITES,
    .kinds = KINDS,
    .flags = TROD_FMT_TEXT | TROD_FMT_FOLLOWS,
    .verbatim = rl_verbatim,
};
