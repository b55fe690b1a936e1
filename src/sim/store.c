/*
 * store.c - making the lines of a cache, putting lines in and taking them out.
 *
 * Implements store.h.
 */
#include "sim/store.h"

#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

int trod_store_init(struct trod_store *s, const struct trod_repl_options *o, uint64_t sets,
                    uint32_t ways)
{
    int rc;

    memset(s, 0, sizeof *s);
    s->sets = sets;
    s->ways = ways;
    s->mask = sets & (sets - 1) ? 0 : sets - 1;
    s->where.map = true;
    if (sets > SIZE_MAX / 16 / ways)
        return TROD_ERR_NOMEM;
    if ((rc = trod_repl_init(&s->repl, o, sets, ways)) < 0)
        return rc;
    s->line = malloc(sets * ways * sizeof *s->line);
    s->used = calloc(sets, sizeof *s->used);
    if (!s->line || !s->used)
        return TROD_ERR_NOMEM;
    memset(s->line, 0xff, sets * ways * sizeof *s->line);
    return 0;
}

void trod_store_fini(struct trod_store *s)
{
    free(s->line);
    free(s->used);
    trod_lines_fini(&s->where);
    trod_repl_fini(&s->repl);
    memset(s, 0, sizeof *s);
}

int trod_store_put(struct trod_store *s, uint64_t set, uint32_t way, uint64_t line, uint64_t *old)
{
    const uint64_t at = set * s->ways + way;

    *old = s->line[at];
    if (s->ways > TROD_STORE_SCAN) {
        uint64_t *v;

        if (*old != TROD_NO_LINE)
            trod_lines_remove(&s->where, *old);
        if (!(v = trod_lines_at(&s->where, line)))
            return TROD_ERR_NOMEM;
        *v = at;
    }
    s->used[set] += *old == TROD_NO_LINE;
    s->valid += *old == TROD_NO_LINE;
    s->line[at] = line;
    return 0;
}

void trod_store_drop(struct trod_store *s, uint64_t set, uint32_t way)
{
    const uint64_t at = set * s->ways + way;

    if (s->line[at] == TROD_NO_LINE)
        return;
    if (s->ways > TROD_STORE_SCAN)
        trod_lines_remove(&s->where, s->line[at]);
    s->line[at] = TROD_NO_LINE;
    s->used[set]--;
    s->valid--;
}
