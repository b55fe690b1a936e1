/*
 * byu.c - rules of BYU address traces.
 *
 * Implements the "byu." rules (Address Trace Specification V1.0; BYU Address Trace Format v1.1).
 */
#include "check/parts.h"
#include "trod/detail.h"

#include <inttypes.h>

enum { BURST = 4, LINE = 32 };

struct byu6 {
    unsigned burst; /* writebacks of the line so far */
    uint64_t line;
    /* The last of them, where its batch is gone. */
    struct chk_at last;
    bool wanted; /* findings there count */
};

/* Control codes (upper nibble) that have a meaning. */
static bool known6(unsigned code)
{
    return (0xf3aa >> code & 1) != 0;
}

/* The burst ended with the last row of B before I, or with that which S holds (b NULL). */
static void end_burst(struct chk *c, struct byu6 *s, const struct trod_batch *b, uint32_t i)
{
    static const char text[] = "writeback of line 0x%" PRIx64 " has %u words of 8 bytes";

    if (s->burst % BURST && b)
        chk_report(c, CHK_BYU_WRITEBACK, b, i - 1, text, s->line, s->burst);
    else if (s->burst % BURST && s->wanted)
        chk_report_at(c, CHK_BYU_WRITEBACK, &s->last, text, s->line, s->burst);
    s->burst = 0;
}

/* FIRST: the row before I was of another batch. */
static void writeback(struct chk *c, struct byu6 *s, const struct trod_batch *b, uint32_t i,
                      bool first)
{
    uint64_t line = b->paddr[i] & ~(uint64_t)(LINE - 1);

    if (s->burst && (line != s->line || s->burst == BURST))
        end_burst(c, s, first ? NULL : b, i);
    s->line = line;
    s->burst++;
    if (b->size[i] != 8)
        chk_report(c, CHK_BYU_WRITEBACK, b, i, "writeback of %" PRIu32 " bytes", b->size[i]);
}

static int rows6(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct byu6 *s = st;

    for (uint32_t i = from; i < to; i++) {
        const uint8_t *detail = trod_batch_detail(b, i);
        unsigned code = b->sub[i], enables = detail ? detail[4] : 0;
        unsigned control = detail ? detail[5] : 0, low = detail ? detail[3] & 7 : 0;

        if (!known6(code))
            chk_report(c, CHK_BYU_CODE, b, i, "control code %u is invalid", code);
        if (control & 0xf)
            chk_report(c, CHK_BYU_NIBBLE, b, i, "control byte is 0x%02x", control);
        if (low)
            chk_report(c, CHK_BYU_ALIGN, b, i, "address is no multiple of 8: its low bits are %u",
                       low);
        if (detail && enables == 0xff && code >= 5)
            chk_report(c, CHK_BYU_ENABLES, b, i, "no byte is requested");
        if (code == 14)
            writeback(c, s, b, i, i == from);
        else if (s->burst)
            end_burst(c, s, i == from ? NULL : b, i);
    }
    if (s->burst && to > from) {
        s->last = chk_place(c, b, to - 1);
        s->wanted = chk_wanted(c, to - 1);
    }
    return TROD_OK;
}

static void end6(struct chk *c, void *st)
{
    struct byu6 *s = st;

    s->wanted = true; /* what only the end shows belongs to no row */
    end_burst(c, s, NULL, 0);
}

static void seam6(void *seam, void *st)
{
    *(struct byu6 *)seam = *(struct byu6 *)st;
}

/* A writeback that began before the rows that lead to the seam would be one without an end. */
static bool join6(struct chk *c, void *into, const void *seam, void *from)
{
    const struct byu6 *s = seam;
    struct byu6 *t = into;

    if (t->burst != s->burst || (t->burst && t->line != s->line))
        return false;
    *t = *(struct byu6 *)from;
    t->last.ordinal += c->rows; /* it was counted from the beginning of the part */
    return true;
}

const struct chk_family chk_byu6 = {
    .families = TROD_RULE_BYU6,
    .stream_size = sizeof(struct byu6),
    .rows = rows6,
    .end = end6,
    .seam = seam6,
    .join = join6,
};

/* The ticks of the twelve bytes R of a record are those of a first one. */
static bool no_time(const uint8_t *r)
{
    return r && r[8] == 0xff && r[9] == 0xff && r[10] == 0xff && r[11] == 0xff;
}

static bool known12(unsigned type)
{
    return type <= 3 || type == 0x10 || type == 0x11 || (type >= 0x20 && type <= 0x23) ||
           (type >= 0x31 && type <= 0x37);
}

static int rows12(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const bool file_begins = !c->part && !c->at;

    (void)st;
    for (uint32_t i = from; i < to; i++) {
        uint32_t size = b->size[i];

        if (!known12(b->sub[i]))
            chk_report(c, CHK_BYU_CODE, b, i, "request type 0x%02x is reserved", b->sub[i]);
        if (size > 8 && size != 16 && size != 32)
            chk_report(c, CHK_BYU_SIZE, b, i, "transfer of %" PRIu32 " bytes", size);
        else if (size && size <= 8 && (b->paddr[i] & 7) + size > 8)
            chk_report(c, CHK_BYU_CROSSING, b, i,
                       "transfer of %" PRIu32 " bytes at 0x%" PRIx64 " crosses a word of 8", size,
                       b->paddr[i]);
        if (!(file_begins && b->first + i == c->base) && no_time(trod_batch_detail(b, i)))
            chk_report(c, CHK_BYU_TIME, b, i, "no time since the record before");
    }
    return TROD_OK;
}

/* Nothing is known from row to row. */
static void seam12(void *seam, void *st)
{
    (void)seam;
    (void)st;
}

static bool join12(struct chk *c, void *into, const void *seam, void *from)
{
    (void)c;
    (void)into;
    (void)seam;
    (void)from;
    return true;
}

const struct chk_family chk_byu12 = {
    .families = TROD_RULE_BYU12,
    .stream_size = 1,
    .rows = rows12,
    .seam = seam12,
    .join = join12,
};
