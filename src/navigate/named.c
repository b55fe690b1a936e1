/*
 * named.c - which calls of an index others are given: those that were followed without symbols, or
 * those that were followed with the symbols that they have. Implements trod_nav_follow of
 * trod/navigate.h. Where the functions of these symbols are is kept, so that calls are followed on
 * when the trace grows.
 *
 * Rules of calls ask symbols where functions begin and end, and nothing else
 * (trod_symbols_function): symbols of which these are the same lead to the same calls.
 */
#include "navigate/build.h"
#include "navigate/nav.h"

#include "core/pack.h"
#include "isa/functions.h"

#include <stdlib.h>

enum { FUNCTIONS = 1 << 16 }; /* that an index keeps, at most */

static bool first_function(const struct trod_symbols *s, struct trod_symbol_range *f)
{
    return (trod_symbols_function(s, 0, f) && f->begin == 0) ||
           trod_symbols_function_after(s, 0, f);
}

uint64_t nav_functions(const struct trod_symbols *symbols)
{
    struct trod_symbol_range f;
    bool more = symbols && first_function(symbols, &f);
    uint64_t hash = 0;

    for (; more; more = trod_symbols_function_after(symbols, f.begin, &f)) {
        const uint64_t range[] = {f.begin, f.end};

        hash = nav_hash(hash, range, sizeof range);
        hash += hash == 0;
    }
    return hash;
}

int nav_functions_put(struct nav_builder *b)
{
    struct trod_buf raw = {0};
    struct trod_symbol_range f;
    uint64_t end = 0;
    size_t n = 0;
    int rc = TROD_OK;

    for (bool more = b->named && first_function(b->opt->symbols, &f); rc == TROD_OK && more; n++) {
        rc = trod_pack(&raw, trod_zigzag(f.begin, end));
        if (rc == TROD_OK)
            rc = trod_pack(&raw, f.end - f.begin);
        end = f.end;
        more = trod_symbols_function_after(b->opt->symbols, f.begin, &f);
    }
    if (rc == TROD_OK && n && n <= FUNCTIONS)
        rc = nav_put_squeezed(b, NAV_S_FUNCTIONS, &raw);
    trod_buf_fini(&raw);
    return rc;
}

/* Those of IN, in their order. NULL: it is damaged, or no memory. */
static struct trod_symbols *functions_of(struct trod_span in)
{
    struct trod_symbol_range *at = calloc(in.n / 2 + 1, sizeof *at);
    struct trod_symbols *symbols = NULL;
    uint64_t begin, size, end = 0;
    size_t n = 0;

    for (; at && in.n; n++) {
        if (trod_unpack(&in, &begin) < 0 || trod_unpack(&in, &size) < 0)
            break;
        at[n].begin = trod_unzigzag(begin, end);
        at[n].end = end = at[n].begin + size;
    }
    if (at && !in.n && trod_symbols_of_functions(&symbols, at, n) < 0) {
        trod_symbols_free(symbols);
        symbols = NULL;
    }
    free(at);
    return symbols;
}

struct trod_symbols *nav_functions_of(const struct nav_index *x)
{
    const struct nav_section *s = NULL;
    struct trod_symbols *symbols = NULL;
    struct trod_buf raw = {0};

    for (uint32_t i = 0; i < x->n_sections; i++)
        s = x->section[i].id == NAV_S_FUNCTIONS ? &x->section[i] : s;
    if (s && nav_index_check(x, s) == TROD_OK &&
        nav_unsqueeze(x, x->file + s->offset, s->length, s->raw, &raw) == TROD_OK)
        symbols = functions_of((struct trod_span){.p = raw.p, .n = raw.n});
    trod_buf_fini(&raw);
    if (symbols && nav_functions(symbols) == x->functions)
        return symbols;
    trod_symbols_free(symbols);
    return NULL;
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
        if (x->section[i].id == NAV_S_NAMED || x->section[i].id == NAV_S_NAMED_TREE)
            *bytes += x->section[i].length;
    for (unsigned k = 0; x && k < TROD_FRAME_KINDS; k++)
        n += x->named.entered[k];
    return n;
}
