/*
 * line.c - the cursor over a line: words, numbers, addresses, brackets.
 *
 * Implements docs/formats/tarmac.md, "Lines". Everything tolerant is here and in value.c and
 * head.c; the parsers of single record kinds only say in which order things come.
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

/* clang-format off */
const uint8_t tm_hex_table[256] = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
       0,    1,    2,    3,    4,    5,    6,    7,    8,    9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff,   10,   11,   12,   13,   14,   15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff,   10,   11,   12,   13,   14,   15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
};

#define BYTES_8(x)  x, x, x, x, x, x, x, x
#define BYTES_32(x) {BYTES_8(x), BYTES_8(x), BYTES_8(x), BYTES_8(x)}

const struct tm_equal_bytes tm_bytes = {
    .zero = BYTES_32('0'),
    .letter = BYTES_32('a'),
    .last = BYTES_32('9'),
    .line = BYTES_32('\n'),
    .blank = BYTES_32(' '),
    .n5 = BYTES_32(5),
    .n9 = BYTES_32(9),
    .n10 = BYTES_32(10),
    .n15 = BYTES_32(15),
    .pairs = {16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1,
              16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1, 16, 1},
    .dot = BYTES_32('.'),
    .odd = {'`', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '.', '/',
            '`', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '.', '/'},
    .ten = BYTES_32('a' - 10),
    .tens = {10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1},
    .hundreds = {100, 0, 1, 0, 100, 0, 1, 0, 100, 0, 1, 0, 100, 0, 1, 0},
    .myriads = {16, 39, 1, 0, 16, 39, 1, 0, 16, 39, 1, 0, 16, 39, 1, 0}, /* 16 + 39 * 256 */
};
/* clang-format on */

/* Report: the line cannot be understood at CARET because WHY (lower case, no full stop). */
int tm_bad(struct tm_line *l, enum tm_problem what, const uint8_t *caret, const char *why)
{
    l->what = what;
    l->caret = caret;
    l->why = why;
    return TM_BAD;
}

/* Report: the line is understood, but at CARET it is not as it should be because WHY. */
void tm_warn(struct tm_line *l, enum tm_problem what, const uint8_t *caret, const char *why)
{
    l->warning.what = what;
    l->warning.caret = caret;
    l->warning.why = why;
}

/*
 * All that is left of the line, without blanks around it. Carriage returns at its end are part of
 * the line's end, blanks between them or not.
 */
struct tm_word tm_rest(struct tm_line *l)
{
    struct tm_word w;

    tm_blanks(l);
    w.p = l->p;
    w.n = (size_t)(l->e - l->p);
    while (w.n && (tm_is_blank(w.p[w.n - 1]) || w.p[w.n - 1] == '\r'))
        w.n--;
    l->p = l->e;
    return w;
}

/* A record of fixed form ends here: another that was run together with it would be lost. */
int tm_end(struct tm_line *l)
{
    struct tm_word w = tm_word(l);

    return w.n ? tm_bad(l, TM_BAD_FIELD, w.p, "nothing is expected here") : TM_OK;
}

bool tm_is_hex(struct tm_word w)
{
    for (size_t i = 0; i < w.n; i++)
        if (tm_hex_table[w.p[i]] > 15)
            return false;
    return w.n > 0;
}

bool tm_is_decimal(struct tm_word w)
{
    for (size_t i = 0; i < w.n; i++)
        if (!tm_is_digit(w.p[i]))
            return false;
    return w.n > 0;
}

struct trod_slice tm_slice(const struct tm_line *l, struct tm_word w)
{
    return (struct trod_slice){w.n ? (uint32_t)(w.p - l->base) : 0, (uint32_t)w.n};
}

/* Zeroed room for the detail struct of ROW, SIZE bytes; NULL when the pool is full. */
void *tm_detail(struct tm_line *l, struct tm_row *row, uint32_t size)
{
    void *p = trod_batch_pool(l->b, size, &row->detail);

    if (!p)
        return NULL;
    row->has |= TROD_COL_DETAIL;
    return memset(p, 0, size);
}

/* W as a hex number of up to 64 bits; 0x may stand before it. */
int tm_hex(struct tm_line *l, struct tm_word w, uint64_t *out)
{
    uint64_t v = 0;

    if (w.n > 2 && w.p[0] == '0' && (w.p[1] | 0x20) == 'x') {
        w.p += 2;
        w.n -= 2;
    }
    if (w.n == 0)
        return tm_bad(l, TM_MISSING_FIELD, w.p, "a hexadecimal number is missing");
    for (size_t i = 0; i < w.n; i++) {
        uint8_t d = tm_hex_table[w.p[i]];

        if (d > 15)
            return tm_bad(l, TM_BAD_NUMBER, w.p + i, "not a hexadecimal digit");
        if (v >> 60)
            return tm_bad(l, TM_TOO_WIDE, w.p, "number is wider than 64 bits");
        v = v << 4 | d;
    }
    *out = v;
    return TM_OK;
}

/* The same, with '_' between the digits or without. */
int tm_hex_divided(struct tm_line *l, struct tm_word w, uint64_t *out)
{
    uint8_t digits[32];
    size_t n = 0;
    int rc;

    for (size_t i = 0; i < w.n && n < sizeof digits; i++)
        if (w.p[i] != '_' || i == 0 || i + 1 == w.n || w.p[i - 1] == '_')
            digits[n++] = w.p[i];
    if (n == w.n || n == sizeof digits)
        return tm_hex(l, w, out);
    if ((rc = tm_hex(l, (struct tm_word){digits, n}, out)) == TM_BAD)
        l->caret = w.p;
    return rc;
}

/* W as a decimal number of up to 64 bits. */
int tm_decimal_number(struct tm_line *l, struct tm_word w, uint64_t *out)
{
    uint64_t v = 0;

    if (w.n == 0)
        return tm_bad(l, TM_MISSING_FIELD, w.p, "a decimal number is missing");
    for (size_t i = 0; i < w.n; i++) {
        if (!tm_is_digit(w.p[i]))
            return tm_bad(l, TM_BAD_NUMBER, w.p + i, "not a decimal digit");
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(w.p[i] - '0'), &v))
            return tm_bad(l, TM_TOO_WIDE, w.p, "number is wider than 64 bits");
    }
    *out = v;
    return TM_OK;
}

/* Digits of a virtual address to be recorded: 0 where they are 8, or 16 because it needs them. */
uint8_t tm_vdigits(uint64_t v, unsigned digits)
{
    return digits == (v >> 32 ? 16u : 8u) ? 0 : (uint8_t)digits;
}

/* The same for a physical address, of 12 digits or 16. */
uint8_t tm_pdigits(uint64_t v, unsigned digits)
{
    return digits == (v >> 48 ? 16u : 12u) ? 0 : (uint8_t)digits;
}

/* A count of digits to be recorded: 0 where it is the USUAL one, never more than a number needs. */
uint8_t tm_digits(size_t n, unsigned usual)
{
    return n == usual ? 0 : n > 16 ? 16 : (uint8_t)n;
}

/* A hex number at *P (before E), up to 64 bits; how many digits goes to DIGITS. */
static int address_part(struct tm_line *l, const uint8_t **at, const uint8_t *e, uint64_t *out,
                        uint8_t *digits, bool *upper)
{
    const uint8_t *p = *at, *from;
    uint64_t v = 0, top = 0;
    bool caps = false;
    uint8_t d;

    if (e - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x')
        p += 2;
    for (from = p; p < e && (d = tm_hex_table[*p]) < 16; p++) {
        caps |= *p >= 'A' && *p <= 'F';
        top |= v >> 60;
        v = v << 4 | d;
    }
    *at = p;
    if (p == from)
        return tm_bad(l, p < e ? TM_BAD_NUMBER : TM_MISSING_FIELD, p,
                      p < e ? "not a hexadecimal digit" : "an address is missing");
    if (top)
        return tm_bad(l, TM_TOO_WIDE, from, "number is wider than 64 bits");
    *out = v;
    *upper |= caps;
    *digits = tm_digits((size_t)(p - from), 0);
    return TM_OK;
}

/* The security suffix at *P: _NS, _S, _RT, _RL or none. */
static int security(struct tm_line *l, const uint8_t **p, const uint8_t *e, uint8_t *sec)
{
    static const struct {
        const char *text;
        uint8_t sec;
    } names[] = {{"_NS", TROD_SEC_NONSECURE},
                 {"_S", TROD_SEC_SECURE},
                 {"_RT", TROD_SEC_ROOT},
                 {"_RL", TROD_SEC_REALM}};
    const uint8_t *q = *p;

    *sec = TROD_SEC_SECURE;
    if (q == e || *q != '_')
        return TM_OK;
    while (q < e && *q != ',' && *q != ':')
        q++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (tm_is((struct tm_word){*p, (size_t)(q - *p)}, names[i].text)) {
            *p = q;
            *sec = names[i].sec;
            return TM_OK;
        }
    return tm_bad(l, TM_BAD_FIELD, *p, "security of an address is none of _NS, _S, _RT and _RL");
}

/* W as the address of an instruction: the common definition and perhaps ,paddr2. */
int tm_fetch_address(struct tm_line *l, struct tm_word w, struct tm_addr *out)
{
    const uint8_t *p = w.p, *e = w.p + w.n;
    uint8_t digits2;
    int rc;

    memset(out, 0, sizeof *out);
    if ((rc = address_part(l, &p, e, &out->vaddr, &out->digits, &out->upper)) != TM_OK)
        return rc;
    if (p < e && *p == ':') {
        p++;
        if ((rc = address_part(l, &p, e, &out->paddr, &out->pdigits, &out->upper)) != TM_OK ||
            (rc = security(l, &p, e, &out->sec)) != TM_OK)
            return rc;
        out->has_paddr = true;
    }
    if (p < e && *p == ',') {
        p++;
        if ((rc = address_part(l, &p, e, &out->paddr2, &digits2, &out->upper)) != TM_OK ||
            (rc = security(l, &p, e, &out->sec2)) != TM_OK)
            return rc;
        out->has_paddr2 = true;
    }
    return p == e ? TM_OK : tm_bad(l, TM_BAD_NUMBER, p, "not a hexadecimal digit");
}

/* W as an address by the common definition. */
int tm_address(struct tm_line *l, struct tm_word w, struct tm_addr *out)
{
    int rc = tm_fetch_address(l, w, out);

    if (rc == TM_OK && out->has_paddr2)
        return tm_bad(l, TM_BAD_FIELD, memchr(w.p, ',', w.n),
                      "only instructions have a second physical address");
    return rc;
}

/* ADDR and PADDR of ROW as A says. */
void tm_address_row(struct tm_row *row, const struct tm_addr *a)
{
    row->addr = a->vaddr;
    row->has |= TROD_COL_ADDR;
    if (a->has_paddr) {
        row->paddr = a->paddr;
        row->has |= TROD_COL_PADDR;
        row->flags |= (uint32_t)a->sec << TROD_F_SEC_SHIFT;
    }
}

/* ( anything ): *IN is what stands between them, without blanks around it. */
int tm_bracket(struct tm_line *l, struct tm_word *in)
{
    const uint8_t *q;

    tm_blanks(l);
    if (l->p == l->e || *l->p != '(')
        return tm_bad(l, l->p == l->e ? TM_MISSING_FIELD : TM_BAD_FIELD, l->p, "'(' is missing");
    q = memchr(l->p, ')', (size_t)(l->e - l->p));
    if (!q)
        return tm_bad(l, TM_BAD_FIELD, l->e, "')' is missing");
    in->p = l->p + 1;
    while (in->p < q && tm_is_blank(*in->p))
        in->p++;
    in->n = (size_t)(q - in->p);
    while (in->n && tm_is_blank(in->p[in->n - 1]))
        in->n--;
    l->p = q + 1;
    return TM_OK;
}

struct tm_row *tm_begin(struct tm_line *l, uint8_t kind)
{
    struct tm_row *row = &l->rows[l->n_rows];

    *row = l->row;
    row->kind = kind;
    row->has |= TROD_COL_FLAGS;
    if (l->n_rows) {
        row->has &= ~(uint32_t)TROD_COL_RAW;
        row->flags |= TROD_F_CONT;
    }
    return row;
}

void tm_add(struct tm_line *l)
{
    l->n_rows++;
}

/* enum trod_iset of the word W (A, T, X, O, J, T16, T32), or -1. */
int tm_iset_letter(struct tm_word w, bool *wide)
{
    *wide = false;
    if (tm_is(w, "T16") || tm_is(w, "T32")) {
        *wide = true;
        return TROD_ISET_T32;
    }
    if (w.n != 1)
        return -1;
    switch (*w.p) {
    case 'A':
        return TROD_ISET_A32;
    case 'T':
        return TROD_ISET_T32;
    case 'X':
        return TROD_ISET_T32EE;
    case 'O':
        return TROD_ISET_A64;
    case 'J':
        return TROD_ISET_JAZELLE;
    default:
        return -1;
    }
}
