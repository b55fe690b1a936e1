/*
 * side.h - one of the two traces: its batch at hand, its streams, and which of its rows count.
 */
#ifndef TROD_COMPARE_SIDE_H
#define TROD_COMPARE_SIDE_H

#include "compare/row.h"
#include "core/map.h"

/* Streams are paired by what they are called; see side.c. */
struct cmp_pairs {
    uint64_t *key; /* of pair i */
    uint32_t n;
    size_t cap;
    struct trod_map map; /* pairs by key */
    int mode;            /* enum cmp_pairing */
};

struct cmp_side {
    struct trod_trace *trace;
    const struct trod_compare_options *opt;
    int side;
    struct trod_batch *b; /* the batch at hand; rows from at on are to come */
    uint32_t at;
    struct trod_batch *first, *next; /* the first rows, gathered; the batch that goes on */
    uint32_t next_at;
    bool ended;
    int failed;                 /* what the trace ended with */
    bool started;               /* boot and start address are behind us */
    uint64_t boot_left, passed; /* rows passed over until then */
    int32_t *pair;              /* by stream: its pair, or UNPAIRED */
    uint32_t n_pair;
    struct cmp_row **owner; /* by pair: the instruction at hand, counted */
    int n_owner;
    struct cmp_row *before; /* skip_equal: the last row that counted, counted */
    uint32_t seen;          /* classes that occurred and are not compared */
    uint64_t run_markers;   /* numbers of markers that are not compared: bits 1 << sub */
    uint64_t *slid[2];      /* addr and target of the rows of b where slides are in force */
    const struct trod_batch *slid_of;
    uint8_t *chosen; /* by the number of a row modulo CMP_CHOSEN: 1 chosen; NULL: all are */
};

/* More rows than can have been chosen and not taken: those gathered first, and two batches. */
enum { CMP_CHOSEN = 1 << 14 };

/* Whether row I of the batch at hand was chosen (trod_compare_options.choose). */
static inline bool cmp_side_chosen(const struct cmp_side *s, uint32_t i)
{
    return !s->chosen || s->chosen[(s->b->first + i) % CMP_CHOSEN];
}

/* Whether row I of the batch at hand is compared, where the classes TRACK are. */
static inline bool cmp_side_counts(const struct cmp_side *s, uint32_t track, uint32_t i)
{
    const struct trod_batch *b = s->b;
    unsigned cls = cmp_class_of[b->kind[i]];

    if (cls >= TROD_TRACK_CLASSES || !(track >> cls & 1))
        return false;
    return b->kind[i] != TROD_MARKER || !(b->have & b->has[i] & TROD_COL_SUB) || b->sub[i] > 63 ||
           !(s->run_markers >> b->sub[i] & 1);
}

enum { CMP_UNPAIRED = -1 };

/* Have a row at hand. Returns 1, 0 at the end (also after an error: see failed). */
int cmp_side_fill(struct cmp_side *s);

/* Have a row at hand on both sides. False when one is at its end. */
bool cmp_sides_fill(struct cmp_side side[2]);

/* The pair of row I's stream. Returns the pair, or TROD_ERR_NOMEM - 1. */
int cmp_side_pair(struct cmp_side *s, struct cmp_pairs *p, uint32_t i);

/*
 * Read up to N rows, from where the comparison begins on, so that they can be looked at before any
 * is compared: how many does not depend on how the trace is cut into batches. They are the batch at
 * hand afterwards. Returns 0 or TROD_ERR_NOMEM.
 */
int cmp_side_gather(struct cmp_side *s, uint32_t n);

/* The instruction that rows of PAIR belong to; NULL: not known. */
struct cmp_row *cmp_side_owner(const struct cmp_side *s, int pair);
/* ROW, if an instruction, is what rows of PAIR belong to from here on. 0 or TROD_ERR_NOMEM. */
int cmp_side_own(struct cmp_side *s, struct cmp_pool *pool, int pair, struct cmp_row *row);

/* Choose how streams are paired, from the batches at hand. */
void cmp_pairs_choose(struct cmp_pairs *p, const struct cmp_side side[2]);

/* Tell DIAG where pairing by order turned out to pass over streams of one name. */
void cmp_pairs_doubt(const struct cmp_pairs *p, const struct cmp_side side[2],
                     struct trod_diag *diag);

void cmp_side_fini(struct cmp_side *s, struct cmp_pool *pool);

#endif
