/*
 * tlb.c - requests to a TLB as DynamoRIO's simulator handles them.
 *
 * Implements dr/tlb.h.
 */
#include "sim/dr/tlb.h"

static void count_hit(struct trod_dr_tlb *t)
{
    t->now.hits++;
    for (struct trod_dr_tlb *up = t->parent; up; up = up->parent)
        up->now.child_hits++;
}

static void one_page(struct trod_dr_tlb *t, const struct trod_sim_ref *f, uint64_t page,
                     uint64_t process)
{
    const uint64_t key = page | process << TROD_DR_PAGE_BITS;
    const uint64_t set = trod_store_set(&t->store, page);
    uint32_t way = trod_store_find(&t->store, set, key);

    if (way != TROD_NO_WAY) {
        count_hit(t);
        trod_repl_hit(&t->store.repl, set, way);
    } else {
        uint64_t old;
        int is_new;

        way = trod_store_choose(&t->store, set);
        t->now.misses++;
        is_new = trod_lines_add(&t->seen, page);
        t->now.compulsory += is_new > 0;
        if (t->parent)
            trod_dr_tlb_request(t->parent, f, process);
        if (trod_store_put(&t->store, set, way, key, &old) < 0 || is_new < 0)
            t->failed = true;
        trod_repl_fill(&t->store.repl, set, way);
    }
    t->last = key;
    t->last_set = set;
    t->last_way = way;
}

void trod_dr_tlb_request(struct trod_dr_tlb *t, const struct trod_sim_ref *r, uint64_t process)
{
    const uint64_t mask = (UINT64_C(1) << TROD_DR_PAGE_BITS) - 1;
    const uint64_t end = r->addr + r->size - 1;
    const uint64_t first = r->addr >> t->page_bits, last = end >> t->page_bits;
    struct trod_sim_ref f = *r;

    if (r->size == 0 && r->addr == 0)
        return;
    if (first == last && ((first & mask) | process << TROD_DR_PAGE_BITS) == t->last) {
        count_hit(t);
        trod_repl_hit(&t->store.repl, t->last_set, t->last_way);
        return;
    }
    for (uint64_t page = first; page <= last; page++) {
        const uint64_t next = (page + 1) << t->page_bits;

        if (page < last)
            f.size = (uint32_t)(next - f.addr);
        one_page(t, &f, page & mask, process);
        if (page < last) {
            f.addr = next;
            f.size = (uint32_t)(end - next + 1);
        }
    }
}
