/*
 * raw_syscalls.c - code of system calls from a file of templates, put where the calls are.
 *
 * Implements raw_int.h after docs/formats/drmemtrace-raw.md, "Templates of system calls".
 */
#include "format/drmemtrace/raw_int.h"

#include "core/grow.h"
#include "format/drmemtrace/beside.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, DEFAULT_NUMBER = 0x0fffffff };

static const size_t file_limit = (size_t)1 << 28;

struct sequence {
    uint64_t number;
    size_t from, to; /* bytes of the file, with the markers around them */
};

struct raw_templates {
    struct trod_buf bytes;
    struct sequence *s;
    size_t n, cap;
    unsigned width;
    uint64_t filetype;
};

void raw_templates_close(struct raw_templates *t)
{
    if (!t)
        return;
    trod_buf_fini(&t->bytes);
    free(t->s);
    free(t);
}

static uint64_t address_of(const struct raw_templates *t, size_t at)
{
    const uint8_t *p = t->bytes.p + at + 4;

    return t->width == DRM_ENTRY_64 ? trod_load_le64(p) : trod_load_le32(p);
}

static unsigned type_at(const struct raw_templates *t, size_t at)
{
    return trod_load_le16(t->bytes.p + at);
}

static bool is_marker(const struct raw_templates *t, size_t at, unsigned marker)
{
    return type_at(t, at) == DRM_MARKER && trod_load_le16(t->bytes.p + at + 2) == marker;
}

/* All bytes of the file PATH, decompressed. Returns 0 or an error, reported. */
static int read_all(struct trod_buf *out, const char *path, struct trod_diag *diag)
{
    const struct trod_input_options opt = {.struct_size = sizeof opt, .no_thread = true};
    const struct trod_place at = trod_place_path(path);
    struct trod_input *in;
    struct trod_span span;
    int rc = trod_input_open(&in, path, &opt, diag);

    if (rc < 0)
        return rc;
    while ((rc = trod_input_ahead(in, 0, &span)) == TROD_OK && span.n > 0) {
        if (out->n + span.n > file_limit)
            rc = trod_error(diag, TROD_ERR_LIMIT, "drmemtrace.templates", &at,
                            "file of templates is larger than 256 MiB");
        else
            rc = trod_buf_add(out, span.p, span.n);
        if (rc < 0)
            break;
        trod_input_consume(in, span.n);
    }
    trod_input_close(in);
    return rc;
}

/* Where each sequence lies. False: it is no file of templates. */
static bool find_sequences(struct raw_templates *t, unsigned width, bool *full)
{
    const size_t n = t->bytes.n;

    t->width = width;
    if (n < 3 * (size_t)width || n % width != 0 || type_at(t, 0) != DRM_HEADER)
        return false;
    for (size_t at = 0, from = SIZE_MAX; at < n; at += width) {
        if (is_marker(t, at, TROD_DRM_FILETYPE))
            t->filetype |= address_of(t, at);
        if (is_marker(t, at, TROD_DRM_SYSCALL_TRACE_START))
            from = at;
        if (!is_marker(t, at, TROD_DRM_SYSCALL_TRACE_END) || from == SIZE_MAX ||
            address_of(t, at) != address_of(t, from))
            continue;
        if (!trod_grow(&t->s, t->n, &t->cap, sizeof *t->s, 64)) {
            *full = true;
            return false;
        }
        t->s[t->n++] = (struct sequence){address_of(t, from), from, at + width};
        from = SIZE_MAX;
    }
    return t->filetype & TROD_DRM_TEMPLATES && t->n > 0;
}

int raw_templates_open(struct raw_templates **out, const char *path, unsigned width,
                       struct trod_diag *diag)
{
    static const char *const names[] = {"syscall_templates.trace", "syscall_templates.zip",
                                        "syscall_templates.trace.zip",
                                        "syscall_templates.trace.gz"};
    char found[PATH_BYTES];
    struct trod_place at;
    bool full = false;
    size_t i = 0;
    int rc;

    *out = NULL;
    while (i < sizeof names / sizeof *names &&
           !drm_find_beside(path, names[i], found, sizeof found))
        i++;
    if (i == sizeof names / sizeof *names)
        return TROD_OK;
    if (!(*out = calloc(1, sizeof **out)))
        return TROD_ERR_NOMEM;
    rc = read_all(&(*out)->bytes, found, diag);
    at = trod_place_path(found);
    if (rc == TROD_OK && !find_sequences(*out, width, &full))
        rc = full ? TROD_ERR_NOMEM
                  : trod_error(diag, TROD_ERR_CORRUPT, "drmemtrace.templates", &at,
                               "'%s' is no trace of templates of system calls for entries of %u "
                               "bytes (file type 0x4000, SYSCALL_TRACE_START and _END)",
                               found, width);
    if (rc < 0) {
        raw_templates_close(*out);
        *out = NULL;
    }
    return rc;
}

uint64_t raw_templates_filetype(const struct raw_templates *t)
{
    return TROD_DRM_KERNEL_SYSCALLS | (t->filetype & TROD_DRM_KERNEL_INSTR_ONLY);
}

static const struct sequence *find(const struct raw_templates *t, uint64_t number)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->s[i].number == number)
            return &t->s[i];
    return NULL;
}

/*
 * Where the marker of the target stands if the last instruction of S is an indirect branch;
 * SIZE_MAX: it is none. *HERE: there is no marker, and this is its place.
 */
static size_t last_target(const struct raw_templates *t, const struct sequence *s, bool *here)
{
    size_t at = s->to;

    while (at > s->from) {
        const struct drm_type_info *info;

        at -= t->width;
        info = drm_type_info(type_at(t, at));
        if (info->class != DRM_C_INSTR)
            continue;
        if (!info->indirect)
            return SIZE_MAX;
        *here = !is_marker(t, at - t->width, TROD_DRM_BRANCH_TARGET);
        return *here ? at : at - t->width;
    }
    return SIZE_MAX;
}

/* Bytes [FROM, TO) of the file as they are. */
static int copy(struct raw *c, size_t from, size_t to)
{
    return from < to ? trod_buf_add(c->sink, c->templates->bytes.p + from, to - from) : TROD_OK;
}

/*
 * The markers around it have the number of the call, which is another than that of the default
 * sequence. Replace the target: the kernel returns to the instruction behind the system call.
 */
int raw_inject(struct raw *c)
{
    const struct raw_templates *t = c->templates;
    const struct sequence *s;
    size_t target, from, to;
    bool here = false;
    int rc;

    if (!c->in_call)
        return TROD_OK;
    c->in_call = false;
    if (!(s = find(t, c->call)) && !(s = find(t, DEFAULT_NUMBER)))
        return TROD_OK;
    from = s->from + t->width;
    to = s->to - t->width;
    target = c->after_call ? last_target(t, s, &here) : SIZE_MAX;
    rc = raw_add(c, c->sink, DRM_MARKER, TROD_DRM_SYSCALL_TRACE_START, c->call);
    if (rc == TROD_OK && target != SIZE_MAX) {
        rc = copy(c, from, target);
        if (rc == TROD_OK)
            rc = raw_add(c, c->sink, DRM_MARKER, TROD_DRM_BRANCH_TARGET, c->after_call);
        from = here ? target : target + t->width;
    }
    if (rc == TROD_OK)
        rc = copy(c, from, to);
    if (rc == TROD_OK)
        rc = raw_add(c, c->sink, DRM_MARKER, TROD_DRM_SYSCALL_TRACE_END, c->call);
    return rc;
}
