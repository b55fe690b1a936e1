/*
 * cells.h - cells of result tables that several analyses have.
 */
#ifndef TROD_ANALYSIS_CELLS_H
#define TROD_ANALYSIS_CELLS_H

#include "trod/result.h"

#include <inttypes.h>
#include <stdio.h>

/* V, or nothing where it is not SAID. */
static inline void cell_optional(struct trod_result *r, bool said, uint64_t v)
{
    if (said)
        trod_result_u64(r, NULL, v);
    else
        trod_result_absent(r);
}

/* The same in hexadecimal. */
static inline void cell_optional_hex(struct trod_result *r, bool said, uint64_t v)
{
    if (said)
        trod_result_hex(r, NULL, v);
    else
        trod_result_absent(r);
}

/* A text, or nothing where it is NULL. */
static inline void cell_text(struct trod_result *r, const char *text)
{
    if (text)
        trod_result_str(r, NULL, text);
    else
        trod_result_absent(r);
}

/* The N (at most 16) arguments of a call: "0x1, 0x20"; nothing where there are none. */
static inline void cell_arguments(struct trod_result *r, const uint64_t *arg, unsigned n)
{
    char text[16 * 20 + 1];
    int at = 0;

    for (unsigned k = 0; k < n && k < 16; k++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s0x%" PRIx64, k ? ", " : "", arg[k]);
    cell_text(r, n ? text : NULL);
}

#endif
