/*
 * recent.c - memory of the tables of recent.h: pages of the system, of which only those that are
 * written to take memory. There may be thousands of tables at once.
 *
 * Addresses of data are looked up beside those of instructions. Where nothing was written all
 * pages are the same one of zeros, which stays in the nearest cache. So of a table that is kept for
 * the next one only those pages are cleared that hold something.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, mincore */
#include "core/recent.h"

#include "core/mapped.h"

#include <pthread.h>

/* Parts of a trace follow each other: at most one table a processor is about to be needed again. */
enum { BYTES = TROD_RECENT * sizeof(struct trod_recent), PAGES = BYTES / TROD_PAGE, KEPT = 8 };

static struct {
    pthread_mutex_t lock;
    struct trod_recent *table[KEPT];
    unsigned n;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Is all zero in the page at P? */
static bool is_clear(const struct trod_recent *p)
{
    uint64_t any = 0;

    for (size_t i = 0; i < TROD_PAGE / sizeof *p; i++)
        any |= p[i].word | p[i].bits;
    return !any;
}

/* Make T empty again. Pages that were never touched stay so. false: the system has other pages. */
static bool clear(struct trod_recent *t)
{
    unsigned char there[PAGES];

    if (mincore(t, BYTES, there) < 0)
        return false;
    for (unsigned i = 0; i < PAGES; i++) {
        struct trod_recent *p = t + i * (TROD_PAGE / sizeof *t);

        if (there[i] & 1 && !is_clear(p))
            memset(p, 0, TROD_PAGE);
    }
    return true;
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
    if (keep && clear(t)) {
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
