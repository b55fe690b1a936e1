/*
 * fast_es.h - the canonical lines of the ES dialect for the fast path: instructions and pictures.
 *
 * See fast.c; the general path is tm_parse_es and picture.c.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_ES_H
#define TROD_FORMAT_TARMAC_FAST_ES_H

#include "format/tarmac/fast.h"

enum {
    TM_PICTURE_TEXT = 35, /* characters that the 16 bytes of a picture are */
    TM_PICTURE_ROWS = 16  /* more than these it cannot become */
};

/* Where the text of an ES line begins, its blanks counted as instr.c, es_text does. */
struct tm_es_text {
    const uint8_t *from, *end, *nl;
    unsigned before, after; /* blanks beyond the usual ones */
    bool failed;            /* CCFAIL */
};

TM_INLINE bool tm_take_es_text(const uint8_t *p, unsigned mode_len, struct tm_es_text *t,
                               const uint32_t want, const bool wide)
{
    unsigned usual = (mode_len + 1 < 9 ? 8 - mode_len : 0) + 7, blanks;
    const uint8_t *at = p;

    t->nl = wide ? tm_line_end32(p, TM_TEXT_MAX) : tm_find16(p, p + TM_TEXT_MAX, '\n');
    if (t->nl == p + TM_TEXT_MAX)
        return false;
    p += wide ? tm_blanks32(p) : (unsigned)__builtin_ctz(~tm_mask16(p, ' '));
    t->failed = false;
    if (*p <= ' ' || *p == 'C') {
        while (*p == ' ')
            p++;
        t->failed = *p == 'C' && memcmp(p, "CCFAIL", 6) == 0;
        if (*p == '\t' || (t->failed && p[6] != ' ' && p[6] != '\n'))
            return false;
    }
    t->before = t->after = 0;
    t->from = t->end = p;
    if (!(want & (TROD_COL_DETAIL | TROD_COL_TEXT)))
        return true;
    if (t->failed) {
        usual = 1;
        at = p += 6;
        while (*p == ' ')
            p++;
    }
    blanks = (unsigned)(p - at);
    t->before = blanks < usual ? 0 : blanks - usual;
    t->from = p;
    t->end = tm_text_end(t->nl);
    while (t->end > p && t->end[-1] == ' ')
        t->end--;
    t->after = (unsigned)(tm_text_end(t->nl) - t->end);
    return t->end == p || (t->end[-1] != '\r' && t->end[-1] != '\t' && *p != '\t');
}

/* What an ES line says before its text. */
struct tm_es_line {
    uint64_t addr;
    const uint8_t *at, *mode, *text; /* the address, the mode, behind its colon */
    uint32_t op;
    unsigned addr_n, op_n, iset, mode_len; /* digits of the address and the opcode */
};

/* Take apart (address:opcode) iset mode: at Q, behind the type word. */
TM_INLINE bool tm_take_es(const uint8_t *q, struct tm_es_line *l)
{
    struct tm_hexrun addr, op;
    uint32_t colons;

    q += (unsigned)__builtin_ctz(~(tm_mask16(q, ' ') & 0xff));
    if (*q != '(')
        return false;
    addr = tm_hex_run(q + 1);
    l->at = q + 1;
    q += 1 + addr.n;
    if (addr.upper || (addr.n != 8 && addr.n != 16) || *q != ':')
        return false;
    op = tm_hex_run(q + 1);
    q += 1 + op.n;
    if ((op.n != 8 && op.n != 4) || op.upper || q[0] != ')' || q[1] != ' ' || q[3] != ' ')
        return false;
    l->addr = addr.value;
    l->addr_n = addr.n;
    l->op = (uint32_t)op.value;
    l->op_n = op.n;
    l->iset = tm_iset_of(q[2]);
    l->mode = q + 4;
    colons = tm_mask16(l->mode, ':');
    l->mode_len = colons ? (unsigned)__builtin_ctz(colons) : 0;
    l->text = l->mode + l->mode_len + 1;
    return l->iset && l->mode_len &&
           !((tm_mask16(l->mode, ' ') | tm_mask16(l->mode, '\t') | tm_mask16(l->mode, '\n')) &
             ((1u << l->mode_len) - 1));
}

/* Opcode and details of the instruction L with the text T for row N. False: the pool is full. */
TM_INLINE bool tm_put_es_details(struct tm_run *r, size_t n, const struct tm_es_line *l,
                                 const struct tm_es_text *t, const uint32_t want)
{
    struct trod_slice room;
    struct trod_detail_instr *detail;

    if (!(want & TROD_COL_DETAIL))
        return tm_put_code(r->b, n, l->iset, l->op, l->op_n);
    if (!(detail = tm_new_details(r->b, &room)))
        return false;
    detail->style = TROD_INSTR_ES;
    detail->addr_digits = tm_vdigits(l->addr, l->addr_n);
    detail->mode = (struct trod_slice){(uint32_t)(l->mode - r->base), l->mode_len};
    if (t->end > t->from || t->failed) {
        detail->pad_before = (uint8_t)t->before;
        detail->pad_after = (uint8_t)t->after;
    }
    tm_put_opcode((uint8_t *)(detail + 1), l->iset, l->op, l->op_n);
    tm_show_details(r->b, n, room, l->op_n, want);
    return true;
}

/* ES (address:opcode) iset mode: text; Q is behind the type word. */
TM_INLINE const uint8_t *tm_fast_es(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                                    const uint32_t want, const bool wide)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    struct tm_es_line l;
    struct tm_es_text t;
    uint32_t has;

    if (!tm_take_es(q, &l) || !(r->d->isets >> l.iset & 1) || (l.addr >> 32 && !r->d->wide) ||
        !tm_take_es_text(l.text, l.mode_len, &t, want, wide))
        return NULL;
    has = r->has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_PC |
          TROD_COL_CODE | TROD_COL_DETAIL | TROD_COL_RAW;
    if (t.end > t.from)
        has |= TROD_COL_TEXT;
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE) && !tm_put_es_details(r, n, &l, &t, want))
        return NULL;
    b->has[n] = has & r->want;
    b->kind[n] = TROD_INSTR;
    if (want & TROD_COL_TEXT)
        b->text[n] = (struct trod_slice){(uint32_t)(t.from - r->base), (uint32_t)(t.end - t.from)};
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags | (t.failed ? TROD_F_SKIPPED : 0u) | l.iset << TROD_F_ISET_SHIFT;
    if (want & TROD_COL_SIZE)
        b->size[n] = l.op_n / 2;
    if (want & TROD_COL_ADDR)
        b->addr[n] = l.addr;
    if (want & TROD_COL_PC)
        b->pc[n] = l.addr;
    tm_put_line(r, line, t.nl + 1, want);
    return t.nl + 1;
}

enum { TM_BR_HAS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_TARGET | TROD_COL_DETAIL };

/*
 * Fill the columns of row N, a branch to TARGET, an address of DIGITS digits. False: the pool is
 * full.
 */
TM_INLINE bool tm_put_br(struct tm_run *r, size_t n, uint64_t target, unsigned digits,
                         uint32_t flags, const uint32_t want)
{
    struct trod_batch *b = r->b;

    if (want & TROD_COL_DETAIL) {
        struct trod_detail_branch *d = trod_batch_pool(b, sizeof *d, &b->detail[n]);

        if (!d)
            return false;
        memset(d, 0, sizeof *d);
        d->target_only = 1;
        d->has_iset = 1;
        d->target_digits = tm_vdigits(target, digits);
    }
    b->kind[n] = TROD_BRANCH;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = flags;
    if (want & TROD_COL_TARGET)
        b->target[n] = target;
    return true;
}

/* BR (target) iset; Q is behind the type word. */
TM_INLINE const uint8_t *tm_fast_br(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                                    const uint32_t want)
{
    const struct tm_hexrun to = tm_hex_run(q + 2);
    const uint8_t *p = q + 2 + to.n;
    const unsigned iset = tm_iset_of(p[2]);
    const uint8_t *nl = tm_end_at(p + 3);

    if (q[0] != ' ' || q[1] != '(' || to.upper || (to.n != 8 && to.n != 16) || p[0] != ')' ||
        p[1] != ' ' || !nl || !iset || !(r->d->isets >> iset & 1) ||
        !tm_put_br(r, r->n, to.value, to.n, r->flags | TROD_BR_OTHER | iset << TROD_F_ISET_SHIFT,
                   want))
        return NULL;
    r->b->has[r->n] = (r->has | TM_BR_HAS | TROD_COL_RAW) & r->want;
    tm_put_line(r, line, nl + 1, want);
    return nl + 1;
}

/* What stands behind the bytes of a picture: [S:|NS:]paddr and attributes. */
struct tm_picture_tail {
    uint64_t paddr;
    const uint8_t *paddr_at;
    const uint8_t *from, *end, *nl; /* the attributes, the end of the line */
    uint8_t digits, prefix;         /* digits 0: no paddr */
};

/* The attributes at P, behind the blanks that may stand there, and the end of the line. */
TM_INLINE bool tm_take_attributes(const uint8_t *p, struct tm_picture_tail *t, const uint32_t want,
                                  const bool wide)
{
    t->nl = wide ? tm_line_end32(p, TM_TEXT_MAX) : tm_find16(p, p + TM_TEXT_MAX, '\n');
    if (t->nl == p + TM_TEXT_MAX)
        return false;
    t->from = t->end = p;
    if (!(want & TROD_COL_DETAIL))
        return true;
    while (*p == ' ')
        p++;
    if (*p == '\t')
        return false;
    t->from = p;
    t->end = tm_text_end(t->nl);
    while (t->end > p && t->end[-1] == ' ')
        t->end--;
    return t->end == p || (t->end[-1] != '\r' && t->end[-1] != '\t');
}

TM_INLINE bool tm_take_picture_tail(const uint8_t *p, struct tm_picture_tail *t,
                                    const uint32_t want, const bool wide)
{
    struct tm_hexrun h;

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
    t->paddr_at = p;
    if (h.n) {
        if (h.upper || h.n < 4 || (p[h.n] != ' ' && !tm_end_at(p + h.n)))
            return false;
        t->paddr = h.value;
        t->digits = (uint8_t)h.n;
        p += h.n;
    } else if (t->prefix || !tm_end_at(p)) {
        return false;
    }
    return tm_take_attributes(p, t, want, wide);
}

/* A picture of accesses of KIND, HAS and FLAGS: what its rows have in common, but for raw. */
struct tm_picture {
    struct tm_bytes16 bytes;
    struct tm_picture_tail tail;
    uint64_t base;
    uint32_t has, flags;
    uint8_t base_digits, kind;
};

enum {
    TM_PICTURE_HAS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR |
                     TROD_COL_VALUE | TROD_COL_DETAIL
};

/* The N bytes of picture M from place FROM become row AT; the first has the record. */
TM_INLINE bool tm_fast_run(struct tm_run *r, size_t at, bool first, const struct tm_picture *m,
                           unsigned from, unsigned n, const uint32_t want)
{
    struct trod_batch *b = r->b;
    const uint64_t v = from >= 8 ? m->bytes.hi >> (from - 8) * 8
                       : from    ? m->bytes.lo >> from * 8 | m->bytes.hi << (64 - from * 8)
                                 : m->bytes.lo;

    if (want & TROD_COL_DETAIL) {
        const struct tm_picture_tail *t = &m->tail;
        struct trod_detail_mem *d = trod_batch_pool(b, sizeof *d, &b->detail[at]);

        if (!d)
            return false;
        memset(d, 0, sizeof *d);
        d->style = TROD_MEM_PICTURE;
        d->base = m->base;
        d->addr_digits = m->base_digits;
        d->paddr_digits = t->digits;
        d->sec_prefix = t->prefix;
        if (t->end > t->from)
            d->note =
                (struct trod_slice){(uint32_t)(t->from - r->base), (uint32_t)(t->end - t->from)};
    }
    b->has[at] = m->has | (first ? r->want & want & TROD_COL_RAW : 0);
    b->kind[at] = m->kind;
    if (want & TROD_COL_FLAGS)
        b->flags[at] = m->flags | (first ? 0u : (uint32_t)TROD_F_CONT);
    if (want & TROD_COL_SIZE)
        b->size[at] = n;
    if (want & TROD_COL_ADDR)
        b->addr[at] = m->base + from;
    if (want & TROD_COL_PADDR)
        b->paddr[at] = m->tail.paddr + from;
    if (want & TROD_COL_VALUE)
        b->value[at] = n < 8 ? v & (((uint64_t)1 << n * 8) - 1) : v;
    return true;
}

/*
 * Where the accessed bytes of a picture begin and how many they are; LEN 0: not one access alone.
 */
struct tm_extent {
    unsigned from, len;
};

/* Those of the picture with KNOWN bytes at BASE. */
TM_INLINE struct tm_extent tm_one_access(uint32_t known, uint64_t base)
{
    const uint32_t beyond = known + (known & -known); /* one bit, if KNOWN are side by side */
    unsigned from, len;

    if (!known || known & beyond)
        return (struct tm_extent){0, 0};
    from = (unsigned)__builtin_ctz(known);
    len = (unsigned)__builtin_ctz(beyond) - from;
    if (((base + from) & 7) + len > 8)
        return (struct tm_extent){0, 0};
    return (struct tm_extent){from, len};
}

/*
 * Rows from N on of the picture M: runs of bytes, cut where an address is a multiple of 8. Returns
 * how many; 0: no room for them.
 */
TM_INLINE uint32_t tm_picture_runs(struct tm_run *r, size_t n, const struct tm_picture *m,
                                   const uint32_t want)
{
    uint32_t left = m->bytes.known, rows = 0;

    for (; left; rows++) {
        unsigned from = (unsigned)__builtin_ctz(left);
        unsigned len = (unsigned)__builtin_ctz(~(left >> from));
        unsigned cut = 8 - (unsigned)((m->base + from) & 7);

        len = len < cut ? len : cut;
        if (n + rows >= r->b->cap || !tm_fast_run(r, n + rows, rows == 0, m, from, len, want))
            return 0;
        left &= ~(((1u << len) - 1) << from);
    }
    return rows;
}

/* The same, but for the columns of the head. There is room for one row. LINE: of the picture. */
TM_INLINE uint32_t tm_picture_rows(struct tm_run *r, size_t n, const struct tm_picture *m,
                                   const uint8_t *line, const uint32_t want)
{
    const struct tm_extent one = tm_one_access(m->bytes.known, m->base);
    const uint32_t rows = !one.len ? tm_picture_runs(r, n, m, want)
                                   : tm_fast_run(r, n, true, m, one.from, one.len, want);

    if (rows && want & TROD_COL_RAW)
        r->b->raw[n] =
            (struct trod_slice){(uint32_t)(line - r->base), (uint32_t)(m->tail.nl + 1 - line)};
    return rows;
}

/* LD or ST base bytes tail; Q is behind the type word. */
TM_INLINE const uint8_t *tm_fast_picture(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                                         uint8_t kind, const uint32_t want, const bool wide)
{
    const struct tm_hexrun base = tm_hex_run(q + 1);
    const uint8_t *column = q + 1;
    struct tm_picture m;
    uint32_t rows;

    q += 1 + base.n;
    if (base.upper || (base.n != 8 && base.n != 16) || q[0] != ' ' ||
        !tm_take_bytes16(q + 1, &m.bytes) ||
        !tm_take_picture_tail(q + 1 + TM_PICTURE_TEXT, &m.tail, want, wide))
        return NULL;
    tm_no_source(r);
    m.has = (r->has | TM_PICTURE_HAS | (m.tail.digits ? (uint32_t)TROD_COL_PADDR : 0)) & r->want;
    m.flags = r->flags | (uint32_t)m.tail.prefix << TROD_F_SEC_SHIFT;
    m.base = base.value;
    m.base_digits = (uint8_t)base.n;
    m.kind = kind;
    if (!(rows = tm_picture_rows(r, r->n, &m, line, want)))
        return NULL;
    for (uint32_t i = 0; i < rows; i++)
        tm_put_columns(r, r->n + i, want);
    r->n += rows - 1; /* the caller counts one */
    r->h.picture = kind;
    r->h.picture_column = (uint32_t)(column - line);
    return m.tail.nl + 1;
}

#endif
