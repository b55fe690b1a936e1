/*
 * modules.c - modules.log and encodings.bin: addresses to opcode bytes.
 *
 * Implements modules.h after docs/formats/drmemtrace-writing.md, "Code beside the trace". Of an ELF
 * file the header and the program headers are looked at, enough to know that it is the file that
 * ran: its entry point and its segments must lie where the list says.
 */
#include "format/drmemtrace/modules.h"

#include "core/endian.h"
#include "core/grow.h"
#include "format/drmemtrace/code_file.h"
#include "isa/module_text.h"
#include "trod/buf.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHDRS_MAX = 256, PHDRS_BYTES = 1 << 20 };

static const size_t list_limit = (size_t)1 << 30;

struct file {
    char *path; /* as the list has it */
    struct drm_code_file code;
    bool reported; /* that it has changed */
};

/*
 * Bytes of addresses [start, end), from a file or from a list; bytes behind the first n are not
 * known.
 */
struct stretch {
    uint64_t start, end;
    size_t file;          /* number of the file, SIZE_MAX: bytes of a list */
    const uint8_t *bytes; /* of a list */
    uint64_t offset, n;   /* in the file; how many */
};

struct drm_modules {
    struct file *file;
    size_t n_files, cap_files;
    struct stretch *stretch;
    size_t n, cap;
    uint8_t **owned; /* bytes of lists */
    size_t n_owned, cap_owned;
    bool sorted;
    size_t last;
    enum trod_isa isa; /* of the first file */
    struct trod_diag *diag;
};

int drm_modules_new(struct drm_modules **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? TROD_OK : TROD_ERR_NOMEM;
}

void drm_modules_free(struct drm_modules *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_files; i++) {
        drm_code_file_fini(&m->file[i].code);
        free(m->file[i].path);
    }
    for (size_t i = 0; i < m->n_owned; i++)
        free(m->owned[i]);
    free(m->file);
    free(m->stretch);
    free(m->owned);
    free(m);
}

static int add_stretch(struct drm_modules *m, const struct stretch *s)
{
    if (!trod_grow(&m->stretch, m->n, &m->cap, sizeof *m->stretch, 16))
        return TROD_ERR_NOMEM;
    m->stretch[m->n++] = *s;
    m->sorted = false;
    return TROD_OK;
}

/* A copy of N bytes at P that lives as long as M. */
static const uint8_t *own(struct drm_modules *m, const uint8_t *p, size_t n)
{
    uint8_t *q = malloc(n ? n : 1);

    if (!q || !trod_grow(&m->owned, m->n_owned, &m->cap_owned, sizeof *m->owned, 16)) {
        free(q);
        return NULL;
    }
    memcpy(q, p, n);
    return m->owned[m->n_owned++] = q;
}

/* --- ELF files --- */

struct elf {
    unsigned machine;
    uint64_t entry, base; /* base: lowest address of a loadable segment, of its page */
    size_t n;
    struct {
        uint64_t addr, offset, filesz, memsz;
    } load[PHDRS_MAX];
};

/* The program headers at P, N of SIZE bytes each. */
static void read_segments(struct elf *e, const uint8_t *p, size_t n, size_t size, bool wide)
{
    for (size_t i = 0; i < n && e->n < PHDRS_MAX; i++) {
        const uint8_t *h = p + i * size;

        if (trod_load_le32(h) != PT_LOAD)
            continue;
        e->load[e->n].offset = wide ? trod_load_le64(h + 8) : trod_load_le32(h + 4);
        e->load[e->n].addr = wide ? trod_load_le64(h + 16) : trod_load_le32(h + 8);
        e->load[e->n].filesz = wide ? trod_load_le64(h + 32) : trod_load_le32(h + 16);
        e->load[e->n].memsz = wide ? trod_load_le64(h + 40) : trod_load_le32(h + 20);
        if ((e->load[e->n].addr & ~UINT64_C(4095)) < e->base)
            e->base = e->load[e->n].addr & ~UINT64_C(4095);
        e->n++;
    }
}

static bool read_elf(struct drm_code_file *f, struct elf *e)
{
    uint8_t p[sizeof(Elf64_Ehdr)] = {0}, *headers;
    size_t phnum, phentsize;
    uint64_t phoff;
    bool wide;

    *e = (struct elf){.base = UINT64_MAX};
    if (!drm_code_file_read(f, 0, p, sizeof(Elf32_Ehdr)) || memcmp(p, ELFMAG, SELFMAG) != 0 ||
        p[EI_DATA] != ELFDATA2LSB)
        return false;
    wide = p[EI_CLASS] == ELFCLASS64;
    if (wide && !drm_code_file_read(f, 0, p, sizeof p))
        return false;
    e->machine = trod_load_le16(p + 18);
    e->entry = wide ? trod_load_le64(p + 24) : trod_load_le32(p + 24);
    phoff = wide ? trod_load_le64(p + 32) : trod_load_le32(p + 28);
    phentsize = trod_load_le16(p + (wide ? 54 : 42));
    phnum = trod_load_le16(p + (wide ? 56 : 44));
    if (phentsize < (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) || phnum == 0 ||
        phnum * phentsize > PHDRS_BYTES)
        return false;
    headers = malloc(phnum * phentsize);
    if (headers && drm_code_file_read(f, phoff, headers, phnum * phentsize))
        read_segments(e, headers, phnum, phentsize, wide);
    free(headers);
    return e->n > 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The file that was PATH, in DIR first. */
static bool find_file(struct drm_code_file *f, const char *path, const char *dir)
{
    char name[MODULE_PATH];

    if (dir &&
        snprintf(name, sizeof name, "%s%s%s", dir, path[0] == '/' ? "" : "/", path) <
            (int)sizeof name &&
        drm_code_file_open(f, name))
        return true;
    if (dir && snprintf(name, sizeof name, "%s/%s", dir, base_name(path)) < (int)sizeof name &&
        drm_code_file_open(f, name))
        return true;
    return drm_code_file_open(f, path);
}

/* --- the list --- */

struct list {
    struct drm_modules *m;
    struct trod_diag *diag;
    const char *name, *dir;
    struct module_text text;
    struct module_line first; /* the first line of the module that the current one belongs to */
    bool bad;                 /* a line of it was not of its file */
};

static int complain(const struct list *l, const char *kind, const char *what, const char *path)
{
    struct trod_place at = trod_place_path(l->name);

    at.line = l->text.line;
    return trod_warning(l->diag, TROD_ERR_IO, kind, &at, "%s: '%s'", what, path);
}

/* Is file P the one that LINE describes? NULL, or the reason why not. */
static const char *wrong(const struct list *l, const struct module_line *n, const struct elf *e,
                         uint64_t size)
{
    uint64_t length = n->end - n->start;
    bool found = false;

    if (l->first.entry && l->first.entry >= l->first.start &&
        l->first.entry - l->first.start != e->entry - e->base)
        return "is not the file that ran: its entry point lies elsewhere";
    if (l->text.version < MODULES_OFFSETS)
        return NULL;
    for (size_t i = 0; i < e->n && !found; i++)
        found = (e->load[i].offset & ~UINT64_C(4095)) == (n->offset & ~UINT64_C(4095)) &&
                (e->load[i].memsz & ~UINT64_C(4095)) <= length &&
                length <= e->load[i].memsz + 0x200000 + 8192;
    if (!found)
        return "is not the file that ran: it has no segment like this";
    return n->offset > size ? "is not the file that ran: it is shorter" : NULL;
}

static struct file *file_of(struct list *l, const char *path)
{
    struct drm_modules *m = l->m;
    struct file *f;

    for (size_t i = 0; i < m->n_files; i++)
        if (strcmp(m->file[i].path, path) == 0)
            return &m->file[i];
    if (!trod_grow(&m->file, m->n_files, &m->cap_files, sizeof *m->file, 16))
        return NULL;
    f = &m->file[m->n_files];
    *f = (struct file){.path = strdup(path)};
    if (!f->path)
        return NULL;
    m->n_files++;
    if (!find_file(&f->code, path, l->dir))
        complain(l, "drmemtrace.module-missing",
                 "code is not known: cannot open, or no regular file", path);
    return f;
}

/* Add bytes [OFFSET, OFFSET + N) of F, as far as it has them, at addresses START to END. */
static int add_of_file(struct list *l, uint64_t start, uint64_t end, const struct file *f,
                       uint64_t offset, uint64_t n)
{
    const uint64_t size = (uint64_t)f->code.st.st_size;
    const uint64_t have = offset > size ? 0 : size - offset;

    return add_stretch(l->m, &(struct stretch){.start = start,
                                               .end = end,
                                               .file = (size_t)(f - l->m->file),
                                               .offset = offset,
                                               .n = have < n ? have : n});
}

/* Add the segments of a module that has one line in the list (before version 4). */
static int add_whole(struct list *l, const struct module_line *n, const struct file *f,
                     const struct elf *e)
{
    int rc = TROD_OK;

    for (size_t i = 0; i < e->n && rc == TROD_OK; i++) {
        uint64_t start = n->start + (e->load[i].addr - e->base);

        rc = add_of_file(l, start, start + e->load[i].memsz, f, e->load[i].offset,
                         e->load[i].filesz);
    }
    return rc;
}

/* Report WHY the module that line N belongs to cannot be used. */
static void refuse_module(struct list *l, const struct module_line *n, const char *why)
{
    struct drm_modules *m = l->m;

    l->bad = true;
    complain(l, "drmemtrace.module-changed", why, n->path);
    for (size_t i = 0; i < m->n;)
        if (m->stretch[i].start >= l->first.start && m->stretch[i].end <= n->end)
            m->stretch[i] = m->stretch[--m->n];
        else
            i++;
    m->sorted = false;
}

/* N bytes of the list itself, which are copied, at START up to END. */
static int add_bytes(struct drm_modules *m, uint64_t start, uint64_t end, const uint8_t *p,
                     size_t n)
{
    const uint8_t *bytes = own(m, p, n);

    if (!bytes)
        return TROD_ERR_NOMEM;
    return add_stretch(
        m, &(struct stretch){.start = start, .end = end, .file = SIZE_MAX, .bytes = bytes, .n = n});
}

static enum trod_isa isa_of(unsigned machine)
{
    switch (machine) {
    case EM_X86_64:
        return TROD_ISA_X86_64;
    case EM_386:
        return TROD_ISA_X86_32;
    case EM_AARCH64:
        return TROD_ISA_A64;
    case EM_ARM:
        return TROD_ISA_ARM;
    default:
        return TROD_ISA_UNKNOWN;
    }
}

static int add_module(struct list *l, const struct module_line *n)
{
    const char *why = NULL;
    struct file *f;
    struct elf e;

    if (n->end <= n->start)
        return TROD_OK;
    if (n->custom_n)
        return add_bytes(l->m, n->start, n->end, n->custom, n->custom_n);
    if (n->path[0] == '\0' || n->path[0] == '<' || n->path[0] == '[' || l->bad)
        return TROD_OK;
    if (!(f = file_of(l, n->path)))
        return TROD_ERR_NOMEM;
    if (!f->code.usable)
        return TROD_OK;
    if (!read_elf(&f->code, &e))
        why = f->code.changed ? "has changed while it was read" : "is no ELF file";
    else
        why = wrong(l, n, &e, (uint64_t)f->code.st.st_size);
    if (why) {
        refuse_module(l, n, why);
        return TROD_OK;
    }
    if (l->m->isa == TROD_ISA_UNKNOWN)
        l->m->isa = isa_of(e.machine);
    if (l->text.version < MODULES_OFFSETS)
        return add_whole(l, n, f, &e);
    return add_of_file(l, n->start, n->end, f, n->offset, UINT64_MAX);
}

int drm_modules_parse(struct drm_modules *m, const uint8_t *p, size_t n, const char *name,
                      const char *dir, struct trod_diag *diag)
{
    struct list l = {.m = m, .diag = diag, .name = name, .dir = dir};
    const struct trod_place at = trod_place_path(name);
    struct module_line *module = malloc(sizeof *module);
    int rc = TROD_OK;

    if (!module)
        return TROD_ERR_NOMEM;
    m->diag = diag;
    if (!module_text_begin(&l.text, p, n)) {
        free(module);
        return trod_error(diag, TROD_ERR_CORRUPT, "drmemtrace.modules", &at,
                          "list of modules does not begin with 'Module Table: version'");
    }
    while (rc == TROD_OK && l.text.left > 0 && l.text.p < l.text.end) {
        if (!module_text_next(&l.text, module)) {
            complain(&l, "drmemtrace.module-line", "line of the list of modules is damaged", name);
            continue;
        }
        if (l.text.version < MODULES_CONTAINING || module->containing == module->id) {
            l.first = *module;
            l.bad = false;
        }
        rc = add_module(&l, module);
    }
    free(module);
    return rc;
}

int drm_modules_add(struct drm_modules *m, const char *path, const char *dir,
                    struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);
    struct trod_buf b = {0};
    const char *why;
    int rc = drm_read_file(path, list_limit, &b, &why);

    if (rc == TROD_OK)
        rc = drm_modules_parse(m, b.p, b.n, path, dir, diag);
    else
        rc = trod_error(diag, rc, "drmemtrace.modules", &at, "cannot read list of modules '%s': %s",
                        path, why);
    trod_buf_fini(&b);
    return rc;
}

int drm_modules_generated(struct drm_modules *m, const uint8_t *p, size_t n, const char *name,
                          struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(name);
    size_t i = 8;

    if (n < 8 || trod_load_le64(p) > 1)
        return trod_error(diag, TROD_ERR_CORRUPT, "drmemtrace.encodings-file", &at,
                          "file of encodings has no version that is known");
    i += trod_load_le64(p) >= 1 ? 8 : 0;
    while (i + 24 <= n) {
        uint64_t len = trod_load_le64(p + i), pc = trod_load_le64(p + i + 16);
        int rc;

        if (len < 24 || len > n - i)
            break;
        rc = add_bytes(m, pc, pc + len - 24, p + i + 24, (size_t)len - 24);
        if (rc < 0)
            return rc;
        i += len;
    }
    if (i < n)
        return trod_error(diag, TROD_ERR_CORRUPT, "drmemtrace.encodings-file", &at,
                          "file of encodings is damaged at byte %zu", i);
    return TROD_OK;
}

static int by_start(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;

    return x->start == y->start ? 0 : x->start < y->start ? -1 : 1;
}

/* The bytes of F, if it has not changed; a change is reported once. */
static const uint8_t *bytes_of_file(const struct drm_modules *m, struct file *f, uint64_t offset,
                                    uint32_t size)
{
    const uint8_t *p = drm_code_file_at(&f->code, offset, size);

    if (!p && f->code.changed && !f->reported) {
        const struct trod_place at = trod_place_path(f->code.path);

        f->reported = true;
        trod_warning(m->diag, TROD_ERR_IO, "drmemtrace.module-changed", &at,
                     "'%s' has changed since the trace was opened: code of it that was not read "
                     "before is not known",
                     f->code.path);
    }
    return p;
}

static const uint8_t *bytes_of(const struct drm_modules *m, const struct stretch *s, uint64_t pc,
                               uint32_t size)
{
    const uint64_t off = pc - s->start;

    if (pc < s->start || pc >= s->end || off > s->n || size > s->n - off)
        return NULL;
    return s->file == SIZE_MAX ? s->bytes + off
                               : bytes_of_file(m, &m->file[s->file], s->offset + off, size);
}

const uint8_t *drm_modules_code(struct drm_modules *m, uint64_t pc, uint32_t size)
{
    const uint8_t *p = m->last < m->n ? bytes_of(m, &m->stretch[m->last], pc, size) : NULL;
    size_t lo = 0, hi = m->n;

    if (p && m->sorted)
        return p;
    if (!m->sorted && m->n)
        qsort(m->stretch, m->n, sizeof *m->stretch, by_start);
    m->sorted = true;
    while (lo < hi) { /* the first that begins behind pc */
        size_t mid = lo + (hi - lo) / 2;

        if (m->stretch[mid].start <= pc)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (size_t i = lo; i-- > 0 && lo - i <= 16;) {
        p = bytes_of(m, &m->stretch[i], pc, size);
        if (p) {
            m->last = i;
            return p;
        }
    }
    return NULL;
}

enum trod_isa drm_modules_isa(const struct drm_modules *m)
{
    return m->isa;
}

size_t drm_modules_count(const struct drm_modules *m)
{
    return m->n;
}
