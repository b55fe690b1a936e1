/*
 * filters_data.h - what the tests of compressions share: the filters of this build, and reading
 * through them.
 *
 * Expected bytes are always the plain data that went in.
 */
#ifndef FILTERS_DATA_H
#define FILTERS_DATA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io_data.h"

static const struct trod_input_options alone = {.no_thread = true};

/* Filters this build can read and write, one after the other. */
static const struct trod_filter *filter_at(size_t i)
{
    size_t n = 0;
    for (size_t k = 0; trod_filter_at(k); k++)
        if (trod_filter_at(k)->open && trod_filter_at(k)->enc_open && n++ == i)
            return trod_filter_at(k);
    return NULL;
}

/* Reading P with OPT gives EXPECTED, through the filters NAMES ("gzip zstd "). */
static inline void assert_reads(const struct trod_buf *p, const struct trod_input_options *opt,
                                const char *names, const struct trod_buf *expected)
{
    struct data_read r = data_read(p->p, p->n, opt);
    assert_int_equal(r.status, TROD_OK);
    assert_string_equal(r.filters, names);
    assert_true(data_same(&r.bytes, expected));
    trod_buf_fini(&r.bytes);
}

static inline void names_of(char *names, const struct trod_filter *f)
{
    snprintf(names, 100, "%s ", f->name);
}

#endif
