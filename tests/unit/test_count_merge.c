/*
 * test_count_merge.c - the analysis "count" on random rows: a slow oracle, every way of cutting and
 * merging, saved states, damaged ones, counters past 2^32.
 */
#include "trod_config.h"

#if TROD_HAVE_JANSSON
#include "count_fixture.h"

#include "core/rng.h"

enum { ROWS = 6000 };

/* ---- random rows against an oracle that keeps everything */

/* Threads 0 to 3 in files 0, 0, 1 and 2; code and data that overlap, some of it rewritten. */
static void random_rows(struct one *rows, size_t n, uint64_t seed, bool windows)
{
    static const uint8_t kinds[] = {TROD_INSTR, TROD_INSTR,  TROD_INSTR,    TROD_INSTR, TROD_READ,
                                    TROD_READ,  TROD_WRITE,  TROD_PREFETCH, TROD_FLUSH, TROD_MARKER,
                                    TROD_NOTE,  TROD_ATOMIC, TROD_INSTR,    TROD_INSTR};
    struct trod_rng r;
    uint32_t stream = 0;
    uint64_t id = 0;

    trod_rng_seed(&r, seed);
    for (size_t i = 0; i < n; i++) {
        bool code;

        if (trod_rng_below(&r, 50) == 0)
            stream = (uint32_t)trod_rng_below(&r, 4);
        rows[i] = (struct one){.has = AT, .stream = stream};
        rows[i].kind = kinds[trod_rng_below(&r, N_OF(kinds))];
        code = rows[i].kind == TROD_INSTR;
        rows[i].addr = (code ? 0x400000 : 0x7000ff00) + trod_rng_below(&r, code ? 6000 : 9000);
        rows[i].size = (uint32_t)(code ? 1 + trod_rng_below(&r, 15) : trod_rng_below(&r, 80));
        if (code && trod_rng_below(&r, 4) == 0)
            rows[i].flags = (uint32_t)trod_rng_below(&r, 12);
        if (i / 500 % 3 == 1 && trod_rng_below(&r, 10) == 0) /* some batches have none of these */
            rows[i].flags |= (uint32_t)trod_rng_below(&r, 8) << 18;
        if (rows[i].kind == TROD_MARKER) {
            rows[i].has |= TROD_COL_VALUE;
            rows[i].sub = (uint16_t)trod_rng_below(&r, 50);
            if (rows[i].sub == 9 || rows[i].sub == 10)
                rows[i].sub = 2;
            rows[i].value = trod_rng_below(&r, 4);
            if (rows[i].sub == 14)
                rows[i].value = windows ? id += rows[i].value == 0 : 0;
        }
    }
}

static void add_threads(struct fixture *f)
{
    trod_meta_thread(&f->meta, 100, 1, 0);
    trod_meta_thread(&f->meta, 101, 1, 0);
    trod_meta_thread(&f->meta, 100, 1, 1);
    trod_meta_thread(&f->meta, 103, 2, 2);
}

/* How many of the rows of thread STREAM (-1: all) are of KIND and not of WITHOUT. */
static long long naive(const struct one *rows, size_t n, int stream, uint8_t kind, uint32_t with,
                       uint32_t without)
{
    long long found = 0;

    for (size_t i = 0; i < n; i++)
        found += rows[i].kind == kind && (stream < 0 || (uint32_t)stream == rows[i].stream) &&
                 (rows[i].flags & with) == with && !(rows[i].flags & without);
    return found;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static bool touches(const struct one *o, bool code)
{
    if (code)
        return o->kind == TROD_INSTR && !(o->flags & TROD_F_NOFETCH);
    return o->kind == TROD_READ || o->kind == TROD_WRITE || o->kind == TROD_ATOMIC;
}

/* Distinct units of UNIT bytes (0: first addresses) that the rows touch. */
static long long naive_unique(const struct one *rows, size_t n, int stream, bool code,
                              uint32_t unit)
{
    uint64_t *list = malloc(n * 100 * sizeof *list);
    long long distinct = 0;
    size_t m = 0;

    assert_non_null(list);
    for (size_t i = 0; i < n; i++) {
        if (!touches(&rows[i], code) || (stream >= 0 && (uint32_t)stream != rows[i].stream))
            continue;
        if (unit == 0)
            list[m++] = rows[i].addr;
        for (uint32_t k = 0; unit && k < rows[i].size; k++)
            list[m++] = (rows[i].addr + k) / unit;
    }
    qsort(list, m, sizeof *list, by_value);
    for (size_t i = 0; i < m; i++)
        distinct += i == 0 || list[i] != list[i - 1];
    free(list);
    return distinct;
}

static void compare(const json_t *got, const struct one *rows, size_t n, int stream)
{
    long long fetched = naive(rows, n, stream, TROD_INSTR, 0, TROD_F_NOFETCH);
    long long kernel = naive(rows, n, stream, TROD_INSTR, TROD_F_KERNEL, TROD_F_NOFETCH);

    assert_int_equal(number(got, "fetched_instructions"), fetched);
    assert_int_equal(number(got, "kernel_instructions"), kernel);
    assert_int_equal(number(got, "userspace_instructions"), fetched - kernel);
    assert_int_equal(number(got, "non_fetched_instructions"),
                     naive(rows, n, stream, TROD_INSTR, TROD_F_NOFETCH, 0));
    assert_int_equal(number(got, "encodings"),
                     naive(rows, n, stream, TROD_INSTR, TROD_F_NEWCODE, 0));
    assert_int_equal(number(got, "data_loads"), naive(rows, n, stream, TROD_READ, 0, 0));
    assert_int_equal(number(got, "data_stores"), naive(rows, n, stream, TROD_WRITE, 0, 0));
    assert_int_equal(number(got, "prefetches"), naive(rows, n, stream, TROD_PREFETCH, 0, 0));
    assert_int_equal(number(got, "unique_fetched_instructions"),
                     naive_unique(rows, n, stream, true, 0));
    assert_int_equal(number(got, "unique_code_bytes"), naive_unique(rows, n, stream, true, 1));
    assert_int_equal(number(got, "unique_code_lines"), naive_unique(rows, n, stream, true, 64));
    assert_int_equal(number(got, "unique_data_bytes"), naive_unique(rows, n, stream, false, 1));
    assert_int_equal(number(got, "unique_data_lines"), naive_unique(rows, n, stream, false, 64));
    for (unsigned k = TROD_BR_DIRECT; k <= TROD_BR_ERET; k++) {
        static const char *const keys[] = {[TROD_BR_DIRECT] = "direct_jumps",
                                           [TROD_BR_INDIRECT] = "indirect_jumps",
                                           [TROD_BR_COND_TAKEN] = "conditional_taken",
                                           [TROD_BR_COND_UNTAKEN] = "conditional_untaken",
                                           [TROD_BR_CALL] = "direct_calls",
                                           [TROD_BR_ICALL] = "indirect_calls",
                                           [TROD_BR_RETURN] = "returns",
                                           [TROD_BR_SYSCALL] = "system_call_instructions",
                                           [TROD_BR_ERET] = "exception_returns"};
        long long found = 0;

        for (size_t i = 0; keys[k] && i < n; i++)
            found += rows[i].kind == TROD_INSTR && !(rows[i].flags & TROD_F_NOFETCH) &&
                     (rows[i].flags & TROD_F_BRANCH) == k &&
                     (stream < 0 || rows[i].stream == (uint32_t)stream);
        if (keys[k])
            assert_int_equal(number(got, keys[k]), found);
    }
}

static int stream_of(long long tid, long long file)
{
    return tid == 100 ? (file ? 2 : 0) : tid == 101 ? 1 : 3;
}

static void test_oracle(void **state)
{
    struct one *rows = malloc(ROWS * sizeof *rows);

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct fixture f;

        begin(&f, "drmemtrace");
        if (seed % 2) /* other code at the same address only with TROD_F_NEWCODE: not so here */
            f.meta.filetype = 0;
        add_threads(&f);
        random_rows(rows, ROWS, seed, false);
        count(&f, rows, ROWS, COUNT_HAVE);
        compare(json_object_get(f.report, "total"), rows, ROWS, -1);
        assert_int_equal(total(&f, "threads"), 3);
        for (size_t i = 0; i < 4; i++) {
            const json_t *t = json_array_get(json_object_get(f.report, "threads_counts"), i);

            compare(t, rows, ROWS, stream_of(number(t, "tid"), number(t, "file")));
        }
        end(&f);
    }
    free(rows);
}

/* ---- cutting, merging, saving */

static void *reloaded(const void *st)
{
    struct trod_buf a = {0}, b = {0};
    void *copy = calloc(1, count_analysis()->state_size);

    assert_int_equal(count_analysis()->save(st, &a), TROD_OK);
    assert_int_equal(count_analysis()->load(copy, (struct trod_span){.p = a.p, .n = a.n}, NULL),
                     TROD_OK);
    assert_int_equal(count_analysis()->save(copy, &b), TROD_OK);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, a.n);
    trod_buf_fini(&a);
    trod_buf_fini(&b);
    return copy;
}

/* Rows in PARTS pieces, each with a meta and state of its own, in batches of BATCH, merged. */
static char *in_parts(const struct trod_count_options *opt, const struct one *rows, size_t n,
                      size_t parts, uint32_t batch, bool save)
{
    struct fixture all;
    void *st;
    char *json;

    begin(&all, "drmemtrace");
    st = count_begin(opt, &all.meta, NULL);
    for (size_t k = 0; k < parts; k++) {
        struct fixture f;
        void *one, *copy;

        begin(&f, "drmemtrace");
        f.meta.part = (uint32_t)k;
        add_threads(&f);
        one = count_begin(opt, &f.meta, NULL);
        count_feed(one, rows, n * k / parts, n * (k + 1) / parts, batch, COUNT_HAVE);
        copy = save ? reloaded(one) : one;
        assert_int_equal(count_analysis()->merge(st, copy), TROD_OK);
        if (save)
            count_end(copy);
        count_end(one);
        end(&f);
    }
    for (uint32_t file = 0; file < 3; file++)
        assert_int_equal(count_analysis()->settle(st, file), TROD_OK);
    if (save) {
        void *copy = reloaded(st);

        count_end(st);
        st = copy;
    }
    json = count_json(st);
    count_end(st);
    end(&all);
    return json;
}

static void test_parts(void **state)
{
    struct one *rows = malloc(ROWS * sizeof *rows);
    const struct trod_count_options opt = {0}; /* what a saved state knows of its options */

    (void)state;
    for (uint64_t seed = 20; seed < 24; seed++) {
        char *want;

        random_rows(rows, ROWS, seed, seed % 2);
        want = in_parts(&opt, rows, ROWS, 1, TROD_BATCH_ROWS, false);
        for (size_t parts = 1; parts <= 5; parts++)
            for (uint32_t batch = 1; batch <= TROD_BATCH_ROWS; batch = batch * 5 + 2) {
                char *got = in_parts(&opt, rows, ROWS, parts, batch, parts % 2);

                assert_string_equal(want, got);
                free(got);
            }
        free(want);
    }
    free(rows);
}

/* Whatever comes in is a state or an error, and a state can be reported. */
/* The report on ROWS of FORMAT in batches of BATCH. */
static char *in_batches(const char *format, const struct one *rows, size_t n, uint32_t batch)
{
    struct fixture f;
    void *st;
    char *json;

    begin(&f, format);
    add_threads(&f);
    st = count_begin(NULL, &f.meta, NULL);
    count_feed(st, rows, 0, n, batch, COUNT_HAVE);
    for (uint32_t file = 0; file < 3; file++)
        assert_int_equal(count_analysis()->settle(st, file), TROD_OK);
    json = count_json(st);
    count_end(st);
    end(&f);
    return json;
}

/* Rows of several streams by turns, now and then of none, against batches of one row each. */
static void test_turns(void **state)
{
    static const char *const formats[] = {"tarmac", "byu12"};
    struct one *rows = malloc(ROWS * sizeof *rows);
    struct trod_rng r;

    (void)state;
    trod_rng_seed(&r, 77);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const char *format = formats[seed % N_OF(formats)];
        char *want, *got;

        random_rows(rows, ROWS, seed, false);
        for (size_t i = 0; i < ROWS; i++) {
            if (seed < 5 || i / 300 % 2) /* line by line, or now and then */
                rows[i].stream = (uint32_t)(seed % 4 ? trod_rng_below(&r, 1 + seed % 4) : i % 2);
            if (seed > 2 && trod_rng_below(&r, 20) == 0)
                rows[i].has &= ~(uint32_t)TROD_COL_STREAM;
        }
        want = in_batches(format, rows, ROWS, 1);
        got = in_batches(format, rows, ROWS, 4096);
        assert_string_equal(got, want);
        free(got);
        got = in_batches(format, rows, ROWS, 1000);
        assert_string_equal(got, want);
        free(got);
        free(want);
    }
    free(rows);
}

static void test_damaged(void **state)
{
    struct one *rows = malloc(ROWS * sizeof *rows);
    struct fixture f;
    struct trod_buf saved = {0};
    struct trod_rng r;
    void *st;
    size_t refused = 0;

    (void)state;
    begin(&f, "drmemtrace");
    add_threads(&f);
    random_rows(rows, 500, 9, true);
    st = count_begin(NULL, &f.meta, NULL);
    count_feed(st, rows, 0, 500, 64, COUNT_HAVE);
    assert_int_equal(count_analysis()->save(st, &saved), TROD_OK);
    count_end(st);
    trod_rng_seed(&r, 5);
    for (size_t i = 0; i < 3000; i++) {
        struct trod_span in = {.p = saved.p, .n = saved.n};
        size_t at = (size_t)trod_rng_below(&r, saved.n);
        uint8_t was = saved.p[at];
        bool cut = i % 2;
        int rc;

        if (cut)
            in.n = at;
        else
            saved.p[at] ^= (uint8_t)(1u << trod_rng_below(&r, 8));
        st = calloc(1, count_analysis()->state_size);
        rc = count_analysis()->load(st, in, NULL);
        assert_true(rc == TROD_OK || rc == TROD_ERR_CORRUPT);
        assert_false(cut && rc == TROD_OK);
        refused += rc != TROD_OK;
        if (rc == TROD_OK)
            free(count_json(st));
        count_end(st);
        saved.p[at] = was;
    }
    assert_true(refused > 1500);
    trod_buf_fini(&saved);
    free(rows);
    end(&f);
}

/* Doubled 40 times, a counter has 2^40 times what it had; what is unique stays. */
static void test_large(void **state)
{
    const struct one rows[] = {INSTR(0, 0x1000, 4, TROD_BR_COND_TAKEN), DATA(0, TROD_READ, 0x20, 8),
                               DATA(0, TROD_WRITE, 0x20, 2), MARK(0, 25, 1), MARK(0, 13, 1)};
    const long long times = 1ll << 40;
    struct fixture f;
    void *st;

    (void)state;
    begin(&f, "drmemtrace");
    trod_meta_thread(&f.meta, 10, 1, 0);
    st = count_begin(&f.opt, &f.meta, NULL);
    count_feed(st, rows, 0, N_OF(rows), 64, COUNT_HAVE);
    for (int i = 0; i < 40; i++) {
        void *copy = reloaded(st);

        assert_int_equal(count_analysis()->merge(st, copy), TROD_OK);
        count_end(copy);
    }
    f.report = parse(count_json(st));
    count_end(st);
    assert_int_equal(total(&f, "fetched_instructions"), times);
    assert_int_equal(total(&f, "conditional_taken"), times);
    assert_int_equal(total(&f, "bytes_read"), 8 * times);
    assert_int_equal(total(&f, "bytes_written"), 2 * times);
    assert_int_equal(total(&f, "system_call_number_markers"), times);
    assert_int_equal(total(&f, "other_markers"), times);
    assert_int_equal(total(&f, "rows"), 5 * times);
    assert_int_equal(total(&f, "unique_fetched_instructions"), 1);
    assert_int_equal(total(&f, "unique_data_bytes"), 8);
    assert_int_equal(of_thread(&f, 0, "fetched_instructions"), times);
    end(&f);
}

/* A lane that is settled on both sides cannot be merged: what is common to them is lost. */
static void test_settled_twice(void **state)
{
    const struct one rows[] = {INSTR(0, 0x1000, 4, 0)};
    struct fixture f;
    void *a, *b;

    (void)state;
    begin(&f, "drmemtrace");
    trod_meta_thread(&f.meta, 10, 1, 0);
    a = count_begin(NULL, &f.meta, NULL);
    b = count_begin(NULL, &f.meta, NULL);
    count_feed(a, rows, 0, 1, 1, COUNT_HAVE);
    count_feed(b, rows, 0, 1, 1, COUNT_HAVE);
    assert_int_equal(count_analysis()->settle(a, 0), TROD_OK);
    assert_int_equal(count_analysis()->merge(a, b), TROD_ERR_USAGE);
    count_end(a);
    count_end(b);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_turns),  cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_large),  cmocka_unit_test(test_settled_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
#include <stdio.h>

int main(void)
{
    puts("skipped: built without jansson");
    return 77;
}

#endif
