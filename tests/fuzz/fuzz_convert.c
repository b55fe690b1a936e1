/*
 * fuzz_convert.c - structured rows from any format into any other.
 *
 * The input chooses two formats and then draws rows (golden.h). They are written in the first
 * format, read, written in the second, and read again: what our encoders write our decoders read
 * without a word, however wild the rows.
 */
#include "fuzz.h"
#include "golden.h"

enum { ROWS = 200 };

static const struct trod_format *pick(struct trod_gen *g)
{
    size_t n = 0;

    while (trod_format_at(n))
        n++;
    return trod_format_at(gen_below(g, n));
}

/* A file we wrote: whole, without an error, cut in any way. */
static void reads(const struct trod_format *f, const struct trod_buf *b, size_t every)
{
    const struct test_input in = {.format = f, .p = b->p, .n = b->n};
    const struct test_how whole = {0}, cut = {.every = every, .rows = 3, .move_state = true};
    struct test_rows rows = test_decode(&in, &whole);

    if (rows.rc != TROD_OK || rows.errors) {
        fprintf(stderr, "%s: status %d, %llu errors; %s\n", f->name, rows.rc,
                (unsigned long long)rows.errors, rows.message);
        fuzz_true(false, "what was written is not read without errors");
    }
    fuzz_true(test_same(&in, &whole, 0, &in, &cut, f->name), "rows depend on how input is cut");
    test_rows_free(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trod_gen g = gen_bytes(data, size);
    const struct trod_format *from = pick(&g), *to = pick(&g);
    size_t every = 1 + gen_below(&g, 200);
    struct trod_buf first = {0}, second = {0};

    if (from && to && from->begin && to->begin &&
        test_random_rows(&g, ROWS, from, NULL, &first) == TROD_OK) {
        const struct test_input in = {.format = from, .p = first.p, .n = first.n};

        reads(from, &first, every);
        if (test_recode(&in, to, NULL, &second, NULL) == TROD_OK)
            reads(to, &second, every);
    }
    trod_buf_fini(&first);
    trod_buf_fini(&second);
    return 0;
}
