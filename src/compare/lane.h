/*
 * lane.h - one sequence of rows on either side, and how they are matched.
 *
 * A lane is a pair of streams, or one class of rows of a pair of streams. Rows wait in a queue a
 * side until they are matched; what an instruction pair leaves over waits among the pending until
 * the window has passed.
 */
#ifndef TROD_COMPARE_LANE_H
#define TROD_COMPARE_LANE_H

#include "compare/history.h"
#include "compare/row.h"

enum { CMP_CONTEXT = 12, CMP_SHOWN = 16, CMP_BLOCKS = 64 };

/* Rows in order; the first is row[head]. */
struct cmp_queue {
    struct cmp_row *row;
    size_t head, n, cap;
};

/* Rows that were missing or inserted: they may turn up on the other side. */
struct cmp_block {
    uint64_t hash, number, place;
    size_t groups;
    int side;
};

struct cmp_lane {
    struct cmp_queue queue[2], pending[2];
    struct cmp_queue context[2]; /* the last CMP_CONTEXT rows that were matched or reported */
    uint64_t places[2];          /* rows taken into the lane so far */
    uint64_t times[2];           /* of the last row taken off the queue */
    uint64_t group;              /* pairs of instructions so far */
    uint64_t rest[2];            /* rows of a side after the end of the other */
    uint64_t rest_instructions[2];
    struct cmp_queue rest_rows[2];       /* the first of them */
    struct cmp_block blocks[CMP_BLOCKS]; /* a ring of the last ones */
    size_t n_blocks;
    unsigned stage; /* how far the search for a place to go on has widened */
    bool grouped;   /* rows belong to the instruction before them */
};

/* What matching needs of the run. */
struct cmp_match {
    const struct cmp_rules *rules;
    const struct trod_compare *owner;
    struct cmp_history *history;
    trod_compare_fn fn;
    void *user;
    struct trod_compare_summary *sum;
    uint64_t window;
    uint32_t lookahead;
    bool with_code; /* both sides give opcodes, and they count */
    bool stop;      /* the callback, or first_stop, ended the run */
    uint64_t reports;
    struct trod_compare_row shown[2][CMP_SHOWN], context[2][CMP_CONTEXT];
};

enum cmp_want { CMP_EMPTY = 0, CMP_MORE = 1 };

/*
 * Match what is queued. ENDED tells which sides bring no more rows. Returns CMP_EMPTY when a queue
 * ran empty, CMP_MORE when more rows are needed to decide (WANT: how many there should be on each
 * side), or TROD_ERR_NOMEM.
 */
int cmp_lane_match(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want);

/* Report what is pending and what one side has too much. At the end of both sides. */
int cmp_lane_finish(struct cmp_lane *l, struct cmp_match *m);

void cmp_lane_fini(struct cmp_lane *l);

/*
 * The first NA rows of side 0 and NB of side 1 belong together: match them in any order, and let
 * what is left over wait. They are taken off the queues. Returns 0 or TROD_ERR_NOMEM.
 */
int cmp_settle(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb);

/* As cmp_settle for a block of Trace Matcher: what is left over differs in pairs. */
int cmp_settle_block(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb);

/* Report what has waited longer than the window; ALL: whatever waits. */
void cmp_expire(struct cmp_lane *l, struct cmp_match *m, bool all);

/*
 * Report the first NA and NB rows of the queues as one difference of TYPE and take them off.
 * GROUPS: instructions (or lone rows) among them, by side; HASH: of their keys.
 */
void cmp_report_block(struct cmp_lane *l, struct cmp_match *m, enum trod_difference_type type,
                      size_t na, size_t nb, size_t groups, uint64_t hash);

/* Hand D to the callback, with the rows before it. */
void cmp_report(struct cmp_lane *l, struct cmp_match *m, struct trod_difference *d);

/* A new last row of Q, to be filled in; NULL: no memory. */
struct cmp_row *cmp_queue_push(struct cmp_queue *q);
static inline struct cmp_row *cmp_queue_at(const struct cmp_queue *q, size_t i)
{
    return &q->row[q->head + i];
}
/* Take the first N rows off Q without releasing them. */
void cmp_queue_drop(struct cmp_queue *q, size_t n);
void cmp_queue_fini(struct cmp_queue *q);

/* Remember ROW (moved) as the last one before whatever comes. */
void cmp_lane_remember(struct cmp_lane *l, int side, const struct cmp_row *row);

#endif
