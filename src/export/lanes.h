/*
 * lanes.h - calls for views: a lane for each stack of each stream, its open activations, and what
 * was spent on it.
 *
 * The call stack itself is trod/callstack.h; here the data that views keep for each activation is
 * added.
 */
#ifndef TROD_EXPORT_LANES_H
#define TROD_EXPORT_LANES_H

#include "callstack/ticks.h"
#include "export/names.h"
#include "trod/buf.h"
#include "trod/callstack.h"
#include "trod/export.h"

/* What is counted: rows, and what they miss where caches are simulated. */
enum export_cost {
    EXPORT_INSTRUCTIONS,
    EXPORT_READS,
    EXPORT_WRITES,
    EXPORT_ROW_COSTS,
    EXPORT_FIRST_MISSES = EXPORT_ROW_COSTS, /* of instructions, reads, writes */
    EXPORT_LAST_MISSES = EXPORT_FIRST_MISSES + 3,
    EXPORT_COSTS = EXPORT_LAST_MISSES + 3
};

/* An activation that is open. */
struct export_open {
    uint32_t function; /* its number in names */
    uint32_t node;     /* the view's */
    uint64_t time;     /* where it began; TROD_NOWHERE: not known */
    uint64_t instruction;
    uint64_t before[EXPORT_COSTS]; /* of the lane, when it began */
    bool outer;                    /* no other activation of its function was open then */
};

struct export_lane {
    uint32_t number, stream, context;
    struct export_open *open; /* by depth */
    uint32_t n;               /* that are open */
    size_t cap;
    uint64_t cost[EXPORT_COSTS];
    /* The root that ended last: its caller may still be found (trod_frame.under). */
    struct export_open root;
    bool has_root;
};

struct export_lanes;

/* Callbacks; ST is the view's state. They return 0 or an error; each may be NULL. */
struct export_lanes_sink {
    void *st;
    /* O was opened by F; the activation below it, if there is one, is O - 1 of the same lane. */
    int (*enter)(void *st, struct export_lane *l, struct export_open *o,
                 const struct trod_frame *f);
    int (*leave)(void *st, struct export_lane *l, const struct export_open *o,
                 const struct trod_frame *f, const struct trod_frame_left *end);
    /* Rows that belong to O; L and O NULL: that come before any instruction of their stream. */
    int (*rows)(void *st, const struct trod_batch *b, uint32_t from, uint32_t to,
                struct export_lane *l, struct export_open *o);
    /* As of trod_callstack_scales: of all times that are not in lanes. */
    void (*scale)(void *st, unsigned power);
};

struct export_lanes {
    struct export_lanes_sink sink;
    struct trod_callstack *stack;
    struct export_names names;
    struct export_map by_context; /* stream and context: number of the lane */
    struct export_map active;     /* function and lane: activations open */
    struct export_lane **lane;
    size_t n, cap;
    struct export_lane *last; /* the one looked up last */
    uint64_t outside;         /* rows before the first instruction of their stream */
};

int export_lanes_init(struct export_lanes *s, const struct export_lanes_sink *sink,
                      const struct trod_export_context *c);
int export_lanes_feed(struct export_lanes *s, const struct trod_batch *b, uint32_t from,
                      uint32_t to);
/* No more rows: all that is open ends. */
int export_lanes_end(struct export_lanes *s);
void export_lanes_fini(struct export_lanes *s);

/*
 * Append the name of lane L: its stream's name, and the number of the stack if it is not the
 * stream's first.
 */
int export_lane_name(struct trod_buf *out, const struct export_lane *l,
                     const struct trod_meta *meta);

/*
 * What row I of B costs, as bits: 1 << EXPORT_INSTRUCTIONS and so on. An atomic access reads and
 * writes; an instruction that is executed again without being fetched (the iterations of a string
 * instruction) is one.
 */
static inline unsigned export_costs(const struct trod_batch *b, uint32_t i)
{
    switch (b->kind[i]) {
    case TROD_INSTR:
        return !(b->have & b->has[i] & TROD_COL_FLAGS && b->flags[i] & TROD_F_NOFETCH);
    case TROD_READ:
        return 1u << EXPORT_READS;
    case TROD_WRITE:
        return 1u << EXPORT_WRITES;
    case TROD_ATOMIC:
        return 1u << EXPORT_READS | 1u << EXPORT_WRITES;
    default:
        return 0;
    }
}

#endif
