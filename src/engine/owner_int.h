/*
 * owner_int.h - what fills the site column: what it remembers (owner.c), and its way through rows
 * that are plain (owner_plain.c).
 */
#ifndef TROD_ENGINE_OWNER_INT_H
#define TROD_ENGINE_OWNER_INT_H

#include "engine/sites.h"
#include "engine/streaks.h"

/* What was met at an address last. All zero: an empty place. */
struct entry {
    uint64_t pc;
    uint32_t inverse; /* ~ of its site */
    uint32_t len;     /* of the opcode; UINT32_MAX: longer than its key, not to be compared */
};

/* The site of E; TROD_NO_SITE: E is empty. */
static inline uint32_t site_of(const struct entry *e)
{
    return ~e->inverse;
}

/* The instruction executed last by a stream. */
struct last {
    uint64_t pc;
    uint32_t site;
};

struct places {
    struct entry *at; /* open addressing */
    uint32_t n, mask;
    unsigned shift; /* 64 - log2 of the number of entries */
};

/* Rows of a loop that are compared with those of its last round. */
enum { LOOP_ROWS = 16, LOOP_HALF = 8 };
/* Rounds in turn before they are. */
enum { LOOP_FROM = 3 };

/*
 * A streak that ends with a branch to its first instruction, and its accesses: what the rows of one
 * round are, in so many lanes. All zero: none.
 */
struct loop {
    uint64_t key;    /* of the first site (owner_loop_key); 0: its rounds differ, or are longer */
    uint32_t site;   /* + 1 */
    uint32_t misses; /* rounds in turn that were none of these */
    uint32_t rows, n, accesses; /* rows in all, instructions, accesses */
    uint32_t last;              /* lane of the branch */
    /* bits of lanes: instructions, and those of them after which the next one lies */
    uint32_t instr, straight;
    /* by lane: kind; from the address of the first instruction; bytes; number of the instruction
     * that it is or belongs to, from 0 on */
    uint8_t kind[LOOP_ROWS], off[LOOP_ROWS], size[LOOP_ROWS], number[LOOP_ROWS];
    uint8_t access[LOOP_ROWS]; /* lanes of accesses */
};

/*
 * What the instructions after branches belong to, looked up before the rows of a chunk are gone
 * through: memory is waited for once.
 */
struct aims {
    uint32_t from, to;           /* rows; none: both the same */
    uint32_t changes;            /* of the owner, at that time */
    uint32_t site[ENGINE_CHUNK]; /* by row from FROM on; TROD_NO_SITE: not known */
};

/* The most that a site lies after the one before it to be known: eight such sums are a byte. */
enum { OWNER_FAR = 31 };

struct engine_owner {
    struct trod_sites *sites;
    /* By site: bytes from the address of the site with the number before its own to its own, which
     * is the one that was met there last; 0: not known, or further than OWNER_FAR. */
    uint8_t *gap;
    uint64_t
        *code; /* by site, of those in places: shared_key and offset, or up to 8 opcode bytes */
    size_t n_gap, n_code;
    uint32_t mine;   /* sites, all of them in places; UINT32_MAX: some are not any more */
    uint32_t lo, hi; /* those that are known lie in [lo, hi) */
    uint64_t
        lanes_of[256]; /* by mask of eight lanes: the numbers of those that are set, as bytes */
    struct last *last; /* by stream + 1; [0]: rows without a stream */
    uint32_t n_last;
    struct places places;
    uint32_t file; /* that they are of */
    bool merged;
    bool inside;           /* engine_owner_inside, and no rows came yet */
    bool part, late, lost; /* engine_owner_part; not the first; engine_owner_lost */
    bool codeless;         /* engine_owner_codeless */
    bool owned, leads;     /* sites of what belongs to instructions count; engine_owner_follow */
    bool locked;           /* the lock of the sites is held: some are added */
    uint32_t changes; /* of what is known in gap: a loop from before the last one does not hold */
    struct loop loop; /* the last one that was met */
    struct aims aims;
};

static inline uint64_t owner_loop_key(const struct engine_owner *o, uint32_t site)
{
    return (uint64_t)o->changes << 32 | (site + 1);
}

/* Something else came to lie where SITE was. */
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

/* Beyond so many entries the table of places is not in the nearest caches. */
enum { OWNER_LARGE = 1 << 15 };

/* PC is going to be looked up. */
static inline void owner_expect(const struct places *p, uint64_t pc)
{
    __builtin_prefetch(&p->at[home(p, pc)]);
}

static inline bool owner_is_access(unsigned kind)
{
    return kind - TROD_READ <= (unsigned)(TROD_FLUSH - TROD_READ);
}

/* Site SITE, which is not 0, lies DISTANCE after the one before it. */
static inline void owner_learn(struct engine_owner *o, uint32_t site, uint64_t distance)
{
    if (distance - 1 >= OWNER_FAR)
        return;
    o->gap[site] = (uint8_t)distance;
    o->lo = site < o->lo ? site : o->lo;
    o->hi = site < o->hi ? o->hi : site + 1;
}

/*
 * Rows [FROM, TO), all of one stream that executed L last, all with an address, none with an opcode
 * or the address of its instruction. SAID: all may be part of a streak. Their streaks go to S, if
 * that is not NULL; then SAID is true. Returns where it stopped: at an instruction that is new, or
 * at what is neither instruction nor access.
 */
uint32_t owner_plain_rows(struct engine_owner *o, const struct trod_batch *b, uint32_t from,
                          uint32_t to, struct last *l, struct engine_streaks *s, bool said);

/*
 * Rows from I on, all as owner_plain_rows has them, as far as they are rounds of the loop that
 * begins with SITE and end before row TO; eight rows after that may be read and their sites
 * written. Their streaks and accesses go to STREAKS and ACCESS, if those are not NULL. Returns how
 * many rounds of O->loop they are. What these are like is learnt at first and where it has changed,
 * but seldom where it changes often.
 */
uint32_t owner_take_loop(struct engine_owner *o, const struct trod_batch *b, uint32_t i,
                         uint32_t to, uint32_t site, struct trod_streak *streaks, uint16_t *access);

/* Make the aims of O those of rows [FROM, TO), a chunk at most, all with flags. */
void owner_look_ahead(struct engine_owner *o, const struct trod_batch *b, uint32_t from,
                      uint32_t to);

#endif
