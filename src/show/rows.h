/*
 * rows.h - what the listing, JSON and CSV of rows share.
 *
 * Implements trod/show.h, with rows.c, rows_again.c, rows_detail.c, rows_json.c and rows_text.c.
 */
#ifndef TROD_SHOW_ROWS_H
#define TROD_SHOW_ROWS_H

#include "trod/detail.h"
#include "trod/put.h"
#include "trod/show.h"

/* Pieces of lines that come again (rows_again.c). Texts are copied 32 bytes at a time. */
enum {
    SHOW_FRONT = 96,
    SHOW_NUMBER = 32, /* with what stands behind it */
    SHOW_HEAD = 224,  /* at least a number and a front */
    SHOW_REST = 192,
    SHOW_PLACE_BITS = 16,
    SHOW_SHAPES = 32,
    SHOW_CODE = 16,
    SHOW_TAIL = 16
};

/* From time to kind, by kind: where stream and time are the same. */
struct show_front {
    uint64_t time;
    uint32_t stream, made, len; /* len 0: none */
    char text[SHOW_FRONT];
};

/* A number, of which only the last three digits differ among a thousand, and what is around it. */
struct show_number {
    uint64_t thousands; /* the number with 000 at its end */
    uint64_t span;      /* it is right for so many numbers from there on: 1000, or 0 */
    uint64_t len, last; /* of all; where the last three digits are */
    char text[SHOW_HEAD];
};

/* What the rest of a line follows from, besides the opcode and the addresses. */
struct show_seen {
    uint32_t made, size, flags, sub;
};

/*
 * From address to "index=", of an instruction of these opcode bytes. While all rows of the trace
 * are shown in order it is enough that they lie where they did (trod/types.h: shared slices).
 */
struct show_site {
    uint64_t addr;
    struct trod_slice code;
    struct show_seen seen;
    uint8_t bytes[SHOW_CODE];
    uint64_t len;
    uint64_t unused; /* the size is a power of two */
    char text[SHOW_REST];
};

/* The same of an access: between the digits of its address and of the instruction's; behind. */
struct show_shape {
    struct show_seen seen;
    uint64_t pc_least, pc_span; /* addresses of instructions that have PC_DIGITS digits */
    uint32_t pc_digits, len, tail_len;
    char text[SHOW_REST], tail[SHOW_TAIL];
};

/* What all pieces depend on, and the number of those that were made for it. */
struct show_made {
    const uint8_t *shared;
    unsigned width[8];
    uint32_t unit, number, file, zero;
};

struct trod_show {
    const struct trod_meta *meta;
    struct trod_symbols *symbols; /* NULL: no symbols wanted */
    struct trod_disasm *disasm;   /* NULL: no disassembly wanted */
    enum trod_show_times times;
    /* by trod_time_class: the time that the row's is counted from, and that of the last row shown
     */
    struct show_time {
        uint64_t since, last;
        uint8_t since_unit, last_unit;
        bool known; /* a row with such a time was shown */
    } clock[16];
    bool colour;
    bool compact; /* narrow terminal: texts follow opcodes without padding */
    unsigned record, time, stream, kind, addr, size, value, symbol, text; /* widths so far */
    char *pc_at, *index_at; /* where the last row that was formatted has them in its notes */
    struct show_made made;
    char thousand[2][1000][4]; /* three digits, and the character behind the number */
    struct show_number last_record, last_index;
    uint64_t run_time; /* of the rows that the heads are right for */
    uint32_t run_stream;
    bool has_heads;
    struct show_number head[TROD_KINDS]; /* from the record's number to the kind */
    struct show_front front[TROD_KINDS];
    struct show_shape shape[SHOW_SHAPES];
    struct show_site *site; /* NULL: not needed so far */
    uint64_t next;          /* the row behind the last one shown, where there are sites */
    bool gaps;              /* rows were left out since the first of them */
};

#define SHOW_PLAIN "\033[0m" /* the end of colours */

static inline bool show_has(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return (b->have & b->has[i] & column) != 0;
}

/* rows_text.c: the columns from the time to the kind, and the blanks around them. */
char *show_make_front(struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p);
/* The columns from the address on, the notes and the end of the line. */
char *show_make_rest(struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p);
/* rows_again.c: before the first line. */
void show_prepare(struct trod_show *r);
/* Widths of columns have changed that pieces do not say. */
void show_forget(struct trod_show *r);
/* Digits that the listing gives an address: 8, 12 or 16. */
unsigned show_address_digits(uint64_t v);
/* Opcode bytes as the ISA's manuals write them: words, halfwords or bytes. */
char *show_put_opcode(const struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p);
/* Value of row I, "0x..", or decimal where it is a count; P unchanged if it has none. */
char *show_put_value(const struct trod_batch *b, uint32_t i, char *p);
char *show_put_time(const struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p);
/* Row I is shown next: what its time is counted from. */
void show_turn(struct trod_show *r, const struct trod_batch *b, uint32_t i);
/* Unit of row I's time: its name, "" if it has none. */
const char *show_unit(const struct trod_batch *b, uint32_t i, const struct trod_meta *m);
/* "cpu0", "1234", "#3": up to SHOW_NAME_MAX bytes. */
enum { SHOW_NAME_MAX = 256 };
char *show_put_stream(const struct trod_batch *b, uint32_t i, const struct trod_meta *m, char *p);
/* "main+0x10", P unchanged if there is none. */
char *show_put_symbol(struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p);
/* The row's text (or its disassembly, or the record itself if it was not understood). */
struct show_text {
    const char *p;
    size_t n;
    bool cut;
};
struct show_text show_text_of(struct trod_show *r, const struct trod_batch *b, uint32_t i);
/* Names of the flags of row I, at most SHOW_FLAGS of them; returns how many. */
enum { SHOW_FLAGS = 20 };
size_t show_flag_names(const struct trod_batch *b, uint32_t i, const char **names);
/* NULL: none. */
const char *show_iset_name(unsigned iset);
const char *show_sec_name(unsigned sec);
/* What sub means in a row of this kind, NULL if it is just a number. */
const char *show_sub_name(unsigned kind, unsigned sub);
/* What the trace's format calls the record of row I, NULL if it has no name for it. */
const char *show_record_name(const struct trod_batch *b, uint32_t i);
/* What the streams of the trace are: "cpu", "thread", "agent". */
const char *show_stream_word(const struct trod_meta *m);
/* What the detail of a row says beyond the columns, piece by piece. */
enum show_note_type {
    SHOW_NOTE_TEXT,
    SHOW_NOTE_NUMBER,
    SHOW_NOTE_SIGNED, /* number is one of 64 bits in two's complement */
    SHOW_NOTE_HEX,
    SHOW_NOTE_BYTE, /* two digits */
    SHOW_NOTE_FLAG
};
struct show_note {
    const char *name;
    enum show_note_type type;
    uint64_t number;
    struct show_text text;
};
enum { SHOW_NOTES = 16, SHOW_NOTE_TEXT_MAX = 256, SHOW_NOTE_MAX = 4 * SHOW_NOTE_TEXT_MAX + 64 };
size_t show_notes_of(const struct trod_batch *b, uint32_t i, struct show_note *out);
/* "name=value" or "name": up to SHOW_NOTE_MAX - 1 bytes. */
/* V, a number of 64 bits in two's complement, in decimal. */
char *show_put_signed(char *p, uint64_t v);
char *show_put_note(const struct show_note *n, char *p);
/* What a record says of the digits of its value that are not known. */
struct show_unknown {
    const uint8_t *mask; /* a byte a byte, least significant first; NULL: see whole */
    size_t n;
    const uint8_t *unwritten; /* those of mask that are not written; NULL: all (dashes) or none */
    size_t unwritten_n;
    bool whole;    /* no digit is known */
    bool dashes;   /* they stand for what is not written */
    size_t digits; /* of the value as written, where not two a byte; else 0 */
};
/* Fill OUT for row I; false: all of its value is known. */
bool show_unknown_digits(const struct trod_batch *b, uint32_t i, struct show_unknown *out);

#endif
