/*
 * phases.h - what the analysis "phases" keeps (phases.c, rows.c), how intervals are put into phases
 * (cluster.c), their working sets (working.c), pictures of how alike they are (picture.c), and the
 * result (result.c).
 *
 * Implements docs/analysing.md, "phases".
 */
#ifndef TROD_ANALYSIS_PHASES_H
#define TROD_ANALYSIS_PHASES_H

#include "trod/analysis.h"
#include "trod/buf.h"
#include "trod/io.h"

enum {
    PHASES_DIMS = 64,    /* the most dimensions */
    PHASES_MOST = 64,    /* the most phases */
    PHASES_FIRST = 1000, /* instructions of an interval at first, where none is asked for */
    PHASES_AUTO = 1000,  /* intervals at the most, where none is asked for */
    PHASES_SETS = 64,    /* the cache: 32 KiB in 8 ways, lines of 64 bytes */
    PHASES_WAYS = 8,
    PHASES_LINE = 64,
    PHASES_AGES = 13, /* of lines (working.c): how far back they were touched before */
    PHASES_FILES = PHASES_AGES - 2, /* in another file */
    PHASES_COLD = PHASES_AGES - 1,  /* never */
    PHASES_LINES = 1 << 20          /* that are remembered; of more a sample */
};

/* In a set of the cache: nothing. */
#define PHASES_NO_LINE UINT64_MAX

/* What an instruction is, for the error of the mix. */
enum phases_category {
    PHASES_UNKNOWN,
    PHASES_BRANCH,
    PHASES_FP,
    PHASES_BOTH,
    PHASES_LOAD,
    PHASES_STORE,
    PHASES_OTHER,
    PHASES_CATEGORIES
};

struct phases_options {
    uint64_t dims, most, seed;
    const char *bb, *picture, *simpoints;
    bool list;
};

struct phases_interval {
    uint64_t first; /* instructions before it */
    uint64_t instructions;
    uint64_t category[PHASES_CATEGORIES];
    uint64_t accesses, misses;   /* of the cache */
    uint64_t fresh[PHASES_AGES]; /* lines touched for the first time in it (working.c) */
    uint32_t phase;
    bool begins; /* it is the first of a file */
};

/* The first access to a line, by a set that was not full: a miss where nothing was before. */
struct phases_cold {
    uint64_t line;
    size_t interval;
};

/* Intervals in phases. */
struct phases_clusters {
    unsigned n, dims;
    size_t points;
    uint32_t *of;                    /* by point */
    double *center;                  /* n * dims */
    double distortion;               /* squares of the distances, summed up */
    double bic[PHASES_MOST + 1];     /* by number of phases, 1 and following */
    double sse[PHASES_MOST + 1];     /* the distortions */
    unsigned start[PHASES_MOST + 1]; /* the runs they are of */
    unsigned tried;                  /* numbers of phases */
    uint64_t members[PHASES_MOST];   /* by phase: intervals */
    uint64_t weight[PHASES_MOST];    /* instructions */
    size_t chosen[PHASES_MOST];      /* the interval nearest to the center */
};

/* Where a stream is. */
struct phases_lane {
    uint64_t next; /* address behind the instruction executed last */
    uint64_t run;  /* instructions of the block in this interval */
    uint32_t head; /* site of its first; TROD_NO_SITE: none */
    uint32_t file;
    bool ended; /* by a branch */
};

/*
 * Of sites before one: how many are of each category, and how many end a block, modulo 2^16.
 * Differences of those of a streak, which has no more sites than a batch has rows, are exact.
 */
enum { PHASES_ENDS = PHASES_CATEGORIES, PHASES_SUMS };

struct phases_sums {
    uint16_t n[PHASES_SUMS];
};

struct phases_state {
    const struct phases_options *opt;
    struct trod_context context;
    size_t dims;                             /* of a vector */
    uint64_t line[PHASES_SETS][PHASES_WAYS]; /* of the cache: those used last come first */
    struct phases_cold cold[PHASES_SETS][PHASES_WAYS]; /* in the order of their accesses */
    uint8_t n_cold[PHASES_SETS];
    struct phases_sums *sums; /* by site, for n_known of them and one more */
    size_t n_known, cap_sums;
    uint32_t *direction_of; /* by site: 1 + its place in direction; 0: none */
    double *direction;      /* dims each */
    size_t n_directions, cap_directions;
    uint64_t *count; /* by site: instructions of the block that begins there, in this interval */
    uint32_t *id;    /* by site: number of the block in the file of vectors, from 1 */
    size_t n_sites, n_ids_of, n_directions_of; /* elements of count, of id, of direction_of */
    uint32_t *touched;                         /* blocks of this interval */
    size_t n_touched, cap_touched;
    uint32_t n_ids;
    struct phases_lane *lane; /* by stream + 1 */
    uint32_t n_lanes;
    struct phases_interval now;
    uint32_t recent[PHASES_SUMS]; /* what is to be added to it (phases_settle) */
    struct phases_interval *interval;
    double *vector; /* by interval: sums, not divided by its instructions */
    size_t n, cap;
    size_t n_begin;            /* intervals that are the first of a file */
    double carry[PHASES_DIMS]; /* what the vector of the interval that goes on has already */
    uint32_t file;             /* of its rows, + 1 */
    bool inside;               /* it is not the first of its file */
    uint64_t length;           /* length of an interval; 0: intervals are ended from outside */
    bool cut;                  /* intervals are ended from outside */
    bool finished;
    struct trod_output *bb;
    struct trod_buf text;
    struct phases_clusters clusters;
    struct phases_working *working; /* NULL: not wanted */
};

/* ---- cluster.c */

/*
 * Put N points of DIMS dimensions into at most MOST clusters, as many as the Bayesian information
 * criterion asks for. 0 or TROD_ERR_NOMEM.
 */
int phases_cluster(struct phases_clusters *c, const double *point, size_t n, unsigned dims,
                   unsigned most, uint64_t seed);
void phases_clusters_free(struct phases_clusters *c);

/*
 * Directions are multiples of this: sums of up to 2^33 instructions times them are exact, so that
 * vectors do not depend on how a run was parted.
 */
#define PHASES_STEP 0x1p-20

/* Element D of the direction that the block at PC is projected to, -1 to 1. */
double phases_direction(uint64_t seed, uint64_t pc, unsigned d);

/* ---- points.c */

/* Write the chosen intervals and their weights where that is asked for. 0 or an error, reported. */
int phases_simpoints(const struct phases_state *s);
/* No file that O asks for is one of the trace of C. 0 or TROD_ERR_USAGE, reported. */
int phases_apart(const struct phases_options *o, const struct trod_context *c);

/* ---- picture.c */

/* How far apart SIZE groups of neighbouring intervals are: SIZE * SIZE, 0 to 1. NULL: no memory. */
double *phases_distances(const struct phases_state *s, size_t size);
/* Write the picture that is asked for. 0 or an error, reported. */
int phases_picture(const struct phases_state *s);

/*
 * ---- png.c: SIZE lines of SIZE shades each as PNG; SIZE is not 0. Returns 0, TROD_ERR_NOMEM, or
 * TROD_ERR_UNSUPPORTED (there is no zlib; reported).
 */

int phases_png(const uint8_t *grey, size_t size, struct trod_buf *out, struct trod_diag *diag);

/* ---- phases.c. 0 or an error. */

/* The lane of STREAM, counted from 1. NULL: no memory. */
struct phases_lane *phases_lane_of(struct phases_state *s, uint32_t stream);
/* What ran of the block of lane L is counted in this interval. */
int phases_count_block(struct phases_state *s, struct phases_lane *l);
int phases_end_interval(struct phases_state *s);
/* The rows that follow are those of FILE (+ 1). */
int phases_begin_file(struct phases_state *s, uint32_t file);
/*
 * Intervals twice as long, until there are fewer than PHASES_AUTO, or one for each file. OPEN: the
 * file of the last one goes on.
 */
int phases_shorten(struct phases_state *s, bool open);
/* Make intervals LENGTH long, which is theirs or a power of two times that; no file goes on. */
int phases_lengthen(struct phases_state *s, uint64_t length);
/* Room for N intervals. */
int phases_room(struct phases_state *s, size_t n);
/* The rows have ended. 0 or an error. */
int phases_finish(struct phases_state *s);

/* ---- rows.c */

/* What streaks consisted of becomes part of the interval: before it ends. */
void phases_settle(struct phases_state *s);
int phases_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to);

/* ---- working.c */

struct phases_working;

/* Remembers MOST lines, and of more a sample. 0 or TROD_ERR_NOMEM; release it with free. */
int phases_working_new(struct phases_working **out, size_t most);
void phases_working_free(struct phases_working *w);
/* The interval touches LINE: FRESH counts it where it is the first time. */
void phases_working_line(struct phases_working *w, uint64_t line, uint64_t fresh[PHASES_AGES]);
/* The interval ends. False: there was no memory. */
bool phases_working_end(struct phases_working *w);
/* Each two neighbours became one: phases_working_join was called for all. */
void phases_working_joined(struct phases_working *w);
/* Intervals will not be joined from here on. */
void phases_working_cut(struct phases_working *w);
/* What follows is another file, whose intervals are not joined with those that ended before. */
void phases_working_file(struct phases_working *w);
/* What was touched so far was never touched. */
void phases_working_forget(struct phases_working *w);
/* Each line that is remembered stands for 2 to the power of this many. */
unsigned phases_working_level(const struct phases_working *w);
/* FRESH of an interval that becomes a part of one twice as long, whose FRESH is the sum of both. */
void phases_working_join(uint64_t fresh[PHASES_AGES]);
/* FRESH, the sum of all intervals so far, becomes that of the one that they are together. */
void phases_working_all(uint64_t fresh[PHASES_AGES]);
/* Different lines touched in an interval. */
uint64_t phases_working_lines(const uint64_t fresh[PHASES_AGES]);
/* ---- save.c */

int phases_merge(void *into, const void *from);
int phases_save(const void *st, struct trod_buf *out);
int phases_load(void *st, struct trod_span in, const uint32_t *sites);

/* ---- result.c */

extern const char *const phases_category_names[PHASES_CATEGORIES];
int phases_result(const void *st, struct trod_result *r);

#endif
