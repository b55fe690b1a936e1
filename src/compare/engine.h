/*
 * engine.h - the state of a comparison, shared by compare.c, plan.c and fast.c.
 */
#ifndef TROD_COMPARE_ENGINE_H
#define TROD_COMPARE_ENGINE_H

#include "compare/match.h"

enum { CMP_PAIRS_AT = 256 };

/* A detail struct of LEN bytes as words: bits that count of each, and where slices of text lie. */
struct cmp_words {
    const struct trod_detail_struct *of; /* NULL: its fields are not known */
    uint32_t len, n;                     /* N 0: it is not compared by words */
    uint64_t count[16], last;            /* LAST: of the eight bytes that it ends with */
    uint16_t text[4];
    unsigned texts;
};

struct trod_compare {
    struct cmp_rules rules;
    struct cmp_pool pool;
    struct cmp_side side[2];
    struct cmp_pairs pairs;
    struct cmp_lanes lanes;
    uint64_t *busy; /* bit I: rows of lane I are queued or wait; the others cost nothing */
    struct cmp_match match;
    struct cmp_history history;
    struct cmp_tally tally;
    struct trod_compare_summary *sum;
    bool always_slow; /* options that the fast path does not know */
    uint32_t flags;   /* bits of flags that must be equal */
    bool modes;       /* modes are compared */
    uint32_t kinds;   /* fast path: bits of those that are looked at many rows at once */
    struct cmp_words words[TROD_KINDS]; /* fast path: of late, by kind */
    uint64_t at[CMP_PAIRS_AT];          /* fast path: the instruction of side 0 at hand, by pair */
};

/* Fix what is compared, from the options and the first rows of both sides. 0 or an error. */
int cmp_plan(struct trod_compare *c, struct trod_diag *diag);

/* Go on as long as both sides say the same, row after row. Returns 0 or TROD_ERR_NOMEM. */
int cmp_fast(struct trod_compare *c);

/* The lane of class CLS of PAIR; NULL: no memory. */
struct cmp_lane *cmp_lane_of(struct trod_compare *c, int pair, unsigned cls);

/* Whether anything waits for the window to pass. */
bool cmp_waiting(const struct trod_compare *c);

#endif
