/*
 * functions.h - what the analysis "functions" counts (functions.c), the blocks of memory that
 * allocation functions give and take (heap.c, blocks.c), its result (functions_result.c) and the
 * layout of another tool (listing.c).
 */
#ifndef TROD_ANALYSIS_FUNCTIONS_H
#define TROD_ANALYSIS_FUNCTIONS_H

#include "core/treap.h"
#include "sim/whose/alloc.h"
#include "trod/analysis.h"
#include "trod/buf.h"

enum {
    FUN_ARGS = 6,
    FUN_UNLISTED = -1,
    FUN_DEPTH = 4096,    /* calls inside each other that are followed */
    FUN_MOST = 4096,     /* functions without a list that are told apart */
    FUN_LIST = 1 << 20,  /* single calls */
    FUN_SIZES = 65,      /* powers of two */
    FUN_SITES = 4096,    /* places that touch freed blocks */
    FUN_PAGES = 1 << 14, /* counters of pages with freed blocks */
    FUN_WIDE = 1 << 10,  /* pages from which on a block is not counted by page */
    FUN_FREED = 1 << 14, /* freed blocks that are remembered at the least */
    FUN_CODE = 1 << 16   /* bytes of code that the functions of one allocator lie in at the most */
};

enum fun_like { FUN_LIKE_NONE, FUN_LIKE_FUNC_VIEW };

struct fun_options {
    uint64_t top, list;
    int like;
};

struct fun_function {
    uint64_t id;
    uint64_t address;   /* 0: not known */
    char *name;         /* NULL: not known */
    char *names;        /* all of them in order, between commas; NULL: not known */
    uint32_t arguments; /* that are recorded, as the list says; FUN_UNLISTED: it does not */
    bool noret;
    uint8_t kind; /* enum trod_alloc */
    uint64_t calls, returns, failed;
    uint64_t measured, inside, least, most; /* instructions of the thread between call and return */
    uint64_t timed, time;                   /* microseconds by the time stamps around */
};

/* A call that has not returned. */
struct fun_frame {
    uint32_t function;
    uint8_t n_args;
    bool until; /* its return is not recorded: it ends where RETURNS is executed */
    uint64_t arg[FUN_ARGS], returns, time;
    uint64_t instructions, began; /* of the thread, of all, so far */
    size_t one;                   /* in the list */
};

struct fun_thread {
    struct fun_frame *frame;
    size_t n_frames, cap_frames;
    uint64_t instructions, time, id, tid;
    uint64_t freed;    /* block that its last call took */
    uint64_t freed_at; /* instructions before that */
    uint64_t calls, allocations, frees, bytes;
    uint32_t function;   /* of the group of markers that is read; UINT32_MAX: none */
    uint32_t allocators; /* frames of allocation functions */
    uint32_t lost;       /* calls beyond FUN_DEPTH */
    uint32_t nest;       /* as the other tool nests */
    uint32_t listed;     /* function + 1 of the last group that is none of a system call */
    uint32_t given;      /* arguments of the call listed last */
    bool noret;          /* the group before was of a function that never returns */
    bool open;           /* its last line is not ended */
    bool paren;          /* nor are its arguments */
    bool until;          /* a frame waits for an address */
    bool known, arguments;
};

/* One call, for the list. */
struct fun_one {
    uint64_t tid, returns, arg[FUN_ARGS], result;
    uint32_t function, nest;
    uint8_t n_args;
    bool returned;
};

struct fun_block {
    uint64_t at, size, born; /* address; bytes; instructions so far */
    uint64_t caller;         /* where it was asked for: the return address */
    uint32_t function;
    uint32_t next; /* in the line of freed blocks */
    struct treap_link link;
    bool freed;
};

struct fun_access {
    uint64_t pc, n, block;
    uint32_t function; /* that gave the block */
};

struct fun_interval {
    uint64_t number, instructions, blocks, bytes, allocations, frees;
};

struct fun_heap {
    struct fun_block *block; /* block[0] is none */
    size_t n, cap;
    uint32_t root, unused;
    uint32_t first_freed, last_freed;
    size_t n_live, n_freed, most_live;
    uint64_t bytes, most_bytes, most_at;
    uint64_t allocations, frees, resized, failed, given;
    uint64_t unknown_frees, double_frees, own_frees, replaced;
    uint64_t after_free, inside; /* accesses to freed blocks */
    uint64_t sizes[FUN_SIZES], lives[FUN_SIZES];
    uint32_t *page; /* by hash: pages of freed blocks */
    uint64_t wide;  /* freed blocks that are not counted there */
    struct fun_access *access;
    size_t n_accesses, cap_accesses;
    uint64_t other_accesses; /* of places that are not kept */
};

/* Addresses [from, to). */
struct fun_range {
    uint64_t from, to;
};

struct fun_ranges {
    struct fun_range *at;
    size_t n, cap;
};

struct fun_state {
    const struct fun_options *opt;
    const struct trod_meta *meta;
    struct trod_diag *diag;
    struct fun_function *function;
    size_t n_functions, cap_functions;
    bool listed; /* the functions of the list beside the trace are there */
    bool marked;
    uint64_t strays;           /* returns from nowhere */
    struct fun_thread *thread; /* by stream */
    size_t n_threads;
    uint64_t instructions, most_nest, unreturned;
    struct fun_heap heap, maps;
    struct fun_ranges allocators; /* code of allocators: between the functions of each */
    struct fun_ranges libraries;  /* where shared libraries that have an allocator's free lie */
    struct fun_one *one;
    size_t n_ones, cap_ones;
    struct trod_buf lines; /* --like */
    struct fun_interval *interval;
    size_t n_intervals, cap_intervals;
};

/* --- blocks.c: blocks by address, that do not overlap; freed ones as long as there is room --- */
/* The block that holds ADDR, live or freed; 0: none. */
uint32_t fun_find(const struct fun_heap *h, uint64_t addr);
/* A block of SIZE bytes at AT, in the place of all that overlap it. NULL: no memory. */
struct fun_block *fun_insert(struct fun_heap *h, uint64_t at, uint64_t size);
/* Block I is freed; it stays known for a while. */
void fun_set_freed(struct fun_heap *h, uint32_t i);
void fun_remove(struct fun_heap *h, uint32_t i);
/* May ADDR lie in a freed block? */
static inline bool fun_maybe(const struct fun_heap *h, uint64_t addr)
{
    return h->n_freed && (h->wide || h->page[(addr >> 12) & (FUN_PAGES - 1)]);
}

/* --- allocators.c: code of allocators, known by the addresses of their functions --- */
/* The functions of S are listed, M names the modules: where allocators lie. 0, TROD_ERR_NOMEM. */
int fun_allocators_init(struct fun_state *s, const struct trod_meta *m);
void fun_allocators_fini(struct fun_state *s);
/* Does PC lie in the code of an allocator? */
bool fun_allocates(const struct fun_state *s, uint64_t pc);
/* Is a call of free that returns to PC one of the allocator, or of the library it is part of? */
bool fun_calls_own(const struct fun_state *s, uint64_t pc);

/* --- heap.c --- */
/* Thread T calls F; returns from it with RESULT. 0 or TROD_ERR_NOMEM. */
int fun_heap_call(struct fun_state *s, struct fun_thread *t, const struct fun_frame *f);
int fun_heap_return(struct fun_state *s, struct fun_thread *t, const struct fun_frame *f,
                    uint64_t result);
/* An access of SIZE bytes at ADDR, by PC. */
int fun_heap_access(struct fun_state *s, const struct fun_thread *t, uint64_t addr, uint32_t size,
                    uint64_t pc);
/* Does a call of F with RESULT mean a failure? */
bool fun_fails(const struct fun_function *f, const struct fun_frame *frame, uint64_t result);

/* --- listing.c --- */
void fun_list_group(const struct fun_state *s, struct fun_thread *t);
int fun_list_call(struct fun_state *s, struct fun_thread *t, uint64_t returns);
int fun_list_arg(struct fun_state *s, struct fun_thread *t, uint64_t value);
int fun_list_return(struct fun_state *s, struct fun_thread *t, uint64_t value);
int fun_list_exit(struct fun_state *s, struct fun_thread *t);
int fun_layout(const void *st, struct trod_buf *out);

int fun_result(const void *st, struct trod_result *r);

#endif
