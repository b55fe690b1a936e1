/*
 * callgraph.h - what the analyses "calls", "profile" and "flame" count: what each stack of
 * functions cost (callgraph.c, callstack/tree.h), the list of single calls (list.c), and what Arm's
 * tools make of a trace (like.c).
 *
 * Implements docs/navigating.md, "Calls and costs". Costs are counted in a tree of calling
 * contexts: a node is a function called from the function of its parent. Each stream has a tree
 * while it is read; it is added to that of the state when the stream ends.
 */
#ifndef TROD_ANALYSIS_CALLGRAPH_H
#define TROD_ANALYSIS_CALLGRAPH_H

#include "callstack/ticks.h"
#include "callstack/tree.h"
#include "trod/analysis.h"
#include "trod/buf.h"
#include "trod/callstack.h"

enum cg_what {
    CG_INSTRUCTIONS,
    CG_TIME,
    CG_ROWS, /* from here on rows are looked at */
    CG_LOADS,
    CG_STORES,
    CG_ACCESSES,
    CG_BYTES,
    CG_BYTES_READ,
    CG_BYTES_WRITTEN,
    CG_MISSES,
    CG_COLUMN,  /* what rows say in a column */
    CG_ANALYSIS /* what an analysis makes of a row */
};

enum { CG_WEIGHT_KEY = 40 };

struct cg_weight {
    const char *text; /* as it was asked for */
    const char *unit;
    char key[CG_WEIGHT_KEY];            /* of columns of results: text as a word */
    uint8_t what;                       /* enum cg_what */
    uint8_t kind;                       /* ROWS, COLUMN: of rows of this kind; TROD_KINDS: of all */
    uint8_t column;                     /* COLUMN: bit number */
    const struct trod_weigher *weigher; /* ANALYSIS */
    const char *number;                 /* ANALYSIS: behind its name and the dot */
};

struct cg_weigher {
    const struct trod_weigher *of;
    void *st;
    const char *what[CG_MOST_WEIGHTS];
    unsigned slot[CG_MOST_WEIGHTS], n; /* weights that it gives */
    struct trod_weighed out;
};

/* The weights of a state: those that look at rows have places CG_SELF_WEIGHTS and on. */
struct cg_weights {
    struct cg_weight at[CG_MOST_WEIGHTS];
    unsigned n;
    unsigned shown; /* enum CG_SELF_...: what is sorted by, and shown where one is */
    struct cg_weigher weigher[CG_MOST_WEIGHTS];
    unsigned n_weighers, telling;
    uint64_t *number; /* by weight and row, of weighers; NULL: none */
};

struct cg_sum;

enum { CG_NOBODY = 0, CG_LIKE_NONE = 0, CG_LIKE_TARMAC };

/* What costs that belong to no function are called. */
#define CG_NO_FUNCTION "(no function)"

enum { CG_ARGS = 8, CG_WHO = 24 };

/* Registers that carry arguments, as they were written last. */
struct cg_registers {
    uint64_t value[CG_ARGS];
    uint8_t known; /* a bit each */
    uint8_t seen;  /* the last write is known, or that there was none */
};

/* A stream that is being read. */
struct cg_lane {
    struct cg_account sum;
    uint32_t stream;
    uint64_t weighed[CG_MOST_WEIGHTS]; /* so far */
    struct cg_registers *registers;
    char who[CG_WHO]; /* its name, where calls are listed */
    bool begun;
    uint64_t begin; /* row of its first instruction, where calls are listed */
};

/* A single call (list.c). */
struct cg_call {
    uint64_t function, caller, site; /* TROD_NOWHERE: none */
    uint64_t row, time, last_time;
    uint64_t begin, instructions;     /* ordinal of the first; with all that it called */
    uint64_t weight[CG_MOST_WEIGHTS]; /* while it is open: what was weighed before it */
    uint64_t arg[CG_ARGS];
    uint64_t lane, lane_begin; /* own[3] of the frame; row of its first instruction */
    uint32_t depth, stream;
    uint8_t kind, how, sure, sure_end;
    uint8_t args; /* that are known */
    uint8_t isa;
    char who[CG_WHO];
};

struct cg_calls {
    struct cg_call *at;
    size_t n, cap;
    size_t before; /* those of files that are over */
    uint64_t seen; /* those that found no place included */
};

struct cg_options {
    int exceptions, like, sort;
    struct trod_list weight;
    uint64_t top, depth, most;
    struct trod_range time;
    struct trod_list function;
    bool list, final, reverse, svg, no_offsets, debug;
};

struct cg_core {
    const struct cg_options *opt;
    struct trod_context context;
    struct trod_callstack *stack;
    struct cg_tree tree;
    struct cg_lane **lane; /* by place in the call stack's list */
    uint32_t n_lanes;
    struct trod_callstack_counts counts, left_out; /* LEFT_OUT: of rows that do not count */
    bool inline_exceptions, finished, listing;
    bool followed, following; /* rows that are not counted: there were some; they are being fed */
    bool turning;             /* rows of another file come */
    bool told_large;          /* cg_conclude has warned */
    bool told;                /* there was an opcode or the kind of a branch */
    struct cg_calls calls, open;
    struct cg_weights weights;
    uint64_t *wanted; /* functions to list; by address */
    size_t n_wanted;
    const struct trod_meta *meta;               /* of the batch that is being fed */
    const struct trod_callstack_source *source; /* instead of batches; NULL: none */
    uint8_t isa;
    uint32_t file;
    struct trod_ticks ticks; /* what times count, once they are all there */
    struct cg_like *like;
    struct cg_cache **cache; /* of CG_MISSES, by stream + 1; [0]: of rows without one */
    uint32_t n_caches;
};

/* A state. */
struct cg_state {
    struct cg_core *core;
};

/* ---- callgraph.c */
/* What the trace does not say, so that no calls were found; NULL: nothing. */
const char *cg_note(const struct cg_core *core);
int cg_init(void *st, const struct cg_options *opt, const struct trod_context *c, bool inlined,
            bool listing);
int cg_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);
int cg_follow(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);
int cg_merge(void *into, const void *from);
int cg_save(const void *st, struct trod_buf *out);
int cg_load(void *st, struct trod_span in, const uint32_t *sites);
void cg_fini(void *st);
/* The end of the rows: open activations are counted. */
int cg_finish(struct cg_core *core);
/* The lane of F, made if new. NULL: no memory. */
struct cg_lane *cg_lane_of(struct cg_core *core, const struct trod_frame *f);
uint32_t cg_uses_of(const char *format, const void *opt);
/* trod_analysis.by_calls and calls. */
bool cg_by_calls(const void *opt, const struct trod_format *f);
int cg_calls(void *st, const struct trod_callstack_source *source);
/* trod_analysis.begins. */
bool cg_begins(const void *opt, const struct trod_format *f);
/* trod_analysis.follows. */
bool cg_follows(const void *opt);

/* ---- cost.c: add the weights of rows [FROM, TO) to the numbers SELF */
void cg_weigh(struct cg_core *core, const struct trod_batch *b, uint32_t from, uint32_t to,
              uint64_t *self);
/* The streams of a file are over. */
void cg_cost_end(struct cg_core *core);

/* ---- weights.c */
/* What LIST names into W. 0 or TROD_ERR_USAGE, reported. */
int cg_weights_parse(struct cg_weights *w, const struct trod_list *list, struct trod_diag *diag);
/* States of the analyses that W names. 0 or an error, reported. */
int cg_weights_init(struct cg_core *core);
void cg_weights_fini(struct cg_weights *w);
/* Rows [FROM, TO) of B, before the call stack sees them; B NULL: streams end. 0 or an error. */
int cg_weights_feed(struct cg_core *core, const struct trod_batch *b, uint32_t from, uint32_t to);
/* Add to the weight in SLOT of the innermost activation of STREAM (callgraph.c). */
int cg_late(struct cg_core *core, uint32_t stream, unsigned slot, uint64_t n);
/* Columns that the weights of LIST make use of in a trace of FORMAT. */
uint32_t cg_weights_columns(const char *format, const struct trod_list *list);
enum trod_order_need cg_order(const void *opt);
bool cg_timed(const void *opt);
extern const char cg_weight_help[];
/* The counted weights of CORE, one after the other: which number of a node, NULL past the last. */
const struct cg_weight *cg_weight_at(const struct cg_core *core, unsigned slot);
/* Columns for number SLOT of a node at C: inclusive, before it (SELF) exclusive. Returns how many;
 * 0: this is not counted. */
unsigned cg_weight_columns(const struct cg_core *core, unsigned slot, bool self,
                           struct trod_result_column *c, char name[2][CG_WEIGHT_KEY + 16]);

/* ---- arguments.c */
/* Registers that carry arguments, from rows [FROM, TO) of B. 0 or TROD_ERR_NOMEM. */
int cg_registers(struct cg_core *core, struct cg_lane *l, const struct trod_batch *b, uint32_t from,
                 uint32_t to);
/*
 * Arguments of the calls that are listed, from SOURCE, which has them. 0, TROD_ERR_UNKNOWN
 * (rows are to be read for them) or what SOURCE returned.
 */
int cg_list_arguments(struct cg_core *core, const struct trod_callstack_source *source);
/*
 * Where reading begins inside the trace: find the registers of L that were not written since, at
 * the call OF. Returns 0 or an error.
 */
int cg_earlier_arguments(const struct cg_core *core, struct cg_lane *l, const struct cg_call *of);

/* ---- list.c */
/* What the options name. 0 or an error, reported. */
int cg_wanted(struct cg_core *core);
/* Is F listed, by its function? */
bool cg_is_wanted(const struct cg_core *core, const struct trod_frame *f);
/* A call of L's stream is listed, F if it is the first one. */
void cg_list_begin(const struct cg_core *core, struct cg_lane *l, const struct trod_frame *f);
/* F begins: its number in the list + 1, or 0. A negative number is an error. */
int64_t cg_list_enter(struct cg_core *core, struct cg_lane *l, const struct trod_frame *f);
/* Number NUMBER - 1 of the list, or 0, ends. 0 or TROD_ERR_NOMEM. */
int cg_list_leave(struct cg_core *core, const struct cg_lane *l, uint64_t number,
                  const struct trod_frame *f, const struct trod_frame_left *end);
int cg_list_add(struct cg_core *to, const struct cg_core *from);
int cg_list_save(const struct cg_core *core, struct trod_buf *out);
/* Append what was saved to the list. 0, TROD_ERR_CORRUPT or TROD_ERR_NOMEM. */
int cg_list_load(struct cg_core *core, struct trod_span *in);
void cg_put_list(const struct cg_core *core, struct trod_result *r);
void cg_put_open(const struct cg_core *core, struct trod_result *r);

/* ---- ticks.c */
/* CTX is a core: times of its file are in ticks from here on of which 10^POWER were one. */
void cg_scale(void *ctx, unsigned power);
/* The streams of a file have ended, and are not yet added to those before. */
void cg_ticks_turn(struct cg_core *core);
/*
 * cg_finish of a state that results are made of, or that is saved: warns, once, if there were times
 * that did not fit.
 */
int cg_conclude(struct cg_core *core);
/* Times that did not fit have differences that mean nothing: no function has one. */
void cg_ticks_check(struct cg_core *core);
/* Give both the finer of their ticks, before the times of FROM are added to those of INTO. */
void cg_ticks_merge(struct cg_core *into, struct cg_core *from);
/* 0 or TROD_ERR_NOMEM; 0 or TROD_ERR_CORRUPT. */
int cg_ticks_save(const struct cg_core *core, struct trod_buf *out);
int cg_ticks_load(struct trod_ticks *t, struct trod_span *in);
/* Where the trace has more than one unit: the one that times are in. */
void cg_put_unit(const struct cg_core *core, struct trod_result *r);

/* ---- profile.c */
void cg_put_counts(const struct cg_core *core, const struct cg_sum *sum, struct trod_result *r);

/*
 * ---- summed.c: by what SOURCE has summed up. Returns 0, TROD_ERR_UNKNOWN (activations are to be
 * given), or an error.
 */
int cg_summed(struct cg_core *core, const struct trod_callstack_source *source);

/* ---- sums.c: what follows from a tree */
struct cg_sum {
    uint64_t total[CG_SELVES];
    uint32_t first, next; /* child, sibling: by total, the largest first; 0: none */
    uint32_t depth;
};
/* By node. NULL: no memory. BY: what orders the children. */
struct cg_sum *cg_sums(const struct cg_tree *t, unsigned by);
/* SUM, which may be NULL, is of T, to which no node was added since. */
void cg_sums_free(const struct cg_tree *t, struct cg_sum *sum);
/* The nodes of T in order, each before its children: CALL is given NODE and stops with an error. */
int cg_walk(const struct cg_tree *t, const struct cg_sum *sum,
            int (*enter)(void *user, uint32_t node), void (*leave)(void *user, uint32_t node),
            void *user);
const char *cg_node_name(const struct cg_core *core, const struct cg_node *n,
                         char buf[TROD_FUNCTION_NAME]);
#endif
