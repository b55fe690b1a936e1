/*
 * cache.c - references to a cache, and what they cause in the others.
 *
 * Implements own/cache.h. A miss asks the next level first, then makes room: the evicted line goes
 * on when the new line is on its way in.
 */
#include "sim/own/cache_int.h"

#include "sim/own/prefetch.h"
#include "trod/diag.h"

#include <stdlib.h>
#include <string.h>

static void push_out(struct trod_own_cache *c, uint64_t line, uint8_t state, uint64_t sectors);

/* The memory beside the store. */
static int init_state(struct trod_own_cache *c, const struct trod_own_spec *spec)
{
    const struct trod_repl_options lru = {.kind = TROD_REPL_LRU};

    c->state = calloc(spec->sets, spec->ways);
    if (!c->state)
        return TROD_ERR_NOMEM;
    if (spec->sector) {
        c->valid = calloc(spec->sets * spec->ways, sizeof *c->valid);
        c->dirty = calloc(spec->sets * spec->ways, sizeof *c->dirty);
        if (!c->valid || !c->dirty)
            return TROD_ERR_NOMEM;
    }
    if (spec->victims) {
        c->victim_state = calloc(spec->victims, 1);
        if (!c->victim_state || trod_store_init(&c->victim, &lru, 1, spec->victims) < 0)
            return TROD_ERR_NOMEM;
    }
    for (unsigned i = 0; i < TROD_OWN_RECENT; i++)
        c->best.recent[i] = TROD_NO_LINE;
    if (spec->prefetch == TROD_OWN_STRIDE &&
        !(c->stride = calloc(TROD_OWN_STRIDES, sizeof *c->stride)))
        return TROD_ERR_NOMEM;
    return 0;
}

int trod_own_cache_init(struct trod_own_cache *c, const struct trod_own_spec *spec, bool classify,
                        struct trod_own_coming *coming, bool first_pass)
{
    struct trod_repl_options policy = spec->policy;
    const bool ahead = policy.kind == TROD_REPL_OPT;
    int rc;

    memset(c, 0, sizeof *c);
    c->spec = spec;
    while (1u << c->line_bits < spec->line)
        c->line_bits++;
    c->last = TROD_NO_LINE;
    if (spec->elsewhere)
        return 0;
    c->repeats = ((policy.kind <= TROD_REPL_NRU && policy.kind != TROD_REPL_LFU) || ahead) &&
                 spec->prefetch <= TROD_OWN_NEXT_LINE && !spec->through && !spec->sector;
    c->watched = classify || ahead;
    if (ahead) {
        if (!coming)
            return TROD_ERR_USAGE;
        c->coming = coming;
        c->first_pass = first_pass;
        if (first_pass)
            policy.kind = TROD_REPL_LRU;
    }
    if ((rc = trod_store_init(&c->store, &policy, spec->sets, spec->ways)) < 0 ||
        (rc = init_state(c, spec)) < 0)
        return rc;
    if (!classify)
        return 0;
    c->shadow = calloc(1, sizeof *c->shadow);
    return c->shadow ? trod_own_shadow_init(c->shadow, spec->sets * spec->ways) : TROD_ERR_NOMEM;
}

void trod_own_cache_fini(struct trod_own_cache *c)
{
    trod_store_fini(&c->store);
    trod_store_fini(&c->victim);
    trod_lines_fini(&c->lost);
    if (c->shadow)
        trod_own_shadow_fini(c->shadow);
    free(c->shadow);
    free(c->state);
    free(c->victim_state);
    free(c->valid);
    free(c->dirty);
    free(c->stride);
    free(c->child);
}

/* The lines of S that were prefetched were so before what counts. */
static void earlier(const struct trod_store *s, uint8_t *state)
{
    for (uint64_t at = 0; at < s->sets * s->ways; at++)
        if (state[at] & TROD_OWN_PREFETCHED)
            state[at] |= TROD_OWN_EARLIER;
}

void trod_own_cache_reset(struct trod_own_cache *c)
{
    c->n = (struct trod_own_counts){0};
    if (!c->spec->prefetch || c->spec->elsewhere)
        return;
    earlier(&c->store, c->state);
    if (c->spec->victims)
        earlier(&c->victim, c->victim_state);
}

/* --- lines that leave --- */

static void put(struct trod_own_cache *c, uint64_t line, uint8_t state)
{
    const uint64_t set = trod_store_set(&c->store, line);
    const uint32_t way = trod_store_choose(&c->store, set);
    uint8_t *at = &c->state[set * c->store.ways + way];
    const uint8_t before = *at;
    uint64_t sectors = 0, old;

    if (trod_store_put(&c->store, set, way, line, &old) < 0)
        c->failed = true;
    *at = state;
    if (c->valid) { /* the caller says which have come */
        sectors = c->dirty[at - c->state];
        c->valid[at - c->state] = c->dirty[at - c->state] = 0;
    }
    trod_repl_fill(&c->store.repl, set, way);
    if (c->last != TROD_NO_LINE && trod_store_set(&c->store, c->last) == set)
        c->last = TROD_NO_LINE; /* it is not the newest of its set any more */
    if (old == TROD_NO_LINE)
        return;
    if (c->spec->victims) { /* it may come back soon */
        const uint32_t v = trod_store_choose(&c->victim, 0);
        uint8_t *kept = &c->victim_state[v];
        const uint8_t kept_before = *kept;
        uint64_t out;

        if (trod_store_put(&c->victim, 0, v, old, &out) < 0)
            c->failed = true;
        *kept = before;
        trod_repl_fill(&c->victim.repl, 0, v);
        if (out != TROD_NO_LINE)
            push_out(c, out, kept_before, 0);
        return;
    }
    push_out(c, old, before, sectors);
}

/* C, the last of the caches, reads from memory or writes back to it. */
static inline void remember(const struct trod_own_cache *c, enum trod_op op, uint64_t addr,
                            uint32_t size, uint64_t pc)
{
    if (c->memory && !c->next)
        trod_own_memory_put(c->memory, op, addr, size, pc);
}

uint8_t *trod_own_line_state(const struct trod_own_cache *c, uint64_t line)
{
    const uint64_t set = trod_store_set(&c->store, line);
    uint32_t way = trod_store_find(&c->store, set, line);

    if (way != TROD_NO_WAY)
        return &c->state[set * c->store.ways + way];
    way = c->spec->victims ? trod_store_find(&c->victim, 0, line) : TROD_NO_WAY;
    return way == TROD_NO_WAY ? NULL : &c->victim_state[way];
}

void trod_own_cache_write_back(struct trod_own_cache *c, uint64_t addr, uint32_t bytes)
{
    const struct trod_own_cache *last = c;

    for (; c; last = c, c = c->next) {
        const uint64_t want = c->valid ? trod_own_sectors_of(c, addr, bytes) : 0;
        uint8_t *state = c->spec->through ? NULL : trod_own_line_state(c, addr >> c->line_bits);

        if (state && (!c->valid || (c->valid[state - c->state] & want) == want)) {
            *state |= TROD_OWN_DIRTY;
            if (c->valid)
                c->dirty[state - c->state] |= want;
            return;
        }
        c->n.bytes_out += bytes;
    }
    remember(last, TROD_OP_WRITE, addr, bytes, 0);
}

/*
 * A dirty line of BYTES at ADDR leaves C for the next level. Where it is not present there it goes
 * on.
 */
static void write_back(const struct trod_own_cache *c, uint64_t addr, uint32_t bytes)
{
    if (c->next)
        trod_own_cache_write_back(c->next, addr, bytes);
    else
        remember(c, TROD_OP_WRITE, addr, bytes, 0);
}

void trod_own_line_write(struct trod_own_cache *c, uint64_t addr, uint64_t sectors)
{
    const uint32_t bytes = c->spec->sector;

    if (!c->valid) {
        c->n.bytes_out += c->spec->line;
        write_back(c, addr, c->spec->line);
        return;
    }
    for (uint32_t i = 0; i < 64 && sectors >> i; i++)
        if (sectors >> i & 1) {
            c->n.bytes_out += bytes;
            write_back(c, addr + (uint64_t)i * bytes, bytes);
        }
}

/* Why lines that C includes leave the caches before it. */
static enum trod_own_drop why_included(const struct trod_own_cache *c)
{
    return c->spec->inclusion == TROD_OWN_INCLUSIVE ? TROD_OWN_DROP_BACK : TROD_OWN_DROP_DATA;
}

/* LINE has left C. */
static void push_out(struct trod_own_cache *c, uint64_t line, uint8_t state, uint64_t sectors)
{
    const uint64_t addr = line << c->line_bits;
    bool dirty = state & TROD_OWN_DIRTY;

    c->n.evictions++;
    if (trod_own_includes(c->spec))
        dirty = trod_own_line_drop_before(c, addr, c->spec->line, why_included(c)) || dirty;
    c->n.writebacks += dirty;
    if (c->next && trod_own_hands_over(c->spec, c->next->spec)) {
        c->n.bytes_out += c->spec->line;
        if (!trod_own_line_state(c->next, line))
            put(c->next, line, dirty ? TROD_OWN_DIRTY : 0);
        else if (dirty)
            write_back(c, addr, c->spec->line);
        return;
    }
    if (dirty)
        trod_own_line_write(c, addr, sectors);
}

/* --- references --- */

/* A write of SIZE bytes at ADDR goes on to the next level. */
static void write_on(struct trod_own_cache *c, uint64_t addr, uint32_t size, uint64_t pc)
{
    c->n.bytes_out += size;
    remember(c, TROD_OP_WRITE, addr, size, pc);
    if (!c->next)
        return;
    c->next->handed = trod_own_hands_over(c->spec, c->next->spec);
    trod_own_cache_ref(c->next, TROD_OWN_WRITE, addr, size, pc);
    c->next->handed = false;
}

/*
 * C has got the line of ADDR, but an inclusive level behind may have prefetched and evicted that
 * very line again: then it is removed here as well.
 */
static void keep_included(struct trod_own_cache *c, uint64_t addr)
{
    const uint64_t start = addr & ~(uint64_t)(c->spec->line - 1);

    for (const struct trod_own_cache *n = c->next; n; n = n->next)
        if (trod_own_includes_side(n->spec, c->spec->side) &&
            !trod_own_line_state(n, addr >> n->line_bits)) {
            const uint8_t *state = trod_own_line_state(c, addr >> c->line_bits);
            const uint64_t sectors = state && c->dirty ? c->dirty[state - c->state] : 0;

            if (trod_own_line_drop(c, start, c->spec->line, why_included(n))) {
                c->n.writebacks++;
                trod_own_line_write(c, start, sectors);
            }
            return;
        }
}

/* Classify a miss of LINE. Must be called for every demand reference, also for hits. */
static void classify(struct trod_own_cache *c, uint64_t line, bool miss)
{
    enum trod_own_class k = trod_own_shadow_ref(c->shadow, line);

    if (!miss)
        return;
    if (trod_lines_remove(&c->lost, line))
        k = TROD_OWN_COHERENCE;
    c->n.classes[k]++;
}

/* The sectors WANT of the line of ADDR, absent in C, are brought in, one by one. */
static void fetch_sectors(struct trod_own_cache *c, enum trod_own_kind kind, uint64_t addr,
                          uint64_t pc, uint64_t want)
{
    const uint64_t start = addr & ~(uint64_t)(c->spec->line - 1);

    for (uint32_t i = 0; i < 64 && want >> i; i++) {
        if (!(want >> i & 1))
            continue;
        c->n.bytes_in += c->spec->sector;
        remember(c, kind == TROD_OWN_WRITE ? TROD_OP_READ : (enum trod_op)kind,
                 start + (uint64_t)i * c->spec->sector, c->spec->sector, pc);
        if (c->next)
            trod_own_cache_ref(c->next, kind == TROD_OWN_WRITE ? TROD_OWN_READ : kind,
                               start + (uint64_t)i * c->spec->sector, c->spec->sector, pc);
    }
}

/* If LINE is in the victim cache, take it out of there, with *STATE. */
static bool leave_victims(struct trod_own_cache *c, uint64_t line, uint8_t *state)
{
    uint32_t v;

    if (!c->spec->victims || (v = trod_store_find(&c->victim, 0, line)) == TROD_NO_WAY)
        return false;
    *state = c->victim_state[v];
    trod_store_drop(&c->victim, 0, v);
    trod_repl_invalidate(&c->victim.repl, 0, v);
    return true;
}

/* A line of C with *STATE is referenced on demand. */
static void note_use(struct trod_own_cache *c, uint8_t *state)
{
    if (!(*state & TROD_OWN_PREFETCHED))
        return;
    c->n.useful += !(*state & TROD_OWN_EARLIER);
    *state &= (uint8_t) ~(TROD_OWN_PREFETCHED | TROD_OWN_EARLIER);
}

/* As leave_victims, for a demand reference. */
static bool from_victims(struct trod_own_cache *c, uint64_t line, uint8_t *state)
{
    if (!leave_victims(c, line, state))
        return false;
    c->n.victim_hits++;
    note_use(c, state);
    return true;
}

static uint8_t fetch(struct trod_own_cache *c, enum trod_own_kind kind, uint64_t addr, uint64_t pc,
                     bool demand);
static void prefetch_into(struct trod_own_cache *c, uint64_t addr, uint64_t pc, uint8_t mark);

/*
 * A cache before N, which takes what that one pushes out, asks for the line of ADDR: an exclusive N
 * gives it away with what it knows of it, another one keeps it. Where it is not it is asked for
 * from behind N, and does not come to it. Returns the state.
 */
static uint8_t fetch_past(struct trod_own_cache *n, enum trod_own_kind kind, uint64_t addr,
                          uint64_t pc, bool demand)
{
    const uint64_t line = addr >> n->line_bits, set = trod_store_set(&n->store, line);
    const uint32_t way = trod_store_find(&n->store, set, line);
    const bool keeps = n->spec->inclusion == TROD_OWN_EVICTED;
    uint8_t state;

    if (keeps && kind == TROD_OWN_WRITE)
        kind = TROD_OWN_READ;
    if (keeps && way != TROD_NO_WAY) {
        if (demand)
            trod_own_cache_ref(n, kind, addr, 1, pc);
        return 0;
    }
    if (demand) {
        n->last = TROD_NO_LINE; /* who classifies sees this reference in between */
        n->n.refs[kind]++;
        n->n.misses[kind] += way == TROD_NO_WAY;
        if (n->shadow)
            classify(n, line, way == TROD_NO_WAY);
        if (way == TROD_NO_WAY && n->missed)
            n->missed(n->user, n, addr);
    }
    if (way == TROD_NO_WAY && (demand ? from_victims : leave_victims)(n, line, &state))
        return state & TROD_OWN_DIRTY;
    if (way == TROD_NO_WAY)
        return fetch(n, kind, addr, pc, demand);
    state = n->state[set * n->store.ways + way] & TROD_OWN_DIRTY;
    trod_store_drop(&n->store, set, way);
    trod_repl_invalidate(&n->store.repl, set, way);
    return state;
}

/*
 * Bring the line of ADDR, absent in C, in. Returns its state. Demand references pass on to the next
 * level with their KIND; prefetches only where the line is absent there too, and not counted as
 * demand.
 */
static uint8_t fetch(struct trod_own_cache *c, enum trod_own_kind kind, uint64_t addr, uint64_t pc,
                     bool demand)
{
    const uint64_t start = addr & ~(uint64_t)(c->spec->line - 1);
    struct trod_own_cache *n = c->next;

    c->n.bytes_in += c->spec->line;
    if (!n) {
        remember(c,
                 !demand                  ? TROD_OP_PREFETCH
                 : kind == TROD_OWN_WRITE ? TROD_OP_READ
                                          : (enum trod_op)kind,
                 start, c->spec->line, pc);
        return 0;
    }
    if (trod_own_hands_over(c->spec, n->spec) &&
        (kind != TROD_OWN_FETCH || n->spec->inclusion == TROD_OWN_EXCLUSIVE))
        return fetch_past(n, kind, addr, pc, demand);
    if (demand)
        trod_own_cache_ref(n, kind == TROD_OWN_WRITE ? TROD_OWN_READ : kind, start, c->spec->line,
                           pc);
    else
        prefetch_into(n, start, pc, 0);
    return 0;
}

/* LINE is referenced: tell the optimal policy when it will be referenced again. */
static void look_ahead(struct trod_own_cache *c, uint64_t line)
{
    if (c->first_pass)
        trod_own_coming_note(c->coming, line);
    else
        c->store.repl.coming = trod_own_coming_next(c->coming);
}

/* MARK: state of the line, where it comes. */
static void prefetch_into(struct trod_own_cache *c, uint64_t addr, uint64_t pc, uint8_t mark)
{
    const uint64_t line = addr >> c->line_bits, set = trod_store_set(&c->store, line);
    uint8_t state;
    const uint32_t way = trod_store_find(&c->store, set, line);

    if (c->coming) {
        look_ahead(c, line);
        c->last = TROD_NO_LINE; /* in both passes alike, whatever is pushed out */
        if (way != TROD_NO_WAY)
            trod_repl_hit(&c->store.repl, set, way);
    }
    if (way != TROD_NO_WAY ||
        (c->spec->victims && trod_store_find(&c->victim, 0, line) != TROD_NO_WAY)) {
        c->n.prefetch_hits++;
        return;
    }
    state = fetch(c, TROD_OWN_READ, addr, pc, false);
    put(c, line, state | mark);
}

void trod_own_prefetch_into(struct trod_own_cache *c, uint64_t addr, uint64_t pc)
{
    prefetch_into(c, addr, pc, TROD_OWN_PREFETCHED | (c->uncounted ? TROD_OWN_EARLIER : 0));
}

static void on_hit(struct trod_own_cache *c, enum trod_own_kind kind, uint64_t addr, uint32_t size,
                   uint64_t pc, uint64_t set, uint32_t way)
{
    const uint64_t at = set * c->store.ways + way;
    uint8_t *state = &c->state[at];

    trod_repl_hit(&c->store.repl, set, way);
    note_use(c, state);
    if (kind != TROD_OWN_WRITE)
        return;
    if (!c->spec->through) {
        *state |= TROD_OWN_DIRTY;
        if (c->dirty)
            c->dirty[at] |= trod_own_sectors_of(c, addr, size);
        return;
    }
    write_on(c, addr, size, pc);
}

static void on_miss(struct trod_own_cache *c, enum trod_own_kind kind, uint64_t addr, uint32_t size,
                    uint64_t pc)
{
    const uint64_t line = addr >> c->line_bits;
    const bool write = kind == TROD_OWN_WRITE;
    uint8_t state = 0;

    c->n.misses[kind]++;
    if (c->missed)
        c->missed(c->user, c, addr);
    if (!from_victims(c, line, &state)) {
        if (write && (c->spec->no_allocate || c->handed)) {
            write_on(c, addr, size, pc);
            return;
        }
        if (c->valid)
            fetch_sectors(c, kind, addr, pc, trod_own_sectors_of(c, addr, size));
        else
            state = fetch(c, kind, addr, pc, true);
    }
    if (write && !c->spec->through)
        state |= TROD_OWN_DIRTY;
    put(c, line, state);
    if (c->valid) {
        const uint64_t set = trod_store_set(&c->store, line);
        const uint64_t at = set * c->store.ways + trod_store_find(&c->store, set, line);

        c->valid[at] = trod_own_sectors_of(c, addr, size);
        c->dirty[at] = state & TROD_OWN_DIRTY ? c->valid[at] : 0;
    }
    if (write && c->spec->through)
        write_on(c, addr, size, pc);
    if (c->may_lose)
        keep_included(c, addr);
}

/*
 * The line of ADDR is at AT of C, but perhaps not all of its sectors that are referenced. Returns
 * true where the reference is over: a write that does not bring them in.
 */
static bool on_part(struct trod_own_cache *c, enum trod_own_kind kind, uint64_t addr, uint32_t size,
                    uint64_t pc, uint64_t at)
{
    const uint64_t absent = trod_own_sectors_of(c, addr, size) & ~c->valid[at];

    if (!absent)
        return false;
    c->n.misses[kind]++;
    c->n.sector_misses++;
    if (c->missed)
        c->missed(c->user, c, addr);
    if (kind == TROD_OWN_WRITE && c->spec->no_allocate) {
        write_on(c, addr, size, pc);
        return true;
    }
    fetch_sectors(c, kind, addr, pc, absent);
    if (c->store.line[at] != addr >> c->line_bits) { /* an inclusive level took it away meanwhile */
        if (kind == TROD_OWN_WRITE)
            write_on(c, addr, size, pc);
        return true;
    }
    c->valid[at] |= absent;
    return false;
}

/* A reference that is passed to a callback. */
static void watch(struct trod_own_cache *c, uint64_t line, bool hit)
{
    if (c->shadow)
        classify(c, line, !hit);
    if (c->coming)
        look_ahead(c, line);
}

void trod_own_cache_ref(struct trod_own_cache *c, enum trod_own_kind kind, uint64_t addr,
                        uint32_t size, uint64_t pc)
{
    const uint64_t line = addr >> c->line_bits;
    uint64_t set;
    uint32_t way;
    bool hit, first;

    if (trod_own_cache_again(c, kind, addr))
        return;
    c->n.refs[kind]++;
    set = trod_store_set(&c->store, line);
    way = trod_store_find(&c->store, set, line);
    hit = way != TROD_NO_WAY;
    if (c->watched)
        watch(c, line, hit);
    if (hit && c->valid && on_part(c, kind, addr, size, pc, set * c->store.ways + way))
        return;
    first = hit && c->state[set * c->store.ways + way] & TROD_OWN_PREFETCHED;
    if (hit)
        on_hit(c, kind, addr, size, pc, set, way);
    else
        on_miss(c, kind, addr, size, pc);
    if (c->repeats) {
        if (!hit)
            way = trod_store_find(&c->store, set, line);
        c->last = way == TROD_NO_WAY ? TROD_NO_LINE : line;
        c->last_at = set * c->store.ways + (way == TROD_NO_WAY ? 0 : way);
    }
    if (c->spec->prefetch)
        trod_own_prefetch(c, addr, pc, !hit, first);
}
