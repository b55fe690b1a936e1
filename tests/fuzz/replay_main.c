/*
 * replay_main.c - main of the fuzz targets in builds without libFuzzer: run the files given and
 * every file of the folders given, so that what fuzzing found stays mended under every compiler and
 * sanitizer.
 */
#include "testlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST = 1 << 18 };

/* The bytes as a block of their own: a step beside them is seen. */
static void run(const struct trod_buf *b)
{
    uint8_t *p = calloc(1, b->n ? b->n : 1);

    if (!p)
        test_die("out of memory");
    if (b->n)
        memcpy(p, b->p, b->n);
    LLVMFuzzerTestOneInput(p, b->n);
    free(p);
}

static size_t run_file(const char *path)
{
    struct trod_buf b = test_load(path);
    const size_t n = b.n <= LARGEST;

    if (n) {
        fprintf(stderr, "%s\n", path);
        run(&b);
    }
    trod_buf_fini(&b);
    return n;
}

static size_t run_folder(const char *dir)
{
    struct test_list l = test_files(dir);
    size_t n = 0;

    for (size_t i = 0; i < l.n; i++) {
        char *path = test_path(dir, l.name[i]);

        n += run_file(path);
        free(path);
    }
    test_list_free(&l);
    return n;
}

static bool is_file(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

int main(int argc, char **argv)
{
    const struct trod_buf empty = {0};
    size_t n = 0;

    for (int i = 1; i < argc; i++)
        n += is_file(argv[i]) ? run_file(argv[i]) : run_folder(argv[i]);
    run(&empty);
    if (n == 0)
        test_die("nothing to replay in %s", argc > 1 ? argv[1] : "no folder");
    printf("%zu inputs replayed\n", n);
    return 0;
}
