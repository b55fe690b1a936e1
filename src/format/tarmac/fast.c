/*
 * fast.c - the canonical lines of Fast Models, gem5 and the ES dialect, eaten without looking
 * twice.
 *
 * Instructions, register writes, memory accesses and pictures in their usual form: a time and a
 * head that parse.c has met before, or none; numbers of the usual number of digits, lower case
 * (upper case values of registers), no carriage return. Everything else is left to parse.c, line by
 * line; for what is eaten here the rows are the same as there (tests/unit/test_tarmac_fast.c).
 *
 * The functions may look TM_AHEAD bytes beyond what they eat: a line is taken only if so much and
 * more is there. Each is compiled for all columns, for kind and addresses only, and for any set.
 */
#include "format/tarmac/fast_es.h"

/* What counting looks at: the loops for fewer columns than all are made for these. */
enum {
    NARROW = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_ADDR |
             TROD_COL_PADDR | TROD_COL_TARGET | TROD_COL_SUB
};

/* An address: 8 digits or 16, and perhaps :paddr of 12 or 16 and _NS; a blank follows. */
struct address {
    uint64_t vaddr, paddr;
    uint32_t has, sec;
};

TM_INLINE const uint8_t *take_address(const uint8_t *p, struct address *a)
{
    struct tm_hexrun h = tm_hex_run(p);

    a->vaddr = h.value;
    a->paddr = 0;
    a->has = TROD_COL_ADDR;
    a->sec = 0;
    if (h.upper || h.n != (h.value >> 32 ? 16u : 8u))
        return NULL;
    p += h.n;
    if (*p == ' ')
        return p + 1;
    if (*p != ':')
        return NULL;
    h = tm_hex_run(p + 1);
    a->paddr = h.value;
    a->has = TROD_COL_ADDR | TROD_COL_PADDR;
    if (h.upper || h.n != (h.value >> 48 ? 16u : 12u))
        return NULL;
    p += 1 + h.n;
    a->sec = TROD_SEC_SECURE << TROD_F_SEC_SHIFT;
    if (*p == ' ')
        return p + 1;
    if (p[0] != '_' || p[1] != 'N' || p[2] != 'S' || p[3] != ' ')
        return NULL;
    a->sec = TROD_SEC_NONSECURE << TROD_F_SEC_SHIFT;
    return p + 4;
}

/* IT (index) address opcode iset mode : text; Q is behind the type word. */
TM_INLINE const uint8_t *instr(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                               uint32_t flags, const uint32_t want)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    unsigned digits = tm_decimal_run(q + 1), iset, mode_len;
    const uint8_t *index = q + 1, *mode, *text, *end, *nl;
    struct trod_detail_instr *detail;
    struct tm_hexrun op;
    struct address a;
    uint32_t code, has;
    uint32_t blanks;

    q += 1 + digits;
    if (digits == 0 || digits > 15 || q[0] != ')' || q[1] != ' ' || !(q = take_address(q + 2, &a)))
        return NULL;
    op = tm_hex_run(q);
    if ((op.n != 8 && op.n != 4) || op.upper || q[op.n] != ' ' || q[op.n + 2] != ' ')
        return NULL;
    iset = tm_iset_of(q[op.n + 1]);
    mode = q + op.n + 3;
    blanks = tm_mask16(mode, ' ');
    mode_len = blanks ? (unsigned)__builtin_ctz(blanks) : 0;
    if (!iset || !mode_len || mode[mode_len + 1] != ':' || mode[mode_len + 2] != ' ' ||
        mode[mode_len - 1] == ':' || (tm_mask16(mode, '\t') & ((1u << mode_len) - 1)) ||
        !(r->d->isets >> iset & 1) || (a.vaddr >> 32 && !r->d->wide))
        return NULL;
    text = mode + mode_len + 3;
    nl = tm_find16(text, text + TM_TEXT_MAX, '\n');
    if (nl == text + TM_TEXT_MAX || nl[-1] == '\r')
        return NULL;
    has = a.has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_INDEX | TROD_COL_PC |
          TROD_COL_CODE | TROD_COL_TEXT | TROD_COL_DETAIL | TROD_COL_RAW | r->has;
    end = nl;
    if (want & (TROD_COL_DETAIL | TROD_COL_TEXT)) {
        while (*text == ' ')
            text++;
        while (end > text && end[-1] == ' ')
            end--;
    }
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE)) {
        struct trod_slice room;
        uint8_t *p = trod_batch_pool(b, sizeof *detail + 8, &room);

        if (!p)
            return NULL;
        detail = (struct trod_detail_instr *)(void *)p;
        memset(detail, 0, sizeof *detail);
        detail->mode = (struct trod_slice){(uint32_t)(mode - r->base), mode_len};
        detail->pad_before = (uint8_t)(text - mode - mode_len - 3);
        detail->pad_after = (uint8_t)(nl - end);
        code = (uint32_t)op.value;
        if (iset == TROD_ISET_T32 && op.n == 8)
            code = code << 16 | code >> 16;
        trod_store_le32(p + sizeof *detail, code);
        if (want & TROD_COL_DETAIL)
            b->detail[n] = (struct trod_slice){room.off, sizeof *detail};
        if (want & TROD_COL_CODE)
            b->code[n] = (struct trod_slice){room.off + (uint32_t)sizeof *detail, op.n / 2};
    }
    if (want & TROD_COL_TEXT) {
        b->text[n] = (struct trod_slice){(uint32_t)(text - r->base), (uint32_t)(end - text)};
        has = text == end ? has & ~(uint32_t)TROD_COL_TEXT : has;
    }
    b->has[n] = has & r->want;
    b->kind[n] = TROD_INSTR;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags | flags | a.sec | iset << TROD_F_ISET_SHIFT;
    if (want & TROD_COL_SIZE)
        b->size[n] = op.n / 2;
    if (want & TROD_COL_INDEX)
        b->index[n] = tm_decimal(index, digits);
    if (want & TROD_COL_ADDR)
        b->addr[n] = a.vaddr;
    if (want & TROD_COL_PC)
        b->pc[n] = a.vaddr;
    if (want & TROD_COL_PADDR)
        b->paddr[n] = a.paddr;
    tm_put_line(r, line, nl + 1, want);
    return nl + 1;
}

/* Bit i is set where p[i] ends a register's name in another way than a blank. */
TM_INLINE uint32_t name_breaks(const uint8_t *p)
{
    return tm_mask16(p, '<') | tm_mask16(p, '(') | tm_mask16(p, '\t') | tm_mask16(p, '\n');
}

/* R name value; Q is at the name. */
TM_INLINE const uint8_t *reg(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                             const uint32_t want)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    uint32_t blanks = tm_mask16(q, ' '), has;
    unsigned len = blanks ? (unsigned)__builtin_ctz(blanks) : 0;
    const uint8_t *next;
    struct tm_hexrun v;

    if (!len || (name_breaks(q) & ((1u << len) - 1)))
        return NULL;
    v = tm_hex_run(q + len + 1);
    next = q + len + 1 + v.n;
    if (*next != '\n' || v.n == 0 || v.n % 2)
        return NULL;
    has = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_VALUE | TROD_COL_TEXT |
          TROD_COL_RAW | r->has;
    if (v.upper) {
        has |= TROD_COL_DETAIL;
        if (want & TROD_COL_DETAIL) {
            struct trod_detail_reg *detail = trod_batch_pool(b, sizeof *detail, &b->detail[n]);

            if (!detail)
                return NULL;
            memset(detail, 0, sizeof *detail);
            detail->num.upper = 1;
        }
    }
    b->has[n] = has & r->want;
    b->kind[n] = TROD_REG;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags;
    if (want & TROD_COL_SIZE)
        b->size[n] = v.n / 2;
    if (want & TROD_COL_VALUE)
        b->value[n] = v.value;
    if (want & TROD_COL_TEXT)
        b->text[n] = (struct trod_slice){(uint32_t)(q - r->base), len};
    tm_put_line(r, line, next + 1, want);
    return next + 1;
}

/* Data of SIZE bytes up to the end of the line; *DIVIDED unless 16 digits stand together. */
TM_INLINE const uint8_t *take_data(const uint8_t *p, unsigned size, uint64_t *out, bool *divided)
{
    struct tm_hexrun v = tm_hex_run(p);

    *out = v.value;
    *divided = true;
    if (v.upper)
        return NULL;
    if (size < 8 || v.n == 16) {
        *divided = size < 8;
        return v.n == size * 2 && p[v.n] == '\n' ? p + v.n : NULL;
    }
    if (v.n != 8 || p[8] != '_')
        return NULL;
    v = tm_hex_run(p + 9);
    *out = *out << 32 | v.value;
    return v.n == 8 && !v.upper && p[17] == '\n' ? p + 17 : NULL;
}

/* MR4X address data; Q is at the M. */
TM_INLINE const uint8_t *mem(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                             const uint32_t want)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    const bool write = q[1] == 'W', matcher = r->d->flavour->matcher;
    unsigned size = q[2] - '0';
    uint32_t flags = 0, has;
    struct address a;
    uint64_t value;
    bool divided;

    if (q[1] != 'R' && !write)
        return NULL;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return NULL;
    q += 3;
    if (*q != ' ') {
        flags = *q == 'X'   ? matcher ? TROD_F_PRIV : TROD_F_EXCLUSIVE
                : *q == 'T' ? TROD_F_UNPRIV
                : *q == 'L' ? TROD_F_LOCKED
                            : 0;
        if (!flags || q[1] != ' ')
            return NULL;
        q++;
    }
    if (!(q = take_address(q + 1, &a)) || !(q = take_data(q, size, &value, &divided)))
        return NULL;
    has = a.has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_VALUE | TROD_COL_RAW |
          r->has;
    if (size == 8 && divided == matcher) {
        has |= TROD_COL_DETAIL;
        if (want & TROD_COL_DETAIL) {
            struct trod_detail_mem *detail = trod_batch_pool(b, sizeof *detail, &b->detail[n]);

            if (!detail)
                return NULL;
            memset(detail, 0, sizeof *detail);
            detail->num.sep = divided ? '_' : '0';
        }
    }
    b->has[n] = has & r->want;
    b->kind[n] = write ? TROD_WRITE : TROD_READ;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags | flags | a.sec;
    if (want & TROD_COL_SIZE)
        b->size[n] = size;
    if (want & TROD_COL_ADDR)
        b->addr[n] = a.vaddr;
    if (want & TROD_COL_PADDR)
        b->paddr[n] = a.paddr;
    if (want & TROD_COL_VALUE)
        b->value[n] = value;
    tm_put_line(r, line, q + 1, want);
    return q + 1;
}

/* One line at P; NULL: it is for parse.c. */
TM_INLINE const uint8_t *one(struct tm_run *r, const uint8_t *p, const uint32_t want)
{
    const uint8_t *q = p;

    while (*q == ' ' && q - p < 32)
        q++;
    if (q > p && r->h.picture && (uint32_t)(q - p) == r->h.picture_column)
        return NULL; /* it may go on with the picture above */
    if (tm_is_digit(*q)) {
        if (!(q = tm_take_head(r, q, want)))
            return NULL;
    } else {
        tm_no_head(r);
    }
    switch (q[0]) {
    case 'I':
        if ((q[1] != 'T' && q[1] != 'S') || q[2] != ' ' || q[3] != '(')
            return NULL;
        r->h.picture = 0;
        return instr(r, p, q + 3, q[1] == 'S' ? TROD_F_SKIPPED : 0, want);
    case 'R':
        r->h.picture = 0;
        tm_no_source(r);
        return q[1] == ' ' ? reg(r, p, q + 2, want) : NULL;
    case 'M':
        r->h.picture = 0;
        tm_no_source(r);
        return mem(r, p, q, want);
    case 'E':
        r->h.picture = 0;
        return q[1] == 'S' && q[2] == ' ' ? tm_fast_es(r, p, q + 2, want) : NULL;
    case 'L':
        return q[1] == 'D' && q[2] == ' ' ? tm_fast_picture(r, p, q + 2, TROD_READ, want) : NULL;
    case 'S':
        return q[1] == 'T' && q[2] == ' ' ? tm_fast_picture(r, p, q + 2, TROD_WRITE, want) : NULL;
    default:
        return NULL;
    }
}

TM_INLINE const uint8_t *lines(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                               const uint32_t want)
{
    const uint32_t cap = r->b->cap;

    while (r->n < cap && end - p >= TM_MARGIN) {
        const uint32_t pool_n = r->b->pool_n;
        const struct tm_handed before = r->h;
        const uint8_t *next = one(r, p, want);

        if (!next) {
            /* the line may turn out damaged: nothing of it is inherited from here */
            r->b->pool_n = pool_n;
            r->h = before;
            break;
        }
        p = next;
        r->n++;
        r->lines++;
    }
    return p;
}

static const uint8_t *lines_all(struct tm_run *r, const uint8_t *p, const uint8_t *end)
{
    return lines(r, p, end, TROD_COL_ALL);
}

static const uint8_t *lines_narrow(struct tm_run *r, const uint8_t *p, const uint8_t *end)
{
    return lines(r, p, end, NARROW);
}

static const uint8_t *lines_any(struct tm_run *r, const uint8_t *p, const uint8_t *end)
{
    return lines(r, p, end, r->want);
}

const uint8_t *tm_fast(struct tm_dec *d, const uint8_t *p, const uint8_t *end, struct trod_batch *b)
{
    struct tm_run r = {.d = d, .b = b, .base = b->bytes, .n = b->n, .want = b->have};
    uint32_t first = b->n;

    if (d->heads_next == 0 || end - p < TM_MARGIN || d->opt.endian == TM_BIG)
        return p;
    r.h = (struct tm_handed){.head = &d->heads[d->head],
                             .time = d->time,
                             .stream = d->stream,
                             .picture = d->picture,
                             .picture_column = d->picture_column,
                             .unit = d->unit,
                             .timed = d->timed,
                             .source_seen = d->source_seen};
    if ((r.want & TM_READS) == TM_READS)
        p = lines_all(&r, p, end);
    else if ((r.want & ~(uint32_t)NARROW) == 0)
        p = lines_narrow(&r, p, end);
    else
        p = lines_any(&r, p, end);
    if (r.n == first)
        return p;
    d->time = r.h.time;
    d->head = (uint32_t)(r.h.head - d->heads);
    d->unit = r.h.unit;
    d->timed = r.h.timed;
    d->stream = r.h.stream;
    d->source_seen = r.h.source_seen;
    d->picture = r.h.picture;
    d->picture_column = r.h.picture_column;
    d->lines += r.lines;
    d->rows += r.n - first;
    b->n = r.n;
    return p;
}
