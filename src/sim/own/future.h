/*
 * future.h - when each line is referenced next: found in the first of two passes, for policy opt.
 *
 * Implements docs/caches.md, "The optimal policy". For each cache with that policy, 8 bytes for
 * each reference are kept in a nameless file in the folder TMPDIR or /tmp. Memory grows with the
 * number of different lines.
 */
#ifndef TROD_SIM_OWN_FUTURE_H
#define TROD_SIM_OWN_FUTURE_H

#include "trod/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trod_own_coming { /* of one cache */
    int file;
    uint64_t n, at;   /* references in the file; number of the next one to be returned */
    uint64_t *buffer; /* BLOCK of them */
    size_t held;      /* in the buffer */
    uint64_t first;   /* second pass: number of the first reference in the buffer */
    int failed;       /* first error */
};

struct trod_own_future {
    struct trod_own_coming *cache;
    uint32_t n;
    bool turned; /* the first pass is over */
};

/* Prepare for N caches. 0, TROD_ERR_NOMEM or TROD_ERR_IO (reported). */
int trod_own_future_init(struct trod_own_future *f, uint32_t n, struct trod_diag *diag);
void trod_own_future_fini(struct trod_own_future *f);

/* First pass: the next reference of this cache is to LINE. Errors wait for the turn. */
void trod_own_coming_note(struct trod_own_coming *c, uint64_t line);

/*
 * The first pass is over. 0, TROD_ERR_IO (reported; also for errors of the first pass) or
 * TROD_ERR_NOMEM.
 */
int trod_own_future_turn(struct trod_own_future *f, struct trod_diag *diag);

/* Begin the second pass, or begin it again. */
void trod_own_future_rewind(struct trod_own_future *f);

/* Second pass: when the line of the next reference is referenced again; TROD_OPT_NEVER: not again.
 */
uint64_t trod_own_coming_next(struct trod_own_coming *c);

#endif
