/*
 * test_zip_ahead.c - members of an archive that threads decode ahead: the same bytes and problems
 * as without, whatever is damaged, passed over or not read to its end.
 */
#include "gen.h"
#include "io_data.h"
#include "trod/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { MEMBERS = 7, WINDOW = 1 << 16 };

/* Some are too small for a thread; reading ahead begins behind the second. */
static const size_t sizes[MEMBERS] = {3 << 20,         (2 << 20) + 5, (1 << 20) + 100, 5000,
                                      (4 << 20) + 333, 1 << 20,       2 << 20};

struct zip {
    struct trod_buf bytes, data;
};

static struct zip make(const char *compress)
{
    const struct trod_output_options opt = {.compress = compress, .level = 1};
    char *dir = test_tmpdir(), *path = test_path(dir, "a.zip");
    struct trod_output *out;
    struct zip z = {.bytes = {0}};

    assert_int_equal(trod_output_create(&out, path, &opt, NULL), 0);
    for (size_t i = 0; i < MEMBERS; i++) {
        char name[16];
        struct trod_buf b = data_make(DATA_TEXT, sizes[i], i + 1);

        snprintf(name, sizeof name, "m%zu", i);
        assert_int_equal(trod_output_part(out, name), 0);
        assert_int_equal(trod_output_write(out, b.p, b.n), 0);
        assert_int_equal(trod_buf_add(&z.data, b.p, b.n), 0);
        trod_buf_fini(&b);
    }
    assert_int_equal(trod_output_commit(out), 0);
    z.bytes = test_load(path);
    test_remove(dir);
    free(path);
    free(dir);
    return z;
}

static void release(struct zip *z)
{
    trod_buf_fini(&z->bytes);
    trod_buf_fini(&z->data);
}

/* What an input gives, and what is said of it. */
struct got {
    struct trod_buf data, said;
};

static void note(void *user, const struct trod_problem *p)
{
    struct got *g = user;

    trod_buf_printf(&g->said, "%s %s %llu %s\n", p->kind, p->at.member ? p->at.member : "-",
                    (unsigned long long)p->at.offset, p->message);
}

static struct got read_as(const struct trod_buf *bytes, uint16_t beside, bool no_thread)
{
    const struct trod_input_options opt = {
        .no_thread = no_thread, .window = WINDOW, .beside = beside};
    struct got g = {.data = {0}};
    struct trod_diag diag;
    struct trod_input *in;
    struct trod_span s;

    trod_diag_init(&diag, note, &g);
    if (trod_input_memory(&in, bytes->p, bytes->n, "zip", &opt, &diag) < 0)
        return g;
    while (trod_input_ahead(in, 24, &s) == TROD_OK && s.n) {
        assert_int_equal(trod_buf_add(&g.data, s.p, s.n), 0);
        trod_input_consume(in, s.n);
    }
    trod_buf_printf(&g.said, "end %llu\n", (unsigned long long)trod_input_offset(in));
    trod_input_close(in);
    return g;
}

static void forget(struct got *g)
{
    trod_buf_fini(&g->data);
    trod_buf_fini(&g->said);
}

static void assert_same(const struct got *a, const struct got *b)
{
    assert_int_equal(a->data.n, b->data.n);
    assert_memory_equal(a->data.p, b->data.p, a->data.n);
    assert_int_equal(a->said.n, b->said.n);
    assert_memory_equal(a->said.p, b->said.p, a->said.n);
}

static const char *const kinds[] = {"zip", "zip-zstd"};

static void whole(void **state)
{
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct zip z = make(kinds[k]);

        for (uint16_t beside = 0; beside < 6; beside++) {
            struct got g = read_as(&z.bytes, beside, false);

            assert_int_equal(g.data.n, z.data.n);
            assert_memory_equal(g.data.p, z.data.p, z.data.n);
            forget(&g);
        }
        release(&z);
    }
}

/* Bytes changed, put in, left out, or the archive cut. */
static void spoil(struct trod_buf *b, struct trod_rng *r)
{
    const size_t at = trod_rng_below(r, (uint32_t)b->n), n = 1 + trod_rng_below(r, 9);

    switch (trod_rng_below(r, 5)) {
    case 0:
        b->n = at;
        break;
    case 1:
        if (at + n < b->n) {
            memmove(b->p + at, b->p + at + n, b->n - at - n);
            b->n -= n;
        }
        break;
    case 2: /* in the directory, which is at the end */
        b->p[b->n - 1 - trod_rng_below(r, 600)] ^= (uint8_t)(1u << trod_rng_below(r, 8));
        break;
    default:
        b->p[at] ^= (uint8_t)(1u << trod_rng_below(r, 8));
        break;
    }
}

static void damaged(void **state)
{
    struct trod_rng r;

    (void)state;
    trod_rng_seed(&r, gen_seed(7).s);
    for (size_t k = 0; k < 2; k++) {
        struct zip z = make(kinds[k]);

        for (unsigned round = 0; round < 12; round++) {
            struct trod_buf b = {0};
            struct got want;

            assert_int_equal(trod_buf_add(&b, z.bytes.p, z.bytes.n), 0);
            spoil(&b, &r);
            want = read_as(&b, 0, true);
            for (uint16_t beside = 1; beside < 4; beside += 2) {
                struct got g = read_as(&b, beside, false);

                assert_same(&g, &want);
                forget(&g);
            }
            forget(&want);
            trod_buf_fini(&b);
        }
        release(&z);
    }
}

/* Pieces are passed over, within members and beyond them, and the rest is not read. */
static void passed_over(void **state)
{
    struct zip z = make("zip");
    struct trod_rng r;

    (void)state;
    trod_rng_seed(&r, gen_seed(7).s);
    for (unsigned round = 0; round < 16; round++) {
        const struct trod_input_options opt = {.window = WINDOW, .beside = 3};
        const uint64_t end = trod_rng_below(&r, 2) ? z.data.n : 8u << 20;
        struct trod_input *in;
        struct trod_span s;

        assert_int_equal(trod_input_memory(&in, z.bytes.p, z.bytes.n, "zip", &opt, NULL), 0);
        while (trod_input_offset(in) < end && trod_input_ahead(in, 1, &s) == TROD_OK && s.n) {
            assert_true(s.offset + s.n <= z.data.n);
            assert_memory_equal(s.p, z.data.p + s.offset, s.n);
            trod_input_consume(in, s.n);
            if (trod_rng_below(&r, 60) == 0)
                trod_input_skip(in, trod_rng_below(&r, 3 << 20));
        }
        assert_true(trod_input_offset(in) >= end);
        trod_input_close(in);
    }
    release(&z);
}

/*
 * Behind the first bytes of a large member the archive is read far beyond what the windows hold:
 * a thread has been there. Waits longer and longer where threads are slow to begin.
 */
static void is_used(void **state)
{
    const struct trod_input_options opt = {.window = WINDOW, .beside = 2};
    const uint64_t large = sizes[0] + sizes[1] + sizes[2] + sizes[3];
    struct zip z = make("zip");
    bool used = false;

    (void)state;
    for (long wait = 1 << 24; !used && wait < 1 << 29; wait *= 2) {
        const struct timespec nanoseconds = {.tv_nsec = wait};
        struct trod_input *in;
        struct trod_span s;
        uint64_t before;

        assert_int_equal(trod_input_memory(&in, z.bytes.p, z.bytes.n, "zip", &opt, NULL), 0);
        while (trod_input_offset(in) < large - 8 * (uint64_t)WINDOW) {
            assert_int_equal(trod_input_ahead(in, 1, &s), TROD_OK);
            trod_input_consume(in, s.n);
        }
        nanosleep(&nanoseconds, NULL);
        before = trod_input_file_offset(in);
        while (trod_input_offset(in) <= large) {
            assert_int_equal(trod_input_ahead(in, 1, &s), TROD_OK);
            trod_input_consume(in, s.n);
        }
        /* of 4 MiB that are packed to a third or so */
        used = trod_input_file_offset(in) > before + (1u << 19);
        trod_input_close(in);
    }
    assert_true(used);
    release(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(damaged),
        cmocka_unit_test(passed_over),
        cmocka_unit_test(is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
