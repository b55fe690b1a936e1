/*
 * test_index_calls.c - the calls that an index has are those that following all rows finds: on
 * random programs that call, return, jump, are interrupted and switch between stacks, of one file
 * and of several, with symbols and without; on the golden files of every format; cut and damaged.
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
#include "gen.h"
#include "nav_calls.h"
#include "nav_index.h"
#include "nav_symbols.h"
#include "navigate/calls.h"
#include "testlib.h"
#include "trod/callstack.h"
#include "trod/format.h"

/* ---- what a sink is told, as text */

/* What trod_nav_callstack_open tells as well. */
static int leave_open(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    const unsigned long long v[] = {f->stream,     f->context,  f->depth,       f->kind,
                                    f->sure,       end->how,    f->site.pc + 1, f->entry.row,
                                    f->entry.time, f->entry.pc, f->function,    f->own[3]};

    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        assert_int_equal(trod_buf_printf(&((struct log *)ctx)->open, " %llx", v[i]), 0);
    return trod_buf_add(&((struct log *)ctx)->open, "\n", 1);
}

static int enter(void *ctx, struct trod_frame *f)
{
    struct log *l = ctx;

    f->user = ++l->n;
    return trod_buf_printf(
        &l->text,
        "%llu of %llu: stream %u file %u context %u depth %u kind %u sure %u%s row %llu insn %llu "
        "time %llx pc %llx from %llx %llx function %llx lane %llu\n",
        (unsigned long long)f->user, (unsigned long long)(f->depth ? f[-1].user : 0), f->stream,
        f->file, f->context, f->depth, f->kind, f->sure, f->under ? " under" : "",
        (unsigned long long)f->entry.row, (unsigned long long)f->entry.instruction,
        (unsigned long long)f->entry.time, (unsigned long long)f->entry.pc,
        (unsigned long long)(f->site.pc == TROD_NOWHERE ? 0 : f->site.row),
        (unsigned long long)f->site.pc, (unsigned long long)f->function,
        (unsigned long long)f->own[3]);
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct log *l = ctx;

    if (end->how == TROD_FRAME_OPEN)
        assert_int_equal(leave_open(l, f, end), 0);
    return trod_buf_printf(
        &l->text, "%llu ends: how %u sure %u last %llx row %llu insn %llu %llx\n",
        (unsigned long long)f->user, end->how, end->sure, (unsigned long long)end->last.time,
        (unsigned long long)end->next.row, (unsigned long long)end->next.instruction,
        (unsigned long long)end->next.time);
}

/* That calls are followed with; NULL: none. */
static const struct trod_symbols *symbols;

/* By reading all rows, with no more columns than it takes. False: they cannot be read. */
static bool by_rows(const char *const *paths, size_t n, struct log *l,
                    struct trod_callstack_counts *counts)
{
    const struct trod_trace_options opt = {.struct_size = sizeof opt, .want = TROD_COL_KIND};
    const struct trod_callstack_sink sink = {.ctx = l, .enter = enter, .leave = leave};
    struct trod_callstack *c;
    struct trod_batch *b;
    struct trod_trace *t;
    int rc;

    if (trod_trace_open(&t, paths, n, &opt, NULL) != 0)
        return false;
    trod_trace_want(t, trod_callstack_columns(trod_trace_format(t)->name));
    assert_int_equal(trod_callstack_new(&c, &sink, symbols, false), 0);
    while ((rc = trod_trace_next(t, &b)) > 0)
        assert_int_equal(trod_callstack_feed(c, b, 0, b->n), 0);
    assert_int_equal(trod_callstack_end(c), 0);
    trod_callstack_count(c, counts);
    trod_callstack_free(c);
    trod_trace_close(t);
    return rc == 0;
}

static int by_index(const char *const *paths, size_t n, struct log *l,
                    struct trod_callstack_counts *counts)
{
    const struct trod_callstack_sink sink = {.ctx = l, .enter = enter, .leave = leave};
    struct trod_nav *nav = open_files(paths, n, false);
    int rc;

    if (!nav)
        return TROD_ERR_UNKNOWN;
    trod_nav_follow(nav, symbols);
    rc = trod_nav_callstack(nav, &sink, counts);
    trod_buf_fini(&l->open);
    trod_nav_close(nav);
    return rc;
}

/* Of a trace of one file the index tells as well what is open at the end of what L has. */
static void same_open(const char *const *paths, size_t n, const struct log *l)
{
    struct log open = {.n = 0};
    const struct trod_callstack_sink sink = {.ctx = &open, .leave = leave_open};
    struct trod_nav *nav = open_files(paths, n, false);
    struct trod_index_info info;

    trod_nav_follow(nav, symbols);
    if (trod_nav_callstack_open(nav, &sink) == 0)
        assert_same_text(paths[0], &l->open, &open.open);
    else
        assert_true(trod_index_about(nav, &info) && (info.files != 1 || info.blocks == 0));
    trod_nav_close(nav);
    log_fini(&open);
}

/* Of the first UNTIL activations those that EVERY divides are watched: how they end, as lines. */
struct some {
    struct log log;
    uint64_t until, every;
    bool enough;
};

static int enter_some(void *ctx, struct trod_frame *f)
{
    struct some *s = ctx;

    assert_false(s->enough);
    if (++s->log.n <= s->until && s->log.n % s->every == 0)
        f->user = s->log.n;
    return 0;
}

static int enter_first(void *ctx, struct trod_frame *f)
{
    struct some *s = ctx;

    assert_int_equal(enter_some(s, f), 0);
    s->enough = s->log.n == s->until;
    return s->enough;
}

static int leave_some(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct some *s = ctx;

    assert_true(f->user || !s->enough);
    return f->user ? leave(&s->log, f, end) : 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of TEXT in alphabetical order, appended to OUT. */
static void sort_lines(struct trod_buf *text, struct trod_buf *out)
{
    char **line = calloc(text->n + 1, sizeof(char *));
    size_t n = 0;

    assert_true(line && trod_buf_add(text, "", 1) == 0);
    for (char *p = (char *)text->p, *end; (end = strchr(p, '\n')); p = end + 1) {
        *end = '\0';
        line[n++] = p;
    }
    qsort(line, n, sizeof(char *), by_text);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(trod_buf_printf(out, "%s\n", line[i]), 0);
    free(line);
}

/* Of a trace of one file the index tells of the first activations alone, and how they end. */
static void same_first(const char *const *paths, size_t n, uint64_t until, uint64_t every)
{
    struct some all = {.until = until, .every = every}, first = all;
    const struct trod_callstack_sink to_all = {
        .ctx = &all, .enter = enter_some, .leave = leave_some};
    const struct trod_callstack_sink to_first = {
        .ctx = &first, .enter = enter_first, .leave = leave_some};
    struct trod_nav *nav = open_files(paths, n, false);
    struct trod_buf a = {0}, b = {0};
    struct trod_callstack_counts counts;
    struct trod_index_info info;

    trod_nav_follow(nav, symbols);
    if (trod_nav_callstack_first(nav, &to_first) == 0) {
        assert_int_equal(trod_nav_callstack(nav, &to_all, &counts), 0);
        sort_lines(&all.log.text, &a);
        sort_lines(&first.log.text, &b);
        assert_same_text(paths[0], &a, &b);
    } else {
        assert_true(trod_index_about(nav, &info) && info.files != 1);
    }
    trod_nav_close(nav);
    trod_buf_fini(&a);
    trod_buf_fini(&b);
    log_fini(&all.log);
    log_fini(&first.log);
}

/* Both ways tell the same. False: the trace cannot be read. */
static bool same(const char *const *paths, size_t n, uint64_t block_rows, uint32_t segment,
                 struct trod_callstack_counts *counts)
{
    struct trod_callstack_counts with = {0};
    const struct nav_build_options opt = {
        .block_rows = block_rows, .segment = segment, .apart = 1, .jobs = 1, .symbols = symbols};
    const struct trod_input_options input = {0};
    struct log a = {.n = 0}, b = {.n = 0};
    char where[4096];
    bool read = index_with(paths, n, &opt, &input, where) && by_rows(paths, n, &a, counts);

    if (read) {
        assert_int_equal(by_index(paths, n, &b, &with), 0);
        assert_same_text(paths[0], &a.text, &b.text);
        assert_memory_equal(counts, &with, sizeof with);
        same_open(paths, n, &a);
        for (uint64_t until = 1 + block_rows % (a.n + 1); until < 2 * a.n + 2; until += 1 + a.n)
            same_first(paths, n, until, 1 + until % 3);
    }
    log_fini(&a);
    log_fini(&b);
    return read;
}

/* ---- programs */

static void test_random(void **state)
{
    struct nav_files f = nav_files_new(1, ".tarmac");
    const char *const path = f.path[0];
    struct trod_callstack_counts all = {0}, counts;

    (void)state;
    for (unsigned seed = 0; seed < test_fewer(16, 4); seed++) {
        struct trod_gen g = gen_seed(700 + seed);

        save_program(&g, 20 + 100 * seed, false, path);
        assert_true(same(f.path, 1, 1 + 31 * seed, 1 + seed % 5, &counts));
        trod_callstack_counts_add(&all, &counts);
    }
    for (unsigned i = 0; i < TROD_FRAME_KINDS; i++)
        assert_true(all.entered[i] > 0);
    for (unsigned i = 0; i < TROD_FRAME_ENDS; i++)
        assert_true(all.left[i] > 0);
    assert_true(all.switches > 0 && all.unmatched > 0);
    nav_files_free(&f);
}

/* What symbols make of the calls, and what they are without; of other functions nothing. */
static void test_symbols(void **state)
{
    struct nav_files f = nav_files_new(NAV_FILES, ".tarmac");
    char *elf = test_path(f.dir, "functions");
    struct trod_callstack_counts counts;
    unsigned other = 0;

    (void)state;
    for (unsigned seed = 0; seed < test_fewer(16, 4); seed++) {
        struct trod_gen g = gen_seed(740 + seed);
        const size_t n = seed % 3 ? 1 : NAV_FILES;
        struct log named = {.n = 0}, plain = {.n = 0}, want = {.n = 0};
        struct trod_symbols *own = random_functions(&g, elf), *others = random_functions(&g, elf);

        if (!own || !others)
            skip();
        for (size_t i = 0; i < n; i++)
            save_program(&g, 20 + 60 * seed, false, f.path[i]);
        symbols = own;
        assert_true(same(f.path, n, 1 + 31 * seed, 1 + seed % 5, &counts));
        assert_int_equal(by_index(f.path, n, &named, &counts), 0);
        symbols = others;
        assert_int_equal(by_index(f.path, n, &plain, &counts), TROD_ERR_UNKNOWN);
        symbols = NULL;
        assert_int_equal(by_index(f.path, n, &plain, &counts), 0);
        assert_true(by_rows(f.path, n, &want, &counts));
        assert_same_text(f.path[0], &want.text, &plain.text);
        other += named.text.n != plain.text.n;
        log_fini(&named);
        log_fini(&plain);
        log_fini(&want);
        trod_symbols_free(own);
        trod_symbols_free(others);
    }
    assert_true(other > 2);
    free(elf);
    nav_files_free(&f);
}

/* Streams end with their file, and begin anew with the next one. */
static void test_several(void **state)
{
    struct nav_files f = nav_files_new(NAV_FILES, ".tarmac");
    struct trod_callstack_counts counts;

    (void)state;
    for (unsigned i = 0; i < NAV_FILES; i++) {
        struct trod_gen g = gen_seed(800 + i);

        save_program(&g, 900, false, f.path[i]);
    }
    assert_true(same(f.path, NAV_FILES, 100, 4, &counts));
    assert_true(counts.left[TROD_FRAME_OPEN] >= 6);
    nav_files_free(&f);
}

/* Of every format, whole, and cut in the middle. */
static void test_golden(void **state)
{
    char *dir = test_tmpdir(), root[4096];
    struct trod_callstack_counts counts;
    uint64_t files = 0, calls = 0;

    (void)state;
    for (size_t f = 0; trod_format_at(f); f++) {
        struct test_list list;

        snprintf(root, sizeof root, "%s/tests/golden/%s", test_source_dir(),
                 trod_format_at(f)->name);
        list = test_files(root);
        for (size_t i = 0; i < list.n; i++) {
            char *from = test_path(root, list.name[i]), *to = test_path(dir, list.name[i]);
            const char *paths[] = {to};
            struct trod_buf bytes = test_load(from);

            for (unsigned part = 0; bytes.n < 1 << 16 && part < 2; part++) {
                test_save(to, bytes.p, bytes.n - part * (bytes.n / 3));
                if (!same(paths, 1, 40, 4, &counts))
                    break;
                files++;
                calls += counts.entered[TROD_FRAME_CALL];
            }
            trod_buf_fini(&bytes);
            free(from);
            free(to);
        }
        test_list_free(&list);
    }
    assert_in_range(files, 20, 10000);
    assert_true(calls > 10);
    test_remove(dir);
    free(dir);
}

/*
 * A trace that has grown: the calls before are those of the index that there was. SMALL: it has but
 * one segment and is made anew. AGAIN: symbols are named once more; else it knows their functions.
 */
static void grown(const struct trod_symbols *with_symbols, bool small, bool again)
{
    const struct trod_index_options opt = {.struct_size = sizeof opt,
                                           .symbols = again ? with_symbols : NULL};
    const struct nav_build_options build = {
        .block_rows = small ? 0 : 50, .segment = 2, .apart = 1, .jobs = 1, .symbols = with_symbols};
    const struct trod_input_options input = {0};
    struct nav_files f = nav_files_new(1, ".tarmac");
    const char *const path = f.path[0];
    struct trod_gen g = gen_seed(900);
    struct trod_callstack_counts counts, with;
    struct log a = {.n = 0}, b = {.n = 0};
    struct trod_buf text = {0};
    size_t half;
    bool made;
    char where[4096];

    symbols = with_symbols;
    wild_program(&g, 4000, false, &text);
    for (half = text.n / 2; text.p[half - 1] != '\n';)
        half++;
    test_save(path, text.p, half);
    assert_true(index_with(f.path, 1, &build, &input, where));
    test_save(path, text.p, text.n);
    assert_int_equal(trod_index_make(path, &opt, &made, where, sizeof where, NULL), 0);
    assert_true(made);
    assert_true(by_rows(f.path, 1, &a, &counts));
    assert_int_equal(by_index(f.path, 1, &b, &with), 0);
    assert_int_equal(a.text.n, b.text.n);
    assert_memory_equal(a.text.p, b.text.p, a.text.n);
    assert_memory_equal(&counts, &with, sizeof with);
    log_fini(&a);
    log_fini(&b);
    trod_buf_fini(&text);
    nav_files_free(&f);
}

static void test_grown(void **state)
{
    char *dir = test_tmpdir(), *elf = test_path(dir, "functions");
    struct trod_gen g = gen_seed(905);
    struct trod_symbols *own = random_functions(&g, elf);

    (void)state;
    grown(NULL, false, false);
    for (unsigned i = 0; own && i < 4; i++)
        grown(own, i & 1, i & 2);
    symbols = NULL;
    trod_symbols_free(own);
    free(elf);
    test_remove(dir);
    free(dir);
}

/* With any byte of the index damaged all calls are told as they are, or none. */
static void test_damaged(void **state)
{
    struct nav_files f = nav_files_new(1, ".tarmac");
    const char *const path = f.path[0];
    struct nav_build_options build = {.block_rows = 40, .segment = 2, .apart = 1, .jobs = 1};
    const struct trod_input_options input = {0};
    struct trod_symbols *own;
    char index[4096], *elf;
    struct trod_gen g = gen_seed(901);
    struct trod_callstack_counts counts, with;
    struct log a = {.n = 0};
    struct trod_buf bytes;
    unsigned noticed = 0;

    (void)state;
    save_program(&g, 50, false, path);
    elf = test_path(f.dir, "functions");
    symbols = own = random_functions(&g, elf);
    build.symbols = own;
    assert_true(index_with(f.path, 1, &build, &input, index));
    assert_true(by_rows(f.path, 1, &a, &counts));
    bytes = test_load(index);
    for (size_t i = 0; i < bytes.n; i += test_fewer(1, 7)) {
        const uint8_t was = bytes.p[i];
        struct log b = {.n = 0};
        int rc;

        bytes.p[i] ^= (uint8_t)(1 + gen_below(&g, 255));
        test_save(index, bytes.p, bytes.n);
        bytes.p[i] = was;
        rc = by_index(f.path, 1, &b, &with);
        if (rc == 0) {
            assert_int_equal(a.text.n, b.text.n);
            assert_memory_equal(a.text.p, b.text.p, a.text.n);
            assert_memory_equal(&counts, &with, sizeof with);
        } else {
            assert_int_equal(rc, TROD_ERR_UNKNOWN);
            assert_int_equal(b.text.n, 0);
            noticed++;
        }
        log_fini(&b);
    }
    assert_true(noticed > 100);
    symbols = NULL;
    trod_symbols_free(own);
    free(elf);
    trod_buf_fini(&bytes);
    log_fini(&a);
    nav_files_free(&f);
}

/* Bytes that are none of ours, with sums that are right: read to an end, or refused. */
static void test_foreign(void **state)
{
    struct nav_files f = nav_files_new(1, ".tarmac");
    const char *const path = f.path[0];
    struct trod_gen g = gen_seed(902);
    struct trod_buf raw = {0};
    const struct nav_section *s;
    struct trod_nav *nav;
    unsigned refused = 0;

    (void)state;
    save_program(&g, 300, false, path);
    assert_true(make_index(path, 300, 1));
    nav = open_nav(path, false);
    assert_non_null(nav);
    s = nav->index->segment[1].calls; /* stacks are open where it begins */
    assert_int_equal(
        nav_unsqueeze(nav->index, nav->index->file + s->offset, s->length, s->raw, &raw), 0);
    trod_nav_close(nav);
    for (unsigned k = 0; k < test_fewer(4000, 100); k++) {
        const size_t at = (size_t)gen_below(&g, raw.n);
        const uint8_t was = raw.p[at];
        const struct trod_span in = {.p = raw.p, .n = raw.n - (k % 9 == 0 ? at : 0)};
        struct nav_events_reader r;
        struct nav_event e;
        struct trod_buf out = {0};
        int rc;

        raw.p[at] = (uint8_t)gen_u64(&g);
        rc = nav_calls_read(in, &r);
        while (rc == 0 && (rc = nav_events_next(&r, &e)) > 0)
            rc = 0;
        nav_events_close(&r);
        assert_true(rc == 0 || rc == TROD_ERR_CORRUPT || rc == TROD_ERR_NOMEM);
        refused += rc < 0;
        rc = nav_calls_load(in, gen_below(&g, 900), (uint32_t)gen_below(&g, 2), &out);
        assert_true(rc == 0 || rc == TROD_ERR_CORRUPT || rc == TROD_ERR_NOMEM);
        trod_buf_fini(&out);
        raw.p[at] = was;
    }
    assert_true(refused > 50);
    trod_buf_fini(&raw);
    nav_files_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),  cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_several), cmocka_unit_test(test_golden),
        cmocka_unit_test(test_grown),   cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_foreign),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
