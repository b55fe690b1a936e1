/*
 * temps.c - temporary files and folders of outputs, and how they go when the program must end.
 *
 * Implements temps.h and trod_output_abandon of trod/io.h. The list is one for the process: it is
 * for who is about to end it.
 */
#include "temps.h"

#include "core/grow.h"
#include "trod/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **names;
static size_t n_names, cap_names;

void trod_temps_lock(void)
{
    pthread_mutex_lock(&lock);
}

void trod_temps_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool trod_temps_add(const char *path)
{
    char *name = strdup(path);

    if (!name || !trod_grow(&names, n_names, &cap_names, sizeof *names, 16)) {
        free(name);
        return false;
    }
    names[n_names++] = name;
    return true;
}

void trod_temps_forget(const char *path)
{
    for (size_t i = n_names; i-- > 0;)
        if (strcmp(names[i], path) == 0) {
            free(names[i]);
            names[i] = names[--n_names];
            break;
        }
    if (n_names == 0) {
        free(names);
        names = NULL;
        cap_names = 0;
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
    for (size_t i = n_names; i-- > 0;)
        trod_temps_remove(names[i]);
}
