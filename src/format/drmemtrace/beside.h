/*
 * beside.h - files beside a trace, and what info tells of it.
 */
#ifndef TROD_DRMEMTRACE_BESIDE_H
#define TROD_DRMEMTRACE_BESIDE_H

#include "trod/analysis.h"
#include "trod/format.h"

extern const struct trod_beside drm_beside;

/*
 * The path of the file NAME that stands beside the input PATH, or in one of the folders where it
 * may stand, to OUT of N bytes. False: there is none that can be read.
 */
bool drm_find_beside(const char *path, const char *name, char *out, size_t n);
extern const struct trod_analysis drm_info;

#endif
