/*
 * first_int.h - what the files of the first-level caches (own/first.h) share.
 */
#ifndef TROD_SIM_OWN_FIRST_INT_H
#define TROD_SIM_OWN_FIRST_INT_H

#include "sim/own/first.h"

/*
 * N references REFS, at most TROD_TOUCHED_ROOM, go to the first-level caches; returns how many
 * missed. What they replaced is in f->left beside them (first.c).
 */
size_t trod_first_touch(struct trod_first *f, const uint64_t *refs, size_t n);
/*
 * Copy those of the N references REFS to TO that are of the classes of this shard; returns how
 * many. TO may be REFS, and has room for 8 more (first.c).
 */
size_t trod_first_mine(const struct trod_first *f, const uint64_t *refs, size_t n, uint64_t *to);
/* The first N misses go to the caches behind (behind.c). */
void trod_first_behind(struct trod_first *f, size_t n);
/* A part keeps the first N misses (first_part.c). */
void trod_first_keep(struct trod_first *f, size_t n);
/* A part keeps the references of f->in. False: no memory (first_part.c). */
bool trod_first_record(struct trod_first *f);
/* Nothing is known of what the sets have in front (first.c). */
void trod_first_forget(struct trod_first *f);

#endif
