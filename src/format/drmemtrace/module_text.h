/*
 * module_text.h - the text of a list of modules (modules.log), line by line.
 */
#ifndef TROD_DRMEMTRACE_MODULE_TEXT_H
#define TROD_DRMEMTRACE_MODULE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Versions of the list: the least that is read, and those from which on lines have a column. */
enum {
    DRM_MODULES_LEAST = 2,
    DRM_MODULES_CONTAINING = 3,
    DRM_MODULES_OFFSETS = 4,
    DRM_MODULES_PREFERRED = 5
};

enum { DRM_MODULE_PATH = 4096 };

/* A line. */
struct drm_module {
    uint64_t id, containing, start, end, entry, offset;
    const uint8_t *custom; /* bytes in the list itself: custom_n of them */
    size_t custom_n;
    char path[DRM_MODULE_PATH];
};

/* What is left of a list. */
struct drm_module_text {
    const uint8_t *p, *end;
    unsigned version;
    uint64_t left, line; /* lines to come; the one read last */
};

/*
 * Begin with N bytes at P, which must outlive C: "Module Table: version 5, count 9". Returns false
 * where that is not what stands there.
 */
bool drm_module_text_begin(struct drm_module_text *c, const uint8_t *p, size_t n);

/* The next line, into N; only where text and lines are left. Returns false if it is damaged. */
bool drm_module_text_next(struct drm_module_text *c, struct drm_module *n);

#endif
