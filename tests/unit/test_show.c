/*
 * test_show.c - rows chosen and shown, problems worded, by the public headers alone: trod/match.h,
 * trod/show.h. Expected lines follow from those headers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "trod/trod.h"

enum { ROWS = 4 };

/* READ 0x1000, WRITE 0x1004, READ 0x1008, WRITE 0x100c: 4 bytes each, value 0xa0 and so on. */
static struct trod_batch *accesses(struct trod_meta *meta)
{
    struct trod_batch *b;

    assert_int_equal(trod_batch_new(&b, ROWS), 0);
    b->meta = meta;
    b->have = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_VALUE;
    for (uint32_t i = 0; i < ROWS; i++) {
        b->has[i] = b->have;
        b->kind[i] = i % 2 ? TROD_WRITE : TROD_READ;
        b->addr[i] = 0x1000 + 4 * i;
        b->size[i] = 4;
        b->value[i] = 0xa0 + i;
    }
    b->n = ROWS;
    return b;
}

static void test_match(void **state)
{
    struct trod_match_options opt;
    struct trod_meta meta;
    struct trod_match *m;
    struct trod_batch *b;
    char spec[] = "kind=WRITE,address=0x1000..0x1007";

    (void)state;
    memset(&opt, 0, sizeof opt);
    trod_meta_init(&meta);
    b = accesses(&meta);
    assert_int_equal(trod_option_spec(trod_match_option_table, &opt, spec, NULL), 0);
    assert_int_equal(trod_match_new(&m, &opt, NULL), 0);
    assert_false(trod_match_all(m));
    assert_int_equal(trod_match_want(m) & TROD_COL_ADDR, TROD_COL_ADDR);
    assert_int_equal(trod_match_batch(m, b), 1);
    assert_memory_equal(trod_match_keep(m), "\0\1\0\0", ROWS);
    assert_int_equal(trod_match_seen(m), ROWS);
    trod_match_free(m);
    trod_match_free(NULL);
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

static void test_match_refuses(void **state)
{
    struct trod_match_options opt = {.kinds = {.n = 1, .item = {"WRIET"}}};
    struct trod_match *m;

    (void)state;
    assert_int_equal(trod_match_new(&m, &opt, NULL), TROD_ERR_USAGE);
    assert_null(m);
}

/* The same numbers in all three. */
static void test_show(void **state)
{
    static const uint8_t all[ROWS] = {1, 1, 1, 1};
    static char line[TROD_SHOW_LINE];
    struct trod_show_options opt;
    struct trod_meta meta;
    struct trod_batch *b;
    struct trod_show *s;

    (void)state;
    trod_meta_init(&meta);
    b = accesses(&meta);
    opt = (struct trod_show_options){.meta = &meta};
    assert_int_equal(trod_show_new(&s, &opt), 0);
    trod_show_measure(s, b, all, 0);
    *trod_show_json(s, b, 1, 7, line) = 0;
    assert_string_equal(line, "{\"record\": 7, \"kind\": \"WRITE\", \"address\": \"0x1004\", "
                              "\"size\": 4, \"value\": \"0x000000a1\"}\n");
    *trod_show_csv(s, b, 1, 7, line) = 0;
    assert_int_equal(strncmp(line, "7,WRITE,", 8), 0);
    assert_non_null(strstr(line, ",0x1004,,4,,0x000000a1,"));
    *trod_show_text(s, b, 1, 7, line) = 0;
    assert_non_null(strstr(line, "WRITE"));
    assert_non_null(strstr(line, "0x00001004"));
    assert_non_null(strstr(line, "0x000000a1"));
    trod_show_free(s);
    trod_show_free(NULL);
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

static void test_problem(void **state)
{
    struct trod_problem p = {.severity = TROD_SEV_ERROR,
                             .status = TROD_ERR_CORRUPT,
                             .kind = "test.kind",
                             .message = "bad number 'x'"};
    struct trod_show_problem opt = {.program = "trod", .severity = TROD_SEV_WARNING};
    struct trod_buf text = {0};

    (void)state;
    p.at = (struct trod_place){.path = "run.tarmac",
                               .line = 3,
                               .offset = 40,
                               .record = 2,
                               .text = (const uint8_t *)"a x b\n",
                               .text_len = 6,
                               .caret = 2};
    assert_int_equal(trod_show_problem(&text, &p, &opt), 0);
    assert_int_equal(trod_buf_add(&text, "", 1), 0);
    assert_string_equal((const char *)text.p,
                        "trod: run.tarmac:3: warning: bad number 'x' (record 2, byte 40)\n"
                        "    a x b\n"
                        "      ^\n");
    text.n = 0;
    assert_int_equal(trod_show_problem(&text, &p, NULL), 0);
    assert_memory_equal(text.p, "run.tarmac:3: bad number", 24);
    trod_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_match_refuses),
        cmocka_unit_test(test_show),
        cmocka_unit_test(test_problem),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
