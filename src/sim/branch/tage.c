/*
 * tage.c - TAGE with a statistical corrector and a loop predictor (TAGE-SC-L-like).
 *
 * Documents: A. Seznec, P. Michaud, "A case for (partially) tagged geometric history length branch
 * prediction", JILP 8 (2006); A. Seznec, "A 256 Kbits L-TAGE branch predictor", CBP-2 (2006): 12
 * tagged tables, histories of 4 to 640 outcomes; loop.h and corrector.h. Details that the papers
 * leave open, or that are simpler here:
 *
 * - The history has the outcome of every conditional branch and 1 for every other taken branch.
 *   There is no path history.
 * - Table i (from 0) is looked up at x ^ x >> log ^ fold(log) with x the shifted address; its tag
 *   is x ^ fold(tag) ^ fold(tag - 1) << 1. All tables have tags of the same width.
 * - Of the tables with a longer history than the provider and a useless entry, a wrong prediction
 *   allocates in the first; in the second where there is one and a bit of a register with linear
 *   feedback (16 bits, taps 16, 14, 13, 11; begins with 1) is 1.
 * - The reset of useful counters comes every 1 << 18 conditional branches: by turns the upper and
 *   the lower bit of all.
 * - Counters of 3 bits begin weak; those of the base table, of 2 bits, begin weakly taken.
 */
#include "sim/branch/corrector.h"
#include "sim/branch/history.h"
#include "sim/branch/loop.h"
#include "sim/branch/types.h"

#include <stdlib.h>
#include <string.h>

enum { LOG, TABLES, LEAST, MOST, TAG, EXTRAS, TABLES_MOST = 16, BASE_EXTRA = 2 };
enum { COUNTER = 7, WEAK = 4, USEFUL = 3, ALTERNATE = 15, PERIOD = 1 << 18 };

struct entry {
    uint16_t tag;
    uint8_t counter, useful;
};

enum { INDEX_FOLD, TAG_FOLD, TAG2_FOLD };

struct state {
    struct trod_bp_history history;
    uint32_t recent; /* the newest 32 outcomes */
    unsigned shift, log, n;
    uint32_t tag_mask, random;
    uint8_t alternate; /* 4 bits: from 8 on fresh entries are not believed */
    bool extras, turn;
    uint64_t branches;
    struct trod_bp_loop loop;
    struct trod_bp_corrector corrector;
    struct trod_bp_folds folds;
    struct entry *table[TABLES_MOST];
    uint8_t *base;
    struct entry entries[];
};

/* What the tables say about a branch. */
struct lookup {
    struct entry *hit[TABLES_MOST]; /* NULL: no entry with its tag */
    struct entry *place[TABLES_MOST];
    uint32_t tag[TABLES_MOST];
    uint8_t *base;
    int provider, alternate; /* -1: the base table */
    bool says, otherwise;    /* the provider, the alternate */
    bool fresh;              /* the provider's entry may be new */
    bool predicted;
};

static void moved(void *state)
{
    struct state *s = state;

    for (unsigned i = 0; i < s->n; i++)
        s->table[i] = s->entries + ((size_t)i << s->log);
    s->base = (uint8_t *)(s->entries + ((size_t)s->n << s->log));
}

static void *make(const uint64_t *p, unsigned shift)
{
    const size_t n = (size_t)1 << p[LOG], base = n << BASE_EXTRA;
    struct state *s = trod_bp_new(sizeof *s + p[TABLES] * n * sizeof(struct entry) + base);

    if (!s)
        return NULL;
    s->shift = shift;
    s->log = (unsigned)p[LOG];
    s->n = (unsigned)p[TABLES];
    s->tag_mask = (UINT32_C(1) << p[TAG]) - 1;
    s->random = 1;
    s->alternate = 8;
    s->extras = p[EXTRAS];
    moved(s);
    memset(s->base, 2, base);
    trod_bp_corrector_init(&s->corrector);
    for (unsigned i = 0; i < s->n; i++) {
        const uint32_t length = trod_bp_geometric(i, s->n, p[LEAST], p[MOST]);
        const uint32_t tag = (uint32_t)p[TAG];

        trod_bp_fold_add(&s->folds, length, (const uint32_t[]){s->log, tag, tag - 1});
        for (size_t k = 0; k < n; k++)
            s->table[i][k].counter = WEAK;
    }
    return s;
}

/* The index and the tag of branch X in table I. */
static struct entry *place_of(const struct state *s, unsigned i, uint64_t x, uint32_t *tag)
{
    const struct trod_bp_folds *f = &s->folds;

    *tag = ((uint32_t)x ^ f->of[TAG_FOLD].value[i] ^ f->of[TAG2_FOLD].value[i] << 1) & s->tag_mask;
    return &s->table[i][(x ^ x >> s->log ^ f->of[INDEX_FOLD].value[i]) &
                        ((UINT64_C(1) << s->log) - 1)];
}

static bool weak(const struct entry *e)
{
    return e->counter == WEAK || e->counter == WEAK - 1;
}

static void look_up(struct state *s, uint64_t x, struct lookup *k)
{
    k->provider = k->alternate = -1;
    for (unsigned i = 0; i < s->n; i++) {
        k->place[i] = place_of(s, i, x, &k->tag[i]);
        /* tag 0 of an unused entry is a valid tag: its counter is weak */
        k->hit[i] = k->place[i]->tag == k->tag[i] ? k->place[i] : NULL;
        if (k->hit[i]) {
            k->alternate = k->provider;
            k->provider = (int)i;
        }
    }
    k->base = &s->base[x & ((UINT64_C(1) << (s->log + BASE_EXTRA)) - 1)];
    k->otherwise = k->alternate < 0 ? *k->base >= 2 : k->hit[k->alternate]->counter >= WEAK;
    k->says = k->provider < 0 ? *k->base >= 2 : k->hit[k->provider]->counter >= WEAK;
    k->fresh = k->provider >= 0 && weak(k->hit[k->provider]) && !k->hit[k->provider]->useful;
    k->predicted = k->fresh && s->alternate >= 8 ? k->otherwise : k->says;
}

static void allocate(struct state *s, const struct lookup *k, bool taken)
{
    const unsigned from = (unsigned)(k->provider + 1);
    struct entry *place[2];
    uint32_t tag[2];
    unsigned found = 0, bit;

    for (unsigned i = from; i < s->n && found < 2; i++)
        if (k->place[i]->useful == 0) {
            place[found] = k->place[i];
            tag[found++] = k->tag[i];
        }
    for (unsigned i = from; i < s->n && found == 0; i++)
        k->place[i]->useful--;
    if (found == 0)
        return;
    bit = (s->random ^ s->random >> 2 ^ s->random >> 3 ^ s->random >> 5) & 1;
    s->random = s->random >> 1 | bit << 15;
    found = found == 2 && s->random & 1 ? 1 : 0;
    *place[found] = (struct entry){(uint16_t)tag[found], taken ? WEAK : WEAK - 1, 0};
}

static void forget_use(struct state *s)
{
    const uint8_t keep = s->turn ? 2 : 1;

    for (size_t i = 0; i < (size_t)s->n << s->log; i++)
        s->entries[i].useful &= keep;
    s->turn = !s->turn;
}

static void learn(struct state *s, struct lookup *k, bool taken)
{
    struct entry *e = k->provider < 0 ? NULL : k->hit[k->provider];

    if (k->fresh && k->says != k->otherwise)
        s->alternate = trod_bp_count(s->alternate, k->otherwise == taken, ALTERNATE);
    if (k->predicted != taken && k->provider + 1 < (int)s->n)
        allocate(s, k, taken);
    if (!e || (e->useful == 0 && k->alternate < 0))
        *k->base = trod_bp_count(*k->base, taken, 3);
    else if (e->useful == 0)
        k->hit[k->alternate]->counter =
            trod_bp_count(k->hit[k->alternate]->counter, taken, COUNTER);
    if (e) {
        e->counter = trod_bp_count(e->counter, taken, COUNTER);
        if (k->says != k->otherwise)
            e->useful = trod_bp_count(e->useful, k->says == taken, USEFUL);
    }
    if (++s->branches % PERIOD == 0)
        forget_use(s);
}

static void remember(struct state *s, bool outcome)
{
    trod_bp_fold_push(&s->folds, &s->history, outcome);
    s->recent = s->recent << 1 | outcome;
}

static uint8_t step(struct state *s, uint64_t x, bool taken)
{
    struct lookup k;
    bool predicted, loops;

    look_up(s, x, &k);
    predicted = k.predicted;
    if (s->extras) {
        const bool known = trod_bp_loop_predict(&s->loop, x, &loops);

        predicted = trod_bp_corrector_step(&s->corrector, x, s->recent, predicted, taken);
        trod_bp_loop_update(&s->loop, x, taken, predicted);
        if (known && s->loop.use >= 0)
            predicted = loops;
    }
    learn(s, &k, taken);
    remember(s, taken);
    return predicted != taken;
}

static void run(void *state, const struct trod_bp_event *e, size_t n, uint8_t *wrong)
{
    struct state *s = state;

    for (size_t i = 0; i < n; i++) {
        wrong[i] = 0;
        if (e[i].kind == TROD_BP_COND)
            wrong[i] = step(s, e[i].pc >> s->shift, e[i].taken);
        else if (e[i].taken)
            remember(s, true);
    }
}

static uint64_t bits(const uint64_t *p)
{
    const uint64_t entry = p[TAG] + 3 + 2, loop = 14 + 14 + 14 + 2 + 3 + 1;
    const uint64_t extras = TROD_BP_LOOP_SETS * TROD_BP_LOOP_WAYS * loop +
                            TROD_BP_SC_TABLES * (UINT64_C(6) << TROD_BP_SC_LOG);

    return (p[TABLES] * entry << p[LOG]) + (UINT64_C(2) << (p[LOG] + BASE_EXTRA)) +
           (p[EXTRAS] ? extras : 0);
}

const struct trod_bp_type trod_bp_tage = {
    .name = "tage",
    .class = TROD_BP_DIRECTION,
    .param = {[LOG] = {"log", 10, 4, 16},
              [TABLES] = {"tables", 12, 2, TABLES_MOST},
              [LEAST] = {"least", 4, 1, 64},
              [MOST] = {"most", 640, 2, TROD_BP_HISTORY - 1},
              [TAG] = {"tag", 11, 4, 15},
              [EXTRAS] = {"extras", 1, 0, 1}},
    .make = make,
    .moved = moved,
    .run = run,
    .bits = bits,
    .cost = 15,
};
