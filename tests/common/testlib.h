/*
 * testlib.h - what the tests share: folders and files, and decoders run over memory in every way
 * the reader could run them, with their rows in a form that can be compared.
 *
 * Functions here end the program with a message when the surroundings fail (no memory, no file): a
 * test that cannot run must not pass.
 */
#ifndef TROD_TESTLIB_H
#define TROD_TESTLIB_H

#include "trod/buf.h"
#include "trod/format.h"

/* End the program with exit status 1 after a message. */
void test_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* The project's folder (TROD_SOURCE), and the command (TROD, NULL when there is none). */
const char *test_source_dir(void);
const char *test_command(void);

/* A new empty folder; test_remove deletes it with all that is in it. Release with free(). */
char *test_tmpdir(void);
void test_remove(const char *dir);
/* "DIR/NAME", to be released with free(). */
char *test_path(const char *dir, const char *name);
/* Read or write a whole file. */
struct trod_buf test_load(const char *path);
void test_save(const char *path, const void *p, size_t n);
/* Names of the plain files in DIR, sorted; a missing folder has none. Release with test_list_free.
 */
struct test_list {
    char **name;
    size_t n;
};
struct test_list test_files(const char *dir);
void test_list_free(struct test_list *l);

/* How to run a decoder. */
struct test_how {
    uint32_t rows;     /* rows a batch; raised to the format's record_rows; 0: TROD_BATCH_ROWS */
    uint32_t want;     /* 0: all columns */
    uint32_t mask;     /* columns that go into the result; 0: all wanted */
    const size_t *cut; /* ends of windows, rising; the end of the input need not be among them */
    size_t n_cuts;
    size_t every;    /* without cuts: a window ends every so many bytes; 0: one window */
    bool move_state; /* decode each window with a fresh copy of the state, the old one destroyed */
    bool resume;     /* go on behind errors as the reader does, instead of ending */
};

/* What came out. */
struct test_rows {
    uint64_t *hash; /* one a row */
    uint64_t *at;   /* offset of the row's record, TROD_NOWHERE where it has none */
    uint32_t *len;  /* bytes of the record, 0 where it has none */
    size_t n, cap;
    int rc;        /* 0, or the first error */
    uint64_t stop; /* offset at which decoding ended or failed first */
    uint64_t errors, warnings;
    char message[300];    /* of the first problem, with the line it is about */
    struct trod_buf text; /* the rows, a line each (test_decode_text only) */
};

/* What to decode. */
struct test_input {
    const struct trod_format *format;
    const void *opt; /* NULL: the format's defaults */
    const uint8_t *p;
    size_t n;
    size_t from;            /* begin decoding here, with the state that start() made of the head */
    struct trod_meta *meta; /* streams already numbered; NULL: none are */
};

/* A copy of the options OPT of F, or of its defaults when OPT is NULL. Release with free(). */
void *test_options(const struct trod_format *f, const void *opt);

/* Run the decoder. The result is released with test_rows_free. */
struct test_rows test_decode(const struct test_input *in, const struct test_how *how);
/* The same with text. */
struct test_rows test_decode_text(const struct test_input *in, const struct test_how *how);
void test_rows_free(struct test_rows *r);

/*
 * Decode A and B and compare the rows from SKIP_A of A on with those of B, the first error and
 * where it was. Returns true when all is equal; else says on standard error, with WHAT, what
 * differs.
 */
bool test_same(const struct test_input *a, const struct test_how *how_a, size_t skip_a,
               const struct test_input *b, const struct test_how *how_b, const char *what);
/* The same for rows already decoded. */
bool test_rows_equal(const struct test_rows *a, size_t skip_a, const struct test_rows *b);

/* One row of B as text: "KIND addr=.. ..." with the columns of MASK. Appended to OUT. */
void test_row_text(const struct trod_batch *b, uint32_t row, uint32_t mask, struct trod_buf *out);
/*
 * In MASK: whether the row itself said its time and stream, or has those of the row before, does
 * not count. A line without them may be written with them, for nobody knows yet how a reader of the
 * lines that follow takes it.
 */
enum { TEST_ANY_HEAD = 1 << 30 };
/* A number for the row: equal for equal rows, whatever batch they are in. */
uint64_t test_row_hash(const struct trod_batch *b, uint32_t row, uint32_t mask);

/*
 * Decode IN and write its rows with TO (options OPT, NULL: defaults), by encoding each: no byte is
 * copied. Rows decoded before the first error are written. OUT is replaced. Returns TROD_OK or the
 * encoder's error. *LOST (may be NULL) is the number of problems the encoder reported.
 */
int test_recode(const struct test_input *in, const struct trod_format *to, const void *opt,
                struct trod_buf *out, uint64_t *lost);

#endif
