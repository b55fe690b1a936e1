/*
 * drm_time.h - time stamps of drmemtrace traces.
 *
 * They are microseconds. Where addresses have 32 bits so have they, and wrap after 71 minutes.
 */
#ifndef TROD_CORE_DRM_TIME_H
#define TROD_CORE_DRM_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* Does TO, in a trace with addresses of BITS bits, lie before FROM, which came before it? */
static inline bool trod_drm_time_back(uint64_t from, uint64_t to, unsigned bits)
{
    return to < from && !(bits == 32 && from - to > UINT32_MAX / 2);
}

/* Microseconds from FROM to TO, which does not lie before it. */
static inline uint64_t trod_drm_time_since(uint64_t from, uint64_t to, unsigned bits)
{
    return bits == 32 ? (to - from) & UINT32_MAX : to - from;
}

#endif
