/*
 * nav_index.h - indexes with small blocks, for tests: made and opened.
 */
#ifndef NAV_INDEX_H
#define NAV_INDEX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "navigate/attach.h"
#include "navigate/index.h"
#include "testlib.h"

enum { NAV_FILES = 3 };

/* Files to be written, in a folder of their own. */
struct nav_files {
    char *dir;
    const char *path[NAV_FILES];
    size_t n;
};

/* N of them, whose names end with SUFFIX. */
static inline struct nav_files nav_files_new(size_t n, const char *suffix)
{
    struct nav_files f = {.dir = test_tmpdir(), .n = n};

    for (size_t i = 0; i < n; i++) {
        char name[64];

        snprintf(name, sizeof name, "%zu%s", i, suffix);
        f.path[i] = test_path(f.dir, name);
    }
    return f;
}

static inline void nav_files_free(struct nav_files *f)
{
    test_remove(f->dir);
    for (size_t i = 0; i < f->n; i++)
        free((void *)(uintptr_t)f->path[i]);
    free(f->dir);
}

/* An index of one section, ID, which P is. */
struct nav_sample {
    struct nav_index x;
    struct nav_section section;
    struct nav_segment segment;
    uint8_t checked[2];
};

static inline void nav_sample(struct nav_sample *s, uint32_t id, const struct trod_buf *p)
{
    *s = (struct nav_sample){.section = {.id = id, .length = p->n}};
    s->x = (struct nav_index){
        .file = p->p, .size = p->n, .section = &s->section, .n_sections = 1, .checked = s->checked};
}

static inline struct trod_nav *open_files(const char *const *paths, size_t n, bool no_index)
{
    const struct trod_nav_options opt = {.struct_size = sizeof opt, .no_index = no_index};
    struct trod_nav *nav;

    return trod_nav_open(&nav, paths, n, &opt, NULL) == 0 ? nav : NULL;
}

static inline struct trod_nav *open_nav(const char *path, bool no_index)
{
    return open_files(&path, 1, no_index);
}

/*
 * An index of PATHS as WITH says, read through INPUT, beside it; its path to WHERE. False: it
 * cannot be read.
 */
static inline bool index_with(const char *const *paths, size_t n,
                              const struct nav_build_options *with,
                              const struct trod_input_options *input, char where[4096])
{
    const struct trod_trace_options topt = {.struct_size = sizeof topt,
                                            .input = *input,
                                            .want = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE};
    struct trod_nav *nav = open_files(paths, n, true);
    struct nav_build_options opt = *with;
    struct trod_trace *t;

    if (!nav)
        return false;
    opt.options = "";
    opt.isa = trod_nav_meta(nav)->isa;
    opt.endian = trod_nav_meta(nav)->endian;
    trod_nav_close(nav);
    assert_int_equal(trod_trace_open(&t, paths, n, &topt, NULL), 0);
    assert_true(nav_index_path(t, paths, n, NULL, false, where, 4096));
    assert_int_equal(nav_index_build(t, where, &opt), 0);
    trod_trace_close(t);
    return true;
}

/* With small blocks and segments; MEMORY: bytes that what a block leaves there may take. */
static inline bool index_files(const char *const *paths, size_t n, uint64_t block_rows,
                               uint32_t segment, uint64_t memory)
{
    const struct nav_build_options opt = {
        .block_rows = block_rows, .segment = segment, .apart = 1, .memory = memory, .jobs = 1};
    const struct trod_input_options input = {0};
    char where[4096];

    return index_with(paths, n, &opt, &input, where);
}

static inline bool make_index(const char *path, uint64_t block_rows, uint32_t segment)
{
    return index_files(&path, 1, block_rows, segment, 0);
}

/*
 * What WITH, with an index, says that rows behind LO up to HI touch is all that WITHOUT says, and
 * else bytes that are the same at both. Returns how many bytes all of it is.
 */
static inline uint64_t same_touched(struct trod_nav *with, struct trod_nav *without, uint64_t lo,
                                    uint64_t hi)
{
    struct trod_nav_run *a, *b;
    size_t n, m, k = 0;
    uint64_t bytes = 0;

    assert_int_equal(trod_nav_touched(with, lo, hi, &a, &n), 0);
    assert_int_equal(trod_nav_touched(without, lo, hi, &b, &m), 0);
    for (size_t i = 0; i < n; i++)
        for (uint64_t at = a[i].addr, end = at + a[i].count; at != end; at++, bytes++) {
            struct trod_nav_byte x, y;

            if (k < m && at == b[k].addr) {
                b[k].addr++;
                k += --b[k].count == 0;
                continue;
            }
            assert_int_equal(trod_nav_memory(without, lo, at, 1, &x), 0);
            assert_int_equal(trod_nav_memory(without, hi, at, 1, &y), 0);
            assert_int_equal(x.from == TROD_NAV_UNKNOWN, y.from == TROD_NAV_UNKNOWN);
            assert_true(x.from == TROD_NAV_UNKNOWN || x.value == y.value);
        }
    assert_int_equal(k, m);
    free(a);
    free(b);
    return bytes;
}

#endif
