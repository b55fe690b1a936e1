/*
 * shards.h - stack distances of a sample of the lines, and what they say of all lines.
 *
 * Implements docs/locality.md, "Long traces: samples" (Waldspurger, Park, Garthwaite, Ahmad,
 * "Efficient MRC construction with SHARDS", 2015): a line belongs to the sample where its hash is
 * below a threshold. Distances in the sample are divided by the share of lines in it, and each
 * reference stands for 1 / share references. With a fixed size the threshold falls so that a limit
 * of lines is kept: memory is bounded whatever the trace. Counts are kept in units of the whole
 * trace; the difference between what the sampled references stand for and the number of all
 * references is added at distance 0 (SHARDS-adj).
 *
 * The error is estimated from the sample itself: its lines fall into groups by another part of the
 * hash, and the groups would agree if the sample were large enough; and a distance d is known no
 * better than the number of sampled lines among d allows.
 */
#ifndef TROD_SIM_SHARDS_H
#define TROD_SIM_SHARDS_H

#include "bins.h"
#include "stack.h"

enum { TROD_SHARDS_GROUPS = 16, TROD_SHARDS_ENOUGH = 8000 };

/* Weights by scaled distance, by class, and of all by group. */
struct trod_shards_bin {
    double class[TROD_REFS], group[TROD_SHARDS_GROUPS];
};

struct trod_shards {
    struct trod_stack *stack;
    uint64_t limit;    /* hashes up to it are in the sample */
    uint64_t most;     /* lines kept; 0: a fixed rate */
    uint32_t resident; /* of all lines; what they are of the sample its stack knows */
    uint64_t seen;     /* references ever, in the sample or not */
    uint64_t refs[TROD_REFS], sampled[TROD_REFS];
    double weight[TROD_REFS];    /* what the sampled references stand for */
    struct trod_shards_bin *bin; /* TROD_BINS */
    struct trod_shards_bin cold;
    double lines;             /* what the sampled lines stand for */
    uint64_t *line, *touched; /* a block of the sample */
    uint8_t *class;
    uint32_t *out;
};

/*
 * A sampler that keeps the share RATE (above 0, at most 1) of the lines, at most MOST of them (0:
 * no limit). RESIDENT as in trod_stack_options. NULL without memory.
 */
struct trod_shards *trod_shards_new(double rate, uint64_t most, uint32_t resident);
void trod_shards_free(struct trod_shards *s);
/* Share of the lines that is in the sample. */
double trod_shards_rate(const struct trod_shards *s);
/* How many references, at least one, may be fed before that share falls. */
uint64_t trod_shards_same_rate(const struct trod_shards *s);
/* How many lines need at most so many bytes of memory, and the least memory there can be. */
uint64_t trod_shards_lines_in(uint64_t bytes);
uint64_t trod_shards_least(void);

/*
 * N more references. Where OUT is not NULL it gets the scaled distance of those in the sample,
 * TROD_DIST_COLD for first ones, TROD_SHARDS_OUT for those that are not in it. Returns false
 * without memory.
 */
bool trod_shards_feed(struct trod_shards *s, const struct trod_refs *refs, size_t n, uint32_t *out);
#define TROD_SHARDS_OUT (UINT32_MAX - 1)

/* Add the estimates of OTHER, a sampler of other references. S can be fed no more. */
bool trod_shards_sum(struct trod_shards *s, const struct trod_shards *other);

/* Reset the counts; the contents of the sample are kept. */
void trod_shards_restart(struct trod_shards *s);

/*
 * Lines in the sample now that were referenced since counts were reset, and estimates: of all
 * distinct lines, of those referenced since then, and of first references.
 */
uint64_t trod_shards_sampled(const struct trod_shards *s);
double trod_shards_lines(const struct trod_shards *s);
double trod_shards_counted(const struct trod_shards *s);
double trod_shards_cold(const struct trod_shards *s);

/*
 * Misses of CLASSES in fully associative LRU caches of SIZE[i] lines, N of them: to MISSES. The
 * standard error of the miss ratio of all classes: to ERROR (may be NULL). Returns false without
 * memory.
 */
bool trod_shards_misses(const struct trod_shards *s, unsigned classes, const uint64_t *size,
                        size_t n, double *misses, double *error);

/* Weight of CLASSES at scaled distances of bin I (bins.h), adjusted. */
double trod_shards_at(const struct trod_shards *s, unsigned i, unsigned classes);

#endif
