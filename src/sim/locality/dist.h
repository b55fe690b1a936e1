/*
 * dist.h - classes of references, and exact histograms of stack distances by class.
 *
 * The histogram is a directory of chunks, which are made when a distance first falls into one:
 * memory follows the distances that occur, and the counters of one distance are neighbours. Short
 * distances, of which thousands of threads have no others, have chunks of their own; the others are
 * made by groups, which are blocks of 16 KiB (core/slab.h).
 */
#ifndef TROD_SIM_DIST_H
#define TROD_SIM_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a reference is: histograms are kept for each class. */
enum trod_ref {
    TROD_REF_INSTR, /* an instruction is fetched */
    TROD_REF_READ,
    TROD_REF_WRITE, /* writes, and what reads and writes in one */
    TROD_REF_OTHER, /* prefetches */
    TROD_REFS
};

/* Distance of a line's first reference. */
enum { TROD_DIST_CHUNK_LOG = 7, TROD_DIST_CHUNK = 1 << TROD_DIST_CHUNK_LOG };
#define TROD_DIST_COLD UINT32_MAX

struct trod_dist_chunk {
    uint64_t n[TROD_DIST_CHUNK][TROD_REFS];
};

struct trod_dist {
    struct trod_dist_chunk **chunk; /* NULL: nothing in it */
    size_t n_chunks;
    uint64_t cold[TROD_REFS]; /* first references */
};

/* Make the chunk of distance D. Returns false when there is no memory. */
bool trod_dist_make(struct trod_dist *h, uint32_t d);
/* Release what H holds, and leave it empty. */
void trod_dist_clear(struct trod_dist *h);
/* Add FROM to INTO. Returns false when there is no memory. */
bool trod_dist_add(struct trod_dist *into, const struct trod_dist *from);

/* N more references of class CLASS at distance D. Returns false when there is no memory. */
static inline bool trod_dist_count(struct trod_dist *h, uint32_t d, unsigned class, uint64_t n)
{
    const size_t c = d >> TROD_DIST_CHUNK_LOG;

    if (__builtin_expect(c >= h->n_chunks || !h->chunk[c], 0) && !trod_dist_make(h, d))
        return false;
    h->chunk[c]->n[d & (TROD_DIST_CHUNK - 1)][class] += n;
    return true;
}

/* References of class CLASS at distance D. */
static inline uint64_t trod_dist_at(const struct trod_dist *h, uint64_t d, unsigned class)
{
    const uint64_t c = d >> TROD_DIST_CHUNK_LOG;

    return c < h->n_chunks && h->chunk[c] ? h->chunk[c]->n[d & (TROD_DIST_CHUNK - 1)][class] : 0;
}

/* The same of the classes in the set CLASSES (a bit each). */
uint64_t trod_dist_of(const struct trod_dist *h, uint64_t d, unsigned classes);
/* First references of the classes in CLASSES. */
uint64_t trod_dist_cold(const struct trod_dist *h, unsigned classes);
/* All references of the classes in CLASSES that were counted. */
uint64_t trod_dist_total(const struct trod_dist *h, unsigned classes);
/*
 * The least distance from D on at which there are references of CLASSES; UINT64_MAX where there is
 * none.
 */
uint64_t trod_dist_next(const struct trod_dist *h, uint64_t d, unsigned classes);

/*
 * Misses of fully associative LRU caches of SIZE[i] lines, N of them, rising: references of CLASSES
 * with a distance of at least the size, and first references. To MISSES.
 */
void trod_dist_misses(const struct trod_dist *h, unsigned classes, const uint64_t *size, size_t n,
                      uint64_t *misses);

#endif
