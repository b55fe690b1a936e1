/*
 * flow.c - how values flow from instruction to instruction (deps.h).
 *
 * Implements docs/analysing.md, "deps", "The model". An instruction is counted when the next one
 * comes: only then are its accesses known. It reads registers and memory before it writes them.
 */
#include "analysis/deps/deps.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE_MOST = 4096 }; /* of an access: what is larger is no access of a program */

#if defined(__GNUC__)
#define FLOW static inline __attribute__((always_inline))
#else
#define FLOW static inline
#endif

/* The frame pointer counts as one near where the stack pointer led last. */
static const uint64_t near_stack = UINT64_C(1) << 20;

static int begin(struct deps_state *s)
{
    struct deps_live *l = &s->live;
    uint64_t window = 1;

    l->group_from = 1;
    s->nothing = (struct deps_site){.latency = s->latency[DEPS_UNKNOWN], .class = DEPS_UNKNOWN};
    if (l->step)
        return TROD_OK;
    for (unsigned c = 0; c < s->n_configs; c++)
        while (window < s->config[c].window)
            window *= 2;
    l->ring_mask = window - 1;
    l->ring = calloc((size_t)window * s->stride + 1, sizeof *l->ring);
    l->step = calloc(DEPS_PART, sizeof *l->step);
    l->memory.stride = s->stride;
    return l->ring && l->step ? TROD_OK : TROD_ERR_NOMEM;
}

void deps_flow_free(struct deps_state *s)
{
    free(s->live.ring);
    free(s->live.step);
    deps_memory_free(&s->live.memory);
}

static inline void blame(struct deps_state *s, struct deps_site *site, enum deps_what what)
{
    s->sums.what[what]++;
    site->count[what]++;
}

/* ---- the critical path */

/* The longest chain of the part that ends with instruction N: each waits for the one before. */
static void end_part(struct deps_state *s, uint64_t n)
{
    struct deps_live *l = &s->live;
    const uint64_t first = (n - 1) / DEPS_PART * DEPS_PART + 1;

    for (uint64_t at = l->best_at; at >= first;) {
        const struct deps_step *step = &l->step[(at - 1) % DEPS_PART];
        struct deps_site *site = deps_site_at(&s->places, step->site);

        s->sums.what[DEPS_CRITICAL] += step->latency;
        if (site)
            site->count[DEPS_CRITICAL] += step->latency;
        if (step->back == 0)
            break;
        at -= step->back;
    }
    l->cycles = l->best > l->cycles ? l->best : l->cycles;
    l->best = l->best_at = 0;
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

/* What instruction NOW writes is there at DONE. */
FLOW void write_registers(struct deps_state *s, bool bounded, const struct deps_now *now,
                          uint64_t done)
{
    const struct deps_site *site = now->site;
    const uint8_t *const reg = s->places.pool + site->regs + site->n_reads;
    uint32_t loaded = site->loaded;

    for (unsigned k = 0; k < site->n_writes; k++, loaded >>= 1) {
        struct deps_reg *r = &s->live.reg[reg[k]];

        if ((r->wrote | loaded) & 1) {
            s->sums.unused += r->wrote & 1;
            s->sums.loaded += loaded & 1;
        }
        r->wrote = 2 * now->n + (loaded & 1);
        r->ready = done;
        if (bounded)
            deps_copy(s->live.by[reg[k]], s->live.done, s->stride);
    }
}

/* The stores of the instruction, which is done at DONE. */
static int write_memory(struct deps_state *s, uint64_t done)
{
    struct deps_live *l = &s->live;
    int rc = TROD_OK;

    for (unsigned k = 0; rc == TROD_OK && k < l->n_stores; k++) {
        l->store[k].ready = done;
        rc = deps_memory_store(&l->memory, &l->store[k], l->done, s->opt->most, &s->sums.forgotten);
    }
    l->n_stores = 0;
    return rc;
}

FLOW int end_instruction(struct deps_state *s, bool bounded, const struct deps_now *now)
{
    struct deps_live *l = &s->live;
    const uint64_t back = now->from ? now->n - now->from : 0;
    const unsigned latency = now->skipped ? s->latency[DEPS_INT] : now->site->latency;
    const uint64_t done = now->start + latency;

    if (bounded)
        schedule(s, now->n, latency);
    if (done > l->best) {
        l->best = done;
        l->best_at = now->n;
    }
    l->step[(now->n - 1) % DEPS_PART] = (struct deps_step){
        .site = now->number,
        .back = (uint16_t)(back < UINT16_MAX ? back : UINT16_MAX),
        .latency = (uint16_t)latency,
    };
    if (!now->skipped)
        write_registers(s, bounded, now, done);
    if (now->n % DEPS_PART == 0)
        end_part(s, now->n);
    return l->n_stores ? write_memory(s, done) : TROD_OK;
}

/* ---- its beginning */

/* The distance is that of an instruction that uses what a load gave. */
static void use_load(struct deps_state *s, struct deps_site *site, struct deps_reg *r,
                     uint64_t distance)
{
    r->wrote--;
    s->sums.load_use[deps_bin(distance)]++;
    if (distance >= s->latency[DEPS_LOAD])
        return;
    s->sums.stall_cycles += s->latency[DEPS_LOAD] - distance;
    blame(s, site, DEPS_STALL);
}

FLOW void read_registers(struct deps_state *s, bool bounded, struct deps_now *now)
{
    struct deps_live *l = &s->live;
    struct deps_site *site = now->site;
    const uint8_t *const reg = s->places.pool + site->regs;
    const uint64_t n = now->n;
    uint64_t start = 0, from = 0, last = 0;

    for (unsigned k = 0; k < site->n_reads; k++) {
        struct deps_reg *r = &l->reg[reg[k]];
        const uint64_t at = r->wrote / 2;

        if (!at)
            continue;
        s->sums.registers[deps_bin(n - at)]++;
        if (r->ready > start) {
            from = at;
            start = r->ready;
        }
        last = at > last ? at : last;
        if (bounded)
            deps_later(l->latest, l->by[reg[k]], s->stride);
        if (r->wrote & 1)
            use_load(s, site, r, n - at);
    }
    now->start = start;
    now->from = from;
    if (last >= l->group_from)
        blame(s, site, DEPS_GROUP);
}

/*
 * Groups as the PowerPC 970 dispatches them: so many instructions, the last place for a branch
 * only, which ends its group (970FX User's Manual, "Dispatch").
 */
FLOW void group(struct deps_state *s, uint64_t n, bool jump)
{
    struct deps_live *l = &s->live;

    if (l->group_ended || n - l->group_from + !jump >= s->opt->group)
        l->group_from = n;
    l->group_ended = jump;
}

/* Site NUMBER, met for the first time in this state. NULL: no memory. */
static struct deps_site *meet(struct deps_state *s, const struct trod_batch *b, uint32_t number)
{
    return deps_site_new(&s->places, s->context.sites, number,
                         b->meta ? b->meta->isa : TROD_ISA_UNKNOWN, s->latency);
}

/* The next instruction, of site NUMBER. */
FLOW int next_instruction(struct deps_state *s, bool bounded, const struct trod_batch *b,
                          struct deps_now *now, uint32_t number, bool skipped)
{
    struct deps_site *site = &s->nothing;

    if (number != TROD_NO_SITE) {
        site = deps_site_at(&s->places, number);
        if ((!site || !(site->flags & DEPS_KNOWN)) && !(site = meet(s, b, number)))
            return TROD_ERR_NOMEM;
    }
    *now = (struct deps_now){
        .n = now->n + 1, .begun = true, .site = site, .number = number, .skipped = skipped};
    if (skipped)
        s->sums.skipped++;
    group(s, now->n, site->flags & DEPS_JUMP);
    site->ran++;
    read_registers(s, bounded, now);
    return TROD_OK;
}

/* ---- accesses */

/* Is the access to ADDR one of the stack? */
static bool on_stack(struct deps_live *l, uint64_t addr)
{
    const unsigned flags = l->now.site->flags;

    if (flags & DEPS_STACK) {
        l->stack = addr;
        return true;
    }
    return flags & DEPS_FRAME && l->stack && addr - l->stack + near_stack < 2 * near_stack;
}

static void count_operand(struct deps_state *s, uint64_t addr, uint32_t size)
{
    if (s->live.now.begun && size && (size & (size - 1)) == 0 && addr & (size - 1))
        blame(s, s->live.now.site, DEPS_MISALIGNED);
}

/* A store to the stack is loaded again, whole. */
static void reload(struct deps_state *s, struct deps_record *r, uint64_t distance)
{
    s->sums.spills += !r->reloaded;
    r->reloaded = true;
    s->sums.reloads++;
    s->sums.reload[deps_bin(distance)]++;
}

/* A load gets what record BY - 1 and maybe others stored. */
static void forward(struct deps_state *s, uint32_t by, enum deps_overlap overlap, bool stack)
{
    struct deps_live *l = &s->live;
    struct deps_record *r = &l->memory.record[by - 1];
    const uint64_t distance = l->now.n - r->at;

    s->sums.overlap[overlap]++;
    s->sums.forward[deps_bin(distance)]++;
    s->sums.between[deps_bin(l->memory.stored - r->stored)]++;
    if (r->at >= l->group_from)
        blame(s, l->now.site, DEPS_REFETCH);
    if (overlap == DEPS_PARTIAL || overlap == DEPS_SEVERAL)
        blame(s, l->now.site, DEPS_SPLIT);
    if (overlap == DEPS_EXACT && stack && r->stack)
        reload(s, r, distance);
}

static inline void wait_for(struct deps_now *now, uint64_t ready, uint64_t from)
{
    if (ready > now->start) {
        now->start = ready;
        now->from = from;
    }
}

static void load(struct deps_state *s, uint64_t addr, uint32_t size)
{
    struct deps_live *l = &s->live;
    struct deps_memory *m = &l->memory;
    struct deps_found f;
    uint32_t by;
    bool stack;

    s->sums.loads++;
    if (!l->now.begun)
        return;
    size = size < SIZE_MOST ? size : SIZE_MOST;
    stack = on_stack(l, addr);
    by = s->n_configs ? DEPS_LOOK : deps_memory_whole(m, addr, size);
    if (by == 0)
        return;
    if (by != DEPS_LOOK) {
        const struct deps_record *r = &m->record[by - 1];

        wait_for(&l->now, r->ready, r->at);
        forward(s, by, r->addr == addr && r->size == size ? DEPS_EXACT : DEPS_INSIDE, stack);
        return;
    }
    deps_memory_load(m, addr, size, &f, l->latest);
    if (!f.youngest)
        return;
    wait_for(&l->now, f.ready, f.from);
    forward(s, f.youngest, f.overlap, stack);
}

static int store(struct deps_state *s, uint64_t addr, uint32_t size)
{
    struct deps_live *l = &s->live;
    struct deps_store *to;
    int rc = TROD_OK;

    s->sums.stores++;
    if (!l->now.begun)
        return TROD_OK;
    size = size < SIZE_MOST ? size : SIZE_MOST;
    if (l->n_stores == DEPS_STORES) { /* more than any instruction but string operations has */
        deps_copy(l->done, l->latest, s->stride);
        rc = write_memory(s, l->now.start);
    }
    to = &l->store[l->n_stores++];
    *to = (struct deps_store){.at = l->now.n, .addr = addr, .size = size};
    to->stack = on_stack(l, addr);
    return rc;
}

static int access_row(struct deps_state *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t place = TROD_COL_ADDR | TROD_COL_SIZE;

    if ((b->have & b->has[i] & place) != place || b->flags[i] & TROD_F_IFETCH)
        return TROD_OK;
    count_operand(s, b->addr[i], b->size[i]);
    if (b->kind[i] != TROD_WRITE)
        load(s, b->addr[i], b->size[i]);
    return b->kind[i] != TROD_READ ? store(s, b->addr[i], b->size[i]) : TROD_OK;
}

FLOW int rows(struct deps_state *s, bool bounded, const struct trod_batch *b, uint32_t from,
              uint32_t to)
{
    const bool sites = b->have & TROD_COL_SITE;
    struct deps_now *const now = &s->live.now;
    int rc = TROD_OK;

    for (uint32_t i = from; rc == TROD_OK && i < to; i++) {
        const unsigned kind = b->kind[i];

        if (kind == TROD_INSTR) {
            const uint32_t flags = b->flags[i];

            if (flags & TROD_F_SYNTHETIC)
                continue;
            if (now->begun)
                rc = end_instruction(s, bounded, now);
            if (rc == TROD_OK)
                rc = next_instruction(s, bounded, b, now, sites ? b->site[i] : TROD_NO_SITE,
                                      flags & TROD_F_SKIPPED);
        } else if (kind >= TROD_READ && kind <= TROD_ATOMIC) {
            rc = access_row(s, b, i);
        }
    }
    return rc;
}

/* Of no machine with bounds, which is what is asked for most, and twice as fast. */
static int unbounded_rows(struct deps_state *s, const struct trod_batch *b, uint32_t from,
                          uint32_t to)
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
    const uint32_t file = b->meta ? b->meta->file + 1 : 1;
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
    return s->n_configs ? bounded_rows(s, b, from, to) : unbounded_rows(s, b, from, to);
}

/* What ran since the rows of the file began is counted. */
static void count_ran(struct deps_state *s)
{
    for (size_t c = 0; c < s->places.n_chunks; c++)
        for (size_t i = 0; s->places.chunk[c] && i < DEPS_SITES; i++) {
            struct deps_site *site = &s->places.chunk[c][i];

            s->sums.by_class[site->class] += site->ran;
            site->executed += site->ran;
            site->ran = 0;
        }
    s->sums.by_class[DEPS_UNKNOWN] += s->nothing.ran;
    s->nothing.ran = 0;
}

int deps_flow_end(struct deps_state *s)
{
    struct deps_live *l = &s->live;
    const uint64_t n = l->now.n;
    int rc = TROD_OK;

    if (n == 0)
        return rc;
    if (l->now.begun)
        rc = end_instruction(s, s->n_configs != 0, &l->now);
    if (n % DEPS_PART)
        end_part(s, n);
    count_ran(s);
    s->sums.instructions += n;
    s->sums.unknown = s->sums.by_class[DEPS_UNKNOWN];
    s->sums.cycles += l->cycles;
    for (unsigned c = 0; c < s->n_configs; c++) {
        s->sums.bounded[c] += (uint64_t)l->retired[c];
        s->config[c].enter = s->config[c].entered = 0;
    }
    for (unsigned r = 0; r < DEPS_REGS; r++)
        s->sums.unused += l->reg[r].wrote & 1;
    memset(l->reg, 0, sizeof l->reg);
    memset(l->by, 0, sizeof l->by);
    memset(l->retired, 0, sizeof l->retired);
    memset(l->ring, 0, (l->ring_mask + 1) * s->stride * sizeof *l->ring);
    memset(&l->now, 0, sizeof l->now);
    deps_memory_clear(&l->memory);
    l->memory.stored = 0;
    l->cycles = l->stack = 0;
    l->group_from = 1;
    l->group_ended = false;
    return rc;
}
