/*
 * flow.c - how values flow from instruction to instruction (deps.h).
 *
 * Implements docs/analysing.md, "deps", "The model". An instruction is counted when the next one
 * comes: only then are its accesses known. It reads registers and memory before it writes them.
 */
#include "analysis/deps/step.h"

#include "core/spare.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = DEPS_PART * sizeof(struct deps_step) }; /* bytes */

/* No instruction was there yet; the first is at place 0. */
static struct deps_now before_all(struct deps_state *s)
{
    return (struct deps_now){.n = DEPS_PART, .site = &s->nothing, .place = BEFORE};
}

static int begin(struct deps_state *s)
{
    struct deps_live *l = &s->live;
    uint64_t window = 1;

    l->now = before_all(s);
    s->nothing = (struct deps_site){
        .latency = s->limits.latency[DEPS_UNKNOWN],
        .limit = (uint16_t)(s->limits.group - 1),
        .class = DEPS_UNKNOWN,
    };
    if (l->step)
        return TROD_OK;
    for (unsigned c = 0; c < s->n_configs; c++)
        while (window < s->config[c].window)
            window *= 2;
    l->ring_mask = window - 1;
    l->ring = calloc((size_t)window * s->stride + 1, sizeof *l->ring);
    l->step = trod_spare_zeroed(STEPS); /* of a short thread few are used */
    l->by = s->n_configs ? calloc(DEPS_REGS, sizeof *l->by) : NULL;
    l->memory.stride = s->stride;
    return l->ring && l->step && (l->by || !s->n_configs) ? TROD_OK : TROD_ERR_NOMEM;
}

void deps_flow_free(struct deps_state *s)
{
    free(s->live.ring);
    free(s->live.by);
    trod_spare_give(s->live.step, STEPS);
    deps_memory_free(&s->live.memory);
}

/* What ran since this was done last is counted. */
static void count_ran(struct deps_state *s)
{
    for (size_t c = 0; c < s->places.n_chunks; c++)
        for (size_t i = 0; s->places.chunk[c] && i < DEPS_SITES; i++) {
            struct deps_site *site = &s->places.chunk[c]->site[i];
            struct deps_counts *counts = &s->places.chunk[c]->counts[i];

            s->sums.by_class[site->class] += site->ran;
            s->sums.loaded += (uint64_t)site->ran * site->n_loaded;
            s->sums.what[DEPS_GROUP] += site->grouped;
            s->sums.what[DEPS_STALL] += site->stalled;
            counts->executed += site->ran;
            counts->count[DEPS_GROUP] += site->grouped;
            counts->count[DEPS_STALL] += site->stalled;
            site->ran = site->grouped = site->stalled = 0;
        }
    s->sums.by_class[DEPS_UNKNOWN] += s->nothing.ran;
    s->nothing.ran = 0;
    s->live.parts = 0;
}

/* ---- the critical path */

/* How long what STEP is of took. */
static unsigned takes(const struct deps_state *s, const struct deps_step *step)
{
    const struct deps_site *site = deps_site_at(&s->places, step->site);

    if (step->back & DEPS_SKIPPED)
        return s->limits.latency[DEPS_INT];
    return site ? site->latency : s->nothing.latency;
}

/* The longest chain of the part that ends with instruction N: each waits for the one before. */
void deps_end_part(struct deps_state *s, uint64_t n)
{
    struct deps_live *l = &s->live;
    const uint64_t first = (n - 1) / DEPS_PART * DEPS_PART + 1;

    for (uint64_t at = l->best_at; at >= first;) {
        const struct deps_step *step = &l->step[(at - 1) % DEPS_PART];
        const uint32_t back = step->back & ~(uint32_t)DEPS_SKIPPED;
        const unsigned latency = takes(s, step);
        struct deps_counts *site = deps_counts_at(&s->places, step->site);

        s->sums.what[DEPS_CRITICAL] += latency;
        if (site)
            site->count[DEPS_CRITICAL] += latency;
        if (back == 0)
            break;
        at -= back;
    }
    l->cycles = l->best > l->cycles ? l->best : l->cycles;
    l->best = l->best_at = 0;
    if (++l->parts == DEPS_PARTS)
        count_ran(s);
}

/* ---- the end of an instruction */

/* When instruction number N can enter machine C. */
static double enter(struct deps_state *s, unsigned c, uint64_t n)
{
    struct deps_config *g = &s->config[c];
    double at = 0;

    if (g->window)
        at = s->live.ring[((n - g->window) & s->live.ring_mask) * s->stride + c];
    if (!g->width)
        return at;
    if (at > g->enter) {
        g->enter = at;
        g->entered = 1;
    } else if (g->entered < g->width) {
        g->entered++;
    } else {
        g->enter += 1;
        g->entered = 1;
    }
    return g->enter;
}

/* The machines with bounds: when instruction N, which takes LATENCY, is done in each. */
static void schedule(struct deps_state *s, uint64_t n, double latency)
{
    struct deps_live *l = &s->live;
    double *const ring = l->ring + (n & l->ring_mask) * s->stride;

    for (unsigned c = 0; c < s->n_configs; c++) {
        const double at = enter(s, c, n);

        l->done[c] = (at > l->latest[c] ? at : l->latest[c]) + latency;
        l->retired[c] = l->done[c] > l->retired[c] ? l->done[c] : l->retired[c];
        ring[c] = l->retired[c];
        l->latest[c] = 0;
    }
}

FLOW int end_instruction(struct deps_state *s, bool bounded, const struct deps_now *now)
{
    struct deps_live *l = &s->live;
    const struct deps_site *site = now->site;
    const unsigned latency = site->latency;
    const uint64_t done = now->start + latency;
    struct deps_step *const step = &l->step[(now->n - 1) % DEPS_PART];

    if (bounded)
        schedule(s, now->n, latency);
    if (done > l->best) {
        l->best = done;
        l->best_at = now->n;
    }
    step->back = site == &s->skipped ? now->back | DEPS_SKIPPED : now->back;
    deps_write_registers(s, bounded, deps_registers(s, site) + site->n_reads, site->n_loaded,
                         site->n_writes, now->n, done);
    if (now->n % DEPS_PART == 0)
        deps_end_part(s, now->n);
    return l->n_stores ? deps_write_memory(s, done) : TROD_OK;
}

int deps_end_open(struct deps_state *s)
{
    return s->live.now.open ? end_instruction(s, s->n_configs != 0, &s->live.now) : TROD_OK;
}

/* ---- its beginning */

/* Site NUMBER, met for the first time in this state. NULL: no memory. */
struct deps_site *deps_meet(struct deps_state *s, const struct trod_batch *b, uint32_t number)
{
    return deps_site_new(&s->places, s->context.sites, number,
                         b->meta ? b->meta->isa : TROD_ISA_UNKNOWN, &s->limits);
}

/* It was not executed: it waits for what it reads, and that is all. */
static struct deps_site *skip(struct deps_state *s, const struct deps_site *site)
{
    s->sums.skipped++;
    s->sums.loaded -= site->n_loaded; /* count_ran adds them */
    s->skipped = *site;
    s->skipped.latency = s->limits.latency[DEPS_INT];
    s->skipped.n_loaded = s->skipped.n_writes = 0;
    return &s->skipped;
}

/* The next instruction, of site NUMBER. */
FLOW int next_instruction(struct deps_state *s, bool bounded, const struct trod_batch *b,
                          struct deps_now *now, uint32_t number, bool skipped)
{
    struct deps_site *site = deps_site_at(&s->places, number);

    if (!site || !site->shape) {
        site = number == TROD_NO_SITE ? &s->nothing : deps_meet(s, b, number);
        if (!site)
            return TROD_ERR_NOMEM;
    }
    *now = (struct deps_now){
        .n = now->n + 1, .place = deps_place_behind(now, site), .site = site, .open = true};
    s->live.step[(now->n - 1) % DEPS_PART].site = number;
    site->ran++;
    deps_read_registers(s, bounded, now, deps_registers(s, site), site->n_reads);
    if (skipped)
        now->site = skip(s, site);
    return TROD_OK;
}

/* ---- rows one by one */

FLOW bool says_where(const struct trod_batch *b, uint32_t i)
{
    const uint32_t place = TROD_COL_ADDR | TROD_COL_SIZE;

    return (b->have & b->has[i] & place) == place && !(b->flags[i] & TROD_F_IFETCH);
}

FLOW int rows(struct deps_state *s, bool bounded, const struct trod_batch *b, uint32_t from,
              uint32_t to)
{
    const uint8_t *const kind = b->kind;
    const uint32_t *const site = b->have & TROD_COL_SITE ? b->site : NULL;
    struct deps_now now = s->live.now;
    int rc = TROD_OK;

    for (uint32_t i = from; rc == TROD_OK && i < to; i++) {
        if (kind[i] == TROD_INSTR) {
            const uint32_t flags = b->flags[i];

            if (flags & TROD_F_SYNTHETIC)
                continue;
            if (now.open)
                rc = end_instruction(s, bounded, &now);
            if (rc == TROD_OK)
                rc = next_instruction(s, bounded, b, &now, site ? site[i] : TROD_NO_SITE,
                                      flags & TROD_F_SKIPPED);
        } else if (kind[i] >= TROD_READ && kind[i] <= TROD_ATOMIC && says_where(b, i)) {
            if (now.n > DEPS_PART) {
                rc = deps_access_row(s, bounded, &now, b, i, kind[i]);
            } else { /* of an instruction that is not there */
                s->sums.loads += kind[i] != TROD_WRITE;
                s->sums.stores += kind[i] != TROD_READ;
            }
        }
    }
    s->live.now = now;
    return rc;
}

int deps_rows(struct deps_state *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return rows(s, false, b, from, to);
}

static int bounded_rows(struct deps_state *s, const struct trod_batch *b, uint32_t from,
                        uint32_t to)
{
    return rows(s, true, b, from, to);
}

int deps_flow_rows(struct deps_state *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const uint32_t file = b->meta && !s->context.merged ? b->meta->file + 1 : 1;
    int rc = TROD_OK;

    if (s->live.file != file) {
        if (s->live.file)
            rc = deps_flow_end(s);
        if (rc == TROD_OK)
            rc = begin(s);
        s->live.file = file;
    }
    if (rc < 0)
        return rc;
    if (s->n_configs)
        return bounded_rows(s, b, from, to);
    return b->streaks ? deps_streaks(s, b, from, to) : deps_rows(s, b, from, to);
}

/* Loaded registers that were never read: each load of one is used once or not at all. */
static void count_unused(struct deps_sums *n)
{
    n->unused = n->loaded;
    for (unsigned i = 0; i < DEPS_BINS; i++)
        n->unused -= n->load_use[i];
}

int deps_flow_end(struct deps_state *s)
{
    struct deps_live *l = &s->live;
    const uint64_t n = l->now.n;
    int rc;

    if (n <= DEPS_PART)
        return TROD_OK;
    rc = deps_end_open(s);
    if (n % DEPS_PART)
        deps_end_part(s, n);
    count_ran(s);
    count_unused(&s->sums);
    s->sums.instructions += n - DEPS_PART;
    s->sums.unknown = s->sums.by_class[DEPS_UNKNOWN];
    s->sums.cycles += l->cycles;
    for (unsigned c = 0; c < s->n_configs; c++) {
        s->sums.bounded[c] += (uint64_t)l->retired[c];
        s->config[c].enter = s->config[c].entered = 0;
    }
    memset(l->wrote, 0, sizeof l->wrote);
    memset(l->ready, 0, sizeof l->ready);
    if (l->by)
        memset(l->by, 0, DEPS_REGS * sizeof *l->by);
    memset(l->retired, 0, sizeof l->retired);
    memset(l->ring, 0, (l->ring_mask + 1) * s->stride * sizeof *l->ring);
    l->now = before_all(s);
    deps_memory_clear(&l->memory);
    l->memory.stored = 0;
    l->cycles = l->stack = 0;
    return rc;
}
