/*
 * outfile.h - a file that appears under its name only when it is complete.
 */
#ifndef TROD_IO_OUTFILE_H
#define TROD_IO_OUTFILE_H

#include "fault.h"

struct trod_outfile {
    int fd;        /* -1: none */
    bool direct;   /* written in place: standard output, a device, a pipe */
    bool standard; /* standard output: left open */
    bool existed;  /* a file is replaced */
    char *target;  /* the file to appear; links followed */
    char *temp;    /* its name until then; NULL while it has none */
};

/*
 * Begin the file PATH; "-" is standard output. UNNAMED: have no name at all until then, where the
 * system can. F is released, also after an error, by one of the two below.
 */
int trod_outfile_open(struct trod_outfile *f, const char *path, bool unnamed,
                      struct trod_fault *fault);

/* Write all N bytes. */
int trod_outfile_write(struct trod_outfile *f, const uint8_t *p, size_t n,
                       struct trod_fault *fault);

/* Write over N bytes at OFFSET; not for direct files. */
int trod_outfile_patch(struct trod_outfile *f, uint64_t offset, const uint8_t *p, size_t n,
                       struct trod_fault *fault);

/*
 * Close a file that is not direct and keep it, with a temporary name; write on to it after unpark.
 * A parked file may be committed or discarded as it is.
 */
int trod_outfile_park(struct trod_outfile *f, struct trod_fault *fault);
int trod_outfile_unpark(struct trod_outfile *f, struct trod_fault *fault);

/* Give the file its name. */
int trod_outfile_commit(struct trod_outfile *f, struct trod_fault *fault);

/* Leave no trace of it. */
void trod_outfile_discard(struct trod_outfile *f);

#endif
