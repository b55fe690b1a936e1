/*
 * rows.h - one row as one line: the uniform listing, JSON, CSV.
 *
 * All three say the same numbers (docs/design.md, rule 7); what a row does not say is "-" in the
 * listing, left out of JSON and empty in CSV.
 */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "cli.h"

enum {
    CLI_TEXT_MAX = 1 << 16, /* bytes of a text or a value shown; more is cut and marked "..." */
    CLI_LINE_MAX = 10 * CLI_TEXT_MAX /* room a line needs */
};

struct cli_rows {
    bool colour;
    const struct trod_meta *meta;
    struct trod_symbols *symbols; /* NULL: no symbols wanted */
    struct trod_disasm *disasm;   /* NULL: no disassembly wanted */
    bool compact;                 /* narrow terminal: texts follow opcodes without padding */
    unsigned record, time, stream, kind, addr, size, value, symbol, text; /* widths so far */
    bool measured;
};

/* Set the widths from the first rows (KEEP by row), so that most rows fit. */
void cli_rows_measure(struct cli_rows *r, const struct trod_batch *b, const uint8_t *keep,
                      uint64_t record);

/* The header line. */
char *cli_rows_header(const struct cli_rows *r, char *p);
char *cli_csv_header(const struct cli_rows *r, char *p);

/* Row I of B, the RECORDth of the trace, as a line at P; returns the place behind it. */
char *cli_rows_text(struct cli_rows *r, const struct trod_batch *b, uint32_t i, uint64_t record,
                    char *p);
char *cli_rows_json(struct cli_rows *r, const struct trod_batch *b, uint32_t i, uint64_t record,
                    char *p);
char *cli_rows_csv(struct cli_rows *r, const struct trod_batch *b, uint32_t i, uint64_t record,
                   char *p);

/* What the three share. */
static inline bool cli_has(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return (b->have & b->has[i] & column) != 0;
}

/* Opcode bytes as the ISA's manuals write them: words, halfwords or bytes. */
char *cli_put_opcode(const struct cli_rows *r, const struct trod_batch *b, uint32_t i, char *p);
/* Value of row I, "0x..", or decimal where it is a count; P unchanged if it has none. */
char *cli_put_value(const struct trod_batch *b, uint32_t i, char *p);
char *cli_put_time(const struct trod_batch *b, uint32_t i, const struct trod_meta *m, char *p);
/* Unit of row I's time: its name, "" if it has none. */
const char *cli_unit(const struct trod_batch *b, uint32_t i, const struct trod_meta *m);
/* "cpu0", "1234", "#3": up to CLI_NAME_MAX bytes. */
enum { CLI_NAME_MAX = 256 };
char *cli_put_stream(const struct trod_batch *b, uint32_t i, const struct trod_meta *m, char *p);
/* "main+0x10", P unchanged if there is none. */
char *cli_put_symbol(struct cli_rows *r, const struct trod_batch *b, uint32_t i, char *p);
/* The row's text (or its disassembly, or the record itself if it was not understood). */
struct cli_text {
    const char *p;
    size_t n;
    bool cut;
};
struct cli_text cli_text_of(struct cli_rows *r, const struct trod_batch *b, uint32_t i);
/* Names of the flags of row I, at most CLI_FLAGS of them; returns how many. */
enum { CLI_FLAGS = 20 };
size_t cli_flag_names(const struct trod_batch *b, uint32_t i, const char **names);
const char *cli_iset_name(unsigned iset);
const char *cli_sec_name(unsigned sec);
/* What sub means in a row of this kind, NULL if it is just a number. */
const char *cli_sub_name(unsigned kind, unsigned sub);
/* What the detail of a row says beyond the columns, piece by piece. */
enum cli_note_type { CLI_NOTE_TEXT, CLI_NOTE_NUMBER, CLI_NOTE_HEX, CLI_NOTE_FLAG };
struct cli_note {
    const char *name;
    enum cli_note_type type;
    uint64_t number;
    struct cli_text text;
};
enum { CLI_NOTES = 16, CLI_NOTE_TEXT_MAX = 256, CLI_NOTE_MAX = 4 * CLI_NOTE_TEXT_MAX + 64 };
size_t cli_notes_of(const struct trod_batch *b, uint32_t i, struct cli_note *out);
/* "name=value" or "name": up to CLI_NOTE_MAX - 1 bytes. */
char *cli_put_note(const struct cli_note *n, char *p);
/* The bits of row I's value that are unknown, a byte a byte, least significant first; NULL: none.
 */
const uint8_t *cli_unknown_bits(const struct trod_batch *b, uint32_t i, size_t *len);

#endif
