/*
 * tarmac.h - what the parts of the Tarmac and Trace Matcher drivers share.
 *
 * One decoder and one encoder serve both formats: struct tm_flavour holds what differs (docs/
 * formats/tarmac.md, docs/formats/trace-matcher.md). A line is cut up by the cursor functions of
 * line.c, understood by one of the tm_parse_* functions, and becomes one or more rows.
 */
#ifndef TROD_FORMAT_TARMAC_TARMAC_H
#define TROD_FORMAT_TARMAC_TARMAC_H

#include "format/tarmac/form.h"
#include "trod/detail.h"
#include "trod/format.h"

#include <string.h>

enum tm_dialect { TM_FM, TM_ES, TM_GEM5, TM_DIALECTS };

/* AUTO: reading: little; writing: that of the trace. */
enum tm_endian { TM_AUTO, TM_LITTLE, TM_BIG };

/* Problems: index into tm_flavour.problems. */
enum tm_problem {
    TM_BAD_TIME,
    TM_BAD_NUMBER,
    TM_BAD_FIELD,
    TM_MISSING_FIELD,
    TM_TOO_WIDE,
    TM_LONG_LINE,
    TM_TRUNCATED,
    TM_TOO_MANY_STREAMS,
    TM_TOO_MANY_UNITS,
    TM_SHORT_VALUE,
    TM_PROBLEMS
};

/* What tells the formats apart. */
struct tm_flavour {
    const char *name;
    bool matcher; /* X: privileged access; numbers of cpus; undivided data */
    const char *const *problems;
};

struct tm_options {
    int dialect; /* 0: as detected (reading), fm (writing); else enum tm_dialect + 1 */
    int iset;    /* of instruction lines that name none: 0 by width, 1 arm, 2 thumb */
    int endian;  /* enum tm_endian */
    int isa;     /* matcher only: 0 or enum trod_isa, by the table of its option */
};

/*
 * Are opcodes that were read with options IN the same text when they are written with OUT? NULL:
 * all options have their defaults.
 */
static inline bool tm_same_order(const struct tm_options *in, const struct tm_options *out)
{
    const bool big = in && in->endian == TM_BIG;

    return !out || out->endian == TM_AUTO || (out->endian == TM_BIG) == big;
}

enum {
    TM_HEAD_LINES = 256,   /* at the beginning, of which is known what lines of the trace have */
    TM_LINE_MAX = 1 << 20, /* bytes of a line with its end; longer ones are skipped */
    TM_ROWS_MAX = 9,       /* rows of one line: a register and a picture of eight runs */
    TM_HEADS = 16,
    TM_HEAD_MAX = 32,
    TM_NAME_MAX = 48
};

/* The text between the digits of a time and the type word, as met before. */
struct tm_head {
    uint8_t text[TM_HEAD_MAX];
    uint32_t len;    /* 0: empty */
    uint32_t number; /* heads that were learned before */
    uint32_t stream, has;
    uint32_t source, source_len; /* where the source stands in text */
    uint8_t unit;
    bool sure;
};

struct tm_dec {
    const struct tm_flavour *flavour;
    struct tm_options opt;
    struct trod_meta *meta;
    uint64_t lines, rows; /* eaten and given so far */
    uint64_t time;        /* of the last line that gave one */
    uint32_t stream;
    uint8_t unit;
    uint8_t unit_seen;
    uint8_t timed;   /* a line had a time: those without inherit it */
    uint8_t sourced; /* the trace's head names cpus: accesses and registers without inherit it */
    uint8_t source_seen; /* a line had a source */
    uint8_t isets;       /* bit per enum trod_iset seen */
    uint8_t wide;        /* an address beyond 32 bits was seen */
    uint8_t skipping;    /* inside a line that is too long */
    uint8_t picture;     /* the last line was a picture: kind of its rows, else 0 */
    uint8_t slow;        /* every line takes the general path (tests) */
    uint32_t picture_column;
    uint32_t head, heads_next;
    struct tm_head heads[TM_HEADS];
    uint32_t name_len, name_stream; /* the last source name of the general path */
    char name[TM_NAME_MAX];
    char scale[TROD_UNIT_NAME]; /* a unit of its own that the trace's head shows */
    /* where lines with a form have their type word: with a time, without; 0: none has one */
    uint32_t type_at, type_wait, bare_at, bare_wait;
    uint8_t es_forms; /* there may be forms of lines without a time, or of the ES dialect */
    uint8_t forms_unit, unit_wait;     /* the unit of time that lines with a form have */
    uint32_t forms_want;               /* the columns that tm_form.put is for */
    struct tm_form forms[2][TM_FORMS]; /* of lines with a time, of those without; the last */
};

/*
 * Reset D for the general path: nothing is known. The forms, most of its bytes, are not touched:
 * they are never used then.
 */
static inline void tm_dec_general(struct tm_dec *d)
{
    memset(d, 0, offsetof(struct tm_dec, forms));
}

/* D has no forms. */
static inline void tm_forget_forms(struct tm_dec *d)
{
    for (unsigned i = 0; i < TM_FORMS; i++) {
        tm_form_forget(&d->forms[0][i]);
        tm_form_forget(&d->forms[1][i]);
    }
}

/* One row under construction; slices refer to the batch. */
struct tm_row {
    uint32_t has, flags, size, stream;
    uint16_t sub;
    uint8_t kind, unit;
    uint64_t time, index, addr, paddr, pc, target, value;
    struct trod_slice code, data, text, detail, raw;
};

/* What a parse function returns. */
enum tm_result {
    TM_OK,
    TM_BAD,   /* malformed: what, where and why are in the line */
    TM_FULL,  /* the pool is full */
    TM_OTHER, /* not a record of the kind that was tried */
    TM_FATAL  /* status is an error of the machine */
};

/* A word, or any piece of a line. */
struct tm_word {
    const uint8_t *p;
    size_t n;
};

/* A line being parsed: [p, e) is what is left of it, without its end. */
struct tm_line {
    const uint8_t *start, *p, *e;
    const uint8_t *base; /* of the batch's bytes */
    struct tm_dec *d;
    struct trod_batch *b;
    struct tm_row row;   /* begun by the head: time, unit, stream */
    struct tm_row *rows; /* TM_ROWS_MAX of them */
    unsigned n_rows;
    bool indented;
    bool sure; /* the head leaves no doubt: what does not parse is a malformed record */
    bool late; /* the time is impossible: malformed if the record is known */
    struct tm_word source;
    struct tm_word scale; /* a unit of the trace's own */
    struct tm_word type;  /* the type word */
    struct tm_word head;  /* from the end of the time's digits to the type word; n 0: no such */
    uint8_t picture; /* the line was a picture: kind of its rows, and where its address begins */
    uint32_t picture_column;
    enum tm_problem what;
    const uint8_t *caret;
    const char *why;
    struct { /* the line is understood, but something is not as it should be; why NULL: nothing */
        enum tm_problem what;
        const uint8_t *caret;
        const char *why;
    } warning;
    int status;
};

/* An address by the common definition: vaddr{:paddr{_NS}}{,paddr2{_NS}}. */
struct tm_addr {
    uint64_t vaddr, paddr, paddr2;
    uint8_t digits, pdigits; /* as written */
    uint8_t sec, sec2;       /* enum trod_sec */
    bool has_paddr, has_paddr2, upper;
};

/* A value of any width. */
struct tm_value {
    uint64_t v;
    uint32_t digits;
    uint32_t unknown; /* digits that are not known */
    uint32_t dashes;  /* those of them that are dashes */
    uint8_t sep, group, upper, prefix;
    uint8_t mark;                            /* an unknown digit that is no dash; else '-' */
    struct trod_slice data, mask, unwritten; /* unwritten: the dashes, where not all are */
};

/* V is VALUE or DATA of ROW. */
static inline void tm_value_row(struct tm_row *row, const struct tm_value *v)
{
    if (v->data.len) {
        row->data = v->data;
        row->has |= TROD_COL_DATA;
    } else {
        row->value = v->v;
        row->has |= TROD_COL_VALUE;
    }
}

/*
 * Does a register write or access that names no cpu belong to the cpu of the line before? Only
 * where the trace's head names cpus, so that it does not depend on where a part of the trace
 * begins.
 */
static inline bool tm_inherits_stream(const struct tm_dec *d)
{
    return d->sourced && d->source_seen;
}

/* Whether a mask says more of V than that all its digits are of one kind. */
static inline bool tm_masked(const struct tm_value *v)
{
    return v->unknown && (v->unknown < v->digits || v->unwritten.len);
}

typedef int (*tm_parser)(struct tm_line *l, struct tm_word type);

static inline void tm_blanks(struct tm_line *l)
{
    const uint8_t *p = l->p, *e = l->e;

    while (p < e && (*p == ' ' || *p == '\t'))
        p++;
    l->p = p;
}

/* The next run of what is not blank; length 0 at the end of the line. */
static inline struct tm_word tm_word(struct tm_line *l)
{
    const uint8_t *p = l->p, *e = l->e;
    struct tm_word w;

    while (p < e && (*p == ' ' || *p == '\t'))
        p++;
    w.p = p;
    while (p < e && *p != ' ' && *p != '\t')
        p++;
    w.n = (size_t)(p - w.p);
    l->p = p;
    return w;
}

/* Whether W is TEXT (a literal: lengths are compared first, at no cost). */
static inline bool tm_is(struct tm_word w, const char *text)
{
    return strlen(text) == w.n && memcmp(text, w.p, w.n) == 0;
}

/* line.c, value.c, head.c: cursor, words, numbers, heads. */
int tm_bad(struct tm_line *l, enum tm_problem what, const uint8_t *caret, const char *why);
void tm_warn(struct tm_line *l, enum tm_problem what, const uint8_t *caret, const char *why);
struct tm_word tm_rest(struct tm_line *l);
int tm_end(struct tm_line *l);
bool tm_is_hex(struct tm_word w);
bool tm_is_decimal(struct tm_word w);
struct trod_slice tm_slice(const struct tm_line *l, struct tm_word w);
void *tm_detail(struct tm_line *l, struct tm_row *row, uint32_t size);
int tm_hex(struct tm_line *l, struct tm_word w, uint64_t *out);
int tm_hex_divided(struct tm_line *l, struct tm_word w, uint64_t *out);
int tm_decimal_number(struct tm_line *l, struct tm_word w, uint64_t *out);
int tm_fetch_address(struct tm_line *l, struct tm_word w, struct tm_addr *out);
int tm_address(struct tm_line *l, struct tm_word w, struct tm_addr *out);
void tm_address_row(struct tm_row *row, const struct tm_addr *a);
uint8_t tm_digits(size_t n, unsigned usual);
uint8_t tm_vdigits(uint64_t v, unsigned digits);
uint8_t tm_pdigits(uint64_t v, unsigned digits);
bool tm_is_value(struct tm_word w);
int tm_value(struct tm_line *l, bool joined, struct tm_value *out);
void tm_number_style(struct trod_detail_number *n, const struct tm_value *v, uint32_t size,
                     bool divided);
bool tm_plain_number(const struct trod_detail_number *n);
int tm_bracket(struct tm_line *l, struct tm_word *in);
tm_parser tm_line_head(struct tm_line *l, struct tm_word *type);
int tm_iset_letter(struct tm_word w, bool *wide);
uint8_t tm_event_kind(uint64_t number, bool core);
uint8_t tm_event_what(uint8_t kind);

/* The parsers: a line whose type word was just read becomes l->rows. */
int tm_parse_instr(struct tm_line *l, struct tm_word type);
int tm_parse_es(struct tm_line *l, struct tm_word type);
int tm_parse_flow(struct tm_line *l, struct tm_word type);
int tm_parse_br(struct tm_line *l, struct tm_word type);
int tm_parse_reg(struct tm_line *l, struct tm_word type);
int tm_parse_mem(struct tm_line *l, struct tm_word type);
int tm_parse_cs(struct tm_line *l, struct tm_word type);
int tm_parse_atomic(struct tm_line *l, struct tm_word type);
int tm_parse_picture(struct tm_line *l, struct tm_word type);
int tm_parse_bus(struct tm_line *l, struct tm_word type);
int tm_parse_cache(struct tm_line *l, struct tm_word type);
int tm_parse_walk(struct tm_line *l, struct tm_word type);
int tm_parse_tlb(struct tm_line *l, struct tm_word type);
int tm_parse_event(struct tm_line *l, struct tm_word type);
int tm_parse_exc(struct tm_line *l, struct tm_word type, uint8_t style);
int tm_parse_cadi(struct tm_line *l, struct tm_word type);
int tm_parse_signal(struct tm_line *l, struct tm_word type);
int tm_parse_continuation(struct tm_line *l);

/* The parser for lines of type WORD, which ends before END, or NULL. */
tm_parser tm_parser_of(struct tm_word word, const uint8_t *end);

/* head.c: what WORD is read as in front of a record. */
enum tm_named {
    TM_NO_NAME,  /* a unit, a record, or nothing that a component is called */
    TM_NAME,     /* the name of a component where it cannot be the unit of a time */
    TM_CPU_NAME, /* the name of a component in any case */
};
enum tm_named tm_named(struct tm_word word);
bool tm_is_mem_type(struct tm_word word);
bool tm_is_bus_type(struct tm_word word);

/* Begin row number l->n_rows as a copy of l->row with KIND; tm_add adds it. */
struct tm_row *tm_begin(struct tm_line *l, uint8_t kind);
void tm_add(struct tm_line *l);

/*
 * parse.c: the line [START, END), followed by its end up to NEXT, to rows of L, of which b, d and
 * base are set. Returns enum tm_result but TM_OTHER.
 */
int tm_parse_line(struct tm_line *l, const uint8_t *start, const uint8_t *end, const uint8_t *next);
void tm_note_iset(struct tm_dec *d, unsigned iset);

/* fast.c: decode lines of the canonical forms until another comes or the batch is full. */
const uint8_t *tm_fast(struct tm_dec *d, const uint8_t *p, const uint8_t *end,
                       struct trod_batch *b);

/* decode.c, bid.c, encode.c: the callbacks that both descriptors use. */
enum { TM_READS = TROD_COL_ALL & ~TROD_COL_MADE, TM_WRITES = TROD_COL_ALL & ~TROD_COL_MADE };
int tm_start(struct tm_dec *d, const struct tm_flavour *flavour, const struct tm_options *opt,
             const struct trod_span *head, struct trod_meta *meta);
int tm_decode(void *dec, struct trod_span *in, struct trod_batch *out, struct trod_diag *diag);
size_t tm_resync(const void *dec, const uint8_t *p, size_t n);
/* state.c: the callbacks that keep a decoder's state as bytes. */
int tm_save(void *dec, struct trod_buf *state, struct trod_buf *log);
int tm_load(void *dec, struct trod_span *state, struct trod_span *log);

/* Evidence in the first lines for each of the two formats, and the dialect (enum tm_dialect). */
struct tm_evidence {
    int tarmac, matcher;
    int dialect;
    bool either;                /* nothing tells the two apart */
    bool sources;               /* lines name cpus */
    char scale[TROD_UNIT_NAME]; /* the first unit of time of the trace's own; "": none */
};
void tm_weigh(const struct trod_span *head, struct tm_evidence *out);
const char *tm_dialect_name(int dialect);

#endif
