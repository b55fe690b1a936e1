/*
 * fast_learn.h - forms (form.h) made from lines that the fast path has decoded.
 *
 * See fast.c. Only from lines whose inheritance from lines before is settled: there was a time, and
 * a cpu if the trace names them.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_LEARN_H
#define TROD_FORMAT_TARMAC_FAST_LEARN_H

#include "format/tarmac/fast_es.h"
#include "format/tarmac/fast_event.h"
#include "format/tarmac/fast_wide.h"

/* A line that was decoded: where its type word is, and what stands before. */
struct form_line {
    const uint8_t *p, *type;
    unsigned indent, digits; /* blanks, and of the time; no time: no digits */
};

/* Is the unit of time that of the forms? Forms with another unit are given up now and then. */
static bool form_unit(struct tm_run *r)
{
    struct tm_dec *d = r->d;

    if (d->forms_unit == r->h.unit)
        return true;
    if (d->unit_wait && d->unit_wait--)
        return false;
    tm_forget_forms(d);
    d->forms_unit = r->h.unit;
    d->unit_wait = TM_FORM_TRIES;
    return true;
}

/* Whether F is free for a line with its type word at place AT. */
static bool form_free(const struct tm_form *f, uint32_t at)
{
    return !f->kind || f->type_at != at;
}

/* Where to move F, one of FORMS that is not free, when another takes its place K. */
static struct tm_form *form_beside(struct tm_form *forms, const struct tm_form *f, unsigned k)
{
    if (f->kind == TM_FORM_REG)
        return &forms[tm_form_of_name(f->name.n, f->size == 4)];
    for (unsigned i = 1; i < TM_WAYS; i++)
        if (form_free(&forms[k ^ i], f->type_at))
            return &forms[k ^ i];
    return &forms[k ^ 1];
}

/* The place for a form of the line L; NULL: it is not to be kept. */
static struct tm_form *form_room(struct tm_run *r, const struct form_line *l)
{
    struct tm_dec *d = r->d;
    const uint32_t at = (uint32_t)(l->type - l->p);
    uint32_t *kept = l->digits ? &d->type_at : &d->bare_at;
    uint32_t *wait = l->digits ? &d->type_wait : &d->bare_wait;
    const unsigned k = tm_form_of(l->type - 2);
    struct tm_form *forms = d->forms[!l->digits], *f = &forms[k];

    if (d->sourced && !(l->digits ? r->h.head->has & TROD_COL_STREAM : r->h.source_seen))
        return NULL;
    if ((!l->digits && !r->h.timed) || !form_unit(r))
        return NULL;
    if (*kept != at) {
        if (*wait && (*wait)--)
            return NULL;
        *kept = at;
        *wait = TM_FORM_TRIES;
    }
    if (f->kind && f->type_at != at)
        tm_form_forget(f); /* of lines that come no more */
    if ((!f->kind || !form_free(form_beside(forms, f, k), at)) && f->wait && f->wait--)
        return NULL;
    f->wait = TM_FORM_TRIES;
    return f;
}

/* Make FRESH, a form of the line L, the form F, one of the places for it. */
static void form_put(struct tm_run *r, struct tm_form *f, const struct tm_form *fresh,
                     const struct form_line *l)
{
    struct tm_form *forms = r->d->forms[!l->digits];

    if (f->kind)
        *form_beside(forms, f, (unsigned)(f - forms)) = *f;
    *f = *fresh;
    f->wait = TM_FORM_TRIES;
    f->put = f->has & r->want;
}

/* The N digits at P as a field of LINE. */
static struct tm_field form_field(const uint8_t *line, const uint8_t *p, unsigned n)
{
    return (struct tm_field){(uint8_t)(p - line), (uint8_t)n};
}

/* The line L up to END, laid out as AT says, has the form F, of rows of ROW. */
static bool form_keep(struct tm_run *r, struct tm_form *f, const struct form_line *l,
                      const uint8_t *end, struct tm_layout *at, uint8_t row)
{
    if (end - l->p > TM_PARTS * TM_PART)
        return false;
    at->time = form_field(l->p, l->p + l->indent, l->digits);
    tm_form_keep(f, l->p, (unsigned)(end - l->p), at);
    f->row = row;
    f->type_at = (uint8_t)(l->type - l->p);
    f->bare = !l->digits;
    r->d->es_forms |= f->bare;
    f->hand = (struct tm_hand){.head = r->h.head->number,
                               .stream = r->h.stream,
                               .source = r->h.head->has & TROD_COL_STREAM};
    f->has = r->has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_RAW;
    f->flags = r->flags;
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

/* As long as all addresses had 32 bits, an instruction's address must stay below that limit. */
static void form_narrow(const struct tm_run *r, struct tm_layout *l)
{
    if (l->vaddr.n > 8 && !r->d->wide)
        l->zeros = l->vaddr.n - 8u;
}

/* LINE is an instruction: others may have its form. */
static void learn_instr(struct tm_run *r, struct tm_form *f, const struct form_line *line)
{
    const uint8_t *type = line->type;
    struct tm_layout at = {.pair_at = (uint8_t)(type + 1 - line->p)};
    struct instr_line l;

    at.pair = type[1] == 'T' ? 'S' : 'T';
    at.index = form_field(line->p, type + 4, tm_decimal_run(type + 4));
    if (!take_instr(type + 4 + at.index.n, &l))
        return;
    form_addresses(line->p, type + 6 + at.index.n, &at);
    form_narrow(r, &at);
    at.code = form_field(line->p, l.mode - 3 - l.op_n, l.op_n);
    if (!form_keep(r, f, line, l.text, &at, TROD_INSTR))
        return;
    f->kind = TM_FORM_INSTR;
    f->name = form_field(line->p, l.mode, l.mode_len);
    f->iset = (uint8_t)l.iset;
    f->size = l.op_n / 2;
    f->has |= l.a.has | TROD_COL_INDEX | TROD_COL_PC | TROD_COL_CODE | TROD_COL_DETAIL;
    f->flags |= l.a.sec | l.iset << TROD_F_ISET_SHIFT;
}

/* The value W at P in LINE, the last digits of which are those of code. */
static void form_wide(const uint8_t *line, const uint8_t *p, const struct tm_wide *w,
                      struct tm_layout *l)
{
    const unsigned n = w->divided ? 8 : 16;

    l->code = form_field(line, w->end - n, n);
    l->more = form_field(line, p, (unsigned)(w->end - n - p));
    l->upper = w->upper;
}

/* The same for a register's write. */
static void learn_reg(struct tm_run *r, struct tm_form *f, const struct form_line *line)
{
    const uint8_t *name = line->type + 2;
    const unsigned len = tm_name_before(name, false);
    const struct tm_hexrun v = tm_hex_run(name + len + 1);
    struct tm_layout at = {.name = form_field(line->p, name, len),
                           .code = form_field(line->p, name + len + 1, v.n),
                           .upper = v.upper};
    struct tm_wide w = {.nl = tm_end_at(name + len + 1 + v.n), .n = 1};

    if (!w.nl) {
        if (!tm_take_wide(name + len + 1, &w))
            return;
        form_wide(line->p, name + len + 1, &w, &at);
    }
    if (!form_keep(r, f, line, w.nl + 1, &at, TROD_REG))
        return;
    f->kind = TM_FORM_REG;
    f->name = at.name;
    f->divided = w.n > 1 && w.divided;
    f->size = w.n > 1 ? 8 * w.n : v.n / 2;
    f->has |= (w.n > 1 ? TROD_COL_DATA : TROD_COL_VALUE) | TROD_COL_TEXT;
}

/* The same for an access. */
static void learn_mem(struct tm_run *r, struct tm_form *f, const struct form_line *line)
{
    const uint8_t *type = line->type;
    struct tm_layout at = {.pair_at = (uint8_t)(type + 1 - line->p)};
    const unsigned size = type[2] - '0';
    const uint32_t flags = tm_mem_flags(r->d, type[3]);
    const uint8_t *q = type + (flags ? 5 : 4), *data;
    struct mem_line l;
    unsigned n;

    if (!(data = take_address(q, &l.a)) || !(l.nl = take_data(data, size, &l.value, &l.divided)))
        return;
    at.pair = type[1] == 'R' ? 'W' : 'R';
    form_addresses(line->p, q, &at);
    n = size == 8 && l.divided ? 8 : 2 * size;
    at.code = form_field(line->p, tm_text_end(l.nl) - n, n);
    if (size == 8 && l.divided)
        at.more = form_field(line->p, data, 8);
    if (!form_keep(r, f, line, l.nl + 1, &at, TROD_READ))
        return;
    f->kind = TM_FORM_MEM;
    f->divided = l.divided;
    f->size = size;
    f->has |= l.a.has | TROD_COL_VALUE;
    f->flags |= flags | l.a.sec;
}

/* The same for an access of more than 8 bytes. */
static void learn_wide_mem(struct tm_run *r, struct tm_form *f, const struct form_line *line)
{
    const uint8_t *type = line->type, *data;
    struct tm_layout at = {.pair_at = (uint8_t)(type + 1 - line->p)};
    struct mem_line l;
    struct tm_wide w;

    if (!(data = take_address(type + 5, &l.a)) || !tm_take_wide(data, &w))
        return;
    at.pair = type[1] == 'R' ? 'W' : 'R';
    form_addresses(line->p, type + 5, &at);
    form_wide(line->p, data, &w, &at);
    if (!form_keep(r, f, line, w.nl + 1, &at, TROD_READ))
        return;
    f->kind = TM_FORM_MEM;
    f->divided = w.divided;
    f->size = 8 * w.n;
    f->has |= l.a.has | TROD_COL_DATA;
    f->flags |= l.a.sec;
}

/* The same for an event. */
static void learn_event(struct tm_run *r, struct tm_form *f, const struct form_line *line)
{
    struct tm_layout at = {.zeros = 0};
    struct tm_event e;

    if (!tm_take_event(line->type + 2, &e))
        return;
    form_addresses(line->p, line->type + 2, &at);
    if (e.has_value1)
        at.code = form_field(line->p, e.value1_at, TM_EVENT_DIGITS);
    if (!form_keep(r, f, line, e.nl + 1, &at, tm_event_kind(e.number, e.core)))
        return;
    f->kind = TM_FORM_EVENT;
    f->name = form_field(line->p, e.mode, e.mode_len);
    f->text = form_field(line->p, e.name, (unsigned)(e.end - e.name));
    f->number = e.number;
    f->size = 0;
    f->has = (f->has & ~(uint32_t)TROD_COL_SIZE) | TM_EVENT_HAS | e.a.has;
    f->flags |= e.a.sec;
}

/* The same for an instruction of the ES dialect. */
static void learn_es(struct tm_run *r, struct tm_form *f, const struct form_line *line)
{
    struct tm_layout at = {.zeros = 0};
    struct tm_es_line l;

    if (!tm_take_es(line->type + 2, &l))
        return;
    at.vaddr = form_field(line->p, l.at, l.addr_n);
    at.code = form_field(line->p, l.at + l.addr_n + 1, l.op_n);
    form_narrow(r, &at);
    if (!form_keep(r, f, line, l.text, &at, TROD_INSTR))
        return;
    f->kind = TM_FORM_ES;
    r->d->es_forms = true;
    f->name = form_field(line->p, l.mode, l.mode_len);
    f->iset = (uint8_t)l.iset;
    f->size = l.op_n / 2;
    f->has |= TROD_COL_ADDR | TROD_COL_PC | TROD_COL_CODE | TROD_COL_DETAIL;
    f->flags |= l.iset << TROD_F_ISET_SHIFT;
}

/* The same for where a branch goes. */
static void learn_br(struct tm_run *r, struct tm_form *f, const struct form_line *line)
{
    const uint8_t *to = line->type + 4;
    const unsigned n = tm_hex_run(to).n, iset = tm_iset_of(to[n + 2]);
    struct tm_layout at = {.vaddr = form_field(line->p, to, n)};

    if (!form_keep(r, f, line, tm_end_at(to + n + 3) + 1, &at, TROD_BRANCH))
        return;
    f->kind = TM_FORM_BR;
    r->d->es_forms = true;
    f->size = 0;
    f->has = (f->has & ~(uint32_t)TROD_COL_SIZE) | TM_BR_HAS;
    f->flags |= TROD_BR_OTHER | iset << TROD_F_ISET_SHIFT;
}

/* Lines of the form F may end with the N characters at P; N > TM_PART: none may. */
static void form_ending(struct tm_form *f, const uint8_t *p, size_t n)
{
    memset(f->ending, 0, sizeof f->ending);
    f->beyond = n < TM_PART ? UINT32_MAX << n : 0;
    f->ending_n = (uint32_t)n - 1;
    if (n <= TM_PART)
        memcpy(f->ending, p, n);
}

/* The same for a picture. */
static void learn_picture(struct tm_run *r, struct tm_form *f, const struct form_line *line)
{
    const uint8_t *base = line->type + 3, *bytes = base + tm_hex_run(base).n + 1, *end;
    struct tm_layout at = {.bytes = form_field(line->p, bytes, TM_PICTURE_TEXT)};
    struct tm_picture_tail t;

    if (!tm_take_picture_tail(bytes + TM_PICTURE_TEXT, &t, 0, false))
        return;
    at.vaddr = form_field(line->p, base, (unsigned)(bytes - 1 - base));
    if (t.digits)
        at.paddr = form_field(line->p, t.paddr_at, t.digits);
    end = t.digits && t.paddr_at[t.digits] == ' ' ? t.paddr_at + t.digits : t.nl;
    if (!form_keep(r, f, line, end + 1, &at, *line->type == 'L' ? TROD_READ : TROD_WRITE))
        return;
    f->kind = TM_FORM_PICTURE;
    f->picture = true;
    r->d->es_forms = true;
    f->code = at.bytes;
    f->prefix = t.prefix;
    f->open = *end != '\n';
    form_ending(f, end, (size_t)(t.nl + 1 - end));
    f->has = (f->has & ~(uint32_t)TROD_COL_RAW) | TM_PICTURE_HAS |
             (t.digits ? (uint32_t)TROD_COL_PADDR : 0);
    f->flags |= (uint32_t)t.prefix << TROD_F_SEC_SHIFT;
}

/* The line L was just decoded: keep its form as F, for others. */
static void form_make(struct tm_run *r, struct tm_form *f, const struct form_line *l)
{
    switch (*l->type) {
    case 'I':
        learn_instr(r, f, l);
        break;
    case 'R':
        learn_reg(r, f, l);
        break;
    case 'M':
        tm_is_digit(l->type[3]) ? learn_wide_mem(r, f, l) : learn_mem(r, f, l);
        break;
    case 'E':
        l->type[1] == ' ' ? learn_event(r, f, l) : learn_es(r, f, l);
        break;
    case 'B':
        learn_br(r, f, l);
        break;
    default:
        learn_picture(r, f, l);
    }
}

/* LINE was just eaten: others may have its form. */
static TROD_APART void form_learn(struct tm_run *r, const uint8_t *line)
{
    struct form_line l = {.p = line};
    struct tm_form fresh = {.kind = TM_FORM_NONE}, *f;

    while (line[l.indent] == ' ')
        l.indent++;
    l.type = line + l.indent;
    if (tm_is_digit(*l.type)) {
        l.digits = tm_decimal_run(l.type);
        l.type += l.digits + r->h.head->len;
    }
    if (l.type - line < 2 || !(f = form_room(r, &l)))
        return;
    form_make(r, &fresh, &l);
    if (fresh.kind)
        form_put(r, f, &fresh, &l);
}

#endif
