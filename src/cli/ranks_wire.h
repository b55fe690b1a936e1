/*
 * ranks_wire.h - what the ranks of a run tell each other, as bytes.
 *
 * A sequence of frames: what it is (a letter), the length (8 bytes, the lowest first), the bytes.
 */
#ifndef CLI_RANKS_WIRE_H
#define CLI_RANKS_WIRE_H

#include "cli.h"

enum wire_frame {
    WIRE_FILES = 'f',   /* text: the files of a rank, as messages name them */
    WIRE_PROBLEM = 'p', /* a problem: wire_problem */
    WIRE_MORE = 'm',    /* more problems of a kind than were sent: wire_more */
    WIRE_STATE = 's',   /* what trod_run_save wrote */
    WIRE_END = 'e',     /* a number: what the run returned, negated; nothing follows */
    WIRE_DIED = 'd',    /* a number: the process' status as waitpid gives it; nothing follows */
};

int wire_put(struct trod_buf *out, enum wire_frame what, const void *p, size_t n);
int wire_put_number(struct trod_buf *out, enum wire_frame what, uint64_t n);
int wire_put_problem(struct trod_buf *out, const struct trod_problem *p);
int wire_put_more(struct trod_buf *out, const struct trod_diag_count *count, int status);

/*
 * Take a frame off the N bytes at *P: 1, 0 where it is not whole (*P and *N stay). TEXT: its bytes.
 */
int wire_take(const uint8_t **p, size_t *n, enum wire_frame *what, struct trod_span *text);
uint64_t wire_number(struct trod_span text);
/* Tell DIAG. What stands in TEXT must be there as long as DIAG is; it ends with a zero. */
int wire_problem(struct trod_span text, struct trod_diag *diag);
int wire_more(struct trod_span text, struct trod_diag *diag);

#endif
