/*
 * fuzz_byu.c - rows drawn from the input as bus traces: no reference passes a bus word, but for
 * byu12's of 16 and 32 bytes that begin with one, and both formats say the same bytes.
 */
#include "fuzz.h"
#include "golden.h"

struct sums {
    uint64_t reads, writes, fetches;
};

static struct sums sum(const struct trod_format *f, const struct trod_buf *in)
{
    const struct trod_span head = {in->p, in->n, 0, true};
    struct trod_span span = head;
    struct sums s = {0, 0, 0};
    struct trod_meta meta;
    struct trod_batch *b;
    void *dec = calloc(1, f->dec_size);
    int rc = TROD_DEC_FULL;

    trod_meta_init(&meta);
    if (!dec || trod_batch_new(&b, 100) < 0)
        test_die("out of memory");
    b->meta = &meta;
    fuzz_true(f->start(dec, f->defaults, &head, &meta, NULL) == 0, "not started");
    while (rc == TROD_DEC_FULL) {
        trod_batch_clear(b);
        b->bytes = span.p;
        b->bytes_n = span.n;
        rc = f->decode(dec, &span, b, NULL);
        for (uint32_t i = 0; i < b->n; i++) {
            uint64_t *sum_of = b->kind[i] == TROD_READ    ? &s.reads
                               : b->kind[i] == TROD_WRITE ? &s.writes
                                                          : &s.fetches;
            const uint32_t first = b->addr[i] & 7, n = b->size[i];
            const bool burst = strcmp(f->name, "byu12") == 0 && first == 0 && (n == 16 || n == 32);

            fuzz_true(burst || (n <= 8 && first + n <= 8), "a reference passes a bus word");
            *sum_of += b->size[i];
        }
    }
    fuzz_true(rc == TROD_DEC_MORE, "another end");
    trod_batch_free(b);
    trod_meta_fini(&meta);
    free(dec);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct trod_format *const f[] = {trod_format_find("byu6", 4),
                                           trod_format_find("byu12", 5)};
    struct trod_buf out[2] = {{0}, {0}};
    struct sums s[2];

    for (int i = 0; i < 2; i++) {
        struct trod_gen g = fuzz_gen(data, size);
        struct trod_gen rows = gen_bytes(data, size);

        fuzz_true(test_random_rows(&rows, 1 + (uint32_t)gen_below(&g, 60), f[i], NULL, &out[i]) ==
                      TROD_OK,
                  "rows are not written");
        s[i] = sum(f[i], &out[i]);
    }
    /* the rows drawn are not the same for both: each must read back as written by the other too */
    for (int i = 0; i < 2; i++) {
        const struct test_input in = {.format = f[i], .p = out[i].p, .n = out[i].n};
        struct trod_buf other = {0};
        struct sums t;

        fuzz_true(test_recode(&in, f[1 - i], NULL, &other, NULL) == TROD_OK, "not converted");
        t = sum(f[1 - i], &other);
        fuzz_true(t.reads == s[i].reads && t.writes == s[i].writes && t.fetches == s[i].fetches,
                  "the other format says other bytes");
        trod_buf_fini(&other);
    }
    trod_buf_fini(&out[0]);
    trod_buf_fini(&out[1]);
    return 0;
}
