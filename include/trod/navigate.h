/*
 * navigate.h - going to places in a trace: the state there, which rows wrote or read a value.
 *
 * Implements docs/navigating.md. Rows are numbered from 0 in the order of the trace. The state at a
 * row is that after it: what the row itself writes is part of it. Queries give the same results
 * with an index of the trace (`trod index`) and without one; without one they read the trace from
 * its beginning, or on to its end, as far as they need.
 *
 * Only one thread at a time may use a struct trod_nav. What a function returns that belongs to it
 * is valid until the next call on it.
 */
#ifndef TROD_NAVIGATE_H
#define TROD_NAVIGATE_H

#include "trod/callstack.h"
#include "trod/match.h"
#include "trod/symbols.h"
#include "trod/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trod_nav;

struct trod_nav_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    /* How the trace is opened; NULL: in file order. Rows left out (skip_rows) are not allowed. */
    const struct trod_trace_options *trace;
    struct trod_symbols *symbols; /* names in places; stays the caller's; NULL: none */
    const char *index_dir;        /* folder of the index; NULL: that of the trace, then the cache */
    bool no_index;                /* do not look for one */
    bool index_only; /* fail with TROD_ERR_UNKNOWN, not reported, where no index fits the trace */
    /*
     * Called for each batch that a query reads, ROW being the row after it. A negative code ends
     * that query, which returns it; later queries work as usual. It must not ask anything of what
     * it is called for: that fails with TROD_ERR_USAGE. NULL: never.
     */
    int (*tick)(void *user, uint64_t row);
    void *tick_user;
};

/*
 * Open the N files or directories PATHS to move about in. They must be files that can be opened
 * again. Returns 0, what trod_trace_open returns, TROD_ERR_USAGE (options of another version) or
 * TROD_ERR_UNSUPPORTED (a pipe). All reported to DIAG, which outlives *OUT, as problems of the
 * trace are when they are met first. Release it with trod_nav_close; NULL is allowed.
 */
int trod_nav_open(struct trod_nav **out, const char *const *paths, size_t n,
                  const struct trod_nav_options *opt, struct trod_diag *diag);
void trod_nav_close(struct trod_nav *nav);

/* What is known of the trace; grows while it is read. */
const struct trod_meta *trod_nav_meta(const struct trod_nav *nav);
/* What STREAM is called: its name, else its thread id, else "#N"; SIZE bytes at OUT, cut to fit. */
void trod_nav_stream_name(const struct trod_nav *nav, uint32_t stream, char *out, size_t size);
const struct trod_format *trod_nav_format(const struct trod_nav *nav);

/*
 * The path of the index that is used; NULL: none. An index that is damaged, or belongs to another
 * trace or to this trace before it was changed, is not used; that is reported as a warning.
 */
const char *trod_nav_index(const struct trod_nav *nav);

/*
 * Open the trace for reading from row ROW on. *OUT gives the rows from *FIRST on, the last row, ROW
 * at most, at which decoding can begin. WANT: columns; DIAG outlives *OUT. Returns what
 * trod_trace_open returns. The caller owns the trace, which may outlive NAV.
 */
int trod_nav_trace(struct trod_nav *nav, uint64_t row, uint32_t want, struct trod_diag *diag,
                   struct trod_trace **out, uint64_t *first);

/*
 * The same for callers that open the trace themselves: the value for trod_trace_options.begin with
 * which rows are read from *FIRST on, not far before ROW. OWNERS: begin early enough to read the
 * instructions that these rows belong to. NULL: reading begins at the beginning, as there is no
 * index, or no later place will do. The result belongs to NAV and is valid until the next call of
 * this function.
 */
const struct trod_begin *trod_nav_begin(struct trod_nav *nav, uint64_t row, bool owners,
                                        uint64_t *first);
/*
 * Does the index know the calls that are open at the place that trod_nav_begin found last? Then
 * analyses that follow calls, in file order and with the symbols of trod_nav_follow, can begin
 * there (trod_analysis.begins). Such a run must be freed before NAV is closed, and before
 * trod_nav_begin is called again.
 */
bool trod_nav_begin_calls(const struct trod_nav *nav);

/*
 * From now on give calls from the index (trod_nav_callstack, trod_nav_begin) as they were followed
 * with SYMBOLS, which must not change and must outlive NAV; NULL, as at first: without symbols. The
 * index has them if it was made with the same functions at the same addresses
 * (trod_index_options.symbols). trod_nav_calls follows calls without symbols in any case.
 */
void trod_nav_follow(struct trod_nav *nav, const struct trod_symbols *symbols);

/* ---- indexes */

struct trod_index_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    const struct trod_trace_options *trace; /* how the trace is opened; NULL: as found */
    const char *index_dir; /* folder for the index; NULL: that of the trace, or the cache */
    bool again;            /* make it again even if there is one that fits */
    bool upgrade;          /* make it only if there is one already, and that does not fit */
    unsigned jobs;         /* threads; 0: as many as are of use. The index is the same */
    /* Called now and then. NULL: never. */
    void (*progress)(void *user, const struct trod_trace_progress *p);
    void *user;
    const char *const *more; /* further files or directories of the trace, in their order */
    size_t n_more;
    /*
     * Besides following calls without symbols, follow them with these (trod_nav_follow); an index
     * without that does not fit. NULL: only without symbols.
     */
    const struct trod_symbols *symbols;
};

/*
 * Make an index of the trace at PATH, a file or directory (docs/navigating.md, "The index"), unless
 * there is one that fits. If the file has only grown since its index was made, that is continued.
 * *MADE: whether an index was written; WHERE (SIZE bytes) gets its path. Returns 0,
 * TROD_ERR_UNSUPPORTED (a pipe), TROD_ERR_IO (it cannot be written, or the trace changed
 * meanwhile), TROD_ERR_USAGE (options of another version), or what reading the trace returns. All
 * reported.
 */
int trod_index_make(const char *path, const struct trod_index_options *opt, bool *made, char *where,
                    size_t size, struct trod_diag *diag);

/* What an index holds: numbers of things, and the bytes of its parts (docs/navigating.md, "The
 * index"). */
struct trod_index_info {
    uint64_t bytes, trace_bytes; /* of the index, of the trace */
    uint64_t rows, instructions, blocks, segments, registers, streams; /* numbers of these */
    uint64_t problems; /* of the trace, met when it was indexed */
    uint64_t states, lines, sites, registers_at, log, directory, windows; /* bytes of its parts */
    bool resumable;         /* reading can begin at every block */
    uint64_t files;         /* number of files of the trace */
    uint64_t calls, memory; /* bytes of parts */
    uint64_t memory_blocks; /* number of blocks whose writes to memory are indexed */
    uint64_t marks;         /* bytes of a part */
    uint64_t activations;   /* number of activations of functions */
};
/* About the index that NAV uses. False: it uses none. */
bool trod_index_about(const struct trod_nav *nav, struct trod_index_info *out);
/*
 * What all times count that the index NAV uses knows of: an element of the unit column, into *UNIT.
 * Returns 1, 0 (no row has a time) or TROD_ERR_UNKNOWN (units or decimals differ, or NAV uses no
 * index).
 */
int trod_index_unit(const struct trod_nav *nav, uint8_t *unit);
/* Parts of an index that struct trod_index_info does not have. */
enum trod_index_part {
    TROD_INDEX_VALUES,  /* which values rows have */
    TROD_INDEX_SHAPES,  /* what rows look like: opcodes, disassembly, names of registers */
    TROD_INDEX_CLASSES, /* what many rows have in common; where their addresses lie */
    TROD_INDEX_PARTS
};
/* Bytes of PART of the index that NAV uses; 0: it has none, or NAV uses none. */
uint64_t trod_index_part_bytes(const struct trod_nav *nav, enum trod_index_part part);
/*
 * Number of shapes in the index that NAV uses: instructions count by address, other rows by their
 * text. *REST: number of blocks that have rows of further shapes, which were too many to keep.
 */
uint64_t trod_index_shapes(const struct trod_nav *nav, uint64_t *rest);
/*
 * Number of activations of functions that were followed with symbols (trod_index_options.symbols);
 * *BYTES: size of that part of the index, 0 where there were no symbols.
 */
uint64_t trod_index_named(const struct trod_nav *nav, uint64_t *bytes);
/*
 * Number of files of the trace that are compressed in one piece: each query has to decompress them
 * from the beginning, even with an index. Opens each file and reads the headers of its frames.
 */
uint64_t trod_index_whole_files(const struct trod_nav *nav);

/* ---- rows and places */

/*
 * Read row ROW: it is row *I of *B, which has all columns. Returns 1, 0 where the trace has fewer
 * rows, or an error of reading it. Rows near the one read last are read already.
 */
int trod_nav_row(struct trod_nav *nav, uint64_t row, const struct trod_batch **b, uint32_t *i);

/* The number of rows of the trace, to *ROWS. Returns 0 or an error of reading it. */
int trod_nav_count(struct trod_nav *nav, uint64_t *rows);

/*
 * The row that TEXT names (docs/navigating.md, "Places"): "1234" (row), "line:N", "time:T",
 * "insn:N" (instruction N of the trace, from 1), "40%", "start", "end", "ADDRESS:K" and "SYMBOL:K"
 * (the Kth execution of the instruction there, from 1; ":K" may be left out: the first),
 * "kind:NAME:K" (the Kth row of a kind, as trod_kind_name has it, in any case of letters),
 * "marker:NAME:K", "marker:NAME=VALUE:K" (the Kth marker of that name or number). Returns 1 with
 * *ROW, 0 (no such place, reported as TROD_ERR_USAGE), or an error, reported.
 */
int trod_nav_place(struct trod_nav *nav, const char *text, uint64_t *row);

/*
 * The first row of line LINE (from 1) of a text file, or the first row after that line; the first
 * row whose time is not before TIME; the instruction row that is the Kth execution (from 1) of the
 * instruction at PC. Each returns 1 with *ROW, 0 where there is none, or an error.
 */
int trod_nav_line(struct trod_nav *nav, uint64_t line, uint64_t *row);
int trod_nav_time(struct trod_nav *nav, uint64_t time, uint64_t *row);
int trod_nav_visit(struct trod_nav *nav, uint64_t pc, uint64_t k, uint64_t *row);

/*
 * The row of the Kth instruction (from 1) that was executed, in the order of the trace, as regions
 * of runs count them (trod/run.h). Returns 1 with *ROW, 0 where there are fewer, or where it is not
 * known which of them are TROD_F_SYNTHETIC, or an error.
 */
int trod_nav_executed(struct trod_nav *nav, uint64_t k, uint64_t *row);

/*
 * The rows that go with the instruction in row ROW, as those of regions of a run do: *FIRST is the
 * first of the accesses and registers that come before it and say an address that is not that of
 * the instruction before, *LAST the last row before the next instruction, or before what comes
 * before that. Of a row that is no instruction both are ROW. Returns 1, 0 where the trace has fewer
 * rows, or an error of reading it.
 */
int trod_nav_extent(struct trod_nav *nav, uint64_t row, uint64_t *first, uint64_t *last);

/* A row from which on all times are later than TIME; TROD_NOWHERE: not known. */
uint64_t trod_nav_time_end(const struct trod_nav *nav, uint64_t time);

/*
 * The line (from 1) that row ROW stands on, of the file that it is in. Returns 1, 0 where the
 * format is no text, or an error.
 */
int trod_nav_line_of(struct trod_nav *nav, uint64_t row, uint64_t *line);

/* ---- who wrote, who reads */

enum trod_nav_access {
    TROD_NAV_WRITES = 1 << 0,
    TROD_NAV_READS = 1 << 1,
    TROD_NAV_VISITS = 1 << 2, /* executions of the instruction at LO */
    TROD_NAV_KIND = 1 << 3    /* rows of a kind: LO is it (enum trod_kind) */
};

/* The accesses, executions or rows that trod_nav_find looks for. */
struct trod_nav_query {
    unsigned access; /* enum trod_nav_access */
    const char *reg; /* a register or flag by any of its names; NULL: memory, visits, kinds */
    uint64_t lo, hi; /* bytes of memory, HI included; VISITS: LO is the address; KIND: the kind */
    uint32_t stream; /* of this stream only, if one_stream is set */
    bool one_stream;
};

/* A row that a query found. */
struct trod_nav_hit {
    uint64_t row;
    uint64_t insn;  /* row of its instruction; TROD_NOWHERE: not known */
    uint64_t pc;    /* of that instruction */
    uint64_t addr;  /* of an access */
    uint64_t value; /* the low 64 bits of what is written or read */
    uint64_t time;
    uint32_t size; /* bytes of it; 0: not known */
    uint32_t stream;
    uint8_t kind;   /* enum trod_kind */
    uint8_t access; /* enum trod_nav_access: which of those asked for */
    bool has_pc, has_value, has_time;
    uint8_t unit; /* of time, as in the unit column */
};

/*
 * The K rows nearest to ROW, and other than it, that QUERY describes, nearest first: before it if
 * BACK is set, else after it. Which registers an instruction reads follows from its opcode, and in
 * traces without REG rows also which it writes. *N: number of rows found, 0 for a register that the
 * trace says nothing of. Returns 0 or an error of reading the trace.
 */
int trod_nav_find(struct trod_nav *nav, const struct trod_nav_query *query, uint64_t row, bool back,
                  struct trod_nav_hit *hits, size_t k, size_t *n);

/*
 * Rows [I, I + N) of B, the first of which is row ROW of the trace. Returns more than 0 to go on, 0
 * to end, or a negative code.
 */
typedef int (*trod_nav_rows_fn)(void *user, const struct trod_batch *b, uint32_t i, uint32_t n,
                                uint64_t row);

/*
 * Read the rows that NEED may describe (trod_match_need), with BEFORE rows before and AFTER rows
 * after each of them, and pass them to FN with USER, in order, each once. With an index, few other
 * rows are read; without one, or if NEED.owners is set and the trace has several streams, all rows
 * are. Returns 0, the negative value that FN returned, or an error of reading the trace.
 */
int trod_nav_search(struct trod_nav *nav, const struct trod_match_need *need, uint64_t before,
                    uint64_t after, trod_nav_rows_fn fn, void *user);

/*
 * Narrow down what trod_nav_search, trod_nav_expect and trod_nav_tally look for by shape (opcode,
 * disassembly, name). FN gets batches of all shapes that the index knows: rows of which only kind,
 * text, code, address and instruction set are set; in KEEP (a byte by row) it says which are wanted
 * (trod_match_may). FN NULL: all are. Returns whether there is an index with shapes.
 */
typedef int (*trod_nav_shapes_fn)(void *user, const struct trod_batch *b, uint8_t *keep);
bool trod_nav_shapes(struct trod_nav *nav, trod_nav_shapes_fn fn, void *user);

/*
 * Narrow them down by their classes. FN gets a row of each class that the trace has: kind, flags,
 * size, stream, sub and which other columns it says are set, and FLOW (trod_match_class); in KEEP
 * it says which are wanted. FN NULL: all are. Returns whether there is an index with classes.
 */
typedef int (*trod_nav_classes_fn)(void *user, const struct trod_batch *b, const uint8_t *flow,
                                   uint8_t *keep);
bool trod_nav_classes(struct trod_nav *nav, trod_nav_classes_fn fn, void *user);

/*
 * Estimate how many rows trod_nav_search would read, to *ROWS; TROD_NOWHERE: all rows of the trace,
 * as there is no index. Returns 0 or an error.
 */
int trod_nav_expect(struct trod_nav *nav, const struct trod_match_need *need, uint64_t *rows);

/*
 * As trod_nav_search with BEFORE and AFTER 0, for counting. The rows looked for must be exactly
 * those that NEED describes and that the functions given to trod_nav_shapes and trod_nav_classes
 * want (trod_match_exact). Rows that the lists of the index can count are added up in *COUNT and
 * not handed to FN. With FN NULL nothing is read, and *COUNT is an estimate of the rows that would
 * be, as of trod_nav_expect. Returns 0, the negative value that FN returned, or an error of reading
 * the trace.
 */
int trod_nav_tally(struct trod_nav *nav, const struct trod_match_need *need, trod_nav_rows_fn fn,
                   void *user, uint64_t *count);

/* ---- where a value came from */

/* Why a chain ends at a step. */
enum trod_nav_end {
    TROD_NAV_GOES_ON,     /* it does not end here: there are steps whose `of` is this one */
    TROD_NAV_NOT_WRITTEN, /* nothing wrote it before: the value is older than the trace */
    TROD_NAV_CONSTANT,    /* its instruction reads nothing that changes */
    TROD_NAV_NO_OPCODE,   /* the trace does not give the opcode of its instruction */
    TROD_NAV_SEEN,        /* an earlier step is about the same write */
    TROD_NAV_LIMIT,       /* the limit on steps or depth was reached */
    TROD_NAV_NOT_TRACED   /* what was read is not what was written last: something wrote in between
                             that is not in the trace */
};

/* A step of a chain: the last write of a register or of memory before a row. */
struct trod_nav_step {
    size_t of;      /* number of the step whose value this one was made into; SIZE_MAX: none */
    unsigned depth; /* steps from the first one */
    bool memory;    /* ADDR and SIZE; else the register REG */
    char reg[32];
    uint64_t addr;
    uint32_t size;
    uint64_t before;    /* asked for as it was before this row */
    uint64_t row, insn; /* the write, its instruction; TROD_NOWHERE: none */
    uint64_t pc, value;
    uint32_t stream;
    bool one_stream;        /* STREAM is known */
    bool has_pc, has_value; /* no value of more than 64 bits */
    enum trod_nav_end end;
};

/*
 * Where the value came from that QUERY's register or bytes of memory have before row ROW: at most
 * MOST steps, none deeper than DEPTH, into STEPS; *N: their number. A load leads to the last write
 * of the memory that it read, a store to the register that it stored, another instruction to all
 * registers that it reads. Returns 0 or what trod_nav_find returns.
 */
int trod_nav_chain(struct trod_nav *nav, const struct trod_nav_query *query, uint64_t row,
                   unsigned depth, struct trod_nav_step *steps, size_t most, size_t *n);

enum { TROD_NAV_ROW_STREAM = -1 }; /* in place of the number of a stream: the stream of the row */

/* ---- the calls at a row */

/* An activation of a function (trod/callstack.h). */
struct trod_nav_call {
    uint64_t row, pc;           /* its first instruction */
    uint64_t site_row, site_pc; /* the instruction it was entered from; TROD_NOWHERE: none */
    uint32_t depth;             /* activations below it */
    uint8_t kind, sure;         /* enum trod_frame_kind, enum trod_frame_sure */
};

/*
 * The activations that are open after row ROW in its stream, or in STREAM where that is not
 * TROD_NAV_ROW_STREAM, outermost first, into *OUT (to be freed by the caller) and *N; none where
 * the trace has no instructions. They are followed without symbols, which only give names. Returns
 * 0, TROD_ERR_USAGE (the trace has no such row, reported) or an error.
 */
int trod_nav_calls(struct trod_nav *nav, uint64_t row, int64_t stream, struct trod_nav_call **out,
                   size_t *n);

/* An activation begins or ends. */
struct trod_nav_call_event {
    uint64_t row;              /* the first row inside, or after, the activation */
    uint64_t instruction;      /* ordinal in the stream of the first instruction from there on */
    bool ends;                 /* false: it begins */
    struct trod_nav_call call; /* the activation; if it ends, only depth is set */
};

/* Returns more than 0 to go on, 0 to end, or a negative code. */
typedef int (*trod_nav_call_fn)(void *user, const struct trod_nav_call_event *e);

/*
 * Hand to FN with USER the activations that begin and end from row ROW on in its stream, in order,
 * from the index that NAV uses. Of a stream between whose stacks a kernel switches only those of
 * the stack that is in use after ROW. Returns 0, TROD_ERR_UNKNOWN (there is no index, or it is
 * damaged, which is reported), TROD_ERR_USAGE (the trace has no such row, reported), the negative
 * value that FN returned, or an error.
 */
int trod_nav_call_events(struct trod_nav *nav, uint64_t row, trod_nav_call_fn fn, void *user);

/*
 * All calls of the trace from the index that NAV uses, as trod_callstack_source.tell gives them.
 * Returns 0, TROD_ERR_UNKNOWN (there is no index, it has no calls that were followed with the
 * symbols of trod_nav_follow, or it is damaged, which is reported; SINK was not called), what
 * SINK returned, or an error, reported.
 */
int trod_nav_callstack(struct trod_nav *nav, const struct trod_callstack_sink *sink,
                       struct trod_callstack_counts *counts);

/*
 * Of the same only what is open at the end, as trod_callstack_source.open gives it. Returns what
 * trod_nav_callstack does; TROD_ERR_UNKNOWN also where the trace has several files.
 */
int trod_nav_callstack_open(struct trod_nav *nav, const struct trod_callstack_sink *sink);

/*
 * Of the same only what comes first, as trod_callstack_source.first gives it. Returns what
 * trod_nav_callstack does; TROD_ERR_UNKNOWN also where the trace has several files.
 */
int trod_nav_callstack_first(struct trod_nav *nav, const struct trod_callstack_sink *sink);

/*
 * The same summed up, as trod_callstack_source.sums gives it: FN is called once, with USER. Returns
 * 0, TROD_ERR_UNKNOWN (as above, or the index has no sums: the stacks are too many, or nearly as
 * many as the activations), what FN returned, or an error, reported.
 */
int trod_nav_call_sums(struct trod_nav *nav, trod_call_sums_fn fn, void *user,
                       struct trod_callstack_counts *counts);

/* ---- the state at a row */

struct trod_nav_state;

/* From which row a value is known. */
enum trod_nav_source {
    TROD_NAV_UNKNOWN,  /* from none */
    TROD_NAV_WRITTEN,  /* row is the last write */
    TROD_NAV_READ,     /* there is no write; row is the last read of the memory, or a STATE row */
    TROD_NAV_LATER,    /* row is after the place: the first access there is, a read */
    TROD_NAV_UNTRACED, /* row is a read, whose value is not that of the last write, at row since:
                          something that is not traced wrote in between */
    TROD_NAV_ALWAYS    /* no row tells it, and none need: a register that is always 0 */
};

/* A register. What it points to belongs to the state. Bytes are least significant first. */
struct trod_nav_register {
    const char *name;     /* lower case, the widest of its names: "x0", "v3", "sp_el1" */
    const uint8_t *value; /* SIZE bytes */
    const uint8_t *known; /* bits of value that are known */
    uint32_t size;        /* bytes; 0: nothing is known */
    enum trod_nav_source from;
    uint64_t row; /* see enum trod_nav_source */
};

/* A byte of memory. */
struct trod_nav_byte {
    uint8_t value;
    uint8_t from;        /* enum trod_nav_source */
    uint64_t row, since; /* see enum trod_nav_source */
};

enum { TROD_NAV_MEMORY = 4 << 20 }; /* bytes of memory that a query may be about */

/*
 * The state at row ROW: registers of the stream that the row belongs to, or of STREAM where that is
 * not TROD_NAV_ROW_STREAM. Returns 0, TROD_ERR_USAGE (the trace has no such row, reported) or an
 * error. Release it with trod_nav_state_free; NULL is allowed.
 */
int trod_nav_state(struct trod_nav *nav, uint64_t row, int64_t stream, struct trod_nav_state **out);
void trod_nav_state_free(struct trod_nav_state *s);

/* The row and the stream that S is the state of. */
uint64_t trod_nav_state_row(const struct trod_nav_state *s);
uint32_t trod_nav_state_stream(const struct trod_nav_state *s);
/* The last instruction at or before the row, in its stream: its row, address. False: none. */
bool trod_nav_state_pc(const struct trod_nav_state *s, uint64_t *pc, uint64_t *row);
/* Register I, false past the last: first those of the architecture, then the others by name. */
bool trod_nav_state_register(const struct trod_nav_state *s, size_t i,
                             struct trod_nav_register *out);
/*
 * The value in state S of the register, or part of one, called NAME ("w0", "s3", "sp"): *N bytes,
 * least significant first, into VALUE, and which bits of them are known into KNOWN; both have room
 * for SIZE bytes. NAME may be a flag of the status register ("z", "zf"): one byte, 0 or 1; or the
 * program counter, which is that of the last instruction where the trace has no such register.
 * False where the trace has had no such register so far.
 */
bool trod_nav_state_named(const struct trod_nav_state *s, const char *name, uint8_t *value,
                          uint8_t *known, size_t size, size_t *n);
/* Is NAME a register or flag of the architecture, or one that the trace has shown so far? */
bool trod_nav_state_has(const struct trod_nav_state *s, const char *name);
/*
 * The flags in REG as text, as the architecture names them ("nZCv, EL1h"), into OUT (N bytes, as
 * much as fits). False where REG has no flags, or they are not known.
 */
bool trod_nav_flags(const struct trod_meta *meta, const struct trod_nav_register *reg, char *out,
                    size_t n);

/*
 * The COUNT bytes of memory from ADDR on at row ROW into OUT, at most TROD_NAV_MEMORY. Returns 0,
 * TROD_ERR_LIMIT (too many, or beyond the last address; reported) or an error of reading the trace.
 */
int trod_nav_memory(struct trod_nav *nav, uint64_t row, uint64_t addr, size_t count,
                    struct trod_nav_byte *out);

/* A run of bytes that were touched. */
struct trod_nav_run {
    uint64_t addr;
    size_t count;
};

/*
 * The bytes of memory that rows LO + 1 to HI write, or read with another value than before, as runs
 * in ascending order, into *OUT (to be freed by the caller) and *N; with an index the runs may have
 * other bytes as well. Returns 0, TROD_ERR_LIMIT (more than TROD_NAV_MEMORY bytes, reported) or an
 * error.
 */
int trod_nav_touched(struct trod_nav *nav, uint64_t lo, uint64_t hi, struct trod_nav_run **out,
                     size_t *n);

/*
 * The bytes of N runs of memory at row ROW into OUT, one run after the other, together at most
 * TROD_NAV_MEMORY: faster than a trod_nav_memory for each. Returns what that returns.
 */
int trod_nav_memory_runs(struct trod_nav *nav, uint64_t row, const struct trod_nav_run *run,
                         size_t n, struct trod_nav_byte *out);

#ifdef __cplusplus
}
#endif

#endif
