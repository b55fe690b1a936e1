/*
 * fast.c - the canonical lines of Fast Models, gem5 and the ES dialect, eaten without looking
 * twice.
 *
 * Instructions, register writes, memory accesses and pictures in their usual form: a time and a
 * head that parse.c has met before, or none; numbers of the usual number of digits (addresses also
 * of 16), lower case (upper case values of registers), no carriage return. Everything else is left
 * to parse.c, line by line; for what is eaten here the rows are the same as there
 * (tests/unit/test_tarmac_fast.c).
 *
 * The functions may look TM_AHEAD bytes beyond what they eat: a line is taken only if so much and
 * more is there. Each is compiled for all columns, for kind and addresses only, and for any set;
 * and for processors with AVX2 and others.
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
    uint8_t digits, paddr_digits; /* 16 where fewer are usual, else 0: as in details */
};

TM_INLINE const uint8_t *take_address(const uint8_t *p, struct address *a)
{
    struct tm_hexrun h = tm_hex_run(p);

    a->vaddr = h.value;
    a->paddr = 0;
    a->has = TROD_COL_ADDR;
    a->sec = 0;
    a->digits = h.n == 16 && !(h.value >> 32) ? 16 : 0;
    a->paddr_digits = 0;
    if (h.upper || (h.n != 8 && h.n != 16))
        return NULL;
    p += h.n;
    if (*p == ' ')
        return p + 1;
    if (*p != ':')
        return NULL;
    h = tm_hex_run(p + 1);
    a->paddr = h.value;
    a->has = TROD_COL_ADDR | TROD_COL_PADDR;
    a->paddr_digits = h.n == 16 && !(h.value >> 48) ? 16 : 0;
    if (h.upper || (h.n != 12 && h.n != 16))
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

/* What an instruction's line says between its index and its text. */
struct instr_line {
    struct address a;
    const uint8_t *mode, *text;
    uint32_t op;
    unsigned op_n, iset, mode_len;
};

/* Take apart what stands behind the index: ) address opcode iset mode : text, or no mode. */
TM_INLINE bool take_instr(const uint8_t *q, struct instr_line *l)
{
    struct tm_hexrun op;
    uint32_t blanks;

    if (q[0] != ')' || q[1] != ' ' || !(q = take_address(q + 2, &l->a)))
        return false;
    op = tm_hex_run(q);
    if ((op.n != 8 && op.n != 4) || op.upper || q[op.n] != ' ' || q[op.n + 2] != ' ')
        return false;
    l->op = (uint32_t)op.value;
    l->op_n = op.n;
    l->iset = tm_iset_of(q[op.n + 1]);
    l->mode = q + op.n + 3;
    if (l->mode[0] == ':') {
        l->mode_len = 0;
        l->text = l->mode + 2;
        return l->iset && l->mode[1] == ' ';
    }
    blanks = tm_mask16(l->mode, ' ');
    l->mode_len = blanks ? (unsigned)__builtin_ctz(blanks) : 0;
    l->text = l->mode + l->mode_len + 3;
    return l->iset && l->mode_len && l->mode[l->mode_len + 1] == ':' &&
           l->mode[l->mode_len + 2] == ' ' && l->mode[l->mode_len - 1] != ':' &&
           !(tm_mask16(l->mode, '\t') & ((1u << l->mode_len) - 1));
}

/* The address of a line at P that has the shape S. */
TM_INLINE void shaped_address(const struct tm_shape *s, const uint8_t *p, struct address *a)
{
    a->vaddr = tm_shape_number(p, s->vaddr);
    a->paddr = s->has_paddr ? tm_shape_number(p, s->paddr) : 0;
    a->has = s->has;
    a->sec = s->sec;
    a->digits = a->vaddr < s->vaddr_least ? 16 : 0;
    a->paddr_digits = a->paddr < s->paddr_least ? 16 : 0;
}

/* The same as take_instr for a line of the shape S. */
TM_INLINE bool shaped_instr(const struct tm_shape *s, const uint8_t *q, struct instr_line *l,
                            const uint32_t want)
{
    if (!tm_shape_fits(s, q))
        return false;
    shaped_address(s, q, &l->a);
    l->op = want & (TROD_COL_DETAIL | TROD_COL_CODE) ? (uint32_t)tm_shape_number(q, s->code) : 0;
    l->op_n = 2u * s->size;
    l->iset = s->iset;
    l->mode = q + s->mode;
    l->mode_len = s->mode_n;
    l->text = q + s->len;
    return true;
}

/* N digits from place AT on. Adds their places to *HEX. */
static struct tm_digits digits(unsigned at, unsigned n, uint64_t *hex)
{
    *hex |= tm_places(at, n);
    return (struct tm_digits){(uint8_t)at, (uint8_t)(64 - 4 * n)};
}

/* May S become the shape of a line of LEN characters? Then the address in it, A, begins at place
 * AT. */
static bool keep(struct tm_shape *s, size_t len, unsigned at, const struct address *a,
                 uint64_t *hex)
{
    const unsigned n = a->vaddr >> 32 || a->digits ? 16 : 8;
    const unsigned m = a->paddr >> 48 || a->paddr_digits ? 16 : 12;

    if (s->wait && s->wait--)
        return false;
    tm_shape_none(s);
    if (len > TM_SHAPE)
        return false;
    *hex = 0;
    s->vaddr = digits(at, n, hex);
    s->vaddr_least = n == 16 ? UINT64_C(1) << 32 : 0;
    s->has_paddr = a->has & TROD_COL_PADDR;
    s->paddr_least = s->has_paddr && m == 16 ? UINT64_C(1) << 48 : 0;
    if (s->has_paddr)
        s->paddr = digits(at + n + 1, m, hex);
    s->has = a->has;
    s->sec = a->sec;
    return true;
}

/* The line at Q was taken apart to L: others may look like it. */
static void keep_instr(struct tm_shape *s, const uint8_t *q, const struct instr_line *l)
{
    const size_t len = (size_t)(l->text - q), mode = (size_t)(l->mode - q);
    uint64_t hex;

    if (!keep(s, len, 2, &l->a, &hex))
        return;
    s->mode = (uint8_t)mode;
    s->mode_n = (uint8_t)l->mode_len;
    s->iset = (uint8_t)l->iset;
    s->size = (uint8_t)(l->op_n / 2);
    s->code = digits((unsigned)mode - 3 - l->op_n, l->op_n, &hex);
    tm_shape_keep(s, q, (unsigned)len, hex);
}

/*
 * Opcode and details of the instruction L for row r->n; BEFORE and AFTER: blanks around its text
 * beyond the usual ones. False: the pool is full.
 */
TM_INLINE bool put_details(struct tm_run *r, const struct instr_line *l, unsigned before,
                           unsigned after, const uint32_t want)
{
    struct trod_batch *b = r->b;
    struct trod_detail_instr *detail;
    struct trod_slice room;
    uint8_t *p = trod_batch_pool(b, sizeof *detail + 8, &room);

    if (!p)
        return false;
    detail = (struct trod_detail_instr *)(void *)p;
    memset(detail, 0, sizeof *detail);
    if (l->mode_len)
        detail->mode = (struct trod_slice){(uint32_t)(l->mode - r->base), l->mode_len};
    detail->addr_digits = l->a.digits;
    detail->paddr_digits = l->a.paddr_digits;
    detail->pad_before = (uint8_t)before;
    detail->pad_after = (uint8_t)after;
    trod_store_le32(p + sizeof *detail,
                    l->iset == TROD_ISET_T32 && l->op_n == 8 ? l->op << 16 | l->op >> 16 : l->op);
    if (want & TROD_COL_DETAIL)
        b->detail[r->n] = (struct trod_slice){room.off, sizeof *detail};
    if (want & TROD_COL_CODE)
        b->code[r->n] = (struct trod_slice){room.off + (uint32_t)sizeof *detail, l->op_n / 2};
    return true;
}

/* IT (index) address opcode iset mode : text; Q is behind the type word. */
TM_INLINE const uint8_t *instr(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                               uint32_t flags, const uint32_t want, const bool wide)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    const unsigned n_index = tm_decimal_run(q + 1);
    const uint8_t *index = q + 1, *text, *end, *nl;
    struct instr_line l;
    uint32_t has;

    q += 1 + n_index;
    if (n_index == 0 || n_index > 15)
        return NULL;
    if (!wide || !shaped_instr(&r->instr, q, &l, want)) {
        if (!take_instr(q, &l))
            return NULL;
        if (wide)
            keep_instr(&r->instr, q, &l);
    }
    if (!(r->d->isets >> l.iset & 1) || (l.a.vaddr >> 32 && !r->d->wide))
        return NULL;
    text = l.text;
    nl = wide ? tm_line_end32(text, TM_TEXT_MAX) : tm_find16(text, text + TM_TEXT_MAX, '\n');
    if (nl == text + TM_TEXT_MAX || nl[-1] == '\r')
        return NULL;
    has = l.a.has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_INDEX | TROD_COL_PC |
          TROD_COL_CODE | TROD_COL_TEXT | TROD_COL_DETAIL | TROD_COL_RAW | r->has;
    end = nl;
    if (want & (TROD_COL_DETAIL | TROD_COL_TEXT)) {
        while (*text == ' ')
            text++;
        while (end > text && end[-1] == ' ')
            end--;
        if (end > text && end[-1] == '\r')
            return NULL;
    }
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE) &&
        !put_details(r, &l, (unsigned)(text - l.text), (unsigned)(nl - end), want))
        return NULL;
    if (want & TROD_COL_TEXT) {
        b->text[n] = (struct trod_slice){(uint32_t)(text - r->base), (uint32_t)(end - text)};
        has = text == end ? has & ~(uint32_t)TROD_COL_TEXT : has;
    }
    b->has[n] = has & r->want;
    b->kind[n] = TROD_INSTR;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags | flags | l.a.sec | l.iset << TROD_F_ISET_SHIFT;
    if (want & TROD_COL_SIZE)
        b->size[n] = l.op_n / 2;
    if (want & TROD_COL_INDEX)
        b->index[n] = tm_decimal(index, n_index);
    if (want & TROD_COL_ADDR)
        b->addr[n] = l.a.vaddr;
    if (want & TROD_COL_PC)
        b->pc[n] = l.a.vaddr;
    if (want & TROD_COL_PADDR)
        b->paddr[n] = l.a.paddr;
    tm_put_line(r, line, nl + 1, want);
    return nl + 1;
}

/* R name value; Q is at the name. */
TM_INLINE const uint8_t *reg(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                             const uint32_t want, const bool wide)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    const unsigned len = tm_name_before(q, wide);
    const uint8_t *next;
    struct tm_hexrun v;
    uint32_t has;

    if (!len)
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

/* What an access's line says behind its type word. */
struct mem_line {
    struct address a;
    uint64_t value;
    const uint8_t *nl;
    bool divided; /* see take_data */
};

/* The line at Q, of an access of SIZE bytes, was taken apart to L: others may look like it. */
static void keep_mem(struct tm_shape *s, const uint8_t *q, unsigned size, const struct mem_line *l)
{
    const size_t len = (size_t)(l->nl + 1 - q);
    const bool divided = size == 8 && l->divided;
    const unsigned n = divided ? 8 : 2 * size, at = (unsigned)len - 1 - n;
    uint64_t hex;

    if (!keep(s, len, 0, &l->a, &hex))
        return;
    s->divided = divided;
    s->code = digits(at, n, &hex);
    if (divided)
        (void)digits(at - 9, 8, &hex);
    tm_shape_keep(s, q, (unsigned)len, hex);
}

/* A line of the shape S, of an access of SIZE bytes. */
TM_INLINE bool shaped_mem(const struct tm_shape *s, const uint8_t *q, unsigned size,
                          struct mem_line *l, const uint32_t want)
{
    if (!tm_shape_fits(s, q))
        return false;
    shaped_address(s, q, &l->a);
    l->value = 0;
    if (want & TROD_COL_VALUE) {
        l->value = tm_shape_number(q, s->code);
        if (s->divided)
            l->value |= tm_shape_number(q - 9, s->code) << 32;
    }
    l->divided = size < 8 || s->divided;
    l->nl = q + s->len - 1;
    return true;
}

/* Address and data of an access of SIZE bytes at Q, up to the end of the line. */
TM_INLINE bool mem_fields(struct tm_run *r, const uint8_t *q, unsigned size, struct mem_line *l,
                          const uint32_t want, const bool wide)
{
    struct tm_shape *s = &r->mem[__builtin_ctz(size)];
    const uint8_t *data;

    if (wide && shaped_mem(s, q, size, l, want))
        return true;
    if (!(data = take_address(q, &l->a)) ||
        !(l->nl = take_data(data, size, &l->value, &l->divided)))
        return false;
    if (wide)
        keep_mem(s, q, size, l);
    return true;
}

/* MR4X address data; Q is at the M. */
TM_INLINE const uint8_t *mem(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                             const uint32_t want, const bool wide)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    const bool write = q[1] == 'W', matcher = r->d->flavour->matcher;
    unsigned size = q[2] - '0';
    uint32_t flags = 0, has;
    struct mem_line l;
    bool odd_value;

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
    if (!mem_fields(r, q + 1, size, &l, want, wide))
        return NULL;
    has = l.a.has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_VALUE | TROD_COL_RAW |
          r->has;
    odd_value = size == 8 && l.divided == matcher;
    if (odd_value || l.a.digits || l.a.paddr_digits) {
        has |= TROD_COL_DETAIL;
        if (want & TROD_COL_DETAIL) {
            struct trod_detail_mem *detail = trod_batch_pool(b, sizeof *detail, &b->detail[n]);

            if (!detail)
                return NULL;
            memset(detail, 0, sizeof *detail);
            detail->num.sep = !odd_value ? 0 : l.divided ? '_' : '0';
            detail->addr_digits = l.a.digits;
            detail->paddr_digits = l.a.paddr_digits;
        }
    }
    b->has[n] = has & r->want;
    b->kind[n] = write ? TROD_WRITE : TROD_READ;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags | flags | l.a.sec;
    if (want & TROD_COL_SIZE)
        b->size[n] = size;
    if (want & TROD_COL_ADDR)
        b->addr[n] = l.a.vaddr;
    if (want & TROD_COL_PADDR)
        b->paddr[n] = l.a.paddr;
    if (want & TROD_COL_VALUE)
        b->value[n] = l.value;
    tm_put_line(r, line, l.nl + 1, want);
    return l.nl + 1;
}

/* A line whose type word is at Q; the first of them are most of all lines. */
TM_INLINE const uint8_t *typed(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                               const uint32_t want, const bool wide)
{
    if (q[0] == 'I') {
        if ((q[1] != 'T' && q[1] != 'S') || q[2] != ' ' || q[3] != '(')
            return NULL;
        r->h.picture = 0;
        return instr(r, line, q + 3, q[1] == 'S' ? TROD_F_SKIPPED : 0, want, wide);
    }
    if (q[0] == 'R') {
        r->h.picture = 0;
        tm_no_source(r);
        return q[1] == ' ' ? reg(r, line, q + 2, want, wide) : NULL;
    }
    if (q[0] == 'M') {
        r->h.picture = 0;
        tm_no_source(r);
        return mem(r, line, q, want, wide);
    }
    if (q[0] == 'E') {
        r->h.picture = 0;
        return q[1] == 'S' && q[2] == ' ' ? tm_fast_es(r, line, q + 2, want, wide) : NULL;
    }
    if (q[0] == 'L')
        return q[1] == 'D' && q[2] == ' ' ? tm_fast_picture(r, line, q + 2, TROD_READ, want) : NULL;
    if (q[0] == 'S')
        return q[1] == 'T' && q[2] == ' ' ? tm_fast_picture(r, line, q + 2, TROD_WRITE, want)
                                          : NULL;
    return NULL;
}

/* One line at P; NULL: it is for parse.c. */
TM_INLINE const uint8_t *one(struct tm_run *r, const uint8_t *p, const uint32_t want,
                             const bool wide)
{
    const uint8_t *q = p;

    if (*q == ' ') {
        q += (unsigned)__builtin_ctz(~tm_mask16(q, ' '));
        while (*q == ' ' && q - p < 32)
            q++;
    }
    if (q > p && r->h.picture && (uint32_t)(q - p) == r->h.picture_column)
        return NULL; /* it may go on with the picture above */
    if (tm_is_digit(*q)) {
        if (!(q = tm_take_head(r, q, want, wide)))
            return NULL;
    } else {
        tm_no_head(r);
    }
    return typed(r, p, q, want, wide);
}

TM_INLINE const uint8_t *lines(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                               const uint32_t want, const bool wide)
{
    const uint32_t cap = r->b->cap;

    while (r->n < cap && end - p >= TM_MARGIN) {
        const uint32_t pool_n = r->b->pool_n;
        const uint8_t picture = r->h.picture;
        const uint8_t *next;

        r->changed = false;
        next = one(r, p, want, wide);
        if (!next) {
            /* the line may turn out damaged: nothing of it is inherited from here */
            r->b->pool_n = pool_n;
            if (r->changed)
                r->h = r->kept;
            r->h.picture = picture;
            break;
        }
        p = next;
        r->n++;
        r->lines++;
    }
    return p;
}

/* The loop for the columns that R wants. */
TM_INLINE const uint8_t *lines_for(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                   const bool wide)
{
    if ((r->want & TM_READS) == TM_READS)
        return lines(r, p, end, TROD_COL_ALL, wide);
    if ((r->want & ~(uint32_t)NARROW) == 0)
        return lines(r, p, end, NARROW, wide);
    return lines(r, p, end, r->want, wide);
}

static const uint8_t *lines_plain(struct tm_run *r, const uint8_t *p, const uint8_t *end)
{
    return lines_for(r, p, end, false);
}

static TROD_WIDE const uint8_t *lines_wide(struct tm_run *r, const uint8_t *p, const uint8_t *end)
{
    return lines_for(r, p, end, TROD_AVX2);
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
    tm_shape_none(&r.instr);
    for (unsigned i = 0; i < 4; i++)
        tm_shape_none(&r.mem[i]);
    p = trod_wide() ? lines_wide(&r, p, end) : lines_plain(&r, p, end);
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
