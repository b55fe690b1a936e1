/*
 * pages.c - page mappings from markers or from a v2p file.
 *
 * Implements dr/pages.h. An address whose page is not known keeps its low 28 bits.
 */
#include "sim/dr/pages.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_BITS = 28, LINE = 256 };

static unsigned log2_of(uint64_t v)
{
    unsigned bits = 0;

    while (v >>= 1)
        bits++;
    return bits;
}

void trod_dr_pages_init(struct trod_dr_pages *p, uint64_t page_size)
{
    memset(p, 0, sizeof *p);
    p->page.map = true;
    p->bits = log2_of(page_size);
}

void trod_dr_pages_fini(struct trod_dr_pages *p)
{
    trod_lines_fini(&p->page);
}

void trod_dr_pages_size(struct trod_dr_pages *p, uint64_t page_size)
{
    if (!p->fixed && page_size && !(page_size & (page_size - 1)))
        p->bits = log2_of(page_size);
}

static uint64_t kept(uint64_t addr)
{
    return addr & ((UINT64_C(1) << KEPT_BITS) - 1);
}

static void put(struct trod_dr_pages *p, uint64_t addr, uint64_t physical)
{
    const uint64_t offset = (UINT64_C(1) << p->bits) - 1;
    uint64_t *v = trod_lines_at(&p->page, addr >> p->bits);

    if (!v) {
        p->failed = true;
        return;
    }
    *v = (physical == TROD_NOWHERE ? kept(addr) : physical) & ~offset;
}

void trod_dr_pages_map(struct trod_dr_pages *p, uint64_t addr, uint64_t physical)
{
    if (!p->fixed)
        put(p, addr, physical);
}

uint64_t trod_dr_pages_translate(struct trod_dr_pages *p, uint64_t addr)
{
    const uint64_t *v = trod_lines_get(&p->page, addr >> p->bits);

    if (v)
        return *v | (addr & ((UINT64_C(1) << p->bits) - 1));
    p->missing++;
    return kept(addr);
}

/* "KEY: NUMBER" in LINE: *VALUE. */
static bool pair(const char *line, const char *key, uint64_t *value)
{
    const size_t n = strlen(key);
    char *end;

    line += strspn(line, " \t");
    if (strncmp(line, key, n) != 0)
        return false;
    line += n;
    line += strspn(line, " \t");
    if (*line++ != ':')
        return false;
    *value = strtoull(line, &end, 0);
    return end != line && end[strspn(end, " \t\r")] == 0;
}

/* Is LINE, which is no pair in use, legal otherwise: empty, a block, another pair? */
static bool says_else(const char *line)
{
    static const char *const keys[] = {"page_size", "virtual_address", "physical_address"};
    size_t n;

    line += strspn(line, " \t");
    n = strcspn(line, " \t\r:{}");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i]) == n && strncmp(line, keys[i], n) == 0)
            return false;
    return line[strspn(line, " \t\r")] == 0 || line[n + strspn(line + n, " \t")] == ':' ||
           strpbrk(line, "{}");
}

static int fail(struct trod_diag *diag, const char *path, uint64_t line, const char *what)
{
    struct trod_place at = trod_place_path(path);

    at.line = line;
    return trod_error(diag, TROD_ERR_USAGE, "cache.v2p", &at, "%s", what);
}

/* What LINE (number NUMBER) says. *VIRTUAL waits for its physical address. */
static int one_line(struct trod_dr_pages *p, const char *line, uint64_t number, uint64_t *virtual,
                    bool *zero, const char *path, struct trod_diag *diag)
{
    uint64_t v;

    if (pair(line, "page_size", &v)) {
        if (v == 0 || v & (v - 1) || (p->page.n && log2_of(v) != p->bits))
            return fail(diag, path, number, "page_size is no power of two, or comes twice");
        p->bits = log2_of(v);
        return 0;
    }
    if (pair(line, "virtual_address", &v)) {
        if (trod_lines_has(&p->page, v >> p->bits))
            return fail(diag, path, number, "this virtual address was given before");
        *virtual = v;
        return 0;
    }
    if (!pair(line, "physical_address", &v))
        return says_else(line) ? 0
                               : fail(diag, path, number,
                                      "neither KEY: NUMBER nor the begin or end of a block");
    if (*virtual == TROD_NOWHERE) { /* a virtual address of 0 may be left out, once */
        if (*zero)
            return fail(diag, path, number, "a physical address without its virtual address");
        *virtual = 0;
        *zero = true;
    }
    put(p, *virtual, v);
    *virtual = TROD_NOWHERE;
    return p->failed ? TROD_ERR_NOMEM : 0;
}

int trod_dr_pages_read(struct trod_dr_pages *p, const char *text, size_t n, const char *path,
                       struct trod_diag *diag)
{
    uint64_t virtual = TROD_NOWHERE, number = 0;
    const char *const end = text + n;
    bool zero = false;
    int rc = 0;

    p->fixed = true;
    while (rc == 0 && text < end) {
        const char *eol = memchr(text, '\n', (size_t)(end - text));
        const size_t len = (size_t)((eol ? eol : end) - text);
        char line[LINE];

        number++;
        if (len >= LINE)
            return fail(diag, path, number, "a line of more than 255 bytes");
        memcpy(line, text, len);
        line[len] = 0;
        line[strcspn(line, "#")] = 0;
        rc = one_line(p, line, number, &virtual, &zero, path, diag);
        text += len + (eol != NULL);
    }
    return rc;
}
