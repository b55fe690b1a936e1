/*
 * schedule.h - who ran when, as schedule files say (docs/formats/drmemtrace.md, "Schedule files").
 */
#ifndef TROD_TRACE_SCHEDULE_H
#define TROD_TRACE_SCHEDULE_H

#include "trod/trace.h"

/* INPUT runs from its instruction START (counted from 0) on, at TIME. */
struct trod_turn {
    uint64_t time, start, thread, cpu;
    uint32_t input;
    uint32_t next; /* of the same input, index in turn; UINT32_MAX: none */
};

struct trod_schedule {
    struct trod_turn *turn;
    uint32_t n;
};

/*
 * The *N entries of the schedule file PATH, as they come; *OUT is to be freed. Returns 0 or an
 * error, reported.
 */
int trod_schedule_load(struct trod_schedule_entry **out, size_t *n, const char *path,
                       struct trod_diag *diag);

/*
 * Read the schedule file PATH (all cpus in one, or a zip archive of one a cpu) into S, in order,
 * turns of the same thread one after the other joined. Returns 0 or an error, reported.
 */
int trod_schedule_read(struct trod_schedule *s, const char *path, struct trod_diag *diag);

/*
 * Give each turn its input: THREAD[i] is the thread of input I. Turns of other threads are dropped
 * and reported. Then next is set. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_schedule_bind(struct trod_schedule *s, const uint64_t *thread, uint32_t n_inputs,
                       const char *path, struct trod_diag *diag);

/*
 * The schedule that T is to go by: the file that its options name, else those beside it, of role
 * FIRST where there are any. THREAD[i] is the thread of input I. S is empty, and bound to all
 * inputs then. Returns 0, TROD_ERR_USAGE (there is none) or an error of reading it, reported.
 */
int trod_schedule_of(struct trod_schedule *s, const struct trod_trace *t, const uint64_t *thread,
                     enum trod_role first);

void trod_schedule_fini(struct trod_schedule *s);

#endif
