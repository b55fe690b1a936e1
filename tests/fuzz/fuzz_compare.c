/*
 * fuzz_compare.c - two traces against each other: any bytes, and a trace against a damaged copy.
 *
 * The first byte chooses options, the second the format; the rest is the first trace, up to a NUL
 * (0xff for binary formats), and behind it the second; without a second one it is the first with
 * lines changed places and bytes changed. No crash, no lost rows: each is equal, in a difference or
 * skipped; and a trace is equal to itself.
 */
#include "fuzz.h"

enum { MOST = 1 << 16 };

static const struct trod_format *pick(unsigned n)
{
    size_t formats = 0;

    while (trod_format_at(formats))
        formats++;
    return trod_format_at(n % formats);
}

/* The options that bits of A and B stand for. */
static void choose(struct trod_compare_options *o, unsigned a, unsigned b)
{
    static const uint64_t windows[] = {0, 2, 16, 1000};

    memset(o, 0, sizeof *o);
    o->window = windows[a & 3];
    o->window_unit = (a & 4) ? TROD_WINDOW_TICKS : TROD_WINDOW_ROWS;
    o->align = (a & 8) ? TROD_ALIGN_NONE : TROD_ALIGN_EDIT;
    o->independent = a & 16;
    o->skip_equal = a & 32;
    o->skip_rest = a & 64;
    o->auto_slide = a & 128;
    o->track = (b & 64) ? (1u << TROD_TRACK_CLASSES) - 1 : 0;
    o->lookahead = (b & 128) ? 16 : 0;
}

static char *save(const char *dir, const char *name, const uint8_t *p, size_t n)
{
    char *path = test_path(dir, name);

    test_save(path, p, n);
    return path;
}

static uint64_t told;

static int tell(void *user, const struct trod_compare *c, const struct trod_difference *d)
{
    (void)user;
    (void)c;
    fuzz_true(d->number == told, "differences are told in order");
    fuzz_true(d->n_rows[0] || d->n_rows[1], "a difference without rows");
    for (int side = 0; side < 2; side++) {
        fuzz_true(d->n_rows[side] <= d->count[side], "more rows shown than there are");
        for (size_t i = 1; i < d->n_context[side]; i++)
            fuzz_true(d->context[side][i - 1].ordinal < d->context[side][i].ordinal,
                      "context out of order");
    }
    told++;
    return 0;
}

/* Compare the files A and B; the number of differences, or -1 where one cannot be opened. */
static int64_t compare(const char *a, const char *b, const struct trod_format *f,
                       const struct trod_compare_options *opt, uint32_t rows)
{
    const struct trod_trace_options topt = {
        .from = f->name, .batch_rows = rows, .input.no_thread = true};
    struct trod_compare_summary sum;
    struct trod_trace *t[2] = {NULL, NULL};
    struct trod_diag diag;
    int64_t n = -1;

    trod_diag_init(&diag, NULL, NULL);
    told = 0;
    if (trod_trace_open(&t[0], &a, 1, &topt, &diag) == 0 &&
        trod_trace_open(&t[1], &b, 1, &topt, &diag) == 0) {
        trod_trace_want(t[0], trod_compare_want(opt));
        trod_trace_want(t[1], trod_compare_want(opt));
        trod_compare_run(t[0], t[1], opt, tell, NULL, &sum, &diag);
        for (int side = 0; side < 2; side++)
            fuzz_true(sum.rows[side] == sum.equal[side] + sum.differing[side] + sum.skipped[side],
                      "rows are lost");
        n = (int64_t)sum.differences;
    }
    trod_trace_close(t[0]);
    trod_trace_close(t[1]);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct trod_format *f;
    struct trod_compare_options opt;
    const uint8_t *end;
    struct trod_gen g;
    uint8_t *second;
    char *dir, *a, *b;
    size_t n, m;
    int64_t once;

    if (size < 3 || size > MOST)
        return 0;
    g = fuzz_gen(data, size);
    f = pick(data[1] & 63);
    choose(&opt, data[0], data[1]);
    data += 2;
    size -= 2;
    end = memchr(data, f->flags & TROD_FMT_TEXT ? 0 : 0xff, size);
    n = end ? (size_t)(end - data) : size;
    m = end ? size - n - 1 : n;
    second = malloc(m + 1);
    fuzz_true(second != NULL, "no memory");
    memcpy(second, end ? end + 1 : data, m);
    for (unsigned i = 0; !end && m && i < 1 + gen_below(&g, 4); i++)
        second[gen_below(&g, m)] = (uint8_t)gen_u64(&g);
    dir = test_tmpdir();
    a = save(dir, "a", data, n);
    b = save(dir, "b", second, m);
    once = compare(a, b, f, &opt, 0);
    fuzz_true(compare(a, b, f, &opt, 20 + (uint32_t)gen_below(&g, 60)) == once,
              "differences depend on batches");
    fuzz_true(compare(a, a, f, &opt, 0) <= 0, "a trace differs from itself");
    test_remove(dir);
    free(second);
    free(dir);
    free(a);
    free(b);
    return 0;
}
