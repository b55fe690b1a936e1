/*
 * alloc.h - functions that give and take memory, known by their names, and what a call of one says.
 *
 * Arguments are those of C, C++ and POSIX, in their order.
 */
#ifndef TROD_SIM_WHOSE_ALLOC_H
#define TROD_SIM_WHOSE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a function does to memory. */
enum trod_alloc {
    TROD_ALLOC_OTHER,
    TROD_ALLOC_PLAIN,   /* size: argument 0 */
    TROD_ALLOC_CALLOC,  /* argument 0 times argument 1 */
    TROD_ALLOC_REALLOC, /* argument 0 to argument 1 bytes; reallocarray: to 1 times 2 */
    TROD_ALLOC_ALIGNED, /* argument 1 */
    TROD_ALLOC_OUT,     /* posix_memalign: the address is not in the result */
    TROD_ALLOC_FREE,    /* argument 0 */
    TROD_ALLOC_MMAP,    /* argument 1 bytes; fails with -1 to -4095 */
    TROD_ALLOC_MUNMAP   /* argument 0, argument 1 bytes */
};

/* What the function NAME ("library!name" or "name") does: C, C++ (mangled or not), mmap, munmap. */
enum trod_alloc trod_alloc_of(const char *name);

/* The bytes that a call with the N arguments ARG (at least three places) asks for. */
uint64_t trod_alloc_size(enum trod_alloc kind, const uint64_t *arg, size_t n);

/* Does RESULT of such a call mean that it has failed? */
bool trod_alloc_fails(enum trod_alloc kind, const uint64_t *arg, size_t n, uint64_t result);

#endif
