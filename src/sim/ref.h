/*
 * ref.h - a memory reference, the input of the models; made from rows of a trace (refs.h).
 */
#ifndef TROD_SIM_REF_H
#define TROD_SIM_REF_H

#include "trod/batch.h"
#include "trod/meta.h"

#include <stdbool.h>
#include <stdint.h>

enum trod_op {
    TROD_OP_FETCH,
    TROD_OP_READ,
    TROD_OP_WRITE,
    TROD_OP_PREFETCH,      /* by software, of data or into lower caches */
    TROD_OP_PREFETCH_CODE, /* by software, into the first instruction cache */
    TROD_OP_HW_PREFETCH,
    TROD_OP_FLUSH,
    TROD_OP_FLUSH_CODE,
    TROD_OP_NOTHING, /* counts as a reference and touches nothing (an instruction not fetched) */
    TROD_OP_EXIT,    /* the thread ends */
    TROD_OP_CPU,     /* the thread runs on cpu VALUE from here on; no reference */
    TROD_OP_MAPPING, /* page of ADDR is at physical VALUE; TROD_NOWHERE: not known; no reference */
    TROD_OP_PAGE_SIZE, /* pages have VALUE bytes; no reference */
    TROD_OP_OTHER,     /* no reference */
    /* of Dinero's traces, only with TROD_REFS_LABELS */
    TROD_OP_MISC,      /* a reference of no kind */
    TROD_OP_COPY_BACK, /* of the block, or of all blocks if the size is 0 */
    TROD_OP_INVALIDATE /* of the block, or of all blocks if the size is 0 */
};

static inline int trod_op_is_prefetch(unsigned op)
{
    return op >= TROD_OP_PREFETCH && op <= TROD_OP_HW_PREFETCH;
}

/* In place of the number of a stream: the row says none. */
enum { TROD_REF_UNSAID = TROD_STREAM_MAX };

struct trod_sim_ref {
    uint64_t addr, pc;
    uint64_t value;
    uint64_t tid;
    union {
        uint64_t pid;
        uint64_t owner; /* of the data, if trod_refs.whose is set */
    };
    uint32_t size;
    uint32_t stream; /* number in the trace, or TROD_REF_UNSAID */
    uint32_t shard;  /* number of the core, where the order of the trace gives one */
    uint8_t op;
    bool cycle;    /* a FETCH of a bus: no instruction */
    bool physical; /* ADDR is a physical address: there is no virtual one */
    bool no_pc;    /* the instruction is not known, and PC is 0 */
};

/* Rows with one of these are no references, whatever their kind: the access was not made, or not to
 * memory. */
enum { TROD_NO_REFERENCE = TROD_F_NOFETCH | TROD_F_SYNTHETIC | TROD_F_ABORTED | TROD_F_IO };

/*
 * Does a row of KIND that says columns SAID say where it is? Where there is no virtual address the
 * physical one says so, but not on a bus: with a physical address alone that is traffic behind the
 * caches.
 */
static inline bool trod_ref_is_placed(uint32_t said, unsigned kind)
{
    return said & TROD_COL_ADDR || (said & TROD_COL_PADDR && kind != TROD_BUS);
}

/* The address of row I of B, which says SAID: the virtual one if there is one, else the other. */
static inline uint64_t trod_ref_place(const struct trod_batch *b, uint32_t i, uint32_t said)
{
    return (said & (TROD_COL_ADDR | TROD_COL_PADDR)) == TROD_COL_PADDR ? b->paddr[i] : b->addr[i];
}

/*
 * The column that accesses of traces of FORMAT may be placed by where they have no virtual address;
 * 0: they all have one. (refs.c)
 */
uint32_t trod_ref_physical(const char *format);

/* Does R begin an instruction? */
static inline bool trod_ref_is_instruction(const struct trod_sim_ref *r)
{
    return (r->op == TROD_OP_FETCH && !r->cycle) || r->op == TROD_OP_NOTHING;
}

#endif
