/*
 * fuzz_input.c - filters and windows. The input is a head of 8 bytes and a body.
 *
 * Head: 0: filters the body is wrapped into (mod 4); 1 to 3: which; 4: non-zero: damage one byte
 * of the wrapped bytes; 5: options; 6, 7: how much is asked for and taken. A body without wrapping
 * is what a filter has to bear; a wrapped one has to come back as it was.
 */
#include "fuzz.h"
#include "io_data.h"

enum { HEAD = 8, WRAPS = 4, MOST = 1 << 26 };

static const struct trod_filter *some_filter(unsigned i)
{
    size_t n = 0;
    while (trod_filter_at(n))
        n++;
    return trod_filter_at(i % n);
}

/* Read all of IN in windows as HEAD says. Returns what came, *STATUS is what ended it. */
static struct trod_buf read_windows(struct trod_input *in, const uint8_t *head, int *status)
{
    struct trod_buf all = {0};
    const size_t ask = (size_t)head[6] << (head[6] & 15), take = (size_t)head[7] << (head[7] & 15);
    struct trod_span span;
    for (;;) {
        *status = trod_input_ahead(in, ask, &span);
        fuzz_true(span.offset == all.n, "a span is not where it says");
        if (*status != TROD_OK || span.n == 0)
            break;
        size_t n = take && take < span.n ? take : span.n;
        trod_buf_add(&all, span.p, n);
        trod_input_consume(in, n);
        if (head[5] & 4)
            fuzz_true(trod_input_skip(in, 0) == 0, "nothing skipped is something");
        if (all.n > MOST)
            break;
    }
    fuzz_true(*status == TROD_OK || ask > TROD_AHEAD_MAX || span.n == 0,
              "an error before its time");
    fuzz_true(*status != TROD_OK || all.n > MOST || span.last, "an end that is none");
    return all;
}

/* The body in its wrapping. */
static struct trod_buf wrap(const uint8_t *head, const uint8_t *body, size_t n)
{
    struct trod_buf b = {0};
    trod_buf_add(&b, body, n);
    for (unsigned i = 0; i < head[0] % WRAPS; i++) {
        const struct trod_filter *f = some_filter(head[1 + i]);
        struct trod_buf over = {0};
        if (!f->enc_open)
            continue;
        data_encode(f, 0, b.p ? b.p : body, b.n, 1 + (size_t)head[5] * 97, &over);
        trod_buf_fini(&b);
        b = over;
    }
    return b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    const uint8_t *body = data + HEAD;
    const size_t n = size - HEAD;
    struct trod_buf b = wrap(data, body, n);
    const bool damaged = data[4] && b.n;
    if (damaged)
        b.p[(size_t)data[4] * 7919 % b.n] ^= (uint8_t)(1 << (data[5] & 7));

    const struct trod_input_options opt = {.no_thread = true,
                                           .raw = data[5] & 1,
                                           .ratio = data[5] & 2 ? 3 : 0,
                                           .window = data[5] & 8 ? 1 + 37U * data[6] : 0};
    struct trod_diag diag;
    struct trod_input *in;
    int status;
    trod_diag_init(&diag, NULL, NULL);
    if (trod_input_memory(&in, b.p, b.n, "fuzz", &opt, &diag) == TROD_OK) {
        struct trod_buf all = read_windows(in, data, &status);
        unsigned filters = 0;
        while (trod_input_filter(in, filters))
            filters++;
        /* zip archives and compressed data are read on behind damage */
        const bool zip = filters && strcmp(trod_input_filter(in, 0), "zip") == 0;
        if (opt.raw && status == TROD_OK && all.n <= MOST)
            fuzz_true(data_same(&all, &b), "raw bytes differ");
        if (!opt.raw && !damaged && !zip && filters == data[0] % WRAPS)
            fuzz_true(all.n == (status == TROD_OK ? n : 0) &&
                          memcmp(all.p ? all.p : body, body, all.n) == 0,
                      "what was wrapped does not come back");
        fuzz_true(status == TROD_OK || diag.errors, "an error without a report");
        fuzz_true(filters || status < 0 || diag.errors == 0, "a report without an error");
        trod_input_close(in);
        trod_buf_fini(&all);
    } else {
        fuzz_true(diag.errors == 1, "an input that was not opened and nobody said why");
    }
    trod_buf_fini(&b);
    return 0;
}
