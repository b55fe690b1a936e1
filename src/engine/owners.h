/*
 * owners.h - what code and data belong to: modules, functions, lines of source; numbers summed up
 * for each.
 *
 * Implements docs/design.md, "The engine": results by module, function and line. Addresses are
 * turned into owners one by one, at the end of a run: once for each static instruction, never for a
 * row.
 */
#ifndef TROD_ENGINE_OWNERS_H
#define TROD_ENGINE_OWNERS_H

#include "core/map.h"
#include "trod/analysis.h"

enum engine_owner_kind {
    ENGINE_OWNER_NAMED,  /* by name, and by number: address of the function, line of the source */
    ENGINE_OWNER_MODULE, /* no symbol is known, but the module */
    ENGINE_OWNER_LOST,   /* neither a symbol nor a module is known */
    ENGINE_OWNER_NONE,   /* what has no address */
    ENGINE_OWNER_NUMBER  /* a number and no name */
};

struct engine_owned {
    enum engine_owner_kind kind;
    const char *name; /* lives as long as the symbols or sites; NULL: none */
    uint64_t number;
    uint64_t *count; /* those of the table's `counts` */
};

struct engine_owners {
    enum trod_by by; /* MODULE, FUNCTION or LINE */
    struct trod_symbols *symbols;
    const struct trod_sites *sites;
    unsigned counts;
    struct engine_owned *at;
    size_t n, cap, last; /* last: the one found last, if there are any */
    struct trod_map map; /* numbers of the entries, by kind, name and number */
};

/*
 * Begin a table of owners BY with COUNTS numbers each. SYMBOLS (or NULL) give functions and lines,
 * SITES (or NULL) the modules of the trace. Both outlive it. Release it with engine_owners_end.
 */
void engine_owners_begin(struct engine_owners *o, enum trod_by by, struct trod_symbols *symbols,
                         const struct trod_sites *sites, unsigned counts);
void engine_owners_end(struct engine_owners *o);

/* The numbers of the owner of ADDRESS, zero at first; valid until the end. NULL: no memory. */
uint64_t *engine_owners_of(struct engine_owners *o, uint64_t address);
/* The same for SITE; TROD_NO_SITE: the owner of what has no address. */
uint64_t *engine_owners_site(struct engine_owners *o, uint32_t site);
/* The same for the owner of what has no address, and for an owner that has only a NUMBER. */
uint64_t *engine_owners_none(struct engine_owners *o);
uint64_t *engine_owners_number(struct engine_owners *o, uint64_t number);

/*
 * Sort the owners in descending order of number FIRST, then of the other numbers from the last to
 * the first, then by name. Afterwards no owners may be added or changed. 0 or TROD_ERR_NOMEM.
 */
int engine_owners_sort(struct engine_owners *o, unsigned first);

/* Write the number of owners to R. Returns how many a table shows: TOP at most; 0: all. */
size_t engine_owners_count(const struct engine_owners *o, uint64_t top, struct trod_result *r);

/* The name of the key column of a table of owners; write the name of owner W as a cell of R. */
const char *engine_owners_column(const struct engine_owners *o);
void engine_owners_put(const struct engine_owners *o, const struct engine_owned *w,
                       struct trod_result *r);

#endif
