/*
 * tarmac_gen.h - lines of Tarmac and Trace Matcher traces, drawn piece by piece from a grammar of
 * the record kinds and their variants.
 */
#ifndef TROD_TEST_TARMAC_GEN_H
#define TROD_TEST_TARMAC_GEN_H

#include "gen.h"
#include "trod/buf.h"

enum tarmac_gen {
    TARMAC_GEN_FAST, /* canonical lines, most of them of kinds that the fast path takes */
    TARMAC_GEN_ES,   /* lines of the ES dialect, most of them of kinds that the fast path takes */
    TARMAC_GEN_ANY,  /* every variant */
    TARMAC_GEN_MUTATED, /* every variant, with characters changed here and there */
    TARMAC_GEN_MATCHER
};

/* Append a line of the given sort to OUT. */
void tarmac_gen_line(struct trod_gen *g, enum tarmac_gen sort, struct trod_buf *out);

#endif
