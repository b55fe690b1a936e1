/*
 * registry.c - the list of analyses: those of analyses.def, and those of plug-ins.
 *
 * Implements the registry part of trod/analysis.h.
 */
#include "trod/analysis.h"

#include <dlfcn.h>
#include <string.h>

#define TROD_ANALYSIS(name) extern const struct trod_analysis trod_analysis_##name;
#include "analysis/analyses.def"
#undef TROD_ANALYSIS

static const struct trod_analysis *const analyses[] = {
#define TROD_ANALYSIS(name) &trod_analysis_##name,
#include "analysis/analyses.def"
#undef TROD_ANALYSIS
};

enum { ANALYSES = sizeof analyses / sizeof *analyses, PLUGINS = 64 };

static const struct trod_analysis *plugin[PLUGINS];
static size_t plugins;

const struct trod_analysis *trod_analysis_at(size_t i)
{
    if (i < ANALYSES)
        return analyses[i];
    return i - ANALYSES < plugins ? plugin[i - ANALYSES] : NULL;
}

const struct trod_analysis *trod_analysis_find(const char *name, size_t len)
{
    const struct trod_analysis *a;

    for (size_t i = 0; (a = trod_analysis_at(i)); i++)
        if (strlen(a->name) == len && memcmp(a->name, name, len) == 0)
            return a;
    return NULL;
}

static int add(const struct trod_analysis *a, const char *path, struct trod_diag *diag)
{
    if (trod_analysis_find(a->name, strlen(a->name)))
        return trod_error(diag, TROD_ERR_USAGE, "plugin.name", NULL,
                          "plug-in '%s': there is an analysis called '%s' already", path, a->name);
    if (plugins == PLUGINS)
        return trod_error(diag, TROD_ERR_LIMIT, "plugin.too-many", NULL,
                          "more than %d analyses in plug-ins", PLUGINS);
    plugin[plugins++] = a;
    return TROD_OK;
}

int trod_analysis_plugin(const char *path, struct trod_diag *diag)
{
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct trod_analysis *const *list;
    const unsigned *interface;
    int rc = TROD_OK;

    if (!so)
        return trod_error(diag, TROD_ERR_IO, "plugin.open", NULL,
                          "plug-in '%s' cannot be loaded: %s", path, dlerror());
    list = dlsym(so, "trod_plugin_analyses");
    interface = dlsym(so, "trod_plugin_interface");
    if (!list || !interface || *interface != TROD_PLUGIN_INTERFACE) {
        rc = trod_error(diag, TROD_ERR_CORRUPT, "plugin.interface", NULL,
                        "'%s' is no plug-in of this version: it must define trod_plugin_analyses "
                        "and trod_plugin_interface = %d",
                        path, TROD_PLUGIN_INTERFACE);
        dlclose(so);
        return rc;
    }
    for (; rc == TROD_OK && *list; list++)
        rc = add(*list, path, diag);
    return rc;
}
