/*
 * drm_check.h - is this a valid drmemtrace file? An oracle of its own: it shares no code with the
 * drivers and looks at entries, not at rows.
 *
 * What DynamoRIO's invariant checker enforces of control flow, markers, times and chunks, and what
 * its reader needs: docs/formats/drmemtrace-writing.md.
 */
#ifndef TROD_TEST_DRM_CHECK_H
#define TROD_TEST_DRM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part (zip member) of a file, decompressed. */
struct drm_part {
    const uint8_t *p;
    size_t n;
};

struct drm_checked {
    char fault[200]; /* the first violation, "" if there is none */
    uint64_t entries, visible, instrs, nofetch, reads, writes, markers, encodings;
    uint64_t version, filetype, chunk, tid, pid;
    uint64_t events, times;
};

/*
 * Check the N parts of a file; WIDTH bytes an entry; ZIP: chunks are the parts. Returns true when
 * the file is valid.
 */
bool drm_check(const struct drm_part *part, size_t n, unsigned width, bool zip,
               struct drm_checked *out);

#endif
