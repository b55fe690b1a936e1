/*
 * gen.h - traces of programs whose numbers are known: for teaching, and for testing what reads
 * traces.
 *
 * Implements docs/generating.md, which tells for each pattern what its program does and how its
 * answers follow. A program is a few instructions of the instruction set asked for, as an assembler
 * would write them; what it executes and accesses depends on its options and on nothing else.
 */
#ifndef TROD_GEN_H
#define TROD_GEN_H

#include "trod/format.h"
#include "trod/result.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_gen;

/* A pattern: its name, one line about it, and its options, for `name:key=value,...`. */
struct trod_gen_pattern {
    const char *name, *title;
    const struct trod_option *options;
};

/* Pattern I in the order of listings; NULL past the last. */
const struct trod_gen_pattern *trod_gen_pattern_at(size_t i);

/*
 * Prepare the trace that PATTERN ("name:key=value,...") describes, for a program of ISA
 * (TROD_ISA_UNKNOWN: the usual one of FORMAT). What the trace is goes to META, which the caller has
 * initialized and which must outlive the generator. FORMAT is what will be written; NULL: none is
 * known. Returns 0, TROD_ERR_USAGE (no such pattern, option, value or instruction set) or
 * TROD_ERR_NOMEM; all reported but the last. Release *OUT with trod_gen_free; NULL is allowed.
 */
int trod_gen_new(struct trod_gen **out, const char *pattern, enum trod_isa isa,
                 const struct trod_format *format, struct trod_meta *meta, struct trod_diag *diag);
void trod_gen_free(struct trod_gen *g);

/* Columns that the rows of G have; number of threads or processors that its program runs on. */
uint32_t trod_gen_columns(const struct trod_gen *g);
uint32_t trod_gen_streams(const struct trod_gen *g);

/*
 * The next rows: *BATCH belongs to G and is valid until the next call. Returns 1, 0 at the end, or
 * TROD_ERR_NOMEM.
 */
int trod_gen_next(struct trod_gen *g, struct trod_batch **batch);

/*
 * What analyses must find in the trace, into the open level of R: numbers that follow from the
 * pattern and its options by arithmetic. Some are only known after the last row: those that depend
 * on random numbers, or on how many instructions the instruction set needs. Returns 0 or
 * TROD_ERR_NOMEM.
 */
int trod_gen_answers(const struct trod_gen *g, struct trod_result *r);

#ifdef __cplusplus
}
#endif

#endif
