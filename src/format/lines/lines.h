/*
 * lines.h - decoders of other tools' text logs: lines out of the input, rows into the batch.
 *
 * Implements docs/design.md, "A format driver", for logs of which each line is understood by one
 * function of the driver. That function is handed to ln_decode, which is compiled into each driver
 * with it: no call is indirect. It appends rows with ln_put; what it has appended is taken back
 * where the batch has no room for all rows of the line, or the line turns out to be bad. Lines
 * longer than LN_LINE_MAX are stepped over without ever being held.
 */
#ifndef TROD_FORMAT_LINES_H
#define TROD_FORMAT_LINES_H

#include "trod/format.h"

#include <string.h>

enum { LN_LINE_MAX = 1 << 20 };

enum ln_result {
    LN_OK,   /* understood: the rows appended are its rows, if any */
    LN_FULL, /* no room: again with the next batch */
    LN_WAIT, /* whether and how it is understood depends on the next line, which is not here yet */
    LN_BAD,  /* l->why says why */
    LN_FATAL /* l->status: no way to go on */
};

/* Kinds of problems: static texts; and whether a line that ends in a backslash goes on. */
struct ln_names {
    const char *bad, *cut, *longer, *limit, *unknown;
    bool joined; /* lines are joined: the function of the driver sees the line breaks between */
};

/* The struct for FORMAT, a text that joins no lines and knows all words or none. */
#define LN_NAMES(format)                                                                           \
    {                                                                                              \
        .bad = format ".bad-line", .cut = format ".truncated", .longer = format ".long-line",      \
        .limit = format ".limit"                                                                   \
    }

/* First member of a decoder's state. */
struct ln_state {
    uint64_t lines, rows; /* eaten and given so far */
    uint8_t skipping;     /* inside a line that is too long; LN_ESCAPED: behind a backslash */
};

enum { LN_ESCAPED = 2 };

/* A line, and what becomes of it. */
struct ln_line {
    const uint8_t *p;         /* the cursor */
    const uint8_t *start, *e; /* the line without its end */
    const uint8_t *next;      /* behind its end */
    const uint8_t *limit;     /* end of the input that is here */
    uint32_t joined;          /* line breaks inside it */
    bool last;                /* nothing follows behind limit */
    const uint8_t *base;      /* what slices count from */
    struct trod_batch *b;
    uint32_t first;       /* row of the batch that its rows begin at */
    const uint8_t *caret; /* LN_BAD: where the fault lies */
    const char *why;
    bool keep;             /* LN_BAD: the rows appended are good all the same */
    int status;            /* LN_FATAL */
    const char *warning;   /* rows are given all the same */
    const uint8_t *warned; /* what the warning is about; NULL: about a limit */
};

/* A row in the making. has: columns that the driver has set; raw and TROD_F_CONT are added. */
struct ln_row {
    uint32_t has, flags, size, stream;
    uint8_t kind, unit;
    uint16_t sub;
    uint64_t time, index, addr, paddr, pc, target, value;
    struct trod_slice code, data, text, detail;
};

static inline struct trod_slice ln_slice(const struct ln_line *l, const uint8_t *p,
                                         const uint8_t *e)
{
    return (struct trod_slice){(uint32_t)(p - l->base), (uint32_t)(e - p)};
}

/* Append R. False: no room (return LN_FULL). */
static inline bool ln_put(struct ln_line *l, const struct ln_row *r)
{
    struct trod_batch *b = l->b;
    const uint32_t want = b->have, i = b->n;
    const bool cont = i > l->first;

    if (i == b->cap)
        return false;
    b->n++;
    b->has[i] =
        (r->has | TROD_COL_KIND | TROD_COL_FLAGS | (cont ? 0 : (uint32_t)TROD_COL_RAW)) & want;
    b->kind[i] = r->kind;
    if (want & TROD_COL_FLAGS)
        b->flags[i] = r->flags | (cont ? (uint32_t)TROD_F_CONT : 0);
    if (want & TROD_COL_SIZE)
        b->size[i] = r->size;
    if (want & TROD_COL_STREAM)
        b->stream[i] = r->stream;
    if (want & TROD_COL_TIME)
        b->time[i] = r->time;
    if (want & TROD_COL_UNIT)
        b->unit[i] = r->unit;
    if (want & TROD_COL_INDEX)
        b->index[i] = r->index;
    if (want & TROD_COL_ADDR)
        b->addr[i] = r->addr;
    if (want & TROD_COL_PADDR)
        b->paddr[i] = r->paddr;
    if (want & TROD_COL_PC)
        b->pc[i] = r->pc;
    if (want & TROD_COL_TARGET)
        b->target[i] = r->target;
    if (want & TROD_COL_VALUE)
        b->value[i] = r->value;
    if (want & TROD_COL_SUB)
        b->sub[i] = r->sub;
    if (want & TROD_COL_CODE)
        b->code[i] = r->code;
    if (want & TROD_COL_DATA)
        b->data[i] = r->data;
    if (want & TROD_COL_TEXT)
        b->text[i] = r->text;
    if (want & TROD_COL_DETAIL)
        b->detail[i] = r->detail;
    if (want & TROD_COL_RAW)
        b->raw[i] = cont ? (struct trod_slice){0, 0} : ln_slice(l, l->start, l->next);
    return true;
}

/* The line is kept as it is: a NOTE whose text is its first word. */
static inline enum ln_result ln_note(struct ln_line *l)
{
    const uint8_t *p = l->start, *q;
    struct ln_row r = {.kind = TROD_NOTE};

    while (p < l->e && (*p == ' ' || *p == '\t'))
        p++;
    for (q = p; q < l->e && *q != ' ' && *q != '\t';)
        q++;
    if (q > p) {
        r.has = TROD_COL_TEXT;
        r.text = ln_slice(l, p, q);
    }
    return ln_put(l, &r) ? LN_OK : LN_FULL;
}

/*
 * ---- the cursor: a function returns false, and leaves the cursor where it was, if the line does
 * not go on so
 */

static inline unsigned ln_digit(uint8_t c)
{
    static const uint8_t value[256] = {
        ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
        ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
        ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
        ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16};

    return (unsigned)value[c] - 1u; /* no digit: above 15 */
}

static inline bool ln_is(struct ln_line *l, char c)
{
    if (l->p == l->e || *l->p != (uint8_t)c)
        return false;
    l->p++;
    return true;
}

/* The N characters of TEXT come next. */
static inline bool ln_word_n(struct ln_line *l, const char *text, size_t n)
{
    if ((size_t)(l->e - l->p) < n || memcmp(l->p, text, n) != 0)
        return false;
    l->p += n;
    return true;
}

#define ln_word(l, text) ln_word_n((l), (text), sizeof(text) - 1)

/* Blanks and tabs. */
static inline void ln_blanks(struct ln_line *l)
{
    while (l->p < l->e && (*l->p == ' ' || *l->p == '\t'))
        l->p++;
}

/* Hexadecimal digits without prefix, at most 16; how many to *DIGITS. */
static inline bool ln_hex(struct ln_line *l, uint64_t *out, unsigned *digits)
{
    const uint8_t *p = l->p;
    uint64_t v = 0;

    for (; p < l->e && ln_digit(*p) < 16; p++) {
        if (p - l->p == 16)
            return false;
        v = v << 4 | ln_digit(*p);
    }
    if (p == l->p)
        return false;
    *digits = (unsigned)(p - l->p);
    *out = v;
    l->p = p;
    return true;
}

/* The same behind 0x. */
static inline bool ln_0x(struct ln_line *l, uint64_t *out, unsigned *digits)
{
    const uint8_t *p = l->p;

    if (ln_word(l, "0x") && ln_hex(l, out, digits))
        return true;
    l->p = p;
    return false;
}

/* Decimal digits, below 2^64. */
static inline bool ln_dec(struct ln_line *l, uint64_t *out)
{
    const uint8_t *p = l->p;
    uint64_t v = 0;

    for (; p < l->e && *p >= '0' && *p <= '9'; p++) {
        unsigned d = *p - (unsigned)'0';

        if (v > (UINT64_MAX - d) / 10)
            return false;
        v = v * 10 + d;
    }
    if (p == l->p)
        return false;
    *out = v;
    l->p = p;
    return true;
}

/* The place of the first TEXT (N characters) from P on up to E; NULL: nowhere. */
static inline const uint8_t *ln_find(const uint8_t *p, const uint8_t *e, const char *text, size_t n)
{
    for (; (size_t)(e - p) >= n; p++) {
        p = memchr(p, text[0], (size_t)(e - p) - n + 1);
        if (!p)
            return NULL;
        if (memcmp(p, text, n) == 0)
            return p;
    }
    return NULL;
}

/* The line is bad at the cursor. */
static inline enum ln_result ln_bad(struct ln_line *l, const char *why)
{
    l->caret = l->p;
    l->why = why;
    return LN_BAD;
}

/* ---- values */

/*
 * Any number of hexadecimal digits, without prefix: up to 64 bits to value, more to data (least
 * significant byte first). BYTES becomes what that many digits hold. LN_OK, LN_BAD or LN_FULL.
 */
enum ln_result ln_value(struct ln_line *l, struct ln_row *r, uint32_t *bytes);

/*
 * VALUE as SIZE bytes of code in memory order, into the pool. False: no room.
 */
bool ln_code(struct ln_line *l, struct ln_row *r, uint64_t value, unsigned size, bool big);

/* Streams by their number, the ones seen last. */
enum { LN_CPUS = 16 };

struct ln_cpus {
    uint64_t number[LN_CPUS];
    uint32_t stream[LN_CPUS]; /* and 1; 0: none */
};

/*
 * The result for STREAM, which trod_meta_stream or trod_meta_thread returned: LN_OK, LN_BAD or
 * LN_FATAL. R gets the stream.
 */
enum ln_result ln_stream_found(struct ln_line *l, int stream, struct ln_row *r);
/* The stream called NUMBER. LN_OK, LN_BAD or LN_FATAL; R is given it. */
enum ln_result ln_stream_new(struct ln_cpus *c, struct ln_line *l, struct trod_meta *m,
                             uint64_t number, struct ln_row *r);

static inline enum ln_result ln_stream(struct ln_cpus *c, struct ln_line *l, struct trod_meta *m,
                                       uint64_t number, struct ln_row *r)
{
    const unsigned at = (unsigned)number % LN_CPUS;

    r->has |= TROD_COL_STREAM;
    r->stream = c->stream[at] - 1;
    if (c->stream[at] && c->number[at] == number)
        return LN_OK;
    return ln_stream_new(c, l, m, number, r);
}

/* ---- detection */

enum { LN_BID_LINES = 256, LN_BID_MAX = 160 };

/*
 * Bits of evidence in the first lines of HEAD: WEIGH gives those of one line, 0 for what a log may
 * have between its records, less than 0 for what speaks against it. More lines against than for: 0.
 */
int ln_bid(const struct trod_span *head, int (*weigh)(struct ln_line *l));

/* ---- instruction sets, where the log does not name one */

struct ln_isa {
    int isa; /* 0: as the head of the log suggests; else 1 + index of its choices */
};

extern const char *const ln_isa_choices[];

/*
 * Set the instruction set: the option's, or the one whose words the head of the log is full of; and
 * the endianness, if it is not given.
 */
void ln_isa_settle(const struct ln_isa *o, const struct trod_span *head, struct trod_meta *meta);

/* ---- the loop; used by ln_decode */

int ln_report(const struct ln_state *s, const struct ln_line *l, const struct trod_span *in,
              const struct ln_names *names, struct trod_diag *diag);
void ln_warn(const struct ln_state *s, const struct ln_line *l, const struct trod_span *in,
             const struct ln_names *names, struct trod_diag *diag);
int ln_too_long(struct ln_state *s, const struct trod_span *in, const uint8_t *p,
                const struct ln_names *names, struct trod_diag *diag);
const uint8_t *ln_skip(struct ln_state *s, const uint8_t *p, const uint8_t *end, bool joined);
/* The next line's beginning behind P; SIZE_MAX: none. */
size_t ln_resync(const uint8_t *p, size_t n);

/* S as bytes, and back (save and load of struct trod_format): 0, TROD_ERR_NOMEM, _CORRUPT. */
int ln_save(const struct ln_state *s, struct trod_buf *out);
int ln_load(struct ln_state *s, struct trod_span *in);

static inline void ln_advance(struct trod_span *in, const uint8_t *p)
{
    size_t n = (size_t)(p - in->p);

    in->p += n;
    in->n -= n;
    in->offset += n;
}

/* Does the line that begins at P and ends before NL go on behind it? */
static inline bool ln_goes_on(const uint8_t *p, const uint8_t *nl)
{
    while (nl > p && (nl[-1] == ' ' || nl[-1] == '\t' || nl[-1] == '\r'))
        nl--;
    return nl > p && nl[-1] == '\\';
}

/* Find the line at L->start. False: its end is not here, or it is too far for slices (*FULL). */
static inline bool ln_find_line(struct ln_line *l, bool *full, bool joined)
{
    const size_t n = (size_t)(l->limit - l->start);
    const uint8_t *const end = l->start + (n < LN_LINE_MAX ? n : LN_LINE_MAX);
    const uint8_t *p = l->start, *nl = memchr(p, '\n', (size_t)(end - p));

    l->joined = 0;
    while (joined && nl && ln_goes_on(p, nl)) {
        p = nl + 1;
        nl = memchr(p, '\n', (size_t)(end - p));
        l->joined++;
    }
    if (!nl && !l->last)
        return false;
    l->next = nl ? nl + 1 : l->limit;
    *full = l->next - l->base >= TROD_SLICE_SHARED;
    l->e = nl ? nl : l->limit;
    while (l->e > l->start && l->e[-1] == '\r')
        l->e--;
    return !*full;
}

/* Act on the result of a line; true: the loop ends with *RC. */
static inline bool ln_settle(struct ln_state *s, struct ln_line *l, enum ln_result result,
                             uint32_t pool_n, const struct trod_span *in,
                             const struct ln_names *names, struct trod_diag *diag, int *rc)
{
    struct trod_batch *b = l->b;

    if (result == LN_OK) {
        s->rows += b->n - l->first;
        if (l->warning)
            ln_warn(s, l, in, names, diag);
        s->lines += 1 + l->joined;
        return false;
    }
    if (result != LN_BAD || !l->keep) {
        b->n = l->first;
        b->pool_n = pool_n;
    }
    if (result == LN_FULL && l->first > 0) {
        *rc = TROD_DEC_FULL;
        return true;
    }
    if (result == LN_WAIT)
        return true;
    if (result == LN_FATAL) {
        *rc = trod_error(diag, l->status, names->limit, NULL, "%s", l->why);
        return true;
    }
    if (result == LN_FULL) {
        l->caret = l->start;
        l->why = "line needs more room than a batch has";
    }
    *rc = ln_report(s, l, in, names, diag);
    s->rows += b->n - l->first;
    if (*rc == TROD_ERR_TRUNCATED || (diag && diag->strict))
        return true;
    *rc = TROD_DEC_MORE;
    s->lines += 1 + l->joined;
    return false;
}

/*
 * Decode what is in IN: READS are the columns of the format, LINE understands a line for DEC, of
 * which S is the first member.
 */
static inline __attribute__((always_inline)) int
ln_decode(struct ln_state *s, void *dec, struct trod_span *in, struct trod_batch *b, uint32_t reads,
          const struct ln_names *names, struct trod_diag *diag,
          enum ln_result (*line)(void *dec, struct ln_line *l))
{
    struct ln_line l = {.base = in->p, .b = b, .last = in->last, .limit = in->p + in->n};
    const uint8_t *p = in->p, *const end = in->p + in->n;
    int rc = TROD_DEC_MORE;

    b->have = (b->want & reads) | TROD_COL_KIND;
    while (p < end) {
        const uint32_t pool_n = b->pool_n;
        bool full = false;
        enum ln_result result;

        if (s->skipping) {
            p = ln_skip(s, p, end, names->joined);
            continue;
        }
        l.start = l.p = p;
        if (!ln_find_line(&l, &full, names->joined)) {
            if (!full && end - p >= LN_LINE_MAX) {
                int why = ln_too_long(s, in, p, names, diag);

                if (!diag || !diag->strict)
                    continue;
                rc = why;
            } else if (full) {
                rc = TROD_DEC_FULL;
            }
            break;
        }
        if (l.next - p > LN_LINE_MAX) {
            int why = ln_too_long(s, in, p, names, diag);

            if (!diag || !diag->strict)
                continue;
            rc = why;
            break;
        }
        l.first = b->n;
        l.warning = NULL;
        l.warned = NULL;
        l.keep = false;
        result = line(dec, &l);
        if (ln_settle(s, &l, result, pool_n, in, names, diag, &rc))
            break;
        p = l.next;
    }
    ln_advance(in, p);
    return rc;
}

#endif
