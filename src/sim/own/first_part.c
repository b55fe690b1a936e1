/*
 * first_part.c - parts of the rows of a plain hierarchy (own/first.h).
 *
 * A part begins with empty sets. A line that is in its set is there whatever came before, and a
 * line that is not in a full set misses whatever came before (Nicol, Greenberg and Lubachevsky,
 * 1994). Only a line that comes to a set that is not full yet may have been there before the part:
 * there are no more of these than the first level has lines. When the part is merged, what its sets
 * had before is known, and these references are looked up; then all that missed goes to the caches
 * behind.
 */
#include "sim/own/first_int.h"

#include "core/spare.h"
#include "sim/own/mru.h"

#include <stdlib.h>
#include <string.h>

/*
 * SETS: bytes of sets that a part has at the most; with more, its references are kept instead.
 * SORTED: pairs that are sorted at once, at least. CHUNKS: of these in a block.
 */
enum { SETS = 1 << 18, SORTED = 4096, CHUNKS = 32 };
enum { PAIRS = TROD_KEPT_BLOCK / (2 * sizeof(uint64_t)) - 256 };

/* References that may have missed and what each replaced (0: its set had room), in their order. */
struct misses {
    struct misses *next;
    uint32_t n, chunks;
    /* Of the pairs up to END of the last chunk, those of a chunk are sorted by shard. */
    uint32_t end[CHUNKS][TROD_FIRST_SHARDS];
    uint64_t missed[PAIRS], left[PAIRS];
};

_Static_assert(sizeof(struct misses) <= TROD_KEPT_BLOCK, "a huge page");
_Static_assert(CHUNKS *SORTED >= PAIRS, "all pairs of a block are sorted");

struct trod_first_part {
    struct misses *first, *last; /* NULL: none */
    size_t bytes;
    struct trod_kept kept; /* references, behind the misses */
    unsigned shards, shift;
    uint64_t missed[SORTED + TROD_TOUCHED_ROOM], left[SORTED + TROD_TOUCHED_ROOM];
};

/* The shard of REF. */
static inline unsigned shard_of(const struct trod_first_part *p, uint64_t ref)
{
    return (unsigned)(ref >> p->shift) & (p->shards - 1);
}

/* Where the last chunk of B ends. */
static uint32_t end_of(const struct misses *b)
{
    return b->chunks ? b->end[b->chunks - 1][TROD_FIRST_SHARDS - 1] : 0;
}

/* The pairs of B behind its last chunk become one. */
static void sort(struct trod_first_part *p, struct misses *b)
{
    const uint32_t begin = end_of(b), n = b->n - begin;
    uint32_t *const end = b->end[b->chunks++];
    uint32_t sum = begin;

    memcpy(p->missed, b->missed + begin, n * sizeof *p->missed);
    memcpy(p->left, b->left + begin, n * sizeof *p->left);
    memset(end, 0, TROD_FIRST_SHARDS * sizeof *end);
    for (uint32_t i = 0; i < n; i++)
        end[shard_of(p, p->missed[i])]++;
    for (unsigned k = 0; k < TROD_FIRST_SHARDS; k++) { /* where it begins, and soon where it ends */
        const uint32_t some = end[k];

        end[k] = sum;
        sum += some;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = end[shard_of(p, p->missed[i])]++;

        b->missed[at] = p->missed[i];
        b->left[at] = p->left[i];
    }
}

/* Room for the misses of the next references, behind the others. False: no memory. */
static bool make_room(struct trod_first *f)
{
    struct trod_first_part *const p = f->part;
    struct misses *b = p->last;

    if (!b || b->n + TROD_TOUCHED_ROOM > PAIRS) {
        if (b && p->shards > 1 && b->n > end_of(b))
            sort(p, b);
        if (!(b = trod_spare_take(TROD_KEPT_BLOCK)))
            return false;
        b->next = NULL;
        b->n = b->chunks = 0;
        *(p->last ? &p->last->next : &p->first) = b;
        p->last = b;
        p->bytes += TROD_KEPT_BLOCK;
    }
    f->missed = b->missed + b->n;
    f->left = b->left + b->n;
    return true;
}

void trod_first_keep(struct trod_first *f, size_t n)
{
    struct misses *const b = f->part->last;

    if (f->sim->failed) /* F is of no use, and they are nowhere */
        return;
    b->n += (uint32_t)n;
    if (f->part->shards > 1 && b->n - end_of(b) >= SORTED)
        sort(f->part, b);
    if (make_room(f))
        return;
    f->sim->failed = true;
    f->missed = f->own[0];
    f->left = f->own[1];
}

void trod_first_drop(struct trod_first *f)
{
    struct misses *next;

    if (!f->part)
        return;
    for (struct misses *b = f->part->first; b; b = next) {
        next = b->next;
        trod_spare_give(b, TROD_KEPT_BLOCK);
    }
    trod_kept_free(&f->part->kept);
    free(f->part);
}

size_t trod_first_kept(const struct trod_first *f)
{
    return f->part->bytes + f->part->kept.bytes;
}

bool trod_first_record(struct trod_first *f)
{
    return trod_kept_add(&f->part->kept, &f->in);
}

/* Keep REF, which stands for LINES consecutive lines, and all references that come from here on. */
static void run_lines(struct trod_touched *t, uint64_t ref, uint64_t lines)
{
    struct trod_first *const f = t->user;

    t->run(t);
    f->does = TROD_FIRST_RECORDS; /* it would be too many misses */
    if (!trod_kept_lines(&f->part->kept, t, ref, lines))
        f->sim->failed = true;
    trod_first_forget(f);
}

bool trod_first_part(struct trod_first *f, unsigned shards, unsigned shift)
{
    uint64_t bytes = 0;

    if (!(f->part = malloc(sizeof *f->part)))
        return false;
    f->part->first = f->part->last = NULL;
    f->part->bytes = 0;
    f->part->kept = (struct trod_kept){.first = NULL};
    f->part->shards = shards;
    f->part->shift = shift;
    for (unsigned k = 0; k < 2; k++)
        bytes += (f->cache[k].mask + 1) * f->cache[k].stride * sizeof *f->cache[k].tag;
    f->does = bytes > SETS ? TROD_FIRST_RECORDS : TROD_FIRST_KEEPS;
    f->in.lines = run_lines;
    return f->does == TROD_FIRST_RECORDS || make_room(f);
}

/* --- merging --- */

/* Make LINE, if SET has it, clean; returns TROD_TOUCHED_DIRTY if it was dirty. */
static uint64_t clean(uint64_t *set, uint32_t ways, uint64_t line)
{
    uint64_t dirt = 0;

    for (uint32_t w = 0; w < ways; w++)
        if (((set[w] ^ line) & ~(uint64_t)TROD_TOUCHED_DIRTY) == 0) {
            dirt |= set[w] & TROD_TOUCHED_DIRTY;
            set[w] &= ~(uint64_t)TROD_TOUCHED_DIRTY;
        }
    return dirt;
}

/*
 * LEFT, of a set of C that the part has filled, leaves it: was it written to before the part? Until
 * the end of the part the set has what came to it until it was full, and of these lines what was
 * known of them: who leaves is clean there from then on, as it may come back.
 */
static inline uint64_t leave(const struct trod_first_cache *c, uint64_t i, uint64_t left)
{
    uint64_t dirt = 0;

    if (c->dirt[i] && (dirt = clean(c->tag + i * c->stride, c->ways, left)))
        c->dirt[i]--;
    return dirt;
}

/* What of the pairs of B from AT to END did miss is added to the misses of F. */
static void resolve(struct trod_first *f, const struct misses *b, size_t at, size_t end)
{
    const unsigned line_bits = f->in.line_bits;
    size_t n = f->waiting;

    for (; at < end; at++) {
        const uint64_t ref = b->missed[at], left = b->left[at];
        const struct trod_first_cache *const c = &f->cache[ref / TROD_TOUCHED_DATA & 1];
        const uint64_t i = ref >> line_bits & c->mask;

        f->missed[n] = ref;
        if (left) {
            f->left[n++] = left | leave(c, i, left);
        } else {
            f->left[n] = 0;
            n += !trod_mru_touch(c->tag + i * c->stride, c->ways, ref, &f->left[n]);
            c->dirt[i] += c->tag[i * c->stride] / TROD_TOUCHED_DIRTY & 1;
        }
    }
    f->waiting = n;
}

/* The same of all pairs from AT to END, and what F has no more room for goes behind. */
static void pass_on(struct trod_first *f, const struct misses *b, size_t at, size_t end)
{
    for (size_t n; at < end; at += n) {
        n = TROD_TOUCHED_REFS - f->waiting < end - at ? TROD_TOUCHED_REFS - f->waiting : end - at;
        resolve(f, b, at, at + n);
        if (f->waiting < TROD_TOUCHED_REFS)
            continue;
        trod_first_behind(f, f->waiting);
        f->waiting = 0;
    }
}

/* The pairs of B that are of the shard of F. */
static void pass_block(struct trod_first *f, const struct misses *b,
                       const struct trod_first_part *part)
{
    const unsigned shard = f->sim->shard;
    uint32_t at = 0;

    if (part->shards == 1) {
        pass_on(f, b, 0, b->n);
        return;
    }
    for (uint32_t k = 0; k < b->chunks; at = b->end[k++][TROD_FIRST_SHARDS - 1])
        pass_on(f, b, shard ? b->end[k][shard - 1] : at, b->end[k][shard]);
    for (; at < b->n; at++)
        if (shard_of(part, b->missed[at]) == shard)
            pass_on(f, b, at, at + 1);
}

/* The sets of C are those of LATER, a part that is resolved, or what was there of the part before.
 */
static void go_on(const struct trod_first_cache *c, const struct trod_first_cache *later)
{
    for (uint64_t i = 0; i <= c->mask; i++) {
        uint64_t *const set = c->tag + i * c->stride;
        const uint64_t *const from = later->tag + i * later->stride;
        uint64_t all[TROD_FIRST_WAYS];
        uint32_t n = 0;

        for (; n < c->ways && from[n]; n++)
            all[n] = from[n] | (c->dirt[i] ? clean(set, c->ways, from[n]) : 0);
        memcpy(set, all, n * sizeof *set); /* a set that is not full lost none of its N lines */
        c->dirt[i] = 0;
    }
}

/* The references that FROM has kept. */
static void simulate(struct trod_first *f, const struct trod_first *from)
{
    const uint64_t *refs;

    for (const struct trod_kept_block *b = from->part->kept.first; b; b = b->next)
        for (uint64_t at = 0, n;
             (n = trod_kept_some(b, at, TROD_TOUCHED_REFS, f->in.line_bits, f->in.own, &refs));
             at += n) {
            size_t mine = (size_t)n;

            if (f->sim->shards > 1) {
                mine = trod_first_mine(f, refs, mine, f->in.own);
                refs = f->in.own;
            }
            trod_first_behind(f, trod_first_touch(f, refs, mine));
        }
}

/* All shards see all rows; the first one counts the references. */
static void add_counts(struct trod_first *f, const struct trod_first *from)
{
    f->sim->instructions += from->sim->instructions;
    if (f->sim->shards > 1 && f->sim->shard)
        return;
    f->sim->refs += from->sim->refs;
    f->sim->line_refs += from->sim->line_refs;
    for (unsigned k = 0; k < 2; k++)
        for (unsigned kind = 0; kind < TROD_OWN_KINDS; kind++)
            f->cache[k].of->n.refs[kind] += from->cache[k].of->n.refs[kind];
}

int trod_first_merge(struct trod_first *f, const struct trod_first *from)
{
    for (const struct misses *b = from->part->first; b; b = b->next)
        pass_block(f, b, from->part);
    trod_first_behind(f, f->waiting);
    f->waiting = 0;
    for (unsigned k = 0; k < 2; k++)
        go_on(&f->cache[k], &from->cache[k]);
    simulate(f, from);
    f->fronts = false;
    trod_touched_forget(&f->in);
    add_counts(f, from);
    return trod_own_sim_check(f->sim);
}
