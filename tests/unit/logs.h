/*
 * logs.h - a log's lines and the rows that they are.
 */
#ifndef TROD_TEST_LOGS_H
#define TROD_TEST_LOGS_H

/* cmocka wants the four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "testlib.h"

/* What most rows are looked at for. */
enum {
    LOGS_WHAT = TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_SIZE | TROD_COL_VALUE | TROD_COL_DATA |
                TROD_COL_CODE | TROD_COL_TEXT
};

/* The format called NAME. */
static inline const struct trod_format *logs_format(const char *name)
{
    const struct trod_format *f = trod_format_find(name, strlen(name));

    if (!f)
        fail_msg("no format %s", name);
    return f;
}

/*
 * TEXT read as format NAME (options OPT) gives ROWS, a line each as testlib.h prints them, with the
 * columns of MASK, ERRORS errors and WARNINGS warnings.
 */
static inline void logs_expect(const char *name, const void *opt, const char *text, uint32_t mask,
                               const char *rows, uint64_t errors, uint64_t warnings)
{
    const struct test_input in = {
        .format = logs_format(name), .opt = opt, .p = (const uint8_t *)text, .n = strlen(text)};
    const struct test_how how = {.mask = mask | TROD_COL_KIND};
    struct test_rows got = test_decode_text(&in, &how);
    const size_t n = strlen(rows);

    if (got.text.n != n || (n && memcmp(got.text.p, rows, n) != 0))
        fail_msg("%s\nexpected:\n%s\ngot:\n%.*s", text, rows, (int)got.text.n, (char *)got.text.p);
    if (got.errors != errors || got.warnings != warnings)
        fail_msg("%s\n%llu errors, %llu warnings: %s", text, (unsigned long long)got.errors,
                 (unsigned long long)got.warnings, got.message);
    test_rows_free(&got);
}

#endif
