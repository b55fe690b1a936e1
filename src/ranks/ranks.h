/*
 * ranks.h - what the command asks of the library that the processes of a run talk through.
 *
 * The processes ("ranks") are numbered from 0. All others send messages to rank 0. A driver is a
 * shared object libtrod-NAME.so with a descriptor `trod_ranks`; there is one, for MPI (mpi.c). It
 * waits without using the processor. Functions that fail return a negative number.
 */
#ifndef TROD_RANKS_H
#define TROD_RANKS_H

#include <stddef.h>
#include <stdint.h>

enum { TROD_RANKS_VERSION = 1 };

struct trod_ranks {
    unsigned version; /* TROD_RANKS_VERSION */
    /* Join the others. *RANK of *RANKS is this process. */
    int (*begin)(unsigned *rank, unsigned *ranks);
    /* Send the N bytes at P to rank 0. Comes back when it has them, or -1 when *STOP is set. */
    int (*send)(const void *p, uint64_t n, const volatile int *stop);
    /*
     * On rank 0: the next message of rank FROM, if it has come. 1 with *P (*N bytes, to be freed),
     * or 0.
     */
    int (*take)(unsigned from, void **p, uint64_t *n);
    /* Wait until all ranks call this, and leave. */
    int (*end)(const volatile int *stop);
};

#endif
