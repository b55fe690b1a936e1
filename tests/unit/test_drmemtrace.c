/*
 * test_drmemtrace.c - the drmemtrace decoder against an oracle of its own (drm.h), on hand-made
 * traces of every feature and on random ones, sound and wild, however they are cut.
 *
 * `test_drmemtrace --write` writes the hand-made traces to tests/golden/drmemtrace.
 */
#include "drm.h"
#include "trod/trod.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct trod_format *format(void)
{
    return trod_format_find("drmemtrace", 10);
}

/* A run over memory. */
struct run {
    const uint8_t *p;
    size_t n, every; /* bytes a window; 0: all */
    uint32_t rows, want;
    const char *name;
    struct drm_seen_list want_rows;
    struct trod_meta meta;
    struct trod_diag diag;
    size_t done;
    uint64_t raw_end; /* of the last row's record */
    bool only_count;  /* rows and problems, whatever is in the rows */
};

static void check_row(const struct run *r, const struct trod_batch *b, uint32_t i,
                      const struct drm_seen *s)
{
    uint32_t has = b->has[i];
    const struct trod_stream *t = &b->meta->streams[b->stream[i]];
    bool idle = s->type == 28 && s->size == 33;

    if (s->note) {
        assert_int_equal(b->kind[i], TROD_NOTE);
        return;
    }
    if (!(has & TROD_COL_STREAM) || t->tid != s->tid || (!idle && t->pid != s->pid && s->tid + 1))
        fail_msg("%s, row %zu: thread %lld of %lld, not %lld of %lld", r->name, r->done,
                 (long long)t->tid, (long long)t->pid, (long long)s->tid, (long long)s->pid);
    assert_int_equal(!!(has & TROD_COL_TIME), s->has_time);
    if (s->has_time)
        assert_int_equal(b->time[i], s->time);
    if (b->index[i] != s->instrs)
        fail_msg("%s, row %zu: instruction number %llu, not %llu", r->name, r->done,
                 (unsigned long long)b->index[i], (unsigned long long)s->instrs);
    assert_int_equal(!!(b->flags[i] & TROD_F_KERNEL), s->kernel);
    if (s->type == 28) {
        assert_int_equal(b->kind[i], TROD_MARKER);
        assert_int_equal(b->sub[i], s->size);
        assert_int_equal(b->value[i], s->value);
        assert_int_equal(!!(has & TROD_COL_TEXT), s->size < 47);
        return;
    }
    if (s->type == 23) {
        assert_int_equal(b->kind[i], TROD_THREAD);
        assert_int_equal(b->sub[i], 1);
        assert_int_equal(b->value[i], s->value);
        return;
    }
    assert_int_equal(b->sub[i], s->type);
    assert_int_equal(b->addr[i], s->addr);
    assert_int_equal(b->size[i], s->size);
    assert_int_equal(!!(has & TROD_COL_PC), s->has_pc);
    if (s->has_pc)
        assert_int_equal(b->pc[i], s->pc);
    if (b->kind[i] != TROD_INSTR)
        return;
    assert_int_equal(!!(b->flags[i] & TROD_F_NOFETCH), s->type == 29);
    assert_int_equal(!!(b->flags[i] & TROD_F_NEWCODE), s->fresh);
    assert_int_equal(!!(has & TROD_COL_TARGET), s->has_target);
    if (s->has_target)
        assert_int_equal(b->target[i], s->target);
    assert_int_equal(has & TROD_COL_CODE ? b->code[i].len : 0, s->code_n);
    if (s->code_n)
        assert_memory_equal(trod_batch_bytes(b, b->code[i]), s->code, s->code_n);
}

/* System calls by their encodings, from the manuals of the architectures. */
static bool is_system_call(enum trod_isa isa, const struct drm_seen *s)
{
    static const struct {
        enum trod_isa isa;
        uint8_t n, code[4], mask[4];
    } calls[] = {
        {TROD_ISA_X86_64, 2, {0x0f, 0x05}, {0xff, 0xff}}, /* syscall */
        {TROD_ISA_X86_64, 2, {0x0f, 0x34}, {0xff, 0xff}}, /* sysenter */
        {TROD_ISA_X86_64, 2, {0xcd, 0x80}, {0xff, 0xff}}, /* int 0x80 */
        {TROD_ISA_X86_64, 2, {0xcd, 0x2e}, {0xff, 0xff}},
        {TROD_ISA_X86_32, 2, {0x0f, 0x05}, {0xff, 0xff}},
        {TROD_ISA_X86_32, 2, {0x0f, 0x34}, {0xff, 0xff}},
        {TROD_ISA_X86_32, 2, {0xcd, 0x80}, {0xff, 0xff}},
        {TROD_ISA_X86_32, 2, {0xcd, 0x2e}, {0xff, 0xff}},
        {TROD_ISA_A64, 4, {0x01, 0x00, 0x00, 0xd4}, {0x1f, 0x00, 0xe0, 0xff}}, /* svc */
        {TROD_ISA_ARM, 2, {0x00, 0xdf}, {0x00, 0xff}},                         /* svc of Thumb */
        {TROD_ISA_RISCV64, 4, {0x73, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff}},      /* ecall */
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        bool same = calls[i].isa == isa && calls[i].n == s->code_n;

        for (unsigned k = 0; same && k < calls[i].n; k++)
            same = (s->code[k] & calls[i].mask[k]) == calls[i].code[k];
        if (same)
            return true;
    }
    return isa == TROD_ISA_ARM && s->code_n == 4 && (s->code[3] & 0x0f) == 0x0f &&
           s->code[3] != 0xff;
}

/* Kinds and branch classes by record type, as the format's tables have them. */
static void check_kind(const struct trod_batch *b, uint32_t i, const struct drm_seen *s)
{
    static const uint8_t branch[] = {
        [11] = TROD_BR_DIRECT,  [12] = TROD_BR_INDIRECT,   [13] = TROD_BR_COND,
        [14] = TROD_BR_CALL,    [15] = TROD_BR_ICALL,      [16] = TROD_BR_RETURN,
        [31] = TROD_BR_SYSCALL, [48] = TROD_BR_COND_TAKEN, [49] = TROD_BR_COND_UNTAKEN};
    unsigned t = s->type;
    bool instr = (t >= 10 && t <= 16) || t == 29 || t == 31 || t == 48 || t == 49;
    bool code = t == 9 || (t >= 35 && t <= 40) || t == 18;

    if (s->note || t == 28 || t == 23)
        return;
    assert_int_equal(b->kind[i], instr                ? TROD_INSTR
                                 : t == 0             ? TROD_READ
                                 : t == 1             ? TROD_WRITE
                                 : t == 18 || t == 20 ? TROD_FLUSH
                                                      : TROD_PREFETCH);
    unsigned class = instr && t < sizeof branch ? branch[t] : 0;

    if (instr && class == 0 && b->meta && is_system_call(b->meta->isa, s))
        class = TROD_BR_SYSCALL;
    assert_int_equal(b->flags[i] & TROD_F_BRANCH, class);
    assert_int_equal(!!(b->flags[i] & TROD_F_IFETCH), code);
}

static void check_batch(struct run *r, const struct trod_batch *b)
{
    if (r->only_count) {
        r->done += b->n;
        return;
    }
    for (uint32_t i = 0; i < b->n; i++, r->done++) {
        const struct drm_seen *s = &r->want_rows.item[r->done];

        if (r->done >= r->want_rows.n)
            fail_msg("%s: more than %zu rows", r->name, r->want_rows.n);
        check_row(r, b, i, s);
        check_kind(b, i, s);
        if (b->has[i] & TROD_COL_RAW) {
            assert_int_equal(b->offset + b->raw[i].off, r->raw_end);
            r->raw_end += b->raw[i].len;
        } else {
            assert_true(b->flags[i] & TROD_F_CONT);
        }
    }
}

static void decode(struct run *r)
{
    const struct trod_format *f = format();
    void *dec = calloc(1, f->dec_size), *opt = test_options(f, NULL);
    struct trod_span head = {r->p, r->n < 4096 ? r->n : 4096, 0, r->n <= 4096};
    struct trod_batch *b;
    size_t at = 0, end = 0;

    trod_meta_init(&r->meta);
    trod_diag_init(&r->diag, NULL, NULL);
    assert_int_equal(trod_batch_new(&b, r->rows), 0);
    b->meta = &r->meta;
    assert_int_equal(f->start(dec, opt, &head, &r->meta, &r->diag), 0);
    while (end < r->n) {
        int rc;

        end = r->every && r->n - end > r->every ? end + r->every : r->n;
        do {
            struct trod_span in = {r->p + at, end - at, at, end == r->n};

            trod_batch_clear(b);
            b->want = r->want;
            b->bytes = in.p;
            b->bytes_n = in.n;
            b->offset = at;
            rc = f->decode(dec, &in, b, &r->diag);
            check_batch(r, b);
            at = (size_t)(in.p - r->p);
        } while (rc == TROD_DEC_FULL || (rc == TROD_DEC_MORE && end == r->n && b->n));
        assert_int_equal(rc, TROD_DEC_MORE);
    }
    assert_int_equal(at, r->n);
    assert_int_equal(r->done, r->want_rows.n);
    if (!r->only_count)
        assert_int_equal(r->raw_end, r->n);
    f->stop(dec);
    free(dec);
    free(opt);
    trod_batch_free(b);
    trod_meta_fini(&r->meta);
}

/* Decode in several ways and compare each with the oracle. */
static void compare(const char *name, const struct trod_buf *data, unsigned width)
{
    static const size_t every[] = {0, 1, 5, 12, 100, 1000, 4099};
    static const uint32_t rows[] = {4096, 8, 8, 9, 64, 100, 33};
    struct drm_seen_list want = drm_oracle(data->p, data->n, width);

    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        struct run r = {.p = data->p,
                        .n = data->n,
                        .every = every[i],
                        .rows = rows[i],
                        .want = TROD_COL_ALL,
                        .name = name,
                        .want_rows = want};

        if (data->n > 50000 && every[i] && every[i] < 100)
            continue; /* quadratic */
        decode(&r);
        if (r.diag.errors != want.problems)
            fail_msg("%s: %llu problems, not %u", name, (unsigned long long)r.diag.errors,
                     want.problems);
    }
    /* whoever wants little hears of the same problems */
    for (size_t i = 0; i < 3; i++) {
        static const uint32_t few[] = {TROD_COL_KIND, TROD_COL_PC, TROD_COL_CODE};
        struct run r = {.p = data->p,
                        .n = data->n,
                        .rows = 50,
                        .want = few[i],
                        .name = name,
                        .want_rows = want,
                        .only_count = true};

        decode(&r);
        assert_int_equal(r.diag.errors, want.problems);
    }
    free(want.item);
}

static void samples(void **state)
{
    (void)state;
    for (size_t i = 0; drm_sample(i); i++) {
        const struct drm_sample *s = drm_sample(i);
        struct trod_buf b = {0};
        struct drm_seen_list l;

        drm_put_sample(&b, s);
        l = drm_oracle(b.p, b.n, s->width);
        if (l.problems != s->errors)
            fail_msg("%s: %u problems by the oracle, not %u", s->name, l.problems, s->errors);
        free(l.item);
        compare(s->name, &b, s->width);
        trod_buf_fini(&b);
    }
}

/* The golden files are the samples. */
static void golden_files(void **state)
{
    char *dir = test_path(test_source_dir(), "tests/golden/drmemtrace");

    (void)state;
    for (size_t i = 0; drm_sample(i); i++) {
        struct trod_buf b = {0}, file;
        char *path = test_path(dir, drm_sample(i)->name);

        drm_put_sample(&b, drm_sample(i));
        file = test_load(path);
        assert_int_equal(file.n, b.n);
        assert_memory_equal(file.p, b.p, b.n);
        trod_buf_fini(&file);
        trod_buf_fini(&b);
        free(path);
    }
    free(dir);
}

static const struct drm_random kinds[] = {
    {12, 1, 0, 0, 5, false, false},        {12, 2, 0x40, 0, 1, false, false},
    {12, 3, 0x40, 0, 1, true, false},      {12, 4, 0x240, 0, 1, false, false},
    {12, 5, 0x240, 50, 1, false, false},   {12, 6, 0xe40, 20, 1, false, false},
    {12, 7, 0xe40, 1000, 1, false, false}, {12, 7, 0x10e40, 0, 9, false, false},
    {12, 7, 0x2180, 0, 1, false, false},   {12, 7, 0x20200, 100, 1, false, false},
    {12, 7, 0x208, 10, 1, false, false},   {8, 1, 0, 0, 3, true, false},
    {8, 4, 0x220, 0, 1, false, false},     {8, 7, 0xe20, 30, 1, false, false},
    {8, 7, 0x10e10, 0, 4, false, false},
};

static void random_traces(bool wild, unsigned rounds)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (unsigned i = 0; i < rounds; i++) {
            struct trod_gen g = gen_seed(1000 * k + i + (wild ? 500000 : 0));
            struct drm_random how = kinds[k];
            struct trod_buf b = {0};
            struct drm_seen_list l;
            char name[64];

            how.wild = wild;
            how.bundles = how.bundles || (wild && !how.chunk);
            snprintf(name, sizeof name, "random kind %zu, seed %u", k, i);
            drm_random(&g, &how, i % 5 ? 60 + 100 * i : 5000, &b, NULL, NULL);
            l = drm_oracle(b.p, b.n, how.width);
            if (!wild && l.problems)
                fail_msg("%s: %u problems in a sound trace", name, l.problems);
            free(l.item);
            compare(name, &b, how.width);
            trod_buf_fini(&b);
        }
}

static void sound(void **state)
{
    (void)state;
    random_traces(false, 10);
}

static void unsound(void **state)
{
    (void)state;
    random_traces(true, 20);
}

static int start_on(const void *p, size_t n, const char **dialect, int *bits)
{
    const struct trod_format *f = format();
    struct trod_probe probe = {.head = {p, n, 0, true}, .size = n, .path = "x"};
    void *dec = calloc(1, f->dec_size), *opt = test_options(f, NULL);
    struct trod_meta meta;
    int rc;

    *dialect = NULL;
    *bits = f->bid(&probe, dialect);
    trod_meta_init(&meta);
    rc = f->start(dec, opt, &probe.head, &meta, NULL);
    f->stop(dec);
    trod_meta_fini(&meta);
    free(dec);
    free(opt);
    return rc;
}

/* Versions that are newer, raw traces, and what is no trace at all. */
static void refused(void **state)
{
    static const uint8_t raw[] = {0x40, 0, 0, 0, 0, 0, 8, 0xc4, 0x39, 0x30, 0, 0, 0, 0, 0, 0x40};
    static const uint8_t zeros[64];
    const char *dialect;
    struct trod_buf b = {0};
    int bits;

    (void)state;
    drm_put(&b, 12, 25, 0, 8);
    drm_put(&b, 12, 28, 12, 8);
    assert_int_equal(start_on(b.p, b.n, &dialect, &bits), TROD_ERR_UNSUPPORTED);
    assert_true(bits >= TROD_BID_ACCEPT);
    trod_buf_fini(&b);
    assert_int_equal(start_on(raw, sizeof raw, &dialect, &bits), TROD_ERR_CORRUPT); /* not remade */
    assert_string_equal(dialect, "raw");
    assert_true(bits >= TROD_BID_ACCEPT);
    assert_int_equal(start_on(zeros, sizeof zeros, &dialect, &bits), TROD_ERR_CORRUPT);
    assert_int_equal(bits, 0);
    drm_put(&b, 12, 25, 0, 7);
    drm_put(&b, 12, 0, 8, 0x1000);
    assert_int_equal(start_on(b.p, b.n, &dialect, &bits), TROD_ERR_CORRUPT);
    trod_buf_fini(&b);
}

/* What the header tells is in the meta. */
static void meta_of(const char *name, struct trod_meta *meta)
{
    size_t i = 0;
    const struct trod_format *f = format();
    struct trod_buf b = {0};
    void *dec = calloc(1, f->dec_size), *opt = test_options(f, NULL);
    struct trod_span in;
    struct trod_batch *batch;

    while (strcmp(drm_sample(i)->name, name) != 0)
        i++;
    drm_put_sample(&b, drm_sample(i));
    in = (struct trod_span){b.p, b.n, 0, true};
    trod_meta_init(meta);
    assert_int_equal(trod_batch_new(&batch, 4096), 0);
    batch->bytes = b.p;
    batch->meta = meta;
    assert_int_equal(f->start(dec, opt, &in, meta, NULL), 0);
    f->decode(dec, &in, batch, NULL);
    f->stop(dec);
    free(dec);
    free(opt);
    trod_batch_free(batch);
    trod_buf_fini(&b);
}

static void metas(void **state)
{
    struct trod_meta m;

    (void)state;
    meta_of("version7.canonical.trace", &m);
    assert_int_equal(m.version, 7);
    assert_int_equal(m.filetype, 0xe40);
    assert_int_equal(m.isa, TROD_ISA_X86_64);
    assert_int_equal(m.addr_bits, 64);
    assert_int_equal(m.line_size, 64);
    assert_int_equal(m.page_size, 4096);
    assert_int_equal(m.unit, TROD_UNIT_US);
    assert_int_equal(m.endian, TROD_ENDIAN_LITTLE);
    trod_meta_fini(&m);
    meta_of("x86-32.trace", &m);
    assert_int_equal(m.isa, TROD_ISA_X86_32);
    assert_int_equal(m.addr_bits, 32);
    trod_meta_fini(&m);
    meta_of("aarch64.trace", &m);
    assert_int_equal(m.isa, TROD_ISA_A64);
    trod_meta_fini(&m);
    meta_of("regdeps.trace", &m);
    assert_int_equal(m.isa, TROD_ISA_REGDEPS);
    trod_meta_fini(&m);
    meta_of("legacy-threads.trace", &m);
    assert_int_equal(m.isa, TROD_ISA_UNKNOWN);
    assert_int_equal(m.version, 1);
    assert_int_equal(m.n_streams, 2);
    trod_meta_fini(&m);
}

static int write_samples(void)
{
    char *dir = test_path(test_source_dir(), "tests/golden/drmemtrace");

    for (size_t i = 0; drm_sample(i); i++) {
        struct trod_buf b = {0};
        char *path = test_path(dir, drm_sample(i)->name);

        drm_put_sample(&b, drm_sample(i));
        test_save(path, b.p, b.n);
        trod_buf_fini(&b);
        free(path);
    }
    free(dir);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples), cmocka_unit_test(golden_files), cmocka_unit_test(sound),
        cmocka_unit_test(unsound), cmocka_unit_test(refused),      cmocka_unit_test(metas),
    };

    if (argc > 1 && strcmp(argv[1], "--write") == 0)
        return write_samples();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
