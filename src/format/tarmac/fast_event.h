/*
 * fast_event.h - exceptions and mode changes in their usual form for the fast path.
 *
 * See fast.c; the general path is event.c. An address of the usual form, the mode that is entered
 * or none, a second value of 8 digits or none, the number of 8 digits and the name, one blank
 * between them.
 */
#ifndef TROD_FORMAT_TARMAC_FAST_EVENT_H
#define TROD_FORMAT_TARMAC_FAST_EVENT_H

#include "format/tarmac/fast_line.h"

enum {
    TM_EVENT_DIGITS = 8,
    TM_EVENT_HAS = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_VALUE | TROD_COL_TEXT | TROD_COL_DETAIL
};

/* What an event's line says behind its type word. */
struct tm_event {
    struct address a;
    const uint8_t *mode, *value1_at, *name, *end, *nl; /* end: of the name */
    uint64_t value1, number;
    unsigned mode_len;
    bool has_value1, core; /* core: the name begins as those of the core's events do */
};

/* Are the characters at P a word of 8 digits? */
static bool tm_event_number(const uint8_t *p, uint64_t *out)
{
    const struct tm_hexrun h = tm_hex_run(p);

    *out = h.value;
    return h.n == TM_EVENT_DIGITS && !h.upper && p[TM_EVENT_DIGITS] == ' ';
}

/* Parse the line behind the type word, at P. False: it has another form. */
static TROD_APART bool tm_take_event(const uint8_t *p, struct tm_event *e)
{
    if (!(p = take_address(p, &e->a)))
        return false;
    e->mode = p;
    e->mode_len = 0;
    if (!tm_event_number(p, &e->number)) {
        const uint32_t blanks = tm_mask16(p, ' ');

        e->mode_len = blanks ? (unsigned)__builtin_ctz(blanks) : 0;
        if (tm_hex_run(p).n >= e->mode_len || tm_mask16(p, '\t') & (blanks ^ (blanks - 1)) ||
            tm_mask16(p, '\n') & (blanks ^ (blanks - 1)))
            return false;
        p += e->mode_len + 1;
        if (!tm_event_number(p, &e->number))
            return false;
    }
    e->value1 = e->number;
    e->value1_at = p;
    p += TM_EVENT_DIGITS + 1;
    if ((e->has_value1 = tm_event_number(p, &e->number)))
        p += TM_EVENT_DIGITS + 1;
    else
        e->number = e->value1;
    e->name = p;
    e->core = memcmp(p, "CoreEvent_", 10) == 0;
    while (*p > ' ' && p - e->name < TM_TEXT_MAX)
        p++;
    e->end = p;
    e->nl = tm_end_at(p);
    return e->nl && p > e->name && tm_hex_run(e->name).n < 16 &&
           e->name + tm_hex_run(e->name).n < p;
}

/*
 * The details of row N, an event of KIND of the form E: its mode and second value, as far as it has
 * them, and digits of its addresses. False: the pool is full.
 */
static TROD_APART bool tm_put_event(struct tm_run *r, size_t n, const struct tm_event *e,
                                    uint8_t kind)
{
    struct trod_detail_event *d = trod_batch_pool(r->b, sizeof *d, &r->b->detail[n]);

    if (!d)
        return false;
    memset(d, 0, sizeof *d);
    if (e->mode_len)
        d->mode = (struct trod_slice){(uint32_t)(e->mode - r->base), e->mode_len};
    d->has_value1 = e->has_value1;
    d->value1 = e->has_value1 ? e->value1 : 0;
    d->addr_digits = e->a.digits;
    d->paddr_digits = e->a.paddr_digits;
    d->what = tm_event_what(kind);
    return true;
}

/* E address mode value1 number name; Q is behind the type word. */
TM_INLINE const uint8_t *tm_fast_event(struct tm_run *r, const uint8_t *line, const uint8_t *q,
                                       const uint32_t want)
{
    struct trod_batch *b = r->b;
    const uint32_t n = r->n;
    struct tm_event e;
    uint8_t kind;

    if (!tm_take_event(q, &e))
        return NULL;
    kind = tm_event_kind(e.number, e.core);
    if (want & TROD_COL_DETAIL && !tm_put_event(r, n, &e, kind))
        return NULL;
    b->has[n] = (r->has | TM_EVENT_HAS | TROD_COL_RAW | e.a.has) & r->want;
    b->kind[n] = kind;
    if (want & TROD_COL_FLAGS)
        b->flags[n] = r->flags | e.a.sec;
    if (want & TROD_COL_ADDR)
        b->addr[n] = e.a.vaddr;
    if (want & TROD_COL_PADDR)
        b->paddr[n] = e.a.paddr;
    if (want & TROD_COL_VALUE)
        b->value[n] = e.number;
    if (want & TROD_COL_TEXT)
        b->text[n] = (struct trod_slice){(uint32_t)(e.name - r->base), (uint32_t)(e.end - e.name)};
    tm_put_line(r, line, e.nl + 1, want);
    return e.nl + 1;
}

#endif
