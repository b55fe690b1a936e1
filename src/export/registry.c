/*
 * registry.c - the list of views, from exports.def.
 */
#include "trod/export.h"

#include "core/suffix.h"
#include "io/filter.h"

#include <string.h>

#define TROD_EXPORT(name) extern const struct trod_export trod_view_##name;
#include "export/exports.def"
#undef TROD_EXPORT

static const struct trod_export *const views[] = {
#define TROD_EXPORT(name) &trod_view_##name,
#include "export/exports.def"
#undef TROD_EXPORT
    NULL,
};

const struct trod_export *trod_export_at(size_t i)
{
    return i < sizeof views / sizeof *views ? views[i] : NULL;
}

const struct trod_export *trod_export_find(const char *name, size_t len)
{
    for (size_t i = 0; views[i]; i++)
        if (strlen(views[i]->name) == len && memcmp(views[i]->name, name, len) == 0)
            return views[i];
    return NULL;
}

const struct trod_export *trod_export_by_name(const char *path)
{
    const size_t n = strlen(path), bare = trod_filter_bare(path, n, false);

    for (size_t i = 0; views[i]; i++)
        for (size_t k = 0; views[i]->suffixes && views[i]->suffixes[k]; k++)
            if (trod_ends_with(path, n, views[i]->suffixes[k]) ||
                trod_ends_with(path, bare, views[i]->suffixes[k]))
                return views[i];
    return NULL;
}
