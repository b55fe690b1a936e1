/*
 * side.h - one of the two traces: its batch at hand, its streams, and which of its rows count.
 */
#ifndef TROD_COMPARE_SIDE_H
#define TROD_COMPARE_SIDE_H

#include "compare/row.h"

/* Streams are paired by what they are called; see side.c. */
struct cmp_pairs {
    uint64_t *key; /* of pair i */
    uint32_t n, cap;
    int mode; /* enum cmp_pairing */
};

struct cmp_side {
    struct trod_trace *trace;
    const struct trod_compare_options *opt;
    int side;
    struct trod_batch *b; /* the batch at hand; rows from at on are to come */
    uint32_t at;
    bool ended;
    int failed;   /* what the trace ended with */
    bool started; /* boot and start address are behind us */
    uint64_t boot_left;
    int32_t *pair; /* by stream: its pair, or UNPAIRED */
    uint32_t n_pair;
    struct cmp_row before; /* skip_equal: the last row that counted */
    bool has_before;
};

enum { CMP_UNPAIRED = -1 };

/* Have a row at hand. Returns 1, 0 at the end (also after an error: see failed). */
int cmp_side_fill(struct cmp_side *s);

/* The pair of row I's stream. Returns the pair, or TROD_ERR_NOMEM - 1. */
int cmp_side_pair(struct cmp_side *s, struct cmp_pairs *p, uint32_t i);

/* Choose how streams are paired, from the batches at hand. */
void cmp_pairs_choose(struct cmp_pairs *p, const struct cmp_side side[2]);

/* Whether row I is behind boot code and start address. To be asked of each row, in order. */
bool cmp_side_started(struct cmp_side *s, uint32_t i);

#endif
