/*
 * pages.h - how large the page of an address is, where it lies, and what a walk to it reads.
 *
 * Implements docs/caches.md, "TLBs" and "Physical addresses".
 */
#ifndef TROD_SIM_OWN_PAGES_H
#define TROD_SIM_OWN_PAGES_H

#include "sim/lineset.h"
#include "sim/own/config.h"

enum { TROD_OWN_WALK_MOST = 5 };

struct trod_own_pages {
    const struct trod_own_config *config;
    uint8_t bits;              /* of pages that no range of the configuration holds */
    uint8_t map_bits;          /* of the trace's own pages: what its mappings are about */
    struct trod_lines frame;   /* virtual to physical page + 1 */
    uint64_t last, last_frame; /* noted last */
    uint64_t unknown;          /* references to pages without a physical address */
    bool failed;
};

void trod_own_pages_init(struct trod_own_pages *p, const struct trod_own_config *config);
void trod_own_pages_fini(struct trod_own_pages *p);

/* The trace says that its pages have SIZE bytes. Other than powers of two from 4 KiB on: ignored.
 */
void trod_own_pages_size(struct trod_own_pages *p, uint64_t size);

/* log2 of the size of the page of ADDR. */
unsigned trod_own_pages_bits(const struct trod_own_pages *p, uint64_t addr);

/* ADDR lies at PHYSICAL; TROD_NOWHERE: its page is at no known place from here on. */
void trod_own_pages_note(struct trod_own_pages *p, uint64_t addr, uint64_t physical);
/* The physical address of ADDR; ADDR itself where it is not known, which is counted. */
uint64_t trod_own_pages_place(struct trod_own_pages *p, uint64_t addr);

/*
 * The addresses of the entries that a walk to the page of ADDR, of 2^BITS bytes, reads, from the
 * root on. Returns how many.
 */
unsigned trod_own_pages_walk(const struct trod_own_pages *p, uint64_t addr, unsigned bits,
                             uint64_t at[TROD_OWN_WALK_MOST]);

#endif
