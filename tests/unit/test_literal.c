/*
 * test_literal.c - a text that matches a pattern holds what show_literal_of says of it: random
 * patterns and texts, compared with regexec; and of patterns as users write them, what it is.
 */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen.h"
#include "show/literal.h"

static void test_random(void **state)
{
    static const char *const parts[] = {
        "a",   "b",           "a",   "B",     "ab",       "ba",   "*",    "+",
        "?",   "{2}",         "{0}", "{0,1}", ".",        "^",    "$",    "|",
        "(",   ")",           "()",  "(a|b)", "(ab)?",    "[ab]", "[^a]", "[]a]",
        "\\.", "[[:alpha:]]", "\\b", "}",     "[[.a.]b]", "\\w",  "]",    "{"};
    struct trod_gen g = gen_seed(31);
    unsigned tried = 0, matched = 0, known = 0, saved = 0;

    (void)state;
    for (unsigned turn = 0; turn < 60000; turn++) {
        const bool nocase = gen_below(&g, 3) == 0;
        char pattern[128] = "", text[24];
        struct show_literal l;
        regex_t regex;

        for (size_t n = 1 + gen_below(&g, 6); n; n--)
            strcat(pattern, parts[gen_below(&g, sizeof parts / sizeof *parts)]);
        if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | (nocase ? REG_ICASE : 0)) != 0)
            continue;
        l = show_literal_of(pattern, nocase);
        known += l.n > 0;
        for (unsigned k = 0; k < 12; k++, tried++) {
            const size_t n = gen_below(&g, sizeof text - 1);
            bool may;

            for (size_t i = 0; i < n; i++)
                text[i] = "aabbAB.\\]{}|(\xc5\xbf"[gen_below(&g, 15)];
            text[n] = '\0';
            may = show_literal_in(&l, text, n);
            saved += !may;
            if (regexec(&regex, text, 0, NULL, 0) != 0)
                continue;
            matched++;
            if (!may)
                fail_msg("/%s/%s matches '%s' without '%.*s'", pattern, nocase ? "i" : "", text,
                         (int)l.n, l.s);
        }
        regfree(&regex);
    }
    assert_true(tried > 100000 && matched > 20000 && known > 10000 && saved > 10000);
}

static void test_known(void **state)
{
    static const struct {
        const char *pattern, *literal;
    } known[] = {{"mov.*sp", "mov"},
                 {"^ldr x0, \\[sp", "ldr x0, "},
                 {"fooo*bar", "foo"},
                 {"colou?r", "colo"},
                 {"a|b", ""},
                 {"(a|b)cd[0-9]efg+", "cd"},
                 {"x{3}yz", "yz"},
                 {"[[:digit:]]+ADD", "ADD"},
                 {"(abc", ""},
                 {"", ""},
                 {"abcdefghijklmnopqrstuvwxyz*", "abcdefghijklmnopqrstuvwx"}};

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct show_literal l = show_literal_of(known[i].pattern, false);

        assert_int_equal(l.n, strlen(known[i].literal));
        assert_memory_equal(l.s, known[i].literal, l.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
