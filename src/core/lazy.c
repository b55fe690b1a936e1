/*
 * lazy.c - libraries that are loaded when something first needs them.
 *
 * Implements core/lazy.h.
 */
#include "core/lazy.h"

#include <dlfcn.h>
#include <string.h>

bool trod_lazy_load(const char *file, const char *const *names, size_t n, void *lib)
{
    void *const so = dlopen(file, RTLD_LAZY | RTLD_LOCAL);

    for (size_t i = 0; so && i < n; i++) {
        void *const at = dlsym(so, names[i]);

        if (!at)
            return false;
        memcpy((char *)lib + i * sizeof at, &at, sizeof at);
    }
    return so != NULL;
}
