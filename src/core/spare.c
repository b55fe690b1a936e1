/*
 * spare.c - implements spare.h: a short list, the block given back last first, under a lock; before
 * it each thread has the few small blocks that it gave back last.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#include "core/spare.h"

#include "core/mapped.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* OWN: blocks of up to OWN_BYTES that a thread keeps for itself. */
enum { ALIGN = 64, SPARES = 64, SPARE_BYTES = 40 << 20, OWN = 2, OWN_BYTES = 1 << 18 };

#ifdef __SANITIZE_ADDRESS__
enum { KEEPS = 0 };
#elif defined __has_feature
enum { KEEPS = !__has_feature(address_sanitizer) };
#else
enum { KEEPS = 1 };
#endif

struct block {
    void *p; /* NULL: none */
    size_t bytes;
};

static struct {
    pthread_mutex_t lock;
    size_t bytes;
    unsigned n;
    struct block block[SPARES];
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct own {
    struct block block[OWN];
    bool ends; /* give_all is called when the thread ends */
} own;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static bool keep_for_all(void *p, size_t bytes);

/* A thread ends that has OF. */
static void give_all(void *of)
{
    struct own *o = of;

    for (unsigned i = 0; i < OWN; i++) {
        if (o->block[i].p && !keep_for_all(o->block[i].p, o->block[i].bytes))
            munmap(o->block[i].p, trod_mapped_for(o->block[i].bytes));
        o->block[i].p = NULL;
    }
    o->ends = false;
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, give_all) == 0;
}

static bool keep_for_own(void *p, size_t bytes)
{
    if (!KEEPS || bytes > OWN_BYTES)
        return false;
    if (!own.ends) {
        pthread_once(&once, make_key);
        own.ends = has_key && pthread_setspecific(key, &own) == 0;
    }
    for (unsigned i = 0; own.ends && i < OWN; i++)
        if (!own.block[i].p) {
            own.block[i] = (struct block){p, bytes};
            return true;
        }
    return false;
}

void *trod_spare_kept(size_t bytes)
{
    void *p = NULL;

    for (unsigned i = 0; i < OWN; i++)
        if (own.block[i].p && own.block[i].bytes == bytes) {
            p = own.block[i].p;
            own.block[i].p = NULL;
            return p;
        }
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

static bool keep_for_all(void *p, size_t bytes)
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
    else if (p && !keep_for_own(p, bytes) && !keep_for_all(p, bytes))
        munmap(p, trod_mapped_for(bytes));
}
