/*
 * refs.h - converting rows of a trace to references.
 */
#ifndef TROD_SIM_REFS_H
#define TROD_SIM_REFS_H

#include "sim/ref.h"
#include "sim/whose/whose.h"
#include "trod/batch.h"

enum trod_refs_flags {
    TROD_REFS_CANONICAL = 1, /* addresses sign-extended from bit 47, as DynamoRIO does on x86-64 */
    TROD_REFS_PHYSICAL = 2,  /* value: the physical address, TROD_NOWHERE where there is none */
    TROD_REFS_LABELS = 4     /* all labels of Dinero's traces, which other models do not know */
};

/* State kept between batches; all zero at first. */
struct trod_refs {
    unsigned flags;
    uint64_t pc;              /* of the last instruction; accesses without a pc belong to it */
    uint32_t stream;          /* 1 + that of the last instruction; 0: none has come */
    uint32_t named;           /* 1 + the stream that tid and pid are of */
    uint64_t tid, pid;        /* thread and process */
    struct trod_whose *whose; /* finds the owners of data; NULL: not wanted */
    uint64_t physical; /* value of a PHYSICAL_ADDRESS marker whose virtual page has not come yet */
};

enum {
    TROD_REFS_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM |
                        TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC | TROD_COL_VALUE | TROD_COL_SUB
};

/* Are the files of B's trace cores, of which no order of the trace says anything else? */
bool trod_refs_sharded(const struct trod_batch *b);

/*
 * Convert rows [FROM, TO) of B to references in OUT, which has room for two a row (an atomic access
 * reads and writes). Returns the number of references.
 */
size_t trod_refs_get(struct trod_refs *s, const struct trod_batch *b, uint32_t from, uint32_t to,
                     struct trod_sim_ref *out);

#endif
