/*
 * test_lazy.c - libraries that are loaded when something first needs them (core/lazy.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/lazy.h"

#include <math.h>

#define FUNCTIONS(F) F(cos) F(ldexp)

static struct {
    FUNCTIONS(TROD_LAZY_MEMBER)
} lib;
static const char *const names[] = {FUNCTIONS(TROD_LAZY_NAME)};
static struct trod_lazy library = TROD_LAZY("libm.so.6", names, &lib);

static void functions_are_found(void **state)
{
    (void)state;
    assert_true(trod_lazy_need(&library));
    assert_true(trod_lazy_need(&library)); /* again */
    assert_true(lib.cos(0) == 1);
    assert_true(lib.ldexp(3, 4) == 48);
}

static void what_is_missing_is_said(void **state)
{
    static const char *const wrong[] = {"cos", "trod_no_function"};
    struct trod_lazy no_file = TROD_LAZY("libtrod-none.so.0", names, &lib);
    struct trod_lazy no_function = TROD_LAZY("libm.so.6", wrong, &lib);

    (void)state;
    assert_false(trod_lazy_need(&no_file));
    assert_false(trod_lazy_need(&no_function));
    assert_false(trod_lazy_need(&no_function));
}

/* That a library is there is told before it is loaded; afterwards the loading says it. */
static void what_is_there_is_known_unloaded(void **state)
{
    static const char *const wrong[] = {"cos", "trod_no_function"};
    struct trod_lazy there = TROD_LAZY("libm.so.6", names, &lib);
    struct trod_lazy no_file = TROD_LAZY("libtrod-none.so.0", names, &lib);
    struct trod_lazy no_function = TROD_LAZY("libm.so.6", wrong, &lib);

    (void)state;
    assert_true(trod_lazy_there(&there));
    assert_false(there.tried);
    assert_false(trod_lazy_there(&no_file));
    assert_true(trod_lazy_there(&no_function));
    assert_false(trod_lazy_need(&no_function));
    assert_false(trod_lazy_there(&no_function));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_found),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(what_is_there_is_known_unloaded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
