/*
 * navigate.h - going to and fro in a trace: places, the state there, who wrote and who reads.
 *
 * Implements docs/navigating.md. Rows are numbered from 0 in the order of the trace. The state at a
 * row is that after it: what the row itself writes is part of it. All calls answer the same with an
 * index of the trace (`trod index`) and without one; without one they read the trace from its
 * beginning, or on to its end, as far as the question needs.
 *
 * One thread at a time uses a struct trod_nav. What a call hands out that belongs to it is valid
 * until the next call on it.
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
    bool index_only;              /* without one that fits: TROD_ERR_UNKNOWN, not reported */
    /*
     * Called for each batch that a question reads, ROW being the row behind it. A negative code
     * ends the question, which returns it; what is asked next is answered as ever. NULL: never.
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
 * The index that is used, its path; NULL: none. An index that is there and is damaged or of another
 * trace, or of the trace as it was before, is not used, which is reported as a warning.
 */
const char *trod_nav_index(const struct trod_nav *nav);

/*
 * Open the trace to read on from the last place not behind row ROW from which decoding can begin:
 * *OUT gives the rows from *FIRST on, which is not behind ROW. WANT: columns; DIAG outlives *OUT.
 * Returns what trod_trace_open returns. The trace is the caller's and outlives NAV.
 */
int trod_nav_trace(struct trod_nav *nav, uint64_t row, uint32_t want, struct trod_diag *diag,
                   struct trod_trace **out, uint64_t *first);

/*
 * The same for who opens the trace itself: what struct trod_trace_options.begin is to be, so that
 * rows from ROW on are read, and not many before them (*FIRST: from which one on). OWNERS: also
 * those before which say what instruction these rows belong to. NULL: reading begins at the
 * beginning, as there is no index, or nothing nearer will do. It is NAV's, until it is asked again.
 */
const struct trod_begin *trod_nav_begin(struct trod_nav *nav, uint64_t row, bool owners,
                                        uint64_t *first);
/*
 * Whether where trod_nav_begin last said that reading begins the calls are known that are open
 * there, and those that follow: what analyses that follow calls with the symbols of
 * trod_nav_follow, of the rows in the order of the files, need of the rows before
 * (trod_analysis.begins). A run that reads from there is freed before NAV is closed, and before it
 * is asked again.
 */
bool trod_nav_begin_calls(const struct trod_nav *nav);

/*
 * Calls that NAV gives from its index (trod_nav_callstack, trod_nav_begin) are those that were
 * followed with SYMBOLS from now on, which are not changed and outlive NAV; NULL, which it begins
 * with: without. The index has them if it was made with such symbols
 * (trod_index_options.symbols): with the same functions at the same addresses. What
 * trod_nav_calls tells is followed without symbols all the same.
 */
void trod_nav_follow(struct trod_nav *nav, const struct trod_symbols *symbols);

/* ---- indexes */

struct trod_index_options {
    size_t struct_size; /* sizeof the struct; 0 stands for its size in version 0 */
    const struct trod_trace_options *trace; /* how the trace is opened; NULL: as found */
    const char *index_dir; /* folder for the index; NULL: that of the trace, or the cache */
    bool again;            /* also where there is one that fits */
    bool upgrade;          /* only where one is there: that does not fit */
    unsigned jobs;         /* threads; 0: as many as are of use. The index is the same */
    /* Called now and then. NULL: nobody wants to know. */
    void (*progress)(void *user, const struct trod_trace_progress *p);
    void *user;
    const char *const *more; /* further files or directories of the trace, in their order */
    size_t n_more;
    /*
     * Calls are followed with these, too (trod_nav_follow). An index that does not have that is
     * none that fits. NULL: only without symbols.
     */
    const struct trod_symbols *symbols;
};

/*
 * Make an index of the trace at PATH, a file or directory (docs/navigating.md, "The index"), unless
 * one is there that fits. One of a file as it was before it grew is continued. *MADE says whether;
 * WHERE (SIZE bytes) gets its path. Returns 0, TROD_ERR_UNSUPPORTED (a pipe), TROD_ERR_IO (it
 * cannot be written, or the trace changed meanwhile), or what reading the trace returns. All
 * reported.
 */
int trod_index_make(const char *path, const struct trod_index_options *opt, bool *made, char *where,
                    size_t size, struct trod_diag *diag);

/* What an index has. */
struct trod_index_info {
    uint64_t bytes, trace_bytes, rows, instructions, blocks, segments, registers, streams;
    uint64_t problems; /* of the trace, met when it was indexed */
    uint64_t states, lines, sites, registers_at, log, directory, windows; /* bytes of its parts */
    bool resumable; /* reading can begin at every block */
    uint64_t files; /* of the trace */
    uint64_t calls; /* bytes of further parts */
    uint64_t memory;
    uint64_t memory_blocks; /* of which it is known what they leave in memory */
    uint64_t marks;         /* bytes of a further part */
    uint64_t activations;   /* of functions: entries that it knows of */
};
/* About the index that NAV uses. False: it uses none. */
bool trod_index_about(const struct trod_nav *nav, struct trod_index_info *out);
/* What the index that NAV uses has of further things, beside struct trod_index_info. */
enum trod_index_part {
    TROD_INDEX_VALUES, /* which values rows have */
    TROD_INDEX_SHAPES, /* what rows look like: opcodes, disassembly, names of registers */
    TROD_INDEX_PARTS
};
/* How many bytes that is. */
uint64_t trod_index_part_bytes(const struct trod_nav *nav, enum trod_index_part part);
/*
 * How many different rows, by what they look like, it knows: instructions by address, others by
 * their text. *REST: blocks that have others as well, of which there are too many.
 */
uint64_t trod_index_shapes(const struct trod_nav *nav, uint64_t *rest);
/*
 * Activations of functions that it knows of as symbols make them (trod_index_options.symbols);
 * *BYTES: of that part, 0 where there were no symbols.
 */
uint64_t trod_index_named(const struct trod_nav *nav, uint64_t *bytes);
/*
 * Files of the trace of NAV that are compressed in one piece: each question decompresses them from
 * the beginning, with an index too. Opens each file, and looks through its frames.
 */
uint64_t trod_index_whole_files(const struct trod_nav *nav);

/* ---- rows and places */

/*
 * Row ROW, as row *I of *B (all columns). Returns 1, 0 where the trace has fewer rows, or an error.
 * Rows near the last one that was asked for cost nothing more.
 */
int trod_nav_row(struct trod_nav *nav, uint64_t row, const struct trod_batch **b, uint32_t *i);

/* How many rows the trace has, to *ROWS. Returns 0 or an error of reading it. */
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
 * The first row of line LINE (from 1) of a text file, or the first row behind that line; the first
 * row whose time is not before TIME; the instruction row that is the Kth execution (from 1) of the
 * instruction at PC. Each returns 1 with *ROW, 0 where there is none, or an error.
 */
int trod_nav_line(struct trod_nav *nav, uint64_t line, uint64_t *row);
int trod_nav_time(struct trod_nav *nav, uint64_t time, uint64_t *row);
int trod_nav_visit(struct trod_nav *nav, uint64_t pc, uint64_t k, uint64_t *row);

/*
 * The row of the Kth instruction (from 1) that was executed, in the order of the trace, as regions
 * of runs count them (trod/run.h). Returns 1 with *ROW, 0 where there are fewer, or where it is not
 * known which of them the tracer put in, or an error.
 */
int trod_nav_executed(struct trod_nav *nav, uint64_t k, uint64_t *row);

/* A row from which on no row's time is at or before TIME; TROD_NOWHERE: nobody knows. */
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

/* What is looked for. */
struct trod_nav_query {
    unsigned access; /* enum trod_nav_access */
    const char *reg; /* a register or flag by any of its names; NULL: memory, visits, kinds */
    uint64_t lo, hi; /* bytes of memory, HI included; VISITS: LO is the address; KIND: the kind */
    uint32_t stream; /* of this stream only, */
    bool one_stream; /* if this is set */
};

/* A row that does it. */
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
};

/*
 * The K rows nearest to ROW that QUERY describes, nearest first: those before it (BACK; not ROW
 * itself), or those behind it. Registers of traces without register rows are written and read
 * by what the opcodes of instructions say; reads of registers always are. *N says how many there
 * are: none of a register that nothing tells. Returns 0 or an error of reading the trace.
 */
int trod_nav_find(struct trod_nav *nav, const struct trod_nav_query *query, uint64_t row, bool back,
                  struct trod_nav_hit *hits, size_t k, size_t *n);

/*
 * Rows I to I + N of B, the first of which is row ROW of the trace. Returns more than 0 to go on, 0
 * to end, or a negative code.
 */
typedef int (*trod_nav_rows_fn)(void *user, const struct trod_batch *b, uint32_t i, uint32_t n,
                                uint64_t row);

/*
 * Read the rows that may be what NEED describes (trod_match_need), and BEFORE and BEHIND rows
 * around each of them, and hand them to FN with USER, in order, each once: with an index not much
 * more than these, without one, or where NEED.owners of a trace of several streams, all rows.
 * Returns 0, what FN returned that is negative, or an error of reading the trace.
 */
int trod_nav_search(struct trod_nav *nav, const struct trod_match_need *need, uint64_t before,
                    uint64_t behind, trod_nav_rows_fn fn, void *user);

/*
 * What trod_nav_search and trod_nav_expect look for is also what FN says of how rows look: it gets
 * rows of which nothing but kind, text, code, address and instruction set is told, as many as the
 * trace has different ones, and says in KEEP which are wanted (trod_match_may). NULL: all. Returns
 * whether there is an index that has them.
 */
typedef int (*trod_nav_looks_fn)(void *user, const struct trod_batch *b, uint8_t *keep);
bool trod_nav_looks(struct trod_nav *nav, trod_nav_looks_fn fn, void *user);

/*
 * About how many rows trod_nav_search would read, to *ROWS; TROD_NOWHERE: all of the trace, without
 * an index. Returns 0 or an error.
 */
int trod_nav_expect(struct trod_nav *nav, const struct trod_match_need *need, uint64_t *rows);

/*
 * As trod_nav_search without rows around, where all that NEED describes, and FN of trod_nav_looks
 * wants, is what is looked for (trod_match_exact): rows that the lists of an index count are not
 * handed to FN, *COUNT says how many they are. Without FN nothing is read, and *COUNT says about
 * how many rows would be, as trod_nav_expect does. Returns 0, what FN returned that is negative, or
 * an error of reading the trace.
 */
int trod_nav_tally(struct trod_nav *nav, const struct trod_match_need *need, trod_nav_rows_fn fn,
                   void *user, uint64_t *count);

/* ---- where a value came from */

/* Why a chain ends at a step. */
enum trod_nav_end {
    TROD_NAV_GOES_ON,     /* it does not: other steps are OF this one */
    TROD_NAV_NOT_WRITTEN, /* nothing wrote it before: it was so when the trace began */
    TROD_NAV_CONSTANT,    /* its instruction makes it of nothing that changes */
    TROD_NAV_NO_OPCODE,   /* the trace does not say what its instruction is */
    TROD_NAV_SEEN,        /* another step before it is the same */
    TROD_NAV_LIMIT        /* no further steps were wanted */
};

/* The last write of something before a row. */
struct trod_nav_step {
    size_t of;      /* the step that it explains; SIZE_MAX: it is the first */
    unsigned depth; /* steps from the first one */
    bool memory;    /* ADDR and SIZE; else the register REG */
    char reg[32];
    uint64_t addr;
    uint32_t size;
    uint64_t before;    /* asked for as it was before this row */
    uint64_t row, insn; /* the write, its instruction; TROD_NOWHERE: none */
    uint64_t pc, value;
    uint32_t stream;
    bool one_stream; /* STREAM is known */
    bool has_pc, has_value;
    enum trod_nav_end end;
};

/*
 * Where what QUERY names (a register, or bytes of memory) came from, before row ROW: at most MOST
 * steps, none more than DEPTH from the first, into STEPS; *N says how many. A load leads to the
 * last write of the memory that it read, a store to the register that it stored, another
 * instruction to all registers that it reads. Returns 0 or what trod_nav_find returns.
 */
int trod_nav_chain(struct trod_nav *nav, const struct trod_nav_query *query, uint64_t row,
                   unsigned depth, struct trod_nav_step *steps, size_t most, size_t *n);

enum { TROD_NAV_ROW_STREAM = -1 }; /* instead of a stream: that of the row */

/* ---- the calls at a row */

/* An activation of a function (trod/callstack.h). */
struct trod_nav_call {
    uint64_t row, pc;           /* its first instruction */
    uint64_t site_row, site_pc; /* that which it was entered from; TROD_NOWHERE: none */
    uint32_t depth;             /* activations below it */
    uint8_t kind, sure;         /* enum trod_frame_kind, enum trod_frame_sure */
};

/*
 * The activations that are open behind row ROW in its stream, or in STREAM where that is not
 * TROD_NAV_ROW_STREAM, outermost first, into *OUT (to be freed by the caller) and *N; none where
 * the trace has no instructions. They are followed without symbols, which only give names. Returns
 * 0, TROD_ERR_USAGE (the trace has no such row, reported) or an error.
 */
int trod_nav_calls(struct trod_nav *nav, uint64_t row, int64_t stream, struct trod_nav_call **out,
                   size_t *n);

/* An activation begins or ends. */
struct trod_nav_call_event {
    uint64_t row;              /* from this row on it is so */
    uint64_t instruction;      /* of the stream: the first one from there on */
    bool ends;                 /* else it begins */
    struct trod_nav_call call; /* which one; of one that ends only the depth */
};

/* Returns more than 0 to go on, 0 to end, or a negative code. */
typedef int (*trod_nav_call_fn)(void *user, const struct trod_nav_call_event *e);

/*
 * What begins and ends from row ROW on in its stream, as the index that NAV uses knows it, handed
 * to FN with USER in order. Of a stream whose stacks a kernel switches: in the one that runs behind
 * ROW. Returns 0, TROD_ERR_UNKNOWN (there is no index, or it is damaged, which is reported),
 * TROD_ERR_USAGE (the trace has no such row, reported), what FN returned that is negative, or an
 * error.
 */
int trod_nav_call_events(struct trod_nav *nav, uint64_t row, trod_nav_call_fn fn, void *user);

/*
 * All calls of the trace from the index that NAV uses, as trod_callstack_source.tell gives them.
 * Returns 0, TROD_ERR_UNKNOWN (there is no index, it has no calls that were followed with the
 * symbols of trod_nav_follow, or it is damaged, which is reported; SINK was told of nothing), what
 * SINK returned, or an error, reported.
 */
int trod_nav_callstack(struct trod_nav *nav, const struct trod_callstack_sink *sink,
                       struct trod_callstack_counts *counts);

/* ---- the state at a row */

struct trod_nav_state;

/* Where a value is known from. */
enum trod_nav_source {
    TROD_NAV_UNKNOWN, /* nothing says it */
    TROD_NAV_WRITTEN, /* row is the write */
    TROD_NAV_READ,    /* no write before; row is the last read (of memory), or what told all
                         registers at once */
    TROD_NAV_LATER,   /* row is the first access behind the place: a read */
    TROD_NAV_UNTRACED /* the last write, at row since, said another value than the read behind
                         it, at row: something between them that is not traced wrote */
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

enum { TROD_NAV_MEMORY = 4 << 20 }; /* bytes of memory a question may be about */

/*
 * The state at row ROW: registers of the stream that the row belongs to, or of STREAM where that is
 * not TROD_NAV_ROW_STREAM. Returns 0, TROD_ERR_USAGE (the trace has no such row, reported) or an
 * error. Release it with trod_nav_state_free; NULL is allowed.
 */
int trod_nav_state(struct trod_nav *nav, uint64_t row, int64_t stream, struct trod_nav_state **out);
void trod_nav_state_free(struct trod_nav_state *s);

uint64_t trod_nav_state_row(const struct trod_nav_state *s);
uint32_t trod_nav_state_stream(const struct trod_nav_state *s);
/* The last instruction at or before the row, in its stream: its row, address. False: none. */
bool trod_nav_state_pc(const struct trod_nav_state *s, uint64_t *pc, uint64_t *row);
/* Register I, false past the last: first those of the architecture, then the others by name. */
bool trod_nav_state_register(const struct trod_nav_state *s, size_t i,
                             struct trod_nav_register *out);
/*
 * The part of a register that NAME (any name: "w0", "s3", "sp") stands for, in the state S: false
 * where the trace has no such register so far. VALUE and KNOWN have room for SIZE bytes; *N says
 * how many there are. NAME may be a flag of the status register ("z", "zf"): one byte, 0 or 1; and
 * the program counter where the trace has none among its registers: that of the last instruction.
 */
bool trod_nav_state_named(const struct trod_nav_state *s, const char *name, uint8_t *value,
                          uint8_t *known, size_t size, size_t *n);
/* Is NAME a register or flag of the architecture, or one that the trace has told so far? */
bool trod_nav_state_has(const struct trod_nav_state *s, const char *name);
/*
 * The flags of REG in words, as the architecture names them ("nZCv, EL1h"), into OUT (N bytes, as
 * much as fits). False where it has none, or they are not known.
 */
bool trod_nav_flags(const struct trod_meta *meta, const struct trod_nav_register *reg, char *out,
                    size_t n);

/*
 * The COUNT bytes of memory from ADDR on at row ROW into OUT, at most TROD_NAV_MEMORY. Returns 0,
 * TROD_ERR_LIMIT (too many, reported) or an error of reading the trace.
 */
int trod_nav_memory(struct trod_nav *nav, uint64_t row, uint64_t addr, size_t count,
                    struct trod_nav_byte *out);

/* A run of bytes that were touched. */
struct trod_nav_run {
    uint64_t addr;
    size_t count;
};

/*
 * The bytes that rows behind LO up to HI write, or find changed, as runs in ascending order,
 * into *OUT (to be freed by the caller) and *N; with an index there may be others among them that
 * are the same at both. Returns 0, TROD_ERR_LIMIT (more than
 * TROD_NAV_MEMORY bytes' lines, reported) or an error.
 */
int trod_nav_touched(struct trod_nav *nav, uint64_t lo, uint64_t hi, struct trod_nav_run **out,
                     size_t *n);

/*
 * The bytes of N runs of memory at row ROW into OUT, one run behind the other, together at most
 * TROD_NAV_MEMORY: one question instead of N (trod_nav_memory), in less time. Returns the same.
 */
int trod_nav_memory_runs(struct trod_nav *nav, uint64_t row, const struct trod_nav_run *run,
                         size_t n, struct trod_nav_byte *out);

#ifdef __cplusplus
}
#endif

#endif
