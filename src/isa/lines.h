/*
 * lines.h - which file an address was loaded from, and which line of source it belongs to.
 */
#ifndef TROD_ISA_LINES_H
#define TROD_ISA_LINES_H

#include "trod/types.h"

struct trod_line_file {
    char *path;
    uint64_t from, to, slide; /* addresses in the trace; what they are moved by */
    int fd;                   /* -1: not open */
    void *dwarf;
    bool tried;
    bool unplaced; /* trod_symbols_unplaced */
};

struct trod_line_files {
    struct trod_line_file *at;
    size_t n, cap;
};

void trod_line_files_free(struct trod_line_files *l);
/* PATH is loaded at [FROM, TO), SLIDE above what it says itself. Returns 0 or TROD_ERR_NOMEM. */
int trod_line_files_add(struct trod_line_files *l, const char *path, uint64_t from, uint64_t to,
                        uint64_t slide);
/* See trod_symbols_file and trod_symbols_line. */
bool trod_line_files_find(const struct trod_line_files *l, uint64_t address, const char **path);
bool trod_line_files_line(struct trod_line_files *l, uint64_t address, const char **file,
                          uint32_t *line);
/* See trod_symbols_lines. */
int trod_line_files_each(struct trod_line_files *l,
                         int (*each)(void *user, uint64_t address, const char *file, uint32_t line),
                         void *user);

#endif
