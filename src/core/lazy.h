/*
 * lazy.h - libraries that are loaded when something first needs them.
 *
 * Loading Capstone, SQLite and Snappy takes two thirds of the time in which a short command starts
 * (their tables of addresses are relocated, Snappy brings the C++ library), and most commands call
 * none of them. Who uses such a library lists its functions once:
 *
 *     #define FUNCTIONS(F) F(sqlite3_open_v2) F(sqlite3_step)
 *     static struct {
 *         FUNCTIONS(TROD_LAZY_MEMBER)
 *     } lib;
 *     static const char *const names[] = {FUNCTIONS(TROD_LAZY_NAME)};
 *     static struct trod_lazy library = TROD_LAZY(TROD_SQLITE_SONAME, names, &lib);
 *
 * and calls lib.sqlite3_step(...) behind trod_lazy_need(&library). The names of files come from the
 * build (trod_config.h).
 */
#ifndef TROD_CORE_LAZY_H
#define TROD_CORE_LAZY_H

#include <stdbool.h>
#include <stddef.h>

#define TROD_LAZY_MEMBER(function) __typeof__(function) *function;
#define TROD_LAZY_NAME(function)   #function,

struct trod_lazy {
    const char *file;
    const char *const *names; /* of its functions, */
    size_t n;                 /* as many; */
    void *lib;                /* pointers to them go here, in the same order */
    bool tried, there;
    bool found; /* its file, not yet loaded */
};

#define TROD_LAZY(from, list, to)                                                                  \
    {                                                                                              \
        .file = (from), .names = (list), .n = sizeof(list) / sizeof *(list), .lib = (to)           \
    }

/*
 * Load L if that was not tried before; it stays loaded. False: it cannot be loaded, or has not all
 * of the functions. For any thread.
 */
bool trod_lazy_need(struct trod_lazy *l);
/*
 * Is L to be had? What was loaded knows; else its file is looked for where the dynamic linker
 * looks, which costs no more than that, and only a file that is not found so is loaded to be sure.
 * True of a damaged file as well, which trod_lazy_need then refuses. For any thread.
 */
bool trod_lazy_there(struct trod_lazy *l);

#endif
