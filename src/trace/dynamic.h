/*
 * dynamic.h - threads scheduled onto invented cores, as DynamoRIO's dynamic scheduler does it.
 *
 * Implements shared/specs/drmemtrace.md, section 15, with the corrections of cache-simulation.md,
 * section 1, for lock-step delivery: the cores take turns, one record each. Which record comes next
 * is decided here; records themselves stay with the caller.
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

/* The next record of an input, as far as the scheduler cares. */
struct trod_dyn_record {
    uint8_t kind;
    uint64_t value; /* TIMESTAMP, and as said above */
};

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
 * Schedule N inputs as OPT says. PEEK tells of the next record of an input: 1, 0 at the end,
 * or an error; it is asked again and again about the same record until trod_dynamic_next has given
 * that input. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_dynamic_new(struct trod_dynamic **out, const struct trod_dyn_input *input, uint32_t n,
                     const struct trod_dyn_options *opt,
                     int (*peek)(void *user, uint32_t input, struct trod_dyn_record *r),
                     void *user);
void trod_dynamic_free(struct trod_dynamic *d);

/*
 * The next record is that of *INPUT, on *CORE: 1; 0 at the end; or the error of PEEK. Idle steps
 * are passed over.
 */
int trod_dynamic_next(struct trod_dynamic *d, uint32_t *core, uint32_t *input);

uint32_t trod_dynamic_cores(const struct trod_dynamic *d);
/* Inputs that were not at their end when the run ended: a tenth of them may be left. */
uint32_t trod_dynamic_left(const struct trod_dynamic *d);
/* Steps that CORE was idle, so far. */
uint64_t trod_dynamic_idle(const struct trod_dynamic *d, uint32_t core);
/* What was decided, by core; belongs to D and goes on counting. *LAST: the core that ended first.
 */
const struct trod_core *trod_dynamic_told(const struct trod_dynamic *d, uint32_t *last);

#endif
