/*
 * code_file.h - a file whose code a trace executed, read in blocks when they are asked for.
 */
#ifndef TROD_DRMEMTRACE_CODE_FILE_H
#define TROD_DRMEMTRACE_CODE_FILE_H

#include "trod/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { DRM_CODE_BLOCK = 1 << 16 };

struct drm_code_file {
    char *path;
    struct stat st;  /* as it was when it was opened first */
    uint8_t **block; /* each DRM_CODE_BLOCK bytes and some of the next; NULL: not read yet */
    bool usable;
    bool changed; /* since it was opened: parts that were not read before are not known */
};

/* Prepare F for the file PATH. False: it is no regular file, cannot be read, or is empty. */
bool drm_code_file_open(struct drm_code_file *f, const char *path);
void drm_code_file_fini(struct drm_code_file *f);

/*
 * The N bytes (at most 64) at OFFSET; they stay valid until fini. NULL: they are not in the file,
 * cannot be read, or the file has changed (then f->changed is set).
 */
const uint8_t *drm_code_file_at(struct drm_code_file *f, uint64_t offset, size_t n);

/* Read N bytes at OFFSET to P. False as above. */
bool drm_code_file_read(struct drm_code_file *f, uint64_t offset, void *p, size_t n);

/*
 * The whole of the regular file PATH, at most LIMIT bytes. *WHY is a text where it fails. Returns
 * 0, TROD_ERR_IO (also what is no regular file, or changed while it was read), TROD_ERR_LIMIT,
 * TROD_ERR_NOMEM.
 */
int drm_read_file(const char *path, size_t limit, struct trod_buf *out, const char **why);

#endif
