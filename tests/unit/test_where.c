/*
 * test_where.c - expressions over rows (trod/where.h, trod-where(7)) against a slow evaluator:
 * random trees, printed as text, and walked for one row at a time; precedence, what is absent, what
 * is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "slow_where.h"

enum { TREES = 1500, TEXT = 1 << 16 };

/* ---- tests */

static void streams(struct trod_meta *m)
{
    trod_meta_init(m);
    assert_int_equal(trod_meta_thread(m, 100, TROD_NOWHERE, 0), 0);
    assert_int_equal(trod_meta_stream(m, "7", 1), 1);
    assert_int_equal(trod_meta_stream(m, "cpu2", 4), 2);
}

/* EXPRESSION over B, in batches of at most MOST rows. */
static void judge(const char *expression, const struct trod_batch *b, uint32_t most, uint8_t *keep)
{
    struct trod_where *w;

    if (trod_where_new(&w, expression, NULL, NULL) != 0)
        fail_msg("refused: %s", expression);
    memset(keep, 1, b->n);
    for (uint32_t at = 0; at < b->n; at += most) {
        const uint32_t n = b->n - at < most ? b->n - at : most;
        struct trod_batch view;
        int chosen = 0;

        trod_batch_view(&view, b, at, n);
        chosen = trod_where_batch(w, &view, 1000 + at, keep + at);
        for (uint32_t i = at; i < at + n; i++)
            chosen -= keep[i];
        assert_int_equal(chosen, 0);
    }
    trod_where_free(w);
}

static void test_random(void **state)
{
    static uint64_t pc[ROWS];
    static bool has_pc[ROWS];
    uint8_t keep[ROWS], again[ROWS];
    char *text = malloc(TEXT);
    struct trod_meta meta;
    struct trod_batch *b;
    unsigned mixed = 0;

    (void)state;
    streams(&meta);
    assert_int_equal(trod_batch_new(&b, ROWS), 0);
    for (unsigned k = 0; k < TREES; k++) {
        struct tree *t = condition((int)draw(5));
        struct out o = {text};
        uint32_t n = 0;

        if (k % 50 == 0) {
            fill(b, &meta);
            owners(b, pc, has_pc);
        }
        put_condition(&o, t, 0);
        judge(text, b, ROWS, keep);
        judge(text, b, 1 + (uint32_t)draw(300), again);
        assert_memory_equal(keep, again, ROWS);
        for (uint32_t i = 0; i < ROWS; i++) {
            const struct row r = {b, i, pc, has_pc};

            n += keep[i];
            if (keep[i] != holds(&r, t))
                fail_msg("row %u: %s", i, text);
        }
        mixed += n > 0 && n < ROWS;
        drop(t);
    }
    assert_true(mixed > TREES / 3); /* the rows are worth asking */
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(text);
}

/* What is not asked for is not judged, and stays as it is. */
static void test_asked(void **state)
{
    uint8_t keep[ROWS];
    struct trod_meta meta;
    struct trod_where *w;
    struct trod_batch *b;

    (void)state;
    streams(&meta);
    assert_int_equal(trod_batch_new(&b, ROWS), 0);
    fill(b, &meta);
    memset(keep, 0, sizeof keep);
    keep[3] = keep[600] = 1;
    assert_int_equal(trod_where_new(&w, "true", NULL, NULL), 0);
    assert_int_equal(trod_where_batch(w, b, 0, keep), 2);
    assert_int_equal(keep[3] + keep[600], 2);
    assert_int_equal(trod_where_last(w), TROD_NOWHERE);
    trod_where_free(w);
    assert_int_equal(trod_where_new(&w, "row < 10 && row in 3..600 && value != 1", NULL, NULL), 0);
    assert_int_equal(trod_where_last(w), 9);
    assert_int_equal(trod_where_want(w) & TROD_COL_VALUE, TROD_COL_VALUE);
    assert_int_equal(trod_where_want(w) & TROD_COL_ADDR, 0);
    trod_where_free(w);
    trod_where_free(NULL);
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

struct told {
    size_t caret;
    char message[1024];
};

static void hear(void *user, const struct trod_problem *p)
{
    struct told *t = user;

    t->caret = p->at.caret;
    snprintf(t->message, sizeof t->message, "%s", p->message);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        size_t caret;
        const char *says;
    } cases[] = {
        {"", 0, "empty"},
        {"  ", 0, "empty"},
        {"value", 0, "condition"},
        {"value == ", 9, "missing"},
        {"value = 3", 6, "'=='"},
        {"size in {1,2", 12, "'}'"},
        {"(size == 1", 10, "')'"},
        {"valeu == 3", 0, "did you mean 'value'"},
        {"kind == WRIET", 8, "there are NOTE INSTR"},
        {"iset == T33", 8, "A32 T32"},
        {"kind < WRITE", 5, "order"},
        {"text == 3", 8, "text"},
        {"value == \"3\"", 6, "compared"},
        {"value ~ /3/", 0, "patterns"},
        {"text ~ /(/", 7, "pattern"},
        {"text ~ /abc", 7, "does not end"},
        {"text == \"abc", 8, "does not end"},
        {"addr in 5..3", 8, "ends before"},
        {"addr in 0..<0", 12, "below"},
        {"addr in 5", 8, "range"},
        {"1 < value < 5", 10, "&&"},
        {"value == 18446744073709551616", 9, "64 bits"},
        {"value == 12ab", 11, "number"},
        {"value % 0 == 1", 8, "zero"},
        {"taken == 1", 6, "condition"},
        {"taken + 1 == 1", 0, "condition"},
        {"!value", 1, "number"},
        {"value == 3 size", 11, "operator"},
        {"value @ 3", 6, "no meaning"},
        {"function == main", 0, "--symbols"},
        {"addr == at(\"main\")", 8, "--symbols"},
        {"has(taken)", 4, "column"},
        {"touches(value)", 8, "address"},
        {"foo(3)", 0, "there is no 'foo'"},
        {"has", 0, "function"},
    };
    struct trod_where *w;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct told told = {0};
        struct trod_diag diag;

        trod_diag_init(&diag, hear, &told);
        assert_int_equal(trod_where_new(&w, cases[i].text, NULL, &diag), TROD_ERR_USAGE);
        assert_null(w);
        if (told.caret != cases[i].caret || !strstr(told.message, cases[i].says))
            fail_msg("%s: at %zu: %s", cases[i].text, told.caret, told.message);
    }
}

static void test_limits(void **state)
{
    char *text = malloc(TEXT);
    struct trod_where *w;

    (void)state;
    memset(text, '(', 1000);
    strcpy(text + 1000, "true");
    assert_int_equal(trod_where_new(&w, text, NULL, NULL), TROD_ERR_USAGE);
    memset(text, '!', 1000);
    assert_int_equal(trod_where_new(&w, text, NULL, NULL), TROD_ERR_USAGE);
    strcpy(text, "true");
    for (int i = 0; i < 900; i++)
        strcat(text, i % 2 ? "&&true" : "||true");
    assert_int_equal(trod_where_new(&w, text, NULL, NULL), 0);
    trod_where_free(w);
    for (int i = 0; i < 900; i++)
        strcat(text, "||true");
    assert_int_equal(trod_where_new(&w, text, NULL, NULL), TROD_ERR_USAGE);
    strcpy(text, "value in {0");
    for (int i = 1; i < 900; i++)
        sprintf(text + strlen(text), ",%d", 7 * i);
    strcat(text, "}");
    assert_int_equal(trod_where_new(&w, text, NULL, NULL), 0);
    trod_where_free(w);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
