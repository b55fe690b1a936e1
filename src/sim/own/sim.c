/*
 * sim.c - references to cores.
 *
 * Implements own/sim.h.
 */
#include "sim/own/sim.h"
#include "core/wide.h"

#include "core/grow.h"
#include "trod/diag.h"
#include "trod/meta.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 12, LINE_BITS = 6 };

/* One more row, of KEY. Returns its number + 1; 0: no memory (failed). */
static size_t add_row(struct trod_own_sim *s, uint64_t key)
{
    if (!trod_grow(&s->row, s->n_rows, &s->cap_rows, TROD_OWN_ROW * sizeof *s->row, 256)) {
        s->failed = true;
        return 0;
    }
    memset(s->row + s->n_rows * TROD_OWN_ROW, 0, TROD_OWN_ROW * sizeof *s->row);
    s->row[s->n_rows * TROD_OWN_ROW + TROD_OWN_KEY] = key;
    return ++s->n_rows;
}

uint64_t *trod_own_sim_row_none(struct trod_own_sim *s)
{
    if (s->no_key == 0)
        s->no_key = add_row(s, 0);
    return s->no_key ? s->row + (s->no_key - 1) * TROD_OWN_ROW : NULL;
}

uint64_t *trod_own_sim_row(struct trod_own_sim *s, uint64_t key)
{
    uint64_t *number;

    if (s->last_row && s->last_key == key)
        return s->row + (s->last_row - 1) * TROD_OWN_ROW;
    if (s->nameless)
        return trod_own_sim_row_none(s);
    if (!(number = trod_lines_at(&s->key, key))) {
        s->failed = true;
        return NULL;
    }
    if (*number == 0 && (*number = add_row(s, key)) == 0)
        return NULL;
    s->last_key = key;
    s->last_row = *number;
    return s->row + (*number - 1) * TROD_OWN_ROW;
}

/* MISSER missed for the row at hand. */
static void note_row(struct trod_own_sim *s, unsigned misser, uint64_t n)
{
    if (s->by_row[misser])
        s->by_row[misser][s->current] += n;
}

static void note(struct trod_own_sim *s, unsigned what)
{
    uint64_t *row;

    if (s->by == TROD_OWN_BY_ROW) {
        if (what >= TROD_OWN_MISSES)
            note_row(s, what - TROD_OWN_MISSES, 1);
        return;
    }
    if (s->mode != TROD_OWN_COUNTING)
        return;
    row = trod_own_sim_row(s, s->current);
    if (row)
        row[what]++;
}

/* A reference to ADDR is made: what misses in all levels until the next one belongs to it. */
static void note_reference(struct trod_own_sim *s, uint64_t addr)
{
    if (s->by == TROD_OWN_BY_PAGE)
        s->current = addr >> PAGE_BITS << PAGE_BITS;
    else if (s->by == TROD_OWN_BY_LINE)
        s->current = addr >> LINE_BITS << LINE_BITS;
    note(s, TROD_OWN_REFS);
}

static void note_miss(void *user, const struct trod_own_cache *c, uint64_t addr)
{
    struct trod_own_sim *s = user;

    (void)addr; /* that of a line, where C is not the first level */
    note(s, TROD_OWN_MISSES + (unsigned)(c->spec - s->config->spec));
}

/* --- references --- */

static uint32_t core_of(struct trod_own_sim *s, const struct trod_sim_ref *r, bool cores)
{
    uint64_t *core;

    if (s->config->cores == 1)
        return 0;
    if (cores)
        return r->shard % s->config->cores;
    if (!(core = trod_lines_at(&s->thread, r->stream))) {
        s->failed = true;
        return 0;
    }
    if (*core == 0)
        *core = 1 + s->next_core++ % s->config->cores;
    return (uint32_t)*core - 1;
}

void trod_own_sim_snapshot(struct trod_own_sim *s)
{
    struct trod_own_snapshot *n;

    if (!trod_grow(&s->snapshot, s->n_snapshots, &s->cap_snapshots, sizeof *s->snapshot, 64)) {
        s->failed = true;
        return;
    }
    n = &s->snapshot[s->n_snapshots++];
    memset(n, 0, sizeof *n);
    n->instructions = s->instructions;
    for (unsigned i = 0; i < s->config->n; i++) {
        const struct trod_own_counts c = trod_own_sim_sum(s, i);

        n->misses[i] = c.misses[0] + c.misses[1] + c.misses[2];
    }
}

/* The key of reference R of CORE, where it does not depend on the line. */
static inline uint64_t current_of(const struct trod_own_sim *s, const struct trod_sim_ref *r,
                                  uint32_t core)
{
    return s->by == TROD_OWN_BY_THREAD  ? r->stream
           : s->by == TROD_OWN_BY_CORE  ? core
           : s->by >= TROD_OWN_BY_OWNER ? r->owner
                                        : r->pc;
}

/* Are misses of R those of no known instruction? Then no row is at hand. */
static inline void note_name(struct trod_own_sim *s, const struct trod_sim_ref *r)
{
    if (r->no_pc != s->nameless && s->by == TROD_OWN_BY_INSTRUCTION) {
        s->nameless = r->no_pc;
        s->last_row = 0;
    }
}

static inline bool is_mine(const struct trod_own_sim *s, uint64_t addr)
{
    return s->mine >> (addr >> s->class_shift & s->class_mask) & 1;
}

/* SIZE bytes at ADDR, as caches see them: a reference for each line. */
static void lines(struct trod_own_sim *s, const struct trod_sim_ref *r, uint32_t core,
                  enum trod_own_kind kind, uint64_t addr, uint32_t size)
{
    const bool data = kind != TROD_OWN_FETCH;
    struct trod_own_cache *c = s->entry[core][data];

    while (c && size) {
        const uint32_t room = c->spec->line - (uint32_t)(addr & (c->spec->line - 1));
        const uint32_t n = size < room ? size : room;

        if (s->shards > 1 && !is_mine(s, addr)) {
            addr += n;
            size -= n;
            continue;
        }
        if (s->sharing && data && s->mode == TROD_OWN_COUNTING)
            trod_own_sharing_note(s, r, addr, n);
        if (s->asks[core] >> kind & 1 && (data || !trod_own_cache_has_all(c, addr, n)))
            trod_own_cohere(s, core, addr, kind == TROD_OWN_WRITE);
        if (s->by)
            note_reference(s, addr);
        s->line_refs++;
        trod_own_cache_ref(c, kind, addr, n, r->pc);
        addr += n;
        size -= n;
    }
}

/* Do the TLBs from T on know the page of ADDR? */
static bool known_to(struct trod_own_sim *s, struct trod_own_tlb *t, enum trod_own_kind kind,
                     uint64_t addr, unsigned bits)
{
    uint64_t before[TROD_OWN_TLBS] = {0};
    unsigned n = 0;
    bool known;

    if (s->by != TROD_OWN_BY_ROW)
        return trod_own_tlb_ref(t, kind, addr, bits);
    for (const struct trod_own_tlb *k = t; k && n < TROD_OWN_TLBS; k = k->next)
        before[n++] = k->n.misses[kind];
    known = trod_own_tlb_ref(t, kind, addr, bits);
    n = 0;
    for (const struct trod_own_tlb *k = t; k && n < TROD_OWN_TLBS; k = k->next, n++)
        note_row(s, TROD_OWN_CACHES + (unsigned)(k->spec - s->config->tlb),
                 k->n.misses[kind] - before[n]);
    return known;
}

/* The TLBs of CORE look for the page of ADDR; what none knows is walked to. */
static unsigned look_up(struct trod_own_sim *s, const struct trod_sim_ref *r, uint32_t core,
                        enum trod_own_kind kind, uint64_t addr)
{
    const unsigned bits = trod_own_pages_bits(&s->pages, addr);
    struct trod_own_tlb *t = s->look[core][kind != TROD_OWN_FETCH];
    uint64_t at[TROD_OWN_WALK_MOST];
    unsigned n;

    if (!t || known_to(s, t, kind, addr, bits))
        return bits;
    n = trod_own_pages_walk(&s->pages, addr, bits, at);
    s->walks.walks++;
    s->walks.reads += n;
    if (s->by == TROD_OWN_BY_ROW)
        note_row(s, TROD_OWN_MISSERS - 1, 1);
    if (s->by == TROD_OWN_BY_OWNER)
        s->current = s->tables;
    for (unsigned i = 0; s->walk[core] && i < n; i++) {
        if (s->by)
            note_reference(s, at[i]);
        s->line_refs++;
        trod_own_cache_ref(s->walk[core], TROD_OWN_READ, at[i], 8, r->pc);
    }
    s->current = current_of(s, r, core);
    return bits;
}

/* How many of SIZE bytes at ADDR lie before the next multiple of 2^BITS. */
static uint32_t within(uint64_t addr, uint32_t size, unsigned bits)
{
    const uint64_t room = (UINT64_C(1) << bits) - (addr & ((UINT64_C(1) << bits) - 1));

    return size < room ? size : (uint32_t)room;
}

/* A reference by virtual address, page by page; a physical address alone is on no page. */
static void paged(struct trod_own_sim *s, const struct trod_sim_ref *r, uint32_t core,
                  enum trod_own_kind kind)
{
    uint64_t addr = r->addr;
    uint32_t left = r->size;

    if (r->physical) {
        lines(s, r, core, kind, addr, left);
        return;
    }
    if (s->config->physical && r->value != TROD_NOWHERE)
        trod_own_pages_note(&s->pages, addr, r->value);
    while (left) {
        const uint32_t n = within(addr, left, look_up(s, r, core, kind, addr));

        for (uint32_t done = 0, part; done < n; done += part) {
            part = n - done;
            if (s->config->physical) {
                part = within(addr + done, part, s->pages.map_bits);
                lines(s, r, core, kind, trod_own_pages_place(&s->pages, addr + done), part);
            } else {
                lines(s, r, core, kind, addr + done, part);
            }
        }
        addr += n;
        left -= n;
    }
}

/* Another thread comes to CORE: what it has of its own is emptied. */
static void switched(struct trod_own_sim *s, uint32_t core)
{
    const struct trod_own_config *c = s->config;

    s->switches++;
    for (unsigned i = 0; c->flush & TROD_OWN_FLUSH_TLBS && i < c->n_tlbs; i++)
        if (!c->tlb[i].home.shared && c->tlb[i].home.cluster < 2 && trod_own_tlb_of(s, i, core))
            trod_own_tlb_flush(trod_own_tlb_of(s, i, core));
    for (unsigned i = 0; c->flush & TROD_OWN_FLUSH_CACHES && i < c->n; i++)
        if (!c->spec[i].home.shared && c->spec[i].home.cluster < 2 && trod_own_cache_of(s, i, core))
            trod_own_cache_flush(trod_own_cache_of(s, i, core));
}

/* Is the write R a line that a cache before this hierarchy wrote back? */
static bool is_writeback(const struct trod_own_config *c, const struct trod_sim_ref *r)
{
    return r->size >= c->writebacks && r->addr % c->writebacks == 0;
}

/* R is a write-back of a cache before these: write it line by line, and, if addresses are physical,
 * page by page. */
static void written_back(struct trod_own_sim *s, const struct trod_sim_ref *r, uint32_t core)
{
    const bool physical = s->config->physical && !r->physical;
    struct trod_own_cache *c = s->entry[core][1];

    if (physical && r->value != TROD_NOWHERE)
        trod_own_pages_note(&s->pages, r->addr, r->value);
    for (uint32_t done = 0, n; c && done < r->size; done += n) {
        uint64_t addr = r->addr + done;

        n = within(addr, r->size - done, c->line_bits);
        if (physical) {
            n = within(addr, n, s->pages.map_bits);
            addr = trod_own_pages_place(&s->pages, addr);
        }
        if (s->shards <= 1 || is_mine(s, addr))
            trod_own_cache_write_back(c, addr, n);
    }
}

static void one(struct trod_own_sim *s, const struct trod_sim_ref *r, uint32_t core)
{
    const enum trod_own_kind kind = (enum trod_own_kind)r->op;

    s->memory.no_pc = r->no_pc;
    s->memory.stream = r->stream; /* of what a flush writes back too: the thread that comes */
    if (s->config->flush && s->runs[core] != r->stream + 1) {
        if (s->runs[core])
            switched(s, core);
        s->runs[core] = r->stream + 1;
    }
    if (s->config->writebacks && kind == TROD_OWN_WRITE && is_writeback(s->config, r)) {
        written_back(s, r, core);
        return;
    }
    s->refs += s->shards <= 1 || is_mine(s, r->addr);
    s->current = current_of(s, r, core);
    note_name(s, r);
    if (s->paged)
        paged(s, r, core, kind);
    else
        lines(s, r, core, kind, r->addr, r->size);
}

/* R is not a reference: note the page size, or the place of a page, that it gives. */
static void note_pages(struct trod_own_sim *s, const struct trod_sim_ref *r)
{
    if (r->op == TROD_OP_PAGE_SIZE)
        trod_own_pages_size(&s->pages, r->value);
    else if (r->op == TROD_OP_MAPPING && s->config->physical)
        trod_own_pages_note(&s->pages, r->addr, r->value);
}

int trod_own_sim_check(struct trod_own_sim *s)
{
    for (uint32_t i = 0; i < s->instances; i++) {
        const struct trod_own_cache *c = &s->cache[i];

        s->failed = s->failed || c->failed || (c->shadow && c->shadow->failed);
        if (c->coming && c->coming->failed)
            return TROD_ERR_IO;
    }
    for (uint32_t i = 0; i < s->tlbs; i++)
        s->failed = s->failed || s->tlb[i].failed;
    if (s->memory.rc < 0)
        return s->memory.rc;
    return s->failed || s->pages.failed ? TROD_ERR_NOMEM : 0;
}

/* Is there nothing to look at but the caches themselves? */
static bool is_plain(const struct trod_own_sim *s)
{
    const struct trod_own_config *c = s->config;

    return !c->flush && !s->paged && !s->sharing && !(c->coherent && c->cores > 1) && !s->phased &&
           !s->interval && !s->phases.until_full && !c->writebacks && !s->memory.rows;
}

/* References where that is so. PARTS: there are other parts. */
TROD_HOT void feed_plain(struct trod_own_sim *s, const struct trod_sim_ref *r, size_t n, bool cores,
                         const bool parts)
{
    uint64_t line_refs = 0;

    for (const struct trod_sim_ref *end = r + n; r < end; r++) {
        const bool code = r->op == TROD_OP_FETCH;
        const enum trod_own_kind kind = (enum trod_own_kind)r->op;
        struct trod_own_cache *c;
        uint64_t addr = r->addr;
        uint32_t core;

        s->instructions += trod_ref_is_instruction(r);
        if (r->op > TROD_OP_WRITE)
            continue;
        core = core_of(s, r, cores);
        c = s->entry[core][!code];
        s->refs += !parts || is_mine(s, addr);
        s->current = current_of(s, r, core);
        note_name(s, r);
        for (uint32_t left = r->size; c && left;) {
            const uint32_t room = c->spec->line - (uint32_t)(addr & (c->spec->line - 1));
            const uint32_t part = left < room ? left : room;

            if (!parts || is_mine(s, addr)) {
                line_refs++;
                if (s->by)
                    note_reference(s, addr);
                if (!trod_own_cache_again(c, kind, addr))
                    trod_own_cache_ref(c, kind, addr, part, r->pc);
            }
            addr += part;
            left -= part;
        }
    }
    s->line_refs += line_refs;
}

_Static_assert((int)TROD_OWN_FETCH == TROD_OP_FETCH && (int)TROD_OWN_READ == TROD_OP_READ &&
                   (int)TROD_OWN_WRITE == TROD_OP_WRITE,
               "a reference's operation is its kind");

int trod_own_sim_feed(struct trod_own_sim *s, const struct trod_sim_ref *r, size_t n, bool cores)
{
    for (uint32_t i = 0; s->by && i < s->instances; i++) {
        s->cache[i].missed = note_miss;
        s->cache[i].user = s;
    }
    if (is_plain(s)) {
        if (s->shards > 1)
            feed_plain(s, r, n, cores, true);
        else
            feed_plain(s, r, n, cores, false);
        return trod_own_sim_check(s);
    }
    for (size_t i = 0; i < n; i++) {
        if (trod_ref_is_instruction(&r[i])) {
            if (s->phased)
                trod_own_phase_instruction(s);
            if (s->interval && s->mode == TROD_OWN_COUNTING && s->instructions &&
                s->instructions % s->interval == 0)
                trod_own_sim_snapshot(s);
            s->instructions++;
        }
        if (s->mode == TROD_OWN_SKIPPING)
            continue;
        if (r[i].op <= TROD_OP_WRITE) {
            s->any = true;
            one(s, &r[i], core_of(s, &r[i], cores));
        } else if (s->paged) {
            note_pages(s, &r[i]);
        }
        if (s->phases.until_full && !s->full)
            trod_own_phase_full(s);
    }
    return trod_own_sim_check(s);
}

void trod_own_sim_reset(struct trod_own_sim *s)
{
    for (uint32_t i = 0; i < s->instances; i++)
        trod_own_cache_reset(&s->cache[i]);
    for (uint32_t i = 0; i < s->tlbs; i++)
        s->tlb[i].n = (struct trod_own_tlb_counts){.evictions = 0};
    s->walks = (struct trod_own_walks){.walks = 0};
    s->pages.unknown = s->switches = 0;
    s->invalidations = s->interventions = s->upgrades = 0;
    s->instructions = s->refs = s->line_refs = 0;
    s->last_row = s->no_key = 0;
    s->n_rows = s->n_shared = s->n_snapshots = 0;
    trod_own_phase_reset(s);
    trod_lines_clear(&s->key);
    trod_lines_clear(&s->shared_of);
}
