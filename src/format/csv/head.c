/*
 * head.c - the first line of a CSV table: which column holds what.
 *
 * Implements docs/formats/csv.md, "Columns" and "Detection".
 */
#include "format/csv/csv.h"

#include <string.h>

enum { BITS = 8, KNOWN_LEAST = 3 };

struct name {
    const uint8_t *p;
    size_t n;
};

/*
 * The line at the head of HEAD, without its end and the mark of UTF-8 that spreadsheets put in
 * front of it; false: it is cut off.
 */
static bool first_line(const struct trod_span *head, struct name *line)
{
    const uint8_t *nl = head->n ? memchr(head->p, '\n', head->n) : NULL;

    *line = (struct name){head->p, nl ? (size_t)(nl - head->p) : head->n};
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    if (line->n >= 3 && memcmp(line->p, "\xef\xbb\xbf", 3) == 0) {
        line->p += 3;
        line->n -= 3;
    }
    return nl || head->last;
}

/* The next name of LINE, without blanks and quotes; false: there is none. */
static bool next_name(struct name *line, struct name *out)
{
    const uint8_t *comma;

    if (!line->p)
        return false;
    comma = line->n ? memchr(line->p, ',', line->n) : NULL;
    *out = (struct name){line->p, comma ? (size_t)(comma - line->p) : line->n};
    line->n -= comma ? out->n + 1 : line->n;
    line->p = comma ? comma + 1 : NULL;
    while (out->n && (*out->p == ' ' || *out->p == '"')) {
        out->p++;
        out->n--;
    }
    while (out->n && (out->p[out->n - 1] == ' ' || out->p[out->n - 1] == '"'))
        out->n--;
    return true;
}

static bool is(struct name a, const char *s)
{
    if (strlen(s) != a.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if ((a.p[i] >= 'A' && a.p[i] <= 'Z' ? a.p[i] | 0x20 : a.p[i]) != (uint8_t)s[i])
            return false;
    return true;
}

static unsigned field_of(struct name a)
{
    for (unsigned i = 0; i < CSV_FIELDS; i++)
        if (is(a, csv_names[i]))
            return i;
    return CSV_UNKNOWN;
}

/* The dialect of a table with the columns SEEN, bits 1 << enum csv_field. */
static const char *dialect_of(uint32_t seen)
{
    const uint32_t more = ((1u << CSV_BRANCH) - 1) & ~((1u << CSV_USUAL) - 1);

    return csv_dialects[(seen & more              ? CSV_COLUMNS_ALL
                         : seen >> CSV_BRANCH & 1 ? CSV_COLUMNS_BRANCH
                                                  : CSV_COLUMNS_USUAL) -
                        CSV_COLUMNS_USUAL];
}

/*
 * Each name is one of few words; `kind` must be among them. The table that `trod view` prints
 * begins with "record": it is no trace.
 */
int csv_bid(const struct trod_probe *probe, const char **dialect)
{
    struct name line, a;
    unsigned known = 0;
    uint32_t seen = 0;
    bool kind = false;

    *dialect = csv_dialects[0];
    if (!first_line(&probe->head, &line) || line.n > CSV_NAMES_MAX)
        return 0;
    for (bool first = true; next_name(&line, &a); first = false) {
        const unsigned field = field_of(a);

        if (first && is(a, "record"))
            return 0;
        known += field != CSV_UNKNOWN;
        kind = kind || field == CSV_KIND;
        seen |= 1u << field;
    }
    *dialect = dialect_of(seen);
    return kind && known >= KNOWN_LEAST ? (int)known * BITS + BITS : 0;
}

/* Keep the name A of an unknown column. */
static bool keep_name(struct csv_dec *d, struct name a, uint16_t *used)
{
    if (a.n + 1 > (size_t)(CSV_NAMES_MAX - *used))
        return false;
    d->name[d->n_fields] = *used;
    memcpy(d->names + *used, a.p, a.n);
    d->names[*used + a.n] = '\0';
    *used = (uint16_t)(*used + a.n + 1);
    return true;
}

static int bad_head(struct trod_diag *diag, const char *why)
{
    struct trod_place at = trod_place_offset(NULL, 0);

    at.line = 1;
    return trod_error(diag, TROD_ERR_CORRUPT, "csv.head", &at,
                      "the first line should name the columns: %s", why);
}

int csv_start(void *dec, const void *opt, const struct trod_span *head, struct trod_meta *meta,
              struct trod_diag *diag)
{
    const struct csv_options *o = opt;
    const int kind = trod_kind_find(o->kind ? o->kind : "", o->kind ? strlen(o->kind) : 0);
    struct csv_dec *d = dec;
    struct name line, a;
    uint16_t used = 0;
    uint32_t seen = 0;

    if (kind < 0)
        return trod_error(diag, TROD_ERR_USAGE, "csv.kind", NULL, "no rows are of kind '%s'",
                          o->kind ? o->kind : "");
    d->kind = (uint8_t)kind;
    d->meta = meta;
    meta->addr_bits = 64;
    if (head->n == 0)
        return TROD_OK;
    if (!first_line(head, &line))
        return bad_head(diag, "it has no end");
    while (next_name(&line, &a)) {
        unsigned field = field_of(a);

        if (d->n_fields == CSV_FIELDS_MAX)
            return bad_head(diag, "there are too many");
        if (field != CSV_UNKNOWN && seen >> field & 1)
            field = CSV_UNKNOWN;
        if (field == CSV_UNKNOWN && !keep_name(d, a, &used))
            return bad_head(diag, "the unknown ones are too long");
        seen |= 1u << field;
        d->field[d->n_fields++] = (uint8_t)field;
    }
    if (!(seen & ((1u << CSV_FIELDS) - 1)))
        return bad_head(diag, "none is known (kind, addr, pc, size, ...)");
    meta->dialect = dialect_of(seen);
    return TROD_OK;
}
