/*
 * test_beside.c - what files beside a drmemtrace trace add; names of system calls; zip archives.
 */
#include "testlib.h"
#include "trod/io.h"
#include "trod/syscalls.h"
#include "trod/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct trod_diag quiet;

/* Numbers of the kernel's ABI documents. */
static void test_syscalls(void **state)
{
    (void)state;
    assert_string_equal(trod_syscall_name(TROD_ISA_X86_64, 0), "read");
    assert_string_equal(trod_syscall_name(TROD_ISA_X86_64, 231), "exit_group");
    assert_string_equal(trod_syscall_name(TROD_ISA_X86_32, 1), "exit");
    assert_string_equal(trod_syscall_name(TROD_ISA_X86_32, 192), "mmap2");
    assert_string_equal(trod_syscall_name(TROD_ISA_A64, 56), "openat");
    assert_string_equal(trod_syscall_name(TROD_ISA_A64, 222), "mmap");
    assert_string_equal(trod_syscall_name(TROD_ISA_ARM, 4), "write");
    assert_string_equal(trod_syscall_name(TROD_ISA_ARM, 322), "openat");
    assert_null(trod_syscall_name(TROD_ISA_X86_64, 100000));
    assert_null(trod_syscall_name(TROD_ISA_PPC32, 4));
}

/* Entries of 12 bytes. */
static void put(struct trod_buf *b, unsigned type, unsigned size, uint64_t addr)
{
    uint8_t p[12] = {(uint8_t)type, (uint8_t)(type >> 8), (uint8_t)size, (uint8_t)(size >> 8)};

    for (int i = 0; i < 8; i++)
        p[4 + i] = (uint8_t)(addr >> (8 * i));
    if (trod_buf_add(b, p, sizeof p) < 0)
        test_die("out of memory");
}

static void make_trace(const char *path)
{
    struct trod_buf b = {0};

    put(&b, 25, 0, 7);
    put(&b, 28, 12, 7);
    put(&b, 28, 9, 0x40);
    put(&b, 22, 4, 10);
    put(&b, 24, 4, 10);
    put(&b, 28, 10, 64);
    put(&b, 28, 18, 4096);
    put(&b, 28, 2, UINT64_C(13000000000000000));
    put(&b, 28, 3, 0);
    put(&b, 10, 3, 0x401000);                   /* instruction, on a page of v2p.textproto */
    put(&b, 0, 8, 0x7000123);                   /* read, not mapped */
    put(&b, 28, 15, UINT64_C(0xabc000) + 0x10); /* markers map another page */
    put(&b, 28, 17, 0x5000010);
    put(&b, 1, 8, 0x5000ff8);
    put(&b, 28, 25, 257);                      /* system call openat */
    put(&b, 28, 4, 7);                         /* function 7 */
    put(&b, 28, 4, UINT64_C(0x100000000) + 1); /* system call write, as a function */
    put(&b, 23, 4, 10);
    put(&b, 26, 0, 0);
    test_save(path, b.p, b.n);
    trod_buf_fini(&b);
}

static bool is_text(const struct trod_batch *b, uint32_t i, const char *text)
{
    return b->has[i] & TROD_COL_TEXT && b->text[i].len == strlen(text) &&
           memcmp(trod_batch_bytes(b, b->text[i]), text, b->text[i].len) == 0;
}

static void read_rows(const char *path, bool more, unsigned *found)
{
    const struct trod_trace_options opt = {.beside = {.more = more}};
    struct trod_trace *t;
    struct trod_batch *b;

    *found = 0;
    assert_int_equal(trod_trace_open(&t, &path, 1, &opt, &quiet), 0);
    while (trod_trace_next(t, &b) > 0)
        for (uint32_t i = 0; i < b->n; i++) {
            bool paddr = b->have & b->has[i] & TROD_COL_PADDR;

            if (b->kind[i] == TROD_INSTR && paddr && b->paddr[i] == 0x99000)
                *found |= 1;
            if (b->kind[i] == TROD_READ && !paddr)
                *found |= 2;
            if (b->kind[i] == TROD_WRITE && paddr && b->paddr[i] == 0xabcff8)
                *found |= 4;
            if (b->kind[i] == TROD_INSTR && b->has[i] & TROD_COL_CODE &&
                memcmp(trod_batch_bytes(b, b->code[i]), "\x48\x01\xc0", 3) == 0)
                *found |= 8;
            *found |= is_text(b, i, "syscall openat") ? 16 : 0;
            *found |= is_text(b, i, "func-id libx!f") ? 32 : 0;
            *found |= is_text(b, i, "func-id write") ? 64 : 0;
        }
    trod_trace_close(t);
}

static void test_beside_files(void **state)
{
    static const char modules[] = "Module Table: version 5, count 1\n"
                                  "Columns: id, containing_id, start, end, entry, offset, "
                                  "preferred_base, path\n"
                                  "  0,   0, 0x401000, 0x402000, 0x0, 0, 0x0, "
                                  "v#1,3,\x48\x01\xc0, [vdso]\n";
    static const char v2p[] = "# pages\npage_size: 4096\npage_count: 1\nvirtual_address: 0x401000\n"
                              "physical_address: 0x99000\n";
    static const char functions[] = "7,2,0x401000,libx!f\n7,2,0x401000,libx!alias\n";
    char *dir = test_tmpdir(), *path = test_path(dir, "a.trace"), *beside;
    unsigned found;

    (void)state;
    make_trace(path);
    test_save(beside = test_path(dir, "modules.log"), modules, sizeof modules - 1);
    free(beside);
    test_save(beside = test_path(dir, "v2p.textproto"), v2p, sizeof v2p - 1);
    free(beside);
    test_save(beside = test_path(dir, "funclist.log"), functions, sizeof functions - 1);
    free(beside);
    read_rows(path, true, &found);
    assert_int_equal(found, 127);
    read_rows(path, false, &found);
    assert_int_equal(found, 2 | 8);
    read_rows(dir, true, &found); /* as a directory */
    assert_int_equal(found, 127);
    test_remove(dir);
    free(path);
    free(dir);
}

/* Parts of an archive, seekable or a pipe, are what unzip says they are. */
static void test_zip(void **state)
{
    static const char *const kinds[] = {"zip", "zip-stored"};

    (void)state;
    if (system("unzip -v >/dev/null 2>&1") != 0) {
        print_message("unzip is not installed: skipped\n");
        skip();
    }
    for (size_t k = 0; k < 2; k++) {
        const struct trod_output_options opt = {.compress = kinds[k]};
        char *dir = test_tmpdir(), *path = test_path(dir, "a.zip"), command[1024];
        struct trod_output *out;

        assert_int_equal(trod_output_create(&out, path, &opt, &quiet), 0);
        assert_true(trod_output_has_parts(out));
        for (int i = 0; i < 300; i++) {
            char name[32];

            snprintf(name, sizeof name, "part.%d", i);
            assert_int_equal(trod_output_part(out, name), 0);
            for (int n = 0; n < i * 7; n++)
                assert_int_equal(trod_output_write(out, name, strlen(name)), 0);
            if (i % 50 == 49)
                assert_int_equal(trod_output_park(out), 0);
        }
        assert_int_equal(trod_output_seal(out), 0);
        assert_int_equal(trod_output_commit(out), 0);
        snprintf(command, sizeof command,
                 "unzip -tq %s >/dev/null && test $(unzip -Z1 %s | wc -l) = 300 && "
                 "test $(unzip -p %s part.49 | wc -c) = %d",
                 path, path, path, 49 * 7 * 7);
        assert_int_equal(system(command), 0);
        test_remove(dir);
        free(path);
        free(dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_syscalls),
        cmocka_unit_test(test_beside_files),
        cmocka_unit_test(test_zip),
    };

    trod_diag_init(&quiet, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
