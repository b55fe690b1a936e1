/*
 * count_fixture.h - rows of drmemtrace traces counted, and numbers of the report, for the tests of
 * `count`. Needs jansson.
 */
#ifndef COUNT_FIXTURE_H
#define COUNT_FIXTURE_H

#include "count_data.h"

#include <jansson.h>

/* Kinds of rows, as drmemtrace has them. */
#define AT (TROD_COL_STREAM | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_SUB)
#define INSTR(stream_, pc, size_, flags_)                                                          \
    {                                                                                              \
        .has = AT, .kind = TROD_INSTR, .stream = stream_, .addr = pc, .size = size_,               \
        .flags = flags_, .sub = 10                                                                 \
    }
#define DATA(stream_, kind_, addr_, size_)                                                         \
    {                                                                                              \
        .has = AT, .kind = kind_, .stream = stream_, .addr = addr_, .size = size_                  \
    }
#define MARK(stream_, sub_, value_)                                                                \
    {                                                                                              \
        .has = TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_VALUE, .kind = TROD_MARKER,               \
        .stream = stream_, .sub = sub_, .value = value_                                            \
    }

#define N_OF(a) (sizeof(a) / sizeof *(a))

struct fixture {
    struct trod_meta meta;
    struct trod_diag diag;
    struct trod_count_options opt;
    json_t *report;
};

static inline void begin(struct fixture *f, const char *format)
{
    memset(f, 0, sizeof *f);
    trod_meta_init(&f->meta);
    trod_diag_init(&f->diag, NULL, NULL);
    f->meta.format = format;
    f->meta.driver = trod_format_find(format, strlen(format));
    f->opt.detail = TROD_COUNT_WIDE;
}

static inline void end(struct fixture *f)
{
    json_decref(f->report);
    trod_meta_fini(&f->meta);
}

static inline json_t *parse(char *text)
{
    json_error_t error;
    json_t *j = json_loads(text, 0, &error);

    if (!j)
        print_error("%s\n%s\n", error.text, text);
    assert_non_null(j);
    free(text);
    return j;
}

static inline void count(struct fixture *f, const struct one *rows, size_t n, uint32_t have)
{
    void *st = count_begin(&f->opt, &f->meta, &f->diag);

    count_feed(st, rows, 0, n, TROD_BATCH_ROWS, have);
    count_analysis()->settle(st, 0);
    json_decref(f->report);
    f->report = parse(count_json(st));
    count_end(st);
}

/* Field KEY of the object J: its number, or -1 where it is absent. */
static inline long long number(const json_t *j, const char *key)
{
    const json_t *v = json_object_get(j, key);

    return v ? (long long)json_integer_value(v) : -1;
}

static inline long long total(const struct fixture *f, const char *key)
{
    return number(json_object_get(f->report, "total"), key);
}

static inline long long of_thread(const struct fixture *f, size_t i, const char *key)
{
    return number(json_array_get(json_object_get(f->report, "threads_counts"), i), key);
}

#endif
