/*
 * memtext.h - the texts of memory tracers: their drivers.
 *
 * Implements docs/formats/memtext.md.
 */
#ifndef TROD_FORMAT_MEMTEXT_H
#define TROD_FORMAT_MEMTEXT_H

#include "format/memtext/refs.h"

extern const struct trod_format trod_format_lackey, trod_format_pinatrace;
extern const struct trod_format trod_format_memtrace_x86, trod_format_memtrace_simple;
extern const struct trod_format trod_format_instrace;
extern const struct trod_format trod_format_ramulator, trod_format_dramsim3;

enum {
    MT_ACCESSES = 1u << TROD_READ | 1u << TROD_WRITE,
    MT_ACCESS = TROD_COL_KIND | TROD_COL_ADDR /* what each line has */
};

/*
 * The callbacks of a driver called NAME around parse_NAME and put_NAME, which stand above. HEAD:
 * its first line, or NULL.
 */
#define MT_CALLBACKS(NAME, HEAD)                                                                   \
    static int decode_##NAME(void *dec, struct trod_span *in, struct trod_batch *out,              \
                             struct trod_diag *diag)                                               \
    {                                                                                              \
        return rl_decode(&trod_format_##NAME, parse_##NAME, dec, in, out, diag);                   \
    }                                                                                              \
    static size_t resync_##NAME(const void *dec, const uint8_t *p, size_t n)                       \
    {                                                                                              \
        (void)dec;                                                                                 \
        return rl_resync(&trod_format_##NAME, parse_##NAME, p, n);                                 \
    }                                                                                              \
    static int begin_##NAME(void *enc, const void *opt, const struct trod_meta *meta,              \
                            struct trod_diag *diag)                                                \
    {                                                                                              \
        (void)opt;                                                                                 \
        (void)diag;                                                                                \
        return rl_begin(enc, #NAME, meta);                                                         \
    }                                                                                              \
    static int encode_##NAME(void *enc, const struct trod_batch *in, uint32_t *row,                \
                             struct trod_room *out, struct trod_diag *diag)                        \
    {                                                                                              \
        (void)diag;                                                                                \
        return rl_encode(put_##NAME, HEAD, enc, in, row, out);                                     \
    }                                                                                              \
    static void keeps_##NAME(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)  \
    {                                                                                              \
        (void)opt;                                                                                 \
        rl_keeps(&trod_format_##NAME, meta, k);                                                    \
    }

/* Its descriptor's part that is alike in all. */
#define MT_DRIVER(NAME)                                                                            \
    .name = #NAME, .row_max = RL_ROW_MAX, .dec_size = sizeof(struct rl_dec),                       \
    .enc_size = sizeof(struct rl_enc), .bid = bid_##NAME, .start = rl_start,                       \
    .decode = decode_##NAME, .resync = resync_##NAME, .cuts = true, .save = rl_save,               \
    .load = rl_load, .begin = begin_##NAME, .encode = encode_##NAME, .target = rl_target,          \
    .keeps = keeps_##NAME

/* Hex behind 0x, or (nil) as C libraries print the null pointer. */
RL_INLINE bool mt_pointer(const uint8_t **p, const uint8_t *e, uint64_t *v)
{
    *v = 0;
    if (rl_word(p, e, "(nil)"))
        return true;
    return rl_word(p, e, "0x") && rl_hex(p, e, v);
}

RL_INLINE uint8_t *mt_put_pointer(uint8_t *p, uint64_t v)
{
    return rl_put_hex(rl_put_text(p, "0x"), v);
}

/* ROW is lost: it is no access. */
RL_INLINE bool mt_access(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                         enum rl_what *what, uint64_t *at)
{
    *what = rl_what(b, row);
    if (*what >= RL_READ) {
        if (!rl_address(enc, b, row, at))
            return false;
        if (rl_has(b, row, TROD_COL_PC) && b->pc[row] == 0)
            trod_loss_columns(enc->loss, b, row, TROD_COL_PC, "in a line 0 is a pc not known");
        return true;
    }
    trod_loss_row(enc->loss, b, row, "lines are reads and writes");
    return false;
}

#endif
