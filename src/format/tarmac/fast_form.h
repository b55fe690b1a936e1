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
                                uint32_t n, struct address *a, const uint32_t want)
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

/* Row N is the instruction in the line at P, which has the form F. Returns the line's end. */
TM_INLINE const uint8_t *formed_instr(struct tm_run *r, const struct tm_form *f, const uint8_t *p,
                                      uint32_t n, uint32_t *has, const uint32_t want)
{
    struct trod_batch *b = r->b;
    struct instr_line l = {.iset = f->iset, .op_n = 2 * f->size, .mode_len = f->name.n};
    const uint8_t *text = p + f->len, *nl = tm_line_end32(text, TM_TEXT_MAX), *end = nl;

    if (nl == text + TM_TEXT_MAX || nl[-1] == '\r')
        return NULL;
    formed_addresses(r, f, p, n, &l.a, want);
    if (want & (TROD_COL_DETAIL | TROD_COL_TEXT) && !trim_text(&text, &end))
        return NULL;
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE)) {
        l.mode = p + f->name.at;
        l.op = (uint32_t)form_number(p, f->code);
        if (!put_details(r, n, &l, (unsigned)(text - p - f->len), (unsigned)(nl - end), want))
            return NULL;
    }
    if (want & TROD_COL_TEXT) {
        b->text[n] = (struct trod_slice){(uint32_t)(text - r->base), (uint32_t)(end - text)};
        *has |= text == end ? 0 : (uint32_t)TROD_COL_TEXT;
    }
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags | (p[f->pair_at] & 1u) * TROD_F_SKIPPED;
    if (want & TROD_COL_INDEX)
        b->index[n] = tm_decimal(p + f->index.at, f->index.n);
    if (want & TROD_COL_PC)
        b->pc[n] = l.a.vaddr;
    b->kind[n] = TROD_INSTR;
    return nl;
}

/* The same for a register's write. */
TM_INLINE const uint8_t *formed_reg(struct tm_run *r, const struct tm_form *f, const uint8_t *p,
                                    uint32_t n, uint32_t *has, const uint32_t want)
{
    struct trod_batch *b = r->b;

    if (want & TROD_COL_DETAIL && f->upper && tm_letters(p + f->code.at, f->code.n)) {
        *has |= TROD_COL_DETAIL;
        if (!put_upper(r, n))
            return NULL;
    }
    if (want & TROD_COL_VALUE)
        b->value[n] = form_number(p, f->code);
    if (want & TROD_COL_TEXT)
        b->text[n] = (struct trod_slice){(uint32_t)(p + f->name.at - r->base), f->name.n};
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags;
    b->kind[n] = TROD_REG;
    return p + f->len - 1;
}

/* The same for an access. */
TM_INLINE const uint8_t *formed_mem(struct tm_run *r, const struct tm_form *f, const uint8_t *p,
                                    uint32_t n, uint32_t *has, const uint32_t want)
{
    struct trod_batch *b = r->b;
    struct mem_line l = {.divided = f->divided};

    formed_addresses(r, f, p, n, &l.a, want);
    if (want & TROD_COL_DETAIL && !put_mem_detail(r, n, f->size, &l, has, want))
        return NULL;
    if (want & TROD_COL_VALUE) {
        l.value = form_number(p, f->code);
        if (f->size == 8 && f->divided)
            l.value |= form_number(p - 9, f->code) << 32;
        b->value[n] = l.value;
    }
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags;
    b->kind[n] = (uint8_t)(TROD_READ + (p[f->pair_at] & 1) * (TROD_WRITE - TROD_READ));
    return p + f->len - 1;
}

/* The same for an instruction of the ES dialect. */
TM_INLINE const uint8_t *formed_es(struct tm_run *r, const struct tm_form *f, const uint8_t *p,
                                   uint32_t n, uint32_t *has, const uint32_t want)
{
    struct trod_batch *b = r->b;
    struct tm_es_line l = {.iset = f->iset, .addr_n = f->vaddr.n, .op_n = 2 * f->size};
    struct tm_es_text t;

    if (!tm_take_es_text(p + f->len, f->name.n, &t, want, true))
        return NULL;
    if (want & (TROD_COL_ADDR | TROD_COL_PC | TROD_COL_DETAIL))
        l.addr = tm_form_address(f, p);
    if (want & TROD_COL_ADDR)
        b->addr[n] = l.addr;
    if (want & (TROD_COL_DETAIL | TROD_COL_CODE)) {
        l.mode = p + f->name.at;
        l.mode_len = f->name.n;
        l.op = (uint32_t)form_number(p, f->code);
        if (!tm_put_es_details(r, n, &l, &t, want))
            return NULL;
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
    return t.nl;
}

/* The same for where a branch goes. */
TM_INLINE const uint8_t *formed_br(struct tm_run *r, const struct tm_form *f, const uint8_t *p,
                                   uint32_t n, const uint32_t want)
{
    const uint64_t target = tm_form_address(f, p);

    return tm_put_br(r, n, target, f->vaddr.n, f->flags, want) ? p + f->len - 1 : NULL;
}

/* Rows of a stretch of lines that have forms. */
struct formed {
    const struct tm_hand *hand; /* of the last line with a time */
    uint64_t time;
    uint32_t n, more;  /* rows; of them beyond one a line */
    uint32_t pictured; /* rows there were behind the last picture */
    uint8_t column;    /* where that has its address */
};

/* Row s->n, of which the other columns are there, has of heads what S says. */
TM_INLINE void formed_head(struct tm_run *r, struct formed *s, const uint32_t want)
{
    struct trod_batch *b = r->b;
    const uint32_t n = s->n++;

    if (want & TROD_COL_STREAM)
        b->stream[n] = s->hand->stream;
    if (want & TROD_COL_UNIT)
        b->unit[n] = s->hand->unit;
    if (want & TROD_COL_TIME)
        b->time[n] = s->time;
}

/* The rows of S are there. */
TM_INLINE void formed_end(struct tm_run *r, const struct formed *s, const uint32_t want)
{
    if (s->n == r->n)
        return;
    r->h.head = &r->d->heads[s->hand->head];
    r->h.unit = s->hand->unit;
    r->h.timed = true;
    r->h.stream = s->hand->stream;
    r->h.source_seen |= s->hand->source;
    r->h.picture = 0;
    if (s->pictured == s->n) {
        r->h.picture = r->b->kind[s->n - 1];
        r->h.picture_column = s->column;
    }
    if (want & TROD_COL_TIME)
        r->h.time = r->b->time[s->n - 1];
    r->before = NULL;
    r->lines += s->n - r->n - s->more;
    r->n = s->n;
}

/* The line at P, which has the form F, becomes the next row of S. NULL: it is for others. */
TM_INLINE const uint8_t *formed_line(struct tm_run *r, const struct tm_form *f, const uint8_t *p,
                                     struct formed *s, const uint32_t want, const bool es)
{
    const struct tm_hand *hand = es && f->bare ? s->hand : &f->hand;
    struct trod_batch *b = r->b;
    const uint32_t n = s->n;
    uint32_t has = 0; /* beyond those of the form */
    const uint8_t *nl;

    if (es && f->kind == TM_FORM_ES) /* the most frequent first */
        nl = formed_es(r, f, p, n, &has, want);
    else if (!es && f->kind == TM_FORM_INSTR)
        nl = formed_instr(r, f, p, n, &has, want);
    else if (f->kind == TM_FORM_REG)
        nl = formed_reg(r, f, p, n, &has, want);
    else if (f->kind == TM_FORM_MEM)
        nl = formed_mem(r, f, p, n, &has, want);
    else if (es && f->kind == TM_FORM_INSTR)
        nl = formed_instr(r, f, p, n, &has, want);
    else if (es && f->kind == TM_FORM_BR)
        nl = formed_br(r, f, p, n, want);
    else
        return NULL;
    if (!nl)
        return NULL;
    b->has[n] = (f->has | has) & r->want;
    if (want & TROD_COL_SIZE)
        b->size[n] = f->size;
    if (want & TROD_COL_RAW)
        b->raw[n] = (struct trod_slice){(uint32_t)(p - r->base), (uint32_t)(nl + 1 - p)};
    if (want & TROD_COL_TIME && !(es && f->bare))
        s->time = tm_decimal(p + f->time.at, f->time.n);
    s->hand = hand;
    formed_head(r, s, want);
    return nl;
}

/*
 * The same for a picture and its rows. Apart, so that the loop has its registers for other lines;
 * for all columns, few, any.
 */
TM_INLINE const uint8_t *formed_picture(struct tm_run *r, const struct tm_form *f, const uint8_t *p,
                                        struct formed *s, const uint32_t want)
{
    struct tm_picture m = {.has = f->has,
                           .flags = f->flags,
                           .kind = f->row,
                           .base_digits = f->vaddr.n,
                           .tail = {.digits = f->paddr.n, .prefix = f->prefix}};
    uint32_t rows;

    m.tail.nl = m.tail.from = m.tail.end = p + f->len - 1;
    if (!tm_take_bytes32(p + f->code.at, &m.bytes) ||
        (f->open && !tm_take_attributes(p + f->len - 1, &m.tail, want, true)))
        return NULL;
    m.base = tm_form_addresses(f, p, &m.tail.paddr);
    if (!(rows = tm_picture_rows(r, s->n, &m, p, want)))
        return NULL;
    if (!f->bare) {
        s->hand = &f->hand;
        s->time = tm_decimal(p + f->time.at, f->time.n);
    }
    s->more += rows - 1;
    for (; rows; rows--)
        formed_head(r, s, want);
    s->pictured = s->n;
    s->column = f->vaddr.at;
    return m.tail.nl;
}

static TROD_WIDE TROD_APART const uint8_t *picture_all(struct tm_run *r, const struct tm_form *f,
                                                       const uint8_t *p, struct formed *s)
{
    return formed_picture(r, f, p, s, TROD_COL_ALL);
}

static TROD_WIDE TROD_APART const uint8_t *picture_narrow(struct tm_run *r, const struct tm_form *f,
                                                          const uint8_t *p, struct formed *s)
{
    return formed_picture(r, f, p, s, TM_NARROW);
}

static TROD_WIDE TROD_APART const uint8_t *picture_some(struct tm_run *r, const struct tm_form *f,
                                                        const uint8_t *p, struct formed *s)
{
    return formed_picture(r, f, p, s, r->want);
}

/*
 * Lines from P on that have a form: a type word, so that none goes on with a picture above. ES:
 * also lines without a time and those that only the ES dialect has.
 */
TM_INLINE const uint8_t *formed_lines(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                      const uint32_t want, const bool es)
{
    const struct tm_hand first = {
        .head = (uint32_t)(r->h.head - r->d->heads), .stream = r->h.stream, .unit = r->h.unit};
    const struct tm_form *forms = r->d->forms;
    const uint32_t type = r->d->type_at ? r->d->type_at - 2 : 0;
    const uint32_t bare = r->d->bare_at ? r->d->bare_at - 2 : 0, cap = r->b->cap;
    const uint8_t *stop = end - TM_MARGIN, *nl;
    struct formed s = {.n = r->n, .hand = &first, .time = r->h.time}, pictured;

    for (; s.n < cap && p <= stop; p = nl + 1) {
        const struct tm_form *f = &forms[tm_form_of(p + (es && p[type] == ' ' ? bare : type))];

        if (!tm_form_fits(f, p))
            break;
        if (es && f->bare && f->hand.unit != s.hand->unit)
            break;
        if (!es || f->kind != TM_FORM_PICTURE) {
            if (!(nl = formed_line(r, f, p, &s, want, es)))
                break;
            continue;
        }
        pictured = s;
        nl = want == TROD_COL_ALL ? picture_all(r, f, p, &pictured)
             : want == TM_NARROW  ? picture_narrow(r, f, p, &pictured)
                                  : picture_some(r, f, p, &pictured);
        if (!nl)
            break;
        s = pictured;
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
