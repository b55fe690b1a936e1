/*
 * count_int.h - the inside of the analysis "count".
 *
 * A lane is what rows are counted by: a thread, cpu or bus agent in one file. A lane has a window
 * or, where a trace says so (drmemtrace, WINDOW_ID), several; a window has sums. Names of numbers
 * and which sums make them stand in count_report.c.
 */
#ifndef TROD_ANALYSIS_COUNT_INT_H
#define TROD_ANALYSIS_COUNT_INT_H

#include "analysis/named.h"
#include "analysis/pages.h"
#include "core/map.h"
#include "core/recent.h"
#include "trod/count.h"
#include "trod/format.h"

enum {
    COUNT_CODE_CAP = 65536, /* pages of code counted exactly: 64 MiB of addresses in 16 to 18 MiB */
    COUNT_DATA_CAP = 65536, /* the same of data, in 8 MiB */
    COUNT_LINE = 64,        /* default of bytes of a line */
    COUNT_LINE_MAX = TROD_PAGE_LINE_MAX
};

/* Index of count_sums.instr: enum trod_branch and these. */
enum { COUNT_KERNEL = 16, COUNT_NOFETCH = 32, COUNT_NEWCODE = 64, COUNT_INSTR = 128 };

enum { COUNT_BRANCHES = 16, COUNT_MARKERS = 64 };

/* Nothing but uint64_t. */
struct count_sums {
    uint64_t instr[COUNT_INSTR];
    uint64_t branch[COUNT_BRANCHES]; /* rows that are branches without their instruction */
    uint64_t rows[TROD_KINDS];
    uint64_t marker[COUNT_MARKERS]; /* by number; the last: all others */
    uint64_t skipped;               /* instructions whose condition failed */
    uint64_t synthetic;             /* put in by the tracer: in rows, not in instr */
    uint64_t named[NAMED_SLOTS];    /* rows by sub, where the format has names for them */
    uint64_t taken, untaken;        /* of class TROD_BR_COND, known by their target */
    uint64_t read_bytes, write_bytes, atomic_bytes, bus_bytes;
    uint64_t code_flushes;
    uint64_t unsized_code, unsized_data; /* rows that do not say their size */
};

enum { COUNT_SUMS = sizeof(struct count_sums) / sizeof(uint64_t) };

/* Footprints as numbers. */
struct count_feet {
    uint64_t starts, code_bytes, code_lines, data_bytes, data_lines;
    uint64_t code_level, data_level; /* above 0: estimates */
    uint64_t line;
};

enum { COUNT_FEET = sizeof(struct count_feet) / sizeof(uint64_t) };

struct count_window {
    uint64_t id;             /* TROD_NOWHERE: not said */
    uint64_t unique;         /* instructions, once it is closed */
    struct trod_pages *code; /* until it is closed */
    uint32_t tag;            /* of its instructions in count_state.recent; 0: none yet */
    bool tag_encoded;        /* what it stands for there: see trod_count_tag */
    struct count_sums sums;
};

struct count_lane {
    struct count_window *window; /* at least one; the last is open */
    uint32_t n_windows;
    size_t cap_windows;
    struct trod_pages *code; /* of closed windows */
    struct trod_pages *data;
    struct count_feet feet;  /* once it is settled */
    uint64_t tid, pid, cpu;  /* TROD_NOWHERE: not known */
    uint64_t filetype, line; /* TROD_NOWHERE, 0: not said */
    char *name;              /* NULL: rows that say no stream */
    uint32_t name_len, file;
    bool settled;
    bool filetype_differs; /* FILETYPE markers contradict each other */
    bool windows_late;     /* several windows, of which the first is not number 0 */
};

enum { COUNT_OWNED = 9 };

/* What is counted of a site: count_owners.c. */
struct count_owned {
    uint64_t n[COUNT_OWNED];
};

/*
 * Rows of a source (core/origin.h) that came one behind the other from its first on, all of one
 * lane and window: so instructions among them that are not marked as new are in the set of code.
 */
struct count_known {
    uint64_t source; /* 0: none */
    uint64_t next;   /* number of the row behind them */
    uint32_t lane;   /* and 1; 0: not known yet */
};

/* A file of several lanes, settled: what they have together. */
struct count_shard {
    uint32_t file;
    struct count_feet feet;
};

struct count_state {
    struct trod_count_options opt;
    const struct trod_meta *meta;
    struct trod_diag *diag;
    struct count_lane *lane;
    uint32_t n_lanes;
    size_t cap_lanes;
    struct count_shard *shard;
    uint32_t n_shards;
    size_t cap_shards;
    struct trod_map map; /* lanes by what they are */
    uint32_t *of_stream; /* lane + 1 by stream of the meta; [0]: rows without stream */
    uint32_t n_of_stream;
    struct trod_pages *code, *data;  /* of settled lanes; NULL: none */
    uint64_t have;                   /* columns that came */
    bool drm;                        /* markers are those of drmemtrace */
    const char *word;                /* what a lane is: "thread", "cpu", "agent" */
    const struct trod_format *names; /* names of records by sub; NULL: the format has none */
    bool bus;                        /* reads and writes are those of a bus, not of a program */
    bool part;                       /* rows begin in the middle of a file */
    struct trod_recent *recent;      /* instructions that sets of code have, by tag */
    uint32_t tags;                   /* given so far */
    struct count_known known;
    enum trod_by by; /* from MODULE on: owned has numbers */
    struct trod_sites *sites;
    struct trod_symbols *symbols;
    struct count_owned *owned; /* by site + 1; [0]: rows without one */
    size_t n_owned;
};

/* count_feed.c */
int trod_count_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);

/*
 * count.c: mark the SIZE bytes from ADDR on that row I of B touches; with TROD_F_HOLES those that
 * its byte enables say. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_count_mark_data(struct trod_pages *data, const struct trod_batch *b, uint32_t i,
                         uint64_t addr, uint32_t size);

/* count_lane.c: lanes are looked up by name and numbers, and stay where they are until another is
 * added. NULL: out of memory. */
struct count_lane *trod_count_lane(struct count_state *s, const struct count_lane *key);
struct count_lane *trod_count_stream(struct count_state *s, uint32_t stream, bool known);
void trod_count_lane_fini(struct count_lane *l);
static inline struct count_window *count_open(const struct count_lane *l)
{
    return &l->window[l->n_windows - 1];
}
/* The open window's and the lane's sets, made when there is none. NULL: out of memory. */
struct trod_pages *trod_count_code(const struct count_state *s, struct count_lane *l);
struct trod_pages *trod_count_data(const struct count_state *s, struct count_lane *l);
/*
 * The tag of the open window in s->recent, which is made when there is none (NULL then: out of
 * memory). A bit there says that an instruction begins at the address and, without ENCODED, that it
 * has 4 bytes, all of them in the set. Tags are numbered through; those of a round before the last
 * are given anew.
 */
uint32_t trod_count_tag(struct count_state *s, struct count_lane *l, bool encoded);
/* WINDOW_ID with value ID. Returns 0 or TROD_ERR_NOMEM. */
int trod_count_window(struct count_state *s, struct count_lane *l, uint64_t id);
/* L says that its file type is VALUE: reported if it was another one. */
void trod_count_filetype(struct count_state *s, struct count_lane *l, uint64_t value);
/* Another window behind the open one, which is closed. Returns 0 or TROD_ERR_NOMEM. */
int trod_count_window_add(struct count_lane *l, uint64_t id, bool keep);
int trod_count_settle(void *st, uint32_t file);
int trod_count_merge(void *into, const void *from);
/* Footprints of a lane that is not settled; of all. Return 0 or TROD_ERR_NOMEM. */
int trod_count_feet(const struct count_state *s, const struct count_lane *l, struct count_feet *f);
int trod_count_feet_all(const struct count_state *s, struct count_feet *f);
/* Add a shard. Returns 0 or TROD_ERR_NOMEM. */
int trod_count_shard(struct count_state *s, uint32_t file, const struct count_feet *feet);
/*
 * All files of several lanes, by number, also those that are not settled, as parts of a file are
 * not: *OUT, to be freed, has *N. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_count_shards(const struct count_state *s, struct count_shard **out, uint32_t *n);
void trod_count_add(struct count_sums *to, const struct count_sums *from);
/* Bytes of a line: what the option says, else the trace (SAID, 0: nothing), else custom. */
uint32_t trod_count_line(const struct count_state *s, uint64_t said);

/* count_save.c */
int trod_count_save(const void *st, struct trod_buf *out);
int trod_count_load(void *st, struct trod_span in, const uint32_t *sites);

/* count_owners.c: count rows [FROM, TO) of B by site; results by module, function or line. Return 0
 * or TROD_ERR_NOMEM. */
int trod_count_owned_rows(struct count_state *s, const struct trod_batch *b, uint32_t from,
                          uint32_t to);
int trod_count_owned_merge(struct count_state *s, const struct count_state *from);
/* What was counted by site, as bytes and back; SITES: the numbers that they have here. The second
 * also returns TROD_ERR_CORRUPT. */
int trod_count_owned_save(const struct count_state *s, struct trod_buf *out);
int trod_count_owned_load(struct count_state *s, struct trod_span *in, const uint32_t *sites);
int trod_count_put_owners(const struct count_state *s, struct trod_result *r);

/* count_report.c */
int trod_count_report(const void *st, struct trod_result *e);

#endif
