/*
 * recent.c - memory of the tables of recent.h: pages of the system, of which only those that are
 * written to take memory. There may be thousands of tables at once.
 *
 * Addresses of data are looked up beside those of instructions. Where nothing was written all
 * pages are the same one of zeros, which stays in the nearest cache. So of a table that is kept for
 * the next one only those parts are cleared that something was put into.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "core/recent.h"

#include "core/mapped.h"

#include <pthread.h>
#include <string.h>

/* Parts of a trace follow each other: at most one table a processor is about to be needed again. */
enum {
    PARTS = TROD_RECENT / TROD_RECENT_PART,
    BYTES = TROD_RECENT * sizeof(struct trod_recent) + PARTS / 8,
    KEPT = 8
};

static struct {
    pthread_mutex_t lock;
    struct trod_recent *table[KEPT];
    unsigned n;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

void trod_recent_clear(struct trod_recent *t)
{
    uint64_t *const parts = trod_recent_parts(t);

    for (unsigned i = 0; i < PARTS; i++)
        if (parts[i / 64] >> i % 64 & 1)
            memset(t + (size_t)i * TROD_RECENT_PART, 0, TROD_RECENT_PART * sizeof *t);
    memset(parts, 0, PARTS / 8);
}

struct trod_recent *trod_recent_new(void)
{
    struct trod_recent *t = NULL;

    pthread_mutex_lock(&kept.lock);
    if (kept.n)
        t = kept.table[--kept.n];
    pthread_mutex_unlock(&kept.lock);
    return t ? t : trod_map(BYTES);
}

void trod_recent_free(struct trod_recent *t)
{
    bool keep;

    if (!t)
        return;
    pthread_mutex_lock(&kept.lock);
    keep = kept.n < KEPT;
    pthread_mutex_unlock(&kept.lock);
    if (keep) {
        trod_recent_clear(t);
        pthread_mutex_lock(&kept.lock);
        if (kept.n < KEPT) {
            kept.table[kept.n++] = t;
            t = NULL;
        }
        pthread_mutex_unlock(&kept.lock);
    }
    if (t)
        munmap(t, BYTES);
}
