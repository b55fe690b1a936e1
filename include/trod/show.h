/*
 * show.h - rows and problems as text: what `trod view` prints.
 *
 * A row is a line of the uniform listing, a JSON object or a CSV record; all three say the same
 * numbers (docs/design.md, rule 7). What a row does not say is "-" in the listing, left out of JSON
 * and empty in CSV. Nothing is allocated or printed a row: the caller gives the room.
 */
#ifndef TROD_SHOW_H
#define TROD_SHOW_H

#include "trod/batch.h"
#include "trod/buf.h"
#include "trod/disasm.h"
#include "trod/meta.h"
#include "trod/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TROD_SHOW_TEXT = 1 << 16, /* bytes of a text or a value shown; more is cut and marked "..." */
    TROD_SHOW_LINE = 10 * TROD_SHOW_TEXT /* room that a line needs, in bytes */
};

/* What times are counted from. */
enum trod_show_times {
    TROD_SHOW_ABSOLUTE, /* as the trace has them */
    TROD_SHOW_START,    /* since the first row shown */
    TROD_SHOW_PREVIOUS  /* since the row with a time that was shown before */
};

/* How rows are shown; what is pointed to must outlive the struct trod_show. */
struct trod_show_options {
    size_t struct_size;           /* sizeof the struct; 0 stands for its size in version 0 */
    const struct trod_meta *meta; /* of the trace whose rows are shown; required */
    struct trod_symbols *symbols; /* NULL: no column of symbols */
    enum trod_show_times times;
    bool colour;  /* listing: with the escape sequences of terminals */
    bool compact; /* listing: for narrow terminals, less padding */
};

struct trod_show;

/*
 * Returns 0, TROD_ERR_USAGE (options of another version) or TROD_ERR_NOMEM. Release it with
 * trod_show_free; NULL is allowed.
 */
int trod_show_new(struct trod_show **out, const struct trod_show_options *opt);
void trod_show_free(struct trod_show *s);

/* Disassemble instructions that have opcodes and no text with D, which stays the caller's. */
void trod_show_disasm(struct trod_show *s, struct trod_disasm *d);

/*
 * Set the widths of the listing's columns from the rows of B that KEEP (a byte by row) names, so
 * that most rows fit; RECORD is the number of its first row. Once, before the first line.
 */
void trod_show_measure(struct trod_show *s, const struct trod_batch *b, const uint8_t *keep,
                       uint64_t record);

/*
 * A column of the listing becomes wider where a row needs it, for all lines after it.
 * trod_show_widths reads the widths, trod_show_widen makes columns at least so wide. With equal
 * widths and TROD_SHOW_ABSOLUTE two struct trod_show give the same lines, so that several threads
 * can share a listing.
 */
enum { TROD_SHOW_WIDTHS = 9 };
void trod_show_widths(const struct trod_show *s, uint8_t width[TROD_SHOW_WIDTHS]);
void trod_show_widen(struct trod_show *s, const uint8_t width[TROD_SHOW_WIDTHS]);

/* The line with the names of the columns at P, which has room for TROD_SHOW_LINE bytes; returns the
 * place after it. */
char *trod_show_header(const struct trod_show *s, char *p);
char *trod_show_csv_header(const struct trod_show *s, char *p);

/*
 * Row I of B, the RECORDth of the trace, as a line with its line end at P, which has room for
 * TROD_SHOW_LINE bytes; returns the place after it. The listing, JSON, CSV (RFC 4180).
 */
char *trod_show_text(struct trod_show *s, const struct trod_batch *b, uint32_t i, uint64_t record,
                     char *p);
char *trod_show_json(struct trod_show *s, const struct trod_batch *b, uint32_t i, uint64_t record,
                     char *p);
char *trod_show_csv(struct trod_show *s, const struct trod_batch *b, uint32_t i, uint64_t record,
                    char *p);

/*
 * The listing of the rows of B from *ROW on that KEEP (a byte by row) names, RECORD being the
 * number of B's first row: the lines that trod_show_text gives, at P, as long as there is room for
 * one of TROD_SHOW_LINE bytes before END. *ROW becomes the row after the last one that was looked
 * at; returns the place after the last line.
 */
char *trod_show_lines(struct trod_show *s, const struct trod_batch *b, const uint8_t *keep,
                      uint64_t record, uint32_t *row, char *p, const char *end);

/* How a problem is shown. */
struct trod_show_problem {
    size_t struct_size;          /* sizeof the struct; 0 stands for its size in version 0 */
    const char *program;         /* stands before the first line, as in "trod: "; NULL: nothing */
    enum trod_severity severity; /* shown instead of the problem's own */
    bool colour;                 /* with the escape sequences of terminals */
};

/*
 * Problem P as lines: place, severity, message, position, and where there is one the line at fault
 * with a caret (docs/design.md, "Errors"). OPT may be NULL: P's own severity, nothing before it, no
 * colour. Appends to OUT. Returns 0, TROD_ERR_USAGE (OPT is of another version) or TROD_ERR_NOMEM.
 */
int trod_show_problem(struct trod_buf *out, const struct trod_problem *p,
                      const struct trod_show_problem *opt);

#ifdef __cplusplus
}
#endif

#endif
