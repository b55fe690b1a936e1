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

/* The columns that are the same in parts: each part numbers streams and units for itself. */
static inline uint32_t prop_mask(void)
{
    return TROD_COL_ALL & ~(uint32_t)(TROD_COL_MADE | TROD_COL_STREAM | TROD_COL_UNIT);
}

/*
 * Can G be read in parts, and is no other format tried in its place? GO_ON: also in parts that go
 * on from what came before.
 */
static inline bool prop_parted(const struct golden *g, bool go_on)
{
    const struct trod_format *f = g->format;

    return (f->parts ? go_on : f->cuts || f->stride) && g->data.n > 0 && !prop_alike(f);
}

/*
 * Call TRY with the bytes of G, then DAMAGES times with some of them drawn anew, of SEED, and the
 * end cut off.
 */
static inline void prop_damaged(const struct golden *g, uint64_t seed, unsigned damages,
                                void (*try)(const struct golden *g, const uint8_t *p, size_t n))
{
    struct trod_gen r = gen_seed(seed);
    uint8_t *bad = malloc(g->data.n);

    assert_non_null(bad);
    try(g, g->data.p, g->data.n);
    for (unsigned i = 0; i < damages; i++) {
        memcpy(bad, g->data.p, g->data.n);
        for (size_t k = 0; k < 1 + g->data.n / 200; k++)
            bad[gen_below(&r, g->data.n)] = (uint8_t)gen_raw(&r, 1);
        try(g, bad, g->data.n - gen_below(&r, 1 + g->data.n / 50));
    }
    free(bad);
}

#endif
