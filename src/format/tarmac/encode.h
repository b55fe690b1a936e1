/*
 * encode.h - what the parts of the Tarmac and Trace Matcher encoder share.
 *
 * The functions below that put text check no bounds: before a row is written tm_encode makes sure
 * that the room holds the most bytes that it can need.
 */
#ifndef TROD_FORMAT_TARMAC_ENCODE_H
#define TROD_FORMAT_TARMAC_ENCODE_H

#include "core/endian.h"
#include "format/streams.h"
#include "format/tarmac/tarmac.h"
#include "trod/loss.h"

enum { TM_COUNTS = 64 };

#define TM_NO_STREAM UINT32_MAX

struct tm_enc {
    const struct tm_flavour *flavour;
    struct tm_options opt;
    const struct trod_meta *meta;
    int dialect;       /* enum tm_dialect */
    bool same;         /* rows come from the same dialect: repeat how they were written */
    bool read;         /* rows come from Tarmac or Trace Matcher text */
    bool own;          /* they do, or come from no trace: nothing is made up for them */
    bool from_matcher; /* rows come from Trace Matcher: cpus are numbers */
    bool fill;         /* lines without a time get that of the line before (from es to others) */
    bool gather;       /* lines of the same time go without it (from others to es) */
    uint8_t iset;      /* letter for rows that name no instruction set */
    /* what a reader knows behind the last line, and gives to a line that does not say it */
    bool timed;   /* time and unit */
    bool sourced; /* lines at the beginning name cpus: see tm_inherits_stream */
    uint8_t unit;
    uint8_t picture;      /* kind of the picture that the last line was, or 0 */
    uint32_t last_stream; /* of the last line that named one; TM_NO_STREAM: none */
    uint32_t picture_column;
    uint64_t time;
    uint64_t lines;            /* before the first that names a cpu */
    uint64_t instructions;     /* written so far */
    uint64_t count[TM_COUNTS]; /* instructions written so far: the index for rows that have none */
    uint64_t omitted;          /* rows whose details this form of line cannot hold */
    uint64_t secure;           /* physical addresses that are written as secure, and said neither */
    uint64_t guessed;          /* instructions written with a set that nothing shows */
    uint64_t unsized;          /* accesses that are written with a size, and said none */
    struct trod_loss *loss;
    struct fmt_last_pc last; /* of rows of other formats */
    struct fmt_aims aims;
    uint32_t asked;  /* stream of the last answer of tm_keeps_name, + 1; 0: none */
    bool keeps_name; /* that answer */
};

/* Is TIME in UNIT what a line has that says no time? */
static inline bool tm_knows_time(const struct tm_enc *e, uint64_t time, uint8_t unit)
{
    return e->timed && time == e->time && unit == e->unit;
}

/* Is STREAM what a register write or an access has that names no cpu? */
static inline bool tm_knows_stream(const struct tm_enc *e, uint32_t stream)
{
    return e->sourced && stream == e->last_stream;
}

/* A row being written. */
struct tm_put {
    struct tm_enc *e;
    const struct trod_batch *b;
    uint32_t row, n; /* first row and count of the record */
    uint32_t has, flags;
    const void *detail; /* of the struct that its kind has in tarmac and matcher, or NULL */
    bool glued;         /* its line has begun with a register */
    uint8_t *p, *line;  /* where to write; where the line begins */
    struct trod_diag *diag;
};

static inline void tm_putc(struct tm_put *o, char c)
{
    *o->p++ = (uint8_t)c;
}

static inline void tm_puts(struct tm_put *o, const char *s)
{
    size_t n = strlen(s);

    memcpy(o->p, s, n);
    o->p += n;
}

static inline void tm_put_bytes(struct tm_put *o, const uint8_t *p, size_t n)
{
    memcpy(o->p, p, n);
    o->p += n;
}

static inline void tm_put_slice(struct tm_put *o, struct trod_slice s)
{
    if (s.len)
        tm_put_bytes(o, trod_batch_bytes(o->b, s), s.len);
}

static inline void tm_put_blanks(struct tm_put *o, size_t n)
{
    memset(o->p, ' ', n);
    o->p += n;
}

/* The 8 hex digits of V as they lie in memory; LETTER is 39 for lower case, 7 for upper case. */
static inline uint64_t tm_hex8(uint32_t v, uint64_t letter)
{
    uint64_t x = __builtin_bswap32(v), over;

    x = (x & 0xffff) | (x & 0xffff0000) << 16;
    x = (x & 0x000000ff000000ff) | (x & 0x0000ff000000ff00) << 8;
    x = (x & 0x000f000f000f000f) << 8 | (x & 0x00f000f000f000f0) >> 4;
    over = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
    return x + 0x3030303030303030 + over * letter;
}

/* V in DIGITS (up to 16) hex digits. May touch 16 bytes. */
static inline void tm_put_hex(struct tm_put *o, uint64_t v, unsigned digits, bool upper)
{
    uint64_t letter = upper ? 7 : 39;
    uint8_t text[16];

    if (digits == 8) {
        trod_store_le64(o->p, tm_hex8((uint32_t)v, letter));
    } else {
        trod_store_le64(text, tm_hex8((uint32_t)(v >> 32), letter));
        trod_store_le64(text + 8, tm_hex8((uint32_t)v, letter));
        memcpy(o->p, text + 16 - digits, digits);
    }
    o->p += digits;
}

/* encode.c */
void tm_put_decimal(struct tm_put *o, uint64_t v);
void tm_put_vaddr(struct tm_put *o, uint64_t v, unsigned digits, bool upper);
void tm_put_paddr(struct tm_put *o, uint64_t v, unsigned digits, bool upper);
void tm_put_sec(struct tm_put *o, unsigned sec);
void tm_put_name(struct tm_put *o, struct trod_slice s, const char *none);
/* The row is written without what it says in COLUMNS: WHY is static text. */
void tm_lose(struct tm_put *o, uint32_t columns, const char *why);
/* Count the row if details of it were left out (LEFT_OUT): it is reported at the end. */
static inline void tm_leave_out(struct tm_put *o, bool left_out)
{
    o->e->omitted += left_out;
}
uint32_t tm_row_size(const struct tm_put *o, uint32_t row);
/* O is about N rows from ROW on. */
void tm_look_at(struct tm_put *o, uint32_t row, uint32_t n);
/* Is access I written as a picture? Accesses read from pictures are; in es some others are, too. */
bool tm_pictured(const struct tm_enc *e, const struct trod_batch *b, uint32_t i);

/* A number of SIZE bytes, least significant first at P (NULL: not known), MASK (NULL: none). */
struct tm_number {
    const uint8_t *p, *mask;
    const uint8_t *unwritten; /* those of mask that are dashes, or NULL */
    uint32_t unwritten_len;
    uint32_t len;    /* bytes at p and mask; what is behind them is zero */
    uint32_t digits; /* to be written */
    char sep;        /* 0: none */
    unsigned group;
    bool upper, prefix;
    bool reversed; /* the first digits are of the byte at p */
    bool words;    /* 8 bytes whose halves are in address order */
    char mark;     /* for digits that are not known */
};
void tm_put_number(struct tm_put *o, const struct tm_number *n);
/*
 * The number in ROW's value or data, DIVIDED as the dialect divides numbers from so many digits on.
 */
void tm_row_number(const struct tm_put *o, uint32_t row, const struct trod_detail_number *style,
                   struct trod_slice mask, uint32_t size, uint8_t *memory, struct tm_number *n);

/* Which of its unknown digits are dashes, as the slice S of a detail says. */
static inline void tm_number_unwritten(const struct tm_put *o, struct trod_slice s,
                                       struct tm_number *n)
{
    n->unwritten = s.len ? trod_batch_bytes(o->b, s) : NULL;
    n->unwritten_len = s.len;
}

/* Are all letters of the name of STREAM written, in lines of another format's rows? */
bool tm_ask_name(struct tm_enc *e, uint32_t stream);
static inline bool tm_keeps_name(struct tm_enc *e, uint32_t stream)
{
    return e->asked == stream + 1 ? e->keeps_name : tm_ask_name(e, stream);
}
/* Head of a line: time, unit, source; a blank behind it. */
void tm_put_head(struct tm_put *o, bool instruction);
/* Does the line say a time or a cpu, and not leave both to the line before? */
bool tm_says_head(const struct tm_put *o);
/* The line of O has been written as it was read: what a reader knows behind it. */
void tm_follow(const struct tm_put *o);

/* enc_copy.c: see copies in format.h */
uint32_t tm_copies(void *enc, const struct trod_batch *b, uint32_t from, uint32_t n);

/* enc_*.c: each writes the record, or returns false: it cannot be written (nothing is). */
bool tm_write_instr(struct tm_put *o);
bool tm_write_branch(struct tm_put *o);
bool tm_write_reg(struct tm_put *o);
bool tm_write_mem(struct tm_put *o);
bool tm_write_pictures(struct tm_put *o);
bool tm_write_atomic(struct tm_put *o);
bool tm_write_bus(struct tm_put *o);
bool tm_write_cache_op(struct tm_put *o);
bool tm_write_cache_line(struct tm_put *o);
bool tm_write_walk(struct tm_put *o);
bool tm_write_tlb(struct tm_put *o);
bool tm_write_event(struct tm_put *o);

int tm_begin_encoding(struct tm_enc *e, const struct tm_flavour *flavour,
                      const struct tm_options *opt, const struct trod_meta *meta);
int tm_encode(void *enc, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
              struct trod_diag *diag);
int tm_target(void *enc, const struct trod_target *target, struct trod_diag *diag);
/* DIALECT: enum tm_dialect, -1: Trace Matcher. */
void tm_keeps(int dialect, const struct trod_meta *meta, struct trod_keeps *keeps);
/* The dialect that is written with OPT. */
int tm_written_dialect(const struct tm_options *opt, const struct trod_meta *meta);
void tm_drop(void *enc);
int tm_finish(void *enc, struct trod_room *out, struct trod_diag *diag);

#endif
