/*
 * test_output.c - outputs: what is written arrives, compressed or not; names appear at the end.
 */
#define _XOPEN_SOURCE 700 /* pseudo terminals */
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

#include "fewer.h"
#include "io/outfile.h"
#include "io_data.h"

/* A folder for a test, and a path in it. */
struct place {
    char *dir, *path;
};

static struct place place_make(const char *name)
{
    char *dir = test_tmpdir();
    return (struct place){dir, test_path(dir, name)};
}

static void place_remove(struct place *p)
{
    test_remove(p->dir);
    free(p->path);
    free(p->dir);
}

/* Names in the folder, hidden ones too. */
static size_t names_in(const char *dir)
{
    DIR *d = opendir(dir);
    size_t n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* . and .. */
}

static void keep(void *user, const struct trod_problem *p)
{
    snprintf(user, 300, "%s: %s", p->kind, p->message);
}

/* Give P to O in rooms and copies of random sizes. */
static void write_somehow(struct trod_output *o, const struct trod_buf *b, uint64_t seed)
{
    struct trod_rng r;
    trod_rng_seed(&r, seed);
    for (size_t at = 0; at < b->n;) {
        const size_t left = b->n - at;
        size_t some = trod_rng_below(&r, trod_rng_below(&r, 10) ? 3000 : TROD_WINDOW + 1);
        some = some < left ? some : left;
        if (trod_rng_below(&r, 2)) {
            assert_int_equal(trod_output_write(o, b->p + at, some), TROD_OK);
        } else {
            struct trod_room room;
            assert_int_equal(trod_output_room(o, some, &room), TROD_OK);
            assert_true((size_t)(room.end - room.p) >= some);
            if (some)
                memcpy(room.p, b->p + at, some);
            trod_output_advance(o, some);
        }
        at += some;
        assert_int_equal(trod_output_offset(o), at);
        if (trod_rng_below(&r, 50) == 0)
            assert_int_equal(trod_output_flush(o), TROD_OK);
    }
}

static void assert_file(const char *path, const char *filters, const struct trod_buf *expected)
{
    struct data_read r = data_read_file(path, NULL);
    assert_int_equal(r.status, TROD_OK);
    assert_string_equal(r.filters, filters);
    assert_true(data_same(&r.bytes, expected));
    trod_buf_fini(&r.bytes);
}

static void what_is_written_arrives(void **state)
{
    (void)state;
    static const char *const names[] = {"x",    "x.gz", "x.zst",    "x.zstd", "x.lz4",
                                        "x.xz", "x.sz", "x.snappy", "gz"};
    static const size_t sizes[] = {0, 1, TROD_WINDOW - 1, TROD_WINDOW, TROD_WINDOW + 1, 5 << 20};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            const struct trod_filter *f = trod_filter_of_path(names[k]);
            assert_int_equal(f != NULL, k != 0 && strcmp(names[k], "gz") != 0);
            if (f && !f->enc_open)
                continue;
            struct trod_buf b = data_make(DATA_TEXT, sizes[i], k);
            for (int threads = 0; threads < 2; threads++) {
                const struct trod_output_options opt = {.no_thread = !threads, .binary = true};
                struct place p = place_make(names[k]);
                struct trod_output *o;
                char filters[40] = "";
                assert_int_equal(trod_output_create(&o, p.path, &opt, NULL), TROD_OK);
                write_somehow(o, &b, 10 * k + i);
                assert_int_equal(trod_output_commit(o), TROD_OK);
                if (f)
                    snprintf(filters, sizeof filters, "%s ", f->name);
                assert_file(p.path, filters, &b);
                assert_int_equal(names_in(p.dir), 1);
                place_remove(&p);
            }
            trod_buf_fini(&b);
        }
    }
}

static struct trod_buf file_bytes(const char *path)
{
    static const struct trod_input_options raw = {.raw = true};
    struct data_read r = data_read_file(path, &raw);
    assert_int_equal(r.status, TROD_OK);
    return r.bytes;
}

/* Where pieces end follows from the bytes: not from the calls, nor from who compresses them. */
static void threads_make_the_same_bytes(void **state)
{
    (void)state;
    static const char *const names[] = {"x.gz", "x.zst", "x.lz4", "x.xz", "x.sz", "x.zip"};
    static const struct {
        int level;
        size_t n;
    } cases[] = {{0, 0}, {0, 1 << 20}, {0, (4 << 20) + 1}, {5, (1 << 20) + 5}};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const struct trod_filter *f = trod_writes_of_path(names[k]);
        for (size_t i = 0; f->enc_open && i < sizeof cases / sizeof cases[0]; i++) {
            struct trod_buf b = data_make(DATA_TEXT, cases[i].n, k), first = {0};
            for (unsigned jobs = 0; jobs < 3; jobs++) {
                const struct trod_output_options opt = {
                    .no_thread = jobs == 0, .jobs = (uint16_t)(3 * jobs), .level = cases[i].level};
                struct place p = place_make(names[k]);
                struct trod_output *o;
                assert_int_equal(trod_output_create(&o, p.path, &opt, NULL), TROD_OK);
                write_somehow(o, &b, 100 * jobs + i);
                assert_int_equal(trod_output_commit(o), TROD_OK);
                struct trod_buf got = file_bytes(p.path);
                if (jobs == 0) {
                    struct data_read back = data_read_file(p.path, NULL);
                    assert_int_equal(back.status, TROD_OK);
                    assert_true(data_same(&back.bytes, &b));
                    trod_buf_fini(&back.bytes);
                    first = got;
                } else {
                    assert_true(data_same(&got, &first));
                    trod_buf_fini(&got);
                }
                place_remove(&p);
            }
            trod_buf_fini(&first);
            trod_buf_fini(&b);
        }
    }
}

/* Bytes that come again from the first, the second and the third on. */
static struct trod_buf data_again(struct trod_rng *r)
{
    enum { SOME = 8 };
    struct trod_buf b = {0};
    uint8_t some[SOME + 1];
    trod_rng_fill(r, some, sizeof some);
    for (unsigned k = 0; k < 4; k++) {
        const unsigned from = k ? k - 1 : 0;
        assert_int_equal(trod_buf_add(&b, some + from, SOME - from), TROD_OK);
        assert_int_equal(trod_buf_add(&b, (uint8_t[]){(uint8_t)(some[SOME] + k)}, 1), TROD_OK);
    }
    return b;
}

/* What a codec makes of the same bytes depends neither on where it is nor on what it made before.
 */
static void codecs_make_the_same_bytes(void **state)
{
    (void)state;
    enum { STREAMS = 2000 };
    static const char *const names[] = {"x.gz", "x.zip"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const struct trod_filter *f = trod_writes_of_path(names[k]);
        for (int level = 1; f->enc_open && level <= 3; level++) {
            struct trod_fault fault = {0};
            struct trod_rng r;
            void *codec[2];
            trod_rng_seed(&r, (uint64_t)level);
            for (unsigned c = 0; c < 2; c++)
                assert_int_equal(f->enc_open(&codec[c], level, &fault), TROD_OK);
            for (unsigned i = 0; i < STREAMS; i++) {
                struct trod_buf b = data_again(&r), made[2] = {{0}};
                for (unsigned c = 0; c < 2; c++) {
                    struct data_sink s = {{.put = data_put, .fault = &fault}, &made[c]};
                    assert_int_equal(f->enc_write(codec[c], b.p, b.n, true, &s.sink), TROD_OK);
                }
                if (!data_same(&made[0], &made[1]))
                    fail_msg("%s, level %d: stream %u differs", f->name, level, i);
                for (unsigned c = 0; c < 2; c++)
                    trod_buf_fini(&made[c]);
                trod_buf_fini(&b);
            }
            for (unsigned c = 0; c < 2; c++)
                f->enc_close(codec[c]);
        }
    }
}

static void compression_by_option(void **state)
{
    (void)state;
    struct trod_buf b = data_make(DATA_TEXT, 3000, 1);
    struct place p = place_make("x.gz");
    struct trod_output *o;
    struct trod_diag diag;
    char said[300] = "";
    trod_diag_init(&diag, keep, said);

    struct trod_output_options opt = {.compress = "none"};
    assert_int_equal(trod_output_create(&o, p.path, &opt, &diag), TROD_OK);
    write_somehow(o, &b, 1);
    assert_int_equal(trod_output_commit(o), TROD_OK);
    assert_file(p.path, "", &b);

    opt.compress = "xz";
    opt.level = 3;
    if (trod_filter_find("xz")->enc_open) {
        assert_int_equal(trod_output_create(&o, p.path, &opt, &diag), TROD_OK);
        write_somehow(o, &b, 1);
        assert_int_equal(trod_output_commit(o), TROD_OK);
        assert_file(p.path, "xz ", &b);
    }
    assert_int_equal(diag.errors, 0);
    opt.compress = "gzipp";
    assert_int_equal(trod_output_create(&o, p.path, &opt, &diag), TROD_ERR_USAGE);
    assert_null(o);
    assert_int_equal(diag.errors, 1);
    assert_non_null(strstr(said, "'gzipp'"));
    place_remove(&p);
    trod_buf_fini(&b);
}

static void no_name_before_the_end(void **state)
{
    (void)state;
    struct trod_buf b = data_make(DATA_TEXT, 4 << 20, 1), old = data_make(DATA_TEXT, 100, 2);
    for (int exists = 0; exists < 2; exists++) {
        for (int commit = 0; commit < 2; commit++) {
            struct place p = place_make("x");
            struct trod_output *o;
            if (exists)
                test_save(p.path, old.p, old.n);
            assert_int_equal(trod_output_create(&o, p.path, NULL, NULL), TROD_OK);
            write_somehow(o, &b, 1);
            if (exists)
                assert_file(p.path, "", &old);
            else
                assert_int_equal(access(p.path, F_OK), -1);
            if (commit) {
                assert_int_equal(trod_output_commit(o), TROD_OK);
                assert_file(p.path, "", &b);
            } else {
                trod_output_discard(o);
                if (exists)
                    assert_file(p.path, "", &old);
            }
            assert_int_equal(names_in(p.dir), exists || commit);
            place_remove(&p);
        }
    }
    trod_output_discard(NULL);
    trod_buf_fini(&b);
    trod_buf_fini(&old);
}

/* The way for systems that know no files without names. */
static void temporary_names(void **state)
{
    (void)state;
    struct place p = place_make("x");
    for (int unnamed = 0; unnamed < 2; unnamed++) {
        for (int k = 0; k < 3; k++) {
            struct trod_fault fault = {0};
            struct trod_outfile f;
            struct trod_buf b = {.p = (uint8_t *)(uintptr_t)(k ? "later" : "first"), .n = 5};
            assert_int_equal(trod_outfile_open(&f, p.path, unnamed, &fault), TROD_OK);
            assert_int_equal(trod_outfile_write(&f, b.p, b.n, &fault), TROD_OK);
            if (!unnamed)
                assert_int_equal(names_in(p.dir), k ? 2 : 1);
            if (k == 2) {
                trod_outfile_discard(&f);
            } else {
                assert_int_equal(trod_outfile_commit(&f, &fault), TROD_OK);
                assert_file(p.path, "", &b);
            }
            assert_int_equal(names_in(p.dir), 1);
        }
        unlink(p.path);
    }
    place_remove(&p);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void write_word(const char *path, const char *word)
{
    struct trod_output *o;
    assert_int_equal(trod_output_create(&o, path, NULL, NULL), TROD_OK);
    assert_int_equal(trod_output_write(o, word, strlen(word)), TROD_OK);
    assert_int_equal(trod_output_commit(o), TROD_OK);
}

static void modes_and_links(void **state)
{
    (void)state;
    struct place p = place_make("x");
    char *link = test_path(p.dir, "link");
    const mode_t old = umask(027);
    write_word(p.path, "one");
    assert_int_equal(mode_of(p.path), 0640);
    assert_int_equal(chmod(p.path, 0604), 0);
    write_word(p.path, "two");
    assert_int_equal(mode_of(p.path), 0604); /* what is replaced keeps its mode */
    umask(old);

    struct stat st;
    struct trod_buf three = {.p = (uint8_t *)(uintptr_t) "three", .n = 5};
    assert_int_equal(symlink("x", link), 0);
    write_word(link, "three");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_file(p.path, "", &three);
    free(link);
    place_remove(&p);
}

static void names_of_one_file(void **state)
{
    (void)state;
    struct place p = place_make("x");
    char *link = test_path(p.dir, "link"), *same = test_path(p.dir, "./x"),
         *other = test_path(p.dir, "y"), *pipe = test_path(p.dir, "pipe");

    /* before there is a file, the directory and the name decide */
    assert_true(trod_same_file(p.path, p.path));
    assert_true(trod_same_file(p.path, same));
    assert_false(trod_same_file(p.path, other));
    write_word(p.path, "one");
    assert_int_equal(symlink("x", link), 0);
    assert_true(trod_same_file(p.path, same));
    assert_true(trod_same_file(link, p.path));
    assert_false(trod_same_file(p.path, other));
    write_word(other, "one");
    assert_false(trod_same_file(p.path, other));
    assert_true(trod_same_file(p.dir, p.dir));
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_false(trod_same_file(pipe, pipe));
    assert_false(trod_same_file("-", "-"));
    free(link);
    free(same);
    free(other);
    free(pipe);
    place_remove(&p);
}

static void what_cannot_be_created(void **state)
{
    (void)state;
    struct place p = place_make("x");
    char *below = test_path(p.path, "y");
    const char *const paths[] = {p.dir, below};
    for (int i = 0; i < 2; i++) {
        struct trod_diag diag;
        struct trod_output *o;
        char said[300] = "";
        trod_diag_init(&diag, keep, said);
        assert_int_equal(trod_output_create(&o, paths[i], NULL, &diag), TROD_ERR_IO);
        assert_null(o);
        assert_int_equal(diag.errors, 1);
        assert_non_null(strstr(said, paths[i]));
    }
    assert_int_equal(names_in(p.dir), 0);
    free(below);
    place_remove(&p);
}

/* A full disk: said once, by a call while it is written or by the commit. */
static void full_disk(void **state)
{
    (void)state;
    struct stat st;
    if (stat("/dev/full", &st) != 0 || !S_ISCHR(st.st_mode)) {
        print_message("skipped: no /dev/full here\n");
        skip();
    }
    struct trod_buf b = data_make(DATA_RANDOM, test_fewer(12 << 20, 5 << 20), 1);
    static const char *const compress[] = {"none", "gzip", "zstd", "lz4", "xz", "snappy"};
    for (size_t i = 0; i < sizeof compress / sizeof compress[0]; i++) {
        if (i && !trod_filter_find(compress[i])->enc_open)
            continue;
        for (int threads = 0; threads < 2; threads++) {
            for (int big = 0; big < 2; big++) {
                const struct trod_output_options opt = {.compress = compress[i],
                                                        .no_thread = !threads};
                struct trod_diag diag;
                struct trod_output *o;
                char said[300] = "";
                trod_diag_init(&diag, keep, said);
                assert_int_equal(trod_output_create(&o, "/dev/full", &opt, &diag), TROD_OK);
                const int status = trod_output_write(o, b.p, big ? b.n : 300000);
                /* threads may have it all on their way before the first piece is refused */
                if (big && (!threads || i == 0))
                    assert_int_equal(status, TROD_ERR_IO);
                else
                    assert_true(status == TROD_OK || status == TROD_ERR_IO);
                assert_int_equal(trod_output_commit(o), TROD_ERR_IO);
                assert_int_equal(diag.errors, 1);
                assert_non_null(strstr(said, "/dev/full"));
                assert_non_null(strstr(said, "No space left"));
            }
        }
    }
    trod_buf_fini(&b);
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void devices_are_written_in_place(void **state)
{
    (void)state;
    struct stat st;
    write_word("/dev/null", "gone");
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

struct pipe_reader {
    const char *path;
    struct data_read read;
};

static void *read_all(void *user)
{
    struct pipe_reader *r = user;
    r->read = data_read_file(r->path, NULL);
    return NULL;
}

static void named_pipes(void **state)
{
    (void)state;
    struct trod_buf b = data_make(DATA_TEXT, 3 << 20, 1);
    struct place p = place_make("fifo");
    assert_int_equal(mkfifo(p.path, 0600), 0);
    for (int threads = 0; threads < 2; threads++) {
        const struct trod_output_options opt = {.no_thread = !threads};
        struct pipe_reader r = {.path = p.path};
        struct trod_output *o;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, read_all, &r), 0);
        assert_int_equal(trod_output_create(&o, p.path, &opt, NULL), TROD_OK);
        write_somehow(o, &b, 1);
        assert_int_equal(trod_output_commit(o), TROD_OK);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(r.read.status, TROD_OK);
        assert_true(data_same(&r.read.bytes, &b));
        trod_buf_fini(&r.read.bytes);
    }
    place_remove(&p);
    trod_buf_fini(&b);
}

/* "-" is descriptor 1, here a pipe; a flush makes what was written come out of it. */
static void standard_output(void **state)
{
    (void)state;
    int ends[2];
    char got[20];
    struct trod_output *o;
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
    const int created = trod_output_create(&o, "-", NULL, NULL);
    const int written = trod_output_write(o, "hello", 5);
    const int flushed = trod_output_flush(o);
    const ssize_t n = read(ends[0], got, sizeof got);
    const int again = trod_output_write(o, " world", 6);
    const int done = trod_output_commit(o);
    const ssize_t m = read(ends[0], got + 5, sizeof got - 5);
    const bool still_open = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(created | written | flushed | again | done, TROD_OK);
    assert_int_equal(n, 5);
    assert_int_equal(m, 6);
    assert_memory_equal(got, "hello world", 11);
    assert_true(still_open);
}

static void no_binary_to_a_terminal(void **state)
{
    (void)state;
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0 || !ptsname(master)) {
        print_message("skipped: no pseudo terminal to be had\n");
        skip();
    }
    struct trod_output *o;
    const struct trod_output_options binary = {.binary = true}, packed = {.compress = "gzip"};
    struct trod_diag diag;
    char said[300] = "";
    trod_diag_init(&diag, keep, said);
    assert_int_equal(trod_output_create(&o, ptsname(master), &binary, &diag), TROD_ERR_USAGE);
    assert_non_null(strstr(said, "terminal"));
    if (trod_filter_find("gzip")->enc_open)
        assert_int_equal(trod_output_create(&o, ptsname(master), &packed, &diag), TROD_ERR_USAGE);
    assert_int_equal(trod_output_create(&o, ptsname(master), NULL, &diag), TROD_OK);
    trod_output_discard(o);
    close(master);
}

static void rooms_have_a_limit(void **state)
{
    (void)state;
    struct place p = place_make("x");
    struct trod_output *o;
    struct trod_room room;
    struct trod_diag diag;
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_output_create(&o, p.path, NULL, &diag), TROD_OK);
    assert_int_equal(trod_output_room(o, (size_t)TROD_WINDOW + 1, &room), TROD_ERR_LIMIT);
    assert_int_equal(trod_output_room(o, TROD_WINDOW, &room), TROD_OK);
    assert_true(room.end - room.p >= TROD_WINDOW);
    assert_int_equal(trod_output_room(o, 0, &room), TROD_OK);
    assert_true(room.end > room.p);
    assert_int_equal(trod_output_commit(o), TROD_OK);
    assert_int_equal(diag.errors, 1);
    place_remove(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_arrives),
        cmocka_unit_test(threads_make_the_same_bytes),
        cmocka_unit_test(codecs_make_the_same_bytes),
        cmocka_unit_test(compression_by_option),
        cmocka_unit_test(no_name_before_the_end),
        cmocka_unit_test(temporary_names),
        cmocka_unit_test(modes_and_links),
        cmocka_unit_test(names_of_one_file),
        cmocka_unit_test(what_cannot_be_created),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(devices_are_written_in_place),
        cmocka_unit_test(named_pipes),
        cmocka_unit_test(standard_output),
        cmocka_unit_test(no_binary_to_a_terminal),
        cmocka_unit_test(rooms_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
