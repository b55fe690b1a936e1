/*
 * reader_skip.c - reading begins at a row or an instruction: what comes before is left out.
 *
 * Implements trod_reader_skip. In an archive whose format says which member holds what (struct
 * trod_jump) members are passed over without decoding them.
 */
#include "trace/reader_int.h"

#include "core/origin.h"
#include "trace/trace_impl.h"

#include <string.h>

void trod_reader_skip(struct trod_reader *r, uint64_t n, bool by_instruction)
{
    r->skip = n;
    r->skip_instructions = by_instruction;
    r->may_jump = r->spec.format->jump && trod_input_members(r->in) > 1;
}

/* Rows before member K, as its first bytes say. Another input looks: this one goes on from here. */
static uint64_t rows_before(const struct trod_reader *r, size_t k)
{
    const struct trod_input_options opt = {.no_thread = true, .window = 1 << 12};
    struct trod_input *in;
    struct trod_member m;
    struct trod_span span;
    uint64_t n = TROD_NOWHERE;

    if (trod_input_open(&in, trod_input_path(r->in), &opt, NULL) < 0)
        return n;
    if (trod_input_member(in, k, &m) && m.offset != TROD_NOWHERE &&
        trod_input_skip(in, m.offset) == m.offset && trod_input_ahead(in, 64, &span) == TROD_OK)
        n = r->spec.format->jump->rows_before(r->dec, span.p, span.n);
    trod_input_close(in);
    return n;
}

/* The member to go on with: the last that is not behind what is looked for. */
static uint64_t member_of_row(const struct trod_reader *r, uint64_t row)
{
    size_t lo = 0, hi = trod_input_members(r->in);

    while (lo + 1 < hi) {
        size_t mid = lo + (hi - lo) / 2;
        uint64_t n = rows_before(r, mid);

        if (n == TROD_NOWHERE)
            return n;
        if (n <= row)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* All rows so far were left out: go on with the member that holds the first one wanted. */
static void jump(struct trod_reader *r)
{
    const struct trod_jump *j = r->spec.format->jump;
    uint64_t at = trod_input_offset(r->in) + r->eaten;
    uint64_t k = r->skip_instructions ? j->member(r->dec, r->skip + 1) : member_of_row(r, r->skip);
    struct trod_member m;

    r->may_jump = false;
    if (k == TROD_NOWHERE || k >= trod_input_members(r->in) ||
        !trod_input_member(r->in, (size_t)k, &m) || m.offset == TROD_NOWHERE || m.offset <= at)
        return;
    trod_input_consume(r->in, r->eaten);
    r->eaten = 0;
    r->want = 1;
    if (trod_input_skip(r->in, m.offset - trod_input_offset(r->in)) == m.offset - at)
        j->enter(r->dec, k);
    else
        r->resync = r->spec.format->resync != NULL;
}

void trod_batch_leave_out(struct trod_batch *b, uint32_t n)
{
    uint8_t keep[TROD_BATCH_ROWS] = {0};
    const uint64_t first = n < b->n ? trod_origin_row(b, n) : b->first + n;
    uint32_t *rows;

    memset(keep + n, 1, b->n - n);
    trod_batch_keep(b, keep);
    rows = trod_origin_of(b).rows;
    for (uint32_t i = 0; rows && i < b->n; i++)
        rows[i] -= (uint32_t)(first - b->first);
    b->first = first;
}

/* Take the rows from the front of B that come before what is wanted. */
void trod_reader_leave_out(struct trod_reader *r, struct trod_batch *b)
{
    uint32_t n = 0;

    if (r->skip_instructions)
        while (n < b->n && (!(b->has[n] & TROD_COL_INDEX) || b->index[n] <= r->skip))
            n++;
    else
        n = b->first >= r->skip         ? 0
            : r->skip - b->first < b->n ? (uint32_t)(r->skip - b->first)
                                        : b->n;
    r->ordinal = b->first + b->n;
    if (n == b->n) {
        b->first = r->ordinal;
        trod_batch_clear(b);
        if (r->may_jump)
            jump(r);
        return;
    }
    r->skip = 0;
    trod_batch_leave_out(b, n);
}
