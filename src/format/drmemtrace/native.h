/*
 * native.h - the listing of the view tool.
 */
#ifndef TROD_DRMEMTRACE_NATIVE_H
#define TROD_DRMEMTRACE_NATIVE_H

#include "trod/format.h"

/* The native callback of the driver: see struct trod_format. */
int drm_native(struct trod_native *listing, const struct trod_batch *b, uint32_t row,
               struct trod_room *out);

#endif
