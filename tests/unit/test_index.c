/*
 * test_index.c - with an index every question has the answer that it has without one: against the
 * oracle on random traces, row by row on the golden files of every format, packed and not; indexes
 * that are cut, old or foreign are not used; damage in any byte is noticed, at once or when a
 * question comes to it, and no answer becomes another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fewer.h"
#include "nav_check.h"
#include "nav_index.h"
#include "testlib.h"
#include "trod/show.h"
#include "trod/writer.h"

static void test_random(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "random.tarmac");

    (void)state;
    for (unsigned seed = 0; seed < 6; seed++) {
        struct trod_gen g = gen_seed(1000 + seed);
        struct events es;
        struct trod_nav *nav;

        events_make(&es, &g, 60 + 400 * seed, seed % 2);
        test_save(path, es.text.p, es.text.n);
        assert_true(make_index(path, 1 + 37 * seed, 1 + seed));
        nav = open_nav(path, false);
        assert_non_null(trod_nav_index(nav));
        for (size_t i = 0; i < test_fewer(25, 2); i++)
            nav_check(nav, &es, &g);
        trod_nav_close(nav);
        events_fini(&es);
    }
    test_remove(dir);
    free(path);
    free(dir);
}

/* The same of a trace that is compressed by COMMAND: reading begins at points inside it. */
static void compressed(const char *suffix, const char *with)
{
    char *dir = test_tmpdir(), *path, *plain = test_path(dir, "random.tarmac"), name[64];

    snprintf(name, sizeof name, "random.tarmac.%s", suffix);
    path = test_path(dir, name);
    for (int level = 1; level < 10; level += 5) {
        struct trod_gen g = gen_seed(500 + (uint64_t)level);
        char command[9000];
        struct trod_nav *nav;
        struct events es;

        events_make(&es, &g, 14000, true);
        test_save(plain, es.text.p, es.text.n);
        snprintf(command, sizeof command, "cd '%s' && %s -%d random.tarmac", dir, with, level);
        if (system(command) != 0)
            skip();
        assert_true(make_index(path, 900, 4));
        nav = open_nav(path, false);
        assert_non_null(trod_nav_index(nav));
        assert_in_range(nav->index->n_points, 1, 1000);
        for (size_t i = 0; i < test_fewer(5, 1); i++)
            nav_check(nav, &es, &g);
        trod_nav_close(nav);
        events_fini(&es);
    }
    test_remove(dir);
    free(plain);
    free(path);
    free(dir);
}

static void test_gzip(void **state)
{
    (void)state;
    compressed("gz", "gzip -f");
}

static void test_zip(void **state)
{
    (void)state;
    if (system("zip -v >/dev/null 2>&1") != 0) {
        print_message("there is no zip here: points in members of archives are not tested\n");
        skip();
    }
    compressed("zip", "rm -f random.tarmac.zip && zip -q random.tarmac.zip random.tarmac");
}

/* ---- golden files: rows by number */

static struct trod_buf row_text(struct trod_nav *nav, uint64_t row)
{
    const struct trod_show_options opt = {.struct_size = sizeof opt, .meta = trod_nav_meta(nav)};
    const struct trod_batch *b;
    struct trod_show *show;
    struct trod_buf out = {0};
    uint32_t i;

    if (trod_nav_row(nav, row, &b, &i) != 1)
        return out;
    assert_int_equal(trod_buf_reserve(&out, TROD_SHOW_LINE), 0);
    assert_int_equal(trod_show_new(&show, &opt), 0);
    out.n = (size_t)((uint8_t *)trod_show_json(show, b, i, row, (char *)out.p) - out.p);
    trod_show_free(show);
    return out;
}

/* Streams have the numbers that they have from the beginning. */
static void same_stream(struct trod_nav *with, struct trod_nav *without, uint64_t row)
{
    const struct trod_batch *a, *b;
    uint32_t i, k;

    assert_int_equal(trod_nav_row(with, row, &a, &i), 1);
    assert_int_equal(trod_nav_row(without, row, &b, &k), 1);
    assert_int_equal(nav_has(a, i, TROD_COL_STREAM), nav_has(b, k, TROD_COL_STREAM));
    if (nav_has(a, i, TROD_COL_STREAM))
        assert_int_equal(a->stream[i], b->stream[k]);
}

/* The calls that are open at ROW, from the index and from following all rows before it. */
static void same_calls(struct trod_nav *with, struct trod_nav *without, uint64_t row)
{
    struct trod_nav_call *a, *b;
    size_t n, m;

    assert_int_equal(trod_nav_calls(with, row, TROD_NAV_ROW_STREAM, &a, &n), 0);
    assert_int_equal(trod_nav_calls(without, row, TROD_NAV_ROW_STREAM, &b, &m), 0);
    if (n != m)
        fail_msg("%s, row %llu: %zu calls are %zu", trod_nav_index(with), (unsigned long long)row,
                 m, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(a[i].row, b[i].row);
        assert_int_equal(a[i].pc, b[i].pc);
        assert_int_equal(a[i].site_row, b[i].site_row);
        assert_int_equal(a[i].site_pc, b[i].site_pc);
        assert_int_equal(a[i].depth, i);
        assert_int_equal(a[i].kind, b[i].kind);
        assert_int_equal(a[i].sure, b[i].sure);
    }
    free(a);
    free(b);
}

/* Every register and some memory at ROW. */
static void same_state(struct trod_nav *with, struct trod_nav *without, uint64_t row, uint64_t addr)
{
    struct trod_nav_byte memory[2][64];
    struct trod_nav_register reg[2];
    struct trod_nav_state *s[2];
    struct trod_nav *const nav[] = {with, without};
    bool more[2] = {true, true};

    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(trod_nav_state(nav[i], row, TROD_NAV_ROW_STREAM, &s[i]), 0);
        assert_int_equal(trod_nav_memory(nav[i], row, addr, 64, memory[i]), 0);
    }
    for (unsigned k = 0; k < 64; k++) {
        assert_int_equal(memory[0][k].from, memory[1][k].from);
        assert_int_equal(memory[0][k].value, memory[1][k].value);
        assert_int_equal(memory[0][k].row, memory[1][k].row);
        assert_int_equal(memory[0][k].since, memory[1][k].since);
    }
    for (size_t k = 0; more[0] && more[1]; k++) {
        for (unsigned i = 0; i < 2; i++)
            more[i] = trod_nav_state_register(s[i], k, &reg[i]);
        assert_int_equal(more[0], more[1]);
        if (!more[0])
            break;
        assert_string_equal(reg[0].name, reg[1].name);
        assert_int_equal(reg[0].size, reg[1].size);
        assert_int_equal(reg[0].row, reg[1].row);
        if (reg[0].size)
            assert_memory_equal(reg[0].value, reg[1].value, reg[0].size);
    }
    trod_nav_state_free(s[0]);
    trod_nav_state_free(s[1]);
}

/* An address that rows near ROW have. */
static uint64_t near(struct trod_nav *nav, uint64_t row, struct trod_gen *g)
{
    const struct trod_batch *b;
    uint32_t i;

    for (uint64_t at = row < 20 ? 0 : row - 20; at < row + 20; at++)
        if (trod_nav_row(nav, at, &b, &i) == 1 && nav_has(b, i, TROD_COL_ADDR) &&
            b->kind[i] != TROD_INSTR && (at >= row || gen_u64(g) % 8 == 0))
            return b->addr[i] < UINT64_MAX - 64 ? b->addr[i] : 0;
    return 0x1000;
}

/* Rows from every block of PATHS are those of reading from the beginning. */
static void same_rows_of(const char *const *paths, size_t n, struct trod_gen *g)
{
    struct trod_nav *with = open_files(paths, n, false), *without = open_files(paths, n, true);
    uint64_t rows, rows_with;

    assert_non_null(with);
    assert_non_null(trod_nav_index(with));
    assert_int_equal(trod_nav_count(without, &rows), 0);
    assert_int_equal(trod_nav_count(with, &rows_with), 0);
    assert_int_equal(rows, rows_with);
    for (size_t i = 0; rows && i < test_fewer(6, 1); i++) {
        const uint64_t row = gen_u64(g) % rows;
        struct trod_buf a, b;

        /* the rows that stay decoded would hide where reading began */
        nav_kept_forget(&with->keep);
        a = row_text(with, row);
        b = row_text(without, row);
        if (a.n != b.n || (a.n && memcmp(a.p, b.p, a.n) != 0))
            fail_msg("%s, row %llu: %.*s is %.*s", paths[0], (unsigned long long)row, (int)b.n,
                     (const char *)b.p, (int)a.n, (const char *)a.p);
        trod_buf_fini(&a);
        trod_buf_fini(&b);
        same_stream(with, without, row);
        same_calls(with, without, row);
        same_state(with, without, row, near(with, row, g));
        same_touched(with, without, gen_below(g, row + 1), row);
    }
    trod_nav_close(with);
    trod_nav_close(without);
}

static void same_rows(const char *path, struct trod_gen *g)
{
    same_rows_of(&path, 1, g);
}

/* Traces of several files: one index for all, blocks end with their file. */
static void test_several(void **state)
{
    char *dir = test_tmpdir(), *path[3];
    const char *paths[3];
    struct trod_gen g = gen_seed(78);
    struct trod_nav *with, *without;
    struct events es;
    uint64_t rows;

    (void)state;
    events_make(&es, &g, 900, true);
    for (size_t i = 0, from = 0, to; i < 3; i++, from = to) {
        char name[32];

        snprintf(name, sizeof name, "%zu.tarmac", i);
        paths[i] = path[i] = test_path(dir, name);
        for (to = es.text.n * (i + 1) / 3; es.text.p[to - 1] != '\n';)
            to++;
        test_save(path[i], es.text.p + from, to - from);
    }
    assert_true(index_files(paths, 3, 20, 3, 0));
    with = open_files(paths, 3, false);
    without = open_files(paths, 3, true);
    assert_non_null(trod_nav_index(with));
    assert_int_equal(with->index->n_sources, 3);
    assert_int_equal(trod_nav_count(with, &rows), 0);
    assert_int_equal(rows, es.n);
    for (size_t i = 0; i < test_fewer(30, 3); i++) {
        const uint64_t some = es.at[gen_u64(&g) % es.n].addr;

        same_state(with, without, gen_u64(&g) % rows, (some ? some : 0x8000) - 16);
    }
    for (size_t i = 0; i < test_fewer(10, 2); i++)
        same_rows_of(paths, 3, &g);
    trod_nav_close(with);
    trod_nav_close(without);
    /* others, or in another order: not its trace */
    with = open_files(paths, 2, false);
    assert_null(trod_nav_index(with));
    trod_nav_close(with);
    events_fini(&es);
    test_remove(dir);
    for (unsigned i = 0; i < 3; i++)
        free(path[i]);
    free(dir);
}

static void test_golden(void **state)
{
    char *dir = test_tmpdir(), root[4096];
    struct trod_gen g = gen_seed(7);
    unsigned files = 0;

    (void)state;
    for (size_t f = 0; trod_format_at(f); f++) {
        struct test_list list;

        snprintf(root, sizeof root, "%s/tests/golden/%s", test_source_dir(),
                 trod_format_at(f)->name);
        list = test_files(root);
        for (size_t i = 0; i < list.n; i++) {
            char *from = test_path(root, list.name[i]), *to = test_path(dir, list.name[i]);
            struct trod_buf bytes = test_load(from);

            test_save(to, bytes.p, bytes.n);
            if (bytes.n < 1 << 20 && make_index(to, 5, 3)) {
                same_rows(to, &g);
                files++;
            }
            trod_buf_fini(&bytes);
            free(from);
            free(to);
        }
        test_list_free(&list);
    }
    assert_in_range(files, 10, 10000);
    test_remove(dir);
    free(dir);
}

/* ---- what is not to be believed */

static char *small_trace(const char *dir, struct events *es)
{
    struct trod_gen g = gen_seed(3);
    char *path = test_path(dir, "t.tarmac");

    events_make(es, &g, 60, false);
    test_save(path, es->text.p, es->text.n);
    assert_true(make_index(path, 25, 2));
    return path;
}

static bool is_used(const char *path)
{
    struct trod_nav *nav = open_nav(path, false);
    const bool used = trod_nav_index(nav) != NULL;

    trod_nav_close(nav);
    return used;
}

/*
 * With an index that is damaged answers are those of the oracle, and 'trod index' sees it. Is it
 * used in the end?
 */
static bool harmless(const char *path, const struct events *es, size_t seed)
{
    struct trod_nav *nav = open_nav(path, false);
    struct trod_gen g = gen_seed(seed);
    bool used;

    assert_non_null(nav);
    nav_check(nav, es, &g);
    used = trod_nav_index(nav) != NULL;
    if (used)
        assert_int_equal(nav_index_check_all(nav->index), TROD_ERR_CORRUPT);
    trod_nav_close(nav);
    return used;
}

static void test_damaged(void **state)
{
    char *dir = test_tmpdir(), *index;
    struct events es;
    char *path = small_trace(dir, &es);
    struct trod_buf whole;
    size_t used = 0;

    (void)state;
    index = test_path(dir, "t.tarmac.trodx");
    whole = test_load(index);
    assert_true(is_used(path));
    for (size_t i = 0; i < whole.n; i += test_step()) {
        whole.p[i] ^= (uint8_t)(1u << i % 8);
        test_save(index, whole.p, whole.n);
        used += harmless(path, &es, i);
        whole.p[i] ^= (uint8_t)(1u << i % 8);
    }
    assert_in_range(used, 1, whole.n - 1);
    for (size_t n = 0; n < whole.n; n += 7 * test_step()) {
        test_save(index, whole.p, n);
        assert_false(is_used(path));
    }
    test_save(index, whole.p, whole.n);
    assert_true(is_used(path));
    trod_buf_fini(&whole);
    events_fini(&es);
    test_remove(dir);
    free(index);
    free(path);
    free(dir);
}

static void test_stale(void **state)
{
    char *dir = test_tmpdir(), *path, *other, *there, *copy;
    struct events es;
    struct trod_buf bytes, index;

    (void)state;
    path = small_trace(dir, &es);
    bytes = test_load(path);
    /* touched: still the same */
    test_save(path, bytes.p, bytes.n);
    assert_true(is_used(path));
    /* one byte is another */
    bytes.p[bytes.n / 2] ^= 1;
    test_save(path, bytes.p, bytes.n);
    assert_false(is_used(path));
    bytes.p[bytes.n / 2] ^= 1;
    /* longer, shorter */
    trod_buf_add(&bytes, "9 clk R X1 0000000000000000\n", 28);
    test_save(path, bytes.p, bytes.n);
    assert_false(is_used(path));
    test_save(path, bytes.p, bytes.n - 300);
    assert_false(is_used(path));
    test_save(path, bytes.p, bytes.n - 28);
    assert_true(is_used(path));
    /* of another trace */
    other = test_path(dir, "other.tarmac");
    bytes.p[bytes.n - 40] ^= 1;
    test_save(other, bytes.p, bytes.n - 28);
    copy = test_path(dir, "other.tarmac.trodx");
    there = test_path(dir, "t.tarmac.trodx");
    index = test_load(there);
    test_save(copy, index.p, index.n);
    assert_false(is_used(other));
    trod_buf_fini(&index);
    trod_buf_fini(&bytes);
    events_fini(&es);
    test_remove(dir);
    free(other);
    free(copy);
    free(there);
    free(path);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),  cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_zip),     cmocka_unit_test(test_golden),
        cmocka_unit_test(test_several), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_stale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
