/*
 * explain.c - in what two rows differ, in words.
 *
 * Implements cmp_row_explain of row.h: the names are those that --ignore takes.
 */
#include "compare/row.h"
#include "trod/put.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The time, with its unit where the row says one. */
static void say_time(const struct cmp_row *r, const struct trod_meta *meta, char *out)
{
    const char *unit = r->unit & 15 ? trod_meta_unit_name(meta, r->unit) : "";
    char *p = trod_put_fixed(out, r->pub.time, trod_unit_decimals(r->unit));

    snprintf(p, TROD_COMPARE_SAID - TROD_PUT_TIME, "%s%s", *unit ? " " : "", unit);
}

/* One column of a row as text; "" where it does not say it. */
static void say(const struct cmp_row *r, const struct trod_meta *meta, uint32_t column, char *out)
{
    enum { N = TROD_COMPARE_SAID };
    const struct trod_compare_row *p = &r->pub;
    const uint64_t hex = column == TROD_COL_ADDR     ? p->addr
                         : column == TROD_COL_PADDR  ? p->paddr
                         : column == TROD_COL_TARGET ? p->target
                                                     : p->pc;

    out[0] = '\0';
    if (!(p->has & column))
        return;
    switch (column) {
    case TROD_COL_TIME:
        say_time(r, meta, out);
        break;
    case TROD_COL_UNIT:
        snprintf(out, N, "%s", r->unit & 15 ? trod_meta_unit_name(meta, r->unit) : "none");
        break;
    case TROD_COL_INDEX:
        snprintf(out, N, "%" PRIu64, p->index);
        break;
    case TROD_COL_SIZE:
        snprintf(out, N, "%" PRIu32, p->size);
        break;
    case TROD_COL_SUB:
        snprintf(out, N, "%u", p->sub);
        break;
    case TROD_COL_CODE:
        for (unsigned i = 0; i < p->code_len; i++)
            snprintf(out + 2 * i, 3, "%02x", p->code[i]);
        break;
    case TROD_COL_TEXT:
        if (p->kind == TROD_INSTR)
            snprintf(out, N, "%.*s", (int)(p->text_len < N ? p->text_len : N - 1), p->text);
        else
            snprintf(out, N, "%.*s", (int)(p->name_len < N ? p->name_len : N - 1), p->name);
        break;
    default:
        snprintf(out, N, "0x%" PRIx64, hex);
    }
}

/* The value, as much of it as fits; digits of which nothing is known as '-'. */
static void say_value(const struct cmp_row *r, char *out)
{
    enum { N = TROD_COMPARE_SAID, BYTES = (TROD_COMPARE_SAID - 6) / 2 };
    uint32_t size = r->wide ? r->wide_size : 8, from;
    size_t n = 2;

    out[0] = '\0';
    if (!r->wide && !(r->pub.has & TROD_COL_VALUE))
        return;
    if (!r->wide && r->pub.known == UINT64_MAX) {
        snprintf(out, N, "0x%" PRIx64, r->pub.value);
        return;
    }
    if (!r->wide && r->pub.size && r->pub.size < 8)
        size = r->pub.size;
    from = size < BYTES ? size : BYTES;
    snprintf(out, N, "0x");
    for (uint32_t i = from; i-- > 0;) {
        unsigned v = r->wide ? r->wide[i] : (unsigned)(r->pub.value >> (8 * i)) & 0xff;
        unsigned known = r->wide ? r->wide[size + i] : (unsigned)(r->pub.known >> (8 * i)) & 0xff;

        for (int half = 4; half >= 0; half -= 4)
            out[n++] = known >> half & 15 ? "0123456789abcdef"[v >> half & 15] : '-';
    }
    out[n] = '\0';
}

/* The mode of an instruction stands in its detail. */
static void say_mode(const struct cmp_row *r, char *out)
{
    const struct trod_detail_struct *of = r->detail.of;

    out[0] = '\0';
    for (unsigned k = 0; of && k < of->n; k++)
        if (strcmp(of->field[k].name, "mode") == 0)
            cmp_detail_put(&r->detail, k, out, TROD_COMPARE_SAID);
}

static const struct {
    uint32_t column;
    const char *name;
} columns[] = {
    {TROD_COL_ADDR, "addr"},     {TROD_COL_CODE, "opcode"}, {TROD_COL_VALUE, "value"},
    {TROD_COMPARE_MODE, "mode"}, {TROD_COL_SIZE, "size"},   {TROD_COL_PADDR, "paddr"},
    {TROD_COL_TARGET, "target"}, {TROD_COL_TEXT, "text"},   {TROD_COL_PC, "pc"},
    {TROD_COL_INDEX, "index"},   {TROD_COL_TIME, "time"},   {TROD_COL_UNIT, "unit"},
    {TROD_COL_SUB, "sub"},
};

/* Details whose fields are not known. */
static size_t explain_bytes(const struct cmp_row *a, const struct cmp_row *b,
                            struct trod_compare_field *out)
{
    const struct cmp_row *row[2] = {a, b};

    out->name = "detail";
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < row[side]->detail.len && 2 * i + 3 < TROD_COMPARE_SAID; i++)
            snprintf(out->said[side] + 2 * i, 3, "%02x", row[side]->detail.p[i]);
    return 1;
}

static size_t explain_stream(const struct cmp_row *a, const struct cmp_row *b,
                             const struct cmp_rules *rules, struct trod_compare_field *out)
{
    out->name = "stream";
    snprintf(out->said[0], TROD_COMPARE_SAID, "%s", cmp_stream(rules, 0, a->pub.stream));
    snprintf(out->said[1], TROD_COMPARE_SAID, "%s", cmp_stream(rules, 1, b->pub.stream));
    return 1;
}

static size_t explain_columns(const struct cmp_row *a, const struct cmp_row *b,
                              const struct cmp_rules *rules, uint32_t differ,
                              struct trod_compare_field *out, size_t n)
{
    const struct cmp_row *row[2] = {a, b};

    for (size_t k = 0; k < sizeof columns / sizeof *columns && n < TROD_COMPARE_FIELDS; k++) {
        const uint32_t column = columns[k].column;

        if (!(differ & column))
            continue;
        out[n].name =
            column == TROD_COL_TEXT && a->pub.kind != TROD_INSTR ? "name" : columns[k].name;
        for (int side = 0; side < 2; side++)
            if (column == TROD_COL_VALUE)
                say_value(row[side], out[n].said[side]);
            else if (column == TROD_COMPARE_MODE)
                say_mode(row[side], out[n].said[side]);
            else
                say(row[side], rules->meta[side], column, out[n].said[side]);
        n++;
    }
    return n;
}

size_t cmp_row_explain(const struct cmp_row *a, const struct cmp_row *b,
                       const struct cmp_rules *rules,
                       struct trod_compare_field out[TROD_COMPARE_FIELDS])
{
    const struct cmp_fields *f = &rules->fields;
    uint32_t differ = cmp_row_differs(a, b, rules);
    uint32_t flags = differ & TROD_COL_FLAGS ? cmp_flags_differ(a->pub.flags, b->pub.flags, f) : 0;
    uint32_t details = 0;
    size_t n = 0;

    if (differ & TROD_COL_KIND)
        return 0;
    /* The number of a kind of branch follows from the branch. */
    if ((flags & TROD_F_BRANCH) && a->pub.kind == TROD_INSTR)
        differ &= ~(uint32_t)TROD_COL_SUB;
    n = cmp_flags_put(a->pub.flags & flags, b->pub.flags & flags, f, out, n);
    n = explain_columns(a, b, rules, differ, out, n);
    if ((differ & TROD_COL_STREAM) && n < TROD_COMPARE_FIELDS)
        n += explain_stream(a, b, rules, &out[n]);
    if ((differ & TROD_COL_DETAIL) && !a->detail.of && n < TROD_COMPARE_FIELDS)
        n += explain_bytes(a, b, &out[n]);
    else if (differ & TROD_COL_DETAIL)
        details = cmp_detail_differs(&a->detail, &b->detail, f);
    for (unsigned k = 0; details && n < TROD_COMPARE_FIELDS; details >>= 1, k++) {
        if (!(details & 1))
            continue;
        out[n].name = a->detail.of->field[k].name;
        cmp_detail_put(&a->detail, k, out[n].said[0], TROD_COMPARE_SAID);
        cmp_detail_put(&b->detail, k, out[n].said[1], TROD_COMPARE_SAID);
        n++;
    }
    return n;
}
