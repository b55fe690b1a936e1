/*
 * outfile.c - files that appear when they are complete. See outfile.h.
 *
 * Where the system can, the file has no name at all until it is committed, so that not even a
 * killed process leaves one behind; elsewhere it has a temporary one beside its target. Nothing is
 * synchronised to the disk: this is about processes that end early, not about power cuts.
 */
#define _GNU_SOURCE /* O_TMPFILE, where there is one */
#include "outfile.h"

#include "temps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100, TEMP_NAME = 64, MODE_BITS = 07777, MODE_NEW = 0666 };

static const char cannot_create[] = "cannot create";
static const char cannot_write[] = "cannot write";

/* Length of the directory part of PATH, with its slash. */
static size_t dir_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A name beside the target that nobody is likely to have; f->temp is set. */
static bool temp_name(struct trod_outfile *f)
{
    static atomic_uint counter;
    const size_t dir = dir_length(f->target);
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    free(f->temp);
    f->temp = malloc(dir + TEMP_NAME);
    if (!f->temp)
        return false;
    memcpy(f->temp, f->target, dir);
    snprintf(f->temp + dir, TEMP_NAME, ".trod-%ld-%u-%lx.tmp", (long)getpid(),
             atomic_fetch_add(&counter, 1), (unsigned long)now.tv_nsec);
    return true;
}

/* A file without a name in the target's directory. */
static bool open_unnamed(struct trod_outfile *f)
{
#ifdef O_TMPFILE
    const size_t dir = dir_length(f->target);
    char *name = dir ? strndup(f->target, dir) : strdup(".");
    if (!name)
        return false;
    f->fd = open(name, O_TMPFILE | O_WRONLY | O_CLOEXEC, MODE_NEW);
    free(name);
    if (f->fd < 0)
        return false;
    char link[TEMP_NAME];
    snprintf(link, sizeof link, "/proc/self/fd/%d", f->fd);
    if (access(link, F_OK) == 0)
        return true;
    close(f->fd);
    f->fd = -1;
#else
    (void)f;
#endif
    return false;
}

static int open_named(struct trod_outfile *f, struct trod_fault *fault)
{
    for (int i = 0; i < TRIES; i++) {
        if (!temp_name(f))
            return trod_fault_nomem(fault, "an output");
        trod_temps_lock();
        f->fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE_NEW);
        if (f->fd >= 0)
            trod_temps_add(f->temp);
        trod_temps_unlock();
        if (f->fd >= 0)
            return TROD_OK;
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    const int error = errno;
    free(f->temp);
    f->temp = NULL;
    return trod_fault_errno(fault, cannot_create, error);
}

int trod_outfile_open(struct trod_outfile *f, const char *path, bool unnamed,
                      struct trod_fault *fault)
{
    *f = (struct trod_outfile){.fd = -1};
    if (strcmp(path, "-") == 0) {
        f->fd = STDOUT_FILENO;
        f->direct = f->standard = true;
        return TROD_OK;
    }
    struct stat st;
    f->existed = stat(path, &st) == 0;
    if (f->existed && !S_ISREG(st.st_mode)) {
        f->direct = true;
        do
            f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        while (f->fd < 0 && errno == EINTR);
        return f->fd < 0 ? trod_fault_errno(fault, cannot_create, errno) : TROD_OK;
    }
    if (f->existed && access(path, W_OK) != 0)
        return trod_fault_errno(fault, cannot_create, errno);
    /* what a symbolic link leads to is replaced, not the link */
    f->target = f->existed ? realpath(path, NULL) : strdup(path);
    if (!f->target)
        return trod_fault_errno(fault, cannot_create, errno);
    if (!unnamed || !open_unnamed(f)) {
        const int status = open_named(f, fault);
        if (status != TROD_OK)
            return status;
    }
    if (f->existed)
        (void)fchmod(f->fd, st.st_mode & MODE_BITS);
    return TROD_OK;
}

int trod_outfile_write(struct trod_outfile *f, const uint8_t *p, size_t n, struct trod_fault *fault)
{
    while (n) {
        const ssize_t done = write(f->fd, p, n);
        if (done >= 0) {
            p += done;
            n -= (size_t)done;
        } else if (errno == EAGAIN) {
            struct pollfd wait = {.fd = f->fd, .events = POLLOUT};
            (void)poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return trod_fault_errno(fault, cannot_write, errno);
        }
    }
    return TROD_OK;
}

int trod_outfile_patch(struct trod_outfile *f, uint64_t offset, const uint8_t *p, size_t n,
                       struct trod_fault *fault)
{
    while (n) {
        const ssize_t done = pwrite(f->fd, p, n, (off_t)offset);
        if (done >= 0) {
            p += done;
            n -= (size_t)done;
            offset += (uint64_t)done;
        } else if (errno != EINTR) {
            return trod_fault_errno(fault, cannot_write, errno);
        }
    }
    return TROD_OK;
}

/*
 * Name a file that has none: with FINAL at once if nothing is in the way, else f->temp is set.
 */
static bool give_name(struct trod_outfile *f, bool final)
{
    char link[TEMP_NAME];
    snprintf(link, sizeof link, "/proc/self/fd/%d", f->fd);
    if (final && !f->existed && linkat(AT_FDCWD, link, AT_FDCWD, f->target, AT_SYMLINK_FOLLOW) == 0)
        return true;
    for (int i = 0; i < TRIES; i++) {
        if (!temp_name(f))
            break;
        trod_temps_lock();
        const bool done = linkat(AT_FDCWD, link, AT_FDCWD, f->temp, AT_SYMLINK_FOLLOW) == 0;
        if (done)
            trod_temps_add(f->temp);
        const int why = errno;
        trod_temps_unlock();
        errno = why;
        if (done)
            return true;
        if (errno != EEXIST)
            break;
    }
    const int error = errno;
    free(f->temp);
    f->temp = NULL;
    errno = error;
    return false;
}

int trod_outfile_park(struct trod_outfile *f, struct trod_fault *fault)
{
    if (!f->temp && !give_name(f, false))
        return trod_fault_errno(fault, cannot_create, errno);
    const int rc = close(f->fd);
    f->fd = -1;
    return rc != 0 && errno != EINTR ? trod_fault_errno(fault, cannot_write, errno) : TROD_OK;
}

int trod_outfile_unpark(struct trod_outfile *f, struct trod_fault *fault)
{
    do
        f->fd = open(f->temp, O_WRONLY | O_CLOEXEC);
    while (f->fd < 0 && errno == EINTR);
    if (f->fd < 0 || lseek(f->fd, 0, SEEK_END) < 0)
        return trod_fault_errno(fault, cannot_write, errno);
    return TROD_OK;
}

int trod_outfile_commit(struct trod_outfile *f, struct trod_fault *fault)
{
    int status = TROD_OK;
    if (!f->direct && !f->temp && !give_name(f, true))
        status = trod_fault_errno(fault, cannot_create, errno);
    if (f->fd >= 0 && !f->standard) {
        if (close(f->fd) != 0 && errno != EINTR && status == TROD_OK)
            status = trod_fault_errno(fault, cannot_write, errno);
        f->fd = -1;
    }
    if (status == TROD_OK && f->temp) {
        trod_temps_lock();
        const int error = rename(f->temp, f->target) == 0 ? 0 : errno;
        if (!error)
            trod_temps_forget(f->temp);
        trod_temps_unlock();
        if (error) {
            status = trod_fault_errno(fault, cannot_create, error);
        } else {
            free(f->temp);
            f->temp = NULL;
        }
    }
    trod_outfile_discard(f);
    return status;
}

void trod_outfile_discard(struct trod_outfile *f)
{
    if (f->fd >= 0 && !f->standard)
        close(f->fd);
    if (f->temp) {
        trod_temps_lock();
        unlink(f->temp);
        trod_temps_forget(f->temp);
        trod_temps_unlock();
    }
    free(f->temp);
    free(f->target);
    *f = (struct trod_outfile){.fd = -1};
}
