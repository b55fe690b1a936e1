/*
 * test_count.c - the analysis "count" on rows made by hand: numbers from the rules of basic_counts
 * of DynamoRIO, estimates, options.
 */
#include "trod_config.h"

#if TROD_HAVE_JANSSON
#include "count_fixture.h"

static void test_rules(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "drmemtrace");
    trod_meta_thread(&f.meta, 10, 1, 0);
    trod_meta_thread(&f.meta, 11, 1, 0);
    trod_meta_thread(&f.meta, 0, 1, 0);            /* no thread */
    trod_meta_thread(&f.meta, TROD_NOWHERE, 1, 0); /* the idle thread */
    const struct one rows[] = {
        MARK(0, 12, 7),
        MARK(0, 9, 0xe40),
        MARK(0, 10, 128), /* lines of 128 bytes */
        MARK(0, 2, 1),
        MARK(0, 3, 0),
        INSTR(0, 0x1000, 4, TROD_F_NEWCODE),
        INSTR(0, 0x1004, 2, TROD_F_NEWCODE | TROD_BR_COND_TAKEN),
        INSTR(0, 0x1000, 4, 0),
        INSTR(0, 0x1004, 2, TROD_BR_COND_UNTAKEN),
        INSTR(0, 0x1006, 3, TROD_F_NOFETCH), /* neither fetched nor unique */
        INSTR(0, 0x1006, 3, TROD_F_NOFETCH | TROD_F_NEWCODE),
        DATA(0, TROD_READ, 0x20fc, 8), /* over the end of a line of 128 and of 64 bytes */
        DATA(0, TROD_READ, 0x2100, 4),
        DATA(0, TROD_WRITE, 0x20ff, 1),
        DATA(0, TROD_PREFETCH, 0x5000, 1),
        {.has = AT, .kind = TROD_FLUSH, .addr = 0x1000, .size = 64, .flags = TROD_F_IFETCH},
        DATA(0, TROD_FLUSH, 0x1000, 64),
        DATA(0, TROD_FLUSH, 0x1040, 64),
        MARK(0, 0, 5),
        MARK(0, 1, 5),
        MARK(0, 43, 5),
        MARK(0, 44, 5),
        MARK(0, 4, 5),
        MARK(0, 5, 5),
        MARK(0, 6, 5),
        MARK(0, 6, 5),
        MARK(0, 7, 5),
        MARK(0, 15, 5),
        MARK(0, 17, 5), /* counted with the one before */
        MARK(0, 16, 5),
        MARK(0, 25, 5),
        MARK(0, 26, 0),
        MARK(0, 46, 0),
        MARK(0, 32, 0),
        MARK(0, 33, 0),
        MARK(0, 47, 0),   /* unknown */
        MARK(0, 300, 0),  /* unknown */
        MARK(0, 9999, 0), /* unknown */
        INSTR(1, 0x1004, 2, TROD_F_NEWCODE | TROD_F_KERNEL | TROD_BR_RETURN),
        INSTR(1, 0x9000, 5, TROD_F_NEWCODE | TROD_BR_CALL),
        {.has = TROD_COL_STREAM | TROD_COL_VALUE, .kind = TROD_THREAD, .stream = 1, .value = 11},
        MARK(2, 33, 0),
        MARK(3, 33, 0),
    };
    static const struct {
        const char *key;
        long long all, first; /* in total; of the thread that comes first */
    } want[] = {
        {"fetched_instructions", 6, 4},
        {"unique_fetched_instructions", 3, 2},
        {"userspace_instructions", 5, 4},
        {"kernel_instructions", 1, 0},
        {"non_fetched_instructions", 2, 2},
        {"non_fetched_userspace_instructions", 2, 2},
        {"non_fetched_kernel_instructions", 0, 0},
        {"prefetches", 1, 1},
        {"data_loads", 2, 2},
        {"data_stores", 1, 1},
        {"icache_flushes", 1, 1},
        {"dcache_flushes", 2, 2},
        {"timestamp_cpuid_markers", 2, 2},
        {"idle_markers", 3, 1},
        {"wait_markers", 1, 1},
        {"kernel_transfer_markers", 2, 2},
        {"hardware_transfer_markers", 2, 2},
        {"function_id_markers", 1, 1},
        {"function_return_address_markers", 1, 1},
        {"function_argument_markers", 2, 2},
        {"function_return_value_markers", 1, 1},
        {"physical_address_virtual_address_marker_pairs", 1, 1},
        {"physical_address_unavailable_markers", 1, 1},
        {"system_call_number_markers", 1, 1},
        {"blocking_system_call_markers", 1, 1},
        {"skipped_memref_markers", 1, 1},
        {"other_markers", 6, 6},
        {"encodings", 3 + 2, 3},
        {"bytes_read", 12, 12},
        {"bytes_written", 1, 1},
        {"branches", 4, 2},
        {"conditional_branches", 2, 2},
        {"conditional_taken", 1, 1},
        {"conditional_untaken", 1, 1},
        {"direct_calls", 1, 0},
        {"returns", 1, 0},
        {"unique_code_bytes", 4 + 2 + 5, 6},
        {"unique_code_lines", 2, 1},
        {"unique_data_bytes", 8, 8},
        {"unique_data_lines", 2, 2},
    };

    count(&f, rows, N_OF(rows), COUNT_HAVE);
    for (size_t i = 0; i < N_OF(want); i++) {
        if (total(&f, want[i].key) != want[i].all || of_thread(&f, 0, want[i].key) != want[i].first)
            print_error("%s\n", want[i].key);
        assert_int_equal(total(&f, want[i].key), want[i].all);
        assert_int_equal(of_thread(&f, 0, want[i].key), want[i].first);
    }
    assert_int_equal(total(&f, "threads"), 2);
    assert_int_equal(total(&f, "line_size"), 128);
    assert_int_equal(of_thread(&f, 0, "tid"), 10);
    assert_int_equal(of_thread(&f, 1, "tid"), 11);
    /* of the file as a whole: the threads' union */
    assert_int_equal(
        number(json_array_get(json_object_get(f.report, "files_counts"), 0), "threads"), 2);
    assert_int_equal(f.diag.errors, 0);
    f.opt.line = 32;
    count(&f, rows, N_OF(rows), COUNT_HAVE);
    assert_int_equal(total(&f, "unique_data_lines"), 2);
    assert_int_equal(total(&f, "line_size"), 32);
    end(&f);
}

/* Encodings count only where the file type says that there are some. */
static void test_filetype(void **state)
{
    const struct one rows[] = {MARK(0, 9, 0x40), INSTR(0, 0x1000, 4, TROD_F_NEWCODE),
                               MARK(0, 9, 0x40), MARK(0, 9, 0x240)};
    struct fixture f;

    (void)state;
    begin(&f, "drmemtrace");
    trod_meta_thread(&f.meta, 10, 1, 0);
    count(&f, rows, 3, COUNT_HAVE);
    assert_int_equal(total(&f, "encodings"), 0);
    assert_int_equal(total(&f, "other_markers"), 2);
    assert_int_equal(f.diag.errors, 0);
    count(&f, rows, 4, COUNT_HAVE);
    assert_int_equal(f.diag.errors, 1);
    assert_int_equal(trod_diag_kind_count(&f.diag, "count.filetype-differs"), 1);
    assert_int_equal(total(&f, "fetched_instructions"), 1);
    end(&f);
}

static json_t *window(const struct fixture *f, size_t i)
{
    return json_array_get(json_object_get(f->report, "windows"), i);
}

static void test_windows(void **state)
{
    const struct one rows[] = {
        MARK(0, 2, 1),          INSTR(0, 0x1000, 4, 0), MARK(0, 14, 0),
        INSTR(0, 0x1000, 4, 0), INSTR(0, 0x1004, 4, 0), MARK(0, 14, 0),
        INSTR(0, 0x1000, 4, 0), MARK(0, 14, 1), /* counts in the window it begins */
        INSTR(0, 0x1000, 4, 0), INSTR(0, 0x2000, 4, 0), MARK(0, 14, 3),
        INSTR(1, 0x1000, 4, 0), INSTR(1, 0x1000, 4, 0), INSTR(1, 0x1000, 4, 0),
        INSTR(1, 0x1000, 4, 0), INSTR(1, 0x1000, 4, 0),
    };
    struct fixture f;

    (void)state;
    begin(&f, "drmemtrace");
    trod_meta_thread(&f.meta, 10, 1, 0);
    trod_meta_thread(&f.meta, 11, 1, 1);
    count(&f, rows, N_OF(rows), COUNT_HAVE);
    assert_int_equal(total(&f, "fetched_instructions"), 11);
    assert_int_equal(total(&f, "unique_fetched_instructions"), 3);
    /* 5 of thread 11 are more than the 4 in the first window of thread 10 */
    assert_int_equal(of_thread(&f, 0, "tid"), 11);
    assert_int_equal(of_thread(&f, 1, "fetched_instructions"), 6);
    assert_int_equal(of_thread(&f, 1, "unique_fetched_instructions"), 3);
    assert_int_equal(json_array_size(json_object_get(f.report, "windows")), 3);
    assert_int_equal(number(window(&f, 0), "window"), 0);
    assert_int_equal(number(window(&f, 0), "fetched_instructions"), 4);
    assert_int_equal(number(window(&f, 0), "unique_fetched_instructions"), 2);
    assert_int_equal(number(window(&f, 0), "other_markers"), 2);
    assert_int_equal(number(window(&f, 1), "window"), 1);
    assert_int_equal(number(window(&f, 1), "fetched_instructions"), 2);
    assert_int_equal(number(window(&f, 1), "unique_fetched_instructions"), 2);
    assert_int_equal(number(window(&f, 1), "other_markers"), 1);
    assert_int_equal(number(window(&f, 2), "window"), 3);
    assert_int_equal(number(window(&f, 2), "fetched_instructions"), 0);
    assert_int_equal(f.diag.errors, 0);
    end(&f);
}

/* A file whose first window is not 0 is one window; a second one there is an error. */
static void test_windows_late(void **state)
{
    const struct one rows[] = {INSTR(0, 0x1000, 4, 0), MARK(0, 14, 5), INSTR(0, 0x1000, 4, 0),
                               MARK(0, 14, 5), MARK(0, 14, 6)};
    struct fixture f;

    (void)state;
    begin(&f, "drmemtrace");
    trod_meta_thread(&f.meta, 10, 1, 0);
    count(&f, rows, 4, COUNT_HAVE);
    assert_null(json_object_get(f.report, "windows"));
    assert_int_equal(f.diag.errors, 0);
    count(&f, rows, 5, COUNT_HAVE);
    assert_int_equal(trod_diag_kind_count(&f.diag, "count.windows-late"), 1);
    end(&f);
}

/* What rows do not say is absent, not zero. */
static void test_absent(void **state)
{
    static const char *const absent[] = {"kernel_instructions",
                                         "encodings",
                                         "non_fetched_instructions",
                                         "threads",
                                         "idle_markers",
                                         "bytes_read",
                                         "bytes_written",
                                         "unique_data_bytes",
                                         "prefetches",
                                         "icache_flushes",
                                         "atomic_accesses",
                                         "bus_transactions",
                                         "conditional_taken",
                                         "function_id_markers"};
    const uint32_t pc = TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_FLAGS;
    const struct one rows[] = {
        {.has = pc, .kind = TROD_INSTR, .addr = 0x100, .size = 4, .flags = TROD_BR_COND},
        {.has = pc, .kind = TROD_INSTR, .addr = 0x104, .size = 4, .flags = TROD_F_SKIPPED},
        {.has = TROD_COL_ADDR, .kind = TROD_READ, .addr = 0x200},
        {.has = TROD_COL_ADDR, .kind = TROD_READ, .addr = 0x240},
        {.has = TROD_COL_PADDR, .kind = TROD_READ, .paddr = 0x280},
        {.has = 0, .kind = TROD_READ},
        {.has = 0, .kind = TROD_REG},
        {.has = 0, .kind = TROD_EXCEPTION},
    };
    struct fixture f;

    (void)state;
    begin(&f, "other");
    count(&f, rows, N_OF(rows), COUNT_HAVE);
    for (size_t i = 0; i < N_OF(absent); i++) {
        if (total(&f, absent[i]) != -1)
            print_error("%s\n", absent[i]);
        assert_int_equal(total(&f, absent[i]), -1);
    }
    assert_int_equal(total(&f, "rows"), 8);
    assert_int_equal(total(&f, "fetched_instructions"), 2);
    assert_int_equal(total(&f, "unique_fetched_instructions"), 2);
    assert_int_equal(total(&f, "instructions_not_executed"), 1);
    assert_int_equal(total(&f, "conditional_branches"), 1);
    assert_int_equal(total(&f, "unique_code_bytes"), 8);
    assert_int_equal(total(&f, "data_loads"), 4);
    assert_int_equal(total(&f, "data_stores"), 0);
    assert_int_equal(total(&f, "unique_data_lines"), 3);
    assert_null(json_object_get(f.report, "threads_counts"));
    /* columns that the batch does not carry at all */
    count(&f, rows, N_OF(rows), TROD_COL_KIND);
    assert_int_equal(total(&f, "rows"), 8);
    assert_int_equal(total(&f, "fetched_instructions"), 2);
    assert_int_equal(total(&f, "unique_fetched_instructions"), -1);
    end(&f);
}

/*
 * Rows that say everything are counted 64 at a time, others one by one. An access without a size
 * sends a whole batch the second way; the counters of instructions are the same.
 */
static void test_both_ways(void **state)
{
    static const char *const same[] = {"instructions_not_executed", "fetched_instructions",
                                       "conditional_branches", "unique_fetched_instructions",
                                       "unique_code_bytes"};
    static const uint32_t flags[] = {TROD_F_SKIPPED, 0, TROD_F_SKIPPED | TROD_BR_COND, TROD_BR_COND,
                                     TROD_F_SKIPPED};
    struct one rows[150];
    struct fixture f;

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++)
        rows[i] = (struct one){.has = TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_FLAGS,
                               .kind = TROD_INSTR,
                               .addr = 0x1000 + 4 * (i % 50),
                               .size = 4,
                               .flags = flags[i % N_OF(flags)]};
    rows[149].kind = TROD_READ;
    for (int way = 0; way < 2; way++) {
        const long long want[] = {89, 149, 60, 50, 200};

        rows[149].has = TROD_COL_ADDR | TROD_COL_FLAGS | (way ? 0 : TROD_COL_SIZE);
        rows[149].flags = 0;
        begin(&f, "other");
        count(&f, rows, N_OF(rows), COUNT_HAVE);
        for (size_t i = 0; i < N_OF(same); i++)
            assert_int_equal(total(&f, same[i]), want[i]);
        assert_int_equal(total(&f, "data_loads"), 1);
        end(&f);
    }
}

/* The direction of a branch is known from where it goes. */
static void test_directions(void **state)
{
    const uint32_t has = AT | TROD_COL_TARGET;
    struct one rows[70];
    struct fixture f;

    (void)state;
    for (uint32_t i = 0; i < N_OF(rows); i++)
        rows[i] = (struct one){.has = has,
                               .kind = TROD_INSTR,
                               .addr = 0x100 + 4 * i,
                               .size = 4,
                               .flags = i % 3 ? TROD_BR_COND : TROD_BR_NONE,
                               .target = i % 3 == 1 ? 0x104 + 4 * i : 0x5000};
    begin(&f, "tt6");
    trod_meta_stream(&f.meta, "cpu0", 4);
    count(&f, rows, N_OF(rows), COUNT_HAVE);
    assert_int_equal(total(&f, "conditional_branches"), 46);
    assert_int_equal(total(&f, "conditional_untaken"), 23);
    assert_int_equal(total(&f, "conditional_taken"), 23);
    assert_int_equal(of_thread(&f, 0, "fetched_instructions"), 70);
    end(&f);
}

static void test_bus(void **state)
{
    const uint32_t has = TROD_COL_PADDR | TROD_COL_SIZE | TROD_COL_FLAGS | TROD_COL_SUB;
    const struct one rows[] = {
        {.has = has, .kind = TROD_BUS, .paddr = 0x100, .size = 8, .flags = TROD_F_IFETCH},
        {.has = has, .kind = TROD_BUS, .paddr = 0x104, .size = 8},
        {.has = AT, .kind = TROD_ATOMIC, .addr = 0x108, .size = 8},
        {.has = has, .kind = TROD_MARKER, .sub = 33},
        {.has = has, .kind = TROD_BRANCH, .flags = TROD_BR_INDIRECT},
    };
    struct fixture f;

    (void)state;
    begin(&f, "other");
    count(&f, rows, N_OF(rows), COUNT_HAVE);
    assert_int_equal(total(&f, "fetched_instructions"), -1);
    assert_int_equal(total(&f, "bus_transactions"), 2);
    assert_int_equal(total(&f, "bytes_on_bus"), 16);
    assert_int_equal(total(&f, "atomic_accesses"), 1);
    assert_int_equal(total(&f, "bytes_atomic"), 8);
    assert_int_equal(total(&f, "unique_data_bytes"), 16);
    assert_int_equal(total(&f, "idle_markers"), -1);
    assert_int_equal(total(&f, "other_markers"), 1);
    assert_int_equal(total(&f, "branches"), 1);
    assert_int_equal(total(&f, "indirect_jumps"), 1);
    end(&f);
}

/* More pages than are kept: estimates that say so, exact numbers where these are asked for. */
static void test_estimate(void **state)
{
    enum { PAGES = 100000 };
    struct one *rows = malloc(2 * PAGES * sizeof *rows);
    struct fixture f;
    const json_t *t;

    (void)state;
    for (uint64_t i = 0; i < PAGES; i++) {
        rows[2 * i] = (struct one)INSTR(0, 0x10000000 + i * 4096, 4, 0);
        rows[2 * i + 1] = (struct one)DATA(0, TROD_WRITE, 0x900000000 + i * 4096, 8);
    }
    begin(&f, "drmemtrace");
    trod_meta_thread(&f.meta, 10, 1, 0);
    count(&f, rows, 2 * PAGES, COUNT_HAVE);
    t = json_object_get(f.report, "total");
    assert_true(json_is_true(json_object_get(t, "code_footprint_estimated")));
    assert_true(json_is_true(json_object_get(t, "data_footprint_estimated")));
    assert_int_equal(total(&f, "fetched_instructions"), PAGES);
    assert_in_range(total(&f, "unique_fetched_instructions"), PAGES * 95 / 100, PAGES * 105 / 100);
    assert_in_range(total(&f, "unique_data_lines"), PAGES * 95 / 100, PAGES * 105 / 100);
    f.opt.footprint = TROD_COUNT_EXACT;
    count(&f, rows, 2 * PAGES, COUNT_HAVE);
    t = json_object_get(f.report, "total");
    assert_null(json_object_get(t, "code_footprint_estimated"));
    assert_int_equal(total(&f, "unique_fetched_instructions"), PAGES);
    assert_int_equal(total(&f, "unique_data_bytes"), 8 * PAGES);
    f.opt.footprint = TROD_COUNT_NONE;
    count(&f, rows, 2000, COUNT_HAVE);
    assert_int_equal(total(&f, "unique_fetched_instructions"), 1000);
    assert_int_equal(total(&f, "unique_data_bytes"), -1);
    free(rows);
    end(&f);
}

static void test_options(void **state)
{
    struct trod_count_options opt = {.line = 48};
    const struct trod_context context = {.stream = TROD_ALL_STREAMS, .shards = 1};
    void *st = calloc(1, count_analysis()->state_size);

    (void)state;
    assert_int_equal(count_analysis()->init(st, &opt, &context), TROD_ERR_USAGE);
    count_end(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),      cmocka_unit_test(test_filetype),
        cmocka_unit_test(test_windows),    cmocka_unit_test(test_windows_late),
        cmocka_unit_test(test_absent),     cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_directions), cmocka_unit_test(test_bus),
        cmocka_unit_test(test_estimate),   cmocka_unit_test(test_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
#include <stdio.h>

int main(void)
{
    puts("skipped: built without jansson");
    return 77;
}

#endif
