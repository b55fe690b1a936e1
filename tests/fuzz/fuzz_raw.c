/*
 * fuzz_raw.c - any bytes taken for a raw thread file of DynamoRIO, with a little code beside it:
 * what is made of it are whole entries that begin with a header and end.
 *
 * The first byte says how many of the next are the code, at address 0x1000; the rest is the file.
 */
#include "fuzz.h"

#include <sys/stat.h>

static void save_code(const char *dir, const uint8_t *p, size_t n)
{
    uint64_t head[] = {1, 0, 24 + n, 0, 0x1000};
    char *path = test_path(dir, "encodings.bin");
    struct trod_buf b = {0};

    if (trod_buf_add(&b, head, sizeof head) == 0 && trod_buf_add(&b, p, n) == 0)
        test_save(path, b.p, b.n);
    free(path);
    path = test_path(dir, "modules.log");
    test_save(path, "Module Table: version 5, count 0\n", 33);
    free(path);
    trod_buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trod_trace_options opt = {.struct_size = sizeof opt, .from = "drmemtrace"};
    const size_t code = size ? (data[0] < size - 1 ? data[0] : size - 1) : 0;
    char *dir = test_tmpdir(), *path = test_path(dir, "drmemtrace.a.1.raw");
    const char *name = path;
    struct trod_trace *t = NULL;
    struct trod_batch *b;
    uint64_t end = 0;

    save_code(dir, data + (size ? 1 : 0), code);
    test_save(path, data + (size ? 1 + code : 0), size ? size - 1 - code : 0);
    if (trod_trace_open(&t, &name, 1, &opt, NULL) == 0)
        while (trod_trace_next(t, &b) == 1)
            for (uint32_t i = 0; i < b->n; i++)
                if (b->has[i] & TROD_COL_RAW) {
                    fuzz_true(b->offset + b->raw[i].off == end, "a gap between rows");
                    end += b->raw[i].len;
                }
    trod_trace_close(t);
    test_remove(dir);
    free(dir);
    free(path);
    return 0;
}
