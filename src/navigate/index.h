/*
 * index.h - the sidecar of a trace: blocks of rows from which decoding can go on, and what lies in
 * them.
 *
 * Implements docs/index-file.md: its file, and what questions are asked of it. When an
 * index is opened, what says what it is of and where its blocks begin is checked against its sum,
 * other sections when they are asked for the first time: an index that is found to be damaged is
 * not used any more.
 */
#ifndef NAVIGATE_INDEX_H
#define NAVIGATE_INDEX_H

#include "navigate/lines.h"

enum {
    NAV_BLOCK_ROWS = 1 << 15, /* rows of a block; a record is never parted */
    NAV_STEPS = 8,            /* places in a block from which decoding can go on, its start too */
    NAV_SEGMENT = 256,        /* blocks of a segment, at most */
    NAV_POSTINGS = 1 << 20,   /* postings of a segment, at most (a block is never parted) */
    NAV_EVENTS = 1 << 17,     /* entries and ends of calls, likewise */
    NAV_PAGE = 1 << 12,       /* bytes of a page of postings, before compression */
    NAV_INDEX_VERSION = 27,
    NAV_EDGE = 1 << 20 /* bytes at the beginning and the end of a trace that are summed */
};

/* Sections. Numbers that are not known are skipped. */
enum nav_section_id {
    NAV_S_META = 1,      /* what the index is of, names, streams, segments */
    NAV_S_BLOCKS = 2,    /* struct nav_block, one after the other */
    NAV_S_LOG = 3,       /* what decoders learn and never forget */
    NAV_S_STATES = 4,    /* of a segment: for each block the decoder's state and all registers */
    NAV_S_LINES = 5,     /* of a segment: postings by line of memory: bytes written, read */
    NAV_S_SITES = 6,     /* by address of instructions that rows belong to: executions, kinds */
    NAV_S_EXECUTED = 27, /* by address: executions in all blocks of the segment */
    NAV_S_REGS = 7,      /* by register: 2 * number, + 1 where it is read */
    NAV_S_MARKS = 12,    /* of a segment: by kind of row: how many */
    NAV_S_BLOOM = 13,    /* of a segment: which lines of memory it can tell something of */
    NAV_S_VALUES = 14,   /* of a segment: which values rows have, by block and kind (values.h) */
    NAV_S_SHAPES = 15,   /* of a segment: what rows look like that did not before (shapes.h) */
    NAV_S_TEXTS = 16,    /* by number of what rows look like that are no instructions: how many */
    NAV_S_CLASSES = 23,  /* of a segment: classes of rows that did not come up before (classes.h) */
    NAV_S_CLASS_ROWS = 24, /* by number of a class: how many */
    NAV_S_SPREAD = 25,     /* by piece of memory and kind: rows with an address there (spread.h) */
    NAV_S_WITHIN = 26,     /* by such a piece: at which addresses they are (within.h) */
    NAV_S_MEMORY = 11,     /* of a segment: by line of memory, what its blocks leave there */
    NAV_S_CALLS = 10,      /* of a segment: call stacks at its beginning, what happens to them */
    NAV_S_NAMED = 18,      /* the same as symbols make of it, where there were some */
    NAV_S_TREE = 20,       /* what calls cost by stacks of functions (tree.h), */
    NAV_S_NAMED_TREE = 21, /* and as symbols make of them; each may be missing */
    NAV_S_FUNCTIONS = 22,  /* where functions of these symbols begin and end; may be missing */
    NAV_S_PADDING = 28,    /* zeros before NAV_S_BLOCKS, NAV_S_ACCESS and the table */
    NAV_S_WINDOW = 9,      /* of a point: what was decoded last before it */
    NAV_S_ACCESS = 8       /* points in compressed files: struct nav_access_point, by file */
};

struct nav_section {
    uint32_t id, segment;
    uint64_t offset, length, raw; /* raw: before compression; equal: it is not compressed */
    uint32_t sum, zero;           /* CRC-32C of what is stored */
};

/* What is known before the first row of a block, and of its rows. All numbers of 64 bits. */
struct nav_block {
    uint64_t row, insn, line, offset; /* rows, instructions, ends of lines, bytes before it */
    uint64_t rows;
    uint64_t time_min, time_max; /* UINT64_MAX and 0: no row has a time */
    uint64_t number_max;         /* the largest number of an instruction; 0: none */
    uint64_t first, last;        /* the least and largest of any row; UINT64_MAX and 0: none */
    uint64_t log;                /* bytes of the log before it */
    uint64_t state, state_n;     /* place in the file: decoder and registers, compressed */
    uint64_t state_raw, decoder; /* bytes: before compression; of these, of the decoder */
    uint64_t file, flags;        /* of the trace; enum nav_block_flag */
    uint64_t steps, steps_n;     /* place in the file: steps inside it, compressed */
    uint64_t steps_raw;          /* bytes: before compression; 0: it has none */
};

enum nav_block_flag {
    NAV_B_START = 1 << 0,  /* its file begins here */
    NAV_B_MARKED = 1 << 1, /* the decoder's state is known */
    NAV_B_MEMORY = 1 << 2, /* what it leaves in memory is known (memory.h) */
    NAV_B_SILENT = 1 << 3, /* no read of it says what it read */
    /* Of instructions: some have a time, some have none, one has a smaller time than one before it
     * in its file. */
    NAV_B_TIMED = 1 << 4,
    NAV_B_UNTIMED = 1 << 5,
    NAV_B_FALLS = 1 << 6,
    NAV_B_BARE = 1 << 8,  /* an instruction with an address has neither opcode nor text */
    NAV_B_ASIDE = 1 << 9, /* an instruction names another one as that it belongs to */
    /* All accesses leave something, and reads all say what they read, or none does. */
    NAV_B_EXACT = 1 << 10,
    NAV_B_UNITS = 1 << 11 /* a time has another unit, or decimals, than the first of the index */
};

enum { NAV_B_UNIT = 16 }; /* at this bit of the flags: what that first time's unit column says */

/* A place in a block from which decoding can go on. */
struct nav_step {
    uint64_t row, insn, line, offset, log; /* as those of a block */
    uint64_t time_max, number_max;         /* of the rows of its block before it; 0: none */
    struct trod_span state;                /* decoder and registers */
    size_t decoder;                        /* bytes of STATE that are the decoder's */
};

/* Those of a block: the first one is its beginning. */
struct nav_steps {
    struct nav_step at[NAV_STEPS];
    size_t n, block;             /* N 0: of no block */
    struct trod_buf state, more; /* what their states point into */
};

/* A point of a compressed file (io/points.h). Its window lies in the index, compressed. */
struct nav_access_point {
    uint64_t file; /* of the trace */
    uint64_t packed, decoded, bits;
    uint64_t window, window_n, window_raw; /* place, bytes there, bytes that they stand for */
};

enum { NAV_SITE_ROWS = 32 };
enum { NAV_APART = 1 << 18 }; /* decoded bytes between points */

/* A posting: what a block holds of a key. */
struct nav_posting {
    uint64_t key;
    /* EXECUTED: BLOCK is the first of the segment and stands for all. LINES, SITES, TEXTS, ALIKE:
     * STEPS of the block that have it, a bit each. */
    uint32_t block, steps;
    /* LINES: masks of bytes written, read; MARKS and all others: how many; MEMORY, WITHIN: of TOLD;
     * SITES: B: kinds of the rows, a bit each, times 2^NAV_SITE_ROWS how many rows belong to the
     * instruction besides it. */
    uint64_t a, b;
};

struct nav_postings {
    struct nav_posting *at;
    size_t n, cap;
    uint32_t *order;         /* their numbers in the order of blocks, once asked for */
    struct trod_buf payload; /* MEMORY, WITHIN: a posting has B bytes of it, from A on */
};

/* Blocks [from, to) whose postings stand together. */
struct nav_segment {
    uint32_t from, to;
    const struct nav_section *lines, *sites, *regs, *calls, *memory, *marks, *bloom, *values;
    const struct nav_section *shapes, *texts, *classes, *class_rows, *spread;
    const struct nav_section *within, *named, *executed;
};

/* What the trace was when the index was made. */
struct nav_bound {
    uint64_t size, mtime_s, mtime_ns;
    uint64_t edges, whole; /* hashes of the first and last NAV_EDGE bytes, and of all */
};

/* A file of the trace. */
struct nav_source {
    struct nav_bound bound;
    uint64_t row, log; /* rows before it; bytes of the log */
};

struct nav_unpacker;

enum nav_copy { NAV_COPY_SECTIONS, NAV_COPY_BLOCKS, NAV_COPY_POINTS, NAV_COPIES };

enum nav_checked { NAV_CHECKED = 1, NAV_CHECKED_DIRECTORY = 2 };

struct nav_index {
    char *path;
    const uint8_t *file; /* mapped */
    size_t size;
    int fd;                            /* of it; -1: none */
    const struct nav_section *section; /* in FILE, or COPY, as BLOCK and POINT */
    uint8_t *checked; /* by section: enum nav_checked; after them: 1 where a sum was wrong */
    struct nav_unpacker *unpacker; /* of its compressed parts: tables, which they share */
    uint32_t n_sections;
    struct nav_source *source;
    uint32_t n_sources;
    uint64_t rows, lines, insns, problems; /* of the whole trace; problems met */
    bool lines_known, complete;            /* complete: reading can begin at every block */
    bool silent;                           /* all blocks are */
    const struct nav_block *block;
    uint32_t n_blocks;
    struct nav_segment *segment;
    uint32_t n_segments;
    const struct nav_access_point *point;
    uint32_t n_points;
    void *copy[NAV_COPIES];
    struct trod_meta meta;              /* streams and what else is known */
    struct trod_callstack_counts calls; /* of all rows */
    struct trod_callstack_counts named; /* the same of NAV_S_NAMED, */
    uint64_t functions;                 /* whose symbols these were; 0: there is none */
    char format[32], options[256], dialect[32];
    enum trod_endian endian; /* with the instruction set of NAMES: what the names and values of
                                registers depend on */
    struct nav_names names;
    uint8_t *log;
    size_t log_n;
};

/* bind.c: what the file PATH is now. Returns 0 or TROD_ERR_IO. WHOLE: sum all of it. */
int nav_bind(const char *path, bool whole, struct nav_bound *out);
/* The hashes that the first SIZE bytes of the file PATH have. */
int nav_bind_as(const char *path, uint64_t size, struct nav_bound *out);
uint64_t nav_hash(uint64_t h, const void *p, size_t n);

/*
 * named.c: what following calls takes from SYMBOLS, where functions begin and end, as a number; 0:
 * no functions, or SYMBOLS is NULL.
 */
uint64_t nav_functions(const struct trod_symbols *symbols);
/* Symbols with the functions that X was made with; NULL: it does not have them. */
struct trod_symbols *nav_functions_of(const struct nav_index *x);

/* sort.c: keys in ascending order; where they are equal the order stays. */
struct nav_sort_key {
    uint64_t key;
    size_t at; /* where it stood */
};

enum { NAV_SORT_COUNTS = 6 << 11 };

/* The N of FROM, fewer than 2^32; TO and COUNT are room for it. Returns the one of FROM and TO
 * that has them. */
struct nav_sort_key *nav_sort(struct nav_sort_key *from, struct nav_sort_key *to, size_t n,
                              uint32_t count[NAV_SORT_COUNTS]);
/* segment.c: postings as bytes, and questions. */
int nav_postings_sort(struct nav_postings *p);
/* Room for N more, which are put after those there are. Returns 0 or TROD_ERR_NOMEM. */
int nav_postings_room(struct nav_postings *p, size_t n);
int nav_postings_add(struct nav_postings *p, uint64_t key, uint32_t block, uint64_t a, uint64_t b);
/* Append P, sorted, of blocks from FROM on, of section ID, as a section's content. */
int nav_postings_encode(const struct nav_postings *p, unsigned id, uint32_t from,
                        struct trod_buf *out);
/* Append the postings of KEY in segment S to OUT. Returns 0, TROD_ERR_CORRUPT, TROD_ERR_NOMEM. */
int nav_postings_find(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                      uint64_t key, struct nav_postings *out);
/* Those of the N keys KEY, in ascending order. */
int nav_postings_keys(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                      const uint64_t *key, size_t n, struct nav_postings *out);
/* Blocks from FROM, or what SINCE, if it is there, has for a key, up to, but without, TO. */
struct nav_blocks {
    uint32_t from, to;
    const uint32_t *since;
};
/* Those of the N keys KEY, in ascending order, in BLOCKS. */
int nav_postings_in(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                    const uint64_t *key, size_t n, const struct nav_blocks *blocks,
                    struct nav_postings *out);
/*
 * The order of blocks of P, which are of S, to P->order; *FIRST, of TO - FROM + 1, where those of
 * each begin in it. Returns 0 or TROD_ERR_NOMEM.
 */
int nav_postings_by_block(struct nav_postings *p, const struct nav_segment *s, size_t **first);
/* The segment of block K, N_SEGMENTS if there is none. */
uint32_t nav_index_segment(const struct nav_index *x, size_t k);
/* Those of keys LO to HI. */
int nav_postings_range(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                       uint64_t lo, uint64_t hi, struct nav_postings *out);

/*
 * bloom.c: the N keys KEY, without repetitions, as the content of a section, appended to OUT.
 * Returns 0 or TROD_ERR_NOMEM.
 */
int nav_bloom_encode(const uint64_t *key, size_t n, struct trod_buf *out);
/*
 * Can segment S tell something of line KEY (NAV_ANY_LINE is one)? That is: a row of it writes
 * there, or a row of a block in which reads say what they read touches it. Returns 1, 0 (it
 * cannot) or TROD_ERR_CORRUPT.
 */
int nav_bloom_may(const struct nav_index *x, const struct nav_segment *s, uint64_t key);

/* squeeze.c: N bytes at P, compressed where that makes them fewer, appended to OUT. */
int nav_squeeze(const void *p, size_t n, struct trod_buf *out);
/* The same for many, with what is needed for it (tables), which they share. */
struct nav_squeezer;
int nav_squeezer_new(struct nav_squeezer **out);
void nav_squeezer_free(struct nav_squeezer *s);
int nav_squeeze_by(struct nav_squeezer *s, const void *p, size_t n, struct trod_buf *out);
/* The RAW bytes that N bytes at P, of X, stand for, appended to OUT. */
int nav_unsqueeze(const struct nav_index *x, const uint8_t *p, size_t n, size_t raw,
                  struct trod_buf *out);
/* The same by U, for a thread of its own. */
int nav_unsqueeze_by(struct nav_unpacker *u, const uint8_t *p, size_t n, size_t raw,
                     struct trod_buf *out);

int nav_unpacker_new(struct nav_unpacker **out);
void nav_unpacker_free(struct nav_unpacker *u);

/* read.c */
/*
 * Open the index file PATH. Returns 0, TROD_ERR_IO (it cannot be read), TROD_ERR_CORRUPT (it is
 * damaged, cut, or of another version; *WHY says so) or TROD_ERR_NOMEM. What it is of is looked at
 * by the caller.
 */
int nav_index_open(struct nav_index **out, const char *path, const char **why);
void nav_index_close(struct nav_index *x);
/*
 * The N bytes at P, which lie in the mapped file of X: a copy, which is ROOM's, if FEW, and P if
 * not or if that fails. FEW: nav_index_few says so, of LOOKS at as many places in BYTES of the
 * file.
 */
bool nav_index_few(uint64_t looks, uint64_t bytes);
const uint8_t *nav_index_copy(const struct nav_index *x, const uint8_t *p, size_t n, bool few,
                              struct trod_buf *room);
/* Section S of X is what it was. Returns 0 or TROD_ERR_CORRUPT. */
int nav_index_check(const struct nav_index *x, const struct nav_section *s);
/*
 * The N bytes at P, which lie in section S of X, have the sum SUM. Returns the same. Of the
 * DIRECTORY of a section this is kept.
 */
int nav_index_check_part(const struct nav_index *x, const struct nav_section *s, const uint8_t *p,
                         size_t n, uint32_t sum);
int nav_index_check_directory(const struct nav_index *x, const struct nav_section *s,
                              const uint8_t *p, size_t n, uint32_t sum);
/* All that lies in the section with byte AT of the file; all sections. */
int nav_index_check_at(const struct nav_index *x, uint64_t at);
int nav_index_check_all(const struct nav_index *x);

/*
 * How reading can begin at step I of block *K, or, where it cannot begin there, at the last block
 * before at which it can, which becomes *K: S are the steps of *K in the end. M points into S, X
 * and *POINT, which is the caller's (NULL: it needs none). Returns 0, TROD_ERR_CORRUPT or
 * TROD_ERR_NOMEM.
 */
struct trod_mark;
struct trod_point;
/* The last point in file FILE at or before decoded byte OFFSET. NULL: none, which is no error. */
int nav_index_point(const struct nav_index *x, uint64_t file, uint64_t offset,
                    struct trod_point **out);
int nav_index_mark(const struct nav_index *x, size_t *k, size_t i, struct nav_steps *s,
                   struct trod_mark *m, struct trod_point **point);

/* steps.c: the steps of block K into S, if they are not there. Returns 0 or an error. */
int nav_steps_load(struct nav_steps *s, const struct nav_index *x, size_t k);
void nav_steps_fini(struct nav_steps *s);
/* The last one whose row is not after ROW, which is in its block. */
size_t nav_steps_find(const struct nav_steps *s, uint64_t row);
/* Append step S, which follows BEFORE, as bytes. Returns 0 or TROD_ERR_NOMEM. */
int nav_steps_put(const struct nav_step *s, const struct nav_step *before, struct trod_buf *out);

/* build.c: an index of trace T, of which no row was read yet, to PATH. */
struct nav_build_options {
    struct trod_diag *diag;
    const char *options; /* of reading that change what rows there are */
    enum trod_isa isa;   /* that registers are named by */
    enum trod_endian endian;
    uint64_t block_rows; /* of a block; 0: NAV_BLOCK_ROWS */
    uint32_t segment;    /* blocks of a segment; 0: NAV_SEGMENT */
    uint64_t apart;      /* bytes between points of a gzip file; 0: NAV_APART */
    uint64_t memory;     /* bytes that what a block leaves in memory may take; 0: by rows */
    uint64_t per_stack;  /* activations that are summed up in one, least; 0: NAV_TREE_PART */
    unsigned jobs;       /* threads; 0: as many as are of use */
    const struct trod_symbols *symbols; /* calls are followed with them, too; NULL: none */
    const struct nav_index *of;         /* an index of a trace that has grown since; NULL: none */
    /* What the trace's only file was before it was opened; NULL: nothing may be written to it. */
    const struct nav_bound *before;
    void (*progress)(void *user, const struct trod_trace_progress *p);
    void *user;
};
int nav_index_build(struct trod_trace *t, const char *path, const struct nav_build_options *opt);

#endif
