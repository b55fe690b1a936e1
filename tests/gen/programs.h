/*
 * programs.h - traces of an invented program, in the shape of real ones, for measuring.
 */
#ifndef TROD_GEN_PROGRAMS_H
#define TROD_GEN_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The trace called FORMAT (drm-small, drm-large, tarmac-fm, tarmac-es; of a program that does
 * nothing but call: drm-calls, tarmac-calls) with RECORDS records, in Tarmac lines, on standard
 * output; what the last instruction does comes with it. A shorter trace
 * is the beginning of a longer one, but for its end. THREAD from 0 to 4095, for drmemtrace: the
 * trace of one of that many threads, which take turns at every basic block (-1: of one thread
 * alone). Returns false where there is no such format.
 */
bool programs_write(const char *format, uint64_t records, int thread);

#endif
