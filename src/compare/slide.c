/*
 * slide.c - where code and data lie on the other side, found from the opcodes.
 *
 * Programs that are loaded elsewhere from run to run execute the same opcodes at other addresses.
 * Runs of opcodes that occur once on either side among the first rows are anchors; each tells by
 * how much the code around it has moved. The accesses of anchored instructions tell the same of
 * data.
 */
#include "compare/match.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUN = 12,      /* opcodes that make an anchor */
    PAGE = 12,     /* log2 of what slides as one */
    GAP = 1 << 20, /* what lies between two places that slide alike and are so near does so too */
    VOTES = 4096,
    FEW = 3,  /* instructions alike that show a slide by pages */
    ALIKE = 8 /* and any other slide */
};

/* An instruction at the beginning: where it is, what it is, what it touches. */
struct site {
    uint64_t pc, code, data[2];
    uint8_t n_data;
};

struct sites {
    struct site *site;
    size_t n;
};

/* The rows at hand of the first stream of S, side SIDE, as instructions. */
static int list_sites(const struct cmp_side *s, int side, const struct cmp_rules *rules,
                      struct sites *out)
{
    const struct trod_batch *b = s->b;
    uint32_t stream = b && b->n && (b->have & TROD_COL_STREAM) ? b->stream[s->at] : 0;

    *out = (struct sites){0};
    out->site = calloc((b ? b->n : 0) + 1, sizeof *out->site);
    if (!out->site)
        return TROD_ERR_NOMEM;
    for (uint32_t i = s->at; b && i < b->n; i++) {
        struct site *last = out->n ? &out->site[out->n - 1] : NULL;
        uint32_t has = b->have & b->has[i];

        if (!(has & TROD_COL_ADDR) || ((b->have & TROD_COL_STREAM) && b->stream[i] != stream))
            continue;
        if (b->kind[i] == TROD_INSTR && (has & TROD_COL_CODE) && b->code[i].len) {
            struct site *t = &out->site[out->n++];
            uint8_t code[sizeof((struct trod_compare_row *)0)->code];
            const uint32_t n = cmp_code_of(rules, b, i, side, code, sizeof code);

            t->pc = b->addr[i];
            for (uint32_t k = 0; k < n; k++)
                t->code = t->code * 0x100000001b3u + code[k] + 1;
        } else if (last && (b->kind[i] == TROD_READ || b->kind[i] == TROD_WRITE) &&
                   last->n_data < 2) {
            last->data[last->n_data++] = b->addr[i];
        }
    }
    return TROD_OK;
}

/* A run of opcodes: where it begins, and whether it occurs again. */
struct run {
    uint64_t hash;
    size_t at, count;
};

static int by_hash(const void *a, const void *b)
{
    const struct run *p = a, *q = b;

    return p->hash < q->hash ? -1 : p->hash > q->hash;
}

/* The runs of S that occur once, by hash. */
static size_t unique_runs(const struct sites *s, struct run *out)
{
    size_t n = 0, kept = 0;

    for (size_t i = 0; i + RUN <= s->n; i++) {
        uint64_t h = 0;

        for (size_t k = 0; k < RUN; k++)
            h = (h ^ s->site[i + k].code) * 0x9e3779b97f4a7c15u;
        out[n++] = (struct run){h ^ h >> 32, i, 1};
    }
    qsort(out, n, sizeof *out, by_hash);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && out[k].hash == out[i].hash;)
            k++;
        if (k == i + 1)
            out[kept++] = out[i];
    }
    return kept;
}

/* How far an address of side 0 is from its fellow. */
struct vote {
    uint64_t addr, offset;
};

struct votes {
    struct vote vote[VOTES];
    size_t n;
};

static void vote(struct votes *v, uint64_t a, uint64_t b)
{
    if (v->n < VOTES)
        v->vote[v->n++] = (struct vote){a, b - a};
}

static void collect(const struct sites *a, const struct sites *b, const struct run *ra, size_t na,
                    const struct run *rb, size_t nb, struct votes *v)
{
    for (size_t i = 0, j = 0; i < na && j < nb;) {
        const struct site *s = &a->site[ra[i].at], *t = &b->site[rb[j].at];

        if (ra[i].hash != rb[j].hash) {
            if (ra[i].hash < rb[j].hash)
                i++;
            else
                j++;
            continue;
        }
        vote(v, s->pc, t->pc);
        for (unsigned k = 0; k < s->n_data && k < t->n_data; k++)
            vote(v, s->data[k], t->data[k]);
        i++;
        j++;
    }
}

static int by_page(const void *a, const void *b)
{
    const struct vote *p = a, *q = b;

    if (p->addr >> PAGE != q->addr >> PAGE)
        return p->addr < q->addr ? -1 : 1;
    return p->offset < q->offset ? -1 : p->offset > q->offset;
}

/* Whether a slide other than S lies in [LO, HI]. */
static bool taken(const struct cmp_rules *rules, const struct trod_slide *s, uint64_t lo,
                  uint64_t hi)
{
    for (size_t i = 0; i < rules->n_slides; i++)
        if (&rules->slides[i] != s && rules->slides[i].side == 0 && rules->slides[i].lo <= hi &&
            rules->slides[i].hi >= lo)
            return true;
    return false;
}

/*
 * The page of ADDR of side 0 slides by OFFSET. What lies between it and others near by that do the
 * same slides with them. False where there is no room for more.
 */
static bool add_slide(struct cmp_rules *rules, uint64_t addr, uint64_t offset)
{
    uint64_t lo = addr >> PAGE << PAGE, hi = lo + ((uint64_t)1 << PAGE) - 1;

    for (size_t i = 0; i < rules->n_slides; i++) {
        struct trod_slide *s = &rules->slides[i];

        if (s->side != 0 || s->offset != offset)
            continue;
        if (lo > s->hi && lo - s->hi <= GAP && !taken(rules, s, s->hi + 1, hi)) {
            s->hi = hi;
            return true;
        }
        if (hi < s->lo && s->lo - hi <= GAP && !taken(rules, s, lo, s->lo - 1)) {
            s->lo = lo;
            return true;
        }
    }
    if (rules->n_slides == TROD_COMPARE_SLIDES)
        return false;
    rules->slides[rules->n_slides++] = (struct trod_slide){0, lo, hi, offset};
    return true;
}

static bool slides_already(const struct cmp_rules *rules, uint64_t addr)
{
    return taken(rules, NULL, addr, addr);
}

/* How many anchors say OFFSET. */
static size_t support(const struct votes *v, uint64_t offset)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n && n < 2; i++)
        n += v->vote[i].offset == offset;
    return n;
}

/* In each page of side 0 the offset that most anchors agree on, if at least two do anywhere. */
static void elect(struct votes *v, struct cmp_rules *rules)
{
    qsort(v->vote, v->n, sizeof *v->vote, by_page);
    for (size_t i = 0, end; i < v->n; i = end) {
        uint64_t page = v->vote[i].addr >> PAGE, best = 0;
        size_t most = 0;

        for (end = i; end < v->n && v->vote[end].addr >> PAGE == page;) {
            size_t from = end;

            while (end < v->n && v->vote[end].addr >> PAGE == page &&
                   v->vote[end].offset == v->vote[from].offset)
                end++;
            if (end - from > most) {
                most = end - from;
                best = v->vote[from].offset;
            }
        }
        if (best && support(v, best) >= 2 && !slides_already(rules, page << PAGE))
            add_slide(rules, page << PAGE, best);
    }
}

/* A slide was found: rows that were taken out before move like all others. */
static void slide_again(struct cmp_match *m)
{
    for (size_t i = 0; i < m->lanes->n; i++) {
        struct cmp_lane *l = m->lanes->lane[i];

        for (size_t k = 0; l && k < l->queue[0].n; k++)
            cmp_row_slide(cmp_queue_at(&l->queue[0], k), 0, m->rules);
    }
    m->sides[0].slid_of = NULL;
}

/* Programs are loaded at pages; an offset that is in force elsewhere is no accident either. */
static bool plausible(const struct cmp_rules *rules, uint64_t offset)
{
    for (size_t i = 0; i < rules->n_slides; i++)
        if (rules->slides[i].side == 0 && rules->slides[i].offset == offset)
            return true;
    return offset % ((uint64_t)1 << PAGE) == 0;
}

/* The N-th instruction from the head of Q on; NULL: not there. */
static const struct cmp_row *instruction(const struct cmp_queue *q, size_t *at)
{
    for (; *at < q->n; ++*at)
        if (cmp_queue_at(q, *at)->pub.kind == TROD_INSTR)
            return cmp_queue_at(q, (*at)++);
    return NULL;
}

bool cmp_learn_code(struct cmp_lane *l, struct cmp_match *m)
{
    const struct trod_compare_row *a = &cmp_queue_at(&l->queue[0], 0)->pub;
    const struct trod_compare_row *b = &cmp_queue_at(&l->queue[1], 0)->pub;
    uint64_t offset = b->addr - a->addr;
    size_t i = 0, j = 0;
    unsigned same = 0;

    if (!m->rules->opt->auto_slide || !m->with_code || offset == 0 ||
        slides_already(m->rules, a->addr))
        return false;
    while (same < ALIKE) {
        const struct cmp_row *r = instruction(&l->queue[0], &i), *s = instruction(&l->queue[1], &j);

        if (!r || !s || r->pub.code_len == 0 || r->pub.code_len != s->pub.code_len ||
            memcmp(r->pub.code, s->pub.code, r->pub.code_len) != 0 ||
            s->pub.addr - r->pub.addr != offset)
            break;
        same++;
    }
    if (same < (plausible(m->rules, offset) ? FEW : ALIKE) || !add_slide(m->rules, a->addr, offset))
        return false;
    slide_again(m);
    return true;
}

bool cmp_learn_data(struct cmp_match *m, const struct cmp_row *a, const struct cmp_row *b)
{
    uint64_t offset = b->pub.addr - a->pub.addr;

    if (!m->rules->opt->auto_slide || a->cls != 2 || a->pub.kind != b->pub.kind ||
        a->pub.size != b->pub.size || offset == 0 || slides_already(m->rules, a->pub.addr) ||
        !plausible(m->rules, offset) || !add_slide(m->rules, a->pub.addr, offset))
        return false;
    slide_again(m);
    return true;
}

int cmp_find_slides(struct cmp_match *m)
{
    struct votes *v = calloc(1, sizeof *v);
    struct sites s[2] = {{0}};
    struct run *r[2] = {NULL, NULL};
    size_t n[2] = {0, 0};
    int rc = v ? TROD_OK : TROD_ERR_NOMEM;

    for (int side = 0; side < 2 && rc == TROD_OK; side++) {
        rc = list_sites(&m->sides[side], side, m->rules, &s[side]);
        r[side] = calloc(s[side].n + 1, sizeof **r);
        if (!r[side])
            rc = TROD_ERR_NOMEM;
        if (rc == TROD_OK && s[side].n)
            n[side] = unique_runs(&s[side], r[side]);
    }
    if (rc == TROD_OK) {
        collect(&s[0], &s[1], r[0], n[0], r[1], n[1], v);
        elect(v, m->rules);
    }
    for (int side = 0; side < 2; side++) {
        free(s[side].site);
        free(r[side]);
    }
    free(v);
    return rc;
}
