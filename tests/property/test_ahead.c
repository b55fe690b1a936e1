/*
 * test_ahead.c - a thread that decodes ahead changes nothing that the caller sees.
 *
 * trod/trace.h, ahead. Every golden file, whole and damaged, once and six times over, in batches of
 * few bytes: rows, what the meta says, problems and when they are told, whether the caller reads to
 * the end or stops before, keeps batches, follows
 * some slices only, or looks at windows, and in orders of several files.
 */
#include "prop.h"

#include "trod/buf.h"
#include "trod/trace.h"

#include <unistd.h>

#if defined __SANITIZE_THREAD__ /* which is slow: other builds try more */
enum { GENERATED = 1, DAMAGES = 1 };
#else
enum { GENERATED = 2, DAMAGES = 2 };
#endif

enum { KEPT = 16, WINDOW = 200, FILES = 6 };

static const uint32_t every = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE;
static const uint32_t slices =
    TROD_COL_CODE | TROD_COL_DATA | TROD_COL_TEXT | TROD_COL_DETAIL | TROD_COL_RAW;

struct how {
    bool ahead;
    uint64_t stop; /* batches after which the caller stops; 0: at the end */
    bool keep;     /* every third batch */
    bool strict;   /* the first error ends it */
    bool windows;  /* batches have their window */
    enum trod_order order;
    uint32_t followed; /* columns; 0: all */
};

static void note(void *user, const struct trod_problem *p)
{
    const struct trod_place *at = &p->at;

    if (trod_buf_printf(user, "%s %s %llu %llu %llu %.*s: %s\n", p->kind, at->path ? at->path : "-",
                        (unsigned long long)at->offset, (unsigned long long)at->line,
                        (unsigned long long)at->record, at->text ? (int)at->text_len : 0,
                        at->text ? (const char *)at->text : "", p->message) < 0)
        test_die("out of memory");
}

/* What the caller sees of batch B of T. */
static void see(struct trod_buf *seen, const struct trod_trace *t, const struct trod_batch *b,
                uint32_t mask, const struct trod_diag *d)
{
    const struct trod_meta *m = trod_trace_meta(t);

    assert_ptr_equal(b->meta, m);
    assert_int_equal(trod_buf_printf(seen, "%llu: %u rows, file %u, isa %u, %u streams, %llu %s\n",
                                     (unsigned long long)b->first, b->n, m->file, m->isa,
                                     m->n_streams, (unsigned long long)d->errors,
                                     d->path ? d->path : "-"),
                     TROD_OK);
    for (uint32_t i = 0; i < b->n; i++)
        assert_int_equal(
            trod_buf_printf(seen, "%llx\n", (unsigned long long)test_row_hash(b, i, mask)),
            TROD_OK);
}

struct kept {
    struct trod_batch *b[KEPT];
    uint64_t hash[KEPT];
    size_t n;
};

static uint64_t hash_of(const struct trod_batch *b)
{
    /* what lies in the window is not the caller's */
    const uint32_t mask = every & ~(slices | TROD_COL_STREAM | TROD_COL_UNIT);
    uint64_t h = b->n;

    for (uint32_t i = 0; i < b->n; i++)
        h = h * 31 + test_row_hash(b, i, mask);
    return h;
}

static void keep(struct kept *k, struct trod_trace *t, struct trod_batch *b)
{
    if (k->n == KEPT || trod_trace_take(t, NULL) < 0)
        return;
    k->b[k->n] = b;
    k->hash[k->n++] = hash_of(b);
}

static void kept_end(struct kept *k)
{
    for (size_t i = 0; i < k->n; i++) {
        assert_int_equal(hash_of(k->b[i]), k->hash[i]);
        trod_batch_free(k->b[i]);
    }
}

/* Runs, and batches of the longest: a test of short ones shows nothing. */
static size_t threaded;
static uint64_t batches_most;

/* All that is seen of the N files at PATHS, read as HOW says. */
static char *look(const struct golden *g, const char *const *paths, size_t n, const struct how *how)
{
    const struct trod_trace_options opt = {
        .from = g->format->name,
        .order = how->order,
        .input = {.window = WINDOW, .no_thread = true}, /* so that there are many batches */
        .ahead = how->ahead};
    struct trod_buf seen = {0};
    struct kept kept = {.n = 0};
    struct trod_diag d;
    struct trod_trace *t;
    uint64_t batches = 0;
    int rc;

    trod_diag_init(&d, note, &seen);
    d.strict = how->strict;
    if ((rc = trod_trace_open(&t, paths, n, &opt, &d)) == TROD_OK) {
        struct trod_batch *b;
        uint32_t mask = how->followed ? every & ~(slices & ~how->followed) : every;

        trod_trace_want(t, every);
        if (how->windows)
            trod_trace_windows(t);
        if (how->followed)
            trod_trace_slices(t, how->followed);
        while ((how->stop == 0 || batches < how->stop) && (rc = trod_trace_next(t, &b)) == 1) {
            see(&seen, t, b, mask, &d);
            if (++batches % 3 == 0 && how->keep)
                keep(&kept, t, b);
        }
        assert_int_equal(trod_buf_printf(&seen, "%u streams\n", trod_trace_meta(t)->n_streams),
                         TROD_OK);
        kept_end(&kept);
        if (batches > batches_most)
            batches_most = batches;
        trod_trace_close(t);
    }
    trod_diag_summary(&d);
    assert_int_equal(trod_buf_printf(&seen,
                                     "ends with %d, %llu errors, %llu warnings, worst %d, "
                                     "path %s\n",
                                     rc, (unsigned long long)d.errors,
                                     (unsigned long long)d.warnings, d.worst,
                                     d.path ? d.path : "-"),
                     TROD_OK);
    assert_int_equal(trod_buf_add(&seen, "", 1), TROD_OK);
    return (char *)seen.p;
}

static void alike(const struct golden *g, const char *const *paths, size_t n, struct how how)
{
    char *want, *got;

    how.ahead = false;
    want = look(g, paths, n, &how);
    how.ahead = true;
    got = look(g, paths, n, &how);
    if (strcmp(want, got) != 0)
        fprintf(stderr, "alone:\n%s\nahead:\n%s\n", want, got);
    prop_true(strcmp(want, got) == 0, g, "a thread ahead changes what is seen", how.stop);
    free(want);
    free(got);
    threaded++;
}

static void all_ways(const struct golden *g, const uint8_t *p, size_t n, uint64_t seed)
{
    char path[GOLDEN_PATH], other[GOLDEN_PATH + 2];
    const char *paths[FILES] = {path, other, path, other, path, other};
    struct trod_gen r = gen_seed(seed);

    golden_write(g, p, n, path);
    snprintf(other, sizeof other, "%s.b", path);
    assert_int_equal(link(path, other), 0);
    alike(g, paths, 1, (struct how){.followed = 0});
    alike(g, paths, FILES, (struct how){.keep = true});
    alike(g, paths, FILES, (struct how){.stop = 2 + gen_below(&r, 12)});
    alike(g, paths, 1, (struct how){.followed = TROD_COL_CODE | TROD_COL_DATA});
    alike(g, paths, FILES, (struct how){.strict = true});
    alike(g, paths, 1, (struct how){.windows = true});
    alike(g, paths, FILES, (struct how){.windows = true, .keep = true});
    alike(g, paths, FILES, (struct how){.order = TROD_ORDER_TIME, .stop = gen_below(&r, 30)});
    alike(g, paths, FILES, (struct how){.order = TROD_ORDER_SYNC, .strict = true});
    unlink(other);
    unlink(path);
}

static void ahead(const struct golden *g)
{
    struct trod_gen r = gen_seed(g->data.n + 5);
    uint8_t *bad;

    if (g->data.n == 0 || !g->format->suffixes || prop_alike(g->format))
        return;
    all_ways(g, g->data.p, g->data.n, g->data.n);
    bad = malloc(g->data.n);
    assert_non_null(bad);
    for (unsigned i = 0; i < DAMAGES; i++) {
        memcpy(bad, g->data.p, g->data.n);
        for (size_t k = 0; k < 1 + g->data.n / 200; k++)
            bad[gen_below(&r, g->data.n)] = (uint8_t)gen_raw(&r, 1);
        all_ways(g, bad, g->data.n - gen_below(&r, 1 + g->data.n / 50), i);
    }
    free(bad);
}

static void test_ahead(void **state)
{
    (void)state;
    golden_each(GENERATED, ahead);
    print_message("%zu runs, %llu batches at most\n", threaded, (unsigned long long)batches_most);
    assert_true(threaded > 100 && batches_most > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ahead)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
