/*
 * test_symbols.c - addresses to names: the symbols of this very program, and of what is no ELF
 * file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trod/symbols.h"
#include "trod_config.h"

#if TROD_HAVE_ELF

extern const char __executable_start[]; /* put there by the linker: where this program is loaded */

int symbol_one(int x);
int symbol_two(int x);
extern uint64_t symbol_table[5];

__attribute__((noinline)) int symbol_one(int x)
{
    return x * 3 + 1;
}

__attribute__((noinline)) int symbol_two(int x)
{
    return x * 5 + symbol_one(x);
}

uint64_t symbol_table[5] = {1, 2, 3, 4, 5};

static struct trod_symbols *own(void)
{
    struct trod_symbols *s;
    char spec[64];

    snprintf(spec, sizeof spec, "/proc/self/exe@0x%llx",
             (unsigned long long)(uintptr_t)__executable_start);
    assert_int_equal(trod_symbols_new(&s), 0);
    assert_int_equal(trod_symbols_add(s, spec, NULL), 0);
    assert_true(trod_symbols_count(s) > 10);
    return s;
}

static void finds_itself(void **state)
{
    const struct {
        uint64_t at;
        const char *name;
    } known[] = {
        {(uintptr_t)symbol_one, "symbol_one"},
        {(uintptr_t)symbol_two, "symbol_two"},
        {(uintptr_t)symbol_table, "symbol_table"},
        {(uintptr_t)trod_symbols_find, "trod_symbols_find"},
    };
    struct trod_symbols *s = own();

    (void)state;
    assert_int_equal(symbol_two(1), 9);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            for (uint64_t offset = 0; offset < 3; offset++) {
                const char *name;
                uint64_t got, at, size;

                assert_true(trod_symbols_find(s, known[i].at + offset, &name, &got));
                assert_string_equal(name, known[i].name);
                assert_true(got == offset);
                assert_true(trod_symbols_address(s, known[i].name, &at, &size));
                assert_true(at == known[i].at && size > 2);
                assert_true(!trod_symbols_find(s, at + size, &name, &got) ||
                            strcmp(name, known[i].name) != 0);
            }
        }
    }
    trod_symbols_free(s);
}

/* One function after the other: in order, each the one that its own address finds, all of them. */
static void walks_functions(void **state)
{
    struct trod_symbols *s = own();
    struct trod_symbol_range r, same;
    uint64_t at = 0;
    bool one = false, two = false;

    (void)state;
    while (trod_symbols_function_after(s, at, &r)) {
        assert_true(r.begin > at);
        assert_true(!trod_symbols_function(s, r.begin - 1, &same) || same.begin < r.begin);
        assert_true(r.end == r.begin || trod_symbols_function(s, r.begin, &same));
        assert_true(r.end == r.begin || same.begin == r.begin);
        one = one || r.begin == (uintptr_t)symbol_one;
        two = two || r.begin == (uintptr_t)symbol_two;
        at = r.begin;
    }
    assert_true(one && two);
    assert_false(trod_symbols_function_after(s, UINT64_MAX, &r));
    trod_symbols_free(s);
}

static void finds_nothing_outside(void **state)
{
    struct trod_symbols *s = own();
    const char *name;
    uint64_t offset, size;

    (void)state;
    assert_false(trod_symbols_find(s, 0, &name, &offset));
    assert_false(trod_symbols_find(s, UINT64_MAX, &name, &offset));
    assert_false(trod_symbols_address(s, "no such symbol", &offset, &size));
    trod_symbols_free(s);
}

static void bad_files_are_said(void **state)
{
    static const struct {
        const char *spec;
        int status;
    } cases[] = {
        {"/nowhere/file", TROD_ERR_IO},      {"/proc/self/exe@12x", TROD_ERR_USAGE},
        {"/proc/self/exe@", TROD_ERR_USAGE}, {"/etc/passwd", TROD_ERR_CORRUPT},
        {"/dev/null", TROD_ERR_CORRUPT},
    };
    struct trod_symbols *s;
    struct trod_diag diag;
    const char *name;
    uint64_t offset;

    (void)state;
    assert_int_equal(trod_symbols_new(&s), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        trod_diag_init(&diag, NULL, NULL);
        assert_int_equal(trod_symbols_add(s, cases[i].spec, &diag), cases[i].status);
        assert_int_equal(diag.errors, 1);
    }
    assert_int_equal(trod_symbols_count(s), 0);
    assert_false(trod_symbols_find(s, 0, &name, &offset));
    trod_symbols_free(s);
    trod_symbols_free(NULL);
}

/* Any cut or flipped byte of an ELF file: an answer, no crash. */
static void damaged_files_do_no_harm(void **state)
{
    char path[] = "/tmp/test_symbols.XXXXXX";
    FILE *self = fopen("/proc/self/exe", "rb"), *f;
    uint8_t head[4096];
    int fd = mkstemp(path);

    (void)state;
    assert_non_null(self);
    assert_true(fd >= 0);
    assert_int_equal(fread(head, 1, sizeof head, self), sizeof head);
    fclose(self);
    for (size_t i = 0; i < 200; i++) {
        struct trod_symbols *s;
        uint8_t block[sizeof head];

        memcpy(block, head, sizeof head);
        block[i] ^= (uint8_t)(1u << (i & 7));
        f = fopen(path, "wb");
        assert_non_null(f);
        fwrite(block, 1, i < 100 ? sizeof block : i * 16, f);
        fclose(f);
        assert_int_equal(trod_symbols_new(&s), 0);
        trod_symbols_add(s, path, NULL);
        trod_symbols_free(s);
    }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_itself),
        cmocka_unit_test(walks_functions),
        cmocka_unit_test(finds_nothing_outside),
        cmocka_unit_test(bad_files_are_said),
        cmocka_unit_test(damaged_files_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void says_that_it_cannot(void **state)
{
    struct trod_symbols *s;

    (void)state;
    assert_int_equal(trod_symbols_new(&s), 0);
    assert_int_equal(trod_symbols_add(s, "/proc/self/exe", NULL), TROD_ERR_UNSUPPORTED);
    trod_symbols_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(says_that_it_cannot)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
