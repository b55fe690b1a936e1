/*
 * tlb.c - references to TLBs.
 *
 * Implements own/tlb.h. Pages of all sizes are in one store, told apart by their size; the set is
 * that of the page number in pages of its own size.
 */
#include "sim/own/tlb.h"

#include <string.h>

enum { BITS_AT = 58 }; /* page numbers are shorter: pages have 4 KiB at least */

int trod_own_tlb_init(struct trod_own_tlb *t, const struct trod_own_tlb_spec *spec)
{
    memset(t, 0, sizeof *t);
    t->spec = spec;
    t->last = TROD_NO_LINE;
    t->repeats = spec->policy.kind <= TROD_REPL_NRU && spec->policy.kind != TROD_REPL_LFU;
    return trod_store_init(&t->store, &spec->policy, spec->sets, spec->ways);
}

void trod_own_tlb_fini(struct trod_own_tlb *t)
{
    trod_store_fini(&t->store);
}

bool trod_own_tlb_ref(struct trod_own_tlb *t, unsigned kind, uint64_t addr, unsigned bits)
{
    const uint64_t page = addr >> bits, key = page | (uint64_t)bits << BITS_AT;
    uint64_t set, old;
    uint32_t way;
    bool known;

    while (t && !(t->spec->pages >> bits & 1))
        t = t->next;
    if (!t)
        return false;
    t->n.refs[kind]++;
    if (key == t->last)
        return true;
    set = trod_store_set(&t->store, page);
    way = trod_store_find(&t->store, set, key);
    known = way != TROD_NO_WAY;
    if (known) {
        trod_repl_hit(&t->store.repl, set, way);
    } else {
        t->n.misses[kind]++;
        known = trod_own_tlb_ref(t->next, kind, addr, bits);
        way = trod_store_choose(&t->store, set);
        if (trod_store_put(&t->store, set, way, key, &old) < 0)
            t->failed = true;
        trod_repl_fill(&t->store.repl, set, way);
        t->n.evictions += old != TROD_NO_LINE;
    }
    if (t->repeats)
        t->last = key;
    return known;
}

void trod_own_tlb_flush(struct trod_own_tlb *t)
{
    for (uint64_t set = 0; set < t->store.sets; set++)
        for (uint32_t w = 0; t->store.used[set] && w < t->store.ways; w++) {
            if (t->store.line[set * t->store.ways + w] == TROD_NO_LINE)
                continue;
            trod_store_drop(&t->store, set, w);
            trod_repl_invalidate(&t->store.repl, set, w);
            t->n.flushed++;
        }
    t->last = TROD_NO_LINE;
}
