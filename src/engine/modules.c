/*
 * modules.c - where files of code lay while the program ran (trod_sites_module).
 *
 * Stretches of several processes may overlap: the one that begins last before an address counts.
 */
#include "engine/modules.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

static int add(void *user, const struct trod_module *m)
{
    struct engine_modules *all = user;
    struct trod_module *to;

    if (!trod_grow(&all->at, all->n, &all->cap, sizeof *all->at, 64))
        return TROD_ERR_NOMEM;
    to = &all->at[all->n];
    *to = *m;
    to->path = strdup(m->path);
    if (!to->path)
        return TROD_ERR_NOMEM;
    all->n++;
    return TROD_OK;
}

static int by_address(const void *a, const void *b)
{
    const struct trod_module *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

int engine_modules_read(struct engine_modules *m, const struct trod_trace *t,
                        struct trod_diag *diag)
{
    int rc;

    if (m->read)
        return TROD_OK;
    m->read = true;
    rc = trod_trace_modules(t, add, m, diag);
    if (m->n)
        qsort(m->at, m->n, sizeof *m->at, by_address);
    return rc;
}

bool engine_modules_find(const struct engine_modules *m, uint64_t address, const char **path,
                         uint64_t *offset)
{
    size_t lo = 0, hi = m->n;

    while (lo < hi) { /* the first that begins after ADDRESS */
        const size_t mid = lo + (hi - lo) / 2;

        if (m->at[mid].from <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0 || address >= m->at[lo - 1].to)
        return false;
    *path = m->at[lo - 1].path;
    *offset = address - m->at[lo - 1].base;
    return true;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool engine_modules_base(const struct engine_modules *m, const char *path, uint64_t *base)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(last_part(m->at[i].path), last_part(path)) == 0) {
            *base = m->at[i].base;
            return true;
        }
    return false;
}

void engine_modules_free(struct engine_modules *m)
{
    for (size_t i = 0; i < m->n; i++)
        free((void *)(uintptr_t)m->at[i].path);
    free(m->at);
    *m = (struct engine_modules){.at = NULL};
}
