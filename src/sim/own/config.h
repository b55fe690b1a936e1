/*
 * config.h - hierarchies of caches and TLBs in trod's own words.
 *
 * Implements docs/caches.md, "Configuration".
 */
#ifndef TROD_SIM_OWN_CONFIG_H
#define TROD_SIM_OWN_CONFIG_H

#include "sim/repl.h"
#include "trod/diag.h"

enum {
    TROD_OWN_CACHES = 12,
    TROD_OWN_TLBS = 8,
    TROD_OWN_RANGES = 32,
    TROD_OWN_NAME = 24,
    TROD_OWN_CORES = 64,
    TROD_OWN_NOT_HERE = 0xff
};

enum trod_own_side { TROD_OWN_BOTH, TROD_OWN_CODE, TROD_OWN_DATA };
/*
 * What a level includes of the caches before it; DATA_INCLUSIVE: not of caches for code alone.
 * EVICTED: lines of data come when a cache before it evicts them, and stay when they are asked for.
 */
enum trod_own_inclusion {
    TROD_OWN_NEITHER,
    TROD_OWN_INCLUSIVE,
    TROD_OWN_EXCLUSIVE,
    TROD_OWN_DATA_INCLUSIVE,
    TROD_OWN_EVICTED
};
enum trod_own_prefetch {
    TROD_OWN_NO_PREFETCH,
    TROD_OWN_NEXT_LINE,
    TROD_OWN_STRIDE,
    TROD_OWN_STREAM,
    TROD_OWN_BEST_OFFSET
};
enum trod_own_flush { TROD_OWN_FLUSH_TLBS = 1, TROD_OWN_FLUSH_CACHES = 2 };

/* Which cores have a cache or TLB, and which of them have it together. */
struct trod_own_home {
    bool shared;
    uint32_t cluster;           /* so many cores together; 0: each has its own, or SHARED */
    uint64_t cores;             /* bits of the cores that have one; 0: all */
    uint32_t instances;         /* how many there are */
    uint8_t of[TROD_OWN_CORES]; /* by core: its instance, NOT_HERE where it has none */
};

struct trod_own_spec {
    char name[TROD_OWN_NAME], next_name[TROD_OWN_NAME];
    unsigned line_number; /* of the configuration */
    uint8_t side, inclusion, prefetch;
    bool through, no_allocate;
    bool incoherent; /* of code: what other cores write stays in it */
    bool elsewhere;  /* own/first.h has its lines: it counts, and is not referenced */
    struct trod_own_home home;
    uint64_t size, sets;
    uint32_t ways, line, victims, degree;
    uint32_t sector; /* bytes of a sub-block; 0: lines come whole */
    struct trod_repl_options policy;
    int16_t next[TROD_OWN_CORES]; /* by core: index; -1: memory */
};

/* Does S include what caches of SIDE before it hold? */
static inline bool trod_own_includes_side(const struct trod_own_spec *s, unsigned side)
{
    return s->inclusion == TROD_OWN_INCLUSIVE ||
           (s->inclusion == TROD_OWN_DATA_INCLUSIVE && side != TROD_OWN_CODE);
}

/* Does S include what any cache before it holds? */
static inline bool trod_own_includes(const struct trod_own_spec *s)
{
    return trod_own_includes_side(s, TROD_OWN_BOTH);
}

/* Does TO, behind FROM, take what FROM pushes out, dirty or not, and not what it asks for? */
static inline bool trod_own_hands_over(const struct trod_own_spec *from,
                                       const struct trod_own_spec *to)
{
    return to->inclusion == TROD_OWN_EXCLUSIVE ||
           (to->inclusion == TROD_OWN_EVICTED && from->side != TROD_OWN_CODE);
}

struct trod_own_tlb_spec {
    char name[TROD_OWN_NAME], next_name[TROD_OWN_NAME];
    unsigned line_number;
    uint8_t side;
    struct trod_own_home home;
    uint64_t sets;
    uint32_t entries, ways;
    uint64_t pages; /* bit B: it holds pages of 2^B bytes */
    struct trod_repl_options policy;
    int16_t next[TROD_OWN_CORES]; /* by core: index; -1: page walk */
};

struct trod_own_range { /* of addresses whose pages have 2^BITS bytes */
    uint64_t first, last;
    uint8_t bits;
};

struct trod_own_config {
    struct trod_own_spec spec[TROD_OWN_CACHES];
    unsigned n;
    struct trod_own_tlb_spec tlb[TROD_OWN_TLBS];
    unsigned n_tlbs;
    struct trod_own_range range[TROD_OWN_RANGES]; /* the first that fits counts */
    unsigned n_ranges;
    uint8_t page_bits; /* of all other pages; 0: as the trace says, or 4 KiB */
    char walk_name[TROD_OWN_NAME];
    unsigned walk_line;
    int walk;            /* cache that page walks read from; -1: memory */
    uint8_t walk_levels; /* of page tables */
    uint32_t writebacks; /* writes of so many bytes or more are lines written back; 0: none */
    uint8_t flush;       /* bits: what is emptied when another thread comes to a core */
    uint32_t cores;
    bool coherent, classify, physical;
};

/*
 * Read the configuration of N bytes TEXT, called NAME in messages. Returns 0 or TROD_ERR_USAGE,
 * reported with name and line.
 */
int trod_own_config_read(struct trod_own_config *c, const char *text, size_t n, const char *name,
                         struct trod_diag *diag);

/* The first core that has no cache for code (DATA: for data) where others have one; -1: none. */
int trod_own_config_bare(const struct trod_own_config *c, bool data);
/* Does a cache of C replace by what is to come (opt)? */
bool trod_own_config_looks_ahead(const struct trod_own_config *c);

/* The text of preset NAME, or NULL; preset I and what it is, NULL past the last. */
const char *trod_own_preset(const char *name);
const char *trod_own_preset_at(size_t i, const char **title);

#endif
