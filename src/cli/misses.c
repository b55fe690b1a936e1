/*
 * misses.c - `trod cache --misses`: the rows of the simulation to a writer.
 */
#include "misses.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = TROD_COL_KIND | TROD_COL_ADDR | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_PC };

static void keep(void *user, const struct trod_problem *p)
{
    struct cli_misses *m = user;

    if (m->message[0] || p->severity != TROD_SEV_ERROR)
        return;
    m->code = p->kind;
    snprintf(m->message, sizeof m->message, "%s", p->message);
}

/* The streams of the trace are those of its misses, by number. */
static int take_streams(struct trod_meta *m, const struct trod_meta *from)
{
    int64_t n = m->n_streams;

    while (n >= 0 && (uint64_t)n < from->n_streams) {
        const struct trod_stream *s = &from->streams[n];

        n = s->tid != TROD_NOWHERE ? trod_meta_thread(m, s->tid, s->pid, s->file)
                                   : trod_meta_stream(m, s->name, s->name_len);
        n = n < 0 ? n : n + 1;
    }
    return n < 0 ? (int)n : 0;
}

int cli_misses_begin(struct cli_misses *m, const char *path, const char *to,
                     const struct trod_meta *meta, struct trod_diag *diag)
{
    const struct trod_format *f = trod_format_find("csv", 3);
    /* what the rows say more than a format has a place for is said at the end */
    struct trod_writer_options opt = {.to = to, .allow_loss = true, .columns = COLUMNS};
    int r = 0;

    m->path = path;
    trod_meta_init(&m->meta);
    m->meta.isa = meta->isa;
    m->meta.endian = meta->endian;
    m->meta.addr_bits = meta->addr_bits;
    m->meta.page_size = meta->page_size;
    trod_diag_init(&m->diag, keep, m);
    if (!to && (r = trod_format_by_name(&f, path, f, NULL, diag)) == 0)
        opt.to = f->name;
    /* in a table rows have a pc of their own or none: lines that are written back have none */
    if (r == 0 && strcspn(opt.to, ":") == 3 && strncmp(opt.to, "csv", 3) == 0)
        m->meta.format = "csv";
    if (r == 0)
        r = take_streams(&m->meta, meta);
    if (r < 0)
        return r;
    r = trod_writer_open(&m->writer, path, &opt, &m->meta, &m->diag);
    if (r < 0)
        trod_error(diag, r, m->code ? m->code : "cache.misses", NULL, "%s", m->message);
    return r;
}

int cli_misses_put(void *user, const struct trod_batch *b)
{
    struct cli_misses *m = user;
    struct trod_batch rows;

    trod_batch_view(&rows, b, 0, b->n);
    rows.meta = &m->meta;
    if (m->rc == 0 && b->meta)
        m->rc = take_streams(&m->meta, b->meta);
    if (m->rc == 0)
        m->rc = trod_writer_put(m->writer, &rows);
    return m->rc;
}

int cli_misses_end(struct cli_misses *m, struct cli *c, bool good, struct trod_diag *diag)
{
    struct trod_writer_summary sum;
    int r = m->rc;

    if (!m->path)
        return 0;
    if (!m->writer) {
        trod_meta_fini(&m->meta);
        return 0;
    }
    if (good && r == 0) {
        r = trod_writer_commit(m->writer, &sum);
        if (r == 0)
            cli_say(c, "%s: %llu rows of what goes to memory", m->path,
                    (unsigned long long)(sum.rows - trod_loss_rows(&sum.loss)));
        if (r == 0)
            cli_say_loss(c, &sum.loss, NULL);
    } else {
        trod_writer_discard(m->writer);
    }
    m->writer = NULL;
    trod_meta_fini(&m->meta);
    if (r < 0)
        trod_error(diag, r, m->code ? m->code : "cache.misses", NULL, "%s",
                   m->message[0] ? m->message : "misses cannot be written");
    return r;
}
