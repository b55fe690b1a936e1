/*
 * value.c - values of registers and memory: any width, separators, digits that are not known.
 *
 * Implements docs/formats/tarmac.md, "Values".
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

enum { CHAR_NONE, CHAR_DIGIT, CHAR_UNKNOWN, CHAR_SEPARATOR };

static int char_class(uint8_t c)
{
    if (tm_hex_table[c] < 16)
        return CHAR_DIGIT;
    switch (c) {
    case 'x':
    case 'X':
    case '-':
    case '.':
    case '?':
        return CHAR_UNKNOWN;
    case '_':
    case ':':
        return CHAR_SEPARATOR;
    default:
        return CHAR_NONE;
    }
}

/* Whether 0x at the head of W is a prefix, not the digit 0 and an unknown one. */
static bool has_prefix(struct tm_word w)
{
    if (w.n < 3 || w.p[0] != '0' || (w.p[1] != 'x' && w.p[1] != 'X'))
        return false;
    for (size_t i = 2; i < w.n; i++)
        if (w.p[i] == 'x' || w.p[i] == 'X')
            return false;
    return true;
}

/* Digits of W, or 0 if something else is in it or it begins or ends with a separator. */
static size_t count_digits(struct tm_word w, const uint8_t **fault)
{
    size_t n = 0;
    int class = CHAR_SEPARATOR;

    for (size_t i = 0; i < w.n; i++) {
        int before = class;

        class = char_class(w.p[i]);
        *fault = w.p + i;
        if (class == CHAR_NONE || (class == CHAR_SEPARATOR && before == class))
            return 0;
        n += class != CHAR_SEPARATOR;
    }
    *fault = w.p + w.n - (w.n > 0);
    return class == CHAR_SEPARATOR ? 0 : n;
}

/* Whether W could be a value. */
bool tm_is_value(struct tm_word w)
{
    const uint8_t *fault;

    if (has_prefix(w)) {
        w.p += 2;
        w.n -= 2;
    }
    return count_digits(w, &fault) > 0;
}

/* The separator of W and its distance from the end, where it is the same all through. */
static void grouping(struct tm_word w, struct tm_value *out)
{
    size_t run = 0, group = 0;

    for (size_t i = w.n; i-- > 0;) {
        if (char_class(w.p[i]) != CHAR_SEPARATOR) {
            run++;
            continue;
        }
        out->sep = w.p[i];
        if (!group)
            group = run;
        run = 0;
    }
    out->group = (uint8_t)(group > 255 ? 255 : group);
}

/* Put digit number I from the right of W into its place. */
static void put_digit(struct tm_value *v, uint8_t *data, uint8_t *mask, size_t i, uint8_t c)
{
    uint8_t d = tm_hex_table[c];

    if (d < 16) {
        v->upper |= c >= 'A' && c <= 'F';
        if (data)
            data[i / 2] = (uint8_t)(data[i / 2] | d << (i & 1) * 4);
        else
            v->v |= (uint64_t)d << i * 4;
    } else {
        v->unknown++;
        v->dashes += c == '-';
        if (!v->mark || c != '-')
            v->mark = c;
        if (mask)
            mask[i / 2] = (uint8_t)(mask[i / 2] | 0xf << (i & 1) * 4);
    }
}

static bool any_unknown(struct tm_word w)
{
    for (size_t i = 0; i < w.n; i++)
        if (char_class(w.p[i]) == CHAR_UNKNOWN)
            return true;
    return false;
}

/* The bits of the N digits of W that are dashes, where others are unknown, to OUT. */
static int unwritten(struct tm_line *l, struct tm_word w, uint32_t size, struct tm_value *out)
{
    uint8_t *p;
    size_t at = 0;

    if (out->dashes == 0 || out->dashes == out->unknown)
        return TM_OK;
    if (!(p = trod_batch_pool(l->b, size, &out->unwritten)))
        return TM_FULL;
    memset(p, 0, size);
    for (size_t i = w.n; i-- > 0;) {
        int class = char_class(w.p[i]);

        if (w.p[i] == '-')
            p[at / 2] = (uint8_t)(p[at / 2] | 0xf << (at & 1) * 4);
        at += class == CHAR_DIGIT || class == CHAR_UNKNOWN;
    }
    return TM_OK;
}

/* All digits of W (N of them; blanks between groups allowed) into OUT. */
static int digits(struct tm_line *l, struct tm_word w, size_t n, struct tm_value *out)
{
    uint32_t size = (uint32_t)((n + 1) / 2);
    uint8_t *data = NULL, *mask = NULL;
    size_t at = 0;

    out->digits = (uint32_t)n;
    if (n > 16) {
        if (!(data = trod_batch_pool(l->b, size, &out->data)))
            return TM_FULL;
        memset(data, 0, size);
    }
    if (any_unknown(w)) {
        if (!(mask = trod_batch_pool(l->b, size, &out->mask)))
            return TM_FULL;
        memset(mask, 0, size);
    }
    for (size_t i = w.n; i-- > 0;) {
        int class = char_class(w.p[i]);

        if (class == CHAR_DIGIT || class == CHAR_UNKNOWN)
            put_digit(out, data, mask, at++, w.p[i]);
    }
    return unwritten(l, w, size, out);
}

/* W is only hex digits, 16 at the most, and nothing of a value can follow: the usual case. */
static bool plain_value(struct tm_word w, struct tm_value *out)
{
    uint64_t v = 0;
    uint8_t caps = 0;

    if (w.n == 0 || w.n > 16)
        return false;
    for (size_t i = 0; i < w.n; i++) {
        uint8_t d = tm_hex_table[w.p[i]];

        if (d > 15)
            return false;
        caps |= w.p[i] >= 'A' && w.p[i] <= 'F';
        v = v << 4 | d;
    }
    out->v = v;
    out->digits = (uint32_t)w.n;
    out->upper = caps;
    return true;
}

/*
 * The value at the cursor. With JOINED, further words of as many digits, 8 or more, go on with it:
 * the highest comes first.
 */
int tm_value(struct tm_line *l, bool joined, struct tm_value *out)
{
    struct tm_word w = tm_word(l), all;
    const uint8_t *fault = w.p;
    size_t n, total;

    memset(out, 0, sizeof *out);
    if (w.n == 0)
        return tm_bad(l, TM_MISSING_FIELD, l->e, "a value is missing");
    if ((l->p == l->e || !joined) && plain_value(w, out))
        return TM_OK;
    if (has_prefix(w)) {
        out->prefix = 1;
        w.p += 2;
        w.n -= 2;
    }
    n = total = count_digits(w, &fault);
    if (n == 0)
        return tm_bad(l, TM_BAD_NUMBER, fault, "not a digit of a value");
    all = w;
    grouping(w, out);
    while (joined && n >= 8) {
        const uint8_t *back = l->p;
        struct tm_word more = tm_word(l);

        if (more.n != w.n || count_digits(more, &fault) != n) {
            l->p = back;
            break;
        }
        all.n = (size_t)(more.p + more.n - all.p);
        total += n;
    }
    if (total > n) {
        out->sep = ' ';
        out->group = (uint8_t)(n > 255 ? 255 : n);
    }
    return digits(l, all, total, out);
}

/*
 * How V was written, beyond what is usual: two digits a byte of SIZE bytes, lower case, divided
 * into groups of 8 digits by '_' if DIVIDED and there are more than 8.
 */
void tm_number_style(struct trod_detail_number *n, const struct tm_value *v, uint32_t size,
                     bool divided)
{
    uint8_t usual = divided && v->digits > 8 ? '_' : 0;

    n->digits = v->digits == (uint64_t)size * 2 ? 0 : v->digits;
    if (v->sep != usual)
        n->sep = v->sep ? v->sep : '0';
    if (v->sep && v->group != 8)
        n->group = v->group;
    n->upper = v->upper;
    n->unknown = v->mark == '-' ? 0 : v->mark;
    n->prefix = v->prefix;
}

/* Whether there is nothing to say about how a number was written. */
bool tm_plain_number(const struct trod_detail_number *n)
{
    static const struct trod_detail_number plain;

    return memcmp(n, &plain, sizeof plain) == 0;
}
