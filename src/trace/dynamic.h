/*
 * dynamic.h - threads scheduled onto invented cores, as DynamoRIO's dynamic scheduler does it.
 *
 * Follows DynamoRIO's scheduler (drcachesim, scheduler/scheduler_dynamic.cpp) in lock-step: the
 * cores take turns, one record each. Which record comes next is decided here; records themselves
 * stay with the caller.
 */
#ifndef TROD_TRACE_DYNAMIC_H
#define TROD_TRACE_DYNAMIC_H

#include "trod/types.h"

enum trod_dyn_kind {
    TROD_DYN_OTHER,
    TROD_DYN_INSTR, /* fetched */
    TROD_DYN_TIMESTAMP,
    TROD_DYN_SYSCALL,
    TROD_DYN_MAYBE_BLOCKING,
    TROD_DYN_KERNEL_BEGIN, /* instructions up to the end are the kernel's */
    TROD_DYN_KERNEL_END,
    TROD_DYN_SWITCH,     /* VALUE: thread that runs in its place */
    TROD_DYN_UNSCHEDULE, /* it runs no more until its time is over or another one says SCHEDULE */
    TROD_DYN_SCHEDULE,   /* VALUE: thread */
    TROD_DYN_TIMEOUT     /* VALUE: microseconds, of the switch or unscheduling that follows */
};

/*
 * The records of an input that are at hand, as far as schedulers care: [AT, N) were not given. The
 * caller fills it anew when it is asked for more; schedulers move AT and STOP.
 */
struct trod_dyn_rows {
    const uint8_t *kind;
    const uint64_t *value;   /* TIMESTAMP, and as said above */
    const uint16_t *fetched; /* INSTR before the record; N + 1 of them */
    const uint16_t *stop;    /* ascending: records that are neither OTHER nor INSTR; N at the end */
    uint32_t at, n;
};

/* Told that all records of INPUT that were at hand are given: 1 and more of them, 0 at the end, or
 * an error. */
typedef int trod_dyn_more(void *user, uint32_t input);

struct trod_dyn_input {
    uint64_t first; /* time before anything else in it */
    uint64_t key;   /* last time that its reader has seen before it is scheduled */
    uint64_t thread;
    unsigned version; /* of its trace format */
};

/* What may be set; 0 stands for what the specification names as default. */
struct trod_dyn_options {
    uint32_t cores;
    uint64_t quantum; /* instructions */
    uint32_t scale;   /* thousandths of a system call's time for which its thread blocks */
    bool parallel;    /* time passes on each core for itself */
    bool all;         /* go on until every input has come to its end, however few are left */
};

struct trod_dynamic;
struct trod_core;

/*
 * Schedule N inputs as OPT says, whose records are in ROWS, by input, and come from MORE. Returns 0
 * or TROD_ERR_NOMEM.
 */
int trod_dynamic_new(struct trod_dynamic **out, const struct trod_dyn_input *input, uint32_t n,
                     const struct trod_dyn_options *opt, struct trod_dyn_rows *rows,
                     trod_dyn_more *more, void *user);
void trod_dynamic_free(struct trod_dynamic *d);

/*
 * The next record is that of *INPUT, on *CORE: 1, and it is behind AT; 0 at the end; or the error
 * of MORE. Idle steps are passed over.
 */
int trod_dynamic_next(struct trod_dynamic *d, uint32_t *core, uint32_t *input);

/* INPUT runs on CORE. */
struct trod_dyn_turn {
    uint32_t core, input;
};

/*
 * Rounds of turns in which there is nothing to decide: each core goes on with what it runs, or
 * stays idle. They are taken, *N records in each, at most ROOM in all: the inputs in the order of
 * their turns are in TURN, which has room for all cores; the records of each are those behind AT.
 * 0: who comes next is for trod_dynamic_next to say. Never asks for more records.
 */
uint64_t trod_dynamic_rounds(struct trod_dynamic *d, uint32_t room, struct trod_dyn_turn *turn,
                             uint32_t *n);

uint32_t trod_dynamic_cores(const struct trod_dynamic *d);
/* Inputs that were not at their end when the run ended: a tenth of them may be left. */
uint32_t trod_dynamic_left(const struct trod_dynamic *d);
/* Steps that CORE was idle, so far. */
uint64_t trod_dynamic_idle(const struct trod_dynamic *d, uint32_t core);
/* What was decided, by core; belongs to D and goes on counting. *LAST: the core that ended first.
 */
const struct trod_core *trod_dynamic_counts(const struct trod_dynamic *d, uint32_t *last);

#endif
