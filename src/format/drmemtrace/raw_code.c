/*
 * raw_code.c - the code that blocks of a raw file name: modules by number, generated code by id.
 *
 * Implements raw.h after docs/formats/drmemtrace-raw.md, "Blocks". The bytes of modules are those
 * of modules.c; here is what the numbers mean.
 */
#include "format/drmemtrace/raw.h"

#include "core/grow.h"
#include "format/drmemtrace/beside.h"
#include "format/drmemtrace/code_file.h"
#include "isa/module_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, RECORD_HEAD = 24 };

static const size_t list_limit = (size_t)1 << 30;

struct line {
    uint64_t base; /* address that offsets count from */
    char *path;
    bool there;
};

struct generated {
    uint64_t id, pc;
    const uint8_t *p;
    uint64_t n;
};

struct raw_code {
    struct drm_modules *modules;
    struct line *line;
    size_t n_lines, cap_lines;
    struct trod_buf bytes; /* of encodings.bin */
    struct generated *generated;
    size_t n, cap;
};

void raw_code_close(struct raw_code *c)
{
    if (!c)
        return;
    drm_modules_free(c->modules);
    for (size_t i = 0; i < c->n_lines; i++)
        free(c->line[i].path);
    free(c->line);
    free(c->generated);
    trod_buf_fini(&c->bytes);
    free(c);
}

/* Line I of the list; there may be gaps. False: no memory, or no such number. */
static bool set_line(struct raw_code *c, uint64_t i, uint64_t base, const char *path)
{
    if (i >= RAW_NO_MODULE)
        return true;
    while (c->n_lines <= i) {
        if (!trod_grow(&c->line, c->n_lines, &c->cap_lines, sizeof *c->line, 64))
            return false;
        c->line[c->n_lines++] = (struct line){.base = 0};
    }
    free(c->line[i].path);
    c->line[i] = (struct line){base, strdup(path), true};
    return c->line[i].path != NULL;
}

/* Which address each number of the list of modules stands for. */
static int read_lines(struct raw_code *c, const struct trod_buf *text)
{
    struct module_line *line = malloc(sizeof *line);
    struct module_text t;
    int rc = line ? TROD_OK : TROD_ERR_NOMEM;

    if (line && !module_text_begin(&t, text->p, text->n))
        t.left = 0;
    while (rc == TROD_OK && t.left > 0 && t.p < t.end) {
        uint64_t base;

        if (!module_text_next(&t, line))
            continue;
        base = line->start;
        if (t.version >= MODULES_CONTAINING && line->containing < c->n_lines &&
            c->line[line->containing].there && line->containing != line->id)
            base = c->line[line->containing].base;
        if (!set_line(c, line->id, base, line->path))
            rc = TROD_ERR_NOMEM;
    }
    free(line);
    return rc;
}

/*
 * A list that cannot be used is a warning: then no code is known. Files of the list that are
 * missing or have changed are only reported when an instruction in them comes.
 */
static int open_list(struct raw_code *c, const char *path, const char *dir, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);
    struct trod_buf text = {0};
    const char *why;
    int rc = drm_read_file(path, list_limit, &text, &why);

    if (rc == TROD_OK) {
        why = "it does not begin with 'Module Table: version'";
        rc = drm_modules_parse(c->modules, text.p, text.n, path, dir, NULL);
    }
    if (rc < 0 && rc != TROD_ERR_NOMEM)
        trod_warning(diag, rc, "drmemtrace.modules", &at,
                     "cannot use list of modules '%s', instructions are not known: %s", path, why);
    else if (rc == TROD_OK)
        rc = read_lines(c, &text);
    trod_buf_fini(&text);
    return rc == TROD_ERR_NOMEM ? rc : TROD_OK;
}

static int by_id(const void *a, const void *b)
{
    const struct generated *x = a, *y = b;

    return x->id == y->id ? (x->p < y->p ? -1 : 1) : x->id < y->id ? -1 : 1;
}

/* The records of encodings.bin: length, id, address, bytes. */
static int read_generated(struct raw_code *c, const char *path, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);
    const uint8_t *p;
    const char *why;
    size_t i = 8, n;
    int rc = drm_read_file(path, list_limit, &c->bytes, &why);

    if (rc < 0)
        return trod_warning(diag, rc, "drmemtrace.encodings-file", &at, "cannot read '%s': %s",
                            path, why) == TROD_ERR_NOMEM
                   ? TROD_ERR_NOMEM
                   : TROD_OK;
    p = c->bytes.p;
    n = c->bytes.n;
    if (n < 8 || trod_load_le64(p) > 1)
        i = n + 1;
    else if (trod_load_le64(p) == 1)
        i += 8;
    while (i + RECORD_HEAD <= n) {
        const uint64_t len = trod_load_le64(p + i);

        if (len < RECORD_HEAD || len > n - i)
            break;
        if (!trod_grow(&c->generated, c->n, &c->cap, sizeof *c->generated, 64))
            return TROD_ERR_NOMEM;
        c->generated[c->n++] =
            (struct generated){trod_load_le64(p + i + 8), trod_load_le64(p + i + 16),
                               p + i + RECORD_HEAD, len - RECORD_HEAD};
        i += (size_t)len;
    }
    if (c->n)
        qsort(c->generated, c->n, sizeof *c->generated, by_id);
    if (i != n)
        trod_warning(diag, TROD_ERR_CORRUPT, "drmemtrace.encodings-file", &at,
                     "file of encodings is damaged at byte %zu: what follows is not known",
                     i > n ? 0 : i);
    return TROD_OK;
}

/* The file with ROLE among FILES, or beside PATH called NAME; to OUT. */
static bool find_list(const char *path, const struct trod_files *files, enum trod_role role,
                      const char *name, char *out, size_t n)
{
    for (size_t i = 0; files && i < files->n; i++)
        if (files->file[i].role == role)
            return snprintf(out, n, "%s", files->file[i].path) < (int)n;
    return drm_find_beside(path, name, out, n);
}

/* The folder above that of LIST: files that were moved together with the trace may lie there. */
static bool folder_above(const char *list, char *out, size_t n)
{
    const char *slash = strrchr(list, '/');
    const int len = slash ? (int)(slash - list) + 1 : 0;

    return snprintf(out, n, "%.*s..", len, list) < (int)n;
}

int raw_code_open(struct raw_code **out, const char *path, const struct trod_files *files,
                  const struct trod_beside_options *opt, struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);
    const char *list = opt ? opt->modules : NULL, *dir = opt ? opt->module_dir : NULL;
    struct raw_code *c = calloc(1, sizeof *c);
    char found[PATH_BYTES], beside[PATH_BYTES];
    int rc = c ? drm_modules_new(&c->modules) : TROD_ERR_NOMEM;

    *out = NULL;
    if (rc == TROD_OK && !list &&
        find_list(path, files, TROD_ROLE_MODULES, "modules.log", found, sizeof found))
        list = found;
    if (!dir && list && folder_above(list, beside, sizeof beside))
        dir = beside;
    if (rc == TROD_OK && list)
        rc = open_list(c, list, dir, diag);
    else if (rc == TROD_OK)
        trod_warning(diag, TROD_ERR_IO, "drmemtrace.no-modules", &at,
                     "there is no modules.log beside the raw trace: name it with --modules; "
                     "instructions are not known without it");
    if (rc == TROD_OK &&
        find_list(path, files, TROD_ROLE_ENCODINGS, "encodings.bin", found, sizeof found))
        rc = read_generated(c, found, diag);
    if (rc < 0) {
        raw_code_close(c);
        return rc;
    }
    *out = c;
    return TROD_OK;
}

/*
 * The record of generated code that holds ID: ids may count bytes, so it may begin at an earlier
 * one.
 */
static const struct generated *generated_at(const struct raw_code *c, uint64_t id, uint64_t *off)
{
    size_t lo = 0, hi = c->n;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (c->generated[mid].id <= id)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return NULL;
    *off = id - c->generated[lo - 1].id;
    return *off == 0 || *off < c->generated[lo - 1].n ? &c->generated[lo - 1] : NULL;
}

bool raw_code_address(const struct raw_code *c, uint64_t e, uint64_t *pc)
{
    const unsigned m = raw_module(e);
    const struct generated *g;
    uint64_t off;

    if (m == RAW_NO_MODULE) {
        g = generated_at(c, raw_offset(e), &off);
        if (g)
            *pc = g->pc + off;
        return g != NULL;
    }
    if (m >= c->n_lines || !c->line[m].there)
        return false;
    *pc = c->line[m].base + raw_offset(e);
    return true;
}

const uint8_t *raw_code_bytes(struct raw_code *c, uint64_t e, uint64_t off, uint64_t pc,
                              uint32_t *n, uint64_t *version)
{
    const struct generated *g;
    const uint8_t *p;
    uint64_t at;

    *version = 0;
    if (raw_module(e) == RAW_NO_MODULE) {
        g = generated_at(c, raw_offset(e), &at);
        if (!g || at + off >= g->n)
            return NULL;
        *version = g->id + 1;
        if (g->n - at - off < *n)
            *n = (uint32_t)(g->n - at - off);
        return g->p + at + off;
    }
    for (; *n > 0; --*n)
        if ((p = drm_modules_code(c->modules, pc, *n)) != NULL)
            return p;
    return NULL;
}

const char *raw_code_name(const struct raw_code *c, uint64_t e)
{
    const unsigned m = raw_module(e);

    if (m == RAW_NO_MODULE)
        return "generated code";
    return m < c->n_lines && c->line[m].there ? c->line[m].path : "a module that is not listed";
}
