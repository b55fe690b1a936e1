/*
 * flame.h - folded stacks: what each stack of functions cost, in one trace or in two, as text and
 * as a picture.
 *
 * Implements docs/navigating.md, "flame". The text is that of Brendan Gregg's stackcollapse
 * scripts: names from the outermost to the innermost with ';' between them, a blank, a number; of
 * two traces two numbers, as flamegraph.pl reads them.
 */
#ifndef TROD_FLAME_H
#define TROD_FLAME_H

#include "trod/diag.h"
#include "trod/result.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_buf;
struct trod_flame;

/* An empty set of stacks. Returns 0 or TROD_ERR_NOMEM. Release it with trod_flame_free; NULL is
 * allowed. */
int trod_flame_new(struct trod_flame **out);
void trod_flame_free(struct trod_flame *f);

/*
 * Add COUNT to the stack of N bytes at STACK ("outer;inner"), in trace SIDE (0: the first or only
 * one, 1: the second). Empty names are left out; a stack without names counts for the sum only.
 * Returns 0 or TROD_ERR_NOMEM.
 */
int trod_flame_add(struct trod_flame *f, const char *stack, size_t n, unsigned side,
                   uint64_t count);

/*
 * Add what the analysis "flame" found: the table "stacks" of R, with the columns "stack" and
 * "count". Returns 0, TROD_ERR_USAGE (R has no such table; not reported) or TROD_ERR_NOMEM.
 */
int trod_flame_add_result(struct trod_flame *f, const struct trod_result *r, unsigned side);

/* The sum of all counts of SIDE. */
uint64_t trod_flame_total(const struct trod_flame *f, unsigned side);

/* Number of stacks with a count in either trace. */
size_t trod_flame_stacks(const struct trod_flame *f);

struct trod_flame_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    bool both;          /* two traces: two numbers, colours for more and less */
    bool normalize;     /* scale the counts of the first so that both sums are equal */
    const char *title;  /* of the picture; NULL: "trod flame" */
    const char *unit;   /* what is counted; NULL: "instructions" */
};

/*
 * The folded text, sorted bytewise, appended to OUT. Stacks without a count are left out. Returns
 * 0, TROD_ERR_USAGE (options of another version) or TROD_ERR_NOMEM.
 */
int trod_flame_folded(const struct trod_flame *f, const struct trod_flame_options *opt,
                      struct trod_buf *out);

/*
 * A flame graph in SVG that needs nothing else: it zooms (click), searches (Ctrl-F) and follows the
 * browser's light or dark colours. Of two traces widths are those of the second; functions that
 * cost more there are red, those that cost less blue. Functions that are narrower than a tenth of a
 * pixel are left out. Returns as trod_flame_folded.
 */
int trod_flame_svg(const struct trod_flame *f, const struct trod_flame_options *opt,
                   struct trod_buf *out);

/*
 * Call CALL for each stack, in the order of the folded text, with its counts in both traces. An
 * error of CALL ends that and is returned. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_flame_each(const struct trod_flame *f,
                    int (*call)(void *user, const char *stack, size_t n, const uint64_t count[2]),
                    void *user);

#ifdef __cplusplus
}
#endif

#endif
