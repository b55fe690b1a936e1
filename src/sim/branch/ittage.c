/*
 * ittage.c - targets of indirect branches by address and tagged tables of geometric histories.
 *
 * Document: A. Seznec, "A 64-Kbytes ITTAGE indirect branch predictor", CBP-3 (2011); ITTAGE-like:
 * the base table has the last target of each branch; an entry of a tagged table has a tag, a
 * target, a confidence of 2 bits and a useful bit. The entry with the longest history is believed,
 * the next where its confidence is 0. A wrong target costs confidence; without any left the entry
 * takes the new target. A wrong prediction allocates in the first table of a longer history whose
 * entry is of no use, or makes those of no use. The history has, of every indirect branch, the
 * lowest two bits of x = target ^ target >> 4 (shifted as addresses of branches are), of
 * conditional ones the outcome, and is looked up as in tage.c. All useful bits are cleared every
 * 1 << 18 branches.
 */
#include "sim/branch/history.h"
#include "sim/branch/types.h"

#include <stdlib.h>

enum { LOG, TABLES, LEAST, MOST, TAG, TABLES_MOST = 16 };
enum { CONFIDENCE = 3, PERIOD = 1 << 18 };

struct entry {
    uint64_t target; /* 0: never used */
    uint16_t tag;
    uint8_t confidence, useful;
};

enum { INDEX_FOLD, TAG_FOLD, TAG2_FOLD };

struct state {
    struct trod_bp_history history;
    unsigned shift, log, n;
    uint32_t tag_mask;
    uint64_t branches;
    struct trod_bp_folds folds;
    struct entry *table[TABLES_MOST];
    struct entry *base;
    struct entry entries[];
};

static void moved(void *state)
{
    struct state *s = state;

    for (unsigned i = 0; i < s->n; i++)
        s->table[i] = s->entries + ((size_t)i << s->log);
    s->base = s->entries + ((size_t)s->n << s->log);
}

static void *make(const uint64_t *p, unsigned shift)
{
    const size_t n = (size_t)1 << p[LOG];
    struct state *s = trod_bp_new(sizeof *s + (p[TABLES] + 1) * n * sizeof(struct entry));

    if (!s)
        return NULL;
    s->shift = shift;
    s->log = (unsigned)p[LOG];
    s->n = (unsigned)p[TABLES];
    s->tag_mask = (UINT32_C(1) << p[TAG]) - 1;
    moved(s);
    for (unsigned i = 0; i < s->n; i++) {
        const uint32_t length = trod_bp_geometric(i, s->n, p[LEAST], p[MOST]);
        const uint32_t tag = (uint32_t)p[TAG];

        trod_bp_fold_add(&s->folds, length, (const uint32_t[]){s->log, tag, tag - 1});
    }
    return s;
}

static void remember(struct state *s, bool outcome)
{
    trod_bp_fold_push(&s->folds, &s->history, outcome);
}

/* The entry of branch X in table I, and the tag that it should have. */
static struct entry *place_of(const struct state *s, unsigned i, uint64_t x, uint16_t *tag)
{
    const struct trod_bp_folds *f = &s->folds;

    *tag = (uint16_t)(((uint32_t)x ^ f->of[TAG_FOLD].value[i] ^ f->of[TAG2_FOLD].value[i] << 1) &
                      s->tag_mask);
    return &s->table[i][(x ^ x >> s->log ^ f->of[INDEX_FOLD].value[i]) &
                        ((UINT64_C(1) << s->log) - 1)];
}

static void learn(struct entry *e, uint64_t target)
{
    if (e->target == target)
        e->confidence = trod_bp_count(e->confidence, true, CONFIDENCE);
    else if (e->confidence)
        e->confidence--;
    else
        e->target = target;
}

static void allocate(struct state *s, struct entry *const *place, const uint16_t *tag,
                     unsigned from, uint64_t target)
{
    for (unsigned i = from; i < s->n; i++)
        if (!place[i]->useful) {
            *place[i] = (struct entry){target, tag[i], 0, 0};
            return;
        }
    for (unsigned i = from; i < s->n; i++)
        place[i]->useful = 0;
}

static uint8_t step(struct state *s, uint64_t x, uint64_t target)
{
    struct entry *place[TABLES_MOST], *base = &s->base[x & ((UINT64_C(1) << s->log) - 1)];
    struct entry *provider = base, *other = base;
    uint16_t tag[TABLES_MOST];
    unsigned from = 0;
    bool wrong;

    for (unsigned i = 0; i < s->n; i++) {
        place[i] = place_of(s, i, x, &tag[i]);
        if (place[i]->target && place[i]->tag == tag[i]) {
            other = provider;
            provider = place[i];
            from = i + 1;
        }
    }
    wrong = (provider->confidence || provider == base ? provider : other)->target != target;
    if (provider != base && provider->target != other->target)
        provider->useful = provider->target == target;
    if (provider != base && provider->confidence == 0 && other != provider)
        learn(other, target);
    learn(provider, target);
    if (wrong && from < s->n)
        allocate(s, place, tag, from, target);
    if (++s->branches % PERIOD == 0)
        for (size_t i = 0; i < (size_t)s->n << s->log; i++)
            s->entries[i].useful = 0;
    return wrong;
}

static void run(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    struct state *s = state;

    for (size_t i = 0; i < n; i++) {
        const uint64_t target = (e[i].target ^ e[i].target >> 4) >> s->shift;

        wrong[i] = 0;
        if (e[i].kind == TROD_BP_COND) {
            remember(s, e[i].taken);
        } else if (trod_bp_judged(TROD_BP_INDIRECTS, &e[i])) {
            wrong[i] = step(s, e[i].pc >> s->shift, e[i].target);
            remember(s, target & 1);
            remember(s, target >> 1 & 1);
        }
    }
}

static uint64_t bits(const uint64_t *p)
{
    return (p[TABLES] * (64 + p[TAG] + 3) + 64 + 2) << p[LOG];
}

const struct trod_bp_type trod_bp_ittage = {
    .name = "ittage",
    .class = TROD_BP_INDIRECTS,
    .param = {[LOG] = {"log", 9, 4, 16},
              [TABLES] = {"tables", 8, 2, TABLES_MOST},
              [LEAST] = {"least", 4, 1, 64},
              [MOST] = {"most", 512, 2, TROD_BP_HISTORY - 1},
              [TAG] = {"tag", 11, 4, 15}},
    .make = make,
    .moved = moved,
    .run = run,
    .bits = bits,
    .cost = 4,
};
