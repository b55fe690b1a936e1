/*
 * syscalls_result.c - the result of the analysis "syscalls", as a tree and as DynamoRIO's
 * syscall_mix prints it (drcachesim, tools/syscall_mix.cpp).
 */
#include "analysis/calls/calls.h"
#include "analysis/cells.h"
#include "trod/syscalls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 192 };

static int by_calls(const void *a, const void *b)
{
    const struct sys_call *x = a, *y = b;

    if (x->n.calls != y->n.calls)
        return x->n.calls < y->n.calls ? 1 : -1;
    return (x->number < y->number) - (x->number > y->number);
}

static int by_failures(const void *a, const void *b)
{
    const struct sys_failure *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return (x->error < y->error) - (x->error > y->error);
}

/* A copy of the N elements of SIZE bytes at P in order; NULL: no memory. */
static void *sorted(const void *p, size_t n, size_t size, int (*order)(const void *, const void *))
{
    void *copy = calloc(n + 1, size);

    if (copy && n) {
        memcpy(copy, p, n * size);
        qsort(copy, n, size, order);
    }
    return copy;
}

static void put_name(struct trod_result *r, uint64_t isa, int64_t number)
{
    cell_text(r, number < 0 ? NULL : trod_syscall_name((enum trod_isa)isa, (uint64_t)number));
}

static int put_calls(const struct sys_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"number", TROD_COLUMN_KEY, NULL, NULL},
        {"name", TROD_COLUMN_PLAIN, NULL, NULL},
        {"calls", TROD_COLUMN_MEASURE, "calls", NULL},
        {"returned", TROD_COLUMN_MEASURE, "calls", "the thread went on after them"},
        {"failed", TROD_COLUMN_MEASURE, "calls", NULL},
        {"blocking", TROD_COLUMN_MEASURE, "calls", "that may block"},
        {"timed", TROD_COLUMN_MEASURE, "calls", "with times on both sides"},
        {"time", TROD_COLUMN_MEASURE, "microseconds", "of the timed ones"},
        {"mean", TROD_COLUMN_MEASURE, "microseconds", NULL},
        {"least", TROD_COLUMN_MEASURE, "microseconds", NULL},
        {"most", TROD_COLUMN_MEASURE, "microseconds", NULL},
        {"traces", TROD_COLUMN_MEASURE, NULL, "runs of kernel code"},
    };
    struct sys_call *call = sorted(s->call, s->n_calls, sizeof *call, by_calls);

    if (!call)
        return TROD_ERR_NOMEM;
    trod_result_table(r, "calls", "system calls", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < s->n_calls && (s->opt->top == 0 || i < s->opt->top); i++) {
        const struct sys_call *c = &call[i];
        const uint64_t timed = c->n.timed;

        trod_result_i64(r, NULL, c->number);
        put_name(r, s->isa, c->number);
        trod_result_u64(r, NULL, c->n.calls);
        trod_result_u64(r, NULL, c->n.returned);
        trod_result_u64(r, NULL, c->n.failed);
        trod_result_u64(r, NULL, c->n.blocking);
        trod_result_u64(r, NULL, timed);
        cell_optional(r, timed, c->n.time);
        if (timed)
            trod_result_f64(r, NULL, (double)c->n.time / (double)timed, 1);
        else
            trod_result_absent(r);
        cell_optional(r, timed, c->least);
        cell_optional(r, timed, c->most);
        trod_result_u64(r, NULL, c->n.traces);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(call);
    return TROD_OK;
}

static int put_failures(const struct sys_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"number", TROD_COLUMN_KEY, NULL, "-1: of a call before the beginning of the trace"},
        {"name", TROD_COLUMN_PLAIN, NULL, NULL},
        {"error", TROD_COLUMN_KEY, NULL, "number of the error (errno)"},
        {"failures", TROD_COLUMN_MEASURE, "calls", NULL},
    };
    struct sys_failure *f = sorted(s->failure, s->n_failures, sizeof *f, by_failures);

    if (!f)
        return TROD_ERR_NOMEM;
    trod_result_table(r, "failures", "failures by error", columns, 4);
    for (size_t i = 0; i < s->n_failures; i++) {
        trod_result_i64(r, NULL, f[i].number);
        put_name(r, s->isa, f[i].number);
        trod_result_i64(r, NULL, f[i].error);
        trod_result_u64(r, NULL, f[i].n);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(f);
    return TROD_OK;
}

static void put_list(const struct sys_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"tid", TROD_COLUMN_KEY, NULL, NULL},
        {"number", TROD_COLUMN_PLAIN, NULL, NULL},
        {"name", TROD_COLUMN_PLAIN, NULL, NULL},
        {"arguments", TROD_COLUMN_PLAIN, NULL, "as recorded"},
        {"result", TROD_COLUMN_PLAIN, NULL, NULL},
        {"error", TROD_COLUMN_PLAIN, NULL, NULL},
        {"time", TROD_COLUMN_MEASURE, "microseconds", NULL},
        {"blocking", TROD_COLUMN_PLAIN, NULL, NULL},
    };

    trod_result_table(r, "list", "the first calls", columns, 8);
    for (size_t i = 0; i < s->n_ones; i++) {
        const struct sys_one *o = &s->one[i];

        cell_optional(r, o->tid != TROD_NOWHERE, o->tid);
        trod_result_i64(r, NULL, o->number);
        put_name(r, s->isa, o->number);
        cell_arguments(r, o->arg, o->n_args);
        cell_optional_hex(r, o->has_result, o->result);
        cell_optional(r, o->failed, o->error);
        cell_optional(r, o->has_time, o->time);
        trod_result_bool(r, NULL, o->blocking);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_intervals(const struct sys_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"interval", TROD_COLUMN_X, NULL, NULL},
        {"instructions_end", TROD_COLUMN_PLAIN, "instructions", "of all threads, so far"},
        {"calls", TROD_COLUMN_MEASURE, "calls", NULL},
        {"failed", TROD_COLUMN_MEASURE, "calls", NULL},
        {"blocking", TROD_COLUMN_MEASURE, "calls", NULL},
        {"time", TROD_COLUMN_MEASURE, "microseconds", "of the calls that returned"},
    };
    trod_result_table(r, "intervals", "intervals", columns, 6);
    for (size_t k = 0; k < s->n_intervals; k++) {
        const struct sys_interval *i = &s->interval[k];

        trod_result_u64(r, NULL, i->number);
        trod_result_u64(r, NULL, i->instructions);
        trod_result_u64(r, NULL, i->n.calls);
        trod_result_u64(r, NULL, i->n.failed);
        trod_result_u64(r, NULL, i->n.blocking);
        trod_result_u64(r, NULL, i->n.time);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

/* --- instructions that call the system, of traces that say nothing else --- */

struct place {
    uint64_t pc, n;
    uint32_t site;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return (x->pc > y->pc) - (x->pc < y->pc);
}

bool sys_is_call(struct trod_sites *sites, uint32_t i)
{
    const struct trod_insn *insn = trod_site_insn(sites, i);
    const unsigned branch =
        insn->valid && insn->branch ? insn->branch : trod_site_at(sites, i)->branch;

    return branch == TROD_BR_SYSCALL;
}

/* Those that ran, most frequent first; their sum to *TOTAL. NULL: no memory. */
static struct place *places(const struct sys_state *s, size_t *n, uint64_t *total)
{
    struct place *p = NULL;
    size_t cap = 0;

    *n = 0;
    *total = 0;
    for (uint32_t i = 0; i < s->n_ran; i++) {
        if (!s->ran[i] || !sys_is_call(s->sites, i))
            continue;
        if (*n == cap) {
            struct place *more = realloc(p, (cap = cap ? 2 * cap : 16) * sizeof *p);

            if (!more) {
                free(p);
                return NULL;
            }
            p = more;
        }
        p[(*n)++] = (struct place){trod_site_at(s->sites, i)->pc, s->ran[i], i};
        *total += s->ran[i];
    }
    if (!p)
        return calloc(1, sizeof *p);
    qsort(p, *n, sizeof *p, by_place);
    return p;
}

static int put_instructions(const struct sys_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"pc", TROD_COLUMN_KEY, NULL, NULL},
        {"function", TROD_COLUMN_PLAIN, NULL, NULL},
        {"instruction", TROD_COLUMN_PLAIN, NULL, NULL},
        {"executions", TROD_COLUMN_MEASURE, "instructions", NULL},
    };
    uint64_t total, offset;
    size_t n;
    struct place *p = places(s, &n, &total);

    if (!p)
        return TROD_ERR_NOMEM;
    trod_result_u64(r, "instructions", total);
    trod_result_describe(r, "instructions", "that call the system");
    trod_result_table(r, "places", "instructions that call the system", columns, 4);
    for (size_t i = 0; i < n && (s->opt->top == 0 || i < s->opt->top); i++) {
        const char *name;
        char text[TEXT];

        trod_result_hex(r, NULL, p[i].pc);
        if (trod_site_function(s->sites, p[i].site, &name, &offset))
            trod_result_str(r, NULL, name);
        else
            trod_result_absent(r);
        trod_site_text(s->sites, p[i].site, text, sizeof text);
        trod_result_str(r, NULL, text);
        trod_result_u64(r, NULL, p[i].n);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(p);
    return TROD_OK;
}

/* Intervals of traces that say nothing but which instructions call the system. */
static void put_bare_intervals(const struct sys_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"interval", TROD_COLUMN_X, NULL, NULL},
        {"instructions_end", TROD_COLUMN_PLAIN, "instructions", "of all threads, so far"},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", "that call the system"},
    };

    trod_result_table(r, "intervals", "intervals", columns, 3);
    for (size_t k = 0; k < s->n_intervals; k++) {
        const struct sys_interval *i = &s->interval[k];

        trod_result_u64(r, NULL, i->number);
        trod_result_u64(r, NULL, i->instructions);
        trod_result_u64(r, NULL, i->ran);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static const char *not_known(const struct sys_state *s)
{
    if (!s->marked && s->sites && trod_sites_count(s->sites) == 0)
        return "the trace has no instructions and does not name system calls: none can be counted";
    if (!s->marked)
        return "the trace does not name system calls: numbers, failures and times are not known";
    if (!s->numbered)
        return "the trace has no markers of system calls";
    if (s->sums.returned && !s->sums.with_result && !s->sums.failed)
        return s->sums.timed ? "the trace has no results of system calls: which failed is not known"
                             : "the trace has no times around system calls, and no results of "
                               "them: which failed is not known";
    if (s->sums.returned && !s->sums.timed)
        return "the trace has no times around system calls";
    return NULL;
}

int sys_result(const void *st, struct trod_result *r)
{
    const struct sys_state *s = st;
    const struct sys_sums *n = &s->sums;
    const char *note = not_known(s);
    int rc;

    if (note)
        trod_result_str(r, "note", note);
    if (!s->marked) {
        rc = s->sites ? put_instructions(s, r) : TROD_OK;
        if (s->sites && s->n_intervals)
            put_bare_intervals(s, r);
        return rc == TROD_OK && s->by >= TROD_BY_MODULE ? sys_put_owners(s, r) : rc;
    }
    trod_result_u64(r, "instructions", s->instructions);
    trod_result_describe(r, "instructions", "that call the system");
    trod_result_u64(r, "total_calls", n->calls);
    trod_result_u64(r, "returned", n->returned);
    trod_result_u64(r, "failed", n->failed);
    trod_result_u64(r, "blocking", n->blocking);
    trod_result_describe(r, "calls", "that may block");
    trod_result_u64(r, "timed", n->timed);
    trod_result_u64(r, "total_time", n->time);
    trod_result_describe(r, "microseconds", "between entry and exit of the timed calls");
    trod_result_u64(r, "with_result", n->with_result);
    trod_result_u64(r, "kernel_instructions", n->kernel);
    rc = put_calls(s, r);
    if (rc == TROD_OK && s->n_failures)
        rc = put_failures(s, r);
    if (s->n_ones)
        put_list(s, r);
    if (s->n_intervals)
        put_intervals(s, r);
    return rc == TROD_OK && s->by >= TROD_BY_MODULE ? sys_put_owners(s, r) : rc;
}

/* --- as syscall_mix prints it --- */

int sys_layout(const void *st, struct trod_buf *out)
{
    const struct sys_state *s = st;
    struct sys_call *call;
    struct sys_failure *f;
    int rc;

    if (s->opt->like != SYS_LIKE_SYSCALL_MIX)
        return 0;
    call = sorted(s->call, s->n_calls, sizeof *call, by_calls);
    f = sorted(s->failure, s->n_failures, sizeof *f, by_failures);
    rc = call && f ? trod_buf_printf(out, "Syscall mix tool results:\n%15s : %11s\n",
                                     "syscall count", "syscall_num")
                   : TROD_ERR_NOMEM;
    for (size_t i = 0; rc == 0 && i < s->n_calls; i++)
        if (call[i].n.calls)
            rc = trod_buf_printf(out, "%15" PRIu64 " : %9" PRId64 "\n", call[i].n.calls,
                                 call[i].number);
    for (size_t i = 0; rc == 0 && i < s->n_failures; i++) {
        if (i == 0 || f[i].number != f[i - 1].number)
            rc = trod_buf_printf(out, "Failures for syscall %" PRId64 ":\n%15s : %12s\n",
                                 f[i].number, "failure count", "failure code");
        if (rc == 0)
            rc = trod_buf_printf(out, "%15" PRIu64 " : %9" PRId64 "\n", f[i].n, f[i].error);
    }
    free(call);
    free(f);
    return rc < 0 ? rc : 1;
}
