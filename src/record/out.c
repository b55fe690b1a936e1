/*
 * out.c - traces of which a file holds one thread: whether the program has several is known when
 * it has ended.
 *
 * Implements the rec_out functions of record.h. The trace is written to a folder beside OUT,
 * a file a thread. It becomes the file OUT if there is one, else the folder OUT.
 */
#include "record/record.h"

#include "io/filter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool rec_out_begin(struct rec_out *o, const char *path, bool amber, struct trod_output_options *opt)
{
    const struct trod_filter *packed = trod_writes_of_path(path);
    const size_t n = strlen(path);
    struct stat st;
    const bool there = stat(path, &st) == 0;
    const bool folder = (n > 0 && path[n - 1] == '/') || (there && S_ISDIR(st.st_mode));

    o->path = path;
    o->used = path;
    if (!amber || n == 0 || folder || strcmp(path, "-") == 0 || (there && !S_ISREG(st.st_mode))) {
        o->single = amber && !folder;
        return true;
    }
    if (!opt->compress && packed)
        opt->compress = packed->name;
    o->folder = malloc(n + 32);
    if (!o->folder)
        return false;
    snprintf(o->folder, n + 32, "%s.threads.%ld/", path, (long)getpid());
    o->used = o->folder;
    return true;
}

static bool is_file(const char *name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* How many files there are in FOLDER; the name of one. */
static size_t look(const char *folder, char *name, size_t n)
{
    DIR *d = opendir(folder);
    const struct dirent *e;
    size_t files = 0;

    while (d && (e = readdir(d)) != NULL)
        if (is_file(e->d_name)) {
            files++;
            snprintf(name, n, "%s%s", folder, e->d_name);
        }
    if (d)
        closedir(d);
    return files;
}

int rec_out_commit(struct rec_out *o, bool *several, struct trod_diag *diag)
{
    char name[REC_PATH + 300];
    size_t files;
    int fd, rc = 0;

    *several = false;
    if (!o->folder)
        return TROD_OK;
    files = look(o->folder, name, sizeof name);
    if (files == 1) {
        rc = rename(name, o->path);
    } else if (files == 0) { /* nothing was recorded */
        fd = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        rc = fd < 0 ? -1 : close(fd);
    } else {
        *several = true;
        o->folder[strlen(o->folder) - 1] = '\0';
        unlink(o->path);
        rc = rename(o->folder, o->path);
    }
    return rc == 0 ? TROD_OK
                   : trod_error(diag, TROD_ERR_IO, "record.out", NULL,
                                "%s: the trace is complete but cannot get its name: %s; it is in "
                                "'%s'",
                                o->path, strerror(errno), o->folder);
}

void rec_out_end(struct rec_out *o)
{
    if (o->folder)
        rmdir(o->folder); /* if it is empty */
    free(o->folder);
    o->folder = NULL;
}
