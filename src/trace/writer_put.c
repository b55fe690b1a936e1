/*
 * writer_put.c - the generic loop around an encoder.
 *
 * Implements trod_writer_rows of writer_int.h. Formats whose files hold one stream
 * (TROD_FMT_PER_STREAM) get a file a stream when the target is a directory; all others get one
 * file. Rows that may be copied byte for byte are gathered into runs and never touched.
 */
#include "trace/batch_own.h"
#include "trace/loss_streams.h"
#include "trace/writer_int.h"

enum { ROOM_MIN = 1 << 12 };

/* Rows of a batch, as trod_batch_view makes them, that know which of their trace they are. */
struct window {
    struct trod_batch rows;
    struct trod_batch_own own;
};

/* Rows [FROM, FROM + N) of B to W, which must stay where it is. */
static void open_window(struct window *w, const struct trod_batch *b, uint32_t from, uint32_t n)
{
    const uint32_t *rows = trod_origin_of(b).rows;

    trod_batch_view(&w->rows, b, from, n);
    if (!rows)
        return;
    w->own = (struct trod_batch_own){.source.rows = (uint32_t *)(uintptr_t)(rows + from)};
    w->rows.own = &w->own;
    w->rows.first = b->first; /* which they are counted from */
}

/* Encode rows [*ROW, N) of B; with rows left over only after an error. */
static int encode(struct trod_writer *w, struct trod_file_sink *s, const struct trod_batch *b,
                  uint32_t n)
{
    const struct trod_format *f = w->spec.format;
    struct window view;
    size_t min = f->row_max > ROOM_MIN ? f->row_max : ROOM_MIN;
    uint32_t row = 0;
    int rc;

    open_window(&view, b, 0, n);
    trod_loss_watch(&w->sum.loss, &view.rows);
    for (;;) {
        struct trod_room room;
        const uint8_t *from;
        uint32_t before = row;

        if ((rc = trod_output_room(s->out, min, &room)) < 0)
            return rc;
        from = room.p;
        rc = f->encode(s->enc, &view.rows, &row, &room, w->diag);
        trod_output_advance(s->out, (size_t)(room.p - from));
        if (rc == TROD_ENC_PART) {
            if ((rc = trod_sinks_part(s)) < 0)
                return rc;
            continue;
        }
        if (rc != TROD_ENC_FULL)
            return rc < 0 ? rc : TROD_OK;
        if (row == before && room.p == from) {
            if (min >= TROD_WINDOW)
                return trod_error(w->diag, TROD_ERR_LIMIT, "writer.row-too-large", NULL,
                                  "row %llu is larger than %d bytes",
                                  (unsigned long long)trod_origin_row(b, row), TROD_WINDOW);
            min = 2 * min < TROD_WINDOW ? 2 * min : TROD_WINDOW;
        }
    }
}

/* Whether the record that row I begins is untouched in B's window. */
static bool copyable(const struct trod_batch *b, uint32_t i)
{
    return (b->have & b->has[i] & TROD_COL_RAW) && b->raw[i].len > 0;
}

/* The row behind the record of row I. */
static uint32_t record_end(const struct trod_batch *b, uint32_t i)
{
    for (i++; i < b->n && (b->flags[i] & TROD_F_CONT);)
        i++;
    return i;
}

/*
 * Rows from FROM on that ENC allows to be copied as one stretch of bytes; *LEN is set to its
 * length.
 */
static uint32_t copy_run(const struct trod_format *f, void *enc, const struct trod_batch *b,
                         uint32_t from, size_t *len)
{
    uint32_t i = from, end = b->raw[from].off, n;

    while (i < b->n && copyable(b, i) && b->raw[i].off == end) {
        end += b->raw[i].len;
        i = record_end(b, i);
    }
    n = i - from;
    if (f->copies && (n = f->copies(enc, b, from, n)) < i - from)
        end = b->raw[from + n].off;
    *len = end - b->raw[from].off;
    return n;
}

static int put_verbatim(struct trod_writer *w, struct trod_file_sink *s, const struct trod_batch *b)
{
    int rc = TROD_OK;

    for (uint32_t i = 0, n; i < b->n && rc == TROD_OK; i += n) {
        const bool may = copyable(b, i);
        size_t len;

        n = may ? copy_run(w->spec.format, s->enc, b, i, &len) : 0;
        if (n) {
            rc = trod_output_write(s->out, trod_batch_bytes(b, b->raw[i]), len);
            w->sum.copied += n;
        } else {
            struct window view;

            for (n = record_end(b, i) - i; !may && i + n < b->n && !copyable(b, i + n);)
                n++;
            open_window(&view, b, i, n);
            rc = encode(w, s, &view.rows, n);
        }
    }
    return rc;
}

static int put_rows(struct trod_writer *w, struct trod_file_sink *s, const struct trod_batch *b)
{
    return w->verbatim ? put_verbatim(w, s, b) : encode(w, s, b, b->n);
}

/* How many rows of B from FROM on are of one stream. Most batches are, as a whole. */
static uint32_t of_one_stream(const struct trod_batch *b, uint32_t from)
{
    enum { STEP = 64 };
    const uint32_t *const stream = b->stream, first = stream[from];
    uint32_t i = from + 1;

    for (; b->n - i >= STEP; i += STEP) {
        uint32_t differ = 0;

        for (uint32_t k = 0; k < STEP; k++)
            differ |= stream[i + k] ^ first;
        if (differ)
            break;
    }
    while (i < b->n && stream[i] == first)
        i++;
    return i - from;
}

/* Rows of one stream after the other: each to its own file, or all to one that holds one stream. */
static int put_streams(struct trod_writer *w, const struct trod_batch *b)
{
    int rc = TROD_OK;

    for (uint32_t i = 0, n; i < b->n && rc >= 0; i += n) {
        struct trod_file_sink *s = w->sinks.sink;
        struct window view;

        n = of_one_stream(b, i);
        if (w->sinks.directory && (rc = trod_sinks_of(&w->sinks, b->stream[i], &s)) < 0)
            return rc;
        open_window(&view, b, i, n);
        if (w->sum.loss.streams)
            rc = trod_loss_streams_give(&w->sum.loss, &view.rows);
        if (rc >= 0)
            rc = put_rows(w, s, &view.rows);
    }
    return rc;
}

int trod_writer_rows(struct trod_writer *w, const struct trod_batch *b)
{
    return w->sinks.directory || w->sum.loss.streams ? put_streams(w, b)
                                                     : put_rows(w, w->sinks.sink, b);
}
