/*
 * csv.h - tables of rows as CSV: the columns, and what the files of the driver share.
 *
 * Implements docs/formats/csv.md.
 */
#ifndef TROD_FORMAT_CSV_H
#define TROD_FORMAT_CSV_H

#include "format/streams.h"
#include "trod/format.h"
#include "trod/loss.h"

enum {
    CSV_FIELDS_MAX = 64,
    CSV_NAMES_MAX = 1 << 10, /* bytes of the names of unknown columns */
    CSV_RECORD_MAX = 1 << 16 /* bytes of a record with its line end */
};

/* What a column of the table holds. */
enum csv_field {
    CSV_ROW,
    CSV_KIND,
    CSV_STREAM,
    CSV_TIME,
    CSV_UNIT,
    CSV_INDEX,
    CSV_PC,
    CSV_ADDR,
    CSV_SIZE,
    CSV_VALUE,
    CSV_TARGET,
    CSV_CODE,
    CSV_TEXT,
    CSV_USUAL, /* those before stand in every table that is written */
    CSV_PADDR = CSV_USUAL,
    CSV_SUB,
    CSV_FLAGS,
    CSV_DATA,
    CSV_BRANCH, /* behind the usual ones, where the source may say it and CSV_FLAGS does not */
    CSV_FIELDS,
    CSV_UNKNOWN = CSV_FIELDS
};

enum csv_columns { CSV_COLUMNS_AUTO, CSV_COLUMNS_USUAL, CSV_COLUMNS_BRANCH, CSV_COLUMNS_ALL };

struct csv_options {
    int columns;      /* enum csv_columns */
    const char *kind; /* of rows, where the table has no such column */
};

extern const char *const csv_names[CSV_FIELDS];
extern const char *const csv_dialects[]; /* of enum csv_columns, from USUAL on */
extern const struct trod_format trod_format_csv;

enum {
    CSV_COLS = TROD_COL_ALL & ~(TROD_COL_MADE | TROD_COL_DETAIL | TROD_COL_RAW),
};

/* The digit that C is, in upper or lower case; 16 and more: none. */
static inline int csv_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* The kind of branch (enum trod_branch) that NAME (N bytes) is; NONE: it is no such name. */
uint8_t csv_branch(const char *name, size_t n);
int csv_bid(const struct trod_probe *probe, const char **dialect);
int csv_start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
              struct trod_diag *diag);
int csv_decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag);

struct csv_dec {
    struct trod_meta *meta;
    uint64_t lines; /* before the next record */
    uint8_t field[CSV_FIELDS_MAX];
    uint16_t name[CSV_FIELDS_MAX]; /* of unknown columns: place in names */
    char names[CSV_NAMES_MAX];
    uint8_t n_fields, kind;
    char stream[24], unit[24]; /* the names that stood there last, and their numbers + 1 */
    uint8_t stream_n, unit_n;
    int stream_is, unit_is;
    bool headed, skipping; /* the head is behind; in a line that is too long */
};

struct csv_enc {
    const struct trod_meta *meta;
    struct trod_loss *loss;
    uint64_t row;
    struct fmt_last_pc last;
    bool all, branch;
    bool own, begun; /* own: the source is a table as well */
};

int csv_begin(void *enc, const void *opt, const struct trod_meta *meta, struct trod_diag *diag);
int csv_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
               struct trod_diag *diag);
int csv_finish(void *enc, struct trod_room *out, struct trod_diag *diag);
int csv_target(void *enc, const struct trod_target *t, struct trod_diag *diag);
void csv_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k);
void csv_drop(void *enc);

#endif
