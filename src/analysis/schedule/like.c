/*
 * like.c - the schedule as DynamoRIO's schedule_stats prints it (drcachesim,
 * tools/schedule_stats.cpp).
 *
 * Lists stand in the order that the tool's containers give them. Lines of wall-clock time are 0:
 * nothing is simulated here. Where an order says the cores, all of them tell of the scheduler what
 * it says of the one that the run ended on, as the tool does when the cores take turns.
 */
#include "analysis/schedule/schedule.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The numbers of a core, or of all. */
struct total {
    uint64_t cores, instructions, switches, voluntary, direct;
    uint64_t to_input, to_idle, from_idle, nops, preempts, migrated, steals, rebalances;
    uint64_t calls, blocking, requests, migrations, idle, waits;
    uint32_t *threads;
    size_t n_threads;
    struct sch_hist since;
    struct sch_map by_thread, switched, stayed;
};

static double share(uint64_t n, uint64_t of)
{
    return of ? 100 * (double)n / (double)of : 0;
}

static void scheduler(const struct sch_state *s, const struct sch_core *c, struct total *t)
{
    const bool one = s->meta->cores && s->meta->last_core < s->n_cores;
    const struct sch_core *of = one ? &s->core[s->meta->last_core] : c;

    t->to_input += of->to_input;
    t->to_idle += of->to_idle;
    t->from_idle += of->from_idle;
    if (s->meta->cores && of->number < s->meta->n_cores) {
        const struct trod_core *counts = &s->meta->cores[of->number];

        t->nops += counts->nops;
        t->preempts += counts->preempts;
        t->migrated += counts->migrations;
        t->steals += counts->steals;
        t->rebalances += counts->rebalances;
    }
}

static bool has(const struct total *t, uint32_t thread)
{
    for (size_t i = 0; i < t->n_threads; i++)
        if (t->threads[i] == thread)
            return true;
    return false;
}

/* Indices of the N THREADS as an unordered container of their numbers gives them. */
static uint32_t *thread_order(const struct sch_state *s, const uint32_t *threads, size_t n)
{
    uint64_t *key = calloc(n + 1, sizeof *key);
    uint32_t *out = calloc(n + 1, sizeof *out);

    for (size_t i = 0; key && i < n; i++)
        key[i] = s->thread[threads[i]].tid;
    if (!key || !out || !sch_unordered(key, n, out)) {
        free(out);
        out = NULL;
    }
    free(key);
    return out;
}

/* The same of the keys of M; THREADS: they are threads. */
static uint32_t *map_order(const struct sch_state *s, const struct sch_map *m, bool threads)
{
    uint64_t *key = calloc(m->n + 1, sizeof *key);
    uint32_t *out = calloc(m->n + 1, sizeof *out);

    for (size_t i = 0; key && i < m->n; i++)
        key[i] = threads ? s->thread[m->item[i].key].tid : m->item[i].key;
    if (!key || !out || !sch_unordered(key, m->n, out)) {
        free(out);
        out = NULL;
    }
    free(key);
    return out;
}

static bool add_map(const struct sch_state *s, struct sch_map *into, const struct sch_map *from,
                    bool threads)
{
    uint32_t *order = map_order(s, from, threads);
    bool room = order != NULL;

    for (size_t i = 0; room && i < from->n; i++) {
        const struct sch_keyed *k = &from->item[order[i]];
        struct sch_hist *h = sch_of(into, k->key);

        room = h && sch_add(h, &k->hist);
    }
    free(order);
    return room;
}

static bool add_core(const struct sch_state *s, struct total *t, const struct sch_core *c)
{
    uint32_t *order = thread_order(s, c->threads, c->n_threads);

    if (!order)
        return false;
    t->cores++;
    t->instructions += c->instructions;
    t->switches += c->switches;
    t->voluntary += c->voluntary;
    t->direct += c->direct;
    t->calls += c->calls;
    t->blocking += c->blocking;
    t->requests += c->requests;
    t->migrations += c->migrations;
    t->idle += c->idle;
    t->waits += c->waits;
    scheduler(s, c, t);
    for (size_t i = 0; i < c->n_threads; i++)
        if (!has(t, c->threads[order[i]]))
            t->threads[t->n_threads++] = c->threads[order[i]];
    free(order);
    return sch_add(&t->since, &c->since_hist) && add_map(s, &t->by_thread, &c->by_thread, true) &&
           add_map(s, &t->switched, &c->switched, false) &&
           add_map(s, &t->stayed, &c->stayed, false);
}

static void drop(struct total *t)
{
    free(t->threads);
    free(t->since.bin);
    sch_map_free(&t->by_thread);
    sch_map_free(&t->switched);
    sch_map_free(&t->stayed);
}

static int put_hist(const struct sch_hist *h, uint64_t bin, struct trod_buf *out)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < h->n; i++)
        rc = trod_buf_printf(out, "    %8" PRIu64 "..%8" PRIu64 " %5" PRIu64 "\n", h->bin[i].at,
                             h->bin[i].at + bin, h->bin[i].n);
    return rc;
}

static int put_threads(const struct sch_state *s, const struct total *t, struct trod_buf *out)
{
    uint32_t *order = thread_order(s, t->threads, t->n_threads);
    int rc = order ? trod_buf_printf(out, "%12zu threads", t->n_threads) : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == 0 && i < t->n_threads; i++)
        rc = trod_buf_printf(out, "%s W0.T%" PRId64, i ? "," : ":",
                             (int64_t)s->thread[t->threads[order[i]]].tid);
    free(order);
    return rc ? rc : trod_buf_printf(out, "\n");
}

static int put_numbers(const struct total *t, struct trod_buf *out)
{
    const uint64_t n = t->switches, steps = t->instructions + t->idle;
    const struct {
        const char *what;
        uint64_t n;
    } some[] = {{"total context switches", n},
                {NULL, 0},
                {"voluntary context switches", t->voluntary},
                {"direct context switches", t->direct},
                {"context switch sequence injections", 0},
                {"system call sequence injections", 0},
                {NULL, 1},
                {"switches input-to-input", t->to_input},
                {"switches input-to-idle", t->to_idle},
                {"switches idle-to-input", t->from_idle},
                {"switches nop-ed", t->nops},
                {"quantum_preempts", t->preempts},
                {"migrations", t->migrated},
                {"work steals", t->steals},
                {"rebalances", t->rebalances},
                {"output limits hit", 0},
                {"system calls", t->calls},
                {"maybe-blocking system calls", t->blocking},
                {"direct switch requests", t->requests},
                {"observed migrations", t->migrations},
                {"waits", t->waits},
                {"idles", t->idle}};
    int rc = trod_buf_printf(out, "%12" PRIu64 " instructions\n", t->instructions);

    for (size_t i = 0; rc == 0 && i < sizeof some / sizeof *some; i++) {
        if (some[i].what)
            rc = trod_buf_printf(out, "%12" PRIu64 " %s\n", some[i].n, some[i].what);
        else if (some[i].n == 0)
            rc = trod_buf_printf(out,
                                 "%12.7f CSPKI (context switches per 1000 instructions)\n"
                                 "%12.0f instructions per context switch\n",
                                 10 * share(n, t->instructions),
                                 n ? (double)t->instructions / (double)n : 0);
        else
            rc = trod_buf_printf(out, "%12.2f%% voluntary switches\n%12.2f%% direct switches\n",
                                 share(t->voluntary, n), share(t->direct, n));
    }
    return rc ? rc
              : trod_buf_printf(out,
                                "%12.2f%% cpu busy by record count\n%12d cpu microseconds\n"
                                "%12d wait microseconds\n%12d idle microseconds\n"
                                "%12d idle microseconds at last instr\n%12.2f%% cpu busy by time\n"
                                "%12.2f%% cpu busy by time, ignoring idle past last instr\n",
                                share(t->instructions, steps), 0, 0, 0, 0, 0.0, 0.0);
}

static int put_calls(const struct sch_state *s, const struct sch_map *m, const char *title,
                     struct trod_buf *out)
{
    uint32_t *order = map_order(s, m, false);
    int rc = order ? trod_buf_printf(out, "  Latencies for syscalls that %s a switch:\n", title)
                   : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == 0 && i < m->n; i++) {
        rc = trod_buf_printf(out, "    #%" PRIu64 "\n", m->item[order[i]].key);
        if (rc == 0)
            rc = put_hist(&m->item[order[i]].hist, SCH_LATENCY_BIN, out);
    }
    free(order);
    return rc;
}

static int put_total(const struct sch_state *s, const struct total *t, bool all,
                     struct trod_buf *out)
{
    uint32_t *order = map_order(s, &t->by_thread, true);
    struct sch_hist cores = {0};
    int rc = order ? put_threads(s, t, out) : TROD_ERR_NOMEM;

    if (rc == 0)
        rc = put_numbers(t, out);
    if (rc == 0)
        rc = trod_buf_printf(out, "  Instructions per context switch histogram:\n");
    if (rc == 0)
        rc = put_hist(&t->since, SCH_SWITCH_BIN, out);
    for (size_t i = 0; rc == 0 && i < t->by_thread.n; i++) {
        const struct sch_keyed *k = &t->by_thread.item[order[i]];

        rc = trod_buf_printf(
            out, "  Thread W0.T%" PRId64 " instructions per context switch histogram:\n",
            (int64_t)s->thread[k->key].tid);
        if (rc == 0)
            rc = put_hist(&k->hist, SCH_SWITCH_BIN, out);
    }
    free(order);
    for (size_t i = 0; rc == 0 && all && i < t->n_threads; i++)
        if (!sch_count(&cores, s->thread[t->threads[i]].cores, 1, 1))
            rc = TROD_ERR_NOMEM;
    if (rc == 0 && all)
        rc = trod_buf_printf(out, "  Cores per thread:\n");
    if (rc == 0)
        rc = put_hist(&cores, 1, out);
    free(cores.bin);
    if (rc == 0)
        rc = put_calls(s, &t->switched, "incurred", out);
    return rc ? rc : put_calls(s, &t->stayed, "did not incur", out);
}

static int put_outs(const struct sch_state *s, const struct sch_core *c, size_t number,
                    struct trod_buf *out)
{
    int rc = trod_buf_printf(out, "Core #%zu switch-outs:\n", number);

    for (uint64_t i = 0; rc == 0 && i < c->switches && i < SCH_OUTS; i++) {
        const struct sch_out *o = &c->out[i];
        rc = trod_buf_printf(out,
                             "%5" PRIu64 " W0.T%-6" PRId64 " @ %11" PRIu64 " instrs=%9" PRIu64
                             " sys#=%4" PRId64 " latency=%7" PRId64 " %5s %6s\n",
                             i, (int64_t)s->thread[o->thread].tid, o->start, o->instructions,
                             o->call, o->latency, o->voluntary ? "vol" : "invol",
                             o->direct ? "direct" : "");
    }
    if (rc == 0 && c->switches > SCH_OUTS)
        rc = trod_buf_printf(out, "    ... (increase -verbose to see more)\n");
    return rc;
}

static int put_ratio(const struct sch_state *s, bool idle, const char *what, struct trod_buf *out)
{
    uint64_t most = 0, least = UINT64_MAX;

    for (size_t i = 0; i < s->n_cores; i++) {
        const uint64_t n = s->core[i].instructions + (idle ? s->core[i].idle : 0);

        most = n > most ? n : most;
        least = n < least ? n : least;
    }
    return trod_buf_printf(out, "Max %s ratio between cores: %.2f\n", what,
                           least ? (double)most / (double)least : INFINITY);
}

static int put_all(const struct sch_state *s, const uint32_t *order, struct trod_buf *out)
{
    struct total t = {.threads = calloc(s->n_threads + 1, sizeof(uint32_t))};
    bool room = t.threads != NULL;
    int rc;

    for (size_t i = 0; room && i < s->n_cores; i++)
        room = add_core(s, &t, &s->core[order[i]]);
    rc = room ? trod_buf_printf(out, "Schedule stats tool results:\nTotal counts:\n%12zu cores\n",
                                s->n_cores)
              : TROD_ERR_NOMEM;
    if (rc == 0)
        rc = put_total(s, &t, true, out);
    drop(&t);
    return rc;
}

static int put_core(const struct sch_state *s, const struct sch_core *c, size_t number,
                    struct trod_buf *out)
{
    /* a list of its own, in the order in which the threads came */
    struct total t = {.threads = calloc(c->n_threads + 1, sizeof(uint32_t)),
                      .cores = 1,
                      .instructions = c->instructions,
                      .switches = c->switches,
                      .voluntary = c->voluntary,
                      .direct = c->direct,
                      .calls = c->calls,
                      .blocking = c->blocking,
                      .requests = c->requests,
                      .migrations = c->migrations,
                      .idle = c->idle,
                      .waits = c->waits,
                      .since = c->since_hist,
                      .by_thread = c->by_thread,
                      .switched = c->switched,
                      .stayed = c->stayed};
    int rc = t.threads ? 0 : TROD_ERR_NOMEM;

    scheduler(s, c, &t);
    for (size_t i = 0; rc == 0 && i < c->n_threads; i++)
        t.threads[t.n_threads++] = c->threads[i];
    if (rc == 0)
        rc = trod_buf_printf(out, "Core #%zu counts:\n", number);
    if (rc == 0)
        rc = put_total(s, &t, false, out);
    free(t.threads);
    return rc;
}

int sch_like(const struct sch_state *s, struct trod_buf *out)
{
    uint32_t *order = calloc(s->n_cores + 1, sizeof *order);
    int rc = order ? 0 : TROD_ERR_NOMEM;

    if (order)
        sch_sorted(s, order);
    if (rc == 0)
        rc = put_all(s, order, out);
    for (size_t i = 0; rc == 0 && i < s->n_cores; i++)
        rc = put_core(s, &s->core[order[i]], i, out);
    for (size_t i = 0; rc == 0 && i < s->n_cores; i++) {
        const struct trod_buf *l = &s->core[order[i]].letters;

        rc = trod_buf_printf(out, "Core #%zu schedule: %.*s\n", i, (int)l->n,
                             l->p ? (const char *)l->p : "");
    }
    for (size_t i = 0; rc == 0 && i < s->n_cores; i++)
        rc = put_outs(s, &s->core[order[i]], i, out);
    free(order);
    if (rc == 0)
        rc = put_ratio(s, true, "activity", out);
    return rc ? rc : put_ratio(s, false, "instruction", out);
}
