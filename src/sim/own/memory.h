/*
 * memory.h - what goes from the last caches to memory and back, as rows.
 *
 * Implements docs/caches.md, "Misses as a trace".
 */
#ifndef TROD_SIM_OWN_MEMORY_H
#define TROD_SIM_OWN_MEMORY_H

#include "sim/ref.h"
#include "trod/batch.h"

/* Zero bytes: not wanted. */
struct trod_own_memory {
    int (*give)(void *user, const struct trod_batch *b); /* 0 or an error */
    void *user;
    struct trod_batch *rows;
    uint32_t stream; /* of the reference at hand */
    bool no_pc;      /* its instruction is not known */
    int rc;          /* the first error */
};

/* Rows go to GIVE, which gets USER. 0 or TROD_ERR_NOMEM. */
int trod_own_memory_init(struct trod_own_memory *m,
                         int (*give)(void *user, const struct trod_batch *b), void *user);
void trod_own_memory_fini(struct trod_own_memory *m);

/*
 * OP (FETCH, READ, WRITE or PREFETCH) of SIZE bytes at ADDR, because of PC; a WRITE of PC 0 is
 * nobody's: what a cache writes back.
 */
void trod_own_memory_put(struct trod_own_memory *m, enum trod_op op, uint64_t addr, uint32_t size,
                         uint64_t pc);
/* Pass on the rows that are still buffered. */
void trod_own_memory_end(struct trod_own_memory *m);

#endif
