/*
 * head.c - the head of a line: time, unit, source and type word.
 *
 * Implements docs/formats/tarmac.md, "Lines". Any of them but the type may be missing. What stands
 * before a type word that is known is a source, whatever it is called; before one that is not, only
 * what looks like the name of a cpu.
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

/* enum trod_unit of W (lower case as all producers write it), or 0. */
static unsigned unit_of(struct tm_word w)
{
    static const struct {
        const char *name;
        uint8_t unit;
    } units[] = {{"clk", TROD_UNIT_CLK},       {"fs", TROD_UNIT_FS},  {"ps", TROD_UNIT_PS},
                 {"ns", TROD_UNIT_NS},         {"us", TROD_UNIT_US},  {"ms", TROD_UNIT_MS},
                 {"s", TROD_UNIT_S},           {"cs", TROD_UNIT_CS},  {"cyc", TROD_UNIT_CYC},
                 {"cycles", TROD_UNIT_CYCLES}, {"tic", TROD_UNIT_TIC}};

    for (size_t i = 0; w.n && w.n <= 6 && i < sizeof units / sizeof *units; i++)
        if (*w.p == (uint8_t)units[i].name[0] && tm_is(w, units[i].name))
            return units[i].unit;
    return 0;
}

/* Note that the time W is one by its form, but has no possible value. */
static void bad_time(struct tm_line *l, struct tm_word w, enum tm_problem what, const char *why)
{
    l->late = true;
    tm_bad(l, what, w.p, why);
}

static void set_time(struct tm_line *l, uint64_t v, unsigned decimals)
{
    l->row.time = v;
    l->row.has |= TROD_COL_TIME;
    l->row.unit = (uint8_t)(decimals << 4);
}

/* W as 0x1f: a hexadecimal time. */
static bool hex_time(struct tm_line *l, struct tm_word w)
{
    struct tm_word digits = {w.p + 2, w.n - 2};
    uint64_t v;

    if (w.n < 3 || w.p[0] != '0' || (w.p[1] | 0x20) != 'x' || !tm_is_hex(digits))
        return false;
    if (tm_hex(l, digits, &v) == TM_OK)
        set_time(l, v, 0);
    else
        bad_time(l, w, TM_TOO_WIDE, "time is wider than 64 bits");
    return true;
}

/* W as a time, perhaps with its unit on it; false if it is none. */
static bool time_word(struct tm_line *l, struct tm_word w, unsigned *unit)
{
    bool minus = w.n && *w.p == '-', wide = false;
    size_t i = minus, decimals = 0;
    uint64_t v = 0;

    *unit = 0;
    if (i >= w.n || !tm_is_digit(w.p[i]))
        return false;
    if (hex_time(l, w))
        return true;
    for (; i < w.n && (tm_is_digit(w.p[i]) || (w.p[i] == '.' && !decimals)); i++) {
        if (w.p[i] == '.') {
            decimals = 1;
            continue;
        }
        wide |= __builtin_mul_overflow(v, 10u, &v) ||
                __builtin_add_overflow(v, (uint64_t)(w.p[i] - '0'), &v);
        decimals += decimals != 0;
    }
    if (i < w.n && !(*unit = unit_of((struct tm_word){w.p + i, w.n - i})))
        return false;
    if (decimals == 1)
        return false;
    if (minus)
        bad_time(l, w, TM_BAD_TIME, "time is negative");
    else if (wide || decimals > 16)
        bad_time(l, w, TM_TOO_WIDE, "time is wider than 64 bits");
    else
        set_time(l, v, decimals ? (unsigned)decimals - 1 : 0);
    return true;
}

/* Whether W looks like the name of a cpu: a number, a path of components, cpu or core in it. */
static bool cpu_like(struct tm_word w)
{
    if (tm_is_decimal(w))
        return true;
    for (size_t i = 0; i < w.n; i++) {
        uint8_t c = w.p[i] | 0x20;

        if (w.p[i] == '.' && i > 0 && i + 1 < w.n)
            return true;
        if (c == 'c' && i + 3 <= w.n &&
            (((w.p[i + 1] | 0x20) == 'p' && (w.p[i + 2] | 0x20) == 'u') ||
             ((w.p[i + 1] | 0x20) == 'o' && (w.p[i + 2] | 0x20) == 'r')))
            return true;
    }
    return false;
}

/* Type words so rare elsewhere that their lines need no head. */
static bool strong(struct tm_word type)
{
    return type.n >= 2 && !tm_is(type, "BR") && !tm_is(type, "LD") && !tm_is(type, "ST") &&
           !tm_is(type, "IF") && !tm_is(type, "IS") && !tm_is(type, "IT");
}

/* Whether what follows the cursor begins like a register write: name, digits. */
static bool register_like(struct tm_line *l)
{
    const uint8_t *back = l->p;
    struct tm_word name = tm_word(l), value = tm_word(l);
    bool last = tm_word(l).n == 0;

    l->p = back;
    return name.n && ((*name.p | 0x20) >= 'a' && (*name.p | 0x20) <= 'z') && value.n &&
           tm_is_digit(*value.p) && last;
}

/* Whether W can be the name of a component: letters first, or all digits. */
static bool source_like(struct tm_word w)
{
    if (w.n == 0 || tm_is_decimal(w))
        return w.n > 0;
    for (size_t i = 0; i < w.n; i++) {
        uint8_t c = w.p[i];
        bool letter = (uint8_t)((c | 0x20) - 'a') < 26 || c == '_';

        if (!letter && (i == 0 || (!tm_is_digit(c) && !memchr(".[]/-<>#", c, 8))))
            return false;
    }
    return true;
}

enum tm_named tm_named(struct tm_word word)
{
    if (!source_like(word) || unit_of(word) || tm_parser_of(word, word.p + word.n))
        return TM_NO_NAME;
    return cpu_like(word) ? TM_CPU_NAME : TM_NAME;
}

/* The type word, and before it the source if there is one. */
static tm_parser source_and_type(struct tm_line *l, struct tm_word *type)
{
    struct tm_word first = tm_word(l), second;
    tm_parser parser = tm_parser_of(first, l->e);
    const uint8_t *back = l->p;

    *type = first;
    if (parser || !first.n)
        return parser;
    second = tm_word(l);
    parser = tm_parser_of(second, l->e);
    if (second.n && source_like(first) && (parser || cpu_like(first))) {
        *type = second;
        l->source = first;
        return parser;
    }
    *type = first;
    l->p = back;
    return NULL;
}

/* The unit in FIRST if no time stands before it; accepted only where a record follows. */
static unsigned lone_unit(struct tm_line *l, struct tm_word first)
{
    const uint8_t *back = l->p;
    struct tm_word next;
    unsigned unit = unit_of(first);

    if (unit != TROD_UNIT_S)
        return unit;
    next = tm_word(l);
    if (!tm_parser_of(next, l->e) && !(source_like(next) && tm_parser_of(tm_word(l), l->e)))
        unit = 0;
    l->p = back;
    return unit;
}

/*
 * The unit of a time as a word of the producer's own ("the scale is any string"): what stands
 * before a known type, or before a source and a known type, and is no source itself. What this says
 * of a line never depends on the lines before it.
 */
static bool own_scale(struct tm_line *l)
{
    const char *known = l->d->scale;
    const uint8_t *back = l->p;
    struct tm_word w = tm_word(l), next;
    bool scale = false;

    if (w.n && !tm_parser_of(w, l->e) && !cpu_like(w)) {
        const uint8_t *behind = l->p;

        next = tm_word(l);
        scale = tm_parser_of(next, l->e) || (source_like(next) && tm_parser_of(tm_word(l), l->e)) ||
                (*known && strlen(known) == w.n && memcmp(known, w.p, w.n) == 0);
        l->p = scale ? behind : back;
    } else {
        l->p = back;
    }
    if (scale)
        l->scale = w;
    return scale;
}

/* The head of a line, piece by piece. */
static tm_parser whole_head(struct tm_line *l, struct tm_word *type)
{
    struct tm_word first = tm_word(l);
    const uint8_t *back = l->start;
    unsigned unit;
    bool timed = time_word(l, first, &unit);
    tm_parser parser;

    if (timed)
        back = l->p;
    if (!unit)
        unit = timed ? unit_of(tm_word(l)) : lone_unit(l, first);
    else
        l->p = back;
    if (timed && !unit) {
        l->p = back;
        if (own_scale(l))
            back = l->p;
    }
    if (unit) {
        l->row.unit = (uint8_t)(timed ? l->row.unit | unit : unit);
        l->row.has |= TROD_COL_UNIT;
    } else {
        l->p = back;
        if (timed && l->row.unit)
            l->row.has |= TROD_COL_UNIT; /* of the decimals */
    }
    parser = source_and_type(l, type);
    l->sure =
        timed || unit || l->scale.n || strong(*type) || (tm_is(*type, "R") && register_like(l));
    if (l->source.n && !cpu_like(l->source))
        l->sure = false;
    if (timed && tm_is_decimal(first) && !l->late)
        l->head = (struct tm_word){first.p + first.n, (size_t)(type->p - first.p) - first.n};
    return parser;
}

/* The head of the last line, with another time; NULL if the line has another head. */
static tm_parser head_again(struct tm_line *l, struct tm_word *type)
{
    const struct tm_head *h = &l->d->heads[l->d->head];
    const uint8_t *p = l->start, *from;
    uint64_t v = 0;
    tm_parser parser;

    while (p < l->e && tm_is_blank(*p))
        p++;
    for (from = p; p < l->e && tm_is_digit(*p) && p - from < 16; p++)
        v = v * 10 + (uint64_t)(*p - '0');
    if (p == from || !h->len || (size_t)(l->e - p) <= h->len || memcmp(p, h->text, h->len) != 0 ||
        tm_is_blank(p[h->len]))
        return NULL;
    l->p = p + h->len;
    *type = tm_word(l);
    parser = tm_parser_of(*type, l->e);
    if (!parser) {
        l->p = l->start;
        return NULL;
    }
    l->row.time = v;
    l->row.unit = h->unit;
    l->row.has |= h->has & (TROD_COL_TIME | TROD_COL_UNIT);
    l->head = (struct tm_word){p, h->len};
    l->source = (struct tm_word){p + h->source, h->source_len};
    l->sure = h->sure;
    return parser;
}

/* Time, unit, source and type word of L. Returns the parser for what follows, or NULL. */
tm_parser tm_line_head(struct tm_line *l, struct tm_word *type)
{
    tm_parser again = head_again(l, type);

    return again ? again : whole_head(l, type);
}
