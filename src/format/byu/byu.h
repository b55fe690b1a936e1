/*
 * byu.h - what the two BYU drivers share: records of a fixed size (records.c), and rows of any
 * format taken apart into bus references (rows.c).
 *
 * Implements docs/formats/byu.md, "Writing rows of other formats".
 */
#ifndef TROD_FORMAT_BYU_H
#define TROD_FORMAT_BYU_H

#include "trod/format.h"
#include "trod/loss.h"

enum { BYU_WORD = 8, BYU_SPAN_MAX = 1 << 16 }; /* bytes of a bus word; of the largest row written */

extern const struct trod_format trod_format_byu6, trod_format_byu12;

/*
 * Reading records of F. byu_records_begin() says how many records of IN go into OUT and fills the
 * columns that never change; when the driver has filled the others, byu_records_end() takes N
 * records from IN and returns what decode() does. TRUNCATED: the kind of message when IN is the end
 * of a trace and of a part of a record.
 */
uint32_t byu_records_begin(const struct trod_format *f, const struct trod_span *in,
                           struct trod_batch *out);
int byu_records_end(const struct trod_format *f, const char *truncated, uint32_t n,
                    struct trod_span *in, struct trod_batch *out, struct trod_diag *diag);

/* Records that were met, for detection: what a loop brings again is no evidence. */
enum { BYU_SEEN = 1024, BYU_WAYS = 4 };

struct byu_seen {
    /* by hash, what is left of it; the one met last comes first; 0: none */
    uint32_t place[BYU_SEEN][BYU_WAYS];
};

/* Was no record of ADDRESS and what else it says, REST, met? It is from here on. */
bool byu_is_new(struct byu_seen *s, uint32_t address, uint32_t rest);

/* Put the N characters of LINE into OUT; returns what native() does. */
int byu_line(struct trod_room *out, const char *line, int n);

/* What a reference does, in neither format's code. */
enum byu_op {
    BYU_NONE, /* no reference */
    BYU_FETCH,
    BYU_READ,
    BYU_READ_OWN, /* read for ownership */
    BYU_WRITE,
    BYU_IO_READ,
    BYU_IO_WRITE,
    BYU_INT_ACK,
    BYU_SHUTDOWN,
    BYU_FLUSH,
    BYU_HALT,
    BYU_SYNC,
    BYU_FLUSH_ACK,
    BYU_BRANCH_TRACE,
    BYU_OPS
};

/*
 * One reference: bytes first to first + n - 1 of the bus word at address, and of those behind it
 * where the format written has such transfers. n may be 0.
 */
struct byu_reference {
    uint32_t address; /* a multiple of BYU_WORD */
    uint8_t first, n;
    uint8_t op; /* enum byu_op */
    bool uncached;
    bool begins; /* the first one of its row */
};

/* Which format wrote the rows: then their detail says more than the columns. */
enum byu_source { BYU_FROM_OTHER, BYU_FROM_6, BYU_FROM_12 };

/* The state of writing: plain data. */
struct byu_rows {
    const char *name; /* of the format written, for messages */
    struct trod_loss *loss;
    uint32_t done;  /* bytes of the row at hand that are written */
    uint8_t pass;   /* which of the references of an atomic access */
    uint8_t source; /* enum byu_source */
    bool twelve;    /* byu12 is written: transfers of 16 and 32 bytes are one reference */
    bool fetches;   /* instructions are written as fetches */
    bool recorded;  /* rows are a recorder's: of a bus it gives what a bus has */
    bool said_virtual;
};

/* Options of writing, the same for both formats. */
struct byu_options {
    bool fetch;
};
extern const struct trod_option byu_options[];
extern const struct byu_options byu_defaults;

/* What rows of META's format keep in the format called NAME. */
void byu_rows_keeps(const char *name, const struct trod_meta *meta, struct trod_keeps *keeps);

/* Prepare R to write NAME with options OPT from rows of META (may be NULL). */
void byu_rows_begin(struct byu_rows *r, const char *name, const struct byu_options *opt,
                    const struct trod_meta *meta);

/*
 * The next reference of ROW of B. Returns false when there is none left: then the row is done.
 * What cannot be written is counted as lost.
 */
bool byu_rows_next(struct byu_rows *r, const struct trod_batch *b, uint32_t row,
                   struct byu_reference *ref, struct trod_diag *diag);

#endif
