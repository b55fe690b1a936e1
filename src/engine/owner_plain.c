/*
 * owner_plain.c - the site column of plain rows, and their streaks.
 *
 * Most instructions follow the previous one in memory. For each site, the owner keeps its distance
 * from the site with the number before it (gap, owner_int.h). If an instruction has this distance
 * from the previous one, its site is the next number and nothing is looked up. With AVX2, eight
 * rows are processed at a time: prefix sums of the distances give the addresses of straight-line
 * code, and the rows before the first that deviates are accepted. Iterations of loops are compared
 * with an iteration learned before (owner_loops.c). The row-by-row code gives the same result.
 */
#include "engine/owner_int.h"

#include "core/wide.h"

#include <limits.h>
#include <string.h>

/* The position of a walk over rows. */
struct way {
    uint32_t i;    /* the next row */
    uint32_t go;   /* 1 + the site of the last instruction */
    uint32_t on;   /* the same if a streak is open, else TROD_NO_SITE */
    uint32_t last; /* row of the last instruction, if a streak is open or the walk has passed one */
    uint64_t pc;   /* of the last instruction */
    uint16_t *access; /* where the next access of a streak is written */
};

/* End the open streak, if there is one. */
TROD_HOT void end_streak(struct engine_streaks *s, struct way *w)
{
    if (s && s->open) {
        s->last = w->last;
        s->site = w->go;
        engine_streaks_close(s);
    }
    w->on = TROD_NO_SITE;
}

/* Begin a walk at row FROM; L is the last instruction before it. */
TROD_HOT struct way begin_way(struct engine_streaks *s, const struct last *l, uint32_t from)
{
    struct way w = {.i = from, .go = l->site + 1, .on = TROD_NO_SITE, .pc = l->pc};

    if (!s)
        return w;
    w.access = s->to->access + s->to->n_accesses;
    if (s->open && s->site == w.go) {
        w.last = s->last;
        w.on = w.go;
    } else {
        engine_streaks_close(s);
    }
    return w;
}

/* End the walk W: store its position in S and L. */
TROD_HOT void end_way(struct engine_streaks *s, const struct way *w, const struct trod_batch *b,
                      struct last *l)
{
    if (s) {
        s->to->n_accesses = (uint32_t)(w->access - s->to->access);
        if (s->open) {
            s->last = w->last;
            s->site = w->go;
            s->next = b->addr[w->last] + b->size[w->last];
        }
    }
    *l = (struct last){w->pc, w->go - 1};
}

/*
 * The site of row W->i, an instruction, which continues the open streak or begins a new one.
 * TROD_NO_SITE: the instruction is new.
 */
TROD_HOT uint32_t begin_at(struct engine_owner *o, struct engine_streaks *s, struct way *w,
                           const struct trod_batch *b)
{
    const uint64_t pc = b->addr[w->i];
    uint32_t site = w->go;

    if (!o->gap[site] || pc != w->pc + o->gap[site]) {
        site = site_of(entry_of(&o->places, pc));
        if (site == TROD_NO_SITE)
            return site;
        if (site == w->go && site)
            owner_learn(o, site, pc - w->pc);
    }
    if (site == w->on && pc == w->pc + b->size[w->last])
        return site;
    end_streak(s, w);
    if (s) {
        s->to->at[s->to->n++] = (struct trod_streak){.row = w->i, .site = site};
        s->open = true;
    }
    return site;
}

/* Take row W->i, an instruction of SITE. */
TROD_HOT void take_one(struct engine_streaks *s, struct way *w, const struct trod_batch *b,
                       uint32_t site)
{
    w->last = w->i++;
    w->pc = b->addr[w->last];
    w->go = site + 1;
    b->site[w->last] = site;
    if (!s)
        return;
    w->on = w->go;
    if (b->flags[w->last] & TROD_F_BRANCH)
        end_streak(s, w);
}

/* Take row W->i, an access. */
TROD_HOT void take_access(struct engine_streaks *s, struct way *w, const struct trod_batch *b)
{
    b->site[w->i] = w->go - 1;
    if (s)
        *w->access++ = (uint16_t)w->i;
    w->i++;
}

#if TROD_AVX2
enum { LANES = 8 };

static const uint64_t low_bits = UINT64_C(0x0101010101010101); /* bit 0 of each byte */

/* The prefix sums of the bytes of V, from the lowest byte on; no sum exceeds a byte. */
static inline uint64_t sums_of(uint64_t v)
{
    return v * low_bits;
}

static inline uint64_t eight(const void *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* The columns of a batch that the vector code uses. */
struct columns {
    const uint8_t *kind;
    const uint64_t *addr;
    const uint32_t *size, *flags;
    uint32_t *site;
};

/* Eight consecutive rows as masks: bit k is row k. */
struct lanes {
    unsigned instr, access; /* the instructions; the accesses */
    unsigned there;         /* rows whose address fits straight-line code */
    unsigned stops; /* branches, and instructions that do not end where the next site begins */
};

/*
 * Classify rows I to I + 7, and write their sites as for straight-line code. BASE: the address of
 * the instruction before them; GO: the site expected for their first instruction.
 */
TROD_WIDE TROD_HOT struct lanes look(const struct columns *c, const uint8_t *gap, uint32_t i,
                                     uint64_t base, uint32_t go)
{
    const __m128i kind = _mm_loadl_epi64((const __m128i *)(const void *)(c->kind + i));
    const __m128i instr = _mm_cmpeq_epi8(kind, _mm_set1_epi8(TROD_INSTR));
    const __m128i other = _mm_sub_epi8(kind, _mm_set1_epi8(TROD_READ));
    const __m128i access =
        _mm_cmpeq_epi8(_mm_min_epu8(other, _mm_set1_epi8(TROD_FLUSH - TROD_READ)), other);
    /* by lane: the index of its instruction among the eight rows; 255: one before them */
    const __m128i number = _mm_add_epi8(
        _mm_cvtsi64_si128((long long)sums_of((uint64_t)_mm_cvtsi128_si64(instr) & low_bits)),
        _mm_set1_epi8(-1));
    const uint64_t gaps = eight(gap + go);
    const __m128i sum = _mm_shuffle_epi8(_mm_cvtsi64_si128((long long)sums_of(gaps)), number);
    const __m128i behind =
        _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)(const void *)(gap + go + 1)), number);
    const __m128i unknown = _mm_cmpeq_epi8(behind, _mm_setzero_si128());
    const __m256i from = _mm256_set1_epi64x((long long)base);
    const __m256i *const addr = (const __m256i *)(const void *)(c->addr + i);
    const __m256i at0 = _mm256_cmpeq_epi64(_mm256_add_epi64(from, _mm256_cvtepu8_epi64(sum)),
                                           _mm256_loadu_si256(addr));
    const __m256i at1 =
        _mm256_cmpeq_epi64(_mm256_add_epi64(from, _mm256_cvtepu8_epi64(_mm_srli_si128(sum, 4))),
                           _mm256_loadu_si256(addr + 1));
    const __m256i branch =
        _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)(c->flags + i)),
                         _mm256_set1_epi32(TROD_F_BRANCH));
    /* a branch never counts as straight: its flag makes its size impossible */
    const __m256i straight = _mm256_cmpeq_epi32(
        _mm256_cvtepu8_epi32(behind),
        _mm256_or_si256(_mm256_loadu_si256((const __m256i *)(const void *)(c->size + i)),
                        _mm256_slli_epi32(branch, CHAR_BIT)));
    const unsigned at = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(at0)) |
                        (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(at1)) << 4;
    struct lanes l;

    l.instr = (unsigned)_mm_movemask_epi8(instr) & UINT8_MAX;
    l.access = (unsigned)_mm_movemask_epi8(access) & UINT8_MAX;
    l.there = at;
    l.stops = l.instr & (~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(straight)) |
                         (unsigned)_mm_movemask_epi8(unknown));
    /* the sites of lanes that are not accepted are overwritten later */
    _mm256_storeu_si256((__m256i *)(void *)(c->site + i),
                        _mm256_add_epi32(_mm256_cvtepi8_epi32(number), _mm256_set1_epi32((int)go)));
    return l;
}

/* The site of the instruction at PC, which follows the one at BASE with site GO - 1. AIM: its site
 * if already looked up, or TROD_NO_SITE. */
TROD_HOT uint32_t site_at(struct engine_owner *o, const struct places *p, uint64_t pc,
                          uint64_t base, uint32_t go, uint32_t aim)
{
    const uint32_t site = aim != TROD_NO_SITE ? aim : site_of(entry_of(p, pc));

    if (site == go && site)
        owner_learn(o, site, pc - base);
    return site;
}

/* The position of a walk over rows, eight at a time. */
struct stride {
    uint32_t i, go, last;        /* as in struct way */
    bool open;                   /* a streak is open */
    uint64_t base;               /* the address to which gap[go] is added */
    bool wanted;                 /* streaks are wanted */
    struct trod_streak *streaks; /* end of the streaks so far */
    uint16_t *access;            /* end of the accesses so far */
    bool aimed;                  /* the aims of the owner are valid */
};

enum begun { BEGUN, TAKEN, STOPPED };

/*
 * Handle row V->i, which does not continue straight-line code. BEGUN: it is an instruction, still
 * to be taken; TAKEN: it was an access, and is done; STOPPED: it is neither, or a new instruction.
 */
TROD_HOT enum begun begin_stride(struct engine_owner *o, const struct columns *c,
                                 const struct places *places, const uint8_t *gap, struct stride *v)
{
    const uint64_t pc = c->addr[v->i];
    uint32_t site = v->go;

    if (c->kind[v->i] != TROD_INSTR) {
        if (!owner_is_access(c->kind[v->i]))
            return STOPPED;
        c->site[v->i] = v->go - 1;
        if (v->wanted)
            *v->access++ = (uint16_t)v->i;
        v->i++;
        return TAKEN;
    }
    if (!gap[site] || pc != v->base + gap[site]) {
        site = site_at(o, places, pc, v->base, v->go,
                       v->aimed ? o->aims.site[v->i - o->aims.from] : TROD_NO_SITE);
        if (site == TROD_NO_SITE)
            return STOPPED;
    }
    if (v->wanted && (!v->open || site != v->go || pc != v->base + c->size[v->last]))
        *v->streaks++ = (struct trod_streak){.row = v->i, .site = site};
    v->open = true;
    v->go = site;
    v->base = pc - gap[site];
    return BEGUN;
}

/* Append the rows of mask LANES (lane 0: row V->i) to the accesses of the streak. */
TROD_WIDE TROD_HOT void put_accesses(const struct engine_owner *o, struct stride *v, unsigned lanes)
{
    const __m128i lane = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long)o->lanes_of[lanes]));

    _mm_storeu_si128((__m128i *)(void *)v->access,
                     _mm_add_epi16(lane, _mm_set1_epi16((short)v->i)));
    v->access += _mm_popcnt_u32(lanes);
}

/* Row V->i begins a streak with the same site as the streak before: take iterations of a loop from
 * there on. False: there are none. */
TROD_WIDE TROD_HOT bool loop_stride(struct engine_owner *o, const struct trod_batch *b, uint32_t to,
                                    struct stride *v)
{
    const struct loop *const l = &o->loop;
    uint32_t n;

    if (v->wanted && v->streaks[-1].row != v->i) /* it goes on with a streak */
        return false;
    n = owner_take_loop(o, b, v->i, to, v->go, v->wanted ? v->streaks - 1 : NULL,
                        v->wanted ? v->access : NULL);
    if (!n)
        return false;
    v->i += n * l->rows;
    v->go += l->n;
    v->last = v->i - l->rows + l->last;
    v->base = b->addr[v->last];
    v->open = false;
    if (v->wanted) {
        v->streaks += n - 1;
        v->access += n * l->accesses;
    }
    return true;
}

/* Take rows [V->i, TO), up to one that is neither instruction nor access, or is a new instruction.
 */
TROD_WIDE TROD_HOT void take_strides(struct engine_owner *o, const struct trod_batch *b,
                                     uint32_t to, struct stride *v)
{
    const struct columns c = {b->kind, b->addr, b->size, b->flags, b->site};
    const struct places places = o->places;
    const uint8_t *const gap = o->gap;
    /* the site that the last streak began with; how often in succession streaks began with it */
    uint32_t was = o->loop.site - 1, again = LOOP_FROM - 1;
    bool begins = true;

    while (v->i < to) {
        unsigned first = 0, n, taken;
        struct lanes l;

        if (begins) {
            const enum begun begun = begin_stride(o, &c, &places, gap, v);

            if (begun == STOPPED)
                break;
            if (begun == TAKEN)
                continue;
            again = v->go == was ? again + 1 : 0;
            was = v->go;
            if (again >= LOOP_FROM && loop_stride(o, b, to, v))
                continue;
            first = 1;
        }
        l = look(&c, gap, v->i, v->base, v->go);
        /* accepted: the lanes before the first that does not fit, before the first instruction
         * after a lane that stops, and before row TO */
        n = (unsigned)__builtin_ctz(~((l.instr & (l.there | first)) | l.access) |
                                    (l.instr & ~(l.stops ^ (l.stops - 1))) | 1u << LANES);
        n = n < to - v->i ? n : to - v->i;
        taken = l.instr & ((1u << n) - 1);
        if (v->wanted)
            put_accesses(o, v, l.access & ((1u << n) - 1));
        begins = n < LANES || l.stops & taken;
        if (taken) {
            v->last = v->i + 31 - (unsigned)__builtin_clz(taken);
            v->go += (unsigned)_mm_popcnt_u32(taken);
            v->base = c.addr[v->last];
            if (v->wanted) {
                v->streaks[-1].last = v->last;
                v->streaks[-1].n = v->go - v->streaks[-1].site;
            }
            if (l.stops & taken)
                v->open = !(c.flags[v->last] & TROD_F_BRANCH);
        }
        v->i += n;
    }
}

/* As owner_plain_rows with SAID. The batch has room for LANES rows from TO - 1 on. */
TROD_WIDE TROD_HOT void wide_rows(struct engine_owner *o, const struct trod_batch *b, uint32_t to,
                                  struct engine_streaks *s, struct way *w)
{
    struct stride v = {.i = w->i,
                       .go = w->go,
                       .last = w->last,
                       .open = w->on != TROD_NO_SITE,
                       .base = w->pc,
                       .wanted = s != NULL,
                       .streaks = s ? s->to->at + s->to->n : NULL,
                       .access = w->access,
                       .aimed = o->aims.from < o->aims.to && o->aims.changes == o->changes};

    if (s && v.open) {
        v.streaks[-1].last = v.last;
        v.streaks[-1].n = v.go - v.streaks[-1].site;
    }
    take_strides(o, b, to, &v);
    if (s) {
        s->to->n = (uint32_t)(v.streaks - s->to->at);
        s->open = v.open;
    }
    *w = (struct way){.i = v.i,
                      .go = v.go,
                      .on = v.open ? v.go : TROD_NO_SITE,
                      .last = v.last,
                      .pc = v.base,
                      .access = v.access};
}

TROD_WIDE static void rows_wide(struct engine_owner *o, const struct trod_batch *b, uint32_t to,
                                struct engine_streaks *s, struct way *w)
{
    if (s)
        wide_rows(o, b, to, s, w);
    else
        wide_rows(o, b, to, NULL, w);
}
#endif

/* The same, row by row: the definition. */
TROD_HOT void plain_rows(struct engine_owner *o, const struct trod_batch *b, uint32_t to,
                         struct engine_streaks *s, struct way *w)
{
    while (w->i < to) {
        if (b->kind[w->i] == TROD_INSTR) {
            const uint32_t site = begin_at(o, s, w, b);

            if (site == TROD_NO_SITE)
                break;
            take_one(s, w, b, site);
        } else if (owner_is_access(b->kind[w->i])) {
            take_access(s, w, b);
        } else {
            break;
        }
    }
}

uint32_t owner_plain_rows(struct engine_owner *o, const struct trod_batch *b, uint32_t from,
                          uint32_t to, struct last *l, struct engine_streaks *s, bool said)
{
    struct way w = begin_way(s, l, from);

#if TROD_AVX2
    if (said && trod_wide() && from + LANES <= b->cap)
        rows_wide(o, b, to + LANES <= b->cap ? to : b->cap - LANES + 1, s, &w);
#endif
    (void)said;
    if (s)
        plain_rows(o, b, to, s, &w);
    else
        plain_rows(o, b, to, NULL, &w);
    end_way(s, &w, b, l);
    return w.i;
}

/* ---- looking up ahead */

/* The rows of instructions that follow branches. */
struct after_branches {
    uint32_t n, row[ENGINE_CHUNK];
};

/* Row I is a branch: note and prefetch the next instruction, which comes after its accesses. */
TROD_HOT void expect_after(const struct places *p, const struct trod_batch *b, uint32_t i,
                           uint32_t to, struct after_branches *after)
{
    for (i++; i < to && b->kind[i] != TROD_INSTR;)
        i++;
    if (i == to)
        return;
    owner_expect(p, b->addr[i]);
    after->row[after->n++] = i;
}

#if TROD_AVX2
/* Handles whole vectors of rows; returns the first row that was not examined. */
TROD_WIDE static uint32_t ahead_wide(const struct places *p, const struct trod_batch *b,
                                     uint32_t from, uint32_t to, struct after_branches *after)
{
    const __m256i branch = _mm256_set1_epi32(TROD_F_BRANCH);
    uint32_t i = from;

    for (; i + LANES <= to; i += LANES) {
        const __m256i flags = _mm256_loadu_si256((const __m256i *)(const void *)(b->flags + i));
        const __m256i none =
            _mm256_cmpeq_epi32(_mm256_and_si256(flags, branch), _mm256_setzero_si256());
        unsigned lanes = ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(none)) & UINT8_MAX;

        for (; lanes; lanes &= lanes - 1)
            expect_after(p, b, i + (unsigned)__builtin_ctz(lanes), to, after);
    }
    return i;
}
#endif

void owner_look_ahead(struct engine_owner *o, const struct trod_batch *b, uint32_t from,
                      uint32_t to)
{
    struct aims *const aims = &o->aims;
    struct after_branches after;
    uint32_t i = from;

    after.n = 0;
#if TROD_AVX2
    if (trod_wide())
        i = ahead_wide(&o->places, b, from, to, &after);
#endif
    for (; i < to; i++)
        if (b->flags[i] & TROD_F_BRANCH)
            expect_after(&o->places, b, i, to, &after);
    aims->from = from;
    aims->to = to;
    aims->changes = o->changes;
    memset(aims->site, 0xff, (to - from) * sizeof *aims->site); /* TROD_NO_SITE */
    for (uint32_t k = 0; k < after.n; k++) {
        const uint32_t site = site_of(entry_of(&o->places, b->addr[after.row[k]]));

        aims->site[after.row[k] - from] = site;
        if (site != TROD_NO_SITE)
            __builtin_prefetch(&o->gap[site]);
    }
}
