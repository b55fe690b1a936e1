/*
 * lines.c - addresses to files and lines of source, through libdw.
 *
 * Implements lines.h; document: DWARF, "Line Number Information". A file is opened when a line of
 * it is asked for. Debugging information in separate files is not looked for.
 */
#include "isa/lines.h"

#include "core/grow.h"
#include "trod_config.h"

#include <stdlib.h>
#include <string.h>

#if TROD_HAVE_DW
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>
#endif

void trod_line_files_free(struct trod_line_files *l)
{
    for (size_t i = 0; i < l->n; i++) {
#if TROD_HAVE_DW
        if (l->at[i].dwarf)
            dwarf_end(l->at[i].dwarf);
        if (l->at[i].fd >= 0)
            close(l->at[i].fd);
#endif
        free(l->at[i].path);
    }
    free(l->at);
}

int trod_line_files_add(struct trod_line_files *l, const char *path, uint64_t from, uint64_t to,
                        uint64_t slide)
{
    char *copy = malloc(strlen(path) + 1);

    if (!copy || !trod_grow(&l->at, l->n, &l->cap, sizeof *l->at, 8)) {
        free(copy);
        return TROD_ERR_NOMEM;
    }
    memcpy(copy, path, strlen(path) + 1);
    l->at[l->n++] =
        (struct trod_line_file){.path = copy, .from = from, .to = to, .slide = slide, .fd = -1};
    return 0;
}

static struct trod_line_file *file_of(const struct trod_line_files *l, uint64_t address)
{
    for (size_t i = 0; i < l->n; i++)
        if (address >= l->at[i].from && address < l->at[i].to)
            return &l->at[i];
    return NULL;
}

bool trod_line_files_find(const struct trod_line_files *l, uint64_t address, const char **path)
{
    const struct trod_line_file *f = file_of(l, address);

    if (f)
        *path = f->path;
    return f != NULL;
}

#if TROD_HAVE_DW

static bool open_dwarf(struct trod_line_file *f)
{
    if (!f->tried) {
        f->tried = true;
        f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
        f->dwarf = f->fd < 0 ? NULL : dwarf_begin(f->fd, DWARF_C_READ);
    }
    return f->dwarf != NULL;
}

bool trod_line_files_line(struct trod_line_files *l, uint64_t address, const char **file,
                          uint32_t *line)
{
    struct trod_line_file *f = file_of(l, address);
    Dwarf_Die unit;
    Dwarf_Line *at;
    int number = 0;

    if (!f || !open_dwarf(f) || !dwarf_addrdie(f->dwarf, address - f->slide, &unit) ||
        !(at = dwarf_getsrc_die(&unit, address - f->slide)) || dwarf_lineno(at, &number) != 0 ||
        number <= 0)
        return false;
    *file = dwarf_linesrc(at, NULL, NULL);
    *line = (uint32_t)number;
    return *file != NULL;
}

typedef int (*each_fn)(void *user, uint64_t address, const char *file, uint32_t line);

/* The lines of the unit UNIT of F. */
static int unit_lines(const struct trod_line_file *f, Dwarf_Die *unit, each_fn each, void *user)
{
    Dwarf_Lines *lines;
    size_t n;
    int r = 0;

    if (dwarf_getsrclines(unit, &lines, &n) != 0)
        return 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        Dwarf_Line *at = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        const char *file;
        bool begins, ends;
        int line;

        if (dwarf_lineno(at, &line) == 0 && dwarf_lineaddr(at, &address) == 0 &&
            dwarf_linebeginstatement(at, &begins) == 0 && begins &&
            dwarf_lineendsequence(at, &ends) == 0 && !ends && line > 0 &&
            (file = dwarf_linesrc(at, NULL, NULL)))
            r = each(user, address + f->slide, file, (uint32_t)line);
    }
    return r;
}

int trod_line_files_each(struct trod_line_files *l, each_fn each, void *user)
{
    int r = 0;

    for (size_t i = 0; i < l->n; i++) {
        Dwarf_Off at = 0, next;
        size_t head;

        if (!open_dwarf(&l->at[i]))
            continue;
        while (r == 0 && dwarf_nextcu(l->at[i].dwarf, at, &next, &head, NULL, NULL, NULL) == 0) {
            Dwarf_Die unit;

            if (dwarf_offdie(l->at[i].dwarf, at + head, &unit))
                r = unit_lines(&l->at[i], &unit, each, user);
            at = next;
        }
    }
    return r;
}

#else

int trod_line_files_each(struct trod_line_files *l,
                         int (*each)(void *user, uint64_t address, const char *file, uint32_t line),
                         void *user)
{
    (void)l;
    (void)each;
    (void)user;
    return 0;
}

bool trod_line_files_line(struct trod_line_files *l, uint64_t address, const char **file,
                          uint32_t *line)
{
    (void)l;
    (void)address;
    (void)file;
    (void)line;
    return false;
}

#endif
