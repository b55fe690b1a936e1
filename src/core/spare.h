/*
 * spare.h - large blocks of memory that were given back, kept for who next wants one of the same
 * size.
 *
 * Parts of a file are traces of their own, one after the other: each has windows, batches and
 * tables of some megabytes. From malloc these are new pages each time, which the system clears and
 * maps on one processor and takes from the tables of all others. What is kept here is bounded
 * (SPARE_BYTES); builds with AddressSanitizer keep nothing, so that use after release is seen.
 * Blocks that fill more than half of a huge page are made of such, where the system has them.
 */
#ifndef TROD_CORE_SPARE_H
#define TROD_CORE_SPARE_H

#include <stddef.h>

/* The bytes of the smallest block that is kept: for smaller ones malloc has memory at hand. */
enum { TROD_SPARE_LEAST = 1 << 17 };

/* BYTES of memory, aligned to 64, with whatever was left there. NULL: no memory. */
void *trod_spare_take(size_t bytes);
/*
 * The same, all zero: for tables of which some users touch little. New memory is made of small
 * pages, when they are touched.
 */
void *trod_spare_zeroed(size_t bytes);
/* A block of BYTES that was given back, with whatever was left there. NULL: none is kept. */
void *trod_spare_kept(size_t bytes);
/* P of BYTES, as they were taken, is not used any more; or NULL. */
void trod_spare_give(void *p, size_t bytes);

#endif
