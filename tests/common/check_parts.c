/*
 * check_parts.c - see checking.h: traces that break rules at random are checked in parts and in one
 * go.
 *
 * A trace is a long one of bad and good traces, one behind the other as they are drawn, with rows
 * of a program between them. What one pass over all of it finds is what must be found of parts,
 * whose cuts lie anywhere, byte for byte.
 */
#include "checking.h"

#include "ran.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tells whether rows of later parts were fed and merged. */
static int watch_init(void *st, const void *opt, const struct trod_context *c)
{
    (void)st;
    (void)opt;
    (void)c;
    return TROD_OK;
}

static int watch_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    (void)from;
    (void)to;
    *(bool *)st |= b->meta->part != 0;
    return TROD_OK;
}

static int watch_merge(void *into, const void *from)
{
    *(bool *)into |= *(const bool *)from;
    return TROD_OK;
}

static int watch_result(const void *st, struct trod_result *r)
{
    (void)st;
    (void)r;
    return TROD_OK;
}

static const struct trod_analysis watch = {
    .name = "watch",
    .title = "whether there are parts",
    .state_size = sizeof(bool),
    .needs = TROD_COL_KIND,
    .init = watch_init,
    .feed = watch_feed,
    .merge = watch_merge,
    .result = watch_result,
};

static void note(void *user, const struct trod_problem *p)
{
    if (trod_buf_printf(user, "%s %llu %llu: %s\n", p->kind, (unsigned long long)p->at.offset,
                        (unsigned long long)p->at.line, p->message) < 0)
        test_die("no memory");
}

/* What `check` finds in the file at PATH, as text, to be freed. *PARTED: of parts. */
static char *findings(const char *path, const char *from, const struct trod_check_options *check,
                      unsigned jobs, uint64_t piece, bool *parted)
{
    const struct trod_run_options opt = {.jobs = jobs, .piece = piece, .trace = {.from = from}};
    const struct trod_analysis *a = trod_analysis_find("check", 5);
    struct trod_buf text = {0};
    struct trod_diag diag;
    struct trod_run *run;
    char *found;
    int rc;

    trod_diag_init(&diag, note, &text);
    if (trod_run_open(&run, &path, 1, &opt, &diag) < 0 || trod_run_add(run, a, check) < 0 ||
        trod_run_add(run, &watch, NULL) < 0)
        test_die("cannot begin to check");
    rc = trod_run_go(run);
    found = test_found(run, 1);
    *parted = *(const bool *)trod_run_state(run, 1);
    if (trod_buf_printf(&text, "ends with %d\n%s", rc, found) < 0 || trod_buf_add(&text, "", 1) < 0)
        test_die("no memory");
    free(found);
    trod_run_free(run);
    return (char *)text.p;
}

/* Is PAIR's rule one of those that OPT leaves out? */
static bool left_out(const struct check_parts *opt, const struct check_pair *pair)
{
    for (size_t i = 0; i < CHECK_LEFT_OUT && opt->leave_out[i]; i++)
        if (strcmp(pair->rule, opt->leave_out[i]) == 0)
            return true;
    return false;
}

static void put(struct trod_buf *out, const struct check_data *d)
{
    struct trod_buf some = check_bytes(d);

    if (trod_buf_add(out, some.p, some.n) < 0)
        test_die("no memory");
    trod_buf_fini(&some);
}

/* A random trace, which begins with the first good one. */
static void draw(struct trod_gen *g, const struct check_parts *opt, struct trod_buf *out)
{
    size_t first = 0;

    while (strcmp(opt->pairs[first].from, opt->from) != 0)
        first++;
    put(out, &opt->pairs[first].good);
    while (out->n < opt->bytes) {
        const struct check_pair *p = &opt->pairs[gen_below(g, opt->n)];

        if (opt->filler && gen_below(g, 4) < opt->filling)
            opt->filler(g, out);
        if (strcmp(p->from, opt->from) == 0 && !left_out(opt, p))
            put(out, gen_once_in(g, 2) ? &p->good : &p->bad);
    }
}

unsigned check_parted(const char *from, const struct trod_buf *trace,
                      const struct trod_check_options *check, unsigned *parted)
{
    static const unsigned jobs[] = {2, 3, 5, 2};
    const uint64_t pieces[] = {3000, trace->n / 12, trace->n / 6, trace->n / 3};
    char path[] = "check_parts.XXXXXX";
    const int fd = mkstemp(path);
    unsigned wrong = 0;
    char *want;
    bool any;

    if (fd < 0 || write(fd, trace->p, trace->n) != (ssize_t)trace->n)
        test_die("no trace");
    close(fd);
    want = findings(path, from, check, 1, 0, &any);
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char *got = findings(path, from, check, jobs[i], pieces[i], &any);

        *parted += any;
        if (strcmp(want, got) != 0) {
            fprintf(stderr, "%s, %u threads, pieces of %llu: in one go\n%s\nin parts\n%s\n", from,
                    jobs[i], (unsigned long long)pieces[i], want, got);
            wrong++;
        }
        free(got);
    }
    free(want);
    unlink(path);
    return wrong;
}

static unsigned round_of(const struct check_parts *opt, uint64_t seed, unsigned *parted)
{
    struct trod_gen g = gen_seed(seed);
    const struct trod_check_options check = {.struct_size = sizeof check,
                                             .keep = gen_once_in(&g, 2) ? 3 : 1 << 20};
    struct trod_buf trace = {0};
    unsigned wrong;

    draw(&g, opt, &trace);
    wrong = check_parted(opt->from, &trace, &check, parted);
    if (wrong)
        fprintf(stderr, "%s: seed %llu\n", opt->from, (unsigned long long)seed);
    trod_buf_fini(&trace);
    return wrong;
}

unsigned check_in_parts(const struct check_parts *opt, unsigned rounds)
{
    unsigned wrong = 0, parted = 0;

    for (unsigned i = 0; i < rounds; i++)
        wrong += round_of(opt, opt->seed + i, &parted);
    if (parted || opt->whole_too)
        return wrong;
    fprintf(stderr, "%s: nothing was read in parts\n", opt->from);
    return wrong + 1;
}
