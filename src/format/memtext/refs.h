/*
 * refs.h - what the drivers of line formats share: one short line is one row or none.
 *
 * Implements the general part of docs/formats/memtext.md. A driver gives a function that reads a
 * line and one that writes a row; rl_decode() and rl_encode() are compiled around them, so that no
 * row costs a call through a pointer. Not for formats with quoted fields or several rows a line.
 */
#ifndef TROD_FORMAT_REFS_H
#define TROD_FORMAT_REFS_H

#include "format/streams.h"
#include "trod/format.h"
#include "trod/loss.h"
#include "trod/put.h"

#include <string.h>

#define RL_INLINE static inline __attribute__((always_inline))

enum {
    RL_LINE_MAX = 1 << 12, /* bytes of a line with its end; longer ones are skipped */
    RL_ROW_MAX = 256,      /* bytes of a row that is written, and the head, without its text */
    RL_DOUBT = 16          /* bits of a format that other text may look like */
};

/* What a line is. */
enum rl_line { RL_ROW, RL_NOTHING, RL_BAD };

/* What a line says. */
struct rl_row {
    uint32_t has, flags, size;
    uint16_t sub;
    uint8_t kind;
    uint64_t addr, pc, time, value;
    const uint8_t *text;
    uint32_t text_n;
    const uint8_t *fault; /* of a bad line: where, and why (static) */
    const char *why;
};

struct rl_dec {
    uint64_t lines; /* before the next one */
    uint64_t pc;    /* of the last fetch */
    bool has_pc, skipping;
};

struct rl_enc {
    struct trod_loss *loss;
    bool begun;              /* the head is written */
    bool own;                /* rows are of this very format */
    struct fmt_last_pc last; /* see rl_pc */
    uint64_t fetch;          /* address of the last fetch that was written, see rl_follow */
    bool fetched;            /* there was one */
};

/* What a row is in terms of a memory trace. */
enum rl_what { RL_NONE, RL_FETCH, RL_READ, RL_WRITE, RL_BOTH };

/* A driver's line reader: [P, E) is a line without its end. */
typedef enum rl_line (*rl_parse_fn)(const uint8_t *p, const uint8_t *e, struct rl_row *r);
/* Its writer: puts ROW at P, RL_ROW_MAX bytes and those of its text. Returns the end. */
typedef uint8_t *(*rl_put_fn)(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                              uint8_t *p);

extern const uint8_t rl_hex_table[256]; /* value of a hex digit, 0xff for all else */

/* The line at P is bad, or cut off by the end of the input (TRUNCATED). Returns its status. */
int rl_report(const struct trod_format *f, const struct rl_dec *d, const struct trod_span *in,
              const uint8_t *p, const uint8_t *e, const struct rl_row *r, bool truncated,
              struct trod_diag *diag);
/* The same for a line that is too long. */
int rl_report_long(const struct trod_format *f, const struct rl_dec *d, const struct trod_span *in,
                   const uint8_t *p, struct trod_diag *diag);

/*
 * Evidence in the first lines of PROBE: BITS for each line that differs from the one before, up to
 * 8 of them, if few lines are bad and KINDS different kinds of rows occur. Where there are rows and
 * no bad lines a name can settle it, however few they are. HEAD (may be NULL): a first line that
 * decides alone.
 */
int rl_bid(const struct trod_probe *probe, rl_parse_fn parse, int bits, unsigned kinds,
           const char *head);

/* The offset of the next line that depends on none before it. */
size_t rl_resync(const struct trod_format *f, rl_parse_fn parse, const uint8_t *p, size_t n);

/* Callbacks that are alike. */
int rl_start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
             struct trod_diag *diag);

/* save and load of struct trod_format, of a struct rl_dec. */
int rl_save(void *dec, struct trod_buf *state, struct trod_buf *log);
int rl_load(void *dec, struct trod_span *state, struct trod_span *log);
int rl_begin(struct rl_enc *enc, const char *name, const struct trod_meta *meta);
int rl_target(void *enc, const struct trod_target *t, struct trod_diag *diag);
bool rl_verbatim(const void *opt_in, const char *dialect_in, const void *opt_out);
/* What rows of META's format keep in F, whose lines have no flags. */
void rl_keeps(const struct trod_format *f, const struct trod_meta *meta, struct trod_keeps *k);

/* For drivers that use rl_pc: what it keeps. */
void rl_drop(void *enc);
/*
 * The pc of the access ROW, or of the instruction before it where it does not say; 0: not known.
 * To be asked about instructions too.
 */
uint64_t rl_pc(struct rl_enc *enc, const struct trod_batch *b, uint32_t row);

/*
 * For lines that name no pc: ROW is written as WHAT, at the address AT. Its pc is that of the last
 * fetch in the output, or it is lost.
 */
static inline void rl_follow(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                             enum rl_what what, uint64_t at)
{
    if (what == RL_FETCH) {
        enc->fetch = at;
        enc->fetched = true;
    }
    if (b->have & b->has[row] & TROD_COL_PC && !(enc->fetched && b->pc[row] == enc->fetch))
        trod_loss_columns(enc->loss, b, row, TROD_COL_PC,
                          "the line stands behind no line of that instruction");
}

/* What ROW is. */
enum rl_what rl_what(const struct trod_batch *b, uint32_t row);

static inline bool rl_has(const struct trod_batch *b, uint32_t row, uint32_t columns)
{
    return (b->have & b->has[row] & columns) == columns;
}

/* The address of ROW: the virtual one where there is one. False: it has none, and is lost. */
static inline bool rl_address(struct rl_enc *enc, const struct trod_batch *b, uint32_t row,
                              uint64_t *at)
{
    *at = 0;
    if (rl_has(b, row, TROD_COL_ADDR)) {
        *at = b->addr[row];
    } else if (rl_has(b, row, TROD_COL_PADDR)) {
        *at = b->paddr[row];
    } else {
        trod_loss_row(enc->loss, b, row, "it has no address");
        return false;
    }
    return true;
}

/* Bytes of ROW; 1 where it does not say. */
static inline uint32_t rl_size(const struct trod_batch *b, uint32_t row)
{
    return rl_has(b, row, TROD_COL_SIZE) ? b->size[row] : 1;
}

RL_INLINE void rl_skip_blanks(const uint8_t **p, const uint8_t *e)
{
    while (*p < e && (**p == ' ' || **p == '\t'))
        ++*p;
}

/* Hex digits at *P, which is advanced. False: none, or more than 64 bits (*P is at the fault). */
RL_INLINE bool rl_hex(const uint8_t **p, const uint8_t *e, uint64_t *v)
{
    const uint8_t *q = *p;
    uint64_t x = 0;
    uint8_t digit;

    while (q < e && (digit = rl_hex_table[*q]) < 16 && x >> 60 == 0) {
        x = x << 4 | digit;
        q++;
    }
    *v = x;
    if (q == *p)
        return false;
    *p = q;
    return q == e || rl_hex_table[*q] > 15;
}

/* The same for decimal digits. */
RL_INLINE bool rl_decimal(const uint8_t **p, const uint8_t *e, uint64_t *v)
{
    const uint8_t *q = *p;
    uint64_t x = 0;
    uint8_t digit;

    while (q < e && (digit = (uint8_t)(*q - '0')) < 10 &&
           (x < UINT64_MAX / 10 || (x == UINT64_MAX / 10 && digit <= UINT64_MAX % 10))) {
        x = x * 10 + digit;
        q++;
    }
    *v = x;
    if (q == *p)
        return false;
    *p = q;
    return q == e || (uint8_t)(*q - '0') > 9;
}

/* The text S at *P, which is then advanced. */
RL_INLINE bool rl_word(const uint8_t **p, const uint8_t *e, const char *s)
{
    const size_t n = strlen(s);

    if ((size_t)(e - *p) < n || memcmp(*p, s, n) != 0)
        return false;
    *p += n;
    return true;
}

RL_INLINE enum rl_line rl_bad(struct rl_row *r, const uint8_t *at, const char *why)
{
    r->fault = at;
    r->why = why;
    return RL_BAD;
}

/* V in hex without leading zeros. */
RL_INLINE uint8_t *rl_put_hex(uint8_t *p, uint64_t v)
{
    return (uint8_t *)trod_put_hex((char *)p, v, 1);
}

RL_INLINE uint8_t *rl_put_decimal(uint8_t *p, uint64_t v)
{
    return (uint8_t *)trod_put_u64((char *)p, v);
}

RL_INLINE uint8_t *rl_put_text(uint8_t *p, const char *s)
{
    const size_t n = strlen(s);

    memcpy(p, s, n);
    return p + n;
}

/* The row R of the line [P, NEXT), behind those of B. */
RL_INLINE void rl_emit(const struct trod_format *f, struct rl_dec *d, struct trod_batch *b,
                       const struct rl_row *r, const uint8_t *base, const uint8_t *p,
                       const uint8_t *next)
{
    const uint32_t reads = f->reads, at = b->n++;
    uint32_t has = r->has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_RAW;

    b->kind[at] = r->kind;
    b->flags[at] = r->flags;
    b->size[at] = r->size;
    b->addr[at] = r->addr;
    b->raw[at] = (struct trod_slice){(uint32_t)(p - base), (uint32_t)(next - p)};
    if (r->has & TROD_COL_PC) {
        b->pc[at] = r->pc;
    } else if (r->kind == TROD_INSTR) {
        b->pc[at] = d->pc = r->addr;
        d->has_pc = true;
        has |= TROD_COL_PC;
    } else if (f->flags & TROD_FMT_FOLLOWS) {
        b->pc[at] = d->pc;
        has |= d->has_pc ? (uint32_t)TROD_COL_PC : 0;
    }
    if (reads & TROD_COL_SUB)
        b->sub[at] = r->sub;
    if (reads & TROD_COL_TIME)
        b->time[at] = r->time;
    if (reads & TROD_COL_VALUE)
        b->value[at] = r->value;
    if ((reads & TROD_COL_TEXT) && (r->has & TROD_COL_TEXT))
        b->text[at] = (struct trod_slice){(uint32_t)(r->text - base), r->text_n};
    b->has[at] = has;
}

/* The loop around a driver's PARSE; what decode() of its descriptor does. */
RL_INLINE int rl_decode(const struct trod_format *f, rl_parse_fn parse, struct rl_dec *d,
                        struct trod_span *in, struct trod_batch *b, struct trod_diag *diag)
{
    const uint8_t *const base = in->p, *const end = in->p + in->n;
    const uint8_t *p = base;
    int rc = TROD_DEC_MORE;

    b->have = f->reads & (b->want | TROD_COL_KIND);
    while (p < end && rc == TROD_DEC_MORE) {
        const size_t left = (size_t)(end - p);
        const uint8_t *nl = memchr(p, '\n', left < RL_LINE_MAX || d->skipping ? left : RL_LINE_MAX);
        const uint8_t *const next = nl ? nl + 1 : end, *e = nl ? nl : end;
        struct rl_row r;
        enum rl_line what;

        if (d->skipping) {
            d->skipping = !nl;
            d->lines += nl != NULL;
            p = next;
            continue;
        }
        if (!nl && left >= RL_LINE_MAX) {
            rc = rl_report_long(f, d, in, p, diag);
            if (diag && diag->strict)
                break;
            rc = TROD_DEC_MORE;
            d->skipping = true;
            continue;
        }
        if (!nl && !in->last)
            break;
        if (b->n == b->cap || next - base >= TROD_SLICE_SHARED) {
            rc = TROD_DEC_FULL;
            break;
        }
        while (e > p && e[-1] == '\r')
            e--;
        what = parse(p, e, &r);
        if (what == RL_ROW) {
            rl_emit(f, d, b, &r, base, p, next);
        } else if (what == RL_BAD) {
            rc = rl_report(f, d, &(struct trod_span){p, left, in->offset + (uint64_t)(p - base), 0},
                           p, e, &r, !nl, diag);
            if (!nl || (diag && diag->strict))
                break;
            rc = TROD_DEC_MORE;
        }
        d->lines++;
        p = next;
    }
    in->offset += (uint64_t)(p - base);
    in->n -= (size_t)(p - base);
    in->p = p;
    return rc;
}

/* The loop around a driver's PUT; HEAD goes before the first row. */
RL_INLINE int rl_encode(rl_put_fn put, const char *head, struct rl_enc *enc,
                        const struct trod_batch *in, uint32_t *row, struct trod_room *out)
{
    for (; *row < in->n; ++*row) {
        const bool note = in->kind[*row] == TROD_NOTE && rl_has(in, *row, TROD_COL_RAW);
        const size_t text = rl_has(in, *row, TROD_COL_TEXT) ? in->text[*row].len : 0;

        if ((size_t)(out->end - out->p) < RL_ROW_MAX + text + (note ? in->raw[*row].len : 0))
            return TROD_ENC_FULL;
        if (head && !enc->begun)
            out->p = rl_put_text(out->p, head);
        enc->begun = true;
        out->p = put(enc, in, *row, out->p);
    }
    return TROD_ENC_DONE;
}

/* A text without rows has its first line, HEAD. */
RL_INLINE int rl_finish(const char *head, struct rl_enc *enc, struct trod_room *out)
{
    if (out->end - out->p < RL_ROW_MAX)
        return TROD_ENC_FULL;
    if (!enc->begun)
        out->p = rl_put_text(out->p, head);
    enc->begun = true;
    return TROD_ENC_DONE;
}

#endif
