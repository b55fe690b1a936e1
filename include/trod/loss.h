/*
 * loss.h - the account of what a conversion does not keep: rows by kind, columns by name.
 *
 * Implements docs/design.md, "Loss". A writer has one account for all its files. Encoders add to it
 * the rows they cannot write and the columns that do not fit; what a format cannot say of a kind of
 * row at all (struct trod_keeps of format.h) is counted by the writer. Nothing is formatted here.
 */
#ifndef TROD_LOSS_H
#define TROD_LOSS_H

#include "trod/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Flags that count. The others follow from opcodes (kind of branch), from how records were put, or
 * belong to a value.
 */
enum {
    TROD_LOSS_FLAGS = TROD_F_ISET | TROD_F_SEC | TROD_F_SKIPPED | TROD_F_EXCLUSIVE | TROD_F_UNPRIV |
                      TROD_F_LOCKED | TROD_F_PRIV | TROD_F_SYNTHETIC | TROD_F_KERNEL |
                      TROD_F_NOFETCH | TROD_F_IFETCH | TROD_F_ABORTED | TROD_F_UNCACHED |
                      TROD_F_IO | TROD_F_HOLES
};

/* The loss that came first: what a message names. */
struct trod_loss_first {
    const char *why;  /* static, goes on after "row N (KIND): "; NULL: nothing is lost so far */
    uint64_t row;     /* ordinal in the trace that is read */
    uint8_t kind;     /* enum trod_kind */
    uint32_t columns; /* enum trod_column; 0: the whole row */
    uint64_t value;   /* of the column, where it is one of 64-bit numbers */
    bool has_value;
};

struct trod_loss {
    /* Rows that the output does not have. */
    uint64_t rows[TROD_KINDS];
    /* Rows that it has, but without what they said in a column, or with another value there. */
    uint64_t columns[TROD_KINDS][TROD_COLUMNS];
    /* Rows that need not be written: the output says the same without them. No loss. */
    uint64_t left[TROD_KINDS];
    /* Rows whose records the encoder copied as they were. */
    uint64_t copied;
    /* Accesses in the output at an address that nobody knows. */
    uint64_t invented;
    struct trod_loss_first first;
    /* By kind: columns and bits of flags (enum trod_flag) that count as lost in each row. */
    uint32_t watch[TROD_KINDS], watch_flags[TROD_KINDS];
    bool watching; /* some of them are not 0 */
};

/*
 * ROW of B is not written: WHY (static text). It counts as one row of its kind, and none of its
 * columns. L may be NULL: nothing is counted.
 */
void trod_loss_row(struct trod_loss *l, const struct trod_batch *b, uint32_t row, const char *why);

/* What must be kept of a row whose batch goes before its fate is known. */
struct trod_loss_held {
    uint64_t ordinal;
    uint32_t columns, flags;
    uint32_t lost; /* columns that trod_loss_columns counted */
    uint8_t kind;
};
struct trod_loss_held trod_loss_hold(const struct trod_batch *b, uint32_t row);
/* The same for a row that has gone. WHY NULL: nothing is lost by that (trod_loss_left). */
void trod_loss_dropped(struct trod_loss *l, const struct trod_loss_held *row, const char *why);

/*
 * ROW of B is written, but not what it says in COLUMNS (those it does not say do not count). Once a
 * row and column. Returns those that were counted.
 */
uint32_t trod_loss_columns(struct trod_loss *l, const struct trod_batch *b, uint32_t row,
                           uint32_t columns, const char *why);

/* ROW of B is not written, and nothing is lost by that. */
void trod_loss_left(struct trod_loss *l, const struct trod_batch *b, uint32_t row);

/* An access was written whose address is not known; ORDINAL: of the row it belongs to. */
void trod_loss_invent(struct trod_loss *l, uint64_t ordinal, uint8_t kind, const char *why);

/* Count what is watched in the rows of B; encoders take rows back that they do not write. */
void trod_loss_watch(struct trod_loss *l, const struct trod_batch *b);

/* Rows lost, of all kinds; rows with a loss in a column, a row counting once for each column. */
uint64_t trod_loss_rows(const struct trod_loss *l);
uint64_t trod_loss_values(const struct trod_loss *l);
/* Was anything lost or made up? */
bool trod_loss_any(const struct trod_loss *l);

/* What column BIT holds, as users call it: "times", "physical addresses"; static text. */
const char *trod_loss_name(unsigned bit);

#ifdef __cplusplus
}
#endif

#endif
