/*
 * enc_copy.c - which records may be copied as they were.
 *
 * Implements copies of format.h. A line without a time or a cpu has those of the line before it,
 * and one that only goes on with a picture needs that picture. Where lines are left out, or others
 * come between, such a line is copied only if it is read in the output as it was in its trace.
 */
#include "format/tarmac/encode.h"
#include "format/tarmac/scan.h"

enum { POOL = 1 << 14 };

/* Is access I of a line that goes on with the picture of the line before it? */
static bool goes_on(const struct trod_batch *b, uint32_t i)
{
    const struct trod_detail_mem *d = NULL;

    if (b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE)
        d = trod_batch_detail(b, i);
    return d && d->style == TROD_MEM_PICTURE_CONT;
}

/* Blanks that the record of row I begins with. */
static uint32_t indent(const struct trod_batch *b, uint32_t i)
{
    const uint8_t *p = trod_batch_bytes(b, b->raw[i]);
    uint32_t n = 0;

    while (n < b->raw[i].len && tm_is_blank(p[n]))
        n++;
    return n;
}

/* Is the record of row I a line that goes on with a picture that the output does not end with? */
static bool without_picture(const struct tm_enc *e, const struct trod_batch *b, uint32_t from,
                            uint32_t i)
{
    if (!goes_on(b, i))
        return false;
    if (i == from)
        return e->picture != b->kind[i] || e->picture_column != indent(b, i);
    return b->kind[i - 1] != b->kind[i] || !tm_pictured(e, b, i - 1);
}

/*
 * The record of row I, whose last row is LAST, ends what is copied: what a further line of its
 * picture needs.
 */
static void keep_picture(struct tm_enc *e, const struct trod_batch *b, uint32_t i, uint32_t last)
{
    const uint8_t *p = trod_batch_bytes(b, b->raw[i]), *end = p + b->raw[i].len;
    uint64_t memory[POOL / 8];
    struct trod_meta meta = {0};
    struct trod_batch scratch = {.pool = (uint8_t *)memory, .pool_cap = sizeof memory};
    struct tm_dec d;
    struct tm_row rows[TM_ROWS_MAX];
    struct tm_line l = {.base = p, .d = &d, .b = &scratch, .rows = rows};

    e->picture = 0;
    if ((b->kind[last] != TROD_READ && b->kind[last] != TROD_WRITE) || !tm_pictured(e, b, last))
        return;
    if (goes_on(b, i)) {
        e->picture = b->kind[i];
        e->picture_column = indent(b, i);
        return;
    }
    while (end > p && (end[-1] == '\n' || end[-1] == '\r'))
        end--;
    tm_dec_general(&d);
    d.flavour = e->flavour;
    d.meta = &meta;
    if (tm_parse_line(&l, p, end, p + b->raw[i].len) == TM_OK) {
        e->picture = l.picture;
        e->picture_column = l.picture_column;
    }
    trod_meta_fini(&meta);
}

enum {
    BLOCK = 16, /* rows that are looked at at once */
    LEANS = TROD_F_TIME_BEFORE | TROD_F_STREAM_BEFORE | TROD_F_CONT,
    PLAIN = TROD_COL_TIME | TROD_COL_STREAM | TROD_COL_FLAGS
};

/*
 * The first of rows [FROM, END) that is no record by itself with a time and a cpu of its own: such
 * records are copied whatever comes before them, and the last one says what a reader knows.
 */
static uint32_t plain_end(const struct trod_batch *b, uint32_t from, uint32_t end)
{
    const uint32_t *has = b->has, *flags = b->flags;
    uint32_t i = from, all = b->have, any = 0;

    while (end - i >= BLOCK && (all & PLAIN) == PLAIN && !(any & LEANS)) {
        for (uint32_t k = 0; k < BLOCK; k++) {
            all &= has[i + k];
            any |= flags[i + k];
        }
        i += BLOCK;
    }
    if ((all & PLAIN) != PLAIN || any & LEANS)
        i -= i > from ? BLOCK : 0;
    while (i < end && (b->have & has[i] & PLAIN) == PLAIN && !(flags[i] & LEANS))
        i++;
    return i;
}

/*
 * May row I, the first of its record, be copied? If so, E knows then what a reader knows behind it.
 */
static inline bool copied(struct tm_enc *e, const struct trod_batch *b, uint32_t from, uint32_t i)
{
    const uint32_t has = b->has[i] & b->have, flags = has & TROD_COL_FLAGS ? b->flags[i] : 0;
    const uint8_t unit = has & TROD_COL_UNIT ? b->unit[i] : (uint8_t)TROD_UNIT_NONE;
    struct tm_put o = {.e = e, .b = b};

    if (flags & TROD_F_TIME_BEFORE && !tm_knows_time(e, b->time[i], unit))
        return false;
    if (flags & TROD_F_STREAM_BEFORE && !tm_knows_stream(e, b->stream[i]))
        return false;
    if (without_picture(e, b, from, i))
        return false;
    e->lines++;
    if (flags & TROD_F_TIME_BEFORE && (flags & TROD_F_STREAM_BEFORE || !(has & TROD_COL_STREAM)))
        return true;
    o.row = i;
    o.has = has;
    o.flags = flags;
    tm_follow(&o);
    return true;
}

uint32_t tm_copies(void *enc, const struct trod_batch *b, uint32_t from, uint32_t n)
{
    struct tm_enc *e = enc;
    const uint32_t end = from + n;
    uint32_t i = from, record = from;

    while (i < end) {
        const uint32_t plain = e->sourced ? plain_end(b, i, end) : i;

        if (!copied(e, b, from, plain > i ? plain - 1 : i))
            break;
        record = plain > i ? plain - 1 : i;
        i = record + 1;
        while (i < end && (b->flags[i] & TROD_F_CONT))
            i++;
    }
    if (i > from && i == b->n)
        keep_picture(e, b, record, i - 1);
    else if (i > from)
        e->picture = 0; /* a line that goes on with it would have been copied, too */
    return i - from;
}
