/*
 * golden.c - find and load the inputs of golden.h.
 */
#include "golden.h"
#include "fewer.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GENERATED_ROWS = 300, LARGEST = 1 << 22 };

static bool has_suffix(const char *name, const struct trod_format *f)
{
    size_t n = strlen(name);

    for (size_t i = 0; f->suffixes && f->suffixes[i]; i++) {
        size_t m = strlen(f->suffixes[i]);

        if (n > m && strcmp(name + n - m, f->suffixes[i]) == 0)
            return true;
    }
    return false;
}

static struct golden *add(struct golden_list *l, const struct trod_format *f, const char *name)
{
    struct golden *item = realloc(l->item, (l->n + 1) * sizeof *item);
    char *copy = strdup(name);

    if (!item || !copy)
        test_die("out of memory");
    l->item = item;
    item += l->n++;
    *item = (struct golden){.format = f, .name = copy};
    return item;
}

/* The golden files in DIR (NAME below the project), and in its folders. */
static void scan(struct golden_list *l, const struct trod_format *f, const char *dir,
                 const char *name)
{
    struct test_list files = test_files(dir);
    DIR *d = opendir(dir);

    for (size_t i = 0; i < files.n; i++) {
        char *path = test_path(dir, files.name[i]), *shown = test_path(name, files.name[i]);

        if (has_suffix(files.name[i], f)) {
            struct golden *item = add(l, f, shown);

            item->data = test_load(path);
            item->canonical = strstr(files.name[i], "canonical") != NULL;
            item->damaged = strstr(files.name[i], "damaged") != NULL;
        }
        free(path);
        free(shown);
    }
    test_list_free(&files);
    for (struct dirent *e; d && (e = readdir(d));) {
        char *path = test_path(dir, e->d_name), *shown = test_path(name, e->d_name);
        struct stat st;

        if (e->d_name[0] != '.' && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            scan(l, f, path, shown);
        free(path);
        free(shown);
    }
    if (d)
        closedir(d);
}

static void golden_files(struct golden_list *l, const struct trod_format *f)
{
    char *base = test_path(test_source_dir(), "tests/golden"), *dir = test_path(base, f->name);
    char *name = test_path("tests/golden", f->name);

    scan(l, f, dir, name);
    free(base);
    free(dir);
    free(name);
}

struct golden_list golden_of(const struct trod_format *f, unsigned generated)
{
    struct golden_list l = {0};

    golden_files(&l, f);
    for (unsigned i = 0; i < generated && f->begin; i++) {
        struct trod_gen g = gen_seed(i);
        struct golden *item;
        char name[96];

        snprintf(name, sizeof name, "%s, random rows %u", f->name, i);
        item = add(&l, f, name);
        if (test_random_rows(&g, GENERATED_ROWS, f, NULL, &item->data) < 0)
            test_die("%s: not written", name);
    }
    return l;
}

struct golden_list golden_all(void)
{
    struct golden_list l = {0};

    for (size_t i = 0; trod_format_at(i); i++)
        golden_files(&l, trod_format_at(i));
    if (l.n == 0)
        test_die("no format is registered");
    return l;
}

void golden_free(struct golden_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->item[i].name);
        trod_buf_fini(&l->item[i].data);
    }
    free(l->item);
    *l = (struct golden_list){0};
}

void golden_each(unsigned generated, void (*fn)(const struct golden *))
{
    if (!trod_format_at(0))
        test_die("no format is registered");
    for (size_t i = 0; trod_format_at(i); i++) {
        struct golden_list l = golden_of(trod_format_at(i), (unsigned)test_fewer(generated, 1));

        for (size_t k = 0; k < l.n; k++)
            if (l.item[k].data.n <= LARGEST)
                fn(&l.item[k]);
        golden_free(&l);
    }
}

void golden_write(const struct golden *g, const uint8_t *p, size_t n, char path[GOLDEN_PATH])
{
    char plain[] = "golden-XXXXXX";
    const int fd = mkstemp(plain);

    snprintf(path, GOLDEN_PATH, "%s%s", plain, g->format->suffixes[0]);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n || close(fd) < 0 || rename(plain, path) != 0)
        test_die("cannot write '%s'", path);
}
