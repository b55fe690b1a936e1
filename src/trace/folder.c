/*
 * folder.c - a folder of output files that appears when all of them are complete.
 *
 * Implements folder.h. A folder that is not there is made beside under another name and renamed.
 * One that is there, which may be the current folder or the root of a file system, keeps its place:
 * a folder in it holds the files until they are moved up, those of drmemtrace (OUT/trace) at once.
 */
#include "trace/folder.h"

#include "io/temps.h"
#include "trod/types.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100, NAME_MORE = 64 };

static const char mark[] = ".trod-";

/* What an earlier run that was killed left in a folder does not count. */
static bool counts(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strncmp(name, mark, sizeof mark - 1) != 0;
}

static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    bool empty = true;

    if (!dir)
        return true;
    while (empty && (e = readdir(dir)))
        empty = !counts(e->d_name);
    closedir(dir);
    return empty;
}

/* Make f->work: a name that nobody has, remembered until it goes. Returns 0 or an errno. */
static int make_work(struct trod_folder *f)
{
    static atomic_uint counter;
    const char *slash = strrchr(f->target, '/');
    const size_t dir = f->inside ? strlen(f->target) : slash ? (size_t)(slash - f->target) : 0;
    const size_t size = strlen(f->target) + NAME_MORE;
    int error = EEXIST;

    f->work = malloc(size);
    if (!f->work)
        return ENOMEM;
    for (int i = 0; i < TRIES && error == EEXIST; i++) {
        snprintf(f->work, size, "%.*s%s%s%ld.%u", (int)dir, f->target,
                 f->inside || slash ? "/" : "", mark, (long)getpid(),
                 atomic_fetch_add(&counter, 1u));
        trod_temps_lock();
        error = mkdir(f->work, 0777) == 0 ? 0 : errno;
        if (!error)
            trod_temps_add(f->work);
        trod_temps_unlock();
    }
    if (error) {
        free(f->work);
        f->work = NULL;
    }
    return error;
}

int trod_folder_open(struct trod_folder *f, const char *path, bool empty, struct trod_diag *diag)
{
    struct stat st;
    size_t len = strlen(path);
    int error;

    while (len > 1 && path[len - 1] == '/')
        len--;
    *f = (struct trod_folder){.target = strndup(path, len)};
    if (!f->target)
        return TROD_ERR_NOMEM;
    f->inside = stat(f->target, &st) == 0;
    if (f->inside && !S_ISDIR(st.st_mode))
        return trod_error(diag, TROD_ERR_IO, "writer.folder", NULL, "cannot create folder '%s': %s",
                          f->target, strerror(ENOTDIR));
    if (f->inside && empty && !is_empty(f->target))
        return trod_error(diag, TROD_ERR_USAGE, "writer.not-empty", NULL,
                          "folder '%s' is not empty: a trace gets a folder of its own", f->target);
    error = make_work(f);
    return error ? trod_error(diag, error == ENOMEM ? TROD_ERR_NOMEM : TROD_ERR_IO, "writer.folder",
                              NULL, "cannot create folder '%s': %s", f->target, strerror(error))
                 : TROD_OK;
}

/* Move all that f->work holds to the folder that it lies in. Returns 0 or an errno. */
static int move_up(const struct trod_folder *f)
{
    DIR *dir = opendir(f->work);
    int error = dir ? 0 : errno;
    struct dirent *e;

    while (!error && (e = readdir(dir))) {
        const size_t n = strlen(e->d_name) + 2;
        char *from, *to;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        from = malloc(strlen(f->work) + n);
        to = malloc(strlen(f->target) + n);
        if (!from || !to) {
            error = ENOMEM;
        } else {
            sprintf(from, "%s/%s", f->work, e->d_name);
            sprintf(to, "%s/%s", f->target, e->d_name);
            error = rename(from, to) == 0 ? 0 : errno;
        }
        free(from);
        free(to);
    }
    if (dir)
        closedir(dir);
    return !error && rmdir(f->work) < 0 ? errno : error;
}

int trod_folder_commit(struct trod_folder *f, struct trod_diag *diag)
{
    int error;

    trod_temps_lock();
    error = f->inside ? move_up(f) : rename(f->work, f->target) == 0 ? 0 : errno;
    if (!error)
        trod_temps_forget(f->work);
    trod_temps_unlock();
    if (error)
        return trod_error(diag, TROD_ERR_IO, "writer.folder", NULL, "cannot create folder '%s': %s",
                          f->target, strerror(error));
    free(f->work);
    f->work = NULL;
    trod_folder_discard(f);
    return TROD_OK;
}

void trod_folder_discard(struct trod_folder *f)
{
    if (f->work) {
        trod_temps_lock();
        trod_temps_remove(f->work);
        trod_temps_forget(f->work);
        trod_temps_unlock();
    }
    free(f->work);
    free(f->target);
    *f = (struct trod_folder){.target = NULL};
}
