/*
 * names.c - names of owners; pages without a known owner become stretches.
 *
 * Implements trod_whose_end, trod_whose_of and trod_whose_name of whose.h.
 */
#include "sim/whose/whose_int.h"
#include "trod/diag.h"
#include "trod/meta.h"
#include "trod/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NEAR_PAGES = 16, ADDRESS = 512 };

struct page {
    uint64_t number;
    uint32_t owner;
    uint8_t kind;
};

static int by_page(const void *a, const void *b)
{
    const struct page *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

int trod_whose_end(struct trod_whose *w)
{
    struct page *all = calloc(w->n_owners, sizeof *all);
    size_t n = 0, first = 0;

    if (!all)
        return TROD_ERR_NOMEM;
    for (size_t i = 1; i < w->n_owners; i++) {
        struct whose_owner *o = &w->owner[i];

        o->with = (uint32_t)i;
        o->end = o->at;
        if (o->kind == WHOSE_DATA_AT || o->kind == WHOSE_CODE_AT)
            all[n++] = (struct page){o->at, (uint32_t)i, o->kind};
    }
    qsort(all, n, sizeof *all, by_page);
    for (size_t i = 1; i < n; i++) {
        if (all[i].kind != all[first].kind || all[i].number - all[i - 1].number > NEAR_PAGES)
            first = i;
        w->owner[all[i].owner].with = all[first].owner;
        w->owner[all[first].owner].end = all[i].number;
    }
    free(all);
    return TROD_OK;
}

uint32_t trod_whose_of(const struct trod_whose *w, uint32_t owner)
{
    return owner < w->n_owners ? w->owner[owner].with : owner;
}

/* An address as its symbol and how far in, or as a number. */
static const char *place(const struct trod_whose *w, uint64_t at, char text[ADDRESS])
{
    const char *name = NULL;
    uint64_t offset = 0;

    if (w->symbols && trod_symbols_find(w->symbols, at, &name, &offset))
        snprintf(text, ADDRESS, offset ? "%.480s+0x%" PRIx64 : "%.480s", name, offset);
    else
        snprintf(text, ADDRESS, "0x%" PRIx64, at);
    return text;
}

static void stretch(const struct whose_owner *o, const char *before, char text[TROD_WHOSE_NAME])
{
    snprintf(text, TROD_WHOSE_NAME, "%s0x%" PRIx64 "..0x%" PRIx64, before, o->at << WHOSE_PAGE_BITS,
             (o->end << WHOSE_PAGE_BITS) + 0xfff);
}

/* The name of allocated memory: WHAT it is, which one, and where it was asked for. */
static void given(const struct trod_whose *w, const struct whose_owner *o, const char *what,
                  char text[TROD_WHOSE_NAME])
{
    char from[ADDRESS];

    if (w->by == TROD_WHOSE_REGION)
        snprintf(text, TROD_WHOSE_NAME, "(%s)", what);
    else if (w->by == TROD_WHOSE_DATA)
        snprintf(text, TROD_WHOSE_NAME, "(%s) from %s", what, place(w, o->caller, from));
    else
        snprintf(text, TROD_WHOSE_NAME, "(%s) 0x%" PRIx64 ", %" PRIu64 " bytes from %s", what,
                 o->at, o->size, place(w, o->caller, from));
}

static void stack(const struct whose_owner *o, const struct trod_meta *m,
                  char text[TROD_WHOSE_NAME])
{
    const struct trod_stream *s = o->at < m->n_streams ? &m->streams[o->at] : NULL;

    if (s && s->name_len)
        snprintf(text, TROD_WHOSE_NAME, "(stack) of %.*s",
                 (int)(s->name_len < ADDRESS ? s->name_len : ADDRESS), s->name);
    else
        snprintf(text, TROD_WHOSE_NAME, "(stack)");
}

void trod_whose_name(const struct trod_whose *w, uint32_t owner, const struct trod_meta *m,
                     char text[TROD_WHOSE_NAME])
{
    const struct whose_owner *o = &w->owner[owner < w->n_owners ? owner : 0];

    switch ((enum whose_kind)o->kind) {
    case WHOSE_CODE:
        snprintf(text, TROD_WHOSE_NAME, "(code)");
        break;
    case WHOSE_CODE_OF:
        snprintf(text, TROD_WHOSE_NAME, "(code) of %.600s", o->name);
        break;
    case WHOSE_CODE_AT:
        stretch(o, "(code) ", text);
        break;
    case WHOSE_OBJECT:
        snprintf(text, TROD_WHOSE_NAME, "%s", o->name);
        break;
    case WHOSE_DATA_OF:
        snprintf(text, TROD_WHOSE_NAME, "(data) of %.600s", o->name);
        break;
    case WHOSE_HEAP:
    case WHOSE_BLOCK:
        given(w, o, "heap", text);
        break;
    case WHOSE_MAPPING:
    case WHOSE_MAPPED:
        given(w, o, "mapping", text);
        break;
    case WHOSE_STACK:
        stack(o, m, text);
        break;
    case WHOSE_DATA_AT:
        stretch(o, "", text);
        break;
    case WHOSE_TABLES:
        snprintf(text, TROD_WHOSE_NAME, "(page tables)");
        break;
    default:
        snprintf(text, TROD_WHOSE_NAME, "(nobody)");
    }
}
