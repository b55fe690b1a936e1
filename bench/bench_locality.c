/*
 * bench_locality.c - `trod locality`: stack distances in memory and end to end, CPU time.
 *
 * In memory: references as a program makes them (generated: loops
 * over code, a stack, a heap with hot and cold parts), one thread; the yardstick is Olken's tree
 * (tests/common/olken.h). End to end: pthread-5-threads of the shared traces where they are, else a
 * trace made of the same references; the yardsticks are decoding alone and `trod count`.
 */
#include "bench_drm.h"

#include "olken.h"
#include "sim/locality/shards.h"
#include "trod/trod.h"

#include <string.h>

enum { REFS = 1 << 23, TREE_REFS = REFS / 16 };

static uint64_t seed = 11, *line;
static uint8_t *class;
static size_t n_refs;

/* Runs of instructions in one line, alternating with data: of the stack, hot and cold parts. */
static void generate(void)
{
    uint64_t pc = 0x10000;

    line = calloc(REFS, sizeof *line);
    class = calloc(REFS, 1);
    if (!line || !class)
        bench_die("out of memory");
    for (n_refs = 0; n_refs < REFS; n_refs++) {
        const uint64_t r = bench_rand(&seed);

        if (r % 4) {
            pc = r % 64 == 1 ? 0x10000 + (r >> 8) % 4000 : pc + (r % 12 == 2);
            line[n_refs] = pc;
        } else {
            class[n_refs] = (uint8_t)(1 + (r >> 4) % 2);
            line[n_refs] = r >> 8 & 1   ? 0x7ff0000 + (r >> 16) % 6
                           : r >> 9 & 7 ? 0x900000 + (r >> 16) % 900
                                        : 0xa00000 + (r >> 16) % 60000;
        }
    }
}

static int exact(void *user)
{
    const struct trod_stack_options opt = {.distant = 100};
    struct trod_stack *s = trod_stack_new(&opt);
    const struct trod_refs refs = {line, class, NULL};
    int rc = 1;

    (void)user;
    if (s && trod_stack_feed(s, &refs, n_refs, NULL))
        rc = 0;
    trod_stack_free(s);
    return rc;
}

static int tree(void *user)
{
    struct olken o;

    (void)user;
    olken_init(&o);
    for (size_t i = 0; i < TREE_REFS; i++)
        olken_ref(&o, line[i]);
    olken_fini(&o);
    return 0;
}

static const double rate = 0.01, hardly_any = 1e-12;

/* USER: the share of the lines that is sampled. */
static int sample(void *user)
{
    struct trod_shards *s = trod_shards_new(*(const double *)user, 0, 0);
    const struct trod_refs refs = {line, class, NULL};
    int rc = 1;

    if (s && trod_shards_feed(s, &refs, n_refs, NULL))
        rc = 0;
    trod_shards_free(s);
    return rc;
}

/* ---- end to end */

static const struct trod_trace_options lean = {
    .input.no_thread = true, .want = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_FLAGS};

static int decode(void *path)
{
    const char *p = path;
    struct trod_trace *t;
    struct trod_batch *b;
    int rc;

    if (trod_trace_open(&t, &p, 1, &lean, NULL) < 0)
        return 1;
    while ((rc = trod_trace_next(t, &b)) > 0)
        ;
    trod_trace_close(t);
    return rc;
}

struct job {
    const char *path, *analysis, *option, *value;
    unsigned jobs;
};

static int run(void *user)
{
    const struct job *j = user;
    const struct trod_analysis *a = trod_analysis_find(j->analysis, strlen(j->analysis));
    struct trod_run_options opt = {.jobs = j->jobs};
    void *options = calloc(1, a->options_size + 1);
    char value[32];
    struct trod_run *r = NULL;
    int rc;

    if (!options)
        return 1;
    if (a->defaults)
        memcpy(options, a->defaults, a->options_size);
    if (j->option) {
        snprintf(value, sizeof value, "%s", j->value);
        if (trod_option_set(a->options, options, j->option, value, NULL) < 0)
            return 1;
    }
    if (j->jobs == 1)
        opt.trace.input.no_thread = true;
    rc = trod_run_open(&r, &j->path, 1, &opt, NULL);
    if (rc >= 0)
        rc = trod_run_add(r, a, options);
    if (rc >= 0)
        rc = trod_run_go(r);
    trod_run_free(r);
    free(options);
    return rc < 0;
}

static void end_to_end(const char *path)
{
    struct job exact_job = {path, "locality", NULL, NULL, 1};
    struct job two = {path, "locality", NULL, NULL, 2};
    struct job sampled = {path, "locality", "sample", "100", 1};
    struct job count = {path, "count", NULL, NULL, 1};
    enum { DECODE, COUNT, EXACT, SAMPLE, WORKS };
    struct bench_work w[] = {[DECODE] = {decode, (void *)(uintptr_t)path, 0},
                             [COUNT] = {run, &count, 0},
                             [EXACT] = {run, &exact_job, 0},
                             [SAMPLE] = {run, &sampled, 0}};
    struct bench_work jobs[] = {{run, &exact_job, 0}, {run, &two, 0}};

    bench_turns(bench_thread, w, WORKS);
    bench_turns(bench_wall, jobs, 2);
    bench_ratio("locality.trace.exact", w[EXACT].best, "s", "decoding alone",
                w[EXACT].best / w[DECODE].best, "ratio <= 1.5");
    bench_ratio("locality.trace.sample", w[SAMPLE].best, "s", "trod count",
                w[SAMPLE].best / w[COUNT].best, "ratio <= 1.3");
    bench_ratio("locality.trace.jobs2", jobs[1].best, "s", "one thread, by the clock",
                jobs[0].best / jobs[1].best, "ratio >= 1.8");
}

int main(void)
{
    double t_exact, t_tree, t_sample, t_filter;
    char path[4096];

    generate();
    t_exact = bench_best(bench_thread, exact, NULL);
    t_tree = bench_best(bench_thread, tree, NULL) * REFS / TREE_REFS;
    t_sample = bench_best(bench_thread, sample, (void *)(uintptr_t)&rate);
    t_filter = bench_best(bench_thread, sample, (void *)(uintptr_t)&hardly_any);
    bench_ratio("locality.exact", (double)n_refs / t_exact / 1e6, "M refs/s", "Olken's tree",
                t_tree / t_exact, "ratio >= 5");
    bench_ratio("locality.shards", (double)n_refs / t_sample / 1e6, "M refs/s", "exact",
                t_exact / t_sample, "value >= 300");
    bench_ratio("locality.filter", (double)n_refs / t_filter / 1e6, "M refs/s", "exact",
                t_exact / t_filter, "value >= 300");
    if (bench_shared_trace(path))
        end_to_end(path);
    free(line);
    free(class);
    return 0;
}
