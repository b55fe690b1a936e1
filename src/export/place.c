/*
 * place.c - where a view is written until it is complete.
 *
 * Implements place.h. Streams are outputs (io.h). A file that its writer must go back in, as a
 * library wants it, is made beside its target under another name and renamed.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "export/place.h"

#include "io/temps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100, NAME_MORE = 64 };

/* Make an empty file beside p->target and remember it. Returns 0 or an errno. */
static int make_work(struct export_place *p)
{
    static atomic_uint counter;
    const char *slash = strrchr(p->target, '/');
    const int dir = slash ? (int)(slash - p->target) + 1 : 0;
    const size_t size = strlen(p->target) + NAME_MORE;
    int error = EEXIST;

    p->work = malloc(size);
    if (!p->work)
        return ENOMEM;
    for (int i = 0; i < TRIES && error == EEXIST; i++) {
        int fd;

        snprintf(p->work, size, "%.*s.trod-%ld.%u.view", dir, p->target, (long)getpid(),
                 atomic_fetch_add(&counter, 1u));
        trod_temps_lock();
        fd = open(p->work, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        error = fd < 0 ? errno : 0;
        if (fd >= 0) {
            close(fd);
            trod_temps_add(p->work);
        }
        trod_temps_unlock();
    }
    if (error) {
        free(p->work);
        p->work = NULL;
    }
    return error;
}

static int open_file(struct export_place *p, const struct trod_export *v, const char *path,
                     const struct trod_output_options *opt, struct trod_diag *diag)
{
    struct stat st;
    int error;

    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return trod_error(diag, TROD_ERR_USAGE, "export.stream", NULL,
                          "'%s' is written to a file, not to a stream: name one with -o", v->name);
    if (opt->compress && strcmp(opt->compress, "none") != 0)
        return trod_error(diag, TROD_ERR_USAGE, "export.compress", NULL,
                          "'%s' is not compressed: its reader goes back and forth in it", v->name);
    p->target = realpath(path, NULL);
    if (!p->target && !(p->target = strdup(path)))
        return TROD_ERR_NOMEM;
    error = make_work(p);
    if (!error)
        return TROD_OK;
    return trod_error(diag, error == ENOMEM ? TROD_ERR_NOMEM : TROD_ERR_IO, "export.create", NULL,
                      "cannot create '%s': %s", path, strerror(error));
}

static int open_folder(struct export_place *p, const struct trod_export *v, const char *path,
                       const struct trod_output_options *opt, struct trod_diag *diag)
{
    int r;

    if (strcmp(path, "-") == 0)
        return trod_error(diag, TROD_ERR_USAGE, "export.stream", NULL,
                          "'%s' is a folder of files: name one with -o", v->name);
    if (opt->compress && strcmp(opt->compress, "none") != 0)
        return trod_error(
            diag, TROD_ERR_USAGE, "export.compress", NULL,
            "'%s' is not compressed: its readers want the files of the folder as they "
            "are",
            v->name);
    r = trod_folder_open(&p->folder, path, true, diag);
    if (r == 0 && !(p->work = strdup(p->folder.work)))
        r = TROD_ERR_NOMEM;
    return r;
}

int export_place_open(struct export_place *p, const struct trod_export *v, const char *path,
                      const struct trod_output_options *opt, struct trod_diag *diag)
{
    struct trod_output_options o = *opt;

    memset(p, 0, sizeof *p);
    p->form = v->form;
    if (v->form == TROD_EXPORT_FILE)
        return open_file(p, v, path, opt, diag);
    if (v->form == TROD_EXPORT_FOLDER)
        return open_folder(p, v, path, opt, diag);
    o.binary = v->form == TROD_EXPORT_BINARY;
    if (v->compress && opt->compress && strcmp(opt->compress, v->compress) != 0)
        return trod_error(diag, TROD_ERR_USAGE, "export.compress", NULL,
                          "'%s' is always compressed with %s: leave out --compress", v->name,
                          v->compress);
    if (v->compress)
        o.compress = v->compress;
    return trod_output_create(&p->out, path, &o, diag);
}

/* Bytes of the files of folder PATH. */
static uint64_t folder_bytes(const char *path)
{
    DIR *dir = opendir(path);
    uint64_t n = 0;
    struct dirent *e;

    while (dir && (e = readdir(dir))) {
        struct stat st;

        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            n += (uint64_t)st.st_size;
    }
    if (dir)
        closedir(dir);
    return n;
}

static int commit_file(struct export_place *p, uint64_t *bytes, struct trod_diag *diag)
{
    struct stat st;
    int error;

    *bytes = stat(p->work, &st) == 0 ? (uint64_t)st.st_size : 0;
    trod_temps_lock();
    error = rename(p->work, p->target) == 0 ? 0 : errno;
    if (!error)
        trod_temps_forget(p->work);
    trod_temps_unlock();
    if (error)
        return trod_error(diag, TROD_ERR_IO, "export.create", NULL, "cannot create '%s': %s",
                          p->target, strerror(error));
    free(p->work);
    p->work = NULL;
    return TROD_OK;
}

int export_place_commit(struct export_place *p, uint64_t *bytes, struct trod_diag *diag)
{
    int r;

    if (p->form == TROD_EXPORT_FILE) {
        r = commit_file(p, bytes, diag);
    } else if (p->form == TROD_EXPORT_FOLDER) {
        *bytes = folder_bytes(p->work);
        r = trod_folder_commit(&p->folder, diag);
    } else {
        *bytes = trod_output_offset(p->out);
        r = trod_output_commit(p->out);
        p->out = NULL;
    }
    export_place_discard(p);
    return r;
}

void export_place_discard(struct export_place *p)
{
    if (p->form == TROD_EXPORT_FILE && p->work) {
        trod_temps_lock();
        trod_temps_remove(p->work);
        trod_temps_forget(p->work);
        trod_temps_unlock();
    }
    if (p->form == TROD_EXPORT_FOLDER)
        trod_folder_discard(&p->folder);
    trod_output_discard(p->out);
    free(p->work);
    free(p->target);
    memset(p, 0, sizeof *p);
}
