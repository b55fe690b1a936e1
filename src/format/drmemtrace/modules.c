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
#include "format/drmemtrace/module_text.h"
#include "trod/buf.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PHDRS_MAX = 256 };

static const size_t list_limit = (size_t)1 << 30;

struct file {
    char *path;
    const uint8_t *p; /* mapped, NULL: cannot be used */
    size_t n;
};

/* Bytes of addresses [start, end); those behind bytes + n are not known. */
struct stretch {
    uint64_t start, end;
    const uint8_t *bytes;
    size_t n;
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
        if (m->file[i].p)
            munmap((void *)(uintptr_t)m->file[i].p, m->file[i].n);
        free(m->file[i].path);
    }
    for (size_t i = 0; i < m->n_owned; i++)
        free(m->owned[i]);
    free(m->file);
    free(m->stretch);
    free(m->owned);
    free(m);
}

static int add_stretch(struct drm_modules *m, uint64_t start, uint64_t end, const uint8_t *p,
                       size_t n)
{
    if (!trod_grow(&m->stretch, m->n, &m->cap, sizeof *m->stretch, 16))
        return TROD_ERR_NOMEM;
    m->stretch[m->n++] = (struct stretch){start, end, p, n};
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

int drm_read_file(const char *path, size_t limit, struct trod_buf *out)
{
    FILE *f = fopen(path, "rb");
    int rc = f ? TROD_OK : TROD_ERR_IO;

    while (rc == TROD_OK) {
        size_t got;

        if ((rc = trod_buf_reserve(out, 1 << 16)) < 0)
            break;
        got = fread(out->p + out->n, 1, 1 << 16, f);
        out->n += got;
        if (got == 0)
            rc = ferror(f) ? TROD_ERR_IO : TROD_OK;
        if (got == 0)
            break;
        if (out->n > limit)
            rc = TROD_ERR_LIMIT;
    }
    if (f)
        fclose(f);
    return rc;
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

static bool read_elf(const uint8_t *p, size_t n, struct elf *e)
{
    bool wide;
    uint64_t phoff;
    size_t phnum, phentsize;

    *e = (struct elf){.base = UINT64_MAX};
    if (n < sizeof(Elf32_Ehdr) || memcmp(p, ELFMAG, SELFMAG) != 0 || p[EI_DATA] != ELFDATA2LSB)
        return false;
    wide = p[EI_CLASS] == ELFCLASS64;
    if (wide && n < sizeof(Elf64_Ehdr))
        return false;
    e->machine = trod_load_le16(p + 18);
    e->entry = wide ? trod_load_le64(p + 24) : trod_load_le32(p + 24);
    phoff = wide ? trod_load_le64(p + 32) : trod_load_le32(p + 28);
    phentsize = trod_load_le16(p + (wide ? 54 : 42));
    phnum = trod_load_le16(p + (wide ? 56 : 44));
    if (phentsize < (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) || phoff > n ||
        phnum > (n - phoff) / phentsize)
        return false;
    for (size_t i = 0; i < phnum && e->n < PHDRS_MAX; i++) {
        const uint8_t *h = p + phoff + i * phentsize;

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
    return e->n > 0;
}

static const uint8_t *map_file(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *p = MAP_FAILED;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        *n = (size_t)st.st_size;
        p = mmap(NULL, *n, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    return p == MAP_FAILED ? NULL : p;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The file that was PATH, in DIR first. */
static const uint8_t *find_file(const char *path, const char *dir, size_t *n)
{
    char name[DRM_MODULE_PATH];
    const uint8_t *p = NULL;

    if (dir && snprintf(name, sizeof name, "%s%s%s", dir, path[0] == '/' ? "" : "/", path) <
                   (int)sizeof name)
        p = map_file(name, n);
    if (!p && dir && snprintf(name, sizeof name, "%s/%s", dir, base_name(path)) < (int)sizeof name)
        p = map_file(name, n);
    return p ? p : map_file(path, n);
}

/* --- the list --- */

struct list {
    struct drm_modules *m;
    struct trod_diag *diag;
    const char *name, *dir;
    struct drm_module_text text;
    struct drm_module first; /* the first line of the module that the current one belongs to */
};

static int complain(const struct list *l, const char *kind, const char *what, const char *path)
{
    struct trod_place at = trod_place_path(l->name);

    at.line = l->text.line;
    return trod_warning(l->diag, TROD_ERR_IO, kind, &at, "%s: '%s'", what, path);
}

/* Is file P the one of which LINE tells? NULL, or what is wrong. */
static const char *wrong(const struct list *l, const struct drm_module *n, const struct elf *e,
                         size_t size)
{
    uint64_t length = n->end - n->start;
    bool found = false;

    if (l->first.entry && l->first.entry >= l->first.start &&
        l->first.entry - l->first.start != e->entry - e->base)
        return "is not the file that ran: its entry point lies elsewhere";
    if (l->text.version < DRM_MODULES_OFFSETS)
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
    f->p = find_file(path, l->dir, &f->n);
    if (!f->p)
        complain(l, "drmemtrace.module-missing", "code is not known: cannot open", path);
    return f;
}

/* The stretches of a module of which the list has one line (before version 4). */
static int add_whole(struct list *l, const struct drm_module *n, const struct file *f,
                     const struct elf *e)
{
    int rc = TROD_OK;

    for (size_t i = 0; i < e->n && rc == TROD_OK; i++) {
        uint64_t start = n->start + (e->load[i].addr - e->base);
        uint64_t have = e->load[i].offset > f->n ? 0 : f->n - e->load[i].offset;

        if (have > e->load[i].filesz)
            have = e->load[i].filesz;
        rc = add_stretch(l->m, start, start + e->load[i].memsz,
                         f->p + e->load[i].offset * (have > 0), (size_t)have);
    }
    return rc;
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

static int add_module(struct list *l, const struct drm_module *n)
{
    const char *why = NULL;
    struct file *f;
    struct elf e;

    if (n->end <= n->start)
        return TROD_OK;
    if (n->custom_n) {
        const uint8_t *p = own(l->m, n->custom, n->custom_n);

        return p ? add_stretch(l->m, n->start, n->end, p, n->custom_n) : TROD_ERR_NOMEM;
    }
    if (n->path[0] == '\0' || n->path[0] == '<' || n->path[0] == '[')
        return TROD_OK;
    if (!(f = file_of(l, n->path)))
        return TROD_ERR_NOMEM;
    if (!f->p)
        return TROD_OK;
    if (!read_elf(f->p, f->n, &e))
        why = "is no ELF file";
    else
        why = wrong(l, n, &e, f->n);
    if (why) {
        complain(l, "drmemtrace.module-changed", why, n->path);
        munmap((void *)(uintptr_t)f->p, f->n);
        f->p = NULL;
        for (size_t i = 0; i < l->m->n;) /* nothing of it can be believed */
            if (l->m->stretch[i].start >= l->first.start && l->m->stretch[i].end <= n->end)
                l->m->stretch[i] = l->m->stretch[--l->m->n];
            else
                i++;
        return TROD_OK;
    }
    if (l->m->isa == TROD_ISA_UNKNOWN)
        l->m->isa = isa_of(e.machine);
    if (l->text.version < DRM_MODULES_OFFSETS)
        return add_whole(l, n, f, &e);
    return add_stretch(l->m, n->start, n->end, f->p + n->offset, f->n - (size_t)n->offset);
}

int drm_modules_parse(struct drm_modules *m, const uint8_t *p, size_t n, const char *name,
                      const char *dir, struct trod_diag *diag)
{
    struct list l = {.m = m, .diag = diag, .name = name, .dir = dir};
    const struct trod_place at = trod_place_path(name);
    struct drm_module *module = malloc(sizeof *module);
    int rc = TROD_OK;

    if (!module)
        return TROD_ERR_NOMEM;
    if (!drm_module_text_begin(&l.text, p, n)) {
        free(module);
        return trod_error(diag, TROD_ERR_CORRUPT, "drmemtrace.modules", &at,
                          "list of modules does not begin with 'Module Table: version'");
    }
    while (rc == TROD_OK && l.text.left > 0 && l.text.p < l.text.end) {
        if (!drm_module_text_next(&l.text, module)) {
            complain(&l, "drmemtrace.module-line", "line of the list of modules is damaged", name);
            continue;
        }
        if (l.text.version < DRM_MODULES_CONTAINING || module->containing == module->id)
            l.first = *module;
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
    int rc = drm_read_file(path, list_limit, &b);

    if (rc == TROD_OK)
        rc = drm_modules_parse(m, b.p, b.n, path, dir, diag);
    else
        rc = trod_error(diag, rc, "drmemtrace.modules", &at, "cannot read list of modules '%s'",
                        path);
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
        const uint8_t *bytes;
        int rc;

        if (len < 24 || len > n - i)
            break;
        bytes = own(m, p + i + 24, (size_t)len - 24);
        rc = bytes ? add_stretch(m, pc, pc + len - 24, bytes, (size_t)len - 24) : TROD_ERR_NOMEM;
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

static const uint8_t *bytes_of(const struct stretch *s, uint64_t pc, uint32_t size)
{
    uint64_t off = pc - s->start;

    return pc >= s->start && pc < s->end && off <= s->n && size <= s->n - off ? s->bytes + off
                                                                              : NULL;
}

const uint8_t *drm_modules_code(struct drm_modules *m, uint64_t pc, uint32_t size)
{
    const uint8_t *p = m->last < m->n ? bytes_of(&m->stretch[m->last], pc, size) : NULL;
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
        p = bytes_of(&m->stretch[i], pc, size);
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
