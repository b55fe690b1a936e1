/*
 * parse.c - one line to rows: which parser, what to do when it fails, what the next lines inherit.
 *
 * Implements docs/formats/tarmac.md, "Lines" and "What is not understood".
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

static bool two_digits(struct tm_word w)
{
    static const char *const sizes[] = {"01", "02", "04", "08", "16", "32", "64"};
    struct tm_word digits = {w.p + 1, w.n - 1};

    for (size_t i = 0; w.n == 3 && i < sizeof sizes / sizeof *sizes; i++)
        if (tm_is(digits, sizes[i]))
            return true;
    return false;
}

static tm_parser word_parser(struct tm_word w)
{
    switch (*w.p) {
    case 'I':
        return tm_is(w, "IT") || tm_is(w, "IS") || tm_is(w, "IF") ? tm_parse_instr : NULL;
    case 'R':
        return w.n == 1 ? tm_parse_reg : NULL;
    case 'E':
        return tm_is(w, "ES") ? tm_parse_es : w.n == 1 || tm_is(w, "EXC") ? tm_parse_event : NULL;
    case 'L':
        return tm_is(w, "LD") ? tm_parse_picture : NULL;
    case 'S':
        return tm_is(w, "ST") ? tm_parse_picture : tm_is(w, "SIGNAL:") ? tm_parse_signal : NULL;
    case 'F':
        return tm_is(w, "FD") || tm_is(w, "FI") || tm_is(w, "FR") ? tm_parse_flow : NULL;
    case 'B':
        return tm_is(w, "BR") ? tm_parse_br : NULL;
    case 'C':
        return tm_is(w, "CACHE") ? tm_parse_cache : tm_is(w, "CADI") ? tm_parse_cadi : NULL;
    case 'T':
        return tm_is(w, "TTW") || tm_is(w, "TTU") ? tm_parse_walk
               : tm_is(w, "TLB")                  ? tm_parse_tlb
                                                  : NULL;
    case 'W':
        return tm_is(w, "WALKCACHE") ? tm_parse_tlb : NULL;
    default:
        return NULL;
    }
}

tm_parser tm_parser_of(struct tm_word w, const uint8_t *end)
{
    const uint8_t *q = w.p + w.n;

    if (w.n == 0 || w.n > 16)
        return NULL;
    /* ES(1000:...) and the like: the bracket ends the word. */
    if (w.p[w.n - 1] == '(' || q > end)
        return NULL;
    switch (*w.p) {
    case 'M':
        if (w.n > 3 && w.p[1] == 'U' && tm_is_digit(w.p[2]) && memchr(w.p, '_', w.n))
            return tm_parse_atomic;
        return tm_is_mem_type(w) ? tm_parse_mem : NULL;
    case 'B':
        if (tm_is_bus_type(w))
            return tm_parse_bus;
        break;
    case 'R':
    case 'W':
        if (two_digits(w))
            return tm_parse_cs;
        break;
    default:
        break;
    }
    return word_parser(w);
}

/* A row for what is not understood; its text is the type word. */
static int note(struct tm_line *l, struct tm_word type)
{
    struct tm_row *row;

    l->n_rows = 0;
    row = tm_begin(l, TROD_NOTE);
    row->has &= ~(uint32_t)TROD_COL_FLAGS;
    row->text = tm_slice(l, type);
    if (type.n)
        row->has |= TROD_COL_TEXT;
    tm_add(l);
    return TM_OK;
}

/* The stream called l->source, by way of the last one found. */
static int stream_of(struct tm_line *l, uint32_t *out)
{
    struct tm_dec *d = l->d;
    int id;

    if (l->source.n == d->name_len && memcmp(l->source.p, d->name, d->name_len) == 0) {
        *out = d->name_stream;
        return TM_OK;
    }
    id = trod_meta_stream(d->meta, (const char *)l->source.p, l->source.n);
    if (id == TROD_ERR_LIMIT)
        return tm_bad(l, TM_TOO_MANY_STREAMS, l->source.p, "too many different cpu names");
    if (id < 0) {
        l->status = id;
        return TM_FATAL;
    }
    *out = (uint32_t)id;
    if (l->source.n <= TM_NAME_MAX) {
        memcpy(d->name, l->source.p, l->source.n);
        d->name_len = (uint32_t)l->source.n;
        d->name_stream = *out;
    }
    return TM_OK;
}

/* The unit that is a word of the trace's own. */
static int own_unit(struct tm_line *l)
{
    int unit = trod_meta_unit(l->d->meta, (const char *)l->scale.p, l->scale.n);

    if (unit < 0)
        return tm_bad(l, TM_TOO_MANY_UNITS, l->scale.p,
                      l->scale.n < TROD_UNIT_NAME ? "too many different units of time"
                                                  : "name of a unit of time is too long");
    for (unsigned i = 0; i < l->n_rows; i++) {
        l->rows[i].unit = (uint8_t)(l->rows[i].unit | unit);
        l->rows[i].has |= TROD_COL_UNIT;
    }
    return TM_OK;
}

/* Time and cpu of the line before, where this one has none (format.h: has, flags). */
static void inherit(struct tm_line *l)
{
    const struct tm_dec *d = l->d;
    const struct tm_row *first = &l->rows[0];
    uint32_t has = 0, flags = 0;
    uint8_t kind = first->kind;

    if (d->timed && !(first->has & (TROD_COL_TIME | TROD_COL_UNIT)) && kind != TROD_NOTE) {
        has |= TROD_COL_TIME | (d->unit ? (uint32_t)TROD_COL_UNIT : 0u);
        flags |= TROD_F_TIME_BEFORE;
    }
    if (tm_inherits_stream(d) && !l->source.n &&
        (kind == TROD_REG || kind == TROD_READ || kind == TROD_WRITE || kind == TROD_ATOMIC)) {
        has |= TROD_COL_STREAM;
        flags |= TROD_F_STREAM_BEFORE;
    }
    for (unsigned i = 0; has && i < l->n_rows; i++) {
        l->rows[i].has |= has;
        l->rows[i].flags |= flags;
    }
}

/* Remember the head of a line that was understood for the fast path. */
static void learn_head(struct tm_line *l)
{
    struct tm_dec *d = l->d;
    struct tm_head *h;

    if (l->head.n == 0 || l->head.n > TM_HEAD_MAX || !tm_is_blank(l->head.p[0]) ||
        !tm_is_blank(l->head.p[l->head.n - 1]))
        return;
    h = &d->heads[d->head];
    if (h->len == l->head.n && memcmp(h->text, l->head.p, l->head.n) == 0)
        return;
    for (size_t i = 0; i < TM_HEADS; i++)
        if (d->heads[i].len == l->head.n && memcmp(d->heads[i].text, l->head.p, l->head.n) == 0)
            return;
    d->head = d->heads_next % TM_HEADS;
    h = &d->heads[d->head];
    memset(h, 0, sizeof *h);
    h->number = d->heads_next++;
    memcpy(h->text, l->head.p, l->head.n);
    h->len = (uint32_t)l->head.n;
    h->stream = l->rows[0].stream;
    h->unit = l->rows[0].unit;
    h->sure = l->sure;
    h->source = l->source.n ? (uint32_t)(l->source.p - l->head.p) : 0;
    h->source_len = (uint32_t)l->source.n;
    h->has = l->rows[0].has & (TROD_COL_TIME | TROD_COL_UNIT);
    if (l->source.n)
        h->has |= TROD_COL_STREAM;
}

/* Update what the next line inherits, and the trace's meta. */
static int settle(struct tm_line *l)
{
    struct tm_dec *d = l->d;
    const struct tm_row *first = &l->rows[0];
    int rc;

    if (l->scale.n && (rc = own_unit(l)) != TM_OK)
        return rc;
    inherit(l);
    if (l->source.n) {
        uint32_t stream = 0;

        if ((rc = stream_of(l, &stream)) != TM_OK)
            return rc;
        for (unsigned i = 0; i < l->n_rows; i++) {
            l->rows[i].stream = stream;
            l->rows[i].has |= TROD_COL_STREAM;
        }
        d->stream = stream;
        d->source_seen = 1;
    }
    if (first->flags & TROD_F_TIME_BEFORE)
        goto learned;
    if (first->has & TROD_COL_TIME) {
        d->time = first->time;
        d->timed = 1;
    }
    if (first->has & (TROD_COL_TIME | TROD_COL_UNIT)) {
        d->unit = first->unit;
        if (!d->unit_seen && (first->has & TROD_COL_UNIT)) {
            d->unit_seen = 1;
            d->meta->unit = first->unit & 0xf;
        }
    }
learned:
    if (first->kind == TROD_INSTR || first->kind == TROD_BRANCH) {
        tm_note_iset(d, (first->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT);
        if ((first->has & TROD_COL_ADDR) && first->addr >> 32 && !d->wide) {
            d->wide = 1;
            d->meta->addr_bits = 64;
        }
    }
    learn_head(l);
    return TM_OK;
}

/* The trace has instructions of ISET. */
void tm_note_iset(struct tm_dec *d, unsigned iset)
{
    if (d->isets >> iset & 1)
        return;
    d->isets = (uint8_t)(d->isets | 1u << iset);
    if (d->flavour->matcher || iset == TROD_ISET_NONE)
        return;
    if (iset == TROD_ISET_A64) {
        d->meta->isa = TROD_ISA_A64;
        d->meta->addr_bits = 64;
    } else if (d->meta->isa == TROD_ISA_UNKNOWN) {
        d->meta->isa = TROD_ISA_ARM;
        if (!d->meta->addr_bits)
            d->meta->addr_bits = 32;
    }
}

static void begin_line(struct tm_line *l, const uint8_t *start, const uint8_t *end,
                       const uint8_t *next)
{
    /* a UTF-8 mark, as editors and shells put it in front of a file */
    const bool mark = end - start >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0;

    l->start = start;
    l->p = start + (mark ? 3 : 0);
    l->e = end;
    l->n_rows = 0;
    l->picture = 0;
    l->indented = l->sure = l->late = false;
    l->source = l->scale = l->head = (struct tm_word){start, 0};
    l->warning.why = NULL;
    l->status = TROD_OK;
    memset(&l->row, 0, sizeof l->row);
    l->row.has = TROD_COL_KIND | TROD_COL_RAW;
    l->row.raw = (struct trod_slice){(uint32_t)(start - l->base), (uint32_t)(next - start)};
    l->row.time = l->d->time;
    l->row.unit = l->d->unit;
    l->row.stream = l->d->stream;
}

/* Try the line as a further line of a picture. */
static int continuation(struct tm_line *l)
{
    tm_blanks(l);
    if (l->p == l->e || (size_t)(l->p - l->start) != l->d->picture_column)
        return TM_OTHER;
    return tm_parse_continuation(l);
}

int tm_parse_line(struct tm_line *l, const uint8_t *start, const uint8_t *end, const uint8_t *next)
{
    struct trod_batch *b = l->b;
    uint32_t pool_n = b->pool_n;
    struct tm_row begun;
    struct tm_word type;
    tm_parser parser;
    int rc = TM_OTHER;

    begin_line(l, start, end, next);
    if (l->d->picture && start < end && tm_is_blank(*start)) {
        rc = continuation(l);
        if (rc == TM_OK || rc == TM_FULL)
            goto done;
        b->pool_n = pool_n;
        begin_line(l, start, end, next);
    }
    l->indented = l->p < end && tm_is_blank(*l->p);
    parser = tm_line_head(l, &type);
    begun = l->row;
    l->type = type;
    if (parser && l->late)
        return TM_BAD;
    if (parser) {
        rc = parser(l, type);
        if (rc == TM_OTHER || (rc == TM_BAD && !l->sure)) {
            b->pool_n = pool_n;
            l->row = begun;
            if (l->source.n && !l->sure) {
                type = l->source;
                l->source.n = 0;
                l->head.n = 0; /* not a head to go by: its source was none */
            }
            rc = note(l, type);
        }
    } else {
        rc = note(l, type);
    }
done:
    if (rc == TM_OK) {
        rc = settle(l);
        l->d->picture = l->picture;
        l->d->picture_column = l->picture_column;
    }
    if (rc != TM_OK)
        b->pool_n = pool_n;
    return rc;
}
