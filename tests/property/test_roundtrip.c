/*
 * test_roundtrip.c - encoding and decoding are each other's inverse.
 *
 * Rows of a golden file, encoded without copying a byte and decoded again, are the same rows
 * (columns that the format writes); what was encoded encodes to itself; a file in canonical style
 * (see golden.h) is given back byte for byte. The same for random rows.
 */
#include "prop.h"

enum { GENERATED = 12 };

static struct trod_buf recode(const struct golden *g, const struct trod_buf *data)
{
    const struct test_input in = {.format = g->format, .p = data->p, .n = data->n};
    struct trod_buf out = {0};
    uint64_t lost;
    int rc = test_recode(&in, g->format, NULL, &out, &lost);

    prop_true(rc == TROD_OK, g, "not encoded: status", (uint64_t)-rc);
    prop_true(lost == 0, g, "the format does not hold its own rows; problems", lost);
    return out;
}

static void rows_survive(const struct golden *g)
{
    const struct trod_format *f = g->format;
    /* where the bytes are and how they were put is not what a row says */
    const struct test_how how = {.mask = f->reads & f->writes & ~(uint32_t)TROD_COL_RAW};
    struct test_input in = prop_input(g), again = in;
    struct test_rows a, b;
    struct trod_buf once;

    if (!f->begin)
        return;
    once = recode(g, &g->data);
    again.p = once.p;
    again.n = once.n;
    a = test_decode(&in, &how);
    b = test_decode(&again, &how);
    a.stop = b.stop = 0; /* lengths may differ */
    if (g->damaged)
        a.rc = b.rc = 0;
    if (!test_rows_equal(&a, 0, &b)) {
        test_same(&in, &how, 0, &again, &how, g->name);
        prop_true(false, g, "rows do not survive encoding; rows", a.n);
    }
    test_rows_free(&a);
    test_rows_free(&b);
    trod_buf_fini(&once);
}

static void same_bytes(const struct golden *g, const struct trod_buf *a, const struct trod_buf *b,
                       const char *what)
{
    size_t i = 0;

    while (i < a->n && i < b->n && a->p[i] == b->p[i])
        i++;
    prop_true(i == a->n && i == b->n, g, what, i);
}

static void bytes_settle(const struct golden *g)
{
    struct trod_buf once, twice;

    if (!g->format->begin)
        return;
    once = recode(g, &g->data);
    twice = recode(g, &once);
    same_bytes(g, &once, &twice, "what was encoded encodes to something else, from offset");
    if (g->canonical)
        same_bytes(g, &g->data, &once, "a canonical file is not given back, from offset");
    trod_buf_fini(&once);
    trod_buf_fini(&twice);
}

/* Is all behind byte END of G what ends every file of the format, also one without rows? */
static bool ends_there(const struct golden *g, uint64_t end)
{
    const struct trod_buf nothing = {0};
    struct trod_buf last = recode(g, &nothing);
    const bool same = last.n == g->data.n - end && memcmp(last.p, g->data.p + end, last.n) == 0;

    trod_buf_fini(&last);
    return same;
}

/* The records of a canonical file, one after the other, are the file: what a copy is made of. */
static void records_cover(const struct golden *g)
{
    const struct test_how how = {0};
    const struct test_input in = prop_input(g);
    struct test_rows rows;
    uint64_t end = 0;

    if (!g->format->verbatim || !g->canonical)
        return;
    rows = test_decode(&in, &how);
    for (size_t i = 0; i < rows.n; i++) {
        if (rows.len[i] == 0)
            continue; /* goes with the row before it */
        prop_true(rows.at[i] == end, g, "a record does not begin where the last one ends: row", i);
        end += rows.len[i];
    }
    prop_true(end == g->data.n || ends_there(g, end), g, "records end before the file, at", end);
    test_rows_free(&rows);
}

static void test_records_cover(void **state)
{
    (void)state;
    golden_each(0, records_cover);
}

/* Each format that can be written shows a file in canonical style. */
static void has_canonical(const struct trod_format *f)
{
    struct golden_list l = golden_of(f, 0);
    bool found = !f->begin;

    for (size_t i = 0; i < l.n; i++)
        found = found || l.item[i].canonical;
    if (!found)
        fail_msg("tests/golden/%s has no file with 'canonical' in its name", f->name);
    golden_free(&l);
}

static void test_rows_survive(void **state)
{
    (void)state;
    golden_each(GENERATED, rows_survive);
}

static void test_bytes_settle(void **state)
{
    (void)state;
    golden_each(GENERATED, bytes_settle);
}

static void test_has_canonical(void **state)
{
    (void)state;
    for (size_t i = 0; trod_format_at(i); i++)
        has_canonical(trod_format_at(i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_survive),
        cmocka_unit_test(test_bytes_settle),
        cmocka_unit_test(test_records_cover),
        cmocka_unit_test(test_has_canonical),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
