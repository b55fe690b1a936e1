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

/* Numbers that follow from the input: what is done with it is a matter of it alone. */
static inline struct trod_gen fuzz_gen(const uint8_t *data, size_t size)
{
    uint64_t h = size;

    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * UINT64_C(0x100000001b3);
    return gen_seed(h);
}

#endif
