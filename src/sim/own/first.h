/*
 * first.h - first-level caches of plain hierarchies, fast.
 *
 * Implements docs/caches.md, "Rules", for one core with an LRU cache for code and one for data that
 * are written back, allocate, and prefetch nothing: what most simulations are, and where most of
 * their time goes. The lines of a set stand in the order of their last use. Rows become references
 * without those that repeat the one before them in the same cache: these hit and change nothing.
 * Misses go on to the caches behind, of which the first ones may have the same form (behind.c); the
 * others are simulated as ever (own/cache.h). Numbers are those of trod_own_sim_feed.
 */
#ifndef TROD_SIM_OWN_FIRST_H
#define TROD_SIM_OWN_FIRST_H

#include "sim/own/sim.h"
#include "trod/batch.h"

enum {
    TROD_FIRST_WAYS = 16, /* at most */
    TROD_FIRST_WIDE = 8,  /* lines of a set that are compared at once */
    TROD_FIRST_LINE = 16, /* bytes of a line, at least: the bits below are for what follows */
    TROD_FIRST_REFS = 8192,
    TROD_FIRST_LEVELS = 4 /* behind the first one, of the same form, at most */
};

/* A reference, and a line in a set: the address of the line and these bits. 0: no line. */
enum { TROD_FIRST_LINE_IS = 1, TROD_FIRST_DIRTY = 2, TROD_FIRST_DATA = 4, TROD_FIRST_BITS = 7 };

struct trod_first_cache {
    struct trod_own_cache *of; /* whose counts these are, and what is behind */
    uint64_t *tag;             /* by set, STRIDE each: last used first */
    uint64_t *front;           /* by set: what is first there, while references are gone through */
    uint64_t mask;
    uint32_t ways, stride;
};

/*
 * References that are kept, in blocks of TROD_FIRST_KEPT bytes. LINES above 0: a block of one
 * reference, of which so many lines in a row are meant.
 */
enum { TROD_FIRST_KEPT = 1 << 20 };

struct trod_first_kept {
    struct trod_first_kept *next;
    size_t bytes, n;
    uint64_t lines;
    uint64_t ref[];
};

struct trod_first {
    struct trod_own_sim *sim;
    struct trod_first_cache cache[2];                 /* code, data */
    struct trod_first_cache level[TROD_FIRST_LEVELS]; /* those behind, one behind the other */
    unsigned levels;
    bool recording;                           /* references are kept, for trod_first_merge */
    struct trod_first_kept *kept, *last_kept; /* in their order; NULL: none */
    size_t kept_bytes;
    unsigned line_bits;
    bool portable;    /* no wide instructions: for tests */
    unsigned idle;    /* times that references to the front of sets are left in */
    bool fronts;      /* what is in front of the sets is known */
    uint64_t last[2]; /* code, data: the last reference, TROD_FIRST_NONE: none yet */
    uint64_t second;  /* the code line before it, in front of another set; TROD_FIRST_NONE: none */
    unsigned restless, in_vain; /* words in which code is taken to go elsewhere: still, last time */
    size_t n;
    uint64_t ref[TROD_FIRST_REFS + 128]; /* that the caches have still to see */
    /* those that missed, and what was last in their sets; 0: nothing */
    uint64_t missed[TROD_FIRST_REFS + 128], left[TROD_FIRST_REFS + 128];
};

#define TROD_FIRST_NONE (~(uint64_t)TROD_FIRST_BITS)

/* Is the hierarchy of C, of which nothing but the counts of its caches is asked, such a one? */
bool trod_first_fits(const struct trod_own_config *c);
/* The lines of what it simulates of C, which fits, are kept nowhere else: before trod_own_sim_init.
 */
void trod_first_claim(struct trod_own_config *c);
/* C, which fits, becomes its first level alone: of what is only recorded. */
void trod_first_alone(struct trod_own_config *c);
/* Take over the first level of S, before the first reference. NULL: no memory. */
struct trod_first *trod_first_new(struct trod_own_sim *s);
void trod_first_free(struct trod_first *f);
/* Rows [FROM, TO) of B are the next. 0 or TROD_ERR_NOMEM. */
int trod_first_feed(struct trod_first *f, const struct trod_batch *b, uint32_t from, uint32_t to);

/* The references are kept and no cache sees them; before the first one. */
void trod_first_record(struct trod_first *f);
/* What FROM kept comes next in F, as if its rows did. 0 or TROD_ERR_NOMEM. */
int trod_first_merge(struct trod_first *f, const struct trod_first *from);
/* first.c to first_rows.c: the references of F go to the caches. */
void trod_first_run(struct trod_first *f);
/* REF, which is recorded, and those to the lines behind it, LINES in all. */
void trod_first_run_lines(struct trod_first *f, uint64_t ref, uint64_t lines);

/* first.c to behind.c: the first N that missed go to the caches behind. */
void trod_first_behind(struct trod_first *f, size_t n);

/* Is row I of B, of which SAID is known, a reference to a part of one line of LINE bytes? */
static inline bool trod_first_usual(const struct trod_batch *b, uint32_t i, uint32_t said,
                                    uint64_t line)
{
    const uint32_t size = b->size[i];
    const uint32_t flags = b->flags[i] & -(said / TROD_COL_FLAGS & 1);

    return (said / TROD_COL_ADDR & said / TROD_COL_SIZE & 1) & !(flags & TROD_F_NOFETCH) &
           (size - 1 < line - (b->addr[i] & (line - 1)));
}

/* The columns that it looks at. */
enum { TROD_FIRST_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR };

#endif
