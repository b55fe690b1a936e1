/*
 * test_compare_edits.c - comparisons of random traces and of their edited copies.
 *
 * The editor knows what it did: that is what must be reported. Also: the report does not depend on
 * how rows are cut into batches and bytes into windows, it is mirrored when the sides change
 * places, and however traces differ no fewer rows are reported than a shortest edit script needs.
 */
#include "compare_data.h"

enum { TEXT = 1 << 17, INSTRS = 400, ROWS_OF_ONE = 4 };

/* A trace in the making: instructions, each the text of its lines. */
struct trace {
    char *group[INSTRS + 64];
    unsigned rows[INSTRS + 64];
    size_t n;
};

/* Instruction I with up to three more rows, from RNG. */
static void add(struct trace *t, struct trod_rng *rng, uint64_t pc, uint64_t code)
{
    char *p = calloc(1, 512);
    uint64_t shape = trod_rng_below(rng, 6);
    size_t n;

    assert_non_null(p);
    n = (size_t)snprintf(p, 512, "1 clk 0 IT (1) %08llx %08llx A svc : x\n", (unsigned long long)pc,
                         (unsigned long long)code);
    t->rows[t->n] = 1;
    for (unsigned k = 0; k < 2; k++)
        if (shape >> k & 1) {
            n += (size_t)snprintf(p + n, 512 - n, "1 clk R r%u %08llx\n", k,
                                  (unsigned long long)trod_rng_below(rng, 1u << 30));
            t->rows[t->n]++;
        }
    if (shape & 4) {
        snprintf(p + n, 512 - n, "1 clk MW4 %08llx %08llx\n",
                 (unsigned long long)trod_rng_below(rng, 1u << 20) * 4,
                 (unsigned long long)trod_rng_below(rng, 1u << 30));
        t->rows[t->n]++;
    }
    t->group[t->n++] = p;
}

static char *text_of(const struct trace *t)
{
    char *text = calloc(1, TEXT);
    size_t n = 0;

    assert_non_null(text);
    for (size_t i = 0; i < t->n; i++) {
        size_t len = strlen(t->group[i]);

        assert_true(n + len < TEXT);
        memcpy(text + n, t->group[i], len);
        n += len;
    }
    return text;
}

static void release(struct trace *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->group[i]);
    t->n = 0;
}

static uint64_t rows_before(const struct trace *t, size_t i)
{
    uint64_t n = 0;

    while (i-- > 0)
        n += t->rows[i];
    return n;
}

static char *copy(const char *s)
{
    char *p = calloc(1, 512);

    assert_non_null(p);
    memcpy(p, s, strlen(s));
    return p;
}

/* The lines of group I behind the first, last first. */
static void turn_around(struct trace *t, size_t i)
{
    char *old = t->group[i], *line[ROWS_OF_ONE] = {NULL}, *p = copy("");
    unsigned n = 0;

    for (char *s = strtok(old, "\n"); s; s = strtok(NULL, "\n"))
        line[n++] = s;
    strcat(strcat(p, line[0]), "\n");
    while (n-- > 1)
        strcat(strcat(p, line[n]), "\n");
    free(old);
    t->group[i] = p;
}

/* One edit of B at its instruction *I; what must be said goes to WANT. A_ROW: its row in A. */
static void edit(struct trod_rng *rng, struct trace *a, struct trace *b, size_t ia, size_t *ib,
                 char *want)
{
    unsigned long long ra = rows_before(a, ia), rb = rows_before(b, *ib);
    struct trace extra = {.n = 0};
    unsigned rows;
    char *value;

    switch (trod_rng_below(rng, 4)) {
    case 0: /* some instructions less */
        rows = b->rows[*ib] + b->rows[*ib + 1];
        for (int k = 0; k < 2; k++) {
            free(b->group[*ib]);
            memmove(&b->group[*ib], &b->group[*ib + 1], (b->n - *ib - 1) * sizeof b->group[0]);
            memmove(&b->rows[*ib], &b->rows[*ib + 1], (b->n - *ib - 1) * sizeof b->rows[0]);
            b->n--;
        }
        sprintf(want, "missing %u@%llu -\n", rows, ra);
        *ib -= 2;
        break;
    case 1: /* one more */
        add(&extra, rng, 0xf0000000u + trod_rng_below(rng, 1u << 20) * 4, 0xabc);
        memmove(&b->group[*ib + 1], &b->group[*ib], (b->n - *ib) * sizeof b->group[0]);
        memmove(&b->rows[*ib + 1], &b->rows[*ib], (b->n - *ib) * sizeof b->rows[0]);
        b->group[*ib] = extra.group[0];
        b->rows[*ib] = extra.rows[0];
        b->n++;
        sprintf(want, "inserted - %u@%llu\n", extra.rows[0], rb);
        ++*ib;
        break;
    case 2: /* another opcode */
        value = strstr(b->group[*ib], " A svc") - 1;
        *value = *value == '9' ? '8' : '9';
        sprintf(want, "changed 1@%llu 1@%llu code\n", ra, rb);
        break;
    default: /* another order */
        turn_around(b, *ib);
        want[0] = '\0';
    }
}

/* A trace in which nothing occurs twice, and its copy with edits 20 instructions apart. */
static char *make_pair(struct trod_rng *rng, struct trace *a, struct trace *b)
{
    char *want = calloc(1, OUT);
    size_t shift = 0;

    assert_non_null(want);
    for (uint64_t i = 0; i < INSTRS; i++)
        add(a, rng, 0x8000 + 4 * i, trod_rng_below(rng, 1u << 30));
    for (size_t i = 0; i < a->n; i++) {
        b->group[i] = copy(a->group[i]);
        b->rows[i] = a->rows[i];
    }
    b->n = a->n;
    for (size_t ia = 20; ia + 20 < a->n; ia += 20 + trod_rng_below(rng, 30)) {
        size_t ib = ia + shift;

        edit(rng, a, b, ia, &ib, want + strlen(want));
        shift = ib - ia;
    }
    return want;
}

static void test_edits(void **state)
{
    struct cmp_case *c = calloc(1, sizeof *c);
    struct trod_rng rng;

    (void)state;
    assert_non_null(c);
    trod_rng_seed(&rng, 11);
    for (int round = 0; round < 60; round++) {
        struct trace a = {.n = 0}, b = {.n = 0};
        char *want = make_pair(&rng, &a, &b), *ta = text_of(&a), *tb = text_of(&b);

        c->a = ta;
        c->b = tb;
        cmp_run(c);
        assert_string_equal(c->out, want);
        free(want);
        free(ta);
        free(tb);
        release(&a);
        release(&b);
    }
    free(c);
}

/* A few instructions, addresses and values: much is ambiguous. */
static char *wild(struct trod_rng *rng, size_t n, uint64_t kinds)
{
    struct trace t = {.n = 0};
    char *text;

    while (t.n < n) {
        uint64_t k = trod_rng_below(rng, kinds);

        add(&t, rng, 0x1000 + 4 * k, k);
    }
    text = text_of(&t);
    release(&t);
    return text;
}

/* The same report and the same numbers, however rows and bytes are cut. */
static void test_cuts(void **state)
{
    struct cmp_case *whole = calloc(1, sizeof *whole), *cut = calloc(1, sizeof *cut);
    struct trod_rng rng;

    (void)state;
    assert_non_null(whole);
    assert_non_null(cut);
    trod_rng_seed(&rng, 12);
    for (int round = 0; round < 60; round++) {
        const uint64_t windows[] = {0, 8, 64};
        char *a = wild(&rng, 100 + trod_rng_below(&rng, 250), 6 + trod_rng_below(&rng, 60));
        char *b = round % 3 ? wild(&rng, 150, 30) : a;

        memset(&whole->opt, 0, sizeof whole->opt);
        whole->opt.window = windows[trod_rng_below(&rng, 3)];
        whole->opt.independent = trod_rng_below(&rng, 4) == 0;
        whole->opt.skip_equal = trod_rng_below(&rng, 8) == 0;
        whole->opt.lookahead = trod_rng_below(&rng, 3) == 0 ? 64 : 0;
        whole->opt.align = trod_rng_below(&rng, 4) == 0 ? TROD_ALIGN_NONE : TROD_ALIGN_EDIT;
        whole->a = cut->a = a;
        whole->b = cut->b = b;
        cut->opt = whole->opt;
        cut->batch_rows = 1 + (uint32_t)trod_rng_below(&rng, 300);
        cut->window = 1024 + (uint32_t)trod_rng_below(&rng, 5000);
        cmp_run(whole);
        cmp_run(cut);
        assert_string_equal(whole->out, cut->out);
        assert_string_equal(whole->context[0], cut->context[0]);
        assert_string_equal(whole->context[1], cut->context[1]);
        assert_memory_equal(&whole->sum, &cut->sum, sizeof cut->sum);
        free(a);
        if (b != a)
            free(b);
    }
    free(whole);
    free(cut);
}

/* Write "g" over some digits of the values in TEXT. */
static void damage(struct trod_rng *rng, char *text)
{
    for (char *p = text; (p = strchr(p, '\n')) != NULL; p++)
        if (p > text && trod_rng_below(rng, 40) == 0)
            p[-1] = 'g';
}

/* All that came of X came of Y. */
static void assert_same(const struct cmp_case *x, const struct cmp_case *y)
{
    assert_string_equal(x->out, y->out);
    assert_string_equal(x->context[0], y->context[0]);
    assert_string_equal(x->context[1], y->context[1]);
    assert_string_equal(x->inputs, y->inputs);
    assert_string_equal(x->problems, y->problems);
    assert_memory_equal(&x->sum, &y->sum, sizeof x->sum);
}

/* Both sides are decoded ahead: the same differences, the same problems in the same order, where
 * one side is damaged, ends before the other, or is not read to its end. */
static void test_threads(void **state)
{
    struct cmp_case *serial = calloc(1, sizeof *serial), *both = calloc(1, sizeof *both);
    struct trod_rng rng;
    unsigned damaged = 0;

    (void)state;
    assert_non_null(serial);
    assert_non_null(both);
    trod_rng_seed(&rng, 15);
    for (int round = 0; round < 30; round++) {
        struct trace a = {.n = 0}, b = {.n = 0};
        char *want = make_pair(&rng, &a, &b), *ta = text_of(&a), *tb = text_of(&b);

        if (round % 2)
            damage(&rng, ta);
        if (round % 4 > 1)
            damage(&rng, tb);
        if (round % 5 == 0)
            *(round % 2 ? ta + strlen(ta) / 3 : tb + strlen(tb) / 2) = '\0';
        serial->a = both->a = ta;
        serial->b = both->b = tb;
        serial->damaged = both->damaged = true;
        serial->opt.serial = true;
        serial->opt.first_stop = both->opt.first_stop = round % 7 == 3;
        both->window = serial->window = 512 + (uint32_t)trod_rng_below(&rng, 4000);
        both->batch_rows = 1 + (uint32_t)trod_rng_below(&rng, 100);
        serial->batch_rows = both->batch_rows;
        cmp_run(serial);
        cmp_run(both);
        assert_same(serial, both);
        damaged += serial->problems[0] != '\0';
        free(want);
        free(ta);
        free(tb);
        release(&a);
        release(&b);
    }
    assert_true(damaged > 5);
    free(serial);
    free(both);
}

static int choose_all(void *user, int side, const struct trod_batch *b, uint8_t *keep)
{
    (void)user;
    (void)side;
    (void)b;
    (void)keep;
    return 0;
}

/* In stretches of TEXT instructions are of another cpu; here and there one is not, by RNG. */
static void spread(char *text, struct trod_rng *rng)
{
    unsigned n = 0;

    for (char *p = text; (p = strstr(p, "clk 0 IT")) != NULL; p++)
        p[4] = (char)('0' + (n++ / 50 % 2 ^ (trod_rng_below(rng, 100) == 0)));
}

/* Who chooses has each row looked at by itself: the same comes of many at once. */
static void test_one_by_one(void **state)
{
    struct cmp_case *many = calloc(1, sizeof *many), *one = calloc(1, sizeof *one);
    struct trod_rng rng;

    (void)state;
    assert_non_null(many);
    assert_non_null(one);
    trod_rng_seed(&rng, 16);
    one->opt.choose = choose_all;
    for (int round = 0; round < 60; round++) {
        struct trace a = {.n = 0}, b = {.n = 0};
        char *want = make_pair(&rng, &a, &b), *ta = text_of(&a), *tb = text_of(&b);

        if (round % 2) {
            spread(ta, &rng);
            spread(tb, &rng);
        }
        many->a = one->a = ta;
        many->b = one->b = tb;
        many->batch_rows = 1 + (uint32_t)trod_rng_below(&rng, 600);
        cmp_run(many);
        cmp_run(one);
        assert_same(many, one);
        free(want);
        free(ta);
        free(tb);
        release(&a);
        release(&b);
    }
    free(many);
    free(one);
}

/* What is missing for one is inserted for the other. */
static void test_mirror(void **state)
{
    struct cmp_case *c = calloc(1, sizeof *c), *d = calloc(1, sizeof *d);
    struct trod_rng rng;

    (void)state;
    assert_non_null(c);
    assert_non_null(d);
    trod_rng_seed(&rng, 13);
    for (int round = 0; round < 30; round++) {
        struct trace a = {.n = 0}, b = {.n = 0};
        char *want = make_pair(&rng, &a, &b), *ta = text_of(&a), *tb = text_of(&b);

        c->a = d->b = ta;
        c->b = d->a = tb;
        cmp_run(c);
        cmp_run(d);
        assert_int_equal(c->sum.differences, d->sum.differences);
        for (int side = 0; side < 2; side++) {
            assert_int_equal(c->sum.equal[side], d->sum.equal[!side]);
            assert_int_equal(c->sum.differing[side], d->sum.differing[!side]);
            assert_int_equal(c->sum.by_type[TROD_DIFF_MISSING + side],
                             d->sum.by_type[TROD_DIFF_INSERTED - side]);
        }
        free(want);
        free(ta);
        free(tb);
        release(&a);
        release(&b);
    }
    free(c);
    free(d);
}

/* Keys of the instructions of TEXT: their addresses. */
static size_t keys_of(const char *text, unsigned long *key)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, "(1) ")) != NULL; p += 4)
        key[n++] = strtoul(p + 4, NULL, 16);
    return n;
}

/* Instructions that a shortest script deletes and inserts, by the table. */
static uint64_t least_edits(const char *a, const char *b)
{
    static unsigned t[INSTRS + 1][INSTRS + 1];
    static unsigned long ka[INSTRS], kb[INSTRS];
    size_t n = keys_of(a, ka), m = keys_of(b, kb);

    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            unsigned down = i ? t[i - 1][j] : 0, right = j ? t[i][j - 1] : 0;

            t[i][j] = i && j && ka[i - 1] == kb[j - 1] ? t[i - 1][j - 1] + 1
                      : down > right                   ? down
                                                       : right;
        }
    return n + m - 2 * (uint64_t)t[n][m];
}

static char *only_instructions(struct trod_rng *rng, size_t n, uint64_t kinds)
{
    char *text = calloc(1, TEXT);
    size_t len = 0;

    assert_non_null(text);
    while (n-- > 0) {
        unsigned k = (unsigned)trod_rng_below(rng, kinds);

        len += (size_t)snprintf(text + len, TEXT - len, "1 clk 0 IT (1) %08x %08x A svc : x\n",
                                0x1000 + 4 * k, k);
    }
    return text;
}

/* Not fewer than needed; and over many traces not a quarter more. */
static void test_shortest(void **state)
{
    struct cmp_case *c = calloc(1, sizeof *c);
    uint64_t all = 0, least = 0;
    struct trod_rng rng;

    (void)state;
    assert_non_null(c);
    trod_rng_seed(&rng, 14);
    for (int round = 0; round < 300; round++) {
        uint64_t kinds = 2 + trod_rng_below(&rng, 40);
        char *a = only_instructions(&rng, trod_rng_below(&rng, 60), kinds);
        char *b = only_instructions(&rng, trod_rng_below(&rng, 60), kinds);
        uint64_t want = least_edits(a, b), got;

        c->a = a;
        c->b = b;
        cmp_run(c);
        got = c->sum.differing[0] + c->sum.differing[1];
        assert_true(got >= want);
        assert_int_equal(c->sum.equal[0], c->sum.equal[1]);
        all += got;
        least += want;
        free(a);
        free(b);
    }
    print_message("reported %llu rows, %llu needed\n", (unsigned long long)all,
                  (unsigned long long)least);
    assert_true(4 * all <= 5 * least);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edits),   cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_one_by_one),
        cmocka_unit_test(test_mirror),  cmocka_unit_test(test_shortest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
