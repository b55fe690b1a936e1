/*
 * owner_plain.c - the site column of plain rows, and their streaks.
 *
 * Programs mostly go straight on. Of each site is known how far after the site with the number
 * before its own it lies (owner_int.h): where an instruction comes so far after the last one its
 * site is the next number, and nothing is looked up. With AVX2 eight rows are looked at in one go:
 * sums of these distances are the addresses that their instructions have if they go straight on.
 * Rows up to the first that does not are taken. Rounds of loops are compared with the one before
 * (owner_loops.c). Row by row the same comes of it.
 */
#include "engine/owner_int.h"

#include "core/wide.h"

#include <limits.h>
#include <string.h>

/* Where a walk over rows is. */
struct way {
    uint32_t i;
    uint32_t go;   /* the site after that of the last instruction */
    uint32_t on;   /* the same, if a streak is open, else TROD_NO_SITE */
    uint32_t last; /* row of the last instruction, if a streak is open or one was met */
    uint64_t pc;   /* of the last instruction */
    uint16_t *access;
};

/* Nothing goes on with the streak that is open. */
TROD_HOT void end_streak(struct engine_streaks *s, struct way *w)
{
    if (s && s->open) {
        s->last = w->last;
        s->site = w->go;
        engine_streaks_close(s);
    }
    w->on = TROD_NO_SITE;
}

/* The walk begins at row FROM, after L. */
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
 * The site of row W->i, an instruction. It goes on with the streak that is open, or begins one.
 * TROD_NO_SITE: it is new.
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

/* Row W->i is an instruction of SITE. */
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

/* Row W->i is an access. */
TROD_HOT void take_access(struct engine_streaks *s, struct way *w, const struct trod_batch *b)
{
    b->site[w->i] = w->go - 1;
    if (s)
        *w->access++ = (uint16_t)w->i;
    w->i++;
}

#if TROD_AVX2
enum { LANES = 8 };

static const uint64_t low_bits = UINT64_C(0x0101010101010101); /* of each byte */

/* The bytes of V summed up from the lowest on; no sum exceeds a byte. */
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

/* The columns of a batch that are looked at. */
struct columns {
    const uint8_t *kind;
    const uint64_t *addr;
    const uint32_t *size, *flags;
    uint32_t *site;
};

/* Up to eight rows from one on. Bit k of a mask is lane k. */
struct lanes {
    unsigned instr, access; /* what they are */
    unsigned there;         /* instructions that lie where they would if all went straight on */
    unsigned stops; /* branches, and instructions that do not end where the next site begins */
};

/* Rows I to I + 7, after an instruction at BASE; GO: the site of the first one of them. */
TROD_WIDE TROD_HOT struct lanes look(const struct columns *c, const uint8_t *gap, uint32_t i,
                                     uint64_t base, uint32_t go)
{
    const __m128i kind = _mm_loadl_epi64((const __m128i *)(const void *)(c->kind + i));
    const __m128i instr = _mm_cmpeq_epi8(kind, _mm_set1_epi8(TROD_INSTR));
    const __m128i other = _mm_sub_epi8(kind, _mm_set1_epi8(TROD_READ));
    const __m128i access =
        _mm_cmpeq_epi8(_mm_min_epu8(other, _mm_set1_epi8(TROD_FLUSH - TROD_READ)), other);
    /* of each lane the number of its instruction among them; 255: it belongs to one before them */
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
    /* a branch has no size that ends where a site begins */
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
    /* lanes that are not taken are written over by what follows */
    _mm256_storeu_si256((__m256i *)(void *)(c->site + i),
                        _mm256_add_epi32(_mm256_cvtepi8_epi32(number), _mm256_set1_epi32((int)go)));
    return l;
}

/* The site of an instruction at PC, after the one at BASE whose site is the one before GO. AIM:
 * what it is known to be, or TROD_NO_SITE. */
TROD_HOT uint32_t site_at(struct engine_owner *o, const struct places *p, uint64_t pc,
                          uint64_t base, uint32_t go, uint32_t aim)
{
    const uint32_t site = aim != TROD_NO_SITE ? aim : site_of(entry_of(p, pc));

    if (site == go && site)
        owner_learn(o, site, pc - base);
    return site;
}

/* Where a walk over rows by eight is. */
struct stride {
    uint32_t i, go, last;        /* as in struct way */
    bool open;                   /* a streak is */
    uint64_t base;               /* address that the distances of what comes are from */
    bool wanted;                 /* streaks are */
    struct trod_streak *streaks; /* after the last one */
    uint16_t *access;
    bool aimed; /* the aims of the owner hold */
};

enum begun { BEGUN, TAKEN, STOPPED };

/*
 * Row V->i does not go straight on from those before it. BEGUN: it is an instruction, to be taken;
 * TAKEN: it was an access; STOPPED: it is neither, or new.
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

/* The accesses of mask LANES, rows from V->i on, are those of a streak. */
TROD_WIDE TROD_HOT void put_accesses(const struct engine_owner *o, struct stride *v, unsigned lanes)
{
    const __m128i lane = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long)o->lanes_of[lanes]));

    _mm_storeu_si128((__m128i *)(void *)v->access,
                     _mm_add_epi16(lane, _mm_set1_epi16((short)v->i)));
    v->access += _mm_popcnt_u32(lanes);
}

/* Row V->i begins a streak with the site that the one before it began with. False: the rows are not
 * known to be a round of a loop. */
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

/* Rows [V->i, TO), up to one that is neither instruction nor access, or is new. */
TROD_WIDE TROD_HOT void take_strides(struct engine_owner *o, const struct trod_batch *b,
                                     uint32_t to, struct stride *v)
{
    const struct columns c = {b->kind, b->addr, b->size, b->flags, b->site};
    const struct places places = o->places;
    const uint8_t *const gap = o->gap;
    uint32_t was = o->loop.site - 1, again = LOOP_FROM - 1; /* where the last streak began */
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
        /* the lanes that are taken lie before the first one that is not there, the first
         * instruction after what stops, and row TO */
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

/* As owner_plain_rows, for rows that may all be part of a streak and after which others have room.
 */
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

/* The same, row by row. */
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

/* ---- what is looked up soon */

/* Rows after branches. */
struct behind {
    uint32_t n, row[ENGINE_CHUNK];
};

/* Row I is a branch. What comes after it lies after its accesses. */
TROD_HOT void expect_behind(const struct places *p, const struct trod_batch *b, uint32_t i,
                            uint32_t to, struct behind *behind)
{
    for (i++; i < to && b->kind[i] != TROD_INSTR;)
        i++;
    if (i == to)
        return;
    owner_expect(p, b->addr[i]);
    behind->row[behind->n++] = i;
}

#if TROD_AVX2
/* Returns the first row that was not looked at. */
TROD_WIDE static uint32_t ahead_wide(const struct places *p, const struct trod_batch *b,
                                     uint32_t from, uint32_t to, struct behind *behind)
{
    const __m256i branch = _mm256_set1_epi32(TROD_F_BRANCH);
    uint32_t i = from;

    for (; i + LANES <= to; i += LANES) {
        const __m256i flags = _mm256_loadu_si256((const __m256i *)(const void *)(b->flags + i));
        const __m256i none =
            _mm256_cmpeq_epi32(_mm256_and_si256(flags, branch), _mm256_setzero_si256());
        unsigned lanes = ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(none)) & UINT8_MAX;

        for (; lanes; lanes &= lanes - 1)
            expect_behind(p, b, i + (unsigned)__builtin_ctz(lanes), to, behind);
    }
    return i;
}
#endif

void owner_look_ahead(struct engine_owner *o, const struct trod_batch *b, uint32_t from,
                      uint32_t to)
{
    struct aims *const aims = &o->aims;
    struct behind behind;
    uint32_t i = from;

    behind.n = 0;
#if TROD_AVX2
    if (trod_wide())
        i = ahead_wide(&o->places, b, from, to, &behind);
#endif
    for (; i < to; i++)
        if (b->flags[i] & TROD_F_BRANCH)
            expect_behind(&o->places, b, i, to, &behind);
    aims->from = from;
    aims->to = to;
    aims->changes = o->changes;
    memset(aims->site, 0xff, (to - from) * sizeof *aims->site); /* TROD_NO_SITE */
    for (uint32_t k = 0; k < behind.n; k++) {
        const uint32_t site = site_of(entry_of(&o->places, b->addr[behind.row[k]]));

        aims->site[behind.row[k] - from] = site;
        if (site != TROD_NO_SITE)
            __builtin_prefetch(&o->gap[site]);
    }
}
