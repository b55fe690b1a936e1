/*
 * bench.h - what the benchmark programs share: clocks, best of N, one JSON line a figure, inputs.
 *
 * Every program of bench/ prints lines {"name","value","unit","yardstick","ratio","want"} on
 * standard output; scripts/bench runs them, keeps the lines in build/bench.json and prints the
 * table. A figure without yardstick stands alone. Header only: each program is one file.
 * What only some of them share stands in bench_drm.h, bench_driver.h and bench_command.h.
 */
#ifndef TROD_BENCH_H
#define TROD_BENCH_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* End the program: a benchmark of a failure is no figure. bench_die_errno says what errno means. */
static inline _Noreturn void bench_die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static inline _Noreturn void bench_die_errno(const char *what)
{
    perror(what);
    exit(1);
}

/* Seconds on the wall clock, and seconds of user time of this process. */
static inline double bench_wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double bench_user(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec * 1e-6;
}

/* CPU seconds of this thread: what a figure "one thread" is measured with on a busy machine. */
static inline double bench_thread(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Rounds to take the best of: TROD_BENCH_ROUNDS, 5 if unset. */
static inline int bench_rounds(void)
{
    const char *s = getenv("TROD_BENCH_ROUNDS");
    int n = s ? atoi(s) : 5;

    return n > 0 ? n : 1;
}

/* Bytes of generated input: TROD_BENCH_MB mebibytes, DEFAULT_MB if unset. */
static inline size_t bench_bytes(size_t default_mb)
{
    const char *s = getenv("TROD_BENCH_MB");
    long mb = s ? atol(s) : 0;

    return (mb > 0 ? (size_t)mb : default_mb) << 20;
}

/* What is measured. RUN returns 0, or a number after which the program ends: a benchmark of a
 * failure is no figure. BEST: least seconds so far. */
struct bench_work {
    int (*run)(void *user);
    void *user;
    double best;
};

/*
 * Least seconds of each of the N works W over bench_rounds() runs, by CLOCK (bench_wall,
 * bench_thread). They take turns: a machine is not as fast all the time.
 */
static inline void bench_turns(double (*clock)(void), struct bench_work *w, size_t n)
{
    for (size_t k = 0; k < n; k++)
        w[k].best = 1e300;
    for (size_t i = 0, runs = n * (size_t)bench_rounds(); i < runs; i++) {
        struct bench_work *const k = &w[i % n];
        double t = clock();
        int rc = k->run(k->user);

        t = clock() - t;
        if (rc != 0) {
            fprintf(stderr, "bench: the measured run failed with %d\n", rc);
            exit(1);
        }
        if (t < k->best)
            k->best = t;
    }
}

/* The same of FN(USER) alone. */
static inline double bench_best(double (*clock)(void), int (*fn)(void *user), void *user)
{
    struct bench_work w = {fn, user, 0};

    bench_turns(clock, &w, 1);
    return w.best;
}

/* Print a figure that stands alone. */
static inline void bench_value(const char *name, double value, const char *unit)
{
    printf("{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"}\n", name, value, unit);
    fflush(stdout);
}

/*
 * Print a figure beside its yardstick (a text that says what it is), its RATIO to it, and what the
 * ratio or the value should be (WANT: ">= 900 MB/s", "<= 1.15"; NULL: nothing is asked).
 */
static inline void bench_ratio(const char *name, double value, const char *unit,
                               const char *yardstick, double ratio, const char *want)
{
    printf("{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"yardstick\":\"%s\",\"ratio\":%.4g",
           name, value, unit, yardstick, ratio);
    if (want)
        printf(",\"want\":\"%s\"", want);
    printf("}\n");
    fflush(stdout);
}

/* xorshift64*: reproducible input. S must not be 0. */
static inline uint64_t bench_rand(uint64_t *s)
{
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    return *s * UINT64_C(2685821657736338717);
}

#endif
