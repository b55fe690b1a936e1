/*
 * modules.h - code that is not in the trace: the program's files, the vdso, generated code.
 */
#ifndef TROD_DRMEMTRACE_MODULES_H
#define TROD_DRMEMTRACE_MODULES_H

#include "trod/format.h"

struct drm_modules;

/* Returns 0 or TROD_ERR_NOMEM. Release with drm_modules_free; NULL is allowed. */
int drm_modules_new(struct drm_modules **out);
void drm_modules_free(struct drm_modules *m);

/*
 * Add what the module list at PATH names: files, looked for in DIR (may be NULL) first and then
 * where they were, and bytes that stand in the list itself. A file that is missing, or is not the
 * one that ran, is a warning. Returns 0, TROD_ERR_IO, TROD_ERR_CORRUPT (no module list) or
 * TROD_ERR_NOMEM, reported.
 */
int drm_modules_add(struct drm_modules *m, const char *path, const char *dir,
                    struct trod_diag *diag);
/* The same for N bytes of such a list; NAME stands for its path. */
int drm_modules_parse(struct drm_modules *m, const uint8_t *p, size_t n, const char *name,
                      const char *dir, struct trod_diag *diag);

/* Add the N bytes of an encodings.bin at P, called NAME. As above. */
int drm_modules_generated(struct drm_modules *m, const uint8_t *p, size_t n, const char *name,
                          struct trod_diag *diag);

/*
 * The SIZE bytes at address PC; NULL where they are not known. A file that has changed since it was
 * opened is reported once, to the diag of drm_modules_add.
 */
const uint8_t *drm_modules_code(struct drm_modules *m, uint64_t pc, uint32_t size);

/* The instruction set of the files, TROD_ISA_UNKNOWN where there are none. */
enum trod_isa drm_modules_isa(const struct drm_modules *m);

/* Stretches known. */
size_t drm_modules_count(const struct drm_modules *m);

#endif
