/*
 * details.c - the fast path: details of rows that are equal where they lie.
 *
 * Implements cmp_same_details of fast.h. Two structs that are the same word for word, but for their
 * texts, and have the same texts say the same, whichever of their fields count. Only where they are
 * not, fields are looked at.
 */
#include "compare/fast.h"

#include <string.h>

enum { WORD = sizeof(uint64_t) };

/* What is to be known of a struct to compare it by words. Masks lie where flags say so: hard. */
static void learn(struct cmp_words *w, unsigned kind, uint32_t len)
{
    uint8_t count[sizeof w->count];

    *w = (struct cmp_words){.of = trod_detail_struct_of(kind, len), .len = len};
    memset(count, 0xff, sizeof count);
    if (!w->of || len > sizeof count || len < WORD)
        return;
    for (unsigned k = 0; k < w->of->n; k++) {
        const struct trod_detail_field *f = &w->of->field[k];

        if (!trod_field_is_slice(f->type))
            continue;
        memset(count + f->at, 0, sizeof(struct trod_slice));
        if (f->type == TROD_FIELD_TEXT && w->texts == sizeof w->text / sizeof *w->text)
            return;
        if (f->type == TROD_FIELD_TEXT)
            w->text[w->texts++] = (uint16_t)f->at;
    }
    w->n = len / WORD;
    memcpy(w->count, count, sizeof count);
    memcpy(&w->last, count + len - WORD, WORD);
}

/* What is known of the structs of LEN bytes of rows of KIND. */
static const struct cmp_words *words_of(struct trod_compare *c, unsigned kind, uint32_t len)
{
    struct cmp_words *w = &c->words[kind];

    if (w->len != len)
        learn(w, kind, len);
    return w;
}

static inline uint64_t differ_at(const uint8_t *p, const uint8_t *q)
{
    uint64_t x, y;

    memcpy(&x, p, sizeof x);
    memcpy(&y, q, sizeof y);
    return x ^ y;
}

/* Whether P of A and Q of B are the same word for word, and in their texts. */
static bool same_words(const struct cmp_words *w, const struct trod_batch *a, const uint8_t *p,
                       const struct trod_batch *b, const uint8_t *q)
{
    uint64_t differ = 0;

    if (w->n == 0)
        return false;
    for (unsigned k = 0; k < w->n; k++)
        differ |= differ_at(p + k * WORD, q + k * WORD) & w->count[k];
    differ |= differ_at(p + w->len - WORD, q + w->len - WORD) & w->last;
    for (unsigned k = 0; !differ && k < w->texts; k++) {
        struct trod_slice s, t;

        memcpy(&s, p + w->text[k], sizeof s);
        memcpy(&t, q + w->text[k], sizeof t);
        if (s.len != t.len || (s.len && !cmp_same_slice(a, s, b, t)))
            return false;
    }
    return !differ;
}

/* The detail of row I of B; its struct is looked up once a kind. */
static struct cmp_detail detail_at(struct trod_compare *c, const struct trod_batch *b, uint32_t i)
{
    struct cmp_detail d = {.p = trod_batch_detail(b, i), .b = b};

    if (d.p)
        d.of = words_of(c, b->kind[i], b->detail[i].len)->of;
    return d;
}

static bool same_detail(struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                        const struct trod_batch *b, uint32_t j)
{
    const struct cmp_detail d = detail_at(c, a, i), e = detail_at(c, b, j);

    if (!d.of && !e.of && d.p && e.p)
        return cmp_same_slice(a, a->detail[i], b, b->detail[j]);
    return d.of == e.of && (!d.of || cmp_detail_differs(&d, &e, &c->rules.fields) == 0);
}

/* Modes stand in the detail; the same bytes are the same mode. */
static bool same_mode(const struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                      const struct trod_batch *b, uint32_t j)
{
    const struct trod_detail_instr *d, *e;

    if (!c->modes || a->kind[i] != TROD_INSTR)
        return true;
    d = cmp_mode_of(a, i);
    e = cmp_mode_of(b, j);
    return !d || !e ? d == e : cmp_same_slice(a, d->mode, b, e->mode);
}

bool cmp_same_details(struct trod_compare *c, const struct trod_batch *a, uint32_t i,
                      const struct trod_batch *b, uint32_t j)
{
    const void *p = trod_batch_detail(a, i), *q = trod_batch_detail(b, j);

    if (!p && !q)
        return true;
    if (p && q && a->detail[i].len == b->detail[j].len &&
        same_words(words_of(c, a->kind[i], a->detail[i].len), a, p, b, q))
        return true;
    return (!(c->rules.fields.columns & TROD_COL_DETAIL) || same_detail(c, a, i, b, j)) &&
           same_mode(c, a, i, b, j);
}
