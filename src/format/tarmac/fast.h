/*
 * fast.h - what the fast paths of the Tarmac decoder share: the head of a line, its columns.
 *
 * See fast.c. Everything is inlined into its three loops.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_H
#define TROD_FORMAT_TARMAC_FAST_H

#include "format/tarmac/shape.h"
#include "format/tarmac/tarmac.h"

#define TM_INLINE TROD_HOT

enum {
    TM_MARGIN = 384,  /* bytes that must be left for a line to be tried */
    TM_TEXT_MAX = 160 /* bytes of disassembly; with them a line is still shorter than TM_MARGIN */
};

/* Columns for counting: the loops for fewer columns than all are made for these. */
enum {
    TM_NARROW = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
                TROD_COL_PADDR | TROD_COL_TARGET | TROD_COL_SUB
};

/* Columns for trod info, and for listing instructions: forms have loops for these. */
enum {
    TM_SITES = TM_NARROW | TROD_COL_PC | TROD_COL_CODE,
    TM_NAMED = TROD_COL_KIND | TROD_COL_STREAM | TROD_COL_TIME | TROD_COL_UNIT | TROD_COL_TEXT
};

/* State that a line leaves to those behind it (decode.c, tm_resync). */
struct tm_handed {
    const struct tm_head *head; /* of the last line with a time */
    uint64_t time;
    uint32_t stream; /* of the last line that named one */
    uint32_t picture_column;
    uint8_t picture; /* kind of the picture that the line before was; 0: none */
    uint8_t unit;
    bool timed, source_seen;
};

/* What stays the same from line to line. */
struct tm_run {
    struct tm_dec *d;
    struct trod_batch *b;
    const uint8_t *base;
    uint32_t n, want;
    uint64_t lines;
    const uint8_t *before; /* the time of a line, if head and all can be compared with the next */
    unsigned before_len;
    struct tm_handed h;
    uint32_t has, flags;           /* of the current head: columns it gives, columns it inherits */
    struct tm_shape instr, mem[4]; /* of the last lines; accesses by log2 of their size */
    struct tm_top top;             /* of the last lines with a time */
    struct tm_handed kept; /* what a line that was not taken has changed, where changed says so */
    bool changed;
    struct tm_form *first, *other; /* forms that are to change places; NULL: none */
};

/* The line end at P, perhaps with a carriage return before it: its last character; else NULL. */
TM_INLINE const uint8_t *tm_end_at(const uint8_t *p)
{
    return *p == '\n' ? p : p[0] == '\r' && p[1] == '\n' ? p + 1 : NULL;
}

/* Where the line that ends with NL ends without the carriage return that may be before it. */
TM_INLINE const uint8_t *tm_text_end(const uint8_t *nl)
{
    return nl - (nl[-1] == '\r');
}

/* How a value of whole words of 64 bits is written, DIVIDED or not: 0 as usual, else '_' or '0'. */
TM_INLINE uint8_t tm_odd_sep(const struct tm_dec *d, bool divided)
{
    return divided != d->flavour->matcher ? 0 : divided ? '_' : '0';
}

/* H, behind a time of DIGITS digits at P, is the head of the next lines, until another comes. */
TM_INLINE void tm_keep_top(struct tm_run *r, const uint8_t *p, unsigned digits,
                           const struct tm_head *h)
{
    struct tm_top *t = &r->top;

    if (digits + h->len > sizeof t->text || (t->wait && t->wait--))
        return;
    memcpy(t->text, p, sizeof t->text);
    t->digits = (1u << digits) - 1;
    t->exact = (uint32_t)(UINT64_C(1) << (digits + h->len)) - (1u << digits);
    t->n = digits;
    t->len = digits + h->len;
    t->head = h;
    t->wait = TM_SHAPE_TRIES;
}

/*
 * Does the type word stand at P? It begins with a letter; where heads are numbers, as Trace
 * Matcher's cpus, one that has no cpu is the beginning of one that has.
 */
TM_INLINE bool tm_is_type(const uint8_t *p)
{
    return *p >= 'A';
}

/* The head met before that stands at P; NULL: none. */
TM_INLINE const struct tm_head *tm_find_head(const struct tm_dec *d, const uint8_t *p)
{
    for (unsigned i = 0; i < TM_HEADS; i++) {
        const struct tm_head *h = &d->heads[i];

        if (h->len && tm_equal32(p, h->text, h->len) && tm_is_type(p + h->len))
            return h;
    }
    return NULL;
}

/* Where the type word is; NULL: the head was not met before. P is at the digits of the time. */
TM_INLINE const uint8_t *tm_take_head(struct tm_run *r, const uint8_t *p, const uint32_t want,
                                      const bool wide)
{
    struct tm_dec *d = r->d;
    const struct tm_head *h = r->h.head;
    unsigned digits;

    if ((want & TROD_COL_TIME || !wide) && r->before &&
        (wide ? tm_equal32_wide(p, r->before, r->before_len)
              : tm_equal32(p, r->before, r->before_len)) &&
        tm_is_type(p + r->before_len)) {
        r->has = h->has;
        r->flags = 0;
        return p + r->before_len;
    }
    if (wide && r->top.head == h && tm_top_fits(&r->top, p) && tm_is_type(p + r->top.len)) {
        if (want & TROD_COL_TIME) {
            r->kept = r->h;
            r->changed = true;
            r->h.time = tm_decimal(p, r->top.n);
            r->before = p;
            r->before_len = r->top.len;
        }
        r->has = h->has;
        r->flags = 0;
        return p + r->top.len;
    }
    r->kept = r->h;
    r->changed = true;
    digits = tm_decimal_run(p);
    if (digits == 0 || digits > 15)
        return NULL;
    if (!(wide ? tm_equal32_wide(p + digits, h->text, h->len)
               : tm_equal32(p + digits, h->text, h->len)) ||
        !tm_is_type(p + digits + h->len)) {
        h = tm_find_head(d, p + digits);
        if (!h)
            return NULL;
        r->h.head = h;
    }
    if (h->has & TROD_COL_STREAM) {
        r->h.stream = h->stream;
        r->h.source_seen = true;
    }
    if (want & TROD_COL_TIME)
        r->h.time = tm_decimal(p, digits);
    r->h.unit = h->unit;
    r->h.timed = true;
    r->has = h->has;
    r->flags = 0;
    if (wide)
        tm_keep_top(r, p, digits, h);
    r->before_len = digits + h->len;
    r->before = r->before_len <= 32 ? p : NULL;
    return p + digits + h->len;
}

/* A line without a time: it has that of the line before (parse.c, inherit). */
TM_INLINE void tm_no_head(struct tm_run *r)
{
    r->has = r->h.timed ? TROD_COL_TIME | (r->h.unit ? (uint32_t)TROD_COL_UNIT : 0u) : 0;
    r->flags = r->h.timed ? TROD_F_TIME_BEFORE : 0;
}

/* A register write or an access has the cpu of the line before (parse.c, inherit). */
TM_INLINE void tm_no_source(struct tm_run *r)
{
    if (!(r->has & TROD_COL_STREAM) && r->h.source_seen && r->d->sourced) {
        r->has |= TROD_COL_STREAM;
        r->flags |= TROD_F_STREAM_BEFORE;
    }
}

/* Columns of the head for row AT. */
TM_INLINE void tm_put_columns(struct tm_run *r, uint32_t at, const uint32_t want)
{
    struct trod_batch *b = r->b;

    if (want & TROD_COL_TIME)
        b->time[at] = r->h.time;
    if (want & TROD_COL_UNIT)
        b->unit[at] = r->h.unit;
    if (want & TROD_COL_STREAM)
        b->stream[at] = r->h.stream;
}

/* The same for row r->n, and the record itself. */
TM_INLINE void tm_put_line(struct tm_run *r, const uint8_t *line, const uint8_t *next,
                           const uint32_t want)
{
    tm_put_columns(r, r->n, want);
    if (want & TROD_COL_RAW)
        r->b->raw[r->n] = (struct trod_slice){(uint32_t)(line - r->base), (uint32_t)(next - line)};
}

/* Bit i is set where p[i] ends a register's name in another way than a blank. */
TM_INLINE uint32_t tm_name_breaks(const uint8_t *p)
{
    return tm_mask16(p, '<') | tm_mask16(p, '(') | tm_mask16(p, '\t') | tm_mask16(p, '\n');
}

/* Length of the register's name at P, up to 15, if a blank follows it; else 0. */
TM_INLINE unsigned tm_name_before(const uint8_t *p, const bool wide)
{
    const uint32_t blanks = wide ? 0 : tm_mask16(p, ' ');
    const unsigned len = wide ? tm_name_len(p) : blanks ? (unsigned)__builtin_ctz(blanks) : 0;

    if (wide)
        return p[len] == ' ' && len < 16 ? len : 0;
    return tm_name_breaks(p) & ((1u << len) - 1) ? 0 : len;
}

/* enum trod_iset of letter C, 0 for others. */
TM_INLINE unsigned tm_iset_of(uint8_t c)
{
    return c == 'O' ? TROD_ISET_A64 : c == 'A' ? TROD_ISET_A32 : c == 'T' ? TROD_ISET_T32 : 0;
}

/*
 * Zeroed room in the pool of B for the details of an instruction, and for its opcode behind them,
 * at *ROOM. NULL: the pool is full.
 */
TM_INLINE struct trod_detail_instr *tm_new_details(struct trod_batch *b, struct trod_slice *room)
{
    void *p = trod_batch_pool(b, sizeof(struct trod_detail_instr) + 8, room);

    return p ? memset(p, 0, sizeof(struct trod_detail_instr)) : NULL;
}

/* The opcode of N digits as bytes at P. Two halves of T32 stand in the order of memory. */
TM_INLINE void tm_put_opcode(uint8_t *p, unsigned iset, uint32_t op, unsigned n)
{
    trod_store_le32(p, iset == TROD_ISET_T32 && n == 8 ? op << 16 | op >> 16 : op);
}

/* The opcode alone, of N digits, for row I. False: the pool is full. */
TM_INLINE bool tm_put_code(struct trod_batch *b, size_t i, unsigned iset, uint32_t op, unsigned n)
{
    uint8_t *p = trod_batch_pool(b, sizeof op, &b->code[i]);

    if (!p)
        return false;
    tm_put_opcode(p, iset, op, n);
    b->code[i].len = n / 2;
    return true;
}

/* Row I has the details at ROOM, and the opcode of N digits behind them. */
TM_INLINE void tm_show_details(struct trod_batch *b, size_t i, struct trod_slice room, unsigned n,
                               const uint32_t want)
{
    const uint32_t size = sizeof(struct trod_detail_instr);

    if (want & TROD_COL_DETAIL)
        b->detail[i] = (struct trod_slice){room.off, size};
    if (want & TROD_COL_CODE)
        b->code[i] = (struct trod_slice){room.off + size, n / 2};
}

#endif
