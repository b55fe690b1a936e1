/*
 * module_text.c - the text of a list of modules (modules.log), line by line.
 *
 * Implements module_text.h after docs/formats/drmemtrace-writing.md, "Code beside the trace".
 */
#include "isa/module_text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void blanks(struct module_text *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
        c->p++;
}

/* A number, in BASE, and the comma behind it. */
static bool number(struct module_text *c, unsigned base, uint64_t *out)
{
    uint64_t v = 0;
    unsigned digits = 0;

    blanks(c);
    if (c->end - c->p > 2 && c->p[0] == '0' && (c->p[1] == 'x' || c->p[1] == 'X')) {
        c->p += 2;
        base = 16;
    }
    for (; c->p < c->end && digits < 20; c->p++, digits++) {
        unsigned d = *c->p, low = d | 0x20;

        if (d >= '0' && d <= '9')
            d -= '0';
        else if (base == 16 && low >= 'a' && low <= 'f')
            d = low - 'a' + 10;
        else
            break;
        v = v * base + d;
    }
    blanks(c);
    if (digits == 0 || c->p == c->end || *c->p != ',')
        return false;
    c->p++;
    *out = v;
    return true;
}

/* "v#1,SIZE," and the bytes; they may be followed by a comma. */
static bool custom_field(struct module_text *c, struct module_line *n)
{
    uint64_t version, size;

    blanks(c);
    if (c->end - c->p < 3 || c->p[0] != 'v' || c->p[1] != '#')
        return true;
    c->p += 2;
    if (!number(c, 10, &version) || !number(c, 10, &size) || size > (size_t)(c->end - c->p))
        return false;
    n->custom = c->p;
    n->custom_n = (size_t)size;
    c->p += size;
    if (c->p < c->end && *c->p == ',')
        c->p++;
    return true;
}

/* The rest of the line, which is the path. Columns of other systems stand before it. */
static void rest(struct module_text *c, struct module_line *n)
{
    const uint8_t *nl = memchr(c->p, '\n', (size_t)(c->end - c->p)), *stop = nl ? nl : c->end;
    size_t len;

    blanks(c);
    while (stop > c->p && (stop[-1] == '\r' || stop[-1] == ' '))
        stop--;
    len = stop > c->p ? (size_t)(stop - c->p) : 0;
    if (len >= sizeof n->path)
        len = 0;
    memcpy(n->path, c->p, len);
    n->path[len] = '\0';
    c->p = nl ? nl + 1 : c->end;
}

static void next_line(struct module_text *c)
{
    const uint8_t *nl = memchr(c->p, '\n', (size_t)(c->end - c->p));

    c->p = nl ? nl + 1 : c->end;
}

/* A label and the decimal number after it. */
static bool labelled(const char **at, const char *label, uint64_t *out)
{
    const size_t len = strlen(label);
    char *end;

    if (strncmp(*at, label, len) != 0)
        return false;
    errno = 0;
    *out = strtoull(*at + len, &end, 10);
    if (end == *at + len || errno != 0)
        return false;
    *at = end;
    return true;
}

bool module_text_begin(struct module_text *c, const uint8_t *p, size_t n)
{
    char text[96];
    const char *t = text;
    const uint8_t *nl = n ? memchr(p, '\n', n) : NULL;
    size_t len = nl ? (size_t)(nl - p) : 0;
    uint64_t v;

    *c = (struct module_text){.p = p, .end = p + n, .line = 2};
    if (!nl || len >= sizeof text)
        return false;
    memcpy(text, p, len);
    text[len] = '\0';
    if (!labelled(&t, "Module Table: version", &v) || v > UINT_MAX ||
        !labelled(&t, ", count", &c->left))
        return false;
    c->version = (unsigned)v;
    c->p = nl + 1;
    if (c->end - c->p > 8 && memcmp(c->p, "Columns:", 8) == 0)
        next_line(c);
    return c->version >= MODULES_LEAST;
}

static bool fields(struct module_text *c, struct module_line *n)
{
    const unsigned version = c->version;
    uint64_t preferred;

    *n = (struct module_line){0};
    return number(c, 10, &n->id) &&
           (version < MODULES_CONTAINING || number(c, 10, &n->containing)) &&
           number(c, 16, &n->start) && number(c, 16, &n->end) && number(c, 16, &n->entry) &&
           (version < MODULES_OFFSETS || number(c, 16, &n->offset)) &&
           (version < MODULES_PREFERRED || number(c, 16, &preferred)) && custom_field(c, n);
}

bool module_text_next(struct module_text *c, struct module_line *n)
{
    const uint8_t *from = c->p;

    c->line++;
    c->left--;
    if (fields(c, n)) {
        rest(c, n);
        return true;
    }
    c->p = from;
    next_line(c);
    return false;
}
