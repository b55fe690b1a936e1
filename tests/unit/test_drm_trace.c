/*
 * test_drm_trace.c - drmemtrace traces as directories: which files they are, in which order their
 * records come, going to a record, and what damage costs.
 *
 * The order by time is compared with a slow merge written from the format's description.
 */
#include "drm.h"
#include "trod/trod.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static const struct trod_format *format(void)
{
    return trod_format_find("drmemtrace", 10);
}

static char *make_dir(const char *dir, const char *name)
{
    char *path = test_path(dir, name);

    assert_int_equal(mkdir(path, 0700), 0);
    return path;
}

static void put_file(const char *dir, const char *name, const char *text)
{
    char *path = test_path(dir, name);

    test_save(path, text, strlen(text));
    free(path);
}

static void put_trace(const char *dir, const char *name, const struct trod_buf *b)
{
    char *path = test_path(dir, name);

    test_save(path, b->p, b->n);
    free(path);
}

static void put_sample(const char *dir, const char *name)
{
    struct trod_buf b = {0};

    drm_put_sample(&b, drm_sample(3));
    put_trace(dir, name, &b);
    trod_buf_fini(&b);
}

static const char *name_of(const struct trod_files *f, size_t i)
{
    const char *slash = strrchr(f->file[i].path, '/');

    return slash ? slash + 1 : f->file[i].path;
}

static size_t count_role(const struct trod_files *f, enum trod_role role)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        n += f->file[i].role == role;
    return n;
}

/* DIR is a trace of these inputs (separated by blanks) with so many files beside, and STRAYS. */
static void resolves(const char *dir, const char *inputs, size_t beside, unsigned strays)
{
    struct trod_files f = {0};
    struct trod_diag diag;
    char names[256] = "";

    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(format()->resolve(dir, &f, &diag), 1);
    for (size_t i = 0; i < f.n; i++) {
        size_t n = strlen(names);

        if (f.file[i].role != TROD_ROLE_INPUT)
            continue;
        snprintf(names + n, sizeof names - n, "%s%s", n ? " " : "", name_of(&f, i));
    }
    assert_string_equal(names, inputs);
    assert_int_equal(f.n - count_role(&f, TROD_ROLE_INPUT), beside);
    assert_int_equal(diag.errors, 0);
    assert_int_equal(trod_diag_kind_count(&diag, "drmemtrace.stray"), strays);
    trod_files_fini(&f);
}

static void refuses(const char *dir, int status)
{
    struct trod_files f = {0};
    struct trod_diag diag;

    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(format()->resolve(dir, &f, &diag), status);
    assert_int_equal(diag.errors, status < 0);
    trod_files_fini(&f);
}

static void directories(void **state)
{
    char *top = test_tmpdir(), *x = make_dir(top, "drmemtrace.app.01234.0001.dir");
    char *raw = make_dir(x, "raw"), *trace, *aux, *w0, *w1, *other, *flat;

    (void)state;
    put_file(raw, "drmemtrace.app.01234.0001.raw.gz", "\037\213\010");
    resolves(x, "drmemtrace.app.01234.0001.raw.gz", 0, 0); /* not converted yet */
    resolves(raw, "drmemtrace.app.01234.0001.raw.gz", 0, 0);
    trace = make_dir(x, "trace");
    put_sample(trace, "drmemtrace.app.10.trace");
    put_sample(trace, "drmemtrace.app.9.trace");
    put_sample(trace, "any name");
    put_file(trace, "README", "not a trace\n");
    put_file(trace, "serial_schedule.bin", "");
    put_file(trace, "info.textproto", "x");
    put_file(raw, "modules.log", "Module Table: version 5, count 0\n");
    put_file(raw, "funclist.log", "");
    aux = make_dir(x, "aux");
    put_file(aux, "v2p.textproto", "page_size: 4096\n");
    put_file(aux, "modules.log", "seen in raw already");
    resolves(x, "any name drmemtrace.app.10.trace drmemtrace.app.9.trace", 4, 1);
    resolves(trace, "any name drmemtrace.app.10.trace drmemtrace.app.9.trace", 4, 1);
    resolves(raw, "any name drmemtrace.app.10.trace drmemtrace.app.9.trace", 4, 1);

    other = make_dir(top, "windowed");
    flat = make_dir(other, "trace");
    w0 = make_dir(flat, "window.0000");
    w1 = make_dir(flat, "window.0001");
    put_sample(w0, "drmemtrace.a.trace");
    put_sample(w1, "drmemtrace.b.trace");
    put_file(flat, "modules.log", "");
    put_file(w0, "serial_schedule.bin.gz", "");
    put_file(w1, "serial_schedule.bin.gz", "");
    resolves(other, "drmemtrace.a.trace drmemtrace.b.trace", 3, 0);
    resolves(flat, "drmemtrace.a.trace drmemtrace.b.trace", 3, 0);
    resolves(w1, "drmemtrace.b.trace", 2, 0);
    free(other);
    other = make_dir(top, "foreign");
    put_file(other, "notes.txt", "nothing of ours");
    put_file(other, "data.gz", "\037\213\010");
    refuses(other, 0);
    free(other);
    free(flat);
    flat = make_dir(top, "flat");
    put_sample(flat, "b");
    put_sample(flat, "a");
    resolves(flat, "a b", 0, 0);
    refuses("/nonexistent", 0);
    test_remove(top);
    free(top), free(x), free(raw), free(trace), free(aux), free(w0), free(w1), free(flat);
}

/* --- order by time --- */

enum { FILES_MAX = 80 };

struct file {
    struct drm_seen_list rows;
    size_t at;
    uint64_t key;
    bool ended;
};

static bool is_time(const struct drm_seen *s)
{
    return s->type == 28 && s->size == 2;
}

/* The live file with the smallest key, the first of several; -1: none. */
static int smallest(const struct file *f, size_t n)
{
    int best = -1;

    for (size_t i = 0; i < n; i++)
        if (!f[i].ended && (best < 0 || f[i].key < f[best].key))
            best = (int)i;
    return best;
}

/* What the trace must give: the row numbers of the files one after the other, in OUT. */
static size_t merge(struct file *f, size_t n, struct drm_seen *out)
{
    size_t rows = 0;
    bool taken[FILES_MAX] = {false}; /* the TIMESTAMP at hand has been judged */
    int cur;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < f[i].rows.n && f[i].key == 0; k++)
            if (is_time(&f[i].rows.item[k]))
                f[i].key = f[i].rows.item[k].value;
    for (size_t i = 0; i < n; i++)
        taken[i] = true;
    cur = smallest(f, n);
    while (cur >= 0) {
        struct file *c = &f[cur];
        const struct drm_seen *s = &c->rows.item[c->at];

        if (c->at == c->rows.n) {
            c->ended = true;
            cur = smallest(f, n);
            continue;
        }
        if (is_time(s) && !taken[cur]) {
            c->key = s->value;
            taken[cur] = true;
            if (smallest(f, n) != cur) {
                cur = smallest(f, n);
                continue;
            }
        }
        if (is_time(s))
            taken[cur] = false;
        out[rows++] = *s;
        c->at++;
    }
    return rows;
}

static void same_row(const struct trod_batch *b, uint32_t i, const struct drm_seen *s, size_t row)
{
    uint64_t tid = b->meta->streams[b->stream[i]].tid;

    if (tid != s->tid)
        fail_msg("row %zu is of thread %llu, not %llu", row, (unsigned long long)tid,
                 (unsigned long long)s->tid);
    if (s->type == 28) {
        assert_int_equal(b->sub[i], s->size);
        assert_int_equal(b->value[i], s->value);
    } else if (s->type != 23) {
        assert_int_equal(b->addr[i], s->addr);
        assert_int_equal(b->size[i], s->size);
    }
    assert_int_equal(b->first + i, row);
}

static void merged(size_t n_files, size_t entries, uint64_t seed)
{
    char *dir = test_tmpdir();
    struct file f[FILES_MAX] = {{.at = 0}};
    struct trod_trace_options opt = {.order = TROD_ORDER_TIME};
    struct trod_gen g = gen_seed(seed);
    struct trod_diag diag;
    struct trod_trace *t;
    struct trod_batch *b;
    struct drm_seen *want;
    size_t total = 0, row = 0;
    uint64_t instrs = 0;
    int rc;

    for (size_t i = 0; i < n_files; i++) {
        struct drm_random how = {.width = 12, .version = 6, .filetype = 0xe40, .threads = 1};
        struct trod_buf data = {0};
        char name[64];

        /* thread numbers differ by file: the generator's is replaced */
        drm_random(&g, &how, 20 + gen_below(&g, entries), &data, NULL, NULL);
        for (size_t k = 0; k + 12 <= data.n; k += 12)
            if (data.p[k + 1] == 0 && (data.p[k] == 22 || data.p[k] == 23))
                data.p[k + 7] = (uint8_t)(i + 1);
        f[i].rows = drm_oracle(data.p, data.n, 12);
        total += f[i].rows.n;
        snprintf(name, sizeof name, "drmemtrace.x.%03zu.trace", i);
        put_trace(dir, name, &data);
        trod_buf_fini(&data);
    }
    want = calloc(total, sizeof *want);
    assert_int_equal(merge(f, n_files, want), total);
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_trace_open(&t, (const char *const[]){dir}, 1, &opt, &diag), 0);
    while ((rc = trod_trace_next(t, &b)) == 1)
        for (uint32_t i = 0; i < b->n; i++, row++) {
            assert_true(row < total);
            same_row(b, i, &want[row], row);
            instrs += b->kind[i] == TROD_INSTR && !(b->flags[i] & TROD_F_NOFETCH);
            assert_int_equal(b->index[i], instrs);
        }
    assert_int_equal(rc, 0);
    assert_int_equal(row, total);
    assert_int_equal(diag.errors, 0);
    trod_trace_close(t);
    for (size_t i = 0; i < n_files; i++)
        free(f[i].rows.item);
    free(want);
    test_remove(dir);
    free(dir);
}

static void by_time(void **state)
{
    (void)state;
    merged(2, 3000, 1);
    merged(3, 300, 2);
    merged(9, 2000, 3);
    merged(FILES_MAX, 400, 4); /* so many that they are closed until their turn */
}

/* --- going to a record --- */

/* Chunks as members of a zip archive, each stored whole, as one would write it by hand. */
static void le(struct trod_buf *b, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t c = (uint8_t)(v >> (8 * i));

        assert_int_equal(trod_buf_add(b, &c, 1), 0);
    }
}

static uint32_t slow_crc(const uint8_t *p, size_t n)
{
    uint32_t crc = UINT32_MAX;

    while (n--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

static void zip_header(struct trod_buf *z, bool central, size_t k, const uint8_t *p, size_t n,
                       size_t at)
{
    char name[32];
    int len = snprintf(name, sizeof name, "chunk.%04zu", k);

    le(z, 4, central ? 0x02014b50 : 0x04034b50);
    if (central)
        le(z, 2, 20);
    le(z, 2, 20);
    le(z, 4, 0);
    le(z, 4, 0x00210000);
    le(z, 4, slow_crc(p, n));
    le(z, 4, n);
    le(z, 4, n);
    le(z, 2, (uint64_t)len);
    le(z, 2, 0);
    if (central) {
        le(z, 2, 0);
        le(z, 4, 0);
        le(z, 4, 0);
        le(z, 4, at);
    }
    assert_int_equal(trod_buf_add(z, name, (size_t)len), 0);
}

static struct trod_buf zip_of(const struct trod_buf *data, const size_t *ends, size_t n)
{
    struct trod_buf z = {0}, dir = {0};
    size_t from = 0, at;

    for (size_t k = 0; k <= n; k++) {
        size_t to = k < n ? ends[k] : data->n;

        zip_header(&dir, true, k, data->p + from, to - from, z.n);
        zip_header(&z, false, k, data->p + from, to - from, 0);
        assert_int_equal(trod_buf_add(&z, data->p + from, to - from), 0);
        from = to;
    }
    at = z.n;
    assert_int_equal(trod_buf_add(&z, dir.p, dir.n), 0);
    le(&z, 4, 0x06054b50);
    le(&z, 4, 0);
    le(&z, 2, n + 1);
    le(&z, 2, n + 1);
    le(&z, 4, dir.n);
    le(&z, 4, at);
    le(&z, 2, 0);
    trod_buf_fini(&dir);
    return z;
}

/* All rows from where the options say are those of the oracle from FROM on, with their numbers. */
static void rows_from(const char *path, const struct trod_trace_options *opt,
                      const struct drm_seen_list *want, size_t from)
{
    struct trod_diag diag;
    struct trod_trace *t;
    struct trod_batch *b;
    int rc;

    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_trace_open(&t, &path, 1, opt, &diag), 0);
    while ((rc = trod_trace_next(t, &b)) == 1)
        for (uint32_t i = 0; i < b->n; i++, from++) {
            const struct drm_seen *s = &want->item[from];

            assert_true(from < want->n);
            same_row(b, i, s, from);
            assert_int_equal(b->index[i], s->instrs);
            if (s->has_time)
                assert_int_equal(b->time[i], s->time);
            assert_int_equal(b->has[i] & TROD_COL_CODE ? b->code[i].len : 0, s->code_n);
            if (s->code_n)
                assert_memory_equal(trod_batch_bytes(b, b->code[i]), s->code, s->code_n);
        }
    assert_int_equal(rc, 0);
    assert_int_equal(from, want->n);
    assert_int_equal(diag.errors, 0);
    trod_trace_close(t);
}

static void go_to(void **state)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "x.zip");
    /* flags are not compared: in the middle of kernel code a reader cannot know where it is */
    const struct drm_random how = {
        .width = 12, .version = 7, .filetype = 0xe40, .chunk = 40, .threads = 1};
    struct trod_gen g = gen_seed(77);
    struct trod_buf data = {0}, zip;
    struct drm_seen_list want;
    size_t *ends, n;

    (void)state;
    drm_random(&g, &how, 6000, &data, &ends, &n);
    assert_true(n > 20);
    want = drm_oracle(data.p, data.n, 12);
    assert_int_equal(want.problems, 0);
    zip = zip_of(&data, ends, n);
    test_save(path, zip.p, zip.n);
    for (uint64_t k = 0; k < want.n; k += 1 + k / 7) {
        struct trod_trace_options opt = {.skip_rows = k};

        rows_from(path, &opt, &want, k);
    }
    for (uint64_t k = 1; k < want.item[want.n - 1].instrs; k += 1 + k / 7) {
        struct trod_trace_options opt = {.skip_instructions = k};
        size_t from = 0;

        while (want.item[from].instrs <= k)
            from++;
        rows_from(path, &opt, &want, from);
    }
    free(ends);
    free(want.item);
    trod_buf_fini(&data);
    trod_buf_fini(&zip);
    test_remove(dir);
    free(path);
    free(dir);
}

/* --- real traces, where they are --- */

/* What the format's description measured in some files: rows by kind. */
static const struct {
    const char *file;
    uint64_t records, instrs, nofetch, reads, writes, markers, fresh;
} measured[] = {
    {"drmemtrace.allasm_x86_64.trace.zip", 246, 133, 0, 0, 0, 112, 61},
    {"chase.20190225.185346.23699.memtrace.sz", 1089521, 867701, 24, 204772, 16729, 294, 0},
    {"chase.20190225.185346.23700.memtrace.sz", 1814831, 1432080, 24, 362119, 20185, 422, 0},
    {"drmemtrace.threadsig.10506.7343.trace.gz", 6843, 4421, 0, 1130, 1073, 218, 0},
    {"drmemtrace.threadsig.10510.0155.trace.gz", 4769, 1388, 882, 1156, 1280, 62, 0},
    {"drmemtrace.threadsig.10511.8961.trace.gz", 76787, 20069, 15750, 19108, 21815, 44, 0},
    {"drmemtrace.threadsig.10512.2759.trace.gz", 46781, 12189, 9616, 11635, 13318, 22, 0},
    {"drmemtrace.simple_app.trace.zip", 180347, 136051, 361, 31507, 12338, 89, 11374},
    {"drmemtrace.small.x64.trace", 232, 173, 0, 42, 14, 2, 0},
    {"drmemtrace.threadsig.872805.4975.trace.zip", 33210, 22052, 0, 6303, 3559, 1295, 4423},
    {"drmemtrace.threadsig.872884.3060.trace.zip", 222676, 156381, 63, 41274, 24168, 789, 2256},
    {"drmemtrace.threadsig.872894.3824.trace.zip", 176667, 123958, 63, 32775, 19174, 696, 2819},
    {"drmemtrace.threadsig.872901.9125.trace.zip", 69226, 48615, 0, 12833, 7400, 377, 2244},
    {"drmemtrace.threadsig.872902.5666.trace.zip", 87454, 61550, 0, 16232, 9388, 283, 2255},
    {"drmemtrace.threadsig.872903.3218.trace.zip", 111104, 78051, 0, 20590, 11964, 498, 2272},
    {"drmemtrace.threadsig.872904.7848.trace.zip", 64612, 45355, 0, 11990, 6910, 356, 2239},
    {"drmemtrace.threadsig.872905.5783.trace.zip", 92697, 65121, 0, 17160, 9997, 418, 1671},
    {"drmemtrace.threadsig.872906.1041.trace.zip", 70464, 49493, 0, 13051, 7590, 329, 1663},
    {"drmemtrace.tool.fib_plus.125254.3691.trace.gz", 24714, 18874, 78, 4308, 1433, 20, 0},
    {"drmemtrace.tool.fib_plus.125255.3920.trace.gz", 10925, 7502, 0, 2139, 1098, 185, 0},
    {"drmemtrace.tool.fib_plus.125256.0417.trace.gz", 8449, 5764, 0, 1630, 867, 187, 0},
    {"offline-legacy-trace.gz", 127948, 78753, 6317, 26381, 16308, 184, 0},
};

/* The records of PATH, one after the other, are its bytes; their numbers are those measured. */
static bool one_file(const char *path)
{
    const struct trod_input_options opt = {.no_thread = true};
    const struct trod_reader_options ropt = {.from = "drmemtrace", .input = opt};
    const char *slash = strrchr(path, '/');
    uint64_t kinds[TROD_KINDS] = {0}, nofetch = 0, fresh = 0, end = 0;
    struct trod_input *bytes, *in;
    struct trod_reader *r;
    struct trod_meta meta;
    struct trod_diag diag;
    struct trod_batch *b;
    struct trod_span s;
    bool known = false;

    trod_meta_init(&meta);
    trod_diag_init(&diag, NULL, NULL);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    b->want = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE;
    assert_int_equal(trod_input_open(&bytes, path, &opt, &diag), 0);
    assert_int_equal(trod_input_open(&in, path, &opt, &diag), 0);
    assert_int_equal(trod_reader_open(&r, in, &ropt, &meta, &diag), 0);
    while (trod_reader_next(r, b) == 1)
        for (uint32_t i = 0; i < b->n; i++) {
            const struct trod_slice raw = b->raw[i];

            kinds[b->kind[i]]++;
            nofetch += (b->flags[i] & TROD_F_NOFETCH) != 0;
            fresh += (b->flags[i] & TROD_F_NEWCODE) != 0;
            assert_int_equal(b->offset + raw.off, end);
            assert_int_equal(trod_input_ahead(bytes, raw.len, &s), 0);
            assert_true(s.n >= raw.len);
            assert_memory_equal(s.p, trod_batch_bytes(b, raw), raw.len);
            trod_input_consume(bytes, raw.len);
            end += raw.len;
        }
    assert_int_equal(trod_input_ahead(bytes, 1, &s), 0);
    assert_int_equal(s.n, 0);
    assert_int_equal(diag.errors, 0);
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        if (strcmp(slash ? slash + 1 : path, measured[i].file) == 0) {
            known = true;
            assert_int_equal(trod_reader_rows(r), measured[i].records);
            assert_int_equal(kinds[TROD_INSTR] - nofetch, measured[i].instrs);
            assert_int_equal(nofetch, measured[i].nofetch);
            assert_int_equal(kinds[TROD_READ], measured[i].reads);
            assert_int_equal(kinds[TROD_WRITE], measured[i].writes);
            assert_int_equal(kinds[TROD_MARKER], measured[i].markers);
            assert_int_equal(fresh, measured[i].fresh);
        }
    trod_reader_close(r);
    trod_input_close(bytes);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return known;
}

static void real_traces(void **state)
{
    static const char *const names[] = {
        "drmemtrace.allasm_x86_64.trace.zip",
        "drmemtrace.chase-snappy.x64.tracedir",
        "drmemtrace.legacy-for-record-filter.x64.tracedir",
        "drmemtrace.simple_app.trace.zip",
        "drmemtrace.small.x64.trace",
        "drmemtrace.threadsig.x64.tracedir",
        "offline-func-trace",
        "offline-legacy-trace.gz",
    };
    const char *dir = getenv("TROD_TRACES");
    char *base = dir ? test_path(dir, "drmemtrace")
                     : test_path(test_source_dir(), "../shared/traces/drmemtrace");
    struct stat st;
    size_t known = 0;

    (void)state;
    if (stat(base, &st) != 0) {
        print_message("no traces at %s\n", base);
        free(base);
        skip();
        return;
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char *path = test_path(base, names[k]);
        struct trod_files f = {0};

        if (format()->resolve(path, &f, NULL) == 1) {
            for (size_t i = 0; i < f.n && f.file[i].role == TROD_ROLE_INPUT; i++)
                known += one_file(f.file[i].path);
        } else {
            known += one_file(path);
        }
        trod_files_fini(&f);
        free(path);
    }
    assert_int_equal(known, sizeof measured / sizeof *measured);
    free(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directories),
        cmocka_unit_test(by_time),
        cmocka_unit_test(go_to),
        cmocka_unit_test(real_traces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
