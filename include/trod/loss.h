/*
 * loss.h - the account of what a conversion does not keep: rows by kind, columns by name.
 *
 * Implements docs/design.md, "Rows". A writer has one account for all its files. Encoders add to it
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
 * Flags that count. The others follow from how records were put, or belong to a value. The kind of
 * a branch counts where the output has no opcode that tells it.
 */
enum {
    TROD_LOSS_FLAGS = TROD_F_BRANCH | TROD_F_ISET | TROD_F_SEC | TROD_F_SKIPPED | TROD_F_EXCLUSIVE |
                      TROD_F_UNPRIV | TROD_F_LOCKED | TROD_F_PRIV | TROD_F_SYNTHETIC |
                      TROD_F_KERNEL | TROD_F_NOFETCH | TROD_F_IFETCH | TROD_F_ABORTED |
                      TROD_F_UNCACHED | TROD_F_IO | TROD_F_HOLES
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
    /* Rows that were not written, because the output says the same without them. No loss. */
    uint64_t left[TROD_KINDS];
    /* Rows whose records the encoder copied as they were. */
    uint64_t copied;
    /* Accesses that were written with a made-up address, as the format needs one. */
    uint64_t invented;
    struct trod_loss_first first;
    /* By kind: columns and bits of flags (enum trod_flag) that count as lost in each row. */
    uint32_t watch[TROD_KINDS], watch_flags[TROD_KINDS];
    bool watching; /* some element of watch or watch_flags is not 0 */
    /* The rows of each stream, where a file holds one; of the library. NULL: files hold several. */
    struct trod_loss_streams *streams;
};

/*
 * ROW of B is not written: WHY (static text). It counts as one row of its kind, and none of its
 * columns. L may be NULL: nothing is counted.
 */
void trod_loss_row(struct trod_loss *l, const struct trod_batch *b, uint32_t row, const char *why);

/* What an encoder keeps of a row if its batch may be gone before it knows whether it is written. */
struct trod_loss_held {
    uint64_t ordinal;
    uint32_t columns, flags;
    uint32_t lost; /* columns that trod_loss_columns counted */
    uint8_t kind;
    uint32_t stream;
};
struct trod_loss_held trod_loss_hold(const struct trod_batch *b, uint32_t row);
/* As trod_loss_row, or with WHY NULL as trod_loss_left, for a row that was held. */
void trod_loss_dropped(struct trod_loss *l, const struct trod_loss_held *row, const char *why);

/*
 * ROW of B is written without its COLUMNS; columns that it does not say are not counted. To be
 * called at most once for a row and a column. Returns the columns that were counted.
 */
uint32_t trod_loss_columns(struct trod_loss *l, const struct trod_batch *b, uint32_t row,
                           uint32_t columns, const char *why);

/*
 * ROW of B is written with WRITTEN (enum trod_branch) as the kind of its branch; CODED: and with
 * its opcode, if it has one. It counts as without its flags if it says another one that no opcode
 * tells. COND may become one whose direction is known. Returns the columns that were counted.
 */
uint32_t trod_loss_branch(struct trod_loss *l, const struct trod_batch *b, uint32_t row,
                          unsigned written, bool coded, const char *why);

/* As trod_loss_columns, for a row that was held: what it loses is known only now. */
uint32_t trod_loss_late(struct trod_loss *l, struct trod_loss_held *row, uint32_t columns,
                        const char *why);

/* ROW of B is not written, and nothing is lost by that. */
void trod_loss_left(struct trod_loss *l, const struct trod_batch *b, uint32_t row);

/* An access was written whose address is not known; ORDINAL: of the row it belongs to. */
void trod_loss_invent(struct trod_loss *l, uint64_t ordinal, uint8_t kind, const char *why);

/*
 * Count what is watched in the rows of B, before they are encoded; trod_loss_row takes that back
 * for a row that is not written.
 */
void trod_loss_watch(struct trod_loss *l, const struct trod_batch *b);

/* Number of rows lost; number of values lost in written rows (one for each row and column). */
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
