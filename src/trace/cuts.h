/*
 * cuts.h - where a plain file can be cut, near offsets that somebody wants, and outlines of what
 * lies between two cuts.
 *
 * Part of trod/trace.h, for the engine; not installed.
 */
#ifndef TROD_TRACE_CUTS_H
#define TROD_TRACE_CUTS_H

#include "trod/format.h"
#include "trod/trace.h"

/*
 * As trod_trace_cuts of a plain file, near the N offsets WANT, which ascend: CUT[k] is the first
 * offset from WANT[k] on at which FILE can be parted, or TROD_NOWHERE: there is none, or it lies
 * behind no other than the cut before. Returns how many there are.
 */
size_t trod_trace_cuts_near(const struct trod_trace *whole, size_t file, const uint64_t *want,
                            size_t n, uint64_t *cut, struct trod_candidate *as);

/* The frames that cuts of compressed files of WHOLE were found by are of no more use. */
void trod_trace_forget_frames(struct trod_trace *whole);

/*
 * The outline of the bytes [FROM, TO), between two cuts of the file of T, a trace by
 * trod_trace_open_bytes; OUT is empty, and released with trod_outline_fini, also after an error.
 * Returns 0, or an error, which is not reported: TROD_ERR_UNSUPPORTED (the format has no outlines,
 * or this one would be large), what trod_input_open and trod_input_ahead return, or TROD_ERR_NOMEM.
 */
int trod_trace_outline(const struct trod_trace *t, uint64_t from, uint64_t to,
                       struct trod_outline *out);
void trod_outline_fini(struct trod_outline *o);
/* As trod_trace_pass, without reading: O is the outline of the bytes up to TO. */
int trod_trace_pass_outline(struct trod_trace *t, uint64_t to, const struct trod_outline *o);

/*
 * The beginning of FILE of WHOLE, passed over up to the first cut, if decoders of parts of it whose
 * rows say WANT may assume what is before them (struct trod_parts); else NULL.
 */
struct trod_trace *trod_trace_beginning(const struct trod_trace *whole, size_t file, uint32_t want);

/*
 * Let WHOLE know the instruction set that the first file that says any says, be it behind many
 * rows, so that what is decoded does not depend on which part is read first. Returns whether rows
 * that were not looked at may say one.
 */
bool trod_trace_first_isa(struct trod_trace *whole);
/* T, a trace by trod_trace_open_bytes, is to assume that, by that BEGINNING. 0 or TROD_ERR_NOMEM.
 */
int trod_trace_assume(struct trod_trace *t, const struct trod_trace *beginning);
/* Was T, which was read to its end, right? BEFORE, of the part before it, was. 1, 0, or an error.
 */
int trod_trace_assumed(struct trod_trace *t, struct trod_trace *before);

#endif
