/*
 * test_compare_fields.c - every field of every record kind, changed one by one, is a difference
 * that names it, and none where it is ignored by that name.
 *
 * The records are those of TarmacTrace and Trace Matcher ("Syntax of ..."), each field with two
 * values that its document allows. {NAMES|A|B} in a line is a field with the values A and B whose
 * change is reported under NAMES; without names the two records are about different things. Of
 * binary formats each byte of the golden files is changed: where the rows are not the same in all
 * columns any more, as a hash over all that they say tells, that is a difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fewer.h"
#include "golden.h"
#include "testlib.h"
#include "trod/trod.h"

enum { LINE = 512, FIELDS = 24, NAMES = 4, SMALL = 1000 };

/* Words of values that do not differ in them: 128, 448 and 480 bits. */
#define SAME_128 "89abcdef_89abcdef_89abcdef_89abcdef"
#define SAME_448 SAME_128 "_" SAME_128 "_" SAME_128 "_89abcdef_89abcdef"
#define SAME_480 SAME_448 "_89abcdef"

static const char *const tarmac[] = {
    /* instruction trace */
    ("{time|5|6} {unit|clk|ns} cpu0 {skipped|IT|IS} ({index|2|3}) "
     "{addr,pc|00001004|00001014}:{paddr|000000001004|000000002004}{security|_NS|} "
     "{opcode|d503201f|d5032020} O {mode|EL1h|EL2h}_n : NOP"),
    "5 clk cpu0 IT (2) 00001004:000000001004 d503201f O EL1h_{mode|n|s} : {text|NOP|HINT}",
    "5 clk cpu0 IT (2) 00001004 e12fff1e {iset|A|O} svc_s : BX lr",
    "5 clk cpu0 IT (2) 00001004 0000f00c T svc_{mode|s|ns} : B.W {pc}",
    "5 clk cpu0 IT (2) 00001004 d503201f O EL3h_{mode|rt|rl} : NOP",
    "5 clk cpu0 IT (2) 00001004 d503201f O EL3h_{mode|RT|NS} : NOP",
    "5 clk cpu0 IT (2) 00001004 d503201f O EL3h_main_{mode|s|n} : NOP",
    "5 clk cpu0 IT (2) 00001004 d503201f O EL3h_{mode|side|main} : NOP",
    "5 clk IT ({id|00001004|00001005}:00000002) 00001004 48f6 T16 LDR r0,[pc]",
    "5 clk IT ({id|00001003|00001005}:00000002) 00001004 48f6 T16 LDR r0,[pc]",
    /* what is told of long fields is the part that differs */
    ("5 clk cpu0 IT (2) 00001004 d503201f O EL1h_n : NOP ; "
     "the first of many words that come before the one that matters here {text|a|b}"),
    ("5 clk cpu0 IT (2) 00001004 d503201f O EL1h_n : NOP "
     "{text|a|b} is followed by many words that are the same on both sides of the comparison"),
    ("5 clk cpu0 UNHEARD OF=the_first_of_many_letters_that_come_before_those_that_matter_here "
     "STATE={name|N|Y} and more"),
    ("5 clk cpu0 IT (2) "
     "0000100a:00000000100a_NS,{pa2|00000000100c|00000000200c}{pa2_security|_NS|} "
     "e8900c00 T hyp_n : LDM r0,{r1,r2}"),
    /* program flow trace */
    ("{time|5|6} {unit|clk|ns} cpu0 {branch|FD|FI} ({index|2|3}) "
     "{addr,pc|00001004|00001014}:{paddr|000000001004|000000002004}{security|_NS|} "
     "{target|00002000|00003000}:{target_pa|000000002000|000000003000}{target_security|_NS|} "
     "{iset|O|A}"),
    /* register trace */
    "{time|5|6} {unit|clk|ns} cpu0 R {|X1|X2} {value|0000000000000001|0000000000000011}",
    "5 clk cpu0 R z31 00000000_00000000_{value|00000000|00010000}_00000000",
    "5 clk cpu0 R z31 {value|01234567|01234568}_" SAME_480,
    "5 clk cpu0 R z31 00000000_" SAME_480 "_{value|01234567|01234568}_" SAME_480,
    "5 clk cpu0 MW64 00008000 01234567_" SAME_448 "_{value|0000|8000}0000",
    /* cache maintenance trace */
    ("{time|5|6} {unit|clk|ns} cpu0 CACHE MAINTENANCE {name|Data|Instruction} cache "
     "{name|Clean|Invalidate} by MVA to {name|PoC|PoU} "
     "{addr|80400000|80400040}:{paddr|000080400000|000080500000}{security|_NS|} "
     "{pagesize|4K|64K} {memtype|Normal|Device} NonShareable"),
    /* cache content trace */
    ("{time|5|6} {unit|clk|ns} cpu0 CACHE {name|l1|l2} LINE {value|00aa|00ab} {sub|ALLOC|INVAL} "
     "{paddr|0x000080400000|0x000080500000}{security|_NS|}"),
    /* translation table walk trace */
    ("{time|5|6} {unit|clk|ns} cpu0 {update|TTW|TTU} {side|DTLB|ITLB} {format|LPAE|VMSA} "
     "{stage|1|2}:{level|3|2} {paddr|000080390010|000080390018} "
     "{value|00000000804004c3|00000000804004c7} : {name|BLOCK|TABLE} {attrs|ATTRIDX=0|ATTRIDX=1} "
     "NS=0"),
    /* TLB trace */
    ("{time|5|6} {unit|clk|ns} cpu0 {sub|TLB|WALKCACHE} FILL {name|l1|l2} "
     "{size,region|4K|64K} {addr|0x80400000|0x80500000}{virtual_security|_NS|} {el|EL1_n|EL2_n} "
     "vmid={vmid|3|4}{asid,nonglobal|, nG asid=17|}:"
     "{paddr|0x0080400000|0x0080500000}{security|_NS|} {memtype|Normal|Device} "
     "{memtype|NonShareable|OuterShareable} {attrs|xn=0|xn=1} pxn=0"),
    ("5 clk cpu0 TLB FILL l1 4K 0x80400000 EL1_n vmid=3, nG asid={asid|17|18}:0x0080400000 "
     "Normal NonShareable xn=0"),
    "5 clk cpu0 TLB EVICT l1 4K {addr|0x80300000|0x80310000} {el|EL3_s|EL1_s}",
    /* event trace */
    ("{time|5|6} {unit|clk|ns} cpu0 E {addr|80001104|80001108} {mode|abt|irq} 00000019 "
     "CoreEvent_ModeChange"),
    ("5 clk cpu0 E 80001104 {value1|00000004|00000005} {value|00000084|00000085} "
     "CoreEvent_CURRENT_SPx_SYNC"),
    ("5 clk cpu0 E 80001104:{paddr|000080001104|000080002104}{security|_NS|} 00000084 "
     "{name|CoreEvent_CURRENT_SPx_SYNC|CoreEvent_CURRENT_SPx_IRQ}"),
    /* processor memory access trace */
    ("{time|5|6} {unit|clk|ns} cpu0 M{|R|W}4 {addr|00008000|00008004}:"
     "{paddr|000000008000|000000009000}{security|_NS|} {value|00000001|00000002}"),
    "5 clk cpu0 MR{size|4|2} 00008000 0001",
    "5 clk cpu0 MW8{exclusive|X|} 00008000 00000000_00000001",
    "5 clk cpu0 MW8{unprivileged|T|} 00008000 00000000_00000001",
    "5 clk cpu0 MW8{locked|L|} 00008000 00000000_00000001",
    "5 clk cpu0 MW8{exclusive,unprivileged|X|T} 00008000 00000000_00000001",
    /* processor memory update trace */
    ("{time|5|6} {unit|clk|ns} cpu0 MU4_{name|ADD|SWP} {addr|80400000|80400008}:"
     "{paddr|000080400000|000080500000}{security|_NS|} {value|00000005|00000006}"),
    "5 clk cpu0 MU{value,size|4_ADD 80400000 00000005|8_ADD 80400000 00000000_00000006}",
    /* memory bus trace */
    ("{time|5|6} {unit|clk|ns} cpu0 B{direction|R|W}4{fetch|I|D}{exclusive|X|_}{privileged|P|_}"
     "{security|S|N} I{inner|_____|WRCBS} O{outer|_____|__C__} {master|3|4} "
     "{paddr|000080001008|00008000100c} {value|e0031f2a|e0031f2b}"),
    "5 clk cpu0 BR4D{locked|L|_}_S I_____ O_____ 3 000080001008 e0031f2a",
};

static const char *const matcher[] = {
    ("{time|5|6} {unit|clk|ns} 0 {skipped|IT|IS} ({index|2|3}) {addr,pc|00001004|00001014} "
     "{opcode|00000002|00000003} {iset,opcode|A|T} {mode|svc|usr}_s : lui"),
    "5 clk 0 IT (2) 00001004 00000002 A svc_{mode|s|ns} : {text|lui|ori}",
    "{time|5|6} {unit|clk|ns} M{|R|W}4 {addr|00008000|00008004} {value|00000001|00000002}",
    "5 clk MR{size|4|2} 00008000 0001",
    "5 clk MW4{privileged|X|} 00008000 00000001",
    "5 clk MW4{unprivileged|T|} 00008000 00000001",
    "{time|5|6} {unit|clk|ns} R {|r1|r2} {value|00000001|00000011}",
};

/* A field of a line: its names, and where its two values stand. */
struct field {
    char names[LINE];
    const char *value[2];
    size_t n[2];
};

/* The fields of LINE that are written {NAMES|A|B}. */
static size_t list_fields(const char *line, struct field *out)
{
    size_t n = 0;

    for (const char *p = line; (p = strchr(p, '{')) != NULL; p++) {
        const size_t names = strcspn(p + 1, "|}"), all = strcspn(p, "}");
        const char *a = p + 2 + names, *b;

        /* A list of registers, a label. */
        if (p[1 + names] != '|')
            continue;
        b = a + strcspn(a, "|");
        snprintf(out[n].names, sizeof out[n].names, "%.*s", (int)names, p + 1);
        out[n] =
            (struct field){.value = {a, b + 1}, .n = {(size_t)(b - a), (size_t)(p + all - b - 1)}};
        snprintf(out[n].names, sizeof out[n].names, "%.*s", (int)names, p + 1);
        n++;
        assert_true(n < FIELDS);
    }
    return n;
}

/* LINE with the first value of each field but the second of field CHANGED. */
static void fill(const char *line, const struct field *field, size_t changed, char *out)
{
    size_t k = 0;

    while (*line) {
        const size_t names = *line == '{' ? strcspn(line + 1, "|}") : 0;

        if (*line == '{' && line[1 + names] == '|') {
            const int which = k == changed;

            memcpy(out, field[k].value[which], field[k].n[which]);
            out += field[k].n[which];
            line += strcspn(line, "}") + 1;
            k++;
        } else {
            *out++ = *line++;
        }
    }
    *out = '\0';
}

/* What a comparison found. */
struct found {
    size_t n;
    char names[LINE];
};

static int tell(void *user, const struct trod_compare *c, const struct trod_difference *d)
{
    struct found *f = user;

    (void)c;
    f->n++;
    for (size_t i = 0; i < d->n_fields; i++) {
        size_t n = strlen(f->names);

        snprintf(f->names + n, sizeof f->names - n, "%s%s", n ? "," : "", d->field[i].name);
        if (strcmp(d->field[i].said[0], d->field[i].said[1]) == 0)
            snprintf(f->names, sizeof f->names, "%s says the same: %s", d->field[i].name,
                     d->field[i].said[0]);
    }
    return 0;
}

static struct found compare_bytes(const char *dir, const char *format, const void *const data[2],
                                  size_t n, const struct trod_compare_options *opt)
{
    struct found found = {0};
    struct trod_trace *t[2];
    struct trod_compare_summary sum;
    struct trod_diag diag;

    trod_diag_init(&diag, NULL, NULL);
    for (int side = 0; side < 2; side++) {
        char *path = test_path(dir, side ? "b" : "a");
        const char *paths[] = {path};
        const struct trod_trace_options topt = {.from = format, .input.no_thread = true};

        test_save(path, data[side], n ? n : strlen(data[side]));
        assert_int_equal(trod_trace_open(&t[side], paths, 1, &topt, &diag), 0);
        trod_trace_want(t[side], trod_compare_want(opt));
        free(path);
    }
    trod_compare_run(t[0], t[1], opt, tell, &found, &sum, &diag);
    if (diag.errors)
        snprintf(found.names, sizeof found.names, "lines that are not read");
    trod_trace_close(t[0]);
    trod_trace_close(t[1]);
    return found;
}

static struct found compare(const char *dir, const char *format, const char *const text[2],
                            const struct trod_compare_options *opt)
{
    const void *const data[2] = {text[0], text[1]};

    return compare_bytes(dir, format, data, 0, opt);
}

/* Names as a list for --ignore; they are parted in place. */
static size_t split(char *names, const char **out)
{
    size_t n = 0;

    for (char *p = strtok(names, ","); p; p = strtok(NULL, ","))
        out[n++] = p;
    return n;
}

/* The change of field K of LINE. Returns whether all is as it should be. */
static bool try_field(const char *dir, const char *format, const char *line,
                      const struct field *field, size_t k)
{
    static const char *const all[] = {"all"};
    const bool is_tarmac = strcmp(format, "tarmac") == 0;
    const char *before = is_tarmac ? "1 clk cpu0 IT (1) 00001000 d503201f O EL1h_n : NOP\n"
                                   : "1 clk 0 IT (1) 00001000 00000001 A svc_s : nop\n";
    char text[2][3 * LINE], changed[LINE], names[LINE];
    const char *const both[2] = {text[0], text[1]}, *ignore[NAMES];
    struct trod_compare_options opt = {
        .track = (1u << TROD_TRACK_CLASSES) - 1, .also = all, .n_also = 1, .serial = true};
    struct found found;

    for (int side = 0; side < 2; side++) {
        fill(line, field, side ? k : SIZE_MAX, changed);
        /* The same record once more: both sides do give all of its fields. */
        fill(line, field, SIZE_MAX, names);
        snprintf(text[side], sizeof text[side], "%s%s\n%s%s\n", before, changed, before, names);
    }
    found = compare(dir, format, both, &opt);
    if (field[k].names[0] ? found.n != 1 || strcmp(found.names, field[k].names) != 0
                          : found.n == 0) {
        fprintf(stderr, "%s: %s\nexpected %s, got %zu differences: %s\n", format, changed,
                field[k].names, found.n, found.names);
        return false;
    }
    memcpy(names, field[k].names, sizeof names);
    opt.ignore = ignore;
    opt.n_ignore = split(names, ignore);
    found = compare(dir, format, both, &opt);
    if (field[k].names[0] && found.n != 0) {
        fprintf(stderr, "%s: %s\n%s is ignored, and %zu differences: %s\n", format, changed,
                field[k].names, found.n, found.names);
        return false;
    }
    return true;
}

static void run(const char *format, const char *const *line, size_t n)
{
    char *dir = test_tmpdir();
    size_t wrong = 0, tried = 0;

    for (size_t i = 0; i < n; i++) {
        struct field field[FIELDS];
        const size_t fields = list_fields(line[i], field);

        for (size_t k = 0; k < fields; k++) {
            if (field[k].n[0] == field[k].n[1] &&
                memcmp(field[k].value[0], field[k].value[1], field[k].n[0]) == 0)
                continue;
            tried++;
            wrong += !try_field(dir, format, line[i], field, k);
        }
    }
    test_remove(dir);
    free(dir);
    printf("%s: %zu fields\n", format, tried);
    assert_true(tried > 0);
    assert_int_equal(wrong, 0);
}

static void test_tarmac(void **state)
{
    (void)state;
    run("tarmac", tarmac, sizeof tarmac / sizeof *tarmac);
}

static void test_matcher(void **state)
{
    (void)state;
    run("matcher", matcher, sizeof matcher / sizeof *matcher);
}

/*
 * The detail of a TT6 branch is its real target alone (8 bytes): no mode may be looked for behind
 * it. A pc, and twice a real target (escape 3, two longwords) before a branch to itself.
 */
static void test_short_details(void **state)
{
    static const uint8_t data[] = {
        0x00, 0x00, 0x10, 0x00,                                                 /* pc */
        0x00, 0x03, 0x00, 0x02, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00, /* real target */
        0x48, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00,                         /* b, its target */
        0x00, 0x03, 0x00, 0x02, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00,
        0x48, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00};
    /* The same with one longword, once. */
    static const uint8_t least[20] = {0x00, 0x00, 0x10, 0x00, 0x00, 0x03, 0x00, 0x01, 0x00, 0x00,
                                      0x40, 0x00, 0x48, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00};
    const struct trod_compare_options opt = {.serial = true};
    uint8_t other[sizeof data];
    const void *const same[2] = {data, data}, *const differ[2] = {data, other};
    const void *const small[2] = {least, least};
    char *dir = test_tmpdir();
    struct found found;

    (void)state;
    memcpy(other, data, sizeof data);
    other[15] = 0x04;
    assert_int_equal(compare_bytes(dir, "tt6", small, sizeof least, &opt).n, 0);
    assert_int_equal(compare_bytes(dir, "tt6", same, sizeof data, &opt).n, 0);
    found = compare_bytes(dir, "tt6", differ, sizeof data, &opt);
    assert_string_equal(found.names, "value,target_pa");
    test_remove(dir);
    free(dir);
}

/* Change byte AT of G. Returns whether compare sees it where the rows differ. */
static bool try_byte(const char *dir, const struct golden *g, uint8_t *copy, size_t at)
{
    static const char *const all[] = {"all"};
    /* A stream is a number to the decoder and a name to compare. */
    const struct test_how how = {
        .resume = true,
        .mask = TROD_COL_ALL & ~(uint32_t)(TROD_COL_RAW | TROD_COL_SITE | TROD_COL_STREAM)};
    const struct trod_compare_options opt = {
        .track = (1u << TROD_TRACK_CLASSES) - 1, .also = all, .n_also = 1, .serial = true};
    const struct test_input in[2] = {{.format = g->format, .p = g->data.p, .n = g->data.n},
                                     {.format = g->format, .p = copy, .n = g->data.n}};
    const void *const data[2] = {g->data.p, copy};
    struct test_rows rows[2];
    struct found found;
    bool same, right = true;

    for (int side = 0; side < 2; side++)
        rows[side] = test_decode(&in[side], &how);
    same = rows[0].n == rows[1].n &&
           memcmp(rows[0].hash, rows[1].hash, rows[0].n * sizeof *rows[0].hash) == 0;
    if (rows[1].rc == 0 && rows[1].errors == 0) {
        found = compare_bytes(dir, g->format->name, data, g->data.n, &opt);
        right = same || found.n > 0;
    }
    if (!right) {
        fprintf(stderr, "%s: byte %zu: %02x becomes %02x: compare does not see it\n", g->name, at,
                g->data.p[at], copy[at]);
    }
    test_rows_free(&rows[0]);
    test_rows_free(&rows[1]);
    return right;
}

static size_t wrong_bytes;

static void each_byte(const struct golden *g)
{
    char *dir;
    uint8_t *copy;
    size_t step;

    /* a field that a packet of gem5 does not have is no difference */
    if (strcmp(g->format->name, "gem5packet") == 0)
        return;
    if ((g->format->flags & TROD_FMT_TEXT) || g->damaged || g->data.n > SMALL || g->data.n == 0)
        return;
    dir = test_tmpdir();
    copy = malloc(g->data.n);
    assert_non_null(copy);
    step = test_step() * (g->data.n > SMALL / 5 ? 3 : 1);
    for (size_t at = 0; at < g->data.n; at += step) {
        memcpy(copy, g->data.p, g->data.n);
        copy[at] ^= (uint8_t)(1u << at % 8);
        wrong_bytes += !try_byte(dir, g, copy, at);
    }
    free(copy);
    test_remove(dir);
    free(dir);
}

static void test_binary(void **state)
{
    (void)state;
    golden_each(0, each_byte);
    assert_int_equal(wrong_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tarmac),
        cmocka_unit_test(test_matcher),
        cmocka_unit_test(test_short_details),
        cmocka_unit_test(test_binary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
