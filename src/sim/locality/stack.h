/*
 * stack.h - LRU stack distances of a stream of references, exactly.
 *
 * Implements docs/locality.md, "The words": the distance of a reference is the number of
 * other lines that were referenced since the last reference to its line. 10^10 references are the
 * design size; memory follows the number of lines.
 */
#ifndef TROD_SIM_STACK_H
#define TROD_SIM_STACK_H

#include "bits.h"
#include "dist.h"
#include "lines.h"
#include "tally.h"

/* A stretch of references, as columns. */
struct trod_refs {
    const uint64_t *line;    /* numbers of lines: address divided by the size of a line */
    const uint8_t *class;    /* enum trod_ref */
    const uint64_t *touched; /* a bit for each part of the line; read only if they are counted */
};

struct trod_stack_options {
    bool first;        /* keep the order of first references: for trod_stack_append */
    uint32_t distant;  /* references farther than this are counted by line as distant ones */
    uint32_t limit;    /* lines kept at the most: the least recent one is forgotten; 0: no limit */
    uint32_t resident; /* count parts of a line that are touched before it leaves an LRU cache of so
                          many lines; 0: not */
    uint8_t without;   /* trod_without */
};

/* A first reference. */
struct trod_first {
    uint64_t line;
    uint8_t class;
};

enum { TROD_PARTS = 64 }; /* of a line: bits of a touched mask */

struct trod_stack {
    struct trod_stack_options opt;
    struct trod_lines lines;
    struct trod_tally tally; /* of all lines */
    struct trod_bits bits;
    struct trod_dist dist;
    uint64_t refs[TROD_REFS];
    bool anew;                      /* counts were reset: there may be lines that are not counted */
    uint64_t live;                  /* lines that are in the stack */
    uint64_t pruned;                /* lines forgotten by the limit, ever */
    uint64_t pruned_hits;           /* first references to forgotten lines */
    uint64_t parts[TROD_PARTS + 1]; /* residencies that ended, by parts touched */
    uint32_t *owner;                /* limit: slot by position */
    uint32_t low;                   /* limit: no set position is below */
    struct trod_first *first;
    size_t n_first, cap_first;
    struct trod_stack_block *block; /* while references are counted */
};

/* A new stack. Returns NULL without memory. */
struct trod_stack *trod_stack_new(const struct trod_stack_options *opt);
void trod_stack_free(struct trod_stack *s);

/*
 * N more references. Where OUT is not NULL it gets the distance of each, TROD_DIST_COLD for first
 * references. Returns false when there is no memory (or more than 2^30 lines); S may only be freed
 * then.
 */
bool trod_stack_feed(struct trod_stack *s, const struct trod_refs *refs, size_t n, uint32_t *out);

/*
 * Put LINE on top of the stack and count nothing: *D gets its distance, *SLOT its slot. Returns
 * false without memory.
 */
bool trod_stack_touch(struct trod_stack *s, uint64_t line, uint32_t *d, size_t *slot);

/* Room for N more references in every array. Slots may change. Returns false without memory. */
bool trod_stack_reserve(struct trod_stack *s, size_t n);

/*
 * Renumber the positions of live lines from 0 on, in the same order, and reserve room for MORE.
 * Returns false without memory.
 */
bool trod_stack_renumber(struct trod_stack *s, size_t more);

/*
 * The references of LATER came directly after those of S: add them. Both have the same options with
 * `first`, no limit and no count of residencies. The result is that of one stack fed with all.
 * Returns false without memory.
 */
bool trod_stack_append(struct trod_stack *s, const struct trod_stack *later);

/*
 * Add numbers and lines of OTHER, a stack of other references: histograms and counters are summed,
 * lines united. S can be fed no more. Returns false without memory.
 */
bool trod_stack_sum(struct trod_stack *s, const struct trod_stack *other);

/* The live lines of S, least recent first; NULL without memory. Release with free(). */
uint64_t *trod_stack_order(const struct trod_stack *s);

/* Reset the counts; the contents of the stack are kept. */
void trod_stack_restart(struct trod_stack *s);

/* Lines ever referenced, and those that were since counts were reset. */
uint64_t trod_stack_lines(const struct trod_stack *s);
uint64_t trod_stack_counted(const struct trod_stack *s);

/* Forget the lines for which DROP returns true. Returns false without memory. */
bool trod_stack_forget(struct trod_stack *s, bool (*drop)(uint64_t line, void *user), void *user);

/*
 * Residencies by parts touched, with the ones that have not ended: to N (TROD_PARTS + 1 numbers).
 * What was touched before counts were reset is none of it, nor is a residency of which all was.
 */
void trod_stack_parts(const struct trod_stack *s, uint64_t *n);

#endif
