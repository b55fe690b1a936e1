/*
 * script.h - a sample as perf script prints it.
 */
#ifndef TROD_FORMAT_PERF_SCRIPT_H
#define TROD_FORMAT_PERF_SCRIPT_H

#include "format/lines/lines.h"

enum { PS_BRANCHES = 1024, PS_CODE = 16, PS_NUMBERS = 8 };

enum { PS_NO_OP, PS_LOAD, PS_STORE };

/* sub of BRANCH rows. */
enum { PS_UNKNOWN, PS_MISPREDICTED, PS_PREDICTED };

struct ps_branch {
    uint64_t from, to, cycles;
    uint8_t kind, predicted, has_cycles; /* kind: enum trod_branch */
};

struct ps_sample {
    uint64_t pid, tid, time, period, ip, addr, paddr, target;
    unsigned decimals; /* of time */
    bool has_tid, has_cpu, has_time, has_period, has_ip, has_addr, has_paddr, has_target;
    uint8_t op;
    const uint8_t *event, *event_end;
    unsigned code_n, n_branches;
    uint8_t code[PS_CODE];
    struct ps_branch branch[PS_BRANCHES];
};

/* The sample on the line L. LN_BAD: it is none, and l->why is set where it begins like one. */
enum ln_result ps_parse(struct ln_line *l, struct ps_sample *s);

#endif
