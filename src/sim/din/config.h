/*
 * config.h - the options of Dinero IV.
 *
 * Follows the manual page of Dinero IV 7 (cmdargs.c).
 */
#ifndef TROD_SIM_DIN_CONFIG_H
#define TROD_SIM_DIN_CONFIG_H

#include "trod/diag.h"

enum { TROD_DIN_LEVELS = 5 };
enum trod_din_side { TROD_DIN_UNIFIED, TROD_DIN_CODE, TROD_DIN_DATA, TROD_DIN_SIDES };

/* One cache; letters are those of the options. */
struct trod_din_spec {
    uint64_t size, block, sub, ways;
    char repl, fetch, walloc, wback;
    uint64_t distance, abort; /* of prefetches: sub-blocks; percent */
    bool classify;
    bool named; /* by an option, whatever its value */
};

struct trod_din_config {
    struct trod_din_spec spec[TROD_DIN_LEVELS][TROD_DIN_SIDES]; /* size 0: there is none */
    unsigned levels;
    uint64_t skip, flush, most, interval;
    char format;  /* D or d */
    bool combine; /* split caches are printed as one */
    bool narrow;  /* addresses of 32 bits, as in an unmodified build of Dinero IV */
};

/*
 * Options as dineroIV takes them, separated by white space; -address-bits 32 besides. Returns 0,
 * TROD_ERR_USAGE (reported) or TROD_ERR_NOMEM.
 */
int trod_din_config_options(struct trod_din_config *c, const char *text, struct trod_diag *diag);

#endif
