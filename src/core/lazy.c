/*
 * lazy.c - libraries that are loaded when something first needs them.
 *
 * Implements core/lazy.h.
 */
#define _GNU_SOURCE /* dlinfo */
#include "core/lazy.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool load(const struct trod_lazy *l)
{
    void *const so = dlopen(l->file, RTLD_LAZY | RTLD_LOCAL);

    for (size_t i = 0; so && i < l->n; i++) {
        void *const at = dlsym(so, l->names[i]);

        if (!at)
            return false;
        memcpy((char *)l->lib + i * sizeof at, &at, sizeof at);
    }
    return so != NULL;
}

/* Is FILE in a directory in which the dynamic linker searches for libraries? */
static bool in_search_path(const char *file)
{
    void *const self = dlopen(NULL, RTLD_LAZY);
    char path[4096];
    Dl_serinfo size, *list = NULL;
    bool found = false;

    if (!self)
        return false;
    if (dlinfo(self, RTLD_DI_SERINFOSIZE, &size) == 0 && (list = malloc(size.dls_size)) &&
        dlinfo(self, RTLD_DI_SERINFOSIZE, list) == 0 && dlinfo(self, RTLD_DI_SERINFO, list) == 0)
        for (unsigned i = 0; i < list->dls_cnt && !found; i++) {
            const char *const dir = list->dls_serpath[i].dls_name;
            const int n = snprintf(path, sizeof path, "%s/%s", dir, file);

            found = n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0;
        }
    free(list);
    dlclose(self);
    return found;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all: it is seldom asked for */

bool trod_lazy_there(struct trod_lazy *l)
{
    bool known;

    pthread_mutex_lock(&lock);
    known = l->tried ? l->there : l->found || (l->found = in_search_path(l->file));
    pthread_mutex_unlock(&lock);
    return known || trod_lazy_need(l);
}

bool trod_lazy_need(struct trod_lazy *l)
{
    bool there;

    pthread_mutex_lock(&lock);
    if (!l->tried)
        l->there = load(l);
    l->tried = true;
    there = l->there;
    pthread_mutex_unlock(&lock);
    return there;
}
