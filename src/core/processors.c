/*
 * processors.c - how many processors this process may use: what a batch system or mpirun bound it
 * to, not what the machine has.
 */
#define _GNU_SOURCE /* sched_getaffinity: of no system but Linux */
#include "trod/run.h"

#include <sched.h>
#include <unistd.h>

unsigned trod_processors(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    return online < 1 ? 1 : (unsigned)online; /* more of them than a cpu_set_t has */
}
