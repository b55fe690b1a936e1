/*
 * test_lead.c - parts of one plain file: every access belongs to the instruction before it in its
 * stream, wherever the file is cut.
 *
 * Addresses of accesses say whose they are. A text of several processors, whose accesses stand
 * between the instructions of others, and a drmemtrace file of one thread, with and without
 * encodings, in which most cuts would lie between an instruction and what belongs to it.
 *
 * And a drmemtrace file whose records do not lie where the cuts are: threads, and processes of
 * which each reads a part, all find out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drm.h"
#include "ran.h"
#include "trod/trod.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CODE_AT = 0x10000, DATA_AT = 0x4000000, PLACES = 700, CPUS = 3 };

struct seen {
    const struct trod_sites *sites;
    uint64_t right, wrong, later; /* accesses; LATER: in other parts than the first */
};

static int init(void *st, const void *opt, const struct trod_context *c)
{
    (void)opt;
    ((struct seen *)st)->sites = c->sites;
    return TROD_OK;
}

static int feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct seen *s = st;

    for (uint32_t i = from; i < to; i++) {
        const bool access = b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE;
        const uint32_t site = b->site[i];
        uint64_t place;

        if (!access)
            continue;
        place = (b->addr[i] - DATA_AT) / 64;
        if (site == TROD_NO_SITE || trod_site_at(s->sites, site)->pc != CODE_AT + 4 * place)
            s->wrong++;
        else
            s->right++;
        s->later += b->meta->part != 0;
    }
    return TROD_OK;
}

static int merge(void *into, const void *from)
{
    struct seen *s = into;
    const struct seen *f = from;

    s->right += f->right;
    s->wrong += f->wrong;
    s->later += f->later;
    return TROD_OK;
}

static int result(const void *st, struct trod_result *r)
{
    trod_result_u64(r, "right", ((const struct seen *)st)->right);
    return TROD_OK;
}

static const struct trod_analysis analysis = {
    .name = "owners",
    .title = "whose accesses are whose",
    .state_size = sizeof(struct seen),
    .needs = TROD_COL_KIND | TROD_COL_ADDR,
    .uses = TROD_COL_SITE | TROD_COL_STREAM,
    .init = init,
    .feed = feed,
    .merge = merge,
    .result = result,
};

/* The file B, of N accesses, in pieces of about PIECE bytes. */
static void all_right(const struct trod_buf *b, const char *from, uint64_t n, uint64_t piece)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "trace");
    const char *paths = path;
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(b->p, 1, b->n, f), b->n);
    fclose(f);
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        const struct trod_run_options opt = {.jobs = jobs, .piece = piece, .trace = {.from = from}};
        const struct seen *s;
        struct trod_run *run;

        assert_int_equal(trod_run_open(&run, &paths, 1, &opt, NULL), TROD_OK);
        assert_int_equal(trod_run_add(run, &analysis, NULL), 0);
        assert_int_equal(trod_run_go(run), TROD_OK);
        s = trod_run_state(run, 0);
        assert_int_equal(s->wrong, 0);
        assert_int_equal(s->right, n);
        assert_true(jobs == 1 ? s->later == 0 : s->later > n / 3);
        trod_run_free(run);
    }
    test_remove(dir);
    free(path);
    free(dir);
}

/*
 * Every processor executes something in any ROUND lines, so that rows before a cut, a sixteenth of
 * a part, have an instruction of each.
 */
static void test_text(void **state)
{
    enum { ROUND = 40 };

    struct trod_gen g = gen_seed(31);
    struct trod_buf b = {0};
    unsigned place[CPUS] = {0}, cpu = 0;
    uint64_t n = 0;

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        if (gen_once_in(&g, 6))
            cpu = (unsigned)gen_below(&g, CPUS);
        if (i % ROUND < CPUS || gen_once_in(&g, 4)) {
            cpu = i % ROUND < CPUS ? i % ROUND : cpu;
            place[cpu] = (unsigned)gen_below(&g, PLACES);
            trod_buf_printf(&b, "%u clk cpu%u IT (%u) %08x f9400001 O EL1h_n : LDR x1,[x0]\n", i,
                            cpu, i + 1, CODE_AT + 4 * place[cpu]);
            continue;
        }
        trod_buf_printf(&b, "%u clk cpu%u M%c8 %08x 00000000_00000001\n", i, cpu,
                        gen_once_in(&g, 2) ? 'R' : 'W',
                        DATA_AT + 64 * place[cpu] + 8 * (unsigned)gen_below(&g, 8));
        n++;
    }
    all_right(&b, "tarmac", n, 100000);
    trod_buf_fini(&b);
}

static void drmemtrace(bool coded)
{
    static const uint64_t head[][3] = {{25, 0, 6}, {28, 12, 6}, {28, 9, 0x40}, {22, 0, 7},
                                       {24, 0, 7}, {28, 2, 9},  {28, 3, 1}};
    struct trod_gen g = gen_seed(32);
    struct trod_buf b = {0};
    bool met[PLACES] = {0};
    uint64_t n = 0;

    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        drm_put(&b, 12, (unsigned)head[i][0], (unsigned)head[i][1],
                head[i][2] | (i == 2 && coded ? 0x200 : 0));
    for (unsigned i = 0; i < 9000; i++) {
        const unsigned place = (unsigned)gen_below(&g, PLACES);

        if (coded && !met[place])
            drm_put(&b, 12, 47, 4, 0x90909090);
        met[place] = true;
        drm_put(&b, 12, 10, 4, CODE_AT + 4 * place);
        for (unsigned k = (unsigned)gen_below(&g, 8); k > 0; k--, n++)
            drm_put(&b, 12, k & 1, 8, DATA_AT + 64 * place + 8 * (k & 7));
    }
    drm_put(&b, 12, 23, 0, 7);
    drm_put(&b, 12, 26, 0, 0);
    all_right(&b, "drmemtrace", n, 50000);
    trod_buf_fini(&b);
}

static void test_drmemtrace(void **state)
{
    (void)state;
    drmemtrace(false);
    drmemtrace(true);
}

/* ---- records out of step */

/* N entries of which any four bytes may begin one. */
static void put_alike(struct trod_buf *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        drm_put(b, 12, 10, 4, UINT64_C(0x0004000a0004000a));
}

/* Decoders go on 4 bytes further behind what makes no sense; later cuts lie where they were. */
static struct trod_buf out_of_step(void)
{
    static const uint64_t head[][3] = {{25, 0, 6}, {28, 12, 6}, {28, 9, 0x40}, {22, 0, 7},
                                       {24, 0, 7}, {28, 2, 9},  {28, 3, 1}};
    struct trod_buf b = {0};
    uint8_t none[12 * 20 + 4];

    memset(none, 0xf7, sizeof none);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        drm_put(&b, 12, (unsigned)head[i][0], (unsigned)head[i][1], head[i][2]);
    for (unsigned i = 0; i < 4000; i++)
        drm_put(&b, 12, 10, 4, CODE_AT + 4 * (i % PLACES));
    assert_int_equal(trod_buf_add(&b, none, sizeof none), TROD_OK);
    for (unsigned i = 0; i < 40; i++)
        drm_put(&b, 12, 10, 4, UINT64_C(0xf7f7f7f7f7f7f7f7));
    put_alike(&b, 6000);
    for (unsigned i = 0; i < 3000; i++)
        drm_put(&b, 12, 10, 4, CODE_AT + 4 * (i % PLACES));
    drm_put(&b, 12, 23, 0, 7);
    drm_put(&b, 12, 26, 0, 0);
    return b;
}

/* Of the file at PATH, FILES times. */
static struct trod_run *count_run(const char *path, size_t files, struct trod_run_options opt)
{
    const char *const paths[] = {path, path, path};
    struct trod_run *run;

    opt.trace.from = "drmemtrace";
    opt.piece = 20000;
    assert_int_equal(trod_run_open(&run, paths, files, &opt, NULL), TROD_OK);
    assert_int_equal(trod_run_add(run, trod_analysis_find("count", 5), NULL), 0);
    return run;
}

/* Is there a cut where no record begins? */
static bool cut_amiss(const char *path)
{
    struct trod_run *run = count_run(path, 1, (struct trod_run_options){.jobs = 1});
    struct trod_candidate as;
    uint64_t cut[63];
    const size_t n = trod_trace_cuts(trod_run_trace(run), 0, 20000, false, cut, 63, &as);
    bool amiss = false;

    for (size_t i = 0; i < n; i++)
        amiss |= cut[i] > 12 * 4100 && cut[i] < 12 * 10000;
    trod_run_free(run);
    return amiss;
}

static void same_counts(const char *path, size_t files, const char *want, unsigned jobs,
                        unsigned parts)
{
    struct trod_run *all = count_run(path, files, (struct trod_run_options){.jobs = jobs});
    char *got;

    for (unsigned i = 0; i < parts; i++) {
        struct trod_run *run = count_run(
            path, files, (struct trod_run_options){.jobs = jobs, .part = i, .parts = parts});

        trod_run_go(run);
        test_merge_part(all, run);
        trod_run_free(run);
    }
    if (parts == 0)
        trod_run_go(all);
    got = test_found(all, 1);
    assert_string_equal(want, got);
    free(got);
    trod_run_free(all);
}

static void test_out_of_step(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "trace"), *want;
    struct trod_buf b = out_of_step();
    struct trod_run *run;
    FILE *f = fopen(path, "wb");

    (void)state;
    assert_non_null(f);
    assert_int_equal(fwrite(b.p, 1, b.n, f), b.n);
    fclose(f);
    assert_true(cut_amiss(path));
    for (size_t files = 1; files <= 3; files += 2) {
        run = count_run(path, files, (struct trod_run_options){.jobs = 1});
        trod_run_go(run);
        want = test_found(run, 1);
        trod_run_free(run);
        for (unsigned jobs = 1; jobs <= 3; jobs++)
            for (unsigned parts = 0; parts <= 7; parts++)
                same_counts(path, files, want, jobs, parts);
        free(want);
    }
    trod_buf_fini(&b);
    test_remove(dir);
    free(path);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text),
                                       cmocka_unit_test(test_drmemtrace),
                                       cmocka_unit_test(test_out_of_step)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
