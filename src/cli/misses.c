/*
 * misses.c - `trod cache --misses`: the rows of the simulation to a writer.
 */
#include "misses.h"

#include "trod/drmemtrace.h"

#include <stdio.h>
#include <string.h>

enum { TURN = 2, UNSAID = -1 }; /* markers where the thread changes; the row says no stream */

/* 1970-01-01 in microseconds since 1601, as times of traces without a date begin. */
static const uint64_t since_1601 = UINT64_C(11644473600000000);

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

/*
 * Formats of a file for each thread have the order of the threads in TIMESTAMPs: the number of the
 * row is the time where the thread changes.
 */
static int begin_turns(struct cli_misses *m, const struct trod_format *f)
{
    const uint32_t columns = TROD_COL_KIND | TROD_COL_SUB | TROD_COL_VALUE;
    int r;

    if (!f || !(f->flags & TROD_FMT_TIMESTAMPS))
        return 0;
    /* caches filter it, and so an access of an instruction that hit names it */
    m->meta.filetype = TROD_DRM_IFILTERED | TROD_DRM_DFILTERED;
    if ((r = trod_batch_new(&m->turn, TURN)) < 0)
        return r;
    m->turn->n = TURN;
    m->turn->have = columns | TROD_COL_STREAM;
    for (uint32_t i = 0; i < TURN; i++) {
        m->turn->has[i] = columns;
        m->turn->kind[i] = TROD_MARKER;
    }
    m->turn->sub[0] = TROD_DRM_TIMESTAMP;
    m->turn->sub[1] = TROD_DRM_CPU_ID;
    m->turn->value[1] = UINT64_MAX; /* not known */
    return 0;
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
        r = begin_turns(m, trod_format_find(opt.to, strcspn(opt.to, ":")));
    if (r == 0)
        r = take_streams(&m->meta, meta);
    if (r < 0)
        return r;
    r = trod_writer_open(&m->writer, path, &opt, &m->meta, &m->diag);
    if (r < 0)
        trod_error(diag, r, m->code ? m->code : "cache.misses", NULL, "%s", m->message);
    return r;
}

static uint64_t stream_of(const struct trod_batch *b, uint32_t row)
{
    return b->have & b->has[row] & TROD_COL_STREAM ? b->stream[row] : (uint64_t)UNSAID;
}

/* The next row is of STREAM: say when, where another one ran before. */
static int turn_to(struct cli_misses *m, uint64_t stream)
{
    struct trod_batch *turn = m->turn;
    const bool other = m->rows && stream != m->stream;

    m->stream = stream;
    if (!other)
        return 0;
    for (uint32_t i = 0; i < TURN; i++) {
        turn->has[i] &= ~(uint32_t)TROD_COL_STREAM;
        turn->has[i] |= stream == (uint64_t)UNSAID ? 0 : TROD_COL_STREAM;
        turn->stream[i] = (uint32_t)stream;
    }
    turn->value[0] = since_1601 + m->rows;
    turn->meta = &m->meta;
    return trod_writer_put(m->writer, turn);
}

int cli_misses_put(void *user, const struct trod_batch *b)
{
    struct cli_misses *m = user;

    if (m->rc == 0 && b->meta)
        m->rc = take_streams(&m->meta, b->meta);
    for (uint32_t i = 0, to; m->rc == 0 && i < b->n; i = to) {
        struct trod_batch rows;

        for (to = m->turn ? i + 1 : b->n; to < b->n && stream_of(b, to) == stream_of(b, i);)
            to++;
        if (m->turn)
            m->rc = turn_to(m, stream_of(b, i));
        trod_batch_view(&rows, b, i, to - i);
        rows.meta = &m->meta;
        if (m->rc == 0)
            m->rc = trod_writer_put(m->writer, &rows);
        m->rows += to - i;
    }
    return m->rc;
}

static void fini(struct cli_misses *m)
{
    trod_batch_free(m->turn);
    m->turn = NULL;
    trod_meta_fini(&m->meta);
}

/* No row of memory is a marker: a turn of a thread that is not written loses nothing. */
static void forget_turns(struct trod_loss *loss)
{
    loss->rows[TROD_MARKER] = loss->left[TROD_MARKER] = 0;
    memset(loss->columns[TROD_MARKER], 0, sizeof loss->columns[TROD_MARKER]);
}

int cli_misses_end(struct cli_misses *m, struct cli *c, bool good, struct trod_diag *diag)
{
    struct trod_writer_summary sum;
    int r = m->rc;

    if (!m->path)
        return 0;
    if (!m->writer) {
        fini(m);
        return 0;
    }
    if (good && r == 0) {
        r = trod_writer_commit(m->writer, &sum);
        if (r == 0) {
            forget_turns(&sum.loss);
            cli_say(c, "%s: %llu rows of what goes to memory", m->path,
                    (unsigned long long)(m->rows - trod_loss_rows(&sum.loss)));
            cli_say_loss(c, &sum.loss, NULL);
        }
    } else {
        trod_writer_discard(m->writer);
    }
    m->writer = NULL;
    fini(m);
    if (r < 0)
        trod_error(diag, r, m->code ? m->code : "cache.misses", NULL, "%s",
                   m->message[0] ? m->message : "misses cannot be written");
    return r;
}
