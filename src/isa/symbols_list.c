/*
 * symbols_list.c - symbols of the files that a list of modules names, each where it was loaded.
 *
 * Implements trod_symbols_modules of trod/symbols.h after docs/formats/drmemtrace-writing.md, "Code
 * beside the trace". A file of that name may be another one by now: it is taken when its segments
 * reach as far as those of the list.
 */
#include "trod/symbols.h"

#include "isa/module_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trod_config.h"

#if TROD_HAVE_ELF
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_MAX = 64 << 20, SLACK = 0x10000 }; /* segments end at borders of pages of any size */

/* A file of the list: its lines are one behind the other. */
struct module {
    uint64_t id, start, end;
    char path[MODULE_PATH];
};

/* The whole of the regular file PATH, for free(). NULL: it cannot be read. */
static uint8_t *read_list(const char *path, size_t *n)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    uint8_t *p = NULL;
    struct stat st;
    ssize_t got = 1;

    *n = 0;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= LIST_MAX)
        p = malloc((size_t)st.st_size + 1);
    while (p && *n < (size_t)st.st_size && got > 0)
        if ((got = read(fd, p + *n, (size_t)st.st_size - *n)) > 0)
            *n += (size_t)got;
    if (fd >= 0)
        close(fd);
    return p;
}

/* The bytes from the first loaded segment of the ELF file PATH to the end of the last; 0: none. */
static uint64_t span_of(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    uint64_t least = UINT64_MAX, end = 0;
    struct stat st;
    size_t n = 0;
    Elf *elf;

    if (fd < 0)
        return 0;
    elf_version(EV_CURRENT);
    elf = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    if (elf && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &n) == 0)
        for (size_t i = 0; i < n && i < INT32_MAX; i++) {
            GElf_Phdr p;

            if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD)
                continue;
            least = p.p_vaddr < least ? p.p_vaddr : least;
            end = p.p_vaddr + p.p_memsz > end ? p.p_vaddr + p.p_memsz : end;
        }
    elf_end(elf);
    close(fd);
    return end > least ? end - least : 0;
}

static int add_module(struct trod_symbols *s, const struct module *m, size_t *added)
{
    const uint64_t span = span_of(m->path), listed = m->end - m->start;
    struct trod_diag quiet = {0};
    char spec[MODULE_PATH + 24];
    int rc;

    if (span == 0 || listed > span + SLACK || span > listed + SLACK)
        return TROD_OK;
    snprintf(spec, sizeof spec, "%s@0x%" PRIx64, m->path, m->start);
    rc = trod_symbols_add(s, spec, &quiet);
    if (rc == TROD_OK)
        ++*added;
    return rc == TROD_ERR_NOMEM ? rc : TROD_OK;
}

/* The lines of the list at P; a damaged one is left out. */
static int add_lines(struct trod_symbols *s, const uint8_t *p, size_t n, size_t *added)
{
    struct module_line *line = malloc(sizeof *line);
    struct module *m = calloc(1, sizeof *m);
    struct module_text text;
    bool any = false;
    int rc = line && m ? TROD_OK : TROD_ERR_NOMEM;

    if (rc == TROD_OK && !module_text_begin(&text, p, n))
        rc = TROD_ERR_CORRUPT;
    while (rc == TROD_OK && text.left > 0 && text.p < text.end) {
        if (!module_text_next(&text, line) || line->path[0] != '/' || line->end <= line->start)
            continue;
        if (any && text.version >= MODULES_CONTAINING && line->containing == m->id) {
            m->end = line->end > m->end ? line->end : m->end;
            continue;
        }
        rc = any ? add_module(s, m, added) : TROD_OK;
        *m = (struct module){line->id, line->start, line->end, {0}};
        memcpy(m->path, line->path, sizeof m->path);
        any = true;
    }
    if (rc == TROD_OK && any)
        rc = add_module(s, m, added);
    free(m);
    free(line);
    return rc;
}

int trod_symbols_modules(struct trod_symbols *s, const char *path, size_t *added,
                         struct trod_diag *diag)
{
    const struct trod_place at = trod_place_path(path);
    size_t n;
    uint8_t *p = read_list(path, &n);
    int rc;

    *added = 0;
    if (!p)
        return trod_error(diag, TROD_ERR_IO, "symbols.open", &at, "cannot be read");
    rc = add_lines(s, p, n, added);
    free(p);
    if (rc == TROD_ERR_CORRUPT)
        return trod_error(diag, rc, "symbols.list", &at,
                          "no list of modules: it does not begin with 'Module Table: version'");
    return rc == TROD_OK ? rc : trod_error(diag, rc, "symbols.memory", &at, "out of memory");
}

#else

int trod_symbols_modules(struct trod_symbols *s, const char *path, size_t *added,
                         struct trod_diag *diag)
{
    (void)s;
    *added = 0;
    return trod_error(diag, TROD_ERR_UNSUPPORTED, "symbols.unsupported", NULL,
                      "symbols of '%s' cannot be read: this trod was built without libelf", path);
}

#endif
