/*
 * xz.h - an xz file from one of its blocks on.
 */
#ifndef TROD_IO_XZ_H
#define TROD_IO_XZ_H

#include "filter.h"

#include <lzma.h>

/* As trod_filter.find: streams, and blocks inside them. */
bool trod_xz_find(struct trod_frames *f, struct trod_source *s, uint64_t *decoded);

/* The blocks of a stream from the one on that S stands at, its index and footer. */
struct trod_xz_blocks;
int trod_xz_blocks_new(struct trod_xz_blocks **out, struct trod_stage *s);
void trod_xz_blocks_free(struct trod_xz_blocks *b);
/* As lzma_code: LZMA_OK, LZMA_STREAM_END behind the footer, LZMA_BUF_ERROR: the input is too short,
 * or an error. *N of CAP bytes of OUT are made, and *N grows. */
lzma_ret trod_xz_blocks_read(struct trod_xz_blocks *b, struct trod_stage *s, uint8_t *out,
                             size_t cap, size_t *n);

#endif
