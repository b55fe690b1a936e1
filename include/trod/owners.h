/*
 * owners.h - what code and data belong to: modules, functions, lines of source; numbers summed up
 * for each.
 *
 * Implements docs/design.md, "The engine": results by module, function and line. An analysis counts
 * by site (trod/site.h), and adds its numbers up for the owners of the sites when it writes its
 * result: where trod_context.by asks for that, in a table of the key "owners".
 */
#ifndef TROD_OWNERS_H
#define TROD_OWNERS_H

#include "trod/analysis.h"

#ifdef __cplusplus
extern "C" {
#endif

enum trod_owner_kind {
    TROD_OWNER_NAMED,  /* by name, and by number: address of the function, line of the source */
    TROD_OWNER_MODULE, /* no symbol is known, but the module */
    TROD_OWNER_LOST,   /* neither a symbol nor a module is known */
    TROD_OWNER_NONE,   /* what has no address */
    TROD_OWNER_NUMBER  /* a number and no name */
};

struct trod_owner {
    enum trod_owner_kind kind;
    const char *name; /* lives as long as the symbols or sites; NULL: none */
    uint64_t number;
    uint64_t *count; /* the numbers that are summed up for it */
};

struct trod_owners;

/*
 * An empty table of owners BY (MODULE, FUNCTION or LINE) with COUNTS numbers each. SYMBOLS (or
 * NULL) give functions and lines, SITES (or NULL) the modules of the trace; both outlive the table.
 * They are what trod_context has. Returns 0 or TROD_ERR_NOMEM; then *OUT is NULL. Release it with
 * trod_owners_free; NULL is allowed.
 */
int trod_owners_new(struct trod_owners **out, enum trod_by by, struct trod_symbols *symbols,
                    const struct trod_sites *sites, unsigned counts);
void trod_owners_free(struct trod_owners *o);

/* The numbers of the owner of ADDRESS, zero at first; valid until the end. NULL: no memory. */
uint64_t *trod_owners_of(struct trod_owners *o, uint64_t address);
/* The same for SITE; TROD_NO_SITE: the owner of what has no address. */
uint64_t *trod_owners_site(struct trod_owners *o, uint32_t site);
/* The same for the owner of what has no address, and for an owner that has only a NUMBER. */
uint64_t *trod_owners_none(struct trod_owners *o);
uint64_t *trod_owners_number(struct trod_owners *o, uint64_t number);

/*
 * Sort the owners in descending order of number FIRST, then of the other numbers from the last to
 * the first, then by name. Afterwards no owners may be added or changed. Returns 0 or
 * TROD_ERR_NOMEM.
 */
int trod_owners_sort(struct trod_owners *o, unsigned first);

/* The number of owners; number I of them, below that, valid as long as no other one is added. */
size_t trod_owners_n(const struct trod_owners *o);
const struct trod_owner *trod_owners_at(const struct trod_owners *o, size_t i);

/* Write the number of owners to R. Returns how many a table shows: TOP at most; 0: all. */
size_t trod_owners_count(const struct trod_owners *o, uint64_t top, struct trod_result *r);

/* The name of the key column of a table of owners; write the name of owner W as a cell of R. */
const char *trod_owners_column(const struct trod_owners *o);
void trod_owners_put(const struct trod_owners *o, const struct trod_owner *w,
                     struct trod_result *r);

#ifdef __cplusplus
}
#endif

#endif
