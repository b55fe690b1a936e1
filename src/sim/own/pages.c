/*
 * pages.c - sizes and places of pages, and radix page tables.
 *
 * Implements own/pages.h. The tables are those of x86-64 and of Arm with 4 KiB granules: 512
 * entries of 8 bytes a table, the last level maps 4 KiB, the one above 2 MiB, then 1 GiB. Traces do
 * not say where tables lie: each level is an array over the whole address space at a place of its
 * own, so that entries side by side are in one line as in real tables.
 */
#include "sim/own/pages.h"

#include "trod/meta.h"

#include <string.h>

enum { PAGE_LEAST = 12, PAGE_MOST = 47, INDEX_BITS = 9, ENTRY_BITS = 3, LEVEL_AT = 52 };

static const uint64_t tables = UINT64_C(0xff) << 56;

void trod_own_pages_init(struct trod_own_pages *p, const struct trod_own_config *config)
{
    memset(p, 0, sizeof *p);
    p->config = config;
    p->bits = config->page_bits ? config->page_bits : PAGE_LEAST;
    p->map_bits = PAGE_LEAST;
    p->frame.map = true;
    p->last = TROD_NOWHERE;
}

void trod_own_pages_fini(struct trod_own_pages *p)
{
    trod_lines_fini(&p->frame);
}

void trod_own_pages_size(struct trod_own_pages *p, uint64_t size)
{
    for (unsigned bits = PAGE_LEAST; bits <= PAGE_MOST; bits++) {
        if (size != UINT64_C(1) << bits)
            continue;
        if (!p->config->page_bits)
            p->bits = (uint8_t)bits;
        if (p->frame.n == 0)
            p->map_bits = (uint8_t)bits;
    }
}

unsigned trod_own_pages_bits(const struct trod_own_pages *p, uint64_t addr)
{
    for (unsigned i = 0; i < p->config->n_ranges; i++)
        if (addr >= p->config->range[i].first && addr <= p->config->range[i].last)
            return p->config->range[i].bits;
    return p->bits;
}

void trod_own_pages_note(struct trod_own_pages *p, uint64_t addr, uint64_t physical)
{
    const uint64_t page = addr >> p->map_bits, frame = physical >> p->map_bits;
    uint64_t *v;

    if (physical == TROD_NOWHERE) {
        trod_lines_remove(&p->frame, page);
        p->last = TROD_NOWHERE;
        return;
    }
    if (page == p->last && frame == p->last_frame)
        return;
    if (!(v = trod_lines_at(&p->frame, page))) {
        p->failed = true;
        return;
    }
    *v = frame + 1;
    p->last = page;
    p->last_frame = frame;
}

uint64_t trod_own_pages_place(struct trod_own_pages *p, uint64_t addr)
{
    const uint64_t page = addr >> p->map_bits;
    const uint64_t in_page = addr & ((UINT64_C(1) << p->map_bits) - 1);
    const uint64_t *v;

    if (page == p->last)
        return p->last_frame << p->map_bits | in_page;
    v = trod_lines_get(&p->frame, page);
    if (!v || *v == 0) {
        p->unknown++;
        return addr;
    }
    p->last = page;
    p->last_frame = *v - 1;
    return p->last_frame << p->map_bits | in_page;
}

unsigned trod_own_pages_walk(const struct trod_own_pages *p, uint64_t addr, unsigned bits,
                             uint64_t at[TROD_OWN_WALK_MOST])
{
    const unsigned levels = p->config->walk_levels, leaf = (bits - PAGE_LEAST) / INDEX_BITS;
    const uint64_t in_space = addr & ((UINT64_C(1) << (PAGE_LEAST + INDEX_BITS * levels)) - 1);
    unsigned n = 0;

    for (unsigned level = levels; level-- > leaf;)
        at[n++] = tables | (uint64_t)level << LEVEL_AT |
                  in_space >> (PAGE_LEAST + INDEX_BITS * level) << ENTRY_BITS;
    return n;
}
