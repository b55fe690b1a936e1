/*
 * cache_refused.h - configurations of caches that are refused, and the line that is blamed.
 */
#ifndef TROD_TEST_CACHE_REFUSED_H
#define TROD_TEST_CACHE_REFUSED_H

#include "sim/own/sim.h"

#include <string.h>

struct refused {
    const char *text;
    unsigned line;
};

static void note_refused(void *line, const struct trod_problem *p)
{
    *(uint64_t *)line = p->at.line;
}

static inline void assert_refused(const struct refused *bad, size_t n)
{
    static struct trod_own_config config;
    uint64_t line;
    struct trod_diag d;

    trod_diag_init(&d, note_refused, &line);
    for (size_t i = 0; i < n; i++) {
        line = 0;
        assert_int_equal(trod_own_config_read(&config, bad[i].text, strlen(bad[i].text), "x", &d),
                         TROD_ERR_USAGE);
        assert_int_equal(line, bad[i].line);
    }
}

#endif
