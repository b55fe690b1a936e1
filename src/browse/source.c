/*
 * source.c - the code around the cursor. Implements source.h.
 */
#include "browse/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 16 << 20, NEAR = 3000 };

void browse_source_fini(struct browse_source *s)
{
    free(s->name);
    free(s->path);
    free(s->text);
    free(s->start);
    memset(s, 0, sizeof *s);
}

static char *copy(const char *text)
{
    char *out = malloc(strlen(text) + 1);

    return out ? strcpy(out, text) : NULL;
}

static FILE *try(const char *dir, const char *name, char **path)
{
    const size_t size = strlen(dir) + strlen(name) + 2;
    FILE *f;

    *path = malloc(size);
    if (!*path)
        return NULL;
    snprintf(*path, size, "%s%s%s", dir, dir[0] ? "/" : "", name);
    f = fopen(*path, "r");
    if (!f) {
        free(*path);
        *path = NULL;
    }
    return f;
}

/*
 * NAME below one of the folders of --source: all of it, or as much of its end as is there, the
 * longest first; else where the debugging information says.
 */
static FILE *find(const struct browse *b, const char *name, char **path)
{
    FILE *f = NULL;

    for (size_t i = 0; !f && i < b->opt.n_source; i++)
        for (const char *tail = name; !f && tail; tail = strchr(tail, '/')) {
            tail += *tail == '/';
            f = try(b->opt.source[i], tail, path);
        }
    return f ? f : try("", name, path);
}

static int split(struct browse_source *s, size_t n)
{
    size_t cap = 1;

    for (size_t i = 0; i < n; i++)
        cap += s->text[i] == '\n';
    s->start = calloc(cap, sizeof *s->start);
    if (!s->start)
        return TROD_ERR_NOMEM;
    s->n = n ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        if (s->text[i] == '\t')
            s->text[i] = ' ';
        if (s->text[i] != '\n')
            continue;
        s->text[i] = '\0';
        if (i + 1 < n)
            s->start[s->n++] = i + 1;
    }
    return 0;
}

static void load(const struct browse *b, struct browse_source *s, const char *name)
{
    FILE *f;
    size_t n;

    browse_source_fini(s);
    s->name = copy(name);
    f = s->name ? find(b, name, &s->path) : NULL;
    if (!f)
        return;
    s->text = malloc(LARGEST + 1);
    n = s->text ? fread(s->text, 1, LARGEST, f) : 0;
    fclose(f);
    if (!s->text)
        return;
    s->text[n] = '\0';
    if (split(s, n) < 0)
        s->n = 0;
}

bool browse_source_line(struct browse *b, struct browse_source *s, uint32_t *line, const char **why)
{
    const char *name;
    uint64_t pc;

    *why = "--symbols names no file";
    if (!b->opt.symbols)
        return false;
    *why = "no instruction is near";
    if (!browse_pc(b, &pc))
        return false;
    *why = "nothing says which line this is";
    if (!trod_symbols_line(b->opt.symbols, pc, &name, line))
        return false;
    if (!s->name || strcmp(s->name, name) != 0)
        load(b, s, name);
    *why = "its file is not here: --source DIR";
    return s->n > 0;
}

const char *browse_source_text(const struct browse_source *s, size_t i)
{
    return i && i <= s->n ? s->text + s->start[i - 1] : "";
}

/* ---- instructions */

/* The place of PC among the N of OUT, or where it belongs. */
static size_t place(const struct browse_code *out, size_t n, uint64_t pc)
{
    size_t lo = 0;

    while (lo < n && out[lo].pc < pc)
        lo++;
    return lo;
}

/* Put PC among the nearest to HERE, of which there are at most MOST. */
static void put(struct browse *b, struct browse_code *out, size_t *n, size_t most, uint64_t here,
                const struct trod_batch *batch, uint32_t i)
{
    const uint64_t pc = batch->addr[i];
    size_t at = place(out, *n, pc);

    if (at < *n && out[at].pc == pc)
        return;
    if (*n == most) {
        /* the farthest one goes, on the side that has more */
        const size_t middle = place(out, *n, here);
        const bool low = middle > most / 2;

        if (low ? at == 0 : at == *n)
            return;
        if (low) {
            memmove(out, out + 1, (*n - 1) * sizeof *out);
            at--;
        }
        --*n;
    }
    memmove(out + at + 1, out + at, (*n - at) * sizeof *out);
    out[at].pc = pc;
    browse_text(b, batch, i, out[at].text, sizeof out[at].text);
    ++*n;
}

size_t browse_code_around(struct browse *b, struct browse_code *out, size_t n, size_t *at)
{
    const uint64_t from = b->cursor > NEAR ? b->cursor - NEAR : 0;
    const struct trod_batch *batch;
    size_t count = 0;
    uint64_t here;
    uint32_t i;

    *at = 0;
    if (!n || !browse_pc(b, &here))
        return 0;
    for (int pass = 0; pass < 2; pass++) /* first the one at the cursor, which is to be there */
        for (uint64_t row = from; row < b->cursor + NEAR; row++) {
            if (browse_row(b, row, &batch, &i) <= 0)
                break;
            if (batch->kind[i] == TROD_INSTR && (batch->have & batch->has[i] & TROD_COL_ADDR) &&
                (pass || batch->addr[i] == here))
                put(b, out, &count, n, here, batch, i);
        }
    *at = place(out, count, here);
    return count;
}
