/*
 * store.h - the lines of a set-associative cache with any number of sets and ways, and its policy.
 *
 * Line L is in set L mod sets. A store knows where lines are and which one is replaced next;
 * further effects of a miss are up to the models. Stores of many ways find lines by a map.
 */
#ifndef TROD_SIM_STORE_H
#define TROD_SIM_STORE_H

#include "sim/lineset.h"
#include "sim/repl.h"

enum { TROD_STORE_SCAN = 32 }; /* ways that are searched one after the other */

#define TROD_NO_WAY UINT32_MAX

struct trod_store {
    uint64_t sets, mask; /* mask: sets - 1 where sets is a power of two, else 0 */
    uint32_t ways;
    uint64_t *line;          /* by set and way; TROD_NO_LINE: invalid */
    uint32_t *used;          /* by set: valid ways */
    uint64_t valid;          /* in all sets */
    struct trod_lines where; /* line to set * ways + way, for more than TROD_STORE_SCAN ways */
    struct trod_repl repl;
};

/* Returns what trod_repl_init returns. SETS and WAYS are not 0. */
int trod_store_init(struct trod_store *s, const struct trod_repl_options *o, uint64_t sets,
                    uint32_t ways);
void trod_store_fini(struct trod_store *s);

static inline uint64_t trod_store_set(const struct trod_store *s, uint64_t line)
{
    return s->mask || s->sets == 1 ? line & s->mask : line % s->sets;
}

/* The way of LINE in SET; TROD_NO_WAY if it is not present. */
static inline uint32_t trod_store_find(const struct trod_store *s, uint64_t set, uint64_t line)
{
    const uint64_t *at;

    if (s->ways > TROD_STORE_SCAN) {
        const uint64_t *v = trod_lines_get(&s->where, line);

        return v ? (uint32_t)(*v - set * s->ways) : TROD_NO_WAY;
    }
    at = s->line + set * s->ways;
    for (uint32_t w = 0; w < s->ways; w++)
        if (at[w] == line)
            return w;
    return TROD_NO_WAY;
}

/* The lowest invalid way of SET; TROD_NO_WAY if all are valid. */
static inline uint32_t trod_store_free(const struct trod_store *s, uint64_t set)
{
    const uint64_t *at = s->line + set * s->ways;

    if (s->used[set] == s->ways)
        return TROD_NO_WAY;
    for (uint32_t w = 0; w < s->ways; w++)
        if (at[w] == TROD_NO_LINE)
            return w;
    return TROD_NO_WAY;
}

/* The way that a new line of SET will take; the policy has evicted its line. */
static inline uint32_t trod_store_choose(struct trod_store *s, uint64_t set)
{
    uint32_t way = trod_store_free(s, set);

    if (way == TROD_NO_WAY)
        way = trod_repl_victim(&s->repl, set);
    trod_repl_evict(&s->repl, set, way);
    return way;
}

/*
 * Put LINE into WAY of SET, without calling the policy. *OLD becomes the line that was there, or
 * TROD_NO_LINE. 0 or TROD_ERR_NOMEM.
 */
int trod_store_put(struct trod_store *s, uint64_t set, uint32_t way, uint64_t line, uint64_t *old);

/* Remove the line in WAY of SET, if any, without calling the policy. */
void trod_store_drop(struct trod_store *s, uint64_t set, uint32_t way);

#endif
