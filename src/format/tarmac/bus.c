/*
 * bus.c - bus transactions: BR4I__S, BNR4O___.
 *
 * Implements docs/formats/tarmac.md, "What each record becomes" (TarmacTrace, "Memory bus trace",
 * and the lines of RTL and ARMulator). Idle and coprocessor cycles, whose type words begin with M,
 * are in mem.c.
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

struct type {
    bool write, rtl;
    uint32_t size, flags;
};

/* Letter C must be one of two: AT adds its flag. */
static bool letter(uint8_t c, char set, uint32_t flag, uint32_t *flags)
{
    if (c == (uint8_t)set)
        *flags |= flag;
    return c == (uint8_t)set || c == '_';
}

/* What follows the size in a Fast Models type word: fd, lk, p, s. */
static bool fm_letters(const uint8_t *q, struct type *t)
{
    if (q[0] != 'I' && q[0] != 'D')
        return false;
    if (q[0] == 'I')
        t->flags |= TROD_F_IFETCH;
    if (q[1] == 'L')
        t->flags |= TROD_F_LOCKED;
    else if (q[1] == 'X')
        t->flags |= TROD_F_EXCLUSIVE;
    else if (q[1] != '_')
        return false;
    if (!letter(q[2], 'P', TROD_F_PRIV, &t->flags) || (q[3] != 'S' && q[3] != 'N'))
        return false;
    t->flags |= (uint32_t)(q[3] == 'S' ? TROD_SEC_SECURE : TROD_SEC_NONSECURE) << TROD_F_SEC_SHIFT;
    return true;
}

static bool type_of(struct tm_word w, struct type *t)
{
    const uint8_t *p = w.p + 1, *e = w.p + w.n, *q;

    memset(t, 0, sizeof *t);
    if (w.n < 3 || *w.p != 'B')
        return false;
    if (*p == 'N' || *p == 'S' || *p == 'I' || *p == 'C') {
        t->rtl = true;
        p++;
    }
    if (*p != 'R' && *p != 'W')
        return false;
    t->write = *p == 'W';
    for (q = p + 1; q < e && tm_is_digit(*q) && q - p < 4; q++)
        t->size = t->size * 10 + (uint32_t)(*q - '0');
    if (!t->size)
        return false;
    if (!t->rtl)
        return e - q == 4 && fm_letters(q, t);
    for (; q < e; q++) {
        if (!memchr("OLS_DIAR", *q, 8))
            return false;
        if (*q == 'O' || (*q == 'I' && q + 1 == e))
            t->flags |= TROD_F_IFETCH;
        if (*q == 'L')
            t->flags |= TROD_F_LOCKED;
    }
    return true;
}

bool tm_is_bus_type(struct tm_word w)
{
    struct type t;

    return type_of(w, &t);
}

/* I<wrcbs> or O<wrcbs>. */
static int attributes(struct tm_line *l, struct tm_word w, char side, uint8_t *out)
{
    static const char letters[] = "WRCBS";

    if (w.n != 6 || *w.p != (uint8_t)side)
        return tm_bad(l, w.n ? TM_BAD_FIELD : TM_MISSING_FIELD, w.p,
                      side == 'I' ? "inner attributes I<wrcbs> are expected here"
                                  : "outer attributes O<wrcbs> are expected here");
    *out = 0;
    for (int i = 0; i < 5; i++) {
        if (w.p[1 + i] == (uint8_t)letters[i])
            *out = (uint8_t)(*out | 1 << (4 - i));
        else if (w.p[1 + i] != '_')
            return tm_bad(l, TM_BAD_FIELD, w.p + 1 + i, "not an attribute of a bus transaction");
    }
    return TM_OK;
}

/* Data in address order, as written for Fast Models, word by word for RTL. */
static int put_data(struct tm_line *l, struct tm_row *row, const struct type *t,
                    struct trod_detail_bus *d)
{
    const uint8_t *at = l->p;
    struct tm_value v;
    uint8_t *p;
    int rc;

    if ((rc = tm_value(l, true, &v)) != TM_OK)
        return rc;
    if (v.digits != t->size * 2)
        return tm_bad(l, v.digits > t->size * 2 ? TM_TOO_WIDE : TM_BAD_NUMBER, at,
                      "data are not as wide as the transaction");
    tm_number_style(&d->num, &v, t->size, !l->d->flavour->matcher);
    if (v.dashes < v.unknown)
        row->flags |= TROD_F_UNKNOWN;
    if (v.dashes)
        row->flags |= TROD_F_PARTIAL;
    if (v.unknown == v.digits)
        return TM_OK;
    if (v.data.len) {
        row->data = v.data;
        p = l->b->pool + (v.data.off & ~(uint32_t)TROD_SLICE_POOL);
    } else {
        if (!(p = trod_batch_pool(l->b, t->size, &row->data)))
            return TM_FULL;
        for (uint32_t i = 0; i < t->size; i++)
            p[i] = (uint8_t)(v.v >> i * 8);
    }
    row->has |= TROD_COL_DATA;
    if (v.unknown)
        d->mask = v.mask;
    for (int k = 0; k < (v.unknown ? 2 : 1); k++) {
        uint8_t *q = k ? l->b->pool + (v.mask.off & ~(uint32_t)TROD_SLICE_POOL) : p;

        /* The value is read with its last byte first: turn it, or only its words. */
        for (uint32_t i = 0; i < t->size / 2 && !t->rtl; i++) {
            uint8_t c = q[i];

            q[i] = q[t->size - 1 - i];
            q[t->size - 1 - i] = c;
        }
        for (uint32_t i = 0; i < 4 && t->rtl && t->size == 8 && v.sep == ' '; i++) {
            uint8_t c = q[i];

            q[i] = q[4 + i];
            q[4 + i] = c;
        }
    }
    return TM_OK;
}

int tm_parse_bus(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row = tm_begin(l, TROD_BUS);
    struct trod_detail_bus *d = tm_detail(l, row, sizeof *d);
    struct tm_word w;
    struct tm_addr a;
    struct type t;
    int rc;

    if (!d)
        return TM_FULL;
    if (!type_of(type, &t))
        return TM_OTHER;
    d->write = t.write;
    row->size = t.size;
    row->flags |= t.flags;
    row->has |= TROD_COL_SIZE | TROD_COL_PADDR;
    if (t.rtl) {
        d->type = tm_slice(l, type);
    } else {
        if ((rc = attributes(l, tm_word(l), 'I', &d->inner)) != TM_OK ||
            (rc = attributes(l, tm_word(l), 'O', &d->outer)) != TM_OK)
            return rc;
        d->has_cache = 1;
        d->master = tm_slice(l, tm_word(l));
    }
    w = tm_word(l);
    if ((rc = tm_address(l, w, &a)) != TM_OK)
        return rc;
    if (a.has_paddr)
        return tm_bad(l, TM_BAD_FIELD, w.p, "a physical address is one number");
    row->paddr = a.vaddr;
    d->paddr_digits = t.rtl ? (a.digits == 8 ? 0 : a.digits) : tm_pdigits(a.vaddr, a.digits);
    tm_blanks(l);
    if (t.rtl && l->p < l->e && *l->p == '(') {
        if ((rc = tm_bracket(l, &w)) != TM_OK)
            return rc;
        d->note = tm_slice(l, w);
        d->idle = tm_is(w, "wait");
        row->flags |= tm_is(w, "abort") ? TROD_F_ABORTED : 0;
    } else if ((rc = put_data(l, row, &t, d)) != TM_OK) {
        return rc;
    }
    if ((w = tm_word(l)).n)
        return tm_bad(l, TM_BAD_FIELD, w.p, "nothing is expected here");
    tm_add(l);
    return TM_OK;
}
