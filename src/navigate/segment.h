/*
 * segment.h - what segment.c, which writes postings, and segment_find.c, which reads them, agree
 * on. The layout is described in segment.c.
 */
#ifndef TROD_NAVIGATE_SEGMENT_H
#define TROD_NAVIGATE_SEGMENT_H

#include "navigate/index.h"

/* Bytes before the directory of a section; of an entry of it. */
enum { HEAD = 8, ENTRY = 24 };

/* Of the byte of forms: one step, whose number stands above it. */
enum { ONE_STEP = 1 << 4 };

/* Masks of bytes: most are none, all, or neighbours. */
enum { MASK_NONE, MASK_ALL, MASK_RUN, MASK_ANY };

/* Of the number of executions of a SITE: what follows it. */
enum { SITE_KINDS = 1, SITE_STEPS = 2, SITE_ROWS = 4, SITE_BITS = 3, SITE_ALONE = 1 << TROD_INSTR };

/* How many rows belong to an instruction of section ID, of KINDS and executed N times, as a rule.
 */
static inline uint64_t usual_rows(unsigned id, uint32_t kinds, uint64_t n)
{
    return id == NAV_S_SITES && kinds & ~(uint32_t)SITE_ALONE ? n : 0;
}

#endif
