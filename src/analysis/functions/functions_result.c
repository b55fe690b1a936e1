/*
 * functions_result.c - the result of the analysis "functions" (docs/analysing.md).
 */
#include "analysis/cells.h"
#include "analysis/functions/functions.h"

#include <stdlib.h>

static void put_function(struct trod_result *r, const struct fun_state *s, uint32_t i)
{
    cell_text(r, i < s->n_functions ? s->function[i].name : NULL);
}

static uint64_t top(const struct fun_state *s)
{
    return s->opt->top ? s->opt->top : UINT64_MAX;
}

static int by_calls(const void *a, const void *b)
{
    const struct fun_function *x = *(const struct fun_function *const *)a,
                              *y = *(const struct fun_function *const *)b;

    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static int put_functions(const struct fun_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"id", TROD_COLUMN_KEY, NULL, "in the trace's markers"},
        {"name", TROD_COLUMN_PLAIN, NULL, NULL},
        {"calls", TROD_COLUMN_MEASURE, "calls", NULL},
        {"returns", TROD_COLUMN_MEASURE, "calls", "that were recorded"},
        {"failed", TROD_COLUMN_MEASURE, "calls", "by what the result is known to mean"},
        {"instructions", TROD_COLUMN_MEASURE, "instructions", "between call and return, per call"},
        {"least", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"most", TROD_COLUMN_MEASURE, "instructions", NULL},
        {"time", TROD_COLUMN_MEASURE, "microseconds", "between time stamps around"},
    };
    const struct fun_function **order = calloc(s->n_functions + 1, sizeof *order);

    if (!order)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < s->n_functions; i++)
        order[i] = &s->function[i];
    if (s->n_functions)
        qsort(order, s->n_functions, sizeof(const struct fun_function *), by_calls);
    trod_result_table(r, "functions", "functions", columns, 9);
    for (size_t i = 0; i < s->n_functions; i++) {
        const struct fun_function *f = order[i];

        trod_result_u64(r, NULL, f->id);
        cell_text(r, f->name);
        trod_result_u64(r, NULL, f->calls);
        trod_result_u64(r, NULL, f->returns);
        trod_result_u64(r, NULL, f->failed);
        if (f->measured)
            trod_result_f64(r, NULL, (double)f->inside / (double)f->measured, 1);
        else
            trod_result_absent(r);
        cell_optional(r, f->measured, f->least);
        cell_optional(r, f->measured, f->most);
        cell_optional(r, f->timed, f->time);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(order);
    return TROD_OK;
}

static void put_threads(const struct fun_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"tid", TROD_COLUMN_KEY, NULL, NULL},
        {"calls", TROD_COLUMN_MEASURE, "calls", NULL},
        {"allocations", TROD_COLUMN_MEASURE, "blocks", NULL},
        {"frees", TROD_COLUMN_MEASURE, "blocks", NULL},
        {"bytes", TROD_COLUMN_MEASURE, "bytes", "that it asked for"},
    };

    trod_result_table(r, "threads", "threads that call", columns, 5);
    for (size_t i = 0; i < s->n_threads; i++) {
        const struct fun_thread *t = &s->thread[i];

        if (!t->calls)
            continue;
        trod_result_u64(r, NULL, t->tid);
        trod_result_u64(r, NULL, t->calls);
        trod_result_u64(r, NULL, t->allocations);
        trod_result_u64(r, NULL, t->frees);
        trod_result_u64(r, NULL, t->bytes);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

/* --- memory --- */

static void put_heap(const struct fun_heap *h, const char *key, const char *title,
                     struct trod_result *r)
{
    trod_result_open(r, key, title);
    trod_result_u64(r, "allocations", h->allocations);
    trod_result_u64(r, "frees", h->frees);
    trod_result_u64(r, "resized", h->resized);
    trod_result_u64(r, "failed", h->failed);
    trod_result_u64(r, "live_blocks", h->n_live);
    trod_result_u64(r, "live_bytes", h->bytes);
    trod_result_u64(r, "most_bytes", h->most_bytes);
    trod_result_u64(r, "most_at", h->most_at);
    trod_result_describe(r, "instructions", "of all threads before the most bytes were live");
    trod_result_u64(r, "unknown_frees", h->unknown_frees);
    trod_result_u64(r, "double_frees", h->double_frees);
    trod_result_u64(r, "frees_by_allocators", h->own_frees);
    trod_result_describe(r, "blocks", "freed before or unknown, by the library of free itself");
    trod_result_u64(r, "replaced", h->replaced);
    trod_result_describe(r, "blocks", "whose free was not seen, their memory being given again");
    trod_result_u64(r, "accesses_after_free", h->after_free);
    trod_result_u64(r, "accesses_by_allocators", h->inside);
    trod_result_close(r);
}

static void put_powers(const struct fun_heap *h, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"from", TROD_COLUMN_X, "bytes", NULL},
        {"to", TROD_COLUMN_PLAIN, "bytes", "inclusive"},
        {"allocations", TROD_COLUMN_MEASURE, "blocks", NULL},
    };
    static const struct trod_result_column lives[] = {
        {"from", TROD_COLUMN_X, "instructions", NULL},
        {"to", TROD_COLUMN_PLAIN, "instructions", "inclusive"},
        {"blocks", TROD_COLUMN_MEASURE, "blocks", "that were freed"},
    };

    for (unsigned k = 0; k < 2; k++) {
        const uint64_t *n = k ? h->lives : h->sizes;

        trod_result_table(r, k ? "lives" : "sizes", k ? "lives of freed blocks" : "sizes of blocks",
                          k ? lives : columns, 3);
        for (unsigned i = 0; i < FUN_SIZES; i++) {
            if (!n[i])
                continue;
            trod_result_u64(r, NULL, i ? UINT64_C(1) << (i - 1) : 0);
            trod_result_u64(r, NULL,
                            i ? (UINT64_C(1) << (i - 1)) - 1 + (UINT64_C(1) << (i - 1)) : 0);
            trod_result_u64(r, NULL, n[i]);
            trod_result_row_end(r);
        }
        trod_result_table_close(r);
    }
}

/* Live blocks, by the place of the allocation. */
struct leak {
    uint64_t caller, blocks, bytes;
    uint32_t function;
};

static int by_caller(const void *a, const void *b)
{
    const struct leak *x = a, *y = b;

    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static int by_bytes(const void *a, const void *b)
{
    const struct leak *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return by_caller(a, b);
}

/* Live blocks have a place in the tree; those on the list of unused or freed ones have none. */
static size_t gather(const struct fun_heap *h, uint32_t *stack, struct leak *leak)
{
    size_t n = 0, m = 0, depth = 0;
    uint32_t i = h->root;

    while (i || depth) {
        for (; i; i = h->block[i].link.left)
            stack[depth++] = i;
        i = stack[--depth];
        if (!h->block[i].freed)
            leak[n++] =
                (struct leak){h->block[i].caller, 1, h->block[i].size, h->block[i].function};
        i = h->block[i].link.right;
    }
    if (n)
        qsort(leak, n, sizeof *leak, by_caller);
    for (size_t k = 0; k < n; k++) {
        if (m && by_caller(&leak[m - 1], &leak[k]) == 0) {
            leak[m - 1].blocks++;
            leak[m - 1].bytes += leak[k].bytes;
        } else {
            leak[m++] = leak[k];
        }
    }
    if (m)
        qsort(leak, m, sizeof *leak, by_bytes);
    return m;
}

static int put_leaks(const struct fun_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"caller", TROD_COLUMN_KEY, NULL, "return address of the call that asked for it"},
        {"function", TROD_COLUMN_KEY, NULL, "that gave it"},
        {"blocks", TROD_COLUMN_MEASURE, "blocks", NULL},
        {"bytes", TROD_COLUMN_MEASURE, "bytes", NULL},
    };
    const struct fun_heap *h = &s->heap;
    uint32_t *stack = calloc(h->n + 1, sizeof *stack);
    struct leak *leak = calloc(h->n_live + 1, sizeof *leak);
    size_t n;

    if (!stack || !leak) {
        free(stack);
        free(leak);
        return TROD_ERR_NOMEM;
    }
    n = gather(h, stack, leak);
    trod_result_table(r, "live", "blocks that are live at the end", columns, 4);
    for (size_t i = 0; i < n && i < top(s); i++) {
        trod_result_hex(r, NULL, leak[i].caller);
        put_function(r, s, leak[i].function);
        trod_result_u64(r, NULL, leak[i].blocks);
        trod_result_u64(r, NULL, leak[i].bytes);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(stack);
    free(leak);
    return TROD_OK;
}

static int by_accesses(const void *a, const void *b)
{
    const struct fun_access *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return (x->pc > y->pc) - (x->pc < y->pc);
}

static int put_accesses(const struct fun_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"pc", TROD_COLUMN_KEY, NULL, NULL},
        {"accesses", TROD_COLUMN_MEASURE, "accesses", NULL},
        {"block", TROD_COLUMN_PLAIN, NULL, "address of the first block it touched"},
        {"function", TROD_COLUMN_KEY, NULL, "that gave the block"},
    };
    const struct fun_heap *h = &s->heap;
    struct fun_access *a = calloc(h->n_accesses + 1, sizeof *a);

    if (!a)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < h->n_accesses; i++)
        a[i] = h->access[i];
    qsort(a, h->n_accesses, sizeof *a, by_accesses);
    trod_result_table(r, "after_free", "accesses to freed blocks", columns, 4);
    for (size_t i = 0; i < h->n_accesses && i < top(s); i++) {
        trod_result_hex(r, NULL, a[i].pc);
        trod_result_u64(r, NULL, a[i].n);
        trod_result_hex(r, NULL, a[i].block);
        put_function(r, s, a[i].function);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    free(a);
    return TROD_OK;
}

/* --- single calls, intervals --- */

static void put_list(const struct fun_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"tid", TROD_COLUMN_KEY, NULL, NULL},
        {"nest", TROD_COLUMN_PLAIN, NULL, "recorded calls that it is inside"},
        {"id", TROD_COLUMN_PLAIN, NULL, NULL},
        {"name", TROD_COLUMN_PLAIN, NULL, NULL},
        {"arguments", TROD_COLUMN_PLAIN, NULL, "as recorded"},
        {"result", TROD_COLUMN_PLAIN, NULL, NULL},
        {"returns_to", TROD_COLUMN_PLAIN, NULL, NULL},
    };

    trod_result_table(r, "list", "the first calls", columns, 7);
    for (size_t i = 0; i < s->n_ones; i++) {
        const struct fun_one *o = &s->one[i];

        trod_result_u64(r, NULL, o->tid);
        trod_result_u64(r, NULL, o->nest);
        trod_result_u64(r, NULL, s->function[o->function].id);
        put_function(r, s, o->function);
        cell_arguments(r, o->arg, o->n_args);
        cell_optional_hex(r, o->returned, o->result);
        trod_result_hex(r, NULL, o->returns);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

static void put_intervals(const struct fun_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"interval", TROD_COLUMN_X, NULL, NULL},
        {"instructions_end", TROD_COLUMN_PLAIN, "instructions", "of all threads, so far"},
        {"live_blocks", TROD_COLUMN_MEASURE, "blocks", "at its end"},
        {"live_bytes", TROD_COLUMN_MEASURE, "bytes", "at its end"},
        {"allocations", TROD_COLUMN_MEASURE, "blocks", "in it"},
        {"frees", TROD_COLUMN_MEASURE, "blocks", "in it"},
    };
    struct fun_interval was = {0};

    trod_result_table(r, "intervals", "memory over time", columns, 6);
    for (size_t k = 0; k < s->n_intervals; k++) {
        const struct fun_interval *i = &s->interval[k];

        trod_result_u64(r, NULL, i->number);
        trod_result_u64(r, NULL, i->instructions);
        trod_result_u64(r, NULL, i->blocks);
        trod_result_u64(r, NULL, i->bytes);
        trod_result_u64(r, NULL, i->allocations - was.allocations);
        trod_result_u64(r, NULL, i->frees - was.frees);
        trod_result_row_end(r);
        was = *i;
    }
    trod_result_table_close(r);
}

int fun_result(const void *st, struct trod_result *r)
{
    const struct fun_state *s = st;
    const struct fun_heap *h = &s->heap;
    const bool heap = h->allocations || h->unknown_frees || h->own_frees || h->failed;
    uint64_t calls = 0, returns = 0, failed = 0;
    int rc = TROD_OK;

    for (size_t i = 0; i < s->n_functions; i++) {
        calls += s->function[i].calls;
        returns += s->function[i].returns;
        failed += s->function[i].failed;
    }
    if (!calls)
        trod_result_str(r, "note", "the trace records no calls of functions");
    trod_result_u64(r, "calls", calls);
    trod_result_u64(r, "returns", returns);
    trod_result_u64(r, "failed", failed);
    trod_result_u64(r, "unreturned", s->unreturned);
    trod_result_describe(r, "calls", "left without a return, by the return of an outer one");
    trod_result_u64(r, "deepest", s->most_nest);
    trod_result_describe(r, "calls", "inside each other, of one thread");
    rc = put_functions(s, r);
    put_threads(s, r);
    if (heap)
        put_heap(h, "heap", "memory", r);
    if (s->maps.allocations)
        put_heap(&s->maps, "mappings", "mappings", r);
    if (heap) {
        put_powers(h, r);
        if (rc == TROD_OK)
            rc = put_leaks(s, r);
        if (rc == TROD_OK && h->n_accesses)
            rc = put_accesses(s, r);
    }
    if (s->n_ones)
        put_list(s, r);
    if (s->n_intervals)
        put_intervals(s, r);
    return rc;
}
