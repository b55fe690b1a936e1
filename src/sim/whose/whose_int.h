/*
 * whose_int.h - what the files of this folder share: owners, address spaces, threads.
 */
#ifndef TROD_SIM_WHOSE_WHOSE_INT_H
#define TROD_SIM_WHOSE_WHOSE_INT_H

#include "sim/lineset.h"
#include "sim/whose/alloc.h"
#include "sim/whose/areas.h"
#include "sim/whose/whose.h"

enum { WHOSE_DEPTH = 16, WHOSE_ARGS = 3, WHOSE_MEMO = 256, WHOSE_PAGE_BITS = 12 };

enum whose_kind {
    WHOSE_CODE,    /* all code */
    WHOSE_CODE_OF, /* code of a module */
    WHOSE_CODE_AT, /* code elsewhere, by page */
    WHOSE_OBJECT,  /* by symbol */
    WHOSE_DATA_OF, /* data of a module */
    WHOSE_HEAP,    /* all of it, or asked for at an address */
    WHOSE_BLOCK,   /* one block */
    WHOSE_MAPPING, /* memory from mmap, as the heap */
    WHOSE_MAPPED,  /* one of them */
    WHOSE_STACK,   /* of a stream */
    WHOSE_DATA_AT, /* pages without an owner */
    WHOSE_TABLES,
    WHOSE_KINDS
};

struct whose_owner {
    uint8_t kind;
    uint32_t with;    /* the owner that it is counted with */
    uint64_t at, end; /* address, page, stream; of stretches the last page */
    uint64_t size;    /* bytes of a block */
    uint64_t caller;  /* where a block was asked for */
    const char *name; /* of symbols and modules: not owned */
};

/* The address space of a process. MEMO caches answers, by line: the owner of [from, to). */
struct whose_space {
    uint64_t pid;
    struct trod_areas heap, maps, stacks;
    struct {
        uint64_t from, to, change;
        uint32_t owner;
    } memo[WHOSE_MEMO];
};

struct whose_call {
    uint64_t id, returns, arg[WHOSE_ARGS];
    uint64_t inner;       /* the block that an inner call returned; 0: none */
    uint8_t kind, n_args; /* enum trod_alloc */
};

/* A stream. */
struct whose_lane {
    bool known, grouped, arguments;
    uint8_t expect;     /* kind of the access that goes to the stack; 0: none, ANY: all */
    uint32_t space;     /* number of it */
    uint64_t id;        /* of the function that the current group of markers is about */
    uint8_t kind;       /* its enum trod_alloc */
    uint64_t low, high; /* of the stack seen last; low > high: none */
    struct whose_call call[WHOSE_DEPTH];
    uint32_t n_calls;
};

struct trod_whose {
    enum trod_whose_by by;
    struct trod_symbols *symbols; /* only for names of addresses, at the end */
    struct trod_areas objects, modules;
    bool moduled; /* the trace's own list of modules was taken */
    struct whose_owner *owner;
    size_t n_owners, cap_owners;
    struct trod_lines number[WHOSE_KINDS]; /* by kind: key to number of the owner */
    struct whose_space **space;
    size_t n_spaces, cap_spaces;
    struct whose_lane **lane; /* by stream */
    size_t n_lanes;
    uint64_t change; /* counts changes of areas: memos made before the last one are void */
    bool failed;
};

/* The owner of KIND with KEY; created if it is new. TROD_WHOSE_NOBODY: no memory. */
uint32_t whose_owner(struct trod_whose *w, enum whose_kind kind, uint64_t key);
/* The lane of STREAM; NULL: no memory. */
struct whose_lane *whose_lane(struct trod_whose *w, const struct trod_meta *m, uint32_t stream);

/* --- calls.c --- */
/* Marker ROW of B, of a trace whose markers have numbers. */
void whose_marker(struct trod_whose *w, struct whose_lane *l, const struct trod_batch *b,
                  uint32_t row);

/* --- stacks.c --- */
/* Instruction ROW of B: which of its accesses go to the stack? */
void whose_instruction(struct whose_lane *l, const struct trod_batch *b, uint32_t row);
/* The stack of STREAM is at ADDR. */
void whose_stack(struct trod_whose *w, struct whose_lane *l, uint32_t stream, uint64_t addr);
/* The owner of the stack that contains ADDR or is near it, or TROD_WHOSE_NOBODY. *FROM, *TO as
 * trod_areas_find. */
uint32_t whose_stack_of(const struct whose_space *p, uint64_t addr, uint64_t *from, uint64_t *to);

#endif
