/*
 * match.h - choosing rows: by number, kind, address, pc, time and stream, or by an expression.
 *
 * What `trod view`, `trod convert` and `trod count` mean by --range, --kind, --address and so on.
 * The rules of each option are those of trod-view(1), "Which rows".
 */
#ifndef TROD_MATCH_H
#define TROD_MATCH_H

#include "trod/batch.h"
#include "trod/meta.h"
#include "trod/option.h"
#include "trod/symbols.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The rows wanted. All zero: every row. What is set must all hold. Addresses are ranges LO..HI or
 * names of functions and objects in the files of SYMBOLS.
 */
struct trod_match_options {
    size_t struct_size;             /* sizeof the struct; 0 stands for its size in version 0 */
    struct trod_range range;        /* rows, counted from 0 */
    struct trod_range instructions; /* instruction numbers of the trace */
    struct trod_range time;         /* in the unit of the trace, without decimals */
    struct trod_list address;       /* rows that touch a byte of one: virtual, else physical */
    struct trod_list pc;            /* of the row's instruction */
    struct trod_list without_pc;    /* of instructions that are left out */
    struct trod_list kinds;         /* names of kinds; MEMORY: READ, WRITE and ATOMIC */
    struct trod_list streams;       /* names, thread ids, "#N" */
    struct trod_list registers;     /* REG rows of registers of these names, in any case */
    struct trod_list symbols;       /* ELF files: "PATH" or "PATH@ADDRESS" (trod_symbols_add) */
    const char *text;    /* rows whose text or disassembly matches: POSIX extended expression */
    const char *where;   /* rows for which this expression holds (trod/where.h) */
    const char *modules; /* a list of modules whose files are symbols too (trod_symbols_modules) */
};

/* The options that fill it, for trod_option_spec and command lines. */
extern const struct trod_option trod_match_option_table[];

/* Matching in progress: how many rows went by, which streams are wanted. */
struct trod_match;
struct trod_format;

/*
 * Begin to match by OPT, whose texts must outlive *OUT. Returns 0, TROD_ERR_NOMEM, TROD_ERR_USAGE
 * (a kind or symbol that does not exist, a range or expression that is none, options of another
 * version) or what trod_symbols_add and trod_symbols_modules return; all reported but
 * TROD_ERR_NOMEM. Release it with trod_match_free; NULL is allowed.
 */
int trod_match_new(struct trod_match **out, const struct trod_match_options *opt,
                   struct trod_diag *diag);
void trod_match_free(struct trod_match *m);

/*
 * The trace is a single file: where it names no streams, each of which would number its own
 * instructions, these numbers rise, and trod_match_done is true after the last one wanted.
 */
void trod_match_single(struct trod_match *m);

/*
 * The rows come from format F. trod_match_need and trod_match_shapes then know whether option kinds
 * can also mean names of F's records (trod_format.sub_name), and can rule out more rows.
 */
void trod_match_format(struct trod_match *m, const struct trod_format *f);

/* The symbols of OPT's files, NULL if there are none; they belong to M. */
struct trod_symbols *trod_match_symbols(const struct trod_match *m);

/*
 * Leave out the first SKIP of the rows that match, and all that come after TAKE more (UINT64_MAX:
 * none); trod_match_done is true when these have been found. To be called before the first batch.
 */
void trod_match_window(struct trod_match *m, uint64_t skip, uint64_t take);

/* No row from row END of the trace on can match: trod_match_done is true there. */
void trod_match_end(struct trod_match *m, uint64_t end);

/* Columns that matching needs: enum trod_column bits. */
uint32_t trod_match_want(const struct trod_match *m);

/* What it may leave out: enum trod_drop bits, for struct trod_writer_options. */
uint32_t trod_match_drops(const struct trod_match *m);

/*
 * Rows a batch for trod_trace_open: few where few are wanted, so that nothing after them is read;
 * 0: any number.
 */
uint32_t trod_match_rows(const struct trod_match *m);

/*
 * Decide which rows of B, the next batch of the trace, match; where the trace skips rows, B's first
 * says how many came before. Returns how many match, or TROD_ERR_NOMEM.
 */
int trod_match_batch(struct trod_match *m, const struct trod_batch *b);

/*
 * The same for a batch that does not follow the one before: its first row is row FIRST of the
 * trace, and no row before it is after those judged so far. Only where trod_match_anywhere.
 */
int trod_match_batch_at(struct trod_match *m, const struct trod_batch *b, uint64_t first);

/*
 * There is a gap before the next batch: rows in it that belong to an instruction in the gap are
 * treated as rows without one.
 */
void trod_match_jump(struct trod_match *m);

/* By row of the last batch, 1 wanted, 0 not: for trod_batch_keep. Valid until the next batch. */
const uint8_t *trod_match_keep(const struct trod_match *m);
/* Is nothing filtered out at all? */
bool trod_match_all(const struct trod_match *m);
/* Can no row after the last batch match? */
bool trod_match_done(const struct trod_match *m);
/* Rows of the trace up to the end of the last batch, skipped ones included. */
uint64_t trod_match_seen(const struct trod_match *m);
/* Rows that matched so far, those outside of trod_match_window included. */
uint64_t trod_match_found(const struct trod_match *m);

/*
 * May several threads, each with a match of the same options, share out the batches of a trace? Not
 * where the choice depends on rows of earlier batches or on their number, or where reading ends
 * before the trace does. The number of a row then follows from trod_batch.first. After the last
 * batch trod_match_join adds what OTHER has counted to M.
 */
bool trod_match_apart(const struct trod_match *m);
void trod_match_join(struct trod_match *m, const struct trod_match *other);

/* May trod_match_batch_at be used? Not where the choice depends on how many rows matched before. */
bool trod_match_anywhere(const struct trod_match *m);

/* A set of numbers, if set: N disjoint ranges in ascending order, bounds included. */
enum { TROD_MATCH_SPANS = 16 };
struct trod_match_spans {
    bool set;
    uint32_t n;
    struct {
        uint64_t lo, hi;
    } at[TROD_MATCH_SPANS];
};

/* Conditions that all rows that match fulfil: they are known without reading the trace. */
struct trod_match_need {
    uint32_t kinds;                 /* bits 1 << kind (enum trod_kind) */
    bool bounded;                   /* their address, or a byte they touch, is in LO to HI */
    uint64_t lo, hi;                /* both included */
    uint32_t reach;                 /* instructions may begin as many bytes before LO */
    struct trod_range rows, times;  /* if set: numbers of rows, times */
    struct trod_range numbers;      /* if set: numbers of instructions that they say */
    struct trod_match_spans pcs;    /* addresses of the instructions they belong to */
    struct trod_match_spans values; /* their values */
    bool owners; /* not only instructions match, and it matters which instruction a row belongs to:
                    judge also the rows from the last instruction of its stream on */
};
/* These conditions for M, to *OUT. */
void trod_match_need(const struct trod_match *m, struct trod_match_need *out);

/*
 * trod_match_shapes: does M choose by shape, that is by text, disassembly or opcode? Then
 * trod_match_may sets KEEP (a byte by row) to 1 for rows of B that may match as far as their kind,
 * text and code say, and for instructions also their address and instruction set. It returns the
 * number of these rows, or TROD_ERR_NOMEM. For trod_nav_shapes.
 */
bool trod_match_shapes(const struct trod_match *m);
int trod_match_may(struct trod_match *m, const struct trod_batch *b, uint8_t *keep);

/* What a row says of the flow of the program, itself or by its opcode. */
enum trod_flow {
    TROD_FLOW_BRANCH = 0xf,    /* mask: enum trod_branch */
    TROD_FLOW_MADE = 1 << 4,   /* a conditional branch: execution went on elsewhere, */
    TROD_FLOW_PASSED = 1 << 5, /* or after it; neither: it does not say that */
    TROD_FLOW_KERNEL = 1 << 6, /* privileged code, */
    TROD_FLOW_USER = 1 << 7    /* or a user's program; neither: it does not say that */
};

/*
 * trod_match_classes: does M choose by what many rows have in common, their class? Then
 * trod_match_class sets KEEP (a byte by row) to 1 for rows of B that may match as far as their
 * kind, flags, size, stream and sub say, which other columns they have, and FLOW (a byte by row:
 * enum trod_flow). It returns 0 or more, or TROD_ERR_NOMEM. For trod_nav_classes.
 */
bool trod_match_classes(const struct trod_match *m);
int trod_match_class(struct trod_match *m, const struct trod_batch *b, const uint8_t *flow,
                     uint8_t *keep);

/*
 * Do all rows match that are what trod_match_need describes and neither trod_match_may nor
 * trod_match_class refuses? For trod_nav_tally.
 */
bool trod_match_exact(const struct trod_match *m);

/*
 * At the end of a run: warn to DIAG where the options name streams or kinds that the trace does not
 * have, and name those it has, so that a misspelt name is not taken for an empty result. META is
 * that of the trace.
 */
void trod_match_explain(const struct trod_match *m, const struct trod_meta *meta,
                        struct trod_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
