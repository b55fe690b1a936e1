/*
 * meta.h - what is known of a trace: ISA, address width, time unit, streams, sizes.
 *
 * Implements docs/design.md, "The central types". A driver fills it in start() and goes on
 * while it decodes; a writer's driver reads it in begin().
 */
#ifndef TROD_META_H
#define TROD_META_H

#include "trod/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

enum trod_isa {
    TROD_ISA_UNKNOWN,
    TROD_ISA_ARM, /* A32 and T32 */
    TROD_ISA_A64,
    TROD_ISA_PPC32,
    TROD_ISA_PPC64,
    TROD_ISA_X86_32,
    TROD_ISA_X86_64,
    TROD_ISA_MIPS32,
    TROD_ISA_MIPS64,
    TROD_ISA_RISCV64,
    TROD_ISA_REGDEPS,
    TROD_ISA_RISCV32,
    TROD_ISAS
};

enum trod_endian { TROD_ENDIAN_UNKNOWN, TROD_ENDIAN_LITTLE, TROD_ENDIAN_BIG };

enum { TROD_STREAM_MAX = 1 << 20, TROD_NO_STREAM = 0, TROD_OWN_UNITS = 4, TROD_UNIT_NAME = 24 };

/* One thread, cpu or bus agent. Absent numbers are TROD_NOWHERE. */
struct trod_stream {
    const char *name; /* as the source writes it ("cpu0", "3", "thread 1234"); owned by the meta */
    size_t name_len;
    uint64_t tid, pid, cpu;
    uint32_t file; /* number of the file it was first seen in */
};

/* No core in particular. */
#define TROD_NO_CORE UINT32_MAX

/* What the order "dynamic" decided on one of its cores. */
struct trod_core {
    uint64_t steals;     /* threads taken from the queue of another core, having none */
    uint64_t rebalances; /* times that it made the queues nearly equal */
    uint64_t preempts;   /* threads that had to make room after their share of instructions */
    uint64_t nops;       /* times that a thread had to make room and nobody was there */
    uint64_t migrations; /* threads that ran elsewhere before */
};

/* A function whose calls the trace records, as a list beside the trace names it. */
struct trod_function {
    uint64_t id;        /* in the markers of the trace */
    const char *name;   /* "library!name" */
    uint32_t arguments; /* that are recorded */
    bool noret;         /* its return is not */
};

/* A file that lay in memory at [from, to), as a list beside the trace names it. */
struct trod_module {
    const char *path;
    uint64_t from, to;
    uint64_t base; /* where its first part lay */
};

struct trod_format;

struct trod_meta {
    const char *format, *dialect; /* static */
    /* The driver that reads the rows; NULL: they do not come from a reader. */
    const struct trod_format *driver;
    uint32_t file; /* number of the file that is being started or read */
    int bits;      /* evidence of detection; -1: told */
    enum trod_isa isa;
    enum trod_endian endian; /* of code and data */
    unsigned addr_bits;      /* 0: unknown */
    uint8_t unit;            /* unit of the time column where rows carry none (enum trod_unit) */
    /* words that the trace counts time in and enum trod_unit does not have: units 12 to 15 */
    char own_unit[TROD_OWN_UNITS][TROD_UNIT_NAME];
    uint32_t line_size, page_size, version; /* 0: unknown */
    uint64_t filetype;                      /* drmemtrace: bits of its FILETYPE marker */
    uint32_t part; /* rows are part PART of their file (trod_trace_open_part); 0: the beginning */
    bool part_cut; /* the file goes on behind the rows that are read of it */
    struct trod_stream *streams;
    uint32_t n_streams, cap_streams;
    const char *const *files; /* paths of the files of the trace; not owned */
    uint32_t n_files;
    const struct trod_function *functions; /* of the files beside the trace, which own them */
    uint32_t n_functions;
    const struct trod_module *modules; /* likewise */
    uint32_t n_modules;
    const struct trod_core *cores; /* of the order "dynamic", which owns them; else NULL */
    uint32_t n_cores;
    uint32_t last_core; /* the core on which the run came to its end; TROD_NO_CORE: in parallel */
    bool parts;         /* the file that start() was called for last is an archive of parts */
    struct trod_meta_own *own;   /* the library's */
    struct trod_meta_kept *kept; /* the library's: files that copies have beside them */
};

void trod_meta_init(struct trod_meta *m);
void trod_meta_fini(struct trod_meta *m);

/*
 * Number of the stream called NAME (LEN bytes), added if new. Returns TROD_ERR_NOMEM, or
 * TROD_ERR_LIMIT past TROD_STREAM_MAX streams (damaged input invents names).
 */
int trod_meta_stream(struct trod_meta *m, const char *name, size_t len);
/* The same for thread TID of process PID in file FILE (each TROD_NOWHERE or 0 if not known). */
int trod_meta_thread(struct trod_meta *m, uint64_t tid, uint64_t pid, uint32_t file);
/* The number of the stream that is called as S, or has its thread, process and file; -1: none. */
int64_t trod_meta_find(const struct trod_meta *m, const struct trod_stream *s);
/*
 * M is the meta of a trace, FROM that of a part of it, all of which has been read: what that part
 * said of instruction set, sizes and units, and its streams, in the order of FROM. Parts come in
 * the order of the trace. Returns 0, or what trod_meta_stream returns.
 */
int trod_meta_learn(struct trod_meta *m, const struct trod_meta *from);

/*
 * Number of the unit of time called NAME (LEN bytes): one of enum trod_unit, or one of the trace's
 * own, added if new. Returns TROD_ERR_LIMIT where the name is empty, has a NUL or is longer than
 * TROD_UNIT_NAME - 1 bytes, or the trace has TROD_OWN_UNITS others (TarmacTrace and Trace Matcher:
 * the scale is any word).
 */
int trod_meta_unit(struct trod_meta *m, const char *name, size_t len);
/* The name of unit UNIT (the low 4 bits count) in the trace of M; "" where there is none. */
const char *trod_meta_unit_name(const struct trod_meta *m, unsigned unit);

/*
 * Copies of the trace have a file NAME (static: "funclist.log") beside them with the N bytes at P
 * (copied), where the format has a place for it: drmemtrace folders, docs/formats/drmemtrace.md,
 * "Directories". A second one of the name takes its place. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_meta_keep(struct trod_meta *m, const char *name, const void *p, size_t n);
/* The bytes of the file NAME and, to *N, how many; NULL: there is none. Valid as long as M is. */
const void *trod_meta_file(const struct trod_meta *m, const char *name, size_t *n);

/* "ARM", "A64", ...; static, NULL past the last. */
const char *trod_isa_name(unsigned isa);
/*
 * Bytes that all addresses of instructions of ISA are multiples of: 4 (A64, PowerPC, MIPS), 2 (Arm
 * with T32, RISC-V with compressed instructions) or 1 (x86, and where nothing is known: REGDEPS).
 */
unsigned trod_isa_alignment(unsigned isa);

#ifdef __cplusplus
}
#endif

#endif
