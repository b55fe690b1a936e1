/*
 * schedule_result.c - the result of the analysis "schedule" (docs/analysing.md).
 */
#include "analysis/schedule/schedule.h"
#include "trod/drmemtrace.h"
#include "trod/syscalls.h"

#include <stdlib.h>

void sch_sorted(const struct sch_state *s, uint32_t *out)
{
    for (size_t i = 0; i < s->n_cores; i++) {
        size_t at = i;

        for (; at && s->core[out[at - 1]].number > s->core[i].number; at--)
            out[at] = out[at - 1];
        out[at] = (uint32_t)i;
    }
}

static void put_cores(const struct sch_state *s, const uint32_t *order, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"core", TROD_COLUMN_KEY, NULL, NULL},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"threads", TROD_COLUMN_MEASURE, "threads", NULL},
        {"switches", TROD_COLUMN_MEASURE, "switches", "of what it ran"},
        {"voluntary", TROD_COLUMN_MEASURE, "switches", "after a system call or at the end"},
        {"to_idle", TROD_COLUMN_MEASURE, "switches", NULL},
        {"migrations", TROD_COLUMN_MEASURE, "threads", "that came from another core"},
        {"system_calls", TROD_COLUMN_MEASURE, "calls", NULL},
        {"blocking", TROD_COLUMN_MEASURE, "calls", "that may block"},
        {"idle", TROD_COLUMN_MEASURE, "steps", NULL},
        {"busy", TROD_COLUMN_MEASURE, "percent", "instructions of instructions and idle steps"},
        {"steals", TROD_COLUMN_MEASURE, "threads", "taken from another core's queue"},
        {"rebalances", TROD_COLUMN_MEASURE, NULL, NULL},
        {"preempts", TROD_COLUMN_MEASURE, "threads", "that ran too long"},
        {"nops", TROD_COLUMN_MEASURE, NULL, "threads that were to leave and stayed"},
        {"to_input", TROD_COLUMN_MEASURE, "switches", "from one thread to another"},
        {"from_idle", TROD_COLUMN_MEASURE, "switches", "to a thread, from nothing"},
        {"direct", TROD_COLUMN_MEASURE, "switches", "to the thread that was asked for"},
        {"direct_requests", TROD_COLUMN_MEASURE, "requests", NULL},
        {"waits", TROD_COLUMN_MEASURE, "steps", "for another core"},
    };

    trod_result_table(r, "cores", "cores", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < s->n_cores; i++) {
        const struct sch_core *c = &s->core[order[i]];
        const uint64_t steps = c->instructions + c->idle;
        const struct trod_core *counts =
            s->meta->cores && c->number < s->meta->n_cores ? &s->meta->cores[c->number] : NULL;

        sch_put_core(c, r);
        trod_result_u64(r, NULL, c->instructions);
        trod_result_u64(r, NULL, c->n_threads);
        trod_result_u64(r, NULL, c->switches);
        trod_result_u64(r, NULL, c->voluntary);
        trod_result_u64(r, NULL, c->to_idle);
        trod_result_u64(r, NULL, c->migrations);
        trod_result_u64(r, NULL, c->calls);
        trod_result_u64(r, NULL, c->blocking);
        trod_result_u64(r, NULL, c->idle);
        if (sch_is_known(c))
            trod_result_f64(r, NULL, steps ? 100 * (double)c->instructions / (double)steps : 0, 2);
        else
            trod_result_absent(r);
        trod_result_u64(r, NULL, counts ? counts->steals : 0);
        trod_result_u64(r, NULL, counts ? counts->rebalances : 0);
        trod_result_u64(r, NULL, counts ? counts->preempts : 0);
        trod_result_u64(r, NULL, counts ? counts->nops : 0);
        trod_result_u64(r, NULL, c->to_input);
        trod_result_u64(r, NULL, c->from_idle);
        trod_result_u64(r, NULL, c->direct);
        trod_result_u64(r, NULL, c->requests);
        trod_result_u64(r, NULL, c->waits);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_threads(const struct sch_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"tid", TROD_COLUMN_KEY, NULL, NULL},
        {"letter", TROD_COLUMN_PLAIN, NULL, "in the chart"},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"cores", TROD_COLUMN_MEASURE, "cores", "that it ran on"},
        {"switches", TROD_COLUMN_MEASURE, "switches", "away from it"},
        {"waited", TROD_COLUMN_MEASURE, "microseconds", "in system calls that it left its core in"},
    };

    trod_result_table(r, "threads", "threads", columns, 6);
    for (size_t i = 0; i < s->n_threads; i++) {
        const struct sch_thread *t = &s->thread[i];

        trod_result_u64(r, NULL, t->tid);
        trod_result_strn(r, NULL, (const char[]){sch_letter(s, (uint32_t)i)}, 1);
        trod_result_u64(r, NULL, t->instructions);
        trod_result_u64(r, NULL, t->cores);
        trod_result_u64(r, NULL, t->switches);
        trod_result_u64(r, NULL, t->waited);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static int put_since(const struct sch_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"from", TROD_COLUMN_X, "instructions", "of the user between two switches"},
        {"to", TROD_COLUMN_PLAIN, "instructions", "exclusive"},
        {"switches", TROD_COLUMN_MEASURE, "switches", NULL},
    };
    struct sch_hist all = {0};
    bool room = true;

    for (size_t i = 0; room && i < s->n_cores; i++)
        room = sch_add(&all, &s->core[i].since_hist);
    trod_result_table(r, "between_switches", "instructions between switches", columns, 3);
    for (size_t i = 0; i < all.n; i++) {
        trod_result_u64(r, NULL, all.bin[i].at);
        trod_result_u64(r, NULL, all.bin[i].at + SCH_SWITCH_BIN);
        trod_result_u64(r, NULL, all.bin[i].n);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(all.bin);
    return room ? TROD_OK : TROD_ERR_NOMEM;
}

static int by_key(const void *a, const void *b)
{
    const struct sch_keyed *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

static int put_latencies(const struct sch_state *s, bool switched, struct trod_result *r)
{
    struct sch_map all = {0};
    bool room = true;

    for (size_t i = 0; room && i < s->n_cores; i++) {
        const struct sch_map *m = switched ? &s->core[i].switched : &s->core[i].stayed;

        for (size_t k = 0; room && k < m->n; k++) {
            struct sch_hist *h = sch_of(&all, m->item[k].key);

            room = h && sch_add(h, &m->item[k].hist);
        }
    }
    if (all.n)
        qsort(all.item, all.n, sizeof *all.item, by_key);
    for (size_t i = 0; i < all.n; i++) {
        const struct sch_hist *h = &all.item[i].hist;
        const char *name = trod_syscall_name(s->meta->isa, all.item[i].key);

        for (size_t k = 0; k < h->n; k++) {
            trod_result_u64(r, NULL, all.item[i].key);
            if (name)
                trod_result_str(r, NULL, name);
            else
                trod_result_absent(r);
            trod_result_bool(r, NULL, switched);
            trod_result_u64(r, NULL, h->bin[k].at);
            trod_result_u64(r, NULL, h->bin[k].at + SCH_LATENCY_BIN);
            trod_result_u64(r, NULL, h->bin[k].n);
            trod_result_row_end(r);
        }
    }
    sch_map_free(&all);
    return room ? TROD_OK : TROD_ERR_NOMEM;
}

struct sch_interval sch_sum(const struct sch_state *s)
{
    struct sch_interval all = {.instructions = s->instructions};

    for (size_t i = 0; i < s->n_cores; i++) {
        all.switches += s->core[i].switches;
        all.voluntary += s->core[i].voluntary;
        all.migrations += s->core[i].migrations;
        all.idle += s->core[i].idle;
        all.waits += s->core[i].waits;
    }
    return all;
}

static void put_intervals(const struct sch_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"interval", TROD_COLUMN_X, NULL, NULL},
        {"instructions_end", TROD_COLUMN_PLAIN, "instructions", "of all threads, so far"},
        {"switches", TROD_COLUMN_MEASURE, "switches", NULL},
        {"voluntary", TROD_COLUMN_MEASURE, "switches", NULL},
        {"migrations", TROD_COLUMN_MEASURE, "threads", NULL},
        {"idle", TROD_COLUMN_MEASURE, "steps", NULL},
    };
    struct sch_interval was = {0};

    trod_result_table(r, "intervals", "intervals", columns, 6);
    for (size_t k = 0; k < s->n_intervals; k++) {
        const struct sch_interval *i = &s->interval[k];

        trod_result_u64(r, NULL, i->number);
        trod_result_u64(r, NULL, i->end);
        trod_result_u64(r, NULL, i->switches - was.switches);
        trod_result_u64(r, NULL, i->voluntary - was.voluntary);
        trod_result_u64(r, NULL, i->migrations - was.migrations);
        trod_result_u64(r, NULL, i->idle - was.idle);
        trod_result_row_end(r);
        was = *i;
    }
    trod_result_table_close(r);
}

/* Are there instructions whose cpu is not known? */
static bool is_lost(const struct sch_state *s)
{
    for (size_t i = 0; i < s->n_cores; i++)
        if (!sch_is_known(&s->core[i]) && s->core[i].instructions)
            return true;
    return false;
}

int sch_result(const void *st, struct trod_result *r)
{
    static const struct trod_result_column latencies[] = {
        {"number", TROD_COLUMN_KEY, NULL, "of the system call"},
        {"name", TROD_COLUMN_PLAIN, NULL, NULL},
        {"switched", TROD_COLUMN_KEY, NULL, "the thread left its core"},
        {"from", TROD_COLUMN_X, "microseconds", NULL},
        {"to", TROD_COLUMN_PLAIN, "microseconds", "exclusive"},
        {"calls", TROD_COLUMN_MEASURE, "calls", NULL},
    };
    const struct sch_state *s = st;
    uint32_t *order = calloc(s->n_cores + 1, sizeof *order);
    const struct sch_interval all = sch_sum(s);
    int rc;

    if (!order)
        return TROD_ERR_NOMEM;
    sch_sorted(s, order);
    trod_result_str(r, "cores_from",
                    s->placed ? "the order of the trace"
                    : s->marked && s->meta->filetype & TROD_DRM_CORE_SHARDED
                        ? "the files of the trace"
                    : s->marked ? "the recorded cpus"
                                : "the cpus of the trace");
    if (!s->instructions)
        trod_result_str(r, "note", "no instructions are recorded, which tell what ran on a core");
    else if (is_lost(s))
        trod_result_str(r, "note", "where the cpu is not known, switches and migrations are not");
    trod_result_u64(r, "instructions", s->instructions);
    trod_result_u64(r, "switches", all.switches);
    trod_result_u64(r, "voluntary", all.voluntary);
    trod_result_u64(r, "migrations", all.migrations);
    trod_result_u64(r, "idle", all.idle);
    trod_result_u64(r, "waits", all.waits);
    put_cores(s, order, r);
    free(order);
    put_threads(s, r);
    rc = put_since(s, r);
    trod_result_table(r, "latencies", "times of system calls", latencies, 6);
    if (rc == TROD_OK)
        rc = put_latencies(s, true, r);
    if (rc == TROD_OK)
        rc = put_latencies(s, false, r);
    trod_result_table_close(r);
    sch_chart_result(s, r);
    if (s->n_intervals)
        put_intervals(s, r);
    return rc;
}
