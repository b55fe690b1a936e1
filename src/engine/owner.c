/*
 * owner.c - the site column: which static instruction each row belongs to.
 *
 * For every address, the owner keeps the instruction last seen there, with its opcode; only
 * instructions it has not seen are looked up in the table of the run (sites.c). If a row has no
 * opcode, it has the one last given at its address (TROD_WANT_NEW_CODE). If an instruction follows
 * the previous one at the same distance as before, nothing is looked up (owner_plain.c). Accesses
 * and register writes belong to the last instruction of their stream, unless they have a pc of
 * their own.
 */
#include "engine/owner_int.h"

#include "core/grow.h"
#include "core/zeroed.h"
#include "engine/streams.h"
#include "trace/owned.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BITS = 10, GROW_BITS = 2, LARGE_BITS = 20, NEW_AHEAD = 8 };

/* Marks CODE as an offset into the shared pool, which stands for the bytes (types.h). */
static const uint64_t shared_key = UINT64_C(1) << 63;

/* Make room for SITE, for the gap of the next site, and for vectors that read beyond. */
static bool site_room(struct engine_owner *o, uint32_t site)
{
    enum { MORE = 16 };

    if ((size_t)site + MORE < o->n_gap)
        return true;
    return trod_zeroed_room(&o->code, &o->n_code, (size_t)site + MORE + 1, sizeof *o->code) == 0 &&
           trod_zeroed_room(&o->gap, &o->n_gap, (size_t)site + MORE + 1, sizeof *o->gap) == 0;
}

/* Clear all gaps, because other code is going to be at the addresses. */
static void forget_gaps(struct engine_owner *o)
{
    if (o->lo < o->hi)
        memset(o->gap + o->lo, 0, o->hi - o->lo);
    o->lo = UINT32_MAX;
    o->hi = 0;
    o->changes++;
}

/* The indices of the lanes set in MASK as bytes, the lowest index in the lowest byte. */
static uint64_t lanes_of(unsigned mask)
{
    uint64_t lanes = 0;

    for (unsigned lane = 8; lane-- > 0;)
        if (mask >> lane & 1)
            lanes = lanes << 8 | lane;
    return lanes;
}

int engine_owner_new(struct engine_owner **out, struct trod_sites *sites, bool merged)
{
    struct engine_owner *o = calloc(1, sizeof *o);

    *out = o;
    if (!o)
        return TROD_ERR_NOMEM;
    o->sites = sites;
    o->merged = merged;
    o->lo = UINT32_MAX;
    for (unsigned i = 0; i < 256; i++)
        o->lanes_of[i] = lanes_of(i);
    if (site_room(o, 0))
        return TROD_OK;
    engine_owner_free(o);
    *out = NULL;
    return TROD_ERR_NOMEM;
}

void engine_owner_inside(struct engine_owner *o)
{
    o->inside = true;
}

bool engine_owner_lost(const struct engine_owner *o)
{
    return o->lost || (o->codeless && engine_sites_coded(o->sites));
}

bool engine_owner_codeless(const struct engine_owner *o)
{
    return o->codeless;
}

static void end_places(struct places *p)
{
    if (p->at)
        trod_zeroed_free(p->at, ((size_t)p->mask + 1) * sizeof *p->at);
    p->at = NULL;
}

static bool begin_places(struct places *p, unsigned bits)
{
    const uint32_t n = UINT32_C(1) << bits;

    p->at = trod_zeroed_new(n * sizeof *p->at);
    if (!p->at)
        return false;
    p->n = 0;
    p->mask = n - 1;
    p->shift = 64 - bits;
    return true;
}

void engine_owner_free(struct engine_owner *o)
{
    if (!o)
        return;
    end_places(&o->places);
    trod_zeroed_free(o->gap, o->n_gap * sizeof *o->gap);
    trod_zeroed_free(o->code, o->n_code * sizeof *o->code);
    free(o->last);
    free(o);
}

/* ---- addresses */

static bool grow_places(struct places *p)
{
    const unsigned bits = 64 - p->shift;
    struct places to;

    if (!begin_places(&to, bits + (bits < LARGE_BITS ? GROW_BITS : 1)))
        return false;
    for (uint32_t i = 0; i <= p->mask; i++)
        if (p->at[i].inverse)
            *entry_of(&to, p->at[i].pc) = p->at[i];
    to.n = p->n;
    end_places(p);
    *p = to;
    return true;
}

/*
 * Code may differ from file to file. If files come one after the other, the addresses of the
 * previous one are forgotten. If their rows alternate, every row has its opcode (run.c). False: no
 * memory.
 */
static bool turn_file(struct engine_owner *o, const struct trod_batch *b)
{
    const uint32_t file = b->meta && !o->merged ? b->meta->file : 0;

    if (o->places.at && o->file == file)
        return true;
    if (o->places.at)
        o->mine = UINT32_MAX;
    end_places(&o->places);
    forget_gaps(o);
    o->file = file;
    return begin_places(&o->places, FIRST_BITS);
}

/* ---- rows */

static struct last *last_of(struct engine_owner *o, uint32_t stream)
{
    static const struct last none = {.site = TROD_NO_SITE};

    if (!trod_grow_to(&o->last, &o->n_last, stream, sizeof *o->last, &none))
        return NULL;
    return &o->last[stream];
}

void engine_owner_part(struct engine_owner *o, bool first, bool owned)
{
    o->part = o->leads = true;
    o->late = !first;
    o->owned = owned;
}

int engine_owner_follow(struct engine_owner *o, const struct trod_meta *from, struct trod_meta *to)
{
    struct last *was = o->last;
    const uint32_t n = o->n_last;
    int rc = TROD_OK;

    o->leads = false;
    o->last = NULL;
    o->n_last = 0;
    for (uint32_t i = 0; rc == TROD_OK && from && i < n; i++) {
        const int key = was[i].site != TROD_NO_SITE ? engine_stream_same_key(to, from, i) : 0;
        struct last *l = key < 0 ? NULL : last_of(o, (uint32_t)key);

        if (!l)
            rc = TROD_ERR_NOMEM;
        else if (was[i].site != TROD_NO_SITE)
            *l = was[i];
    }
    free(was);
    return rc;
}

/* Up to TROD_INSN_CODE opcode bytes. */
static inline void copy_code(uint8_t *to, const uint8_t *from, uint32_t n)
{
    if (n >= sizeof(uint64_t)) { /* its two ends overlap */
        memcpy(to, from, sizeof(uint64_t));
        memcpy(to + n - sizeof(uint64_t), from + n - sizeof(uint64_t), sizeof(uint64_t));
    } else if (n >= sizeof(uint32_t)) {
        memcpy(to, from, sizeof(uint32_t));
        memcpy(to + n - sizeof(uint32_t), from + n - sizeof(uint32_t), sizeof(uint32_t));
    } else {
        for (uint32_t i = 0; i < n; i++)
            to[i] = from[i];
    }
}

/* The branch kind of an instruction, without the direction that a conditional branch took. */
static uint8_t branch_of(uint32_t branch)
{
    return branch == TROD_BR_COND_TAKEN || branch == TROD_BR_COND_UNTAKEN ? TROD_BR_COND
                                                                          : (uint8_t)branch;
}

/*
 * The number of SITE, which is in a row of B, in the table of the run. NEXT: the site after the
 * previous one, or TROD_NO_SITE; if other parts have met this code, it is mostly the one, and the
 * lock is not needed. NEW: places do not have its address. *OTHER: as for engine_sites_add.
 */
static uint32_t number_of(struct engine_owner *o, const struct trod_batch *b,
                          const struct trod_site *site, uint32_t next, bool new, bool *other)
{
    if (site->code_n && engine_sites_is(o->sites, next, site) &&
        (!b->meta || engine_sites_are_of(o->sites, b->meta->isa)))
        return next;
    if (!o->locked)
        engine_sites_lock(o->sites, b->meta);
    o->locked = true;
    return new ? engine_sites_add_new(o->sites, site, &o->mine, other)
               : engine_sites_add(o->sites, site, other);
}

static void unlock(struct engine_owner *o)
{
    if (o->locked)
        engine_sites_unlock(o->sites);
    o->locked = false;
}

/*
 * SITE has the address and opcode of the site NUMBER: are they equal in everything else that
 * matters? What rows say of a branch does not where the opcode says it: a conditional return is one
 * only where it is taken.
 */
static bool agree(struct engine_owner *o, uint32_t number, const struct trod_site *site)
{
    const struct trod_site *known = trod_site_at(o->sites, number);
    const struct trod_insn *insn;

    if (known->size != site->size || known->iset != site->iset)
        return false;
    if (known->branch == site->branch)
        return true;
    unlock(o);
    insn = trod_site_insn(o->sites, number);
    return insn->valid && insn->branch != TROD_BR_NONE;
}

/*
 * The site, in the table of the run, of row I, an instruction at PC. NEW: places do not have PC.
 * NEXT: as for number_of. Sites without an opcode are distinguished by the other columns of the
 * row; a file has one of them at each address.
 */
static uint32_t find(struct engine_owner *o, const struct trod_batch *b, uint32_t i, uint64_t pc,
                     uint32_t next, bool new)
{
    uint32_t said = b->have & b->has[i];
    struct trod_site site = {.pc = pc};
    bool other = false;
    uint32_t number;

    if (b->kind[i] == TROD_INSTR) {
        if (said & TROD_COL_SIZE)
            site.size = b->size[i];
        if (said & TROD_COL_CODE) {
            site.code_n =
                (uint8_t)(b->code[i].len < TROD_INSN_CODE ? b->code[i].len : TROD_INSN_CODE);
            copy_code(site.code, trod_batch_bytes(b, b->code[i]), site.code_n);
        }
        if (said & TROD_COL_FLAGS) {
            site.iset = (uint8_t)((b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT);
            site.branch = branch_of(b->flags[i] & TROD_F_BRANCH);
        }
    }
    if (said & TROD_COL_STREAM)
        site.stream = b->stream[i];
    number = number_of(o, b, &site, next, new, &other);
    if (number == TROD_NO_SITE || !site_room(o, number))
        return TROD_NO_SITE;
    o->lost |= o->part && other;
    if (o->part && (b->kind[i] == TROD_INSTR || (o->owned && !o->leads)))
        o->lost |=
            !agree(o, number, &site) || (b->meta && !engine_sites_are_of(o->sites, b->meta->isa));
    return number;
}

/* The key of opcode bytes: the bytes themselves, or, in a shared pool, their offset. */
static inline uint64_t key_of(const struct trod_batch *b, struct trod_slice s)
{
    uint64_t key = 0;

    if (s.off & TROD_SLICE_SHARED)
        return shared_key | s.off;
    memcpy(&key, trod_batch_bytes(b, s), s.len < sizeof key ? s.len : sizeof key);
    return key;
}

/* The opcode of a row: its key, and its length as in struct entry. No opcode: both 0. */
struct said {
    uint64_t code;
    uint32_t len;
};

static inline struct said said_of(const struct trod_batch *b, uint32_t i, uint32_t said)
{
    struct trod_slice code;

    if (!(said & TROD_COL_CODE))
        return (struct said){0};
    code = b->code[i];
    return (struct said){
        key_of(b, code),
        code.len <= sizeof(uint64_t) || (code.off & TROD_SLICE_SHARED) ? code.len : UINT32_MAX};
}

/* Has E, which is not empty, the opcode NOW, and does row I not say that the code is new? */
static inline bool still_there(const struct engine_owner *o, const struct trod_batch *b, uint32_t i,
                               const struct entry *e, struct said now)
{
    return o->code[site_of(e)] == now.code && e->len == now.len && now.len != UINT32_MAX &&
           !((b->have & b->has[i] & TROD_COL_FLAGS) && (b->flags[i] & TROD_F_NEWCODE));
}

/* The site of row I, an instruction with opcode NOW after L, if E, the entry of its address, is
 * empty or of another instruction; E is updated. */
static uint32_t other_site(struct engine_owner *o, const struct trod_batch *b, uint32_t i,
                           struct entry *e, const struct last *l, struct said now)
{
    struct places *p = &o->places;
    const uint32_t met = site_of(e);
    const uint64_t pc = b->addr[i];
    uint32_t site;

    o->codeless |= o->late && now.len == 0 && b->have & TROD_COL_CODE;
    site = find(o, b, i, pc, l->site + 1, met == TROD_NO_SITE);

    if (site == TROD_NO_SITE)
        return site;
    p->n += met == TROD_NO_SITE;
    if (met != TROD_NO_SITE && met != site) /* it is no longer at this address */
        owner_unlearn(o, met);
    if (site == l->site + 1 && site)
        owner_learn(o, site, pc - l->pc);
    *e = (struct entry){.pc = pc, .inverse = ~site, .len = now.len};
    o->code[site] = now.code;
    if (2 * (uint64_t)p->n > p->mask && !grow_places(p) && p->n == p->mask) {
        e->inverse = 0; /* one place stays empty: this address is looked up again */
        owner_unlearn(o, site);
        o->mine = UINT32_MAX;
        p->n--;
    }
    return site;
}

/* Is the last instruction of a stream, L, before the beginning of this part, and so unknown? */
static inline bool unknown_owner(const struct engine_owner *o, const struct last *l)
{
    return o->late && o->owned && l->site == TROD_NO_SITE;
}

/* The site of row I, no instruction, which has the address PC of its instruction. */
static uint32_t said_site(struct engine_owner *o, const struct trod_batch *b, uint32_t i,
                          uint64_t pc)
{
    const struct entry *e = entry_of(&o->places, pc);

    o->lost |= e->inverse && o->part && o->owned && !o->leads;
    return e->inverse && e->len == 0 ? site_of(e) : find(o, b, i, pc, TROD_NO_SITE, false);
}

/* The site of row I, which is no instruction and belongs to L unless it has a pc of its own. */
static uint32_t owned_site(struct engine_owner *o, const struct trod_batch *b, uint32_t i,
                           struct last *l)
{
    unsigned kind = b->kind[i];

    if (trod_owned_kind(kind)) {
        if (unknown_owner(o, l)) {
            o->lost |= !o->leads;
            return TROD_NO_SITE;
        }
        if ((b->have & b->has[i] & TROD_COL_PC) && (l->site == TROD_NO_SITE || b->pc[i] != l->pc))
            *l = (struct last){b->pc[i], said_site(o, b, i, b->pc[i])};
        return l->site;
    }
    if (kind == TROD_BRANCH && (b->have & b->has[i] & TROD_COL_ADDR)) {
        *l = (struct last){b->addr[i], said_site(o, b, i, b->addr[i])};
        return l->site;
    }
    return TROD_NO_SITE;
}

/* Fill the site of row I; L is the last instruction of its stream, and is updated. */
static inline void any_row(struct engine_owner *o, const struct trod_batch *b, uint32_t i,
                           struct last *l)
{
    const uint32_t said = b->have & b->has[i];

    if (b->kind[i] != TROD_INSTR) {
        b->site[i] = owned_site(o, b, i, l);
    } else if (said & TROD_COL_ADDR) {
        struct entry *e = entry_of(&o->places, b->addr[i]);
        const struct said now = said_of(b, i, said);
        const uint32_t site =
            e->inverse && (!(said & TROD_COL_CODE) || still_there(o, b, i, e, now))
                ? site_of(e)
                : other_site(o, b, i, e, l, now);

        *l = (struct last){b->addr[i], site};
        b->site[i] = site;
    } else {
        b->site[i] = l->site = TROD_NO_SITE;
    }
}

/* The first of rows [FROM, TO) that has an opcode; TO: none has. */
static uint32_t said_code(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    while (from < to && !(b->has[from] & TROD_COL_CODE))
        from++;
    return from;
}

/* Fill the sites of rows [FROM, TO) of a chunk, which have C in common. */
static int chunk_rows(struct engine_owner *o, struct trod_batch *b, uint32_t from, uint32_t to,
                      struct engine_streaks *s, const struct engine_common *c)
{
    const bool plain = c->one_stream && c->all & TROD_COL_ADDR && !(c->any & TROD_COL_PC) &&
                       !(c->all & TROD_COL_CODE) && (c->plain || !s);
    struct last *l = NULL;
    uint32_t stream = 0, expected = from;

    if (c->plain && s)
        engine_streaks_turn(s, c->stream, c->kernel);
    o->aims.to = o->aims.from;
    if (c->plain && o->places.mask >= OWNER_LARGE)
        owner_look_ahead(o, b, from, to);
    for (uint32_t i = from; i < to; i++) {
        const uint32_t said = b->have & b->has[i];
        const uint32_t now = said & TROD_COL_STREAM ? b->stream[i] + 1 : 0;

        if ((!l || now != stream) && !(l = last_of(o, stream = now)))
            return TROD_ERR_NOMEM;
        if (plain && !(said & TROD_COL_CODE) && !unknown_owner(o, l) &&
            !(c->any & TROD_COL_CODE && owner_is_access(b->kind[i]))) {
            unlock(o);
            i = owner_plain_rows(o, b, i, c->any & TROD_COL_CODE ? said_code(b, i, to) : to, l, s,
                                 c->plain);
            if (i == to)
                break;
        }
        if (plain) { /* new code mostly comes in longer runs */
            expected = expected > i ? expected : i + 1;
            for (; expected < to && expected <= i + NEW_AHEAD; expected++)
                owner_expect(&o->places, b->addr[expected]);
        }
        any_row(o, b, i, l);
        if (s && c->plain)
            engine_streaks_plain_row(s, b, i);
        else if (s)
            engine_streaks_row(s, b, i);
    }
    return TROD_OK;
}

/* An instruction with its opcode, to be sorted by address. */
struct met {
    uint64_t pc;
    uint32_t row;
};

static int by_address(const void *a, const void *b)
{
    const struct met *x = a, *y = b;

    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Does an instruction of B without an opcode stand before the first one that has its address and
 * an opcode? The N at MET, sorted, are those with one. */
static bool one_comes_before(const struct trod_batch *b, const struct met *met, uint32_t n)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const uint32_t said = b->have & b->has[i];
        uint32_t lo = 0, hi = n;

        if (b->kind[i] != TROD_INSTR || !(said & TROD_COL_ADDR) || said & TROD_COL_CODE)
            continue;
        while (lo < hi) { /* the first that is at its address, or behind it */
            const uint32_t mid = lo + (hi - lo) / 2;

            if (met[mid].pc < b->addr[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        if (lo < n && met[lo].pc == b->addr[i] && met[lo].row > i)
            return true;
    }
    return false;
}

/*
 * B is the first batch of a part that begins inside a file, mostly in the middle of a loop. Number
 * its instructions by address. Numbered in the order of execution, the sites of the loop would not
 * be consecutive, which would slow down all threads up to the end.
 */
static int meet_first(struct engine_owner *o, const struct trod_batch *b)
{
    const uint32_t need = TROD_COL_ADDR | TROD_COL_CODE;
    struct met *met = malloc(b->n * sizeof *met);
    struct last last = {.site = TROD_NO_SITE};
    uint32_t n = 0;

    if (!met)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->kind[i] == TROD_INSTR && (b->have & b->has[i] & need) == need)
            met[n++] = (struct met){b->addr[i], i};
    qsort(met, n, sizeof *met, by_address);
    if (one_comes_before(b, met, n)) /* damaged: it is not that one */
        n = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = met[k].row;
        struct entry *e = entry_of(&o->places, met[k].pc);

        if (!e->inverse)
            last = (struct last){met[k].pc,
                                 other_site(o, b, i, e, &last, said_of(b, i, b->have & b->has[i]))};
    }
    free(met);
    return TROD_OK;
}

int engine_owner_fill(struct engine_owner *o, struct trod_batch *b, struct trod_streaks *to)
{
    struct engine_streaks s;
    struct engine_common c;
    int rc = TROD_OK;

    if (!turn_file(o, b))
        return TROD_ERR_NOMEM;
    if (b->meta && !engine_sites_are_of(o->sites, b->meta->isa)) /* there may be no new site */
        engine_sites_meta(o->sites, b->meta);
    if (o->inside && b->n && (rc = meet_first(o, b)) < 0)
        return rc;
    o->inside = false;
    if (to)
        engine_streaks_begin(&s, to);
    b->have |= TROD_COL_SITE;
    for (uint32_t from = 0, end; rc == TROD_OK && from < b->n; from = end) {
        end = b->n - from > ENGINE_CHUNK ? from + ENGINE_CHUNK : b->n;
        c = engine_common_of(b, from, end);
        rc = chunk_rows(o, b, from, end, to ? &s : NULL, &c);
        unlock(o);
    }
    if (to)
        engine_streaks_close(&s);
    b->streaks = to;
    return rc;
}
