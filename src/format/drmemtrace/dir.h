/*
 * dir.h - the directory a drmemtrace trace lives in.
 */
#ifndef TROD_DRMEMTRACE_DIR_H
#define TROD_DRMEMTRACE_DIR_H

#include "trod/format.h"

/* The resolve callback of the driver: see struct trod_format. */
int drm_resolve(const char *path, struct trod_files *out, struct trod_diag *diag);

#endif
