/*
 * zip_damage.c - the problems of an archive, as the thread that reports asks for them.
 *
 * Implements trod_zip_damage() and trod_zip_report() of zip.h. They are met in zip.c, ahead of
 * what is looked at.
 */
#include "zip_int.h"

#include <inttypes.h>
#include <string.h>

/* Take the first problem before byte UPTO of the decoded stream. False: there is none. */
static bool take_problem(struct zip *z, uint64_t upto, struct problem *p, const char **member)
{
    bool any;

    pthread_mutex_lock(&z->lock);
    any = z->n_problems && z->problems[0].at <= upto;
    if (any) {
        *p = z->problems[0];
        *member = p->member == SIZE_MAX ? NULL : z->list.member[p->member].name;
        memmove(z->problems, z->problems + 1, --z->n_problems * sizeof *z->problems);
    }
    pthread_mutex_unlock(&z->lock);
    return any;
}

uint64_t trod_zip_damage(struct trod_source *s)
{
    struct zip *z = zip_of(s);
    uint64_t at;

    pthread_mutex_lock(&z->lock);
    at = z->n_problems ? z->problems[0].at : TROD_NOWHERE;
    pthread_mutex_unlock(&z->lock);
    return at;
}

uint64_t trod_zip_report(struct trod_source *s, uint64_t upto, struct trod_diag *diag,
                         const char *path)
{
    struct zip *z = zip_of(s);
    struct problem p;
    const char *member;
    uint64_t lost = 0, first = TROD_NOWHERE;

    /* what the diag asks of the archive it may ask: the lock is free */
    while (take_problem(z, upto, &p, &member)) {
        struct trod_place at = trod_place_offset(path, member ? p.at : TROD_NOWHERE);

        at.member = member;
        first = member && p.at < first ? p.at : first;
        trod_error(diag, p.status, p.kind, &at, "%s%s", member ? "zip member " : "", p.text);
    }
    pthread_mutex_lock(&z->lock);
    if (z->n_problems == 0) {
        lost = z->lost;
        z->lost = 0;
    }
    pthread_mutex_unlock(&z->lock);
    if (lost)
        trod_error(diag, TROD_ERR_CORRUPT, "zip.more", NULL,
                   "zip archive has %" PRIu64 " more problems", lost);
    return first;
}
