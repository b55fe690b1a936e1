/*
 * sinks.c - the output files of a writer.
 *
 * Implements sinks.h. A trace may have thousands of files and rows for any of them in any order:
 * those used last are open, the others parked, so that neither file descriptors nor memory run out.
 */
#include "trace/sinks.h"

#include "core/grow.h"
#include "core/inputs.h"
#include "core/suffix.h"
#include "io/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPEN_MAX_SINKS = 16,
    DESCRIPTORS_ELSEWHERE = 10, /* standard ones, inputs, the schedule: not to be taken */
    PATH_BYTES = 4096,
    KEYS_MAX = 1 << 21
};

/* Does PATH look like a file of format F? */
static bool has_suffix(const struct trod_format *f, const char *path)
{
    if (trod_writes_of_path(path))
        return true;
    for (size_t i = 0; f->suffixes && f->suffixes[i]; i++)
        if (trod_ends_with(path, strlen(path), f->suffixes[i]))
            return true;
    return false;
}

bool trod_sinks_directory(const struct trod_format *f, const char *path,
                          const struct trod_output_options *output)
{
    struct stat st;
    size_t n = strlen(path);
    bool exists;

    (void)output;
    if (!(f->flags & TROD_FMT_PER_STREAM) || strcmp(path, "-") == 0)
        return false;
    exists = stat(path, &st) == 0;
    if ((n > 0 && path[n - 1] == '/') || (exists && S_ISDIR(st.st_mode)))
        return true;
    return f->layout && !exists && !has_suffix(f, path);
}

/* DIR/NUMBER.NAME.SUFFIX; characters that do not belong in names become '_'. */
static int stream_path(const struct trod_sinks *s, uint32_t stream, char *out, size_t n)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    const struct trod_format *f = s->spec->format;
    const char *suffix = f->suffixes && f->suffixes[0] ? f->suffixes[0] : "";
    char name[128];
    size_t len = 0;

    if (stream < s->meta->n_streams) {
        const struct trod_stream *t = &s->meta->streams[stream];

        for (; len < t->name_len && len < sizeof name - 1; len++)
            name[len] = strchr(safe, t->name[len]) ? t->name[len] : '_';
    }
    name[len] = '\0';
    if (snprintf(out, n, "%s/%05u%s%s%s", s->folder.work, stream, len ? "." : "", name, suffix) >=
        (int)n)
        return trod_error(s->diag, TROD_ERR_USAGE, "writer.path", NULL, "path is too long");
    return TROD_OK;
}

/* Make the folders that the file PATH lies in. */
static int make_folders(const struct trod_sinks *s, const char *path)
{
    char part[PATH_BYTES];

    for (const char *p = path + strlen(s->folder.work) + 1; (p = strchr(p, '/')); p++) {
        size_t n = (size_t)(p - path);

        if (n >= sizeof part)
            break;
        memcpy(part, path, n);
        part[n] = '\0';
        if (mkdir(part, 0777) < 0 && errno != EEXIST)
            return trod_error(s->diag, TROD_ERR_IO, "writer.folder", NULL,
                              "cannot create folder '%s': %s", part, strerror(errno));
    }
    return TROD_OK;
}

static int open_directory(struct trod_sinks *s)
{
    const struct trod_layout *layout = s->spec->format->layout;
    /* said of the folder that was asked for, not of its first file, and before it is made */
    int rc = s->output.compress ? trod_output_compression(s->path, s->output.compress, s->diag)
                                : TROD_OK;

    /* parts of different traces in one folder would be taken for one */
    if (rc == TROD_OK)
        rc = trod_folder_open(&s->folder, s->path, layout != NULL, s->diag);
    if (rc < 0 || !layout)
        return rc;
    if (!s->output.compress)
        s->output.compress = layout->compress(s->spec->options);
    snprintf(s->suffix, sizeof s->suffix, "%s", layout->suffix(s->output.compress));
    return TROD_OK;
}

/* What is said for the format's files holds for a single one, unless its name says otherwise. */
static void single_compress(struct trod_sinks *s)
{
    const struct trod_layout *layout = s->spec->format->layout;

    if (layout && !s->output.compress && !has_suffix(s->spec->format, s->path) &&
        strcmp(s->path, "-") != 0)
        s->output.compress = layout->compress(s->spec->options);
}

/* What is written as PLACE takes the place of no file of the trace. */
static int check_place(const struct trod_sinks *s, const char *place)
{
    return access(place, F_OK) == 0 && trod_is_input(s->meta, place)
               ? trod_error(s->diag, TROD_ERR_USAGE, "writer.same-file", NULL,
                            "'%s' is input and output at once: write to another %s", place,
                            s->directory ? "directory" : "file")
               : TROD_OK;
}

/* The same of a file of the folder that is made as PATH. */
static int check_inside(const struct trod_sinks *s, const char *path)
{
    const char *name = path + strlen(s->folder.work) + 1;
    char place[PATH_BYTES];

    if (!s->folder.inside ||
        snprintf(place, sizeof place, "%s/%s", s->folder.target, name) >= (int)sizeof place)
        return TROD_OK;
    return check_place(s, place);
}

static int make_output(struct trod_sinks *s, struct trod_file_sink *k)
{
    const struct trod_layout *layout = s->spec->format->layout;
    char path[PATH_BYTES];
    int rc = TROD_OK;

    if (!s->directory) {
        rc = check_place(s, s->path);
        return rc < 0 ? rc : trod_output_create_in(&k->out, s->path, &s->output, s->crew, s->diag);
    }
    rc = layout ? layout->place(s->spec->options, s->meta, k->key, s->drops, s->folder.work,
                                s->suffix, path, sizeof path)
                : stream_path(s, k->key, path, sizeof path);
    if (rc < 0)
        return layout ? trod_error(s->diag, rc, "writer.path", NULL, "path is too long") : rc;
    if (layout)
        rc = make_folders(s, path);
    if (rc >= 0)
        rc = check_inside(s, path);
    return rc < 0 ? rc : trod_output_create_in(&k->out, path, &s->output, s->crew, s->diag);
}

static void drop_encoder(const struct trod_sinks *s, struct trod_file_sink *k)
{
    if (k->enc && s->spec->format->drop)
        s->spec->format->drop(k->enc);
    free(k->enc);
    k->enc = NULL;
}

static void unlink_sink(struct trod_sinks *s, struct trod_file_sink *k)
{
    if (k->newer)
        s->sink[k->newer - 1].older = k->older;
    else
        s->newest = k->older;
    if (k->older)
        s->sink[k->older - 1].newer = k->newer;
    else
        s->oldest = k->newer;
    k->newer = k->older = 0;
    k->open = false;
    s->n_open--;
}

static void link_newest(struct trod_sinks *s, struct trod_file_sink *k)
{
    uint32_t me = (uint32_t)(k - s->sink) + 1;

    k->older = s->newest;
    if (s->newest)
        s->sink[s->newest - 1].newer = me;
    else
        s->oldest = me;
    s->newest = me;
    k->open = true;
    s->n_open++;
}

int trod_sinks_use(struct trod_sinks *s, struct trod_file_sink *k)
{
    int rc = TROD_OK;

    if (s->newest == (uint32_t)(k - s->sink) + 1)
        return TROD_OK;
    if (k->open)
        unlink_sink(s, k);
    while (rc == TROD_OK && s->n_open >= s->open_max) {
        struct trod_file_sink *old = &s->sink[s->oldest - 1];

        rc = trod_output_park(old->out);
        unlink_sink(s, old);
    }
    link_newest(s, k);
    return rc;
}

static int tell_target(const struct trod_sinks *s, struct trod_file_sink *k)
{
    const struct trod_format *f = s->spec->format;
    const struct trod_target target = {
        .parts = k->out && trod_output_has_parts(k->out),
        .single = !s->directory,
        .key = k->key,
        .drops = s->drops,
        .loss = s->loss,
    };

    return f->target ? f->target(k->enc, &target, s->diag) : TROD_OK;
}

/* A sink with an encoder and no file yet. */
static int add(struct trod_sinks *s, uint32_t key, struct trod_file_sink **out)
{
    const struct trod_format *f = s->spec->format;
    struct trod_file_sink *k;
    int rc;

    if (!trod_grow(&s->sink, s->n, &s->cap, sizeof *s->sink, 4))
        return TROD_ERR_NOMEM;
    k = &s->sink[s->n];
    *k = (struct trod_file_sink){.key = key};
    k->enc = calloc(1, f->enc_size ? f->enc_size : 1);
    if (!k->enc)
        return TROD_ERR_NOMEM;
    rc = f->begin(k->enc, s->spec->options, s->meta, s->diag);
    if (rc < 0) {
        free(k->enc);
        return rc;
    }
    if ((rc = tell_target(s, k)) < 0) {
        drop_encoder(s, k);
        return rc;
    }
    s->n++;
    *out = k;
    return TROD_OK;
}

int trod_sinks_open_file(struct trod_sinks *s, struct trod_file_sink *k)
{
    int rc = make_output(s, k);

    if (rc == TROD_OK)
        rc = tell_target(s, k);
    if (rc == TROD_OK && trod_output_has_parts(k->out))
        rc = trod_sinks_part(k);
    return rc;
}

/* The file of K, which has none yet. */
static int open_sink(struct trod_sinks *s, struct trod_file_sink *k)
{
    const int rc = trod_sinks_open_file(s, k);

    return rc == TROD_OK ? trod_sinks_use(s, k) : rc;
}

int trod_sinks_part(struct trod_file_sink *k)
{
    char name[32];

    snprintf(name, sizeof name, "chunk.%08u", k->parts++);
    return trod_output_part(k->out, name);
}

static int grow_keys(struct trod_sinks *s, uint32_t key)
{
    uint32_t n = s->n_keys ? s->n_keys : 64, *p;

    while (n <= key)
        n *= 2;
    if (key >= KEYS_MAX || !(p = realloc(s->by_key, n * sizeof *p)))
        return TROD_ERR_NOMEM;
    memset(p + s->n_keys, 0, (n - s->n_keys) * sizeof *p);
    s->by_key = p;
    s->n_keys = n;
    return TROD_OK;
}

static uint32_t key_of(const struct trod_sinks *s, uint32_t stream)
{
    const struct trod_layout *layout = s->spec->format->layout;

    return layout ? layout->key(s->spec->options, s->meta, stream, s->drops) : stream;
}

int trod_sinks_keyed(struct trod_sinks *s, uint32_t key, struct trod_file_sink **out)
{
    int rc;

    if (key >= s->n_keys && (rc = grow_keys(s, key)) < 0)
        return rc;
    if (s->by_key[key]) {
        *out = &s->sink[s->by_key[key] - 1];
        return TROD_OK;
    }
    rc = add(s, key, out);
    if (rc == TROD_OK)
        s->by_key[key] = (uint32_t)s->n;
    return rc;
}

int trod_sinks_encoder(struct trod_sinks *s, uint32_t stream, struct trod_file_sink **out)
{
    return trod_sinks_keyed(s, key_of(s, stream), out);
}

int trod_sinks_of(struct trod_sinks *s, uint32_t stream, struct trod_file_sink **out)
{
    int rc = trod_sinks_encoder(s, stream, out);

    if (rc < 0)
        return rc;
    return (*out)->out ? trod_sinks_use(s, *out) : open_sink(s, *out);
}

int trod_sinks_some(struct trod_sinks *s)
{
    struct trod_file_sink *k;

    for (size_t i = 0; i < s->n; i++)
        if (s->sink[i].out)
            return TROD_OK;
    return s->n ? open_sink(s, &s->sink[0]) : trod_sinks_of(s, 0, &k);
}

/* How many files may be open at once: fewer where the system allows only a few descriptors. */
static uint32_t open_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= 4 * DESCRIPTORS_ELSEWHERE)
        return OPEN_MAX_SINKS;
    return limit.rlim_cur > DESCRIPTORS_ELSEWHERE + 1
               ? (uint32_t)(limit.rlim_cur - DESCRIPTORS_ELSEWHERE)
               : 1;
}

int trod_sinks_open(struct trod_sinks *s, const char *path)
{
    struct trod_file_sink *k;
    int rc;

    s->path = strdup(path);
    if (!s->path || (!s->output.no_thread && trod_crew_new(&s->crew, s->output.jobs) < 0))
        return TROD_ERR_NOMEM;
    s->open_max = open_limit();
    s->output.binary = !(s->spec->format->flags & TROD_FMT_TEXT);
    s->directory = trod_sinks_directory(s->spec->format, path, &s->output);
    if (s->directory)
        return open_directory(s);
    single_compress(s);
    rc = add(s, 0, &k);
    return rc < 0 ? rc : open_sink(s, k);
}

/* The files that stand beside those of the encoders that have one, N of them. */
static int put_extras(struct trod_sinks *s, size_t n)
{
    const struct trod_layout *layout = s->spec->format->layout;
    void **enc;
    int rc;

    if (!s->directory || !n || !layout || !layout->extras)
        return TROD_OK;
    enc = calloc(n, sizeof *enc);
    if (!enc)
        return TROD_ERR_NOMEM;
    n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->sink[i].out)
            enc[n++] = s->sink[i].enc;
    rc = layout->extras(enc, n, s->folder.work, s->diag);
    free(enc);
    return rc;
}

int trod_sinks_commit(struct trod_sinks *s, uint64_t *bytes)
{
    size_t n = 0;
    int rc = TROD_OK;

    for (size_t i = 0; i < s->n && rc == TROD_OK; i++) {
        if (!s->sink[i].out)
            continue;
        n++;
        *bytes += trod_output_offset(s->sink[i].out);
        if (s->n > 1)
            rc = trod_output_seal(s->sink[i].out);
    }
    if (rc == TROD_OK)
        rc = put_extras(s, n);
    for (size_t i = 0; i < s->n && rc == TROD_OK; i++) {
        struct trod_output *out = s->sink[i].out;

        s->sink[i].out = NULL;
        rc = out ? trod_output_commit(out) : TROD_OK;
    }
    if (rc == TROD_OK && s->directory)
        rc = trod_folder_commit(&s->folder, s->diag);
    return rc;
}

void trod_sinks_fini(struct trod_sinks *s)
{
    for (size_t i = 0; i < s->n; i++) {
        trod_output_discard(s->sink[i].out);
        drop_encoder(s, &s->sink[i]);
    }
    trod_crew_free(s->crew);
    trod_folder_discard(&s->folder);
    free(s->sink);
    free(s->by_key);
    free(s->path);
}
