/*
 * spare.c - implements spare.h: a short list, the block given back last first, under a lock.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#include "core/spare.h"

#include "core/mapped.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, SPARES = 64, SPARE_BYTES = 40 << 20 };

#ifdef __SANITIZE_ADDRESS__
enum { KEEPS = 0 };
#elif defined __has_feature
enum { KEEPS = !__has_feature(address_sanitizer) };
#else
enum { KEEPS = 1 };
#endif

static struct {
    pthread_mutex_t lock;
    size_t bytes;
    unsigned n;
    struct {
        void *p;
        size_t bytes;
    } block[SPARES];
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

void *trod_spare_kept(size_t bytes)
{
    void *p = NULL;

    pthread_mutex_lock(&spare.lock);
    for (unsigned i = spare.n; i-- > 0 && !p;) {
        if (spare.block[i].bytes != bytes)
            continue;
        p = spare.block[i].p;
        memmove(&spare.block[i], &spare.block[i + 1], (spare.n - i - 1) * sizeof *spare.block);
        spare.n--;
        spare.bytes -= bytes;
    }
    pthread_mutex_unlock(&spare.lock);
    return p;
}

static bool keep(void *p, size_t bytes)
{
    bool can;

    pthread_mutex_lock(&spare.lock);
    can = KEEPS && spare.n < SPARES && bytes <= SPARE_BYTES - spare.bytes;
    if (can) {
        spare.block[spare.n].p = p;
        spare.block[spare.n++].bytes = bytes;
        spare.bytes += bytes;
    }
    pthread_mutex_unlock(&spare.lock);
    return can;
}

void *trod_spare_take(size_t bytes)
{
    void *p;

    if (bytes < TROD_SPARE_LEAST)
        return aligned_alloc(ALIGN, (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1));
    p = trod_spare_kept(bytes);
    return p ? p : trod_map_for(bytes);
}

void *trod_spare_zeroed(size_t bytes)
{
    void *p;

    if (bytes < TROD_SPARE_LEAST) {
        p = trod_spare_take(bytes);
        return p ? memset(p, 0, bytes) : NULL;
    }
    p = trod_spare_kept(bytes);
    return p ? memset(p, 0, bytes) : trod_map(trod_mapped_for(bytes));
}

void trod_spare_give(void *p, size_t bytes)
{
    if (bytes < TROD_SPARE_LEAST)
        free(p);
    else if (p && !keep(p, bytes))
        munmap(p, trod_mapped_for(bytes));
}
