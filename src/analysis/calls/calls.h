/*
 * calls.h - what the analysis "syscalls" counts (syscalls.c), its tables (call_table.c) and its
 * result (syscalls_result.c).
 */
#ifndef TROD_ANALYSIS_CALLS_H
#define TROD_ANALYSIS_CALLS_H

#include "core/map.h"
#include "trod/analysis.h"
#include "trod/buf.h"

enum { SYS_ARGS = 6, SYS_LIST = 1 << 20, SYS_NUMBERS = 1 << 16 };

enum sys_like { SYS_LIKE_NONE, SYS_LIKE_SYSCALL_MIX };

struct sys_options {
    uint64_t top, list;
    int like;
};

/* Numbers only: they are merged and saved as an array. */
struct sys_sums {
    uint64_t calls, returned, failed, blocking;
    uint64_t timed, time; /* calls with times on both sides; microseconds */
    uint64_t with_result;
    uint64_t traces, kernel; /* inlined kernel code: runs of it, instructions in it */
};

/* A system call, by number. */
struct sys_call {
    int64_t number; /* -1: failures before any call */
    struct sys_sums n;
    uint64_t least, most; /* microseconds; least UINT64_MAX: none was timed */
};

struct sys_failure {
    int64_t number, error;
    uint64_t n;
};

/* One call, kept for the list. */
struct sys_one {
    int64_t number;
    uint64_t tid, time, result, error, arg[SYS_ARGS];
    uint8_t n_args;
    bool has_time, has_result, failed, blocking;
};

/* Where a thread is. */
struct sys_thread {
    uint64_t time, before; /* last time stamp; that before the call that is open */
    int64_t last;          /* number of the last call; -1: none yet */
    size_t one;            /* in the list; SIZE_MAX: not kept */
    bool fresh;            /* nothing was executed since the time stamp */
    uint32_t site;         /* of the instruction that called the system last; TROD_NO_SITE: none */
    uint32_t from;         /* the same of the call that is open, or was last */
    bool begun, open, pre, group;
};

/* Calls by the instruction that makes them. */
/* 64-bit numbers only: they are saved as an array. */
struct sys_from {
    uint64_t instructions, calls, failed, blocking, time;
};
enum { SYS_FROM = sizeof(struct sys_from) / sizeof(uint64_t) };

struct sys_interval {
    uint64_t number, instructions;
    struct sys_sums n;
    uint64_t ran; /* instructions that call the system, of traces that say nothing else */
};

struct sys_state {
    const struct sys_options *opt;
    struct trod_sites *sites; /* or NULL */
    int64_t stream;           /* of the context */
    uint64_t isa;
    unsigned addr_bits; /* of the trace: what of it time stamps have */
    struct sys_sums sums;
    uint64_t instructions; /* that call the system */
    bool marked;           /* the trace has markers; else instructions are all there is */
    bool numbered;         /* a number was given */
    struct sys_call *call; /* in the order they came */
    size_t n_calls, cap_calls;
    struct trod_map map; /* calls by number */
    struct sys_failure *failure;
    size_t n_failures, cap_failures;
    struct sys_one *one;
    size_t n_ones, cap_ones;
    struct sys_thread *thread; /* by stream */
    size_t n_threads;
    uint64_t *ran; /* by site, of instructions that call the system */
    size_t n_ran;
    uint32_t *calling; /* sites among the first n_looked that call the system (intervals) */
    size_t n_calling, cap_calling;
    uint32_t n_looked;
    enum trod_by by;
    struct trod_symbols *symbols;
    struct sys_from *from; /* by site + 1, [0]: not known; only where results are by owner */
    size_t n_from;
    struct sys_interval *interval;
    size_t n_intervals, cap_intervals;
    struct sys_sums before; /* at the end of the last interval; */
    uint64_t ran_before;    /* those of traces that say nothing else */
};

/* The entry of call NUMBER, added if new; NULL: no memory. */
struct sys_call *sys_call(struct sys_state *s, int64_t number);
/* N more failures of NUMBER with ERROR. 0 or TROD_ERR_NOMEM. */
int sys_failed(struct sys_state *s, int64_t number, int64_t error, uint64_t n);
void sys_add(struct sys_sums *into, const struct sys_sums *from);
void sys_subtract(struct sys_sums *from, const struct sys_sums *what);
int sys_merge(void *into, const void *from);
int sys_save(const void *st, struct trod_buf *out);
int sys_load(void *st, struct trod_span in, const uint32_t *sites);
/* Room for N sites. */
int sys_room(struct sys_state *s, size_t n);

/* owners.c: calls by module, function or line. 0 or TROD_ERR_NOMEM. */
int sys_put_owners(const struct sys_state *s, struct trod_result *r);
/* Does site I call the system, as its opcode or its row says? */
bool sys_is_call(struct trod_sites *sites, uint32_t i);

int sys_result(const void *st, struct trod_result *r);
int sys_layout(const void *st, struct trod_buf *out);

#endif
