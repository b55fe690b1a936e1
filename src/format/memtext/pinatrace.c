/*
 * pinatrace.c - what the example tool pinatrace of Intel Pin prints: accesses with their pc.
 *
 * Implements docs/formats/memtext.md, "pinatrace".
 */
#include "format/memtext/memtext.h"

static const char *const suffixes[] = {".pinatrace", NULL};

/* "0xPC: R 0xADDR"; a line that begins with # is no access. */
RL_INLINE enum rl_line parse_pinatrace(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    if (p == e || *p == '#')
        return RL_NOTHING;
    if (!mt_pointer(&p, e, &r->pc) || !rl_word(&p, e, ": "))
        return rl_bad(r, p, "it should begin with 0xPC and ': '");
    if (e - p < 2 || (*p != 'R' && *p != 'W') || p[1] != ' ')
        return rl_bad(r, p, "R or W should follow the pc");
    r->kind = *p == 'R' ? TROD_READ : TROD_WRITE;
    p += 2;
    rl_skip_blanks(&p, e);
    if (!mt_pointer(&p, e, &r->addr))
        return rl_bad(r, p, "address should be 0x and a hex number of up to 64 bits");
    rl_skip_blanks(&p, e);
    if (p != e)
        return rl_bad(r, p, "nothing should follow the address");
    r->has = TROD_COL_ADDR | (r->pc ? (uint32_t)TROD_COL_PC : 0);
    r->flags = 0;
    return RL_ROW;
}

/* As %p prints it. */
RL_INLINE uint8_t *put_pointer(uint8_t *p, uint64_t v)
{
    return v ? mt_put_pointer(p, v) : rl_put_text(p, "(nil)");
}

RL_INLINE uint8_t *put_pinatrace(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                                 uint8_t *p)
{
    const uint64_t pc = rl_pc(enc, b, row);
    enum rl_what what;
    uint64_t at;

    if (!mt_access(enc, b, row, &what, &at))
        return p;
    for (unsigned pass = 0; pass < (what == RL_BOTH ? 2u : 1u); pass++) {
        p = put_pointer(p, pc);
        p = rl_put_text(p, what == RL_WRITE || pass ? ": W " : ": R ");
        p = put_pointer(p, at);
        *p++ = '\n';
    }
    return p;
}

static int bid_pinatrace(const struct trod_probe *probe, const char **dialect)
{
    (void)dialect;
    return rl_bid(probe, parse_pinatrace, 16, 1, NULL);
}

/* The last line, without which the file is not whole. */
static int finish(void *enc, struct trod_room *out, struct trod_diag *diag)
{
    (void)enc;
    (void)diag;
    if (out->end - out->p < RL_ROW_MAX)
        return TROD_ENC_FULL;
    out->p = rl_put_text(out->p, "#eof\n");
    return TROD_ENC_DONE;
}

MT_CALLBACKS(pinatrace, NULL)

const struct trod_format trod_format_pinatrace = {
    MT_DRIVER(pinatrace),
    .title = "memory trace of Pin's pinatrace",
    .suffixes = suffixes,
    .reads = MT_ACCESS | TROD_COL_FLAGS | TROD_COL_PC | TROD_COL_RAW,
    .writes = MT_ACCESS | TROD_COL_PC,
    .kinds = MT_ACCESSES,
    .flags = TROD_FMT_TEXT,
    .finish = finish,
    .drop = rl_drop,
};
