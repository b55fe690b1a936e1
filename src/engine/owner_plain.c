/*
 * owner_plain.c - the site column of plain rows, and their streaks.
 *
 * Programs do the same again. With AVX2 some rows are looked at in one go: a pattern says what up
 * to eight rows behind an instruction were when they were met before - which kinds, which
 * instructions, with which addresses and sizes, which of them branches. Where the rows are like
 * that again, their sites, accesses and streak are those of the pattern. Without it, and where no
 * pattern fits, rows are looked at one by one: the same comes of it.
 */
#include "engine/owner_int.h"

#include "core/wide.h"

#include <stdlib.h>
#include <string.h>

enum { PATTERN = 8 };

/* The row of the last instruction before row I: one is there. */
static inline uint32_t instruction_before(const uint8_t *kind, uint32_t i)
{
    do
        i--;
    while (kind[i] != TROD_INSTR);
    return i;
}

/* The streak that is open ends before row I; SITE would have gone on with it. */
static inline void end_streak(struct engine_streaks *s, const uint8_t *kind, uint32_t i,
                              uint32_t site)
{
    if (s->open) {
        s->last = instruction_before(kind, i);
        s->site = site;
        engine_streaks_close(s);
    }
}

/* ---- patterns */

/* Rows from an instruction on, up to behind a branch. Lanes that lie behind are not compared. */
struct owner_pattern {
    uint64_t addr[PATTERN];
    uint32_t size[PATTERN], site[PATTERN];
    uint16_t access[PATTERN]; /* rows, from the first on: n_accesses of them */
    uint8_t kind[PATTERN];
    uint8_t used[PATTERN], instr[PATTERN]; /* 0xff: the lane is a row; is an instruction */
    uint64_t next;                         /* address behind its last instruction */
    uint32_t go;                           /* the site behind that of its last instruction */
    uint32_t epoch;                        /* that it was noted in */
    uint8_t rows, n_accesses;
    uint8_t branches; /* lanes: none, or the last instruction */
    uint8_t misses;   /* since it was noted */
};

void owner_patterns_free(struct owner_patterns *p)
{
    free(p->at);
    free(p->of);
}

#if TROD_AVX2
enum { MISSES = 2 }; /* a pattern that did not fit so often is noted anew */

/* Room for one more pattern, which may begin with SITE. */
static bool pattern_room(struct owner_patterns *p, uint32_t site)
{
    if (p->n >= p->cap) {
        const uint32_t cap = p->cap ? 2 * p->cap : 64;
        struct owner_pattern *at = realloc(p->at, cap * sizeof *at);

        if (!at)
            return false;
        p->at = at;
        p->cap = cap;
        p->n += p->n == 0;
    }
    if (site >= p->n_of) {
        uint32_t n = p->n_of ? p->n_of : 1024;
        uint32_t *of;

        while (n <= site)
            n *= 2;
        of = realloc(p->of, n * sizeof *of);
        if (!of)
            return false;
        memset(of + p->n_of, 0, (n - p->n_of) * sizeof *of);
        p->of = of;
        p->n_of = n;
    }
    return true;
}

/* Note rows from FROM on of B as a pattern; rows before TO have their sites. */
static void pattern_note(struct owner_patterns *all, const struct trod_batch *b, uint32_t from,
                         uint32_t to)
{
    const uint32_t first = b->site[from];
    struct owner_pattern p = {.epoch = all->epoch};
    uint32_t i = from;

    for (; i < to && i - from < PATTERN; i++) {
        const uint32_t lane = i - from;

        if (b->kind[i] == TROD_INSTR) {
            if (p.branches || (lane && (b->site[i] != p.go || b->addr[i] != p.next)))
                break;
            p.addr[lane] = b->addr[i];
            p.size[lane] = b->size[i];
            p.instr[lane] = UINT8_MAX;
            p.go = b->site[i] + 1;
            p.next = b->addr[i] + b->size[i];
            if (b->flags[i] & TROD_F_BRANCH)
                p.branches = (uint8_t)(1u << lane);
        } else {
            p.access[p.n_accesses++] = (uint16_t)lane;
        }
        p.kind[lane] = b->kind[i];
        p.used[lane] = UINT8_MAX;
        p.site[lane] = b->site[i];
    }
    if (i == to && i - from < PATTERN && !p.branches) /* how it goes on is not known */
        return;
    p.rows = (uint8_t)(i - from);
    if (!pattern_room(all, first))
        return;
    if (!all->of[first])
        all->of[first] = all->n++;
    all->at[all->of[first]] = p;
}

static void pattern_notes(struct owner_patterns *p, const struct trod_batch *b, uint32_t to)
{
    for (uint32_t i = 0; i < p->n_pending; i++)
        pattern_note(p, b, p->pending[i], to);
    p->n_pending = 0;
}

/* Rows from one on, by column. */
struct lanes {
    const uint8_t *kind;
    const uint64_t *addr;
    const uint32_t *size, *flags;
};

/* Are the rows at L like P? There are enough of them. */
TROD_WIDE static inline bool pattern_fits(const struct owner_pattern *p, struct lanes l)
{
    const __m128i instr = _mm_loadl_epi64((const __m128i *)(const void *)p->instr);
    const __m128i used = _mm_loadl_epi64((const __m128i *)(const void *)p->used);
    const __m256i lane32 = _mm256_cvtepi8_epi32(instr);
    const __m128i kind = _mm_xor_si128(_mm_loadl_epi64((const __m128i *)(const void *)l.kind),
                                       _mm_loadl_epi64((const __m128i *)(const void *)p->kind));
    const __m256i addr0 =
        _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)l.addr),
                         _mm256_loadu_si256((const __m256i *)(const void *)p->addr));
    const __m256i addr1 =
        _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)(l.addr + 4)),
                         _mm256_loadu_si256((const __m256i *)(const void *)(p->addr + 4)));
    const __m256i size =
        _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)l.size),
                         _mm256_loadu_si256((const __m256i *)(const void *)p->size));
    const __m256i differ = _mm256_or_si256(
        _mm256_or_si256(_mm256_and_si256(addr0, _mm256_cvtepi8_epi64(instr)),
                        _mm256_and_si256(addr1, _mm256_cvtepi8_epi64(_mm_srli_si128(instr, 4)))),
        _mm256_or_si256(_mm256_and_si256(size, lane32),
                        _mm256_zextsi128_si256(_mm_and_si128(kind, used))));
    const __m256i flags =
        _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)l.flags),
                         _mm256_and_si256(lane32, _mm256_set1_epi32(TROD_F_BRANCH)));
    const int straight =
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(flags, _mm256_setzero_si256())));

    return _mm256_testz_si256(differ, differ) && (straight ^ p->branches) == UINT8_MAX;
}

/* The pattern that begins with SITE, if the rows at L, from row I on, are like it; else NULL. */
TROD_WIDE static inline const struct owner_pattern *
pattern_for(struct owner_patterns *all, uint32_t site, struct lanes l, uint32_t i)
{
    struct owner_pattern *p = NULL;

    if (site < all->n_of && all->of[site]) {
        p = &all->at[all->of[site]];
        if (p->epoch == all->epoch && pattern_fits(p, l))
            return p;
        if (p->epoch == all->epoch && ++p->misses < MISSES)
            return NULL;
    }
    if (all->n_pending < OWNER_PENDING)
        all->pending[all->n_pending++] = i;
    return NULL;
}

/*
 * Rows from I on are those of P: their sites to SITE, their accesses to ACCESS, if that is not
 * NULL. Lanes behind its rows are written over by those that follow.
 */
TROD_WIDE static inline void pattern_put(const struct owner_pattern *p, uint32_t i, uint32_t *site,
                                         uint16_t *access)
{
    _mm256_storeu_si256((__m256i *)(void *)site,
                        _mm256_loadu_si256((const __m256i *)(const void *)p->site));
    if (access)
        _mm_storeu_si128((__m128i *)(void *)access,
                         _mm_add_epi16(_mm_loadu_si128((const __m128i *)(const void *)p->access),
                                       _mm_set1_epi16((short)i)));
}
#endif

/* ---- rows */

/* Where a walk over rows is. */
struct way {
    uint32_t i;
    uint32_t go; /* the site behind that of the last instruction */
    uint32_t on; /* the same, if a streak is open */
    uint64_t next;
    uint16_t *access;
};

/* An instruction of SITE at PC goes on with the streak that is open, or begins one. */
TROD_HOT void join_streak(struct engine_streaks *s, const struct way *w, const uint8_t *kind,
                          uint32_t site, uint64_t pc)
{
    if (site == w->on && pc == w->next)
        return;
    end_streak(s, kind, w->i, w->go);
    s->to->at[s->to->n++] = (struct trod_streak){.row = w->i, .site = site};
    s->open = true;
}

/* The last instruction is a branch: its streak ends before row w->i. */
TROD_HOT void end_at_branch(struct engine_streaks *s, struct way *w, const uint8_t *kind)
{
    end_streak(s, kind, w->i, w->go);
    w->on = TROD_NO_SITE;
}

/* The walk begins at row FROM, behind L. */
TROD_HOT struct way begin_way(struct engine_streaks *s, const struct last *l, uint32_t from)
{
    struct way w = {.i = from, .go = l->site + 1, .on = TROD_NO_SITE};

    if (!s)
        return w;
    w.access = s->to->access + s->to->n_accesses;
    if (s->open && s->site == w.go) {
        w.next = s->next;
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
            s->last = instruction_before(b->kind, w->i);
            s->site = w->go;
            s->next = w->next;
        }
    }
    if (w->go - 1 != l->site)
        *l = (struct last){b->addr[instruction_before(b->kind, w->i)], w->go - 1};
}

#if TROD_AVX2
/* The rows of W are those of P. */
TROD_WIDE static inline void take_pattern(const struct owner_pattern *p, struct engine_streaks *s,
                                          struct way *w, const struct trod_batch *b, uint32_t *site)
{
    pattern_put(p, w->i, site + w->i, s ? w->access : NULL);
    w->access += s ? p->n_accesses : 0;
    w->i += p->rows;
    w->on = w->go = p->go;
    w->next = p->next;
    if (s && p->branches)
        end_at_branch(s, w, b->kind);
}
#endif

/* As owner_plain_rows; STREAKS: s is not NULL; WIDE: with patterns. */
TROD_HOT uint32_t plain_rows(struct engine_owner *o, const struct trod_batch *b, uint32_t from,
                             uint32_t to, struct last *l, struct engine_streaks *s, bool wide)
{
    const uint8_t *const restrict kind = b->kind;
    const uint64_t *const restrict addr = b->addr;
    const uint32_t *const restrict size = b->size, *const restrict flags = b->flags;
    uint32_t *const restrict site = b->site;
    const struct entry **const restrict after = o->after;
    struct way w = begin_way(s, l, from);

    while (w.i < to) {
        const uint32_t i = w.i;

        if (kind[i] == TROD_INSTR) {
            const uint64_t pc = addr[i];
            const struct entry *e = after[w.go];

            if (e->pc != pc || e->site == TROD_NO_SITE) {
                e = entry_of(&o->places, pc);
                if (e->site == TROD_NO_SITE)
                    break;
                after[w.go] = e;
            }
            if (s)
                join_streak(s, &w, kind, e->site, pc);
#if TROD_AVX2
            if (wide && to - i >= PATTERN) {
                const struct lanes lanes = {kind + i, addr + i, size + i, flags + i};
                const struct owner_pattern *p = pattern_for(&o->patterns, e->site, lanes, i);

                if (p) {
                    take_pattern(p, s, &w, b, site);
                    continue;
                }
            }
#endif
            site[w.i++] = e->site;
            w.on = w.go = e->site + 1;
            w.next = s ? pc + size[i] : 0;
            if (s && flags[i] & TROD_F_BRANCH)
                end_at_branch(s, &w, kind);
        } else if (kind[i] <= TROD_FLUSH && kind[i]) {
            site[w.i++] = w.go - 1;
            if (s)
                *w.access++ = (uint16_t)i;
        } else {
            break;
        }
    }
    end_way(s, &w, b, l);
    return w.i;
}

#if TROD_AVX2
TROD_WIDE static uint32_t rows_wide(struct engine_owner *o, const struct trod_batch *b,
                                    uint32_t from, uint32_t to, struct last *l,
                                    struct engine_streaks *s)
{
    return s ? plain_rows(o, b, from, to, l, s, true) : plain_rows(o, b, from, to, l, NULL, true);
}
#endif

uint32_t owner_plain_rows(struct engine_owner *o, const struct trod_batch *b, uint32_t from,
                          uint32_t to, struct last *l, struct engine_streaks *s, bool said)
{
#if TROD_AVX2
    if (said && trod_wide()) {
        const uint32_t at = rows_wide(o, b, from, to, l, s);

        pattern_notes(&o->patterns, b, at);
        return at;
    }
#endif
    (void)said;
    return s ? plain_rows(o, b, from, to, l, s, false) : plain_rows(o, b, from, to, l, NULL, false);
}
