/*
 * symbols.h - addresses to names, from the symbol tables of ELF files.
 */
#ifndef TROD_SYMBOLS_H
#define TROD_SYMBOLS_H

#include "trod/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_symbols;

/* An empty table. Returns 0 or TROD_ERR_NOMEM. Release it with trod_symbols_free; NULL allowed. */
int trod_symbols_new(struct trod_symbols **out);
void trod_symbols_free(struct trod_symbols *s);

/*
 * Add the functions, objects and labels of the ELF file that SPEC names: "PATH" or "PATH@ADDRESS",
 * ADDRESS being where its first loadable segment lies in the trace. Returns 0, TROD_ERR_IO,
 * TROD_ERR_CORRUPT (no ELF file, or damaged), TROD_ERR_USAGE (address), TROD_ERR_UNSUPPORTED (built
 * without libelf) or TROD_ERR_NOMEM. All reported; a file without symbols is a warning.
 */
int trod_symbols_add(struct trod_symbols *s, const char *spec, struct trod_diag *diag);

/* Number of symbols. */
size_t trod_symbols_count(const struct trod_symbols *s);

/*
 * The symbol that ADDRESS lies in: its name (valid as long as S is unchanged) and how far in.
 * False if there is none. A symbol without a size reaches to the next one or its section's end.
 */
bool trod_symbols_find(struct trod_symbols *s, uint64_t address, const char **name,
                       uint64_t *offset);

/* The address of the symbol called NAME, or false. */
bool trod_symbols_address(struct trod_symbols *s, const char *name, uint64_t *address,
                          uint64_t *size);

/*
 * The addresses of all symbols called NAME, each once, at most MAX of them; a name can stand for
 * several (versions of a library's function). Returns how many there are. Of several names at one
 * address trod_symbols_find and trod_symbols_address keep one: ask before.
 */
size_t trod_symbols_named(const struct trod_symbols *s, const char *name, uint64_t *addresses,
                          size_t max);

#ifdef __cplusplus
}
#endif

#endif
