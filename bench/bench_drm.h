/*
 * bench_drm.h - drmemtrace traces for benchmarks: entries of generated ones, and the shared real
 * trace pthread-5-threads where it is.
 *
 * The entries are those of docs/formats/drmemtrace.md, "Entries", of a 64-bit trace.
 */
#ifndef TROD_BENCH_DRM_H
#define TROD_BENCH_DRM_H

#include "bench.h"

#include "trod/drmemtrace.h"
#include "trod/io.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BENCH_ENTRY = 12, BENCH_PATH = 4096, BENCH_THREAD = 1000 };

/* Types of entries: docs/formats/drmemtrace.md, "Record types". */
enum {
    BENCH_READ = 0,
    BENCH_WRITE = 1,
    BENCH_INSTR = 10,
    BENCH_JUMP = 11,
    BENCH_RETURN = 16,
    BENCH_TID = 22,
    BENCH_EXIT = 23,
    BENCH_PID = 24,
    BENCH_HEADER = 25,
    BENCH_FOOTER = 26,
    BENCH_MARKER = 28,
    BENCH_CODE = 47,
    BENCH_TAKEN = 48,
    BENCH_UNTAKEN = 49
};

static inline void bench_entry_at(uint8_t *p, unsigned type, unsigned size, uint64_t addr)
{
    p[0] = (uint8_t)type;
    p[1] = (uint8_t)(type >> 8);
    p[2] = (uint8_t)size;
    p[3] = (uint8_t)(size >> 8);
    for (int i = 0; i < 8; i++)
        p[4 + i] = (uint8_t)(addr >> (8 * i));
}

static inline void bench_put(struct trod_output *out, const void *p, size_t n)
{
    if (trod_output_write(out, p, n) < 0)
        bench_die("cannot write the input");
}

static inline void bench_entry(struct trod_output *out, unsigned type, unsigned size, uint64_t addr)
{
    uint8_t p[BENCH_ENTRY];

    bench_entry_at(p, type, size, addr);
    bench_put(out, p, sizeof p);
}

/* An instruction; where it is met FIRST, its opcode stands before it. */
static inline void bench_instr(struct trod_output *out, unsigned type, unsigned size, uint64_t code,
                               uint64_t pc, bool first)
{
    if (first)
        bench_entry(out, BENCH_CODE, size, code);
    bench_entry(out, type, size, pc);
}

/* What stands before and behind the instructions of a thread of an x86-64 program. */
static inline void bench_thread_begin(struct trod_output *out)
{
    const unsigned filetype = TROD_DRM_X86_64 | TROD_DRM_ENCODINGS | TROD_DRM_SYSCALL_NUMBERS |
                              TROD_DRM_BLOCKING_SYSCALLS;

    bench_entry(out, BENCH_HEADER, 0, 7);
    bench_entry(out, BENCH_MARKER, TROD_DRM_VERSION, 7);
    bench_entry(out, BENCH_MARKER, TROD_DRM_FILETYPE, filetype);
    bench_entry(out, BENCH_TID, 4, BENCH_THREAD);
    bench_entry(out, BENCH_PID, 4, BENCH_THREAD);
    bench_entry(out, BENCH_MARKER, TROD_DRM_CACHE_LINE_SIZE, 64);
    bench_entry(out, BENCH_MARKER, TROD_DRM_PAGE_SIZE, 4096);
    bench_entry(out, BENCH_MARKER, TROD_DRM_TIMESTAMP, 1);
    bench_entry(out, BENCH_MARKER, TROD_DRM_CPU_ID, 0);
}

static inline void bench_thread_end(struct trod_output *out)
{
    bench_entry(out, BENCH_EXIT, 4, BENCH_THREAD);
    bench_entry(out, BENCH_FOOTER, 0, 0);
}

/* Read and decompress PATH on this thread and do nothing with it. Returns 0, or not. */
static inline int bench_inflate(const char *path)
{
    const struct trod_input_options opt = {.no_thread = true};
    struct trod_input *f;
    struct trod_span s;

    if (trod_input_open(&f, path, &opt, NULL) < 0)
        return 1;
    do {
        if (trod_input_ahead(f, 1, &s) < 0)
            return 2;
        trod_input_consume(f, s.n);
    } while (s.n);
    trod_input_close(f);
    return 0;
}

/* PATH of an input to generate: in memory where there is some, else in /tmp. */
static inline void bench_scratch(char path[BENCH_PATH], const char *suffix)
{
    struct stat st;

    snprintf(path, BENCH_PATH, "%s/trod-bench-%ld%s",
             stat("/dev/shm", &st) == 0 ? "/dev/shm" : "/tmp", (long)getpid(), suffix);
}

/* Is the shared trace pthread-5-threads (44 M instructions) there? PATH: where. */
static inline bool bench_shared_trace(char path[BENCH_PATH])
{
    const char *traces = getenv("TROD_TRACES"), *source = getenv("TROD_SOURCE");
    struct stat st;

    if (traces)
        snprintf(path, BENCH_PATH, "%s/drmemtrace/pthread-5-threads", traces);
    else
        snprintf(path, BENCH_PATH, "%s/../shared/traces/drmemtrace/pthread-5-threads",
                 source ? source : ".");
    return stat(path, &st) == 0;
}

#endif
