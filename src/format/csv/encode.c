/*
 * encode.c - rows become records of a CSV table.
 *
 * Implements docs/formats/csv.md, "Writing".
 */
#include "format/csv/csv.h"
#include "trod/put.h"

#include <string.h>

enum { NUMBERS = 700 /* bytes of all fields but bytes and texts */ };

static bool has(const struct trod_batch *b, uint32_t row, uint32_t columns)
{
    return (b->have & b->has[row] & columns) == columns;
}

/* May rows of META's format say the kind of a branch that no opcode tells? */
static bool says_branches(const struct trod_meta *meta)
{
    return meta && meta->driver && meta->driver->flags & TROD_FMT_BRANCHES;
}

/* Which columns are written (enum csv_columns): of tables those that they have. */
static int columns_of(const struct csv_options *o, const struct trod_meta *meta)
{
    const bool own = meta && meta->format && strcmp(meta->format, "csv") == 0;

    if (o && o->columns != CSV_COLUMNS_AUTO)
        return o->columns;
    for (int i = 0; own && meta->dialect && csv_dialects[i]; i++)
        if (strcmp(meta->dialect, csv_dialects[i]) == 0)
            return CSV_COLUMNS_USUAL + i;
    return says_branches(meta) ? CSV_COLUMNS_BRANCH : CSV_COLUMNS_USUAL;
}

int csv_begin(void *state, const void *opt, const struct trod_meta *meta, struct trod_diag *diag)
{
    struct csv_enc *enc = state;

    (void)diag;
    enc->meta = meta;
    enc->all = columns_of(opt, meta) == CSV_COLUMNS_ALL;
    enc->branch = columns_of(opt, meta) == CSV_COLUMNS_BRANCH;
    enc->own = meta && meta->format && strcmp(meta->format, "csv") == 0;
    return TROD_OK;
}

void csv_drop(void *enc)
{
    fmt_last_pc_fini(&((struct csv_enc *)enc)->last);
}

int csv_target(void *enc, const struct trod_target *t, struct trod_diag *diag)
{
    (void)diag;
    ((struct csv_enc *)enc)->loss = t->loss;
    return TROD_OK;
}

void csv_keeps(const void *opt, const struct trod_meta *meta, struct trod_keeps *k)
{
    const bool own = meta->format && strcmp(meta->format, "csv") == 0;
    const int columns = columns_of(opt, meta);
    const int had = own ? columns_of(NULL, meta) : CSV_COLUMNS_ALL;

    if (columns >= had)
        return;
    if (had == CSV_COLUMNS_ALL)
        k->lost |= TROD_COL_PADDR;
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        k->columns[i] &= ~(k->lost & TROD_COL_PADDR);
        k->flags[i] = columns == CSV_COLUMNS_BRANCH ? TROD_F_BRANCH : 0;
    }
}

static uint8_t *put_hex(uint8_t *p, uint64_t v)
{
    *p++ = '0';
    *p++ = 'x';
    return (uint8_t *)trod_put_hex((char *)p, v, 1);
}

static uint8_t *put_decimal(uint8_t *p, uint64_t v)
{
    return (uint8_t *)trod_put_u64((char *)p, v);
}

/* V with DECIMALS of its digits behind a point. */
static uint8_t *put_time(uint8_t *p, uint64_t v, unsigned decimals)
{
    uint64_t scale = 1, rest;

    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    rest = v % scale;
    p = put_decimal(p, v / scale);
    if (decimals == 0)
        return p;
    *p++ = '.';
    for (scale /= 10; scale > 0; scale /= 10)
        *p++ = (uint8_t)('0' + rest / scale % 10);
    return p;
}

static uint8_t *put_bytes(uint8_t *p, const uint8_t *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            *p++ = ' ';
        *p++ = (uint8_t) "0123456789abcdef"[s[i] >> 4];
        *p++ = (uint8_t) "0123456789abcdef"[s[i] & 15];
    }
    return p;
}

/* N bytes, the lowest first, as one number of all its digits. */
static uint8_t *put_wide(uint8_t *p, const uint8_t *s, uint32_t n)
{
    *p++ = '0';
    *p++ = 'x';
    while (n-- > 0) {
        *p++ = (uint8_t) "0123456789abcdef"[s[n] >> 4];
        *p++ = (uint8_t) "0123456789abcdef"[s[n] & 15];
    }
    return p;
}

static uint8_t *put_quoted(uint8_t *p, const uint8_t *s, uint32_t n)
{
    *p++ = '"';
    for (uint32_t i = 0; i < n; i++) {
        if (s[i] == '"')
            *p++ = '"';
        *p++ = s[i];
    }
    *p++ = '"';
    return p;
}

/* A name, with quotes where it needs them. */
static uint8_t *put_name(uint8_t *p, const char *s, size_t n)
{
    bool plain = true;

    for (size_t i = 0; i < n && plain; i++)
        plain = s[i] != ',' && s[i] != '"' && s[i] != '\n' && s[i] != '\r';
    if (!plain)
        return put_quoted(p, (const uint8_t *)s, (uint32_t)n);
    memcpy(p, s, n);
    return p + n;
}

static const struct trod_stream *stream_of(const struct csv_enc *enc, const struct trod_batch *b,
                                           uint32_t row)
{
    const struct trod_meta *m = enc->meta;

    if (!has(b, row, TROD_COL_STREAM) || !m || b->stream[row] >= m->n_streams)
        return NULL;
    return &m->streams[b->stream[row]];
}

/* The pc of ROW: its own, or that of the last instruction of its stream. False: not known. */
static bool pc_of(struct csv_enc *enc, const struct trod_batch *b, uint32_t row, uint64_t *pc)
{
    const uint32_t stream = has(b, row, TROD_COL_STREAM) ? b->stream[row] : 0;
    const uint8_t kind = b->kind[row];

    if (kind == TROD_INSTR && has(b, row, TROD_COL_ADDR) && !enc->own)
        fmt_last_pc_set(&enc->last, stream, b->addr[row]);
    if (has(b, row, TROD_COL_PC)) {
        *pc = b->pc[row];
        return true;
    }
    *pc = fmt_last_pc_of(&enc->last, stream);
    return kind >= TROD_READ && kind <= TROD_FLUSH && *pc;
}

/* Are the bytes of ROW those of its value? Markers of tt6e say words of 32 or 64 bits both ways. */
static bool data_is_value(const struct csv_enc *enc, const struct trod_batch *b, uint32_t row)
{
    const bool big = enc->meta && enc->meta->endian == TROD_ENDIAN_BIG;
    const uint8_t *p = trod_batch_bytes(b, b->data[row]);
    const uint32_t n = b->data[row].len;
    uint64_t v = 0;

    if (!has(b, row, TROD_COL_VALUE) || n > sizeof v)
        return false;
    for (uint32_t i = 0; i < n; i++)
        v = v << 8 | p[big ? i : n - 1 - i];
    return v == b->value[row];
}

static uint8_t *put_value(struct csv_enc *enc, const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    if (!enc->all && trod_batch_value_gaps(b, row)) { /* the columns have no word for it */
        trod_loss_columns(enc->loss, b, row,
                          b->has[row] & b->have & (TROD_COL_VALUE | TROD_COL_DATA),
                          "digits of it are not known or not written");
        return p;
    }
    if (has(b, row, TROD_COL_VALUE))
        p = put_hex(p, b->value[row]);
    else if (has(b, row, TROD_COL_DATA) && !enc->all && b->data[row].len > 8)
        return put_wide(p, trod_batch_bytes(b, b->data[row]), b->data[row].len);
    if (has(b, row, TROD_COL_DATA) && !enc->all && !data_is_value(enc, b, row))
        trod_loss_columns(enc->loss, b, row, TROD_COL_DATA, "it needs the column 'data'");
    return p;
}

static uint8_t *put_when(struct csv_enc *enc, const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    const uint8_t unit = has(b, row, TROD_COL_UNIT) ? b->unit[row]
                         : enc->meta                ? enc->meta->unit
                                                    : 0;

    *p++ = ',';
    if (has(b, row, TROD_COL_TIME))
        p = put_time(p, b->time[row], trod_unit_decimals(unit));
    *p++ = ',';
    if (enc->meta && (has(b, row, TROD_COL_UNIT) || has(b, row, TROD_COL_TIME))) {
        const char *name = trod_meta_unit_name(enc->meta, unit);

        p = put_name(p, name, strlen(name));
    }
    *p++ = ',';
    return has(b, row, TROD_COL_INDEX) ? put_decimal(p, b->index[row]) : p;
}

static uint8_t *put_places(struct csv_enc *enc, const struct trod_batch *b, uint32_t row,
                           uint8_t *p)
{
    uint64_t pc = 0;
    const bool known = pc_of(enc, b, row, &pc);

    *p++ = ',';
    if (known)
        p = put_hex(p, pc);
    *p++ = ',';
    if (has(b, row, TROD_COL_ADDR) && !(b->kind[row] == TROD_INSTR && known && pc == b->addr[row]))
        p = put_hex(p, b->addr[row]);
    *p++ = ',';
    if (has(b, row, TROD_COL_SIZE))
        p = put_decimal(p, b->size[row]);
    *p++ = ',';
    p = put_value(enc, b, row, p);
    *p++ = ',';
    return has(b, row, TROD_COL_TARGET) ? put_hex(p, b->target[row]) : p;
}

/* The columns that only tables of all have. */
static uint8_t *put_more(const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    *p++ = ',';
    if (has(b, row, TROD_COL_PADDR))
        p = put_hex(p, b->paddr[row]);
    *p++ = ',';
    if (has(b, row, TROD_COL_SUB))
        p = put_decimal(p, b->sub[row]);
    *p++ = ',';
    if (has(b, row, TROD_COL_FLAGS) && (b->flags[row] & ~(uint32_t)TROD_F_CONT))
        p = put_hex(p, b->flags[row] & ~(uint32_t)TROD_F_CONT);
    *p++ = ',';
    if (has(b, row, TROD_COL_DATA))
        p = put_bytes(p, trod_batch_bytes(b, b->data[row]), b->data[row].len);
    return p;
}

/* The kind of branch that ROW is. */
static uint8_t *put_branch(const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    const uint32_t branch = has(b, row, TROD_COL_FLAGS) ? b->flags[row] & TROD_F_BRANCH : 0;
    const char *name = branch ? trod_branch_name(branch) : NULL;

    *p++ = ',';
    return name ? put_name(p, name, strlen(name)) : p;
}

/* Does only its subtype say what ROW is: fill or evict, signal or wait, which marker? */
static bool is_by_subtype(const struct trod_batch *b, uint32_t row)
{
    switch (b->kind[row]) {
    case TROD_CACHE_LINE:
    case TROD_TLB:
    case TROD_SYNC:
        return true;
    case TROD_MARKER:
        return !has(b, row, TROD_COL_TEXT) || !b->text[row].len;
    default: /* codes of the source's own, or said by the kind of row */
        return false;
    }
}

static uint8_t *put_row(struct csv_enc *enc, const struct trod_batch *b, uint32_t row, uint8_t *p)
{
    const struct trod_stream *stream = stream_of(enc, b, row);
    const char *kind = trod_kind_name(b->kind[row]);

    p = put_decimal(p, enc->row++);
    *p++ = ',';
    p = put_name(p, kind, strlen(kind));
    *p++ = ',';
    if (stream)
        p = put_name(p, stream->name, stream->name_len);
    else if (has(b, row, TROD_COL_STREAM))
        p = put_decimal(p, b->stream[row]);
    p = put_when(enc, b, row, p);
    p = put_places(enc, b, row, p);
    *p++ = ',';
    if (has(b, row, TROD_COL_CODE))
        p = put_bytes(p, trod_batch_bytes(b, b->code[row]), b->code[row].len);
    *p++ = ',';
    if (has(b, row, TROD_COL_TEXT) && b->text[row].len)
        p = put_quoted(p, trod_batch_bytes(b, b->text[row]), b->text[row].len);
    if (enc->all)
        p = put_more(b, row, p);
    else if (is_by_subtype(b, row))
        trod_loss_columns(enc->loss, b, row, TROD_COL_SUB, "it needs the column 'sub'");
    if (enc->branch)
        p = put_branch(b, row, p);
    *p++ = '\n';
    return p;
}

/* The most bytes that ROW may need. */
static size_t need(const struct csv_enc *enc, const struct trod_batch *b, uint32_t row)
{
    const struct trod_stream *stream = stream_of(enc, b, row);
    size_t n = NUMBERS;

    n += has(b, row, TROD_COL_CODE) ? 3 * (size_t)b->code[row].len : 0;
    n += has(b, row, TROD_COL_DATA) ? 3 * (size_t)b->data[row].len : 0;
    n += has(b, row, TROD_COL_TEXT) ? 2 * (size_t)b->text[row].len : 0;
    return n + (stream ? 2 * stream->name_len : 0);
}

static void put_head(struct csv_enc *enc, struct trod_room *out)
{
    for (unsigned i = 0; i < CSV_FIELDS; i++) {
        const size_t len = strlen(csv_names[i]);

        if (i >= CSV_USUAL && !(i == CSV_BRANCH ? enc->branch : enc->all))
            continue;
        if (i > 0)
            *out->p++ = ',';
        memcpy(out->p, csv_names[i], len);
        out->p += len;
    }
    *out->p++ = '\n';
    enc->begun = true;
}

int csv_encode(void *state, const struct trod_batch *in, uint32_t *row, struct trod_room *out,
               struct trod_diag *diag)
{
    struct csv_enc *enc = state;

    (void)diag;
    for (; *row < in->n; ++*row) {
        if ((size_t)(out->end - out->p) < need(enc, in, *row))
            return TROD_ENC_FULL;
        if (!enc->begun)
            put_head(enc, out);
        out->p = put_row(enc, in, *row, out->p);
    }
    return TROD_ENC_DONE;
}

/* A table without rows has its first line. */
int csv_finish(void *state, struct trod_room *out, struct trod_diag *diag)
{
    struct csv_enc *enc = state;

    (void)diag;
    if (out->end - out->p < NUMBERS)
        return TROD_ENC_FULL;
    if (!enc->begun)
        put_head(enc, out);
    return TROD_ENC_DONE;
}
