/*
 * names.c - the functions of a run. Implements names.h.
 */
#include "export/names.h"

#include "core/grow.h"
#include "trod/callstack.h"

#include <stdio.h>

uint32_t export_function(struct export_names *n, uint64_t address, bool exception)
{
    struct export_pair *p = export_map_at(&n->by_address, address, exception);
    char buf[TROD_FUNCTION_NAME];
    const char *name;
    size_t at, len;

    if (!p)
        return UINT32_MAX;
    at = (size_t)(p - n->by_address.at);
    if (p->value)
        return (uint32_t)at;
    name = trod_function_name(n->symbols, address, buf);
    len = strlen(name) + sizeof "exception ";
    if (!trod_grow(&n->text, at, &n->cap, sizeof *n->text, 64) || !(n->text[at] = malloc(len)))
        return UINT32_MAX;
    snprintf(n->text[at], len, "%s%s", exception ? "exception " : "", name);
    p->value = 1;
    return (uint32_t)at;
}

size_t export_functions(const struct export_names *n)
{
    return n->by_address.n;
}

const char *export_function_name(const struct export_names *n, uint32_t function)
{
    return n->text[function];
}

uint64_t export_function_address(const struct export_names *n, uint32_t function)
{
    return n->by_address.at[function].a;
}

void export_names_fini(struct export_names *n)
{
    for (size_t i = 0; i < n->by_address.n; i++)
        if (n->by_address.at[i].value)
            free(n->text[i]);
    free(n->text);
    export_map_fini(&n->by_address);
}
