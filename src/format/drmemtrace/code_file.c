/*
 * code_file.c - files beside a trace: read, never mapped.
 *
 * Implements code_file.h. A mapped file that is truncated while it is in use raises SIGBUS, and one
 * that is replaced in place gives bytes of two files. So blocks are read, and each time the file is
 * compared with what it was. A pipe would block the reader: only regular files are taken.
 */
#include "format/drmemtrace/code_file.h"

#include "trod/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OVERLAP = 64, PIECE = 1 << 16 };

/* A descriptor of the regular file PATH; -1: there is none, *WHY says why. */
static int open_regular(const char *path, struct stat *st, const char **why)
{
    int fd;

    do
        fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    *why = fd < 0 ? strerror(errno) : NULL;
    if (fd < 0)
        return fd;
    if (fstat(fd, st) < 0)
        *why = strerror(errno);
    else if (!S_ISREG(st->st_mode))
        *why = "it is no regular file";
    if (!*why)
        return fd;
    close(fd);
    return -1;
}

static bool same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Read N bytes at OFFSET, or as many as there are. Returns how many. */
static size_t read_at(int fd, uint64_t offset, uint8_t *p, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t got = pread(fd, p + done, n - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

bool drm_code_file_open(struct drm_code_file *f, const char *path)
{
    const char *why;
    int fd = open_regular(path, &f->st, &why);

    if (fd < 0)
        return false;
    close(fd);
    if (f->st.st_size <= 0 || !(f->path = strdup(path)))
        return false;
    f->block = calloc((size_t)f->st.st_size / DRM_CODE_BLOCK + 1, sizeof *f->block);
    f->usable = f->block != NULL;
    return f->usable;
}

void drm_code_file_fini(struct drm_code_file *f)
{
    for (size_t i = 0; f->block && i <= (size_t)f->st.st_size / DRM_CODE_BLOCK; i++)
        free(f->block[i]);
    free(f->block);
    free(f->path);
    *f = (struct drm_code_file){.path = NULL};
}

bool drm_code_file_read(struct drm_code_file *f, uint64_t offset, void *p, size_t n)
{
    const uint64_t size = f->usable ? (uint64_t)f->st.st_size : 0;
    const char *why;
    struct stat st;
    bool ok;
    int fd;

    if (f->changed || offset > size || n > size - offset)
        return false;
    fd = open_regular(f->path, &st, &why);
    /* compared after reading: so a change before the read is always noticed */
    ok = fd >= 0 && read_at(fd, offset, p, n) == n && fstat(fd, &st) == 0 && same(&f->st, &st);
    if (fd >= 0)
        close(fd);
    f->changed = !ok;
    return ok;
}

const uint8_t *drm_code_file_at(struct drm_code_file *f, uint64_t offset, size_t n)
{
    const uint64_t size = f->usable ? (uint64_t)f->st.st_size : 0;
    const size_t k = (size_t)(offset / DRM_CODE_BLOCK);
    uint64_t from, len;
    uint8_t *p;

    if (offset > size || n > size - offset || n > OVERLAP)
        return NULL;
    if (!f->block[k] && !f->changed) {
        from = (uint64_t)k * DRM_CODE_BLOCK;
        len = size - from < DRM_CODE_BLOCK + OVERLAP ? size - from : DRM_CODE_BLOCK + OVERLAP;
        p = malloc((size_t)len ? (size_t)len : 1);
        if (p && drm_code_file_read(f, from, p, (size_t)len))
            f->block[k] = p;
        else
            free(p);
    }
    return f->block[k] ? f->block[k] + offset % DRM_CODE_BLOCK : NULL;
}

int drm_read_file(const char *path, size_t limit, struct trod_buf *out, const char **why)
{
    struct stat st, now;
    const size_t before = out->n;
    int fd = open_regular(path, &st, why), rc = fd < 0 ? TROD_ERR_IO : TROD_OK;
    size_t got = 1;

    while (rc == TROD_OK && got) {
        if ((rc = trod_buf_reserve(out, PIECE)) < 0)
            break;
        got = read_at(fd, out->n - before, out->p + out->n, PIECE);
        out->n += got;
        if (out->n - before > limit)
            rc = TROD_ERR_LIMIT;
    }
    if (rc == TROD_OK && (fstat(fd, &now) < 0 || !same(&st, &now)))
        rc = TROD_ERR_IO;
    if (fd >= 0) {
        close(fd);
        *why = rc == TROD_ERR_LIMIT   ? "it is too large"
               : rc == TROD_ERR_NOMEM ? "out of memory"
                                      : "it changed while it was read";
    }
    return rc;
}
