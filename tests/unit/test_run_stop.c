/*
 * test_run_stop.c - a run that is stopped while threads read parts of a file: rows are looked at
 * up to a place of the trace, as by one thread, and nothing is found that comes of those left out.
 *
 * The instructions follow each other, and the text of each is not that of its opcode (d503201f is
 * NOP by the Arm Architecture Reference Manual): a finding for each row, and no other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "testlib.h"
#include "trod/check.h"
#include "trod/run.h"

enum { LINES = 120000, PIECE = 2 << 20 };

static volatile bool stop;
static unsigned ticks, last_tick;

/* Called for each batch of the first thread. */
static void progress(void *user, const struct trod_trace_progress *p)
{
    (void)user;
    (void)p;
    __atomic_store_n(&stop, ++ticks >= last_tick, __ATOMIC_RELAXED);
}

static void write_trace(const char *path)
{
    struct trod_buf b = {0};

    for (unsigned n = 1; n <= LINES; n++)
        if (trod_buf_printf(&b, "%u clk IT (%u) %08x d503201f O EL1h_n : LDR X0,[X0]\n", n, n,
                            4096 + 4 * n) < 0)
            test_die("no memory");
    test_save(path, b.p, b.n);
    trod_buf_fini(&b);
}

/* Check PATH with JOBS threads, stopped at the TICK-th batch. */
static void stopped(const char *path, unsigned jobs, unsigned tick)
{
    const struct trod_run_options opt = {.jobs = jobs,
                                         .progress = progress,
                                         .stop = &stop,
                                         .piece = PIECE,
                                         .trace = {.want = TROD_COL_KIND}};
    const struct trod_rule *rule;
    struct trod_run *run;
    uint64_t found = 0;

    stop = false;
    ticks = 0;
    last_tick = tick;
    assert_int_equal(trod_run_open(&run, &path, 1, &opt, NULL), TROD_OK);
    assert_int_equal(trod_run_add(run, trod_analysis_find("check", 5), NULL), 0);
    assert_int_equal(trod_run_go(run), TROD_OK);
    assert_true(trod_run_stopped(run));
    for (size_t i = 0; (rule = trod_rule_at(i)); i++) {
        const uint64_t n = trod_check_count(trod_run_state(run, 0), rule);

        if (strcmp(rule->id, "tarmac.opcode-text") == 0)
            found = n;
        else
            assert_int_equal(n, 0);
    }
    assert_in_range(found, 4096, LINES - 1);
    trod_run_free(run);
}

static void test_stop(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "t.tarmac");

    (void)state;
    write_trace(path);
    for (unsigned tick = 1; tick <= 3; tick++) {
        stopped(path, 1, tick);
        stopped(path, 2, tick);
    }
    test_remove(dir);
    free(path);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
