/*
 * test_want.c - what is wanted changes nothing but what is given.
 *
 * docs/design.md, "Rows": a driver may skip columns that nobody needs. Every column asked for
 * alone, and random sets of them: each row then says of the wanted columns just what it says when
 * all are wanted.
 */
#include "fewer.h"
#include "prop.h"

enum { SETS = 40, GENERATED = 4 };

static void same_columns(const struct golden *g, uint32_t want)
{
    const struct test_how all = {.mask = want}, some = {.want = want};
    const struct test_input in = prop_input(g);

    prop_true(test_same(&in, &all, 0, &in, &some, "wanted columns"), g, "wanted columns", want);
}

static void columns_alone(const struct golden *g)
{
    for (unsigned i = 0; i < TROD_COLUMNS; i++) {
        same_columns(g, 1u << i);
        same_columns(g, 1u << i | TROD_COL_KIND);
    }
}

static void column_sets(const struct golden *g)
{
    struct trod_gen r = gen_seed(g->data.n);

    for (size_t i = 0; i < test_fewer(SETS, 4); i++)
        same_columns(g, ((uint32_t)gen_u64(&r) & TROD_COL_ALL) | TROD_COL_KIND);
    same_columns(g, TROD_COL_ALL & ~(uint32_t)TROD_COL_RAW);
    same_columns(g, TROD_COL_KIND | TROD_COL_ADDR);
}

/* What a driver does not read it does not give, and what it reads some golden file shows. */
static void columns_promised(const struct trod_format *f)
{
    struct golden_list l = golden_of(f, 0);

    for (size_t i = 0; i < l.n; i++) {
        const struct test_input in = prop_input(&l.item[i]);
        const struct test_how how = {.mask = TROD_COL_ALL & ~f->reads & ~(uint32_t)TROD_COL_KIND};
        struct test_rows rows = test_decode_text(&in, &how);
        const char *p = (const char *)rows.text.p;

        for (size_t k = 0; k < rows.n; k++, p += 4)
            if (memcmp(p, "row\n", 4) != 0)
                fail_msg("%s: row %zu says what the format does not read: %.80s", l.item[i].name, k,
                         p);
        test_rows_free(&rows);
    }
    golden_free(&l);
}

/* Records are only of the kinds that the format says it has. */
static void kinds_promised(const struct golden *g)
{
    const struct test_input in = prop_input(g);
    const struct test_how how = {.mask = TROD_COL_KIND, .resume = true};
    struct test_rows rows = test_decode_text(&in, &how);
    const char *p = (const char *)rows.text.p;

    for (size_t k = 0; g->format->kinds && k < rows.n; k++) {
        size_t n = strcspn(p, " \n");
        int kind = trod_kind_find(p, n);

        if (kind < 0 || !(g->format->kinds >> kind & 1))
            fail_msg("%s: row %zu is %.*s, which the format does not have", g->name, k, (int)n, p);
        p += strcspn(p, "\n") + 1;
    }
    test_rows_free(&rows);
}

static void test_columns_alone(void **state)
{
    (void)state;
    golden_each(GENERATED, columns_alone);
}

static void test_column_sets(void **state)
{
    (void)state;
    golden_each(GENERATED, column_sets);
}

static void test_columns_promised(void **state)
{
    (void)state;
    for (size_t i = 0; trod_format_at(i); i++)
        columns_promised(trod_format_at(i));
}

static void test_kinds_promised(void **state)
{
    (void)state;
    golden_each(GENERATED, kinds_promised);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_alone),
        cmocka_unit_test(test_column_sets),
        cmocka_unit_test(test_columns_promised),
        cmocka_unit_test(test_kinds_promised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
