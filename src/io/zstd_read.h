/*
 * zstd_read.h - reading zstd frames that stand one behind the other, for the filters that have
 * such.
 */
#ifndef TROD_IO_ZSTD_READ_H
#define TROD_IO_ZSTD_READ_H

#include "blocks.h"
#include "filter.h"
#include "trod_config.h"

#if TROD_HAVE_ZSTD
#include <zstd.h>

/* Frames that are decoded block by block. All zero but the context: a frame begins. */
struct trod_zstd_blocks {
    ZSTD_DCtx *ctx;
    struct trod_blocks at;
};

/*
 * As ZSTD_decompressStream, until O is full, IN is used up, but for a part at its end that is not
 * whole, or a frame ends; but where it finds an error, all that was made before counts.
 */
size_t trod_zstd_some(struct trod_zstd_blocks *b, ZSTD_outBuffer *o, ZSTD_inBuffer *in);

struct trod_zstd {
    struct trod_zstd_blocks blocks;
    uint64_t end; /* byte of the input behind the last frame; 0: where the input ends */
    bool between; /* frames */
};

int trod_zstd_open(struct trod_zstd *d, struct trod_fault *fault);
/* As trod_filter.read; 0 bytes with TROD_OK also at END, with input left. */
int trod_zstd_read(struct trod_zstd *d, struct trod_stage *s, uint8_t *out, size_t cap, size_t *n);
void trod_zstd_close(struct trod_zstd *d);
#endif

#endif
