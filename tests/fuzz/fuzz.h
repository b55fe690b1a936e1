/*
 * fuzz.h - what fuzz targets include.
 */
#ifndef TROD_FUZZ_H
#define TROD_FUZZ_H

#include "gen.h"
#include "testlib.h"
#include "trod/trod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each target defines LLVMFuzzerTestOneInput; it is entered through budget.c, which has that name.
 */
#define LLVMFuzzerTestOneInput fuzz_input
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* End with a crash that libFuzzer keeps unless OK. */
static inline void fuzz_true(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "fuzz: %s\n", what);
        abort();
    }
}

/*
 * Is a decoder of F that gets N bytes, EVERY at a time, moved each time? States of some megabytes
 * are not where that would take most of the time that an input has (budget.c).
 */
static inline bool fuzz_moves(struct trod_gen *g, const struct trod_format *f, size_t n,
                              size_t every)
{
    const size_t most = (size_t)1 << 28; /* bytes that are moved */

    return gen_below(g, 2) && f->dec_size <= most / (n / every + 1);
}

/* Numbers that follow from the input: what is done with it is a matter of it alone. */
static inline struct trod_gen fuzz_gen(const uint8_t *data, size_t size)
{
    uint64_t h = size;

    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * UINT64_C(0x100000001b3);
    return gen_seed(h);
}

#endif
