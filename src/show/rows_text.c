/*
 * rows_text.c - the uniform listing: record, time, cpu, kind, address, size, value, text, notes.
 *
 * One row a line, columns separated by two blanks and as wide as the first rows need; a wider value
 * widens its column from there on. After the text come "name=value" notes in braces: what a format
 * may say beyond the columns. No printf and no allocation a row. Here everything is formatted;
 * rows_again.c takes over what lines have in common.
 */
#include <stdlib.h>
#include <string.h>

#include "show/rows.h"

/* Colours by kind; the rest is plain. */
static const char *const colours[TROD_KINDS] = {
    [TROD_READ] = "\033[32m",      [TROD_WRITE] = "\033[33m",  [TROD_ATOMIC] = "\033[35m",
    [TROD_REG] = "\033[36m",       [TROD_BRANCH] = "\033[34m", [TROD_EXCEPTION] = "\033[31m",
    [TROD_MODE] = "\033[31m",      [TROD_SYNC] = "\033[35m",   [TROD_MARKER] = "\033[35m",
    [TROD_CACHE_LINE] = "\033[2m", [TROD_TLB] = "\033[2m",     [TROD_NOTE] = "\033[2m",
    [TROD_INSTR] = "\033[1m",
};

enum { TEXT_WIDTH = 32 }; /* notes stand behind that; longer texts push them aside */

static const char dim[] = "\033[2m", plain[] = SHOW_PLAIN;

static char *word(char *p, const char *s)
{
    size_t n = strlen(s);

    memcpy(p, s, n);
    return p + n;
}

/* There are few: no call of memset. */
static inline char *blanks(char *p, size_t n)
{
    for (; n >= 8; n -= 8, p += 8)
        memcpy(p, "        ", 8);
    if (n & 4) {
        memcpy(p, "    ", 4);
        p += 4;
    }
    if (n & 2) {
        memcpy(p, "  ", 2);
        p += 2;
    }
    if (n & 1)
        *p++ = ' ';
    return p;
}

/* Left-aligned: what stands from START to P fills *WIDTH columns, which grows if it must. */
static char *left(char *p, const char *start, unsigned *width)
{
    size_t n = (size_t)(p - start);

    if (n < *width)
        return blanks(p, *width - n);
    if (n <= 64)
        *width = (unsigned)n;
    return p;
}

/* Right-aligned. */
static char *right(char *p, char *start, unsigned *width)
{
    size_t n = (size_t)(p - start);

    if (n < *width) {
        memmove(start + (*width - n), start, n);
        blanks(start, *width - n);
        return start + *width;
    }
    if (n <= 64)
        *width = (unsigned)n;
    return p;
}

static void widen(unsigned *width, size_t n)
{
    if (n > *width && n <= 64)
        *width = (unsigned)n;
}

unsigned show_address_digits(uint64_t v)
{
    unsigned n = trod_hex_digits(v);

    return n <= 8 ? 8 : n <= 12 ? 12 : 16;
}

/* Columns that the text of an instruction takes, if that is not many. */
static size_t text_width(struct trod_show *r, const struct trod_batch *b, uint32_t i)
{
    size_t n = show_text_of(r, b, i).n;

    return n > TEXT_WIDTH ? TEXT_WIDTH : n;
}

void trod_show_measure(struct trod_show *r, const struct trod_batch *b, const uint8_t *keep,
                       uint64_t record)
{
    char s[2 * SHOW_NAME_MAX];

    widen(&r->record, trod_digits(record + (r->compact ? 99999 : 9999999)));
    show_forget(r);
    widen(&r->kind, 5);
    widen(&r->addr, 8);
    widen(&r->size, 4);
    widen(&r->value, 10);
    widen(&r->time, 4);
    widen(&r->stream, strlen(show_stream_word(r->meta)));
    for (uint32_t i = 0; i < b->n; i++) {
        if (!keep[i])
            continue;
        widen(&r->kind, strlen(trod_kind_name(b->kind[i])));
        if (show_has(b, i, TROD_COL_ADDR))
            widen(&r->addr, show_address_digits(b->addr[i]));
        if (show_has(b, i, TROD_COL_STREAM))
            widen(&r->stream, (size_t)(show_put_stream(b, i, r->meta, s) - s));
        if (show_has(b, i, TROD_COL_VALUE))
            widen(&r->value, (size_t)(show_put_value(b, i, s) - s));
        if (b->kind[i] == TROD_INSTR)
            widen(&r->text, text_width(r, b, i));
        if (show_has(b, i, TROD_COL_TIME))
            widen(&r->time,
                  (size_t)(show_put_time(r, b, i, s) - s) + 1 + strlen(show_unit(b, i, r->meta)));
        if (r->symbols && show_has(b, i, TROD_COL_ADDR) && b->addr[i]) {
            uint64_t offset;
            const char *name;

            if (trod_symbols_find(r->symbols, b->addr[i], &name, &offset))
                widen(&r->symbol, strlen(name) + 2 + trod_hex_digits(offset) < 32
                                      ? strlen(name) + 3 + trod_hex_digits(offset)
                                      : 32);
        }
    }
}

void trod_show_widths(const struct trod_show *r, uint8_t width[TROD_SHOW_WIDTHS])
{
    const unsigned all[TROD_SHOW_WIDTHS] = {r->record, r->time,  r->stream, r->kind, r->addr,
                                            r->size,   r->value, r->symbol, r->text};

    for (size_t i = 0; i < TROD_SHOW_WIDTHS; i++)
        width[i] = (uint8_t)all[i]; /* 64 at the most */
}

void trod_show_widen(struct trod_show *r, const uint8_t width[TROD_SHOW_WIDTHS])
{
    unsigned *all[TROD_SHOW_WIDTHS] = {&r->record, &r->time,  &r->stream, &r->kind, &r->addr,
                                       &r->size,   &r->value, &r->symbol, &r->text};

    for (size_t i = 0; i < TROD_SHOW_WIDTHS; i++)
        *all[i] = width[i];
    show_forget(r);
}

char *trod_show_header(const struct trod_show *r, char *p)
{
    const struct {
        const char *name;
        unsigned width;
        bool to_right;
    } columns[] = {
        {"row", r->record, true},
        {"time", r->time, true},
        {show_stream_word(r->meta), r->stream, false},
        {"kind", r->kind, false},
        {"address", r->addr + 2, false},
        {"size", r->size, true},
        {"value", r->value, false},
        {"symbol", r->symbols ? r->symbol : 0, false},
        {"text", 0, false},
    };

    if (r->colour)
        p = word(p, dim);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        size_t n = strlen(columns[i].name);
        size_t space = n < columns[i].width ? columns[i].width - n : 0;

        if (i == 7 && !r->symbols)
            continue;
        if (i > 0)
            p = blanks(p, 2);
        if (columns[i].to_right)
            p = blanks(p, space);
        p = word(p, columns[i].name);
        if (!columns[i].to_right && i != 8)
            p = blanks(p, space);
    }
    if (r->colour)
        p = word(p, plain);
    *p++ = '\n';
    return p;
}

static char *put_0x(char *p, uint64_t v, unsigned digits)
{
    *p++ = '0';
    *p++ = 'x';
    return trod_put_hex(p, v, digits);
}

/* A further note: the opening brace or a blank, and its name. */
static char *note(char *p, bool *open, const char *name)
{
    if (!*open) {
        p = word(p, "  {");
        *open = true;
    } else {
        *p++ = ' ';
    }
    return word(p, name);
}

static char *flag_notes(const struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p,
                        bool *open)
{
    const char *names[SHOW_FLAGS];
    uint32_t f = b->flags[i];
    unsigned iset = (f & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    /* what every instruction of the trace is need not stand on every line */
    unsigned usual = r->meta->isa == TROD_ISA_A64   ? (unsigned)TROD_ISET_A64
                     : r->meta->isa == TROD_ISA_ARM ? (unsigned)TROD_ISET_A32
                                                    : (unsigned)TROD_ISET_NONE;
    size_t n = show_flag_names(b, i, names);

    if (f & TROD_F_BRANCH) {
        p = note(p, open, "branch=");
        p = word(p, trod_branch_name(f & TROD_F_BRANCH) ? trod_branch_name(f & TROD_F_BRANCH) : "");
    }
    if (iset && iset != usual && show_iset_name(iset)) {
        p = note(p, open, "iset=");
        p = word(p, show_iset_name(iset));
    }
    for (size_t k = 0; k < n; k++)
        p = note(p, open, names[k]);
    return p;
}

/* Where trod/batch.h gives the subtype a meaning; elsewhere it is the source's own type code. */
static bool sub_says_something(unsigned kind)
{
    return kind == TROD_PREFETCH || kind == TROD_SYNC || kind == TROD_MARKER ||
           kind == TROD_CACHE_LINE || kind == TROD_TLB || kind == TROD_THREAD;
}

/* A marker or sync record whose name stands in the text: its number says nothing more. */
static bool is_named(const struct trod_batch *b, uint32_t i)
{
    return (b->kind[i] == TROD_MARKER || b->kind[i] == TROD_SYNC) &&
           (show_has(b, i, TROD_COL_TEXT) || show_record_name(b, i));
}

static char *notes(struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p)
{
    bool open = false;
    uint32_t f = show_has(b, i, TROD_COL_FLAGS) ? b->flags[i] : 0;
    const char *sec = show_sec_name((f & TROD_F_SEC) >> TROD_F_SEC_SHIFT);
    struct show_note more[SHOW_NOTES];
    size_t n = show_notes_of(b, i, more);
    char *start = p;

    if (show_has(b, i, TROD_COL_TARGET))
        p = put_0x(note(p, &open, "target="), b->target[i], show_address_digits(b->target[i]));
    if (show_has(b, i, TROD_COL_SUB) && sub_says_something(b->kind[i]) && !is_named(b, i)) {
        const char *name = show_sub_name(b->kind[i], b->sub[i]);

        p = note(p, &open, "sub=");
        p = name ? word(p, name) : trod_put_u64(p, b->sub[i]);
    }
    if (f)
        p = flag_notes(r, b, i, p, &open);
    if (show_has(b, i, TROD_COL_PADDR)) {
        p = put_0x(note(p, &open, "pa="), b->paddr[i], show_address_digits(b->paddr[i]));
        if (sec) {
            *p++ = ':';
            p = word(p, sec);
        }
    } else if (sec) {
        p = word(note(p, &open, "sec="), sec);
    }
    if (show_has(b, i, TROD_COL_PC) && b->kind[i] != TROD_INSTR && b->kind[i] != TROD_BRANCH)
        p = put_0x(r->pc_at = note(p, &open, "pc="), b->pc[i], show_address_digits(b->pc[i]));
    for (size_t k = 0; k < n; k++)
        p = show_put_note(&more[k], note(p, &open, ""));
    if (show_has(b, i, TROD_COL_INDEX))
        p = trod_put_u64(r->index_at = note(p, &open, "index="), b->index[i]);
    if (!open)
        return start;
    *p++ = '}';
    return p;
}

char *show_make_front(struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p)
{
    const char *colour = r->colour ? colours[b->kind[i]] : NULL;
    char *start = p = blanks(p, 2);

    if (show_has(b, i, TROD_COL_TIME)) {
        const char *unit = show_unit(b, i, r->meta);

        p = show_put_time(r, b, i, p);
        if (*unit) {
            *p++ = ' ';
            p = word(p, unit);
        }
    } else {
        *p++ = '-';
    }
    p = right(p, start, &r->time);
    start = p = blanks(p, 2);
    if (show_has(b, i, TROD_COL_STREAM))
        p = show_put_stream(b, i, r->meta, p);
    else
        *p++ = '-';
    p = left(p, start, &r->stream);
    p = blanks(p, 2);
    if (colour)
        p = word(p, colour);
    start = p;
    p = left(word(p, trod_kind_name(b->kind[i])), start, &r->kind);
    if (colour)
        p = word(p, plain);
    return blanks(p, 2);
}

/* The columns from the address to the text; *BEFORE is where the blanks behind the text begin. */
static char *middle(struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p,
                    char **before)
{
    struct show_text text = show_text_of(r, b, i);
    char *start = p;
    unsigned width;

    if (show_has(b, i, TROD_COL_ADDR)) {
        widen(&r->addr, show_address_digits(b->addr[i]));
        p = put_0x(p, b->addr[i], r->addr);
    } else {
        *p++ = '-';
    }
    width = r->addr + 2;
    p = left(p, start, &width);
    start = p = blanks(p, 2);
    if (show_has(b, i, TROD_COL_SIZE))
        p = trod_put_u64(p, b->size[i]);
    else
        *p++ = '-';
    p = right(p, start, &r->size);
    start = p = blanks(p, 2);
    if (b->kind[i] == TROD_INSTR && show_has(b, i, TROD_COL_CODE) && b->code[i].len)
        p = show_put_opcode(r, b, i, p);
    else
        p = show_put_value(b, i, p);
    if (p == start)
        *p++ = '-';
    width = r->compact && b->kind[i] == TROD_INSTR ? 8 : r->value;
    p = left(p, start, &width); /* values wider than the first ones do not move the others */
    if (r->symbols) {
        start = p = blanks(p, 2);
        p = show_put_symbol(r, b, i, p);
        if (p == start)
            *p++ = '-';
        p = left(p, start, &r->symbol);
    }
    start = p = blanks(p, 2);
    if (text.n)
        p = trod_put_visible(p, text.p, text.n);
    else
        *p++ = '-';
    if (text.cut)
        p = word(p, "...");
    while (p > start && p[-1] == ' ')
        p--;
    *before = p;
    return r->compact ? p : left(p, start, &(unsigned){r->text});
}

char *show_make_rest(struct trod_show *r, const struct trod_batch *b, uint32_t i, char *p)
{
    char *start, *before;

    p = middle(r, b, i, p, &before);
    if (r->colour)
        p = word(p, dim);
    start = p;
    p = notes(r, b, i, p);
    if (p == start)
        p = before;
    else if (r->colour)
        p = word(p, plain);
    *p++ = '\n';
    return p;
}
