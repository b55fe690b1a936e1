/*
 * record.h - what the parts of the recorder share. See trod/record.h and docs/recording.md.
 */
#ifndef TROD_RECORD_INTERNAL_H
#define TROD_RECORD_INTERNAL_H

#include "record/protocol.h"
#include "trod/record.h"
#include "trod/writer.h"

#include <sys/types.h>

/* --- target.c: what a program is --- */

struct rec_target {
    const char *isa_name, *qemu, *triplet;
    enum trod_isa isa;
    enum trod_endian endian;
    enum rec_isa plain;
    unsigned addr_bits;
    uint32_t exec[4]; /* numbers of execve, execveat, exit_group */
    bool system;      /* a whole machine */
};

/*
 * QEMU's option -cpu for programs of T; NULL: none, as where the user has chosen a processor with
 * QEMU's variable QEMU_CPU.
 */
const char *rec_target_cpu(const struct rec_target *t);

/* NAME as a shell finds it, to OUT, N bytes. False: not there. */
bool rec_look_up(const char *name, char *out, size_t n);
enum { REC_LINE = 4 };
/*
 * Find ARGV[0], follow an interpreter line, read the ELF header. *T is static; INFO gets the paths;
 * LINE: words that stand before the program's own arguments ("/bin/sh", "-x", "script"), at most
 * REC_LINE, each for free(). Returns 0 or an error, reported.
 */
int rec_target_of(char *const argv[], const struct trod_record_options *opt,
                  const struct rec_target **t, struct trod_record_target *info,
                  char *line[REC_LINE], struct trod_diag *diag);

/* --- system.c: whole machines --- */

/* Is a whole machine wanted? */
bool rec_system_wanted(const struct trod_record_options *opt);
/* As rec_target_of, for a machine. */
int rec_system_of(char *const argv[], const struct trod_record_options *opt,
                  const struct rec_target **t, struct trod_record_target *info,
                  struct trod_diag *diag);
/* Words of QEMU's command line: those before ARGV's, to WORDS, at most REC_SYSTEM_WORDS. */
enum { REC_SYSTEM_WORDS = 24 };
size_t rec_system_words(const struct trod_record_target *info, char *const argv[], char **words);

/* --- launch.c: shared memory, processes --- */

/* MEMORY, REGISTERS, VALUES: are accesses, registers, the values of accesses wanted? */
int rec_share_new(struct rec_shared **out, int *fd, const struct rec_target *t, bool memory,
                  bool registers, bool values, struct trod_diag *diag);
void rec_share_free(struct rec_shared *s, int fd);
/* Add blocks. False: there cannot be more. */
bool rec_share_grow(struct rec_shared *s, uint32_t n);

/* The file name of the plugin. Returns 0 or TROD_ERR_UNSUPPORTED, reported. */
int rec_plugin_path(const char *given, char *out, size_t n, struct trod_diag *diag);

/* What a process needs to go on recording when it executes another program. */
void rec_tell_follow(struct rec_shared *s, const struct trod_record_target *info, const char *cpu,
                     const char *plugin);
/*
 * Start the program, on the processor CPU (NULL: QEMU's own choice); FD is the plugin's memory,
 * *PID QEMU's process.
 */
int rec_launch(const struct trod_record_target *info, const char *cpu, char *const line[],
               char *const argv[], const char *plugin, int fd, pid_t *pid, struct trod_diag *diag);

/* --- out.c: where a trace goes of which a file holds one thread --- */

struct rec_out {
    const char *path, *used; /* as asked for; for the writer */
    char *folder;            /* NULL: there is none */
    bool single;             /* the trace is a file of one thread, whatever the program has */
};

/*
 * AMBER: a file holds one thread. Where PATH is to be a file, the writer gets a folder, and OPT the
 * compression that PATH's suffix means. False: memory is short.
 */
bool rec_out_begin(struct rec_out *o, const char *path, bool amber,
                   struct trod_output_options *opt);
/*
 * The writer has committed: the trace gets its name. *SEVERAL: it is a folder, with a file for each
 * thread. Returns 0 or TROD_ERR_IO, reported.
 */
int rec_out_commit(struct rec_out *o, bool *several, struct trod_diag *diag);
void rec_out_end(struct rec_out *o);

/* --- elf.c: files of programs --- */

/* N bytes as a number. */
uint64_t rec_elf_field(const uint8_t *p, unsigned n, bool big);

/* A loadable segment. */
struct rec_segment_of_file {
    uint64_t offset, address, bytes; /* in the file, as linked, of the file */
    uint64_t memory;                 /* bytes, those that are zero included */
    bool code;
};

/* Those of PATH, at most MAX. Returns how many; 0: no ELF file, or it cannot be read. */
size_t rec_elf_segments(const char *path, struct rec_segment_of_file *out, size_t max);

/* --- places.c: functions by name, where they are loaded --- */

struct rec_places;
struct rec_modules;

int rec_places_new(struct rec_places **out, struct rec_shared *s, struct trod_diag *diag);
/* Functions called NAME become functions CODE of the shared memory. */
void rec_places_want(struct rec_places *p, const char *name, uint32_t code);
/* The same for a function whose calls are recorded, with ARGUMENTS and the result where it RETURNS.
 */
void rec_places_call(struct rec_places *p, const char *name, uint32_t code, unsigned arguments,
                     bool returns);
/* Has one of the functions with codes FROM to TO been found? */
bool rec_places_found(const struct rec_shared *s, uint32_t from, uint32_t to);
/* The file that has function NUMBER of the shared memory; NULL: unknown. */
const char *rec_places_library(const struct rec_places *p, uint32_t number);
/* Has the ELF file PATH one of those wanted so far? */
bool rec_places_has(struct rec_places *p, const char *path);
/* Tell M too what the program loads. */
void rec_places_tell(struct rec_places *p, struct rec_modules *m);
/* Begin to look for them as the program loads code. Returns 0 or an error, reported. */
int rec_places_begin(struct rec_places *p);
/* NULL is allowed. */
void rec_places_end(struct rec_places *p);

/* --- pthreads.c: records of thread synchronization --- */

/*
 * The functions that they are made of are looked for. Returns 0, TROD_ERR_USAGE (OPT's format has
 * no such records) or TROD_ERR_UNSUPPORTED (PROGRAM cannot have the functions), reported.
 */
int rec_pthreads_want(struct rec_places *places, struct rec_shared *shared,
                      const struct trod_record_options *opt,
                      const struct trod_record_target *program, struct trod_diag *diag);
/* Report that PROGRAM, which has ended, had none of them. */
void rec_pthreads_missing(const struct rec_shared *shared, const char *program,
                          struct trod_diag *diag);

/* --- modules.c: which files the program has loaded where --- */

/* Returns 0 or TROD_ERR_NOMEM. */
int rec_modules_new(struct rec_modules **out);
void rec_modules_free(struct rec_modules *m);
/*
 * A line of the list of what is mapped: bytes from OFFSET of the file PATH are at addresses
 * [START, END) of the program. EXECUTES: the machine itself may execute them.
 */
void rec_modules_line(struct rec_modules *m, const char *path, uint64_t start, uint64_t end,
                      uint64_t offset, bool executes);
/* The list is over. */
void rec_modules_end_file(struct rec_modules *m);
/*
 * modules.log for META. Files that lay at one place one after the other, as those of a program that
 * executes another, are left out. Returns 0 or TROD_ERR_NOMEM.
 */
int rec_modules_list(const struct rec_modules *m, struct trod_meta *meta);

/* --- calls.c: system calls whose arguments and results are recorded --- */

enum { REC_CALLS = 1024, REC_CALL_ARGS = 6 };

struct rec_calls {
    bool any;
    uint8_t args[REC_CALLS]; /* by number: 1 + how many arguments, 0: not recorded */
};

/* What LIST says. Returns 0 or TROD_ERR_USAGE, reported. */
int rec_calls_of(struct rec_calls *c, const struct trod_list *list, const struct rec_target *t,
                 struct trod_diag *diag);

/* --- functions.c: functions whose calls are recorded by name --- */

enum { REC_FUNCTION_NAMES = 128 };

struct rec_functions {
    size_t n;
    struct {
        char name[64];
        uint8_t arguments;
        bool returns, asked; /* asked for by its name */
    } item[REC_FUNCTION_NAMES];
};

/* What OPT wants in a trace of format TO. Returns 0 or TROD_ERR_USAGE, reported. */
int rec_functions_of(struct rec_functions *f, const struct trod_record_options *opt,
                     const struct trod_format *to, struct trod_diag *diag);
/* Before the program begins: they are looked for. */
void rec_functions_want(const struct rec_functions *f, struct rec_places *p, struct rec_shared *s);
/* Report what was asked for and never found. */
void rec_functions_missing(const struct rec_functions *f, const struct rec_shared *s,
                           const char *program, struct trod_diag *diag);
/* The number that rows have of function I of the shared memory. */
uint32_t rec_function_number(const struct rec_shared *s, uint32_t i);
/* The list of those found, as a file beside the trace. Returns 0 or TROD_ERR_NOMEM. */
int rec_functions_list(const struct rec_functions *f, const struct rec_shared *s,
                       const struct rec_places *p, struct trod_meta *meta);

/* --- control.c: what part of a program is recorded --- */

/* An address where something begins or ends. */
struct rec_place {
    bool given;
    bool linked; /* as the program was linked: it may be loaded elsewhere */
    uint64_t address, mask;
    const char *sought; /* a function of libraries: where is found while the program runs */
};

enum rec_phase { REC_WAITING, REC_SKIPPING, REC_RECORDING, REC_OVER };

struct rec_control {
    struct rec_place start, stop;
    uint64_t skip, take, windows;
    uint64_t linked; /* address of the program's code as linked, 0: unknown */
    uint8_t threads[128];
    bool all_threads, no_children;
    bool limited; /* not everything that they execute is recorded */
    enum rec_phase phase;
    uint64_t count; /* instructions of this phase */
    uint64_t done;  /* windows that have ended */
    struct rec_calls calls;
};

/* What OPT says of the program INFO. Returns 0, TROD_ERR_USAGE or another error, reported. */
int rec_control_of(struct rec_control *c, const struct trod_record_options *opt,
                   const struct rec_target *t, const struct trod_record_target *info,
                   struct trod_diag *diag);
/* Is the instruction at PC the one at P, in a program that lies SLIDE behind where it was linked?
 */
bool rec_place_is(const struct rec_place *p, uint64_t pc, uint64_t slide);
/* One instruction more, which may be the one at start or stop: is it recorded? */
bool rec_control_wants(struct rec_control *c, bool at_start, bool at_stop);

/* --- sources.c: trace sources of Tarmac --- */

enum rec_source {
    REC_SOURCE_INSTRUCTIONS = 1 << 0,
    REC_SOURCE_FLOW = 1 << 1,
    REC_SOURCE_REGISTERS = 1 << 2,
    REC_SOURCE_EVENTS = 1 << 3,
    REC_SOURCE_MEMORY = 1 << 4,
    REC_SOURCE_UPDATES = 1 << 5
};

/*
 * The sources (enum rec_source) that OPT wants in a trace of format F. Returns 0, TROD_ERR_USAGE
 * (no such source, none of F) or TROD_ERR_UNSUPPORTED (QEMU does not show it), reported.
 */
int rec_sources_of(uint32_t *out, const struct trod_record_options *opt,
                   const struct trod_format *f, struct trod_diag *diag);
/*
 * Are values of accesses, without registers, what can be recorded (MEMORY: accesses are) and
 * written as F? Returns 0 or TROD_ERR_USAGE, reported.
 */
int rec_values_check(const struct trod_record_options *opt, const struct trod_format *f,
                     bool memory, struct trod_diag *diag);
/* Kinds of rows, 1 << enum trod_kind, that are of one of SOURCES, or of none at all. */
uint32_t rec_source_kinds(uint32_t sources);

/* --- ppc.c, a64.c: accesses that QEMU tells nothing of --- */

/* Instructions whose accesses are missing in the trace. */
enum rec_untold {
    REC_TOLD,
    REC_UNTOLD_SVE,  /* loads and stores of SVE */
    REC_UNTOLD_ZERO, /* DC ZVA whose register could not be read */
    REC_UNTOLD_HINT, /* prefetches, cache operations */
    REC_UNTOLDS
};

struct rec_access {
    uint8_t kind;     /* of its row */
    bool extended;    /* the third word counts */
    bool conditional; /* need not have happened */
    bool upkeep;      /* moves nothing: a hint to the cache */
    uint32_t size, ea, third;
    uint64_t addr;
};

/*
 * a64.c: what DC ZVA and DC GZVA write, of which QEMU tells nothing either. BLOCK: bytes that they
 * clear, 0: not known. VALUE: of the register that CODE names. False: it is no such instruction, or
 * BLOCK is not known.
 */
bool rec_a64_access(const uint8_t code[4], uint64_t value, uint32_t block, struct rec_access *out);
/* The bytes that DC ZVA clears with the processor that programs of T have. */
uint32_t rec_a64_block(const struct rec_target *t);
/* What of the accesses of the instruction CODE QEMU does not tell. */
enum rec_untold rec_a64_untold(const uint8_t code[4]);

/* VALUES: of the registers rA and rB of the instruction CODE, and XER. False: no access. */
bool rec_ppc_access(const uint8_t code[4], const uint64_t values[3], struct rec_access *out);

/* --- writes.c: which registers instructions write --- */

struct rec_answers;

/* Begin to answer the plugin's questions (struct rec_writes). Returns 0 or an error, reported. */
int rec_answers_begin(struct rec_answers **out, struct rec_shared *s, const struct rec_target *t,
                      struct trod_diag *diag);
/* NULL is allowed. */
void rec_answers_end(struct rec_answers *a);
/* The name of register NUMBER, in the log; empty: it has none. */
struct trod_slice rec_register_name(const struct rec_shared *s, unsigned number);

/* --- rows.c: events to rows --- */

struct rec_rows;

int rec_rows_new(struct rec_rows **out, struct rec_shared *s, const struct rec_target *t,
                 struct trod_meta *meta, const struct rec_control *control,
                 const struct trod_format *format, uint32_t sources, bool single);
/* Is FORMAT one whose records hold an instruction and the words of its access? */
bool rec_amber(const struct trod_format *format);
/* Is FORMAT one whose records hold all registers? */
bool rec_full(const struct trod_format *format);
void rec_rows_free(struct rec_rows *r);
/* SINGLE was asked for, and there were other threads. */
bool rec_rows_missed(const struct rec_rows *r);
/* Who the rows go to. */
void rec_rows_writer(struct rec_rows *r, struct trod_writer *w);
/* Number of the next block of SLOT. */
uint64_t rec_rows_seq(const struct rec_rows *r, uint32_t slot);
/*
 * The events of block B, which is the next of its slot. Returns 0, 1 when all that is wanted has
 * been recorded, or an error.
 */
int rec_rows_block(struct rec_rows *r, struct rec_block *b);
/* Recording begins at a place that no instruction has come to. */
bool rec_rows_never(const struct rec_rows *r);
/*
 * A signal has ended the program: an instruction that was begun last, and has not made the access
 * that it should, is no part of the trace.
 */
void rec_rows_cut(struct rec_rows *r);
/* Rows that are left over. */
int rec_rows_flush(struct rec_rows *r);
void rec_rows_count(const struct rec_rows *r, struct trod_record_progress *p);

#endif
