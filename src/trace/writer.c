/*
 * writer.c - the generic loop around an encoder.
 *
 * Implements writer.h. Formats whose files hold one stream (TROD_FMT_PER_STREAM) get a file a
 * stream when the target is a directory; all others get one file. Rows that may be copied byte for
 * byte are gathered into runs and never touched.
 */
#include "trod/writer.h"

#include "trace/optspec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ROOM_MIN = 1 << 12 };

/* One output file. */
struct sink {
    struct trod_output *out;
    void *enc;
    uint32_t stream;
};

struct trod_writer {
    struct trod_optspec spec;
    struct trod_writer_options opt;
    const struct trod_meta *meta;
    struct trod_diag *diag;
    char *path;
    bool directory, verbatim;
    struct sink *sinks;
    size_t n_sinks, cap_sinks, last; /* last: index of the sink used last */
    struct trod_writer_summary sum;
    int failed;
};

uint32_t trod_writer_loss(uint32_t source_columns, const struct trod_format *format)
{
    const uint32_t never = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_RAW | TROD_COL_SITE |
                           TROD_COL_UNIT | TROD_COL_SUB;

    return source_columns & ~format->writes & ~never;
}

/* What the columns hold, as users call it. */
static const char *const said[TROD_COLUMNS] = {
    "kinds of records",
    "flags",
    "sizes",
    "cpus or threads",
    "times",
    "units of time",
    "instruction numbers",
    "virtual addresses",
    "physical addresses",
    "addresses of instructions",
    "branch targets",
    "values",
    "subtypes",
    "sites",
    "opcodes",
    "values wider than 64 bits",
    "texts (disassembly, names)",
    "details",
    "source records",
};

static int refuse_loss(const struct trod_writer *w, uint32_t loss)
{
    const char *from = w->opt.source ? w->opt.source->name : "the source";
    char names[512];
    size_t n = 0;

    for (unsigned i = 0; i < TROD_COLUMNS; i++)
        if ((loss >> i & 1) && n + strlen(said[i]) + 3 < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", said[i]);
    return trod_error(w->diag, TROD_ERR_LOSS, "writer.loss", NULL,
                      "%s cannot hold all that %s says; lost would be: %s; say --allow-loss to "
                      "convert all the same",
                      w->spec.format->name, from, names);
}

static bool may_copy(const struct trod_writer *w)
{
    const struct trod_format *f = w->spec.format;

    return f->verbatim && w->opt.source == f &&
           f->verbatim(w->opt.source_options, w->meta->dialect, w->spec.options);
}

static int check(struct trod_writer *w)
{
    const struct trod_format *f = w->spec.format;
    uint32_t columns = w->opt.columns, loss;

    if (!f->begin)
        return trod_error(w->diag, TROD_ERR_USAGE, "writer.read-only", NULL,
                          "format '%s' can be read but not written", f->name);
    if (columns == 0 && w->opt.source)
        columns = w->opt.source->reads;
    loss = w->opt.source == f ? 0 : trod_writer_loss(columns, f);
    if (loss && !w->opt.allow_loss)
        return refuse_loss(w, loss);
    w->verbatim = may_copy(w);
    return TROD_OK;
}

static bool is_directory(const char *path)
{
    struct stat st;
    size_t n = strlen(path);

    return (n > 0 && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* DIR/NAME.SUFFIX for the file of STREAM; characters that do not belong in names become '_'. */
static int stream_path(const struct trod_writer *w, uint32_t stream, char *out, size_t n)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const struct trod_format *f = w->spec.format;
    const char *suffix = f->suffixes && f->suffixes[0] ? f->suffixes[0] : "";
    const char *slash = w->path[strlen(w->path) - 1] == '/' ? "" : "/";
    char name[128];
    size_t len = 0;

    if (stream < w->meta->n_streams) {
        const struct trod_stream *s = &w->meta->streams[stream];

        for (; len < s->name_len && len < sizeof name - 1; len++)
            name[len] = strchr(safe, s->name[len]) ? s->name[len] : '_';
    }
    name[len] = '\0';
    if (snprintf(out, n, "%s%s%05u%s%s%s", w->path, slash, stream, len ? "." : "", name, suffix) >=
        (int)n)
        return trod_error(w->diag, TROD_ERR_USAGE, "writer.path", NULL, "path is too long");
    return TROD_OK;
}

static int add_sink(struct trod_writer *w, uint32_t stream)
{
    const struct trod_format *f = w->spec.format;
    char path[4096];
    struct sink *s;
    int rc;

    if (w->n_sinks == w->cap_sinks) {
        size_t cap = w->cap_sinks ? 2 * w->cap_sinks : 4;

        s = realloc(w->sinks, cap * sizeof *s);
        if (!s)
            return TROD_ERR_NOMEM;
        w->sinks = s;
        w->cap_sinks = cap;
    }
    s = &w->sinks[w->n_sinks];
    *s = (struct sink){.stream = stream};
    s->enc = calloc(1, f->enc_size ? f->enc_size : 1);
    if (!s->enc)
        return TROD_ERR_NOMEM;
    rc = f->begin(s->enc, w->spec.options, w->meta, w->diag);
    if (rc == TROD_OK && w->directory)
        rc = stream_path(w, stream, path, sizeof path);
    if (rc == TROD_OK)
        rc = trod_output_create(&s->out, w->directory ? path : w->path, &w->opt.output, w->diag);
    if (rc < 0) {
        free(s->enc);
        return rc;
    }
    w->n_sinks++;
    w->sum.files++;
    return TROD_OK;
}

int trod_writer_open(struct trod_writer **out, const char *path,
                     const struct trod_writer_options *opt, const struct trod_meta *meta,
                     struct trod_diag *diag)
{
    struct trod_writer *w = calloc(1, sizeof *w);
    int rc;

    *out = NULL;
    if (!w)
        return TROD_ERR_NOMEM;
    *w = (struct trod_writer){.opt = *opt, .meta = meta, .diag = diag};
    rc = trod_optspec_init(&w->spec, opt->to, diag);
    if (rc == TROD_OK)
        rc = check(w);
    w->path = rc == TROD_OK ? malloc(strlen(path) + 1) : NULL;
    if (rc == TROD_OK && !w->path)
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK) {
        memcpy(w->path, path, strlen(path) + 1);
        w->opt.output.binary = !(w->spec.format->flags & TROD_FMT_TEXT);
        w->directory = (w->spec.format->flags & TROD_FMT_PER_STREAM) && is_directory(path);
        if (w->directory)
            mkdir(path, 0777);
        else
            rc = add_sink(w, 0);
    }
    if (rc < 0) {
        trod_writer_discard(w);
        return rc;
    }
    *out = w;
    return TROD_OK;
}

uint32_t trod_writer_want(const struct trod_writer *w)
{
    uint32_t want = w->spec.format->writes | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM;

    return w->verbatim ? want | TROD_COL_RAW : want;
}

/* Encode rows [*ROW, N) of B; with rows left over only after an error. */
static int encode(struct trod_writer *w, struct sink *s, const struct trod_batch *b, uint32_t n)
{
    const struct trod_format *f = w->spec.format;
    struct trod_batch view;
    size_t min = f->row_max > ROOM_MIN ? f->row_max : ROOM_MIN;
    uint32_t row = 0;
    int rc;

    trod_batch_view(&view, b, 0, n);
    for (;;) {
        struct trod_room room;
        const uint8_t *from;
        uint32_t before = row;

        if ((rc = trod_output_room(s->out, min, &room)) < 0)
            return rc;
        from = room.p;
        rc = f->encode(s->enc, &view, &row, &room, w->diag);
        trod_output_advance(s->out, (size_t)(room.p - from));
        if (rc != TROD_ENC_FULL)
            return rc < 0 ? rc : TROD_OK;
        if (row == before && room.p == from) {
            if (min >= TROD_WINDOW)
                return trod_error(w->diag, TROD_ERR_LIMIT, "writer.row-too-large", NULL,
                                  "row %llu is larger than %d bytes",
                                  (unsigned long long)(b->first + row), TROD_WINDOW);
            min = 2 * min < TROD_WINDOW ? 2 * min : TROD_WINDOW;
        }
    }
}

/* Whether the record that row I begins is untouched in B's window. */
static bool copyable(const struct trod_batch *b, uint32_t i)
{
    return (b->have & b->has[i] & TROD_COL_RAW) && b->raw[i].len > 0;
}

/* Rows from FROM on that can be copied as one stretch of bytes; *LEN is set to its length. */
static uint32_t copy_run(const struct trod_batch *b, uint32_t from, size_t *len)
{
    uint32_t i = from, end = b->raw[from].off;

    while (i < b->n && copyable(b, i) && b->raw[i].off == end) {
        end += b->raw[i++].len;
        while (i < b->n && (b->flags[i] & TROD_F_CONT))
            i++;
    }
    *len = end - b->raw[from].off;
    return i - from;
}

static int put_verbatim(struct trod_writer *w, struct sink *s, const struct trod_batch *b)
{
    int rc = TROD_OK;

    for (uint32_t i = 0, n; i < b->n && rc == TROD_OK; i += n) {
        if (copyable(b, i)) {
            size_t len;

            n = copy_run(b, i, &len);
            rc = trod_output_write(s->out, trod_batch_bytes(b, b->raw[i]), len);
            w->sum.copied += n;
        } else {
            struct trod_batch view;

            for (n = 1; i + n < b->n && !copyable(b, i + n);)
                n++;
            trod_batch_view(&view, b, i, n);
            rc = encode(w, s, &view, n);
        }
    }
    return rc;
}

static int sink_of(struct trod_writer *w, uint32_t stream, struct sink **out)
{
    int rc;

    if (w->last >= w->n_sinks || w->sinks[w->last].stream != stream) {
        for (w->last = 0; w->last < w->n_sinks; w->last++)
            if (w->sinks[w->last].stream == stream)
                break;
        if (w->last == w->n_sinks && (rc = add_sink(w, stream)) < 0)
            return rc;
    }
    *out = &w->sinks[w->last];
    return TROD_OK;
}

/* Rows of one stream after the other, each to its own file. */
static int put_streams(struct trod_writer *w, const struct trod_batch *b)
{
    for (uint32_t i = 0, n; i < b->n; i += n) {
        struct trod_batch view;
        struct sink *s;
        int rc;

        for (n = 1; i + n < b->n && b->stream[i + n] == b->stream[i];)
            n++;
        if ((rc = sink_of(w, b->stream[i], &s)) < 0)
            return rc;
        trod_batch_view(&view, b, i, n);
        if ((rc = w->verbatim ? put_verbatim(w, s, &view) : encode(w, s, &view, n)) < 0)
            return rc;
    }
    return TROD_OK;
}

int trod_writer_put(struct trod_writer *w, const struct trod_batch *b)
{
    int rc;

    if (w->failed < 0 || b->n == 0)
        return w->failed;
    if (w->directory)
        rc = put_streams(w, b);
    else if (w->verbatim)
        rc = put_verbatim(w, &w->sinks[0], b);
    else
        rc = encode(w, &w->sinks[0], b, b->n);
    w->sum.rows += b->n;
    w->failed = rc < 0 ? rc : TROD_OK;
    return w->failed;
}

static int finish(struct trod_writer *w, struct sink *s)
{
    const struct trod_format *f = w->spec.format;
    int rc = f->finish ? TROD_ENC_FULL : TROD_ENC_DONE;

    while (rc == TROD_ENC_FULL) {
        struct trod_room room;
        const uint8_t *from;

        if ((rc = trod_output_room(s->out, TROD_WINDOW, &room)) < 0)
            return rc;
        from = room.p;
        rc = f->finish(s->enc, &room, w->diag);
        trod_output_advance(s->out, (size_t)(room.p - from));
    }
    return rc < 0 ? rc : TROD_OK;
}

static void release(struct trod_writer *w)
{
    for (size_t i = 0; i < w->n_sinks; i++) {
        trod_output_discard(w->sinks[i].out);
        free(w->sinks[i].enc);
    }
    free(w->sinks);
    free(w->path);
    trod_optspec_fini(&w->spec);
    free(w);
}

int trod_writer_commit(struct trod_writer *w, struct trod_writer_summary *summary)
{
    int rc = w->failed;

    for (size_t i = 0; i < w->n_sinks && rc == TROD_OK; i++)
        rc = finish(w, &w->sinks[i]);
    for (size_t i = 0; i < w->n_sinks && rc == TROD_OK; i++) {
        struct trod_output *out = w->sinks[i].out;

        w->sum.bytes += trod_output_offset(out);
        w->sinks[i].out = NULL;
        rc = trod_output_commit(out);
    }
    if (summary)
        *summary = w->sum;
    release(w);
    return rc;
}

void trod_writer_discard(struct trod_writer *w)
{
    if (w)
        release(w);
}
