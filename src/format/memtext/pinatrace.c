/*
 * pinatrace.c - what the example tool pinatrace of Intel Pin prints: accesses with their pc.
 *
 * Implements docs/formats/memtext.md, "pinatrace".
 */
#include "format/memtext/memtext.h"

#define END_LINE "#eof\n"

static const char *const suffixes[] = {".pinatrace", NULL};

/* A pointer, or 0 as C++ streams print the null pointer. */
RL_INLINE bool pointer(const uint8_t **p, const uint8_t *e, uint64_t *v)
{
    if (mt_pointer(p, e, v))
        return true;
    return *p < e && **p == '0' && rl_hex(p, e, v) && *v == 0;
}

/*
 * What Pin's SimpleExamples print behind the address: the size, and the value but for prefetches
 * and with -values 0. Values of other sizes than 1, 2, 4 and 8 are bytes without their leading
 * zeros, which cannot be told apart.
 */
RL_INLINE enum rl_line size_and_value(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    uint64_t size;

    if (!rl_decimal(&p, e, &size) || size > UINT32_MAX || (p < e && *p != ' ' && *p != '\t'))
        return rl_bad(r, p, "size should be a decimal number of up to 32 bits");
    r->has |= TROD_COL_SIZE;
    r->size = (uint32_t)size;
    rl_skip_blanks(&p, e);
    if (p == e)
        return RL_ROW;
    if (size > 8 || !size || (size & (size - 1)))
        return rl_word(&p, e, "0x") ? RL_ROW : rl_bad(r, p, "bytes should begin with 0x");
    if (!pointer(&p, e, &r->value))
        return rl_bad(r, p, "value should be 0x and a hex number of up to 64 bits");
    if (size < 8 && r->value >> 8 * size)
        return rl_bad(r, p, "value is larger than its size");
    rl_skip_blanks(&p, e);
    if (p != e)
        return rl_bad(r, p, "nothing should follow the value");
    r->has |= TROD_COL_VALUE;
    return RL_ROW;
}

/* "0xPC: R 0xADDR"; a line that begins with # is no access. */
RL_INLINE enum rl_line parse_pinatrace(const uint8_t *p, const uint8_t *e, struct rl_row *r)
{
    if (p == e || *p == '#')
        return RL_NOTHING;
    if (!pointer(&p, e, &r->pc) || !rl_word(&p, e, ": "))
        return rl_bad(r, p, "it should begin with 0xPC and ': '");
    if (e - p < 2 || (*p != 'R' && *p != 'W') || p[1] != ' ')
        return rl_bad(r, p, "R or W should follow the pc");
    r->kind = *p == 'R' ? TROD_READ : TROD_WRITE;
    p += 2;
    rl_skip_blanks(&p, e);
    if (!pointer(&p, e, &r->addr) || (p < e && *p != ' ' && *p != '\t'))
        return rl_bad(r, p, "address should be 0x and a hex number of up to 64 bits");
    rl_skip_blanks(&p, e);
    r->has = TROD_COL_ADDR | (r->pc ? (uint32_t)TROD_COL_PC : 0);
    r->flags = 0;
    return p == e ? RL_ROW : size_and_value(p, e, r);
}

/* As %p prints it. */
RL_INLINE uint8_t *put_pointer(uint8_t *p, uint64_t v)
{
    return v ? mt_put_pointer(p, v) : rl_put_text(p, "(nil)");
}

/* Rows of this format keep what stood behind the address. */
static uint8_t *put_size_and_value(const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    *p++ = ' ';
    p = rl_put_decimal(p, b->size[row]);
    if (!rl_has(b, row, TROD_COL_VALUE))
        return p;
    *p++ = ' ';
    return mt_put_pointer(p, b->value[row]);
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
        if (enc->own && rl_has(b, row, TROD_COL_SIZE))
            p = put_size_and_value(b, row, p);
        *p++ = '\n';
    }
    return p;
}

static int bid_pinatrace(const struct trod_probe *probe, const char **dialect)
{
    static const char end[] = END_LINE;

    (void)dialect;
    if (probe->head.last && probe->head.n == sizeof end - 1 &&
        memcmp(probe->head.p, end, sizeof end - 1) == 0)
        return 8 * (int)(sizeof end - 1); /* a trace without accesses */
    return rl_bid(probe, parse_pinatrace, 16, 1, NULL);
}

/* The last line, without which the file is not whole. */
static int finish(void *enc, struct trod_room *out, struct trod_diag *diag)
{
    (void)enc;
    (void)diag;
    if (out->end - out->p < RL_ROW_MAX)
        return TROD_ENC_FULL;
    out->p = rl_put_text(out->p, END_LINE);
    return TROD_ENC_DONE;
}

MT_CALLBACKS(pinatrace, NULL)

const struct trod_format trod_format_pinatrace = {
    MT_DRIVER(pinatrace),
    .title = "memory trace of Pin's pinatrace",
    .suffixes = suffixes,
    .reads =
        MT_ACCESS | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_PC | TROD_COL_VALUE | TROD_COL_RAW,
    .writes = MT_ACCESS | TROD_COL_PC,
    .kinds = MT_ACCESSES,
    .flags = TROD_FMT_TEXT,
    .finish = finish,
    .verbatim = rl_verbatim,
    .drop = rl_drop,
};
