/*
 * cuts.h - where a plain file can be cut, near offsets that somebody wants.
 *
 * Part of trod/trace.h, for the engine; not installed.
 */
#ifndef TROD_TRACE_CUTS_H
#define TROD_TRACE_CUTS_H

#include "trod/trace.h"

/*
 * As trod_trace_cuts of a plain file, near the N offsets WANT, which ascend: CUT[k] is the first
 * offset from WANT[k] on at which FILE can be parted, or TROD_NOWHERE: there is none, or it lies
 * behind no other than the cut before. Returns how many there are.
 */
size_t trod_trace_cuts_near(const struct trod_trace *whole, size_t file, const uint64_t *want,
                            size_t n, uint64_t *cut, struct trod_candidate *as);

#endif
