/*
 * pages.h - virtual to physical addresses, as DynamoRIO's simulators translate them.
 *
 * Follows drcachesim's option -use_physical: the physical markers of a trace, or the file
 * v2p.textproto beside it.
 */
#ifndef TROD_SIM_DR_PAGES_H
#define TROD_SIM_DR_PAGES_H

#include "sim/lineset.h"
#include "trod/diag.h"

struct trod_dr_pages {
    struct trod_lines page; /* number of the virtual page to physical address */
    unsigned bits;          /* of the page size */
    bool fixed;             /* from a file: markers change nothing */
    uint64_t missing;       /* translations of pages that were not known */
    bool failed;
};

void trod_dr_pages_init(struct trod_dr_pages *p, uint64_t page_size);
void trod_dr_pages_fini(struct trod_dr_pages *p);

/* The page size of the trace. */
void trod_dr_pages_size(struct trod_dr_pages *p, uint64_t page_size);
/* The page of ADDR is at PHYSICAL (TROD_NOWHERE: not known). */
void trod_dr_pages_map(struct trod_dr_pages *p, uint64_t addr, uint64_t physical);
uint64_t trod_dr_pages_translate(struct trod_dr_pages *p, uint64_t addr);

/* Read a v2p file of N bytes TEXT. 0, TROD_ERR_USAGE (reported with line) or TROD_ERR_NOMEM. */
int trod_dr_pages_read(struct trod_dr_pages *p, const char *text, size_t n, const char *path,
                       struct trod_diag *diag);

#endif
