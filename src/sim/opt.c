/*
 * opt.c - Belady's optimal replacement over recorded references.
 *
 * Implements opt.h. A miss looks at all ways of its set, a hit only for its line.
 */
#include "sim/opt.h"

#include "sim/lineset.h"
#include "sim/store.h"
#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX

/* next[i]: when the line of reference i comes again. */
static int look_ahead(const uint64_t *line, size_t n, uint64_t *next)
{
    struct trod_lines last = {.map = true};

    for (size_t i = n; i-- > 0;) {
        uint64_t *v = trod_lines_get(&last, line[i]);

        next[i] = v ? *v : NEVER;
        if (!v && !(v = trod_lines_at(&last, line[i]))) {
            trod_lines_fini(&last);
            return TROD_ERR_NOMEM;
        }
        *v = i;
    }
    trod_lines_fini(&last);
    return 0;
}

/* The way of SET (next references WHEN) that is needed last; the lowest of several. */
static uint32_t furthest(const uint64_t *when, uint32_t ways)
{
    uint32_t best = 0;

    for (uint32_t w = 1; w < ways; w++)
        if (when[w] > when[best])
            best = w;
    return best;
}

int trod_opt_run(const uint64_t *line, size_t n, uint64_t sets, uint32_t ways, uint64_t *misses,
                 uint8_t *miss)
{
    const struct trod_repl_options any = {.kind = TROD_REPL_RANDOM};
    uint64_t *next = malloc((n ? n : 1) * sizeof *next);
    uint64_t *when = malloc(sets * ways * sizeof *when);
    struct trod_store s;
    int rc = trod_store_init(&s, &any, sets, ways);

    *misses = 0;
    if (rc == 0 && (!next || !when))
        rc = TROD_ERR_NOMEM;
    if (rc == 0)
        rc = look_ahead(line, n, next);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const uint64_t set = trod_store_set(&s, line[i]);
        uint32_t way = trod_store_find(&s, set, line[i]);

        if (miss)
            miss[i] = way == TROD_NO_WAY;
        if (way == TROD_NO_WAY) {
            uint64_t old;

            ++*misses;
            way = trod_store_free(&s, set);
            if (way == TROD_NO_WAY)
                way = furthest(when + set * ways, ways);
            rc = trod_store_put(&s, set, way, line[i], &old);
        }
        when[set * ways + way] = next[i];
    }
    trod_store_fini(&s);
    free(next);
    free(when);
    return rc;
}
