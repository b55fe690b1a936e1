/*
 * damage.h - problems of an input that is read on behind them, on their way from the thread that
 * meets them, ahead of what is looked at, to the one that reports them in their place.
 */
#ifndef TROD_IO_DAMAGE_H
#define TROD_IO_DAMAGE_H

#include "trod/diag.h"

#include <pthread.h>

enum { TROD_DAMAGES_MOST = 256 /* kept until they are reported; more are counted */ };

/* What is decoded before it, of what can be: so much as there should be, ... */
enum trod_damage_left {
    TROD_LEFT_GAP,   /* no: bytes are missing, or there are too many */
    TROD_LEFT_WRONG, /* yes, but some may be wrong */
    TROD_LEFT_SOUND  /* yes, and what follows goes on with it */
};

struct trod_damage {
    uint64_t at;        /* in the decoded stream */
    const char *member; /* name, of an archive, which stays; NULL: none */
    bool whole;         /* of the input as a whole: it has no place */
    enum trod_damage_left left;
    int status;
    const char *kind; /* static */
    char text[240];
};

struct trod_damages {
    pthread_mutex_t lock;
    struct trod_damage *damage;
    size_t n, cap;
    uint64_t lost;  /* those past TROD_DAMAGES_MOST */
    uint64_t first; /* the smallest AT of any; TROD_NOWHERE: none was met */
};

void trod_damages_init(struct trod_damages *d);
void trod_damages_fini(struct trod_damages *d);
/* Keep DAMAGE (copied), which lies behind those that are kept. */
void trod_damages_add(struct trod_damages *d, const struct trod_damage *damage);
/* Where the first lies that is not reported; TROD_NOWHERE: none is. */
uint64_t trod_damages_next(struct trod_damages *d);
/* None was met before byte UPTO. */
bool trod_damages_none(struct trod_damages *d, uint64_t upto);
/*
 * Report those before byte UPTO of the decoded stream of PATH. Returns where the first of them lies
 * that has a place; TROD_NOWHERE if none has. *LEFT: the least of them.
 */
uint64_t trod_damages_report(struct trod_damages *d, uint64_t upto, struct trod_diag *diag,
                             const char *path, enum trod_damage_left *left);

#endif
