/*
 * test_zip.c - zip archives as inputs: order, compressions, zip64, comments, damage of every kind.
 */
#include "zip_data.h"

#include <unistd.h>

/* The data of parts FROM to 0 (the order of the directory) from OFFSET of G on. */
static void has_parts(const struct got *g, size_t *offset, const struct part *p, size_t from)
{
    for (size_t i = from + 1; i-- > 0;) {
        assert_true(g->data.n - *offset >= p[i].data.n);
        if (p[i].data.n)
            assert_memory_equal(g->data.p + *offset, p[i].data.p, p[i].data.n);
        *offset += p[i].data.n;
    }
}

static void whole(void **state)
{
    static const char *const comments[] = {
        "", "a comment", "PK\005\006 in a comment, which is no end of anything at all"};

    (void)state;
    for (int k = 0; k < 12; k++) {
        struct part p[PARTS];
        struct trod_buf z;
        struct got g;
        size_t at = 0;

        make_parts(p);
        z = archive(p, PARTS, k & 1, k & 2, comments[k / 4]);
        read_memory(&g, z.p, z.n, k % 3 == 0);
        has_parts(&g, &at, p, PARTS - 1);
        assert_int_equal(at, g.data.n);
        assert_int_equal(g.diag.errors, 0);
        trod_buf_fini(&g.data);
        trod_buf_fini(&z);
        drop_parts(p);
    }
}

static void nothing(void **state)
{
    struct trod_buf z = {0};
    struct got g;

    (void)state;
    finish(&z, 0, 0, false, "");
    read_memory(&g, z.p, z.n, false);
    assert_int_equal(g.data.n, 0);
    assert_int_equal(g.diag.errors, 0);
    trod_buf_fini(&z);
}

/* Members by number and by place, and going to one. */
static void members(void **state)
{
    struct part p[PARTS];
    struct trod_buf z;
    struct trod_input *in;
    struct trod_member m;
    struct trod_span s;
    uint64_t at = 0;

    (void)state;
    make_parts(p);
    trod_buf_fini(&p[3].data);
    p[3].data = data_make(DATA_TEXT, 20 << 20, 9); /* comes first, long enough to be skipped */
    z = archive(p, PARTS, false, false, "");
    assert_int_equal(trod_input_memory(&in, z.p, z.n, "zip", NULL, NULL), 0);
    assert_int_equal(trod_input_members(in), PARTS);
    for (size_t i = 0; i < PARTS; i++) {
        const struct part *q = &p[PARTS - 1 - i];

        assert_true(trod_input_member(in, i, &m));
        assert_string_equal(m.name, q->name);
        assert_int_equal(m.offset, at);
        assert_int_equal(m.size, q->data.n);
        at += q->data.n;
    }
    assert_false(trod_input_member(in, PARTS, &m));
    at = p[3].data.n + 17;
    assert_int_equal(trod_input_skip(in, at), at);
    assert_int_equal(trod_input_ahead(in, 100, &s), 0);
    assert_int_equal(s.offset, at);
    assert_memory_equal(s.p, p[2].data.p + 17, 100);
    assert_int_equal(trod_input_member_at(in, at), 1);
    trod_input_close(in);
    trod_buf_fini(&z);
    drop_parts(p);
}

/* From a pipe: nothing can be sought, members come as they lie. */
static void pipes(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct part p[PARTS];
        struct trod_buf z;
        struct trod_input *in;
        struct got g = {.members = ""};
        int fd[2];
        pid_t child;
        size_t at = 0;

        make_parts(p);
        z = archive(p, PARTS, false, k, "");
        assert_int_equal(pipe(fd), 0);
        child = fork();
        if (child == 0) {
            for (size_t i = 0; i < z.n;) {
                ssize_t n = write(fd[1], z.p + i, z.n - i < 1000 ? z.n - i : 1000);

                i += n > 0 ? (size_t)n : 0;
            }
            _exit(0);
        }
        close(fd[1]);
        trod_diag_init(&g.diag, note, &g);
        if (k) /* the stored member does not say its size */
            p[1].data.n = 0;
        assert_int_equal(trod_input_fd(&in, fd[0], "pipe", NULL, &g.diag), 0);
        read_all(in, &g, 1);
        for (size_t i = 0; i < PARTS; i++) {
            if (p[i].data.n)
                assert_memory_equal(g.data.p + at, p[i].data.p, p[i].data.n);
            at += p[i].data.n;
        }
        assert_int_equal(at, g.data.n);
        assert_string_equal(g.members, k ? "chunk.0000 " : "");
        close(fd[0]);
        trod_buf_fini(&g.data);
        trod_buf_fini(&z);
        drop_parts(p);
    }
}

/* Something is wrong with member 2 (of the directory's 1): it is named, the others are all there.
 */
static void one_bad(void (*spoil)(struct trod_buf *z, struct part *p), size_t kept)
{
    struct part p[PARTS];
    struct trod_buf z;
    struct got g;
    size_t at = 0, n;

    make_parts(p);
    z = archive(p, PARTS, false, false, "");
    spoil(&z, p);
    read_memory(&g, z.p, z.n, false);
    assert_true(g.diag.errors >= 1);
    assert_true(strncmp(g.members, p[2].name, strlen(p[2].name)) == 0);
    has_parts(&g, &at, p + 3, 0);
    n = g.data.n - p[0].data.n - p[1].data.n - at; /* of the bad one */
    assert_true(n >= kept && (n % 24 == 0 || n == p[2].data.n || n == SAID));
    at += n;
    has_parts(&g, &at, p, 1);
    assert_int_equal(at, g.data.n);
    trod_buf_fini(&g.data);
    trod_buf_fini(&z);
    drop_parts(p);
}

static size_t data_at(const struct part *p)
{
    return (size_t)p->at + 30 + strlen(p->name);
}

static void bad_crc(struct trod_buf *z, struct part *p)
{
    size_t i = z->n - 22;

    (void)p;
    /* its entry of the directory: the second */
    while (trod_load_le32(z->p + i) != 0x02014b50 || memcmp(z->p + i + 46, "dir/", 4) != 0)
        i--;
    z->p[i + 16] ^= 1;
}

static void bad_block(struct trod_buf *z, struct part *p)
{
    memset(z->p + data_at(&p[2]) + p[2].packed.n / 2, 0xff, 2000);
}

static void bad_header(struct trod_buf *z, struct part *p)
{
    z->p[p[2].at] ^= 0xff;
}

static void bad_method(struct trod_buf *z, struct part *p)
{
    size_t i = z->n - 22;

    (void)p;
    while (trod_load_le32(z->p + i) != 0x02014b50 || memcmp(z->p + i + 46, "dir/", 4) != 0)
        i--;
    trod_store_le16(z->p + i + 10, 14);
}

static void bad_size(struct trod_buf *z, struct part *p)
{
    size_t i = z->n - 22;

    (void)p;
    while (trod_load_le32(z->p + i) != 0x02014b50 || memcmp(z->p + i + 46, "dir/", 4) != 0)
        i--;
    trod_store_le32(z->p + i + 24, SAID);
}

static void damaged(void **state)
{
    (void)state;
    one_bad(bad_crc, 100001);
    one_bad(bad_block, 24000);
    one_bad(bad_header, 0);
    one_bad(bad_method, 0);
    one_bad(bad_size, 99000);
}

/* Cut anywhere: all members before the cut are delivered, and it is said. */
static void cut(void **state)
{
    struct part p[PARTS];
    struct trod_buf z;

    (void)state;
    make_parts(p);
    z = archive(p, PARTS, false, false, "");
    for (size_t n = z.n - 1; n > 40; n -= n > 2000 ? n / 13 : 3) {
        struct got g;
        size_t at = 0;
        bool before = true;

        read_memory(&g, z.p, n, false);
        assert_true(g.diag.errors >= 1);
        assert_true(g.diag.worst == TROD_ERR_TRUNCATED || g.diag.worst == TROD_ERR_CORRUPT);
        for (size_t i = 0; i < PARTS && before; i++) {
            before = data_at(&p[i]) + p[i].packed.n <= n;
            if (!before)
                break;
            assert_true(g.data.n >= at + p[i].data.n);
            if (p[i].data.n)
                assert_memory_equal(g.data.p + at, p[i].data.p, p[i].data.n);
            at += p[i].data.n;
        }
        trod_buf_fini(&g.data);
    }
    trod_buf_fini(&z);
    drop_parts(p);
}

/* Any byte wrong: it ends, and what lies in members that are whole is there. */
static void flipped(void **state)
{
    struct trod_rng r;
    struct part p[PARTS];
    struct trod_buf z;

    (void)state;
    trod_rng_seed(&r, 5);
    make_parts(p);
    z = archive(p, PARTS, true, false, "");
    for (int i = 0; i < 300; i++) {
        size_t at = i < 150 ? z.n - 1 - trod_rng_below(&r, 500) : trod_rng_below(&r, z.n);
        uint8_t was = z.p[at];
        struct got g;

        z.p[at] = (uint8_t)(was ^ 1u << trod_rng_below(&r, 8));
        if (z.p[0] == 'P' && z.p[1] == 'K' && z.p[2] == 3 && z.p[3] == 4) {
            read_memory(&g, z.p, z.n, false);
            trod_buf_fini(&g.data);
        }
        z.p[at] = was;
    }
    trod_buf_fini(&z);
    drop_parts(p);
}

/* A file that is opened for each read, with small windows. */
static void lazy(void **state)
{
    const struct trod_input_options opt = {.no_thread = true, .lazy = true, .window = 1 << 12};
    char *dir = test_tmpdir(), *path = test_path(dir, "a.zip");
    struct part p[PARTS];
    struct trod_buf z;
    struct trod_input *in;
    struct got g = {.members = ""};
    size_t at = 0;

    (void)state;
    make_parts(p);
    z = archive(p, PARTS, false, false, "");
    test_save(path, z.p, z.n);
    assert_int_equal(trod_input_open(&in, path, &opt, NULL), 0);
    read_all(in, &g, 300);
    has_parts(&g, &at, p, PARTS - 1);
    assert_int_equal(at, g.data.n);
    trod_buf_fini(&g.data);
    trod_buf_fini(&z);
    drop_parts(p);
    free(path);
    test_remove(dir);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),   cmocka_unit_test(nothing), cmocka_unit_test(members),
        cmocka_unit_test(pipes),   cmocka_unit_test(damaged), cmocka_unit_test(cut),
        cmocka_unit_test(flipped), cmocka_unit_test(lazy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
