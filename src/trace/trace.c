/*
 * trace.c - a trace: its files, its meta, and the order it is read in.
 *
 * Implements trace.h. What order means stands in order_*.c; here files are found, opened, counted
 * and closed.
 */
#include "io/frames.h"
#include "trace/ahead.h"

#include "core/grow.h"
#include "core/sized.h"
#include "trace/files.h"
#include "trace/mark.h"
#include "trace/options.h"
#include "trace/replay.h"
#include "trace/schedule.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct trod_order_ops *const orders[] = {
    [TROD_ORDER_FILE] = &trod_order_file,         [TROD_ORDER_TIME] = &trod_order_time,
    [TROD_ORDER_RECORDED] = &trod_order_recorded, [TROD_ORDER_SYNC] = &trod_order_sync,
    [TROD_ORDER_DYNAMIC] = &trod_order_dynamic,
};

static uint64_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : TROD_NOWHERE;
}

/* Inputs first, in their order; then the rest. */
static void inputs_first(struct trod_files *f, size_t *n_inputs)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        struct trod_file file = f->file[i];

        if (file.role != TROD_ROLE_INPUT)
            continue;
        memmove(&f->file[n + 1], &f->file[n], (i - n) * sizeof file);
        f->file[n++] = file;
    }
    *n_inputs = n;
}

/* The files of PATH, and what they are; *INPUTS counts the inputs so far. */
static int find_in(struct trod_trace *t, const char *path, size_t *inputs, size_t *cap)
{
    const struct trod_format *claimed = NULL;
    const size_t first = t->files.n;
    int rc = trod_files_expand(path, &t->files, &claimed, t->diag);

    for (size_t i = first; rc == TROD_OK && i < t->files.n; i++) {
        if (t->files.file[i].role != TROD_ROLE_INPUT)
            continue;
        if (!trod_grow(&t->claimed, *inputs, cap, sizeof *t->claimed, 8))
            return TROD_ERR_NOMEM;
        t->claimed[(*inputs)++] = claimed;
    }
    return rc;
}

static int find_files(struct trod_trace *t, const char *const *paths, size_t n)
{
    size_t inputs = 0, cap = 0;
    int rc;

    for (size_t i = 0; i < n; i++)
        if ((rc = find_in(t, paths[i], &inputs, &cap)) < 0)
            return rc;
    inputs_first(&t->files, &t->n_inputs);
    for (size_t i = 0; i < t->n_inputs && t->total != TROD_NOWHERE; i++) {
        uint64_t size = size_of(t->files.file[i].path);

        t->total = size == TROD_NOWHERE ? size : t->total + size;
    }
    if (t->n_inputs == 0)
        return trod_error(t->diag, TROD_ERR_USAGE, "trace.no-files", NULL, "no files to read");
    return TROD_OK;
}

/* The meta knows the names of the files: what is written may be called alike. */
static int name_files(struct trod_trace *t)
{
    t->names = calloc(t->n_inputs, sizeof *t->names);
    if (!t->names)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < t->n_inputs; i++)
        t->names[i] = t->files.file[i].path;
    t->meta.files = t->names;
    t->meta.n_files = (uint32_t)t->n_inputs;
    t->meta.several = t->meta.several || t->n_inputs > 1;
    return TROD_OK;
}

/* A trace without files. */
static struct trod_trace *make(const struct trod_trace_options *opt, struct trod_diag *diag)
{
    struct trod_trace *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->opt = *opt;
    t->diag = diag;
    t->slices = TROD_COL_ALL;
    if (t->opt.want == 0)
        t->opt.want = TROD_COL_ALL;
    if (t->opt.skip_instructions)
        t->opt.want |= TROD_COL_INDEX;
    if (t->opt.batch_rows == 0)
        t->opt.batch_rows = TROD_BATCH_ROWS;
    if (t->opt.batch_rows < trod_trace_least_rows())
        t->opt.batch_rows = trod_trace_least_rows();
    trod_meta_init(&t->meta);
    return t;
}

/* The order that T's options ask for; NULL: there is none. */
static const struct trod_order_ops *order_of(const struct trod_trace *t)
{
    const struct trod_trace_options *o = &t->opt;

    if ((size_t)o->order >= sizeof orders / sizeof *orders)
        return NULL;
    if (o->order == TROD_ORDER_RECORDED &&
        (o->lockstep || (o->schedule ? trod_plan_is(o->schedule) : o->idle)))
        return &trod_order_lockstep;
    return orders[o->order];
}

/* T has its files unless RC says otherwise: begin. *OUT is T, or NULL and T is released. */
static int begin(struct trod_trace *t, int rc, struct trod_trace **out)
{
    if (rc == TROD_OK)
        rc = name_files(t);
    if (rc == TROD_OK)
        t->order = order_of(t);
    if (rc == TROD_OK && !t->order)
        rc = trod_error(t->diag, TROD_ERR_UNSUPPORTED, "trace.order", NULL,
                        "no such order of files");
    if (rc == TROD_OK && (!(t->open = calloc(t->n_inputs, sizeof *t->open)) ||
                          !(t->opened = calloc(t->n_inputs, sizeof *t->opened)) ||
                          !(t->frames = calloc(t->n_inputs, sizeof *t->frames)) ||
                          !(t->state = calloc(1, t->order->state_size))))
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK)
        rc = t->order->open(t);
    if (rc < 0) {
        trod_trace_close(t);
        return rc;
    }
    *out = t;
    return TROD_OK;
}

/* The same, at the place AT. */
static int begin_at(struct trod_trace *t, const struct trod_begin *at, int rc,
                    struct trod_trace **out)
{
    t->known = at->known;
    t->opt.begin = NULL;
    rc = begin(t, rc, out);
    if (rc < 0)
        return rc;
    rc = trod_trace_resume(t, &at->mark, at->meta);
    t->known = NULL; /* it outlives AT */
    if (rc == TROD_OK)
        return rc;
    *out = NULL;
    rc = trod_error(t->diag, rc, "trace.begin", NULL,
                    "reading cannot begin where the index says: make it again with 'trod index'");
    trod_trace_close(t);
    return rc;
}

int trod_trace_open(struct trod_trace **out, const char *const *paths, size_t n,
                    const struct trod_trace_options *opt, struct trod_diag *diag)
{
    struct trod_trace_options own;
    struct trod_trace *t;
    int rc;

    *out = NULL;
    if (!trod_sized(&own, sizeof own, sizeof own, opt))
        return trod_error(diag, TROD_ERR_USAGE, "trace.options", NULL,
                          "options are of another version");
    if ((rc = trod_trace_check_options(&own, diag)) < 0)
        return rc;
    t = make(&own, diag);
    if (!t)
        return TROD_ERR_NOMEM;
    if (own.begin)
        return begin_at(t, own.begin, find_files(t, paths, n), out);
    if (own.ahead && !trod_ahead_new(t)) {
        trod_trace_close(t);
        return TROD_ERR_NOMEM;
    }
    rc = begin(t, find_files(t, paths, n), out);
    if (rc == TROD_OK && t->ahead)
        trod_ahead_sync(t);
    return rc;
}

int trod_trace_open_file(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                         const struct trod_input_options *input, struct trod_diag *diag)
{
    return trod_trace_open_known(out, whole, file, NULL, input, NULL, diag);
}

int trod_trace_open_known(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                          const struct trod_candidate *known,
                          const struct trod_input_options *input, struct trod_batch **spare,
                          struct trod_diag *diag)
{
    struct trod_trace *t = make(&whole->opt, diag);
    int rc;

    *out = NULL;
    if (!t)
        return TROD_ERR_NOMEM;
    if (spare) {
        t->spare = *spare;
        *spare = NULL;
    }
    t->opt.order = TROD_ORDER_FILE;
    t->opt.ahead = false;
    t->known = known;
    t->found = &whole->frames[file];
    t->format = whole->format;
    t->meta.isa = whole->isa;
    if (input)
        t->opt.input = *input;
    t->base = whole->base + (uint32_t)file;
    t->n_inputs = 1;
    t->meta.several = whole->meta.several;
    t->total = size_of(whole->files.file[file].path);
    t->claimed = malloc(sizeof *t->claimed);
    rc = t->claimed ? trod_files_add(&t->files, whole->files.file[file].path, TROD_ROLE_INPUT)
                    : TROD_ERR_NOMEM;
    if (t->claimed)
        *t->claimed = whole->claimed[file];
    for (size_t i = whole->n_inputs; rc == TROD_OK && i < whole->files.n; i++)
        rc = trod_files_add(&t->files, whole->files.file[i].path, whole->files.file[i].role);
    return begin(t, rc, out);
}

int trod_trace_open_part(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                         uint32_t part, size_t from, size_t to,
                         const struct trod_input_options *input, struct trod_diag *diag)
{
    int rc = trod_trace_open_file(out, whole, file, input, diag);

    if (rc == TROD_OK) {
        (*out)->meta.part = part;
        trod_reader_part((*out)->open[0], from, to);
    }
    return rc;
}

size_t trod_trace_members(const struct trod_trace *whole, size_t file)
{
    const struct trod_input_options opt = {.no_thread = true, .window = 1 << 12};
    struct trod_input *in;
    struct trod_member m;
    size_t n;

    if (!whole->format || !whole->format->jump ||
        trod_input_open(&in, whole->files.file[file].path, &opt, NULL) < 0)
        return 1;
    n = trod_input_members(in);
    for (size_t k = 0; k + 1 < n; k++)
        if (!trod_input_member(in, k, &m) || m.size == TROD_NOWHERE || m.size < TROD_WINDOW)
            n = 1;
    trod_input_close(in);
    return n ? n : 1;
}

bool trod_trace_rewindable(const struct trod_trace *t)
{
    return t->total != TROD_NOWHERE;
}

static int open_reader(struct trod_trace *t, size_t i, struct trod_reader **out)
{
    struct trod_beside_options beside;
    struct trod_reader_options opt = {
        .from = t->opt.from,
        .file = t->base + (uint32_t)i,
        .input = t->opt.input,
        .head = t->head,
        .known = t->known,
        .files = &t->files,
        .beside = &beside,
        .only = t->format,
    };
    struct trod_input_options input = t->opt.input;
    struct trod_input *in;
    int rc;

    if (t->order != &trod_order_file && t->n_inputs > 1) /* files at once have threads enough */
        input.beside = 0;
    rc = trod_input_open(&in, t->files.file[i].path, &input, t->diag);
    *out = NULL;
    if (rc < 0)
        return rc;
    if (!trod_sized(&beside, sizeof beside, sizeof beside, &t->opt.beside))
        opt.beside = NULL; /* refused when the trace begins */
    if (t->inputs_alone)
        trod_input_alone(in);
    if (t->found)
        trod_input_use_frames(in, t->found);
    if (!opt.from && t->claimed[i])
        opt.from = t->claimed[i]->name;
    rc = trod_reader_open(out, in, &opt, &t->meta, t->diag);
    if (rc == TROD_OK && t->opt.skip_instructions)
        trod_reader_skip(*out, t->opt.skip_instructions, true);
    else if (rc == TROD_OK && t->opt.skip_rows && t->n_inputs == 1)
        trod_reader_skip(*out, t->opt.skip_rows, false);
    t->open[i] = *out;
    t->opened[i] |= rc == TROD_OK;
    if (rc == TROD_OK && t->window)
        trod_reader_window(*out, t->window);
    if (rc == TROD_OK && !t->first) {
        t->first = *out;
        t->format = trod_reader_format(*out);
        for (unsigned k = 0; k < TROD_FILTER_DEPTH; k++)
            t->done.filters[k] = trod_input_filter(in, k);
    }
    return rc;
}

int trod_trace_reader(struct trod_trace *t, size_t i, struct trod_reader **out)
{
    const int rc = open_reader(t, i, out);

    if (rc < 0 && t->refused == TROD_OK)
        t->refused = rc;
    return rc;
}

/* Add what R has read to P. */
static void count(struct trod_trace_progress *p, const struct trod_reader *r)
{
    uint64_t bytes, decoded;

    trod_reader_read(r, &bytes, &decoded);
    p->bytes += bytes;
    p->decoded += decoded;
    p->skipped += trod_reader_skipped(r);
}

void trod_trace_reader_drop(struct trod_trace *t, size_t i)
{
    struct trod_reader *r = t->open[i];

    t->open[i] = NULL;
    if (r && r != t->first)
        trod_reader_close(r);
}

void trod_trace_reader_done(struct trod_trace *t, size_t i)
{
    struct trod_reader *r = t->open[i];

    if (!r)
        return;
    count(&t->done, r);
    t->open[i] = NULL;
    if (r != t->first)
        trod_reader_close(r);
}

/* Take rows from the front of B until opt.skip_rows are left out; the readers did it otherwise. */
static void leave_out(struct trod_trace *t, struct trod_batch *b)
{
    const uint32_t n = t->opt.skip_rows < b->n ? (uint32_t)t->opt.skip_rows : b->n;

    t->opt.skip_rows -= n;
    trod_batch_leave_out(b, n);
}

/* What lies beside the inputs is looked at when it is known what is wanted. */
static int begin_beside(struct trod_trace *t)
{
    const struct trod_beside *b = t->format ? t->format->beside : NULL;

    struct trod_beside_options own;

    t->begun = true;
    if (!b || !(b->columns & t->opt.want))
        return TROD_OK;
    if (!trod_sized(&own, sizeof own, sizeof own, &t->opt.beside))
        return trod_error(t->diag, TROD_ERR_USAGE, "trace.options", NULL,
                          "options are of another version");
    return b->open(&t->beside, &t->files, &own, &t->meta, t->diag);
}

int trod_trace_modules(const struct trod_trace *t,
                       int (*each)(void *user, const struct trod_module *m), void *user,
                       struct trod_diag *diag)
{
    const struct trod_beside *b = t->format ? t->format->beside : NULL;
    struct trod_beside_options own;

    if (!b || !b->modules)
        return TROD_OK;
    if (!trod_sized(&own, sizeof own, sizeof own, &t->opt.beside))
        return trod_error(diag, TROD_ERR_USAGE, "trace.options", NULL,
                          "options are of another version");
    return b->modules(&t->files, &own, each, user, diag);
}

int trod_trace_next(struct trod_trace *t, struct trod_batch **batch)
{
    const int rc = t->ahead ? trod_ahead_next(t, batch) : trod_trace_step(t, batch);

    t->given = rc == 1;
    return rc;
}

int trod_trace_step(struct trod_trace *t, struct trod_batch **batch)
{
    /* also of an input that was passed over to find the first one that can be read */
    if (t->refused < 0 && t->diag && t->diag->strict)
        return t->refused;
    for (;;) {
        int rc = t->order->next(t, batch);

        if (rc == 1 && t->opt.skip_rows && t->n_inputs > 1)
            leave_out(t, *batch);
        if (rc != 1)
            return rc;
        if (!t->begun && (rc = begin_beside(t)) < 0)
            return rc;
        if ((*batch)->n == 0)
            continue;
        if (t->beside)
            t->format->beside->fill(t->beside, *batch);
        return 1;
    }
}

struct trod_batch *trod_trace_last_batch(struct trod_trace *t)
{
    struct trod_batch **slot = t->order->slot ? t->order->slot(t) : NULL, *b = slot ? *slot : NULL;

    if (b)
        *slot = NULL;
    return b;
}

static int swap(struct trod_batch **slot, struct trod_batch *spare)
{
    struct trod_batch *fresh = spare;
    int rc;

    if (!slot || !*slot)
        return TROD_ERR_UNSUPPORTED;
    if (!fresh && (rc = trod_batch_new(&fresh, (*slot)->cap)) < 0)
        return rc;
    trod_batch_clear(fresh);
    fresh->want = (*slot)->want;
    *slot = fresh;
    return TROD_OK;
}

int trod_trace_swap(struct trod_trace *t, struct trod_batch *spare)
{
    return swap(t->order->slot ? t->order->slot(t) : NULL, spare);
}

int trod_trace_take(struct trod_trace *t, struct trod_batch *spare)
{
    struct trod_batch **slot;
    int rc;

    if (!t->given) /* what stands in the slot the caller never had */
        return trod_error(trod_trace_diag(t), TROD_ERR_USAGE, "trace.take", NULL,
                          "there is no batch to take: ask for the next rows first");
    rc = t->ahead && trod_ahead_slot(t->ahead, &slot) ? swap(slot, spare)
                                                      : trod_trace_swap(t, spare);
    t->given = rc < 0;
    return rc;
}

void trod_trace_want(struct trod_trace *t, uint32_t want)
{
    t->opt.want = want ? want : TROD_COL_ALL;
}

void trod_trace_slices(struct trod_trace *t, uint32_t slices)
{
    t->slices = slices;
}

void trod_trace_limit(struct trod_trace *t, uint32_t rows)
{
    t->limit = rows;
}

struct trod_diag *trod_trace_diag(const struct trod_trace *t)
{
    return t->ahead ? trod_ahead_caller(t->ahead) : t->diag;
}

const struct trod_meta *trod_trace_meta(const struct trod_trace *t)
{
    return t->ahead ? trod_ahead_meta(t->ahead) : &t->meta;
}

int trod_trace_learn(struct trod_trace *t, const struct trod_trace *part)
{
    const int rc = trod_meta_learn(&t->meta, &part->meta);

    if (t->ahead)
        trod_ahead_sync(t);
    return rc;
}

const struct trod_format *trod_trace_format(const struct trod_trace *t)
{
    return t->format;
}

const void *trod_trace_format_options(const struct trod_trace *t)
{
    return t->first ? trod_reader_format_options(t->first) : NULL;
}

size_t trod_trace_files(const struct trod_trace *t)
{
    return t->n_inputs;
}

const char *trod_trace_path(const struct trod_trace *t, size_t i)
{
    return i < t->n_inputs ? t->files.file[i].path : NULL;
}

uint64_t trod_trace_bytes(const struct trod_trace *t, size_t i)
{
    return i < t->n_inputs ? size_of(t->files.file[i].path) : TROD_NOWHERE;
}

bool trod_trace_opened(const struct trod_trace *t, size_t i)
{
    return i < t->n_inputs && t->opened[i];
}

void trod_trace_progress(const struct trod_trace *t, struct trod_trace_progress *p)
{
    if (!t->ahead || !trod_ahead_progress(t->ahead, p))
        trod_trace_count(t, p);
}

void trod_trace_count(const struct trod_trace *t, struct trod_trace_progress *p)
{
    *p = t->done;
    p->total = t->total;
    for (size_t i = 0; i < t->n_inputs; i++)
        if (t->open[i])
            count(p, t->open[i]);
}

void trod_trace_close(struct trod_trace *t)
{
    if (!t)
        return;
    if (t->ahead)
        trod_ahead_stop(t->ahead);
    if (t->state)
        t->order->close(t);
    for (size_t i = 0; t->open && i < t->n_inputs; i++)
        if (t->open[i] != t->first)
            trod_reader_close(t->open[i]);
    trod_reader_close(t->first);
    if (t->beside)
        t->format->beside->close(t->beside);
    trod_batch_free(t->spare);
    free(t->names);
    free(t->claimed);
    for (size_t i = 0; t->frames && i < t->n_inputs; i++)
        trod_frames_fini(&t->frames[i]);
    free(t->frames);
    free(t->open);
    free(t->opened);
    free(t->state);
    trod_files_fini(&t->files);
    trod_meta_fini(&t->meta);
    trod_ahead_free(t->ahead);
    free(t);
}
