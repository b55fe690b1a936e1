/*
 * deps.h - what the analysis "deps" keeps (deps.c), how values flow through registers (flow.c,
 * streaks.c) and memory (memory.c), what instructions read and write (places.c), and the result
 * (result.c).
 *
 * Implements docs/analysing.md, "deps".
 */
#ifndef TROD_ANALYSIS_DEPS_H
#define TROD_ANALYSIS_DEPS_H

#include "trod/analysis.h"
#include "trod/buf.h"

enum {
    DEPS_BINS = 76,       /* distances: 0 to 15 one by one, then by powers of two */
    DEPS_CONFIGS = 16,    /* windows times widths */
    DEPS_LANES = 2,       /* configurations that are handled at once */
    DEPS_WINDOW = 65536,  /* the largest window */
    DEPS_LATENCY = 10000, /* the longest latency */
    DEPS_REGS = 256,
    DEPS_PART = 16384,   /* instructions whose producers are remembered for the critical path */
    DEPS_PARTS = 8192,   /* after so many, what sites count in 32 bits is added to the rest */
    DEPS_SITES = 256,    /* of a chunk */
    DEPS_FIT = 8,        /* registers in what is kept of a site */
    DEPS_GROUPS = 65535, /* instructions of the largest group */
    DEPS_NEAR = 16,      /* distances below are bins of their own */
    DEPS_STORES = 64     /* of one instruction that wait for its end */
};

/* Classes of instructions, each with a latency. */
enum deps_class {
    DEPS_INT,
    DEPS_MUL,
    DEPS_DIV,
    DEPS_FP,
    DEPS_FP_DIV,
    DEPS_LOAD,
    DEPS_STORE,
    DEPS_BRANCH,
    DEPS_SYSTEM,
    DEPS_UNKNOWN,
    DEPS_CLASSES
};

/* What is counted by site. */
enum deps_what {
    DEPS_CRITICAL,   /* cycles on critical paths */
    DEPS_STALL,      /* uses of loaded values that are not there yet */
    DEPS_GROUP,      /* uses of registers written in the same group */
    DEPS_REFETCH,    /* loads of what was stored in the same group */
    DEPS_SPLIT,      /* loads of bytes that one store gives in part only */
    DEPS_MISALIGNED, /* operands */
    DEPS_WHATS
};

struct deps_options {
    struct trod_list window, width, latency;
    uint64_t group, most, top;
};

/* How a load lies to the stores that its bytes come from. */
enum deps_overlap {
    DEPS_EXACT,   /* one store of the same bytes */
    DEPS_INSIDE,  /* one store of these bytes and others */
    DEPS_PARTIAL, /* one store and what was in memory before */
    DEPS_SEVERAL, /* several stores */
    DEPS_OVERLAPS
};

/* 64-bit numbers only: they are merged and saved as an array. */
struct deps_sums {
    uint64_t instructions, unknown, skipped;
    uint64_t by_class[DEPS_CLASSES];
    uint64_t loads, stores;
    uint64_t loaded, unused; /* registers: by loads; of these, written again without a use */
    uint64_t overlap[DEPS_OVERLAPS];
    uint64_t spills, reloads;
    uint64_t forgotten; /* times that what was stored was forgotten */
    uint64_t stall_cycles;
    uint64_t what[DEPS_WHATS];
    uint64_t cycles; /* with no bounds */
    uint64_t bounded[DEPS_CONFIGS];
    uint64_t registers[DEPS_BINS], load_use[DEPS_BINS], forward[DEPS_BINS], between[DEPS_BINS];
    uint64_t reload[DEPS_BINS];
};

enum deps_site_flag {
    DEPS_JUMP = 1 << 0,  /* it ends a group */
    DEPS_STACK = 1 << 1, /* it names the stack pointer and is no call or return */
    DEPS_FRAME = 1 << 2, /* the same of the frame pointer */
};

/* Data that every execution of a site needs: half a cache line. */
struct deps_site {
    uint32_t ran;     /* executions that were not counted yet (count_ran) */
    uint32_t grouped; /* of these, those that use a register written in the same group */
    uint32_t stalled; /* uses of loaded values that are not there yet, by these */
    uint16_t latency;
    uint16_t limit; /* its place in a group is below this */
    uint8_t flags, class;
    uint8_t n_reads, n_loaded, n_writes; /* n_writes: without those that have what is loaded */
    uint8_t shape;                       /* deps_shape of these; 0: not met yet */
    union {
        uint8_t reg[DEPS_FIT]; /* those read, loaded and written otherwise */
        uint32_t pool;         /* where they begin there, if they are more */
    };
};

/* Numbers of registers that most instructions have: each has an unrolled form of the loop. */
enum {
    DEPS_READS = 4,
    DEPS_WRITES = 2,
    DEPS_SHAPE_LOAD = 1 + (DEPS_READS + 1) * (DEPS_WRITES + 1),
    DEPS_SHAPE_ANY = DEPS_SHAPE_LOAD + DEPS_READS + 1
};

#define DEPS_SHAPE(reads, writes) (1u + (reads) * (DEPS_WRITES + 1u) + (writes))

/* What was found out of it. */
struct deps_counts {
    uint64_t executed;
    uint64_t count[DEPS_WHATS];
};

/* ---- memory.c: which store wrote a byte last */

/* A store of which some bytes were not overwritten. */
struct deps_record {
    uint64_t at; /* number of the instruction that stored */
    uint64_t ready, addr;
    uint64_t stored; /* bytes stored by then, these included */
    uint16_t size;
    uint16_t visible; /* bytes that were not overwritten; 0: free, next in addr */
    bool stack, reloaded;
};

enum {
    DEPS_LINE = 64,
    DEPS_WORD = 8,
    DEPS_WORDS = DEPS_LINE / DEPS_WORD,
    DEPS_FRONT = 4096, /* records that are found by an address at once; a power of two */
    DEPS_FETCH = 4096  /* lines: tables that are larger are not in the nearest caches */
};

/* In place of a record: the number of a deps_mixed. */
#define DEPS_MIXED (UINT32_C(1) << 31)

/* Which store wrote the bytes of a line, by words of 8 bytes: one cache line. */
struct deps_line {
    uint64_t number;         /* of the line: address / DEPS_LINE */
    uint64_t epoch;          /* that of the table; another one: unused */
    uint32_t by[DEPS_WORDS]; /* the record that the known bytes of a word are of; DEPS_MIXED */
    uint8_t has[DEPS_WORDS]; /* bits of the bytes of a word that are known */
    uint64_t unused;
};

/* The record that each byte of a word is of, where they are several; 0: not known. */
struct deps_mixed {
    uint32_t by[DEPS_WORD]; /* free: the first is the number of the next one */
};

struct deps_memory {
    void *room;
    struct deps_line *line; /* in it; open addressing, half full at the most */
    size_t n, size;
    unsigned shift;
    uint64_t epoch;             /* of the lines that are used */
    uint32_t *front;            /* by an address: a record that may have what is there */
    struct deps_record *record; /* from 1; 0 has no bytes */
    double *ready;              /* by record: of each configuration */
    uint32_t n_records, cap;
    uint32_t free;            /* first of the free ones */
    struct deps_mixed *mixed; /* from 1 */
    uint32_t n_mixed, cap_mixed, free_mixed;
    unsigned stride;
    uint64_t stored; /* bytes so far */
};

struct deps_store {
    uint64_t at, addr, ready;
    uint32_t size;
    bool stack;
};

/* What the bytes of a load come from. */
struct deps_found {
    uint32_t youngest; /* record; 0: nothing is known */
    enum deps_overlap overlap;
    uint64_t ready, from; /* the latest store, and when it is done */
};

/* Note a store, done at READY and READY_OF[stride]. 0 or TROD_ERR_NOMEM. */
int deps_memory_store(struct deps_memory *m, const struct deps_store *store, const double *ready_of,
                      uint64_t most, uint64_t *forgotten);
/* Find the stores that a load gets its bytes from, and make LATEST[stride] as late as they are. */
void deps_memory_load(const struct deps_memory *m, uint64_t addr, uint32_t size,
                      struct deps_found *f, double *latest);
void deps_memory_clear(struct deps_memory *m);
void deps_memory_free(struct deps_memory *m);

/* Where the search for line NUMBER begins. */
static inline size_t deps_home(const struct deps_memory *m, uint64_t number)
{
    return (size_t)((number ^ number >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> m->shift);
}

/*
 * Prefetch the line of ADDR. Returns where its word will have the number of a record, for
 * deps_fetch_record some time later: the place stays valid while the table lives. There are lines.
 */
static inline size_t deps_fetch_line(const struct deps_memory *m, uint64_t addr)
{
    const size_t home = deps_home(m, addr / DEPS_LINE);

    __builtin_prefetch(&m->line[home]);
    return home * DEPS_WORDS + addr % DEPS_LINE / DEPS_WORD;
}

/* Prefetch the record of a word, which may be that of another line or an old one. */
static inline void deps_fetch_record(const struct deps_memory *m, size_t word)
{
    const uint32_t by = m->line[word / DEPS_WORDS].by[word % DEPS_WORDS];

    __builtin_prefetch(&m->record[by & DEPS_MIXED ? 0 : by], 1);
}

/* Is it certain without a search that there was no store to SIZE bytes at ADDR? There are lines. */
static inline bool deps_memory_none(const struct deps_memory *m, uint64_t addr, uint32_t size)
{
    return m->line[deps_home(m, addr / DEPS_LINE)].epoch != m->epoch &&
           addr % DEPS_LINE + size <= DEPS_LINE;
}

static inline uint32_t *deps_front(const struct deps_memory *m, uint64_t addr)
{
    return &m->front[(addr * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

/* Does R have all SIZE bytes at ADDR, and no others? Then single bytes need not be looked up. */
static inline bool deps_has_all(const struct deps_record *r, uint64_t addr, uint32_t size)
{
    return r->visible == r->size && size - 1 < r->size && addr - r->addr <= r->size - size;
}

/* As deps_memory_store, with no configurations, where the store is one that was there before. */
static inline bool deps_memory_again(struct deps_memory *m, const struct deps_store *store)
{
    struct deps_record *r;

    if (!m->size)
        return false;
    r = &m->record[*deps_front(m, store->addr)];
    if (r->addr != store->addr || r->size != store->size || r->visible != store->size)
        return false;
    m->stored += store->size;
    r->at = store->at;
    r->ready = store->ready;
    r->stored = m->stored;
    r->stack = store->stack;
    r->reloaded = false;
    return store->size != 0;
}

/* ---- places.c: what instructions read and write */

/* Begins with a cache line, so that none of its sites lies in two. */
struct deps_chunk {
    struct deps_site site[DEPS_SITES];
    struct deps_counts counts[DEPS_SITES];
};

enum { DEPS_LIKE_BITS = 11, DEPS_LIKE_LEAST = 6 };

/* A site that was decoded: others with the same instruction read and write the same. */
struct deps_like {
    const struct trod_insn *insn; /* NULL: none */
    uint32_t site;
    uint8_t isa, branch;
};

struct deps_places {
    struct deps_chunk **chunk;
    size_t n_chunks;
    uint8_t *pool; /* registers */
    size_t n_pool, cap_pool;
    char (*name)[24]; /* of register 1 and following */
    unsigned n_names;
    uint8_t *map; /* by instruction set and number of the decoder: register; 0: not seen yet */
    struct deps_like *like; /* by hash of the instruction; NULL: none so far */
    unsigned like_bits;     /* 1 << like_bits of them */
    uint32_t n_met;         /* sites since there were so many */
};

/* What options say of sites. */
struct deps_limits {
    uint16_t latency[DEPS_CLASSES];
    uint16_t group; /* instructions */
};

/* Site NUMBER, decoded when it is met first. NULL: no memory. */
struct deps_site *deps_site_new(struct deps_places *p, struct trod_sites *sites, uint32_t number,
                                enum trod_isa isa, const struct deps_limits *limits);
/* The same if it was met before or anything else is known of it; else NULL. */
static inline struct deps_site *deps_site_at(const struct deps_places *p, uint32_t number)
{
    const size_t chunk = number / DEPS_SITES;

    if (chunk >= p->n_chunks || !p->chunk[chunk])
        return NULL;
    return &p->chunk[chunk]->site[number % DEPS_SITES];
}

/* What was counted of it: NULL as above. */
static inline struct deps_counts *deps_counts_at(const struct deps_places *p, uint32_t number)
{
    const size_t chunk = number / DEPS_SITES;

    if (chunk >= p->n_chunks || !p->chunk[chunk])
        return NULL;
    return &p->chunk[chunk]->counts[number % DEPS_SITES];
}

/* The place of site NUMBER, not decoded. NULL: no memory. */
struct deps_counts *deps_site_room(struct deps_places *p, uint32_t number);
void deps_places_free(struct deps_places *p);

/* ---- the state */

/* A machine that takes WIDTH instructions a cycle into a window of WINDOW; 0: no bound. */
struct deps_config {
    uint32_t window, width, entered;
    double enter;
};

#define DEPS_LOADED (UINT64_C(1) << 63)

/* An instruction for the critical path: its site, and how far back what it waited for longest is.
 */
struct deps_step {
    uint32_t site;
    uint32_t back; /* 0: nothing; DEPS_FAR: or more; with DEPS_SKIPPED: it was not executed */
};

enum { DEPS_FAR = UINT16_MAX, DEPS_SKIPPED = 1 << 30 };

/* The instruction that is being looked at: step[(n - 1) % DEPS_PART] knows the number of its site.
 */
struct deps_now {
    struct deps_site *site; /* that called nothing, if it has none */
    uint64_t n;             /* its number; DEPS_PART: there is none yet */
    uint64_t start;         /* when it can begin */
    uint32_t back;          /* how far what it waits for is, DEPS_FAR at most; 0: nothing */
    uint32_t place;         /* in its group, from 0 */
    bool open;              /* its end is not seen yet */
};

/* What goes on: nothing of it is merged or saved. */
struct deps_live {
    struct deps_now now;
    /*
     * By register: the number of the instruction that wrote it last; 0: none; with DEPS_LOADED: it
     * was loaded and not used yet. Instructions are numbered from DEPS_PART + 1, so that the
     * distance from a use to 0 is that of a far one: not near.
     */
    uint64_t wrote[DEPS_REGS];
    uint64_t ready[DEPS_REGS];  /* when it is there, with no bounds */
    double (*by)[DEPS_CONFIGS]; /* ready, of each configuration, by register; NULL: there is none */
    struct deps_memory memory;
    struct deps_step *step; /* DEPS_PART */
    unsigned parts;         /* since what ran was counted */
    uint64_t cycles;        /* the latest end of an instruction, before this part */
    uint64_t best, best_at; /* the same in this part, and whose */
    uint64_t stack;         /* address of the last access by the stack pointer */
    uint32_t file;
    double latest[DEPS_CONFIGS]; /* when it can begin, of each configuration */
    double done[DEPS_CONFIGS];
    double retired[DEPS_CONFIGS]; /* when all so far have left the window */
    double *ring;                 /* the same of the last instructions, configurations together */
    uint64_t ring_mask;
    struct deps_store store[DEPS_STORES];
    unsigned n_stores;
    int failed; /* TROD_ERR_NOMEM: there was no memory in the middle of a streak */
};

struct deps_state {
    const struct deps_options *opt;
    struct trod_context context;
    struct deps_limits limits;
    struct deps_config config[DEPS_CONFIGS];
    unsigned n_configs, stride; /* stride: padded to whole lanes */
    struct deps_sums sums;
    struct deps_places places;
    struct deps_site nothing; /* stands for what has no site */
    struct deps_site skipped; /* for one that was skipped: it writes nothing */
    struct deps_live live;
};

/* The bin of distance D, and the least distance of bin I. */
static inline unsigned deps_bin(uint64_t d)
{
    return d < 16 ? (unsigned)d : 75u - (unsigned)__builtin_clzll(d);
}

static inline uint64_t deps_bin_least(unsigned i)
{
    return i < 16 ? i : UINT64_C(1) << (i - 12);
}

static inline void deps_later(double *restrict w, const double *restrict r, unsigned stride)
{
    for (unsigned c = 0; c < stride; c += DEPS_LANES)
        for (unsigned k = 0; k < DEPS_LANES; k++)
            w[c + k] = r[c + k] > w[c + k] ? r[c + k] : w[c + k];
}

static inline void deps_copy(double *restrict to, const double *restrict from, unsigned stride)
{
    for (unsigned c = 0; c < stride; c += DEPS_LANES)
        for (unsigned k = 0; k < DEPS_LANES; k++)
            to[c + k] = from[c + k];
}

/* ---- flow.c. 0 or TROD_ERR_NOMEM. */

int deps_flow_rows(struct deps_state *s, const struct trod_batch *b, uint32_t from, uint32_t to);
/* The rows have ended, or others begin: what was is added to the sums and forgotten. */
int deps_flow_end(struct deps_state *s);
void deps_flow_free(struct deps_state *s);

/* ---- result.c */

extern const char *const deps_class_names[DEPS_CLASSES + 1];
int deps_result(const void *st, struct trod_result *r);

/* ---- owners.c: dependences by module, function or line. 0 or TROD_ERR_NOMEM. */

int deps_put_owners(const struct deps_state *s, struct trod_result *r);

/* ---- weigh.c: cycles by row */

extern const struct trod_weigher deps_weigher;

/* ---- save.c */

int deps_merge(void *into, const void *from);
int deps_save(const void *st, struct trod_buf *out);
int deps_load(void *st, struct trod_span in, const uint32_t *sites);

#endif
