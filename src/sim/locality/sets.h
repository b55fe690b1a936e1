/*
 * sets.h - LRU caches of many numbers of sets and ways in one pass.
 *
 * Implements docs/locality.md, option --ways (Hill and Smith, "Evaluating associativity in CPU
 * caches", 1989): for each number of sets, a power of two, a list per set of the most recent lines.
 * A line found at position p of its list hits in all caches with more than p ways. Numbers of sets
 * are visited from the smallest; where a line is at the front of its list, it is at the front for
 * all larger numbers, and nothing changes there.
 *
 * A part of the references can be simulated without knowing what came before (Nicol, Greenberg and
 * Lubachevsky, "Massively parallel algorithms for trace-driven cache simulations", 1994): only the
 * first reference to each of the first lines of a set depends on that. Those lines are kept, as
 * many a set as it has ways, and looked up when the part is appended.
 */
#ifndef TROD_SIM_SETS_H
#define TROD_SIM_SETS_H

#include "dist.h"
#include "narrow.h"

enum { TROD_SETS_LEVELS = 32, TROD_SETS_WAYS = 64 };

/* An empty place; of all lines only the last byte of the address space has this number, too. */
#define TROD_SETS_NO_LINE UINT64_MAX

struct trod_sets {
    unsigned first, levels, ways; /* sets: 2^first, 2^(first + 1), ... */
    unsigned stride;              /* places of a list, of which the first WAYS count */
    uint8_t without;              /* trod_without */
    bool no_line;                 /* the line of that number came */
    uint64_t *list[TROD_SETS_LEVELS];
    uint32_t *few[TROD_SETS_LEVELS]; /* in their place, as long as IS_NARROW */
    struct trod_narrow narrow;
    bool is_narrow, fed;
    uint64_t *front; /* what stands first in the lists of the smallest number of sets */
    /* By position: the front, where the search ended, first; behind them what was not found. */
    uint64_t at[TROD_SETS_LEVELS][TROD_SETS_WAYS + 1][TROD_REFS];
    uint64_t refs[TROD_REFS];
    /* Of a part: by set, the lines that came first, in order; WAYS places a set. */
    uint64_t *met[TROD_SETS_LEVELS];
    uint8_t *n_met[TROD_SETS_LEVELS]; /* how many; NULL: this is no part */
    uint64_t unmet[TROD_SETS_LEVELS]; /* places that are left */
};

/*
 * LEVELS numbers of sets from 2^FIRST on, up to WAYS ways (at most TROD_SETS_WAYS). NULL without
 * memory.
 */
struct trod_sets *trod_sets_new(unsigned first, unsigned levels, unsigned ways);
void trod_sets_free(struct trod_sets *s);
/*
 * Before the first reference: what comes is a part, of references of class 0, to be appended to
 * those before it (trod_sets_append). Returns false without memory.
 */
bool trod_sets_begin_part(struct trod_sets *s);
/* The bytes that a part of such lists has, besides its counters. */
uint64_t trod_sets_part_bytes(unsigned first, unsigned levels, unsigned ways);
/* N more references. */
void trod_sets_feed(struct trod_sets *s, const uint64_t *line, const uint8_t *class, size_t n);
/* Reset the counts; the contents of the caches are kept. */
void trod_sets_restart(struct trod_sets *s);
/*
 * The references of LATER, a part of the same shape, came directly after those of S, which is no
 * part: add them.
 */
void trod_sets_append(struct trod_sets *s, const struct trod_sets *later);
/* Add the counts of OTHER, of the same shape. */
void trod_sets_sum(struct trod_sets *s, const struct trod_sets *other);
/* Misses of CLASSES in the cache of 2^(first + LEVEL) sets of WAYS ways. */
uint64_t trod_sets_misses(const struct trod_sets *s, unsigned level, unsigned ways,
                          unsigned classes);

#endif
