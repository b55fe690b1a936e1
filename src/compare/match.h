/*
 * match.h - matching the rows of lanes, and the differences between them.
 *
 * Where the heads of the queues agree they are matched; what the rows of an instruction leave over
 * waits in the bags until the window has passed.
 */
#ifndef TROD_COMPARE_MATCH_H
#define TROD_COMPARE_MATCH_H

#include "compare/history.h"
#include "compare/lane.h"
#include "compare/side.h"
#include "compare/tally.h"

enum { CMP_SHOWN = 16, CMP_HELD = 64 };

/* A difference that is known but not told yet: what is missing may turn up elsewhere. */
struct cmp_diff {
    enum trod_difference_type type;
    uint64_t of, serial;
    uint32_t fields;
    struct trod_compare_field field[TROD_COMPARE_FIELDS];
    size_t n_fields;
    uint64_t count[2], instructions[2], first[2];
    struct cmp_row *row[2][CMP_SHOWN], *context[2][CMP_CONTEXT], *instr[2];
    size_t n_rows[2], n_context[2];
    struct trod_compare_input inputs[TROD_COMPARE_INPUTS];
    size_t n_inputs;
    uint64_t hash; /* of the keys of its rows */
    size_t groups; /* that its rows begin */
    bool may_turn_up;
    uint64_t until[2]; /* told when so many rows have been read */
};

/* What matching needs of the run. */
struct cmp_match {
    struct cmp_rules *rules;
    struct cmp_pool *pool;
    struct trod_compare *run; /* for the callback */
    struct cmp_lanes *lanes;
    struct cmp_side *sides; /* both */
    struct cmp_history *history;
    struct cmp_tally *tally;
    trod_compare_fn fn;
    void *user;
    struct trod_compare_summary *sum;
    struct trod_insn_decoder *decoder; /* NULL: none for this instruction set */
    uint64_t window;
    uint32_t lookahead;
    bool with_code; /* both sides give opcodes, and they count */
    bool stop;      /* the callback, or first_stop, ended the run */
    bool nomem;
    uint64_t serial, told;          /* differences so far; those told */
    struct cmp_diff held[CMP_HELD]; /* a ring */
    size_t held_at, n_held;
    struct trod_compare_row shown[2][CMP_SHOWN], context[2][CMP_CONTEXT];
};

/* Each of the files below calls those above it only. */

/* inputs.c: what the instructions of D read, and who wrote that last. */
void cmp_find_inputs(const struct cmp_lane *l, const struct cmp_match *m, struct cmp_diff *d);

/*
 * report.c. A new difference: begin, add its rows, end. Differences leave in the order they were
 * begun in; END hands D to the callback, or holds it until it cannot turn up elsewhere any more.
 */
struct cmp_diff *cmp_diff_begin(struct cmp_match *m, enum trod_difference_type type);
void cmp_diff_add(struct cmp_match *m, struct cmp_diff *d, int side, struct cmp_row *row);
/* Context and instructions: as the lane stands now, or from SCENE before the rows of D. */
void cmp_diff_context(struct cmp_lane *l, struct cmp_diff *d, const struct cmp_scene *scene);
void cmp_diff_end(struct cmp_lane *l, struct cmp_match *m, struct cmp_diff *d);

/* Tell what was held and need not be any more; ALL: everything. */
void cmp_tell(struct cmp_match *m, bool all);
void cmp_diffs_fini(struct cmp_match *m);

/*
 * slide.c, for --slide auto: the heads are the same instructions elsewhere; rows A and B are the
 * same access elsewhere. True: a slide was found, and rows that are queued have been moved.
 */
bool cmp_learn_code(struct cmp_lane *l, struct cmp_match *m);
bool cmp_learn_data(struct cmp_match *m, const struct cmp_row *a, const struct cmp_row *b);
/* Find slides from the opcodes among the first rows. Returns 0 or TROD_ERR_NOMEM. */
int cmp_find_slides(struct cmp_match *m);

/*
 * pairs.c. Rows [0, NA) and [0, NB) of the queues that agree, in any order: DONE_A and DONE_B are
 * set for them, and they are history. Returns how many pairs, or TROD_ERR_NOMEM.
 */
int64_t cmp_pair_rows(struct cmp_lane *l, const struct cmp_match *m, size_t na, bool *done_a,
                      size_t nb, bool *done_b);

/*
 * waiting.c. What stands before the rows at the heads of the queues, and the first NA and NB of
 * them, for rows that are left over. The reference goes to the caller. NULL: no memory.
 */
struct cmp_scene *cmp_take_scene(const struct cmp_lane *l, size_t na, size_t nb);

/*
 * Take the first N rows of SIDE off. DONE: those that are matched (NULL: none); the others wait,
 * with SCENE. OTHERS_N of the other side's queue belong to the same instruction. Returns 0 or
 * TROD_ERR_NOMEM.
 */
int cmp_take_off(struct cmp_lane *l, struct cmp_match *m, int side, size_t n, const bool *done,
                 struct cmp_scene *scene, size_t others_n);

/* Give up the N oldest rows that wait (fewer, or a few more that go with them). */
void cmp_give_up(struct cmp_lane *l, struct cmp_match *m, size_t n);

/* Report what has waited longer than the window; ALL: whatever waits. */
void cmp_expire(struct cmp_lane *l, struct cmp_match *m, bool all);

/* ROW of SIDE (reference taken over) has agreed with one that waited. */
void cmp_found(struct cmp_match *m, int side, struct cmp_row *row);

/*
 * pieces.c. Of the first NA rows of side 0 and NB of side 1, which belong to one instruction: open
 * accesses of KIND are the same however they are cut, and DONE_A and DONE_B are set for them.
 */
void cmp_match_bytes(const struct cmp_lane *l, const struct cmp_match *m, size_t na, bool *done_a,
                     size_t nb, bool *done_b, unsigned kind);

enum cmp_pieces { CMP_NO_PIECES, CMP_PIECES, CMP_PIECES_MORE };

/* Whether the heads are accesses in a sequence that touch the same bytes and are cut otherwise. */
bool cmp_cut_otherwise(const struct cmp_lane *l, const struct cmp_match *m);

/*
 * Whether accesses in a sequence, from the heads on, are the same ones in pieces: the first N[0]
 * rows and N[1]. CMP_PIECES_MORE: that takes more rows of a side that has not ended.
 */
enum cmp_pieces cmp_find_pieces(const struct cmp_lane *l, const struct cmp_match *m,
                                const bool ended[2], size_t n[2]);

/*
 * settle.c. The first NA rows of side 0 and NB of side 1 belong together: match them in any order,
 * and let what is left over wait. They are taken off the queues. Returns 0 or TROD_ERR_NOMEM.
 */
int cmp_settle(struct cmp_lane *l, struct cmp_match *m, size_t na, size_t nb);

/*
 * The first N rows of SIDE are missing (or inserted): they wait for the window, or are a difference
 * at once. Returns 0 or TROD_ERR_NOMEM.
 */
int cmp_one_sided(struct cmp_lane *l, struct cmp_match *m, int side, size_t n);

enum cmp_want { CMP_EMPTY = 0, CMP_MORE = 1 };

/* blocks.c: Trace Matcher's way, block against block. As cmp_lane_match. */
int cmp_match_blocks(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want);

/*
 * match.c. Match what is queued. ENDED tells which sides bring no more rows. Returns CMP_EMPTY when
 * a queue ran empty, CMP_MORE when more rows are needed to decide (WANT: how many there should be
 * on each side), or TROD_ERR_NOMEM.
 */
int cmp_lane_match(struct cmp_lane *l, struct cmp_match *m, const bool ended[2], size_t *want);

/* Report what waits and what one side has too much. At the end of both sides. */
int cmp_lane_finish(struct cmp_lane *l, struct cmp_match *m);

#endif
