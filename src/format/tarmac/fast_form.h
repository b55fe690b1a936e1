/*
 * fast_form.h - lines that have a form (form.h): their loop, and how forms are made of others.
 *
 * See fast.c.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_FORM_H
#define TROD_FORMAT_TARMAC_FAST_FORM_H

#include "format/tarmac/fast_line.h"

/*
 * Where a form is to be kept of a line whose type word is behind AT characters at TYPE; NULL: it is
 * not to be. Only of lines that take nothing from lines before.
 */
static struct tm_form *form_room(struct tm_run *r, const uint8_t *type, unsigned at)
{
    struct tm_dec *d = r->d;
    struct tm_form *f = &d->forms[tm_form_of(type - 2)];

    if (!(r->h.head->has & TROD_COL_STREAM) && d->sourced)
        return NULL;
    if (d->type_at != at) {
        if (d->type_wait && d->type_wait--)
            return NULL;
        d->type_at = at;
        d->type_wait = TM_FORM_TRIES;
    }
    if (f->wait && f->wait--)
        return NULL;
    f->wait = TM_FORM_TRIES;
    return f;
}

/* The N digits at P as a field of LINE. */
static struct tm_field form_field(const uint8_t *line, const uint8_t *p, unsigned n)
{
    return (struct tm_field){(uint8_t)(p - line), (uint8_t)n};
}

/* LINE up to END, laid out as L says, has the form F, of rows of KIND. */
static bool form_keep(struct tm_run *r, struct tm_form *f, const uint8_t *line, const uint8_t *end,
                      struct tm_layout *l, uint8_t kind)
{
    if (end - line > TM_PARTS * TM_PART)
        return false;
    l->time = form_field(line, line, r->d->type_at - r->h.head->len);
    tm_form_keep(f, line, (unsigned)(end - line), l);
    f->kind = kind;
    f->unit = r->h.unit;
    f->stream = r->h.stream;
    f->head = (uint32_t)(r->h.head - r->d->heads);
    f->has = r->h.head->has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_RAW;
    return true;
}

/* The addresses at P in LINE. */
static void form_addresses(const uint8_t *line, const uint8_t *p, struct tm_layout *l)
{
    const unsigned n = tm_hex_run(p).n;

    l->vaddr = form_field(line, p, n);
    if (p[n] == ':')
        l->paddr = form_field(line, p + n + 1, tm_hex_run(p + n + 1).n);
}

/* LINE is an instruction with its type word at TYPE: others may have its form. */
static void learn_instr(struct tm_run *r, struct tm_form *f, const uint8_t *line,
                        const uint8_t *type)
{
    struct tm_layout at = {.pair_at = (uint8_t)(type + 1 - line)};
    struct instr_line l;

    at.pair = type[1] == 'T' ? 'S' : 'T';
    at.index = form_field(line, type + 4, tm_decimal_run(type + 4));
    if (!take_instr(type + 4 + at.index.n, &l))
        return;
    form_addresses(line, type + 6 + at.index.n, &at);
    at.code = form_field(line, l.mode - 3 - l.op_n, l.op_n);
    if ((at.vaddr.n > 8 && !r->d->wide) || !form_keep(r, f, line, l.text, &at, TROD_INSTR))
        return;
    f->name = form_field(line, l.mode, l.mode_len);
    f->iset = (uint8_t)l.iset;
    f->size = l.op_n / 2;
    f->has |=
        l.a.has | TROD_COL_INDEX | TROD_COL_PC | TROD_COL_CODE | TROD_COL_TEXT | TROD_COL_DETAIL;
    f->flags = l.a.sec | l.iset << TROD_F_ISET_SHIFT;
}

/* The same for a register's write. */
static void learn_reg(struct tm_run *r, struct tm_form *f, const uint8_t *line, const uint8_t *type)
{
    const uint8_t *name = type + 2;
    const unsigned len = tm_name_before(name, false);
    const struct tm_hexrun v = tm_hex_run(name + len + 1);
    struct tm_layout at = {.name = form_field(line, name, len),
                           .code = form_field(line, name + len + 1, v.n),
                           .upper = v.upper};

    if (!form_keep(r, f, line, name + len + 1 + v.n + 1, &at, TROD_REG))
        return;
    f->name = at.name;
    f->size = v.n / 2;
    f->has |= TROD_COL_VALUE | TROD_COL_TEXT;
    f->flags = 0;
}

/* The same for an access. */
static void learn_mem(struct tm_run *r, struct tm_form *f, const uint8_t *line, const uint8_t *type)
{
    struct tm_layout at = {.pair_at = (uint8_t)(type + 1 - line)};
    const unsigned size = type[2] - '0';
    const uint32_t flags = tm_mem_flags(r->d, type[3]);
    const uint8_t *q = type + (flags ? 5 : 4), *data;
    struct mem_line l;
    unsigned n;

    if (!(data = take_address(q, &l.a)) || !(l.nl = take_data(data, size, &l.value, &l.divided)))
        return;
    at.pair = type[1] == 'R' ? 'W' : 'R';
    form_addresses(line, q, &at);
    n = size == 8 && l.divided ? 8 : 2 * size;
    at.code = form_field(line, l.nl - n, n);
    if (size == 8 && l.divided)
        at.more = form_field(line, data, 8);
    if (!form_keep(r, f, line, l.nl + 1, &at, TROD_READ))
        return;
    f->divided = l.divided;
    f->size = size;
    f->has |= l.a.has | TROD_COL_VALUE;
    f->flags = flags | l.a.sec;
}

/* LINE was just eaten: if it begins with a time, others may have its form. */
static TROD_APART void form_learn(struct tm_run *r, const uint8_t *line)
{
    const unsigned at = tm_decimal_run(line) + r->h.head->len;
    const uint8_t *type = line + at;
    struct tm_form *f;

    if (!tm_is_digit(*line) || (*type != 'I' && *type != 'R' && *type != 'M') || at < 2 ||
        !(f = form_room(r, type, at)))
        return;
    if (*type == 'I')
        learn_instr(r, f, line, type);
    else if (*type == 'R')
        learn_reg(r, f, line, type);
    else
        learn_mem(r, f, line, type);
}

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
        *has = text == end ? *has & ~(uint32_t)TROD_COL_TEXT : *has;
    }
    if (want & TROD_COL_FLAGS)
        b->flags[n] = f->flags | (p[r->d->type_at + 1] & 1u) * TROD_F_SKIPPED;
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
    b->kind[n] = (uint8_t)(TROD_READ + (p[r->d->type_at + 1] & 1) * (TROD_WRITE - TROD_READ));
    return p + f->len - 1;
}

/* What the form F alone says of row N, whose line is [P, NL] and has HAS. */
TM_INLINE void formed_row(struct tm_run *r, const struct tm_form *f, const uint8_t *p,
                          const uint8_t *nl, uint32_t n, uint32_t has, const uint32_t want)
{
    struct trod_batch *b = r->b;

    b->has[n] = has & r->want;
    if (want & TROD_COL_SIZE)
        b->size[n] = f->size;
    if (want & TROD_COL_STREAM)
        b->stream[n] = f->stream;
    if (want & TROD_COL_UNIT)
        b->unit[n] = f->unit;
    if (want & TROD_COL_TIME)
        b->time[n] = tm_decimal(p, f->time.n);
    if (want & TROD_COL_RAW)
        b->raw[n] = (struct trod_slice){(uint32_t)(p - r->base), (uint32_t)(nl + 1 - p)};
}

/* Rows up to N are there, the last of them of the line at BEFORE, which has the form F. */
TM_INLINE void formed_end(struct tm_run *r, const struct tm_form *f, uint32_t n,
                          const uint32_t want)
{
    if (n == r->n)
        return;
    r->h.head = &r->d->heads[f->head];
    r->h.unit = f->unit;
    r->h.timed = true;
    r->h.picture = 0;
    if (f->has & TROD_COL_STREAM) {
        r->h.stream = f->stream;
        r->h.source_seen = true;
    }
    if (want & TROD_COL_TIME)
        r->h.time = r->b->time[n - 1];
    r->before = NULL;
    r->lines += n - r->n;
    r->n = n;
}

/* Lines from P on that have a form. */
TM_INLINE const uint8_t *formed_lines(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                      const uint32_t want)
{
    const struct tm_form *forms = r->d->forms, *last = forms;
    const uint32_t at = r->d->type_at - 2, cap = r->b->cap;
    const uint8_t *stop = end - TM_MARGIN;
    uint32_t n = r->n;

    while (n < cap && p <= stop) {
        const struct tm_form *f = &forms[tm_form_of(p + at)];
        uint32_t has = f->has;
        const uint8_t *nl;

        if (!tm_form_fits(f, p))
            break;
        if (f->kind == TROD_INSTR)
            nl = formed_instr(r, f, p, n, &has, want);
        else if (f->kind == TROD_REG)
            nl = formed_reg(r, f, p, n, &has, want);
        else if (f->kind == TROD_READ)
            nl = formed_mem(r, f, p, n, &has, want);
        else
            break;
        if (!nl)
            break;
        formed_row(r, f, p, nl, n++, has, want);
        last = f;
        p = nl + 1;
    }
    formed_end(r, last, n, want);
    return p;
}

#else

TM_INLINE const uint8_t *formed_lines(struct tm_run *r, const uint8_t *p, const uint8_t *end,
                                      const uint32_t want)
{
    (void)r, (void)end, (void)want;
    return p;
}

#endif

#endif
