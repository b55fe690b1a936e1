/*
 * test_detect.c - which format is this? (docs/design.md, "Detection")
 *
 * Every golden file against every driver, in the drivers' order and in shuffled ones: the right
 * format leads by TROD_BID_LEAD bits or the answer is "ambiguous", names it and the option that
 * settles it. Files cut short are never taken for another format. What is no trace is not taken for
 * one: tests/golden/negative/ holds texts, negative.c makes binary data.
 */
#include "fewer.h"
#include "negative.h"
#include "prop.h"

#include <strings.h>

enum { FORMATS_MAX = 64, SHUFFLES = 20, CUTS = 120, HEAD = 1 << 16 };

/* What detection said last. */
struct said {
    char text[1200];
};

static void sink(void *user, const struct trod_problem *p)
{
    struct said *s = user;

    snprintf(s->text, sizeof s->text, "%s", p->message);
}

static int detect(const void *p, size_t n, const char *path, const struct trod_format *const *list,
                  size_t formats, struct trod_candidate *best, struct said *said)
{
    const struct trod_probe probe = {{p, n < HEAD ? n : HEAD, 0, n <= HEAD}, n, path};
    struct trod_diag diag;

    said->text[0] = '\0';
    trod_diag_init(&diag, sink, said);
    *best = (struct trod_candidate){0};
    return trod_detect(&probe, list, formats, best, &diag);
}

/* A few records of a format without magic number or text are no evidence. */
static bool little_evidence(const struct golden *g)
{
    return !(g->format->flags & (TROD_FMT_MAGIC | TROD_FMT_TEXT)) && g->data.n < 4096;
}

static void right_one_leads(const struct golden *g)
{
    struct trod_candidate best;
    struct said said;
    int rc = detect(g->data.p, g->data.n, "trace", NULL, 0, &best, &said);

    if (rc == TROD_ERR_AMBIGUOUS) {
        prop_true(strstr(said.text, g->format->name) && strstr(said.text, "--from"), g,
                  "ambiguous without naming the format and --from", 0);
        return;
    }
    if (rc == TROD_ERR_UNKNOWN && (g->damaged || little_evidence(g)))
        return;
    /* other data looks the same: then it says so */
    if (rc == TROD_ERR_UNKNOWN && strstr(said.text, g->format->name) && strstr(said.text, "--from"))
        return;
    prop_true(rc == TROD_OK, g, "not recognised: status", (uint64_t)-rc);
    if (best.format != g->format)
        fail_msg("%s: taken for %s with %d bits", g->name, best.format->name, best.bits);
    for (size_t i = 0; trod_format_at(i); i++) {
        const struct trod_probe probe = {
            {g->data.p, g->data.n < HEAD ? g->data.n : HEAD, 0, g->data.n <= HEAD},
            g->data.n,
            "trace"};
        const char *dialect = NULL;
        int bits = trod_format_at(i)->bid ? trod_format_at(i)->bid(&probe, &dialect) : 0;

        if (trod_format_at(i) != g->format && bits > best.bits - TROD_BID_LEAD)
            fail_msg("%s: %s bids %d against %d", g->name, trod_format_at(i)->name, bits,
                     best.bits);
    }
}

static void test_golden(void **state)
{
    (void)state;
    golden_each(0, right_one_leads);
}

/* Of each format some golden file is recognised, its name helping where nothing else can. */
static void test_each_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; trod_format_at(i); i++) {
        struct golden_list l = golden_of(trod_format_at(i), 0);
        bool known = l.n == 0;

        for (size_t k = 0; k < l.n && !known; k++) {
            struct trod_candidate best;
            struct said said;

            known = detect(l.item[k].data.p, l.item[k].data.n, l.item[k].name, NULL, 0, &best,
                           &said) == TROD_OK &&
                    best.format == trod_format_at(i);
        }
        if (!known)
            fail_msg("no golden file of %s is recognised", trod_format_at(i)->name);
        golden_free(&l);
    }
}

/* The same answer, with the suffix that settles ties, in every order of the drivers. */
static void any_order(const struct golden *g)
{
    struct trod_gen r = gen_seed(g->data.n);
    struct trod_candidate best, again;
    struct said said;
    int rc = detect(g->data.p, g->data.n, g->name, NULL, 0, &best, &said);

    for (size_t i = 0; i < test_fewer(SHUFFLES, 2); i++) {
        const struct trod_format *list[FORMATS_MAX];
        size_t n = 0;

        for (; n < FORMATS_MAX && trod_format_at(n); n++) {
            size_t k = gen_below(&r, n + 1);

            list[n] = list[k];
            list[k] = trod_format_at(n);
        }
        prop_true(detect(g->data.p, g->data.n, g->name, list, n, &again, &said) == rc &&
                      again.format == best.format && again.bits == best.bits,
                  g, "the order of drivers matters", (uint64_t)i);
    }
}

static void test_any_order(void **state)
{
    (void)state;
    golden_each(0, any_order);
}

/* Whether the dialect names G's format as the other one that it may be: "TT6 (or TT6E)". */
static bool owns_up(const struct trod_candidate *best, const struct golden *g)
{
    const char * or = best->dialect ? strstr(best->dialect, "(or ") : NULL;
    size_t n = strlen(g->format->name);

    return or &&strncasecmp(or +4, g->format->name, n) == 0 && or [4 + n] == ')';
}

/* Cut short, and from the middle on: unknown, ambiguous or right, never wrong. */
static void cut_short(const struct golden *g)
{
    struct trod_gen r = gen_seed(g->data.n + 1);
    struct trod_candidate best;
    struct said said;

    for (size_t i = 0; i < 2 * CUTS; i += test_step()) {
        size_t n = i < CUTS ? i * 3 : gen_below(&r, g->data.n + 1);

        if (n <= g->data.n && detect(g->data.p, n, "trace", NULL, 0, &best, &said) == TROD_OK &&
            best.format != g->format && !owns_up(&best, g))
            fail_msg("%s, first %zu bytes: taken for %s with %d bits", g->name, n,
                     best.format->name, best.bits);
    }
}

static void test_cut_short(void **state)
{
    (void)state;
    golden_each(0, cut_short);
}

static void expect_nothing(const char *name, const void *p, size_t n)
{
    struct trod_candidate best;
    struct said said;
    int rc = detect(p, n, name, NULL, 0, &best, &said);

    if (rc == TROD_OK)
        fail_msg("%s (%zu bytes): taken for %s with %d bits", name, n, best.format->name,
                 best.bits);
    if (rc == TROD_ERR_AMBIGUOUS)
        fail_msg("%s (%zu bytes): %s", name, n, said.text);
    assert_int_equal(rc, TROD_ERR_UNKNOWN);
}

static void test_negative_texts(void **state)
{
    char *dir = test_path(test_source_dir(), "tests/golden/negative");
    struct test_list l = test_files(dir);

    (void)state;
    assert_true(l.n > 20);
    for (size_t i = 0; i < l.n; i++) {
        char *path = test_path(dir, l.name[i]);
        struct trod_buf b = test_load(path);

        expect_nothing(l.name[i], b.p, b.n);
        for (size_t n = 1; n < b.n; n = n * 3 / 2 + 1)
            expect_nothing(l.name[i], b.p, n);
        trod_buf_fini(&b);
        free(path);
    }
    test_list_free(&l);
    free(dir);
}

static void test_negative_binary(void **state)
{
    struct trod_buf b = {0};
    const char *name;

    (void)state;
    for (size_t i = 0; (name = negative_make(i, &b)); i++) {
        static const size_t sizes[] = {1, 6, 12, 40, 64, 96, 120, 600, 1200, 6000, 12000};

        expect_nothing(name, b.p, b.n);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            if (sizes[k] < b.n)
                expect_nothing(name, b.p, sizes[k]);
    }
    trod_buf_fini(&b);
}

static void test_nothing_at_all(void **state)
{
    (void)state;
    expect_nothing("empty", "", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),         cmocka_unit_test(test_each_is_known),
        cmocka_unit_test(test_any_order),      cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_negative_texts), cmocka_unit_test(test_negative_binary),
        cmocka_unit_test(test_nothing_at_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
