/*
 * attach.c - the index of a trace that is opened; making one. Implements attach.h and the part of
 * trod/navigate.h about indexes.
 */
#include "navigate/attach.h"

#include "core/sized.h"
#include "io/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096 };

/* TRACE from the root on. */
static bool whole_path(const char *trace, char *out, size_t size)
{
    char folder[PATH];
    int n;

    if (trace[0] == '/')
        n = snprintf(out, size, "%s", trace);
    else if (getcwd(folder, sizeof folder))
        n = snprintf(out, size, "%s/%s", folder, trace);
    else
        return false;
    return n > 0 && (size_t)n < size;
}

/*
 * What the index is called after: the file of a trace of one; else the first path, without slashes
 * at its end, with a hash of the others where there are any.
 */
static bool called(const struct trod_trace *t, const char *const *paths, size_t n, char *out,
                   size_t size)
{
    const char *path = trod_trace_files(t) == 1 ? trod_trace_path(t, 0) : paths[0];
    size_t len = strlen(path);
    uint64_t hash = 0;
    int k;

    while (len > 1 && path[len - 1] == '/')
        len--;
    /* a folder without a name of its own */
    if (path[len - 1] == '.' && (len == 1 || path[len - 2] == '/' || path[len - 2] == '.'))
        k = snprintf(out, size, "%.*s/trace", (int)len, path);
    else
        k = snprintf(out, size, "%.*s", (int)len, path);
    if (k <= 0 || (size_t)k >= size || trod_trace_files(t) == 1 || n == 1)
        return k > 0 && (size_t)k < size;
    for (size_t i = 1; i < n; i++)
        hash = nav_hash(hash, paths[i], strlen(paths[i]));
    len = (size_t)k;
    k = snprintf(out + len, size - len, "+%llu-%016llx", (unsigned long long)(n - 1),
                 (unsigned long long)hash);
    return k > 0 && (size_t)k < size - len;
}

bool nav_index_path(const struct trod_trace *t, const char *const *paths, size_t n, const char *dir,
                    bool cache, char *out, size_t size)
{
    char trace[PATH], real[2 * PATH];
    const char *slash, *name, *home = getenv("XDG_CACHE_HOME");
    int k;

    if (!called(t, paths, n, trace, sizeof trace))
        return false;
    slash = strrchr(trace, '/');
    name = slash ? slash + 1 : trace;
    if (dir)
        k = snprintf(out, size, "%s/%s.trodx", dir, name);
    else if (!cache)
        k = snprintf(out, size, "%s.trodx", trace);
    else if (!whole_path(trace, real, sizeof real) || (!home && !getenv("HOME")))
        return false;
    else
        k = snprintf(out, size, "%s%s/trod/%016llx-%s.trodx", home ? home : getenv("HOME"),
                     home ? "" : "/.cache", (unsigned long long)nav_hash(0, real, strlen(real)),
                     name);
    return k > 0 && (size_t)k < size;
}

/* The same for one file of it. */
static int source_fits(const struct nav_bound *was, const char *path, const char **why)
{
    struct nav_bound now;
    int rc = nav_bind(path, false, &now);

    if (rc < 0)
        return rc;
    *why = now.size > was->size ? "the trace has grown since" : "it is of another trace";
    if (now.size != was->size || now.edges != was->edges)
        return 0;
    if (now.mtime_s == was->mtime_s && now.mtime_ns == was->mtime_ns)
        return 1;
    /* touched or copied: the same only if all of it is */
    *why = "the trace has changed since";
    rc = nav_bind(path, true, &now);
    return rc < 0 ? rc : now.whole == was->whole;
}

int nav_index_fits(const struct nav_index *x, const struct trod_trace *t, const char *options,
                   const char *format, const char **why)
{
    int rc = 1;

    *why = "it was made with other options of reading";
    if (strcmp(x->options, options) != 0 || strcmp(x->format, format) != 0)
        return 0;
    *why = "it is of another trace";
    if (x->n_sources != trod_trace_files(t))
        return 0;
    for (uint32_t i = 0; rc == 1 && i < x->n_sources; i++)
        rc = source_fits(&x->source[i].bound, trod_trace_path(t, i), why);
    return rc;
}

static const char *options_of(const struct trod_trace_options *opt)
{
    return opt && opt->from ? opt->from : "";
}

/* Take the index at PATH, if there is one and it fits. */
static int take(struct trod_nav *nav, const char *path)
{
    const char *why;
    struct nav_index *x;
    int rc = access(path, R_OK) == 0 ? nav_index_open(&x, path, &why) : TROD_ERR_UNKNOWN;

    if (rc == TROD_ERR_UNKNOWN || rc == TROD_ERR_NOMEM)
        return rc == TROD_ERR_NOMEM ? rc : TROD_OK;
    if (rc == TROD_OK) {
        rc = nav_index_fits(x, nav->trace, options_of(&nav->topt), nav->known.format->name, &why);
        if (rc == 1 && x->problems && nav->diag && nav->diag->strict) {
            nav_index_close(x); /* the first damage ends the reading */
            return TROD_OK;
        }
        if (rc == 1) {
            x->meta.format = nav->known.format->name;
            x->meta.driver = nav->known.format;
            x->meta.dialect = nav->known.dialect;
            x->meta.bits = nav->known.bits;
            x->meta.files = trod_trace_meta(nav->trace)->files;
            x->meta.n_files = trod_trace_meta(nav->trace)->n_files;
            nav->index = x;
            nav->rows = x->rows;
            nav->reported = TROD_NOWHERE;
            return TROD_OK;
        }
        nav_index_close(x);
    }
    trod_warning(nav->diag, TROD_OK, "index.not-used", NULL,
                 "index '%s' is not used: %s; make it again with 'trod index'", path, why);
    return TROD_OK;
}

int nav_attach(struct trod_nav *nav, const char *dir)
{
    const char *const *paths = (const char *const *)nav->paths;
    char path[PATH];
    int rc = TROD_OK;

    if (nav->topt.order != TROD_ORDER_FILE)
        return rc;
    if (nav_index_path(nav->trace, paths, nav->n_paths, dir, false, path, sizeof path))
        rc = take(nav, path);
    if (rc == TROD_OK && !nav->index && !dir &&
        nav_index_path(nav->trace, paths, nav->n_paths, NULL, true, path, sizeof path))
        rc = take(nav, path);
    if (rc == TROD_OK && nav->index && nav->index->problems)
        trod_error(nav->diag, TROD_ERR_CORRUPT, "index.problems", NULL,
                   "trace has %llu damaged place%s, reported when it was indexed",
                   (unsigned long long)nav->index->problems, nav->index->problems == 1 ? "" : "s");
    return rc;
}

const char *trod_nav_index(const struct trod_nav *nav)
{
    return nav->index ? nav->index->path : NULL;
}

int trod_nav_trace(struct trod_nav *nav, uint64_t row, uint32_t want, struct trod_diag *diag,
                   struct trod_trace **out, uint64_t *first)
{
    int rc = nav_open_at(nav, row, out, first, diag);

    if (nav_distrust(nav, rc))
        rc = nav_open_at(nav, row, out, first, diag);
    if (rc == TROD_OK) {
        trod_trace_want(*out, want);
        (*out)->known = NULL; /* it outlives NAV */
    }
    return rc;
}

uint64_t trod_index_whole_files(const struct trod_nav *nav)
{
    const struct trod_input_options opt = {.struct_size = sizeof opt, .no_thread = true};
    uint64_t n = 0;

    for (size_t i = 0; nav->trace && i < trod_trace_files(nav->trace); i++) {
        struct trod_input *in;
        struct trod_diag quiet;

        trod_diag_init(&quiet, NULL, NULL);
        if (trod_input_open(&in, trod_trace_path(nav->trace, i), &opt, &quiet) != TROD_OK)
            continue;
        n += trod_input_whole(in);
        trod_input_close(in);
    }
    return n;
}

bool trod_index_about(const struct trod_nav *nav, struct trod_index_info *out)
{
    const struct nav_index *x = nav->index;

    memset(out, 0, sizeof *out);
    if (!x)
        return false;
    out->bytes = x->size;
    out->files = x->n_sources;
    for (uint32_t i = 0; i < x->n_sources; i++)
        out->trace_bytes += x->source[i].bound.size;
    out->rows = x->rows;
    out->instructions = x->insns;
    out->blocks = x->n_blocks;
    out->segments = x->n_segments;
    out->registers = x->names.n;
    out->streams = x->meta.n_streams;
    out->problems = x->problems;
    out->resumable = x->complete;
    for (unsigned k = 0; k < TROD_FRAME_KINDS; k++)
        out->activations += x->calls.entered[k];
    for (uint32_t k = 0; k < x->n_blocks; k++)
        out->memory_blocks += (x->block[k].flags & NAV_B_MEMORY) != 0;
    for (uint32_t i = 0; i < x->n_sections; i++) {
        const struct nav_section *s = &x->section[i];
        uint64_t *const part[] = {
            NULL,        &out->directory, &out->directory,    &out->log,       &out->states,
            &out->lines, &out->sites,     &out->registers_at, &out->directory, &out->windows,
            &out->calls, &out->memory,    &out->marks,        &out->lines};

        if (s->id && s->id < sizeof part / sizeof *part)
            *part[s->id] += s->length;
        if (s->id == NAV_S_TREE)
            out->calls += s->length;
        if (s->id == NAV_S_EXECUTED)
            out->sites += s->length;
    }
    return true;
}

uint64_t trod_index_part_bytes(const struct trod_nav *nav, enum trod_index_part part)
{
    static const uint8_t ids[TROD_INDEX_PARTS][4] = {
        [TROD_INDEX_VALUES] = {NAV_S_VALUES},
        [TROD_INDEX_SHAPES] = {NAV_S_SHAPES, NAV_S_TEXTS},
        [TROD_INDEX_CLASSES] = {NAV_S_CLASSES, NAV_S_CLASS_ROWS, NAV_S_SPREAD, NAV_S_WITHIN}};
    const struct nav_index *x = nav->index;
    uint64_t bytes = 0;

    for (uint32_t i = 0; x && part < TROD_INDEX_PARTS && i < x->n_sections; i++)
        if (x->section[i].id && memchr(ids[part], (int)x->section[i].id, sizeof ids[part]))
            bytes += x->section[i].length;
    return bytes;
}

/* ---- making one */

/* The folder of PATH is there, or made (the cache). */
static bool make_folder(char *path)
{
    char *last = strrchr(path, '/');
    bool ok = false;

    for (char *p = path + 1; last && p <= last; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        ok = mkdir(path, 0777) == 0 || access(path, W_OK) == 0 || p < last;
        *p = '/';
    }
    return ok;
}

/* The trace that is indexed. */
struct subject {
    struct trod_trace *trace;
    const char *const *paths;
    size_t n;
    const struct trod_trace_options *topt;
    const struct nav_bound *before; /* the only file before it was opened, or NULL */
};

/* Where its index goes: beside it, or, where nobody may write there, to the cache. */
static bool choose(const struct subject *s, const char *dir, char *out, size_t size)
{
    char folder[2 * PATH];
    char *slash;

    if (dir)
        return nav_index_path(s->trace, s->paths, s->n, dir, false, out, size);
    if (!nav_index_path(s->trace, s->paths, s->n, NULL, false, folder, sizeof folder))
        return false;
    slash = strrchr(folder, '/');
    if (slash)
        slash[1] = '\0';
    if (access(slash ? folder : ".", W_OK) == 0)
        return nav_index_path(s->trace, s->paths, s->n, NULL, false, out, size);
    return nav_index_path(s->trace, s->paths, s->n, NULL, true, out, size) && make_folder(out);
}

/* Is there one already that fits, with the calls of SYMBOLS? Its path to WHERE. */
static bool there(const struct subject *s, const char *dir, const struct trod_symbols *symbols,
                  char *where, size_t size)
{
    struct trod_nav_options opt = {.struct_size = sizeof opt, .trace = s->topt, .index_dir = dir};
    struct trod_nav *nav;
    bool found = false;

    if (trod_nav_open(&nav, s->paths, s->n, &opt, NULL) == TROD_OK) {
        trod_nav_follow(nav, symbols);
        found = nav_followed_counts(nav) && nav_index_check_all(nav->index) == TROD_OK;
        if (found)
            snprintf(where, size, "%s", trod_nav_index(nav));
        trod_nav_close(nav);
    }
    return found;
}

/* The instruction set that registers are named by: that of the beginning, as for no index. */
static int look(const struct subject *s, struct nav_build_options *build)
{
    struct trod_nav_options opt = {.struct_size = sizeof opt, .trace = s->topt, .no_index = true};
    struct trod_nav *nav;
    int rc = trod_nav_open(&nav, s->paths, s->n, &opt, NULL);

    if (rc < 0)
        return rc;
    build->isa = trod_nav_meta(nav)->isa;
    build->endian = trod_nav_meta(nav)->endian;
    trod_nav_close(nav);
    return TROD_OK;
}

/* The index at PATH, of trace T of one file as it was before it grew; or NULL. */
static struct nav_index *of_before(const char *path, const struct trod_trace *t,
                                   const struct nav_build_options *build)
{
    const char *trace = trod_trace_path(t, 0), *why;
    struct nav_bound now, then;
    const struct nav_bound *was;
    struct nav_index *x;

    if (access(path, R_OK) != 0 || nav_index_open(&x, path, &why) < 0)
        return NULL;
    was = &x->source[0].bound;
    if (trod_trace_files(t) == 1 && x->n_sources == 1 && strcmp(x->options, build->options) == 0 &&
        strcmp(x->format, trod_trace_format(t)->name) == 0 &&
        nav_bind(trace, false, &now) == TROD_OK && now.size > was->size &&
        nav_bind_as(trace, was->size, &then) == TROD_OK && then.edges == was->edges &&
        then.whole == was->whole)
        return x;
    nav_index_close(x);
    return NULL;
}

/* Can one that is made as BUILD says go on from X? */
static bool goes_on(const struct nav_index *x, const struct nav_build_options *build)
{
    const uint64_t functions = nav_functions(build->symbols);

    return x->complete && x->problems == 0 && x->n_segments > 1 &&
           (functions == 0 || functions == x->functions) && nav_index_check_all(x) == TROD_OK;
}

/* An index of S to WHERE. */
static int make(const struct subject *s, const char *where, struct nav_build_options *build)
{
    struct nav_index *before = of_before(where, s->trace, build);
    struct trod_symbols *own = NULL;
    int rc = TROD_OK;

    if (before && !build->symbols)
        build->symbols = own = nav_functions_of(before);
    if (before && goes_on(before, build)) {
        build->of = before;
        build->isa = before->names.isa;
        build->endian = before->endian;
    } else {
        rc = look(s, build);
    }
    if (rc == TROD_OK)
        rc = nav_index_build(s->trace, where, build);
    nav_index_close(before);
    trod_symbols_free(own);
    return rc;
}

static int make_there(const struct subject *s, const struct trod_index_options *opt, bool *made,
                      char *where, size_t size, struct trod_diag *diag)
{
    struct nav_build_options build = {.diag = diag,
                                      .options = options_of(s->topt),
                                      .jobs = opt->jobs,
                                      .symbols = opt->symbols,
                                      .before = s->before,
                                      .progress = opt->progress,
                                      .user = opt->user};
    int rc = TROD_OK;

    if (!choose(s, opt->index_dir, where, size))
        return trod_error(diag, TROD_ERR_IO, "index.place", NULL,
                          "there is no folder to write the index of '%s' to: name one with "
                          "--index",
                          s->paths[0]);
    if (!(opt->upgrade && access(where, F_OK) != 0)) {
        rc = make(s, where, &build);
        *made = rc == TROD_OK;
    }
    return rc;
}

int trod_index_make(const char *path, const struct trod_index_options *options, bool *made,
                    char *where, size_t size, struct trod_diag *diag)
{
    struct trod_index_options opt;
    struct trod_trace_options topt = {.struct_size = sizeof topt};
    struct subject s = {.topt = &topt};
    struct nav_bound before;
    const char **paths;
    int rc;

    *made = false;
    if (!trod_sized(&opt, sizeof opt, offsetof(struct trod_index_options, symbols), options))
        return trod_error(diag, TROD_ERR_USAGE, "index.options", NULL,
                          "options are of another version");
    if (opt.trace)
        topt = *opt.trace;
    topt.want = TROD_COL_ALL & ~(uint32_t)TROD_COL_MADE;
    topt.order = TROD_ORDER_FILE;
    topt.skip_rows = topt.skip_instructions = 0;
    topt.batch_rows = 0;
    if (!(paths = calloc(opt.n_more + 1, sizeof *paths)))
        return TROD_ERR_NOMEM;
    paths[0] = path;
    for (size_t i = 0; i < opt.n_more; i++)
        paths[i + 1] = opt.more[i];
    s.paths = paths;
    s.n = opt.n_more + 1;
    s.before = s.n == 1 && nav_bind(path, false, &before) == TROD_OK ? &before : NULL;
    rc = trod_trace_open(&s.trace, s.paths, s.n, &topt, diag);
    if (rc == TROD_OK &&
        (trod_trace_files(s.trace) != 1 || strcmp(trod_trace_path(s.trace, 0), path) != 0))
        s.before = NULL;
    if (rc == TROD_OK && !trod_trace_rewindable(s.trace))
        rc = nav_once_only(s.paths, s.n, diag);
    else if (rc == TROD_OK && (opt.again || !there(&s, opt.index_dir, opt.symbols, where, size)))
        rc = make_there(&s, &opt, made, where, size, diag);
    trod_trace_close(s.trace);
    free(paths);
    return rc;
}
