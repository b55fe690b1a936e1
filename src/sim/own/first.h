/*
 * first.h - a fast simulation of the first-level caches of plain hierarchies.
 *
 * Implements docs/caches.md, "Rules", for one core with an LRU instruction cache and an LRU data
 * cache that write back, allocate on writes, and do not prefetch. Most simulations have this form,
 * and the first level takes most of their time. The lines of a set are kept in the order of their
 * last use. Rows are converted to references; a reference to the same line as the previous one in
 * its cache is left out, because it hits and changes nothing. Misses go to the caches behind; the
 * nearest of these may have the same form (behind.c), the others are simulated one request at a
 * time (own/cache.h). The numbers are the same as those of trod_own_sim_feed.
 */
#ifndef TROD_SIM_OWN_FIRST_H
#define TROD_SIM_OWN_FIRST_H

#include "sim/own/kept.h"
#include "sim/own/sim.h"
#include "sim/own/touched.h"

enum {
    TROD_FIRST_WAYS = 16,  /* at most */
    TROD_FIRST_WIDE = 8,   /* lines of a set that are compared at once */
    TROD_FIRST_LEVELS = 4, /* levels of this form behind the first, at most */
    TROD_FIRST_SHARDS = 16 /* into which a part is merged, at most */
};

/*
 * What is done with references. A part keeps those that missed or may have; or it records all, from
 * some reference on.
 */
enum trod_first_does { TROD_FIRST_SIMULATES, TROD_FIRST_KEEPS, TROD_FIRST_RECORDS };

struct trod_first_part;

struct trod_first_cache {
    struct trod_own_cache *of; /* receives the counts; has the links to the caches behind */
    uint64_t *tag;             /* by set, STRIDE lines each (own/touched.h): last used first */
    uint32_t *narrow;          /* behind the first level, instead of TAG: mru.h; else NULL */
    unsigned set_bits;         /* number of the lowest bits of a line number that are its set */
    uint64_t *front; /* by set: the most recently used line, while references are thinned */
    uint8_t *dirt;   /* by set: dirty lines that the part being merged brought to it */
    uint64_t mask;
    uint32_t ways, stride;
};

struct trod_first {
    struct trod_touched in; /* references not simulated yet */
    struct trod_own_sim *sim;
    struct trod_first_cache cache[2];                 /* code, data */
    struct trod_first_cache level[TROD_FIRST_LEVELS]; /* the levels behind, nearest first */
    unsigned levels;
    enum trod_first_does does;
    struct trod_first_part *part; /* of a part: what it keeps; else NULL */
    unsigned unthinned; /* further buffers to be simulated without removing hits to set fronts */
    bool fronts;        /* trod_first_cache.front is valid */
    /* The references that missed, and the line each replaced; 0: none. In OWN, or where a part
     * keeps them. */
    uint64_t *missed, *left;
    size_t waiting; /* while a part is merged: how many of these have not gone behind */
    uint64_t own[2][TROD_TOUCHED_ROOM];
};

/* Has the hierarchy C, of which only counts are wanted, this form? */
bool trod_first_fits(const struct trod_own_config *c);
/*
 * Note in C, which has this form, that the lines of its first level are kept here; to be called
 * before trod_own_sim_init.
 */
void trod_first_claim(struct trod_own_config *c);
/* Reduce C, which has this form, to its first level: for states that only record. */
void trod_first_alone(struct trod_own_config *c);
/* Take over the first level of S, before the first reference. NULL: no memory. */
struct trod_first *trod_first_new(struct trod_own_sim *s);
void trod_first_free(struct trod_first *f);
/* Simulate, as a whole or as a part, rows [FROM, TO) of B. 0 or TROD_ERR_NOMEM. */
int trod_first_feed(struct trod_first *f, const struct trod_batch *b, uint32_t from, uint32_t to);

/*
 * F simulates a part of the rows, for trod_first_merge into SHARDS hierarchies, a power of two, by
 * the bits of the address from SHIFT on (trod_own_sim_classes); before the first reference. What
 * its sets had before is not known: it keeps the references that missed or may have, or, where sets
 * are large, all. False: no memory.
 */
bool trod_first_part(struct trod_first *f, unsigned shards, unsigned shift);
/* The bytes that the part F has kept. */
size_t trod_first_kept(const struct trod_first *f);
/*
 * Simulate in F, of which FROM is a part, the rows of FROM as if they came next; where F is one of
 * several shards, what is of its own sets. FROM is only read. 0 or TROD_ERR_NOMEM.
 */
int trod_first_merge(struct trod_first *f, const struct trod_first *from);
/* Internal: free what F has kept. */
void trod_first_drop(struct trod_first *f);

#endif
