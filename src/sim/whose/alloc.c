/*
 * alloc.c - functions that give and take memory.
 *
 * Implements alloc.h.
 */
#include "sim/whose/alloc.h"

#include <string.h>

enum { ERRNO_MOST = 4095 };

enum trod_alloc trod_alloc_of(const char *name)
{
    static const struct {
        const char *name;
        uint8_t kind;
    } known[] = {
        {"malloc", TROD_ALLOC_PLAIN},
        {"valloc", TROD_ALLOC_PLAIN},
        {"pvalloc", TROD_ALLOC_PLAIN},
        {"__libc_malloc", TROD_ALLOC_PLAIN},
        {"calloc", TROD_ALLOC_CALLOC},
        {"__libc_calloc", TROD_ALLOC_CALLOC},
        {"realloc", TROD_ALLOC_REALLOC},
        {"__libc_realloc", TROD_ALLOC_REALLOC},
        {"reallocarray", TROD_ALLOC_REALLOC},
        {"aligned_alloc", TROD_ALLOC_ALIGNED},
        {"memalign", TROD_ALLOC_ALIGNED},
        {"__libc_memalign", TROD_ALLOC_ALIGNED},
        {"posix_memalign", TROD_ALLOC_OUT},
        {"free", TROD_ALLOC_FREE},
        {"cfree", TROD_ALLOC_FREE},
        {"__libc_free", TROD_ALLOC_FREE},
        {"mmap", TROD_ALLOC_MMAP},
        {"mmap64", TROD_ALLOC_MMAP},
        {"munmap", TROD_ALLOC_MUNMAP},
    };
    const char *plain = strrchr(name, '!');

    plain = plain ? plain + 1 : name;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, plain) == 0)
            return (enum trod_alloc)known[i].kind;
    if (strncmp(plain, "_Znw", 4) == 0 || strncmp(plain, "_Zna", 4) == 0 ||
        strncmp(plain, "operator new", 12) == 0)
        return TROD_ALLOC_PLAIN;
    if (strncmp(plain, "_Zdl", 4) == 0 || strncmp(plain, "_Zda", 4) == 0 ||
        strncmp(plain, "operator delete", 15) == 0)
        return TROD_ALLOC_FREE;
    return TROD_ALLOC_OTHER;
}

static uint64_t product(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint64_t trod_alloc_size(enum trod_alloc kind, const uint64_t *arg, size_t n)
{
    switch (kind) {
    case TROD_ALLOC_PLAIN:
        return arg[0];
    case TROD_ALLOC_CALLOC:
        return product(arg[0], arg[1]);
    case TROD_ALLOC_REALLOC:
        return n > 2 ? product(arg[1], arg[2]) : arg[1];
    case TROD_ALLOC_OUT:
        return arg[2];
    default:
        return arg[1];
    }
}

bool trod_alloc_fails(enum trod_alloc kind, const uint64_t *arg, size_t n, uint64_t result)
{
    switch (kind) {
    case TROD_ALLOC_PLAIN:
    case TROD_ALLOC_CALLOC:
    case TROD_ALLOC_ALIGNED:
        return result == 0;
    case TROD_ALLOC_REALLOC:
        return result == 0 && trod_alloc_size(kind, arg, n) != 0; /* of 0 bytes it frees */
    case TROD_ALLOC_OUT:
    case TROD_ALLOC_MUNMAP:
        return result != 0;
    case TROD_ALLOC_MMAP:
        return result >= (uint64_t)-ERRNO_MOST;
    default:
        return false;
    }
}
