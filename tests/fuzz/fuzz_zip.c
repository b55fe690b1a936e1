/*
 * fuzz_zip.c - any bytes as a zip archive: it is read to its end, whatever is wrong, and gives the
 * same bytes for two ways of looking at it. The first byte says how many bytes are asked for.
 */
#include "fuzz.h"
#include "trod/io.h"

static struct trod_buf read_all(const uint8_t *p, size_t n, size_t min, uint32_t window,
                                uint64_t *errors)
{
    const struct trod_input_options opt = {.no_thread = true, .window = window};
    struct trod_diag diag;
    struct trod_input *in;
    struct trod_buf out = {0};
    struct trod_span s;

    trod_diag_init(&diag, NULL, NULL);
    if (trod_input_memory(&in, p, n, "fuzz", &opt, &diag) != TROD_OK)
        return out;
    for (size_t i = 0; i < trod_input_members(in); i++) {
        struct trod_member m;

        fuzz_true(trod_input_member(in, i, &m) && m.name, "a member without a name");
    }
    while (trod_input_ahead(in, min, &s) == TROD_OK && s.n && out.n < 1 << 24) {
        if (trod_buf_add(&out, s.p, s.n) < 0)
            test_die("out of memory");
        trod_input_consume(in, s.n);
    }
    *errors = diag.errors;
    trod_input_close(in);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t errors_a = 0, errors_b = 0;
    struct trod_buf a, b;

    if (size < 5 || data[1] != 'P' || data[2] != 'K')
        return 0; /* other inputs are other targets' business */
    a = read_all(data + 1, size - 1, 1, 0, &errors_a);
    b = read_all(data + 1, size - 1, 1 + data[0], 1 << 12, &errors_b);
    if (a.n < 1 << 24) {
        fuzz_true(a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0),
                  "the bytes depend on how they are asked for");
        fuzz_true(errors_a == errors_b, "the problems depend on how the bytes are asked for");
    }
    trod_buf_fini(&a);
    trod_buf_fini(&b);
    return 0;
}
