/*
 * fast_es.h - the canonical lines of the ES dialect for the fast path: instructions and pictures.
 *
 * See fast.c; the general path is tm_parse_es and picture.c.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_ES_H
#define TROD_FORMAT_TARMAC_FAST_ES_H

#include "format/tarmac/fast.h"

enum { TM_PICTURE = 16 };

/* Where the text of an ES line begins, its blanks counted as instr.c, es_text does. */
struct tm_es_text {
    const uint8_t *from, *end, *nl;
    unsigned before; /* blanks beyond the usual ones */
    bool failed;     /* CCFAIL */
};

TM_INLINE bool tm_take_es_text(const uint8_t *p, unsigned mode_len, struct tm_es_text *t,
                               const bool wide)
{
    unsigned usual = (mode_len + 1 < 9 ? 8 - mode_len : 0) + 7, blanks;
    const uint8_t *at = p;

    t->nl = wide ? tm_line_end32(p, TM_TEXT_MAX) : tm_find16(p, p + TM_TEXT_MAX, '\n');
    if (t->nl == p + TM_TEXT_MAX || t->nl[-1] == '\r')
        return false;
    p += (unsigned)__builtin_ctz(~tm_mask16(p, ' '));
    while (*p == ' ')
        p++;
    if (*p == '\t')
        return false;
    t->failed = *p == 'C' && memcmp(p, "CCFAIL", 6) == 0;
    if (t->failed && p[6] != ' ' && p[6] != '\n')
        return false;
    if (t->failed) {
        usual = 1;
        at = p += 6;
        while (*p == ' ')
            p++;
    }
    blanks = (unsigned)(p - at);
    t->before = blanks < usual ? 0 : blanks - usual;
    t->from = p;
    t->end = t->nl;
    while (t->end > p && t->end[-1] == ' ')
        t->end--;
    return t->end == p || t->end[-1] != '\r';
}

/* ES (address:opcode) iset mode: text; Q is behind the type word. */
TM_INLINE const uint8_t *tm_fast_es(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                                    const uint32_t want, const bool wide)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    struct trod_detail_instr *detail;
    struct tm_hexrun addr, op;
    const uint8_t *mode;
    struct tm_es_text t;
    uint32_t has, colons;
    unsigned iset, mode_len;

    q += (unsigned)__builtin_ctz(~(tm_mask16(q, ' ') & 0xff));
    if (*q != '(')
        return NULL;
    addr = tm_hex_run(q + 1);
    q += 1 + addr.n;
    if (addr.upper || (addr.n != 8 && addr.n != 16) || *q != ':')
        return NULL;
    op = tm_hex_run(q + 1);
    q += 1 + op.n;
    if ((op.n != 8 && op.n != 4) || op.upper || q[0] != ')' || q[1] != ' ' || q[3] != ' ')
        return NULL;
    iset = tm_iset_of(q[2]);
    mode = q + 4;
    colons = tm_mask16(mode, ':');
    mode_len = colons ? (unsigned)__builtin_ctz(colons) : 0;
    if (!iset || !mode_len ||
        ((tm_mask16(mode, ' ') | tm_mask16(mode, '\t') | tm_mask16(mode, '\n')) &
         ((1u << mode_len) - 1)) ||
        !(r->d->isets >> iset & 1) || (addr.value >> 32 && !r->d->wide) ||
        !tm_take_es_text(mode + mode_len + 1, mode_len, &t, wide))
        return NULL;
    has = r->has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC |
          TROD_COL_CODE | TROD_COL_DETAIL | TROD_COL_RAW;
    if (t.end > t.from)
        has |= TROD_COL_TEXT;
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE)) {
        uint32_t code = (uint32_t)op.value;
        struct trod_slice room;
        uint8_t *p = trod_batch_pool(b, sizeof *detail + 8, &room);

        if (!p)
            return NULL;
        detail = (struct trod_detail_instr *)(void *)p;
        memset(detail, 0, sizeof *detail);
        detail->style = TROD_INSTR_ES;
        detail->addr_digits = tm_vdigits(addr.value, addr.n);
        detail->mode = (struct trod_slice){(uint32_t)(mode - r->base), mode_len};
        if (t.end > t.from || t.failed) {
            detail->pad_before = (uint8_t)t.before;
            detail->pad_after = (uint8_t)(t.nl - t.end);
        }
        if (iset == TROD_ISET_T32 && op.n == 8)
            code = code << 16 | code >> 16;
        trod_store_le32(p + sizeof *detail, code);
        if (want & TROD_COL_DETAIL)
            b->detail[n] = (struct trod_slice){room.off, sizeof *detail};
        if (want & TROD_COL_CODE)
            b->code[n] = (struct trod_slice){room.off + (uint32_t)sizeof *detail, op.n / 2};
    }
    b->has[n] = has & r->want;
    b->kind[n] = TROD_INSTR;
    if (want & TROD_COL_TEXT)
        b->text[n] = (struct trod_slice){(uint32_t)(t.from - r->base), (uint32_t)(t.end - t.from)};
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags | (t.failed ? TROD_F_SKIPPED : 0u) | iset << TROD_F_ISET_SHIFT;
    if (want & TROD_COL_SIZE)
        b->size[n] = op.n / 2;
    if (want & TROD_COL_ADDR)
        b->addr[n] = addr.value;
    if (want & TROD_COL_PC)
        b->pc[n] = addr.value;
    tm_put_line(r, line, t.nl + 1, want);
    return t.nl + 1;
}

/* What stands behind the bytes of a picture: [S:|NS:]paddr and attributes. */
struct tm_picture_tail {
    uint64_t paddr;
    const uint8_t *from, *end, *nl; /* the attributes, the end of the line */
    uint8_t digits, prefix;         /* digits 0: no paddr */
};

TM_INLINE bool tm_take_picture_tail(const uint8_t *p, struct tm_picture_tail *t)
{
    struct tm_hexrun h;

    t->nl = tm_find16(p, p + TM_TEXT_MAX, '\n');
    if (t->nl == p + TM_TEXT_MAX || t->nl[-1] == '\r' || t->nl[-1] == '\t')
        return false;
    t->digits = t->prefix = 0;
    t->paddr = 0;
    while (*p == ' ')
        p++;
    if (p[0] == 'S' && p[1] == ':')
        t->prefix = 1;
    else if (p[0] == 'N' && p[1] == 'S' && p[2] == ':')
        t->prefix = 2;
    p += t->prefix ? t->prefix + 1 : 0;
    h = tm_hex_run(p);
    if (h.n) {
        if (h.upper || h.n < 4 || (p[h.n] != ' ' && p[h.n] != '\n'))
            return false;
        t->paddr = h.value;
        t->digits = (uint8_t)h.n;
        p += h.n;
    } else if (t->prefix || *p != '\n') {
        return false;
    }
    while (*p == ' ')
        p++;
    if (*p == '\t')
        return false;
    t->from = p;
    t->end = t->nl;
    while (t->end > p && t->end[-1] == ' ')
        t->end--;
    return t->end == p || t->end[-1] != '\r';
}

/* A run of the bytes of a picture becomes row AT; the first has the record. */
TM_INLINE bool tm_fast_run(struct tm_run *r, uint32_t at, bool first, const struct tm_bytes16 *pic,
                           uint64_t base, uint8_t base_digits, const struct tm_picture_tail *t,
                           unsigned from, unsigned n, uint8_t kind, const uint32_t want)
{
    struct trod_batch *b = r->b;
    uint32_t has = r->has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR |
                   TROD_COL_VALUE | TROD_COL_DETAIL;
    uint64_t v = from >= 8 ? pic->hi >> (from - 8) * 8
                 : from    ? pic->lo >> from * 8 | pic->hi << (64 - from * 8)
                           : pic->lo;

    if (want & TROD_COL_DETAIL) {
        struct trod_detail_mem *d = trod_batch_pool(b, sizeof *d, &b->detail[at]);

        if (!d)
            return false;
        memset(d, 0, sizeof *d);
        d->style = TROD_MEM_PICTURE;
        d->base = base;
        d->addr_digits = base_digits;
        d->paddr_digits = t->digits;
        d->sec_prefix = t->prefix;
        if (t->end > t->from)
            d->note =
                (struct trod_slice){(uint32_t)(t->from - r->base), (uint32_t)(t->end - t->from)};
    }
    if (t->digits)
        has |= TROD_COL_PADDR;
    if (first)
        has |= TROD_COL_RAW;
    b->has[at] = has & r->want;
    b->kind[at] = kind;
    if (want & TROD_COL_FLAGS)
        b->flags[at] = r->flags | (first ? 0u : (uint32_t)TROD_F_CONT) |
                       (uint32_t)t->prefix << TROD_F_SEC_SHIFT;
    if (want & TROD_COL_SIZE)
        b->size[at] = n;
    if (want & TROD_COL_ADDR)
        b->addr[at] = base + from;
    if (want & TROD_COL_PADDR)
        b->paddr[at] = t->paddr + from;
    if (want & TROD_COL_VALUE)
        b->value[at] = n < 8 ? v & (((uint64_t)1 << n * 8) - 1) : v;
    tm_put_columns(r, at, want);
    return true;
}

/* LD or ST base bytes tail; Q is behind the type word. */
TM_INLINE const uint8_t *tm_fast_picture(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                                         uint8_t kind, const uint32_t want)
{
    struct tm_hexrun base = tm_hex_run(q + 1);
    const uint32_t n = r->n;
    const uint8_t *column = q + 1;
    struct tm_picture_tail t;
    struct tm_bytes16 pic;
    uint32_t left, rows = 0;

    q += 1 + base.n;
    if (base.upper || (base.n != 8 && base.n != 16) || q[0] != ' ' ||
        !tm_take_bytes16(q + 1, &pic) || !tm_take_picture_tail(q + 36, &t))
        return NULL;
    tm_no_source(r);
    for (left = pic.known; left; rows++) {
        unsigned from = (unsigned)__builtin_ctz(left);
        unsigned len = (unsigned)__builtin_ctz(~(left >> from));
        unsigned cut = 8 - (unsigned)((base.value + from) & 7);

        len = len < cut ? len : cut;
        if (n + rows >= r->b->cap || !tm_fast_run(r, n + rows, rows == 0, &pic, base.value,
                                                  (uint8_t)base.n, &t, from, len, kind, want))
            return NULL;
        left &= ~(((1u << len) - 1) << from);
    }
    if (!rows)
        return NULL;
    if (want & TROD_COL_RAW)
        r->b->raw[n] = (struct trod_slice){(uint32_t)(line - r->base), (uint32_t)(t.nl + 1 - line)};
    r->n += rows - 1; /* the caller counts one */
    r->h.picture = kind;
    r->h.picture_column = (uint32_t)(column - line);
    return t.nl + 1;
}

#endif
