/*
 * leave.c - lines that others take away: levels behind, other cores and other threads.
 *
 * Implements the rest of own/cache.h, and own/cache_int.h.
 */
#include "sim/own/cache_int.h"

/* --- one line --- */

/* LINE of C goes for the reason WHY. */
static void count_drop(struct trod_own_cache *c, uint64_t line, enum trod_own_drop why)
{
    const bool coherent = why == TROD_OWN_DROP_COHERENT;

    ++*(coherent ? &c->n.coherence_invalidations : &c->n.back_invalidations);
    if (coherent && c->shadow && trod_lines_add(&c->lost, line) < 0)
        c->failed = true;
}

bool trod_own_line_drop_before(const struct trod_own_cache *c, uint64_t addr, uint32_t bytes,
                               enum trod_own_drop why)
{
    bool dirty = false;

    for (uint32_t i = 0; i < c->n_child; i++) {
        const struct trod_own_spec *s = c->child[i]->spec;

        if ((why == TROD_OWN_DROP_DATA && s->side == TROD_OWN_CODE) ||
            (why == TROD_OWN_DROP_COHERENT && s->incoherent))
            continue;
        dirty = trod_own_line_drop(c->child[i], addr, bytes, why) || dirty;
    }
    return dirty;
}

bool trod_own_line_drop(struct trod_own_cache *c, uint64_t addr, uint32_t bytes,
                        enum trod_own_drop why)
{
    bool dirty = false;

    for (uint32_t at = 0; at < bytes; at += c->spec->line) {
        const uint64_t line = (addr + at) >> c->line_bits, set = trod_store_set(&c->store, line);
        const uint32_t way = trod_store_find(&c->store, set, line);
        uint32_t v;

        if (way != TROD_NO_WAY) {
            dirty = dirty || c->state[set * c->store.ways + way] & TROD_OWN_DIRTY;
            trod_store_drop(&c->store, set, way);
            trod_repl_invalidate(&c->store.repl, set, way);
            count_drop(c, line, why);
        }
        if (c->spec->victims && (v = trod_store_find(&c->victim, 0, line)) != TROD_NO_WAY) {
            dirty = dirty || c->victim_state[v] & TROD_OWN_DIRTY;
            trod_store_drop(&c->victim, 0, v);
            trod_repl_invalidate(&c->victim.repl, 0, v);
            count_drop(c, line, why);
        }
    }
    return trod_own_line_drop_before(c, addr, bytes, why) || dirty;
}

/* --- coherence --- */

bool trod_own_cache_has(struct trod_own_cache *c, uint64_t addr)
{
    return trod_own_line_state(c, addr >> c->line_bits) != NULL;
}

bool trod_own_cache_has_all(struct trod_own_cache *c, uint64_t addr, uint32_t size)
{
    const uint8_t *state = trod_own_line_state(c, addr >> c->line_bits);
    uint64_t want;

    if (!state || !c->valid)
        return state != NULL;
    want = trod_own_sectors_of(c, addr, size);
    return (c->valid[state - c->state] & want) == want;
}

bool trod_own_cache_take_away(struct trod_own_cache *c, uint64_t addr)
{
    const uint64_t line = addr >> c->line_bits, start = line << c->line_bits;
    const uint8_t *state;
    uint64_t sectors;
    bool dirty = false;

    for (uint32_t i = 0; i < c->n_child; i++)
        for (uint32_t at = 0; !c->child[i]->spec->incoherent && at < c->spec->line;
             at += c->child[i]->spec->line)
            dirty = trod_own_cache_take_away(c->child[i], start + at) || dirty;
    state = trod_own_line_state(c, line);
    sectors = state && c->dirty ? c->dirty[state - c->state] : 0;
    if (trod_own_line_drop(c, start, c->spec->line, TROD_OWN_DROP_COHERENT)) {
        c->n.writebacks++;
        trod_own_line_write(c, start, sectors);
        dirty = true;
    }
    if (trod_own_includes_side(c->spec, TROD_OWN_CODE)) /* only code that is not coherent is left */
        trod_own_line_drop_before(c, start, c->spec->line, TROD_OWN_DROP_BACK);
    return dirty;
}

bool trod_own_cache_clean(struct trod_own_cache *c, uint64_t addr)
{
    const uint64_t line = addr >> c->line_bits;
    uint8_t *state = trod_own_line_state(c, line);

    if (!state || !(*state & TROD_OWN_DIRTY))
        return false;
    *state &= (uint8_t)~TROD_OWN_DIRTY;
    c->n.writebacks++;
    trod_own_line_write(c, line << c->line_bits, c->dirty ? c->dirty[state - c->state] : 0);
    if (c->dirty) /* sectors go without victims */
        c->dirty[state - c->state] = 0;
    return true;
}

/* --- another thread comes --- */

/* All lines of S, with STATE, leave C. */
static void empty(struct trod_own_cache *c, struct trod_store *s, const uint8_t *state)
{
    for (uint64_t set = 0; set < s->sets; set++)
        for (uint32_t w = 0; s->used[set] && w < s->ways; w++) {
            const uint64_t at = set * s->ways + w, line = s->line[at];

            if (line == TROD_NO_LINE)
                continue;
            trod_store_drop(s, set, w);
            trod_repl_invalidate(&s->repl, set, w);
            c->n.flushed++;
            if (!(state[at] & TROD_OWN_DIRTY))
                continue;
            c->n.writebacks++;
            trod_own_line_write(c, line << c->line_bits, c->dirty ? c->dirty[at] : 0);
        }
}

void trod_own_cache_flush(struct trod_own_cache *c)
{
    empty(c, &c->store, c->state);
    if (c->spec->victims) /* which go without sectors */
        empty(c, &c->victim, c->victim_state);
}
