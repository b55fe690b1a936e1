/*
 * fast_line.h - fields of instructions and accesses for the fast path: taken apart, or read from
 * the places that a shape says.
 *
 * See fast.c.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_LINE_H
#define TROD_FORMAT_TARMAC_FAST_LINE_H

#include "format/tarmac/fast.h"

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
           l->mode[l->mode_len + 2] == ' ' &&
           !((tm_mask16(l->mode, ':') | tm_mask16(l->mode, '\t') | tm_mask16(l->mode, '\n')) &
             ((1u << l->mode_len) - 1));
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

/*
 * Can S become the shape of a line of LEN characters? Then set the place of its address A, at AT.
 */
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

/* The line at Q was parsed into L: keep its shape for others. */
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
 * Opcode and details of the instruction L for row N; BEFORE and AFTER: blanks around its text
 * beyond the usual ones. False: the pool is full.
 */
TM_INLINE bool put_details(struct tm_run *r, size_t n, const struct instr_line *l, unsigned before,
                           unsigned after, const uint32_t want)
{
    struct trod_slice room;
    struct trod_detail_instr *detail;

    if (!(want & TROD_COL_DETAIL))
        return tm_put_code(r->b, n, l->iset, l->op, l->op_n);
    if (!(detail = tm_new_details(r->b, &room)))
        return false;
    if (l->mode_len)
        detail->mode = (struct trod_slice){(uint32_t)(l->mode - r->base), l->mode_len};
    detail->addr_digits = l->a.digits;
    detail->paddr_digits = l->a.paddr_digits;
    detail->pad_before = (uint8_t)before;
    detail->pad_after = (uint8_t)after;
    tm_put_opcode((uint8_t *)(detail + 1), l->iset, l->op, l->op_n);
    tm_show_details(r->b, n, room, l->op_n, want);
    return true;
}

/* Take the blanks around the text from *TEXT up to *END. False: there are tabs or CRs besides. */
TM_INLINE bool trim_text(const uint8_t **text, const uint8_t **end)
{
    while (**text == ' ')
        ++*text;
    while (*end > *text && (*end)[-1] == ' ')
        --*end;
    return *end == *text || ((*end)[-1] != '\r' && (*end)[-1] != '\t' && **text != '\t');
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
        return v.n == size * 2 ? tm_end_at(p + v.n) : NULL;
    }
    if (v.n != 8 || p[8] != '_')
        return NULL;
    v = tm_hex_run(p + 9);
    *out = *out << 32 | v.value;
    return v.n == 8 && !v.upper ? tm_end_at(p + 17) : NULL;
}

/* The flag that letter C behind the size of an access is; 0: none. */
TM_INLINE uint32_t tm_mem_flags(const struct tm_dec *d, uint8_t c)
{
    return c == 'X'   ? d->flavour->matcher ? TROD_F_PRIV : TROD_F_EXCLUSIVE
           : c == 'T' ? TROD_F_UNPRIV
           : c == 'L' ? TROD_F_LOCKED
                      : 0;
}

/* The fields of an access's line behind its type word. */
struct mem_line {
    struct address a;
    uint64_t value;
    const uint8_t *nl;
    bool divided; /* see take_data */
};

/* The line at Q, of an access of SIZE bytes, was parsed into L: keep its shape for others. */
static void keep_mem(struct tm_shape *s, const uint8_t *q, unsigned size, const struct mem_line *l)
{
    const size_t len = (size_t)(l->nl + 1 - q);
    const bool divided = size == 8 && l->divided;
    const unsigned n = divided ? 8 : 2 * size, at = (unsigned)(tm_text_end(l->nl) - q) - n;
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

/*
 * The detail of an access of SIZE bytes, DIVIDED as take_data says, in row N, where it has one;
 * *HAS: with it. False: the pool is full.
 */
TM_INLINE bool put_mem_detail(struct tm_run *r, size_t n, unsigned size, const struct mem_line *l,
                              uint32_t *has, const uint32_t want)
{
    const uint8_t sep = size >= 8 ? tm_odd_sep(r->d, l->divided) : 0;
    struct trod_detail_mem *detail;

    if (!sep && !l->a.digits && !l->a.paddr_digits)
        return true;
    *has |= TROD_COL_DETAIL;
    if (!(want & TROD_COL_DETAIL))
        return true;
    if (!(detail = trod_batch_pool(r->b, sizeof *detail, &r->b->detail[n])))
        return false;
    memset(detail, 0, sizeof *detail);
    detail->num.sep = sep;
    detail->addr_digits = l->a.digits;
    detail->paddr_digits = l->a.paddr_digits;
    return true;
}

/* The detail of a register's write with digits in upper case, in row N. False: as above. */
TM_INLINE bool put_upper(struct tm_run *r, size_t n)
{
    struct trod_detail_reg *detail = trod_batch_pool(r->b, sizeof *detail, &r->b->detail[n]);

    if (!detail)
        return false;
    memset(detail, 0, sizeof *detail);
    detail->num.upper = 1;
    return true;
}

#endif
