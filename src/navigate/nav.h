/*
 * nav.h - the inside of a trace that is moved about in: how its rows are reached.
 *
 * Implements docs/index-file.md, "How it works". Every question is a scan over rows of one or more
 * blocks. Without an index all rows are one block, which is decoded from its beginning.
 */
#ifndef NAVIGATE_NAV_H
#define NAVIGATE_NAV_H

#include "navigate/regs.h"
#include "trace/trace_impl.h"

enum {
    NAV_CACHE = 64,
    NAV_AROUND = TROD_BATCH_ROWS, /* rows before and after one that was asked for */
    NAV_BEFORE = 256,             /* the same with an index */
    NAV_BEHIND = 1024
};

/* Rows that stay decoded: those around one that was asked for, in batches. */
struct nav_cache {
    struct trod_batch *batch[NAV_CACHE]; /* first is their first row; in order */
    unsigned n;
};

/* With an index: batches that scans decoded, and what their slices point into (kept.c). */
enum { NAV_KEPT = 24 };

struct nav_kept {
    struct trod_batch *b; /* NULL: none yet */
    struct trod_buf window;
    uint64_t used; /* when it was of use: a count */
};

struct nav_keep {
    struct nav_kept at[NAV_KEPT];
    uint64_t clock;
    uint64_t scans;                /* so far */
    bool row;                      /* a row is asked for, which has to stay */
    const struct trod_batch *held; /* given out by trod_nav_row: stays until the next one is */
    struct trod_batch *spare;      /* for the next scan to decode into; NULL: none */
};

struct nav_index;
struct nav_steps;
struct nav_begin;
struct nav_shape_choice;
struct nav_tallied;
struct nav_class_choice;

struct trod_nav {
    struct trod_trace_options topt;
    char **paths;
    size_t n_paths, n_files;
    struct trod_diag *diag;
    struct trod_diag relay;     /* passes on problems that were not reported before */
    uint64_t reported, reading; /* rows whose problems were reported; read by this scan so far */
    struct trod_symbols *symbols;
    struct nav_index *index;     /* NULL: none */
    struct nav_index *dropped;   /* found to be damaged; results may still point into it */
    struct nav_steps *steps;     /* of the block asked for last */
    struct trod_candidate known; /* what the file was found to be */
    struct trod_trace *trace;    /* of the scan that read farthest: gives meta and format */
    struct nav_names names;
    struct trod_insn_decoder *insn;
    uint64_t rows;                     /* TROD_NOWHERE: not counted */
    struct nav_begin *begin;           /* of trod_nav_begin; NULL: it was not called */
    const struct trod_symbols *follow; /* symbols of trod_nav_follow */
    uint64_t functions;                /* hash of their functions (nav_functions) */
    struct nav_cache cache;
    struct nav_keep keep;
    trod_nav_shapes_fn shapes; /* chooses shapes for a search; NULL: all */
    void *shapes_user;
    struct nav_shape_choice *shape_choice; /* what it chose; NULL: not called yet */
    bool tallies;                /* the choice is made in a form by which rows can be counted */
    struct nav_tallied *tallied; /* the last counts (search.c); NULL: none */
    trod_nav_classes_fn classes; /* the same for classes */
    void *classes_user;
    struct nav_class_choice *class_choice; /* what it chose; NULL: not called yet */
    uint32_t window; /* bytes of windows of a scan of few rows; 0: as of any trace */
    int (*tick)(void *user, uint64_t row); /* as in struct trod_nav_options */
    void *tick_user;
    bool ticking; /* it is being called */
};

/*
 * RC is the result of a query. Returns true if it says that the index is damaged: this is reported,
 * the index is not used any more, and the caller has to repeat the query.
 */
bool nav_distrust(struct trod_nav *nav, int rc);

/* If one of the N files PATHS can be read only once (a pipe): reports that. Returns 0 or the error.
 */
int nav_once_only(const char *const *paths, size_t n, struct trod_diag *diag);
/* Give rows FROM to END, END not included, to FN. Returns 0 or an error. */
int nav_scan(struct trod_nav *nav, uint64_t from, uint64_t end, trod_nav_rows_fn fn, void *user);

/* The batch that has row ROW, which is row ROW - FIRST of it. NULL: none has. */
struct trod_batch *nav_kept_find(struct trod_nav *nav, uint64_t row);
/*
 * Keep B, which T gave last and which begins with ROW, if that is of use; *N: so many batches of
 * this scan, for the rows from FROM on, are kept. LAST: nothing more is read from T. B belongs to T
 * no longer if it is kept.
 */
void nav_kept_put(struct trod_nav *nav, struct trod_trace *t, struct trod_batch *b, uint64_t row,
                  uint64_t from, bool last, unsigned *n);
void nav_kept_forget(struct nav_keep *keep);
void nav_kept_fini(struct nav_keep *keep);

/* The key of rows of KIND with number SUB among the marks of an index. */
static inline uint64_t nav_mark(uint64_t kind, uint64_t sub)
{
    return kind | (sub + 1) << 8;
}

/* The key of rows of KIND that have an address. */
static inline uint64_t nav_mark_placed(uint64_t kind)
{
    return kind | UINT64_C(1) << 63;
}

/*
 * named.c: the section with the calls of segment I that others are given, and what was counted of
 * all of them. NULL: the index of NAV does not have calls that were followed so, or there is none.
 */
const struct nav_section *nav_followed(const struct trod_nav *nav, uint32_t i);
const struct trod_callstack_counts *nav_followed_counts(const struct trod_nav *nav);

/* Blocks of rows: their number; that which holds ROW; the first row of block K (K may be all). */
size_t nav_blocks(const struct trod_nav *nav);
size_t nav_block_of(const struct trod_nav *nav, uint64_t row);
uint64_t nav_block_first(const struct trod_nav *nav, size_t k);

/*
 * The first row from which a scan has to look for a time, for the Kth execution of PC (*LEFT, K at
 * first, becomes the number that is left from there; TROD_NOWHERE: there are fewer), for the Kth
 * row of a kind (KEY: the kind, or nav_mark), for an
 * instruction by its number (*LEFT: where they have none in the trace), for a line (with the offset
 * in the file and the number of lines before it).
 */
uint64_t nav_from_time(struct trod_nav *nav, uint64_t time);
uint64_t nav_from_visit(struct trod_nav *nav, uint64_t pc, uint64_t *left);
uint64_t nav_from_kind(struct trod_nav *nav, uint64_t key, uint64_t *left);
uint64_t nav_from_instruction(struct trod_nav *nav, uint64_t number, uint64_t *left);
/* The same for the *LEFTth instruction of all. */
uint64_t nav_from_executed(struct trod_nav *nav, uint64_t *left);
uint64_t nav_from_line(struct trod_nav *nav, uint64_t line, uint64_t *offset, uint64_t *before);
/* Of the step at or before ROW: its row, its offset, and the lines before it. */
uint64_t nav_step_line(struct trod_nav *nav, uint64_t row, uint64_t *offset, uint64_t *before);

struct nav_lines;
/* Which blocks touch the lines of L is looked up as blocks are asked for. */
int nav_lines_prepare(struct trod_nav *nav, struct nav_lines *l);
/*
 * Which steps of block K may tell of a byte of L that is open: a bit each (without an index: all),
 * or an error.
 */
int nav_block_touches(struct trod_nav *nav, size_t k, struct nav_lines *l);

/* Numbers in ascending order. */
struct nav_numbers {
    uint64_t *at;
    size_t n, cap;
};

bool nav_numbers_have(const struct nav_numbers *n, uint64_t v);

/*
 * Which steps of blocks may have rows that QUERY looks for (REG: its register by its canonical
 * name), looked up as blocks are asked for.
 */
struct nav_candidates {
    const struct trod_nav_query *query;
    const char *reg;
    const struct trod_match_need *need;    /* instead of QUERY */
    const struct nav_numbers *only;        /* and only these of its addresses; NULL: all */
    struct nav_shape_choice *shape_choice; /* and of these shapes; NULL: of any */
    struct nav_class_choice *class_choice; /* and of these classes; NULL: of any */
    uint8_t *steps, *looked;               /* by block; by segment. NULL: there is no index */
    uint8_t *there;                        /* by block, while a segment is looked at */
};

/*
 * The bank of register REG ("sp"; "r13", "r14") that instruction row I means by the mode it says it
 * ran in: "sp_el1", "r13_svc" into OUT. False: there are no banks, or the row does not say.
 */
bool nav_bank_of(const struct trod_batch *b, uint32_t i, const char *reg, char out[NAV_NAME]);
/* Is register NAME ("sp_el2") another bank than BANK? Names without a bank are none. */
bool nav_bank_other(const char *name, const char *bank);

/* Returns 0 or TROD_ERR_NOMEM. */
int nav_candidates_init(struct nav_candidates *c, struct trod_nav *nav,
                        const struct trod_nav_query *query, const char *reg);
void nav_candidates_fini(struct nav_candidates *c);
/* The steps of block K, a bit each, or an error. */
int nav_candidates_of(struct nav_candidates *c, const struct trod_nav *nav, size_t k);

enum { NAV_ALL_STEPS = 0xff };

struct nav_segment;
struct nav_block;
struct nav_postings;
/* blocks.c: the steps of postings FOUND, where they have what Q is about, to those by BLOCK. */
void nav_candidates_add(const struct nav_postings *found, const struct trod_nav_query *q,
                        uint8_t *block);
/* Lines of segment S that Q, a question about memory, may be about. Returns 0 or an error. */
int nav_lines_of(const struct nav_index *x, const struct nav_segment *s,
                 const struct trod_nav_query *q, struct nav_postings *found);
/* need.c: candidates of segment S for what C needs. Returns 0 or an error. */
int nav_need_look(struct nav_candidates *c, const struct nav_index *x, uint32_t s);
/* Addresses that NEED names which have rows of its kinds anywhere in X. Returns 0 or an error. */
int nav_need_sites(const struct nav_index *x, const struct trod_match_need *need,
                   struct nav_numbers *out);
/*
 * shape_choice.c: clear in STEP (a bit for each step, by block of segment S) the steps that have no
 * rows of the shapes V. Returns 0 or an error.
 */
int nav_shape_choice_steps(struct nav_shape_choice *v, const struct nav_index *x, uint32_t s,
                           uint8_t *step);
/*
 * The shapes of NAV's index that trod_nav_shapes chose, to *OUT; NULL: all. Where AMONG, classes
 * that are looked for besides (NULL: all), choose instructions by their size, shapes of other sizes
 * are not among them. Returns 0 or an error.
 */
int nav_shape_choice_make(struct trod_nav *nav, const struct nav_class_choice *among,
                          struct nav_shape_choice **out);
/* Have the instructions of V's shapes the classes that are looked for? */
bool nav_shape_choice_by_size(const struct nav_shape_choice *v);
void nav_shape_choice_free(struct nav_shape_choice *v);
/*
 * The number of rows of chosen shapes in each block of segment S, by kind, to AT: that of kind K in
 * block B of S is AT[TROD_KINDS * B + K]; NAV_UNCOUNTED: the lists do not say it. WHOLE: only the
 * sum of all blocks is wanted, in whichever of them.
 */
int nav_shape_choice_count(const struct nav_shape_choice *v, const struct nav_index *x, uint32_t s,
                           bool whole, uint64_t *at);

/*
 * class_choice.c: the classes of NAV's index that trod_nav_classes chose, to *OUT; all of them
 * where it was not called. NULL: the index has no classes. Returns 0 or an error.
 */
int nav_class_choice_make(struct trod_nav *nav, struct nav_class_choice **out);
void nav_class_choice_free(struct nav_class_choice *a);
/* Does the size of an instruction say whether it is of such a class? Which sizes do? */
bool nav_class_choice_by_size(const struct nav_class_choice *a);
bool nav_class_choice_keeps(const struct nav_class_choice *a, uint32_t size);
/* Clear in STEP (a bit for each step, by block of segment S) the steps without such rows. */
int nav_class_choice_steps(const struct nav_class_choice *a, const struct nav_index *x, uint32_t s,
                           uint8_t *step);
/*
 * The number of rows of these classes that are of KINDS and have all COLUMNS, to AT by block of S;
 * NAV_UNCOUNTED: the lists do not say it.
 */
int nav_class_choice_count(const struct nav_class_choice *a, const struct nav_index *x, uint32_t s,
                           uint32_t kinds, uint32_t columns, uint64_t *at);

/*
 * All rows that have the columns BASE to ALL, those of them that are of these classes and have
 * COLUMNS to SOME; laid out as nav_shape_choice_count.
 */
int nav_class_choice_kinds(const struct nav_class_choice *a, const struct nav_index *x, uint32_t s,
                           uint32_t base, uint32_t columns, uint64_t *all, uint64_t *some);

/* Those of nav_class_choice_count whose address is in the bounds of NEED, and that are of its
 * kinds. */
int nav_class_choice_within(const struct nav_class_choice *a, const struct nav_index *x, uint32_t s,
                            const struct trod_match_need *need, uint32_t columns, uint64_t *at);

/* By block: the number of rows that are looked for, where lists say it. */
struct nav_counts {
    const struct trod_match_need *need;
    const struct nav_shape_choice *shape_choice;
    const struct nav_class_choice *class_choice;
    bool classes;    /* classes are asked about */
    uint64_t *at;    /* by block; NAV_UNCOUNTED: rows must be read for it */
    uint8_t *looked; /* by segment */
};

#define NAV_UNCOUNTED UINT64_MAX

/* search.c: discard the counts that NAV keeps. */
void nav_tallied_forget(struct trod_nav *nav);

/* Returns 0 or TROD_ERR_NOMEM. */
int nav_counts_init(struct nav_counts *c, const struct trod_nav *nav,
                    const struct trod_match_need *need);
void nav_counts_fini(struct nav_counts *c);
/* Those of block K to *COUNT. Returns 1, 0 (rows must be read for it) or an error. */
int nav_counts_of(struct nav_counts *c, const struct trod_nav *nav, size_t k, uint64_t *count);
/* Are rows and times of block B none that NEED describes? */
bool nav_need_outside(const struct trod_match_need *need, const struct nav_block *b);

/* Open the trace at the last place not after ROW from which reading can begin: its row to *AT. */
int nav_open_at(struct trod_nav *nav, uint64_t row, struct trod_trace **out, uint64_t *at,
                struct trod_diag *diag);

void nav_begin_free(struct nav_begin *b);
/* The calls from row ROW on, to *OUT, which NAV outlives. False: the index does not know them. */
struct trod_given_calls;
bool nav_given(struct trod_nav *nav, uint64_t row, struct trod_given_calls *out);

/*
 * The step that ROW lies in: its rows [*FIRST, *END), of its block; without an index all rows.
 * Returns whether it is one of STEPS (bits), or an error.
 */
int nav_step_of(struct trod_nav *nav, uint64_t row, int steps, uint64_t *first, uint64_t *end);
/* The first of STEPS at or after *ROW, which is of block K, and those of them after it: *ROW to
 * *END. Returns 1, 0 (there is none) or an error. */
int nav_step_next(struct trod_nav *nav, size_t k, int steps, uint64_t *row, uint64_t *end);

/* Prepare REGS with what is known before row *FIRST, of the step that ROW lies in. */
int nav_regs_at(struct trod_nav *nav, uint64_t row, struct nav_regs *regs, uint64_t *first);

/* An access as bytes in memory. */
struct nav_access {
    uint64_t addr;
    uint32_t size;
    bool reads, writes;
    bool values; /* the row says what they are, at least in part */
    uint8_t room[8];
    const uint8_t *value, *unknown, *unwritten; /* least significant first; masks may be NULL */
    bool big;
    bool valueless; /* a write whose value the trace does not give */
};

/* What row I of B does to memory; false where it is no access. BIG: byte order of values. */
bool nav_access_of(const struct trod_batch *b, uint32_t i, bool big, struct nav_access *out);

/* Byte K of access A: 1 and its value, 0: not known, -1: not written. */
int nav_access_byte(const struct nav_access *a, uint32_t k, uint8_t *value);

static inline bool nav_has(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return (b->have & b->has[i] & column) != 0;
}

#endif
