/*
 * banks.h - names of registers with the bank that they end with.
 */
#ifndef TRACE_BANKS_H
#define TRACE_BANKS_H

#include <stddef.h>

/*
 * The length of NAME (LEN characters, as trod_register_canonical makes it) without the bank that it
 * ends with: "sp_el3", "r13_svc". LEN where it has none.
 */
size_t trod_name_without_bank(const char *name, size_t len);

#endif
