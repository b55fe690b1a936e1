/*
 * slab.h - blocks of memory out of huge pages.
 *
 * Tables that grow with what is counted are made of new pages all the time. Pages of 4 KiB take
 * longer to make than what is put there takes to count, and are too many for the processor to
 * remember where they are. Here blocks of 16 KiB and more share huge pages with each other, so that
 * many tables of which each is small take no more memory than they need.
 */
#ifndef TROD_CORE_SLAB_H
#define TROD_CORE_SLAB_H

#include <stddef.h>

/* BYTES of memory, aligned to 64, with whatever was left there. NULL: no memory. */
void *trod_slab_take(size_t bytes);
/* The same, all zero. */
void *trod_slab_zeroed(size_t bytes);
/* P of BYTES, as they were taken, is not used any more; or NULL. */
void trod_slab_give(void *p, size_t bytes);

#endif
