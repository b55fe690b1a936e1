/*
 * beside.h - files beside a trace, and what info tells of it.
 */
#ifndef TROD_DRMEMTRACE_BESIDE_H
#define TROD_DRMEMTRACE_BESIDE_H

#include "trod/analysis.h"
#include "trod/format.h"

extern const struct trod_beside drm_beside;
extern const struct trod_analysis drm_info;

#endif
