/*
 * assumed.h - what a decoder that begins in the middle of a plain trace assumes of what it was not
 * shown.
 *
 * Implements the callbacks may_assume, assume and assumed of struct trod_parts (trod/format.h).
 * Such a decoder has the state that the beginning of the trace ends with: the same thread, in user
 * code, with nothing pending. Instructions whose encodings it has not seen are assumed to have had
 * one, and to be system calls if a SYSCALL marker follows them. The decoder of all that comes
 * before knows whether all that is so.
 */
#ifndef TROD_DRMEMTRACE_ASSUMED_H
#define TROD_DRMEMTRACE_ASSUMED_H

#include "format/drmemtrace/decode.h"

/* Entries behind that of an instruction that may tell that it is a system call: times, a marker. */
enum { DRM_CALL_ENTRIES = 5 };

void drm_assumed_free(struct drm_assumed *a);

/*
 * The encoding of the instruction at PC, whose entry is P, is not known, and not assumed so far
 * (drm_side_recall), in a trace that has encodings: assume that it has come.
 * Returns the flags that it adds, as drm_code_flags for no TYPE_FLAGS.
 */
uint32_t drm_assume_code(struct drm_call *c, const uint8_t *p, uint64_t pc);

bool drm_may_assume(const void *dec, uint32_t want);
int drm_assume(void *dec);
int drm_assumed(void *dec, void *before);

#endif
