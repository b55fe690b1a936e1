/*
 * named.c - which calls of an index others are given: those that were followed without symbols, or
 * those that were followed with the symbols that they have. Implements trod_nav_follow of
 * trod/navigate.h.
 *
 * Rules of calls ask symbols where functions begin and end, and nothing else
 * (trod_symbols_function): symbols of which these are the same lead to the same calls.
 */
#include "navigate/index.h"
#include "navigate/nav.h"

uint64_t nav_functions(const struct trod_symbols *symbols)
{
    struct trod_symbol_range f;
    bool more = symbols && ((trod_symbols_function(symbols, 0, &f) && f.begin == 0) ||
                            trod_symbols_function_after(symbols, 0, &f));
    uint64_t hash = 0;

    for (; more; more = trod_symbols_function_after(symbols, f.begin, &f)) {
        const uint64_t range[] = {f.begin, f.end};

        hash = nav_hash(hash, range, sizeof range);
        hash += hash == 0;
    }
    return hash;
}

void trod_nav_follow(struct trod_nav *nav, const struct trod_symbols *symbols)
{
    nav->follow = symbols;
    nav->functions = nav_functions(symbols);
}

const struct nav_section *nav_followed(const struct trod_nav *nav, uint32_t i)
{
    const struct nav_segment *s = &nav->index->segment[i];

    return nav->functions ? s->named : s->calls;
}

const struct trod_callstack_counts *nav_followed_counts(const struct trod_nav *nav)
{
    const struct nav_index *x = nav->index;

    if (!x || (nav->functions && nav->functions != x->functions))
        return NULL;
    return nav->functions ? &x->named : &x->calls;
}

uint64_t trod_index_named(const struct trod_nav *nav, uint64_t *bytes)
{
    const struct nav_index *x = nav->index;
    uint64_t n = 0;

    *bytes = 0;
    for (uint32_t i = 0; x && i < x->n_sections; i++)
        *bytes += x->section[i].id == NAV_S_NAMED ? x->section[i].length : 0;
    for (unsigned k = 0; x && k < TROD_FRAME_KINDS; k++)
        n += x->named.entered[k];
    return n;
}
