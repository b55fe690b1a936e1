/*
 * places.c - functions that are wanted by name: the recorder finds them when code has been loaded.
 *
 * Implements places.h. What is loaded before the program begins QEMU tells nobody; then it is the
 * mmap system calls (numbers from the system call tables of Linux).
 */
#include "record/plugin/places.h"

#include "record/plugin/collect.h"

#include <stdbool.h>
#include <time.h>
#include <unistd.h>

static _Atomic bool changed = true;
static _Thread_local bool of_file; /* the mmap that the thread has called maps a file */

static bool maps(unsigned isa, int64_t number)
{
    switch (isa) {
    case REC_X86_64:
        return number == 9;
    case REC_A64:
        return number == 222;
    case REC_MIPS:
    case REC_MIPSEL:
        return number == 4090 || number == 4210;
    default: /* mmap, mmap2 */
        return number == 90 || number == 192;
    }
}

void places_called(int64_t number, uint64_t fd)
{
    /* the old mmap has its arguments in memory */
    of_file = (int32_t)fd >= 0 || number == 90 || number == 4090;
}

void places_loaded(int64_t number)
{
    if (of_file && maps(collect_shared->isa, number))
        atomic_store(&changed, true);
}

void places_look(const void *host, uint64_t address)
{
    struct rec_shared *shared = collect_shared;
    const uint32_t self = (uint32_t)getpid();
    const struct timespec a_while = {0, 20000};
    uint32_t none = 0;

    if (!host || !atomic_exchange(&changed, false))
        return;
    while (!atomic_compare_exchange_strong(&shared->seeker, &none, self)) {
        if (collect_alone())
            return;
        nanosleep(&a_while, NULL); /* another process asks */
        none = 0;
    }
    shared->seeker_image = collect_image;
    shared->guest_base = (uintptr_t)host - (uintptr_t)address;
    sem_post(&shared->seek);
    while (atomic_load(&shared->seeker) == self) {
        if (collect_alone())
            return;
        nanosleep(&a_while, NULL);
    }
}
