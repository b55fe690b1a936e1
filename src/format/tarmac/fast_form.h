/*
 * fast_form.h - lines that have a form (form.h): their loop.
 *
 * See fast.c.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_FORM_H
#define TROD_FORMAT_TARMAC_FAST_FORM_H

#include "format/tarmac/fast_learn.h"

#if TROD_AVX2

/* The number that the digits FIELD of the line at P are; all of them lower case, or all upper. */
TM_INLINE uint64_t form_number(const uint8_t *p, struct tm_field field)
{
    return tm_shape_number(p, (struct tm_digits){field.at, (uint8_t)(64 - 4 * (unsigned)field.n)});
}

/* Addresses of row N; l->digits too where details are wanted. */
TM_INLINE void formed_addresses(struct tm_run *r, const struct tm_form *f, const uint8_t *p,
                                size_t n, struct address *a, const uint32_t want)
{
    if (!(want & (TROD_COL_ADDR | TROD_COL_PADDR | TROD_COL_PC | TROD_COL_DETAIL)))
        return;
    a->vaddr = tm_form_addresses(f, p, &a->paddr);
    a->digits = f->vaddr.n == 16 && !(a->vaddr >> 32) ? 16 : 0;
    a->paddr_digits = f->paddr.n == 16 && !(a->paddr >> 48) ? 16 : 0;
    if (want & TROD_COL_ADDR)
        r->b->addr[n] = a->vaddr;
    if (want & TROD_COL_PADDR)
        r->b->paddr[n] = a->paddr;
}

/*
 * Row N is the instruction in the line at P, which has the form F. *NEXT: the next line. False: it
 * is for others.
 */
TM_INLINE bool formed_instr(struct tm_run *r, const struct tm_form *f, const uint8_t *p, size_t n,
                            uint32_t *has, const uint8_t **next, const uint32_t want)
{
    struct trod_batch *b = r->b;
    struct instr_line l = {.iset = f->iset, .op_n = 2 * f->size, .mode_len = f->name.n};
    const uint8_t *text = p + f->len, *nl = tm_line_end32(text, TM_TEXT_MAX), *end = nl;

    if (nl == text + TM_TEXT_MAX || nl[-1] == '\r')
        return false;
    formed_addresses(r, f, p, n, &l.a, want);
    if (want & (TROD_COL_DETAIL | TROD_COL_TEXT) && !trim_text(&text, &end))
        return false;
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE)) {
        l.mode = p + f->name.at;
        l.op = (uint32_t)form_number(p, f->code);
        if (!put_details(r, n, &l, (unsigned)(text - p - f->len), (unsigned)(nl - end), want))
            return false;
    }
    if (want & TROD_COL_TEXT) {
        b->text[n] = (struct trod_slice){(uint32_t)(text - r->base), (uint32_t)(end - text)};
        *has |= text == end ? 0 : (uint32_t)TROD_COL_TEXT;
    }
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags | (p[f->pair_at] & 1u) * TROD_F_SKIPPED;
    if (want & TROD_COL_INDEX)
        b->index[n] = tm_form_decimal(f->pick_index, p + f->index.at);
    if (want & TROD_COL_PC)
        b->pc[n] = l.a.vaddr;
    b->kind[n] = TROD_INSTR;
    *next = nl + 1;
    return true;
}

/* The same for a register's write. */
TM_INLINE bool formed_reg(struct tm_run *r, const struct tm_form *f, const uint8_t *p, size_t n,
                          uint32_t *has, const uint8_t **next, const uint32_t want)
{
    struct trod_batch *b = r->b;

    if (want & TROD_COL_DETAIL && f->upper && tm_letters(p + f->code.at, f->code.n)) {
        *has |= TROD_COL_DETAIL;
        if (!put_upper(r, n))
            return false;
    }
    if (want & TROD_COL_VALUE)
        b->value[n] = form_number(p, f->code);
    if (want & TROD_COL_TEXT)
        b->text[n] = (struct trod_slice){(uint32_t)(p + f->name.at - r->base), f->name.n};
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags;
    b->kind[n] = TROD_REG;
    *next = p + f->len;
    return true;
}

/* The same for an access. */
TM_INLINE bool formed_mem(struct tm_run *r, const struct tm_form *f, const uint8_t *p, size_t n,
                          uint32_t *has, const uint8_t **next, const uint32_t want)
{
    struct trod_batch *b = r->b;
    struct mem_line l = {.divided = f->divided};

    formed_addresses(r, f, p, n, &l.a, want);
    if (want & TROD_COL_DETAIL && !put_mem_detail(r, n, f->size, &l, has, want))
        return false;
    if (want & TROD_COL_VALUE) {
        l.value = form_number(p, f->code);
        if (f->size == 8 && f->divided)
            l.value |= form_number(p - 9, f->code) << 32;
        b->value[n] = l.value;
    }
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags;
    b->kind[n] = (uint8_t)(TROD_READ + (p[f->pair_at] & 1) * (TROD_WRITE - TROD_READ));
    *next = p + f->len;
    return true;
}

/* Where the text of an ES line is not wanted: the line's end, and whether CCFAIL stands before. */
struct es_end {
    const uint8_t *nl; /* NULL: the line is for others */
    bool failed;
};

static TROD_WIDE TROD_APART struct es_end es_end_far(const uint8_t *p, unsigned mode_len)
{
    struct tm_es_text t;

    if (!tm_take_es_text(p, mode_len, &t, 0, true))
        return (struct es_end){NULL, false};
    return (struct es_end){t.nl, t.failed};
}

/* The same for what is in the next 32 characters. Few texts begin with two C. */
static inline TROD_WIDE struct es_end es_end(const uint8_t *p, unsigned mode_len)
{
    const __m256i v = tm_load32(p);
    const uint32_t line = tm_equal_mask32(v, tm_bytes.line);
    /* what is neither a blank nor a tab; at the line's end what is beyond, which does no harm */
    const uint32_t text =
        (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(v, tm_load32(tm_bytes.blank)));
    const uint8_t *nl = p + _tzcnt_u32(line);

    if (!line) {
        const uint32_t far = tm_equal_mask32(tm_load32(p + 32), tm_bytes.line);

        if (!far || !text)
            return es_end_far(p, mode_len);
        nl = p + 32 + __builtin_ctz(far);
    }
    if (trod_load_le16(p + _tzcnt_u64(text)) == ('C' | 'C' << 8))
        return es_end_far(p, mode_len);
    return (struct es_end){nl, false}; /* a carriage return before it is text, if that */
}

/* The same for an instruction of the ES dialect. */
TM_INLINE bool formed_es(struct tm_run *r, const struct tm_form *f, const uint8_t *p, size_t n,
                         uint32_t *has, const uint8_t **next, const uint32_t want)
{
    struct trod_batch *b = r->b;
    struct tm_es_line l = {.iset = f->iset, .addr_n = f->vaddr.n, .op_n = 2 * f->size};
    struct tm_es_text t;

    if (want & (TROD_COL_DETAIL | TROD_COL_TEXT)) {
        if (!tm_take_es_text(p + f->len, f->name.n, &t, want, true))
            return false;
    } else {
        const struct es_end e = es_end(p + f->len, f->name.n);

        if (!e.nl)
            return false;
        t = (struct tm_es_text){.from = e.nl, .end = e.nl, .nl = e.nl, .failed = e.failed};
    }
    if (want & (TROD_COL_ADDR | TROD_COL_PC | TROD_COL_DETAIL))
        l.addr = tm_form_address(f, p);
    if (want & TROD_COL_ADDR)
        b->addr[n] = l.addr;
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE)) {
        l.mode = p + f->name.at;
        l.mode_len = f->name.n;
        l.op = (uint32_t)form_number(p, f->code);
        if (!tm_put_es_details(r, n, &l, &t, want))
            return false;
    }
    if (want & TROD_COL_TEXT) {
        b->text[n] = (struct trod_slice){(uint32_t)(t.from - r->base), (uint32_t)(t.end - t.from)};
        *has |= t.end == t.from ? 0 : (uint32_t)TROD_COL_TEXT;
    }
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags | (t.failed ? (uint32_t)TROD_F_SKIPPED : 0);
    if (want & TROD_COL_PC)
        b->pc[n] = l.addr;
    b->kind[n] = TROD_INSTR;
    *next = t.nl + 1;
    return true;
}

/* The same for where a branch goes. */
TM_INLINE bool formed_br(struct tm_run *r, const struct tm_form *f, const uint8_t *p, size_t n,
                         const uint8_t **next, const uint32_t want)
{
    const uint64_t target = tm_form_address(f, p);

    *next = p + f->len;
    return tm_put_br(r, n, target, f->vaddr.n, f->flags, want);
}

/* Rows of a stretch of lines that have forms. */
struct formed {
    const struct tm_hand *hand; /* of the last line with a time */
    uint64_t time;
    size_t n, more;                /* rows; of them beyond one a line */
    size_t pictured;               /* rows there were behind the last picture */
    const struct tm_form *picture; /* the form of that */
};

/* Row s->n, of which the other columns are there, has of heads what S says. */
TM_INLINE void formed_head(struct tm_run *r, struct formed *s, const uint32_t want)
{
    struct trod_batch *b = r->b;
    const size_t n = s->n++;

    if (want & TROD_COL_STREAM)
        b->stream[n] = s->hand->stream;
    if (want & TROD_COL_UNIT)
        b->unit[n] = r->h.unit;
    if (want & TROD_COL_TIME)
        b->time[n] = s->time;
}

/* The rows of S are there. */
TM_INLINE void formed_end(struct tm_run *r, const struct formed *s, const uint32_t want)
{
    if (s->n == r->n)
        return;
    r->h.head = &r->d->heads[s->hand->head];
    r->h.timed = true;
    r->h.stream = s->hand->stream;
    r->h.source_seen |= s->hand->source;
    r->h.picture = 0;
    if (s->pictured == s->n) {
        r->h.picture = r->b->kind[s->n - 1];
        r->h.picture_column = s->picture->vaddr.at;
    }
    if (want & TROD_COL_TIME)
        r->h.time = r->b->time[s->n - 1];
    r->before = NULL;
    r->lines += s->n - r->n - s->more;
    r->n = (uint32_t)s->n;
}

/* Row N is the line at P, which has the form F and is no picture. BARE: it has no time. */
TM_INLINE bool formed_row(struct tm_run *r, const struct tm_form *f, const uint8_t *p, size_t n,
                          uint32_t *has, const uint8_t **next, const uint32_t want, const bool es,
                          const bool bare)
{
    if (!bare && f->kind == TM_FORM_INSTR) /* the most frequent first */
        return formed_instr(r, f, p, n, has, next, want);
    if (f->kind == TM_FORM_REG)
        return formed_reg(r, f, p, n, has, next, want);
    if (f->kind == TM_FORM_MEM)
        return formed_mem(r, f, p, n, has, next, want);
    if (es && f->kind == TM_FORM_BR)
        return formed_br(r, f, p, n, next, want);
    if (bare && f->kind == TM_FORM_ES)
        return formed_es(r, f, p, n, has, next, want);
    if (bare && f->kind == TM_FORM_INSTR)
        return formed_instr(r, f, p, n, has, next, want);
    return false;
}

/* What a picture has become. */
struct pictured {
    const uint8_t *next; /* NULL: it is for others */
    size_t rows;
};

/* Of a picture of the form F what does not stand in its bytes and addresses. */
TM_INLINE struct tm_picture formed_bytes(const struct tm_form *f)
{
    return (struct tm_picture){.has = f->put,
                               .flags = f->flags,
                               .kind = f->row,
                               .base_digits = f->vaddr.n,
                               .tail = {.digits = f->paddr.n, .prefix = f->prefix}};
}

/*
 * Few columns of the rows from N on of a picture with KNOWN bytes that are more than one access.
 * NEXT: the next line.
 */
static TROD_WIDE TROD_APART struct pictured picture_places(struct tm_run *r,
                                                           const struct tm_form *f,
                                                           const uint8_t *p, size_t n,
                                                           uint32_t known, const uint8_t *next)
{
    struct tm_picture m = formed_bytes(f);
    uint32_t rows;

    m.base = tm_form_addresses(f, p, &m.tail.paddr);
    m.bytes.known = known;
    rows = tm_picture_runs(r, n, &m, TM_NARROW);
    return (struct pictured){rows ? next : NULL, rows};
}

/* The attributes at P of a picture where they are not wanted: the end of the line, if it is near.
 */
static inline TROD_WIDE const uint8_t *attributes_end(const uint8_t *p)
{
    const uint32_t near = tm_equal_mask32(tm_load32(p), tm_bytes.line);
    uint32_t line = near;

    if (!near) {
        p += 32;
        if (!(line = tm_equal_mask32(tm_load32(p), tm_bytes.line)))
            return NULL;
    }
    p += __builtin_ctz(line);
    return p[-1] == '\r' || p[-1] == '\t' ? NULL : p;
}

/*
 * Rows from N on of a picture, but for the columns of the head. Apart, so that the loop has its
 * registers for other lines; for all columns, few, any.
 */
TM_INLINE struct pictured formed_picture(struct tm_run *r, const struct tm_form *f,
                                         const uint8_t *p, size_t n, const uint32_t want)
{
    struct tm_picture m = formed_bytes(f);
    struct tm_extent one;
    uint32_t rows;

    m.tail.nl = m.tail.from = m.tail.end = p + f->len - 1;
    if (!tm_take_bytes32(p + f->code.at, &m.bytes))
        return (struct pictured){NULL, 0};
    if (want == TM_NARROW && f->open && !(m.tail.nl = attributes_end(m.tail.nl)))
        return (struct pictured){NULL, 0};
    if (want != TM_NARROW && f->open && !tm_take_attributes(m.tail.nl, &m.tail, want, true))
        return (struct pictured){NULL, 0};
    m.base = tm_form_addresses(f, p, &m.tail.paddr);
    one = tm_one_access(m.bytes.known, m.base);
    if (want == TM_NARROW && !one.len)
        return picture_places(r, f, p, n, m.bytes.known, m.tail.nl + 1);
    rows = tm_picture_rows(r, n, &m, p, want);
    return (struct pictured){rows ? m.tail.nl + 1 : NULL, rows};
}

static TROD_WIDE TROD_APART struct pictured picture_all(struct tm_run *r, const struct tm_form *f,
                                                        const uint8_t *p, size_t n)
{
    return formed_picture(r, f, p, n, TROD_COL_ALL);
}

static TROD_WIDE TROD_APART struct pictured
picture_narrow(struct tm_run *r, const struct tm_form *f, const uint8_t *p, size_t n)
{
    return formed_picture(r, f, p, n, TM_NARROW);
}

static TROD_WIDE TROD_APART struct pictured picture_some(struct tm_run *r, const struct tm_form *f,
                                                         const uint8_t *p, size_t n)
{
    return formed_picture(r, f, p, n, r->want);
}

/* The picture at *AT, which has the form F, becomes the next rows of S. False: it is for others. */
TM_INLINE bool formed_pictures(struct tm_run *r, const struct tm_form *f, const uint8_t **at,
                               struct formed *s, const uint32_t want)
{
    const uint8_t *p = *at;
    const struct pictured is = want == TROD_COL_ALL ? picture_all(r, f, p, s->n)
                               : want == TM_NARROW  ? picture_narrow(r, f, p, s->n)
                                                    : picture_some(r, f, p, s->n);

    if (!is.next)
        return false;
    if (!f->bare) {
        s->hand = &f->hand;
        if (want & TROD_COL_TIME)
            s->time = tm_form_decimal(f->pick_time, p + f->time.at);
    }
    s->more += is.rows - 1;
    formed_head(r, s, want);
    for (size_t i = is.rows; --i;)
        formed_head(r, s, want);
    s->pictured = s->n;
    s->picture = f;
    *at = is.next;
    return true;
}

/*
 * The line at *AT, which moves behind it, as the next rows of S; KEY: its type word less two.
 * False: it has no form.
 */
TM_INLINE bool formed_line(struct tm_run *r, const struct tm_form *forms, const uint8_t **at,
                           const uint8_t *key, struct formed *s, const uint32_t want, const bool es,
                           const bool bare)
{
    const struct tm_form *f = &forms[tm_form_of(key)];
    struct trod_batch *b = r->b;
    const size_t n = s->n;
    uint32_t has = 0; /* beyond those of the form */
    const uint8_t *p = *at, *next;

    if (!tm_form_fits(f, p))
        return false;
    if (es && !bare && f->kind == TM_FORM_ES) { /* the most frequent first */
        if (!formed_es(r, f, p, n, &has, &next, want))
            return false;
    } else if (es && bare && f->kind == TM_FORM_REG) {
        if (!formed_reg(r, f, p, n, &has, &next, want))
            return false;
    } else if (es && f->kind == TM_FORM_PICTURE) {
        return formed_pictures(r, f, at, s, want);
    } else {
        if (!formed_row(r, f, p, n, &has, &next, want, es, bare))
            return false;
    }
    b->has[n] = f->put | (has & r->want);
    if (want & TROD_COL_SIZE)
        b->size[n] = f->size;
    if (want & TROD_COL_RAW)
        b->raw[n] = (struct trod_slice){(uint32_t)(p - r->base), (uint32_t)(next - p)};
    if (!bare) {
        if (want & TROD_COL_TIME)
            s->time = tm_form_decimal(f->pick_time, p + f->time.at);
        s->hand = &f->hand;
    }
    formed_head(r, s, want);
    *at = next;
    return true;
}

/*
 * Lines from P on that have a form: a type word, so that none goes on with a picture above. ES:
 * also lines without a time and those that only the ES dialect has.
 */
TM_INLINE const uint8_t *formed_lines(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                      const uint32_t want, const bool es)
{
    const struct tm_hand first = {.head = (uint32_t)(r->h.head - r->d->heads),
                                  .stream = r->h.stream};
    const struct tm_form *timed = r->d->forms[0], *bares = r->d->forms[1];
    const size_t type = r->d->type_at ? r->d->type_at - 2 : 0;
    const size_t bare = r->d->bare_at ? r->d->bare_at - 2 : 0, cap = r->b->cap;
    const uint8_t *stop = end - TM_MARGIN;
    struct formed s = {.n = r->n, .hand = &first, .time = r->h.time};

    while (s.n < cap && p <= stop) {
        if (es && p[type] == ' ') {
            if (!formed_line(r, bares, &p, p + bare, &s, want, es, true))
                break;
        } else if (!formed_line(r, timed, &p, p + type, &s, want, es, false)) {
            break;
        }
    }
    formed_end(r, &s, want);
    return p;
}

#else

TM_INLINE const uint8_t *formed_lines(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                      const uint32_t want, const bool es)
{
    (void)r, (void)end, (void)want, (void)es;
    return p;
}

#endif

#endif
