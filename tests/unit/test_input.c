/*
 * test_input.c - input windows: what they show is the plain bytes, whatever is asked for in
 * whatever order, from files, pipes and memory, with a thread and without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "io_data.h"

enum { BIG = 7 << 19 }; /* 3.5 windows */

static const struct trod_input_options alone = {.no_thread = true};

/* Where the bytes of a test come from. */
enum from { FROM_MEMORY, FROM_FILE, FROM_PIPE, FROM_KINDS };

/* Writes P to a pipe, in pieces of up to PIECE bytes. */
struct writer {
    const uint8_t *p;
    size_t n, piece;
    int fd, from; /* ends of the pipe: to write, to read */
    bool stay;    /* leave the end to write open */
    pthread_t thread;
};

static void *write_all(void *user)
{
    const struct writer *w = user;
    struct trod_rng r;
    trod_rng_seed(&r, w->n);
    for (size_t at = 0; at < w->n;) {
        size_t some = 1 + trod_rng_below(&r, w->piece);
        some = some < w->n - at ? some : w->n - at;
        const ssize_t done = write(w->fd, w->p + at, some);
        if (done < 0)
            break;
        at += (size_t)done;
    }
    if (!w->stay)
        close(w->fd);
    return NULL;
}

/* Start writing B to a pipe; the end to read is returned. */
static int pipe_from(struct writer *w, const struct trod_buf *b, size_t piece, bool stay)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *w = (struct writer){b->p, b->n, piece, ends[1], ends[0], stay, 0};
    assert_int_equal(pthread_create(&w->thread, NULL, write_all, w), 0);
    return ends[0];
}

static size_t any_size(struct trod_rng *r)
{
    const uint64_t dice = trod_rng_below(r, 100);
    if (dice < 40)
        return trod_rng_below(r, 200);
    if (dice < 80)
        return trod_rng_below(r, 200000);
    return dice < 97 ? trod_rng_below(r, 2 << 20) : trod_rng_below(r, TROD_AHEAD_MAX + 1);
}

/* Look and take at random; every span is compared with PLAIN. IN is closed. */
static void look_and_take(struct trod_input *in, const struct trod_buf *plain, uint64_t seed)
{
    struct trod_rng r;
    size_t at = 0;
    trod_rng_seed(&r, seed);
    for (;;) {
        const size_t min = any_size(&r), left = plain->n - at;
        struct trod_span span;
        assert_int_equal(trod_input_ahead(in, min, &span), TROD_OK);
        assert_int_equal(span.offset, at);
        assert_int_equal(trod_input_offset(in), at);
        assert_true(span.n <= left);
        assert_true(span.n >= min || span.n == left);
        assert_true(span.n != 0 || left == 0);
        if (span.n)
            assert_true(memcmp(span.p, plain->p + at, span.n) == 0);
        if (span.last)
            assert_int_equal(span.n, left);
        if (span.n < min || left == 0)
            assert_true(span.last);
        if (left == 0)
            break;
        size_t take = trod_rng_below(&r, 4) ? any_size(&r) : span.n;
        if (trod_rng_below(&r, 20) == 0) {
            const uint64_t skipped = trod_input_skip(in, take);
            assert_int_equal(skipped, take < left ? take : left);
            take = (size_t)skipped;
        } else {
            take = take < span.n ? take : span.n;
            trod_input_consume(in, take);
        }
        at += take;
    }
    trod_input_close(in);
}

static void open_from(struct trod_input **in, enum from from, const struct trod_buf *b,
                      const struct trod_input_options *opt, struct writer *w, const char *path)
{
    if (from == FROM_MEMORY) {
        assert_int_equal(trod_input_memory(in, b->p, b->n, "memory", opt, NULL), TROD_OK);
    } else if (from == FROM_FILE) {
        test_save(path, b->p, b->n);
        assert_int_equal(trod_input_open(in, path, opt, NULL), TROD_OK);
    } else {
        pipe_from(w, b, b->n > 100000 ? 100000 : 100, false);
        assert_int_equal(trod_input_fd(in, w->from, "pipe", opt, NULL), TROD_OK);
    }
}

static void looks(const struct trod_buf *plain, const struct trod_buf *packed, uint64_t seed)
{
    static const struct trod_input_options ways[] = {
        {0},
        {.no_thread = true},
        {.window = 70000},
        {.no_thread = true, .window = 5000, .lazy = true},
        {.lazy = true},
        {.no_thread = true, .window = 1},
    };
    char *dir = test_tmpdir(), *path = test_path(dir, "data");
    for (int from = 0; from < FROM_KINDS; from++) {
        for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
            struct writer w;
            struct trod_input *in;
            if (ways[way].window && ways[way].window < 1000 && plain->n > 1 << 20)
                continue;
            open_from(&in, (enum from)from, packed, &ways[way], &w, path);
            look_and_take(in, plain, seed++);
            if (from == FROM_PIPE) {
                assert_int_equal(pthread_join(w.thread, NULL), 0);
                close(w.from);
            }
        }
    }
    test_remove(dir);
    free(path);
    free(dir);
}

static void windows_show_the_bytes(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,   1,       300, TROD_WINDOW, TROD_WINDOW + 1, 2 * TROD_WINDOW,
                                   BIG, 20 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct trod_buf plain = data_make(i % 2 ? DATA_TEXT : DATA_RANDOM, sizes[i], i);
        looks(&plain, &plain, 100 * i);
        trod_buf_fini(&plain);
    }
}

static void windows_show_what_was_compressed(void **state)
{
    (void)state;
    for (size_t i = 0; trod_filter_at(i); i++) {
        if (!trod_filter_at(i)->open || !trod_filter_at(i)->enc_open)
            continue;
        struct trod_buf plain = data_make(DATA_TEXT, BIG + i, i);
        struct trod_buf packed = data_encoded(trod_filter_at(i), &plain);
        looks(&plain, &packed, 1000 * i);
        trod_buf_fini(&plain);
        trod_buf_fini(&packed);
    }
}

/* One byte more each time: a decoder that does not know how long its record is. */
static void ever_wider_windows(void **state)
{
    (void)state;
    struct trod_buf plain = data_make(DATA_RANDOM, 5 << 20, 3);
    char *dir = test_tmpdir(), *path = test_path(dir, "data");
    test_save(path, plain.p, plain.n);
    for (int threads = 0; threads < 2; threads++) {
        struct trod_input *in;
        struct trod_span span;
        size_t min = 1, calls = 0;
        assert_int_equal(trod_input_open(&in, path, threads ? NULL : &alone, NULL), TROD_OK);
        do {
            assert_int_equal(trod_input_ahead(in, min, &span), TROD_OK);
            assert_true(span.n >= min || span.last);
            min = span.n + 1;
            calls++;
        } while (!span.last);
        assert_int_equal(span.n, plain.n);
        assert_true(memcmp(span.p, plain.p, plain.n) == 0);
        assert_true(calls < 200); /* each shows what is there, not one byte more */
        trod_input_close(in);
    }
    trod_buf_fini(&plain);
    test_remove(dir);
    free(path);
    free(dir);
}

static void count_problem(void *user, const struct trod_problem *p)
{
    snprintf(user, 200, "%s %d %.150s", p->kind, p->status, p->message);
}

static void too_much_at_once(void **state)
{
    (void)state;
    struct trod_diag diag;
    char said[200] = "";
    struct trod_input *in;
    struct trod_span span;
    trod_diag_init(&diag, count_problem, said);
    assert_int_equal(trod_input_memory(&in, "abc", 3, "m", NULL, &diag), TROD_OK);
    assert_int_equal(trod_input_ahead(in, (size_t)TROD_AHEAD_MAX + 1, &span), TROD_ERR_LIMIT);
    assert_int_equal(diag.errors, 1);
    assert_int_equal(trod_input_ahead(in, TROD_AHEAD_MAX, &span), TROD_OK);
    assert_int_equal(span.n, 3);
    assert_true(span.last);
    trod_input_close(in);
    trod_input_close(NULL);
}

static void what_cannot_be_opened(void **state)
{
    (void)state;
    char *dir = test_tmpdir(), *none = test_path(dir, "none"), said[200];
    const char *const paths[] = {dir, none};
    for (int i = 0; i < 2; i++) {
        struct trod_diag diag;
        struct trod_input *in = (struct trod_input *)said;
        trod_diag_init(&diag, count_problem, said);
        assert_int_equal(trod_input_open(&in, paths[i], NULL, &diag), TROD_ERR_IO);
        assert_null(in);
        assert_int_equal(diag.errors, 1);
        assert_non_null(strstr(said, paths[i]));
    }
    test_remove(dir);
    free(none);
    free(dir);
}

/* A descriptor that cannot be read: the error of the system, once, as an answer to reading. */
static void what_cannot_be_read(void **state)
{
    (void)state;
    struct trod_diag diag;
    char said[200];
    struct trod_input *in;
    struct trod_span span;
    const int fd = open("/dev/null", O_WRONLY);
    assert_true(fd >= 0);
    trod_diag_init(&diag, count_problem, said);
    assert_int_equal(trod_input_fd(&in, fd, "write-only", NULL, &diag), TROD_OK);
    assert_int_equal(trod_input_ahead(in, 1, &span), TROD_ERR_IO);
    assert_int_equal(trod_input_ahead(in, 1, &span), TROD_ERR_IO);
    assert_int_equal(diag.errors, 1);
    assert_non_null(strstr(said, "cannot read 'write-only'"));
    trod_input_close(in);
    close(fd);
}

/* What was written to a pipe is shown while the writer still thinks. */
static void pipes_do_not_wait_for_more(void **state)
{
    (void)state;
    for (int threads = 0; threads < 2; threads++) {
        struct trod_buf plain = data_make(DATA_TEXT, 1 << 20, 4);
        struct trod_input *in;
        struct trod_span span;
        int ends[2];
        size_t at = 0;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], plain.p, 10), 10);
        assert_int_equal(trod_input_fd(&in, ends[0], "pipe", threads ? NULL : &alone, NULL),
                         TROD_OK);
        /* far enough for the thread to have been started, and still piece by piece */
        for (size_t some = 10; at < 600000; some = 4000) {
            if (at)
                assert_int_equal(write(ends[1], plain.p + at, some), (int)some);
            assert_int_equal(trod_input_ahead(in, some, &span), TROD_OK);
            assert_int_equal(span.n, some);
            assert_false(span.last);
            assert_memory_equal(span.p, plain.p + at, some);
            trod_input_consume(in, some);
            at += some;
        }
        assert_true(trod_input_file_size(in) == TROD_NOWHERE);
        assert_int_equal(trod_input_file_offset(in), at);
        trod_input_close(in); /* although the pipe is still open */
        close(ends[0]);
        close(ends[1]);
        trod_buf_fini(&plain);
    }
}

/* Closing does not wait for a writer that has nothing to say. */
static void close_does_not_wait(void **state)
{
    (void)state;
    struct trod_buf plain = data_make(DATA_TEXT, 400000, 4);
    struct writer w;
    struct trod_input *in;
    struct trod_span span;
    const int fd = pipe_from(&w, &plain, 50000, true);
    assert_int_equal(trod_input_fd(&in, fd, "pipe", NULL, NULL), TROD_OK);
    assert_int_equal(trod_input_ahead(in, plain.n, &span), TROD_OK);
    assert_int_equal(pthread_join(w.thread, NULL), 0);
    trod_input_close(in);
    close(w.fd);
    close(fd);
    trod_buf_fini(&plain);
}

/* Skipping by seeking lands where skipping by reading does. */
static void skips(void **state)
{
    (void)state;
    enum { MARKS = 9, APART = 10 << 20 };
    char *dir = test_tmpdir(), *path = test_path(dir, "sparse");
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    for (int i = 0; i <= MARKS; i++) {
        const char mark = (char)('A' + i);
        assert_int_equal(pwrite(fd, &mark, 1, (off_t)i * APART), 1);
    }
    const uint64_t size = (uint64_t)MARKS * APART + 1;
    for (int threads = 0; threads < 2; threads++) {
        struct trod_input *in;
        struct trod_span span;
        assert_int_equal(trod_input_open(&in, path, threads ? NULL : &alone, NULL), TROD_OK);
        assert_int_equal(trod_input_file_size(in), size);
        for (int i = 0; i < MARKS; i += 1 + i % 2) {
            assert_int_equal(trod_input_ahead(in, i % 3 ? 1 : 300000, &span), TROD_OK);
            assert_int_equal(span.offset, (uint64_t)i * APART);
            assert_int_equal(span.p[0], 'A' + i);
            assert_int_equal(span.p[1], 0);
            const uint64_t n = (uint64_t)APART * (uint64_t)(1 + i % 2);
            assert_int_equal(trod_input_skip(in, n), n);
            assert_int_equal(trod_input_offset(in), span.offset + n);
            assert_int_equal(trod_input_file_offset(in), span.offset + n);
        }
        assert_int_equal(trod_input_ahead(in, 10, &span), TROD_OK);
        assert_int_equal(span.n, 1);
        assert_int_equal(span.p[0], 'A' + MARKS);
        assert_true(span.last);
        trod_input_close(in);

        assert_int_equal(trod_input_open(&in, path, threads ? NULL : &alone, NULL), TROD_OK);
        assert_int_equal(trod_input_skip(in, UINT64_MAX), size);
        assert_int_equal(trod_input_ahead(in, 1, &span), TROD_OK);
        assert_int_equal(span.n, 0);
        assert_true(span.last);
        trod_input_close(in);
    }

    /* an input begins where its descriptor is */
    struct trod_input *in;
    struct trod_span span;
    assert_true(lseek(fd, APART, SEEK_SET) == APART);
    assert_int_equal(trod_input_fd(&in, fd, "fd", NULL, NULL), TROD_OK);
    assert_int_equal(trod_input_file_size(in), size - APART);
    assert_int_equal(trod_input_ahead(in, 1, &span), TROD_OK);
    assert_int_equal(span.p[0], 'B');
    assert_int_equal(trod_input_skip(in, 3 * APART), 3 * APART);
    assert_int_equal(trod_input_ahead(in, 1, &span), TROD_OK);
    assert_int_equal(span.p[0], 'E');
    trod_input_close(in);
    close(fd);
    test_remove(dir);
    free(path);
    free(dir);
}

/* Files that say they are empty and are not. */
static void files_of_proc(void **state)
{
    (void)state;
    struct stat st;
    if (stat("/proc/version", &st) != 0 || st.st_size != 0) {
        print_message("skipped: no /proc here\n");
        skip();
    }
    struct data_read r = data_read_file("/proc/version", NULL);
    assert_int_equal(r.status, TROD_OK);
    assert_true(r.bytes.n > 10);
    trod_buf_fini(&r.bytes);
}

static unsigned threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned n = 0;

    assert_non_null(tasks);
    for (const struct dirent *e; (e = readdir(tasks)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(tasks);
    return n;
}

/* Who reads a file of some megabytes when half of it is consumed, and is it the file? */
static unsigned threads_that_read(const char *path, const struct trod_buf *plain, bool here)
{
    const unsigned before = threads();
    struct trod_input *in;
    struct trod_span span;
    unsigned more = 0;

    assert_int_equal(trod_input_open(&in, path, NULL, NULL), TROD_OK);
    if (here)
        trod_input_alone(in);
    for (uint64_t at = 0; at < plain->n; at += span.n) {
        assert_int_equal(trod_input_ahead(in, 1, &span), TROD_OK);
        assert_memory_equal(span.p, plain->p + at, span.n);
        trod_input_consume(in, span.n);
        if (at < plain->n / 2)
            more = threads() - before;
    }
    trod_input_close(in);
    return more;
}

static void alone_there_is_no_other_thread(void **state)
{
    struct trod_buf plain = data_make(DATA_TEXT, 16 << 20, 7);
    char *dir = test_tmpdir(), *path = test_path(dir, "data");

    (void)state;
    test_save(path, plain.p, plain.n);
    assert_int_equal(threads_that_read(path, &plain, false), 1);
    assert_int_equal(threads_that_read(path, &plain, true), 0);
    test_remove(dir);
    free(path);
    free(dir);
    trod_buf_fini(&plain);
}

static void progress_and_names(void **state)
{
    (void)state;
    struct trod_buf plain = data_make(DATA_TEXT, 6 << 20, 4);
    char *dir = test_tmpdir(), *path = test_path(dir, "data");
    const struct trod_filter *f = trod_filter_find("zstd");
    struct trod_buf packed = {0};
    if (f->open)
        data_encode(f, 0, plain.p, plain.n, SIZE_MAX, &packed);
    else
        trod_buf_add(&packed, plain.p, plain.n);
    test_save(path, packed.p, packed.n);
    struct trod_input *in;
    struct trod_span span;
    assert_int_equal(trod_input_open(&in, path, NULL, NULL), TROD_OK);
    assert_string_equal(trod_input_path(in), path);
    assert_int_equal(trod_input_file_size(in), packed.n);
    uint64_t before = 0;
    while (trod_input_ahead(in, 1, &span) == TROD_OK && span.n) {
        trod_input_consume(in, span.n);
        const uint64_t now = trod_input_file_offset(in);
        assert_true(now >= before && now <= packed.n);
        before = now;
    }
    assert_int_equal(before, packed.n);
    assert_int_equal(trod_input_offset(in), plain.n);
    assert_null(trod_input_filter(in, 1));
    trod_input_close(in);
    trod_buf_fini(&plain);
    trod_buf_fini(&packed);
    test_remove(dir);
    free(path);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_show_the_bytes),
        cmocka_unit_test(windows_show_what_was_compressed),
        cmocka_unit_test(ever_wider_windows),
        cmocka_unit_test(too_much_at_once),
        cmocka_unit_test(what_cannot_be_opened),
        cmocka_unit_test(what_cannot_be_read),
        cmocka_unit_test(pipes_do_not_wait_for_more),
        cmocka_unit_test(close_does_not_wait),
        cmocka_unit_test(skips),
        cmocka_unit_test(files_of_proc),
        cmocka_unit_test(alone_there_is_no_other_thread),
        cmocka_unit_test(progress_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
