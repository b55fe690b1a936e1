/*
 * source.h - where the bytes of an input come from: a file descriptor or memory.
 *
 * The bottom of an input, below all filters (docs/design.md, "io"). Another kind of source (the
 * members of an archive one after the other) is another trod_source_ops.
 */
#ifndef TROD_IO_SOURCE_H
#define TROD_IO_SOURCE_H

#include "fault.h"

#include <stdatomic.h>

struct trod_source;

struct trod_source_ops {
    /*
     * Up to CAP bytes to P, *N says how many; it waits for the first byte only. *N = 0 with
     * TROD_OK is the end. Errors go to FAULT.
     */
    int (*read)(struct trod_source *s, uint8_t *p, size_t cap, size_t *n, struct trod_fault *fault);
    /* Go to byte OFFSET of the source, or to its end if that comes first. NULL: cannot. */
    bool (*seek)(struct trod_source *s, uint64_t offset, uint64_t *reached);
    /* Make a read that waits return, now and for good; called from another thread. NULL: none
     * waits. */
    void (*interrupt)(struct trod_source *s);
    void (*close)(struct trod_source *s);
};

struct trod_source {
    const struct trod_source_ops *ops;
    const uint8_t *mem;      /* all of it is in memory: at mem, size bytes; else NULL */
    uint64_t size;           /* TROD_NOWHERE: unknown */
    _Atomic uint64_t offset; /* bytes read; another thread may look */
    uint64_t base;           /* descriptor: where in the file the source begins */
    int fd;
    int wake[2];     /* a byte in this pipe ends a wait; -1: there is none */
    bool owned;      /* close fd */
    bool regular;    /* reads do not wait for anybody */
    char *path;      /* of a file that is opened for each read; else NULL */
    uint8_t *pushed; /* bytes looked at and put back: they are read first */
    size_t n_pushed, pushed_at;
    void *archive; /* of a source of members: its state */
};

/* Open the file PATH, "-" for standard input. */
int trod_source_open(struct trod_source *s, const char *path, struct trod_fault *fault);

/* Read FD, which is closed with the source if OWNED. */
int trod_source_fd(struct trod_source *s, int fd, bool owned, struct trod_fault *fault);

/* N bytes at P, not copied. */
void trod_source_memory(struct trod_source *s, const void *p, size_t n);

/*
 * Show the first N bytes of S (up to 64), before any were read, without taking them. False: there
 * are not so many, or an error, in FAULT.
 */
bool trod_source_peek(struct trod_source *s, uint8_t *p, size_t n, struct trod_fault *fault);
/* Put N bytes at P back in front of what S will read. Returns 0 or TROD_ERR_NOMEM. */
int trod_source_push(struct trod_source *s, const uint8_t *p, size_t n, struct trod_fault *fault);

/*
 * Up to N bytes from byte OFFSET of a regular file or of memory to P; *GOT is how many, fewer at
 * the end only. Returns 0 or an error, in FAULT.
 */
int trod_source_pread(struct trod_source *s, uint8_t *p, size_t n, uint64_t offset, size_t *got,
                      struct trod_fault *fault);

/* If S is a regular file of its own, PATH, close it: each read opens it for itself from now on. */
void trod_source_doze(struct trod_source *s, const char *path);

/* Release what S holds; S may be all zero. */
void trod_source_close(struct trod_source *s);

#endif
