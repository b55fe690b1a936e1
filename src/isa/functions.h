/*
 * functions.h - symbols that are nothing but where functions begin and end, such as those that an
 * index was made with (docs/index-file.md, "The file", section 22).
 */
#ifndef ISA_FUNCTIONS_H
#define ISA_FUNCTIONS_H

#include "trod/symbols.h"

/*
 * A table of the N functions AT, in the order of their addresses, without names. Returns 0 or
 * TROD_ERR_NOMEM.
 */
int trod_symbols_of_functions(struct trod_symbols **out, const struct trod_symbol_range *at,
                              size_t n);

#endif
