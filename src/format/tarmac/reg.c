/*
 * reg.c - register writes.
 *
 * Implements docs/formats/tarmac.md, "Values" (TarmacTrace, "Register trace", with notes, parts
 * of registers, comments and digits that are not known).
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

/* What a line says before and after the value. */
struct frame {
    struct tm_word name, note, comment;
    uint64_t hi, lo;
    bool range, system_op;
};

/* <HI:LO>, or <BIT> alone; the cursor stands on '<'. */
static int bit_range(struct tm_line *l, struct frame *f)
{
    const uint8_t *open = l->p, *q = memchr(open, '>', (size_t)(l->e - open)), *colon;
    struct tm_word hi, lo;
    int rc;

    if (!q)
        return tm_bad(l, TM_BAD_FIELD, l->e, "'>' is missing");
    colon = memchr(open, ':', (size_t)(q - open));
    hi = (struct tm_word){open + 1, (size_t)((colon ? colon : q) - open - 1)};
    lo = colon ? (struct tm_word){colon + 1, (size_t)(q - colon - 1)} : hi;
    if ((rc = tm_decimal_number(l, hi, &f->hi)) != TM_OK ||
        (rc = tm_decimal_number(l, lo, &f->lo)) != TM_OK)
        return rc;
    if (f->hi < f->lo || f->hi > UINT32_MAX / 2)
        return tm_bad(l, TM_BAD_FIELD, hi.p, "range of bits runs backwards");
    f->range = true;
    l->p = q + 1;
    return TM_OK;
}

/* Name, note and range: everything before the value. */
static int before_value(struct tm_line *l, struct frame *f)
{
    static const char *const system_ops[] = {"DC", "IC", "AT", "TLBI"};
    int rc;

    tm_blanks(l);
    f->name.p = l->p;
    while (l->p < l->e && !tm_is_blank(*l->p) && *l->p != '<' && *l->p != '(')
        l->p++;
    f->name.n = (size_t)(l->p - f->name.p);
    if (f->name.n == 0)
        return tm_bad(l, TM_MISSING_FIELD, l->p, "the name of a register is missing");
    for (size_t i = 0; f->name.n <= 4 && i < sizeof system_ops / sizeof *system_ops; i++) {
        const uint8_t *back = l->p;
        struct tm_word op;

        if (!tm_is(f->name, system_ops[i]))
            continue;
        op = tm_word(l);
        if (op.n && !tm_is_value(op) && *op.p != '(' && *op.p != '<') {
            f->system_op = true;
            f->name.n = (size_t)(op.p + op.n - f->name.p);
        } else {
            l->p = back;
        }
        break;
    }
    for (;;) {
        tm_blanks(l);
        if (l->p == l->e)
            return TM_OK;
        if (*l->p == '(' && !f->note.n)
            rc = tm_bracket(l, &f->note);
        else if (*l->p == '<' && !f->range)
            rc = bit_range(l, f);
        else
            return TM_OK;
        if (rc != TM_OK)
            return rc;
    }
}

/* What is known of the value goes to ROW. */
static void put_value(struct tm_row *row, const struct tm_value *v)
{
    if (v->dashes < v->unknown)
        row->flags |= TROD_F_UNKNOWN;
    if (v->dashes)
        row->flags |= TROD_F_PARTIAL;
    if (v->unknown < v->digits)
        tm_value_row(row, v);
}

static int put_detail(struct tm_line *l, struct tm_row *row, const struct frame *f,
                      const struct tm_value *v)
{
    struct trod_detail_number num = {0, 0, 0, 0, 0, 0, {0}};
    struct trod_detail_reg *detail;
    bool masked = tm_masked(v);

    tm_number_style(&num, v, row->size, v->digits > 16 && !l->d->flavour->matcher);
    if (tm_plain_number(&num) && !f->note.n && !f->comment.n && !f->range && !f->system_op &&
        !masked)
        return TM_OK;
    if (!(detail = tm_detail(l, row, sizeof *detail)))
        return TM_FULL;
    detail->num = num;
    detail->note = tm_slice(l, f->note);
    detail->comment = tm_slice(l, f->comment);
    if (masked) {
        detail->mask = v->mask;
        detail->unwritten = v->unwritten;
    }
    detail->hi = (uint32_t)f->hi;
    detail->lo = (uint32_t)f->lo;
    detail->has_range = f->range;
    detail->system_op = f->system_op;
    if (f->range)
        row->flags |= TROD_F_PARTIAL;
    return TM_OK;
}

/* A picture that the producer ran together with the register: ... 00   ST 200016c0 00...... */
static int glued_picture(struct tm_line *l, struct frame *f)
{
    struct tm_line look;

    tm_blanks(l);
    if (l->p == l->e)
        return TM_OTHER;
    look = *l;
    for (;;) {
        struct tm_word w = tm_word(&look);
        unsigned rows = l->n_rows;
        uint32_t pool_n = l->b->pool_n;
        int rc;

        if (w.n == 0)
            return TM_OTHER;
        if (!tm_is(w, "LD") && !tm_is(w, "ST"))
            continue;
        look.n_rows = rows + 1;
        rc = tm_parse_picture(&look, w);
        if (rc == TM_FULL)
            return TM_FULL;
        if (rc != TM_OK) {
            l->b->pool_n = pool_n;
            return TM_OTHER;
        }
        f->comment = (struct tm_word){l->p, (size_t)(w.p - l->p)};
        while (f->comment.n && tm_is_blank(*f->comment.p)) {
            f->comment.p++;
            f->comment.n--;
        }
        while (f->comment.n && tm_is_blank(f->comment.p[f->comment.n - 1]))
            f->comment.n--;
        l->n_rows = look.n_rows - 1;
        l->picture = look.picture;
        l->picture_column = look.picture_column;
        l->p = l->e;
        return TM_OK;
    }
}

int tm_parse_reg(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row = tm_begin(l, TROD_REG);
    struct frame f = {{NULL, 0}, {NULL, 0}, {NULL, 0}, 0, 0, false, false};
    struct tm_value v;
    int rc;

    (void)type;
    memset(&v, 0, sizeof v);
    if ((rc = before_value(l, &f)) != TM_OK)
        return rc;
    row->text = tm_slice(l, f.name);
    row->has |= TROD_COL_TEXT;
    tm_blanks(l);
    if (l->p < l->e || !f.system_op) {
        if ((rc = tm_value(l, true, &v)) != TM_OK)
            return rc;
        row->size = f.range ? (uint32_t)((f.hi - f.lo) / 8 + 1) : (v.digits + 1) / 2;
        row->has |= TROD_COL_SIZE;
    }
    put_value(row, &v);
    rc = glued_picture(l, &f);
    if (rc == TM_FULL)
        return rc;
    if (rc == TM_OTHER)
        f.comment = tm_rest(l);
    if ((rc = put_detail(l, row, &f, &v)) == TM_OK)
        tm_add(l);
    return rc;
}
