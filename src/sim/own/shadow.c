/*
 * shadow.c - the fully associative cache and the set of lines beside a cache.
 *
 * Implements own/shadow.h.
 */
#include "sim/own/shadow.h"

int trod_own_shadow_init(struct trod_own_shadow *s, uint64_t lines)
{
    const struct trod_repl_options lru = {.kind = TROD_REPL_LRU};

    return trod_store_init(&s->full, &lru, 1, (uint32_t)lines);
}

void trod_own_shadow_fini(struct trod_own_shadow *s)
{
    trod_store_fini(&s->full);
    trod_lines_fini(&s->seen);
}

enum trod_own_class trod_own_shadow_ref(struct trod_own_shadow *s, uint64_t line)
{
    uint32_t way = trod_store_find(&s->full, 0, line);
    uint64_t old;

    if (way != TROD_NO_WAY) {
        trod_repl_hit(&s->full.repl, 0, way);
        return TROD_OWN_CONFLICT;
    }
    way = s->full.used[0] < s->full.ways ? s->full.used[0] : trod_repl_victim(&s->full.repl, 0);
    if (trod_store_put(&s->full, 0, way, line, &old) < 0)
        s->failed = true;
    trod_repl_fill(&s->full.repl, 0, way);
    switch (trod_lines_add(&s->seen, line)) {
    case 1:
        return TROD_OWN_COMPULSORY;
    case 0:
        return TROD_OWN_CAPACITY;
    default:
        s->failed = true;
        return TROD_OWN_CAPACITY;
    }
}
