/*
 * test_modules.c - code that is not in the trace: modules.log, encodings.bin.
 *
 * The ELF file is this test itself: what its program headers say is read here once more.
 */
#include "format/drmemtrace/modules.h"
#include "gen.h"
#include "testlib.h"

#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const uint64_t base = UINT64_C(0x555555550000);

struct self {
    char path[4096];
    struct trod_buf bytes;
    Elf64_Ehdr header;
    Elf64_Phdr load[16];
    size_t n;
};

static struct self self;
static struct trod_diag quiet;

static int find_self(void **state)
{
    ssize_t n = readlink("/proc/self/exe", self.path, sizeof self.path - 1);

    (void)state;
    if (n <= 0)
        return -1;
    self.path[n] = '\0';
    self.bytes = test_load(self.path);
    memcpy(&self.header, self.bytes.p, sizeof self.header);
    if (self.header.e_ident[EI_CLASS] != ELFCLASS64)
        return -1;
    for (size_t i = 0; i < self.header.e_phnum; i++) {
        Elf64_Phdr h;

        memcpy(&h, self.bytes.p + self.header.e_phoff + i * sizeof h, sizeof h);
        if (h.p_type == PT_LOAD && self.n < 16)
            self.load[self.n++] = h;
    }
    return self.n ? 0 : -1;
}

static int forget_self(void **state)
{
    (void)state;
    trod_buf_fini(&self.bytes);
    return 0;
}

static uint64_t low(uint64_t v)
{
    return v & ~UINT64_C(4095);
}

/* A list of modules of VERSION: this file, a line a segment (from version 4), and a vdso. */
static void make_list(struct trod_buf *b, unsigned version, uint64_t entry_off)
{
    const uint64_t first = low(self.load[0].p_vaddr), entry = base + self.header.e_entry - first;
    size_t lines = version >= 4 ? self.n : 1;

    b->n = 0;
    trod_buf_printf(b, "Module Table: version %u, count %zu\n", version, lines + 1);
    trod_buf_printf(b, "Columns: id, containing_id, start, end, entry, offset, path\n");
    for (size_t i = 0; i < lines; i++) {
        const Elf64_Phdr *h = &self.load[i], *last = &self.load[version >= 4 ? i : self.n - 1];
        uint64_t start = base + low(h->p_vaddr) - first;
        uint64_t end = base + low(last->p_vaddr + last->p_memsz + 4095) - first;

        trod_buf_printf(b, "%3zu, %3d, 0x%016" PRIx64 ", 0x%016" PRIx64 ", 0x%016" PRIx64, i, 0,
                        start, end, entry + entry_off);
        if (version >= 4)
            trod_buf_printf(b, ", %016" PRIx64, low(h->p_offset));
        if (version >= 5)
            trod_buf_printf(b, ", 0x%016" PRIx64, first);
        trod_buf_printf(b, ", v#1,0, %s\n", self.path);
    }
    trod_buf_printf(b, "%3zu, %3zu, 0x00007fff00001000, 0x00007fff00002000, 0x0", lines, lines);
    trod_buf_printf(b, version >= 5 ? ", 0, 0, " : version >= 4 ? ", 0, " : ", ");
    trod_buf_printf(b, "v#1,7,\n%cab\n,x, [vdso]\n", 0x90);
}

static void expect_self(struct drm_modules *m)
{
    const uint64_t first = low(self.load[0].p_vaddr);

    for (size_t i = 0; i < self.n; i++) {
        const Elf64_Phdr *h = &self.load[i];
        const uint64_t pc = base + h->p_vaddr - first;

        for (uint64_t at = 0; at + 15 < h->p_filesz; at += 997) {
            const uint8_t *p = drm_modules_code(m, pc + at, 15);

            assert_non_null(p);
            assert_memory_equal(p, self.bytes.p + h->p_offset + at, 15);
        }
    }
    assert_null(drm_modules_code(m, base - 1, 1));
    assert_null(drm_modules_code(m, 0, 15));
}

static void expect_vdso(struct drm_modules *m)
{
    const uint8_t *p = drm_modules_code(m, UINT64_C(0x7fff00001000), 7);

    assert_non_null(p);
    assert_memory_equal(p,
                        "\n\x90"
                        "ab\n,x",
                        7);
    assert_null(drm_modules_code(m, UINT64_C(0x7fff00001000), 8));
}

static void test_versions(void **state)
{
    (void)state;
    for (unsigned version = 3; version <= 5; version++) {
        struct trod_buf b = {0};
        struct drm_modules *m;

        make_list(&b, version, 0);
        assert_int_equal(drm_modules_new(&m), 0);
        assert_int_equal(drm_modules_parse(m, b.p, b.n, "modules.log", NULL, &quiet), 0);
        expect_self(m);
        expect_vdso(m);
        drm_modules_free(m);
        trod_buf_fini(&b);
    }
}

/* A file whose entry point lies elsewhere is another build: told, and nothing of it believed. */
static void test_changed(void **state)
{
    (void)state;
    for (unsigned version = 3; version <= 5; version++) {
        struct trod_buf b = {0};
        struct trod_diag diag;
        struct drm_modules *m;

        trod_diag_init(&diag, NULL, NULL);
        make_list(&b, version, 16);
        assert_int_equal(drm_modules_new(&m), 0);
        assert_int_equal(drm_modules_parse(m, b.p, b.n, "modules.log", NULL, &diag), 0);
        assert_true(trod_diag_kind_count(&diag, "drmemtrace.module-changed") > 0);
        assert_null(drm_modules_code(m, base + self.header.e_entry - low(self.load[0].p_vaddr), 1));
        expect_vdso(m);
        drm_modules_free(m);
        trod_buf_fini(&b);
    }
}

/* The N lines of B behind its first two once more, with other addresses, PATH and wrong entries. */
static void add_wrong(struct trod_buf *b, const char *path)
{
    trod_buf_printf(b, "  0,   0, 0x0000666666660000, 0x0000666666661000, 0x0000666666660001");
    trod_buf_printf(b, ", 0000000000000000, 0x0, v#1,0, %s\n", path);
}

/* One file twice, once with an entry point that is not its own: the other one stays usable. */
static void test_twice(void **state)
{
    struct trod_buf b = {0}, twice = {0};
    struct trod_diag diag;
    struct drm_modules *m;
    const char *lines;

    (void)state;
    trod_diag_init(&diag, NULL, NULL);
    make_list(&b, 5, 0);
    assert_int_equal(trod_buf_add(&b, "", 1), 0);
    lines = strchr((const char *)b.p, '\n') + 1;
    trod_buf_printf(&twice, "Module Table: version 5, count %zu\n", self.n + 2);
    trod_buf_add(&twice, lines, b.n - 1 - (size_t)(lines - (const char *)b.p));
    add_wrong(&twice, self.path);
    assert_int_equal(drm_modules_new(&m), 0);
    assert_int_equal(drm_modules_parse(m, twice.p, twice.n, "modules.log", NULL, &diag), 0);
    assert_int_equal(trod_diag_kind_count(&diag, "drmemtrace.module-changed"), 1);
    expect_self(m);
    assert_null(drm_modules_code(m, UINT64_C(0x666666660000), 1));
    drm_modules_free(m);
    trod_buf_fini(&twice);
    trod_buf_fini(&b);
}

/* A file that is cut while the trace is read, and one that is a pipe. */
static void test_unsteady(void **state)
{
    char *dir = test_tmpdir(), *copy = test_path(dir, "copy"), *fifo = test_path(dir, "fifo");
    const uint64_t first = low(self.load[0].p_vaddr);
    const Elf64_Phdr *last = &self.load[self.n - 1];
    const size_t n = strlen(copy);
    struct trod_buf b = {0};
    struct trod_diag diag;
    struct drm_modules *m;
    const uint8_t *p;

    (void)state;
    trod_diag_init(&diag, NULL, NULL);
    test_save(copy, self.bytes.p, self.bytes.n);
    assert_true(n < sizeof self.path);
    char was[sizeof self.path];
    memcpy(was, self.path, sizeof was);
    memcpy(self.path, copy, n + 1);
    make_list(&b, 5, 0);
    memcpy(self.path, was, sizeof was);
    assert_int_equal(drm_modules_new(&m), 0);
    assert_int_equal(drm_modules_parse(m, b.p, b.n, "modules.log", NULL, &diag), 0);
    p = drm_modules_code(m, base + self.load[0].p_vaddr - first, 15);
    assert_non_null(p);
    assert_int_equal(truncate(copy, 100), 0);
    assert_memory_equal(p, self.bytes.p + self.load[0].p_offset, 15);
    for (uint64_t at = 0; at + 15 < last->p_filesz; at += 997) {
        p = drm_modules_code(m, base + last->p_vaddr - first + at, 15);
        /* what shares a block with what was read before is still known */
        assert_true(!p || memcmp(p, self.bytes.p + last->p_offset + at, 15) == 0);
        if (last->p_offset + at >= 1 << 16)
            assert_null(p);
    }
    if (last->p_offset >= 1 << 16)
        assert_int_equal(trod_diag_kind_count(&diag, "drmemtrace.module-changed"), 1);
    drm_modules_free(m);
    b.n = 0;
    assert_int_equal(mkfifo(fifo, 0600), 0);
    trod_buf_printf(&b, "Module Table: version 5, count 1\n");
    add_wrong(&b, fifo);
    assert_int_equal(drm_modules_new(&m), 0);
    alarm(20); /* it must not wait for somebody to write */
    assert_int_equal(drm_modules_parse(m, b.p, b.n, "modules.log", NULL, &diag), 0);
    assert_int_equal(trod_diag_kind_count(&diag, "drmemtrace.module-missing"), 1);
    assert_int_equal(drm_modules_add(m, fifo, NULL, &diag), TROD_ERR_IO);
    alarm(0);
    drm_modules_free(m);
    trod_buf_fini(&b);
    test_remove(dir);
    free(copy);
    free(fifo);
    free(dir);
}

/* The file is not where it was, but in the folder that is named. */
static void test_directory(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "gone.so");
    char was[sizeof self.path];
    struct trod_buf b = {0};
    struct trod_diag diag;
    struct drm_modules *m;

    (void)state;
    test_save(path, self.bytes.p, self.bytes.n);
    memcpy(was, self.path, sizeof was);
    snprintf(self.path, sizeof self.path, "/no/such/folder/gone.so");
    make_list(&b, 5, 0);
    memcpy(self.path, was, sizeof was);
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(drm_modules_new(&m), 0);
    assert_int_equal(drm_modules_parse(m, b.p, b.n, "modules.log", NULL, &diag), 0);
    assert_int_equal(trod_diag_kind_count(&diag, "drmemtrace.module-missing"), 1);
    drm_modules_free(m);
    assert_int_equal(drm_modules_new(&m), 0);
    assert_int_equal(drm_modules_parse(m, b.p, b.n, "modules.log", dir, &quiet), 0);
    expect_self(m);
    drm_modules_free(m);
    trod_buf_fini(&b);
    test_remove(dir);
    free(path);
    free(dir);
}

static void test_no_list(void **state)
{
    static const char *const texts[] = {"", "Module Table: version 1, count 3\n", "\n", "ELF",
                                        "Module Table: version x, count 3\n"};
    struct drm_modules *m;

    (void)state;
    assert_int_equal(drm_modules_new(&m), 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(
            drm_modules_parse(m, (const uint8_t *)texts[i], strlen(texts[i]), "x", NULL, &quiet),
            TROD_ERR_CORRUPT);
    assert_int_equal(drm_modules_count(m), 0);
    drm_modules_free(m);
}

static void test_damaged(void **state)
{
    struct trod_gen g = gen_seed(1);

    (void)state;
    for (int i = 0; i < 400; i++) {
        struct trod_buf b = {0};
        struct drm_modules *m;
        size_t n;

        make_list(&b, 3 + (unsigned)gen_below(&g, 3), 0);
        for (uint64_t k = gen_below(&g, 8); k > 0; k--)
            b.p[gen_below(&g, b.n)] = (uint8_t)gen_u64(&g);
        n = gen_below(&g, 2) ? b.n : gen_below(&g, b.n);
        assert_int_equal(drm_modules_new(&m), 0);
        drm_modules_parse(m, b.p, n, "modules.log", NULL, &quiet);
        for (int k = 0; k < 50; k++) {
            const uint8_t *p = drm_modules_code(m, base + gen_below(&g, 1 << 20), 15);
            volatile uint8_t sum = 0;

            for (int j = 0; p && j < 15; j++)
                sum = (uint8_t)(sum + p[j]);
        }
        drm_modules_free(m);
        trod_buf_fini(&b);
    }
}

static void test_generated(void **state)
{
    static const uint8_t file[] = {
        1,  0,    0, 0, 0, 0, 0, 0, 0,    0,    0,    0, 0, 0, 0, 0, /* version 1, type */
        27, 0,    0, 0, 0, 0, 0, 0, 5,    0,    0,    0, 0, 0, 0, 0, /* length, id */
        0,  0x10, 0, 0, 0, 0, 0, 0, 0x90, 0xc3, 0xcc,                /* pc, bytes */
    };
    struct drm_modules *m;
    const uint8_t *p;

    (void)state;
    assert_int_equal(drm_modules_new(&m), 0);
    assert_int_equal(drm_modules_generated(m, file, sizeof file, "encodings.bin", &quiet), 0);
    p = drm_modules_code(m, 0x1001, 2);
    assert_non_null(p);
    assert_memory_equal(p, "\xc3\xcc", 2);
    assert_null(drm_modules_code(m, 0x1001, 3));
    assert_int_equal(drm_modules_generated(m, file, sizeof file - 1, "encodings.bin", &quiet),
                     TROD_ERR_CORRUPT);
    drm_modules_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),  cmocka_unit_test(test_changed),
        cmocka_unit_test(test_directory), cmocka_unit_test(test_no_list),
        cmocka_unit_test(test_damaged),   cmocka_unit_test(test_generated),
        cmocka_unit_test(test_twice),     cmocka_unit_test(test_unsteady),
    };

    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || sizeof(void *) != 8) {
        printf("skipped: this program is no 64-bit little-endian module\n");
        return 77;
    }
    trod_diag_init(&quiet, NULL, NULL);
    return cmocka_run_group_tests(tests, find_self, forget_self);
}
