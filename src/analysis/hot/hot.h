/*
 * hot.h - what the analysis "hot" counts (hot.c, tables.c, wide.c, trips.c, lanes.c), what follows
 * of it (flow.c), and its results (result.c, places.c, like.c).
 *
 * Implements docs/analysing.md, "hot".
 */
#ifndef TROD_ANALYSIS_HOT_H
#define TROD_ANALYSIS_HOT_H

#include "analysis/pairs.h"
#include "trod/analysis.h"
#include "trod/buf.h"

enum { HOT_TOP = 10, HOT_LIKE_NONE = 0, HOT_LIKE_HISTOGRAM };

struct hot_options {
    uint64_t top, line, page; /* rows of a table; bytes */
    uint64_t most;            /* lines of data that are told apart; 0: all */
    int like;
};

/* A block of memory that was touched. */
struct hot_line {
    uint64_t number; /* address >> shift of the table */
    uint64_t n;      /* accesses that touch it */
    uint64_t joined; /* those of them that touch the block before it too */
};

enum { HOT_GROUP_LOG2 = 6, HOT_GROUP = 1 << HOT_GROUP_LOG2 };

/* Blocks that lie beside each other. */
struct hot_group {
    uint64_t number; /* of the first one / HOT_GROUP */
    uint64_t more;   /* bits: blocks that have a line among those of more, too */
};

/* The number of no group. */
#define HOT_NOWHERE UINT64_MAX

/* Where a group is. */
struct hot_place {
    uint64_t number; /* HOT_NOWHERE: the place is empty */
    size_t at;       /* the counter of its first block */
};

/* Where accesses of more than HOT_WIDE blocks begin and end; not where blocks are limited. */
struct hot_edge {
    uint64_t number;     /* of a block */
    uint64_t begin, end; /* accesses whose first, whose last block it is */
};

enum { HOT_WIDE = 1 << 12 };

struct hot_wide {
    struct hot_edge *edge; /* in no order; a block may have several */
    size_t n, cap;
};

/* Blocks FIRST to LAST, each of which N of those accesses touch. */
struct hot_stretch {
    uint64_t first, last, n;
};

/* All blocks that they touch, in order. */
struct hot_cover {
    struct hot_stretch *at;
    size_t n;
};

/* Counters of blocks: most accesses are counted by 32 bits, in little memory for what is touched
 * at once. */
struct hot_lines {
    struct hot_group *group;
    uint32_t *count; /* accesses: HOT_GROUP for each group */
    size_t n_groups, cap_groups, cap_count;
    struct hot_place *place; /* open addressing; n_places: a power of two or 0 */
    size_t n_places;
    struct hot_line *more; /* what groups do not hold: joined accesses, 2^32 and more; n 0: empty */
    size_t n_more, size_more; /* size_more: a power of two or 0 */
    unsigned hash, hash_more; /* 64 - log2 of the sizes */
    size_t n;                 /* blocks, without those that only WIDE touches */
    unsigned shift;           /* log2 of the bytes of a block */
    unsigned line;            /* log2 of the bytes of a line: of a block before it becomes larger */
    struct hot_wide wide;     /* accesses to very many blocks, which the counters do not have */
};

/* The trips of a loop: of entries that are over. */
struct hot_trip {
    uint32_t site; /* of its head */
    uint64_t least, most, entries;
};

/* Of an entry that is not. */
struct hot_going {
    uint64_t trips; /* 0: not entered */
    uint64_t first; /* those of the entry before the first one of the lane, once that is over */
    bool partly;    /* it was not entered in this trace */
};

/*
 * The last successor of a site, other than the site with the next number that lies behind it: by a
 * jump, and without one. Counts here are added to the jumps and steps of the state only when the
 * site gets another successor or 32 bits are full.
 */
struct hot_back {
    uint32_t to;   /* of the jump: site + 1, and HOT_LOOP if it goes back to the head of a loop */
    uint32_t n;    /* jumps */
    uint32_t on;   /* without one: site + 1 */
    uint32_t n_on; /* how often */
};

/* Sites have smaller numbers (engine/sites.h). */
#define HOT_LOOP UINT32_C(0x80000000)

/* The site that BACK jumped to, which it did. */
static inline uint32_t hot_back_to(const struct hot_back *back)
{
    return (back->to & ~HOT_LOOP) - 1;
}

/* The instruction executed last. */
struct hot_here {
    uint64_t next;   /* the address behind it */
    uint32_t site;   /* TROD_NO_SITE: none */
    uint32_t before; /* site of the one executed before it */
};

/* Whether a jump goes back to the head of a loop depends on as many instructions before it. */
enum { HOT_FIRST = 2 };

/* Where a stream is. */
struct hot_lane {
    struct hot_here here;
    uint32_t file;
    /*
     * A lane whose beginning is not known: its part may begin inside the file. Its first
     * instructions are not counted yet but wait. They are those of SITE; JUMPED: not behind the one
     * before, which is known of all but the first. That one lies at PC.
     */
    bool open;
    uint8_t n_first;
    struct {
        uint32_t site;
        bool jumped;
    } first[HOT_FIRST];
    uint64_t pc;
    uint64_t *ran;  /* bits by site: it was executed */
    uint8_t *quiet; /* bits by site, the lowest first: executed, and not the head of a loop */
    size_t n_ran, n_quiet;
    struct hot_going *trips; /* by number of the head */
    size_t n_trips;
};

struct hot_state {
    const struct hot_options *opt;
    struct trod_context context;
    /*
     * By site: executions that were fetched, as steps (by_site.h). Those that follow from jumps in
     * back, and from where lanes are, are not yet among them (hot_add_steps).
     */
    uint64_t *fetched;
    uint64_t *again;       /* by site: executions without a fetch; few programs have any */
    size_t n_ran, n_again; /* elements */
    uint64_t nowhere;      /* instructions without an address */
    /*
     * executions of one site behind another that does not end where it begins; without those in
     * back (hot_jumps)
     */
    struct trod_pairs jumps;
    struct hot_lines data, code; /* CODE: fetches that are no instructions */
    uint32_t *head_of;           /* by site: 1 + number of the head it is; 0: none */
    uint64_t *heads;             /* bits by site: it is one */
    struct hot_back *back;       /* by site */
    size_t n_head_of, n_heads, n_back;
    struct hot_trip *trip; /* by number of the head */
    size_t n_trip, cap_trip;
    struct hot_lane *lane; /* by stream + 1; [0]: rows without a stream */
    uint32_t n_lanes;
    struct trod_meta
        *own; /* what the streams of a state that was loaded are; NULL: the context's */
};

/* ---- tables.c. Those that add return TROD_OK or TROD_ERR_NOMEM. */

/* An access to [ADDR, ADDR + SIZE). MOST: blocks at the most, or 0. */
int hot_lines_touch(struct hot_lines *t, uint64_t addr, uint64_t size, uint64_t n, uint64_t most);
/* The accesses of rows [FROM, TO) of B that are not looked at by themselves (trod/streak.h). */
int hot_lines_rows(struct hot_lines *t, const struct trod_batch *b, uint32_t from, uint32_t to,
                   uint64_t most);
/* LINE, whose n is not 0, on top of what T has of that block. */
int hot_line_add(struct hot_lines *t, const struct hot_line *line, uint64_t most);
int hot_lines_merge(struct hot_lines *into, const struct hot_lines *from, uint64_t most);
/* A copy of T with blocks of 1 << SHIFT bytes, or T's own if those are larger. */
int hot_lines_copy(struct hot_lines *to, const struct hot_lines *t, unsigned shift);
void hot_lines_free(struct hot_lines *t);
/*
 * The next block of T that has LEAST accesses or more, without those of t->wide, in no order; *AT
 * is 0 for the first, LEAST is not 0. False: there are no more.
 */
bool hot_lines_next(const struct hot_lines *t, size_t *at, uint64_t least, struct hot_line *line);
/* Does hot_lines_next find block NUMBER? */
bool hot_lines_has(const struct hot_lines *t, uint64_t number);
/* The sum of the accesses of blocks; one of two blocks counts twice. */
uint64_t hot_lines_touches(const struct hot_lines *t);

/* ---- wide.c */

/* N accesses to blocks FIRST to LAST. 0 or TROD_ERR_NOMEM. */
int hot_wide_add(struct hot_wide *w, uint64_t first, uint64_t last, uint64_t n);
/* What FROM has, in blocks that are 1 << WIDER of FROM's, on top of INTO. 0 or TROD_ERR_NOMEM. */
int hot_wide_merge(struct hot_wide *into, const struct hot_wide *from, unsigned wider);
/* The sum over the blocks of the accesses that touch them. */
uint64_t hot_wide_touches(const struct hot_wide *w);
/* W as bytes: 0 or TROD_ERR_NOMEM. Those of IN into the empty W: also TROD_ERR_CORRUPT. */
int hot_wide_save(const struct hot_wide *w, struct trod_buf *out);
int hot_wide_load(struct hot_wide *w, struct trod_span *in);
void hot_wide_free(struct hot_wide *w);
/* The blocks that W touches, to be released with hot_cover_free. 0 or TROD_ERR_NOMEM. */
int hot_cover_init(struct hot_cover *c, const struct hot_wide *w);
void hot_cover_free(struct hot_cover *c);
/* Number of blocks that T touches; C: what t->wide covers. */
uint64_t hot_cover_blocks(const struct hot_cover *c, const struct hot_lines *t);
/*
 * The MOST blocks of T with most accesses, in order: *N of them; C: what t->wide covers. NULL: no
 * memory.
 */
struct hot_line *hot_lines_top(const struct hot_lines *t, const struct hot_cover *c, size_t most,
                               size_t *n);

/* ---- hot.c */

int hot_init(void *st, const void *opt, const struct trod_context *context);
void hot_fini(void *st);
/* Room for N sites. */
int hot_room(struct hot_state *s, size_t n);
unsigned hot_log2(uint64_t v);

/* ---- steps.c */

/* The jumps of S, to be released as pairs are. 0 or TROD_ERR_NOMEM. */
int hot_jumps(struct trod_pairs *all, const struct hot_state *s);
/* The steps of executions that were fetched on top of the S->n_ran at TO. */
void hot_add_steps(const struct hot_state *s, uint64_t *to);
/* Executions of each site that were fetched, S->n_ran of them. NULL: no memory. */
uint64_t *hot_fetched(const struct hot_state *s);
/* Executions of SITE without a fetch. */
static inline uint64_t hot_again(const struct hot_state *s, size_t site)
{
    return site < s->n_again ? s->again[site] : 0;
}
/* N executions of SITE without a fetch. 0 or TROD_ERR_NOMEM. */
int hot_add_again(struct hot_state *s, size_t site, uint64_t n);
/* The jumps that back has of site FROM become jumps of S. 0 or TROD_ERR_NOMEM. */
int hot_settle_back(struct hot_state *s, uint32_t from);
/* What back has of site FROM without a jump becomes steps of S. */
void hot_settle_on(struct hot_state *s, uint32_t from);
/* SITE, whose number is not the next one, is executed directly behind HERE. */
void hot_goes_on(struct hot_state *s, const struct hot_here *here, uint32_t site);
/* What is executed behind HERE lies elsewhere among the sites. */
static inline void hot_leave(struct hot_state *s, const struct hot_here *here)
{
    if (here->site != TROD_NO_SITE)
        s->fetched[(size_t)here->site + 1]--;
}

/* ---- trips.c. 0 or an error. */

int hot_trips_room(struct hot_state *s, size_t n);
/*
 * Lane L executes N instructions from SITE on; JUMPED: the first does not lie behind L's last. Of
 * an open lane the first HOT_FIRST ones wait.
 */
int hot_trips_count(struct hot_state *s, struct hot_lane *l, uint32_t site, uint32_t n,
                    bool jumped);
/* The trips of lane L of S go on with those of P, a lane of T; T's heads are heads of S. */
int hot_trips_follow(struct hot_state *s, struct hot_lane *l, const struct hot_state *t,
                     const struct hot_lane *p);
/* L executes nothing more. */
void hot_trips_end(struct hot_state *s, struct hot_lane *l);
/* Trips of the loop whose head is SITE and which was entered ENTRIES times. False: not known. */
bool hot_trips_of(const struct hot_state *s, uint32_t site, uint64_t entries, uint64_t *least,
                  uint64_t *most);
int hot_trips_merge(struct hot_state *s, const struct hot_state *from);
int hot_trips_save(const struct hot_state *s, struct trod_buf *out);
int hot_trips_load(struct hot_state *s, struct trod_span *in, uint64_t n_sites,
                   const uint32_t *sites);
/* The entries of open lane L that are not over, as bytes; those of IN come to the empty L. */
int hot_trips_save_lane(const struct hot_state *s, const struct hot_lane *l, struct trod_buf *out);
int hot_trips_load_lane(struct hot_state *s, struct hot_lane *l, struct trod_span *in,
                        uint64_t n_sites, const uint32_t *sites);
void hot_trips_free(struct hot_state *s);

/* ---- lanes.c: parts of a file, put together. 0 or an error. */

extern const struct hot_lane hot_nowhere;

/* The lane of STREAM, counted from 1, begun anew where the rows are those of another file. NULL: no
 * memory. */
struct hot_lane *hot_lane(struct hot_state *s, uint32_t stream, uint32_t file);
/*
 * No more rows of FILE will come, and none are missing: its lanes begin at the beginning of the
 * file.
 */
int hot_lanes_settle(struct hot_state *s, uint32_t file);
/* Join the open lanes of T to those of S, whose counters already have what T counted. */
int hot_lanes_merge(struct hot_state *s, const struct hot_state *t);
/*
 * S as it is if all its lanes begin with their files: S itself or, if some are open, a copy in
 * ROOM, all zero before, to be released with hot_lanes_end. NULL: no memory.
 */
const struct hot_state *hot_lanes_begun(struct hot_state *room, const struct hot_state *s);
void hot_lanes_end(struct hot_state *room);
/* 1 more than the highest site whose execution waits. */
size_t hot_lanes_sites(const struct hot_state *s);
int hot_lanes_save(const struct hot_state *s, struct trod_buf *out);
int hot_lanes_load(struct hot_state *s, struct trod_span *in, uint64_t n_sites,
                   const uint32_t *sites);
void hot_lanes_free(struct hot_state *s);

/* ---- save.c */

int hot_merge(void *into, const void *from);
int hot_save(const void *st, struct trod_buf *out);
int hot_load(void *st, struct trod_span in, const uint32_t *sites);

/* ---- insns.c, flow.c: the static program, as far as it ran */

enum { HOT_SIZE_BITS = 28, HOT_SIZE_MAX = (1 << HOT_SIZE_BITS) - 1 };

struct hot_insn {
    uint64_t pc;
    uint64_t n; /* executions */
    uint32_t site;
    uint32_t size : HOT_SIZE_BITS; /* bytes */
    bool begins : 1;               /* a block */
    bool branch : 1;               /* it may go elsewhere */
    bool returns : 1;              /* calls, returns, system calls: where they go is no loop */
    bool unsaid : 1;               /* nothing says whether it is a branch */
};

struct hot_block {
    size_t first, n; /* instructions */
    uint64_t executions, executed;
};

struct hot_loop {
    uint64_t head, back; /* addresses: of the first instruction, of the last that goes back */
    uint64_t iterations, entries;
    uint64_t executed; /* instructions from HEAD to BACK */
    uint32_t edges;    /* that go back */
    uint32_t from;     /* site of the last one of them */
    uint32_t site;     /* of HEAD */
    uint32_t first;    /* its number among the instructions */
};

struct hot_flow {
    struct hot_insn *insn; /* by address */
    size_t n;
    uint64_t executed; /* in all, those without an address too */
    bool unsaid;       /* of some nothing says whether they are branches */
    struct hot_block *block;
    size_t n_blocks;
    struct hot_loop *loop;
    size_t n_loops, cap_loops;
};

/* Rows of a table that has N. */
static inline size_t hot_rows(const struct hot_state *s, uint64_t n)
{
    return (size_t)(s->opt->top && s->opt->top < n ? s->opt->top : n);
}

/* Bytes of an instruction, 1 where the trace does not say; HOT_SIZE_MAX stands for all beyond. */
static inline uint32_t hot_size_of(const struct trod_site *site)
{
    const uint32_t n = site->size ? site->size : site->code_n ? site->code_n : 1;

    return n < HOT_SIZE_MAX ? n : HOT_SIZE_MAX;
}

/*
 * May a jump of SITE be that of a loop: is it a branch, but neither call nor return, or may it be
 * one for all that the trace says?
 */
bool hot_loops(struct trod_sites *sites, uint32_t site);
/* Does nothing say whether SITE is a branch? */
bool hot_unsaid(const struct trod_sites *sites, uint32_t site);
/* Do sites A and B lie in the same function, or, where none is known, in the same module? */
bool hot_same_function(const struct hot_state *s, uint32_t a, uint32_t b);
/* The instructions of F. 0 or TROD_ERR_NOMEM. */
int hot_insns(struct hot_flow *f, const struct hot_state *s);
/* 0 or TROD_ERR_NOMEM. Release with hot_flow_fini either way. */
int hot_flow_init(struct hot_flow *f, const struct hot_state *s);
void hot_flow_fini(struct hot_flow *f);
/* Blocks of 1 << SHIFT bytes of fetched code, instructions of F and S's other fetches. */
int hot_code_lines(struct hot_lines *to, const struct hot_state *s, const struct hot_flow *f,
                   unsigned shift);

/* ---- result.c, places.c, like.c */

/* Share and cumulated share of a table. */
struct hot_share {
    uint64_t total, sum;
};
void hot_put_share(struct trod_result *r, struct hot_share *share, uint64_t n);
int hot_result(const void *st, struct trod_result *r);
/* Functions, source lines and files; lines and pages. 0 or TROD_ERR_NOMEM. */
int hot_put_places(const struct hot_state *s, const struct hot_flow *f, struct trod_result *r);
int hot_put_memory(const struct hot_state *s, const struct hot_flow *f, struct trod_result *r);
int hot_layout(const void *st, struct trod_buf *out);

#endif
