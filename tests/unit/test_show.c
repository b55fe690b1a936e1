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

/* Instructions that come again, some with another opcode or time, and rows between them. */
static struct trod_batch *repeats(struct trod_meta *meta, uint32_t n)
{
    static const uint8_t code[] = {0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6};
    struct trod_batch *b;

    assert_int_equal(trod_batch_new(&b, n), 0);
    assert_int_equal(trod_meta_thread(meta, 100, TROD_NOWHERE, 0), 0);
    assert_int_equal(trod_meta_thread(meta, 101, TROD_NOWHERE, 0), 1);
    meta->isa = TROD_ISA_A64;
    meta->endian = TROD_ENDIAN_LITTLE;
    b->meta = meta;
    b->shared = code;
    b->have = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_FLAGS | TROD_COL_CODE |
              TROD_COL_TIME | TROD_COL_STREAM | TROD_COL_UNIT;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = i * 2654435761u >> 20;

        b->kind[i] = x % 5 == 0 ? TROD_READ : TROD_INSTR;
        b->has[i] = b->have & ~(uint32_t)(x % 11 == 0 ? TROD_COL_TIME : 0) &
                    ~(uint32_t)(b->kind[i] == TROD_READ ? TROD_COL_CODE : 0);
        b->addr[i] = 0x1000 + 4 * (x / 8 % 3);
        b->size[i] = x % 7 == 0 ? 2 : 4;
        b->flags[i] = (x % 13 == 0 ? TROD_F_NEWCODE : 0) |
                      (uint32_t)(x % 17 == 0 ? TROD_ISET_A64 : TROD_ISET_NONE) << TROD_F_ISET_SHIFT;
        b->code[i] = (struct trod_slice){TROD_SLICE_SHARED | (x / 64 % 2 * 4), 4};
        b->time[i] = 10 + x / 256 % 2;
        b->unit[i] = x / 512 % 2 ? TROD_UNIT_NS : TROD_UNIT_CLK;
        b->stream[i] = x / 1024 % 2;
    }
    b->n = n;
    return b;
}

/* A line is the same whatever was shown before it. */
static void test_repeats(void **state)
{
    enum { N = 1200 };
    static char one[TROD_SHOW_LINE], other[TROD_SHOW_LINE];
    static uint8_t all[N];
    uint8_t width[TROD_SHOW_WIDTHS];
    struct trod_show_options opt;
    struct trod_show *s, *fresh;
    struct trod_disasm *d = NULL;
    struct trod_meta meta;
    struct trod_batch *b;

    (void)state;
    memset(all, 1, sizeof all);
    trod_meta_init(&meta);
    b = repeats(&meta, N);
    opt = (struct trod_show_options){.meta = &meta};
    assert_int_equal(trod_show_new(&s, &opt), 0);
    if (trod_disasm_new(&d, meta.isa, meta.endian, NULL) == 0)
        trod_show_disasm(s, d);
    trod_show_measure(s, b, all, 5);
    trod_show_widths(s, width);
    for (uint32_t i = 0; i < N; i++) {
        const uint64_t record = 5 + i + (i > N / 2); /* one is left out */

        assert_int_equal(trod_show_new(&fresh, &opt), 0);
        trod_show_disasm(fresh, d);
        trod_show_widen(fresh, width);
        *trod_show_text(s, b, i, record, one) = 0;
        *trod_show_text(fresh, b, i, record, other) = 0;
        assert_string_equal(one, other);
        trod_show_free(fresh);
    }
    trod_show_free(s);
    trod_disasm_free(d);
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

/*
 * The rows of repeats() with more columns: numbers that count on and jump, addresses of all widths.
 * STEADY: times, streams and units last for some rows.
 */
static struct trod_batch *numbered(struct trod_meta *meta, uint32_t n, bool steady)
{
    struct trod_batch *b = repeats(meta, n);
    uint64_t index = 95;

    b->have |= TROD_COL_PC | TROD_COL_INDEX | TROD_COL_SUB;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = i * 2654435761u >> 20;

        b->has[i] = (b->have & ~(uint32_t)(b->kind[i] == TROD_READ ? TROD_COL_CODE : 0)) &
                    ~(uint32_t)(x % 19 == 0 ? TROD_COL_INDEX : 0) &
                    ~(uint32_t)(x % 3 == 0 ? 0 : TROD_COL_UNIT);
        b->kind[i] = x % 23 == 0 && b->kind[i] == TROD_READ ? TROD_WRITE : b->kind[i];
        if (b->kind[i] == TROD_INSTR && x % 4 == 0)
            b->flags[i] |= x % 8 ? TROD_BR_COND_TAKEN : TROD_BR_COND_UNTAKEN;
        if (b->kind[i] != TROD_INSTR)
            b->addr[i] = UINT64_C(0xfedcba9876543210) >> 4 * (x % 15);
        b->pc[i] = UINT64_C(0xfedcba9876543210) >> 4 * (x / 4 % 4);
        b->sub[i] = (uint16_t)(x / 32 % 2);
        b->index[i] = index += x % 29 == 0 ? 12345 : b->kind[i] == TROD_INSTR;
        b->flags[i] |= x % 31 == 0 ? TROD_F_UNCACHED : 0;
        if (steady) {
            b->has[i] &= ~(uint32_t)(x % 50 ? TROD_COL_UNIT : 0);
            b->index[i] = 950 + i / 2;
            b->time[i] = 10 + i / 90;
            b->stream[i] = i / 140 % 2;
        }
    }
    return b;
}

/* Many rows at once, from number FIRST on, are the lines that each row has by itself. */
static void same_lines(uint64_t first, bool steady, bool colour)
{
    enum { N = 300, ROOM = TROD_SHOW_LINE + 4000 };
    static char lines[ROOM + 64], one[TROD_SHOW_LINE];
    static uint8_t keep[N];
    struct trod_meta meta;
    struct trod_show_options opt = {.meta = &meta, .colour = colour};
    struct trod_show *s, *fresh;
    struct trod_batch *b;
    uint8_t width[TROD_SHOW_WIDTHS];
    uint32_t next = 0, row = 0;

    trod_meta_init(&meta);
    b = numbered(&meta, N, steady);
    for (uint32_t i = 0; i < N; i++)
        keep[i] = i % 37 != 0;
    assert_int_equal(trod_show_new(&s, &opt), 0);
    trod_show_measure(s, b, keep, 990);
    trod_show_widths(s, width);
    while (next < N) {
        const char *p = lines, *end;

        end = trod_show_lines(s, b, keep, first, &next, lines, lines + ROOM);
        assert_true(end <= lines + ROOM && next <= N);
        for (; row < next; row++) {
            size_t len;

            if (!keep[row])
                continue;
            assert_int_equal(trod_show_new(&fresh, &opt), 0);
            trod_show_widen(fresh, width);
            len = (size_t)(trod_show_text(fresh, b, row, first + row, one) - one);
            assert_true(len <= (size_t)(end - p));
            assert_memory_equal(p, one, len);
            p += len;
            trod_show_free(fresh);
        }
        assert_ptr_equal(p, end);
    }
    trod_show_free(s);
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

static void test_lines(void **state)
{
    (void)state;
    same_lines(990, false, false);
    same_lines(990, true, false);
    same_lines(990, true, true);
    same_lines(99999800, true, false); /* the column of numbers becomes wider */
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
    /* names of files and of members of archives are anybody's: no terminal obeys them, one line */
    text.n = 0;
    p.at = (struct trod_place){.path = "a\033[31m\nb\xc3\xa4.zip",
                               .member = "m\r\xff",
                               .line = TROD_NOWHERE,
                               .offset = TROD_NOWHERE,
                               .record = TROD_NOWHERE};
    p.message = "cannot open 'a\033[31m\nb'";
    assert_int_equal(trod_show_problem(&text, &p, &opt), 0);
    assert_int_equal(trod_buf_add(&text, "", 1), 0);
    assert_string_equal((const char *)text.p,
                        "trod: a\\x1b[31m\\x0ab\xc3\xa4.zip: m\\x0d\\xff: warning: cannot open "
                        "'a\\x1b[31m\\x0ab'\n");
    trod_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match), cmocka_unit_test(test_match_refuses),
        cmocka_unit_test(test_show),  cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_lines), cmocka_unit_test(test_problem),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
