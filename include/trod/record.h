/*
 * record.h - run a program under QEMU and write a trace of it.
 *
 * Implements docs/recording.md. A plugin in QEMU collects what the program does into shared
 * memory; the recorder makes rows of it and hands them to a writer while the program runs.
 */
#ifndef TROD_RECORD_H
#define TROD_RECORD_H

#include "trod/io.h"
#include "trod/loss.h"
#include "trod/option.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Instructions recorded without their accesses, of which QEMU does not tell. */
struct trod_record_untold {
    uint64_t sve;    /* aarch64: loads and stores of SVE */
    uint64_t zeroes; /* aarch64: DC ZVA where its register could not be read */
    uint64_t hints;  /* prefetches and cache operations, which move no data */
};

struct trod_record_progress {
    uint64_t instructions, accesses; /* recorded so far */
    uint64_t passed;                 /* instructions left out so far */
    uint64_t unnamed; /* text formats: static instructions that the disassembler does not know */
    uint64_t bytes;   /* of the trace so far, before compression */
    struct trod_record_untold untold;
};

/* What the QEMU that runs the program can tell beside instructions, opcodes and accesses. */
struct trod_record_able {
    const char *qemu; /* its path */
    unsigned api;     /* version of its plugin interface */
    bool registers, vectors, values;
};

struct trod_record_options {
    size_t struct_size;                /* sizeof the struct; 0 stands for its size in version 0 */
    const char *to;                    /* format: "name[:opt=value,...]" */
    struct trod_output_options output; /* of its files */
    const char *qemu;                  /* program to run; NULL: found by the program's ELF header */
    const char *sysroot; /* where its loader and libraries are; NULL: see recording.md */
    const char *plugin;  /* libtrod-qemu.so; NULL: see recording.md */
    bool system; /* ARGV[0] is what a machine boots. So is a QEMU called qemu-system-...: without
                    SYSTEM all of ARGV are its options */
    /*
     * Which windows of the execution are recorded. Recording begins before the instruction at
     * START and ends before that at STOP: an address (0x...) or a symbol of the program; NULL: at
     * once, never.
     */
    const char *start, *stop;
    uint64_t skip;    /* instructions left out before each window */
    uint64_t take;    /* instructions recorded in each window; 0: all */
    uint64_t windows; /* number of windows; 0: with START as often as it is reached, else one */
    struct trod_list threads;  /* numbers in the order in which threads begin; none: all */
    struct trod_list syscalls; /* "NAME|NUMBER[:ARGUMENTS]" or "all": drmemtrace's FUNC_* markers */
    bool no_children;          /* not the processes that the program starts */
    uint64_t size_limit;       /* end recording at so many bytes before compression; 0: never */
    bool pthreads;             /* PowerPC, tt6 and tt6e: records of thread synchronization */
    bool no_memory;            /* no accesses, instructions only */
    bool allow_loss;           /* also where it is known before that the trace cannot hold all */
    bool registers;            /* what instructions write to registers, and values of accesses */
    bool values;               /* values of accesses, without registers */
    /*
     * drmemtrace: functions whose calls are recorded with arguments and results: "NAME[:N]" or
     * "NAME:N:noret" for N arguments and no result; N is 6 by default, and as many as they have for
     * the functions that HEAP stands for: those of C and C++ that allocate and free memory.
     */
    struct trod_list functions;
    bool heap;
    /*
     * tarmac, matcher: which of the sources of the document "TarmacTrace file format" are recorded:
     * instructions, flow, registers (as REGISTERS), events, memory, updates. None: all but flow and
     * registers.
     */
    struct trod_list sources;
    /* Called when the program has begun: what this QEMU can tell. NULL: never. */
    void (*able)(void *user, const struct trod_record_able *what);
    /* Called when the program has begun as process PID. NULL: never. */
    void (*started)(void *user, long pid);
    /* Called now and then. NULL: never. */
    void (*progress)(void *user, const struct trod_record_progress *p);
    void *user;
};

/* What is known of a program and of what runs it. */
struct trod_record_target {
    const char *isa;     /* "x86-64", ...; static */
    const char *package; /* that has its QEMU; static */
    char qemu[4096];     /* program */
    char sysroot[4096];  /* empty: none needed */
    char program[4096];  /* empty: not known */
    uint64_t code;       /* address of its code as it was linked, 0: unknown */
    bool system;         /* a whole machine */
    bool image;          /* that boots PROGRAM */
    bool elf;            /* which is an ELF file */
    bool dynamic;        /* a loader brings its libraries */
};

struct trod_record_result {
    struct trod_record_target target;
    uint64_t instructions, accesses, passed, rows, bytes, files;
    uint64_t unnamed;      /* as in trod_record_progress */
    struct trod_loss loss; /* what the trace does not have of what was recorded */
    uint32_t threads, processes;
    bool folder;         /* OUT, meant to be a file, is a folder: a file for each thread */
    uint32_t executed;   /* programs that it executed (execve) and that were recorded too */
    uint32_t unrecorded; /* programs that it executed and that are not in the trace */
    unsigned api;        /* version of QEMU's plugin interface; 0: the plugin was not loaded */
    int status;          /* of the program: 0 to 255, or 128 + signal */
    unsigned trouble;    /* enum trod_record_trouble */
    struct trod_record_untold untold;
};

/* Why a recording is not all that happened. */
enum trod_record_trouble {
    TROD_RECORD_KILLED = 1 << 0, /* a signal ended the program: the trace ends there */
    TROD_RECORD_LIMIT = 1 << 1,  /* more code or more threads than fit: some are missing */
    TROD_RECORD_TAKEN = 1 << 2,  /* as many instructions as wanted were recorded */
    TROD_RECORD_SIZE = 1 << 3,   /* the limit of size was reached */
    TROD_RECORD_NEVER = 1 << 4,  /* the program never came to the place where recording begins */
    TROD_RECORD_LOST = 1 << 5    /* programs that it executed are missing; reported by name */
};

/*
 * Run ARGV (NULL-terminated; ARGV[0] is looked for as a shell would) and write its trace to OUT,
 * a file or a folder as trod_writer_open says, which appears when it is whole. Where a file of the
 * format holds one thread, and the program has several, OUT becomes a folder. Returns when the
 * program and all its children have ended. The program has the environment, the standard files and
 * the terminal of the caller; signals are the caller's business: it should outlive them, and hand
 * on what is meant for the program. RESULT is filled as far as it is known, the status always once
 * the program has run. Returns 0, TROD_ERR_USAGE (no such program, options that it or QEMU cannot
 * follow, or options of another version), TROD_ERR_UNSUPPORTED (its instruction set, no QEMU for
 * it, no plugin), TROD_ERR_NOMEM, or what the writer returns: then no
 * file appears, but the program runs to its end. All reported. One recording at a time in a
 * process: its children are waited for.
 */
int trod_record(const char *out, char *const argv[], const struct trod_record_options *opt,
                struct trod_record_result *result, struct trod_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
