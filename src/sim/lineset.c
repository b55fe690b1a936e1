/*
 * lineset.c - growing, removing from and emptying maps of line numbers.
 *
 * Implements lineset.h. Removal shifts the lines behind back instead of leaving marks.
 */
#include "sim/lineset.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 64 };

bool trod_lines_room(struct trod_lines *m)
{
    struct trod_lines more = {.mask = m->key ? 2 * m->mask + 1 : FIRST - 1, .map = m->map};

    if (m->key && 2 * m->n < m->mask)
        return true;
    more.key = malloc((more.mask + 1) * sizeof *more.key);
    more.value = m->map ? calloc(more.mask + 2, sizeof *more.value) : NULL;
    if (!more.key || (m->map && !more.value)) {
        free(more.key);
        free(more.value);
        return false;
    }
    memset(more.key, 0xff, (more.mask + 1) * sizeof *more.key);
    more.n = m->n;
    more.top = m->top;
    if (m->top && m->map)
        more.value[more.mask + 1] = m->value[m->mask + 1];
    for (size_t i = 0; m->key && i <= m->mask; i++) {
        size_t to;

        if (m->key[i] == TROD_NO_LINE)
            continue;
        to = trod_lines_place(&more, m->key[i]);
        more.key[to] = m->key[i];
        if (m->map)
            more.value[to] = m->value[i];
    }
    free(m->key);
    free(m->value);
    *m = more;
    return true;
}

int trod_lines_add_top(struct trod_lines *m)
{
    if (m->top)
        return 0;
    m->top = true;
    m->n++;
    return 1;
}

uint64_t *trod_lines_at(struct trod_lines *m, uint64_t line)
{
    size_t i;

    if (!trod_lines_room(m))
        return NULL;
    if (line == TROD_NO_LINE) {
        if (trod_lines_add_top(m))
            m->value[m->mask + 1] = 0;
        return m->value + m->mask + 1;
    }
    i = trod_lines_place(m, line);
    if (m->key[i] != line) {
        m->key[i] = line;
        m->value[i] = 0;
        m->n++;
    }
    return m->value + i;
}

bool trod_lines_remove(struct trod_lines *m, uint64_t line)
{
    size_t hole, i;

    if (line == TROD_NO_LINE) {
        const bool was = m->top;

        m->n -= was;
        m->top = false;
        return was;
    }
    if (!m->key || m->key[hole = trod_lines_place(m, line)] != line)
        return false;
    for (i = (hole + 1) & m->mask; m->key[i] != TROD_NO_LINE; i = (i + 1) & m->mask) {
        const size_t home = trod_lines_hash(m->key[i]) & m->mask;

        if (((i - home) & m->mask) < ((i - hole) & m->mask))
            continue; /* it would be before its home */
        m->key[hole] = m->key[i];
        if (m->map)
            m->value[hole] = m->value[i];
        hole = i;
    }
    m->key[hole] = TROD_NO_LINE;
    m->n--;
    return true;
}

void trod_lines_clear(struct trod_lines *m)
{
    if (m->key)
        memset(m->key, 0xff, (m->mask + 1) * sizeof *m->key);
    m->n = 0;
    m->top = false;
}

void trod_lines_fini(struct trod_lines *m)
{
    free(m->key);
    free(m->value);
    m->key = m->value = NULL;
    m->n = m->mask = 0;
    m->top = false;
}
