/*
 * reader_int.h - the inside of a reader.
 */
#ifndef TROD_TRACE_READER_INT_H
#define TROD_TRACE_READER_INT_H

#include "core/diag_own.h"
#include "trace/optspec.h"
#include "trod/reader.h"

struct trod_reader {
    struct trod_input *in;
    struct trod_optspec spec;
    struct trod_meta *meta;
    struct trod_diag *diag;
    struct trod_diag_members members; /* what the diag calls members of this input */
    void *dec;
    size_t dec_size;
    uint32_t file, head;
    uint64_t rows, skipped;
    uint64_t ordinal; /* of the next row: rows, unless the driver knows better */
    size_t want;      /* bytes the next window must have */
    size_t window;    /* bytes that it has, unless they are the last; 0: what is at hand */
    size_t eaten;     /* of the last window, not yet consumed: rows still point into it */
    int failed;       /* returned once the rows before it are delivered */
    bool done;
    bool started; /* the driver's start() was called: stop() is due */
    bool resync;  /* the next window begins in the middle of something */
    bool torn;    /* the next window begins within a line */
    bool made;    /* what is decoded is made of the input's bytes */
    bool passes;  /* rows are not made: the driver's parts->pass goes over the records */

    uint64_t skip; /* rows or instructions to leave out, 0: none */
    bool skip_instructions;
    bool may_jump; /* members of an archive have not been skipped yet */

    size_t part;       /* member to begin with once the head is read; 0: the first */
    uint64_t part_end; /* offset at which the part ends; 0: at the end of the input */
    bool part_last;    /* nothing is left of the part but what the driver waits with */
    bool damaged;      /* what is the end of the part is where a member is damaged */
    uint64_t began;    /* offset at which it begins, of a part by bytes */
    uint64_t from,
        from_file; /* what lies before this in the decoded stream, the file, is not its own */
    bool enters;   /* it has not been gone to yet */
    bool apart;    /* the parts before and behind it are read by decoders of their own */
};

/*
 * reader_skip.c: take the rows that come before what is wanted from the front of B; where members
 * of an archive hold nothing else they are passed over.
 */
void trod_reader_leave_out(struct trod_reader *r, struct trod_batch *b);

/* reader_torn.c: records that damage of the input cuts off. */
/* N bytes behind the EATEN ones are of a record that is cut off there, before damage. */
void trod_reader_tear(struct trod_reader *r, size_t eaten, size_t n);
/*
 * Of SPAN, behind which damage follows, keep the whole lines if the format has lines. False: it has
 * none.
 */
bool trod_reader_whole_lines(const struct trod_reader *r, struct trod_span *span);
/* SPAN begins within a line: pass over it. */
void trod_reader_next_line(struct trod_reader *r, struct trod_span *span);

/* reader_part.c: a part of the input. */
/* The head has been read into B: go on with the first member of the part. */
void trod_reader_enter_part(struct trod_reader *r, struct trod_batch *b);
/* Go to the beginning of the part. False: it is not there. */
bool trod_reader_enter_bytes(struct trod_reader *r);
/* Bytes behind the end of the part that the driver is shown. */
size_t trod_reader_ahead_of(const struct trod_reader *r);
/*
 * Keep of SPAN what belongs to the part, and what the driver is shown behind it. True when nothing
 * belongs to it: the part is over.
 */
bool trod_reader_cut_part(const struct trod_reader *r, struct trod_span *span);
/* Must the part end at its end, for the part behind it begins there by itself? */
bool trod_reader_must_arrive(const struct trod_reader *r);
/*
 * The driver has eaten the bytes before SPAN, some of them from this window: where that is the end
 * of the part, does it arrive? If not, R fails.
 */
void trod_reader_look_at_end(struct trod_reader *r, const struct trod_span *span);

#endif
