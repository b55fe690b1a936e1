/*
 * rows_again.c - lines of the listing from pieces of earlier lines.
 *
 * Implements trod_show_text and trod_show_lines of trod/show.h. In a trace of a program most
 * instructions were executed before, and most accesses look like others: then only the last digits
 * of the numbers of row and instruction, and the addresses, are formatted again. Everything that a
 * piece depends on is compared; all else is formatted by rows_text.c, which is the definition: a
 * line is the same whether or not it was made of pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "show/pieces.h"

/* What the rest of a line depends on; with any other of these columns a row is formatted. */
enum {
    FRONT_HAS = TROD_COL_TIME | TROD_COL_STREAM,
    FRONT_MASK = FRONT_HAS | TROD_COL_UNIT,
    SITE_HAS = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_CODE | TROD_COL_SUB |
               TROD_COL_INDEX,
    SHAPE_HAS = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SUB |
                TROD_COL_INDEX,
    NEITHER_HAS = TROD_COL_PADDR | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_DATA |
                  TROD_COL_TEXT | TROD_COL_DETAIL
};

enum { MOST = 1024 }; /* bytes of a line that is made of pieces, and what is spoilt behind it */
_Static_assert(SHOW_HEAD + 2 * SHOW_REST + SHOW_NUMBER + 64 <= MOST, "a head, the rest, digits");

static inline uint32_t has(const struct rows *x, uint32_t i)
{
    return x->b->have & x->has[i];
}

static void forget_heads(struct trod_show *r)
{
    for (unsigned k = 0; k < TROD_KINDS && r->has_heads; k++)
        r->head[k].span = 0;
    r->has_heads = false;
}

void show_forget(struct trod_show *r)
{
    forget_heads(r);
    r->last_record.span = 0;
}

/*
 * What all pieces depend on besides their own row: the widths of columns, the unit of times, and
 * the file with its pool of opcodes. Each time one of these changes, new pieces get another number,
 * and old ones no longer match.
 */
static uint32_t made_for(struct trod_show *r, const struct trod_batch *b)
{
    const struct show_made now = {
        .shared = b->shared,
        .width = {r->time, r->stream, r->kind, r->addr, r->size, r->value, r->symbol, r->text},
        .unit = r->meta->unit,
        .number = r->made.number,
        .file = b->meta ? b->meta->file : 0,
    };

    if (memcmp(&now, &r->made, sizeof now) != 0) {
        r->made = now;
        r->made.number++;
        forget_heads(r);
    }
    return r->made.number;
}

/* The same, for rows of X from here on. */
static void make_for(struct trod_show *r, struct rows *x)
{
    const uint32_t made = made_for(r, x->b);

    if (made == x->made)
        return;
    x->made = made;
    x->addr_most = r->addr < 16 ? (UINT64_C(1) << 4 * r->addr) - 1 : UINT64_MAX;
}

/*
 * Does N match V except for its last three digits? Then write the number to P, which is set behind
 * it. AFTER: what comes behind the digits, an enum below.
 */
enum after { BLANK, BRACE };

TROD_HOT bool put_again(const struct trod_show *r, const struct show_number *n, uint64_t v,
                        char **p, enum after after, unsigned first, unsigned all, const bool wide)
{
    const uint64_t last = v - n->thousands;
    char *at = *p;

    if (last >= n->span)
        return false;
    *p = put_text(at, n->text, n->len, first, all, wide);
    memcpy(at + n->last, r->thousand[after][last], 4);
    return true;
}

/*
 * V, whose last digit is before END, is in the LEN bytes at TEXT: keep them as N for its thousand.
 */
static void keep_number(struct show_number *n, uint64_t v, const char *text, const char *end,
                        size_t len)
{
    if (v < 1000 || len > sizeof n->text)
        return;
    n->thousands = v - v % 1000;
    n->span = 1000;
    n->last = (uint64_t)(end - text) - 3;
    n->len = len;
    memcpy(n->text, text, len);
}

void show_prepare(struct trod_show *r)
{
    r->made.number = 1; /* 0: no piece has it */
    for (unsigned i = 0; i < 1000; i++)
        for (unsigned k = 0; k < 2; k++) {
            const char digits[4] = {(char)('0' + i / 100), (char)('0' + i / 10 % 10),
                                    (char)('0' + i % 10), k == BRACE ? '}' : ' '};

            memcpy(r->thousand[k][i], digits, sizeof digits);
        }
}

static char *put_record(struct trod_show *r, uint64_t record, char *p)
{
    char *end = p;

    if (put_again(r, &r->last_record, record, &end, BLANK, SHOW_NUMBER, SHOW_NUMBER, false))
        return end;
    if (trod_digits(record) > r->record) {
        r->record = trod_digits(record);
        show_forget(r);
    }
    end = trod_put_right(p, record, r->record);
    keep_number(&r->last_record, record, p, end, (size_t)(end - p));
    return end;
}

static char *new_index(struct trod_show *r, uint64_t index, char *p)
{
    char *digits = trod_put_u64(p, index), *end = digits;

    *end++ = '}';
    if (r->colour) {
        memcpy(end, SHOW_PLAIN, sizeof SHOW_PLAIN - 1);
        end += sizeof SHOW_PLAIN - 1;
    }
    *end++ = '\n';
    keep_number(&r->last_index, index, p, digits, (size_t)(end - p));
    return end;
}

/* The number of an instruction, and what stands behind it. */
TROD_HOT char *put_index(struct trod_show *r, uint64_t index, char *p, const bool wide)
{
    char *end = p;

    return put_again(r, &r->last_index, index, &end, BRACE, SHOW_NUMBER, SHOW_NUMBER, wide)
               ? end
               : new_index(r, index, p);
}

/*
 * The columns from the time to the kind of row I; F keeps them for the next row with the same time.
 */
static char *new_front(struct trod_show *r, struct rows *x, uint32_t i, char *p)
{
    struct show_front *f = &r->front[x->kind[i]];
    const bool kept = x->fronts && (has(x, i) & FRONT_MASK) == FRONT_HAS;
    const unsigned time = r->time, stream = r->stream, kind = r->kind;
    bool same;
    char *end;

    show_turn(r, x->b, i);
    end = show_make_front(r, x->b, i, p);
    same = r->time == time && r->stream == stream && r->kind == kind;
    if (kept && f->time == x->time[i] && f->stream == x->stream[i] && f->made == x->made &&
        end - p <= SHOW_FRONT && same) {
        f->len = (uint32_t)(end - p);
        memcpy(f->text, p, f->len);
    } else if (kept) { /* not kept before it comes again: in many traces it never does */
        f->time = x->time[i];
        f->stream = x->stream[i];
        f->made = x->made;
        f->len = 0;
    }
    if (!same)
        make_for(r, x);
    return end;
}

/* The number, and the columns up to the kind, of row I. They are kept for the next rows. */
static char *new_head(struct trod_show *r, struct rows *x, uint32_t i, uint64_t record, char *p)
{
    const struct show_front *f = &r->front[x->kind[i]];
    char *digits = put_record(r, record, p), *end;

    if (f->len == 0 || f->time != x->time[i] || f->stream != x->stream[i] || f->made != x->made ||
        !x->fronts || (has(x, i) & FRONT_MASK) != FRONT_HAS)
        return new_front(r, x, i, digits);
    memcpy(digits, f->text, f->len);
    end = digits + f->len;
    r->has_heads = true;
    if (i < x->same)
        keep_number(&r->head[x->kind[i]], record, p, digits, (size_t)(end - p));
    return end;
}

static char *new_rest(struct trod_show *r, struct rows *x, uint32_t i, char *p)
{
    p = show_make_rest(r, x->b, i, p);
    x->until = 0; /* its length is not known: look again whether there is room */
    make_for(r, x);
    return p;
}

/* The line of an instruction from the address on, which S keeps. */
static char *new_site(struct trod_show *r, struct rows *x, uint32_t i, struct show_site *s, char *p)
{
    static const char anew[] = "newcode index=";
    const uint32_t made = x->made;
    const struct trod_slice code = x->code[i];
    char *end = new_rest(r, x, i, p);
    size_t len = (size_t)(r->index_at - p);

    if (x->flags[i] & TROD_F_NEWCODE) { /* what was made for the one before is wrong */
        struct show_site *two = r->site + ((size_t)(s - r->site) & ~(size_t)1);

        two[0].seen.made = two[1].seen.made = 0;
        if (memcmp(r->index_at - (sizeof anew - 1), anew, sizeof anew - 1) != 0)
            return end;
        len -= 8; /* the next time it will not be new */
    }
    if (len > SHOW_REST || x->made != made || code.len == 0 || code.len > SHOW_CODE)
        return end;
    s->addr = x->addr[i];
    s->code = code;
    memcpy(s->bytes, trod_batch_bytes(x->b, code), code.len);
    s->seen = seen(x, i);
    s->seen.flags &= ~(uint32_t)TROD_F_NEWCODE;
    s->len = len;
    memcpy(s->text, p, len - 6);
    memcpy(s->text + len - 6, "index=", 6);
    return end;
}

static char *new_shape(struct trod_show *r, struct rows *x, uint32_t i, struct show_shape *s,
                       char *p)
{
    const uint32_t made = x->made;
    const unsigned digits = show_address_digits(x->pc[i]);
    char *end = new_rest(r, x, i, p);
    const char *text = p + 2 + r->addr, *pc = r->pc_at + 2;

    if (pc - text > SHOW_REST || r->index_at - (pc + digits) > SHOW_TAIL || x->made != made)
        return end;
    s->seen = seen(x, i);
    s->pc_digits = digits;
    s->pc_least = digits == 8 ? 0 : digits == 12 ? UINT64_C(1) << 32 : UINT64_C(1) << 48;
    s->pc_span = (UINT64_MAX >> (64 - 4 * digits)) - s->pc_least;
    s->len = (uint32_t)(pc - text);
    memcpy(s->text, text, s->len);
    s->tail_len = (uint32_t)(r->index_at - (pc + digits));
    memcpy(s->tail, pc + digits, s->tail_len);
    return end;
}

_Static_assert((TROD_BR_COND_TAKEN ^ TROD_BR_COND_UNTAKEN) & 1, "kept at different places");

/* The line of an instruction, from the address on: where it is kept depends on branches, too. */
TROD_HOT char *site(struct trod_show *r, struct rows *x, uint32_t i, char *p, const bool wide)
{
    const uint64_t hash = x->addr[i] * UINT64_C(0x9e3779b97f4a7c15);
    struct show_site *s = &r->site[hash >> (64 - SHOW_PLACE_BITS) ^ (x->flags[i] & 1)];

    if (!(wide ? same_site_wide(s, x, i) : same_site(s, x, i)))
        return new_site(r, x, i, s, p);
    return put_index(r, x->index[i], put_text(p, s->text, s->len, 96, SHOW_REST, wide), wide);
}

/* The line of a READ or WRITE, from the address on. */
TROD_HOT char *shape(struct trod_show *r, struct rows *x, uint32_t i, char *p, const bool wide)
{
    const uint64_t addr = x->addr[i], pc = x->pc[i];
    const uint32_t size = x->size[i];
    struct show_shape *s =
        &r->shape[((size ^ size >> 4) & (SHOW_SHAPES / 2 - 1)) * 2 + (x->kind[i] == TROD_WRITE)];

    if (addr > x->addr_most || pc - s->pc_least > s->pc_span ||
        !(wide ? same_seen_wide(&s->seen, x, i) : same_seen(&s->seen, x, i)))
        return new_shape(r, x, i, s, p);
    memcpy(p, "0x", 2);
    p = put_hex(p + 2, addr, r->addr, wide);
    p = put_text(p, s->text, s->len, 64, SHOW_REST, wide);
    p = put_hex(p, pc, s->pc_digits, wide);
    memcpy(p, s->tail, SHOW_TAIL);
    return put_index(r, x->index[i], p + s->tail_len, wide);
}

/* Rows from I on have the same time and stream: the heads are to be theirs. */
TROD_HOT void new_run(struct trod_show *r, struct rows *x, uint32_t i, const bool wide)
{
    const uint64_t time = x->time[i];
    const uint32_t stream = x->stream[i], end = x->b->n;

    if (r->run_time != time || r->run_stream != stream)
        forget_heads(r);
    r->run_time = time;
    r->run_stream = stream;
    for (i++; wide && end - i >= 8 && same_run_8(x, i, time, stream); i += 8)
        ;
    while (i < end && x->time[i] == time && x->stream[i] == stream)
        i++;
    x->same = i;
}

/* A line that has not all pieces. */
static TROD_APART char *other(struct trod_show *r, struct rows *x, uint32_t i, uint64_t record,
                              char *p)
{
    const struct form *form = &x->form[x->kind[i]];
    const bool fits = (x->has[i] & form->mask) == form->has;

    p = new_head(r, x, i, record, p);
    if (!fits)
        return new_rest(r, x, i, p);
    return x->kind[i] == TROD_INSTR ? site(r, x, i, p, false) : shape(r, x, i, p, false);
}

TROD_HOT char *line(struct trod_show *r, struct rows *x, uint32_t i, uint64_t record, char *p,
                    const bool wide)
{
    const unsigned kind = x->kind[i];
    const struct form *form = &x->form[kind];

    if ((x->has[i] & form->mask) != form->has ||
        !put_again(r, form->head, record, &p, BLANK, 64, SHOW_HEAD, wide))
        return other(r, x, i, record, p);
    return kind == TROD_INSTR ? site(r, x, i, p, wide) : shape(r, x, i, p, wide);
}

/* Rows of KIND are to have these columns, and no other of MASK. */
static void set_form(struct rows *x, const struct trod_show *r, unsigned kind, uint32_t columns,
                     uint32_t mask)
{
    const bool can = (x->b->have & columns) == columns;

    x->form[kind] = (struct form){can ? x->b->have & mask : 0, can ? columns : 1, &r->head[kind]};
}

/* What the rows of B from FROM on need, the first of which is row RECORD + FROM. */
static struct rows rows_of(struct trod_show *r, const struct trod_batch *b, uint32_t from,
                           uint64_t record)
{
    const uint32_t absolute = r->times == TROD_SHOW_ABSOLUTE ? b->have : 0;
    struct rows x = {
        .b = b,
        .kind = b->kind,
        .sub = b->sub,
        .has = b->has,
        .flags = b->flags,
        .size = b->size,
        .stream = b->stream,
        .time = b->time,
        .addr = b->addr,
        .pc = b->pc,
        .index = b->index,
        .code = b->code,
        .fronts = (absolute & FRONT_HAS) == FRONT_HAS,
        .same = from,
    };

    make_for(r, &x);
    if (!r->site && (b->have & SITE_HAS) == SITE_HAS) {
        r->site = calloc((size_t)1 << SHOW_PLACE_BITS, sizeof *r->site);
        r->next = record + from;
    }
    r->gaps = r->gaps || (r->site && record + from != r->next);
    x.gaps = r->gaps;
    for (unsigned k = 0; k < TROD_KINDS; k++)
        x.form[k] = (struct form){.has = 1}; /* of none: no row fits */
    if (x.fronts && r->site)
        set_form(&x, r, TROD_INSTR, FRONT_HAS | SITE_HAS, FRONT_MASK | SITE_HAS | NEITHER_HAS);
    for (unsigned k = TROD_READ; k <= TROD_WRITE && x.fronts && !r->symbols; k++)
        set_form(&x, r, k, FRONT_HAS | SHAPE_HAS,
                 FRONT_MASK | SHAPE_HAS | NEITHER_HAS | TROD_COL_CODE);
    return x;
}

char *trod_show_text(struct trod_show *r, const struct trod_batch *b, uint32_t i, uint64_t record,
                     char *p)
{
    struct rows x = rows_of(r, b, i, record - i);

    r->next = record + 1;
    return other(r, &x, i, record, p);
}

/* The rows that KEEP names, from I on. Returns behind the last that was looked at. */
TROD_HOT uint32_t lines(struct trod_show *r, struct rows *x, const uint8_t *keep, uint64_t record,
                        uint32_t i, char **at, const char *last, const bool wide)
{
    const uint32_t end = x->b->n;
    char *p = *at;

    while (i < end && p <= last) {
        const size_t room = (size_t)(last - p) / MOST + 1;

        if (x->fronts && i >= x->same)
            new_run(r, x, i, wide);
        x->until = x->fronts ? x->same : end;
        if (x->until - i > room)
            x->until = i + (uint32_t)room;
        do {
            if (keep[i])
                p = line(r, x, i, record + i, p, wide);
        } while (++i < x->until);
    }
    *at = p;
    return i;
}

static uint32_t lines_plain(struct trod_show *r, struct rows *x, const uint8_t *keep,
                            uint64_t record, uint32_t i, char **p, const char *last)
{
    return lines(r, x, keep, record, i, p, last, false);
}

static TROD_WIDE uint32_t lines_wide(struct trod_show *r, struct rows *x, const uint8_t *keep,
                                     uint64_t record, uint32_t i, char **p, const char *last)
{
    return lines(r, x, keep, record, i, p, last, TROD_AVX2);
}

char *trod_show_lines(struct trod_show *r, const struct trod_batch *b, const uint8_t *keep,
                      uint64_t record, uint32_t *row, char *p, const char *end)
{
    const uint32_t from = *row;
    struct rows x;

    r->gaps = r->gaps || memchr(keep + from, 0, b->n - from);
    x = rows_of(r, b, from, record);
    if (end - p >= TROD_SHOW_LINE)
        *row = trod_wide() ? lines_wide(r, &x, keep, record, *row, &p, end - TROD_SHOW_LINE)
                           : lines_plain(r, &x, keep, record, *row, &p, end - TROD_SHOW_LINE);
    r->next = record + *row;
    return p;
}
