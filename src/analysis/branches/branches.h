/*
 * branches.h - what the analysis "branches" counts (branches.c, lanes.c, merge.c, parts.c), and its
 * result
 * (result.c).
 *
 * Implements docs/analysing.md, "branches".
 */
#ifndef TROD_ANALYSIS_BRANCHES_H
#define TROD_ANALYSIS_BRANCHES_H

#include "analysis/pairs.h"
#include "sim/branch/branch.h"
#include "trod/analysis.h"
#include "trod/buf.h"

struct br_options {
    const char *predictors;
    uint64_t top;
    uint64_t alignment; /* bytes that addresses of instructions are multiples of; 0: by their set */
};

/* A static branch. */
struct br_site {
    uint64_t executions, taken;
    uint64_t turns; /* the outcome was not that of the execution before, in its thread */
};

/* Streams whose predictors are in memory as they are; of more, some are at rest. */
enum { BR_AWAKE = 128 };

enum { BR_EVENTS = 512, BR_NOT = 0xff, BR_UNKNOWN = 0 };

/* In place of a row of the batch: in a batch before. */
#define BR_EARLIER UINT32_MAX

/* What the opcode of a site tells beside its kind, found out when it is executed first. */
struct br_fact {
    uint8_t counted; /* kind + 1 of its executions, the lowest; 0: none is counted */
    bool may_pass;   /* unconditional by its kind, but predicated: it may do nothing */
    uint64_t target; /* as its opcode says; 0: it does not */
};

/* The fields of a row that the branch before it may need. */
struct br_row {
    uint64_t addr, target, value;
    uint32_t said; /* columns */
    uint32_t site, size, flags;
    uint16_t sub;
    uint8_t kind;
};

/* What a part of a trace keeps of a stream until the part before it is known. */
struct br_part {
    bool open; /* its first rows, which depend on the branch before them */
    bool even; /* the last one of them is an instruction, but no branch */
    struct br_row *row;
    size_t n_rows, cap_rows;
    struct trod_bp_event *event; /* behind those rows, for the predictors */
    size_t n_events, cap_events;
};

/* The outcome of a site in br_lane.last: the last one; above it that of its first execution. */
enum { BR_OUTCOME = 3, BR_FIRST = 2 };

/* What instruction sets align instructions to: 1, 2 or 4 bytes. */
enum { BR_SHIFTS = 3 };

/* A stream of one file. */
struct br_lane {
    uint32_t stream, file;
    bool fed;      /* a row of the batch is of it: it is in br_state.fed */
    bool waits;    /* for the next instruction: EVENT is not complete */
    bool known;    /* taken is known already */
    uint8_t delay; /* instructions still to come before the one that it leads to (delay slots) */
    bool aligned;  /* shift is known: from its first branch on */
    uint8_t shift; /* addresses of its instructions are multiples of 1 << shift */
    uint32_t event_n;
    uint32_t row;             /* of EVENT in the batch; BR_EARLIER: in one before */
    uint32_t rows[BR_EVENTS]; /* of the events */
    struct br_part part;      /* of a state that records */
    uint8_t *last;            /* by site: 0: not executed, 1: not taken, 2: taken; BR_FIRST */
    size_t n_last;
    bool awake;                    /* in br_state.awake: its predictors are there */
    void *predictor[TROD_BP_MOST]; /* NULL: of another shard, or at rest */
    struct trod_bp_rest *rest[TROD_BP_MOST];
    struct trod_bp_event event; /* the branch executed last */
    struct trod_bp_event events[BR_EVENTS];
};

/* 64-bit numbers only: merged and saved as an array. */
struct br_sums {
    uint64_t instructions;
    uint64_t kind[TROD_BP_KINDS], taken[TROD_BP_KINDS];
    uint64_t unresolved; /* conditional ones of unknown outcome */
    uint64_t judged[TROD_BP_MOST], wrong[TROD_BP_MOST];
};

enum { BR_SUMS = sizeof(struct br_sums) / sizeof(uint64_t) };

struct br_interval {
    uint64_t number, instructions_end;
    struct br_sums sums;
};

struct br_state {
    const struct br_options *opt;
    struct trod_context context;
    struct trod_bp_choice choice[TROD_BP_MOST];
    bool mine[TROD_BP_MOST]; /* by choice: it belongs to this shard */
    unsigned n_choices;
    bool delay; /* branches have a delay slot */
    bool isa_known;
    /* by site: enum trod_bp_kind + 1; BR_UNKNOWN: not known yet; BR_NOT: no branch */
    uint8_t *kind;
    struct br_fact *fact; /* by site */
    struct br_site *site;
    uint64_t *wrong; /* by site and choice */
    size_t n_sites;
    struct trod_pairs targets; /* sites that indirect branches led to */
    struct br_lane **lane;
    size_t n_lanes, cap_lanes;
    struct br_lane **of_stream; /* by stream, of the file looked up last; NULL: none */
    uint32_t n_of_stream;
    struct br_lane **fed; /* those with rows in the batch that is fed */
    size_t n_fed, cap_fed;
    struct br_lane *awake[BR_AWAKE]; /* the next one to be put to rest at TURN; NULL: released */
    unsigned n_awake, turn;
    /* New predictors, by the alignment of their lanes, where some are at rest. */
    void *fresh[TROD_BP_MOST][BR_SHIFTS];
    struct br_sums sums, before; /* BEFORE: at the end of the last interval */
    struct br_interval *interval;
    size_t n_intervals, cap_intervals;
    const struct trod_weighed *weighed; /* weigh.c: wrong predictions by row; NULL: not wanted */
    int owed;                           /* what its function late returned */
    size_t recorded;                    /* bytes of the parts of its lanes */
};

/* Number I of the sums of S. */
static inline uint64_t *br_sum(struct br_sums *s, size_t i)
{
    return (uint64_t *)(void *)s + i;
}

/* branches.c: room for N sites. */
int br_room(struct br_state *s, size_t n);
/* Determine whether branches have delay slots, unless it is known, or not said up to B. */
void br_learn_isa(struct br_state *s, const struct trod_batch *b);
/* Row I of B, no access, of lane L. 0 or TROD_ERR_NOMEM. */
int br_row(struct br_state *s, struct br_lane *l, const struct trod_batch *b, uint32_t i,
           uint32_t said);

/* ---- lanes.c */

/* Choose the predictors of S's shard. */
void br_deal(struct br_state *s);
/* The lane of STREAM of FILE, made if new. NULL: no memory. */
struct br_lane *br_lane(struct br_state *s, uint32_t stream, uint32_t file);
/* Give all that waits for it to the predictors. 0 or TROD_ERR_NOMEM. */
int br_flush_all(struct br_state *s);
/* A row of the batch is of L. 0 or TROD_ERR_NOMEM. */
int br_begin_fed(struct br_state *s, struct br_lane *l);
/* The batch is over: flush the lanes that had rows in it. 0 or TROD_ERR_NOMEM. */
int br_end_fed(struct br_state *s);
void br_lanes_free(struct br_state *s);
/* FILE is over, or all OTHERS are: their last branches have no successor. 0 or TROD_ERR_NOMEM. */
int br_end_files(struct br_state *s, uint32_t file, bool others);
/*
 * The branch that L waits for led to TARGET, an instruction of site TO (TROD_NO_SITE: not known).
 * The second function ends the waiting without an outcome. Return 0 or TROD_ERR_NOMEM.
 */
int br_led_to(struct br_state *s, struct br_lane *l, uint64_t target, uint32_t to);
int br_given_up(struct br_state *s, struct br_lane *l);
/* Give the events of L to the predictors, or keep them. 0 or TROD_ERR_NOMEM. */
int br_flush(struct br_state *s, struct br_lane *l);

/* Give the N events at E to the predictors of L. 0 or TROD_ERR_NOMEM. */
int br_predict(struct br_state *s, struct br_lane *l, const struct trod_bp_event *e, size_t n);

/* ---- parts.c: parts of a file, put together */

size_t br_recorded(const void *st);
/*
 * Keep row I of B, of lane L, until the part before is known: 1, 0 if it need not be kept, or an
 * error.
 */
int br_part_waits(struct br_state *s, struct br_lane *l, const struct trod_batch *b, uint32_t i,
                  uint32_t said);
/* The events of L are kept. */
int br_part_keep(struct br_state *s, struct br_lane *l);
/*
 * Let the lanes of S go on with those of T, the part behind it; sums and sites are already added.
 */
int br_part_merge(struct br_state *s, const struct br_state *t);
void br_part_free(struct br_part *p);

/* branches.c */
int br_init(void *st, const void *opt, const struct trod_context *context);
int br_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);
int br_boundary(void *st, const struct trod_boundary *at);
void br_fini(void *st);

/* weigh.c */
extern const struct trod_weigher br_weigher;

/* ---- merge.c */
int br_merge(void *into, const void *from);
int br_save(const void *st, struct trod_buf *out);
int br_load(void *st, struct trod_span in, const uint32_t *sites);

/* ---- result.c */
int br_result(const void *st, struct trod_result *r);
/* PART of OF. */
double br_percent(uint64_t part, uint64_t of);

/* ---- owners.c: branches by module, function or line. 0 or TROD_ERR_NOMEM. */
int br_put_owners(const struct br_state *s, struct trod_result *r);

#endif
