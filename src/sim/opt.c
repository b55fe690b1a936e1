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

/* next[i]: when the line of reference i comes again. */
static int look_ahead(const uint64_t *line, size_t n, uint64_t *next)
{
    struct trod_lines last = {.map = true};

    for (size_t i = n; i-- > 0;) {
        uint64_t *v = trod_lines_get(&last, line[i]);

        next[i] = v ? *v : TROD_OPT_NEVER;
        if (!v && !(v = trod_lines_at(&last, line[i]))) {
            trod_lines_fini(&last);
            return TROD_ERR_NOMEM;
        }
        *v = i;
    }
    trod_lines_fini(&last);
    return 0;
}

int trod_opt_run(const uint64_t *line, size_t n, uint64_t sets, uint32_t ways, uint64_t *misses,
                 uint8_t *miss)
{
    const struct trod_repl_options opt = {.kind = TROD_REPL_OPT};
    uint64_t *next = malloc((n ? n : 1) * sizeof *next);
    struct trod_store s;
    int rc = trod_store_init(&s, &opt, sets, ways);

    *misses = 0;
    if (rc == 0 && !next)
        rc = TROD_ERR_NOMEM;
    if (rc == 0)
        rc = look_ahead(line, n, next);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const uint64_t set = trod_store_set(&s, line[i]);
        uint32_t way = trod_store_find(&s, set, line[i]);

        if (miss)
            miss[i] = way == TROD_NO_WAY;
        s.repl.coming = next[i];
        if (way == TROD_NO_WAY) {
            uint64_t old;

            ++*misses;
            way = trod_store_choose(&s, set);
            rc = trod_store_put(&s, set, way, line[i], &old);
        }
        trod_repl_hit(&s.repl, set, way);
    }
    trod_store_fini(&s);
    free(next);
    return rc;
}
