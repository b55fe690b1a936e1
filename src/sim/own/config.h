/*
 * config.h - hierarchies of caches in trod's own words.
 *
 * Implements docs/caches.md, "Configuration".
 */
#ifndef TROD_SIM_OWN_CONFIG_H
#define TROD_SIM_OWN_CONFIG_H

#include "sim/repl.h"
#include "trod/diag.h"

enum { TROD_OWN_CACHES = 12, TROD_OWN_NAME = 24, TROD_OWN_CORES = 64 };

enum trod_own_side { TROD_OWN_BOTH, TROD_OWN_CODE, TROD_OWN_DATA };
enum trod_own_inclusion { TROD_OWN_NEITHER, TROD_OWN_INCLUSIVE, TROD_OWN_EXCLUSIVE };
enum trod_own_prefetch {
    TROD_OWN_NO_PREFETCH,
    TROD_OWN_NEXT_LINE,
    TROD_OWN_STRIDE,
    TROD_OWN_STREAM,
    TROD_OWN_BEST_OFFSET
};

struct trod_own_spec {
    char name[TROD_OWN_NAME], next_name[TROD_OWN_NAME];
    unsigned line_number; /* of the configuration */
    uint8_t side, inclusion, prefetch;
    bool shared, through, no_allocate;
    uint64_t size, sets;
    uint32_t ways, line, victims, degree;
    struct trod_repl_options policy;
    int next; /* index; -1: memory */
};

struct trod_own_config {
    struct trod_own_spec spec[TROD_OWN_CACHES];
    unsigned n;
    uint32_t cores;
    bool coherent, classify;
};

/*
 * Read the configuration of N bytes TEXT, called NAME in messages. Returns 0 or TROD_ERR_USAGE,
 * reported with name and line.
 */
int trod_own_config_read(struct trod_own_config *c, const char *text, size_t n, const char *name,
                         struct trod_diag *diag);

/* The text of preset NAME, or NULL; preset I and what it is, NULL past the last. */
const char *trod_own_preset(const char *name);
const char *trod_own_preset_at(size_t i, const char **title);

#endif
