/*
 * test_browse.c - the browser's model, without a terminal: which rows are seen, pages, what is
 * stopped, rows of two traces beside each other; all against what follows from how the trace was
 * made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "browse/calls.h"
#include "browse/colours.h"
#include "browse/find.h"
#include "browse/folds.h"
#include "browse/marks.h"
#include "browse/model.h"
#include "browse/pair.h"
#include "fewer.h"
#include "gen.h"
#include "nav_index.h"
#include "testlib.h"

enum { ROWS = 600, CPUS = 3 };

/* A trace of ROWS rows, one a line; row I is of cpu CPU[I] and writes VALUE[I]. */
struct made {
    char *dir, *path;
    uint32_t cpu[ROWS];
    unsigned value[ROWS];
    bool insn[ROWS];
};

static void write_rows(const struct made *m, const char *path)
{
    struct trod_buf b = {0};

    for (unsigned i = 0; i < ROWS; i++)
        if (m->insn[i])
            trod_buf_printf(&b, "%u clk cpu%u IT (%u) %08x d503201f O EL1h_n : NOP\n", i, m->cpu[i],
                            i, 0x1000 + 4 * m->value[i]);
        else
            trod_buf_printf(&b, "%u clk cpu%u R X%u %016x\n", i, m->cpu[i], m->value[i] % 8,
                            m->value[i]);
    test_save(path, b.p, b.n);
    trod_buf_fini(&b);
}

static void make(struct made *m, struct trod_gen *g, unsigned cpus)
{
    m->dir = test_tmpdir();
    m->path = test_path(m->dir, "t.tarmac");
    for (unsigned i = 0; i < ROWS; i++) {
        m->cpu[i] = i < cpus ? i : (uint32_t)gen_below(g, cpus);
        m->value[i] = (unsigned)gen_below(g, 1000);
        m->insn[i] = gen_below(g, 3) > 0;
    }
    write_rows(m, m->path);
}

static void unmake(struct made *m)
{
    test_remove(m->dir);
    free(m->path);
    free(m->dir);
}

static struct browse *open_browse(const char *path, const struct browse_options *opt)
{
    const struct browse_options none = {0};
    struct browse *b;

    assert_int_equal(browse_open(&b, path, opt ? opt : &none), 0);
    return b;
}

/* ---- expressions on an indexed trace */

/* Row K * RUN is an instruction of cpu K % 2, the others are registers of the one and the other. */
enum { LONG = 150000, RUN = 1000, BLOCK = 700 };

static uint64_t long_pc(unsigned row)
{
    const unsigned k = row / RUN;

    if (row % RUN == 0 || row % 2 == k % 2)
        return 0x1000 + 4 * k;
    return k ? 0x1000 + 4 * (k - 1) : 0;
}

/* The instruction of a row may lie before where reading begins: its row is found all the same. */
static void test_find_owner(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "t.tarmac");
    const char *paths[] = {path};
    struct trod_buf text = {0};
    struct browse *b;

    (void)state;
    for (unsigned row = 0; row < LONG; row++)
        if (row % RUN == 0)
            trod_buf_printf(&text, "%u clk cpu%u IT (%u) %08x d503201f O EL1h_n : NOP\n", row,
                            row / RUN % 2, row, 0x1000 + 4 * (row / RUN));
        else
            trod_buf_printf(&text, "%u clk cpu%u R X%u %016x\n", row, row % 2, row % 8, row);
    test_save(path, text.p, text.n);
    assert_true(index_files(paths, 1, BLOCK, 16, 0));
    b = open_browse(path, NULL);
    assert_non_null(trod_nav_index(b->nav));
    for (unsigned row = 1; row < LONG; row += 7919 * (unsigned)test_step()) {
        unsigned next = row + 1, last = LONG - 1;
        char expression[64];

        if (long_pc(row) == 0)
            continue;
        snprintf(expression, sizeof expression, "kind == REG && pc == %#llx",
                 (unsigned long long)long_pc(row));
        while (next < LONG && (next % RUN == 0 || long_pc(next) != long_pc(row)))
            next++;
        while (last > 0 && (last % RUN == 0 || long_pc(last) != long_pc(row)))
            last--;
        browse_go(b, row);
        if (next < LONG) {
            assert_int_equal(browse_find(b, expression, false), 1);
            assert_int_equal(b->cursor, next);
        }
        browse_go(b, LONG - 1);
        if (last > 0 && last < LONG - 1) {
            assert_int_equal(browse_find(b, expression, true), 1);
            assert_int_equal(b->cursor, last);
        }
    }
    browse_close(b);
    trod_buf_fini(&text);
    test_remove(dir);
    free(path);
    free(dir);
}

/* ---- folds */

struct folds {
    struct browse_fold at[64];
    unsigned n;
};

static void oracle_add(struct folds *o, const struct browse_fold *f)
{
    unsigned n = 0;

    for (unsigned i = 0; i < o->n; i++)
        if (o->at[i].stream != f->stream || o->at[i].last < f->first || o->at[i].first > f->last)
            o->at[n++] = o->at[i];
    o->at[n++] = *f;
    o->n = n;
}

static bool oracle_seen(const struct folds *o, const struct made *m, int64_t only, uint64_t row)
{
    if (only >= 0 && m->cpu[row] != only)
        return false;
    for (unsigned i = 0; i < o->n; i++)
        if (o->at[i].stream == m->cpu[row] && row > o->at[i].first && row <= o->at[i].last)
            return false;
    return true;
}

/* A fold begins at a row of its stream, as calls do. */
static void random_folds(struct trod_gen *g, const struct made *m, struct browse *b,
                         struct folds *o)
{
    for (uint64_t k = gen_below(g, 40); k > 0; k--) {
        struct browse_fold f = {.first = gen_below(g, ROWS)};

        f.stream = m->cpu[f.first];
        f.last = f.first + gen_below(g, 60);
        assert_int_equal(browse_folds_add(&b->folds, &f), 0);
        oracle_add(o, &f);
    }
}

static void check_steps(struct browse *b, const struct folds *o, const struct made *m)
{
    uint64_t next = TROD_NOWHERE, prev = TROD_NOWHERE, out;

    for (uint64_t row = ROWS; row-- > 0;) { /* NEXT is the nearest one seen behind ROW */
        const int rc = browse_next(b, row, &out);

        assert_int_equal(rc, next != TROD_NOWHERE);
        if (rc)
            assert_int_equal(out, next);
        assert_int_equal(browse_seen(b, row), oracle_seen(o, m, b->only, row));
        next = oracle_seen(o, m, b->only, row) ? row : next;
    }
    for (uint64_t row = 0; row < ROWS; row++) {
        const int rc = browse_prev(b, row, &out);

        assert_int_equal(rc, prev != TROD_NOWHERE);
        if (rc)
            assert_int_equal(out, prev);
        prev = oracle_seen(o, m, b->only, row) ? row : prev;
    }
}

static void check_pages(struct browse *b, struct trod_gen *g, const struct folds *o,
                        const struct made *m)
{
    uint64_t row[50];
    unsigned n, all = 0;

    for (uint64_t i = 0; i < ROWS; i++)
        all += oracle_seen(o, m, b->only, i);
    for (unsigned k = 0; k < 60; k++) {
        const unsigned height = 1 + (unsigned)gen_below(g, 49);
        bool there = false;

        if (gen_below(g, 2))
            assert_int_equal(browse_move(b, (int64_t)gen_below(g, 9) - 4), 0);
        else if (gen_below(g, 2))
            assert_true(browse_near(b, gen_below(g, ROWS), &b->cursor) >= 0);
        assert_int_equal(browse_page(b, height, row, &n), 0);
        assert_int_equal(n, all < height ? all : height);
        for (unsigned i = 0; i < n; i++) {
            there |= row[i] == b->cursor;
            assert_true(oracle_seen(o, m, b->only, row[i]));
            for (uint64_t between = i ? row[i - 1] + 1 : row[i]; between < row[i]; between++)
                assert_false(oracle_seen(o, m, b->only, between));
        }
        assert_true(there);
    }
}

static void test_rows(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_fewer(12, 3); seed++) {
        struct trod_gen g = gen_seed(seed);
        struct folds o = {.n = 0};
        struct made m;
        struct browse *b;

        make(&m, &g, seed % 3 ? CPUS : 1);
        b = open_browse(m.path, NULL);
        random_folds(&g, &m, b, &o);
        if (seed % 3 == 2)
            b->only = seed % CPUS;
        assert_true(browse_near(b, 0, &b->cursor) >= 0);
        b->top = b->cursor;
        check_steps(b, &o, &m);
        check_pages(b, &g, &o, &m);
        browse_close(b);
        unmake(&m);
    }
}

/* ---- what is stopped */

static int stop_in(void *user, uint64_t row)
{
    int *left = user;

    (void)row;
    return (*left)-- == 0 ? BROWSE_STOPPED : 0;
}

static int ask(struct browse *b, unsigned what)
{
    switch (what) {
    case 0:
        return browse_end(b);
    case 1:
        return browse_place(b, "row:333");
    case 2:
        return browse_find(b, "kind == REG && value == 12345", false);
    case 3:
        return browse_find(b, "kind == REG", true);
    case 4:
        return browse_access(b, "x3", TROD_NAV_WRITES, false);
    case 5:
        return browse_state(b);
    case 6:
        return browse_memory_read(b, 64);
    default:
        return browse_fold(b);
    }
}

static void test_stop(void **state)
{
    struct trod_gen g = gen_seed(1);
    struct made m;

    (void)state;
    make(&m, &g, 1);
    for (unsigned what = 0; what < 8; what++) {
        struct browse *b = open_browse(m.path, NULL);
        uint64_t cursor;
        int rc;

        b->cursor = 300;
        rc = ask(b, what);
        cursor = b->cursor;
        browse_close(b);
        for (int stop = 0; stop < 3; stop++) {
            int left = 1 << 20;
            const struct browse_options opt = {.tick = stop_in, .user = &left};
            int got;

            b = open_browse(m.path, &opt);
            b->cursor = 300;
            left = stop;
            got = ask(b, what);
            assert_true(got == BROWSE_STOPPED || got == rc);
            left = 1 << 20;
            if (got == BROWSE_STOPPED) {
                b->cursor = 300;
                assert_int_equal(ask(b, what), rc);
            }
            assert_int_equal(b->cursor, cursor);
            browse_close(b);
        }
    }
    unmake(&m);
}

/* ---- two traces */

static void wait_for(struct browse_pair *p)
{
    const struct timespec nap = {.tv_nsec = 2000000};
    struct browse_pair_state s;

    for (browse_pair_state(p, &s); !s.done; browse_pair_state(p, &s))
        nanosleep(&nap, NULL);
    assert_int_equal(s.status, 0);
}

static bool same_row(struct browse *const b[2], const uint64_t row[2])
{
    char line[2][512];
    int kind[2];

    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(browse_brief(b[k], row[k], line[k], sizeof line[k], &kind[k]), 1);
    return strcmp(line[0] + 8, line[1] + 8) == 0; /* behind the number of the row */
}

/* Every row stands in one line, in order; rows in one line that do not differ are equal. */
static void check_lines(struct browse_pair *p, struct browse *const b[2], unsigned side,
                        uint64_t row)
{
    enum { MOST = 4 * ROWS + 10 };
    static struct browse_pair_line line[MOST];
    uint64_t next[2] = {TROD_NOWHERE, TROD_NOWHERE};
    unsigned n, at;

    assert_int_equal(browse_pair_page(p, b, side, row, MOST, line, &n, &at), 0);
    assert_true(at < n);
    assert_int_equal(line[at].row[side], row);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 2; k++) {
            if (line[i].row[k] == TROD_NOWHERE)
                continue;
            assert_int_equal(line[i].row[k], next[k] == TROD_NOWHERE ? 0 : next[k]);
            next[k] = line[i].row[k] + 1;
        }
        if (!line[i].differs && line[i].row[0] != TROD_NOWHERE && line[i].row[1] != TROD_NOWHERE)
            assert_true(same_row(b, line[i].row));
    }
    for (unsigned k = 0; k < 2; k++)
        assert_int_equal(next[k], ROWS);
}

static void test_pair(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_fewer(10, 3); seed++) {
        struct trod_gen g = gen_seed(seed);
        const struct trod_trace_options *trace[2] = {NULL, NULL};
        struct browse_pair *p;
        struct browse *b[2];
        struct made m;
        char *other;

        make(&m, &g, 1);
        other = test_path(m.dir, "other.tarmac");
        b[0] = open_browse(m.path, NULL);
        for (uint64_t k = gen_below(&g, 6); k > 0; k--) { /* values, and rows that move away */
            const unsigned at = (unsigned)gen_below(&g, ROWS - 20);

            if (k % 2)
                m.value[at] ^= 1;
            else
                memmove(m.insn + at + 3, m.insn + at, ROWS - at - 3);
        }
        write_rows(&m, other);
        b[1] = open_browse(other, NULL);
        assert_int_equal(browse_pair_begin(&p, (const char *[]){m.path, other}, trace), 0);
        wait_for(p);
        for (unsigned k = 0; k < 8; k++)
            check_lines(p, b, k % 2, gen_below(&g, ROWS));
        browse_pair_end(p);
        browse_close(b[0]);
        browse_close(b[1]);
        free(other);
        unmake(&m);
    }
}

/* The rows of each cpu, in their order, as trace K has them: cpu and number among its rows. */
struct woven {
    uint32_t cpu[ROWS], number[ROWS];
    unsigned n;
};

/* The rows of M into PATH, cpu by cpu as chance will have it; those of LEAVE_OUT not. */
static void weave(const struct made *m, struct trod_gen *g, const char *path,
                  const bool leave_out[ROWS], struct woven *w)
{
    unsigned next[CPUS] = {0}, number[CPUS] = {0};
    struct trod_buf b = {0};

    w->n = 0;
    for (unsigned left = CPUS; left;) {
        const unsigned cpu = (unsigned)gen_below(g, CPUS);
        unsigned *i = &next[cpu];

        while (*i < ROWS && m->cpu[*i] != cpu)
            ++*i;
        if (*i >= ROWS) {
            left -= *i == ROWS;
            *i = ROWS + 1;
            continue;
        }
        if (!leave_out[*i]) {
            if (m->insn[*i])
                trod_buf_printf(&b, "%u clk cpu%u IT (%u) %08x d503201f O EL1h_n : NOP\n", *i, cpu,
                                *i, 0x1000 + 4 * m->value[*i]);
            else
                trod_buf_printf(&b, "%u clk cpu%u R X%u %016x\n", *i, cpu, m->value[*i] % 8,
                                m->value[*i]);
            w->cpu[w->n] = cpu;
            w->number[w->n++] = number[cpu];
        }
        number[cpu]++;
        ++*i;
    }
    test_save(path, b.p, b.n);
    trod_buf_fini(&b);
}

/* All rows of both stand in lines, those of SIDE in order; beside each the same row of its cpu. */
static void check_woven(struct browse_pair *p, struct browse *const b[2], unsigned side,
                        const struct woven w[2], uint64_t row, unsigned changed)
{
    enum { MOST = 4 * ROWS };
    static struct browse_pair_line line[MOST];
    bool seen[ROWS] = {false};
    unsigned n, at, others = 0, alone = 0, differ = 0;
    uint64_t next = 0;

    assert_int_equal(browse_pair_page(p, b, side, row, MOST, line, &n, &at), 0);
    assert_int_equal(line[at].row[side], row);
    for (unsigned i = 0; i < n; i++) {
        const uint64_t mine = line[i].row[side], other = line[i].row[!side];

        if (mine != TROD_NOWHERE)
            assert_int_equal(mine, next++);
        if (other != TROD_NOWHERE) {
            assert_false(seen[other]);
            seen[other] = true;
            others++;
        }
        if (mine == TROD_NOWHERE || other == TROD_NOWHERE) {
            alone++;
            continue;
        }
        assert_int_equal(w[side].cpu[mine], w[!side].cpu[other]);
        assert_int_equal(w[side].number[mine], w[!side].number[other]);
        differ += line[i].differs;
        if (!line[i].differs)
            assert_true(same_row(b, line[i].row));
    }
    assert_int_equal(next, w[side].n);
    assert_int_equal(others, w[!side].n);
    assert_int_equal(alone, 1);
    assert_int_equal(differ, changed);
}

/* Several cpus whose rows follow each other in another order in the second trace. */
static void test_pair_lanes(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < test_fewer(6, 2); seed++) {
        struct trod_gen g = gen_seed(50 + seed);
        const struct trod_trace_options *trace[2] = {NULL, NULL};
        bool none[ROWS] = {false}, one[ROWS] = {false};
        static struct woven w[2];
        struct browse_pair *p;
        struct browse *b[2];
        struct made m;
        char *other;
        uint64_t row = 0, out;

        make(&m, &g, CPUS);
        for (unsigned i = 0; i < ROWS; i++) /* each row is like no other */
            m.value[i] = i;
        m.insn[100] = false;
        other = test_path(m.dir, "other.tarmac");
        weave(&m, &g, m.path, none, &w[0]);
        m.value[100] ^= 1024;
        one[ROWS / 2 + gen_below(&g, ROWS / 3)] = true;
        weave(&m, &g, other, one, &w[1]);
        b[0] = open_browse(m.path, NULL);
        b[1] = open_browse(other, NULL);
        assert_int_equal(browse_pair_begin(&p, (const char *[]){m.path, other}, trace), 0);
        wait_for(p);
        for (unsigned k = 0; k < 6; k++)
            check_woven(p, b, k % 2, w, gen_below(&g, ROWS - 1), 1);
        while (browse_pair_next(p, b, 0, row, false, &out) > 0) {
            assert_true(out > row);
            row = out;
        }
        assert_true(row > 0);
        browse_pair_end(p);
        browse_close(b[0]);
        browse_close(b[1]);
        free(other);
        unmake(&m);
    }
}

/* ---- bookmarks, colours */

static void test_marks(void **state)
{
    struct trod_gen g = gen_seed(3);
    struct made m;
    struct browse *b;

    (void)state;
    make(&m, &g, 1);
    b = open_browse(m.path, NULL);
    assert_int_equal(browse_marks_set(b, 70, "second one"), 0);
    assert_int_equal(browse_marks_set(b, 9, ""), 0);
    assert_int_equal(browse_marks_set(b, 500, "x"), 0);
    assert_int_equal(browse_marks_set(b, 70, "again"), 0);
    browse_marks_remove(b, 2);
    browse_close(b);
    b = open_browse(m.path, NULL);
    assert_int_equal(b->marks.n, 2);
    assert_int_equal(b->marks.at[0].row, 9);
    assert_string_equal(b->marks.at[0].name, "");
    assert_string_equal(b->marks.at[1].name, "again");
    assert_true(browse_marked(b, 70) && !browse_marked(b, 500));
    browse_close(b);
    unmake(&m);
}

static void test_colours(void **state)
{
    static const char *const bad[] = {"changed",    "changed=",       "nothing=red",
                                      "title=red/", "title=red+loud", "title=256+bold",
                                      "title=-1"};
    struct browse_style s[BROWSE_PARTS];

    (void)state;
    browse_colours_default(s);
    assert_int_equal(browse_colours_parse(s, "title=red/17+bold+reverse,,reg=/white", NULL), 0);
    assert_int_equal(s[BROWSE_TITLE].front, 1);
    assert_int_equal(s[BROWSE_TITLE].back, 17);
    assert_int_equal(s[BROWSE_TITLE].how, BROWSE_BOLD | BROWSE_REVERSE);
    assert_int_equal(s[BROWSE_REG].front, -1);
    assert_int_equal(s[BROWSE_REG].back, 7);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (strcmp(bad[i], "changed=") != 0)
            assert_int_equal(browse_colours_parse(s, bad[i], NULL), TROD_ERR_USAGE);
    for (unsigned i = 0; i < BROWSE_PARTS; i++)
        assert_non_null(browse_part_name(i));
    assert_null(browse_part_name(BROWSE_PARTS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),       cmocka_unit_test(test_find_owner),
        cmocka_unit_test(test_stop),       cmocka_unit_test(test_pair),
        cmocka_unit_test(test_pair_lanes), cmocka_unit_test(test_marks),
        cmocka_unit_test(test_colours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
