/*
 * test_in_order.c - an analysis that needs all rows in their order sees the same rows, problems and
 * numbers whatever the number of threads that decode parts of the file.
 *
 * src/engine/in_order.c. Every golden file and inputs of random rows of the formats that can begin
 * in the middle, whole and damaged, in pieces of few bytes; and a program of two processors whose
 * parts meet these in another order than the file does. A hash of every row, with the name of its
 * stream and unit, its number, and what the meta said then, stands for all analyses; `calls` is a
 * real one.
 */
#include "prop.h"
#include "ran.h"

#include "trod/run.h"

#include <unistd.h>

#if defined __SANITIZE_THREAD__ /* which is slow: other builds try more */
enum { GENERATED = 1, DAMAGES = 1, WAYS = 1 };
#else
enum { GENERATED = 3, DAMAGES = 2, WAYS = 3 };
#endif

/* ---- the rows */

struct rows {
    uint64_t hash, n;
    bool windows; /* some came from a part */
};

static int rows_init(void *st, const void *opt, const struct trod_context *c)
{
    (void)st;
    (void)opt;
    (void)c;
    return TROD_OK;
}

static void mix(struct rows *s, uint64_t v)
{
    s->hash = (s->hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    s->hash ^= s->hash >> 29;
}

static void mix_text(struct rows *s, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        mix(s, (uint8_t)p[i]);
}

static int rows_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const struct trod_meta *m = b->meta;
    struct rows *s = st;

    s->windows |= !b->own;
    for (uint32_t i = from; i < to; i++) {
        const uint32_t has = b->have & b->has[i];

        mix(s, test_row_hash(b, i, prop_mask())); /* what is numbered: by name */
        mix(s, b->first + i);
        if (has & TROD_COL_STREAM) { /* numbered as in one go */
            mix(s, b->stream[i]);
            if (b->stream[i] < m->n_streams)
                mix_text(s, m->streams[b->stream[i]].name, m->streams[b->stream[i]].name_len);
        }
        if (has & TROD_COL_UNIT) {
            const char *unit = trod_meta_unit_name(m, b->unit[i]);

            mix(s, b->unit[i]);
            mix_text(s, unit, strlen(unit));
        }
    }
    s->n += to - from;
    return TROD_OK;
}

static int rows_boundary(void *st, const struct trod_boundary *at)
{
    mix(st, at->type);
    mix(st, at->rows);
    mix(st, at->time);
    return TROD_OK;
}

/* Runs of several threads whose rows came from parts: a test without any shows nothing. */
static size_t by_parts;

static int rows_result(const void *st, struct trod_result *r)
{
    by_parts += ((const struct rows *)st)->windows;
    trod_result_u64(r, "rows", ((const struct rows *)st)->n);
    trod_result_u64(r, "hash", ((const struct rows *)st)->hash);
    return TROD_OK;
}

static const struct trod_analysis ordered = {
    .name = "ordered",
    .title = "all rows in their order",
    .state_size = sizeof(struct rows),
    .order = TROD_GLOBAL_ORDER,
    .uses = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE,
    .init = rows_init,
    .feed = rows_feed,
    .boundary = rows_boundary,
    .result = rows_result,
};

/* ---- a run */

/* What analysis A finds, and the problems, to be freed. NULL: it cannot read the trace. */
static char *found(const char *path, const char *from, const struct trod_analysis *a, unsigned jobs,
                   uint64_t piece)
{
    const struct trod_run_options opt = {.jobs = jobs, .piece = piece, .trace = {.from = from}};

    return test_ran(&path, 1, &opt, &a, 1);
}

static void same(const struct golden *g, const char *path, const struct trod_analysis *a)
{
    static const uint64_t pieces[] = {13, 100, 777};
    static const unsigned jobs[] = {2, 3, 7};
    static unsigned turn; /* of the three, if not all are tried with each input */
    char *want = found(path, g->format->name, a, 1, 0);

    for (unsigned way = 0; want && way < WAYS; way++) {
        const unsigned i = turn++ % 3;
        char *got = found(path, g->format->name, a, jobs[i], pieces[i]);

        if (!got || strcmp(want, got) != 0)
            print_error("one go:\n%s\nparts, %u threads:\n%s\n", want, jobs[i],
                        got ? got : "refused");
        prop_true(got && strcmp(want, got) == 0, g, "what parts find in order differs", pieces[i]);
        free(got);
    }
    free(want);
}

/* ---- inputs */

static void all_ways(const struct golden *g, const uint8_t *p, size_t n)
{
    char path[GOLDEN_PATH];

    golden_write(g, p, n, path);
    if (!test_refused(path, g->format->name)) {
        same(g, path, &ordered);
        if (!g->format->kinds || g->format->kinds >> TROD_INSTR & 1)
            same(g, path, trod_analysis_find("calls", 5));
    }
    unlink(path);
}

static void parts(const struct golden *g)
{
    if (prop_parted(g, false))
        prop_damaged(g, g->data.n + 12, DAMAGES, all_ways);
}

static void test_golden(void **state)
{
    (void)state;
    golden_each(GENERATED, parts);
    assert_true(by_parts > 100);
}

/* What A finds in the file at PATH with one thread is found with more, in pieces of 64 KiB. */
static void same_numbers(const char *path, const struct trod_analysis *a)
{
    char *want = found(path, "tarmac", a, 1, 0);

    assert_non_null(want);
    for (unsigned jobs = 2; jobs < 4; jobs++) {
        char *got = found(path, "tarmac", a, jobs, 1 << 16);

        assert_string_equal(want, got);
        free(got);
    }
    free(want);
}

/*
 * Processors and units of time that parts meet in another order than the file: each part numbers
 * its own. Of units a trace has four at the most: rows with a fifth are refused, in whichever part
 * it comes first.
 */
static void test_numbers(void **state)
{
    static const char *const unit[] = {"clk", "ticks", "beats", "laps", "turns", "steps", "ticks"};
    enum { LINES = 60000, CPUS = 5, UNITS = sizeof unit / sizeof *unit };
    const size_t before = by_parts;

    (void)state;
    for (unsigned units = 3; units <= UNITS; units += UNITS - 3) {
        struct trod_gen r = gen_seed(77);
        char *dir = test_tmpdir(), *path = test_path(dir, "a.tarmac");
        FILE *f = fopen(path, "w");

        assert_non_null(f);
        for (unsigned i = 0; i < LINES; i++)
            fprintf(f, "%u %s cpu%u IT (%u) %08x d503201f A EL1h_n : NOP\n", i,
                    unit[i / (LINES / units + 1)],
                    i < LINES / 2 ? (unsigned)gen_below(&r, CPUS)
                                  : CPUS - 1 - (unsigned)gen_below(&r, 2),
                    i, 0x1000 + 4 * (unsigned)gen_below(&r, 64));
        fclose(f);
        same_numbers(path, &ordered);
        same_numbers(path, trod_analysis_find("count", 5));
        same_numbers(path, trod_analysis_find("check", 5));
        same_numbers(path, trod_analysis_find("info", 4));
        test_remove(dir);
        free(path);
        free(dir);
    }
    assert_int_equal(by_parts, before + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden),
                                       cmocka_unit_test(test_numbers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
