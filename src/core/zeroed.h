/*
 * zeroed.h - large tables and arrays, all zero at first, with few page faults.
 *
 * Of calloc's memory the system makes pages twice: one of zeros where a place is first looked at,
 * then one of its own where it is written to. Tables that are going to be filled all over get their
 * pages in one go, large ones huge pages where the system has them. Arrays that become larger keep
 * their pages: nothing is copied, and nothing is cleared that is not touched.
 */
#ifndef TROD_CORE_ZEROED_H
#define TROD_CORE_ZEROED_H

#include <stddef.h>

/* BYTES of memory, all zero, that are about to be used. NULL: no memory. */
void *trod_zeroed_new(size_t bytes);
/*
 * Room for N elements of SIZE bytes in the array of *HAVE at the address ARRAY, which may be that
 * of NULL; new ones are all zero. Returns 0 or TROD_ERR_NOMEM; then nothing has changed.
 */
int trod_zeroed_room(void *array, size_t *have, size_t n, size_t size);
/* Release P of BYTES, as they were asked for, or of elements that there is room for; or NULL. */
void trod_zeroed_free(void *p, size_t bytes);

#endif
