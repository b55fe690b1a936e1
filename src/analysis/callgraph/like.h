/*
 * like.h - what Arm's Tarmac Trace Utilities make of a trace (like.c), and how they print it
 * (like_print.c).
 *
 * Implements docs/navigating.md, "--like tarmac". Their rules, errors included, are not ours.
 */
#ifndef TROD_ANALYSIS_CALLGRAPH_LIKE_H
#define TROD_ANALYSIS_CALLGRAPH_LIKE_H

#include "analysis/callgraph/callgraph.h"

#define CG_LIKE_COLUMNS                                                                            \
    (TROD_CALLSTACK_COLUMNS | TROD_COL_UNIT | TROD_COL_RAW | TROD_COL_STREAM | TROD_COL_TEXT |     \
     TROD_COL_VALUE | TROD_COL_DETAIL)

/* An event group: those of one time, with one instruction at the most. */
struct cg_group {
    uint64_t time, line, pos, pc; /* pc 2: no instruction */
};

/* A call or a return, in the order of the trace. */
struct cg_mark {
    struct cg_group at, before;
    size_t other; /* of a call: its return + 1; 0: it never returned */
    bool call;
};

struct cg_pending {
    uint64_t sp, ra;
    size_t mark;
    uint64_t line;
};

struct cg_visit {
    uint64_t time, line, pos;
    uint32_t name; /* number in options.function */
};

struct cg_like {
    bool began, has_insn, have_last, thumb, narrow;
    struct cg_group first, now, before; /* FIRST: with an instruction */
    bool has_first;
    bool refused; /* they read no further, and print nothing */
    uint64_t lines, bytes, header, time;
    unsigned n;
    uint64_t next; /* behind the last instruction */
    bool last_thumb;
    struct {
        uint64_t value[4];
        uint8_t known[4]; /* bytes */
    } reg, snap;
    struct cg_mark *mark;
    size_t n_marks, cap_marks;
    struct cg_pending *pending; /* highest sp first */
    size_t n_pending, cap_pending;
    struct cg_visit *visit;
    size_t n_visits, cap_visits;
    uint64_t *skip; /* by name: line of a group that is not looked at */
    struct cg_like_name {
        const char *name;
        uint64_t address, size;
        bool found, is_name;
    } name[TROD_LIST_MAX];
    size_t n_names;
    struct trod_buf debug;
};

int cg_like_init(struct cg_core *core);
void cg_like_fini(struct cg_core *core);
int cg_like_feed(struct cg_core *core, const struct trod_batch *b, uint32_t from, uint32_t to);
enum trod_order_need cg_like_order(const void *opt);

/* Layouts (analysis.h). */
int cg_like_calls(const void *st, struct trod_buf *out);
int cg_like_profile(const void *st, struct trod_buf *out);
int cg_like_flame(const void *st, struct trod_buf *out);

#endif
