/*
 * decode.c - records of a CSV table become rows.
 *
 * Implements docs/formats/csv.md, "Columns" and "Reading", after RFC 4180. A text may hold line
 * ends, so a decoder that begins anywhere but at the head could be inside of one: no resync. A
 * record that is bad is reported, and reading goes on with the line behind the one it begins in.
 */
#include "format/csv/csv.h"

#include <string.h>

/* A field, without its quotes; doubled: quotes inside stand twice. */
struct field {
    const uint8_t *p;
    uint32_t n;
    bool doubled;
};

/* A record, taken apart. */
struct record {
    const uint8_t *p, *next; /* its first byte, and that of the next one */
    struct field field[CSV_FIELDS_MAX];
    unsigned n;
    uint64_t lines;       /* it takes up */
    const uint8_t *fault; /* where it is bad, and why (static) */
    const char *why;
};

/* What is being made of it. */
struct row {
    uint32_t has, flags, size;
    uint8_t kind, unit, branch;
    uint16_t sub;
    uint32_t stream;
    uint64_t time, index, addr, paddr, pc, target, value;
    struct trod_slice code, data, text, note;
    const struct field *stream_at, *unit_at; /* names, which only rows that are good add */
};

enum split { SPLIT_OK, SPLIT_BAD, SPLIT_MORE, SPLIT_CUT };

static bool bad(struct record *r, const uint8_t *at, const char *why)
{
    r->fault = at;
    r->why = why;
    return false;
}

/* The quoted field at P (behind its quote); *END is set behind the closing one. NULL: no end. */
static const uint8_t *quoted(struct record *r, const uint8_t *p, const uint8_t *e, struct field *f)
{
    *f = (struct field){.p = p};
    for (;;) {
        const uint8_t *q = memchr(p, '"', (size_t)(e - p));

        if (!q)
            return NULL;
        for (const uint8_t *nl = p; (nl = memchr(nl, '\n', (size_t)(q - nl))) != NULL; nl++)
            r->lines++;
        if (q + 1 < e && q[1] == '"') {
            f->doubled = true;
            p = q + 2;
            continue;
        }
        f->n = (uint32_t)(q - f->p);
        return q + 1;
    }
}

/* Take the record at P apart; E: where the input, or the longest record, ends. */
static enum split split(struct record *r, const uint8_t *p, const uint8_t *e, bool last)
{
    r->p = p;
    r->n = 0;
    r->lines = 1;
    for (;;) {
        struct field f = {.p = p};

        if (p < e && *p == '"') {
            const uint8_t *start = p;

            p = quoted(r, p + 1, e, &f);
            if (!p) {
                bad(r, start, "a quoted text has no end");
                return SPLIT_MORE;
            }
            if (p == e && !last)
                return SPLIT_MORE; /* perhaps the quote is doubled */
        } else {
            while (p < e && *p != ',' && *p != '\n')
                p++;
            f.n = (uint32_t)(p - f.p);
            if ((p == e || *p == '\n') && f.n && p[-1] == '\r')
                f.n--;
        }
        if (r->n < CSV_FIELDS_MAX)
            r->field[r->n] = f;
        r->n++;
        if (p < e && *p == '\r' && (p + 1 == e || p[1] == '\n'))
            p++;
        if (p == e) {
            r->next = p;
            return last ? SPLIT_CUT : SPLIT_MORE;
        }
        if (*p == '\n') {
            r->next = p + 1;
            return SPLIT_OK;
        }
        if (*p != ',') {
            bad(r, p, "a comma should follow a quoted text");
            return SPLIT_BAD;
        }
        p++;
    }
}

/* A number of up to BITS bits, hex behind 0x, else decimal. */
static bool number(struct record *r, const struct field *f, unsigned bits, uint64_t *v)
{
    const uint8_t *p = f->p, *e = p + f->n;
    const bool hex = f->n > 2 && p[0] == '0' && (p[1] | 0x20) == 'x';
    const unsigned base = hex ? 16 : 10;

    p += hex ? 2 : 0;
    for (*v = 0; p < e; p++) {
        const unsigned d = (unsigned)csv_digit(*p);

        if (d >= base || __builtin_mul_overflow(*v, (uint64_t)base, v) ||
            __builtin_add_overflow(*v, (uint64_t)d, v))
            return bad(r, p,
                       "it should be a number of up to 64 bits, hexadecimal with 0x in front");
    }
    if (bits < 64 && *v >> bits)
        return bad(r, f->p, "the number is too large for its column");
    return true;
}

/* A time: decimals go into the unit. */
static bool time_of(struct record *r, const struct field *f, struct row *row)
{
    const uint8_t *point = memchr(f->p, '.', f->n);
    struct field whole = *f;
    uint64_t v = 0;
    uint32_t decimals;

    if (point)
        whole.n = (uint32_t)(point - f->p);
    if (!number(r, &whole, 64, &v))
        return false;
    decimals = point ? f->n - whole.n - 1 : 0;
    if (decimals > 15)
        return bad(r, point, "a time has at most 15 decimals");
    for (uint32_t i = 0; i < decimals; i++)
        if (csv_digit(point[1 + i]) > 9 || __builtin_mul_overflow(v, UINT64_C(10), &v) ||
            __builtin_add_overflow(v, (uint64_t)csv_digit(point[1 + i]), &v))
            return bad(r, point + 1 + i, "it should be a number of up to 64 bits");
    row->time = v;
    row->unit = (uint8_t)((row->unit & 15) | decimals << 4);
    row->has |= decimals ? TROD_COL_UNIT : 0;
    return true;
}

/* The bytes of F, pairs of hex digits with or without blanks, into the pool. -1: no room. */
static int bytes_of(struct record *r, const struct field *f, struct trod_batch *b,
                    struct trod_slice *s)
{
    uint8_t *to = trod_batch_pool(b, f->n / 2 + 1, s);
    uint32_t n = 0;

    if (!to)
        return -1;
    for (const uint8_t *p = f->p, *e = p + f->n; p < e;) {
        if (*p == ' ') {
            p++;
            continue;
        }
        if (p + 1 == e || csv_digit(p[0]) > 15 || csv_digit(p[1]) > 15)
            return bad(r, p, "bytes should be pairs of hex digits");
        to[n++] = (uint8_t)(csv_digit(p[0]) << 4 | csv_digit(p[1]));
        p += 2;
    }
    s->len = n;
    return 1;
}

/* A value: what has more than 64 bits is data, lowest byte first. -1: no room. */
static int value_of(struct record *r, const struct field *f, struct trod_batch *b, struct row *row)
{
    const uint8_t *p = f->p + 2, *e = f->p + f->n;
    uint8_t *to;
    uint32_t n;

    if (f->n <= 18 || f->p[0] != '0' || (f->p[1] | 0x20) != 'x') {
        row->has |= TROD_COL_VALUE;
        return number(r, f, 64, &row->value);
    }
    n = (f->n - 2 + 1) / 2;
    if (!(to = trod_batch_pool(b, n, &row->data)))
        return -1;
    memset(to, 0, n);
    for (uint32_t i = 0; e > p; i++) {
        const int d = csv_digit(*--e);

        if (d > 15)
            return bad(r, e, "it should be a hex number");
        to[i / 2] = (uint8_t)(to[i / 2] | d << (i & 1 ? 4 : 0));
    }
    row->has |= TROD_COL_DATA;
    return 1;
}

/* The text of F: where it stands, or in the pool where quotes in it were doubled. -1: no room. */
static int text_of(const struct field *f, struct trod_batch *b, const uint8_t *base,
                   struct trod_slice *s)
{
    uint8_t *to;
    uint32_t n = 0;

    if (!f->doubled) {
        *s = (struct trod_slice){(uint32_t)(f->p - base), f->n};
        return 1;
    }
    if (!(to = trod_batch_pool(b, f->n, s)))
        return -1;
    for (uint32_t i = 0; i < f->n; i++) {
        to[n++] = f->p[i];
        i += f->p[i] == '"';
    }
    s->len = n;
    return 1;
}

/* Is F the name NAME of N bytes? */
static bool same_name(const struct field *f, const char *name, unsigned n)
{
    return f->n == n && memcmp(f->p, name, n) == 0;
}

/* F without doubled quotes, in the pool. -1: no room. */
static int undouble(struct field *f, struct trod_batch *b, const uint8_t *base)
{
    struct trod_slice s;

    if (text_of(f, b, base, &s) < 0)
        return -1;
    *f = (struct field){trod_batch_bytes(b, s), s.len, false};
    return 1;
}

static bool kind_of(struct record *r, const struct field *f, struct row *row)
{
    static const struct {
        char name[8];
        uint8_t kind;
    } others[] = {{"r", TROD_READ},    {"w", TROD_WRITE},     {"i", TROD_INSTR},
                  {"load", TROD_READ}, {"store", TROD_WRITE}, {"fetch", TROD_INSTR}};
    int kind = same_name(f, "INSTR", 5)   ? TROD_INSTR
               : same_name(f, "READ", 4)  ? TROD_READ
               : same_name(f, "WRITE", 5) ? TROD_WRITE
                                          : trod_kind_find((const char *)f->p, f->n);

    for (size_t i = 0; kind < 0 && i < sizeof others / sizeof *others; i++) {
        bool same = strlen(others[i].name) == f->n;

        for (uint32_t k = 0; same && k < f->n; k++)
            same = (f->p[k] | 0x20) == others[i].name[k];
        if (same)
            kind = others[i].kind;
    }
    if (kind < 0)
        return bad(r, f->p, "no rows are of this kind");
    row->kind = (uint8_t)kind;
    return true;
}

static bool stream_of(struct csv_dec *d, struct record *r, const struct field *f, struct row *row)
{
    int stream = d->stream_is - 1;

    if (stream < 0 || !same_name(f, d->stream, d->stream_n)) {
        stream = trod_meta_stream(d->meta, (const char *)f->p, f->n);
        if (stream < 0)
            return bad(r, f->p, "there are too many streams");
        d->stream_is = 0;
        if (f->n <= sizeof d->stream) {
            memcpy(d->stream, f->p, f->n);
            d->stream_n = (uint8_t)f->n;
            d->stream_is = stream + 1;
        }
    }
    row->stream = (uint32_t)stream;
    row->has |= TROD_COL_STREAM;
    return true;
}

static bool unit_of(struct csv_dec *d, struct record *r, const struct field *f, struct row *row)
{
    int unit = d->unit_is - 1;

    if (unit < 0 || !same_name(f, d->unit, d->unit_n)) {
        unit = f->n > sizeof d->unit ? -1 : trod_meta_unit(d->meta, (const char *)f->p, f->n);
        if (unit < 0)
            return bad(r, f->p, "unit of time is too long, or there are too many");
        memcpy(d->unit, f->p, f->n);
        d->unit_n = (uint8_t)f->n;
        d->unit_is = unit + 1;
    }
    row->unit = (uint8_t)((row->unit & 0xf0) | unit);
    row->has |= TROD_COL_UNIT;
    return true;
}

/* A field that is a number of 64 bits. */
static bool plain(struct record *r, const struct field *f, struct row *row, uint64_t *v,
                  uint32_t column)
{
    row->has |= column;
    return number(r, f, 64, v);
}

/* Field number I says FIELD. 1, 0: it is bad, -1: no room in the pool. */
static int take(struct record *r, const struct field *f, unsigned field, struct trod_batch *b,
                const uint8_t *base, struct row *row)
{
    uint64_t v = 0;

    switch (field) {
    case CSV_KIND:
        return kind_of(r, f, row);
    case CSV_STREAM:
        row->stream_at = f;
        return 1;
    case CSV_TIME:
        row->has |= TROD_COL_TIME;
        return time_of(r, f, row);
    case CSV_UNIT:
        row->unit_at = f;
        return 1;
    case CSV_INDEX:
        return plain(r, f, row, &row->index, TROD_COL_INDEX);
    case CSV_PC:
        return plain(r, f, row, &row->pc, TROD_COL_PC);
    case CSV_ADDR:
        return plain(r, f, row, &row->addr, TROD_COL_ADDR);
    case CSV_PADDR:
        return plain(r, f, row, &row->paddr, TROD_COL_PADDR);
    case CSV_TARGET:
        return plain(r, f, row, &row->target, TROD_COL_TARGET);
    case CSV_VALUE:
        return value_of(r, f, b, row);
    case CSV_SIZE:
    case CSV_FLAGS:
        if (!number(r, f, 32, &v))
            return 0;
        *(field == CSV_SIZE ? &row->size : &row->flags) = (uint32_t)v;
        row->has |= field == CSV_SIZE ? TROD_COL_SIZE : 0;
        return 1;
    case CSV_SUB:
        row->has |= TROD_COL_SUB;
        if (!number(r, f, 16, &v))
            return 0;
        row->sub = (uint16_t)v;
        return 1;
    case CSV_CODE:
        row->has |= TROD_COL_CODE;
        return bytes_of(r, f, b, &row->code);
    case CSV_DATA:
        row->has |= TROD_COL_DATA;
        return bytes_of(r, f, b, &row->data);
    case CSV_BRANCH:
        row->branch = csv_branch((const char *)f->p, f->n);
        return row->branch || bad(r, f->p, "no branches are of this kind");
    case CSV_TEXT:
        row->has |= TROD_COL_TEXT;
        return text_of(f, b, base, &row->text);
    default:
        return 1;
    }
}

/* Collect the fields of unknown columns as "name=text name=text". -1: no room. */
static int note_of(const struct csv_dec *d, const struct record *r, struct trod_batch *b,
                   struct trod_slice *s)
{
    uint32_t n = 0;
    uint8_t *to;

    for (unsigned i = 0; i < r->n; i++)
        if (d->field[i] == CSV_UNKNOWN && r->field[i].n)
            n += (uint32_t)strlen(d->names + d->name[i]) + r->field[i].n + 2;
    if (n == 0)
        return 1;
    if (!(to = trod_batch_pool(b, n, s)))
        return -1;
    s->len = n - 1;
    for (unsigned i = 0; i < r->n; i++) {
        const char *name = d->names + d->name[i];
        const size_t len = strlen(name);

        if (d->field[i] != CSV_UNKNOWN || !r->field[i].n)
            continue;
        memcpy(to, name, len);
        to[len] = '=';
        memcpy(to + len + 1, r->field[i].p, r->field[i].n);
        to += len + 1 + r->field[i].n;
        *to++ = ' ';
    }
    return 1;
}

/* Blanks around fields that are no texts are ignored: "R, 0x10, 4". */
static void without_blanks(struct field *f)
{
    while (f->n && *f->p == ' ') {
        f->p++;
        f->n--;
    }
    while (f->n && f->p[f->n - 1] == ' ')
        f->n--;
}

/* All fields of R. 1, 0: bad, -1: no room in the pool. */
static int interpret(struct csv_dec *d, struct record *r, struct trod_batch *b, const uint8_t *base,
                     struct row *row)
{
    *row = (struct row){.kind = d->kind};
    if (r->n > d->n_fields)
        return bad(r, r->field[d->n_fields < CSV_FIELDS_MAX ? d->n_fields : 0].p,
                   "there are more fields than the first line names");
    for (unsigned i = 0; i < r->n; i++) {
        int rc = 1;

        if (r->field[i].doubled && d->field[i] != CSV_TEXT)
            rc = undouble(&r->field[i], b, base);
        if (d->field[i] != CSV_TEXT && d->field[i] != CSV_UNKNOWN)
            without_blanks(&r->field[i]);
        if (rc == 1 && r->field[i].n)
            rc = take(r, &r->field[i], d->field[i], b, base, row);
        if (rc != 1)
            return rc;
    }
    if (row->branch)
        row->flags = (row->flags & ~(uint32_t)TROD_F_BRANCH) | row->branch;
    if (row->kind == TROD_INSTR && (row->has & (TROD_COL_PC | TROD_COL_ADDR))) {
        if (!(row->has & TROD_COL_ADDR))
            row->addr = row->pc;
        if (!(row->has & TROD_COL_PC))
            row->pc = row->addr;
        row->has |= TROD_COL_PC | TROD_COL_ADDR;
    }
    if (note_of(d, r, b, &row->note) < 0)
        return -1;
    return (!row->unit_at || unit_of(d, r, row->unit_at, row)) &&
           (!row->stream_at || stream_of(d, r, row->stream_at, row));
}

static void emit(struct trod_batch *b, const struct row *row, struct trod_slice raw)
{
    const uint32_t at = b->n++;

    b->has[at] = row->has | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_RAW;
    b->kind[at] = row->kind;
    b->flags[at] = row->flags;
    b->size[at] = row->size;
    b->stream[at] = row->stream;
    b->time[at] = row->time;
    b->unit[at] = row->unit;
    b->index[at] = row->index;
    b->addr[at] = row->addr;
    b->paddr[at] = row->paddr;
    b->pc[at] = row->pc;
    b->target[at] = row->target;
    b->value[at] = row->value;
    b->sub[at] = row->sub;
    b->code[at] = row->code;
    b->data[at] = row->data;
    b->text[at] = row->text;
    b->raw[at] = raw;
    if (row->note.len) {
        b->has[b->n] = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_TEXT;
        b->kind[b->n] = TROD_NOTE;
        b->flags[b->n] = TROD_F_CONT;
        b->text[b->n++] = row->note;
    }
}

/* R is bad, or cut off by the end of the input. */
static int report(const struct csv_dec *d, const struct trod_span *in, const struct record *r,
                  bool cut, struct trod_diag *diag)
{
    const uint8_t *end = in->p + in->n, *nl = memchr(r->p, '\n', (size_t)(end - r->p));
    struct trod_place at = trod_place_offset(NULL, in->offset + (uint64_t)(r->p - in->p));

    at.line = d->lines + 1;
    at.text = r->p;
    at.text_len = (size_t)((nl ? nl : end) - r->p);
    at.caret = (size_t)(r->fault - r->p);
    if (cut)
        return trod_error(diag, TROD_ERR_TRUNCATED, "csv.truncated", &at,
                          "record of a table is cut off: %s", r->why);
    return trod_error(diag, TROD_ERR_CORRUPT, "csv.bad", &at, "not a record of the table: %s",
                      r->why);
}

/* Step over the rest of a line that is too long, or over the first line. */
static const uint8_t *skip_line(struct csv_dec *d, const uint8_t *p, const uint8_t *e)
{
    const uint8_t *nl = memchr(p, '\n', (size_t)(e - p));

    d->skipping = !nl;
    d->lines += nl != NULL;
    return nl ? nl + 1 : e;
}

/* What became of a record. */
enum step { STEP_NEXT, STEP_STOP };

/* The record at *P, which is then behind it; *RC is what decode() returns at STEP_STOP. */
static enum step step(struct csv_dec *d, const struct trod_span *in, const uint8_t **p,
                      struct trod_batch *b, struct trod_diag *diag, int *rc)
{
    const uint8_t *const base = in->p, *const end = in->p + in->n;
    const size_t left = (size_t)(end - *p);
    const bool longest = left >= CSV_RECORD_MAX, last = in->last && !longest;
    const uint32_t pool = b->pool_n;
    struct record r;
    struct row row;
    enum split what;
    int good = 0;
    bool cut;

    what = split(&r, *p, longest ? *p + CSV_RECORD_MAX : end, last);
    *rc = TROD_DEC_MORE;
    if (what == SPLIT_MORE && !last && !longest)
        return STEP_STOP;
    if (what == SPLIT_MORE && longest)
        bad(&r, *p, "it has no end within 64 KiB");
    if (what == SPLIT_OK || what == SPLIT_CUT) {
        *rc = TROD_DEC_FULL;
        if (b->n + 2 > b->cap || r.next - base >= TROD_SLICE_SHARED)
            return STEP_STOP;
        if (r.n == 1 && r.field[0].n == 0) { /* an empty line */
            d->lines++;
            *p = r.next;
            return STEP_NEXT;
        }
        good = interpret(d, &r, b, base, &row);
        if (good < 0 && b->n > 0) {
            b->pool_n = pool;
            return STEP_STOP;
        }
        if (good < 0)
            bad(&r, r.p, "it needs more memory than a batch has");
    }
    if (good == 1) {
        emit(b, &row, (struct trod_slice){(uint32_t)(r.p - base), (uint32_t)(r.next - r.p)});
        d->lines += r.lines;
        *p = r.next;
        return STEP_NEXT;
    }
    b->pool_n = pool;
    /* an open quote in the middle of a file is a bad line and not the end of it */
    cut = (what == SPLIT_CUT || what == SPLIT_MORE) && last && !memchr(r.p, '\n', left);
    *rc = report(d, in, &r, cut, diag);
    if (cut || (diag && diag->strict))
        return STEP_STOP;
    d->skipping = true;
    return STEP_NEXT;
}

int csv_decode(void *dec, struct trod_span *in, struct trod_batch *b, struct trod_diag *diag)
{
    const uint8_t *p = in->p, *end = in->p + in->n;
    struct csv_dec *d = dec;
    int rc = TROD_DEC_MORE;

    b->have = (CSV_COLS | TROD_COL_RAW) & (b->want | TROD_COL_KIND);
    if (!d->headed && in->n) {
        d->headed = true;
        d->skipping = true;
    }
    while (p < end) {
        if (d->skipping)
            p = skip_line(d, p, end);
        else if (step(d, in, &p, b, diag, &rc) == STEP_STOP)
            break;
        rc = TROD_DEC_MORE;
    }
    in->offset += (uint64_t)(p - in->p);
    in->n -= (size_t)(p - in->p);
    in->p = p;
    return rc;
}
