/*
 * texts.c - texts of rows against constants and patterns.
 *
 * The result of a pattern for a text is remembered, as is what follows from an address. Rows are
 * tested one by one, but only those that earlier conditions have left.
 */
#include <string.h>
#include <strings.h>

#include "show/where/where_int.h"

bool where_place_of(const struct trod_where *w, const struct trod_batch *b, uint32_t i,
                    unsigned column, uint64_t *at)
{
    if (column != COL_SYMBOL) {
        *at = w->pc[i];
        return w->has_pc[i];
    }
    if (!show_has(b, i, TROD_COL_ADDR))
        return false;
    *at = b->addr[i];
    return true;
}

static struct show_text whole(const char *s)
{
    return (struct show_text){s, strlen(s), false};
}

/* The disassembly of instruction I: the trace's text, or its opcode's. */
static struct show_text disassembly(struct trod_where *w, const struct trod_batch *b, uint32_t i)
{
    const unsigned iset = show_has(b, i, TROD_COL_FLAGS)
                              ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT
                              : TROD_ISET_NONE;
    struct show_text t = {NULL, 0, false};

    if (!show_has(b, i, TROD_COL_CODE) || b->code[i].len == 0)
        return t;
    if (!w->disasm_tried && b->meta->isa != TROD_ISA_UNKNOWN && b->meta->isa != TROD_ISA_REGDEPS) {
        w->disasm_tried = true;
        trod_disasm_new(&w->disasm, b->meta->isa, b->meta->endian, NULL);
    }
    if (w->disasm)
        t.p = trod_disasm_text(w->disasm, iset, show_has(b, i, TROD_COL_ADDR) ? b->addr[i] : 0,
                               trod_batch_bytes(b, b->code[i]), b->code[i].len, &t.n);
    return t;
}

static struct show_text text_column(struct trod_where *w, const struct trod_batch *b, uint32_t i)
{
    struct show_text t = {NULL, 0, false};

    if (show_has(b, i, TROD_COL_TEXT) && b->text[i].len) {
        t.p = (const char *)trod_batch_bytes(b, b->text[i]);
        t.n = b->text[i].len;
    } else if (b->kind[i] == TROD_INSTR) {
        t = disassembly(w, b, i);
    }
    if (t.n > WHERE_TEXT)
        t.n = WHERE_TEXT;
    return t;
}

static struct show_text mnemonic(struct trod_where *w, const struct trod_batch *b, uint32_t i)
{
    struct show_text t = text_column(w, b, i);
    size_t n = 0;

    while (n < t.n && t.p[n] == ' ') {
        t.p++;
        t.n--;
    }
    while (n < t.n && t.p[n] != ' ' && t.p[n] != '\t')
        n++;
    t.n = n;
    return t;
}

/* What is written into the scratch text of W. */
static struct show_text made(struct trod_where *w, const struct trod_batch *b, uint32_t i,
                             unsigned column)
{
    struct show_note notes[SHOW_NOTES];
    char *p = w->scratch;
    size_t n;

    if (column == COL_OPCODE) {
        if (show_has(b, i, TROD_COL_CODE) && b->code[i].len)
            p = show_put_opcode(&w->show, b, i, p);
    } else if (column == COL_DATA) {
        if (show_has(b, i, TROD_COL_DATA) && b->data[i].len)
            p = show_put_value(b, i, p);
    } else {
        n = show_notes_of(b, i, notes);
        for (size_t k = 0; k < n; k++) {
            if (k > 0)
                *p++ = ' ';
            p = show_put_note(&notes[k], p);
        }
    }
    return (struct show_text){w->scratch, (size_t)(p - w->scratch), false};
}

/* Text COLUMN of row I; without p or without bytes where the row has none. */
static struct show_text text_of(struct trod_where *w, const struct trod_batch *b, uint32_t i,
                                unsigned column)
{
    const struct show_text none = {NULL, 0, false};
    const char *name;

    switch (column) {
    case COL_TEXT:
        return text_column(w, b, i);
    case COL_DISASM:
        return b->kind[i] == TROD_INSTR ? text_column(w, b, i) : none;
    case COL_MNEMONIC:
        return b->kind[i] == TROD_INSTR ? mnemonic(w, b, i) : none;
    case COL_REGISTER:
        return b->kind[i] == TROD_REG ? text_column(w, b, i) : none;
    case COL_RECORD_TYPE:
        name = show_record_name(b, i);
        return name ? whole(name) : none;
    case COL_UNIT:
        return show_has(b, i, TROD_COL_TIME) ? whole(show_unit(b, i, b->meta)) : none;
    default:
        return made(w, b, i, column);
    }
}

/* What COLUMN says of address AT. */
static struct show_text text_at(struct trod_where *w, unsigned column, uint64_t at)
{
    const char *name = NULL;
    uint64_t offset;
    uint32_t line;
    bool there;

    if (column == COL_MODULE)
        there = trod_symbols_file(w->symbols, at, &name);
    else if (column == COL_SOURCE)
        there = trod_symbols_line(w->symbols, at, &name, &line);
    else
        there = trod_symbols_find(w->symbols, at, &name, &offset);
    return there && name ? whole(name) : (struct show_text){NULL, 0, false};
}

static bool is_item(const struct where_test *x, const char *item, const char *s, size_t n)
{
    if (strlen(item) != n)
        return false;
    return x->nocase ? strncasecmp(item, s, n) == 0 : memcmp(item, s, n) == 0;
}

static bool equals(const struct where_test *x, const struct show_text *t)
{
    const bool path = x->column == COL_MODULE || x->column == COL_SOURCE;
    size_t base = t->n;

    while (path && base > 0 && t->p[base - 1] != '/')
        base--;
    for (size_t k = 0; k < x->n; k++)
        if (is_item(x, x->item[k], t->p, t->n) ||
            (path && is_item(x, x->item[k], t->p + base, t->n - base)))
            return true;
    return false;
}

static bool regex_matches(const struct where_test *x, const char *s, size_t n)
{
    char text[WHERE_TEXT + 1];

    if (n > WHERE_TEXT)
        n = WHERE_TEXT;
    if (!show_literal_in(&x->literal, s, n))
        return false;
    memcpy(text, s, n);
    text[n] = '\0';
    return regexec(&x->regex, text, 0, NULL, 0) == 0;
}

/* Does pattern X match the N bytes at S? */
static bool matches(struct where_test *x, const char *s, size_t n)
{
    struct where_cached *c;
    uint64_t h = n;

    if (n > WHERE_CACHED)
        return regex_matches(x, s, n);
    for (size_t i = 0; i < n; i++)
        h = h * 31 + (uint8_t)s[i];
    c = &x->cached[(h ^ h >> 8 ^ h >> 16) % WHERE_CACHE];
    if (c->verdict == VERDICT_UNKNOWN || c->len != n || memcmp(c->s, s, n) != 0) {
        memcpy(c->s, s, n);
        c->len = (uint8_t)n;
        c->verdict = regex_matches(x, s, n) ? VERDICT_YES : VERDICT_NO;
    }
    return c->verdict == VERDICT_YES;
}

static uint8_t judge(struct where_test *x, const struct show_text *t)
{
    if (!t->p || t->n == 0)
        return VERDICT_ABSENT;
    return (x->has_regex ? matches(x, t->p, t->n) : equals(x, t)) ? VERDICT_YES : VERDICT_NO;
}

static uint8_t judge_row(struct trod_where *w, struct where_test *x, const struct trod_batch *b,
                         uint32_t i)
{
    struct where_place *place;
    struct show_text t;
    uint64_t at;

    if (!x->places) {
        t = text_of(w, b, i, x->column);
        return judge(x, &t);
    }
    if (!where_place_of(w, b, i, x->column, &at))
        return VERDICT_ABSENT;
    place = &x->places[(at >> 1 ^ at >> 11) % WHERE_PLACES];
    if (place->verdict == VERDICT_UNKNOWN || place->at != at) {
        t = text_at(w, x->column, at);
        place->at = at;
        place->verdict = judge(x, &t);
    }
    return place->verdict;
}

void where_run_text(const struct where_tile *t, const struct where_step *s,
                    const struct where_mask *active, struct where_mask *out)
{
    struct where_test *x = t->w->test[s->k];
    const uint8_t wanted = s->negate ? VERDICT_NO : VERDICT_YES;

    for (unsigned k = 0; k < WHERE_WORDS; k++) {
        uint64_t w = 0;

        for (uint64_t left = active->w[k]; left; left &= left - 1) {
            const uint32_t i = (uint32_t)__builtin_ctzll(left);

            w |= (uint64_t)(judge_row(t->w, x, t->b, t->at + 64 * k + i) == wanted) << i;
        }
        out->w[k] = w;
    }
}
