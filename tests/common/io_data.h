/*
 * io_data.h - data for the tests of io: bytes of several kinds, compressed by our encoders, read
 * back through an input.
 */
#ifndef TROD_TEST_IO_DATA_H
#define TROD_TEST_IO_DATA_H

#include "core/rng.h"
#include "io/filter.h"
#include "testlib.h"
#include "trod/buf.h"
#include "trod/io.h"

#include <string.h>

enum data_kind { DATA_RANDOM, DATA_TEXT, DATA_ZERO, DATA_KINDS };

/* N bytes of KIND. */
static inline struct trod_buf data_make(enum data_kind kind, size_t n, uint64_t seed)
{
    struct trod_buf b = {0};
    struct trod_rng r;
    trod_rng_seed(&r, seed);
    if (trod_buf_reserve(&b, n + 64) != TROD_OK)
        test_die("out of memory");
    if (kind == DATA_RANDOM)
        trod_rng_fill(&r, b.p, n);
    else if (kind == DATA_ZERO)
        memset(b.p, 0, n);
    while (kind == DATA_TEXT && b.n < n)
        trod_buf_printf(&b, "%u clk IT (%u) %08x O el1h_n : LDR x%u\n", (unsigned)b.n,
                        (unsigned)trod_rng_below(&r, 1000), (unsigned)trod_rng_below(&r, 1 << 20),
                        (unsigned)trod_rng_below(&r, 31));
    b.n = n;
    return b;
}

struct data_sink {
    struct trod_sink sink;
    struct trod_buf *to;
};

static inline int data_put(struct trod_sink *sink, const uint8_t *p, size_t n)
{
    return trod_buf_add(((struct data_sink *)(void *)sink)->to, p, n);
}

/* Append N bytes at P to OUT as one whole stream of F, encoded in pieces of at most PIECE bytes. */
static inline void data_encode(const struct trod_filter *f, int level, const uint8_t *p, size_t n,
                               size_t piece, struct trod_buf *out)
{
    struct trod_fault fault = {0};
    struct data_sink s = {{.put = data_put, .fault = &fault}, out};
    void *state;
    if (f->enc_open(&state, level, &fault) != TROD_OK)
        test_die("%s: %s", f->name, fault.text);
    do {
        const size_t some = n < piece ? n : piece;
        if (f->enc_write(state, p, some, some == n, &s.sink) != TROD_OK)
            test_die("%s: %s", f->name, fault.text);
        p += some;
        n -= some;
    } while (n);
    f->enc_close(state);
}

static inline struct trod_buf data_encoded(const struct trod_filter *f, const struct trod_buf *b)
{
    struct trod_buf out = {0};
    data_encode(f, 0, b->p, b->n, SIZE_MAX, &out);
    return out;
}

/* What an input gave. */
struct data_read {
    struct trod_buf bytes;
    int status; /* of the open, or the one that ended reading, or the worst that was read on behind
                 */
    bool opened;
    char filters[100]; /* names, a space after each */
};

/* Read all of IN, which STATUS says was opened, and close it. */
static inline struct data_read data_drain(struct trod_input *in, int status)
{
    struct data_read r = {.status = status, .opened = status == TROD_OK};
    struct trod_span span = {0};
    for (unsigned i = 0; r.opened && trod_input_filter(in, i); i++) {
        strcat(r.filters, trod_input_filter(in, i));
        strcat(r.filters, " ");
    }
    while (r.opened && (r.status = trod_input_ahead(in, 1, &span)) == TROD_OK && span.n) {
        if (span.offset != r.bytes.n)
            test_die("a span at %zu says it is at %llu", r.bytes.n,
                     (unsigned long long)span.offset);
        trod_buf_add(&r.bytes, span.p, span.n);
        trod_input_consume(in, span.n);
    }
    if (r.opened && r.status == TROD_OK && !span.last)
        test_die("the end of an input does not say so");
    trod_input_close(in);
    return r;
}

static inline struct data_read data_read(const void *p, size_t n,
                                         const struct trod_input_options *opt)
{
    struct trod_input *in;
    struct trod_diag diag;
    struct data_read r;
    trod_diag_init(&diag, NULL, NULL);
    const int status = trod_input_memory(&in, p, n, "test", opt, &diag);
    r = data_drain(in, status);
    r.status = r.status == TROD_OK ? diag.worst : r.status;
    return r;
}

static inline struct data_read data_read_file(const char *path,
                                              const struct trod_input_options *opt)
{
    struct trod_input *in;
    const int status = trod_input_open(&in, path, opt, NULL);
    return data_drain(in, status);
}

static inline bool data_same(const struct trod_buf *a, const struct trod_buf *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

#endif
