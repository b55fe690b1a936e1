/*
 * layout.c - drmemtrace directories: names of files, and the schedule files beside them.
 *
 * Implements struct trod_layout after docs/formats/drmemtrace-writing.md, "Directories". All names
 * follow from the trace: the same trace gives the same directory.
 */
#include "core/suffix.h"
#include "format/drmemtrace/beside.h"
#include "format/drmemtrace/code_file.h"
#include "format/drmemtrace/encode.h"
#include "format/drmemtrace/raw.h"
#include "io/filter.h"
#include "trod/io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = 1 << 26, SCHEDULE_BYTES = 32, PATH_BYTES = 4096, NAME_BYTES = 256 };

/* Are entries copied? The same decision as in drm_begin and drm_target. */
static bool copies(const struct drm_options *o, const struct trod_meta *m, uint32_t drops)
{
    return m->format && strcmp(m->format, "drmemtrace") == 0 && !o->version && !o->chunk &&
           !o->entry && !o->encodings && !drops;
}

static const char *compress_of(const void *opt)
{
    const struct drm_options *o = opt;

    return o->container ? o->container : "zip";
}

static const char *suffix_of(const char *compress)
{
    static const char *const known[][2] = {
        {"zip", ".zip"}, {"zip-zstd", ".zip"}, {"zip-stored", ".zip"}, {"gzip", ".gz"},
        {"lz4", ".lz4"}, {"zstd", ".zst"},     {"xz", ".xz"},          {"snappy", ".sz"},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i][0], compress) == 0)
            return known[i][1];
    return "";
}

/*
 * A copy must know where chunks end and which thread runs when. Archives have chunks already; other
 * files may have to be cut, and then the copy is written anew from there on.
 */
static uint32_t wants(const void *opt, const struct trod_meta *m, uint32_t drops)
{
    const bool copy = copies(opt, m, drops);

    if (copy && m->parts)
        return TROD_COL_KIND | TROD_COL_SUB | TROD_COL_VALUE | TROD_COL_RAW;
    return (DRM_WRITES & ~(copy ? 0 : (uint32_t)TROD_COL_RAW)) | TROD_COL_KIND | TROD_COL_FLAGS;
}

/*
 * Does each input become a file? Inputs that are copied do, and raw ones, which hold a thread each.
 */
static bool by_file(const struct drm_options *o, const struct trod_meta *m, uint32_t drops)
{
    return copies(o, m, drops) || (m->dialect && strcmp(m->dialect, raw_dialect) == 0);
}

/* Files become files, or there is a file for each thread. */
static uint32_t key_of(const void *opt, const struct trod_meta *m, uint32_t stream, uint32_t drops)
{
    if (!by_file(opt, m, drops))
        return stream;
    return m->filetype & TROD_DRM_CORE_SHARDED || stream >= m->n_streams ? m->file
                                                                         : m->streams[stream].file;
}

/* Length of NAME without the suffixes of compression and format. */
static size_t stem(const char *name)
{
    static const char *const kinds[] = {".trace", ".memtrace", ".raw"};
    const size_t n = trod_filter_bare(name, strlen(name), true);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (trod_ends_with(name, n, kinds[i]))
            return n - strlen(kinds[i]);
    return n;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The folder of a window that PATH lies in: "window.0001/"; nothing where it lies in none. */
static int window_of(const char *path, const char **name)
{
    const char *end = strrchr(path, '/'), *at = end;

    while (at && at > path && at[-1] != '/')
        at--;
    *name = at ? at : path;
    return at && strncmp(at, "window.", 7) == 0 ? (int)(end - at) + 1 : 0;
}

static bool same_window(const char *a, const char *b)
{
    const char *x, *y;
    const int n = window_of(a, &x);

    return n == window_of(b, &y) && memcmp(x, y, (size_t)n) == 0;
}

/* The name of input file FILE, if it has one of its own. */
static bool name_of_file(const struct trod_meta *m, uint32_t file, char *out, size_t n)
{
    const char *name;
    size_t len;

    if (!m->files || file >= m->n_files || strcmp(m->files[file], "-") == 0)
        return false;
    name = base_name(m->files[file]);
    len = stem(name);
    if (len == 0 || len >= n)
        return false;
    for (uint32_t i = 0; i < file; i++) {
        const char *other = base_name(m->files[i]);

        if (stem(other) == len && memcmp(other, name, len) == 0 &&
            same_window(m->files[i], m->files[file]))
            return false;
    }
    memcpy(out, name, len);
    out[len] = '\0';
    return true;
}

/* Is STREAM the only one of its file? */
static bool alone(const struct trod_meta *m, uint32_t stream)
{
    if (m->filetype & TROD_DRM_CORE_SHARDED)
        return false;
    for (uint32_t i = 0; i < m->n_streams; i++)
        if (i != stream && m->streams[i].file == m->streams[stream].file)
            return false;
    return true;
}

/* drmemtrace.APP.TID.RANDOM, where RANDOM is computed from the other two. */
static void name_of_thread(const struct drm_options *o, const struct trod_meta *m, uint32_t stream,
                           char *out, size_t n)
{
    const struct trod_stream *s = stream < m->n_streams ? &m->streams[stream] : NULL;
    uint64_t tid = s && s->tid != TROD_NOWHERE ? s->tid : stream + 1;
    uint64_t h = (tid * 64 + stream + 1) * UINT64_C(0x9e3779b97f4a7c15);

    snprintf(out, n, "drmemtrace.%.100s.%05" PRIu64 ".%04u", o->app ? o->app : "trod", tid,
             (unsigned)((h >> 32) % 10000));
}

/*
 * The input that gives file KEY its place in the folder: the file that is copied, or that its
 * thread comes from. UINT32_MAX: none. *OWN: KEY is the only file made from it, and may have its
 * name.
 */
static uint32_t source_of(const struct drm_options *o, const struct trod_meta *m, uint32_t key,
                          uint32_t drops, bool *own)
{
    *own = false;
    if (!m->files || !m->format || strcmp(m->format, "drmemtrace") != 0)
        return UINT32_MAX;
    if (by_file(o, m, drops)) {
        *own = key < m->n_files;
        return *own ? key : UINT32_MAX;
    }
    if (key >= m->n_streams || m->streams[key].file >= m->n_files)
        return UINT32_MAX;
    *own = alone(m, key);
    return m->streams[key].file;
}

static int place(const void *opt, const struct trod_meta *m, uint32_t key, uint32_t drops,
                 const char *dir, const char *suffix, char *out, size_t n)
{
    char name[NAME_BYTES];
    const char *window = "";
    bool own;
    uint32_t file = source_of(opt, m, key, drops, &own);
    int in = file == UINT32_MAX ? 0 : window_of(m->files[file], &window);
    size_t len = strlen(dir);

    if (!own || !name_of_file(m, file, name, sizeof name))
        name_of_thread(opt, m, key, name, sizeof name);
    while (len > 1 && dir[len - 1] == '/')
        len--;
    return snprintf(out, n, "%.*s/trace/%.*s%s.trace%s", (int)len, dir, in, window, name, suffix) <
                   (int)n
               ? TROD_OK
               : TROD_ERR_USAGE;
}

/* --- schedule files --- */

static int compare(const struct drm_schedule *x, const struct drm_schedule *y)
{
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->start == y->start ? 0 : x->start < y->start ? -1 : 1;
}

static int by_time(const void *a, const void *b)
{
    return compare(a, b);
}

static int by_cpu(const void *a, const void *b)
{
    const struct drm_schedule *x = a, *y = b;

    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return compare(x, y);
}

static int put_entry(struct trod_output *out, const struct drm_schedule *s)
{
    uint8_t p[SCHEDULE_BYTES];

    trod_store_le64(p, s->tid);
    trod_store_le64(p + 8, s->time);
    trod_store_le64(p + 16, s->cpu);
    trod_store_le64(p + 24, s->start);
    return trod_output_write(out, p, sizeof p);
}

/* Join consecutive entries of one thread in a list: keep the first of each. */
static int put_serial(struct trod_output *out, const struct drm_schedule *s, size_t n)
{
    int rc = TROD_OK;

    for (size_t i = 0; i < n && rc == TROD_OK; i++)
        if (i == 0 || s[i].tid != s[i - 1].tid)
            rc = put_entry(out, &s[i]);
    return rc;
}

static int put_cpus(struct trod_output *out, const struct drm_schedule *s, size_t n)
{
    char name[24];
    int rc = TROD_OK;

    for (size_t i = 0, k; i < n && rc == TROD_OK; i += k) {
        for (k = 1; i + k < n && s[i + k].cpu == s[i].cpu;)
            k++;
        snprintf(name, sizeof name, "%" PRIu64, s[i].cpu);
        rc = trod_output_part(out, name);
        if (rc == TROD_OK)
            rc = put_serial(out, s + i, k);
    }
    return rc;
}

/* Where the files beside those of one window go: "trace/window.0001/", or "trace/". */
struct folder {
    const char *dir, *window;
    int window_n;
    uint32_t file; /* an input of it; UINT32_MAX: there is none */
};

static int create_file(struct trod_output **out, const struct folder *f, const char *name,
                       const char *compress, struct trod_diag *diag)
{
    const struct trod_output_options opt = {.compress = compress, .no_thread = true};
    char path[PATH_BYTES];

    if (snprintf(path, sizeof path, "%s/trace/%.*s%s", f->dir, f->window_n, f->window, name) >=
        (int)sizeof path)
        return trod_error(diag, TROD_ERR_USAGE, "drmemtrace.path", NULL, "path is too long");
    return trod_output_create(out, path, &opt, diag);
}

static int put_file(const struct folder *f, const char *name, const void *p, size_t n,
                    struct trod_diag *diag)
{
    struct trod_output *out;
    int rc = create_file(&out, f, name, "none", diag);

    if (rc < 0)
        return rc;
    rc = trod_output_write(out, p, n);
    if (rc == TROD_OK)
        return trod_output_commit(out);
    trod_output_discard(out);
    return rc;
}

/*
 * Write the file NAME beside the trace: the bytes that META keeps, else a copy of the file beside
 * the input FILE. One that cannot be read is a warning: the trace can be read without it.
 */
static int keep_file(const struct folder *f, const char *name, const struct trod_meta *meta,
                     uint32_t file, struct trod_diag *diag)
{
    struct trod_buf b = {0};
    char path[PATH_BYTES];
    const char *why;
    size_t n;
    const void *p = trod_meta_file(meta, name, &n);
    int rc;

    if (p)
        return put_file(f, name, p, n, diag);
    if (file == UINT32_MAX || !drm_find_beside(meta->files[file], name, path, sizeof path))
        return TROD_OK;
    rc = drm_read_file(path, LIST_BYTES, &b, &why);
    if (rc == TROD_OK) {
        rc = put_file(f, name, b.p, b.n, diag);
    } else {
        const struct trod_place at = trod_place_path(path);

        trod_warning(diag, rc, "drmemtrace.beside", &at, "cannot copy '%s': %s", path, why);
        rc = TROD_OK;
    }
    trod_buf_fini(&b);
    return rc;
}

static int write_file(const struct folder *f, const char *name, const char *compress,
                      const struct drm_schedule *s, size_t n, struct trod_diag *diag)
{
    struct trod_output *out;
    int rc = create_file(&out, f, name, compress, diag);

    if (rc < 0)
        return rc;
    rc = strcmp(compress, "zip") == 0 ? put_cpus(out, s, n) : put_serial(out, s, n);
    if (rc == TROD_OK)
        return trod_output_commit(out);
    trod_output_discard(out);
    return rc;
}

/* The schedules of the N encoders ENC, which are of one window. */
static int put_schedules(void *const *enc, size_t n, const struct folder *f, struct trod_diag *diag)
{
    struct drm_schedule *all;
    size_t count = 0, at = 0;
    int rc;

    for (size_t i = 0; i < n; i++)
        count += ((const struct drm_enc *)enc[i])->side->n_schedule;
    all = calloc(count ? count : 1, sizeof *all);
    if (!all)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct drm_enc_side *s = ((const struct drm_enc *)enc[i])->side;

        for (size_t k = 0; k < s->n_schedule; k++)
            if (s->schedule[k].tid != TROD_NOWHERE)
                all[at++] = s->schedule[k];
    }
    qsort(all, at, sizeof *all, by_time);
    rc = write_file(f, "serial_schedule.bin.gz", "gzip", all, at, diag);
    qsort(all, at, sizeof *all, by_cpu);
    if (rc == TROD_OK)
        rc = write_file(f, "cpu_schedule.bin.zip", "zip", all, at, diag);
    free(all);
    return rc;
}

static struct folder folder_of(const struct drm_enc *e, const char *dir)
{
    struct folder f = {.dir = dir, .window = ""};
    bool own;
    uint32_t file = source_of(e->opt, e->meta, e->key, e->drops, &own);

    f.file = file;
    if (file != UINT32_MAX)
        f.window_n = window_of(e->meta->files[file], &f.window);
    return f;
}

static bool same_folder(const struct folder *a, const struct folder *b)
{
    return a->window_n == b->window_n && memcmp(a->window, b->window, (size_t)a->window_n) == 0;
}

static int extras(void *const *enc, size_t n, const char *dir, struct trod_diag *diag)
{
    void **rest = calloc(n ? n : 1, 2 * sizeof *rest), **some = rest ? rest + n : NULL;
    static const char *const kept[] = {"funclist.log", "modules.log", "encodings.bin",
                                       "v2p.textproto"};
    int rc = rest ? TROD_OK : TROD_ERR_NOMEM;

    if (rest && n)
        memcpy(rest, enc, n * sizeof *rest);
    while (n && rc == TROD_OK) {
        const struct drm_enc *first = rest[0];
        const struct folder f = folder_of(first, dir);
        size_t n_rest = 0, n_some = 0;

        for (size_t i = 0; i < n; i++) {
            const struct folder other = folder_of(rest[i], dir);

            if (same_folder(&f, &other))
                some[n_some++] = rest[i];
            else
                rest[n_rest++] = rest[i];
        }
        rc = put_schedules(some, n_some, &f, diag);
        for (size_t i = 0; i < sizeof kept / sizeof *kept && rc == TROD_OK; i++)
            rc = keep_file(&f, kept[i], first->meta, f.file, diag);
        n = n_rest;
    }
    free(rest);
    return rc;
}

const struct trod_layout drm_layout = {
    .compress = compress_of,
    .suffix = suffix_of,
    .wants = wants,
    .key = key_of,
    .place = place,
    .extras = extras,
};
