/*
 * test_drm_pass.c - a plain drmemtrace file decoded in parts gives the rows and problems of one
 * decoder (passing.h).
 *
 * Random traces of every version, width and mixture of entries, and long rows of plain entries; the
 * columns that counting wants and all of them.
 */
#include "drm.h"
#include "passing.h"

enum {
    LEAN = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
           TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_TIME,
    X86_64 = 0x40,
    ENCODINGS = 0x200
};

static const struct trod_format *drmemtrace(void)
{
    return trod_format_find("drmemtrace", 10);
}

static void test_random(void **state)
{
    struct trod_gen g = gen_seed(31);

    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        const struct drm_random how = {
            .width = i % 4 == 3 ? 8 : 12,
            .version = 2 + (unsigned)gen_below(&g, 5),
            .filetype = (i % 2 ? ENCODINGS : 0) | (i % 3 ? X86_64 : 0),
            .chunk = i % 5 ? 0 : 300,
            .threads = 1 + (unsigned)gen_below(&g, 3),
            .bundles = i % 7 == 0,
            .wild = i % 3 == 0,
        };
        struct trod_buf b = {0};

        drm_random(&g, &how, 3000, &b, NULL, NULL);
        parts(&g, drmemtrace(), &b, i % 2 ? LEAN : TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE,
              i % 4 ? 4000 : b.n / 3);
        trod_buf_fini(&b);
    }
    assert_true(compared >= 40 && passed_over > 200 && rested > 200);
    assert_int_equal(waited, 0);
}

/* The head of a trace of FILETYPE, of one thread. */
static void head(struct trod_buf *b, uint64_t filetype)
{
    drm_put(b, 12, 25, 0, 6);
    drm_put(b, 12, 28, 12, 6);
    drm_put(b, 12, 28, 9, filetype);
    drm_put(b, 12, 22, 0, 7);
    drm_put(b, 12, 24, 0, 7);
}

/* Long rows of entries of which one in RARE is none for the hot loop, or has no size. */
static void test_plain(void **state)
{
    static const uint8_t types[] = {0, 1, 2, 3, 10, 10, 10, 11, 12, 13, 14, 15, 16, 27, 29, 48, 49};
    struct trod_gen g = gen_seed(32);

    (void)state;
    compared = passed_over = 0;
    for (unsigned k = 0; k < 30; k++) {
        const uint64_t rare = 1 + gen_below(&g, 300), none = k % 3 ? 0 : 40;
        struct trod_buf b = {0};

        head(&b, X86_64 | (k % 2 ? ENCODINGS : 0));
        drm_put(&b, 12, 28, 2, 1000);
        drm_put(&b, 12, 28, 3, 1);
        for (unsigned i = 0; i < 4000; i++) {
            const uint64_t addr = 0x400000 + gen_below(&g, 600) + (gen_below(&g, 20) << 20);
            const unsigned size =
                none && gen_once_in(&g, none) ? 0 : 1 + (unsigned)gen_below(&g, 8);

            if (!gen_once_in(&g, rare)) {
                /* now and then nothing but data */
                drm_put(&b, 12, types[gen_below(&g, i / 700 % 2 ? 4 : sizeof types)], size, addr);
                continue;
            }
            drm_put(&b, 12, 28, 2, 1000 + i);
            drm_put(&b, 12, 47, 1 + size % 8, gen_u64(&g));
            drm_put(&b, 12, 10, 1 + size % 8, addr);
            if (gen_once_in(&g, 5))
                drm_put(&b, 12, 22, 0, 7 + gen_below(&g, 3));
        }
        drm_put(&b, 12, 26, 0, 0);
        parts(&g, drmemtrace(), &b, k % 4 ? LEAN : TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE, 9000);
        trod_buf_fini(&b);
    }
    assert_true(compared == 30 && passed_over > 150);
    assert_true(shown > 10000 && hidden > 10000);
    assert_int_equal(waited, 0);
}

/*
 * The target of an indirect branch that comes only after a long row of other instructions: what
 * is hidden of that row in an outline would take it.
 */
static void test_late_branch(void **state)
{
    enum { BRANCH_TARGET = 29, INDIRECT = 12 };
    struct trod_gen g = gen_seed(35);

    (void)state;
    compared = 0;
    for (unsigned k = 0; k < 100; k++) {
        struct trod_buf b = {0};

        head(&b, X86_64);
        for (unsigned i = 0; i < 2000; i++) {
            if (i % 500 == 100)
                drm_put(&b, 12, 28, BRANCH_TARGET, 0x1234 + i);
            drm_put(&b, 12, i % 500 == 400 || i % 500 == 450 ? INDIRECT : 10, 4, 0x400000 + 4 * i);
        }
        drm_put(&b, 12, 26, 0, 0);
        parts(&g, drmemtrace(), &b, TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE, b.n / 2);
        trod_buf_fini(&b);
    }
    assert_in_range(compared, 1, 99);
    assert_int_equal(waited, 0);
}

/*
 * Instructions that all came before, in long rows: a part gets to know so many within a group that
 * its table grows there.
 */
static void test_inherited(void **state)
{
    enum { PLACES = 700 };
    struct trod_gen g = gen_seed(33);

    (void)state;
    compared = 0;
    for (unsigned k = 0; k < 10; k++) {
        struct trod_buf b = {0};

        head(&b, X86_64 | ENCODINGS);
        for (unsigned i = 0; i < PLACES; i++) {
            drm_put(&b, 12, 47, 4, gen_u64(&g) & UINT32_MAX);
            drm_put(&b, 12, 10, 4, 0x400000 + 4 * i);
        }
        for (unsigned i = 0; i < 4 * PLACES; i++)
            drm_put(&b, 12, 10, 4, 0x400000 + 4 * gen_below(&g, PLACES));
        drm_put(&b, 12, 23, 0, 7);
        drm_put(&b, 12, 26, 0, 0);
        parts(&g, drmemtrace(), &b, k % 2 ? LEAN : TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE,
              b.n / 3);
        trod_buf_fini(&b);
    }
    assert_int_equal(compared, 10);
    assert_int_equal(waited, 0);
}

/* The last row brings its encoding and stands behind a footer: the trace has no end. */
static void test_no_footer(void **state)
{
    struct trod_gen g = gen_seed(34);
    struct list rows = {0}, problems = {0};
    struct trod_buf b = {0};
    struct decoder d;

    (void)state;
    head(&b, X86_64 | ENCODINGS);
    for (unsigned i = 0; i < 2; i++) {
        drm_put(&b, 12, 47, 4, 0x90909090);
        drm_put(&b, 12, 10, 4, 0x400000 + 4 * i);
        if (i == 0)
            drm_put(&b, 12, 26, 0, 0);
    }
    begin(&d, drmemtrace(), &b, LEAN, &problems);
    (void)go(&d, &g, b.n, 1 << 20, &rows);
    assert_int_equal(problems.n, 1);
    end(&d);
    free(rows.item);
    free(problems.item);
    trod_buf_fini(&b);
}

/* ---- parts that assume what comes before them */

enum {
    ASSUMING = LEAN & ~TROD_COL_TIME, /* columns */
    MARKER = 28,
    ENCODING = 47,
    INSTR = 10,
    PLACES = 200,
    BASE = 0x400000,
    PARTS = 5 /* at the most */
};

/* What happens now and then in a trace: some of it makes wrong what a part assumes. */
enum happens {
    AGAIN,       /* the encoding comes again */
    CHANGED,     /* it becomes another, of a system call or not */
    WINDOW,      /* another window begins */
    KERNEL,      /* trace of a system call, which does not end at once */
    INTERRUPT,   /* the same for a hardware event */
    NEVER_CAME,  /* an instruction whose encoding never came */
    NO_MARKER,   /* no marker behind a system call */
    OTHER_TYPE,  /* the file type changes */
    OTHER,       /* another thread runs */
    NAMED,       /* another thread is named, and does not run */
    UNFETCHED,   /* a new instruction that is not fetched */
    SOME_MARKER, /* of which nothing depends */
    HAPPENINGS
};

struct program {
    struct trod_gen *g;
    struct trod_buf *b;
    bool known[PLACES], call[PLACES];
    bool kernel, interrupted;
};

static void marker(struct program *p, unsigned type, uint64_t value)
{
    drm_put(p->b, 12, MARKER, type, value);
}

/* Instruction I is executed, and says its encoding if it is not known or SAYS. */
static void execute(struct program *p, unsigned i, unsigned type, bool says)
{
    const uint64_t code = p->call[i] ? 0x050f : 0x9066 + ((uint64_t)i << 17 & 0xffff);

    if (!p->known[i] || says)
        drm_put(p->b, 12, ENCODING, 2, code);
    p->known[i] = true;
    if (type == 12)
        marker(p, 29, BASE);
    drm_put(p->b, 12, type, 2, BASE + 2 * (uint64_t)i);
    for (unsigned n = (unsigned)gen_below(p->g, 3); n && !p->call[i]; n--)
        drm_put(p->b, 12, (unsigned)gen_below(p->g, 2), 8, gen_below(p->g, 1 << 20));
}

static void call_system(struct program *p, unsigned i, bool marked)
{
    execute(p, i, INSTR, false);
    if (gen_once_in(p->g, 2)) {
        marker(p, 2, 1000 + p->b->n);
        marker(p, 3, 1);
    }
    if (marked)
        marker(p, 25, i);
    marker(p, 2, 1001 + p->b->n);
    marker(p, 3, 1);
}

static void happen(struct program *p, enum happens what, unsigned i)
{
    switch (what) {
    case CHANGED:
        p->call[i] = !p->call[i];
        execute(p, i, INSTR, true);
        marker(p, p->call[i] ? 25 : 4, 0);
        break;
    case WINDOW:
        marker(p, 14, 1);
        break;
    case KERNEL:
        marker(p, p->kernel ? 28 : 27, 3);
        p->kernel = !p->kernel;
        break;
    case INTERRUPT:
        marker(p, p->interrupted ? 44 : 43, 3);
        p->interrupted = !p->interrupted;
        break;
    case NEVER_CAME:
        drm_put(p->b, 12, INSTR, 2, BASE + 0x10000);
        break;
    case NO_MARKER:
        p->call[0] = true;
        call_system(p, 0, false);
        break;
    case OTHER_TYPE:
        marker(p, 9, X86_64 | ENCODINGS | 0x1000);
        break;
    case OTHER:
    case NAMED:
        drm_put(p->b, 12, 22, 0, 8);
        if (what == OTHER)
            execute(p, i, INSTR, false);
        drm_put(p->b, 12, 22, 0, 7);
        break;
    case UNFETCHED:
        drm_put(p->b, 12, ENCODING, 2, 0x9066);
        drm_put(p->b, 12, 29, 2, BASE + 0x20000 + gen_below(p->g, 64));
        break;
    case AGAIN:
        execute(p, i, INSTR, true);
        break;
    default:
        marker(p, 4, 1);
    }
}

/* A program in which one of HAPPENS, a bit for each, happens after RARE instructions or so. */
static void program(struct trod_gen *g, struct trod_buf *b, unsigned happens, uint64_t rare)
{
    static const unsigned types[] = {INSTR, INSTR, INSTR, 11, 12, 13};
    struct program p = {.g = g, .b = b};

    head(b, X86_64 | ENCODINGS | 0x400);
    marker(&p, 2, 1000);
    marker(&p, 3, 1);
    for (unsigned i = 0; i < PLACES; i++)
        p.call[i] = i % 16 == 3;
    for (unsigned n = 0, i = 0; n < 3000; n++) {
        const unsigned what = (unsigned)gen_below(g, HAPPENINGS);

        i = gen_once_in(g, 20) ? (unsigned)gen_below(g, PLACES) : (i + 1) % (30 + n / 20);
        if (p.call[i])
            call_system(&p, i, true);
        else
            execute(&p, i, types[gen_below(g, 6)], false);
        if (happens >> what & 1 && gen_once_in(g, rare))
            happen(&p, what, i);
    }
    drm_put(b, 12, 23, 0, 7);
    drm_put(b, 12, 26, 0, 0);
}

/*
 * In parts that assume what BEGINNING, which has passed over that of the trace, ends with:
 * their rows and problems. Do they say that it was right?
 */
static bool in_parts(struct trod_gen *g, struct decoder *beginning, struct list *rows,
                     struct list *problems)
{
    const struct trod_parts *f = drmemtrace()->parts;
    const struct trod_buf *in = beginning->in;
    const unsigned n = 2 + (unsigned)gen_below(g, PARTS - 1);
    struct decoder part[PARTS];
    int holds = 1;

    for (size_t k = 0, from = 0; k < n; k++) {
        const size_t at = from + in->n / n / 2 + gen_below(g, in->n / n / 2);
        const size_t more = f->cut(beginning->dec, at, in->p + at, in->n - at);

        begin(&part[k], drmemtrace(), in, ASSUMING, problems);
        if (k) {
            follow(&part[k], beginning);
            assert_int_equal(f->assume(part[k].dec), TROD_OK);
        }
        part[k].at = from;
        part[k].rows = rows->n;
        from = k + 1 == n || more == SIZE_MAX ? in->n : at + more;
        go(&part[k], g, from, 1 << 12, rows);
        if (k && holds)
            holds = f->assumed(part[k].dec, part[k - 1].dec);
        assert_in_range(holds, 0, 1);
    }
    for (unsigned k = 0; k < n; k++)
        end(&part[k]);
    return holds;
}

/* IN in parts that assume what is before them: where they say that it was right, it was. */
static bool assuming(struct trod_gen *g, const struct trod_buf *in)
{
    const struct trod_parts *f = drmemtrace()->parts;
    struct list rows = {0}, problems = {0}, part_rows = {0}, part_problems = {0};
    struct decoder serial, beginning;
    bool holds;

    begin(&serial, drmemtrace(), in, ASSUMING, &problems);
    go(&serial, g, in->n, 1 << 20, &rows);
    begin(&beginning, drmemtrace(), in, ASSUMING, &problems);
    assert_int_equal(go(&beginning, g, f->cut(beginning.dec, 0, in->p, in->n), 1 << 12, NULL), 0);
    assert_false(f->may_assume(beginning.dec, ASSUMING | TROD_COL_TIME));
    assert_false(f->may_assume(beginning.dec, ASSUMING | TROD_COL_INDEX));
    assert_false(f->may_assume(beginning.dec, ASSUMING | TROD_COL_CODE));
    holds = f->may_assume(beginning.dec, ASSUMING) &&
            in_parts(g, &beginning, &part_rows, &part_problems) && part_problems.n == 0;
    if (holds)
        same(&rows, &part_rows);
    end(&serial);
    end(&beginning);
    free(rows.item);
    free(problems.item);
    free(part_rows.item);
    free(part_problems.item);
    return holds;
}

static void test_assumed(void **state)
{
    struct trod_gen g = gen_seed(36);
    unsigned right = 0, wrong = 0;

    (void)state;
    for (unsigned k = 0; k < 400; k++) {
        const unsigned one = 1u << k / 4 % HAPPENINGS;
        const unsigned happens = k % 4 == 0 ? 0 : k % 4 == 1 ? (unsigned)gen_u64(&g) : one;
        const unsigned before = wrong;
        struct trod_buf b = {0};

        program(&g, &b, happens, k % 4 == 3 ? 300 : 20);
        if (assuming(&g, &b))
            right++;
        else
            wrong++;
        assert_true(wrong == before || happens & ~(1u << SOME_MARKER));
        trod_buf_fini(&b);
    }
    assert_true(right > 150 && wrong > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),      cmocka_unit_test(test_plain),
        cmocka_unit_test(test_late_branch), cmocka_unit_test(test_inherited),
        cmocka_unit_test(test_no_footer),   cmocka_unit_test(test_assumed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
