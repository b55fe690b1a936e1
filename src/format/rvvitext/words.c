/*
 * words.c - RVVI-TEXT taken apart into words.
 *
 * Implements the words of rvvitext.h; docs/formats/rvvitext.md.
 */
#include "format/rvvitext/rvvitext.h"

enum { KEY_MAX = 7 };

enum ln_result rvvi_space(struct ln_line *l)
{
    const uint8_t *const e = l->e;
    const uint8_t *p = l->p, *q;

    for (; p < e; p++) {
        if (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
            continue;
        if (*p == '\'') {
            for (q = p + 1; q < e && *q != '\'' && *q != '\n';)
                q++;
            if (q == e || *q == '\n') {
                l->p = p;
                ln_bad(l, "comment has no end in its line");
                l->p = q;
                return LN_BAD;
            }
            p = q;
        } else if (*p == '\\') {
            for (q = p + 1; q < e && (*q == ' ' || *q == '\t' || *q == '\r');)
                q++;
            if (q == e || (*q == '\n' && q + 1 == e && l->next == e)) {
                l->p = p;
                ln_bad(l, "event goes on in the next line, and there is none");
                l->p = e;
                return LN_BAD;
            }
            if (*q != '\n')
                break;
            p = q;
        } else {
            break;
        }
    }
    l->p = p;
    return LN_OK;
}

static enum rvvi_key key_of(uint64_t word)
{
    switch (word) {
    case RVVI_1('X'):
        return RVVI_X;
    case RVVI_1('F'):
        return RVVI_F;
    case RVVI_1('V'):
        return RVVI_V;
    case RVVI_1('C'):
        return RVVI_C;
    case RVVI_2('D', 'M'):
        return RVVI_DM;
    case RVVI_3('R', 'E', 'T'):
        return RVVI_RET;
    case RVVI_3('M', 'E', 'M'):
        return RVVI_MEM;
    case RVVI_3('N', 'E', 'T'):
        return RVVI_NET;
    case RVVI_4('T', 'R', 'A', 'P'):
        return RVVI_TRAP;
    case RVVI_4('H', 'A', 'R', 'T'):
        return RVVI_HART;
    case RVVI_4('M', 'O', 'D', 'E'):
        return RVVI_MODE;
    case RVVI_4('V', 'I', 'R', 'T'):
        return RVVI_VIRT;
    case RVVI_4('T', 'I', 'M', 'E'):
        return RVVI_TIME;
    case RVVI_4('M', 'E', 'T', 'A'):
        return RVVI_META;
    case RVVI_5('C', 'Y', 'C', 'L', 'E'):
        return RVVI_CYCLE;
    case RVVI_5('I', 'S', 'S', 'U', 'E'):
        return RVVI_ISSUE;
    case RVVI_5('O', 'R', 'D', 'E', 'R'):
        return RVVI_ORDER;
    case RVVI_5('S', 'T', 'A', 'T', 'E'):
        return RVVI_STATE;
    case RVVI_5('V', 'E', 'N', 'D', 'O') << 8 | 'R':
        return RVVI_VENDOR;
    case RVVI_5('P', 'A', 'R', 'A', 'M') << 8 | 'S':
        return RVVI_PARAMS;
    case RVVI_5('V', 'E', 'R', 'S', 'I') << 16 | 'O' << 8 | 'N':
        return RVVI_VERSION;
    default:
        return RVVI_NONE;
    }
}

enum rvvi_key rvvi_key_at(struct ln_line *l)
{
    const uint8_t *const from = l->p;
    uint64_t word = 0;
    enum rvvi_key key;

    for (; !rvvi_ends(l) && l->p - from <= KEY_MAX; l->p++) {
        const uint8_t c = *l->p & 0xdf; /* upper case */

        if (c < 'A' || c > 'Z')
            break;
        word = word << 8 | c;
    }
    key = rvvi_ends(l) && l->p - from <= KEY_MAX ? key_of(word) : RVVI_NONE;
    if (key == RVVI_NONE)
        l->p = from;
    return key;
}

enum ln_result rvvi_word(struct ln_line *l)
{
    const uint8_t *p = l->p;

    if (p == l->e)
        return ln_bad(l, "element is not complete");
    if (*p == '"') {
        for (p++; p < l->e && *p != '"' && *p != '\n';)
            p++;
        if (p == l->e || *p == '\n')
            return ln_bad(l, "name has no closing quotation mark in its line");
        l->p = p + 1;
        return LN_OK;
    }
    do {
        l->p++; /* a backslash that joins no lines is part of a word */
    } while (l->p<l->e && * l->p> ' ' && *l->p != '\'' && *l->p != '\\');
    return LN_OK;
}

enum ln_result rvvi_words(struct ln_line *l, uint64_t n)
{
    enum ln_result rc = LN_OK;

    for (; n > 0 && rc == LN_OK; n--) {
        rc = rvvi_space(l);
        if (rc == LN_OK)
            rc = rvvi_word(l);
    }
    return rc;
}

enum ln_result rvvi_dec(struct ln_line *l, uint64_t *out, const char *why)
{
    const uint8_t *from;
    enum ln_result rc = rvvi_space(l);

    if (rc != LN_OK)
        return rc;
    from = l->p;
    if (ln_dec(l, out) && rvvi_ends(l))
        return LN_OK;
    l->p = from;
    return ln_bad(l, why);
}

enum ln_result rvvi_hex(struct ln_line *l, uint64_t *out, unsigned *digits, const char *why)
{
    const uint8_t *from;
    enum ln_result rc = rvvi_space(l);

    if (rc != LN_OK)
        return rc;
    from = l->p;
    if ((ln_0x(l, out, digits) || ln_hex(l, out, digits)) && rvvi_ends(l))
        return LN_OK;
    l->p = from;
    return ln_bad(l, why);
}

void rvvi_to_key(struct ln_line *l)
{
    while (l->p < l->e) {
        const uint8_t *from;

        if (rvvi_space(l) != LN_OK)
            continue;
        from = l->p;
        if (from == l->e)
            break;
        if (rvvi_key_at(l) != RVVI_NONE) {
            l->p = from;
            break;
        }
        if (rvvi_word(l) != LN_OK)
            l->p++;
    }
}
