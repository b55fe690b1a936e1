/*
 * test_resync.c - decoding from a resync point gives what serial decoding gives from there.
 *
 * format.h, resync: error recovery, threads and index points rest on it. From many offsets of every
 * golden file; and damage: after a stretch of junk in the middle, the rows before it and the rows
 * from the next resync point on are all there.
 */
#include "fewer.h"
#include "prop.h"

enum { OFFSETS = 300, GENERATED = 4 };

static size_t points; /* resync points found: a test without any shows nothing */

/* What does not depend on what came before: numbers given in order of first sight do. */
static const uint32_t steady = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE;

/* Row that begins at OFFSET, SIZE_MAX if none does. */
static size_t row_at(const struct test_rows *r, uint64_t offset)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->at[i] == offset)
            return i;
    return SIZE_MAX;
}

/* Where resync finds its way after offset FROM; SIZE_MAX: nowhere. */
static size_t resync_from(const struct golden *g, size_t from)
{
    const struct trod_format *f = g->format;
    struct trod_span head = {g->data.p, g->data.n, 0, true};
    void *dec = calloc(1, f->dec_size ? f->dec_size : 1), *opt = test_options(f, NULL);
    struct trod_meta meta;
    size_t at = SIZE_MAX;

    trod_meta_init(&meta);
    if (f->start(dec, opt, &head, &meta, NULL) == TROD_OK)
        at = f->resync(dec, g->data.p + from, g->data.n - from);
    if (f->stop)
        f->stop(dec);
    free(dec);
    free(opt);
    trod_meta_fini(&meta);
    prop_true(at == SIZE_MAX || at <= g->data.n - from, g, "resync points behind its bytes", from);
    return at == SIZE_MAX ? SIZE_MAX : from + at;
}

static void rows_from_points(const struct golden *g)
{
    struct trod_gen r = gen_seed(g->data.n);
    struct test_how how = {.mask = steady};
    struct test_input in = prop_input(g);
    struct trod_meta meta; /* streams are numbered by the first run, for all */
    struct test_rows base;

    if (!g->format->resync || g->data.n < 2)
        return;
    trod_meta_init(&meta);
    in.meta = &meta;
    base = test_decode(&in, &how);
    for (size_t i = 0; i < OFFSETS; i += test_step()) {
        size_t n = g->data.n, from = n <= OFFSETS ? 1 + i % (n - 1) : 1 + gen_below(&r, n - 1);
        size_t at = resync_from(g, from), row;
        struct test_input tail = in;

        if (at >= n)
            continue;
        points++;
        row = row_at(&base, at);
        if (row == SIZE_MAX && base.n && base.at[base.n - 1] != TROD_NOWHERE &&
            at > base.at[base.n - 1])
            row = base.n; /* only what is no row follows */
        if (row == SIZE_MAX) {
            /* a place between rows (a header, a line without meaning): the next row counts */
            for (row = 0; row < base.n && (base.at[row] == TROD_NOWHERE || base.at[row] < at);)
                row++;
        }
        tail.from = at;
        prop_true(test_same(&in, &how, row, &tail, &how, "rows from a resync point"), g,
                  "rows from a resync point differ", at);
    }
    test_rows_free(&base);
    trod_meta_fini(&meta);
}

static void test_rows_from_points(void **state)
{
    (void)state;
    golden_each(GENERATED, rows_from_points);
    for (size_t i = 0; trod_format_at(i); i++)
        if (trod_format_at(i)->resync)
            assert_true(points > 0);
}

/* Junk in the middle: rows before it are the same, and decoding comes to the end. */
static void junk_inside(const struct golden *g)
{
    const struct test_how how = {.mask = steady & ~(uint32_t)TROD_COL_RAW, .resume = true};
    struct trod_gen r = gen_seed(g->data.n + 5);
    struct test_input in = prop_input(g);
    struct test_rows base, got;
    struct trod_buf bad = {0};
    size_t at, row = 0, begin = 0; /* first row of the last record that begins before the junk */

    if (g->data.n < 64)
        return;
    at = g->data.n / 2;
    if (trod_buf_add(&bad, g->data.p, at) < 0)
        test_die("out of memory");
    for (int i = 0; i < 300; i++) {
        uint8_t c = (uint8_t)gen_raw(&r, 1);

        if (trod_buf_add(&bad, &c, 1) < 0)
            test_die("out of memory");
    }
    if (trod_buf_add(&bad, g->data.p + at, g->data.n - at) < 0)
        test_die("out of memory");
    const struct test_how serial = {.mask = steady};
    struct test_rows places = test_decode(&in, &serial);

    base = test_decode(&in, &how);
    for (size_t k = 0; k < places.n; k++)
        if (places.at[k] != TROD_NOWHERE && places.at[k] <= at) { /* as in test_cuts.c, prefixes */
            row = begin;
            begin = k;
        }
    in.p = bad.p;
    in.n = bad.n;
    got = test_decode(&in, &how);
    prop_true(got.n >= row && (row == 0 || memcmp(got.hash, base.hash, row * 8) == 0), g,
              "rows before damage are lost", row);
    test_rows_free(&places);
    test_rows_free(&base);
    test_rows_free(&got);
    trod_buf_fini(&bad);
}

static void test_junk_inside(void **state)
{
    (void)state;
    golden_each(GENERATED, junk_inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_from_points),
        cmocka_unit_test(test_junk_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
