/*
 * damage.c - implements damage.h: a list under a lock.
 */
#include "damage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void trod_damages_init(struct trod_damages *d)
{
    *d = (struct trod_damages){.first = TROD_NOWHERE};
    pthread_mutex_init(&d->lock, NULL);
}

void trod_damages_fini(struct trod_damages *d)
{
    pthread_mutex_destroy(&d->lock);
    free(d->damage);
}

void trod_damages_add(struct trod_damages *d, const struct trod_damage *damage)
{
    pthread_mutex_lock(&d->lock);
    if (d->first > damage->at)
        d->first = damage->at;
    if (d->n == d->cap && d->cap < TROD_DAMAGES_MOST) {
        const size_t cap = d->cap ? d->cap * 4 : 16;
        struct trod_damage *p = realloc(d->damage, cap * sizeof *p);

        if (p) {
            d->damage = p;
            d->cap = cap;
        }
    }
    if (d->n < d->cap)
        d->damage[d->n++] = *damage;
    else
        d->lost++;
    pthread_mutex_unlock(&d->lock);
}

uint64_t trod_damages_next(struct trod_damages *d)
{
    uint64_t at;

    pthread_mutex_lock(&d->lock);
    at = d->n ? d->damage[0].at : TROD_NOWHERE;
    pthread_mutex_unlock(&d->lock);
    return at;
}

bool trod_damages_none(struct trod_damages *d, uint64_t upto)
{
    bool none;

    pthread_mutex_lock(&d->lock);
    none = d->first >= upto;
    pthread_mutex_unlock(&d->lock);
    return none;
}

/* Take the first before byte UPTO. False: there is none. */
static bool take(struct trod_damages *d, uint64_t upto, struct trod_damage *damage)
{
    bool any;

    pthread_mutex_lock(&d->lock);
    any = d->n && d->damage[0].at <= upto;
    if (any) {
        *damage = d->damage[0];
        memmove(d->damage, d->damage + 1, --d->n * sizeof *d->damage);
    }
    pthread_mutex_unlock(&d->lock);
    return any;
}

uint64_t trod_damages_report(struct trod_damages *d, uint64_t upto, struct trod_diag *diag,
                             const char *path, enum trod_damage_left *left)
{
    struct trod_damage damage;
    uint64_t lost = 0, first = TROD_NOWHERE;

    *left = TROD_LEFT_SOUND;
    /* what the diag asks of the input it may ask: the lock is free */
    while (take(d, upto, &damage)) {
        struct trod_place at = trod_place_offset(path, damage.whole ? TROD_NOWHERE : damage.at);

        *left = damage.left < *left ? damage.left : *left;
        at.member = damage.member;
        first = !damage.whole && damage.at < first ? damage.at : first;
        trod_error(diag, damage.status, damage.kind, &at, "%s", damage.text);
    }
    pthread_mutex_lock(&d->lock);
    if (d->n == 0) {
        lost = d->lost;
        d->lost = 0;
    }
    pthread_mutex_unlock(&d->lock);
    if (lost)
        trod_error(diag, TROD_ERR_CORRUPT, "io.more", NULL, "%" PRIu64 " more problems like these",
                   lost);
    return first;
}
