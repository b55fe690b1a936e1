/*
 * attach.h - the index of a trace that is opened: where it is, and whether it fits.
 */
#ifndef NAVIGATE_ATTACH_H
#define NAVIGATE_ATTACH_H

#include "navigate/build.h"

/* Find the index of NAV's trace, in the folder DIR (NULL: beside it, or in the cache). */
int nav_attach(struct trod_nav *nav, const char *dir);
/*
 * Path of the index of trace T, opened as the N PATHS, in DIR to OUT; CACHE: in the user's cache.
 * False: there is no place.
 */
bool nav_index_path(const struct trod_trace *t, const char *const *paths, size_t n, const char *dir,
                    bool cache, char *out, size_t size);
/* Does X fit T read with OPT? *WHY says why not. 1, 0, or an error. */
int nav_index_fits(const struct nav_index *x, const struct trod_trace *t, const char *options,
                   const char *format, const char **why);

#endif
