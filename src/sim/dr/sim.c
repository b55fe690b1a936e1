/*
 * sim.c - references given to cores and caches, with skipping, warm-up and counting.
 *
 * Implements dr/sim.h, trod_dr_sim_feed.
 */
#include "sim/dr/sim.h"

#include <string.h>

/*
 * The warm-up is over: its counts are put aside; the caches keep their contents, and the snoop
 * filter its counts.
 */
static void reset(struct trod_dr_sim *s)
{
    const struct trod_dr_stats zero = {0};

    for (uint32_t i = 0; i < s->n_cache; i++) {
        s->cache[i].warmup = s->cache[i].now;
        s->cache[i].now = zero;
    }
    trod_dr_misses_reset(&s->misses);
    for (uint32_t i = 0; s->tlb && i < s->config->cores; i++) {
        s->tlb[i].code.now = s->tlb[i].data.now = s->tlb[i].l2.now = zero;
    }
}

static bool is_ref(const struct trod_sim_ref *r)
{
    return r->op < TROD_OP_CPU;
}

/* Are all last-level caches full enough? */
static bool full_enough(const struct trod_dr_sim *s)
{
    for (uint32_t i = 0; i < s->n_cache; i++) {
        const struct trod_dr_cache *c = &s->cache[i];
        const double lines = (double)c->store.sets * c->store.ways;

        if (!c->parent && (double)c->loaded / lines < s->config->warmup_fraction)
            return false;
    }
    return true;
}

/* A reference was simulated: what counts from here on? */
static void count(struct trod_dr_sim *s)
{
    if (s->tlb) {
        if (s->warmup == 0)
            s->sim--;
        else if (--s->warmup == 0)
            reset(s);
        return;
    }
    if (s->warm && !s->warmed_up) {
        if (s->config->warmup_refs ? --s->warmup == 0 : full_enough(s)) {
            s->warmed_up = true;
            reset(s);
            return;
        }
    }
    s->sim--;
}

static bool at_end(const struct trod_dr_sim *s)
{
    if (s->tlb)
        return s->warmup == 0 && s->sim == 0;
    return (!s->warm || s->warmed_up) && s->sim == 0;
}

/* The core of R. */
static int core_of(struct trod_dr_sim *s, const struct trod_sim_ref *r, uint32_t *core,
                   struct trod_diag *diag)
{
    if (s->tlb && s->started && r->tid == s->last_tid) {
        *core = s->last_core;
        return 0;
    }
    if (s->cores.mode == TROD_DR_BY_SHARD) {
        *core = r->shard;
        if (r->shard >= s->config->cores)
            return trod_error(diag, TROD_ERR_USAGE, "cache.cores", NULL,
                              "core %u of the trace has no core in the configuration, which has "
                              "%u",
                              r->shard, s->config->cores);
        s->cores.core[*core].ever = 1;
    } else {
        *core = trod_dr_cores_of(&s->cores, r->tid);
    }
    s->last_tid = r->tid;
    s->last_core = *core;
    return 0;
}

static void request(struct trod_dr_sim *s, const struct trod_sim_ref *r, uint32_t core)
{
    switch (r->op) {
    case TROD_OP_FETCH:
    case TROD_OP_PREFETCH_CODE:
        trod_dr_request(s->code[core], r);
        break;
    case TROD_OP_FLUSH_CODE:
        trod_dr_flush(s->code[core], r);
        break;
    case TROD_OP_FLUSH:
        trod_dr_flush(s->data[core], r);
        break;
    default:
        trod_dr_request(s->data[core], r);
        break;
    }
}

static void tlb_request(struct trod_dr_sim *s, const struct trod_sim_ref *r, uint32_t core)
{
    uint64_t *process;

    if (r->op > TROD_OP_WRITE || r->physical)
        return;
    if (!(process = trod_lines_at(&s->process, r->pid))) {
        s->cores.failed = true;
        return;
    }
    if (*process == 0)
        *process = s->process.n;
    trod_dr_tlb_request(r->op == TROD_OP_FETCH ? &s->tlb[core].code : &s->tlb[core].data, r,
                        *process % TROD_DR_PROCESSES);
}

static void simulate(struct trod_dr_sim *s, const struct trod_sim_ref *r, uint32_t core)
{
    struct trod_sim_ref t;

    if (r->op == TROD_OP_EXIT) {
        if (s->cores.mode != TROD_DR_BY_SHARD)
            trod_dr_cores_exit(&s->cores, r->tid);
        s->last_tid = 0;
        return;
    }
    if (r->op > TROD_OP_FLUSH_CODE)
        return;
    if (s->config->physical) {
        t = *r;
        t.addr = r->physical ? r->addr : trod_dr_pages_translate(&s->pages, r->addr);
        if (r->op == TROD_OP_READ || r->op == TROD_OP_WRITE || trod_op_is_prefetch(r->op))
            t.pc = trod_dr_pages_translate(&s->pages, r->pc);
        r = &t;
    }
    if (s->tlb)
        tlb_request(s, r, core);
    else
        request(s, r, core);
}

static int one(struct trod_dr_sim *s, const struct trod_sim_ref *r, struct trod_diag *diag)
{
    uint32_t core = 0;
    int rc;

    if (s->skip) {
        s->skip -= is_ref(r);
        return 0;
    }
    if (at_end(s)) {
        s->over = true;
        return 0;
    }
    if (r->op == TROD_OP_CPU && s->cores.mode == TROD_DR_BY_CPU) {
        trod_dr_cores_cpu(&s->cores, r->tid, r->value);
        if (r->tid == s->last_tid)
            s->last_core = trod_dr_cores_of(&s->cores, r->tid);
        return 0;
    }
    if (r->op == TROD_OP_MAPPING)
        trod_dr_pages_map(&s->pages, r->addr, r->value);
    if (r->op == TROD_OP_PAGE_SIZE)
        trod_dr_pages_size(&s->pages, r->value);
    if (!is_ref(r) && !s->started)
        return 0;
    if ((rc = core_of(s, r, &core, diag)) < 0)
        return rc;
    s->started = true;
    if (!is_ref(r))
        return 0;
    simulate(s, r, core);
    count(s);
    return 0;
}

static bool failed(const struct trod_dr_sim *s)
{
    bool bad = s->cores.failed || s->pages.failed || s->misses.failed;

    for (uint32_t i = 0; i < s->n_cache; i++)
        bad = bad || s->cache[i].failed;
    for (uint32_t i = 0; s->tlb && i < s->config->cores; i++)
        bad = bad || s->tlb[i].code.failed || s->tlb[i].data.failed || s->tlb[i].l2.failed;
    return bad;
}

int trod_dr_sim_feed(struct trod_dr_sim *s, const struct trod_sim_ref *r, size_t n,
                     struct trod_diag *diag)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && !s->over && i < n; i++)
        rc = one(s, &r[i], diag);
    return rc < 0 ? rc : failed(s) ? TROD_ERR_NOMEM : 0;
}
