/*
 * replay.h - threads on the cores that a schedule gives them, the cores taking turns.
 *
 * Follows the replay of DynamoRIO's scheduler (drcachesim, scheduler/scheduler_replay.cpp) in
 * lock-step: one record of each core at a time, as dynamic.h does it for a schedule that it makes.
 * A core that may not go on waits; one that has no more to run is idle until all are done.
 */
#ifndef TROD_TRACE_REPLAY_H
#define TROD_TRACE_REPLAY_H

#include "trace/dynamic.h"
#include "trace/schedule.h"

/*
 * INPUT runs its instructions (counted from 1) from START up to STOP, which is not one of them; or,
 * with IDLE, nothing runs for so many steps. 0 as START is the beginning of the input, with what
 * stands before its first instruction.
 */
struct trod_segment {
    uint64_t start, stop, time, idle;
    uint32_t input;
};

struct trod_plan {
    struct trod_plan_core {
        struct trod_segment *segment;
        size_t n, cap;
    } * core;
    size_t n, cap;
};

/*
 * What S, a bound schedule, says: a core for each cpu, in the order of their numbers. S is sorted
 * anew. Of N_INPUTS inputs those that it does not name run last, on the first core. Returns 0 or
 * TROD_ERR_NOMEM.
 */
int trod_plan_traced(struct trod_plan *plan, struct trod_schedule *s, uint32_t n_inputs);
/* Is PATH a recorded schedule (a zip archive of output.NNNN)? */
bool trod_plan_is(const char *path);
/*
 * Read PATH, a recorded schedule, for N_INPUTS inputs. Returns 1, 0 where it is none
 * (it may be a schedule file), or an error, reported.
 */
int trod_plan_read(struct trod_plan *plan, const char *path, uint32_t n_inputs,
                   struct trod_diag *diag);
void trod_plan_fini(struct trod_plan *plan);

struct trod_replay;

/* PLAN outlives the replay; ROWS and MORE as for trod_dynamic_new. Returns 0 or TROD_ERR_NOMEM. */
int trod_replay_new(struct trod_replay **out, const struct trod_plan *plan, uint32_t n_inputs,
                    struct trod_dyn_rows *rows, trod_dyn_more *more, void *user);
void trod_replay_free(struct trod_replay *r);
/* As trod_dynamic_next. */
int trod_replay_next(struct trod_replay *r, uint32_t *core, uint32_t *input);
/* Steps that CORE was idle, and that it waited, so far. */
uint64_t trod_replay_idle(const struct trod_replay *r, uint32_t core);
uint64_t trod_replay_waits(const struct trod_replay *r, uint32_t core);
/* The core on which the run ended. */
uint32_t trod_replay_last(const struct trod_replay *r);

#endif
