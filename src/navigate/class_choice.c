/*
 * class_choice.c - which classes of an index (classes.h) a search wants, and where rows of them
 * are. The caller's function (trod_nav_classes) judges each class once. Implements nav.h.
 */
#include "navigate/classes.h"
#include "navigate/nav.h"
#include "navigate/shapes.h"
#include "navigate/spread.h"

#include <stdlib.h>
#include <string.h>

enum { SIZES = 64 };

struct nav_class_choice {
    uint64_t *id; /* numbers of the chosen classes, in ascending order */
    size_t n;
    uint64_t *what; /* of all ALL of them */
    size_t all;
    /* Sizes of instructions (NAV_NO_SIZE: none is said), and which of them are chosen. */
    struct {
        uint32_t size;
        bool keep;
    } sized[SIZES];
    unsigned n_sized;
    bool by_size; /* of the same size all instructions are chosen, or none is */
};

void nav_class_choice_free(struct nav_class_choice *a)
{
    if (!a)
        return;
    free(a->id);
    free(a->what);
    free(a);
}

bool trod_nav_classes(struct trod_nav *nav, trod_nav_classes_fn fn, void *user)
{
    nav->classes = fn;
    nav->classes_user = user;
    nav_class_choice_free(nav->class_choice);
    nav->class_choice = NULL;
    nav_shape_choice_free(nav->shape_choice); /* it was made among these classes */
    nav->shape_choice = NULL;
    nav_tallied_forget(nav);
    return nav->index != NULL;
}

static unsigned kind_of(uint64_t what)
{
    return what >> 20 & 31;
}

/* Append class P to B as a row; FLOW gets its enum trod_flow. */
static void put(struct trod_batch *b, const struct nav_class *p, uint8_t *flow)
{
    const uint32_t i = b->n++;

    b->has[i] = TROD_COL_KIND | (uint32_t)(p->what & NAV_CLASS_HAS);
    b->kind[i] = (uint8_t)kind_of(p->what);
    b->flags[i] = (uint32_t)p->more;
    b->size[i] = (uint32_t)(p->more >> 32);
    b->stream[i] = (uint32_t)p->of;
    b->sub[i] = (uint16_t)(p->of >> 32);
    flow[i] = (uint8_t)(p->what >> 25);
}

/* Class P, of instructions, is chosen (KEEP) or not. */
static void note_size(struct nav_class_choice *a, const struct nav_class *p, bool keep)
{
    const uint32_t size = p->what & TROD_COL_SIZE ? (uint32_t)(p->more >> 32) : NAV_NO_SIZE;
    unsigned i = 0;

    while (i < a->n_sized && a->sized[i].size != size)
        i++;
    if (i == SIZES || (i < a->n_sized && a->sized[i].keep != keep)) {
        a->by_size = false;
    } else if (i == a->n_sized) {
        a->sized[i].size = size;
        a->sized[a->n_sized++].keep = keep;
    }
}

bool nav_class_choice_keeps(const struct nav_class_choice *a, uint32_t size)
{
    for (unsigned i = 0; i < a->n_sized; i++)
        if (a->sized[i].size == size)
            return a->sized[i].keep;
    return true;
}

bool nav_class_choice_by_size(const struct nav_class_choice *a)
{
    return a->by_size;
}

/* Put the classes of C that NAV's function chooses into A. */
static int judge(struct trod_nav *nav, const struct nav_classes *c, struct nav_class_choice *a)
{
    uint8_t keep[TROD_BATCH_ROWS], flow[TROD_BATCH_ROWS];
    struct trod_batch *b = NULL;
    int rc = TROD_OK;

    a->id = malloc(((size_t)c->n + 1) * sizeof *a->id);
    a->what = malloc(((size_t)c->n + 1) * sizeof *a->what);
    if (!a->id || !a->what || trod_batch_new(&b, TROD_BATCH_ROWS) < 0)
        return TROD_ERR_NOMEM;
    a->all = c->n;
    a->by_size = true;
    b->meta = &nav->index->meta;
    b->have = TROD_COL_KIND | NAV_CLASS_HAS;
    memset(keep, 1, sizeof keep);
    for (uint32_t at = 0; rc >= 0 && at < c->n;) {
        const uint32_t first = at;

        b->n = 0;
        while (at < c->n && b->n < b->cap)
            put(b, &c->at[at++], flow);
        if (nav->classes)
            rc = nav->classes(nav->classes_user, b, flow, keep);
        for (uint32_t i = 0; rc >= 0 && i < b->n; i++) {
            a->what[first + i] = c->at[first + i].what;
            if (keep[i])
                a->id[a->n++] = first + i;
            if (kind_of(a->what[first + i]) == TROD_INSTR)
                note_size(a, &c->at[first + i], keep[i]);
        }
    }
    trod_batch_free(b);
    return rc < 0 ? rc : TROD_OK;
}

/* Rows whose class is not kept may be of any: then nothing goes by size. */
static int note_lost(struct nav_class_choice *a, const struct nav_index *x)
{
    struct nav_postings found = {0};
    int rc = TROD_OK;

    for (uint32_t s = 0; rc == TROD_OK && a->by_size && s < x->n_segments; s++) {
        rc = nav_postings_find(x, &x->segment[s], NAV_S_CLASS_ROWS, NAV_ANY_CLASS, &found);
        a->by_size = found.n == 0;
    }
    free(found.at);
    return rc;
}

int nav_class_choice_make(struct trod_nav *nav, struct nav_class_choice **out)
{
    const struct nav_index *x = nav->index;
    struct nav_classes classes = {0};
    int rc = TROD_OK;

    *out = nav->class_choice;
    /* what opcodes are was not known when it was made: nothing is known of classes */
    if (!x || nav->class_choice || x->names.isa != x->meta.isa)
        return TROD_OK;
    for (uint32_t s = 0; rc == TROD_OK && s < x->n_segments; s++)
        rc = nav_classes_of(&classes, x, &x->segment[s]);
    if (rc == TROD_OK && !(nav->class_choice = calloc(1, sizeof *nav->class_choice)))
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK)
        rc = judge(nav, &classes, nav->class_choice);
    if (rc == TROD_OK && nav->classes)
        rc = note_lost(nav->class_choice, x);
    nav_classes_fini(&classes);
    if (rc < 0) {
        nav_class_choice_free(nav->class_choice);
        nav->class_choice = NULL;
    }
    *out = nav->class_choice;
    return rc;
}

/* Rows of segment S of wanted classes, and of those that are not kept. */
static int look_up(const struct nav_class_choice *a, const struct nav_index *x,
                   const struct nav_segment *s, struct nav_postings *found)
{
    static const uint64_t any = NAV_ANY_CLASS;
    const int rc = nav_postings_keys(x, s, NAV_S_CLASS_ROWS, a->id, a->n, found);

    return rc < 0 ? rc : nav_postings_keys(x, s, NAV_S_CLASS_ROWS, &any, 1, found);
}

int nav_class_choice_steps(const struct nav_class_choice *a, const struct nav_index *x, uint32_t s,
                           uint8_t *step)
{
    const struct nav_segment *segment = &x->segment[s];
    const uint32_t n = segment->to - segment->from;
    struct nav_postings found = {0};
    uint8_t *may = calloc((size_t)n + 1, 1);
    int rc = may ? look_up(a, x, segment, &found) : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == TROD_OK && i < found.n; i++)
        may[found.at[i].block - segment->from] |= (uint8_t)found.at[i].steps;
    for (uint32_t k = 0; rc == TROD_OK && k < n; k++)
        step[k] &= may[k];
    free(found.at);
    free(may);
    return rc;
}

int nav_class_choice_count(const struct nav_class_choice *a, const struct nav_index *x, uint32_t s,
                           uint32_t kinds, uint32_t columns, uint64_t *at)
{
    const struct nav_segment *segment = &x->segment[s];
    struct nav_postings found = {0};
    const int rc = look_up(a, x, segment, &found);

    memset(at, 0, (segment->to - segment->from) * sizeof *at);
    for (size_t i = 0; rc == TROD_OK && i < found.n; i++) {
        const struct nav_posting *p = &found.at[i];
        uint64_t *n = &at[p->block - segment->from];
        const uint64_t what = p->key == NAV_ANY_CLASS ? 0 : a->what[p->key];

        if (p->key == NAV_ANY_CLASS)
            *n = NAV_UNCOUNTED;
        else if (*n != NAV_UNCOUNTED && kinds >> kind_of(what) & 1 && !(columns & ~what))
            *n += p->a;
    }
    free(found.at);
    return rc;
}

/*
 * Rows of segment S that say BASE, by block and kind: all to ALL, to SOME those of KINDS that say
 * COLUMNS and are wanted.
 */
static int by_kind(const struct nav_class_choice *a, const struct nav_index *x,
                   const struct nav_segment *s, uint32_t base, uint32_t kinds, uint32_t columns,
                   uint64_t *all, uint64_t *some)
{
    struct nav_postings found = {0};
    const int rc = nav_postings_range(x, s, NAV_S_CLASS_ROWS, 0, NAV_ANY_CLASS, &found);
    size_t next = 0;

    for (size_t i = 0; rc == TROD_OK && i < found.n; i++) {
        const struct nav_posting *p = &found.at[i];
        const size_t block = TROD_KINDS * (size_t)(p->block - s->from);
        uint64_t what;
        unsigned kind;

        if (p->key >= a->all) { /* of any kind */
            for (kind = 0; kind < TROD_KINDS; kind++)
                some[block + kind] = NAV_UNCOUNTED;
            continue;
        }
        what = a->what[p->key];
        kind = kind_of(what);
        while (next < a->n && a->id[next] < p->key)
            next++;
        if (base & ~what)
            continue;
        all[block + kind] += p->a;
        if (kinds >> kind & 1 && !(columns & ~what) && next < a->n && a->id[next] == p->key &&
            some[block + kind] != NAV_UNCOUNTED)
            some[block + kind] += p->a;
    }
    free(found.at);
    return rc;
}

int nav_class_choice_kinds(const struct nav_class_choice *a, const struct nav_index *x, uint32_t s,
                           uint32_t base, uint32_t columns, uint64_t *all, uint64_t *some)
{
    const struct nav_segment *segment = &x->segment[s];
    const size_t n = TROD_KINDS * (size_t)(segment->to - segment->from);

    memset(all, 0, n * sizeof *all);
    memset(some, 0, n * sizeof *some);
    return by_kind(a, x, segment, base, UINT32_MAX, columns, all, some);
}

int nav_class_choice_within(const struct nav_class_choice *a, const struct nav_index *x, uint32_t s,
                            const struct trod_match_need *need, uint32_t columns, uint64_t *at)
{
    const struct nav_segment *segment = &x->segment[s];
    const size_t blocks = segment->to - segment->from, n = TROD_KINDS * blocks;
    uint64_t *all = calloc(3 * n + 1, sizeof *all), *some = all + n, *within = some + n;
    int rc = all ? by_kind(a, x, segment, TROD_COL_ADDR, need->kinds, columns, all, some)
                 : TROD_ERR_NOMEM;

    if (rc == TROD_OK)
        rc = nav_spread_count(x, segment, need->lo, need->hi, within);
    for (size_t k = 0; rc == TROD_OK && k < blocks; k++) {
        at[k] = 0;
        for (size_t i = TROD_KINDS * k; i < TROD_KINDS * (k + 1); i++) {
            if (!some[i] || !within[i] || at[k] == NAV_UNCOUNTED)
                continue;
            /* of some of a kind nobody knows where they are */
            at[k] =
                some[i] != all[i] || within[i] == UINT64_MAX ? NAV_UNCOUNTED : at[k] + within[i];
        }
    }
    free(all);
    return rc;
}
