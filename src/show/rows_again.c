/*
 * rows_again.c - lines of the listing from pieces that were made before.
 *
 * Implements trod_show_text and trod_show_lines of trod/show.h. In a trace of a program most
 * instructions were executed before and most accesses look like others: of the line only the
 * numbers of row and instruction and the addresses are made anew. What a piece depends on is
 * compared; all else is formatted by rows_text.c, which is the definition: a line is the same
 * whether or not it was put together here.
 */
#include <stdlib.h>
#include <string.h>

#include "core/wide.h"
#include "show/rows.h"

/* What the rest of a line depends on; with any other of these columns a row is formatted. */
enum {
    FRONT_HAS = TROD_COL_TIME | TROD_COL_STREAM,
    FRONT_MASK = FRONT_HAS | TROD_COL_UNIT,
    SITE_HAS = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_CODE | TROD_COL_SUB |
               TROD_COL_INDEX,
    SHAPE_HAS = TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC | TROD_COL_SUB |
                TROD_COL_INDEX,
    NEVER = TROD_COL_UNIT | TROD_COL_PADDR, /* not of the masks' columns */
    NEITHER_HAS = TROD_COL_PADDR | TROD_COL_TARGET | TROD_COL_VALUE | TROD_COL_DATA |
                  TROD_COL_TEXT | TROD_COL_DETAIL
};

/* What the loop below needs of the batch: not read again for each row. */
struct rows {
    const struct trod_batch *b;
    const uint8_t *kind;
    const uint16_t *sub;
    const uint32_t *has, *flags, *size, *stream;
    const uint64_t *time, *addr, *pc, *index;
    const struct trod_slice *code;
    uint32_t have;
    uint32_t front_has, site_has, shape_has; /* the enums above; NEVER: pieces cannot be used */
    uint32_t made;                           /* of the pieces that are right */
};

static inline uint32_t has(const struct rows *x, uint32_t i)
{
    return x->have & x->has[i];
}

/*
 * What the pieces are right for besides their own row: the widths of columns, the unit of times and
 * the pool of opcodes. Each time that one of these changes, pieces get another number.
 */
static uint32_t made_for(struct trod_show *r, const struct trod_batch *b)
{
    const struct show_made now = {
        .shared = b->shared,
        .width = {r->time, r->stream, r->kind, r->addr, r->size, r->value, r->symbol, r->text},
        .unit = r->meta->unit,
        .number = r->made.number,
    };

    if (memcmp(&now, &r->made, sizeof now) != 0) {
        r->made = now;
        r->made.number++;
    }
    return r->made.number;
}

/* N bytes, a constant multiple of 16, in the registers of vectors: no call, no string instruction.
 */
TROD_HOT void copy_16(char *p, const char *from, unsigned n)
{
    for (unsigned i = 0; i < n; i += 16)
        memcpy(p + i, from + i, 16);
}

/* Are the digits of V those of N, but for the last? They go to P then, which gets behind them. */
TROD_HOT bool put_again(const struct show_number *n, uint64_t v, char **p)
{
    const uint64_t last = v - n->tens;

    if (last > 9)
        return false;
    memcpy(*p, n->digits, sizeof n->digits);
    *p += n->len;
    (*p)[-1] = (char)('0' + last);
    return true;
}

void show_number(struct show_number *n, uint64_t v, unsigned width)
{
    n->len = (unsigned)(trod_put_right(n->digits, v, width) - n->digits);
    n->tens = v - v % 10;
}

static char *put_new(struct show_number *n, uint64_t v, unsigned width, char *p)
{
    show_number(n, v, width);
    memcpy(p, n->digits, sizeof n->digits);
    return p + n->len;
}

static char *new_record(struct trod_show *r, uint64_t record, char *p)
{
    if (trod_digits(record) > r->record)
        r->record = trod_digits(record);
    return put_new(&r->last_record, record, r->record, p);
}

/* The number of an instruction, and what stands behind it. */
TROD_HOT char *put_index(struct trod_show *r, uint64_t index, char *p)
{
    if (!put_again(&r->last_index, index, &p))
        p = put_new(&r->last_index, index, 0, p);
    *p++ = '}';
    if (r->colour) {
        memcpy(p, SHOW_PLAIN, sizeof SHOW_PLAIN - 1);
        p += sizeof SHOW_PLAIN - 1;
    }
    *p++ = '\n';
    return p;
}

/* The columns from the time to the kind of row I, which F is for the next time if it comes again.
 */
static char *new_front(struct trod_show *r, struct rows *x, uint32_t i, char *p)
{
    struct show_front *f = &r->front[x->kind[i]];
    const bool kept = (has(x, i) & FRONT_MASK) == x->front_has;
    char *end;

    show_turn(r, x->b, i);
    end = show_make_front(r, x->b, i, p);
    if (kept && f->time == x->time[i] && f->stream == x->stream[i] && f->made == x->made &&
        end - p <= SHOW_FRONT && made_for(r, x->b) == x->made) {
        f->len = (uint32_t)(end - p);
        memcpy(f->text, p, f->len);
    } else if (kept) { /* not kept before it comes again: in many traces it never does */
        f->time = x->time[i];
        f->stream = x->stream[i];
        f->made = x->made;
        f->len = 0;
    }
    x->made = made_for(r, x->b);
    return end;
}

TROD_HOT char *front(struct trod_show *r, struct rows *x, uint32_t i, uint32_t columns, char *p)
{
    const struct show_front *f = &r->front[x->kind[i]];

    if (f->len == 0 || f->time != x->time[i] || f->stream != x->stream[i] || f->made != x->made ||
        (columns & FRONT_MASK) != x->front_has)
        return new_front(r, x, i, p);
    copy_16(p, f->text, 48);
    if (f->len > 48)
        copy_16(p + 48, f->text + 48, SHOW_FRONT - 48);
    return p + f->len;
}

TROD_HOT char *put_rest(char *p, const char *text, unsigned len)
{
    copy_16(p, text, 96);
    if (len > 96)
        copy_16(p + 96, text + 96, SHOW_REST - 96);
    return p + len;
}

static char *new_rest(struct trod_show *r, struct rows *x, uint32_t i, char *p)
{
    p = show_make_rest(r, x->b, i, p);
    x->made = made_for(r, x->b);
    return p;
}

/* The same, which S keeps. */
static char *new_site(struct trod_show *r, struct rows *x, uint32_t i, struct show_site *s, char *p)
{
    const uint32_t made = x->made;
    char *end = new_rest(r, x, i, p);

    if (x->flags[i] & TROD_F_NEWCODE) { /* what was made for the one before is wrong */
        struct show_site *two = r->site + ((size_t)(s - r->site) & ~(size_t)1);

        two[0].made = two[1].made = 0;
    }
    if (r->index_at - p > SHOW_REST || x->made != made || x->flags[i] & TROD_F_NEWCODE)
        return end;
    s->addr = x->addr[i];
    s->made = made;
    s->code = x->code[i].off & TROD_SLICE_SHARED ? x->code[i].off : 0;
    s->n = (uint8_t)x->code[i].len;
    if (s->code == 0)
        memcpy(s->bytes, trod_batch_bytes(x->b, x->code[i]), s->n);
    s->size = x->size[i];
    s->flags = x->flags[i];
    s->sub = x->sub[i];
    s->len = (uint16_t)(r->index_at - p);
    memcpy(s->text, p, s->len);
    return end;
}

/* Has row I the opcode bytes that S was made for? */
TROD_HOT bool same_code(const struct show_site *s, const struct rows *x, uint32_t i)
{
    if (x->code[i].off & TROD_SLICE_SHARED)
        return s->code == x->code[i].off;
    return s->code == 0 && s->n == x->code[i].len &&
           memcmp(s->bytes, trod_batch_bytes(x->b, x->code[i]), s->n) == 0;
}

/* The line of an instruction, from the address on: there are two for each place. */
TROD_HOT char *site(struct trod_show *r, struct rows *x, uint32_t i, char *p)
{
    const uint64_t addr = x->addr[i], hash = addr * UINT64_C(0x9e3779b97f4a7c15);
    const uint32_t flags = x->flags[i];
    struct show_site *s = &r->site[2 * (hash >> (64 - SHOW_PLACE_BITS)) +
                                   ((flags & TROD_F_BRANCH) == TROD_BR_COND_TAKEN)];

    if (s->made != x->made || s->addr != addr || !same_code(s, x, i) || s->size != x->size[i] ||
        s->flags != flags || s->sub != x->sub[i])
        return new_site(r, x, i, s, p);
    return put_index(r, x->index[i], put_rest(p, s->text, s->len));
}

static char *new_shape(struct trod_show *r, struct rows *x, uint32_t i, struct show_shape *s,
                       char *p)
{
    const uint32_t made = x->made;
    char *end = new_rest(r, x, i, p);

    if (r->index_at - p > SHOW_REST || x->made != made)
        return end;
    s->made = made;
    s->size = x->size[i];
    s->flags = x->flags[i];
    s->sub = x->sub[i];
    s->len = (uint16_t)(r->index_at - p);
    s->pc = (uint16_t)(r->pc_at + 2 - p);
    s->kind = x->kind[i];
    s->pc_digits = (uint8_t)show_address_digits(x->pc[i]);
    memcpy(s->text, p, s->len);
    return end;
}

/* The line of an access, from the address on. */
TROD_HOT char *shape(struct trod_show *r, struct rows *x, uint32_t i, char *p)
{
    const uint64_t addr = x->addr[i], pc = x->pc[i];
    const uint32_t size = x->size[i];
    struct show_shape *s = &r->shape[(x->kind[i] + size / 4) % SHOW_SHAPES];
    const bool wide = addr >> 32 >> (4 * r->addr - 32) % 64; /* has more digits than the column */

    if (wide || s->kind != x->kind[i] || s->size != size || s->flags != x->flags[i] ||
        s->sub != x->sub[i] || s->made != x->made || s->pc_digits != show_address_digits(pc))
        return new_shape(r, x, i, s, p);
    put_rest(p, s->text, s->len);
    trod_put_hex(p + 2, addr, r->addr);
    trod_put_hex(p + s->pc, pc, s->pc_digits);
    return put_index(r, x->index[i], p + s->len);
}

static struct rows rows_of(struct trod_show *r, const struct trod_batch *b)
{
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
        .have = b->have,
        .front_has = r->times == TROD_SHOW_ABSOLUTE ? FRONT_HAS : NEVER,
        .site_has = NEVER,
        .shape_has = r->symbols ? NEVER : SHAPE_HAS,
        .made = made_for(r, b),
    };

    if (!r->site && (b->have & SITE_HAS) == SITE_HAS)
        r->site = calloc((size_t)2 << SHOW_PLACE_BITS, sizeof *r->site);
    if (r->site)
        x.site_has = SITE_HAS;
    return x;
}

TROD_HOT char *line(struct trod_show *r, struct rows *x, uint32_t i, uint64_t record, char *p)
{
    const uint32_t columns = has(x, i);
    const unsigned kind = x->kind[i];

    if (!put_again(&r->last_record, record, &p))
        p = new_record(r, record, p);
    p = front(r, x, i, columns, p);
    if (kind == TROD_INSTR && (columns & (SITE_HAS | NEITHER_HAS)) == x->site_has &&
        x->code[i].len && (x->code[i].off & TROD_SLICE_SHARED || x->code[i].len <= SHOW_CODE))
        return site(r, x, i, p);
    if ((kind == TROD_READ || kind == TROD_WRITE) &&
        (columns & (SHAPE_HAS | NEITHER_HAS | TROD_COL_CODE)) == x->shape_has)
        return shape(r, x, i, p);
    return new_rest(r, x, i, p);
}

char *trod_show_text(struct trod_show *r, const struct trod_batch *b, uint32_t i, uint64_t record,
                     char *p)
{
    struct rows x = rows_of(r, b);

    return line(r, &x, i, record, p);
}

char *trod_show_lines(struct trod_show *r, const struct trod_batch *b, const uint8_t *keep,
                      uint64_t record, uint32_t *row, char *p, const char *end)
{
    struct rows x = rows_of(r, b);
    uint32_t i = *row;

    for (; i < b->n && end - p >= TROD_SHOW_LINE; i++)
        if (keep[i])
            p = line(r, &x, i, record + i, p);
    *row = i;
    return p;
}
