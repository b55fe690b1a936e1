/*
 * mpi.c - libtrod-mpi.so: the ranks of a run talk through MPI.
 *
 * Implements ranks.h with what MPI-3.0 has. A message is its length, then its bytes in blocks,
 * since counts of MPI are of type int. MPI waits by asking again and again, which would take a
 * processor from whoever computes; here it is asked a thousand times a second.
 */
#include "ranks.h"

#include <mpi.h>

#include <stdlib.h>
#include <time.h>

enum { TAG = 1, BLOCK = 1 << 28 };

static void pause_a_while(void)
{
    const struct timespec t = {.tv_nsec = 1000000};

    nanosleep(&t, NULL);
}

/* Wait for REQUEST. -1 if *STOP is set before. */
static int await(MPI_Request *request, const volatile int *stop)
{
    for (int done = 0;;) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || *stop)
            return -1;
        if (done)
            return 0;
        pause_a_while();
    }
}

static int begin(unsigned *rank, unsigned *ranks)
{
    int r, n;

    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return -1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_rank(MPI_COMM_WORLD, &r) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &n) != MPI_SUCCESS)
        return -1;
    *rank = (unsigned)r;
    *ranks = (unsigned)n;
    return 0;
}

static int send_block(const void *p, int n, const volatile int *stop)
{
    MPI_Request request;

    if (MPI_Isend(p, n, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
        return -1;
    return await(&request, stop);
}

static int send_bytes(const void *p, uint64_t n, const volatile int *stop)
{
    const char *at = p;
    int rc = send_block(&n, (int)sizeof n, stop);

    while (rc == 0 && n) {
        const int some = n < BLOCK ? (int)n : BLOCK;

        rc = send_block(at, some, stop);
        at += some;
        n -= (uint64_t)some;
    }
    return rc;
}

static int take(unsigned from, void **p, uint64_t *n)
{
    int there = 0;
    char *at;

    if (MPI_Iprobe((int)from, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -1;
    if (!there) {
        pause_a_while();
        return 0;
    }
    if (MPI_Recv(n, (int)sizeof *n, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
        return -1;
    at = *p = malloc(*n + 1);
    if (!at)
        return -1;
    for (uint64_t left = *n; left;) {
        const int some = left < BLOCK ? (int)left : BLOCK;

        if (MPI_Recv(at, some, MPI_BYTE, (int)from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS) {
            free(*p);
            return -1;
        }
        at += some;
        left -= (uint64_t)some;
    }
    return 1;
}

static int end(const volatile int *stop)
{
    MPI_Request request;

    if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS || await(&request, stop) < 0)
        return -1;
    return MPI_Finalize() == MPI_SUCCESS ? 0 : -1;
}

extern const struct trod_ranks trod_ranks;
__attribute__((visibility("default"))) const struct trod_ranks trod_ranks = {
    .version = TROD_RANKS_VERSION,
    .begin = begin,
    .send = send_bytes,
    .take = take,
    .end = end,
};
