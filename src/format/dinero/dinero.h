/*
 * dinero.h - the five input formats of the Dinero IV cache simulator: what their drivers share.
 *
 * Implements docs/formats/dinero.md.
 */
#ifndef TROD_FORMAT_DINERO_H
#define TROD_FORMAT_DINERO_H

#include "format/memtext/refs.h"

/* Labels of the formats d and b; D has a letter for each. */
enum din_label {
    DIN_READ,
    DIN_WRITE,
    DIN_FETCH,
    DIN_MISC,
    DIN_COPY_BACK,
    DIN_INVALIDATE,
    DIN_LABELS
};

enum { DIN_SIZE = 4 }; /* of references that say none */

extern const uint8_t din_kinds[DIN_LABELS]; /* enum trod_kind */
extern const struct trod_format trod_format_dinero, trod_format_dinerox, trod_format_dinerob;
extern const struct trod_format trod_format_pixie32, trod_format_pixie64;

/* Are rows of META's format references of Dinero, whose sub is the label? */
bool din_source(const struct trod_meta *meta);

/*
 * The labels that ROW is written with, one or two, and its address. Returns how many; 0: none,
 * and the row is counted as lost. OWN: sub is the label.
 */
unsigned din_labels(struct rl_enc *enc, const struct trod_batch *b, uint32_t row, uint8_t label[2],
                    uint64_t *at);

/* What rows of META's format keep in F. */
/* N references of ROW, with LABEL, were written at the address AT. */
static inline void din_follow(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                              unsigned n, const uint8_t label[2], uint64_t at)
{
    if (n)
        rl_follow(enc, b, row, label[0] == DIN_FETCH ? RL_FETCH : RL_READ, at);
}
void din_keeps(const struct trod_format *f, const struct trod_meta *meta, struct trod_keeps *k);

/* "misc", "copy-back", "invalidate": rows that are no accesses. */
const char *din_sub_name(unsigned kind, unsigned sub);

#endif
