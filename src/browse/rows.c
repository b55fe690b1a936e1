/*
 * rows.c - rows that are seen: stepping over those that are left out or folded, lines.
 *
 * Implements "rows" of model.h.
 */
#include "browse/folds.h"
#include "browse/model.h"

#include <string.h>

int browse_row(struct browse *b, uint64_t row, const struct trod_batch **batch, uint32_t *i)
{
    int rc;

    if (b->rows != TROD_NOWHERE && row >= b->rows)
        return 0;
    rc = trod_nav_row(b->nav, row, batch, i);
    if (rc == 0 && trod_nav_count(b->nav, &b->rows) < 0) /* known by now: nothing is read for it */
        b->rows = TROD_NOWHERE;
    return rc;
}

enum { PAST_END = BROWSE_STOPPED - 1 };

/* Is row ROW left out, or in a fold (*FOLD) without being its line? 1 seen, 0 not, or an error. */
static int look(struct browse *b, uint64_t row, const struct browse_fold **fold)
{
    const struct trod_batch *batch;
    uint32_t i, stream;
    int rc = browse_row(b, row, &batch, &i);

    *fold = NULL;
    if (rc <= 0)
        return rc < 0 ? rc : PAST_END;
    stream = trod_batch_stream(batch, i);
    if (b->only >= 0 && stream != (uint64_t)b->only)
        return 0;
    *fold = browse_folds_find(&b->folds, stream, row);
    return !*fold || (*fold)->first == row;
}

int browse_seen(struct browse *b, uint64_t row)
{
    const struct browse_fold *fold;
    int rc = look(b, row, &fold);

    return rc == PAST_END ? 0 : rc;
}

/* All rows inside of the fold F are of its stream, or not seen at all. */
static bool alone(const struct browse *b)
{
    return b->only >= 0 || trod_nav_meta(b->nav)->n_streams <= 1;
}

int browse_next(struct browse *b, uint64_t row, uint64_t *out)
{
    const struct browse_fold *fold;
    uint64_t at = row;
    int rc = look(b, row, &fold);

    while (rc >= 0) {
        at = fold && alone(b) ? fold->last + 1 : at + 1;
        rc = look(b, at, &fold);
        if (rc > 0) {
            *out = at;
            return 1;
        }
    }
    return rc == PAST_END ? 0 : rc;
}

int browse_prev(struct browse *b, uint64_t row, uint64_t *out)
{
    const struct browse_fold *fold;
    int rc = 0;

    while (row > 0) {
        rc = look(b, --row, &fold);
        if (rc == 0 && fold && alone(b)) {
            row = fold->first;
            rc = look(b, row, &fold);
        }
        if (rc > 0)
            *out = row;
        if (rc > 0 || (rc < 0 && rc != PAST_END))
            return rc;
    }
    return 0;
}

int browse_near(struct browse *b, uint64_t row, uint64_t *out)
{
    const struct browse_fold *fold;
    int rc = look(b, row, &fold);

    if (rc == 0 && fold) {
        *out = fold->first;
        return 1;
    }
    *out = row;
    if (rc > 0 || (rc < 0 && rc != PAST_END))
        return rc;
    rc = rc == 0 ? browse_next(b, row, out) : 0;
    return rc ? rc : browse_prev(b, row, out);
}

/* Who goes to a row inside of a fold wants to see it. */
static void open_fold(struct browse *b, uint64_t row)
{
    const struct browse_fold *fold;

    if (b->folds.n && look(b, row, &fold) == 0 && fold)
        browse_folds_remove(&b->folds, fold);
}

int browse_go(struct browse *b, uint64_t row)
{
    uint64_t at;
    int rc;

    open_fold(b, row);
    rc = browse_near(b, row, &at);

    if (rc > 0)
        b->cursor = at;
    return rc < 0 ? rc : 0;
}

int browse_move(struct browse *b, int64_t n)
{
    uint64_t at = b->cursor;
    int rc = 1;

    for (; n && rc > 0; n += n < 0 ? 1 : -1)
        rc = n < 0 ? browse_prev(b, at, &at) : browse_next(b, at, &at);
    if (rc >= 0)
        b->cursor = at;
    return rc < 0 ? rc : 0;
}

int browse_place(struct browse *b, const char *text)
{
    uint64_t row;
    int rc = trod_nav_place(b->nav, text, &row);

    if (rc > 0)
        rc = browse_go(b, row) < 0 ? BROWSE_STOPPED : 1;
    return rc;
}

int browse_end(struct browse *b)
{
    int rc = b->rows == TROD_NOWHERE ? trod_nav_count(b->nav, &b->rows) : 0;

    if (rc < 0) {
        b->rows = TROD_NOWHERE;
        return rc;
    }
    return b->rows ? browse_go(b, b->rows - 1) : 0;
}

int browse_instruction(struct browse *b, bool back)
{
    uint64_t at = b->cursor;
    int rc;

    while ((rc = back ? browse_prev(b, at, &at) : browse_next(b, at, &at)) > 0) {
        const struct trod_batch *batch;
        uint32_t i;

        rc = browse_row(b, at, &batch, &i);
        if (rc > 0 && batch->kind[i] == TROD_INSTR) {
            b->cursor = at;
            return 1;
        }
        if (rc < 0)
            break;
    }
    if (rc == 0)
        browse_say(b, "no instruction %s this row", back ? "before" : "after");
    return rc;
}

int browse_next_stream(struct browse *b)
{
    const uint32_t n = trod_nav_meta(b->nav)->n_streams;
    const int64_t was = b->only;
    char name[64];
    int rc;

    if (n <= 1) {
        browse_say(b, "all rows are of one thread or cpu");
        return 0;
    }
    b->only = was + 1 < (int64_t)n ? was + 1 : -1;
    rc = browse_go(b, b->cursor);
    if (rc < 0) {
        b->only = was;
        return rc;
    }
    if (b->only >= 0)
        trod_nav_stream_name(b->nav, (uint32_t)b->only, name, sizeof name);
    browse_say(b, b->only < 0 ? "all rows" : "only rows of %s", name);
    return 0;
}

/* ---- the window */

/* The row N lines above ROW, or the first one. */
static int above(struct browse *b, uint64_t row, unsigned n, uint64_t *out)
{
    int rc = 1;

    for (*out = row; n && rc > 0; n--)
        rc = browse_prev(b, *out, out);
    return rc;
}

int browse_centre(struct browse *b, unsigned height)
{
    const int rc = b->rows ? above(b, b->cursor, height / 2, &b->top) : 0;

    return rc < 0 ? rc : 0;
}

/* Lines from FROM to TO, both included; HEIGHT + 1: more. */
static int distance(struct browse *b, uint64_t from, uint64_t to, unsigned height, unsigned *n)
{
    int rc = 1;

    for (*n = 1; from < to && *n <= height && rc > 0; ++*n)
        rc = browse_next(b, from, &from);
    if (from > to)
        *n = height + 1;
    return rc;
}

/* Move the top so that the cursor is in the window: by as little as it takes, or to its middle. */
static int settle_top(struct browse *b, unsigned height)
{
    const bool up = b->cursor < b->top;
    unsigned n;
    uint64_t top;
    int rc = browse_near(b, b->top, &top);

    if (rc >= 0)
        rc = distance(b, up ? b->cursor : top, up ? top : b->cursor, 2 * height, &n);
    if (rc < 0)
        return rc;
    if (up && n <= height)
        top = b->cursor;
    else if (up || n > 2 * height)
        rc = above(b, b->cursor, height / 2, &top);
    else if (n > height)
        rc = above(b, b->cursor, height - 1, &top);
    if (rc >= 0)
        b->top = top;
    return rc;
}

/* The last page is a full one where there are rows enough. */
static int fill_up(struct browse *b, unsigned height, uint64_t *row, unsigned *n)
{
    unsigned more = 0;
    uint64_t first = row[0];
    int rc = 1;

    while (*n + more < height && (rc = browse_prev(b, first, &first)) > 0)
        more++;
    if (rc < 0 || !more)
        return rc;
    memmove(row + more, row, *n * sizeof *row);
    *n += more;
    for (unsigned i = more; i-- > 0 && rc >= 0;)
        rc = browse_prev(b, row[i + 1], &row[i]);
    b->top = row[0];
    return rc;
}

int browse_page(struct browse *b, unsigned height, uint64_t *row, unsigned *n)
{
    int rc = b->rows ? settle_top(b, height) : 0;

    *n = 0;
    if (rc < 0 || !b->rows || !height)
        return rc;
    row[(*n)++] = b->top;
    while (*n < height && (rc = browse_next(b, row[*n - 1], &row[*n])) > 0)
        ++*n;
    if (rc >= 0)
        rc = fill_up(b, height, row, n);
    return rc < 0 ? rc : 0;
}
