/*
 * drmwrite_data.h - for the tests of written drmemtrace: files judged by an oracle that knows only
 * entries (drm_check.h), conversions, and every way of leaving something out.
 */
#ifndef DRMWRITE_DATA_H
#define DRMWRITE_DATA_H

#include "drm_check.h"
#include "testlib.h"
#include "trod/trace.h"
#include "trod/writer.h"
#include "x86_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PARTS = 8192 };

static struct trod_diag quiet; /* main() makes it say nothing */

/* --- the files of a trace --- */

struct file {
    struct trod_buf bytes;
    struct drm_part part[PARTS];
    size_t n;
    bool zip;
};

static inline void load_file(const char *path, struct file *f)
{
    struct trod_input *in;
    struct trod_span span;
    struct trod_member m;

    memset(f, 0, sizeof *f);
    assert_int_equal(trod_input_open(&in, path, NULL, &quiet), 0);
    for (;;) {
        assert_int_equal(trod_input_ahead(in, 1, &span), 0);
        if (span.n == 0)
            break;
        assert_int_equal(trod_buf_add(&f->bytes, span.p, span.n), 0);
        trod_input_consume(in, span.n);
    }
    f->n = trod_input_members(in);
    f->zip = f->n > 0;
    assert_true(f->n < PARTS);
    for (size_t i = 0; i < f->n; i++) {
        assert_true(trod_input_member(in, i, &m));
        f->part[i] = (struct drm_part){f->bytes.p + m.offset, (size_t)m.size};
    }
    if (!f->zip) {
        f->n = 1;
        f->part[0] = (struct drm_part){f->bytes.p, f->bytes.n};
    }
    trod_input_close(in);
}

/* Returns whether it has what a trace that is not filtered has: instructions. */
static inline bool check_any_file(const char *path, unsigned width, struct drm_checked *c)
{
    struct file *f = malloc(sizeof *f);

    assert_non_null(f);
    load_file(path, f);
    if (!drm_check(f->part, f->n, width, f->zip, c))
        fail_msg("%s: %s", path, c->fault);
    trod_buf_fini(&f->bytes);
    free(f);
    return c->instrs > 0 || c->filetype & 0x81;
}

static inline void check_file(const char *path, unsigned width, struct drm_checked *c)
{
    if (!check_any_file(path, width, c))
        fail_msg("%s: not filtered, and no instructions", path);
}

static inline bool is_trace(const char *name)
{
    return strstr(name, ".trace") != NULL;
}

/*
 * All files of the directory OUT; the counts are added up. Returns how many. LONE: threads that had
 * nothing but one branch, which is left out where nothing says where it went; only these may be
 * without instructions.
 */
static inline size_t check_directory(const char *out, unsigned width, uint64_t lone,
                                     struct drm_checked *sum)
{
    char *dir = test_path(out, "trace");
    struct test_list l = test_files(dir);
    size_t n = 0, empty = 0;

    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < l.n; i++) {
        char *path = test_path(dir, l.name[i]);
        struct drm_checked c;

        if (is_trace(l.name[i])) {
            empty += !check_any_file(path, width, &c);
            sum->instrs += c.instrs;
            sum->nofetch += c.nofetch;
            sum->reads += c.reads;
            sum->writes += c.writes;
            sum->events += c.events;
            sum->filetype = c.filetype;
            sum->version = c.version;
            n++;
        }
        free(path);
    }
    assert_true(empty <= lone);
    test_list_free(&l);
    free(dir);
    return n;
}

/* --- conversions --- */

/* What a trace should hold. */
struct told {
    uint64_t instrs, nofetch, reads, writes, jumps;
    uint64_t threads; /* that have rows */
    uint64_t lone;    /* of these, those with one instruction that is a branch */
    uint8_t seen[WALK_THREADS], is_lone[WALK_THREADS];
};

struct job {
    const char *in, *out, *to;
    uint32_t drops;
    bool (*keep)(const struct trod_batch *b, uint32_t row, uint64_t ordinal);
    const char *from;
    uint32_t by; /* rows put at a time, where all are; 0: those of a batch */
};

/* The rows of B, as J says. */
static inline void put_all(struct trod_writer *w, const struct trod_batch *b, const struct job *j)
{
    for (uint32_t i = 0, n; i < b->n; i += n) {
        struct trod_batch view;

        n = j->by && j->by < b->n - i ? j->by : b->n - i;
        assert_int_equal(trod_writer_put(w, trod_batch_rows(&view, b, i, i + n)), 0);
    }
}

/* Returns the writer's summary; the trace is read to its end. */
static inline struct trod_writer_summary convert(const struct job *j)
{
    struct trod_writer_options opt = {.to = j->to, .allow_loss = true, .drops = j->drops};
    struct trod_writer_summary sum = {0};
    struct trod_writer *w;
    struct trod_trace *t;
    struct trod_batch *b;
    uint64_t ordinal = 0;
    uint8_t keep[TROD_BATCH_ROWS];

    assert_int_equal(
        trod_trace_open(&t, &j->in, 1, &(struct trod_trace_options){.from = j->from}, &quiet), 0);
    opt.source = trod_trace_format(t);
    opt.source_options = trod_trace_format_options(t);
    assert_int_equal(trod_writer_open(&w, j->out, &opt, trod_trace_meta(t), &quiet), 0);
    trod_trace_want(t, trod_writer_want(w) | TROD_COL_ALL);
    while (trod_trace_next(t, &b) > 0) {
        for (uint32_t i = 0; i < b->n; i++)
            keep[i] = !j->keep || j->keep(b, i, ordinal + i);
        ordinal += b->n;
        if (j->keep)
            assert_int_equal(trod_writer_put_some(w, b, keep), 0);
        else
            put_all(w, b, j);
    }
    assert_int_equal(trod_writer_commit(w, &sum), 0);
    trod_trace_close(t);
    return sum;
}

static inline bool keep_some_data(const struct trod_batch *b, uint32_t row, uint64_t ordinal)
{
    return (b->kind[row] != TROD_READ && b->kind[row] != TROD_WRITE) || ordinal % 3 == 0;
}

static inline bool keep_some_instrs(const struct trod_batch *b, uint32_t row, uint64_t ordinal)
{
    return b->kind[row] != TROD_INSTR || ordinal % 4 != 0;
}

static inline bool keep_data(const struct trod_batch *b, uint32_t row, uint64_t ordinal)
{
    (void)ordinal;
    return b->kind[row] == TROD_READ || b->kind[row] == TROD_WRITE;
}

static inline bool keep_no_markers(const struct trod_batch *b, uint32_t row, uint64_t ordinal)
{
    (void)ordinal;
    return b->kind[row] != TROD_MARKER;
}

static inline bool keep_middle(const struct trod_batch *b, uint32_t row, uint64_t ordinal)
{
    (void)b;
    (void)row;
    return ordinal >= 1237 && ordinal < 3911;
}

/* Every way of leaving something out gives a valid trace, and says in its file type what it did. */
static inline void filters_of(const char *in, const char *dir)
{
    static const struct {
        uint32_t drops, sets;
        bool (*keep)(const struct trod_batch *, uint32_t, uint64_t);
    } filters[] = {
        {0, 0, NULL},
        {TROD_DROP_DATA, 0x100, keep_some_data},
        {TROD_DROP_INSTR | TROD_DROP_DATA, 0x180, keep_some_instrs},
        {TROD_DROP_INSTR, 0x80, keep_data},
        {TROD_DROP_OTHER, 0, keep_no_markers},
        {TROD_DROP_SPAN, 0, keep_middle},
    };

    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        char *out = test_path(dir, "filtered.trace.zip");
        const struct job j = {in,
                              out,
                              i % 2 ? "drmemtrace:chunk=77" : "drmemtrace",
                              filters[i].drops,
                              filters[i].keep,
                              NULL,
                              0};
        struct drm_checked c;

        convert(&j);
        check_file(out, 12, &c);
        assert_int_equal(c.filetype & 0x180, filters[i].sets);
        free(out);
    }
}

#endif
