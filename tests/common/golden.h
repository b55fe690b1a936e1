/*
 * golden.h - the inputs that every property is tried on: the golden files of each format, and
 * inputs made from random rows by its encoder.
 *
 * The golden files of a format are the files of tests/golden/FORMAT/ and of the folders in it whose
 * name ends in one of the format's suffixes. "canonical" in the name says that encoding the file's
 * rows gives the file again, byte for byte; "damaged" that the file is not whole.
 */
#ifndef TROD_TEST_GOLDEN_H
#define TROD_TEST_GOLDEN_H

#include "gen.h"
#include "testlib.h"

struct golden {
    const struct trod_format *format;
    char *name; /* "tests/golden/FORMAT/FILE", or "FORMAT, random rows 3" */
    struct trod_buf data;
    bool canonical, damaged;
};

/* Every golden file of F; with GENERATED also that many inputs of random rows. */
struct golden_list {
    struct golden *item;
    size_t n;
};
struct golden_list golden_of(const struct trod_format *f, unsigned generated);
/* The golden files of all formats. */
struct golden_list golden_all(void);
void golden_free(struct golden_list *l);

/* FN for every input of every format: golden files, and GENERATED random ones a format. */
void golden_each(unsigned generated, void (*fn)(const struct golden *));

/* A new file of this folder, to PATH: the N bytes at P, with a name of G's format. */
enum { GOLDEN_PATH = 64 };
void golden_write(const struct golden *g, const uint8_t *p, size_t n, char path[GOLDEN_PATH]);

/*
 * Rows drawn from G, written with TO (options OPT, NULL: defaults) to OUT (replaced): kinds that TO
 * knows or not, columns that it writes, present or not. Returns what the encoder returned.
 */
int test_random_rows(struct trod_gen *g, uint32_t rows, const struct trod_format *to,
                     const void *opt, struct trod_buf *out);

#endif
