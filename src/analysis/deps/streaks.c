/*
 * streaks.c - streaks of instructions, for no machine with bounds, which is the usual case
 * (step.h).
 *
 * Implements docs/analysing.md, "deps", "The model". Most instructions have few registers; for each
 * number of them the loop's body is compiled with that number as a constant.
 */
#include "analysis/deps/step.h"

#include "trod/streak.h"

enum {
    ROWS_AHEAD = 64, /* whose accesses are loaded before they are looked at */
    SITES_AHEAD = 32 /* of a streak, at most, that are loaded before they come */
};

/*
 * The accesses of the instruction that is looked at, from row I on up to the next one, which is
 * there; they say where they are. Returns its row.
 */
static uint32_t accesses(struct deps_state *s, const struct trod_batch *b, uint32_t i)
{
    struct deps_live *const l = &s->live;
    unsigned kind;

    for (; (kind = b->kind[i]) != TROD_INSTR; i++)
        if (kind >= TROD_READ && kind <= TROD_ATOMIC &&
            deps_access_row(s, false, &l->now, b, i, kind) < 0)
            l->failed = TROD_ERR_NOMEM;
    if (l->n_stores && deps_write_memory(s, l->now.start + l->now.site->latency) < 0)
        l->failed = TROD_ERR_NOMEM;
    return i;
}

/* The registers of an instruction: so many that it reads, loads and writes, in this order. */
struct registers {
    const uint8_t *reg;
    unsigned reads, loaded, writes;
};

/* Instruction NOW at *ROW, all of it, with its registers R. There is another one behind it. */
FLOW void whole(struct deps_state *s, const struct trod_batch *b, const uint8_t *kind,
                struct deps_now *now, uint32_t *row, struct deps_step *step, struct registers r)
{
    struct deps_live *l = &s->live;
    uint64_t done;

    deps_read_registers(s, false, now, r.reg, r.reads);
    if (kind[++*row] != TROD_INSTR) {
        l->now = *now;
        *row = accesses(s, b, *row);
        now->start = l->now.start;
        now->back = l->now.back;
    }
    done = now->start + now->site->latency;
    step->back = now->back;
    if (done > l->best) {
        l->best = done;
        l->best_at = now->n;
    }
    deps_write_registers(s, false, r.reg + r.reads, r.loaded, r.writes, now->n, done);
}

#define WITH(reads, writes)                                                                        \
    case DEPS_SHAPE(reads, writes):                                                                \
        whole(s, b, kind, &now, row, step, (struct registers){site->reg, reads, 0, writes});       \
        break;

#define WITH_READS(reads)                                                                          \
    WITH(reads, 0)                                                                                 \
    WITH(reads, 1)                                                                                 \
    WITH(reads, 2)                                                                                 \
    case DEPS_SHAPE_LOAD + (reads):                                                                \
        whole(s, b, kind, &now, row, step, (struct registers){site->reg, reads, 1, 0});            \
        break;

/*
 * N instructions from row *ROW on, of consecutive sites from SITE, NUMBER, on, with consecutive
 * steps, up to one that was not met yet. None is open. Returns how many there were.
 */
static uint32_t straight(struct deps_state *s, const struct trod_batch *b, uint32_t *at,
                         struct deps_site *site, uint32_t number, uint32_t n)
{
    struct deps_site *const first = site, *const end = site + n;
    struct deps_now now = s->live.now;
    struct deps_step *step = &s->live.step[now.n % DEPS_PART];
    uint32_t i = *at, *const row = &i;
    const uint8_t *const kind = b->kind;

    for (; site != end && site->shape; site++, step++) {
        now =
            (struct deps_now){.n = now.n + 1, .place = deps_place_behind(&now, site), .site = site};
        step->site = number++;
        site->ran++;
        switch (site->shape) {
            WITH_READS(0)
            WITH_READS(1)
            WITH_READS(2)
            WITH_READS(3)
            WITH_READS(4)
        default:
            whole(s, b, kind, &now, row, step,
                  (struct registers){deps_registers(s, site), site->n_reads, site->n_loaded,
                                     site->n_writes});
        }
    }
    s->live.now = now;
    *at = i;
    return (uint32_t)(site - first);
}

/*
 * The N instructions of streak T, all of which are followed by another, and their accesses. *ROW:
 * what is behind.
 */
static int streak(struct deps_state *s, const struct trod_batch *b, struct trod_streak t,
                  uint32_t *row)
{
    struct deps_live *l = &s->live;

    if (deps_end_open(s) < 0)
        return TROD_ERR_NOMEM;
    while (t.n) {
        struct deps_site *site = deps_site_at(&s->places, t.site);
        const uint32_t in_chunk = DEPS_SITES - t.site % DEPS_SITES;
        const uint32_t in_part = DEPS_PART - (uint32_t)(l->now.n % DEPS_PART);
        uint32_t n = in_chunk < in_part ? in_chunk : in_part;

        n = t.n < n ? t.n : n;
        if ((!site || !site->shape) && !(site = deps_meet(s, b, t.site)))
            return TROD_ERR_NOMEM;
        n = straight(s, b, &t.row, site, t.site, n);
        if (l->now.n % DEPS_PART == 0)
            deps_end_part(s, l->now.n);
        t.site += n;
        t.n -= n;
    }
    l->now.open = false;
    *row = t.row;
    return l->failed;
}

/* Accesses of a batch: for how many of them lines and records are being loaded. */
struct ahead {
    const uint16_t *access;
    uint32_t n, lines, records;
    size_t word[ROWS_AHEAD]; /* of those between, by their numbers, unless they are more */
};

/* Begin to load what the accesses behind row ROW need. */
static void fetch(const struct deps_state *s, const struct trod_batch *b, struct ahead *a,
                  uint32_t row)
{
    const struct deps_memory *const m = &s->live.memory;
    uint32_t k = a->lines;

    for (; k < a->n && a->access[k] < row + ROWS_AHEAD; k++)
        a->word[k % ROWS_AHEAD] = deps_fetch_line(m, b->addr[a->access[k]]);
    a->lines = k;
    for (k = a->records; k < a->lines && a->access[k] < row + ROWS_AHEAD / 2; k++)
        deps_fetch_record(m, a->word[k % ROWS_AHEAD]);
    a->records = k;
}

/* Begin to load the sites of a streak that comes soon, those in one chunk. */
static void fetch_sites(const struct deps_state *s, const struct trod_streak_walk *walk)
{
    uint32_t end;
    const uint32_t site = trod_streak_soon(walk, &end);
    const struct deps_site *at = end ? deps_site_at(&s->places, site) : NULL;
    uint32_t n = DEPS_SITES - site % DEPS_SITES;

    if (!at)
        return;
    n = end - site < n ? end - site : n;
    n = n < SITES_AHEAD ? n : SITES_AHEAD;
    for (uint32_t i = 0; i < n; i += DEPS_LINE / sizeof *at)
        __builtin_prefetch(at + i, 1);
}

/*
 * Streaks whose last instruction another streak follows, and so no row that has to be looked at by
 * itself, are gone through as a whole; the last one of others is only begun.
 */
int deps_streaks(struct deps_state *s, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct trod_streak_walk walk;
    const struct trod_streak *next;
    uint32_t row = from;
    struct ahead ahead = {0};
    int rc = TROD_OK;

    if (s->live.memory.size > DEPS_FETCH)
        ahead.access = trod_streak_accesses(b, from, to, &ahead.n);
    trod_streak_walk_begin(&walk, b, from, to);
    next = trod_streak_next(&walk);
    while (next && rc == TROD_OK) {
        struct trod_streak t = *next;

        next = trod_streak_next(&walk);
        fetch_sites(s, &walk);
        if (t.n && !(next && next->n))
            t.n--;
        if (t.n == 0)
            continue;
        fetch(s, b, &ahead, t.row);
        if (row < t.row)
            rc = deps_rows(s, b, row, t.row);
        if (rc == TROD_OK)
            rc = streak(s, b, t, &row);
    }
    return rc == TROD_OK && row < to ? deps_rows(s, b, row, to) : rc;
}
