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
 * ADDRESS being where its first loadable segment lies in the trace; or those of the files in the
 * list of modules PATH (trod_symbols_modules; a warning where none is there). Returns 0,
 * TROD_ERR_IO, TROD_ERR_CORRUPT (no ELF file, or damaged), TROD_ERR_USAGE (address),
 * TROD_ERR_UNSUPPORTED (built without libelf) or TROD_ERR_NOMEM. All reported; a file without
 * symbols is a warning.
 */
int trod_symbols_add(struct trod_symbols *s, const char *spec, struct trod_diag *diag);

/*
 * Add the symbols of the files that the list of modules PATH names (DynamoRIO's modules.log,
 * versions 2 to 5), each at the address where the list says it was loaded. Files that do not exist,
 * or whose size in memory is not that in the list, and so are no longer what was executed, are left
 * out without a message. *ADDED: number of files added. Returns 0, TROD_ERR_IO, TROD_ERR_CORRUPT
 * (no such list), TROD_ERR_UNSUPPORTED (built without libelf) or TROD_ERR_NOMEM, all reported.
 */
int trod_symbols_modules(struct trod_symbols *s, const char *path, size_t *added,
                         struct trod_diag *diag);

/* Number of symbols. */
size_t trod_symbols_count(const struct trod_symbols *s);

/*
 * The symbol that ADDRESS lies in: its name (valid as long as S is unchanged) and how far in.
 * False if there is none. A symbol without a size reaches to the next one or its section's end.
 */
bool trod_symbols_find(struct trod_symbols *s, uint64_t address, const char **name,
                       uint64_t *offset);

/* A function symbol: addresses [begin, end), and its name, valid as long as the table. */
struct trod_symbol_range {
    uint64_t begin, end;
    const char *name;
};

/*
 * The function symbol (STT_FUNC, STT_GNU_IFUNC) that ADDRESS lies in; of several that begin at one
 * address, the one that trod_symbols_find shows. False if there is none. Unlike trod_symbols_find
 * it changes nothing: threads may ask at the same time once all files are added.
 */
bool trod_symbols_function(const struct trod_symbols *s, uint64_t address,
                           struct trod_symbol_range *out);
/*
 * The first function symbol that begins after ADDRESS, into *OUT. False if there is none. It
 * changes nothing, as trod_symbols_function.
 */
bool trod_symbols_function_after(const struct trod_symbols *s, uint64_t address,
                                 struct trod_symbol_range *out);

/* A symbol as its file has it, moved to where the file lies in the trace. */
struct trod_symbol_raw {
    uint64_t address, size;
    const char *name;
};

/*
 * Symbol I of all files, in the order of their tables, with those that the functions above leave
 * out or join, but without mapping symbols. False past the last. Changes nothing.
 */
bool trod_symbols_raw(const struct trod_symbols *s, size_t i, struct trod_symbol_raw *out);

/*
 * The file whose loaded segments ADDRESS lies in, as SPEC named it; valid as long as S. False if
 * there is none.
 */
bool trod_symbols_file(const struct trod_symbols *s, uint64_t address, const char **path);

/*
 * The file and line of source that ADDRESS belongs to, from the debugging information in its file
 * (DWARF, "Line Number Information"; separate debug files are not looked for). The name is valid as
 * long as S. False where there is none, or trod was built without libdw.
 */
bool trod_symbols_line(struct trod_symbols *s, uint64_t address, const char **file, uint32_t *line);

/* Address and size (bytes; 0: not known) of the symbol called NAME. False if there is none. */
bool trod_symbols_address(struct trod_symbols *s, const char *name, uint64_t *address,
                          uint64_t *size);

/*
 * The addresses of all symbols called NAME, each once, at most MAX of them, to ADDRESSES; a name
 * can stand for several (versions of a library's function). Returns how many were put there. Call
 * it before functions that take a struct trod_symbols that is not const: the first of those drops
 * all but one of the names at an address.
 */
size_t trod_symbols_named(const struct trod_symbols *s, const char *name, uint64_t *addresses,
                          size_t max);

/*
 * Symbol I (from 0) in the order of addresses: its name, address and size. False past the last one.
 * Functions, objects and labels outside of functions; of several at one address the best.
 */
bool trod_symbols_at(struct trod_symbols *s, size_t i, const char **name, uint64_t *address,
                     uint64_t *size);

/*
 * File I (from 0) of those added: its path and the addresses [FROM, TO) of its loaded segments.
 * False past the last one.
 */
bool trod_symbols_module(const struct trod_symbols *s, size_t i, const char **path, uint64_t *from,
                         uint64_t *to);

/*
 * Is file I (from 0) position-independent (System V ABI, "ELF Header": ET_DYN), and was it added
 * without an address? Its symbols then lie where the file itself says, mostly from 0 on, and not
 * where it was loaded. False past the last one.
 */
bool trod_symbols_unplaced(const struct trod_symbols *s, size_t i);

/* Is trod_symbols_unplaced false for all files of S? True where S is NULL. */
bool trod_symbols_placed(const struct trod_symbols *s);

/*
 * Call EACH for every line of source that the files have code for, once for each address at which
 * a statement begins; what it returns but 0 ends it and is returned. FILE is valid as long as S.
 * Nothing is called where there is no debugging information (DWARF, as for trod_symbols_line).
 */
int trod_symbols_lines(struct trod_symbols *s,
                       int (*each)(void *user, uint64_t address, const char *file, uint32_t line),
                       void *user);

#ifdef __cplusplus
}
#endif

#endif
