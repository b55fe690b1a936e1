/*
 * mem.c - memory accesses of one line each: MR and MW in all their spellings, R04 and W04, MU.
 *
 * Implements docs/formats/tarmac.md, "Memory accesses" (TarmacTrace, "Processor memory access
 * trace" and "Processor memory update trace", and the type words of RTL and ARMulator).
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

#include <ctype.h>

/* What a type word says. */
struct type {
    bool write, rtl, idle, coprocessor, fetch, reversed;
    bool lanes; /* the value may be the whole word of the bus (MR2_I of Cortex-M0) */
    uint32_t size, flags;
    uint8_t attr;
};

/* Decimal digits at P (before E) to OUT; returns what follows them, P if there are none. */
static const uint8_t *size_of(const uint8_t *p, const uint8_t *e, uint32_t *out)
{
    uint32_t v = 0;
    const uint8_t *q = p;

    while (q < e && tm_is_digit(*q) && q - p < 4)
        v = v * 10 + (uint32_t)(*q++ - '0');
    *out = v;
    return v ? q : p;
}

/* MR4, MW8X, MR4_D: [p, e) is what follows the M. */
static bool short_type(const uint8_t *p, const uint8_t *e, bool matcher, struct type *t)
{
    const uint8_t *q;

    if (p == e || (*p != 'R' && *p != 'W'))
        return false;
    t->write = *p == 'W';
    if ((q = size_of(p + 1, e, &t->size)) == p + 1)
        return false;
    if (e - q == 2 && q[0] == '_' && (q[1] == 'D' || q[1] == 'I')) {
        t->rtl = t->lanes = true;
        t->attr = q[1];
        t->fetch = q[1] == 'I';
        return true;
    }
    for (; q < e; q++)
        if (*q == 'X')
            t->flags |= matcher ? TROD_F_PRIV : TROD_F_EXCLUSIVE;
        else if (*q == 'T')
            t->flags |= TROD_F_UNPRIV;
        else if (*q == 'L')
            t->flags |= TROD_F_LOCKED;
        else
            return false;
    return true;
}

/* MNR4O___, MSW4___D, MI, MIO, MC. */
static bool long_type(const uint8_t *p, const uint8_t *e, struct type *t)
{
    const uint8_t *q;

    if (p == e || !memchr("NSIC", *p, 4))
        return false;
    t->rtl = true;
    t->idle = *p == 'I';
    t->coprocessor = *p == 'C';
    p++;
    if (p == e || (p + 1 == e && *p == 'O')) {
        t->idle = true;
        return t->coprocessor || p[-1] == 'I';
    }
    if (*p != 'R' && *p != 'W')
        return false;
    t->write = *p == 'W';
    if ((q = size_of(p + 1, e, &t->size)) == p + 1)
        return false;
    for (; q < e; q++) {
        if (!memchr("OLS_DIAR", *q, 8))
            return false;
        if (*q == 'L')
            t->flags |= TROD_F_LOCKED;
        t->fetch |= *q == 'O';
    }
    if (e[-1] != '_' && memchr("DIAR", e[-1], 4)) {
        t->attr = e[-1];
        t->reversed = t->attr == 'D';
        t->fetch |= t->attr == 'I';
    }
    return true;
}

static bool type_of(struct tm_word w, bool matcher, struct type *t)
{
    memset(t, 0, sizeof *t);
    if (w.n < 2 || *w.p != 'M')
        return false;
    if (short_type(w.p + 1, w.p + w.n, matcher, t))
        return true;
    memset(t, 0, sizeof *t);
    return long_type(w.p + 1, w.p + w.n, t);
}

bool tm_is_mem_type(struct tm_word w)
{
    struct type t;

    return type_of(w, false, &t);
}

/* Reverse the bytes of V, which holds SIZE of them: it was in memory order. */
static void reverse(struct tm_line *l, struct tm_value *v, uint32_t size)
{
    uint8_t *p[3] = {NULL, NULL, NULL};

    if (v->data.len)
        p[0] = l->b->pool + (v->data.off & ~(uint32_t)TROD_SLICE_POOL);
    else
        v->v = size ? __builtin_bswap64(v->v) >> (64 - 8 * (size < 8 ? size : 8)) : 0;
    if (v->mask.len)
        p[1] = l->b->pool + (v->mask.off & ~(uint32_t)TROD_SLICE_POOL);
    if (v->unwritten.len)
        p[2] = l->b->pool + (v->unwritten.off & ~(uint32_t)TROD_SLICE_POOL);
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; p[k] && i < size / 2; i++) {
            uint8_t c = p[k][i];

            p[k][i] = p[k][size - 1 - i];
            p[k][size - 1 - i] = c;
        }
}

/* VALUE or DATA of ROW as far as V is known. */
static void put_value(struct tm_row *row, const struct tm_value *v)
{
    if (v->digits == 0)
        return;
    if (v->dashes < v->unknown)
        row->flags |= TROD_F_UNKNOWN;
    if (v->dashes)
        row->flags |= TROD_F_PARTIAL;
    if (v->unknown < v->digits)
        tm_value_row(row, v);
}

/* The two words of the mask S change places. */
static void swap_words(const struct tm_line *l, struct trod_slice s)
{
    uint8_t *p = l->b->pool + (s.off & ~(uint32_t)TROD_SLICE_POOL), c[4];

    if (s.len != 8)
        return;
    memcpy(c, p, 4);
    memcpy(p, p + 4, 4);
    memcpy(p + 4, c, 4);
}

/* The words of a value, except that two 8-digit words of an ARMulator line are in address order. */
static int mem_value(struct tm_line *l, const struct type *t, struct tm_value *v)
{
    const uint8_t *at;
    int rc;

    tm_blanks(l);
    at = l->p;
    if ((rc = tm_value(l, true, v)) != TM_OK)
        return rc;
    if (t->rtl && v->sep == ' ' && v->group == 8 && v->digits == 16) {
        v->v = v->v << 32 | v->v >> 32;
        swap_words(l, v->mask);
        swap_words(l, v->unwritten);
    }
    if (v->digits > (uint64_t)t->size * 2 && !(t->lanes && v->digits == 8 && t->size < 4))
        return tm_bad(l, TM_TOO_WIDE, at, "value is wider than the access");
    if (!t->rtl && v->digits < (uint64_t)t->size * 2)
        tm_warn(l, TM_SHORT_VALUE, at, "value has fewer digits than the access has bytes for");
    if (t->reversed && v->digits != t->size * 2)
        return tm_bad(l, TM_BAD_NUMBER, at, "value in memory order is not as wide as the access");
    return TM_OK;
}

static bool starts(struct tm_word w, const char *text)
{
    for (size_t i = 0; text[i]; i++)
        if (i >= w.n || (w.p[i] | 0x20) != (text[i] | 0x20))
            return false;
    return true;
}

/* (ABORTED), (abort), (wait), (EXCLUSIVE FAIL): what they say of the access. */
static int outcome(struct tm_line *l, struct tm_row *row, struct tm_word *note, bool *wait)
{
    int rc;

    tm_blanks(l);
    if (l->p == l->e || *l->p != '(')
        return TM_OK;
    if ((rc = tm_bracket(l, note)) != TM_OK)
        return rc;
    if (starts(*note, "abort"))
        row->flags |= TROD_F_ABORTED;
    else if (starts(*note, "exclusive"))
        row->flags |= TROD_F_EXCLUSIVE | TROD_F_ABORTED;
    *wait = starts(*note, "wait");
    return TM_OK;
}

/* (address:serial) of the instruction, before the address of the access. */
static int insn_bracket(struct tm_line *l, bool *has, uint64_t *insn, uint64_t *serial)
{
    struct tm_word in;
    const uint8_t *colon;
    int rc;

    tm_blanks(l);
    if (l->p == l->e || *l->p != '(' || !memchr(l->p, ':', (size_t)(l->e - l->p)))
        return TM_OK;
    if ((rc = tm_bracket(l, &in)) != TM_OK)
        return rc;
    colon = memchr(in.p, ':', in.n);
    if (!colon)
        return tm_bad(l, TM_BAD_FIELD, in.p, "(address:serial) is expected here");
    *has = true;
    if ((rc = tm_hex(l, (struct tm_word){in.p, (size_t)(colon - in.p)}, insn)) != TM_OK)
        return rc;
    return tm_hex(l, (struct tm_word){colon + 1, (size_t)(in.p + in.n - colon - 1)}, serial);
}

/* Cycles without a transfer, and transfers to coprocessors: of the bus, not of memory. */
static int bus_cycle(struct tm_line *l, struct tm_word type, const struct type *t, bool has,
                     uint64_t insn, uint64_t serial)
{
    struct tm_row *row = tm_begin(l, TROD_BUS);
    struct trod_detail_bus *d = tm_detail(l, row, sizeof *d);
    struct tm_word w, note = {NULL, 0};
    struct tm_value v;
    bool wait = false;
    int rc;

    if (!d)
        return TM_FULL;
    d->type = tm_slice(l, type);
    d->write = t->write;
    d->idle = t->idle || !t->coprocessor;
    d->coprocessor = t->coprocessor;
    d->has_insn = has;
    d->insn = insn;
    d->serial = serial;
    tm_blanks(l);
    if (t->coprocessor && t->size) {
        w = tm_word(l);
        if (!w.n)
            return tm_bad(l, TM_MISSING_FIELD, l->e, "TRANSFER is missing");
        d->note = tm_slice(l, w);
        if ((rc = mem_value(l, t, &v)) != TM_OK)
            return rc;
        row->size = t->size;
        row->has |= TROD_COL_SIZE;
        put_value(row, &v);
        if (tm_masked(&v))
            d->mask = v.mask;
        tm_number_style(&d->num, &v, row->size, false);
    } else if (!t->coprocessor && l->p < l->e) {
        struct tm_addr a;

        if (*l->p != '(') {
            if ((rc = tm_address(l, tm_word(l), &a)) != TM_OK)
                return rc;
            row->paddr = a.vaddr;
            row->has |= TROD_COL_PADDR;
            d->paddr_digits = a.digits == 8 ? 0 : a.digits;
        }
        if ((rc = outcome(l, row, &note, &wait)) != TM_OK)
            return rc;
        d->note = tm_slice(l, note);
    }
    tm_add(l);
    return TM_OK;
}

/* Words NAME=VALUE to the end of the line, as a tag of memory behind a value: they go to WORDS. */
static int named_words(struct tm_line *l, struct tm_word *words)
{
    struct tm_word w;

    tm_blanks(l);
    words->p = l->p;
    while ((w = tm_word(l)).n) {
        const uint8_t *is = memchr(w.p, '=', w.n);

        if (!is || is == w.p || is + 1 == w.p + w.n || !isalpha(*w.p))
            return tm_bad(l, TM_BAD_FIELD, w.p, "nothing is expected here");
        words->n = (size_t)(w.p + w.n - words->p);
    }
    return TM_OK;
}

/*
 * The word of the address. Before it the attribute may stand as a word of its own ("MR4 X
 * address"); TYPE, which D keeps, then grows by it.
 */
static struct tm_word address_word(struct tm_line *l, struct tm_row *row, struct tm_word *type,
                                   uint8_t style, struct trod_detail_mem *d)
{
    struct tm_word w = tm_word(l);

    if (style != TROD_MEM_RTL && (tm_is(w, "X") || tm_is(w, "T") || tm_is(w, "L"))) {
        row->flags |= *w.p == 'T'              ? TROD_F_UNPRIV
                      : *w.p == 'L'            ? TROD_F_LOCKED
                      : l->d->flavour->matcher ? TROD_F_PRIV
                                               : TROD_F_EXCLUSIVE;
        type->n = (size_t)(w.p + w.n - type->p);
        d->type = tm_slice(l, *type);
        return tm_word(l);
    }
    if (style != TROD_MEM_FM)
        d->type = tm_slice(l, *type);
    return w;
}

/* Add ROW, an access of T at A with the value V, and the detail D if it says anything. */
static int add_access(struct tm_line *l, struct tm_row *row, const struct type *t,
                      const struct tm_addr *a, const struct tm_value *v, struct trod_detail_mem *d)
{
    const bool masked = tm_masked(v);
    struct trod_detail_mem *detail;

    put_value(row, v);
    if (masked) {
        d->mask = v->mask;
        d->unwritten = v->unwritten;
    }
    if (v->digits)
        tm_number_style(&d->num, v, t->size, !l->d->flavour->matcher);
    d->num.upper |= a->upper;
    d->addr_digits = tm_vdigits(a->vaddr, a->digits);
    d->paddr_digits = a->has_paddr ? tm_pdigits(a->paddr, a->pdigits) : 0;
    d->attr = t->attr;
    d->turned = t->reversed;
    if (!tm_plain_number(&d->num) || d->note.len || masked || d->style || d->has_insn ||
        d->addr_digits || d->paddr_digits || d->type.len) {
        if (!(detail = tm_detail(l, row, sizeof *detail)))
            return TM_FULL;
        *detail = *d;
    }
    tm_add(l);
    return TM_OK;
}

/* Address, value and outcome of an access, and a detail if it says anything. */
static int access(struct tm_line *l, struct tm_word type, const struct type *t, uint8_t style)
{
    struct tm_row *row = tm_begin(l, t->write ? TROD_WRITE : TROD_READ);
    struct trod_detail_mem d;
    struct tm_word note = {NULL, 0}, w;
    const uint8_t *at;
    bool wait = false, has_insn = false;
    struct tm_addr a;
    struct tm_value v;
    int rc;

    memset(&d, 0, sizeof d);
    memset(&v, 0, sizeof v);
    if (t->rtl && (rc = insn_bracket(l, &has_insn, &d.insn, &d.serial)) != TM_OK)
        return rc;
    if (t->idle || t->coprocessor)
        return bus_cycle(l, type, t, has_insn, d.insn, d.serial);
    w = address_word(l, row, &type, style, &d);
    at = w.p;
    if ((rc = tm_address(l, w, &a)) != TM_OK)
        return rc;
    tm_address_row(row, &a);
    row->size = t->size;
    row->has |= TROD_COL_SIZE;
    row->flags |= t->flags | (t->fetch ? TROD_F_IFETCH : 0);
    if ((rc = outcome(l, row, &note, &wait)) != TM_OK)
        return rc;
    if (wait) {
        l->p = at;
        return bus_cycle(l, type, t, has_insn, d.insn, d.serial);
    }
    tm_blanks(l);
    if (!note.n || l->p < l->e) {
        if ((rc = mem_value(l, t, &v)) != TM_OK)
            return rc;
        if (t->reversed)
            reverse(l, &v, t->size);
    }
    if ((rc = outcome(l, row, &note, &wait)) != TM_OK)
        return rc;
    if ((w = tm_word(l)).n) {
        l->p = w.p;
        if (note.n)
            return tm_bad(l, TM_BAD_FIELD, w.p, "nothing is expected here");
        if ((rc = named_words(l, &note)) != TM_OK)
            return rc;
        d.bare = true;
    }
    d.note = tm_slice(l, note);
    d.style = style;
    d.has_insn = has_insn;
    return add_access(l, row, t, &a, &v, &d);
}

int tm_parse_mem(struct tm_line *l, struct tm_word type)
{
    struct type t;

    if (!type_of(type, l->d->flavour->matcher, &t))
        return TM_OTHER;
    return access(l, type, &t, t.rtl ? TROD_MEM_RTL : TROD_MEM_FM);
}

/* R04 address value, W08 address value, perhaps with an X, T or L between. */
int tm_parse_cs(struct tm_line *l, struct tm_word type)
{
    struct type t;

    memset(&t, 0, sizeof t);
    t.write = *type.p == 'W';
    t.size = (uint32_t)(type.p[1] - '0') * 10 + (uint32_t)(type.p[2] - '0');
    return access(l, type, &t, TROD_MEM_CS);
}

/* old=VALUE or new=VALUE at the cursor. */
static bool named_value(struct tm_line *l, const char *name)
{
    size_t n = strlen(name);

    tm_blanks(l);
    if ((size_t)(l->e - l->p) <= n || memcmp(l->p, name, n) != 0)
        return false;
    l->p += n;
    return true;
}

/* Data of an atomic operation: a value of SIZE bytes, and whatever stands behind it. */
static int atomic_value(struct tm_line *l, struct tm_row *row, struct trod_detail_atomic *d,
                        struct tm_value *v)
{
    const uint8_t *at;
    int rc;

    d->named = named_value(l, "old=");
    at = l->p;
    if ((rc = tm_value(l, true, v)) != TM_OK)
        return rc;
    if (v->sep == ' ' && v->digits > row->size * 2) {
        /* Several values: the first is that of the row. */
        l->p = at;
        if ((rc = tm_value(l, false, v)) != TM_OK)
            return rc;
    }
    if (v->digits > row->size * 2)
        return tm_bad(l, TM_TOO_WIDE, at, "value is wider than the access");
    d->more = tm_slice(l, tm_rest(l));
    return TM_OK;
}

int tm_parse_atomic(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row = tm_begin(l, TROD_ATOMIC);
    struct trod_detail_atomic *d = tm_detail(l, row, sizeof *d);
    const uint8_t *q = size_of(type.p + 2, type.p + type.n, &row->size);
    struct tm_value v;
    struct tm_addr a;
    int rc;

    if (!d)
        return TM_FULL;
    if (q == type.p + type.n || *q != '_' || q + 1 == type.p + type.n || !row->size)
        return TM_OTHER;
    row->text = tm_slice(l, (struct tm_word){q + 1, (size_t)(type.p + type.n - q - 1)});
    row->has |= TROD_COL_TEXT | TROD_COL_SIZE;
    if ((rc = tm_address(l, tm_word(l), &a)) != TM_OK ||
        (rc = atomic_value(l, row, d, &v)) != TM_OK)
        return rc;
    tm_address_row(row, &a);
    put_value(row, &v);
    if (tm_masked(&v))
        d->mask = v.mask;
    tm_number_style(&d->num, &v, row->size, !l->d->flavour->matcher);
    d->addr_digits = tm_vdigits(a.vaddr, a.digits);
    d->paddr_digits = a.has_paddr ? tm_pdigits(a.paddr, a.pdigits) : 0;
    tm_add(l);
    return TM_OK;
}
