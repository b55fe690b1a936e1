/*
 * cache.c - one reference at a cache of Dinero IV, and its consequences.
 *
 * Implements din/cache.h. The references that a reference causes are put on a stack and handled
 * last in, first out, each with its own consequences before the next: the state of the next level
 * depends on that order.
 */
#include "sim/din/cache.h"

#include "core/grow.h"
#include "sim/din/stacks.h"

#include <stdlib.h>
#include <string.h>

enum { PERCENT = 2147483647 / 100, SIZE_MASK = 0xffff };

static unsigned log2_of(uint64_t v)
{
    unsigned bits = 0;

    while (v >>= 1)
        bits++;
    return bits;
}

int trod_din_cache_init(struct trod_din_cache *c, const struct trod_din_spec *spec,
                        struct trod_gnu_random *random)
{
    const uint64_t blocks = spec->size / spec->block;
    int rc;

    memset(c, 0, sizeof *c);
    c->spec = spec;
    c->random = random;
    c->block_bits = log2_of(spec->block);
    c->sub_bits = log2_of(spec->sub);
    c->addresses = UINT64_MAX;
    rc = trod_din_stacks_init(&c->sets, blocks / spec->ways, (uint32_t)spec->ways);
    if (rc == 0 && spec->classify)
        rc = trod_din_stacks_init(&c->full, 1, (uint32_t)blocks);
    return rc;
}

void trod_din_cache_fini(struct trod_din_cache *c)
{
    trod_din_stacks_fini(&c->sets);
    trod_din_stacks_fini(&c->full);
    trod_lines_fini(&c->seen);
    trod_lines_fini(&c->seen_blocks);
    free(c->pending);
}

static void push(struct trod_din_cache *c, const struct trod_din_ref *r)
{
    if (!trod_grow(&c->pending, c->n_pending, &c->cap_pending, sizeof *c->pending, 16))
        c->failed = true;
    else
        c->pending[c->n_pending++] = *r;
}

/* The bits of the sub-blocks that R touches; it lies in one block. */
static uint64_t touched(const struct trod_din_cache *c, const struct trod_din_ref *r)
{
    const uint64_t in_block = c->spec->block - 1;
    const uint64_t first = (r->addr & in_block) >> c->sub_bits;
    const uint64_t last = ((r->addr + (r->size ? r->size : 1) - 1) & in_block) >> c->sub_bits;

    return (UINT64_MAX >> (63 - (last - first))) << first;
}

static uint64_t touched_bytes(const struct trod_din_cache *c, uint64_t bits)
{
    return (uint64_t)__builtin_popcountll(bits) << c->sub_bits;
}

/* The bytes after the end of the block are a reference of their own. */
static struct trod_din_ref cut(struct trod_din_cache *c, const struct trod_din_ref *r)
{
    const uint64_t room = c->spec->block - (r->addr & (c->spec->block - 1));
    struct trod_din_ref first = *r;

    if (r->size > room) {
        struct trod_din_ref rest = *r;

        rest.addr = (rest.addr + room) & c->addresses;
        rest.size -= (uint32_t)room;
        rest.own = true;
        push(c, &rest);
        first.size = (uint32_t)room;
        c->n.multi++;
    }
    return first;
}

static void maybe_prefetch(struct trod_din_cache *c, const struct trod_din_ref *r, bool miss,
                           uint64_t referenced, uint64_t bits)
{
    const uint64_t block = c->spec->block, distance = c->spec->distance << c->sub_bits;
    struct trod_din_ref p = {.type = r->type, .prefetch = true, .own = true};
    uint64_t to = (r->addr + distance) & c->addresses;

    if (r->prefetch || (r->type != TROD_DIN_READ && r->type != TROD_DIN_INSTR))
        return;
    switch (c->spec->fetch) {
    case 'a':
        break;
    case 'm':
        if (!miss)
            return;
        break;
    case 't':
        if (!miss && (referenced & bits))
            return;
        break;
    case 'l':
        if ((to & ~(block - 1)) != (r->addr & ~(block - 1)))
            return;
        break;
    case 's':
        to = (r->addr & ~(block - 1)) | (to & (block - 1));
        break;
    default:
        return;
    }
    p.addr = to & ~(c->spec->sub - 1);
    p.size = (uint32_t)c->spec->sub;
    if (c->spec->abort && trod_gnu_random_next(c->random) / PERCENT < c->spec->abort)
        return;
    push(c, &p);
}

/* A write for each run of dirty sub-blocks of B. */
static void write_back(struct trod_din_cache *c, const struct trod_din_node *b)
{
    const uint64_t bits = b->valid & b->dirty;
    const unsigned subs = 1u << (c->block_bits - c->sub_bits);

    for (unsigned i = 0; bits && i < subs; i++) {
        unsigned n = 0;

        while (i + n < subs && bits >> (i + n) & 1)
            n++;
        if (n) {
            const struct trod_din_ref w = {
                .addr = (b->block << c->block_bits) + ((uint64_t)i << c->sub_bits),
                .size = n << c->sub_bits,
                .type = TROD_DIN_WRITE,
            };

            push(c, &w);
            c->n.to_memory += w.size;
        }
        i += n;
    }
}

/*
 * Of a miss: 0 compulsory, 1 capacity, 2 conflict. Whether a block that is new to the fully
 * associative cache is placed there (PLACES) does not depend on what the cache itself holds.
 */
static void classify(struct trod_din_cache *c, const struct trod_din_ref *r, uint64_t block,
                     uint64_t bits, bool miss, bool block_miss, bool places)
{
    uint32_t node = trod_din_stacks_find(&c->full, block);
    const bool full_block_miss = node == TROD_DIN_NONE;
    const bool full_miss = full_block_miss || (c->full.node[node].valid & bits) != bits;
    bool new_sub = false, new_block = false;
    struct trod_din_node old;

    if (places || !full_block_miss) {
        node = trod_din_stacks_place(&c->full, block, node, c->spec->repl, c->random, &old);
        if (node == TROD_DIN_NONE) {
            c->failed = true;
            return;
        }
        c->full.node[node].valid |= bits;
    }
    if (!miss)
        return;
    if (full_miss) {
        const unsigned subs = c->block_bits - c->sub_bits;

        new_block = trod_lines_add(&c->seen_blocks, block) == 1;
        for (unsigned i = 0; i < 64; i++)
            if (bits >> i & 1 && trod_lines_add(&c->seen, (block << subs) + i) == 1)
                new_sub = true;
    }
    c->n.miss_class[!full_miss ? 2 : new_sub ? 0 : 1][r->prefetch][r->type]++;
    if (block_miss)
        c->n.block_class[!full_block_miss ? 2 : new_block ? 0 : 1][r->prefetch][r->type]++;
}

/* One fragment: what it finds, changes and causes. */
static void fragment(struct trod_din_cache *c, const struct trod_din_ref *r)
{
    const uint64_t block = r->addr >> c->block_bits, bits = touched(c, r);
    const bool write = r->type == TROD_DIN_WRITE, exact = r->size == touched_bytes(c, bits);
    uint32_t node = trod_din_stacks_find(&c->sets, block);
    const bool block_miss = node == TROD_DIN_NONE;
    const uint64_t valid = block_miss ? 0 : c->sets.node[node].valid;
    const bool miss = (valid & bits) != bits;
    const bool allocate = write && (c->spec->walloc == 'a' || (c->spec->walloc == 'f' && exact));
    const bool places = !write || allocate, updates = places || !block_miss;
    const bool back = write && updates && c->spec->wback != 'n';
    struct trod_din_node old = {0};

    maybe_prefetch(c, r, miss, block_miss ? 0 : c->sets.node[node].referenced, bits);
    if (updates) {
        node = trod_din_stacks_place(&c->sets, block, node, c->spec->repl, c->random, &old);
        if (node == TROD_DIN_NONE) {
            c->failed = true;
            return;
        }
        c->sets.node[node].valid |= bits;
        c->sets.node[node].referenced |= r->prefetch ? 0 : bits;
        c->sets.node[node].dirty |= back ? bits : 0;
        if (old.valid)
            write_back(c, &old);
    }
    if (write && !back) {
        const struct trod_din_ref through = {r->addr, r->size, TROD_DIN_WRITE, false, false};

        push(c, &through);
        c->n.to_memory += r->size;
    }
    if (miss && (!write || (allocate && !exact))) {
        const struct trod_din_ref fetch = {
            .addr = r->addr & ~(c->spec->sub - 1),
            .size = (uint32_t)touched_bytes(c, bits),
            .type = write ? TROD_DIN_READ : r->type,
        };

        push(c, &fetch);
        c->n.from_memory += fetch.size;
    }
    if (c->spec->classify)
        classify(c, r, block, bits, miss, block_miss, places);
    c->n.fetches[r->prefetch][r->type]++;
    c->n.misses[r->prefetch][r->type] += miss;
    c->n.blocks[r->prefetch][r->type] += block_miss;
}

/*
 * Handle the references on the stack down to FROM, or up to one that C itself is to handle: then
 * true, and *R is it. References that it causes are pushed and so come first.
 */
static bool next_own(struct trod_din_cache *c, size_t from, struct trod_din_ref *r)
{
    while (c->n_pending > from) {
        *r = c->pending[--c->n_pending];
        if (r->own)
            return true;
        if (c->below)
            trod_din_cache_ref(c->below, r);
    }
    return false;
}

void trod_din_cache_ref(struct trod_din_cache *c, const struct trod_din_ref *r)
{
    const size_t from = c->n_pending;
    struct trod_din_ref whole = *r, first;

    do {
        whole.size &= SIZE_MASK;
        whole.own = false;
        first = cut(c, &whole);
        fragment(c, &first);
    } while (next_own(c, from, &whole));
}

/* What is set aside from FROM on, all for the level below. */
static void pass_on(struct trod_din_cache *c, size_t from)
{
    struct trod_din_ref written;

    next_own(c, from, &written);
}

void trod_din_cache_copy_back(struct trod_din_cache *c)
{
    const size_t from = c->n_pending;

    for (uint64_t set = 0; set < c->sets.sets; set++) {
        uint32_t i = c->sets.top[set];

        for (uint32_t n = c->sets.used[set]; n; n--, i = c->sets.node[i].next) {
            write_back(c, &c->sets.node[i]);
            c->sets.node[i].dirty = 0;
        }
    }
    pass_on(c, from); /* those of the last set first */
    if (c->below)
        trod_din_cache_copy_back(c->below);
}

void trod_din_cache_copy_block(struct trod_din_cache *c, uint64_t addr)
{
    for (; c; c = c->below) {
        const uint32_t node = trod_din_stacks_find(&c->sets, addr >> c->block_bits);
        const size_t from = c->n_pending;

        if (node == TROD_DIN_NONE)
            continue;
        write_back(c, &c->sets.node[node]);
        c->sets.node[node].dirty = 0;
        pass_on(c, from);
    }
}

/*
 * The block of ADDR is invalidated: what of it was referenced before, for misses that are
 * compulsory. The tool forgets as many of its first sub-blocks as the number of its sub-blocks has
 * bits, less one: none of a block that is not divided. It looks for them by an address of 32 bits,
 * in builds of 64, too.
 */
static void forget(struct trod_din_cache *c, uint64_t addr)
{
    const uint64_t block = (uint32_t)addr >> c->block_bits;
    const unsigned bits = c->block_bits - c->sub_bits;
    bool known = false;

    for (uint64_t i = 0; i < bits; i++)
        trod_lines_remove(&c->seen, (block << bits) + i);
    for (uint64_t i = bits; !known && i < UINT64_C(1) << bits; i++)
        known = trod_lines_has(&c->seen, (block << bits) + i);
    if (!known)
        trod_lines_remove(&c->seen_blocks, block);
}

void trod_din_cache_drop_block(struct trod_din_cache *c, uint64_t addr)
{
    for (; c; c = c->below) {
        const uint64_t block = addr >> c->block_bits;

        trod_din_stacks_drop(&c->sets, block);
        if (!c->spec->classify)
            continue;
        trod_din_stacks_drop(&c->full, block);
        forget(c, addr);
    }
}

void trod_din_cache_invalidate(struct trod_din_cache *c)
{
    trod_din_stacks_clear(&c->sets);
    if (c->spec->classify) {
        trod_din_stacks_clear(&c->full);
        trod_lines_clear(&c->seen);
        trod_lines_clear(&c->seen_blocks);
    }
    if (c->below)
        trod_din_cache_invalidate(c->below);
}
