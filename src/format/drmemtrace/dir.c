/*
 * dir.c - which files of a directory are a drmemtrace trace, and what each is for.
 *
 * Implements docs/formats/drmemtrace.md, "Directories". Looks at names and at the first bytes of
 * files; what is inside a compressed file is the decoder's business.
 */
#include "format/drmemtrace/dir.h"

#include "core/beside.h"
#include "core/endian.h"
#include "core/grow.h"
#include "format/drmemtrace/decode.h"
#include "format/drmemtrace/entries.h"
#include "format/drmemtrace/raw.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names with a meaning; all others are inputs. */
static const struct {
    const char *name;
    bool prefix;
    bool listed; /* has a role */
    enum trod_role role;
} reserved[] = {
    {"serial_schedule.bin", true, true, TROD_ROLE_SERIAL_SCHEDULE},
    {"cpu_schedule.bin.zip", false, true, TROD_ROLE_CPU_SCHEDULE},
    {"modules.log", false, true, TROD_ROLE_MODULES},
    {"funclist.log", false, true, TROD_ROLE_FUNCTIONS},
    {"encodings.bin", false, true, TROD_ROLE_ENCODINGS},
    {"v2p.textproto", false, true, TROD_ROLE_V2P},
    {"info.textproto", false, false, TROD_ROLE_INPUT},
    {"syscall_templates.", true, false, TROD_ROLE_INPUT}, /* ours: beside raw files */
};

enum { N_RESERVED = sizeof reserved / sizeof *reserved };

struct names {
    char **name;
    size_t n, cap;
};

static void names_fini(struct names *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->name[i]);
    free(s->name);
}

static int names_add(struct names *s, const char *name)
{
    if (!trod_grow(&s->name, s->n, &s->cap, sizeof *s->name, 64))
        return TROD_ERR_NOMEM;
    s->name[s->n] = strdup(name);
    return s->name[s->n] ? (s->n++, TROD_OK) : TROD_ERR_NOMEM;
}

static int bytewise(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * All names of the directory PATH but . and .. and what trod put there, sorted. TROD_ERR_IO when it
 * cannot be listed.
 */
static int list(const char *path, struct names *out)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    int rc = TROD_OK;

    if (!dir)
        return TROD_ERR_IO;
    while (rc == TROD_OK && (e = readdir(dir)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !trod_beside_trace(e->d_name))
            rc = names_add(out, e->d_name);
    closedir(dir);
    if (out->n)
        qsort(out->name, out->n, sizeof *out->name, bytewise);
    return rc;
}

/* DIR/NAME, NULL when there is no memory. An empty DIR is the current one. */
static char *join(const char *dir, const char *name)
{
    size_t n = strlen(dir), m = strlen(name);
    char *p = malloc(n + m + 2);

    if (!p)
        return NULL;
    memcpy(p, dir, n);
    if (n && p[n - 1] != '/')
        p[n++] = '/';
    memcpy(p + n, name, m + 1);
    return p;
}

static bool is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool has_dir(const char *dir, const char *name)
{
    char *p = join(dir, name);
    bool yes = p && is_dir(p);

    free(p);
    return yes;
}

/* The last component of PATH (LEN bytes without slashes at its end). */
static const char *last_component(const char *path, size_t len)
{
    while (len && path[len - 1] != '/')
        len--;
    return path + len;
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static int find_reserved(const char *name)
{
    for (int i = 0; i < N_RESERVED; i++)
        if (reserved[i].prefix ? begins(name, reserved[i].name)
                               : strcmp(name, reserved[i].name) == 0)
            return i;
    return -1;
}

/* What the first bytes of a file show. */
enum look { LOOK_NOTHING, LOOK_PACKED, LOOK_TRACE, LOOK_DIR };

static enum look look(const char *path)
{
    static const struct {
        const char *bytes;
        uint8_t n;
    } packed[] = {
        {"PK\003\004", 4},
        {"PK\005\006", 4},
        {"\037\213", 2},
        {"\x04\x22\x4d\x18", 4},
        {"\x28\xb5\x2f\xfd", 4},
        {"\xff\x06\x00\x00sNaPpY", 10},
        {"\xfd"
         "7zXZ",
         6},
    };
    uint8_t head[3 * DRM_ENTRY_64] = {0};
    struct stat st;
    ssize_t n;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return LOOK_PACKED; /* opening it as an input will say why */
    if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode)) {
        close(fd);
        return LOOK_DIR;
    }
    n = read(fd, head, sizeof head);
    close(fd);
    /* files of zlib say too little of themselves: go by the name */
    if (n >= 2 && head[0] == 0x78 && strstr(path, ".raw.zlib"))
        return LOOK_PACKED;
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (n >= packed[i].n && memcmp(head, packed[i].bytes, packed[i].n) == 0)
            return LOOK_PACKED;
    if (n >= DRM_ENTRY_32 && trod_load_le32(head) == DRM_HEADER)
        return LOOK_TRACE;
    return n > 0 && (raw_begins(head, (size_t)n) || drm_damaged_width(head, (size_t)n))
               ? LOOK_TRACE
               : LOOK_NOTHING;
}

/* A name as the tracer gives them. */
static bool tracer_name(const char *name)
{
    return begins(name, "drmemtrace.") || strstr(name, ".memtrace");
}

static bool raw_name(const char *name)
{
    const char *raw = strstr(name, ".raw");

    return raw && (raw[4] == '\0' || raw[4] == '.') && tracer_name(name);
}

/* What a directory looks like. */
struct survey {
    struct names names;
    bool mine, raw;
    size_t windows, inputs;
    const char *first_window; /* of the names */
};

static int survey(const char *dir, struct survey *s)
{
    int rc = list(dir, &s->names);

    for (size_t i = 0; rc == TROD_OK && i < s->names.n; i++) {
        const char *name = s->names.name[i];

        if (find_reserved(name) >= 0) {
            s->mine = s->mine || !begins(name, "info");
        } else if (begins(name, "window.") && has_dir(dir, name)) {
            if (s->windows++ == 0)
                s->first_window = name;
        } else {
            s->inputs++;
            s->raw = s->raw || raw_name(name);
            s->mine = s->mine || tracer_name(name);
        }
    }
    return rc;
}

/* Add the inputs in DIR; report files that are none. Returns how many were added, or an error. */
static int add_inputs(const char *dir, const struct names *names, bool mine, struct trod_files *out,
                      struct trod_diag *diag)
{
    size_t before = out->n;
    struct names strays = {0};
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < names->n; i++) {
        const char *name = names->name[i];
        enum look what;
        char *path;

        if (find_reserved(name) >= 0 || begins(name, "window."))
            continue;
        if (!(path = join(dir, name))) {
            rc = TROD_ERR_NOMEM;
            break;
        }
        what = look(path);
        if (what == LOOK_TRACE)
            mine = true;
        /* a thread's file that is damaged at its beginning, or empty, is an error when it is read
         */
        if (what == LOOK_TRACE || what == LOOK_PACKED ||
            (what == LOOK_NOTHING && tracer_name(name) && strstr(name, ".trace")))
            rc = trod_files_add(out, path, TROD_ROLE_INPUT);
        else
            rc = names_add(&strays, path);
        free(path);
    }
    if (rc == TROD_OK && !mine) {
        while (out->n > before)
            free(out->file[--out->n].path);
    } else if (rc == TROD_OK) {
        for (size_t i = 0; i < strays.n; i++) {
            const struct trod_place at = trod_place_path(strays.name[i]);

            trod_warning(diag, TROD_ERR_UNKNOWN, "drmemtrace.stray", &at,
                         "'%s' is no part of the trace: passed over", strays.name[i]);
        }
        rc = (int)(out->n - before);
    }
    names_fini(&strays);
    return rc;
}

static bool is_schedule(int k)
{
    return reserved[k].role == TROD_ROLE_SERIAL_SCHEDULE ||
           reserved[k].role == TROD_ROLE_CPU_SCHEDULE;
}

/*
 * Is there a file K among OUT? Each trace of several has schedules of its own: its files are those
 * from FIRST on.
 */
static bool is_known(const struct trod_files *out, size_t first, int k)
{
    for (size_t i = is_schedule(k) ? first : 0; i < out->n; i++)
        if (out->file[i].role == reserved[k].role)
            return true;
    return false;
}

/*
 * Add the auxiliary files that lie in DIR/SUB and are not yet known of the trace whose files are
 * those from FIRST on; only the schedules, which each window has, if WINDOW.
 */
static int add_reserved(const char *dir, const char *sub, bool window, size_t first,
                        struct trod_files *out)
{
    struct names names = {0};
    char *path = join(dir, sub);
    int rc = path ? list(path, &names) : TROD_ERR_NOMEM;

    if (rc == TROD_ERR_IO)
        rc = TROD_OK; /* not there */
    for (size_t i = 0; rc == TROD_OK && i < names.n; i++) {
        int k = find_reserved(names.name[i]);
        char *file;

        if (k < 0 || !reserved[k].listed || (window ? !is_schedule(k) : is_known(out, first, k)))
            continue;
        file = join(path, names.name[i]);
        if (!file)
            rc = TROD_ERR_NOMEM;
        else if (!is_dir(file))
            rc = trod_files_add(out, file, reserved[k].role);
        free(file);
    }
    free(path);
    names_fini(&names);
    return rc;
}

/*
 * Where auxiliary files may lie, in this order, relative to the directory of the inputs. UP is how
 * far the directory of the whole trace is above it: 0, 1 (X/trace) or 2 (X/trace/window.0000).
 */
static int add_all_reserved(const char *inputs, int up, size_t first, struct trod_files *out)
{
    static const char *const places[][5] = {
        {"", "trace", "raw", "aux", NULL},
        {"", "..", "../raw", "../aux", NULL},
        {"", "..", "../..", "../../raw", "../../aux"},
    };
    int rc = TROD_OK;

    for (int i = 0; i < 5 && rc == TROD_OK; i++)
        if (places[up][i])
            rc = add_reserved(inputs, places[up][i], false, first, out);
    return rc;
}

/* Directory of the inputs of what the user pointed at; freed by the caller. NULL: no memory. */
static char *trace_dir(const char *path, int *up)
{
    size_t len = strlen(path);
    const char *name;
    char *dir;

    while (len > 1 && path[len - 1] == '/')
        len--;
    name = last_component(path, len);
    *up = 1;
    if (len - (size_t)(name - path) == 3 && begins(name, "raw")) {
        char *side = join(path, "../trace");

        if (!side || is_dir(side))
            return side;
        free(side);
    } else if (len - (size_t)(name - path) == 5 && begins(name, "trace")) {
        return strndup(path, len);
    } else if (begins(name, "window.")) {
        *up = 2;
        return strndup(path, len);
    } else if (has_dir(path, "trace")) {
        return join(path, "trace");
    }
    *up = 0;
    dir = strndup(path, len);
    if (dir && has_dir(dir, "raw")) {
        free(dir);
        dir = join(path, "raw");
        *up = 1;
    }
    return dir;
}

/* Is there raw data, in the folder DIR or, where WINDOWS says so, in the first window of it? */
static bool has_raw(const char *dir, bool windows)
{
    struct survey s = {.windows = 0};
    bool raw = survey(dir, &s) == TROD_OK && s.raw;

    if (!raw && windows && s.windows) {
        char *window = join(dir, s.first_window);

        raw = window && has_raw(window, false);
        free(window);
    }
    names_fini(&s.names);
    return raw;
}

/*
 * Find the folder of raw data from which the trace in DIR, which holds no input, is to be made.
 * Freed by the caller; NULL: there is none.
 */
static char *unfinished(const char *dir, int up)
{
    size_t outer = (size_t)(last_component(dir, strlen(dir)) - dir);
    char *above = up == 1 ? strndup(outer ? dir : "./", outer ? outer : 2) : NULL;
    char *raw = above ? join(above, "raw") : NULL;

    if (raw && !has_raw(raw, true)) {
        free(raw);
        raw = NULL;
    }
    free(above);
    return raw;
}

/* DIR holds only folders that the tracer made, one for each process: ask the user to name one. */
static int refuse_outer(const char *dir, const struct names *names, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(dir);
    const char *first = NULL;
    size_t n = 0;

    for (size_t i = 0; i < names->n; i++) {
        const char *name = names->name[i], *end = strrchr(name, '.');

        if (!tracer_name(name) || !end || strcmp(end, ".dir") != 0 || !has_dir(dir, name))
            return 0;
        first = first ? first : name;
        n++;
    }
    if (!n)
        return 0;
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "drmemtrace.outer", &at,
                      "'%s' holds %zu output %s of the tracer, one a process: name one of them, "
                      "say '%s'",
                      dir, n, n == 1 ? "folder" : "folders", first);
}

/*
 * The windows of DIR, one after the other: each has inputs and schedules of its own. Returns how
 * many inputs there are, or an error.
 */
static int add_windows(const char *dir, const struct names *names, struct trod_files *out,
                       struct trod_diag *diag)
{
    int rc = TROD_OK, n = 0;

    for (size_t i = 0; rc >= 0 && i < names->n; i++) {
        struct survey s = {.windows = 0};
        char *window;

        if (!begins(names->name[i], "window.") || !has_dir(dir, names->name[i]))
            continue;
        window = join(dir, names->name[i]);
        rc = window ? survey(window, &s) : TROD_ERR_NOMEM;
        if (rc == TROD_OK)
            rc = add_inputs(window, &s.names, true, out, diag);
        if (rc > 0) {
            n += rc;
            rc = add_reserved(window, "", true, out->n, out);
        }
        names_fini(&s.names);
        free(window);
    }
    return rc < 0 ? rc : n;
}

static int resolve_in(char *dir, int up, struct trod_files *out, struct trod_diag *diag)
{
    struct survey s = {.windows = 0};
    const size_t first = out->n;
    int rc = survey(dir, &s);

    if (rc == TROD_OK && s.windows && up < 2) {
        char *window = join(dir, s.first_window);

        rc = window ? add_windows(dir, &s.names, out, diag) : TROD_ERR_NOMEM;
        if (rc > 0) {
            rc = add_all_reserved(window, 2, first, out);
            rc = rc == TROD_OK ? 1 : rc;
        }
        free(window);
    } else if (rc == TROD_OK) {
        if (up == 0)
            rc = refuse_outer(dir, &s.names, diag);
        if (rc == TROD_OK)
            rc = add_inputs(dir, &s.names, s.mine || up == 2, out, diag);
        if (rc > 0) {
            rc = add_all_reserved(dir, up, first, out);
            rc = rc == TROD_OK ? 1 : rc;
        }
    }
    names_fini(&s.names);
    return rc;
}

int drm_resolve(const char *path, struct trod_files *out, struct trod_diag *diag)
{
    char *dir, *raw;
    int up, rc;

    if (!is_dir(path))
        return 0;
    dir = trace_dir(path, &up);
    rc = dir ? resolve_in(dir, up, out, diag) : TROD_ERR_NOMEM;
    raw = rc == 0 ? unfinished(dir, up) : NULL;
    if (raw)
        rc = resolve_in(raw, 1, out, diag);
    free(raw);
    free(dir);
    return rc == TROD_ERR_IO ? 0 : rc;
}
