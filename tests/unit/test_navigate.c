/*
 * test_navigate.c - places, states and writers: against an oracle on random traces, against values
 * worked out by hand, and against what Arm's Tarmac Trace Utilities print for real traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nav_check.h"
#include "nav_events.h"
#include "testlib.h"
#include "trod/navigate.h"

static struct trod_nav *open_nav(const char *path)
{
    const char *paths[] = {path};
    struct trod_nav *nav;

    assert_int_equal(trod_nav_open(&nav, paths, 1, NULL, NULL), 0);
    return nav;
}

/* ---- against the oracle */

static void test_random(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "random.tarmac");

    (void)state;
    for (unsigned seed = 0; seed < 6; seed++) {
        struct trod_gen g = gen_seed(seed);
        struct events es;
        struct trod_nav *nav;
        uint64_t rows;

        events_make(&es, &g, 60 + 500 * seed, seed % 2);
        test_save(path, es.text.p, es.text.n);
        nav = open_nav(path);
        for (unsigned i = 0; i < 16; i++) {
            nav_check(nav, &es, &g);
        }
        assert_int_equal(trod_nav_count(nav, &rows), 0);
        assert_int_equal(rows, es.n);
        trod_nav_close(nav);
        events_fini(&es);
    }
    test_remove(dir);
    free(path);
    free(dir);
}

/* ---- by hand */

static void with_text(const char *text, void (*check)(struct trod_nav *))
{
    char *dir = test_tmpdir(), *path = test_path(dir, "t.tarmac");
    struct trod_nav *nav;

    test_save(path, text, strlen(text));
    nav = open_nav(path);
    check(nav);
    trod_nav_close(nav);
    test_remove(dir);
    free(path);
    free(dir);
}

static void same_register(struct trod_nav *nav, uint64_t row, const char *name, const char *value)
{
    struct trod_nav_state *s;
    uint8_t v[64], k[64];
    char text[130] = "", *p = text;
    size_t n = 0;

    assert_int_equal(trod_nav_state(nav, row, TROD_NAV_ROW_STREAM, &s), 0);
    if (trod_nav_state_named(s, name, v, k, sizeof v, &n))
        for (size_t i = 2 * n; i-- > 0;)
            *p++ = (k[i / 2] >> (i % 2 * 4) & 15) == 15
                       ? "0123456789abcdef"[v[i / 2] >> (i % 2 * 4) & 15]
                       : '-';
    *p = '\0';
    assert_string_equal(text, value);
    trod_nav_state_free(s);
}

static void check_parts(struct trod_nav *nav)
{
    same_register(nav, 0, "x1", "");
    same_register(nav, 1, "x1", "1122334455667788");
    same_register(nav, 2, "x1", "00000000aabbccdd"); /* W zeroes the rest of X */
    same_register(nav, 3, "v2", "0123456789abcdef0011223344556677");
    same_register(nav, 4, "v2", "000000000000000000000000deadbeef"); /* S that of V */
    same_register(nav, 5, "v2", "ffffffffffffffff00000000deadbeef"); /* a range nothing */
    same_register(nav, 5, "d2", "00000000deadbeef");
    same_register(nav, 6, "x1", "00000000aabb--dd"); /* digits that are not known */
    same_register(nav, 7, "sp", "0000000000008000"); /* the bank that there is */
    same_register(nav, 7, "sp_el1", "0000000000008000");
    same_register(nav, 8, "z2", "ffffffffffffffff00000000deadbeef");
}

static void test_parts(void **state)
{
    (void)state;
    with_text("1 clk IT (1) 00001000 d503201f O EL1h_n : NOP\n"
              "1 clk R X1 1122334455667788\n"
              "2 clk R W1 aabbccdd\n"
              "2 clk R Q2 0123456789abcdef_0011223344556677\n"
              "2 clk R S2 deadbeef\n"
              "2 clk R V2<127:64> ffffffffffffffff\n"
              "3 clk R X1 00000000aabbxxdd\n"
              "3 clk R SP_EL1 0000000000008000\n"
              "4 clk IT (2) 00001004 d503201f O EL1h_n : NOP\n",
              check_parts);
}

static void check_arm(struct trod_nav *nav)
{
    same_register(nav, 3, "q1", "444444443333333322222222--------");
    same_register(nav, 4, "q1",
                  "444444443333333366666666"
                  "55555555");
    same_register(nav, 4, "d3", "4444444433333333");
    same_register(nav, 4, "s5", "66666666");
    same_register(nav, 5, "r13_svc", "00008000");
    same_register(nav, 5, "sp", "00008000");
}

static void test_arm(void **state)
{
    (void)state;
    with_text("1 clk IT (1) 00001000 e1a00000 A svc_s : NOP\n"
              "1 clk R s5 22222222\n"
              "1 clk R s6 33333333\n"
              "1 clk R s7 44444444\n"
              "1 clk R d2 6666666655555555\n"
              "2 clk R r13_svc 00008000\n",
              check_arm);
}

static void check_hindsight(struct trod_nav *nav)
{
    struct trod_nav_byte b[16];

    /* navigation after specification: known from later reads, then a write, then a contradiction */
    assert_int_equal(trod_nav_memory(nav, 0, 0x1ffc, 8, b), 0);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(b[i].from, TROD_NAV_LATER);
    assert_int_equal(b[0].value, 0x66);
    assert_int_equal(b[4].value, 0x44);
    assert_int_equal(b[4].row, 1);
    assert_int_equal(trod_nav_memory(nav, 5, 0x1ffc, 8, b), 0);
    assert_int_equal(b[4].from, TROD_NAV_READ);
    assert_int_equal(b[5].from, TROD_NAV_WRITTEN);
    assert_int_equal(b[5].value, 0xaa);
    assert_int_equal(trod_nav_memory(nav, 7, 0x2001, 1, b), 0);
    assert_int_equal(b[0].from, TROD_NAV_UNTRACED);
    assert_int_equal(b[0].value, 0xbe);
    assert_int_equal(b[0].since, 3);
    assert_int_equal(b[0].row, 7);
    assert_int_equal(trod_nav_memory(nav, 0, 0x3000, 1, b), 0);
    assert_int_equal(b[0].from, TROD_NAV_UNKNOWN);
    /* the last bytes there are */
    assert_int_equal(trod_nav_memory(nav, 8, UINT64_MAX - 7, 8, b), 0);
    assert_int_equal(b[7].from, TROD_NAV_WRITTEN);
    assert_int_equal(b[7].value, 0x88);
}

static void test_hindsight(void **state)
{
    (void)state;
    with_text("1 clk IT (1) 00001000 d503201f O EL1h_n : LDR\n"
              "1 clk MR4 00002000 11223344\n"
              "2 clk IT (2) 00001004 d503201f O EL1h_n : STRB\n"
              "2 clk MW1 00002001 aa\n"
              "3 clk IT (3) 00001008 d503201f O EL1h_n : LDR\n"
              "3 clk MR8 00001ffc 1122aa44_99887766\n"
              "4 clk IT (4) 0000100c d503201f O EL1h_n : LDR\n"
              "4 clk MR4 00002000 deadbeef\n"
              "4 clk MW8 fffffffffffffff8 8877665544332211\n",
              check_hindsight);
}

static void check_named(struct trod_nav *nav)
{
    static const struct {
        const char *text;
        uint64_t row;
    } places[] = {{"0", 0},        {"row:3", 3},  {"start", 0},    {"end", 7},      {"0%", 0},
                  {"100%", 7},     {"50%", 3},    {"line:5", 4},   {"time:2", 2},   {"time:3", 4},
                  {"insn:2", 2},   {"0x1000", 0}, {"0x1000:1", 0}, {"0x1000:2", 4}, {"4096:2", 4},
                  {"0x1004:2", 6}, {"time:0", 0}};
    uint64_t row;

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_int_equal(trod_nav_place(nav, places[i].text, &row), 1);
        assert_int_equal(row, places[i].row);
    }
    for (const char *const *p = (const char *const[]){"8", "time:9", "0x1000:3", "line:9", "main",
                                                      "insn:9", "101%", "", "0x1000:0", NULL};
         *p; p++)
        assert_int_equal(trod_nav_place(nav, *p, &row), 0);
}

static void test_places(void **state)
{
    (void)state;
    with_text("1 clk IT (1) 00001000 d503201f O EL1h_n : NOP\n"
              "1 clk R X0 0000000000000001\n"
              "2 clk IT (2) 00001004 d503201f O EL1h_n : NOP\n"
              "2 clk R X0 0000000000000002\n"
              "4 clk IT (3) 00001000 d503201f O EL1h_n : NOP\n"
              "4 clk R X0 0000000000000003\n"
              "5 clk IT (4) 00001004 d503201f O EL1h_n : NOP\n"
              "5 clk R X0 0000000000000004\n",
              check_named);
}

/* ---- real traces: what Tarmac Trace Utilities print */

static const char *traces(void)
{
    static char path[4096];
    const char *given = getenv("TROD_TRACES");

    if (given)
        snprintf(path, sizeof path, "%s/tarmac", given);
    else
        snprintf(path, sizeof path, "%s/../shared/traces/tarmac", test_source_dir());
    return path;
}

/*
 * The last row of the event group that holds LINE: a group begins at a new time, or at an
 * instruction when one was seen at this time (section "Event groups" of the page on navigation).
 */
static uint64_t group_end(struct trod_nav *nav, uint64_t line)
{
    const struct trod_batch *b;
    uint64_t row, time;
    uint32_t i;
    bool insn;

    assert_int_equal(trod_nav_line(nav, line, &row), 1);
    assert_int_equal(trod_nav_row(nav, row, &b, &i), 1);
    time = b->time[i];
    insn = b->kind[i] == TROD_INSTR;
    for (uint64_t at = row; at-- > 0 && !insn;) {
        assert_int_equal(trod_nav_row(nav, at, &b, &i), 1);
        if (b->time[i] != time)
            break;
        insn = b->kind[i] == TROD_INSTR;
    }
    while (trod_nav_row(nav, row + 1, &b, &i) == 1 && b->time[i] == time &&
           !(b->kind[i] == TROD_INSTR && insn)) {
        insn |= b->kind[i] == TROD_INSTR;
        row++;
    }
    return row;
}

/* A line "00000000000ff7d0             00 00 00 00" of a dump. */
static unsigned compare_line(struct trod_nav *nav, uint64_t row, const char *p)
{
    struct trod_nav_byte b[16];
    const uint64_t addr = strtoull(p, NULL, 16);
    unsigned n = 0;

    assert_int_equal(trod_nav_memory(nav, row, addr, 16, b), 0);
    p += strcspn(p, " ") + 1;
    for (unsigned k = 0; k < 16 && strlen(p) >= 2; k++, p += 3) {
        if (*p == ' ')
            continue;
        /* it ignores reads that contradict: there the answers differ */
        if (b[k].from != TROD_NAV_UNTRACED) {
            assert_int_not_equal(b[k].from, TROD_NAV_UNKNOWN);
            assert_int_equal(b[k].value, strtoul(p, NULL, 16));
        }
        n++;
    }
    return n;
}

static unsigned compare_dump(const char *trace, const char *dump, uint64_t line)
{
    struct trod_nav *nav = open_nav(trace);
    struct trod_buf text = test_load(dump);
    const uint64_t row = group_end(nav, line);
    unsigned n = 0, lines = 0;

    trod_buf_add(&text, "", 1);
    for (char *p = strtok((char *)text.p, "\n"); p; p = strtok(NULL, "\n"))
        if (strspn(p, "0123456789abcdef") == 16 && lines++ % 17 == 0)
            n += compare_line(nav, row, p);
    trod_buf_fini(&text);
    trod_nav_close(nav);
    return n;
}

static void test_reference(void **state)
{
    static const struct {
        const char *trace, *dump;
        unsigned line, header;
    } dumps[] = {
        {"calculator-aarch64-fastmodel.tarmac", "5780", 5780, 0},
        {"calculator-aarch32-es-ld-st-style.tarmac", "6130", 6130, 1},
    };
    unsigned n = 0;

    (void)state;
    for (size_t i = 0; i < sizeof dumps / sizeof *dumps; i++) {
        char *trace = test_path(traces(), dumps[i].trace), name[200], *dump;
        FILE *f = fopen(trace, "rb");

        if (!f) {
            print_message("%s is not there: left out\n", trace);
            free(trace);
            skip();
        }
        fclose(f);
        snprintf(name, sizeof name, "reference/%s/indextool.full-mem-at-line.%s.txt",
                 dumps[i].trace, dumps[i].dump);
        dump = test_path(traces(), name);
        n += compare_dump(trace, dump, dumps[i].line + dumps[i].header);
        free(dump);
        free(trace);
    }
    assert_in_range(n, 50, 100000);
}

/* A question from the tick of another one is refused, and changes nothing of what that finds. */
struct nosy {
    struct trod_nav *nav;
    unsigned asked;
};

static int ask_too(void *user, uint64_t row)
{
    struct nosy *n = user;
    const struct trod_batch *b;
    uint64_t found;
    uint32_t i;

    if (!n->nav || row == 0)
        return 0;
    n->asked++;
    assert_int_equal(trod_nav_row(n->nav, row > 20000 ? row - 20000 : row + 20000, &b, &i),
                     TROD_ERR_USAGE);
    assert_int_equal(trod_nav_row(n->nav, row - 1, &b, &i), TROD_ERR_USAGE); /* also one at hand */
    assert_int_equal(trod_nav_time(n->nav, 5, &found), TROD_ERR_USAGE);
    assert_int_equal(trod_nav_count(n->nav, &found), TROD_ERR_USAGE);
    assert_int_equal(trod_nav_place(n->nav, "1", &found), TROD_ERR_USAGE);
    return 0;
}

static void test_tick(void **state)
{
    enum { LINES = 60000 };
    struct nosy nosy = {0};
    const struct trod_nav_options opt = {
        .struct_size = sizeof opt, .tick = ask_too, .tick_user = &nosy, .no_index = true};
    char *dir = test_tmpdir(), *path = test_path(dir, "tick.tarmac");
    const char *const paths[] = {path};
    struct trod_buf text = {0};

    (void)state;
    for (unsigned i = 0; i < LINES; i++)
        trod_buf_printf(&text, "%u clk MW8 %016x %016x\n", i, 8 * i, i);
    test_save(path, text.p, text.n);
    trod_buf_fini(&text);
    assert_int_equal(trod_nav_open(&nosy.nav, paths, 1, &opt, NULL), 0);
    for (uint64_t row = 0; row < LINES; row += 9973) {
        const struct trod_batch *b;
        uint32_t i;

        assert_int_equal(trod_nav_row(nosy.nav, row, &b, &i), 1);
        assert_int_equal(b->value[i], row);
        assert_int_equal(b->first + i, row);
    }
    assert_in_range(nosy.asked, 10, UINT32_MAX);
    trod_nav_close(nosy.nav);
    test_remove(dir);
    free(path);
    free(dir);
}

/* What cannot be asked for is said as it is: how much it is, or that there is no such memory. */
static void keep_message(void *user, const struct trod_problem *problem)
{
    snprintf(user, 256, "%s", problem->message);
}

static void test_too_much(void **state)
{
    enum { HALF = 3 << 20 };
    static const struct trod_nav_run two[] = {{0x1000, HALF}, {0x10000000, HALF}},
                                     most[] = {{0x1000, 16}, {0x2000, SIZE_MAX}};
    char *dir = test_tmpdir(), *path = test_path(dir, "t.tarmac");
    static const char text[] = "1 clk IT (1) 00001000 d503201f O EL1h_n : NOP\n";
    const char *paths[] = {path};
    char said[256] = "", want[256];
    struct trod_diag diag;
    struct trod_nav *nav;
    struct trod_nav_byte *b = calloc(HALF, sizeof *b);

    (void)state;
    assert_non_null(b);
    test_save(path, text, strlen(text));
    trod_diag_init(&diag, keep_message, said);
    assert_int_equal(trod_nav_open(&nav, paths, 1, NULL, &diag), 0);
    assert_int_equal(trod_nav_memory_runs(nav, 0, two, 1, b), 0);
    assert_int_equal(trod_nav_memory_runs(nav, 0, two, 2, b), TROD_ERR_LIMIT);
    snprintf(want, sizeof want, "%d bytes of memory are too many: %d at the most", 2 * HALF,
             TROD_NAV_MEMORY);
    assert_string_equal(said, want);
    assert_int_equal(trod_nav_memory(nav, 0, UINT64_MAX - 3, 4, b), 0);
    assert_int_equal(trod_nav_memory(nav, 0, UINT64_MAX - 3, 16, b), TROD_ERR_LIMIT);
    assert_string_equal(said, "memory ends at 0xffffffffffffffff: there are no 16 bytes from "
                              "0xfffffffffffffffc on");
    assert_int_equal(trod_nav_memory_runs(nav, 0, most, 2, b), TROD_ERR_LIMIT);
    trod_nav_close(nav);
    test_remove(dir);
    free(b);
    free(path);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_arm),    cmocka_unit_test(test_hindsight),
        cmocka_unit_test(test_places), cmocka_unit_test(test_reference),
        cmocka_unit_test(test_tick),   cmocka_unit_test(test_too_much),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
