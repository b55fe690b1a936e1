/*
 * mark.c - places in a trace, in file order, from which reading can go on. Implements mark.h.
 */
#include "trace/mark.h"

#include "io/points.h"
#include "trace/trace_impl.h"

#include <string.h>

enum { SETTLED = 1 << 18 };

int trod_trace_mark(struct trod_trace *t, uint64_t *offset, struct trod_buf *state,
                    struct trod_buf *log)
{
    if (t->order != &trod_order_file || !t->open[t->at])
        return TROD_ERR_UNSUPPORTED;
    if (!trod_input_sound(trod_reader_source(t->open[t->at]), trod_trace_position(t)))
        return TROD_ERR_UNSUPPORTED;
    return trod_reader_mark(t->open[t->at], offset, state, log);
}

uint64_t trod_trace_position(const struct trod_trace *t)
{
    return t->order == &trod_order_file && t->open[t->at] ? trod_reader_position(t->open[t->at])
                                                          : TROD_NOWHERE;
}

void trod_trace_settle_windows(struct trod_trace *t)
{
    t->window = SETTLED;
}

size_t trod_trace_at(const struct trod_trace *t)
{
    return t->at;
}

/* Streams and units of T get the numbers that they have in FROM. */
static int number_alike(struct trod_meta *to, const struct trod_meta *from)
{
    for (uint32_t i = 0; i < from->n_streams; i++) {
        const struct trod_stream *s = &from->streams[i];
        int n = s->tid != TROD_NOWHERE ? trod_meta_thread(to, s->tid, s->pid, s->file)
                                       : trod_meta_stream(to, s->name, s->name_len);

        if (n < 0)
            return n;
        if ((uint32_t)n != i)
            return TROD_ERR_CORRUPT;
        to->streams[n].cpu = s->cpu;
        to->streams[n].tid = s->tid;
        to->streams[n].pid = s->pid;
        to->streams[n].file = s->file;
    }
    memcpy(to->own_unit, from->own_unit, sizeof to->own_unit);
    to->isa = from->isa;
    to->endian = from->endian;
    to->addr_bits = from->addr_bits;
    to->unit = from->unit;
    to->line_size = from->line_size;
    to->page_size = from->page_size;
    to->version = from->version;
    to->filetype = from->filetype;
    return TROD_OK;
}

int trod_trace_resume(struct trod_trace *t, const struct trod_mark *m, const struct trod_meta *meta)
{
    int rc;

    if (t->order != &trod_order_file)
        return TROD_ERR_UNSUPPORTED;
    rc = number_alike(&t->meta, meta);
    if (rc == TROD_OK)
        rc = trod_order_file_go(t, m->file, m->rows);
    if (rc < 0 || !t->open[m->file])
        return rc < 0 ? rc : TROD_ERR_UNSUPPORTED;
    if (m->point && (rc = trod_input_point(trod_reader_source(t->open[m->file]), m->point)) < 0 &&
        rc != TROD_ERR_UNSUPPORTED)
        return rc;
    return m->start ? TROD_OK
                    : trod_reader_resume(t->open[m->file], m->offset, m->rows - m->file_rows,
                                         m->state, m->log);
}
