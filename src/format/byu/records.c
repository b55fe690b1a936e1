/*
 * records.c - records of a fixed size, as both BYU drivers handle them: columns that never change,
 * the end of a batch and of the trace, lines of a listing.
 *
 * A driver's descriptor says how large its records are (row_max) and which columns they give.
 */
#include "format/records.h"
#include "format/byu/byu.h"

#include "trace/batch_own.h"

#include <string.h>

static void fill_constant(const struct trod_format *f, struct trod_batch *b, uint32_t fill)
{
    const uint32_t record = f->row_max;

    for (uint32_t i = 0; i < b->cap; i++) {
        const struct trod_slice whole = {i * record, record};

        if (fill & TROD_COL_KIND)
            b->has[i] = f->reads;
        if (fill & TROD_COL_DETAIL)
            b->detail[i] = whole;
        if (fill & TROD_COL_RAW)
            b->raw[i] = whole;
    }
}

uint32_t byu_records_begin(const struct trod_format *f, const struct trod_span *in,
                           struct trod_batch *out)
{
    const uint32_t constant = TROD_COL_KIND | TROD_COL_DETAIL | TROD_COL_RAW;
    const uint32_t fill = trod_batch_constant(out, f, 0, constant);
    const size_t whole = in->n / f->row_max;

    if (fill)
        fill_constant(f, out, fill);
    return whole < out->cap ? (uint32_t)whole : out->cap;
}

int byu_records_end(const struct trod_format *f, const char *truncated, uint32_t n,
                    struct trod_span *in, struct trod_batch *out, struct trod_diag *diag)
{
    const size_t bytes = (size_t)n * f->row_max;

    out->n = n;
    out->have = f->reads & out->want;
    return fmt_records_eaten(in, bytes, f->row_max,
                             in->n - bytes >= f->row_max ? TROD_DEC_FULL : TROD_DEC_MORE, truncated,
                             diag);
}

bool byu_is_new(struct byu_seen *s, uint32_t address, uint32_t rest)
{
    const uint64_t hash = ((uint64_t)address << 32 | rest) * UINT64_C(0x9e3779b97f4a7c15);
    const uint32_t left = (uint32_t)(hash >> 20) | 1;
    uint32_t *const place = s->place[(hash >> 52) % BYU_SEEN];
    unsigned way = 0;
    bool is_new;

    while (way < BYU_WAYS - 1 && place[way] != left)
        way++;
    is_new = place[way] != left;
    for (; way > 0; way--)
        place[way] = place[way - 1];
    place[0] = left;
    return is_new;
}

int byu_line(struct trod_room *out, const char *line, int n)
{
    if (out->end - out->p < n)
        return TROD_ENC_FULL;
    memcpy(out->p, line, (size_t)n);
    out->p += n;
    return TROD_ENC_DONE;
}
