/*
 * temps.c - temporary files and folders of outputs, and how they go when the program must end.
 *
 * Implements temps.h and trod_output_abandon of trod/io.h. The list is one for the process: it is
 * for who is about to end it.
 */
#include "temps.h"

#include "core/hash.h"
#include "trod/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 16, PLACES_FIRST = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Open addressing; n_places is a power of two, and at least half of the places are empty. */
static char **names;
static size_t n_names, n_places;

void trod_temps_lock(void)
{
    pthread_mutex_lock(&lock);
}

void trod_temps_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* Where PATH is among the N places of TABLE, or the empty one where it belongs. */
static size_t place(char **table, size_t n, const char *path)
{
    const uint64_t h = trod_fnv(TROD_FNV, path, strlen(path));
    size_t i = (size_t)(h ^ h >> 32) & (n - 1);

    while (table[i] && strcmp(table[i], path) != 0)
        i = (i + 1) & (n - 1);
    return i;
}

/* Twice the places. */
static bool grow(void)
{
    const size_t n = n_places ? 2 * n_places : PLACES_FIRST;
    char **table = calloc(n, sizeof *table);

    if (!table)
        return false;
    for (size_t i = 0; i < n_places; i++)
        if (names[i])
            table[place(table, n, names[i])] = names[i];
    free(names);
    names = table;
    n_places = n;
    return true;
}

bool trod_temps_add(const char *path)
{
    char *name = strdup(path);
    size_t i;

    if (!name || (2 * (n_names + 1) > n_places && !grow())) {
        free(name);
        return false;
    }
    i = place(names, n_places, path);
    n_names += names[i] == NULL;
    free(names[i]);
    names[i] = name;
    return true;
}

/* Those behind the empty place I that would be looked for there, or before it, move up. */
static void close_gap(size_t i)
{
    for (size_t k = (i + 1) & (n_places - 1); names[k]; k = (k + 1) & (n_places - 1)) {
        char *name = names[k];

        names[k] = NULL;
        names[place(names, n_places, name)] = name;
    }
}

void trod_temps_forget(const char *path)
{
    const size_t i = n_places ? place(names, n_places, path) : 0;

    if (n_places && names[i]) {
        free(names[i]);
        names[i] = NULL;
        n_names--;
        close_gap(i);
    }
    if (n_names == 0) {
        free(names);
        names = NULL;
        n_places = 0;
    }
}

/* Empty the folder of descriptor FD, which is closed. */
static void empty(int fd, unsigned depth)
{
    DIR *dir = fdopendir(fd);
    struct dirent *e;

    if (!dir) {
        close(fd);
        return;
    }
    while ((e = readdir(dir))) {
        int sub;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, e->d_name, 0) == 0 || depth == DEPTH_MAX)
            continue;
        sub = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (sub >= 0)
            empty(sub, depth + 1);
        unlinkat(fd, e->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
}

void trod_temps_remove(const char *path)
{
    int fd;

    if (unlink(path) == 0)
        return;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        empty(fd, 0);
    rmdir(path);
}

void trod_output_abandon(void)
{
    trod_temps_lock(); /* for good: no name is made from here on */
    for (size_t i = 0; i < n_places; i++)
        if (names[i])
            trod_temps_remove(names[i]);
}
