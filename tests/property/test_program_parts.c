/*
 * test_program_parts.c - `hot` finds the same loops, jumps and blocks, `branches` the same branches
 * and wrong predictions, however a trace is parted.
 *
 * Random programs of a few instructions, so that parts begin in the middle of loops, between a
 * branch and where it leads to, in delay slots, and on processors of which they have one
 * instruction or none. Loops, entries and trips are compared with those that docs/analysing.md
 * defines, found the slow way; everything else with what one thread finds. Parts are also saved and
 * merged, as processes share them out.
 */
#include "fewer.h"
#include "prop.h"
#include "ran.h"

#include "trod/buf.h"
#include "trod/run.h"

#include <unistd.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { PROGRAMS = 6 };
#else
enum { PROGRAMS = 40 };
#endif

enum { SLOTS = 24, CPUS = 3, STEPS = 700, BASE = 0x8000, FILES = 2, ROOM = 256 };

/* ---- a program that runs */

struct program {
    bool mips;
    bool branch[SLOTS];
    unsigned n[FILES], cpu[FILES][STEPS], slot[FILES][STEPS];
};

/* AT, or what is before it where that is a branch and AT its delay slot: nothing jumps there. */
static unsigned place(const struct program *p, unsigned at)
{
    return at - (p->mips && at && p->branch[at - 1]);
}

/* What comes behind AT, BEFORE having been executed before it. */
static unsigned goes_on(const struct program *p, struct trod_gen *r, unsigned at, unsigned before)
{
    const bool may =
        p->mips ? before != SLOTS && before + 1 == at && p->branch[before] : p->branch[at];
    unsigned to = (unsigned)gen_below(r, SLOTS);

    if (at + 1 < SLOTS &&
        ((p->mips && p->branch[at]) || (!(may && gen_below(r, 3)) && gen_below(r, 40))))
        return at + 1;
    if (at && gen_below(r, 4))
        to = at - (unsigned)gen_below(r, at < 5 ? at + 1 : 5);
    return place(p, to);
}

static void make(struct program *p, struct trod_gen *r, bool mips)
{
    *p = (struct program){.mips = mips};
    for (unsigned i = 0; i < SLOTS; i++) /* branches have a delay slot, which is none */
        p->branch[i] =
            gen_below(r, 3) == 0 && !(mips && (i + 1 == SLOTS || (i && p->branch[i - 1])));
    for (unsigned f = 0; f < FILES; f++) {
        unsigned at[CPUS], before[CPUS], cpu = 0;

        for (unsigned i = 0; i < CPUS; i++) {
            at[i] = place(p, (unsigned)gen_below(r, SLOTS));
            before[i] = SLOTS;
        }
        p->n[f] = 1 + (unsigned)gen_below(r, STEPS);
        for (unsigned i = 0; i < p->n[f]; i++) {
            const unsigned here = at[cpu];

            p->cpu[f][i] = cpu;
            p->slot[f][i] = here;
            at[cpu] = goes_on(p, r, here, before[cpu]);
            before[cpu] = here;
            if (gen_below(r, 12) == 0)
                cpu = (unsigned)gen_below(r, CPUS);
        }
    }
}

static void put(const struct program *p, unsigned f, char path[ROOM])
{
    static const char *const a64[] = {"d503201f", "54ffffe1"}, *const mips[] = {"00000000",
                                                                                "1500fffc"};
    FILE *out;
    int fd;

    snprintf(path, ROOM, "program-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    out = fdopen(fd, "w");
    assert_non_null(out);
    for (unsigned i = 0; i < p->n[f]; i++) {
        const unsigned pc = BASE + 4 * p->slot[f][i], cpu = p->cpu[f][i];
        const bool branch = p->branch[p->slot[f][i]];

        if (p->mips)
            fprintf(out, "%u clk %u IT (%u) %08x %s A svc : x\n", i + 1, cpu, i + 1, pc,
                    mips[branch]);
        else
            fprintf(out, "%u clk cpu%u IT (%u) %08x:%012x_NS %s O EL1h_n : X\n", i + 1, cpu, i + 1,
                    pc, pc, a64[branch]);
        if (i % 5 == 0 && !p->mips)
            fprintf(out, "%u clk cpu%u MR8 %08x:%012x_NS 00000000_00000000\n", i + 1, cpu, 4 * i,
                    4 * i);
    }
    assert_int_equal(fclose(out), 0);
}

/* ---- the slow way */

struct loop {
    bool is;
    uint64_t entries, iterations, least, most;
};

static void entered(struct loop *l, uint64_t trips)
{
    if (trips == 0)
        return;
    l->least = l->entries == 0 || trips < l->least ? trips : l->least;
    l->most = trips > l->most ? trips : l->most;
    l->entries++;
}

/* Does what CPU executed last before step I of file F, LAST, lead back to step I? */
static bool leads_back(const struct program *p, unsigned f, unsigned i, const unsigned last[2])
{
    const unsigned to = p->slot[f][i];
    unsigned branch = last[0];

    if (last[0] == SLOTS || to == last[0] + 1 || to > last[0])
        return false;
    if (p->mips) {
        branch = last[1];
        if (branch == SLOTS || branch + 1 != last[0])
            return false;
    }
    return p->branch[branch];
}

static void follow(const struct program *p, unsigned f, unsigned cpu, bool heads,
                   struct loop loop[SLOTS])
{
    uint64_t trips[SLOTS] = {0};
    unsigned last[2] = {SLOTS, SLOTS};

    for (unsigned i = 0; i < p->n[f]; i++) {
        const unsigned at = p->slot[f][i];
        struct loop *l = &loop[at];
        bool back;

        if (p->cpu[f][i] != cpu)
            continue;
        back = leads_back(p, f, i, last);
        last[1] = last[0];
        last[0] = at;
        if (heads) {
            l->is |= back;
            continue;
        }
        l->iterations++;
        if (!back) {
            entered(l, trips[at]);
            trips[at] = 1;
        } else if (trips[at]) { /* else it was entered before the trace */
            trips[at]++;
        }
    }
    for (unsigned k = 0; k < SLOTS && !heads; k++)
        entered(&loop[k], trips[k]);
}

static uint64_t cell(const struct trod_node *t, size_t row, const char *column)
{
    const struct trod_value *v =
        &t->cells[row * t->n_columns + (size_t)trod_result_column(t, column)];

    return v->type == TROD_RESULT_ABSENT ? 0 : v->is.u64;
}

static void check_loops(const struct program *p, unsigned files, const struct trod_result *r)
{
    const struct trod_node *t = trod_result_find(r, "hot_loops");
    struct loop loop[SLOTS] = {{false}};
    size_t n = 0;

    for (int pass = 0; pass < 2; pass++)
        for (unsigned f = 0; f < files; f++)
            for (unsigned cpu = 0; cpu < CPUS; cpu++)
                follow(p, f, cpu, pass == 0, loop);
    for (unsigned i = 0; i < SLOTS; i++)
        n += loop[i].is;
    assert_int_equal(t ? t->n_rows : 0, n);
    for (size_t i = 0; i < n; i++) {
        const struct loop *l = &loop[(cell(t, i, "head") - BASE) / 4];

        assert_true(l->is);
        assert_int_equal(cell(t, i, "iterations"), l->iterations);
        assert_int_equal(cell(t, i, "entries"), l->entries);
        assert_int_equal(cell(t, i, "least_trips"), l->least);
        assert_int_equal(cell(t, i, "most_trips"), l->most);
    }
}

/* ---- runs */

/* What NAME, the analysis of RUN, has found; of `hot` that its loops are those of P. */
static char *printed(const char *name, const struct trod_run *run, const struct program *p,
                     unsigned files)
{
    struct trod_result *r;

    assert_int_equal(trod_result_new(&r), TROD_OK);
    assert_int_equal(trod_run_result(run, 0, r), TROD_OK);
    if (strcmp(name, "hot") == 0)
        check_loops(p, files, r);
    trod_result_free(r);
    return test_found(run, 1);
}

static struct trod_run *open_run(const char *name, const char *const *paths, unsigned files,
                                 const struct program *p, struct trod_run_options opt,
                                 void *options)
{
    const struct trod_analysis *a = trod_analysis_find(name, strlen(name));
    struct trod_run *run;
    size_t top = 0;

    memcpy(options, a->defaults, a->options_size);
    while (strcmp(a->options[top].name, "top") != 0)
        top++;
    memset((char *)options + a->options[top].offset, 0, sizeof(uint64_t)); /* all rows */
    opt.trace.from = p->mips ? "matcher:isa=mips32" : "tarmac";
    assert_int_equal(trod_run_open(&run, paths, files, &opt, NULL), TROD_OK);
    assert_int_equal(trod_run_add(run, a, options), 0);
    return run;
}

/* What a state is saved as is what is saved of it once it was loaded. */
static void check_saved(const char *name, const struct trod_run *run)
{
    const struct trod_analysis *a = trod_analysis_find(name, strlen(name));
    struct trod_buf once = {0}, again = {0};
    uint32_t sites[4 * SLOTS];
    void *st = calloc(1, a->state_size);

    for (uint32_t i = 0; i < 4 * SLOTS; i++)
        sites[i] = i;
    assert_non_null(st);
    assert_int_equal(a->save(trod_run_state(run, 0), &once), TROD_OK);
    assert_int_equal(a->load(st, (struct trod_span){.p = once.p, .n = once.n, .last = true}, sites),
                     TROD_OK);
    assert_int_equal(a->save(st, &again), TROD_OK);
    assert_int_equal(once.n, again.n);
    assert_memory_equal(once.p, again.p, once.n);
    for (size_t n = 0; n < once.n; n++) { /* cut short it is none */
        a->fini(st);
        memset(st, 0, a->state_size);
        assert_int_equal(a->load(st, (struct trod_span){.p = once.p, .n = n, .last = true}, sites),
                         TROD_ERR_CORRUPT);
    }
    a->fini(st);
    free(st);
    trod_buf_fini(&once);
    trod_buf_fini(&again);
}

/* Parts of N processes, saved and merged. */
static char *shared_out(const char *name, const char *const *paths, unsigned files,
                        const struct program *p, unsigned n, uint64_t piece, bool by_thread,
                        void *options)
{
    const struct trod_run_options whole = {.jobs = 1, .by_stream = by_thread};
    struct trod_run *all = open_run(name, paths, files, p, whole, options);
    char *text;

    for (unsigned i = 0; i < n; i++) {
        const struct trod_run_options opt = {
            .jobs = 1 + i % 3, .piece = piece, .part = i, .parts = n, .by_stream = by_thread};
        struct trod_run *run = open_run(name, paths, files, p, opt, options);

        assert_int_equal(trod_run_go(run), TROD_OK);
        if (i == n / 2 && !by_thread && strcmp(name, "hot") == 0)
            check_saved(name, run);
        test_merge_part(all, run);
        trod_run_free(run);
    }
    text = printed(name, all, p, files);
    trod_run_free(all);
    return text;
}

static char *gone(const char *name, const char *const *paths, unsigned files,
                  const struct program *p, struct trod_run_options opt, void *options)
{
    struct trod_run *run = open_run(name, paths, files, p, opt, options);
    char *text;

    assert_int_equal(trod_run_go(run), TROD_OK);
    text = printed(name, run, p, files);
    trod_run_free(run);
    return text;
}

static void all_ways(const char *name, const char *const *paths, unsigned files,
                     const struct program *p, bool by_thread)
{
    static const uint64_t pieces[] = {40, 300, 2000};
    void *options = calloc(1, trod_analysis_find(name, strlen(name))->options_size);
    const struct trod_run_options one = {.jobs = 1, .by_stream = by_thread};
    char *want = gone(name, paths, files, p, one, options), *got;

    for (unsigned i = 0; i < 3; i++) {
        const struct trod_run_options opt = {
            .jobs = 2 + i, .piece = pieces[i], .by_stream = by_thread};

        got = gone(name, paths, files, p, opt, options);
        assert_string_equal(want, got);
        free(got);
        got = shared_out(name, paths, files, p, 2 + i, pieces[i], by_thread, options);
        assert_string_equal(want, got);
        free(got);
    }
    free(want);
    free(options);
}

static void test_programs(void **state)
{
    static struct program p;
    char path[FILES][ROOM];
    const char *const paths[] = {path[0], path[1]};

    (void)state;
    for (unsigned i = 0; i < test_fewer(PROGRAMS, 2); i++) {
        struct trod_gen r = gen_seed(i + 1);

        make(&p, &r, i % 2);
        for (unsigned f = 0; f < FILES; f++)
            put(&p, f, path[f]);
        all_ways("hot", paths, 1, &p, false);
        all_ways("hot", paths, FILES, &p, false);
        all_ways("hot", paths, FILES, &p, true);
        all_ways("branches", paths, 1, &p, false);
        all_ways("branches", paths, FILES, &p, false);
        for (unsigned f = 0; f < FILES; f++)
            unlink(path[f]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
