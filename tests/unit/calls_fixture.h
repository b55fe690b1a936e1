/*
 * calls_fixture.h - rows made by hand, or at random, through the analyses of calls and schedules,
 * and single numbers of their results.
 */
#ifndef CALLS_FIXTURE_H
#define CALLS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trod/drmemtrace.h"
#include "trod/trod.h"

#include "../common/gen.h"

/*
 * A row of a trace with markers; CORE: UINT16_MAX, where the order says none; PC: 0, where the
 * instruction of an access is not said.
 */
struct event {
    uint8_t kind;
    uint16_t sub, core;
    uint32_t flags, stream;
    uint64_t addr, value, pc;
    uint32_t size;
};

#define EVENT_MARK(stream_, sub_, value_)                                                          \
    {                                                                                              \
        .kind = TROD_MARKER, .stream = stream_, .sub = TROD_DRM_##sub_, .value = value_,           \
        .core = UINT16_MAX                                                                         \
    }
#define EVENT_INSTR(stream_)                                                                       \
    {                                                                                              \
        .kind = TROD_INSTR, .stream = stream_, .addr = 0x1000, .size = 4, .core = UINT16_MAX       \
    }

struct calls {
    struct trod_meta meta;
    struct trod_diag diag;
    const struct trod_analysis *analysis;
    struct trod_context context;
    struct trod_result *result;
};

static inline void calls_begin(struct calls *c, const char *analysis, unsigned threads)
{
    memset(c, 0, sizeof *c);
    trod_meta_init(&c->meta);
    trod_diag_init(&c->diag, NULL, NULL);
    c->meta.driver = trod_format_find("drmemtrace", 10);
    c->meta.version = 7;
    c->meta.isa = TROD_ISA_X86_64;
    c->meta.addr_bits = 64;
    for (unsigned i = 0; i < threads; i++)
        trod_meta_thread(&c->meta, 100 + i, 1, i);
    c->analysis = trod_analysis_find(analysis, strlen(analysis));
    assert_non_null(c->analysis);
    c->context = (struct trod_context){
        .meta = &c->meta, .diag = &c->diag, .stream = TROD_ALL_STREAMS, .shards = 1};
}

static inline void *calls_state(struct calls *c, const void *opt)
{
    void *st = calloc(1, c->analysis->state_size);

    assert_non_null(st);
    assert_int_equal(c->analysis->init(st, opt, &c->context), TROD_OK);
    return st;
}

static inline void calls_drop(const struct calls *c, void *st)
{
    c->analysis->fini(st);
    free(st);
}

/* Rows [FROM, TO), a batch every ROWS. What a row does not say is noise. */
static inline void calls_feed(struct calls *c, void *st, const struct event *e, size_t from,
                              size_t to, uint32_t rows)
{
    struct trod_batch *b;

    assert_int_equal(trod_batch_new(&b, rows), TROD_OK);
    b->meta = &c->meta;
    while (from < to) {
        trod_batch_clear(b);
        b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_VALUE |
                  TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_CORE | TROD_COL_PC;
        for (; from < to && b->n < b->cap; from++, e++) {
            const uint32_t i = b->n++;
            const bool marker = e->kind == TROD_MARKER, data = e->kind != TROD_THREAD && !marker;

            b->kind[i] = e->kind;
            b->has[i] = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM |
                        (marker || e->kind == TROD_THREAD ? TROD_COL_SUB | TROD_COL_VALUE : 0) |
                        (data ? TROD_COL_ADDR | TROD_COL_SIZE : 0) |
                        (e->core != UINT16_MAX ? TROD_COL_CORE : 0) | (e->pc ? TROD_COL_PC : 0);
            b->flags[i] = e->flags;
            b->stream[i] = e->stream;
            b->sub[i] = data ? 9999 : e->sub;
            b->value[i] = data ? UINT64_MAX / 3 : e->value;
            b->addr[i] = data ? e->addr : UINT64_MAX / 5;
            b->size[i] = data ? e->size : 77777;
            b->core[i] = e->core;
            b->pc[i] = e->pc ? e->pc : UINT64_MAX / 7;
        }
        assert_int_equal(c->analysis->feed(st, b, 0, b->n), TROD_OK);
    }
    trod_batch_free(b);
}

/* The result of ST, in c->result until the next call or calls_end. */
static inline void calls_result(struct calls *c, const void *st)
{
    trod_result_free(c->result);
    assert_int_equal(trod_result_new(&c->result), TROD_OK);
    assert_int_equal(c->analysis->result(st, c->result), TROD_OK);
    assert_int_equal(trod_result_status(c->result), TROD_OK);
}

static inline void calls_end(struct calls *c)
{
    trod_result_free(c->result);
    trod_meta_fini(&c->meta);
}

/* The number at PATH; UINT64_MAX where there is none. */
static inline uint64_t calls_number(const struct calls *c, const char *path)
{
    const struct trod_node *n = trod_result_find(c->result, path);

    return n && n->type == TROD_NODE_VALUE ? n->value.is.u64 : UINT64_MAX;
}

/* The cell of table PATH in column WHAT, of the row whose column KEY is VALUE. Absent: UINT64_MAX
 */
static inline uint64_t calls_cell(const struct calls *c, const char *path, const char *key,
                                  uint64_t value, const char *what)
{
    const struct trod_node *t = trod_result_find(c->result, path);
    const int k = t ? trod_result_column(t, key) : -1, w = t ? trod_result_column(t, what) : -1;

    for (size_t row = 0; k >= 0 && w >= 0 && row < t->n_rows; row++) {
        const struct trod_value *v = &t->cells[row * t->n_columns];

        if (v[k].is.u64 == value)
            return v[w].type == TROD_RESULT_ABSENT ? UINT64_MAX
                   : v[w].type == TROD_RESULT_BOOL ? v[w].is.boolean
                                                   : v[w].is.u64;
    }
    return UINT64_MAX;
}

static inline size_t calls_rows(const struct calls *c, const char *path)
{
    const struct trod_node *t = trod_result_find(c->result, path);

    return t ? t->n_rows : 0;
}

/* Saved, loaded and saved again: the same bytes. */
static inline void calls_saved(struct calls *c, const void *st, const void *opt)
{
    struct trod_buf a = {0}, b = {0};
    void *again = calls_state(c, opt);

    assert_int_equal(c->analysis->save(st, &a), TROD_OK);
    assert_int_equal(c->analysis->load(again, (struct trod_span){.p = a.p, .n = a.n}, NULL),
                     TROD_OK);
    assert_int_equal(c->analysis->save(again, &b), TROD_OK);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, a.n);
    calls_drop(c, again);
    for (size_t n = 0; n < a.n; n++) { /* what is cut is no state */
        again = calls_state(c, opt);
        assert_int_not_equal(c->analysis->load(again, (struct trod_span){.p = a.p, .n = n}, NULL),
                             TROD_OK);
        calls_drop(c, again);
    }
    trod_buf_fini(&a);
    trod_buf_fini(&b);
}

#endif
