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

/* In place of the number of a core: none. */
#define TROD_NO_CORE UINT32_MAX

/* What the scheduler of the order "dynamic" did on one of its cores: how many times each. */
struct trod_core {
    uint64_t steals;     /* its own queue was empty: a thread came from another core's queue */
    uint64_t rebalances; /* it evened out the lengths of all queues */
    uint64_t preempts;   /* a thread had to leave because it had used up its quantum */
    uint64_t nops;       /* a thread that had to leave went on, because no other was ready */
    uint64_t migrations; /* it took up a thread that had run on another core before */
};

/* A function whose calls the trace records, from the list of functions beside the trace. */
struct trod_function {
    uint64_t id;        /* its number in the markers of the trace */
    const char *name;   /* "library!name" */
    uint32_t arguments; /* how many of its arguments are recorded */
    bool noret;         /* its return is not recorded */
    uint64_t address;   /* of its first instruction; 0: the list does not say */
};

/* A mapping: addresses [from, to) held PATH, from the list of modules beside the trace. */
struct trod_module {
    const char *path;
    uint64_t from, to;
    uint64_t base; /* address of the first mapping of the same file */
};

struct trod_format;

struct trod_meta {
    const char *format, *dialect; /* static */
    /* The driver that reads the rows; NULL: they do not come from a reader. */
    const struct trod_format *driver;
    uint32_t file; /* number of the file that is being started or read */
    int bits;      /* bits of evidence of detection; -1: the caller named the format */
    enum trod_isa isa;
    enum trod_endian endian; /* of code and data */
    unsigned addr_bits;      /* 0: unknown */
    uint8_t unit;            /* unit of the time column where rows carry none (enum trod_unit) */
    /* units of time of this trace that enum trod_unit lacks: TROD_UNITS and up */
    char own_unit[TROD_OWN_UNITS][TROD_UNIT_NAME];
    uint32_t line_size, page_size, version; /* 0: unknown */
    uint64_t filetype;                      /* drmemtrace: bits of its FILETYPE marker */
    uint32_t part; /* rows are part PART of their file (trod_trace_open_part); 0: the beginning */
    bool part_cut; /* the file goes on after that part */
    struct trod_stream *streams;
    uint32_t n_streams, cap_streams;
    const char *const *files; /* paths of the files of the trace; not owned */
    uint32_t n_files;
    const struct trod_function *functions; /* from files beside the trace; not owned */
    uint32_t n_functions;
    const struct trod_module *modules; /* likewise */
    uint32_t n_modules;
    /* what the scheduler of the order "dynamic" did; order "recorded": all zero; not owned; or NULL
     */
    const struct trod_core *cores;
    uint32_t n_cores;
    uint32_t last_core; /* the core on which the run came to its end; TROD_NO_CORE: in parallel */
    bool parts;         /* the file that start() was called for last is an archive of parts */
    struct trod_meta_own *own;   /* internal */
    struct trod_meta_kept *kept; /* internal: see trod_meta_keep */
    bool several; /* the trace has more files than one, of which this may be the meta of a single
                     one */
};

/* Prepare M: nothing is known. trod_meta_fini releases what it owns. Neither can fail. */
void trod_meta_init(struct trod_meta *m);
void trod_meta_fini(struct trod_meta *m);

/*
 * Number of the stream called NAME (LEN bytes), added if new. Returns TROD_ERR_NOMEM, or
 * TROD_ERR_LIMIT past TROD_STREAM_MAX streams (damaged input invents names).
 */
int trod_meta_stream(struct trod_meta *m, const char *name, size_t len);
/* The same for thread TID of process PID in file FILE (each TROD_NOWHERE or 0 if not known). */
int trod_meta_thread(struct trod_meta *m, uint64_t tid, uint64_t pid, uint32_t file);
/*
 * Number of the stream with the name of S or, if S has none, with its thread, process and file; -1:
 * there is none.
 */
int64_t trod_meta_find(const struct trod_meta *m, const struct trod_stream *s);
/*
 * Add to M, the meta of a trace, what FROM, the meta of a part of that trace which has been read to
 * its end, says: instruction set, sizes, units, and streams in their order there. To be called for
 * the parts in the order of the trace. Returns 0, or what trod_meta_stream returns.
 */
int trod_meta_learn(struct trod_meta *m, const struct trod_meta *from);

/*
 * Number of the unit of time called NAME (LEN bytes): one of enum trod_unit, or one of the trace's
 * own, added if new (in TarmacTrace and Trace Matcher any word may be a unit). Returns
 * TROD_ERR_LIMIT where the name is empty, has a NUL or is longer than TROD_UNIT_NAME - 1 bytes, or
 * the trace has TROD_OWN_UNITS others already.
 */
int trod_meta_unit(struct trod_meta *m, const char *name, size_t len);
/* The name of unit UNIT (the low 4 bits count) in the trace of M; "" where there is none. */
const char *trod_meta_unit_name(const struct trod_meta *m, unsigned unit);

/*
 * Keep the N bytes at P (copied) as the file NAME (static text: "funclist.log") that writers of a
 * copy of this trace put beside it, where the format has a place for such files: drmemtrace folders
 * (docs/formats/drmemtrace.md, "Directories"). It replaces an earlier one of that name. Returns 0
 * or TROD_ERR_NOMEM.
 */
int trod_meta_keep(struct trod_meta *m, const char *name, const void *p, size_t n);
/* The bytes kept as the file NAME, their number in *N; NULL: none. Valid as long as M is. */
const void *trod_meta_file(const struct trod_meta *m, const char *name, size_t *n);

/* "ARM", "A64", ...; static, NULL past the last. */
const char *trod_isa_name(unsigned isa);
/*
 * Alignment of instructions of ISA in bytes: 4 (A64, PowerPC, MIPS), 2 (Arm with T32, RISC-V with
 * compressed instructions) or 1 (x86, and where nothing is known: REGDEPS).
 */
unsigned trod_isa_alignment(unsigned isa);

#ifdef __cplusplus
}
#endif

#endif
