/*
 * put.c - numbers and strings into memory.
 *
 * Implements docs/design.md, rule 7 (one way for numbers to leave), RFC 8259 and RFC 4180 for
 * strings in JSON and CSV.
 */
#include <string.h>

#include "trod/put.h"

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";
static const char hex[] = "0123456789abcdef";

unsigned trod_digits(uint64_t v)
{
    unsigned n = 1;

    for (; v >= 10000; v /= 10000)
        n += 4;
    return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

unsigned trod_hex_digits(uint64_t v)
{
    return v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
}

/* V in the N digits that end at END. */
static void digits_before(char *end, uint64_t v)
{
    while (v >= 100) {
        memcpy(end -= 2, pairs + 2 * (v % 100), 2);
        v /= 100;
    }
    if (v >= 10)
        memcpy(end - 2, pairs + 2 * v, 2);
    else
        end[-1] = (char)('0' + v);
}

char *trod_put_u64(char *p, uint64_t v)
{
    p += trod_digits(v);
    digits_before(p, v);
    return p;
}

char *trod_put_right(char *p, uint64_t v, unsigned width)
{
    unsigned n = trod_digits(v);

    for (; width > n; width--)
        *p++ = ' ';
    digits_before(p + n, v);
    return p + n;
}

char *trod_put_hex(char *p, uint64_t v, unsigned digits)
{
    unsigned n = trod_hex_digits(v);

    if (n < digits)
        n = digits;
    for (unsigned i = n; i-- > 0; v >>= 4)
        p[i] = hex[v & 15];
    return p + n;
}

char *trod_put_bytes(char *p, const uint8_t *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        *p++ = hex[s[i] >> 4];
        *p++ = hex[s[i] & 15];
    }
    return p;
}

char *trod_put_bytes_reversed(char *p, const uint8_t *s, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        *p++ = hex[s[i] >> 4];
        *p++ = hex[s[i] & 15];
    }
    return p;
}

char *trod_put_fixed(char *p, uint64_t v, unsigned decimals)
{
    uint64_t scale = 1;

    if (decimals == 0)
        return trod_put_u64(p, v);
    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    p = trod_put_u64(p, v / scale);
    *p++ = '.';
    v %= scale;
    for (unsigned i = decimals; i-- > 0; v /= 10)
        p[i] = (char)('0' + v % 10);
    return p + decimals;
}

size_t trod_utf8_len(const uint8_t *s, size_t n)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t c;
    size_t len;

    if (n == 0 || s[0] < 0x20 || s[0] == 0x7f)
        return 0;
    if (s[0] < 0x80)
        return 1;
    len = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n < len)
        return 0;
    c = s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    /* overlong forms, surrogates, beyond Unicode */
    if (c < least[len] || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
        return 0;
    return len;
}

char *trod_put_json(char *p, const void *text, size_t n)
{
    static const char names[] = "btn\0fr"; /* \b to \r */
    const uint8_t *s = text;

    for (size_t i = 0, len; i < n; i += len) {
        len = s[i] >= 0x20 && s[i] < 0x7f ? 1 : trod_utf8_len(s + i, n - i);
        if (len == 1 && s[i] != '"' && s[i] != '\\') {
            *p++ = (char)s[i];
        } else if (len > 1) {
            memcpy(p, s + i, len);
            p += len;
        } else {
            len = 1;
            *p++ = '\\';
            if (s[i] == '"' || s[i] == '\\') {
                *p++ = (char)s[i];
            } else if (s[i] >= 8 && s[i] <= 13 && s[i] != 11) {
                *p++ = names[s[i] - 8];
            } else {
                memcpy(p, "u00", 3);
                p = trod_put_bytes(p + 3, s + i, 1);
            }
        }
    }
    return p;
}

char *trod_put_csv(char *p, const void *text, size_t n)
{
    const char *s = text;
    bool quote = false;

    for (size_t i = 0; i < n; i++)
        quote |= s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r';
    quote |= n > 0 && (s[0] == ' ' || s[n - 1] == ' ');
    if (!quote) {
        memcpy(p, s, n);
        return p + n;
    }
    *p++ = '"';
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"')
            *p++ = '"';
        *p++ = s[i];
    }
    *p++ = '"';
    return p;
}

char *trod_put_visible(char *p, const void *text, size_t n)
{
    const uint8_t *s = text;

    for (size_t i = 0, len; i < n; i += len) {
        if (s[i] >= 0x20 && s[i] < 0x7f) {
            *p++ = (char)s[i];
            len = 1;
            continue;
        }
        len = trod_utf8_len(s + i, n - i);
        if (len == 2 && s[i] == 0xc2 && s[i + 1] < 0xa0)
            len = 0; /* a C1 control: terminals obey them */
        if (len > 0) {
            memcpy(p, s + i, len);
            p += len;
        } else if (s[i] == '\t') {
            *p++ = ' ';
            len = 1;
        } else {
            *p++ = '\\';
            *p++ = 'x';
            p = trod_put_bytes(p, s + i, 1);
            len = 1;
        }
    }
    return p;
}
