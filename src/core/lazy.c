/*
 * lazy.c - libraries that are loaded when something first needs them.
 *
 * Implements core/lazy.h.
 */
#include "core/lazy.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

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

bool trod_lazy_need(struct trod_lazy *l)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all: it is seldom asked for */
    bool there;

    pthread_mutex_lock(&lock);
    if (!l->tried)
        l->there = load(l);
    l->tried = true;
    there = l->there;
    pthread_mutex_unlock(&lock);
    return there;
}
