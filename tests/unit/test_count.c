/*
 * test_count.c - the analysis "count" on rows made by hand: numbers from the rules of basic_counts
 * (drmemtrace, section 20.1), a slow oracle on random rows, every way of cutting and merging, saved
 * states, damaged ones, counters past 2^32.
 */
#include "count_data.h"

#include "core/rng.h"
#include "trod_config.h"

#if TROD_HAVE_JANSSON
#include <jansson.h>

enum { ROWS = 6000 };

/* Kinds of rows, as drmemtrace has them. */
#define AT (TROD_COL_STREAM | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_SUB)
#define INSTR(stream_, pc, size_, flags_)                                                          \
    {                                                                                              \
        .has = AT, .kind = TROD_INSTR, .stream = stream_, .addr = pc, .size = size_,               \
        .flags = flags_, .sub = 10                                                                 \
    }
#define DATA(stream_, kind_, addr_, size_)                                                         \
    {                                                                                              \
        .has = AT, .kind = kind_, .stream = stream_, .addr = addr_, .size = size_                  \
    }
#define MARK(stream_, sub_, value_)                                                                \
    {                                                                                              \
        .has = TROD_COL_STREAM | TROD_COL_SUB | TROD_COL_VALUE, .kind = TROD_MARKER,               \
        .stream = stream_, .sub = sub_, .value = value_                                            \
    }

#define N_OF(a) (sizeof(a) / sizeof *(a))

struct fixture {
    struct trod_meta meta;
    struct trod_diag diag;
    struct trod_count_options opt;
    json_t *report;
};

static void begin(struct fixture *f, const char *format)
{
    memset(f, 0, sizeof *f);
    trod_meta_init(&f->meta);
    trod_diag_init(&f->diag, NULL, NULL);
    f->meta.format = format;
    f->opt.detail = TROD_COUNT_WIDE;
}

static void end(struct fixture *f)
{
    json_decref(f->report);
    trod_meta_fini(&f->meta);
}

static json_t *parse(char *text)
{
    json_error_t error;
    json_t *j = json_loads(text, 0, &error);

    if (!j)
        print_error("%s\n%s\n", error.text, text);
    assert_non_null(j);
    free(text);
    return j;
}

static void count(struct fixture *f, const struct one *rows, size_t n, uint32_t have)
{
    void *st = count_begin(&f->opt, &f->meta);

    count_feed(st, rows, 0, n, TROD_BATCH_ROWS, have, &f->diag);
    count_analysis()->settle(st, 0);
    json_decref(f->report);
    f->report = parse(count_json(st));
    count_end(st);
}

/* Field KEY of the object J: its number, or -1 where it is absent. */
static long long number(const json_t *j, const char *key)
{
    const json_t *v = json_object_get(j, key);

    return v ? (long long)json_integer_value(v) : -1;
}

static long long total(const struct fixture *f, const char *key)
{
    return number(json_object_get(f->report, "total"), key);
}

static long long of_thread(const struct fixture *f, size_t i, const char *key)
{
    return number(json_array_get(json_object_get(f->report, "threads_counts"), i), key);
}

/* ---- numbers by hand */

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

/* ---- random rows against an oracle that keeps everything */

/* Threads 0 to 3 in files 0, 0, 1 and 2; code and data that overlap, some of it rewritten. */
static void random_rows(struct one *rows, size_t n, uint64_t seed, bool windows)
{
    static const uint8_t kinds[] = {TROD_INSTR, TROD_INSTR,  TROD_INSTR,    TROD_INSTR, TROD_READ,
                                    TROD_READ,  TROD_WRITE,  TROD_PREFETCH, TROD_FLUSH, TROD_MARKER,
                                    TROD_NOTE,  TROD_ATOMIC, TROD_INSTR,    TROD_INSTR};
    struct trod_rng r;
    uint32_t stream = 0;
    uint64_t id = 0;

    trod_rng_seed(&r, seed);
    for (size_t i = 0; i < n; i++) {
        bool code;

        if (trod_rng_below(&r, 50) == 0)
            stream = (uint32_t)trod_rng_below(&r, 4);
        rows[i] = (struct one){.has = AT, .stream = stream};
        rows[i].kind = kinds[trod_rng_below(&r, N_OF(kinds))];
        code = rows[i].kind == TROD_INSTR;
        rows[i].addr = (code ? 0x400000 : 0x7000ff00) + trod_rng_below(&r, code ? 6000 : 9000);
        rows[i].size = (uint32_t)(code ? 1 + trod_rng_below(&r, 15) : trod_rng_below(&r, 80));
        if (code && trod_rng_below(&r, 4) == 0)
            rows[i].flags = (uint32_t)trod_rng_below(&r, 12);
        if (i / 500 % 3 == 1 && trod_rng_below(&r, 10) == 0) /* some batches have none of these */
            rows[i].flags |= (uint32_t)trod_rng_below(&r, 8) << 18;
        if (rows[i].kind == TROD_MARKER) {
            rows[i].has |= TROD_COL_VALUE;
            rows[i].sub = (uint16_t)trod_rng_below(&r, 50);
            if (rows[i].sub == 9 || rows[i].sub == 10)
                rows[i].sub = 2;
            rows[i].value = trod_rng_below(&r, 4);
            if (rows[i].sub == 14)
                rows[i].value = windows ? id += rows[i].value == 0 : 0;
        }
    }
}

static void add_threads(struct fixture *f)
{
    trod_meta_thread(&f->meta, 100, 1, 0);
    trod_meta_thread(&f->meta, 101, 1, 0);
    trod_meta_thread(&f->meta, 100, 1, 1);
    trod_meta_thread(&f->meta, 103, 2, 2);
}

/* How many of the rows of thread STREAM (-1: all) are of KIND and not of WITHOUT. */
static long long naive(const struct one *rows, size_t n, int stream, uint8_t kind, uint32_t with,
                       uint32_t without)
{
    long long found = 0;

    for (size_t i = 0; i < n; i++)
        found += rows[i].kind == kind && (stream < 0 || (uint32_t)stream == rows[i].stream) &&
                 (rows[i].flags & with) == with && !(rows[i].flags & without);
    return found;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static bool touches(const struct one *o, bool code)
{
    if (code)
        return o->kind == TROD_INSTR && !(o->flags & TROD_F_NOFETCH);
    return o->kind == TROD_READ || o->kind == TROD_WRITE || o->kind == TROD_ATOMIC;
}

/* Distinct units of UNIT bytes (0: first addresses) that the rows touch. */
static long long naive_unique(const struct one *rows, size_t n, int stream, bool code,
                              uint32_t unit)
{
    uint64_t *list = malloc(n * 100 * sizeof *list);
    long long distinct = 0;
    size_t m = 0;

    assert_non_null(list);
    for (size_t i = 0; i < n; i++) {
        if (!touches(&rows[i], code) || (stream >= 0 && (uint32_t)stream != rows[i].stream))
            continue;
        if (unit == 0)
            list[m++] = rows[i].addr;
        for (uint32_t k = 0; unit && k < rows[i].size; k++)
            list[m++] = (rows[i].addr + k) / unit;
    }
    qsort(list, m, sizeof *list, by_value);
    for (size_t i = 0; i < m; i++)
        distinct += i == 0 || list[i] != list[i - 1];
    free(list);
    return distinct;
}

static void compare(const json_t *got, const struct one *rows, size_t n, int stream)
{
    long long fetched = naive(rows, n, stream, TROD_INSTR, 0, TROD_F_NOFETCH);
    long long kernel = naive(rows, n, stream, TROD_INSTR, TROD_F_KERNEL, TROD_F_NOFETCH);

    assert_int_equal(number(got, "fetched_instructions"), fetched);
    assert_int_equal(number(got, "kernel_instructions"), kernel);
    assert_int_equal(number(got, "userspace_instructions"), fetched - kernel);
    assert_int_equal(number(got, "non_fetched_instructions"),
                     naive(rows, n, stream, TROD_INSTR, TROD_F_NOFETCH, 0));
    assert_int_equal(number(got, "encodings"),
                     naive(rows, n, stream, TROD_INSTR, TROD_F_NEWCODE, 0));
    assert_int_equal(number(got, "data_loads"), naive(rows, n, stream, TROD_READ, 0, 0));
    assert_int_equal(number(got, "data_stores"), naive(rows, n, stream, TROD_WRITE, 0, 0));
    assert_int_equal(number(got, "prefetches"), naive(rows, n, stream, TROD_PREFETCH, 0, 0));
    assert_int_equal(number(got, "unique_fetched_instructions"),
                     naive_unique(rows, n, stream, true, 0));
    assert_int_equal(number(got, "unique_code_bytes"), naive_unique(rows, n, stream, true, 1));
    assert_int_equal(number(got, "unique_code_lines"), naive_unique(rows, n, stream, true, 64));
    assert_int_equal(number(got, "unique_data_bytes"), naive_unique(rows, n, stream, false, 1));
    assert_int_equal(number(got, "unique_data_lines"), naive_unique(rows, n, stream, false, 64));
    for (unsigned k = TROD_BR_DIRECT; k <= TROD_BR_ERET; k++) {
        static const char *const keys[] = {[TROD_BR_DIRECT] = "direct_jumps",
                                           [TROD_BR_INDIRECT] = "indirect_jumps",
                                           [TROD_BR_COND_TAKEN] = "conditional_taken",
                                           [TROD_BR_COND_UNTAKEN] = "conditional_untaken",
                                           [TROD_BR_CALL] = "direct_calls",
                                           [TROD_BR_ICALL] = "indirect_calls",
                                           [TROD_BR_RETURN] = "returns",
                                           [TROD_BR_SYSCALL] = "system_call_instructions",
                                           [TROD_BR_ERET] = "exception_returns"};
        long long found = 0;

        for (size_t i = 0; keys[k] && i < n; i++)
            found += rows[i].kind == TROD_INSTR && !(rows[i].flags & TROD_F_NOFETCH) &&
                     (rows[i].flags & TROD_F_BRANCH) == k &&
                     (stream < 0 || rows[i].stream == (uint32_t)stream);
        if (keys[k])
            assert_int_equal(number(got, keys[k]), found);
    }
}

static int stream_of(long long tid, long long file)
{
    return tid == 100 ? (file ? 2 : 0) : tid == 101 ? 1 : 3;
}

static void test_oracle(void **state)
{
    struct one *rows = malloc(ROWS * sizeof *rows);

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct fixture f;

        begin(&f, "drmemtrace");
        if (seed % 2) /* other code at the same address only with TROD_F_NEWCODE: not so here */
            f.meta.filetype = 0;
        add_threads(&f);
        random_rows(rows, ROWS, seed, false);
        count(&f, rows, ROWS, COUNT_HAVE);
        compare(json_object_get(f.report, "total"), rows, ROWS, -1);
        assert_int_equal(total(&f, "threads"), 3);
        for (size_t i = 0; i < 4; i++) {
            const json_t *t = json_array_get(json_object_get(f.report, "threads_counts"), i);

            compare(t, rows, ROWS, stream_of(number(t, "tid"), number(t, "file")));
        }
        end(&f);
    }
    free(rows);
}

/* ---- cutting, merging, saving */

static void *reloaded(const void *st)
{
    struct trod_buf a = {0}, b = {0};
    void *copy = calloc(1, count_analysis()->state_size);

    assert_int_equal(count_analysis()->save(st, &a), TROD_OK);
    assert_int_equal(count_analysis()->load(copy, (struct trod_span){.p = a.p, .n = a.n}), TROD_OK);
    assert_int_equal(count_analysis()->save(copy, &b), TROD_OK);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, a.n);
    trod_buf_fini(&a);
    trod_buf_fini(&b);
    return copy;
}

/* Rows in PARTS pieces, each with a meta and state of its own, in batches of BATCH, merged. */
static char *in_parts(const struct trod_count_options *opt, const struct one *rows, size_t n,
                      size_t parts, uint32_t batch, bool save)
{
    struct fixture all;
    void *st;
    char *json;

    begin(&all, "drmemtrace");
    st = count_begin(opt, &all.meta);
    for (size_t k = 0; k < parts; k++) {
        struct fixture f;
        void *one, *copy;

        begin(&f, "drmemtrace");
        f.meta.part = (uint32_t)k;
        add_threads(&f);
        one = count_begin(opt, &f.meta);
        count_feed(one, rows, n * k / parts, n * (k + 1) / parts, batch, COUNT_HAVE, NULL);
        copy = save ? reloaded(one) : one;
        assert_int_equal(count_analysis()->merge(st, copy), TROD_OK);
        if (save)
            count_end(copy);
        count_end(one);
        end(&f);
    }
    for (uint32_t file = 0; file < 3; file++)
        assert_int_equal(count_analysis()->settle(st, file), TROD_OK);
    if (save) {
        void *copy = reloaded(st);

        count_end(st);
        st = copy;
    }
    json = count_json(st);
    count_end(st);
    end(&all);
    return json;
}

static void test_parts(void **state)
{
    struct one *rows = malloc(ROWS * sizeof *rows);
    const struct trod_count_options opt = {0}; /* what a saved state knows of its options */

    (void)state;
    for (uint64_t seed = 20; seed < 24; seed++) {
        char *want;

        random_rows(rows, ROWS, seed, seed % 2);
        want = in_parts(&opt, rows, ROWS, 1, TROD_BATCH_ROWS, false);
        for (size_t parts = 1; parts <= 5; parts++)
            for (uint32_t batch = 1; batch <= TROD_BATCH_ROWS; batch = batch * 5 + 2) {
                char *got = in_parts(&opt, rows, ROWS, parts, batch, parts % 2);

                assert_string_equal(want, got);
                free(got);
            }
        free(want);
    }
    free(rows);
}

/* Whatever comes in is a state or an error, and a state can be reported. */
static void test_damaged(void **state)
{
    struct one *rows = malloc(ROWS * sizeof *rows);
    struct fixture f;
    struct trod_buf saved = {0};
    struct trod_rng r;
    void *st;
    size_t refused = 0;

    (void)state;
    begin(&f, "drmemtrace");
    add_threads(&f);
    random_rows(rows, 500, 9, true);
    st = count_begin(NULL, &f.meta);
    count_feed(st, rows, 0, 500, 64, COUNT_HAVE, NULL);
    assert_int_equal(count_analysis()->save(st, &saved), TROD_OK);
    count_end(st);
    trod_rng_seed(&r, 5);
    for (size_t i = 0; i < 3000; i++) {
        struct trod_span in = {.p = saved.p, .n = saved.n};
        size_t at = (size_t)trod_rng_below(&r, saved.n);
        uint8_t was = saved.p[at];
        bool cut = i % 2;
        int rc;

        if (cut)
            in.n = at;
        else
            saved.p[at] ^= (uint8_t)(1u << trod_rng_below(&r, 8));
        st = calloc(1, count_analysis()->state_size);
        rc = count_analysis()->load(st, in);
        assert_true(rc == TROD_OK || rc == TROD_ERR_CORRUPT);
        assert_false(cut && rc == TROD_OK);
        refused += rc != TROD_OK;
        if (rc == TROD_OK)
            free(count_json(st));
        count_end(st);
        saved.p[at] = was;
    }
    assert_true(refused > 1500);
    trod_buf_fini(&saved);
    free(rows);
    end(&f);
}

/* Doubled 40 times, a counter has 2^40 times what it had; what is unique stays. */
static void test_large(void **state)
{
    const struct one rows[] = {INSTR(0, 0x1000, 4, TROD_BR_COND_TAKEN), DATA(0, TROD_READ, 0x20, 8),
                               DATA(0, TROD_WRITE, 0x20, 2), MARK(0, 25, 1), MARK(0, 13, 1)};
    const long long times = 1ll << 40;
    struct fixture f;
    void *st;

    (void)state;
    begin(&f, "drmemtrace");
    trod_meta_thread(&f.meta, 10, 1, 0);
    st = count_begin(&f.opt, &f.meta);
    count_feed(st, rows, 0, N_OF(rows), 64, COUNT_HAVE, NULL);
    for (int i = 0; i < 40; i++) {
        void *copy = reloaded(st);

        assert_int_equal(count_analysis()->merge(st, copy), TROD_OK);
        count_end(copy);
    }
    f.report = parse(count_json(st));
    count_end(st);
    assert_int_equal(total(&f, "fetched_instructions"), times);
    assert_int_equal(total(&f, "conditional_taken"), times);
    assert_int_equal(total(&f, "bytes_read"), 8 * times);
    assert_int_equal(total(&f, "bytes_written"), 2 * times);
    assert_int_equal(total(&f, "system_call_number_markers"), times);
    assert_int_equal(total(&f, "other_markers"), times);
    assert_int_equal(total(&f, "rows"), 5 * times);
    assert_int_equal(total(&f, "unique_fetched_instructions"), 1);
    assert_int_equal(total(&f, "unique_data_bytes"), 8);
    assert_int_equal(of_thread(&f, 0, "fetched_instructions"), times);
    end(&f);
}

/* A lane that is settled on both sides cannot be merged: what is common to them is lost. */
static void test_settled_twice(void **state)
{
    const struct one rows[] = {INSTR(0, 0x1000, 4, 0)};
    struct fixture f;
    void *a, *b;

    (void)state;
    begin(&f, "drmemtrace");
    trod_meta_thread(&f.meta, 10, 1, 0);
    a = count_begin(NULL, &f.meta);
    b = count_begin(NULL, &f.meta);
    count_feed(a, rows, 0, 1, 1, COUNT_HAVE, NULL);
    count_feed(b, rows, 0, 1, 1, COUNT_HAVE, NULL);
    assert_int_equal(count_analysis()->settle(a, 0), TROD_OK);
    assert_int_equal(count_analysis()->merge(a, b), TROD_ERR_USAGE);
    count_end(a);
    count_end(b);
    end(&f);
}

/* More pages than are kept: estimates that say so, exact numbers where these are asked for. */
static void test_estimate(void **state)
{
    enum { PAGES = 40000 };
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
    void *st = calloc(1, count_analysis()->state_size);

    (void)state;
    assert_int_equal(count_analysis()->init(st, &opt, NULL, NULL), TROD_ERR_USAGE);
    count_end(st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),    cmocka_unit_test(test_filetype),
        cmocka_unit_test(test_windows),  cmocka_unit_test(test_windows_late),
        cmocka_unit_test(test_absent),   cmocka_unit_test(test_directions),
        cmocka_unit_test(test_bus),      cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_parts),    cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_large),    cmocka_unit_test(test_settled_twice),
        cmocka_unit_test(test_estimate), cmocka_unit_test(test_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("skipped: built without jansson");
    return 77;
}

#endif
