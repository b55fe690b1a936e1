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
 *
 * and calls lib.sqlite3_step(...) behind trod_lazy_load. The names of files come from the build
 * (trod_config.h).
 */
#ifndef TROD_CORE_LAZY_H
#define TROD_CORE_LAZY_H

#include <stdbool.h>
#include <stddef.h>

#define TROD_LAZY_MEMBER(function) __typeof__(function) *function;
#define TROD_LAZY_NAME(function)   #function,

/*
 * Load the library FILE, which stays loaded, and put the addresses of its N functions NAMES at LIB,
 * a struct of as many pointers to functions in the same order. False: it cannot be loaded, or has
 * not all of them. Not for two threads at the same time with one LIB (pthread_once).
 */
bool trod_lazy_load(const char *file, const char *const *names, size_t n, void *lib);

#endif
