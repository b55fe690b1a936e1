/*
 * bid.c - detection: is it Tarmac, is it Trace Matcher, and which dialect?
 *
 * Implements docs/design.md, "Detection", and docs/formats/tarmac.md, "Detection and dialects". The
 * first lines are parsed as the decoder would parse them. Each line that is understood adds
 * evidence, the more the less likely other text reads so; each line that is not takes some away.
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"
#include "trod/put.h"

enum { BITS_MAX = 160, POOL = 1 << 14, LINE_BYTES = 4096 };

/* What the lines of the head have shown. */
struct tally {
    int bits, good, notes, bad;
    int tarmac, matcher; /* lines that only one of the formats has */
    int es, gem5, fm;
    int es_events; /* ES EXC and the like, which other dialects borrow */
    bool sources;
    char scale[TROD_UNIT_NAME];
};

const char *tm_dialect_name(int dialect)
{
    static const char *const names[] = {"fm", "es", "gem5"};

    return names[dialect];
}

static bool has_text(const struct tm_line *l, const char *text)
{
    size_t n = strlen(text);

    for (const uint8_t *p = l->start; (size_t)(l->e - p) >= n; p++)
        if (memcmp(p, text, n) == 0)
            return true;
    return false;
}

/* Bits of a record by itself: how seldom other text looks like it. */
static int kind_bits(const struct tm_row *r, const struct tm_line *l)
{
    switch (r->kind) {
    case TROD_INSTR:
        return (r->has & TROD_COL_INDEX) && (r->flags & TROD_F_ISET) ? 28 : 14;
    case TROD_READ:
    case TROD_WRITE:
        return l->picture ? 28 : 16;
    case TROD_CACHE_LINE:
    case TROD_TLB:
    case TROD_WALK:
    case TROD_BUS:
    case TROD_ATOMIC:
    case TROD_BRANCH:
        return 20;
    case TROD_REG:
        return r->size >= 4 ? 10 : (r->has & TROD_COL_TIME) && (r->has & TROD_COL_UNIT) ? 4 : 0;
    case TROD_EXCEPTION:
    case TROD_MODE:
    case TROD_CACHE_OP:
        return 10;
    default:
        return (r->has & TROD_COL_TIME) && (r->has & TROD_COL_UNIT) ? 4 : 0;
    }
}

/* Whether the source of L is a decimal number. */
static bool decimal_source(const struct tm_line *l)
{
    return l->source.n && tm_is_decimal(l->source);
}

/* Marks of one format or the other in a line that was understood. */
static void tell_apart(struct tally *t, const struct tm_line *l)
{
    const struct tm_row *r = &l->rows[0];
    bool decimal = decimal_source(l), access = r->kind == TROD_READ || r->kind == TROD_WRITE;
    unsigned iset = (r->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;

    if (decimal && r->kind == TROD_INSTR)
        t->matcher++;
    if ((l->source.n && !decimal) || (r->has & TROD_COL_PADDR) || l->picture ||
        (r->kind != TROD_INSTR && r->kind != TROD_REG && !access) ||
        (r->kind == TROD_INSTR && (iset == TROD_ISET_A64 || !(r->has & TROD_COL_INDEX))))
        t->tarmac++;
    if (access && !l->picture && r->size >= 8 && !(r->has & TROD_COL_PADDR)) {
        if (has_text(l, "_"))
            t->tarmac++;
    }
}

/* Marks of a dialect of Tarmac. */
static void dialect_of(struct tally *t, const struct tm_line *l)
{
    const struct tm_row *r = &l->rows[0];
    bool access = r->kind == TROD_READ || r->kind == TROD_WRITE;

    if (l->picture || (tm_is(l->type, "ES") && r->kind == TROD_INSTR))
        t->es++;
    else if (tm_is(l->type, "ES"))
        t->es_events++;
    else if (r->kind == TROD_INSTR && (has_text(l, " :   ") || has_text(l, ", #")))
        t->gem5 += has_text(l, " :   ") ? 4 : 1;
    else if (access && r->size >= 8 && l->source.n && !has_text(l, "_"))
        t->gem5++;
    else if ((access && r->size >= 8 && has_text(l, "_")) || r->kind == TROD_CACHE_LINE ||
             r->kind == TROD_TLB || r->kind == TROD_WALK || r->kind == TROD_EXCEPTION)
        t->fm += 4;
    else if (r->kind == TROD_INSTR)
        t->fm++;
}

static void weigh_line(struct tally *t, struct tm_line *l, int rc)
{
    const struct tm_row *r = &l->rows[0];

    if (rc != TM_OK) {
        t->bad++;
        t->bits -= 16;
    } else if (r->kind != TROD_NOTE) {
        t->good++;
        t->sources |= l->source.n > 0;
        t->bits += kind_bits(r, l) + ((r->has & TROD_COL_TIME) ? 6 : 0) +
                   ((r->has & TROD_COL_UNIT) ? 8 : 0) + (l->source.n ? 2 : 0);
        tell_apart(t, l);
        dialect_of(t, l);
    } else if (l->e > l->start && l->p >= l->start && has_text(l, "Tarmac Text Rev")) {
        t->bits += 30;
        t->tarmac++;
        t->es++;
    } else if (l->e > l->start) {
        t->notes++;
        t->bits -= (r->has & TROD_COL_TIME) && (r->has & TROD_COL_UNIT) ? 0 : 6;
    }
}

/* Whether the head holds what no text does. */
static bool binary(const struct trod_span *head)
{
    size_t n = head->n < 1024 ? head->n : 1024, odd = 0, len;

    for (size_t i = 0; i < n; i += len) {
        const uint8_t c = head->p[i];

        len = trod_utf8_len(head->p + i, head->n - i);
        odd += len == 0 && c != '\n' && c != '\r' && c != '\t';
        len += len == 0;
    }
    return odd * 8 > n;
}

/*
 * The end of the line [P, E) without its CR. Of a line of more than LINE_BYTES, as writes of the
 * widest registers are, the beginning is judged: up to the last place where a value may end.
 */
static const uint8_t *line_end(const uint8_t *p, const uint8_t *e)
{
    const uint8_t *q = p + LINE_BYTES;

    if (e - p <= LINE_BYTES)
        return e > p && e[-1] == '\r' ? e - 1 : e;
    while (q > p + LINE_BYTES / 2 && !tm_is_blank(*q) && *q != '_' && *q != ':')
        q--;
    return q > p + LINE_BYTES / 2 ? q : p + LINE_BYTES;
}

/* Parse the lines of HEAD and add up what they show. */
static void tally(const struct trod_span *head, struct tally *t)
{
    static const struct tm_flavour flavour = {"tarmac", false, NULL};
    uint64_t memory[POOL / 8];
    struct trod_meta meta = {0};
    struct trod_batch b = {.pool = (uint8_t *)memory, .pool_cap = sizeof memory};
    struct tm_dec d;
    struct tm_row rows[TM_ROWS_MAX];
    struct tm_line l = {.base = head->p, .d = &d, .b = &b, .rows = rows};
    const uint8_t *p = head->p, *end = head->p + head->n;

    tm_dec_general(&d);
    d.flavour = &flavour;
    d.meta = &meta;
    for (int lines = 0; lines < TM_HEAD_LINES && p < end; lines++) {
        const uint8_t *nl = memchr(p, '\n', (size_t)(end - p)), *e = nl ? nl : end;
        const bool whole = nl && e - p <= LINE_BYTES;
        int rc;

        if (!nl && !head->last && e - p <= LINE_BYTES)
            break; /* cut off: says nothing */
        b.pool_n = 0;
        rc = tm_parse_line(&l, p, line_end(p, e), nl ? nl + 1 : end);
        if (whole || rc == TM_OK) /* what is cut off may have made sense */
            weigh_line(t, &l, rc);
        if (!nl)
            break;
        p = nl + 1;
    }
    memcpy(t->scale, meta.own_unit[0], sizeof t->scale);
    trod_meta_fini(&meta);
}

/* Evidence of HEAD for both formats, in bits, and the dialect if it is Tarmac. */
void tm_weigh(const struct trod_span *head, struct tm_evidence *out)
{
    struct tally t;

    memset(&t, 0, sizeof t);
    *out = (struct tm_evidence){.dialect = TM_FM};
    if (head->n == 0)
        return;
    tally(head, &t);
    out->sources = t.sources;
    memcpy(out->scale, t.scale, sizeof out->scale);
    t.es += t.fm + t.gem5 == 0 ? t.es_events : 0;
    out->dialect = t.es ? TM_ES : t.gem5 > t.fm ? TM_GEM5 : TM_FM;
    if (binary(head) || (t.good == 0 && t.bits < 24))
        return;
    if (t.bits <= 0 || t.good < t.notes / 4)
        return;
    out->tarmac = t.bits < BITS_MAX ? t.bits : BITS_MAX;
    out->matcher = t.tarmac ? 0 : out->tarmac - 16;
    out->either = !t.tarmac && !t.matcher;
    if (t.matcher && !t.tarmac) {
        out->matcher = out->tarmac;
        out->tarmac = out->tarmac > 24 ? out->tarmac / 2 : 0;
    }
    if (out->matcher < 0)
        out->matcher = 0;
}
