/*
 * picture.c - memory accesses as pictures of 16 bytes: LD and ST lines of the ES family.
 *
 * Implements docs/formats/tarmac.md, "Pictures". The rightmost pair of characters is the byte at
 * the base address. Each run of accessed bytes, cut where an address is a multiple of 8, is a row.
 */
#include "format/tarmac/scan.h"
#include "format/tarmac/tarmac.h"

enum { PICTURE_BYTES = 16, BYTE_NONE = 0, BYTE_KNOWN = 1, BYTE_UNKNOWN = 2 };

struct picture {
    uint8_t byte[PICTURE_BYTES], state[PICTURE_BYTES]; /* by address */
    uint64_t base, paddr;
    uint8_t base_digits, paddr_digits, sec_prefix, sec;
    bool has_paddr, upper;
    struct tm_word attrs;
};

/* The 32 characters in whatever groups of pairs. */
static int picture_bytes(struct tm_line *l, struct picture *pic)
{
    unsigned at = PICTURE_BYTES;

    while (at > 0) {
        struct tm_word w = tm_word(l);

        if (w.n == 0)
            return tm_bad(l, TM_MISSING_FIELD, l->e, "a picture has fewer than 16 bytes");
        if (w.n % 2 || w.n / 2 > at)
            return tm_bad(l, TM_BAD_FIELD, w.p, "not a group of whole bytes of a picture");
        for (size_t i = 0; i < w.n; i += 2) {
            uint8_t hi = tm_hex_table[w.p[i]], lo = tm_hex_table[w.p[i + 1]];

            at--;
            pic->state[at] = BYTE_NONE;
            if (hi < 16 && lo < 16) {
                pic->byte[at] = (uint8_t)(hi << 4 | lo);
                pic->state[at] = BYTE_KNOWN;
                pic->upper |=
                    (w.p[i] >= 'A' && w.p[i] <= 'F') || (w.p[i + 1] >= 'A' && w.p[i + 1] <= 'F');
            } else if (w.p[i] == '#' && w.p[i + 1] == '#') {
                pic->state[at] = BYTE_UNKNOWN;
            } else if (w.p[i] != '.' || w.p[i + 1] != '.') {
                return tm_bad(l, TM_BAD_NUMBER, w.p + i, "not a byte of a picture");
            }
        }
    }
    return TM_OK;
}

/* [S:|NS:]PADDR and attributes. */
static int picture_tail(struct tm_line *l, struct picture *pic)
{
    const uint8_t *back;
    struct tm_word w;
    struct tm_addr a;
    int rc;

    tm_blanks(l);
    back = l->p;
    w = tm_word(l);
    if (w.n > 2 && w.p[0] == 'S' && w.p[1] == ':') {
        pic->sec_prefix = 1;
        pic->sec = TROD_SEC_SECURE;
    } else if (w.n > 3 && memcmp(w.p, "NS:", 3) == 0) {
        pic->sec_prefix = 2;
        pic->sec = TROD_SEC_NONSECURE;
    } else if (!tm_is_hex(w) || w.n < 4) {
        l->p = back;
        pic->attrs = tm_rest(l);
        return TM_OK;
    }
    w.p += pic->sec_prefix ? pic->sec_prefix + 1 : 0;
    w.n -= pic->sec_prefix ? pic->sec_prefix + 1u : 0;
    if ((rc = tm_address(l, w, &a)) != TM_OK)
        return rc;
    pic->paddr = a.vaddr;
    pic->paddr_digits = a.digits;
    pic->upper |= a.upper;
    pic->has_paddr = true;
    pic->attrs = tm_rest(l);
    return TM_OK;
}

/* Bytes [FROM, TO) of PIC become a row. */
static int run(struct tm_line *l, const struct picture *pic, uint8_t kind, uint8_t style,
               unsigned from, unsigned to)
{
    struct tm_row *row = tm_begin(l, kind);
    struct trod_detail_mem *d = tm_detail(l, row, sizeof *d);
    unsigned unknown = 0;
    uint8_t *mask;

    if (!d)
        return TM_FULL;
    row->addr = pic->base + from;
    row->size = to - from;
    row->has |= TROD_COL_ADDR | TROD_COL_SIZE;
    if (pic->has_paddr) {
        row->paddr = pic->paddr + from;
        row->has |= TROD_COL_PADDR;
        row->flags |= (uint32_t)pic->sec << TROD_F_SEC_SHIFT;
    }
    for (unsigned i = from; i < to; i++) {
        unknown += pic->state[i] == BYTE_UNKNOWN;
        row->value |= (uint64_t)pic->byte[i] << (i - from) * 8;
    }
    if (unknown && unknown < to - from) {
        if (!(mask = trod_batch_pool(l->b, to - from, &d->mask)))
            return TM_FULL;
        for (unsigned i = from; i < to; i++)
            mask[i - from] = pic->state[i] == BYTE_UNKNOWN ? 0xff : 0;
    }
    if (unknown)
        row->flags |= TROD_F_UNKNOWN;
    if (unknown < to - from)
        row->has |= TROD_COL_VALUE;
    d->style = style;
    d->base = pic->base;
    d->note = tm_slice(l, pic->attrs);
    d->addr_digits = pic->base_digits;
    d->paddr_digits = pic->paddr_digits;
    d->sec_prefix = pic->sec_prefix;
    d->num.upper = pic->upper;
    tm_add(l);
    return TM_OK;
}

/* Base, bytes and the rest; the cursor stands before the base. */
static int picture(struct tm_line *l, uint8_t kind, uint8_t style)
{
    struct picture pic;
    struct tm_word w = tm_word(l);
    struct tm_addr a;
    unsigned from = 0, rows = 0;
    int rc;

    memset(&pic, 0, sizeof pic);
    if ((rc = tm_address(l, w, &a)) != TM_OK)
        return rc;
    if (a.has_paddr)
        return tm_bad(l, TM_BAD_FIELD, w.p, "base of a picture is not one number");
    pic.base = a.vaddr;
    pic.base_digits = a.digits;
    pic.upper = a.upper;
    if ((rc = picture_bytes(l, &pic)) != TM_OK || (rc = picture_tail(l, &pic)) != TM_OK)
        return rc;
    l->picture = kind;
    l->picture_column = (uint32_t)(w.p - l->start);
    while (from < PICTURE_BYTES) {
        unsigned to = from + 1;

        if (pic.state[from] == BYTE_NONE) {
            from++;
            continue;
        }
        while (to < PICTURE_BYTES && pic.state[to] != BYTE_NONE && (pic.base + to) % 8 != 0)
            to++;
        if ((rc = run(l, &pic, kind, style, from, to)) != TM_OK)
            return rc;
        rows++;
        from = to;
    }
    return rows ? TM_OK : run(l, &pic, kind, style, 0, 0);
}

int tm_parse_picture(struct tm_line *l, struct tm_word type)
{
    return picture(l, tm_is(type, "LD") ? TROD_READ : TROD_WRITE, TROD_MEM_PICTURE);
}

/* A line that only has the address, in the column of the picture before, and what follows it. */
int tm_parse_continuation(struct tm_line *l)
{
    int rc;

    l->sure = true;
    rc = picture(l, l->d->picture, TROD_MEM_PICTURE_CONT);
    return rc == TM_BAD ? TM_OTHER : rc;
}
