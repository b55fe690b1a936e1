/*
 * zstd_read.h - reading zstd frames that stand one behind the other, for the filters that have
 * such.
 */
#ifndef TROD_IO_ZSTD_READ_H
#define TROD_IO_ZSTD_READ_H

#include "filter.h"

struct trod_zstd {
    struct ZSTD_DCtx_s *ctx;
    uint64_t end; /* byte of the input behind the last frame; 0: where the input ends */
    bool between; /* frames */
};

int trod_zstd_open(struct trod_zstd *d, struct trod_fault *fault);
/* As trod_filter.read; 0 bytes with TROD_OK also at END, with input left. */
int trod_zstd_read(struct trod_zstd *d, struct trod_stage *s, uint8_t *out, size_t cap, size_t *n);
void trod_zstd_close(struct trod_zstd *d);

#endif
