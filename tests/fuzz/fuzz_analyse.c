/*
 * fuzz_analyse.c - any bytes as a trace of any format through all analyses of `trod run all`.
 *
 * The first byte says which format, the second how it is run. What is checked of every input: the
 * results on one thread are those on several with small parts.
 */
#include "fuzz.h"

#include <unistd.h>

enum { BY_STREAM = 1, INTERVALS = 2, PLAIN_ORDER = 4 };

static char path[64];

static void put_file(const uint8_t *data, size_t size)
{
    FILE *f;

    if (!path[0])
        snprintf(path, sizeof path, "/tmp/fuzz_analyse.%ld", (long)getpid());
    f = fopen(path, "wb");
    fuzz_true(f && fwrite(data, 1, size, f) == size && fclose(f) == 0, "no room for the trace");
}

static struct trod_run *open_run(const char *from, unsigned how, const struct trod_run_options *as,
                                 size_t *n)
{
    struct trod_run_options opt = *as;
    struct trod_run *r;
    const char *const paths[] = {path};

    opt.struct_size = sizeof opt;
    opt.trace.struct_size = sizeof opt.trace;
    opt.trace.from = from;
    opt.trace.input.no_thread = true;
    opt.by_stream = how & BY_STREAM;
    opt.interval = how & INTERVALS ? 100 : 0;
    opt.interval_in = TROD_IN_ROWS;
    if (trod_run_open(&r, paths, 1, &opt, NULL) < 0)
        return NULL;
    *n = 0;
    for (size_t i = 0; trod_analysis_at(i); i++)
        *n += trod_run_add(r, trod_analysis_at(i), NULL) >= 0;
    return r;
}

/* What all analyses of R found. */
static struct trod_buf results(struct trod_run *r, size_t n_planned)
{
    const struct trod_emit_options opt = {.struct_size = sizeof opt, .format = TROD_EMIT_JSON};
    struct trod_buf out = {0};
    struct trod_emit *e;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    fuzz_true(f && trod_emit_new(&e, f, &opt) == TROD_OK, "no memory");
    for (size_t i = 0; i < n_planned; i++) {
        struct trod_result *result;

        fuzz_true(trod_result_new(&result) == TROD_OK, "no memory");
        if (trod_run_result(r, i, result) == TROD_OK)
            trod_result_emit(result, e);
        trod_result_free(result);
    }
    trod_emit_free(e);
    fclose(f);
    if (n)
        trod_buf_add(&out, text, n);
    free(text);
    return out;
}

static void same(const struct trod_buf *a, const struct trod_buf *b, const char *from,
                 const char *what)
{
    size_t i = 0;

    if (a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0))
        return;
    while (i < a->n && i < b->n && a->p[i] == b->p[i])
        i++;
    i = i > 200 ? i - 200 : 0;
    fprintf(stderr, "%s: %s:\n%.*s\n---\n%.*s\n", from, what,
            (int)(a->n - i < 400 ? a->n - i : 400), (const char *)a->p + i,
            (int)(b->n - i < 400 ? b->n - i : 400), (const char *)b->p + i);
    fuzz_true(false, "results differ");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct trod_run_options one = {.jobs = 1, .serial = true},
                                         many = {.jobs = 3, .piece = 100};
    struct trod_run *r;
    struct trod_buf a, b;
    const char *from;
    size_t formats = 0, n;

    if (size < 2)
        return 0;
    while (trod_format_at(formats))
        formats++;
    from = trod_format_at(data[0] % formats)->name;
    put_file(data + 2, size - 2);
    if (!(r = open_run(from, data[1], &one, &n)))
        return 0;
    trod_run_go(r);
    a = results(r, n);
    trod_run_free(r);
    if ((r = open_run(from, data[1], &many, &n))) {
        trod_run_go(r);
        b = results(r, n);
        trod_run_free(r);
        same(&a, &b, from, "one thread, several");
        trod_buf_fini(&b);
    }
    trod_buf_fini(&a);
    unlink(path);
    return 0;
}
