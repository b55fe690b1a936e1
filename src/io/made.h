/*
 * made.h - an input whose bytes are made of another one by more than a filter knows.
 *
 * What makes them may need other files and a decoder of instructions (raw traces of DynamoRIO);
 * filters (filter.h) know nothing but their bytes.
 */
#ifndef TROD_IO_MADE_H
#define TROD_IO_MADE_H

#include "fault.h"
#include "source.h"
#include "trod/io.h"

struct trod_maker {
    /*
     * Up to CAP bytes to OUT, *N says how many; 0 with TROD_OK is the end. Called by whoever reads
     * the input, on its thread. Errors go to FAULT.
     */
    int (*make)(void *state, uint8_t *out, size_t cap, size_t *n, struct trod_fault *fault);
    void (*close)(void *state);
};

/*
 * *OUT is an input of what M makes of OF, which it owns from here on, as it does STATE; both also
 * when this fails. It has OF's path, and progress is OF's.
 */
int trod_input_made(struct trod_input **out, struct trod_input *of, const struct trod_maker *m,
                    void *state, struct trod_diag *diag);

/* The state of M if it makes IN, else NULL. */
void *trod_input_maker(const struct trod_input *in, const struct trod_maker *m);

/* made.c: its source. S owns STATE and OF. Returns 0 or TROD_ERR_NOMEM, all released. */
int trod_source_made(struct trod_source *s, struct trod_input *of, const struct trod_maker *m,
                     void *state, struct trod_fault *fault);
/* What S is made of; NULL: S is no such source. */
struct trod_input *trod_source_maker_of(const struct trod_source *s);
/* The state of M if S is made by it, else NULL. */
void *trod_source_maker(const struct trod_source *s, const struct trod_maker *m);

#endif
