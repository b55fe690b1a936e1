/*
 * names.h - the functions of a run, each with a number and a name.
 */
#ifndef TROD_EXPORT_NAMES_H
#define TROD_EXPORT_NAMES_H

#include "export/map.h"
#include "trod/symbols.h"

struct export_names {
    struct trod_symbols *symbols; /* NULL: names are addresses */
    struct export_map by_address; /* address and kind: number + 1; entry I is function I */
    char **text;                  /* by number */
    size_t cap;
};

/*
 * The number of the function at ADDRESS, from 0 in the order of first use; EXCEPTION: of the
 * handler of an exception, which has another name. UINT32_MAX: no memory.
 */
uint32_t export_function(struct export_names *n, uint64_t address, bool exception);
size_t export_functions(const struct export_names *n);
/* Its name and address. */
const char *export_function_name(const struct export_names *n, uint32_t function);
uint64_t export_function_address(const struct export_names *n, uint32_t function);
void export_names_fini(struct export_names *n);

#endif
