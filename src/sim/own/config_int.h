/*
 * config_int.h - what reading a configuration (config.c) and checking it (config_check.c) share.
 */
#ifndef TROD_SIM_OWN_CONFIG_INT_H
#define TROD_SIM_OWN_CONFIG_INT_H

#include "sim/own/config.h"

struct trod_own_parser {
    struct trod_own_config *c;
    const char *name;
    unsigned line;
    uint32_t default_line;
    struct trod_repl_options policy;
    struct trod_diag *diag;
};

/* Report WHAT is wrong in line LINE, about SUBJECT (or NULL). TROD_ERR_USAGE. */
int trod_own_config_fail(const struct trod_own_parser *p, unsigned line, const char *what,
                         const char *subject);

/* All statements are read: sets, instances, levels. 0 or TROD_ERR_USAGE, reported. */
int trod_own_config_check(const struct trod_own_parser *p);

#endif
