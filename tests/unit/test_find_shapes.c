/*
 * test_find_shapes.c - rows that are searched for with an index are those that reading all finds:
 * random expressions about kinds, addresses, texts, opcodes, registers and values, for traces of
 * every format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fewer.h"
#include "find_conditions.h"
#include "gen.h"
#include "golden.h"
#include "nav_index.h"
#include "testlib.h"
#include "trod/match.h"

enum { EXPRESSIONS = 40, MOST = 4096, DEPTH = 3 };

struct rows {
    uint64_t at[MOST];
    size_t n;
    bool over;
};

static uint64_t all, asked, bounded;
static uint64_t tallied, read_none; /* expressions that lists may count; counted without reading */

static int search_rows(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    void *const *with = user;
    struct trod_match *m = with[0];
    struct rows *out = with[1];
    uint64_t *next = with[2];

    if (row != *next)
        trod_match_jump(m);
    *next = row + n;
    assert_true(trod_match_batch_at(m, b, row - i) >= 0);
    for (uint32_t k = i; k < i + n; k++)
        if (trod_match_keep(m)[k]) {
            assert_true(out->n < MOST);
            out->at[out->n++] = row - i + k;
        }
    return 1;
}

static int may(void *user, const struct trod_batch *b, uint8_t *keep)
{
    return trod_match_may(user, b, keep);
}

static int may_be(void *user, const struct trod_batch *b, const uint8_t *flow, uint8_t *keep)
{
    return trod_match_class(user, b, flow, keep);
}

static int count_rows(void *user, const struct trod_batch *b, uint32_t i, uint32_t n, uint64_t row)
{
    void *const *with = user;
    struct trod_match *m = with[0];
    uint64_t *count = with[1], *next = with[2];

    if (row != *next)
        trod_match_jump(m);
    *next = row + n;
    assert_true(trod_match_batch_at(m, b, row - i) >= 0);
    for (uint32_t k = i; k < i + n; k++)
        *count += trod_match_keep(m)[k];
    return 1;
}

/* No class is wanted. */
static int none_be(void *user, const struct trod_batch *b, const uint8_t *flow, uint8_t *keep)
{
    (void)user;
    (void)flow;
    memset(keep, 0, b->n);
    return 0;
}

static const char *question(const struct trod_match_options *filter)
{
    return filter->where ? filter->where : filter->text ? filter->text : "--kind --stream --time";
}

/* As many rows as were found are counted, whatever part of them by lists. */
static void tally(const char *path, const struct trod_match_options *filter, size_t found)
{
    struct trod_nav *nav = open_nav(path, false);
    uint64_t next = 0, count = 0, counted, rest;
    struct trod_match_need need;
    struct trod_match *m;
    void *with[] = {NULL, &count, &next};

    assert_non_null(nav);
    assert_int_equal(trod_match_new(&m, filter, NULL), 0);
    with[0] = m;
    trod_match_format(m, trod_nav_format(nav));
    trod_match_need(m, &need);
    if (trod_match_exact(m)) {
        if (trod_match_shapes(m))
            trod_nav_shapes(nav, may, m);
        if (trod_match_classes(m))
            trod_nav_classes(nav, may_be, m);
        tallied++;
        assert_int_equal(trod_nav_tally(nav, &need, NULL, NULL, &rest), 0);
        assert_int_equal(trod_nav_tally(nav, &need, count_rows, with, &counted), 0);
        if (counted + count != found)
            fail_msg("%s: '%s': %llu rows counted and %llu read, %zu found", path, question(filter),
                     (unsigned long long)counted, (unsigned long long)count, found);
        read_none += next == 0;
        if (trod_match_classes(
                m)) { /* what was counted for the same need does not count any more */
            trod_nav_classes(nav, none_be, NULL);
            assert_int_equal(trod_nav_tally(nav, &need, count_rows, with, &counted), 0);
            assert_int_equal(counted, 0);
        }
    }
    trod_match_free(m);
    trod_nav_close(nav);
}

/* The rows of the trace PATH that FILTER chooses, found with its index. */
static void with_index(const char *path, const struct trod_match_options *filter, struct rows *out)
{
    struct trod_nav *nav = open_nav(path, false);
    struct trod_match_need need;
    struct trod_match *m;
    uint64_t next = 0, expected;
    void *with[3];

    assert_non_null(nav);
    assert_int_equal(trod_match_new(&m, filter, NULL), 0);
    trod_match_format(m, trod_nav_format(nav));
    trod_match_need(m, &need);
    if (trod_match_shapes(m))
        trod_nav_shapes(nav, may, m);
    if (trod_match_classes(m))
        trod_nav_classes(nav, may_be, m);
    with[0] = m;
    with[1] = out;
    with[2] = &next;
    out->n = 0;
    assert_int_equal(trod_nav_expect(nav, &need, &expected), 0);
    bounded += expected < all;
    asked++;
    assert_int_equal(trod_nav_search(nav, &need, 0, 0, search_rows, with), 0);
    trod_match_free(m);
    trod_nav_close(nav);
}

/* The same by reading all. Without a FILTER: what rows there are. */
static void with_all(const char *path, const struct trod_match_options *filter, struct rows *out,
                     struct trod_gen *g)
{
    const struct trod_trace_options opt = {.struct_size = sizeof opt,
                                           .want = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE};
    struct trod_match *m = NULL;
    struct trod_trace *t;
    struct trod_batch *b;

    assert_int_equal(trod_trace_open(&t, &path, 1, &opt, NULL), 0);
    assert_int_equal(filter ? trod_match_new(&m, filter, NULL) : 0, 0);
    out->n = 0;
    all = 0;
    while (trod_trace_next(t, &b) > 0) {
        assert_true(!m || trod_match_batch(m, b) >= 0);
        for (uint32_t i = 0; i < b->n; i++, all++) {
            if (!m)
                note_row(b, i, all, g);
            else if (trod_match_keep(m)[i] && out->n < MOST)
                out->at[out->n++] = all;
        }
    }
    trod_match_free(m);
    trod_trace_close(t);
}

static void compare(const char *path, const struct trod_match_options *filter, const char *name)
{
    static struct rows want, got;

    with_all(path, filter, &want, NULL);
    with_index(path, filter, &got);
    if (want.n != got.n || memcmp(want.at, got.at, want.n * sizeof *want.at) != 0)
        fail_msg("%s: '%s' (%s): %zu rows with the index, %zu without", name, question(filter),
                 path, got.n, want.n);
    tally(path, filter, want.n);
}

static void ask(const char *path, const char *name, uint64_t block_rows, struct trod_gen *g)
{
    static struct rows none;

    struct trod_nav *nav;

    if (!make_index(path, block_rows, 1 + (uint32_t)gen_below(g, 3)))
        return; /* nothing can be read */
    nav = open_nav(path, false);
    assert_true(nav && trod_nav_index(nav));
    trod_nav_close(nav);
    n_seen = 0;
    with_all(path, NULL, &none, g);
    for (unsigned i = 0; n_seen && all <= MOST && i < test_fewer(EXPRESSIONS, 8); i++) {
        struct trod_match_options filter = {.struct_size = sizeof filter};
        struct trod_buf text = {0};

        condition(g, 1 + i % DEPTH, &text);
        trod_buf_add(&text, "", 1);
        filter.where = (const char *)text.p;
        compare(path, &filter, name);
        if (i % 10 == 0) {
            filter.where = NULL;
            filter.text = seen[gen_below(g, n_seen)].text;
            compare(path, &filter, name);
            filter.text = NULL;
            filter.instructions.set = true;
            filter.instructions.lo = seen[gen_below(g, n_seen)].index;
            filter.instructions.hi = filter.instructions.lo + gen_below(g, 50);
            compare(path, &filter, name);
            filter.instructions.set = false;
            filter.time = (struct trod_range){true, 0, seen[gen_below(g, n_seen)].time};
            filter.kinds = (struct trod_list){.n = 2, .item = {"FETCH", "READ"}};
            filter.streams = (struct trod_list){.n = 1, .item = {"#0"}};
            compare(path, &filter, name);
        }
        trod_buf_fini(&text);
    }
}

static void one(const struct golden *golden)
{
    struct trod_gen g = gen_seed(golden->data.n);
    char path[GOLDEN_PATH], index[GOLDEN_PATH + 8];

    golden_write(golden, golden->data.p, golden->data.n, path);
    ask(path, golden->format->name, 3 + gen_below(&g, 30), &g);
    unlink(path);
    snprintf(index, sizeof index, "%s.trodx", path);
    unlink(index);
}

static void test_formats(void **state)
{
    (void)state;
    golden_each(3, one);
    assert_true(bounded > asked / 4);
    assert_true(tallied > asked / 8 && read_none > tallied / 2);
}

/* Programs that change themselves, of two processors that take turns; texts that are too long. */
static void put_program(struct trod_gen *g, unsigned cpus, struct trod_buf *out)
{
    static const char *const ops[] = {"MOV", "ADD", "LDR", "STR", "B.EQ", "NOP"};
    char operands[300];

    memset(operands, 'a', sizeof operands);
    memcpy(operands, "x1,[x0,#0", 9);
    operands[sizeof operands - 1] = '\0';
    for (unsigned i = 0; i < 1500; i++) {
        char cpu[16] = "";
        const unsigned pc = 0x8000 + 4 * (unsigned)gen_below(g, 24);

        if (cpus > 1)
            snprintf(cpu, sizeof cpu, "cpu%u ", (unsigned)gen_below(g, cpus));
        switch (gen_below(g, 6)) {
        case 0:
            trod_buf_printf(out, "%u clk %sR X%u %016llx\n", i, cpu, (unsigned)gen_below(g, 6),
                            (unsigned long long)gen_below(g, 40));
            break;
        case 1:
            trod_buf_printf(out, "%u clk %sM%c4 %08x 00000001\n", i, cpu,
                            gen_below(g, 3) ? 'R' : 'W', 0x9000 + 4 * (unsigned)gen_below(g, 9));
            break;
        case 2:
            if (gen_below(g, 20) == 0)
                trod_buf_printf(out, "%u clk %sE %08x 00000001 CoreEvent_%c\n", i, cpu, pc,
                                'A' + (int)gen_below(g, 3));
            break;
        default:
            trod_buf_printf(out, "%u clk %sIT (%u) %08x %08x O EL1h_n : %s %.*s\n", i, cpu, i, pc,
                            pc * 977 + (unsigned)gen_below(g, 40) / 39,
                            ops[(pc / 4 + (gen_below(g, 60) == 0)) % 6],
                            gen_below(g, 200) ? 6 : (int)sizeof operands - 1, operands);
        }
    }
}

static void test_programs(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "p.tarmac");

    (void)state;
    for (unsigned seed = 0; seed < test_fewer(12, 3); seed++) {
        struct trod_gen g = gen_seed(seed);
        struct trod_buf text = {0};

        put_program(&g, 1 + seed % 3, &text);
        test_save(path, text.p, text.n);
        ask(path, "tarmac", 8 + 9 * seed, &g);
        trod_buf_fini(&text);
    }
    test_remove(dir);
    free(path);
    free(dir);
}

/* Accesses at random of 2^BITS bytes of memory, some addresses more often than others. */
static void put_accesses(struct trod_gen *g, unsigned bits, struct trod_buf *out)
{
    uint64_t often[8];

    for (unsigned i = 0; i < 8; i++)
        often[i] = (gen_u64(g) >> (64 - bits)) & ~UINT64_C(3);
    for (unsigned i = 0; i < 2000; i++) {
        const uint64_t any = (gen_u64(g) >> (64 - bits)) & ~UINT64_C(3);

        trod_buf_printf(out, "%u clk IT (%u) %016llx d503201f O EL1h_n : NOP\n", i, i,
                        (unsigned long long)gen_below(g, 300) * 4);
        trod_buf_printf(out, "%u clk M%c4 %016llx 00000001\n", i, gen_below(g, 3) ? 'R' : 'W',
                        (unsigned long long)(gen_below(g, 2) ? any : often[gen_below(g, 8)]));
    }
}

/* Rows on one side of an address that is accessed are counted without reading any. */
static void test_bounds(void **state)
{
    static const char *const expressions[] = {"addr >= 0x%llx", "addr < 0x%llx && kind == READ",
                                              "addr in 0x%llx..0x%llx && kind in {READ, WRITE}",
                                              "addr <= 0x%llx && kind == INSTR"};
    char *dir = test_tmpdir(), *path = test_path(dir, "p.tarmac"), where[128];
    static struct rows want;

    (void)state;
    for (unsigned bits = 7; bits <= 34; bits += 9 * (unsigned)test_step()) {
        struct trod_gen g = gen_seed(bits);
        struct trod_buf text = {0};

        put_accesses(&g, bits, &text);
        test_save(path, text.p, text.n);
        assert_true(make_index(path, 900, 4));
        n_seen = 0;
        with_all(path, NULL, &want, &g);
        for (unsigned i = 0; i < 40 && i < n_seen; i++) {
            const uint64_t a = seen[i].addr, b = seen[n_seen - 1 - i].addr;
            const struct trod_match_options filter = {.struct_size = sizeof filter, .where = where};
            const uint64_t before = read_none;

            snprintf(where, sizeof where, expressions[i % 4], (unsigned long long)(a < b ? a : b),
                     (unsigned long long)(a < b ? b : a));
            with_all(path, &filter, &want, NULL);
            tally(path, &filter, want.n);
            assert_int_equal(read_none, before + 1);
        }
        trod_buf_fini(&text);
    }
    test_remove(dir);
    free(path);
    free(dir);
}

/* Damage of any part of an index does not change what is found. */
static void test_damaged(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "p.tarmac"),
         *index = test_path(dir, "p.tarmac.trodx");
    struct trod_gen g = gen_seed(77);
    struct trod_buf text = {0}, whole;
    static struct rows want[5], got;

    (void)state;
    put_program(&g, 1, &text);
    test_save(path, text.p, text.n);
    assert_true(make_index(path, 100, 3));
    whole = test_load(index);
    for (size_t at = 0; at <= whole.n; at += 1 + 40 * test_step()) {
        static const char *const expressions[] = {
            "disasm ~ /^LDR/ && row > 500", "register == x3 || text ~ /Event_B/",
            "opcode & 0xff == 0x10 && kind == INSTR", "pc in 0x8010..0x8018 && kind == WRITE",
            "addr > 0x9008 && kind in {READ, WRITE}"};
        const unsigned k = (unsigned)(at % 5);
        const struct trod_match_options filter = {.struct_size = sizeof filter,
                                                  .where = expressions[k]};

        if (at == 0)
            for (unsigned i = 0; i < 5; i++) {
                const struct trod_match_options each = {.struct_size = sizeof each,
                                                        .where = expressions[i]};

                with_all(path, &each, &want[i], NULL);
                assert_true(want[i].n > 0);
            }
        if (at < whole.n)
            whole.p[at] ^= (uint8_t)(1u << at % 8);
        test_save(index, whole.p, whole.n);
        with_index(path, &filter, &got);
        assert_int_equal(got.n, want[k].n);
        assert_memory_equal(got.at, want[k].at, got.n * sizeof *got.at);
        tally(path, &filter, want[k].n);
        if (at < whole.n)
            whole.p[at] ^= (uint8_t)(1u << at % 8);
    }
    trod_buf_fini(&whole);
    trod_buf_fini(&text);
    test_remove(dir);
    free(index);
    free(path);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
