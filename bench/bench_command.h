/*
 * bench_command.h - commands that benchmarks measure, and the most memory they take.
 */
#ifndef TROD_BENCH_COMMAND_H
#define TROD_BENCH_COMMAND_H

#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Processor time of the commands run so far, all their threads, in seconds. */
static inline double bench_children(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* A command, without a shell; its standard output goes to /dev/null. */
struct bench_command {
    const char *argv[16];
    long peak; /* KiB */
};

/* Run it: returns its exit status. For bench_best(). */
static inline int bench_command(void *user)
{
    struct bench_command *c = user;
    posix_spawn_file_actions_t fa;
    struct rusage usage;
    pid_t pid;
    int status;

    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, c->argv[0], &fa, NULL, (char *const *)(uintptr_t)c->argv, environ) != 0)
        bench_die(c->argv[0]);
    posix_spawn_file_actions_destroy(&fa);
    if (wait4(pid, &status, 0, &usage) != pid)
        bench_die("wait4");
    c->peak = usage.ru_maxrss;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

#endif
