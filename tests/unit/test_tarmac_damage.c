/*
 * test_tarmac_damage.c - the damage that Tarmac and Trace Matcher text lets one notice is noticed.
 *
 * docs/formats/tarmac.md, "Damage that can be noticed": each kind of it is done to each line of a
 * clean trace that it can be done to, and the decoder must report that line. What only the order of
 * records shows (times, indices, addresses) is the business of `trod check`, tests/unit/
 * test_check_tarmac.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tarmac_rows.h"

static const char *const fm[] = {
    "1 clk cpu0 IT (1) 00001000:000000001000_NS f9400000 O EL1h_n : LDR      x0,[x0]",
    "1 clk cpu0 MR8 00002000:000000002000_NS 00000000_0000002a",
    "1 clk cpu0 R X0 000000000000002a",
    "2 clk cpu0 MW4X 00002000 0000002a",
    "2 clk cpu0 MU4_ADD 00002000 0000002a",
    "2 clk cpu0 FD (2) 00001004 00001000 O",
    "3 clk cpu0 TTW ITLB LPAE 1:3 000016390010 00000000152204c3 : BLOCK NS=0",
    "3 clk cpu0 TLB EVICT l1 4K 0x00020000 EL1_n vmid=4, nG asid=10",
    "3 clk cpu0 CACHE l1 LINE 0096 ALLOC 0x0000152112c0",
    "3 clk cpu0 BR4D__S I_____ O_____ 3 000080001000 78563412",
    NULL};

static const char *const es[] = {
    "        100 tic ES  (00010000:e92d4010) A svc_s:          PUSH     {r4,lr}",
    "        100 tic ST 0000fff0 00000014 00000004 ........ ........    S:000000fff0    nGnRnE",
    "        100 tic R SP_SVC 0000fff8", NULL};

static const char *const matcher[] = {"1 clk 0 IT (1) 00000004 3c080001 A svc : lui t0,0x1",
                                      "10 clk MR8 00103fc4 0010400000000000",
                                      "14 clk R r8 00000000", NULL};

static size_t done; /* mutants */

/* TEXT, lines of which number LINE is the mutant, must be reported there. */
static void expect(const char *format, const struct trod_buf *text, size_t line, const char *what)
{
    const struct trod_format *f = trod_format_find(format, strlen(format));
    struct trod_buf rows = {0};
    char place[32];

    snprintf(place, sizeof place, " line %zu caret", line + 1);
    tarmac_rows_of(f, "", text->p, text->n, &rows);
    if (trod_buf_add(&rows, "", 1) < 0)
        test_die("out of memory");
    if (rows.p[0] != '!' || !strstr((const char *)rows.p, place))
        fail_msg("%s is not noticed in line %zu of\n%.*s", what, line + 1, (int)text->n,
                 (const char *)text->p);
    done++;
    trod_buf_fini(&rows);
}

/* All LINES, number AT replaced by MUTANT. */
static void mutant(const char *format, const char *const *lines, size_t at, const char *mutant,
                   const char *what)
{
    struct trod_buf text = {0};

    for (size_t i = 0; lines[i]; i++)
        if (trod_buf_printf(&text, "%s\n", i == at ? mutant : lines[i]) < 0)
            test_die("out of memory");
    expect(format, &text, at, what);
    trod_buf_fini(&text);
}

/* Where the type word of LINE begins, and where what may be anything: text, names. */
static void limits(const char *line, size_t *from, size_t *to)
{
    static const char *const types[] = {"IT ",  "ES ",  "R ",     "M",   "FD ",
                                        "TTW ", "TLB ", "CACHE ", "BR4", "ST "};
    const char *colon = strstr(line, " : ");

    *from = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types && !*from; i++)
        for (const char *p = line; (p = strstr(p, types[i])) != NULL; p++)
            if (p > line && p[-1] == ' ') {
                *from = (size_t)(p - line);
                break;
            }
    if (!colon)
        colon = strstr(line, ") A ");
    *to = colon ? (size_t)(colon - line) : strlen(line);
}

static bool hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* A digit of a number of four and more digits that becomes a letter that is none. */
static void no_digit(const char *format, const char *const *lines)
{
    for (size_t i = 0; lines[i]; i++) {
        char copy[256];
        size_t from, to;

        limits(lines[i], &from, &to);
        for (size_t k = from; k < to; k++) {
            size_t a = k, b = k;

            while (a > from && hex_digit(lines[i][a - 1]))
                a--;
            while (hex_digit(lines[i][b]))
                b++;
            /* whole numbers only: not parts of names */
            if (b - a < 4 || !hex_digit(lines[i][k]) || !strchr(" :(_x", lines[i][a - 1]) ||
                (lines[i][b] && !strchr(" :)_,", lines[i][b])))
                continue;
            snprintf(copy, sizeof copy, "%s", lines[i]);
            copy[k] = 'z';
            mutant(format, lines, i, copy, "a digit that is none");
        }
    }
}

/* Fields that are gone from the end: the line is cut before its last COUNT words. */
static void cut_fields(const char *format, const char *const *lines)
{
    for (size_t i = 0; lines[i]; i++) {
        char copy[256];
        size_t from, to;

        limits(lines[i], &from, &to);
        snprintf(copy, sizeof copy, "%s", lines[i]);
        /* of instructions the opcode is the last field that must be there */
        if (strstr(lines[i], "IT (")) {
            char *p = strstr(copy, strstr(lines[i], " O ") ? " O " : " A ");

            while (*--p != ' ')
                ;
            *p = '\0';
        } else if ((strchr(lines[i], ':') && !strstr(lines[i], "MR8")) ||
                   strstr(lines[i], "TLB ")) {
            continue; /* what may be missing */
        } else if (strstr(lines[i], "FD ")) {
            *strrchr(copy, ' ') = '\0'; /* the instruction set may be missing */
            *strrchr(copy, ' ') = '\0';
        } else {
            *strrchr(copy, ' ') = '\0';
        }
        mutant(format, lines, i, copy, "a field that is gone");
    }
}

/* Values of accesses with a digit too many or too few; opcodes of an odd number of digits. */
static void widths(const char *format, const char *const *lines)
{
    for (size_t i = 0; lines[i]; i++) {
        size_t n = strlen(lines[i]);
        char copy[256];

        if (strstr(lines[i], " MR") || strstr(lines[i], " MW") || strstr(lines[i], " BR4")) {
            snprintf(copy, sizeof copy, "%s0", lines[i]);
            mutant(format, lines, i, copy, "a digit too many");
            snprintf(copy, sizeof copy, "%.*s", (int)n - 1, lines[i]);
            mutant(format, lines, i, copy, "a digit too few");
        } else if (strstr(lines[i], "IT (") || strstr(lines[i], "ES ")) {
            const char *p = strstr(lines[i], strstr(lines[i], "ES ")   ? ") A"
                                             : strstr(lines[i], " O ") ? " O "
                                                                       : " A ");

            snprintf(copy, sizeof copy, "%.*s%s", (int)(p - lines[i]) - 1, lines[i], p);
            mutant(format, lines, i, copy, "an opcode of an odd number of digits");
        }
    }
}

/* A line end that is gone: two records in one line, where the first ends with a fixed field. */
static void joined(const char *format, const char *const *lines)
{
    for (size_t i = 0; lines[i] && lines[i + 1]; i++) {
        char copy[512];

        if (!strstr(lines[i], " MR") && !strstr(lines[i], " MW") && !strstr(lines[i], " FD "))
            continue;
        snprintf(copy, sizeof copy, "%s%s", lines[i], lines[i + 1]);
        mutant(format, lines, i, copy, "a lost line end");
    }
}

/* The file ends inside its last record. */
static void cut_end(const char *format, const char *const *lines, size_t last)
{
    struct trod_buf text = {0};
    size_t from, to;

    for (size_t i = 0; i < last; i++)
        if (trod_buf_printf(&text, "%s\n", lines[i]) < 0)
            test_die("out of memory");
    limits(lines[last], &from, &to);
    if (strstr(lines[last], "CACHE ")) { /* its first words are what tells it from a note */
        trod_buf_fini(&text);
        return;
    }
    to = (size_t)(strchr(lines[last] + from, ' ') - lines[last]);
    if (trod_buf_add(&text, lines[last], to + 2) < 0)
        test_die("out of memory");
    expect(format, &text, last, "the cut end");
    trod_buf_fini(&text);
}

static void test_damage(void **state)
{
    static const struct {
        const char *format;
        const char *const *lines;
    } traces[] = {{"tarmac", fm}, {"tarmac", es}, {"matcher", matcher}};

    (void)state;
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        no_digit(traces[i].format, traces[i].lines);
        cut_fields(traces[i].format, traces[i].lines);
        widths(traces[i].format, traces[i].lines);
        joined(traces[i].format, traces[i].lines);
        for (size_t k = 0; traces[i].lines[k]; k++)
            cut_end(traces[i].format, traces[i].lines, k);
    }
    assert_true(done > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_damage)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
