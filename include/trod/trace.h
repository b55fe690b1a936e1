/*
 * trace.h - a trace: a file, several files or a directory; their streams and the order between
 * them.
 *
 * Implements docs/design.md, "The central types". This is what commands and analyses read from.
 */
#ifndef TROD_TRACE_H
#define TROD_TRACE_H

#include "trod/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_trace;
struct trod_begin;

/* How the rows of several files are put in one order. */
enum trod_order {
    TROD_ORDER_FILE,     /* one file after the other */
    TROD_ORDER_TIME,     /* by their times, whatever units and decimals these are in */
    TROD_ORDER_SYNC,     /* as the SYNC rows allow: no wait before the signal it waits for */
    TROD_ORDER_RECORDED, /* as the schedule file beside the trace says (drmemtrace) */
    TROD_ORDER_DYNAMIC   /* as DynamoRIO's scheduler would run the threads on some cores */
};

enum { TROD_MOST_CORES = 4096 }; /* of the order DYNAMIC */

struct trod_trace_options {
    size_t struct_size;  /* sizeof the struct; 0 stands for its size in version 0 */
    const char *from;    /* as in struct trod_reader_options */
    uint32_t want;       /* columns somebody needs; 0: all */
    uint32_t batch_rows; /* rows a batch, at most TROD_BATCH_ROWS; 0: so many; raised to what any
                            record needs */
    enum trod_order order;
    uint32_t cores; /* DYNAMIC: cores that threads (a file each) are scheduled onto, at most
                       TROD_MOST_CORES; 0: 4 */
    struct trod_beside_options beside; /* files beside the inputs */
    struct trod_input_options input;
    uint64_t skip_rows;         /* leave out the first rows: so many (in one file: quickly) */
    uint64_t skip_instructions; /* leave out so many instructions at the beginning of each file */
    /*
     * DYNAMIC and RECORDED: a core that was idle says so before its next row, and at the end, with
     * a MARKER row of no thread: TROD_F_SYNTHETIC, sub TROD_DRM_CORE_IDLE (TROD_DRM_CORE_WAIT where
     * it waited for other cores), value = number of idle steps. It does not count in the numbers
     * of rows (trod_batch.first): analyses that do not ask for such rows are not fed any. RECORDED
     * by the schedule beside the trace is then in lock-step.
     */
    bool idle;
    /*
     * RECORDED: the schedule file to follow; NULL: the one beside the trace. With a file named here
     * a turn ends before the instruction that the next turn of the same thread begins with, and
     * rows say the core. It may also be a recorded schedule of DynamoRIO's scheduler (a zip archive
     * of output.NNNN), which is followed in lock-step.
     */
    const char *schedule;
    /*
     * RECORDED: in lock-step: the cores take turns, a row each, and wait for each other as the
     * schedule says (docs/formats/drmemtrace.md, "Order"); rows say the core: 0, 1, ... in the
     * order of the cpus. Otherwise the turns of all cores come one after the other.
     */
    bool lockstep;
    /* DYNAMIC: instructions after which another thread gets the core; 0: 20 000 000 */
    uint64_t quantum;
    /* DYNAMIC: thousandths of the time a system call took for which it blocks its thread; 0: 100 */
    uint32_t block_scale;
    /*
     * DYNAMIC: give all threads to their end. Without it the order ends, as DynamoRIO's scheduler
     * does, when at most a tenth of the threads is left; that is a warning.
     */
    bool all_inputs;
    /*
     * DYNAMIC: each core has a time of its own: the instructions that it ran and the steps that it
     * was idle, as where DynamoRIO simulates cores in parallel. Otherwise there is one time for
     * all, which each instruction of any core advances.
     */
    bool parallel;
    /*
     * A thread of its own decodes rows in advance. Rows, meta and problems come as without it; what
     * was decoded beyond the rows that the caller asked for is not reported. It has no effect on
     * pipes and in orders with cores. Batches have no window (bytes): slices point to their own
     * pool. trod_trace_limit is for traces without it.
     */
    bool ahead;
    /*
     * FILE: where in these files reading begins, from an index of them (trod_nav_begin); NULL: at
     * the beginning. Rows keep their numbers. It must stay valid until the trace is open.
     */
    const struct trod_begin *begin;
    /*
     * SYNC: where no thread can go on, all that wait go on all the same, so that every row is
     * given; waits that could not complete are reported, and the end is TROD_ERR_CORRUPT. Without
     * it rows behind them are not given.
     */
    bool past_waits;
};

/*
 * Open the N files or directories PATHS ("-": standard input) as one trace. OPT may be NULL.
 * Returns what trod_input_open and trod_reader_open return, TROD_ERR_USAGE (no files, options of
 * another version, or more rows a batch or cores than there can be), or TROD_ERR_UNSUPPORTED (order
 * not possible for this format). All but TROD_ERR_NOMEM are reported.
 */
int trod_trace_open(struct trod_trace **out, const char *const *paths, size_t n,
                    const struct trod_trace_options *opt, struct trod_diag *diag);

/*
 * Open input FILE of WHOLE (0 to trod_trace_files() - 1) as a trace of its own, in file order, with
 * the options of WHOLE, but INPUT in place of trod_trace_options.input (NULL: the same); its
 * streams have the file number they have in WHOLE. WHOLE is not changed: several threads may do
 * this at once, each with a DIAG of its own. Only for files that can be opened again
 * (trod_trace_rewindable). Returns what trod_trace_open returns.
 */
int trod_trace_open_file(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                         const struct trod_input_options *input, struct trod_diag *diag);
/*
 * As trod_trace_open_file for members [FROM, TO) of an archive (see trod_reader_part). PART is the
 * number of this part of the file, for meta->part.
 */
int trod_trace_open_part(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                         uint32_t part, size_t from, size_t to,
                         const struct trod_input_options *input, struct trod_diag *diag);
/*
 * Members of input FILE of WHOLE that can be read as parts (trod_trace_open_part): 1 where it is no
 * archive, its members are smaller than TROD_WINDOW, or its format cannot begin in the middle.
 */
size_t trod_trace_members(const struct trod_trace *whole, size_t file);
/*
 * Offsets in the decoded bytes at which input FILE of WHOLE can be cut into pieces of PIECE bytes
 * or more: at most MOST of them, ascending, into CUT. Returns how many; they depend on nothing but
 * the file, PIECE and MOST. 0 where the file is small or its format cannot begin in the middle; of
 * a compressed file also unless PACKED is set and it has several frames or members that say their
 * lengths (see trod_input_decoded). Damage to the compression ends such a file: ignore what pieces
 * after it give. *AS is set to what the file is, for trod_trace_open_bytes.
 */
size_t trod_trace_cuts(const struct trod_trace *whole, size_t file, uint64_t piece, bool packed,
                       uint64_t *cut, size_t most, struct trod_candidate *as);
/* The bytes [FROM, TO) of a file, between two of its cuts (FROM 0: its beginning, TO TROD_NOWHERE:
 * its end). */
struct trod_stretch {
    const struct trod_candidate *as; /* what the file was found to be; outlives the trace */
    uint32_t part;                   /* for meta->part */
    uint64_t from, to;
    bool apart; /* the decoder state at FROM follows from the bytes before it (trod_parts.enter) */
};
/*
 * As trod_trace_open_file for stretch S of the file. Problems have line numbers and record numbers
 * that count from its beginning. If S is apart, reading ends in TROD_ERR_CORRUPT, not reported,
 * where a part that begins at TO by itself would begin wrongly.
 */
int trod_trace_open_bytes(struct trod_trace **out, const struct trod_trace *whole, size_t file,
                          const struct trod_stretch *s, const struct trod_input_options *input,
                          struct trod_diag *diag);
/*
 * For formats with trod_format.parts: run the decoder of T over the records up to the offset TO, a
 * cut of the file, without giving rows; the next call goes on there. T is a trace of a whole file
 * by trod_trace_open_bytes of which no rows were read. Returns 0, or an error, which is not
 * reported: the parts after cannot be read by themselves.
 */
int trod_trace_pass(struct trod_trace *t, uint64_t to);
/*
 * Give T the decoder state of FROM. T is a trace by trod_trace_open_bytes of the part that begins
 * where trod_trace_pass has brought FROM; nothing was read of T yet, and both want the same
 * columns. Returns 0, or an error, which is not reported: TROD_ERR_UNSUPPORTED where they are no
 * such traces, or TROD_ERR_NOMEM; T can then only be closed.
 */
int trod_trace_fork(struct trod_trace *t, const struct trod_trace *from);
/* Number of line ends in the bytes [FROM, TO) of input FILE of WHOLE, a plain file. */
uint64_t trod_trace_lines(const struct trod_trace *whole, size_t file, uint64_t from, uint64_t to);
/* Are all inputs regular files? Pipes can be read only once. */
bool trod_trace_rewindable(const struct trod_trace *t);

/*
 * The next rows: 1 and *BATCH, 0 at the end, or an error (see trod_reader_next). *BATCH belongs to
 * the trace, may be changed by trod_batch_keep, and is valid until the next call.
 */
int trod_trace_next(struct trod_trace *t, struct trod_batch **batch);

/*
 * Take over the batch that trod_trace_next gave last: its columns and its pool belong to the caller
 * from here on (trod_batch_free). What bytes, shared and meta of the batch point to stays the
 * trace's, as before. SPARE, a batch taken from T before, becomes T's and is filled by the next
 * call in its place; NULL: T makes a new one. Returns 0, TROD_ERR_UNSUPPORTED (the rows are a
 * window on other batches, as in the orders TIME, SYNC and RECORDED: copy them; not reported),
 * TROD_ERR_USAGE (there is none: trod_trace_next gave no rows last, or they were taken already;
 * reported) or TROD_ERR_NOMEM; on an error no batch has changed hands.
 */
int trod_trace_take(struct trod_trace *t, struct trod_batch *spare);

/*
 * Change the columns wanted (0: all), for callers whose needs depend on the format, which is known
 * once the trace is open. Before the first trod_trace_next.
 */
void trod_trace_want(struct trod_trace *t, uint32_t want);
/*
 * The caller will read the bytes only of slices in the columns SLICES (of code, data, text, detail,
 * raw; without this call: all) and of raw of NOTE rows; of other slices only whether a row has
 * them. A thread that decodes in advance need not copy the other bytes. Before the first
 * trod_trace_next.
 */
void trod_trace_slices(struct trod_trace *t, uint32_t slices);
/*
 * With option ahead in file order: give batches with a copy of their window (bytes) and of shared,
 * so that slices have the offsets that they have without the option. Windows end where the batch
 * behind begins. Before the first trod_trace_next.
 */
void trod_trace_windows(struct trod_trace *t);
/* Take option ahead back: decode on the caller's thread. Before the first trod_trace_next. */
void trod_trace_alone(struct trod_trace *t);
/*
 * Read files that are not compressed on the thread that decodes them (trod_input_alone): for a
 * caller that has work for one other processor, and no more than two. Before the first
 * trod_trace_next.
 */
void trod_trace_inputs_alone(struct trod_trace *t);

/*
 * Limit the next batch of trod_trace_next to ROWS rows, in file order; records that give more rows
 * make it larger. The rows of the trace are the same whatever the limit.
 */
void trod_trace_limit(struct trod_trace *t, uint32_t rows);
/*
 * From now on batches of T, in file order, do not depend on how its bytes come in: where one ends
 * follows from where it began, what the decoder knew there, and trod_trace_limit. For a caller that
 * may end before the trace does, and is told of the problems of its last batch. What comes from a
 * pipe is then waited for, so that a batch is complete.
 */
void trod_trace_settle_windows(struct trod_trace *t);

/* An entry of a schedule file: THREAD runs on CPU from its instruction START (from 0) on, at TIME.
 */
struct trod_schedule_entry {
    uint64_t thread, time, cpu, start;
};

/*
 * The entries of the schedule file beside T, as they come: of all cpus (SERIAL), or cpu by cpu.
 * Where a trace has windows in folders of their own, those of each, one after the other.
 * Returns 1 with *OUT (to be freed by the caller), *N and *PATH (which belongs to T), 0 when there
 * is no such file, or an error of reading it, reported.
 */
int trod_trace_schedule(const struct trod_trace *t, bool serial, struct trod_schedule_entry **out,
                        size_t *n, const char **path, struct trod_diag *diag);

/*
 * Call EACH for every mapping in the list of modules beside T (drmemtrace: modules.log, or the list
 * of option beside); its path is valid during the call. Another value of EACH than 0 ends that and
 * is returned. Returns 0 (also where there is no such list), TROD_ERR_USAGE (options of another
 * version, reported) or TROD_ERR_NOMEM. A list that cannot be read is a warning to DIAG.
 */
int trod_trace_modules(const struct trod_trace *t,
                       int (*each)(void *user, const struct trod_module *m), void *user,
                       struct trod_diag *diag);

/* Meta shared by all files; grows while reading. */
const struct trod_meta *trod_trace_meta(const struct trod_trace *t);
/* Add to T's meta what PART, a part of T that was opened by itself and read to its end, learned.
 * Returns what trod_meta_learn returns. */
int trod_trace_learn(struct trod_trace *t, const struct trod_trace *part);
/* The format of the first file, and its options (the struct of that driver). They belong to T. */
const struct trod_format *trod_trace_format(const struct trod_trace *t);
const void *trod_trace_format_options(const struct trod_trace *t);
/* The diag that T was opened with, which belongs to the caller of trod_trace_open. May be NULL. */
struct trod_diag *trod_trace_diag(const struct trod_trace *t);

/*
 * Is FILE one of the files that a trace of PATHS (N files or directories) reads, or one of PATHS?
 * Who writes FILE while the trace is read would lose it.
 */
bool trod_trace_reads(const char *const *paths, size_t n, const char *file);

/* Number of input files; the path of file I, valid as long as T. */
size_t trod_trace_files(const struct trod_trace *t);
const char *trod_trace_path(const struct trod_trace *t, size_t i);
/* Size of file I in bytes, as it is on the disk; TROD_NOWHERE where that is unknown (a pipe). */
uint64_t trod_trace_bytes(const struct trod_trace *t, size_t i);
/*
 * Was file I opened, and its format recognised, by the reading of T so far? False too where it was
 * read by other traces only (trod_trace_open_file).
 */
bool trod_trace_opened(const struct trod_trace *t, size_t i);

/* How far a trace was read. */
struct trod_trace_progress {
    uint64_t rows;
    uint64_t bytes, total; /* of the files themselves; total TROD_NOWHERE if unknown */
    uint64_t decoded;      /* bytes after the filters */
    uint64_t skipped;      /* undecodable bytes */
    const char *filters[TROD_FILTER_DEPTH]; /* of the first file, NULL-terminated if fewer */
};
void trod_trace_progress(const struct trod_trace *t, struct trod_trace_progress *p);

/* Release T and its inputs. NULL is allowed. */
void trod_trace_close(struct trod_trace *t);

#ifdef __cplusplus
}
#endif

#endif
