/*
 * sim.h - a run of Dinero IV.
 *
 * Follows Dinero IV 7 (ref.c, cmdmain.c), but for printing.
 */
#ifndef TROD_SIM_DIN_SIM_H
#define TROD_SIM_DIN_SIM_H

#include "sim/din/cache.h"
#include "sim/ref.h"
#include "trod/buf.h"

struct trod_din_sim {
    struct trod_din_config config;
    struct trod_din_cache cache[TROD_DIN_LEVELS][TROD_DIN_SIDES];
    struct trod_gnu_random random;
    uint64_t skip, taken, to_flush, to_tell;
    struct trod_buf printed; /* the output of -stat-interval so far */
    bool exceeded, over, ended;
};

/* A run with options TEXT. 0, TROD_ERR_USAGE (reported) or TROD_ERR_NOMEM. */
int trod_din_sim_init(struct trod_din_sim *s, const char *text, struct trod_diag *diag);
void trod_din_sim_fini(struct trod_din_sim *s);
/*
 * The next N references: fetches, reads, writes and "misc" that have a size, copying back and
 * invalidation; others are left out.
 */
int trod_din_sim_feed(struct trod_din_sim *s, const struct trod_sim_ref *r, size_t n);
/* The end: what is dirty is copied back. Once only. */
void trod_din_sim_end(struct trod_din_sim *s);

#endif
