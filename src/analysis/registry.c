/*
 * registry.c - the list of analyses: those of analyses.def, and those of plug-ins.
 *
 * Implements the registry part of trod/analysis.h.
 */
#include "trod/analysis.h"

#include <dlfcn.h>
#include <string.h>

#include "trod/buf.h"

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

/* What analysis A of a plug-in lacks, or NULL. */
static const char *lack_of(const struct trod_analysis *a)
{
    return !a->name || !*a->name            ? "name"
           : !a->title                      ? "title"
           : !a->init                       ? "init"
           : !a->feed                       ? "feed"
           : !a->result                     ? "result"
           : !a->save != !a->load           ? "save and load, or neither"
           : a->options && !a->options_size ? "options_size"
                                            : NULL;
}

static int add(const struct trod_analysis *a, const char *path, struct trod_diag *diag)
{
    const char *const lack = lack_of(a);

    if (lack)
        return trod_error(diag, TROD_ERR_CORRUPT, "plugin.analysis", NULL,
                          "plug-in '%s': analysis '%s' has no %s (trod/analysis.h)", path,
                          a->name ? a->name : "", lack);
    if (a->name[strcspn(a->name, ":,=/ ")])
        return trod_error(diag, TROD_ERR_CORRUPT, "plugin.analysis", NULL,
                          "plug-in '%s': analysis '%s' needs another name, without any of \":,=/\" "
                          "and without blanks (trod/analysis.h)",
                          path, a->name);
    if (trod_analysis_find(a->name, strlen(a->name)))
        return trod_error(diag, TROD_ERR_USAGE, "plugin.name", NULL,
                          "plug-in '%s': there is an analysis called '%s' already", path, a->name);
    if (plugins == PLUGINS)
        return trod_error(diag, TROD_ERR_LIMIT, "plugin.too-many", NULL,
                          "more than %d analyses in plug-ins", PLUGINS);
    plugin[plugins++] = a;
    return TROD_OK;
}

/* The shared object at PATH, which dlopen would look for elsewhere if it has no slash. */
static void *load(const char *path, struct trod_diag *diag)
{
    struct trod_buf here = {0};
    void *so = NULL;

    if (trod_buf_printf(&here, "%s%s", strchr(path, '/') ? "" : "./", path) == 0 &&
        trod_buf_add(&here, "", 1) == 0)
        so = dlopen((const char *)here.p, RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        const char *why = dlerror();

        trod_error(diag, TROD_ERR_IO, "plugin.open", NULL, "plug-in '%s' cannot be loaded: %s",
                   path, why ? why : "out of memory");
    }
    trod_buf_fini(&here);
    return so;
}

int trod_analysis_plugin(const char *path, struct trod_diag *diag)
{
    void *so = load(path, diag);
    const struct trod_analysis *const *list;
    const unsigned *interface;
    int rc = TROD_OK;

    if (!so)
        return TROD_ERR_IO;
    list = dlsym(so, "trod_plugin_analyses");
    interface = dlsym(so, "trod_plugin_interface");
    if (!list || !interface)
        rc = trod_error(diag, TROD_ERR_CORRUPT, "plugin.interface", NULL,
                        "'%s' is no plug-in: it does not define %s (trod/analysis.h)", path,
                        list ? "trod_plugin_interface" : "trod_plugin_analyses");
    else if (*interface != TROD_PLUGIN_INTERFACE)
        rc = trod_error(diag, TROD_ERR_CORRUPT, "plugin.interface", NULL,
                        "plug-in '%s' was built for version %u of the interface, this trod has "
                        "version %d: build it again with the headers of this trod",
                        path, *interface, TROD_PLUGIN_INTERFACE);
    if (rc < 0) {
        dlclose(so);
        return rc;
    }
    for (; rc == TROD_OK && *list; list++)
        rc = add(*list, path, diag);
    return rc;
}
