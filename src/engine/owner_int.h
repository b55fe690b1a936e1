/*
 * owner_int.h - the state of the code that fills the site column (owner.c), shared with its fast
 * paths for plain rows (owner_plain.c) and for loops (owner_loops.c).
 */
#ifndef TROD_ENGINE_OWNER_INT_H
#define TROD_ENGINE_OWNER_INT_H

#include "engine/sites.h"
#include "engine/streaks.h"

/* The instruction last seen at an address. All zero: an empty entry. */
struct entry {
    uint64_t pc;
    uint32_t inverse; /* ~ of its site */
    uint32_t len;     /* of the opcode, in bytes; UINT32_MAX: longer than its key: not comparable */
};

/* The site of E; TROD_NO_SITE: E is empty. */
static inline uint32_t site_of(const struct entry *e)
{
    return ~e->inverse;
}

/* The last instruction that a stream executed. */
struct last {
    uint64_t pc;
    uint32_t site;
};

/* Hash table: address -> the instruction last seen there. */
struct places {
    struct entry *at; /* open addressing */
    uint32_t n, mask;
    unsigned shift; /* 64 - log2 of the number of entries */
};

/* The longest iteration, in rows, that is recognised as a loop; rows of one vector. */
enum { LOOP_ROWS = 16, LOOP_HALF = 8 };
/* Consecutive iterations before a loop is assumed. */
enum { LOOP_FROM = 3 };

/*
 * A loop: a streak that ends with a branch to its own first instruction, with its accesses. It
 * describes the rows of one iteration, one lane per row. All zero: no loop.
 */
struct loop {
    uint64_t key;    /* of the first site (owner_loop_key); 0: iterations differ, or are too long */
    uint32_t site;   /* of the first instruction, + 1 */
    uint32_t misses; /* consecutive attempts in which no iteration matched */
    uint32_t rows, n, accesses; /* of one iteration: rows, instructions, accesses */
    uint32_t last;              /* lane of the branch */
    /* masks of lanes: instructions; instructions that the next one follows directly */
    uint32_t instr, straight;
    /* by lane: kind; distance from the address of the first instruction; size in bytes; index of
     * the instruction that the row is or belongs to, from 0 on */
    uint8_t kind[LOOP_ROWS], off[LOOP_ROWS], size[LOOP_ROWS], number[LOOP_ROWS];
    uint8_t access[LOOP_ROWS]; /* the lanes that are accesses, in order */
};

/*
 * The sites of the instructions after branches, looked up for a whole chunk before its rows are
 * processed, so that the cache misses of these look-ups overlap.
 */
struct aims {
    uint32_t from, to;           /* the rows of the chunk; equal: none */
    uint32_t changes;            /* engine_owner.changes at the time of the look-ups */
    uint32_t site[ENGINE_CHUNK]; /* by row from FROM on; TROD_NO_SITE: not known */
};

/* The largest distance kept in engine_owner.gap: the sum of eight of them fits into a byte. */
enum { OWNER_FAR = 31 };

struct engine_owner {
    struct trod_sites *sites;
    /* By site: the distance in bytes from the address of site - 1 to its own address. Set only
     * while the site is the one last seen at its address. 0: not known, or larger than OWNER_FAR.
     */
    uint8_t *gap;
    /* By site in places: the key of its opcode: shared_key and offset, or up to 8 opcode bytes. */
    uint64_t *code;
    size_t n_gap, n_code;
    uint32_t mine;   /* number of sites, all of them in places; UINT32_MAX: some no longer are */
    uint32_t lo, hi; /* gap is 0 outside of sites [lo, hi) */
    uint64_t lanes_of[256]; /* by mask of eight lanes: the indices of the lanes set, as bytes */
    struct last *last;      /* by stream + 1; [0]: rows without a stream */
    uint32_t n_last;
    struct places places;
    uint32_t file;         /* the file that places are of */
    bool merged;           /* rows of several files alternate */
    bool inside;           /* engine_owner_inside was called, and no rows have come yet */
    bool part, late, lost; /* engine_owner_part; not the first part; engine_owner_lost */
    bool codeless;         /* engine_owner_codeless */
    bool owned;            /* the sites of rows that belong to instructions are used */
    bool leads;            /* rows come before the part: engine_owner_follow was not called yet */
    bool locked;           /* the lock of the sites is held while sites are added */
    uint32_t changes; /* counts removals from gap: a loop or aims made before the last are void */
    struct loop loop; /* the last one seen */
    struct aims aims;
};

static inline uint64_t owner_loop_key(const struct engine_owner *o, uint32_t site)
{
    return (uint64_t)o->changes << 32 | (site + 1);
}

/* SITE is no longer the instruction at its address. */
static inline void owner_unlearn(struct engine_owner *o, uint32_t site)
{
    o->gap[site] = 0;
    o->changes++;
}

static inline uint32_t home(const struct places *p, uint64_t pc)
{
    return (uint32_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> p->shift);
}

/* The entry of PC, or the empty one where it belongs. */
static inline struct entry *entry_of(const struct places *p, uint64_t pc)
{
    uint32_t i = home(p, pc);

    while (p->at[i].pc != pc && p->at[i].inverse)
        i = (i + 1) & p->mask;
    return &p->at[i];
}

/* From this number of entries on, the table of places does not fit into the nearest caches. */
enum { OWNER_LARGE = 1 << 15 };

/* Prefetch the entry of PC, which is about to be looked up. */
static inline void owner_expect(const struct places *p, uint64_t pc)
{
    __builtin_prefetch(&p->at[home(p, pc)]);
}

static inline bool owner_is_access(unsigned kind)
{
    return kind - TROD_READ <= (unsigned)(TROD_FLUSH - TROD_READ);
}

/* Note that SITE, which is not 0, lies DISTANCE bytes after site - 1. */
static inline void owner_learn(struct engine_owner *o, uint32_t site, uint64_t distance)
{
    if (distance - 1 >= OWNER_FAR)
        return;
    o->gap[site] = (uint8_t)distance;
    o->lo = site < o->lo ? site : o->lo;
    o->hi = site < o->hi ? o->hi : site + 1;
}

/*
 * Fill the site column of rows [FROM, TO) of B. All are of one stream, whose last instruction is *L
 * (updated); all have an address; none has an opcode or the address of its instruction. SAID: all
 * may be part of a streak. Their streaks are added to S, if that is not NULL; SAID must then be
 * true. Returns the first row that was not done: TO, a new instruction, or a row that is neither an
 * instruction nor an access.
 */
uint32_t owner_plain_rows(struct engine_owner *o, const struct trod_batch *b, uint32_t from,
                          uint32_t to, struct last *l, struct engine_streaks *s, bool said);

/*
 * Fill the site column of the rows from I on that are whole iterations of the loop beginning with
 * SITE and end before row TO. The rows meet the conditions of owner_plain_rows; up to eight rows
 * after them may be read and their sites overwritten. Streaks and accesses are written to STREAKS
 * and ACCESS, if those are not NULL. Returns the number of iterations. O->loop is learned first,
 * and again when iterations change, but rarely for loops that change often.
 */
uint32_t owner_take_loop(struct engine_owner *o, const struct trod_batch *b, uint32_t i,
                         uint32_t to, uint32_t site, struct trod_streak *streaks, uint16_t *access);

/* Fill O->aims for rows [FROM, TO), one chunk at most, all with flags. */
void owner_look_ahead(struct engine_owner *o, const struct trod_batch *b, uint32_t from,
                      uint32_t to);

#endif
