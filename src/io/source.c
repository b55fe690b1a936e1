/*
 * source.c - files, pipes and memory as the bottom of an input. See source.h.
 *
 * Files are read, not mapped: a mapped file that another process truncates raises SIGBUS, and a
 * read of the page cache costs a small part of what any parser does with the bytes.
 */
#include "source.h"

#include "trod/io.h"
#include "zip.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Of trod_inputs_interrupt: a byte in this pipe, which nobody reads, ends the waits of all sources.
 * It is made with the first source that may wait, before which nothing waits.
 */
static int everybody[2] = {-1, -1};
static atomic_bool interrupted;
static pthread_once_t everybody_once = PTHREAD_ONCE_INIT;

static int make_pipe(int wake[2])
{
    if (pipe(wake) != 0) {
        wake[0] = wake[1] = -1;
        return -1;
    }
    for (int i = 0; i < 2; i++)
        (void)fcntl(wake[i], F_SETFD, FD_CLOEXEC);
    return 0;
}

static void make_everybody(void)
{
    (void)make_pipe(everybody);
}

void trod_inputs_interrupt(void)
{
    const int was = errno;

    if (!atomic_exchange(&interrupted, true) && everybody[1] >= 0)
        while (write(everybody[1], "", 1) < 0 && errno == EINTR)
            continue;
    errno = was;
}

/* Wait until FD can be read. False: interrupted for good. */
static bool wait_readable(const struct trod_source *s)
{
    struct pollfd fds[] = {{.fd = s->fd, .events = POLLIN},
                           {.fd = s->wake[0], .events = POLLIN},
                           {.fd = everybody[0], .events = POLLIN}};

    while (!atomic_load(&interrupted) && poll(fds, sizeof fds / sizeof *fds, -1) < 0)
        if (errno != EINTR && errno != EAGAIN)
            return true; /* let read say what is wrong */
    return fds[1].revents == 0 && !atomic_load(&interrupted);
}

static int fd_read(struct trod_source *s, uint8_t *p, size_t cap, size_t *n,
                   struct trod_fault *fault)
{
    *n = s->n_pushed - s->pushed_at < cap ? s->n_pushed - s->pushed_at : cap;
    if (*n) {
        memcpy(p, s->pushed + s->pushed_at, *n);
        s->pushed_at += *n;
        return TROD_OK;
    }
    if (s->path) {
        const uint64_t at = atomic_load_explicit(&s->offset, memory_order_relaxed);
        const int status = trod_source_pread(s, p, cap, at, n, fault);
        atomic_store_explicit(&s->offset, at + *n, memory_order_relaxed);
        return status;
    }
    for (;;) {
        if (!s->regular && !wait_readable(s))
            return atomic_load(&interrupted) ? trod_fault_interrupted(fault) : TROD_OK;
        const ssize_t got = read(s->fd, p, cap);
        if (got >= 0) {
            *n = (size_t)got;
            atomic_fetch_add_explicit(&s->offset, (uint64_t)got, memory_order_relaxed);
            return TROD_OK;
        }
        if (errno != EINTR && errno != EAGAIN)
            return trod_fault_errno(fault, "cannot read", errno);
    }
}

static bool fd_seek(struct trod_source *s, uint64_t offset, uint64_t *reached)
{
    struct stat st;
    if (!s->regular || (s->path ? stat(s->path, &st) : fstat(s->fd, &st)) != 0)
        return false;
    /* files of /proc say that they are empty; others are truncated while they are read */
    const uint64_t end = (uint64_t)st.st_size > s->base ? (uint64_t)st.st_size - s->base : 0;
    if (end == 0 || end < atomic_load_explicit(&s->offset, memory_order_relaxed))
        return false;
    *reached = offset < end ? offset : end;
    if (!s->path && lseek(s->fd, (off_t)(s->base + *reached), SEEK_SET) < 0)
        return false;
    atomic_store_explicit(&s->offset, *reached, memory_order_relaxed);
    return true;
}

static void fd_interrupt(struct trod_source *s)
{
    if (s->wake[1] >= 0)
        while (write(s->wake[1], "", 1) < 0 && errno == EINTR)
            continue;
}

static void fd_close(struct trod_source *s)
{
    for (int i = 0; i < 2; i++)
        if (s->wake[i] >= 0)
            close(s->wake[i]);
    if (s->owned && !s->path)
        close(s->fd);
    free(s->path);
}

static int memory_read(struct trod_source *s, uint8_t *p, size_t cap, size_t *n,
                       struct trod_fault *fault)
{
    (void)fault;
    const uint64_t done = atomic_load_explicit(&s->offset, memory_order_relaxed);
    *n = s->size - done < cap ? (size_t)(s->size - done) : cap;
    if (*n)
        memcpy(p, s->mem + done, *n);
    atomic_store_explicit(&s->offset, done + *n, memory_order_relaxed);
    return TROD_OK;
}

static const struct trod_source_ops fd_ops = {
    .read = fd_read,
    .seek = fd_seek,
    .interrupt = fd_interrupt,
    .close = fd_close,
};

static const struct trod_source_ops memory_ops = {.read = memory_read};

int trod_source_open(struct trod_source *s, const char *path, struct trod_fault *fault)
{
    if (strcmp(path, "-") == 0)
        return trod_source_fd(s, STDIN_FILENO, false, fault);
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return trod_fault_errno(fault, "cannot open", errno);
    return trod_source_fd(s, fd, true, fault);
}

int trod_source_fd(struct trod_source *s, int fd, bool owned, struct trod_fault *fault)
{
    memset(s, 0, sizeof *s);
    s->ops = &fd_ops;
    s->fd = fd;
    s->owned = owned;
    s->wake[0] = s->wake[1] = -1;
    s->size = TROD_NOWHERE;
    struct stat st;
    if (fstat(fd, &st) != 0)
        return trod_fault_errno(fault, "cannot read", errno);
    if (S_ISDIR(st.st_mode))
        return trod_fault_errno(fault, "cannot read", EISDIR);
    const off_t at = lseek(fd, 0, SEEK_CUR);
    s->regular = S_ISREG(st.st_mode) && at >= 0;
    if (s->regular) {
        s->base = (uint64_t)at;
        s->size = (uint64_t)st.st_size > s->base ? (uint64_t)st.st_size - s->base : 0;
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        return TROD_OK;
    }
    pthread_once(&everybody_once, make_everybody);
    if (make_pipe(s->wake) < 0)
        return trod_fault_errno(fault, "cannot make a pipe", errno);
    return TROD_OK;
}

void trod_source_memory(struct trod_source *s, const void *p, size_t n)
{
    memset(s, 0, sizeof *s);
    s->ops = &memory_ops;
    s->mem = p ? p : (const uint8_t *)"";
    s->size = n;
}

int trod_source_pread(struct trod_source *s, uint8_t *p, size_t n, uint64_t offset, size_t *got,
                      struct trod_fault *fault)
{
    int fd = s->fd;
    *got = 0;
    if (s->mem) {
        *got = offset < s->size ? (size_t)(s->size - offset) : 0;
        *got = *got < n ? *got : n;
        if (*got)
            memcpy(p, s->mem + offset, *got);
        return TROD_OK;
    }
    if (s->path && (fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NOCTTY)) < 0)
        return trod_fault_errno(fault, "cannot open", errno);
    int status = TROD_OK;
    while (*got < n && status == TROD_OK) {
        const ssize_t some = pread(fd, p + *got, n - *got, (off_t)(s->base + offset + *got));
        if (some == 0)
            break;
        if (some > 0)
            *got += (size_t)some;
        else if (errno != EINTR)
            status = trod_fault_errno(fault, "cannot read", errno);
    }
    if (s->path)
        close(fd);
    return status;
}

void trod_source_doze(struct trod_source *s, const char *path)
{
    if (trod_zip_is(s)) {
        trod_zip_doze(s, path);
        return;
    }
    if (s->regular && s->owned && !s->path && (s->path = strdup(path)) != NULL) {
        close(s->fd);
        s->fd = -1;
    }
}

int trod_source_push(struct trod_source *s, const uint8_t *p, size_t n, struct trod_fault *fault)
{
    uint8_t *pushed;

    if (n == 0)
        return TROD_OK;
    pushed = malloc(n);
    if (!pushed)
        return trod_fault_nomem(fault, "an input");
    memcpy(pushed, p, n);
    free(s->pushed);
    s->pushed = pushed;
    s->n_pushed = n;
    s->pushed_at = 0;
    return TROD_OK;
}

bool trod_source_peek(struct trod_source *s, uint8_t *p, size_t n, struct trod_fault *fault)
{
    uint8_t head[64];
    size_t have = 0, got = 1;

    if (n > sizeof head)
        return false;
    if (s->mem) {
        if (s->size >= n)
            memcpy(p, s->mem, n);
        return s->size >= n;
    }
    if (s->regular) {
        ssize_t r;

        do
            r = pread(s->fd, p, n, (off_t)s->base);
        while (r < 0 && errno == EINTR);
        return r == (ssize_t)n;
    }
    while (have < n && got && s->ops->read(s, head + have, n - have, &got, fault) == TROD_OK)
        have += got;
    if (have)
        memcpy(p, head, have < n ? have : n);
    return trod_source_push(s, head, have, fault) == TROD_OK && have >= n;
}

void trod_source_close(struct trod_source *s)
{
    free(s->pushed);
    if (s->ops && s->ops->close)
        s->ops->close(s);
    memset(s, 0, sizeof *s);
}
