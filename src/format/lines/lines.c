/*
 * lines.c - the parts of the decoders of text logs that need not be inlined.
 *
 * Implements lines.h.
 */
#include "format/lines/lines.h"

#include "core/pack.h"

#include <stdio.h>

enum { VALUE_DIGITS = 1 << 15 };

static uint8_t byte_at(const uint8_t *digits)
{
    return (uint8_t)(ln_digit(digits[0]) << 4 | ln_digit(digits[1]));
}

enum ln_result ln_value(struct ln_line *l, struct ln_row *r, uint32_t *bytes)
{
    const uint8_t *p = l->p, *first;
    uint8_t *out;
    size_t n;

    for (first = p = l->p; p < l->e && ln_digit(*p) < 16;)
        p++;
    n = (size_t)(p - first);
    if (n == 0 || n > VALUE_DIGITS)
        return ln_bad(l, n ? "number has too many digits" : "a hexadecimal number is due here");
    *bytes = (uint32_t)((n + 1) / 2);
    if (n <= 16) {
        unsigned digits;

        ln_hex(l, &r->value, &digits);
        r->has |= TROD_COL_VALUE;
        return LN_OK;
    }
    l->p = p;
    r->has |= TROD_COL_DATA;
    if (!(l->b->have & TROD_COL_DATA))
        return LN_OK;
    out = trod_batch_pool(l->b, *bytes, &r->data);
    if (!out)
        return LN_FULL;
    for (uint32_t i = 0; i < *bytes; i++, p -= 2)
        out[i] = p - first == 1 ? (uint8_t)ln_digit(p[-1]) : byte_at(p - 2);
    return LN_OK;
}

bool ln_code(struct ln_line *l, struct ln_row *r, uint64_t value, unsigned size, bool big)
{
    uint8_t *out;

    r->has |= TROD_COL_CODE;
    if (!(l->b->have & TROD_COL_CODE))
        return true;
    out = trod_batch_pool(l->b, size, &r->code);
    if (!out)
        return false;
    for (unsigned i = 0; i < size; i++)
        out[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
    return true;
}

enum ln_result ln_stream_found(struct ln_line *l, int stream, struct ln_row *r)
{
    if (stream == TROD_ERR_LIMIT)
        return ln_bad(l, "too many different cpus or threads");
    if (stream < 0) {
        l->status = stream;
        l->why = "out of memory";
        return LN_FATAL;
    }
    r->has |= TROD_COL_STREAM;
    r->stream = (uint32_t)stream;
    return LN_OK;
}

enum ln_result ln_stream_new(struct ln_cpus *c, struct ln_line *l, struct trod_meta *m,
                             uint64_t number, struct ln_row *r)
{
    const unsigned at = (unsigned)number % LN_CPUS;
    char name[24];
    int n = snprintf(name, sizeof name, "%llu", (unsigned long long)number);
    const enum ln_result rc = ln_stream_found(l, trod_meta_stream(m, name, (size_t)n), r);

    if (rc == LN_OK) {
        c->number[at] = number;
        c->stream[at] = r->stream + 1;
    }
    return rc;
}

static struct trod_place place(const struct ln_state *s, const struct trod_span *in,
                               const uint8_t *at)
{
    return (struct trod_place){.offset = in->offset + (uint64_t)(at - in->p),
                               .record = s->rows,
                               .line = s->lines + 1,
                               .caret = SIZE_MAX};
}

/* Of lines that are joined: the one of CARET. */
static struct trod_place place_in(const struct ln_state *s, const struct ln_line *l,
                                  const struct trod_span *in, const uint8_t *caret)
{
    const uint8_t *p = l->start, *nl;
    uint64_t before = 0;
    struct trod_place at;

    for (; l->joined && (nl = memchr(p, '\n', (size_t)(caret - p))) != NULL; before++)
        p = nl + 1;
    nl = l->joined ? memchr(p, '\n', (size_t)(l->e - p)) : NULL;
    at = place(s, in, p);
    at.line += before;
    at.text = p;
    at.text_len = (size_t)((nl ? nl : l->e) - p);
    at.caret = (size_t)(caret - p);
    return at;
}

int ln_report(const struct ln_state *s, const struct ln_line *l, const struct trod_span *in,
              const struct ln_names *names, struct trod_diag *diag)
{
    const struct trod_place at = place_in(s, l, in, l->caret);

    if (l->next == l->e && l->last) /* no line end: the input stops here */
        return trod_error(diag, TROD_ERR_TRUNCATED, names->cut, &at, "line is cut off: %s", l->why);
    return trod_error(diag, TROD_ERR_CORRUPT, names->bad, &at, "%s", l->why);
}

void ln_warn(const struct ln_state *s, const struct ln_line *l, const struct trod_span *in,
             const struct ln_names *names, struct trod_diag *diag)
{
    const struct trod_place at = place_in(s, l, in, l->warned ? l->warned : l->start);

    if (l->warned)
        trod_warning(diag, TROD_ERR_UNKNOWN, names->unknown, &at, "%s", l->warning);
    else
        trod_warning(diag, TROD_ERR_LIMIT, names->limit, &at, "%s", l->warning);
}

int ln_too_long(struct ln_state *s, const struct trod_span *in, const uint8_t *p,
                const struct ln_names *names, struct trod_diag *diag)
{
    const struct trod_place at = place(s, in, p);

    s->skipping = 1;
    return trod_error(diag, TROD_ERR_LIMIT, names->longer, &at, "line is longer than %d bytes",
                      LN_LINE_MAX);
}

/* The state behind the bytes from P up to E, which are of one line. */
static uint8_t skipped(uint8_t before, const uint8_t *p, const uint8_t *e)
{
    while (e > p && (e[-1] == ' ' || e[-1] == '\t' || e[-1] == '\r'))
        e--;
    if (e == p)
        return before;
    return e[-1] == '\\' ? LN_ESCAPED : 1;
}

const uint8_t *ln_skip(struct ln_state *s, const uint8_t *p, const uint8_t *end, bool joined)
{
    while (p < end) {
        const uint8_t *nl = memchr(p, '\n', (size_t)(end - p));
        const uint8_t state = joined ? skipped(s->skipping, p, nl ? nl : end) : 1;

        s->skipping = state;
        if (!nl)
            return end;
        s->lines++;
        p = nl + 1;
        s->skipping = state == LN_ESCAPED;
        if (!s->skipping)
            break;
    }
    return p;
}

size_t ln_resync(const uint8_t *p, size_t n)
{
    const uint8_t *nl = memchr(p, '\n', n);

    return nl ? (size_t)(nl + 1 - p) : SIZE_MAX;
}

int ln_save(const struct ln_state *s, struct trod_buf *out)
{
    int rc = trod_pack(out, s->lines);

    if (rc == TROD_OK)
        rc = trod_pack(out, s->rows);
    return rc < 0 ? rc : trod_pack(out, s->skipping);
}

int ln_load(struct ln_state *s, struct trod_span *in)
{
    uint64_t skipping;

    if (trod_unpack(in, &s->lines) < 0 || trod_unpack(in, &s->rows) < 0 ||
        trod_unpack(in, &skipping) < 0 || skipping > LN_ESCAPED)
        return TROD_ERR_CORRUPT;
    s->skipping = (uint8_t)skipping;
    return TROD_OK;
}

int ln_bid(const struct trod_span *head, int (*weigh)(struct ln_line *l))
{
    const uint8_t *const end = head->p + head->n;
    struct ln_line l = {.base = head->p, .limit = end, .last = head->last};
    int bits = 0, good = 0, bad = 0;

    l.next = head->p;
    for (int i = 0; i < LN_BID_LINES && l.next < end; i++) {
        const uint8_t *nl = memchr(l.next, '\n', (size_t)(end - l.next));
        int w;

        l.start = l.p = l.next;
        l.e = nl ? nl : end;
        l.next = nl ? nl + 1 : end;
        while (l.e > l.start && l.e[-1] == '\r')
            l.e--;
        if (!nl && !(head->last && i > 0))
            break; /* cut off */
        w = l.e > l.start ? weigh(&l) : 0;
        bits += w > 0 ? w : 0;
        good += w > 0;
        bad += w < 0;
    }
    if (good <= bad)
        return 0;
    return bits < LN_BID_MAX ? bits : LN_BID_MAX;
}
