/*
 * test_option.c - option tables: values, ranges, lists, specs, suggestions, help texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trod/buf.h"
#include "trod/option.h"

struct shared {
    uint64_t padding;
    bool loud;
    int shape;
};

struct options {
    uint64_t count;
    const char *name;
    struct trod_range range;
    struct trod_list kinds;
    struct shared shared;
};

static const char *const shapes[] = {"round", "square", NULL};

static const struct trod_option shared_table[] = {
    {"loud", 'l', TROD_OPT_BOOL, offsetof(struct shared, loud), NULL, "be loud", NULL, NULL},
    {"shape", 0, TROD_OPT_ENUM, offsetof(struct shared, shape), NULL, "the shape", shapes, NULL},
    {.type = TROD_OPT_END},
};

static const struct trod_option table[] = {
    {.type = TROD_OPT_GROUP, .text = "Main"},
    {"count", 'n', TROD_OPT_U64, offsetof(struct options, count), "N",
     "a text that is long enough to be wrapped on a line of forty columns", NULL, NULL},
    {"name", 0, TROD_OPT_STR, offsetof(struct options, name), "NAME", "a name", NULL, NULL},
    {"range", 0, TROD_OPT_RANGE, offsetof(struct options, range), "A..B", "a range", NULL, NULL},
    {"kind", 'k', TROD_OPT_LIST, offsetof(struct options, kinds), "LIST", "kinds", NULL, NULL},
    {.type = TROD_OPT_FUNC,
     .offset = offsetof(struct options, shared),
     .text = "Shared",
     .more = shared_table},
    {.type = TROD_OPT_END},
};

/* Keeps the last message. */
static void keep(void *user, const struct trod_problem *p)
{
    snprintf(user, 256, "%s", p->message);
}

static void numbers(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
        bool bad;
    } cases[] = {
        {"0", 0, false},
        {"18446744073709551615", UINT64_MAX, false},
        {"18446744073709551616", 0, true},
        {"99999999999999999999", 0, true},
        {"0x10", 16, false},
        {"0XfF", 255, false},
        {"0xffffffffffffffff", UINT64_MAX, false},
        {"0x10000000000000000", 0, true},
        {"3k", 3000, false},
        {"3Ki", 3072, false},
        {"2M", 2000000, false},
        {"2Mi", 2097152, false},
        {"1G", 1000000000, false},
        {"1Gi", 1073741824, false},
        {"18446744073709551615k", 0, true},
        {"", 0, true},
        {"0x", 0, true},
        {"-1", 0, true},
        {"+1", 0, true},
        {" 1", 0, true},
        {"1 ", 0, true},
        {"1kk", 0, true},
        {"ff", 0, true},
        {"1.5", 0, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t v = 0;

        assert_int_equal(trod_option_number(cases[i].text, &v),
                         cases[i].bad ? TROD_ERR_USAGE : TROD_OK);
        assert_true(cases[i].bad || v == cases[i].value);
    }
}

static void bytes(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
        bool bad;
    } cases[] = {
        {"64", 64, false},
        {"0x40", 64, false},
        {"4k", 4096, false},
        {"4K", 4096, false},
        {"4Ki", 4096, false},
        {"2M", 2097152, false},
        {"2Mi", 2097152, false},
        {"1G", 1073741824, false},
        {"18014398509481984K", 0, true},
        {"4ki", 0, true},
        {"4Kii", 0, true},
        {"4i", 0, true},
        {"4T", 0, true},
        {"K", 0, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t v = 0;

        assert_int_equal(trod_option_bytes(cases[i].text, &v),
                         cases[i].bad ? TROD_ERR_USAGE : TROD_OK);
        assert_true(cases[i].bad || v == cases[i].value);
    }
}

static void ranges(void **state)
{
    static const struct {
        const char *text;
        uint64_t lo, hi;
        bool bad;
    } cases[] = {
        {"5", 5, 5, false},
        {"5..7", 5, 7, false},
        {"5..", 5, UINT64_MAX, false},
        {"..7", 0, 7, false},
        {"0x10..0x1f", 16, 31, false},
        {"1k..2k", 1000, 2000, false},
        {"7..5", 0, 0, true},
        {"..", 0, 0, true},
        {"a..b", 0, 0, true},
        {"1...3", 0, 0, true},
        {"", 0, 0, true},
        {"5-7", 0, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trod_range r = {false, 1, 2};

        assert_int_equal(trod_option_range(cases[i].text, &r),
                         cases[i].bad ? TROD_ERR_USAGE : TROD_OK);
        assert_int_equal(r.set, !cases[i].bad);
        assert_true(cases[i].bad || (r.lo == cases[i].lo && r.hi == cases[i].hi));
    }
}

static void specs(void **state)
{
    char spec[] = "count=0x20,loud,shape=SQUARE,name=x=y,kind=a,kind=b,range=3..4";
    struct options o;

    (void)state;
    memset(&o, 0, sizeof o);
    assert_int_equal(trod_option_spec(table, &o, spec, NULL), 0);
    assert_int_equal(o.count, 32);
    assert_true(o.shared.loud);
    assert_int_equal(o.shared.shape, 1);
    assert_string_equal(o.name, "x=y");
    assert_int_equal(o.kinds.n, 2);
    assert_string_equal(o.kinds.item[0], "a");
    assert_string_equal(o.kinds.item[1], "b");
    assert_true(o.range.set && o.range.lo == 3 && o.range.hi == 4);
}

/* Lists go on behind commas, up to the name of an option or a word that is none of their values. */
static void lists_go_on(void **state)
{
    static const struct trod_option some[] = {
        {"kind", 0, TROD_OPT_LIST, offsetof(struct options, kinds), "N,...", "kinds", NULL, NULL},
        {"name", 0, TROD_OPT_JOINED, offsetof(struct options, name), "A,...", "text", NULL, NULL},
        {"loud", 0, TROD_OPT_BOOL, offsetof(struct options, shared.loud), NULL, "flag", NULL, NULL},
        {"plain", 0, TROD_OPT_STR, offsetof(struct options, name), "TEXT", "text", NULL, NULL},
        {.type = TROD_OPT_END},
    };
    static const struct {
        const char *spec;
        size_t kinds; /* how many, */
        const char *last, *name;
        bool loud;
        const char *message; /* NULL: it is right */
    } cases[] = {
        {"kind=8,32", 2, "32", NULL, false, NULL},
        {"kind=8,32,loud", 2, "32", NULL, true, NULL},
        {"kind=8,32,name=a,b:c=4,d.e,loud,kind=64,128", 4, "128", "a,b:c=4,d.e", true, NULL},
        {"name=size=4K..8M,ways=1..16,line=64,loud", 0, NULL, "size=4K..8M,ways=1..16,line=64",
         true, NULL},
        {"kind=int=2,load=5,loud=no,kind=store=3", 3, "store=3", NULL, false, NULL},
        {"loud,kind=x", 1, "x", NULL, true, NULL},
        {"kind=8,nmae=3", 0, NULL, NULL, false, "unknown option 'nmae'; did you mean 'name'?"},
        {"name=size=4,luod", 0, NULL, NULL, false, "unknown option 'luod'; did you mean 'loud'?"},
        {"plain=a,b", 0, NULL, NULL, false, "unknown option 'b'"},
        {"loud,b", 0, NULL, NULL, false, "unknown option 'b'"},
        {"kind=8,,9", 0, NULL, NULL, false, "the name of an option is missing after ':' or ','"},
        {"kind=8,", 0, NULL, NULL, false, "the name of an option is missing after ':' or ','"},
        {"kind=8,name", 0, NULL, NULL, false, "option 'name' needs a value"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char spec[64], message[256] = "";
        struct trod_diag diag;
        struct options o;
        int r;

        memset(&o, 0, sizeof o);
        trod_diag_init(&diag, keep, message);
        strcpy(spec, cases[i].spec);
        r = trod_option_spec(some, &o, spec, &diag);
        if (cases[i].message) {
            assert_int_equal(r, TROD_ERR_USAGE);
            assert_string_equal(message, cases[i].message);
            continue;
        }
        assert_int_equal(r, 0);
        assert_int_equal(o.kinds.n, cases[i].kinds);
        if (cases[i].last)
            assert_string_equal(o.kinds.item[o.kinds.n - 1], cases[i].last);
        assert_int_equal(!o.name, !cases[i].name);
        if (cases[i].name)
            assert_string_equal(o.name, cases[i].name);
        assert_int_equal(o.shared.loud, cases[i].loud);
    }
}

static void flags_take_words(void **state)
{
    static const char *const yes[] = {"yes", "on", "true", "1", "YES"};
    static const char *const no[] = {"no", "off", "false", "0"};
    struct options o;
    char word[8];

    (void)state;
    memset(&o, 0, sizeof o);
    for (size_t i = 0; i < 5; i++) {
        o.shared.loud = false;
        strcpy(word, yes[i]);
        assert_int_equal(trod_option_set(table, &o, "loud", word, NULL), 0);
        assert_true(o.shared.loud);
    }
    for (size_t i = 0; i < 4; i++) {
        o.shared.loud = true;
        strcpy(word, no[i]);
        assert_int_equal(trod_option_set(table, &o, "loud", word, NULL), 0);
        assert_false(o.shared.loud);
    }
    strcpy(word, "maybe");
    assert_int_equal(trod_option_set(table, &o, "loud", word, NULL), TROD_ERR_USAGE);
}

static void lists(void **state)
{
    char one[] = "READ,WRITE,REG", gap[] = "READ,,REG", end[] = "READ,", none[] = "";
    char many[256] = "";
    struct options o;

    (void)state;
    memset(&o, 0, sizeof o);
    assert_int_equal(trod_option_set(table, &o, "kind", one, NULL), 0);
    assert_int_equal(o.kinds.n, 3);
    assert_string_equal(o.kinds.item[2], "REG");
    assert_int_equal(trod_option_set(table, &o, "kind", gap, NULL), TROD_ERR_USAGE);
    assert_int_equal(trod_option_set(table, &o, "kind", end, NULL), TROD_ERR_USAGE);
    assert_int_equal(trod_option_set(table, &o, "kind", none, NULL), TROD_ERR_USAGE);
    memset(&o, 0, sizeof o);
    for (int i = 0; i < TROD_LIST_MAX + 1; i++)
        strcat(many, "a,");
    assert_int_equal(trod_option_set(table, &o, "kind", many, NULL), TROD_ERR_USAGE);
    assert_int_equal(o.kinds.n, TROD_LIST_MAX);
}

static void messages(void **state)
{
    static const struct {
        const char *key, *value, *message;
    } cases[] = {
        {"cuont", "1", "unknown option 'cuont'; did you mean 'count'?"},
        {"co", "1", "unknown option 'co'; did you mean 'count'?"},
        {"zzz", "1", "unknown option 'zzz'"},
        {"count", "x", "option 'count': 'x' is not a number"},
        {"count", NULL, "option 'count' needs a value"},
        {"range", "9..1", "option 'range': '9..1' is not a range (A..B, A.., ..B or A)"},
        {"shape", "triangle", "option 'shape': 'triangle' is not one of round or square"},
        {"shape", "rond",
         "option 'shape': 'rond' is not one of round or square; did you mean 'round'?"},
    };
    char message[256], value[32];
    struct trod_diag d;
    struct options o;

    (void)state;
    memset(&o, 0, sizeof o);
    trod_diag_init(&d, keep, message);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (cases[i].value)
            strcpy(value, cases[i].value);
        assert_int_equal(
            trod_option_set(table, &o, cases[i].key, cases[i].value ? value : NULL, &d),
            TROD_ERR_USAGE);
        assert_string_equal(message, cases[i].message);
    }
}

static void flat(void **state)
{
    struct trod_option_ref all[TROD_OPTIONS], ref;

    (void)state;
    assert_int_equal(trod_option_flatten(table, all, TROD_OPTIONS), 6);
    assert_string_equal(all[0].group, "Main");
    assert_string_equal(all[5].group, "Shared");
    assert_int_equal(all[5].offset,
                     offsetof(struct options, shared) + offsetof(struct shared, shape));
    assert_int_equal(trod_option_flatten(table, all, 2), 2);
    assert_int_equal(trod_option_flatten(NULL, all, 2), 0);
    assert_true(trod_option_find(table, "loudness", 4, &ref));
    assert_false(trod_option_find(table, "lou", 3, &ref));
    assert_true(trod_option_letter(table, 'k', &ref));
    assert_string_equal(ref.option->name, "kind");
    assert_false(trod_option_letter(table, 0, &ref));
}

static void help(void **state)
{
    static const char want[] = "Main:\n"
                               "  -n, --count N             a text that is long\n"
                               "                            enough to be wrapped on\n"
                               "                            a line of forty columns\n"
                               "      --name NAME           a name\n"
                               "      --range A..B          a range\n"
                               "  -k, --kind LIST           kinds\n"
                               "\nShared:\n"
                               "  -l, --loud                be loud\n"
                               "      --shape round|square  the shape\n";
    struct trod_buf b = {0};

    (void)state;
    assert_int_equal(trod_option_help(table, "--", 52, &b), 0);
    assert_int_equal(trod_buf_add(&b, "", 1), 0);
    assert_string_equal((const char *)b.p, want);
    trod_buf_fini(&b);
}

static void wrapping(void **state)
{
    struct trod_buf b = {0};

    (void)state;
    assert_int_equal(trod_wrap(&b, "one two three\n\nfour  five sixteenlettersxx", 0, 2, 10), 0);
    assert_int_equal(trod_buf_add(&b, "", 1), 0);
    assert_string_equal((const char *)b.p,
                        "one two\n  three\n\n  four\n  five\n  sixteenlettersxx");
    trod_buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),     cmocka_unit_test(bytes),
        cmocka_unit_test(ranges),      cmocka_unit_test(specs),
        cmocka_unit_test(lists_go_on), cmocka_unit_test(flags_take_words),
        cmocka_unit_test(lists),       cmocka_unit_test(messages),
        cmocka_unit_test(flat),        cmocka_unit_test(help),
        cmocka_unit_test(wrapping),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
