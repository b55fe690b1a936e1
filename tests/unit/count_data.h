/*
 * count_data.h - rows by hand and reports as one string of JSON, for the tests of `count`.
 */
#ifndef COUNT_DATA_H
#define COUNT_DATA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trod/trod.h"

/* One row. Columns not in has are poisoned in the batch: reading them shows. */
struct one {
    uint32_t has;
    uint8_t kind;
    uint16_t sub;
    uint32_t flags, size, stream;
    uint64_t addr, paddr, target, value;
};

enum {
    COUNT_HAVE = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
                 TROD_COL_PADDR | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_SUB
};

static inline void put_row(struct trod_batch *b, const struct one *o)
{
    uint32_t i = b->n++;

    assert_true(i < b->cap);
    b->has[i] = o->has | TROD_COL_KIND;
    b->kind[i] = o->kind;
    b->sub[i] = o->has & TROD_COL_SUB ? o->sub : 14;
    b->flags[i] = o->has & TROD_COL_FLAGS ? o->flags : UINT32_MAX;
    b->size[i] = o->has & TROD_COL_SIZE ? o->size : 12345;
    b->stream[i] = o->has & TROD_COL_STREAM ? o->stream : 77;
    b->addr[i] = o->has & TROD_COL_ADDR ? o->addr : 0x666000;
    b->paddr[i] = o->has & TROD_COL_PADDR ? o->paddr : 0x777000;
    b->target[i] = o->has & TROD_COL_TARGET ? o->target : 0x888000;
    b->value[i] = o->has & TROD_COL_VALUE ? o->value : 99;
}

static inline const struct trod_analysis *count_analysis(void)
{
    const struct trod_analysis *a = trod_analysis_find("count", 5);

    assert_non_null(a);
    return a;
}

static inline void *count_begin(const struct trod_count_options *opt, const struct trod_meta *meta,
                                struct trod_diag *diag)
{
    const struct trod_context context = {
        .meta = meta, .diag = diag, .stream = TROD_ALL_STREAMS, .shards = 1};
    void *st = calloc(1, count_analysis()->state_size);

    assert_non_null(st);
    assert_int_equal(count_analysis()->init(st, opt, &context), TROD_OK);
    return st;
}

static inline void count_end(void *st)
{
    count_analysis()->fini(st);
    free(st);
}

/* Feed rows A to B of the N at ROWS, a batch every BATCH rows. */
static inline void count_feed(void *st, const struct one *rows, size_t from, size_t to,
                              uint32_t batch, uint32_t have)
{
    struct trod_batch *b;

    assert_int_equal(trod_batch_new(&b, batch), TROD_OK);
    for (size_t i = from; i < to;) {
        trod_batch_clear(b);
        b->have = have;
        while (i < to && b->n < b->cap)
            put_row(b, &rows[i++]);
        assert_int_equal(count_analysis()->feed(st, b, 0, b->n), TROD_OK);
    }
    trod_batch_free(b);
}

/* The report as JSON; to be freed. */
static inline char *count_json(const void *st)
{
    struct trod_emit_options opt = {.format = TROD_EMIT_JSON};
    struct trod_result *result;
    struct trod_emit *e;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    assert_int_equal(trod_emit_new(&e, f, &opt), TROD_OK);
    assert_int_equal(trod_result_new(&result), TROD_OK);
    assert_int_equal(count_analysis()->result(st, result), TROD_OK);
    trod_result_emit(result, e);
    trod_result_free(result);
    assert_int_equal(trod_emit_free(e), TROD_OK);
    fclose(f);
    return text;
}

#endif
