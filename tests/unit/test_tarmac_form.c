/*
 * test_tarmac_form.c - forms of lines: what a form lets through, character by character, and the
 * numbers that are read from lines which have it.
 */
#include "format/tarmac/form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gen.h"
#include "testlib.h"

#if TROD_AVX2

enum { FORM_LINE = 180 };

static bool in_field(unsigned at, struct tm_field f)
{
    return at >= f.at && at < (unsigned)f.at + f.n;
}

/* May place AT of a line laid out as L, of which LINE is one, be C? */
static bool may_be(const uint8_t *line, const struct tm_layout *l, unsigned at, uint8_t c)
{
    const bool digit = c >= '0' && c <= '9', low = c >= 'a' && c <= 'f', up = c >= 'A' && c <= 'F';

    if (in_field(at, l->time) || in_field(at, l->index))
        return digit;
    if (in_field(at, l->vaddr) && at < l->vaddr.at + l->zeros)
        return c == line[at];
    if (in_field(at, l->bytes) && line[at] != ' ')
        return (c >= '.' && c <= '9') || (c >= '`' && c <= 'f');
    if (in_field(at, l->vaddr) || in_field(at, l->paddr))
        return digit || low;
    if (in_field(at, l->code) || (in_field(at, l->more) && line[at] != '_'))
        return digit || (l->upper ? up : low);
    if (in_field(at, l->name) && (tm_is_digit(line[at]) || (line[at] >= '@' && line[at] < 0x80)))
        return digit || (c >= '@' && c < 0x80); /* letters and what stands with them */
    return c == line[at] || (l->pair && at == l->pair_at && c == l->pair);
}

/* The number that field F of LINE is. */
static uint64_t number(const uint8_t *line, struct tm_field f)
{
    char text[20] = "";

    memcpy(text, line + f.at, f.n);
    return f.n ? strtoull(text, NULL, 16) : 0;
}

/* Every character at every place of a line, and the addresses of such lines. */
static TROD_WIDE void form(struct trod_gen *g)
{
    const unsigned n = gen_below(g, 2) ? 16 : 8, m = gen_below(g, 2) ? 12 : 0;
    const unsigned len = gen_below(g, 2) ? FORM_LINE : 100;
    struct tm_layout l = {.time = {0, (uint8_t)(1 + gen_below(g, 15))},
                          .index = {21, 7},
                          .vaddr = {30, (uint8_t)n},
                          .paddr = {50, (uint8_t)m},
                          .code = {70, 8},
                          .more = {80, 8},
                          .name = {90, 3},
                          .bytes = {93, 6},
                          .zeros = n == 16 && gen_below(g, 2) ? 8 : 0,
                          .pair_at = 19,
                          .pair = gen_below(g, 2) ? 'S' : 0,
                          .upper = gen_below(g, 2)};
    struct tm_form f = {.kind = TM_FORM_INSTR};
    uint8_t line[FORM_LINE + 2 * TM_AHEAD], c;
    uint64_t paddr;

    for (unsigned i = 0; i < sizeof line; i++)
        line[i] = (uint8_t) "0123456789abcdef"[gen_below(g, 16)];
    for (unsigned i = l.code.at; l.upper && i < 88; i++)
        line[i] = line[i] >= 'a' ? 'A' : line[i];
    memset(line, '1', 15);
    memset(line + 21, '2', 7);
    line[19] = 'T';
    line[95] = ' ';
    line[84] = '_';
    line[91] = (uint8_t) "_ <"[gen_below(g, 3)];
    tm_form_keep(&f, line, len, &l);
    for (unsigned i = 0; i < TM_PARTS * TM_PART; i++)
        for (unsigned k = 0; k < 256; k++) {
            const bool may = i >= len || may_be(line, &l, i, (uint8_t)k);

            c = line[i];
            line[i] = (uint8_t)k;
            if (tm_form_fits(&f, line) != may)
                fail_msg("character %u at place %u", k, i);
            line[i] = c;
        }
    assert_true(tm_form_addresses(&f, line, &paddr) == number(line, l.vaddr));
    assert_true(paddr == number(line, l.paddr));
    assert_true(tm_form_address(&f, line) == number(line, l.vaddr));
    for (unsigned i = 0; i < 15; i++)
        line[i] = (uint8_t)('0' + gen_below(g, 10));
    assert_true(tm_form_decimal(f.pick_time, line) == tm_decimal(line, l.time.n));
    assert_true(tm_form_decimal(f.pick_index, line + 21) == tm_decimal(line + 21, l.index.n));
}

#endif

/* What has a form is what it says, character by character. */
static void test_forms(void **state)
{
    (void)state;
#if TROD_AVX2
    if (trod_wide()) {
        struct trod_gen g = gen_seed(7);

        for (unsigned i = 0; i < 50; i++)
            form(&g);
        return;
    }
#endif
    print_message("forms are for processors with AVX2\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
