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

/* Values of up to BYTES bytes are shown as a whole, of others PART of them. */
enum { N = TROD_COMPARE_SAID, BYTES = (N - 6) / 2, PART = 16 };

/* The time, with its unit where the row says one. */
static void say_time(const struct cmp_row *r, const struct trod_meta *meta, char *out)
{
    const char *unit = r->unit & 15 ? trod_meta_unit_name(meta, r->unit) : "";
    char *p = trod_put_fixed(out, r->pub.time, trod_unit_decimals(r->unit));

    snprintf(p, TROD_COMPARE_SAID - TROD_PUT_TIME, "%s%s", *unit ? " " : "", unit);
}

/* The numbers and short words of a row: one column; "" where it does not say it. */
static void say(const struct cmp_row *r, const struct trod_meta *meta, uint32_t column, char *out)
{
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
    case TROD_COMPARE_PID:
        snprintf(out, N, "%" PRIu64, meta->streams[p->stream].pid);
        break;
    default:
        snprintf(out, N, "0x%" PRIx64, hex);
    }
}

/* ---- what may be too long: of both sides the part around the first difference is shown */

/* P, LEN bytes, as much as fits; "..." is what is left out, also before it where CUT says so. */
static void put_part(char *out, const char *p, size_t len, bool cut)
{
    const size_t visible = (N - 1) / 4; /* bytes of a binary record, whose zeros would end it */
    const size_t room = N - 1 - (cut ? 3 : 0);
    const bool more = len > room;

    if (len && memchr(p, '\0', len)) {
        *trod_put_visible(out, p, len < visible ? len : visible) = '\0';
        return;
    }
    snprintf(out, N, "%s%.*s%s", cut ? "..." : "", (int)(more ? room - 3 : len), p,
             more ? "..." : "");
}

static void say_texts(const char *a, size_t na, const char *b, size_t nb,
                      struct trod_compare_field *out)
{
    enum { ALL = N - 1, FIRST = ALL - 3, BEFORE = 8 };
    const size_t least = na < nb ? na : nb;
    size_t same = 0, from = 0;

    while (same < least && a[same] == b[same])
        same++;
    if ((na > ALL || nb > ALL) && same >= FIRST)
        from = same - BEFORE;
    put_part(out->said[0], a + from, na - from, from != 0);
    put_part(out->said[1], b + from, nb - from, from != 0);
}

/* Bytes that are shown in the order they have. */
static void say_bytes(const uint8_t *const p[2], const uint32_t len[2],
                      struct trod_compare_field *out)
{
    const uint32_t least = len[0] < len[1] ? len[0] : len[1];
    uint32_t same = 0, from = 0;

    while (same < least && p[0][same] == p[1][same])
        same++;
    if (same >= N / 2 - 3)
        from = same - 4;
    for (int side = 0; side < 2; side++) {
        const uint32_t left = len[side] - from, n = left < N / 2 ? left : N / 2;
        char hex[N + 1] = "";

        for (uint32_t i = 0; i < n; i++)
            snprintf(hex + 2 * i, 3, "%02x", p[side][from + i]);
        put_part(out->said[side], hex, 2 * (size_t)n, from != 0);
    }
}

static bool says_value(const struct cmp_row *r)
{
    return r->wide || (r->pub.has & TROD_COL_VALUE);
}

/* Bytes of a value that are told. */
static uint32_t width_of(const struct cmp_row *r)
{
    if (r->wide)
        return r->wide_size;
    return r->pub.size && r->pub.size < 8 && r->pub.known != UINT64_MAX ? r->pub.size : 8;
}

/* Bits of byte I of the value that are not written. */
static uint8_t unwritten_byte(const struct cmp_row *r, uint32_t i)
{
    if (r->wide)
        return i < r->wide_size ? r->wide[2 * (size_t)r->wide_size + i] : 0;
    return i < 8 ? (uint8_t)(r->unwritten >> (8 * i)) : 0;
}

/*
 * Bytes [LO, HI) of a value; digits of which nothing is known as '?', or '-' where they are not
 * written.
 */
static void put_digits(const struct cmp_row *r, uint32_t lo, uint32_t hi, char *out)
{
    size_t n = 0;

    for (uint32_t i = hi; i-- > lo;) {
        uint8_t known, v = cmp_value_byte(r, i, &known), dashes = unwritten_byte(r, i);

        for (int half = 4; half >= 0; half -= 4)
            out[n++] = known >> half & 15    ? "0123456789abcdef"[v >> half & 15]
                       : dashes >> half & 15 ? '-'
                                             : '?';
    }
    out[n] = '\0';
}

static void say_number(const struct cmp_row *r, char *out)
{
    out[0] = '\0';
    if (!says_value(r))
        return;
    if (!r->wide && r->pub.known == UINT64_MAX) {
        snprintf(out, N, "0x%" PRIx64, r->pub.value);
        return;
    }
    snprintf(out, N, "0x");
    put_digits(r, 0, width_of(r), out + 2);
}

/* Of values that are wider: the 128 bits with the highest ones that differ, and which they are. */
static void say_wide(const struct cmp_row *r, uint32_t size, uint32_t lo, char *out)
{
    const uint32_t hi = lo + PART < size ? lo + PART : size;
    char digits[2 * PART + 1];

    put_digits(r, lo, hi, digits);
    snprintf(out, N, "0x%s%s%s <%" PRIu32 ":%" PRIu32 ">", hi < size ? "..." : "", digits,
             lo ? "..." : "", 8 * hi - 1, 8 * lo);
}

/* Numbers, most significant digit first. */
static void say_numbers(const struct cmp_row *const row[2], const struct cmp_rules *rules,
                        struct trod_compare_field *out)
{
    const uint32_t size[2] = {width_of(row[0]), width_of(row[1])};
    const uint32_t most = size[0] > size[1] ? size[0] : size[1];
    const int64_t at = most > BYTES && says_value(row[0]) && says_value(row[1])
                           ? cmp_value_differs_at(row[0], row[1], most, rules)
                           : -1;
    const uint32_t lo = (at < 0 ? most - 1 : (uint32_t)at) / PART * PART;

    for (int side = 0; side < 2; side++)
        if (size[side] > BYTES)
            say_wide(row[side], most, lo, out->said[side]);
        else
            say_number(row[side], out->said[side]);
}

/* Is the data of R a sequence of bytes, in the order of the record, and no number? */
static bool is_sequence(const struct cmp_row *r)
{
    return r->wide &&
           (r->pub.kind == TROD_MARKER || r->pub.kind == TROD_STATE || r->pub.kind == TROD_BUS);
}

/* Such data may come with a number that is part of it, which is what listings show. */
static void say_values(const struct cmp_row *const row[2], const struct cmp_rules *rules,
                       struct trod_compare_field *out)
{
    const struct trod_compare_row *p = &row[0]->pub, *q = &row[1]->pub;

    if (!is_sequence(row[0]) || !is_sequence(row[1])) {
        say_numbers(row, rules, out);
    } else if ((p->has & q->has & TROD_COL_VALUE) && p->value != q->value) {
        snprintf(out->said[0], N, "0x%" PRIx64, p->value);
        snprintf(out->said[1], N, "0x%" PRIx64, q->value);
    } else {
        say_bytes((const uint8_t *const[2]){row[0]->wide, row[1]->wide},
                  (const uint32_t[2]){row[0]->wide_size, row[1]->wide_size}, out);
    }
}

/* Field K of the details of both rows. */
static void say_detail(const struct cmp_row *const row[2], unsigned k,
                       struct trod_compare_field *out)
{
    const struct cmp_detail *a = &row[0]->detail, *b = &row[1]->detail;
    uint32_t na, nb;
    const char *p = cmp_detail_text(a, k, &na), *q = cmp_detail_text(b, k, &nb);

    if (p && q)
        say_texts(p, na, q, nb, out);
    for (int side = 0; side < 2; side++)
        if ((row[side]->pub.has & TROD_COL_ADDR) && cmp_detail_plain_serial(&row[side]->detail, k))
            snprintf(out->said[side], N, "%08" PRIx64, row[side]->pub.addr);
        else if (!p || !q)
            cmp_detail_put(&row[side]->detail, k, out->said[side], N);
}

/* The mode of an instruction stands in its detail. */
static void say_modes(const struct cmp_row *const row[2], struct trod_compare_field *out)
{
    const struct trod_detail_struct *of = row[0]->detail.of;

    for (unsigned k = 0; of && of == row[1]->detail.of && k < of->n; k++)
        if (strcmp(of->field[k].name, "mode") == 0)
            say_detail(row, k, out);
}

static const struct {
    uint32_t column;
    const char *name;
} columns[] = {
    {TROD_COL_ADDR, "addr"},     {TROD_COL_CODE, "opcode"}, {TROD_COL_VALUE, "value"},
    {TROD_COMPARE_MODE, "mode"}, {TROD_COL_SIZE, "size"},   {TROD_COL_PADDR, "paddr"},
    {TROD_COL_TARGET, "target"}, {TROD_COL_TEXT, "text"},   {TROD_COL_PC, "pc"},
    {TROD_COL_INDEX, "index"},   {TROD_COL_TIME, "time"},   {TROD_COL_UNIT, "unit"},
    {TROD_COL_SUB, "sub"},       {TROD_COMPARE_PID, "pid"},
};

static size_t explain_stream(const struct cmp_row *a, const struct cmp_row *b,
                             const struct cmp_rules *rules, struct trod_compare_field *out)
{
    const char *p = cmp_stream(rules, 0, a->pub.stream), *q = cmp_stream(rules, 1, b->pub.stream);

    out->name = "stream";
    say_texts(p, strlen(p), q, strlen(q), out);
    return 1;
}

static size_t explain_columns(const struct cmp_row *a, const struct cmp_row *b,
                              const struct cmp_rules *rules, uint32_t differ,
                              struct trod_compare_field *out, size_t n)
{
    const struct cmp_row *const row[2] = {a, b};

    for (size_t k = 0; k < sizeof columns / sizeof *columns && n < TROD_COMPARE_FIELDS; k++) {
        const uint32_t column = columns[k].column;

        if (!(differ & column))
            continue;
        out[n].name =
            column == TROD_COL_TEXT && a->pub.kind != TROD_INSTR ? "name" : columns[k].name;
        if (column == TROD_COL_VALUE)
            say_values(row, rules, &out[n]);
        else if (column == TROD_COMPARE_MODE)
            say_modes(row, &out[n]);
        else if (column == TROD_COL_TEXT)
            say_texts(a->word, a->word_len, b->word, b->word_len, &out[n]);
        else
            for (int side = 0; side < 2; side++)
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
    n = cmp_flags_put(a->pub.flags, b->pub.flags, flags, out, n);
    n = explain_columns(a, b, rules, differ, out, n);
    if ((differ & TROD_COL_STREAM) && n < TROD_COMPARE_FIELDS)
        n += explain_stream(a, b, rules, &out[n]);
    if ((differ & TROD_COL_DETAIL) && !a->detail.of && n < TROD_COMPARE_FIELDS) {
        out[n].name = "detail";
        say_bytes((const uint8_t *const[2]){a->detail.p, b->detail.p},
                  (const uint32_t[2]){a->detail.len, b->detail.len}, &out[n++]);
    } else if (differ & TROD_COL_DETAIL) {
        details = cmp_detail_differs(&a->detail, &b->detail, f);
    }
    for (unsigned k = 0; details && n < TROD_COMPARE_FIELDS; details >>= 1, k++) {
        if (!(details & 1))
            continue;
        out[n].name = a->detail.of->field[k].name;
        say_detail((const struct cmp_row *const[2]){a, b}, k, &out[n++]);
    }
    return n;
}
