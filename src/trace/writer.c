/*
 * writer.c - a writer from its opening to the end: what is lost, what is refused, what is left out.
 *
 * Implements writer.h. writer_put.c takes the rows.
 */
#include "trod/writer.h"

#include "core/sized.h"
#include "trace/loss_streams.h"
#include "trace/writer_int.h"
#include "trod/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns that no loss is counted of: kinds of rows, what is made, how records were put. */
static const uint32_t never =
    TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_RAW | TROD_COL_MADE | TROD_COL_UNIT | TROD_COL_SUB;

uint32_t trod_writer_loss(uint32_t source_columns, const struct trod_format *format)
{
    return source_columns & ~format->writes & ~never;
}

static int refuse_loss(const struct trod_writer *w, uint32_t loss)
{
    const char *from = w->opt.source ? w->opt.source->name : "the source";
    char names[512];
    size_t n = 0;

    for (unsigned i = 0; i < TROD_COLUMNS; i++)
        if ((loss >> i & 1) && n + strlen(trod_loss_name(i)) + 3 < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "",
                                  trod_loss_name(i));
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

/*
 * What rows with COLUMNS lose by kind is watched. Returns what is known to be lost. What files
 * beside the source, or other records, add to rows may be there: it counts where rows say it.
 */
static uint32_t watch_losses(struct trod_writer *w, uint32_t columns)
{
    const struct trod_format *f = w->spec.format;
    const struct trod_beside *beside = w->opt.source ? w->opt.source->beside : NULL;
    const uint32_t may = columns | (beside && w->opt.columns == 0 ? beside->columns : 0);
    struct trod_loss *l = &w->sum.loss;
    const bool own = w->opt.source == f;
    uint32_t lost = 0;
    struct trod_keeps keeps = {.lost = own ? 0 : trod_writer_loss(columns, f)};

    for (unsigned i = 0; i < TROD_KINDS; i++) {
        keeps.columns[i] = own ? TROD_COL_ALL : f->writes;
        keeps.flags[i] = UINT32_MAX;
    }
    if (f->keeps)
        f->keeps(w->spec.options, w->meta, &keeps);
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        if (w->opt.source && w->opt.source->kinds && !(w->opt.source->kinds >> i & 1))
            continue;
        l->watch[i] = may & ~keeps.columns[i] & ~never;
        l->watch_flags[i] = may & TROD_COL_FLAGS ? TROD_LOSS_FLAGS & ~keeps.flags[i] : 0;
        l->watching = l->watching || l->watch[i] || l->watch_flags[i];
        lost |= l->watch[i];
        if (!own)
            w->told |= columns & keeps.columns[i] & ~f->writes & ~never;
    }
    w->lost = lost;
    if (lost & ~columns & TROD_COL_PADDR) /* markers may say them, by their numbers and values */
        w->lost |= TROD_COL_ADDR | TROD_COL_SUB | TROD_COL_VALUE;
    return keeps.lost & columns & lost;
}

/* Why a row of another stream loses it in a file that holds one; NULL: files hold several. */
static const char *holds_one(const struct trod_format *f)
{
    if (!(f->flags & TROD_FMT_ONE_STREAM))
        return NULL;
    return f->streams && strcmp(f->streams, "thread") == 0
               ? "a file holds one thread: write to a directory"
               : "a file holds one cpu: write to a directory";
}

/* The formats that have a word for ISA. */
static void names_for(enum trod_isa isa, char *names, size_t size)
{
    size_t n = 0;

    names[0] = '\0';
    for (size_t i = 0; trod_format_at(i); i++) {
        const struct trod_format *f = trod_format_at(i);

        if (f->begin && trod_format_has_isa(f, isa) && n + strlen(f->name) + 3 < size)
            n += (size_t)snprintf(names + n, size - n, "%s%s", n ? ", " : "", f->name);
    }
}

/* Rows of a trace of another instruction set than the format has words for; reported once. */
static int check_isa(struct trod_writer *w)
{
    const enum trod_isa isa = w->meta->isa;
    char names[256];

    if (!w->opt.source || w->opt.allow_loss || isa == w->isa)
        return TROD_OK;
    w->isa = isa;
    if (w->opt.source == w->spec.format || trod_format_has_isa(w->spec.format, isa))
        return TROD_OK;
    names_for(isa, names, sizeof names);
    return trod_error(w->diag, TROD_ERR_LOSS, "writer.isa", NULL,
                      "%s has no word for %s instructions: use --to with one of %s, or say "
                      "--allow-loss",
                      w->spec.format->name, trod_isa_name(isa), names);
}

static int check(struct trod_writer *w)
{
    const struct trod_format *f = w->spec.format;
    uint32_t columns = w->opt.columns, loss;
    int rc;

    if (!f->begin)
        return trod_error(w->diag, TROD_ERR_USAGE, "writer.read-only", NULL,
                          "format '%s' can be read but not written", f->name);
    if (columns == 0 && w->opt.source)
        columns = w->opt.source->reads;
    loss = watch_losses(w, columns ? columns : TROD_COL_ALL);
    if (!columns) /* nobody knows what rows that are made by hand will say */
        loss = 0;
    if ((rc = check_isa(w)) < 0) /* what follows would lead nowhere */
        return rc;
    if (loss && !w->opt.allow_loss)
        return refuse_loss(w, loss);
    w->verbatim = may_copy(w);
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
    *w = (struct trod_writer){.meta = meta, .diag = diag};
    rc = trod_sized(&w->opt, sizeof w->opt, sizeof w->opt, opt)
             ? trod_optspec_init(&w->spec, w->opt.to, diag)
             : trod_error(diag, TROD_ERR_USAGE, "writer.options", NULL,
                          "options are of another version");
    if (rc == TROD_OK)
        rc = check(w);
    if (rc == TROD_OK) {
        w->sinks = (struct trod_sinks){.spec = &w->spec,
                                       .output = w->opt.output,
                                       .meta = meta,
                                       .diag = diag,
                                       .loss = &w->sum.loss,
                                       .drops = w->opt.drops};
        rc = trod_sinks_open(&w->sinks, path);
    }
    if (rc == TROD_OK && !w->sinks.directory && holds_one(w->spec.format))
        rc = trod_loss_streams_begin(&w->sum.loss, holds_one(w->spec.format));
    if (rc < 0) {
        trod_writer_discard(w);
        return rc;
    }
    *out = w;
    return TROD_OK;
}

int trod_writer_open_like(struct trod_writer **out, const char *path, struct trod_trace *t,
                          uint32_t drops, struct trod_diag *diag)
{
    const struct trod_format *f = trod_trace_format(t);
    const struct trod_writer_options opt = {
        .to = f->name,
        .source = f,
        .source_options = trod_trace_format_options(t),
        .drops = drops,
    };
    int rc = trod_writer_open(out, path, &opt, trod_trace_meta(t), diag);

    if (rc == TROD_OK) {
        (*out)->same = true;
        trod_trace_want(t, trod_writer_want(*out));
    }
    return rc;
}

static uint32_t uses_of(const struct trod_writer *w)
{
    const struct trod_layout *layout = w->spec.format->layout;
    uint32_t uses = w->spec.format->writes | TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_STREAM;

    if (layout && layout->wants)
        uses = layout->wants(w->spec.options, w->meta, w->opt.drops) | TROD_COL_STREAM;
    uses |= w->told;
    return w->verbatim ? uses | TROD_COL_RAW : uses;
}

uint32_t trod_writer_want(const struct trod_writer *w)
{
    return uses_of(w) | w->lost; /* what is lost is counted where rows say it */
}

uint32_t trod_writer_uses(const struct trod_writer *w)
{
    const bool copies = w->opt.source == w->spec.format;

    /* who keeps no opcodes may look at them: what registers an instruction uses */
    return (uses_of(w) & ~(copies ? 0 : (uint32_t)TROD_COL_RAW)) | TROD_COL_CODE;
}

/* Something is lost, and the row that lost it first was not written after all. */
static int refuse_some(const struct trod_writer *w)
{
    const struct trod_loss *l = &w->sum.loss;

    for (unsigned i = 0; i < TROD_KINDS; i++)
        for (unsigned k = 0; k < TROD_COLUMNS; k++)
            if (l->columns[i][k])
                return trod_error(w->diag, TROD_ERR_LOSS, "writer.loss", NULL,
                                  "%s cannot hold the %s of %llu %s rows%s", w->spec.format->name,
                                  trod_loss_name(k), (unsigned long long)l->columns[i][k],
                                  trod_kind_name(i),
                                  w->same ? "" : "; say --allow-loss to convert all the same");
    return TROD_OK;
}

/* Something is lost that nobody allowed to be: the first of it. */
static int refuse_first(const struct trod_writer *w)
{
    const struct trod_loss_first *f = &w->sum.loss.first;
    /* rows are counted over all files, and the file being read is named before the message */
    const char *of_all = w->meta->n_files > 1 ? " of all files" : "";
    const char *name = f->columns ? trod_loss_name((unsigned)__builtin_ctz(f->columns)) : "";
    char value[32] = "";

    if (!f->why)
        return refuse_some(w);
    if (f->has_value)
        snprintf(value, sizeof value, " 0x%llx", (unsigned long long)f->value);
    return trod_error(w->diag, TROD_ERR_LOSS, "writer.loss", NULL,
                      "row %llu%s, of kind %s, cannot be kept as %s%s%s%s: %s%s",
                      (unsigned long long)f->row, of_all, trod_kind_name(f->kind),
                      w->spec.format->name, *name ? ", lost would be: " : "", name, value, f->why,
                      w->same ? "" : "; say --allow-loss to convert all the same");
}

/* Until the END rows that wait may still turn out not to be written. */
static bool refused(const struct trod_writer *w, bool end)
{
    return w->opt.source && !w->opt.allow_loss && (end || w->sum.loss.first.why) &&
           trod_loss_any(&w->sum.loss);
}

int trod_writer_put(struct trod_writer *w, const struct trod_batch *b)
{
    int rc;

    if (w->failed < 0 || b->n == 0)
        return w->failed;
    if ((rc = check_isa(w)) < 0) /* it may not have been known before the first rows */
        return w->failed = rc;
    rc = trod_writer_rows(w, b);
    w->sum.rows += b->n;
    if (rc >= 0 && refused(w, false))
        rc = refuse_first(w);
    w->failed = rc < 0 ? rc : TROD_OK;
    return w->failed;
}

/* Rows [FROM, FROM + N) are left out: their encoders see them. */
static int pass(struct trod_writer *w, const struct trod_batch *b, uint32_t from, uint32_t n)
{
    for (uint32_t i = from, k; i < from + n; i += k) {
        struct trod_file_sink *s = w->sinks.sink;
        uint32_t stream = b->stream[i];
        int rc;

        for (k = 1; i + k < from + n && b->stream[i + k] == stream;)
            k++;
        if (w->sinks.directory && (rc = trod_sinks_encoder(&w->sinks, stream, &s)) < 0)
            return rc;
        w->spec.format->pass(s->enc, b, i, k);
    }
    return TROD_OK;
}

/* The enum trod_drop any of which announces that a row of KIND is left out. */
static uint32_t announced_by(unsigned kind)
{
    const uint32_t any = TROD_DROP_SPAN | TROD_DROP_OTHER;

    if (kind == TROD_INSTR)
        return any | TROD_DROP_INSTR;
    if (kind >= TROD_READ && kind <= TROD_FLUSH)
        return any | TROD_DROP_DATA;
    return any | TROD_DROP_INSTR | TROD_DROP_DATA;
}

/* What is left out of B must have been announced: encoders rely on it from the first row on. */
static int check_drops(const struct trod_writer *w, const struct trod_batch *b, const uint8_t *keep)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (!keep[i] && !(w->opt.drops & announced_by(b->kind[i])))
            return trod_error(w->diag, TROD_ERR_USAGE, "writer.drops", NULL,
                              "a row of kind %s is left out, which the writer did not know before "
                              "the first row (trod_writer_options.drops)",
                              trod_kind_name(b->kind[i]));
    return TROD_OK;
}

int trod_writer_put_some(struct trod_writer *w, struct trod_batch *b, const uint8_t *keep)
{
    int rc = w->failed;

    if (!w->spec.format->pass) {
        trod_batch_keep(b, keep);
        return trod_writer_put(w, b);
    }
    if (rc == TROD_OK && (rc = check_drops(w, b, keep)) < 0)
        w->failed = rc;
    for (uint32_t i = 0, n; i < b->n && rc == TROD_OK; i += n) {
        struct trod_batch view;

        for (n = 1; i + n < b->n && !keep[i + n] == !keep[i];)
            n++;
        if (!keep[i]) {
            rc = pass(w, b, i, n);
        } else {
            trod_batch_view(&view, b, i, n);
            rc = trod_writer_put(w, &view);
        }
    }
    return rc;
}

static int finish(struct trod_writer *w, struct trod_file_sink *s)
{
    const struct trod_format *f = w->spec.format;
    int rc = f->finish ? trod_sinks_use(&w->sinks, s) : TROD_OK;
    bool more = f->finish && rc == TROD_OK;

    while (more) {
        struct trod_room room;
        const uint8_t *from;

        if ((rc = trod_output_room(s->out, TROD_WINDOW, &room)) < 0)
            return rc;
        from = room.p;
        rc = f->finish(s->enc, &room, w->diag);
        trod_output_advance(s->out, (size_t)(room.p - from));
        more = rc == TROD_ENC_FULL || rc == TROD_ENC_PART;
        if (rc == TROD_ENC_PART && (rc = trod_sinks_part(s)) < 0)
            return rc;
    }
    return rc < 0 ? rc : TROD_OK;
}

static void release(struct trod_writer *w)
{
    trod_loss_streams_end(&w->sum.loss);
    trod_sinks_fini(&w->sinks);
    trod_optspec_fini(&w->spec);
    free(w);
}

/* Why the first row of KIND that was lost (COLUMNS of it: 0, the whole row) was, to TEXT, if known.
 */
static const char *why_lost(const struct trod_writer *w, unsigned kind, uint32_t columns,
                            char *text, size_t size)
{
    const struct trod_loss_first *f = &w->sum.loss.first;

    *text = '\0';
    if (f->why && f->kind == kind && (columns ? f->columns & columns : !f->columns))
        snprintf(text, size, " (the first, row %llu: %s)", (unsigned long long)f->row, f->why);
    return text;
}

/* Rows made by hand were lost: the trace is written, and this is a problem. */
static void tell_loss(const struct trod_writer *w)
{
    const struct trod_loss *l = &w->sum.loss;
    char why[256];

    for (unsigned i = 0; i < TROD_KINDS; i++) {
        if (l->rows[i])
            trod_error(w->diag, TROD_ERR_LOSS, "writer.lost-rows", NULL,
                       "%s has no place for %llu %s rows%s", w->spec.format->name,
                       (unsigned long long)l->rows[i], trod_kind_name(i),
                       why_lost(w, i, 0, why, sizeof why));
        for (unsigned k = 0; k < TROD_COLUMNS; k++)
            if (l->columns[i][k])
                trod_error(w->diag, TROD_ERR_LOSS, "writer.lost-columns", NULL,
                           "%s cannot hold the %s of %llu %s rows%s", w->spec.format->name,
                           trod_loss_name(k), (unsigned long long)l->columns[i][k],
                           trod_kind_name(i), why_lost(w, i, 1u << k, why, sizeof why));
    }
}

int trod_writer_commit(struct trod_writer *w, struct trod_writer_summary *summary)
{
    int rc = w->failed;

    if (rc == TROD_OK)
        rc = trod_sinks_some(&w->sinks);
    for (size_t i = 0; i < w->sinks.n && rc == TROD_OK; i++) {
        if (!w->sinks.sink[i].out)
            continue;
        if (!w->sinks.sink[i].whole)
            rc = finish(w, &w->sinks.sink[i]);
        w->sum.files++;
    }
    if (rc == TROD_OK && refused(w, true))
        rc = refuse_first(w);
    if (rc == TROD_OK && !w->opt.source && !w->opt.allow_loss && trod_loss_any(&w->sum.loss))
        tell_loss(w);
    if (rc == TROD_OK)
        rc = trod_sinks_commit(&w->sinks, &w->sum.bytes);
    w->sum.copied += w->sum.loss.copied;
    trod_loss_streams_end(&w->sum.loss);
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

bool trod_writer_one_file(const struct trod_writer *w)
{
    return !w->sinks.directory;
}

uint64_t trod_writer_bytes(const struct trod_writer *w)
{
    uint64_t n = 0;

    for (size_t i = 0; i < w->sinks.n; i++)
        n += w->sinks.sink[i].out ? trod_output_offset(w->sinks.sink[i].out) : 0;
    return n;
}
