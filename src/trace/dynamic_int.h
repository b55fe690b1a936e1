/*
 * dynamic_int.h - the state of the dynamic scheduler (dynamic.c) and its queues (dynamic_queue.c).
 */
#ifndef TROD_TRACE_DYNAMIC_INT_H
#define TROD_TRACE_DYNAMIC_INT_H

#include "trace/dynamic.h"
#include "trod/meta.h"

#define NONE UINT32_MAX

struct input {
    uint64_t last;  /* time */
    uint64_t base;  /* of the workload */
    uint64_t order; /* counter of its queue when it was put there */
    uint64_t before_syscall;
    uint64_t block_time, block_start, last_run;
    uint64_t quantum;
    uint64_t thread;
    uint64_t timeout; /* of the system call that goes on; 0: none */
    uint32_t ran_on;  /* core; NONE: not yet */
    uint32_t queued;  /* core in whose queue it is; NONE */
    uint32_t target;  /* input that is to run in its place; NONE */
    unsigned version;
    bool syscall, maybe_blocking, kernel, ended;
    bool unscheduled, ahead; /* ahead: it was scheduled before it was unscheduled */
};

/* A heap in an array whose element 0 has the children 0 and 1. */
struct core {
    uint32_t *queue;
    uint32_t n, current;
    uint64_t counter, instructions, idle;
    uint64_t steal_from; /* idle count of the first attempt to steal; UINT64_MAX: none yet */
    struct trod_core *counts;
    bool over;
    bool fresh;   /* what it runs has given nothing yet */
    bool settled; /* all of its queue were blocked and stand there in order since */
};

struct trod_dynamic {
    struct input *input;
    struct core *core;
    struct trod_dyn_options opt;
    uint32_t n, cores, live, turn;
    uint32_t least;    /* inputs alive at which the run ends */
    uint32_t *scratch; /* inputs set aside; 3 * n */
    uint64_t instructions, rebalanced;
    struct trod_core *counts; /* what was decided, by core */
    uint32_t last;            /* the core that ended first: what runs there ends the run */
    bool starting;            /* at the beginning inputs may go anywhere */
    uint32_t pause;           /* turns until rounds are tried again */
    struct trod_dyn_rows *rows;
    trod_dyn_more *more;
    void *user;
};

/* The time of C. */
static inline uint64_t dyn_now(const struct trod_dynamic *d, const struct core *c)
{
    return 1 + (d->opt.parallel ? c->instructions : d->instructions) + c->idle;
}

/* Put INPUT into the queue of C, as the newest of its time. */
void dyn_enqueue(struct trod_dynamic *d, struct core *c, uint32_t input);
/* Take what is at PLACE of the queue of C. */
uint32_t dyn_take(const struct trod_dynamic *d, struct core *c, uint32_t place);
/*
 * Take the first input of FROM's queue that may run, for FROM itself or (AWAY) elsewhere; with LAST
 * the last ones of the array are looked at first. NONE and *ANY_BLOCKED where there is none.
 */
uint32_t dyn_pop(struct trod_dynamic *d, struct core *from, bool away, bool last,
                 bool *any_blocked);
/* Queues of nearly the same length; BY asks for it. */
void dyn_rebalance(struct trod_dynamic *d, const struct core *by);

#endif
