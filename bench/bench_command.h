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

/* Start the command ARGV, without a shell; its standard output goes to /dev/null. */
static inline pid_t bench_start(const char *const *argv)
{
    posix_spawn_file_actions_t fa;
    pid_t pid;

    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &fa, NULL, (char *const *)(uintptr_t)argv, environ) != 0)
        bench_die(argv[0]);
    posix_spawn_file_actions_destroy(&fa);
    return pid;
}

/* A command, as bench_start takes it. */
struct bench_command {
    const char *argv[16];
    long peak; /* KiB */
};

/* Run it: returns its exit status. For bench_best(). */
static inline int bench_command(void *user)
{
    struct bench_command *c = user;
    const pid_t pid = bench_start(c->argv);
    struct rusage usage;
    int status;

    if (wait4(pid, &status, 0, &usage) != pid)
        bench_die("wait4");
    c->peak = usage.ru_maxrss;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

#endif
