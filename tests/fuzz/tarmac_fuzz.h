/*
 * tarmac_fuzz.h - what fuzz_tarmac.c and fuzz_matcher.c check of a trace: lines drawn from the
 * grammar, changed here and there, with raw bytes of the input between them.
 *
 * No crash; the same rows under two cuttings and without the fast path; what is encoded, in every
 * dialect, reads without an error, gives the rows again where the dialect is the same and nothing
 * was lost, and encodes to itself.
 */
#ifndef TROD_FUZZ_TARMAC_FUZZ_H
#define TROD_FUZZ_TARMAC_FUZZ_H

#include "fuzz.h"

#include "format/tarmac/tarmac.h"
#include "tarmac_gen.h"

enum { FUZZ_LINES = 60 };

static const struct trod_format *fuzz_original;

static inline int fuzz_slow_start(void *dec, const void *opt, const struct trod_span *head,
                                  struct trod_meta *meta, struct trod_diag *diag)
{
    int rc = fuzz_original->start(dec, opt, head, meta, diag);

    ((struct tm_dec *)dec)->slow = 1;
    return rc;
}

/* Lines of the sorts that the format has, until the input has run out. */
static inline struct trod_buf fuzz_lines(struct trod_gen *g, bool matcher)
{
    static const enum tarmac_gen sorts[] = {TARMAC_GEN_FAST, TARMAC_GEN_ANY, TARMAC_GEN_MUTATED,
                                            TARMAC_GEN_MATCHER};
    struct trod_buf out = {0};

    for (int i = 0; i < FUZZ_LINES && gen_more(g); i++) {
        if (gen_once_in(g, 12)) {
            uint8_t raw[24];
            size_t n = gen_below(g, sizeof raw);

            for (size_t k = 0; k < n; k++)
                raw[k] = (uint8_t)gen_raw(g, 1);
            fuzz_true(trod_buf_add(&out, raw, n) == 0, "out of memory");
        }
        tarmac_gen_line(g, matcher ? sorts[gen_below(g, 4)] : sorts[gen_below(g, 3)], &out);
    }
    if (gen_below(g, 2) && out.n)
        out.n--;
    return out;
}

static inline void fuzz_same_rows(const struct test_input *in, struct trod_gen *g)
{
    const struct test_how whole = {0};
    struct test_how cut = {.every = 1 + gen_below(g, 200), .rows = 1 + (uint32_t)gen_below(g, 40)};
    struct trod_format slow = *in->format;
    struct test_input general = *in;

    cut.move_state = fuzz_moves(g, in->format, in->n, cut.every);
    fuzz_true(test_same(in, &whole, 0, in, &cut, "cut"), "rows depend on how the input is cut");
    fuzz_original = in->format;
    slow.start = fuzz_slow_start;
    general.format = &slow;
    fuzz_true(test_same(in, &whole, 0, &general, &whole, "fast and general"),
              "the fast path gives other rows");
}

/* IN written with option number DIALECT, read, and written again. */
static inline void fuzz_recode(const struct test_input *in, int dialect, bool same_rows)
{
    const struct trod_format *f = in->format;
    const struct test_how how = {.mask = f->reads & f->writes & ~(uint32_t)TROD_COL_RAW};
    struct tm_options *opt = test_options(f, NULL);
    struct trod_buf once = {0}, twice = {0};
    struct test_input again = *in;
    struct test_rows a, b;
    uint64_t lost = 0;

    opt->dialect = dialect;
    fuzz_true(test_recode(in, f, opt, &once, &lost) == TROD_OK, "not encoded");
    again.p = once.p;
    again.n = once.n;
    b = test_decode(&again, &how);
    fuzz_true(b.rc == TROD_OK && b.errors == 0, "what was encoded has errors");
    if (same_rows && !lost) {
        a = test_decode(in, &how);
        a.stop = b.stop = 0;
        a.errors = 0; /* of lines that gave no rows */
        fuzz_true(test_rows_equal(&a, 0, &b) ||
                      (test_same(in, &how, 0, &again, &how, "encoded"), false),
                  "rows do not survive encoding");
        fuzz_true(test_recode(&again, f, opt, &twice, NULL) == TROD_OK, "encoded only once");
        fuzz_true(once.n == twice.n && (once.n == 0 || memcmp(once.p, twice.p, once.n) == 0),
                  "what was encoded encodes to something else");
        test_rows_free(&a);
    }
    test_rows_free(&b);
    trod_buf_fini(&once);
    trod_buf_fini(&twice);
    free(opt);
}

static inline void fuzz_trace(const char *format, const uint8_t *data, size_t size)
{
    struct trod_gen g = gen_bytes(data, size), after = fuzz_gen(data, size);
    bool matcher = strcmp(format, "matcher") == 0;
    struct trod_buf text = fuzz_lines(&g, matcher);
    const struct test_input in = {
        .format = trod_format_find(format, strlen(format)), .p = text.p, .n = text.n};
    const struct test_how whole = {0};
    struct test_rows rows = test_decode(&in, &whole);

    fuzz_same_rows(&in, &after);
    if (rows.rc == TROD_OK) {
        fuzz_recode(&in, 0, rows.errors == 0);
        for (int dialect = 1; dialect <= 3 && !matcher; dialect++)
            fuzz_recode(&in, dialect, false);
    }
    test_rows_free(&rows);
    trod_buf_fini(&text);
}

#endif
