/* flow.h - control flow: for each instruction the one before it in its stream. */
#ifndef TROD_EXPORT_FLOW_H
#define TROD_EXPORT_FLOW_H

#include "trod/batch.h"
#include "trod/site.h"

/* The instruction that a stream executed last. */
struct export_last {
    uint64_t pc, next; /* its address, and behind it */
    uint32_t site;     /* TROD_NO_SITE: none was executed so far */
    uint8_t branch;    /* enum trod_branch; COND also where the row says the direction */
};

struct export_flow {
    struct trod_sites *sites;
    struct export_last *last; /* by stream */
    uint32_t n;
    uint8_t *facts; /* by site: 1 + enum trod_branch, 0: not asked for so far */
    uint8_t *sizes; /* by site: bytes of the opcode where rows do not say it */
    uint32_t n_facts;
};

/* One instruction executed. */
struct export_step {
    struct export_last before; /* in the stream; site TROD_NO_SITE: this is the first */
    uint64_t pc;
    uint32_t size, stream, site;
    uint8_t branch; /* of this one; COND also where the row says the direction */
};

/*
 * Is row I of B an instruction with an address and a site? Then *STEP says how execution came to
 * it. Returns 1, 0 or TROD_ERR_NOMEM. Needs kind, flags, size, stream, addr and site.
 */
int export_flow_row(struct export_flow *f, const struct trod_batch *b, uint32_t i,
                    struct export_step *step);
void export_flow_fini(struct export_flow *f);

#define EXPORT_FLOW_COLUMNS                                                                        \
    (TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |            \
     TROD_COL_CODE | TROD_COL_SITE)

#endif
