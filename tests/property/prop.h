/*
 * prop.h - what the property tests include.
 */
#ifndef TROD_TEST_PROP_H
#define TROD_TEST_PROP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cmocka wants the four before it */
#include <cmocka.h>

#include "golden.h"

/* What a golden input is to the decoder. */
static inline struct test_input prop_input(const struct golden *g)
{
    return (struct test_input){.format = g->format, .p = g->data.p, .n = g->data.n};
}

/*
 * Formats whose lines go through the loop of another's: lackey and dinero stand for them where many
 * runs are made.
 */
static inline bool prop_alike(const struct trod_format *f)
{
    static const char *const names[] = {"dinerox",  "pinatrace", "memtrace_x86", "memtrace_simple",
                                        "instrace", "ramulator", "dramsim3"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(f->name, names[i]) == 0)
            return true;
    return false;
}

/* Fail with WHAT and the input's name unless OK. */
static inline void prop_true(bool ok, const struct golden *g, const char *what, uint64_t i)
{
    if (!ok)
        fail_msg("%s: %s (%llu)", g->name, what, (unsigned long long)i);
}

#endif
