/*
 * count_fields.h - the numbers of `trod count` by name: what the report writes.
 */
#ifndef TROD_ANALYSIS_COUNT_FIELDS_H
#define TROD_ANALYSIS_COUNT_FIELDS_H

#include "analysis/count_int.h"

/* In the order in which they are written; the first block is DynamoRIO's, under its names. */
enum count_field {
    COUNT_F_INSTRS,
    COUNT_F_UNIQUE,
    COUNT_F_USER,
    COUNT_F_KERNEL,
    COUNT_F_NOFETCH,
    COUNT_F_NOFETCH_USER,
    COUNT_F_NOFETCH_KERNEL,
    COUNT_F_PREFETCHES,
    COUNT_F_LOADS,
    COUNT_F_STORES,
    COUNT_F_IFLUSHES,
    COUNT_F_DFLUSHES,
    COUNT_F_THREADS,
    COUNT_F_SCHED,
    COUNT_F_IDLE,
    COUNT_F_WAIT,
    COUNT_F_XFER,
    COUNT_F_HARDWARE,
    COUNT_F_FUNC_ID,
    COUNT_F_FUNC_RETADDR,
    COUNT_F_FUNC_ARG,
    COUNT_F_FUNC_RETVAL,
    COUNT_F_PHYS,
    COUNT_F_PHYS_UNAVAILABLE,
    COUNT_F_SYSCALL,
    COUNT_F_BLOCKING,
    COUNT_F_SKIPPED_MEMREF,
    COUNT_F_OTHER_MARKERS,
    COUNT_F_ENCODINGS,
    /* what DynamoRIO does not count */
    COUNT_F_SKIPPED,
    COUNT_F_SYNTHETIC,
    COUNT_F_BYTES_READ,
    COUNT_F_BYTES_WRITTEN,
    COUNT_F_ATOMICS,
    COUNT_F_BYTES_ATOMIC,
    COUNT_F_BUS,
    COUNT_F_BYTES_BUS,
    COUNT_F_BRANCHES,
    COUNT_F_DIRECT,
    COUNT_F_INDIRECT,
    COUNT_F_COND,
    COUNT_F_TAKEN,
    COUNT_F_UNTAKEN,
    COUNT_F_TAKEN_SHARE, /* a percentage */
    COUNT_F_CALLS,
    COUNT_F_ICALLS,
    COUNT_F_RETURNS,
    COUNT_F_SYSCALL_INSTRS,
    COUNT_F_ERETS,
    COUNT_F_OTHER_BRANCHES,
    COUNT_F_CODE_BYTES,
    COUNT_F_CODE_LINES,
    COUNT_F_DATA_BYTES,
    COUNT_F_DATA_LINES,
    COUNT_FIELDS
};

struct count_values {
    uint64_t v[COUNT_FIELDS];
    bool known[COUNT_FIELDS];
};

/* How the report of S calls it. */
const char *trod_count_field_name(const struct count_state *s, unsigned field);

/*
 * The numbers that SUMS and FEET give; FILETYPE of the shard or TROD_NOWHERE. known is what the
 * rows and the format of S can tell: what they cannot is absent, not zero.
 */
void trod_count_values(const struct count_state *s, const struct count_sums *sums,
                       const struct count_feet *feet, uint64_t filetype, struct count_values *out);

/* Percentage of taken ones among the conditional branches of known direction; at least one. */
double trod_count_taken(const struct count_values *v);

#endif
