/*
 * module_text.h - the text of a list of modules (modules.log), line by line.
 */
#ifndef TROD_ISA_MODULE_TEXT_H
#define TROD_ISA_MODULE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Versions of the list: the least that is read, and those from which on lines have a column. */
enum { MODULES_LEAST = 2, MODULES_CONTAINING = 3, MODULES_OFFSETS = 4, MODULES_PREFERRED = 5 };

enum { MODULE_PATH = 4096 };

/* A line. */
struct module_line {
    uint64_t id, containing, start, end, entry, offset;
    const uint8_t *custom; /* bytes in the list itself: custom_n of them */
    size_t custom_n;
    char path[MODULE_PATH];
};

/* What is left of a list. */
struct module_text {
    const uint8_t *p, *end;
    unsigned version;
    uint64_t left, line; /* lines to come; the one read last */
};

/*
 * Begin with N bytes at P, which must outlive C: "Module Table: version 5, count 9". Returns false
 * where that is not what stands there.
 */
bool module_text_begin(struct module_text *c, const uint8_t *p, size_t n);

/* The next line, into N; only where text and lines are left. Returns false if it is damaged. */
bool module_text_next(struct module_text *c, struct module_line *n);

#endif
