/*
 * refs.h - rows of a trace to references.
 */
#ifndef TROD_SIM_REFS_H
#define TROD_SIM_REFS_H

#include "sim/ref.h"
#include "sim/whose/whose.h"
#include "trod/batch.h"

enum trod_refs_flags {
    TROD_REFS_CANONICAL = 1, /* addresses sign-extended from bit 47, as DynamoRIO does on x86-64 */
    TROD_REFS_PHYSICAL = 2,  /* value: the physical address, TROD_NOWHERE where there is none */
    TROD_REFS_LABELS = 4     /* all labels of Dinero's traces, which other models know not */
};

/* What the reader of a stream of rows remembers between batches; zero bytes at first. */
struct trod_refs {
    unsigned flags;
    uint64_t pc;     /* of the last instruction, which accesses without a pc belong to */
    uint32_t stream; /* that it ran on */
    uint32_t named;  /* stream whose thread and process follow, plus 1 */
    uint64_t tid, pid;
    struct trod_whose *whose; /* says whose data is referenced; NULL: nobody asks */
    uint64_t physical;        /* of the PHYSICAL_ADDRESS marker whose page is still to come */
};

enum {
    TROD_REFS_COLUMNS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM |
                        TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC | TROD_COL_VALUE | TROD_COL_SUB
};

/*
 * Rows [FROM, TO) of B as references to OUT, which has room for two a row (an atomic access reads
 * and writes). Returns how many.
 */
size_t trod_refs_get(struct trod_refs *s, const struct trod_batch *b, uint32_t from, uint32_t to,
                     struct trod_sim_ref *out);

#endif
