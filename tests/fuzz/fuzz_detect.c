/*
 * fuzz_detect.c - any bytes before the drivers' bids, and through the reader as a file.
 *
 * Bids are numbers of bits and do not depend on the order of the drivers; a reader that accepts the
 * bytes comes to their end, with rows numbered without a gap.
 */
#include "fuzz.h"

enum { FORMATS_MAX = 64 };

static size_t shuffled(struct trod_gen *g, const struct trod_format **list)
{
    size_t n = 0;

    for (; n < FORMATS_MAX && trod_format_at(n); n++) {
        size_t k = gen_below(g, n + 1);

        list[n] = list[k];
        list[k] = trod_format_at(n);
    }
    fuzz_true(!trod_format_at(n), "more formats than this test shuffles");
    return n;
}

/* PATH: a name that fits some format lets less be enough than one that fits none. */
static void detect(const uint8_t *data, size_t size, const char *path, int enough,
                   struct trod_gen *g)
{
    const struct trod_probe probe = {{data, size, 0, true}, size, path};
    const struct trod_format *list[FORMATS_MAX];
    size_t n = shuffled(g, list);
    struct trod_candidate a = {0}, b = {0};
    int rc = trod_detect(&probe, NULL, 0, &a, NULL);

    fuzz_true(rc == trod_detect(&probe, list, n, &b, NULL) && a.format == b.format &&
                  a.bits == b.bits,
              "detection depends on the order of the drivers");
    fuzz_true(rc != TROD_OK || (a.format && a.bits >= enough), "accepted without evidence");
    for (size_t i = 0; i < n; i++) {
        const char *dialect = NULL;
        int bits = list[i]->bid ? list[i]->bid(&probe, &dialect) : 0;

        fuzz_true(bits >= 0 && bits < 1 << 20, "a bid that is no number of bits");
    }
}

static void read_all(const uint8_t *data, size_t size)
{
    const struct trod_input_options io = {.no_thread = true};
    struct trod_diag diag;
    struct trod_meta meta;
    struct trod_input *in;
    struct trod_reader *r;
    struct trod_batch *b;
    uint64_t rows = 0;

    trod_diag_init(&diag, NULL, NULL);
    trod_meta_init(&meta);
    if (trod_batch_new(&b, 100) < 0)
        test_die("out of memory");
    if (trod_input_memory(&in, data, size, "fuzz", &io, &diag) == TROD_OK &&
        trod_reader_open(&r, in, NULL, &meta, &diag) == TROD_OK) {
        while (trod_reader_next(r, b) > 0) {
            fuzz_true(b->n > 0 && b->n <= b->cap && b->first == rows, "rows are misnumbered");
            rows += b->n;
        }
        fuzz_true(rows == trod_reader_rows(r), "rows are miscounted");
        trod_reader_close(r);
    }
    trod_batch_free(b);
    trod_meta_fini(&meta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trod_gen g = fuzz_gen(data, size);

    detect(data, size, "some", TROD_BID_ACCEPT, &g);
    detect(data, size, "some.trace", TROD_BID_NAMED, &g);
    read_all(data, size);
    return 0;
}
