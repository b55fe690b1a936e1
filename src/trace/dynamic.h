/*
 * dynamic.h - threads scheduled onto invented cores, as DynamoRIO's dynamic scheduler does it.
 *
 * Implements shared/specs/drmemtrace.md, section 15, with the corrections of cache-simulation.md,
 * section 1, for lock-step delivery: the cores take turns, one record each. Which record comes next
 * is decided here; records themselves stay with the caller. Direct switches and unscheduling by
 * markers are not acted on: such threads run until they block or end.
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
    TROD_DYN_KERNEL_END
};

/* The next record of an input, as far as the scheduler cares. */
struct trod_dyn_record {
    uint8_t kind;
    uint64_t value; /* TIMESTAMP */
};

struct trod_dyn_input {
    uint64_t first;   /* time before anything else in it */
    uint64_t key;     /* last time that its reader has seen before it is scheduled */
    unsigned version; /* of its trace format */
};

struct trod_dynamic;

/*
 * Schedule N inputs onto CORES cores. PEEK tells of the next record of an input: 1, 0 at the end,
 * or an error; it is asked again and again about the same record until trod_dynamic_next has given
 * that input. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_dynamic_new(struct trod_dynamic **out, const struct trod_dyn_input *input, uint32_t n,
                     uint32_t cores,
                     int (*peek)(void *user, uint32_t input, struct trod_dyn_record *r),
                     void *user);
void trod_dynamic_free(struct trod_dynamic *d);

/*
 * The next record is that of *INPUT, on *CORE: 1; 0 at the end; or the error of PEEK. Idle steps
 * are passed over.
 */
int trod_dynamic_next(struct trod_dynamic *d, uint32_t *core, uint32_t *input);

#endif
