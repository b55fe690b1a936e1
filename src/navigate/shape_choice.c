/*
 * shape_choice.c - which shapes of an index (shapes.h) a search wants, and where rows of them are.
 * The caller's function (trod_nav_shapes) judges each shape once. Implements nav.h.
 */
#include "navigate/nav.h"

#include "navigate/shapes.h"

#include <stdlib.h>
#include <string.h>

struct nav_shape_choice {
    uint64_t *pc, *id; /* chosen: addresses of instructions; other shapes. In ascending order */
    size_t n_pcs, n_ids;
    const struct nav_class_choice *by_size; /* instructions are of these classes; NULL: of any */
    uint32_t kinds; /* of PLAIN: kinds whose rows without text and opcode are chosen */
    /* for counting rows: */
    bool counts;
    uint32_t shaped; /* kinds of shapes that are no instructions with an address */
    uint8_t *kind;   /* by shape */
    uint64_t *mixed; /* those of PC where another shape is not chosen, in ascending order */
    size_t n_mixed;
};

/* Kinds whose rows without a text and an opcode are no shapes. */
enum { PLAIN = 1u << TROD_INSTR | 1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_ATOMIC };

void nav_shape_choice_free(struct nav_shape_choice *v)
{
    if (!v)
        return;
    free(v->pc);
    free(v->id);
    free(v->kind);
    free(v->mixed);
    free(v);
}

bool trod_nav_shapes(struct trod_nav *nav, trod_nav_shapes_fn fn, void *user)
{
    nav->shapes = fn;
    nav->shapes_user = user;
    nav_shape_choice_free(nav->shape_choice);
    nav->shape_choice = NULL;
    nav_tallied_forget(nav);
    return nav->index != NULL;
}

uint64_t trod_index_shapes(const struct trod_nav *nav, uint64_t *rest)
{
    static const uint64_t any = NAV_ANY_SHAPE;
    const struct nav_index *x = nav->index;
    struct nav_postings found = {0};
    struct nav_shapes shapes = {0};
    uint64_t n;
    int rc = TROD_OK;

    for (uint32_t s = 0; x && rc == TROD_OK && s < x->n_segments; s++) {
        rc = nav_shapes_of(&shapes, x, &x->segment[s]);
        if (rc == TROD_OK)
            rc = nav_postings_keys(x, &x->segment[s], NAV_S_TEXTS, &any, 1, &found);
    }
    n = shapes.n;
    *rest = found.n;
    free(found.at);
    nav_shapes_fini(&shapes);
    return n;
}

/* Append shape P, whose bytes are among those of B, to B as a row. */
static void put(struct trod_batch *b, const struct nav_shape *p)
{
    const uint32_t i = b->n++;

    b->kind[i] = p->kind;
    b->has[i] = TROD_COL_KIND | TROD_COL_FLAGS;
    b->flags[i] = (uint32_t)(p->flags & NAV_SHAPE_ISET) << TROD_F_ISET_SHIFT;
    if (p->flags & NAV_SHAPE_PLACED) {
        b->has[i] |= TROD_COL_ADDR;
        b->addr[i] = p->addr;
    }
    if (p->code_n) {
        b->has[i] |= TROD_COL_CODE;
        b->code[i] = (struct trod_slice){p->at, p->code_n};
    }
    if (p->text_n) {
        b->has[i] |= TROD_COL_TEXT;
        b->text[i] = (struct trod_slice){p->at + p->code_n, p->text_n};
    }
}

/* The next shapes from *AT on, as many as a batch holds; after them a row of each kind. */
static void fill(struct trod_batch *b, const struct nav_shapes *s, uint32_t *at)
{
    trod_batch_clear(b);
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_ADDR | TROD_COL_CODE | TROD_COL_TEXT;
    b->bytes = s->bytes.p;
    b->bytes_n = s->bytes.n;
    for (; b->n < b->cap && *at < s->n; ++*at)
        put(b, &s->at[*at]);
    for (; b->n < b->cap && *at >= s->n && *at < s->n + TROD_KINDS; ++*at)
        put(b, &(const struct nav_shape){.kind = (uint8_t)(*at - s->n)});
}

/* Has shape P, if it is an instruction, a size that is looked for? */
static bool is_sized(const struct nav_shape_choice *v, const struct nav_shape *p)
{
    return !v->by_size || p->kind != TROD_INSTR || nav_class_choice_keeps(v->by_size, p->size);
}

/* Add the shapes that KEEP chooses to V: N of them, the first one shape AT. */
static void take(struct nav_shape_choice *v, const struct nav_shapes *s, const uint8_t *keep,
                 uint32_t n, uint32_t at)
{
    for (uint32_t i = 0; i < n; i++, at++) {
        const bool placed = at < s->n && s->at[at].flags & NAV_SHAPE_PLACED;

        if (at < s->n && !placed)
            v->shaped |= 1u << s->at[at].kind;
        if (at < s->n && v->kind)
            v->kind[at] = s->at[at].kind;
        if (!keep[i] || (at < s->n && !is_sized(v, &s->at[at]))) {
            if (placed && v->mixed)
                v->mixed[v->n_mixed++] = s->at[at].addr;
            continue;
        }
        if (at >= s->n)
            v->kinds |= 1u << (at - s->n);
        else if (placed)
            v->pc[v->n_pcs++] = s->at[at].addr;
        else
            v->id[v->n_ids++] = at;
    }
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static bool among(const uint64_t *at, size_t n, uint64_t v)
{
    return n && bsearch(&v, at, n, sizeof *at, ascending);
}

/* Keep in V->mixed only the addresses where another shape is chosen. */
static void mix(struct nav_shape_choice *v)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n_mixed; i++)
        if (among(v->pc, v->n_pcs, v->mixed[i]))
            v->mixed[n++] = v->mixed[i];
    v->n_mixed = n;
    qsort(v->mixed, n, sizeof *v->mixed, ascending);
}

static int judge(struct trod_nav *nav, const struct nav_shapes *s, struct nav_shape_choice *v)
{
    uint8_t keep[TROD_BATCH_ROWS];
    struct trod_batch *b = NULL;
    int rc = TROD_OK;

    v->pc = malloc(((size_t)s->n + 1) * sizeof *v->pc);
    v->id = malloc(((size_t)s->n + 1) * sizeof *v->id);
    v->counts = nav->tallies;
    if (v->counts) {
        v->mixed = malloc(((size_t)s->n + 1) * sizeof *v->mixed);
        v->kind = malloc((size_t)s->n + 1);
    }
    if (!v->pc || !v->id || (v->counts && !(v->mixed && v->kind)) ||
        trod_batch_new(&b, TROD_BATCH_ROWS) < 0)
        return TROD_ERR_NOMEM;
    b->meta = &nav->index->meta;
    for (uint32_t at = 0; rc >= 0 && at < s->n + TROD_KINDS;) {
        const uint32_t first = at;

        fill(b, s, &at);
        rc = nav->shapes(nav->shapes_user, b, keep);
        if (rc >= 0)
            take(v, s, keep, b->n, first);
    }
    trod_batch_free(b);
    qsort(v->pc, v->n_pcs, sizeof *v->pc, ascending);
    if (v->counts)
        mix(v);
    return rc < 0 ? rc : TROD_OK;
}

bool nav_shape_choice_by_size(const struct nav_shape_choice *v)
{
    return v->by_size != NULL;
}

int nav_shape_choice_make(struct trod_nav *nav, const struct nav_class_choice *among,
                          struct nav_shape_choice **out)
{
    const struct nav_index *x = nav->index;
    struct nav_shapes shapes = {0};
    int rc = TROD_OK;

    *out = nav->shape_choice;
    if (!x || !nav->shapes || nav->shape_choice)
        return TROD_OK;
    for (uint32_t s = 0; rc == TROD_OK && s < x->n_segments; s++)
        rc = nav_shapes_of(&shapes, x, &x->segment[s]);
    if (rc == TROD_OK && !(nav->shape_choice = calloc(1, sizeof *nav->shape_choice)))
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK && among && nav_class_choice_by_size(among))
        nav->shape_choice->by_size = among;
    if (rc == TROD_OK)
        rc = judge(nav, &shapes, nav->shape_choice);
    nav_shapes_fini(&shapes);
    if (rc < 0) {
        nav_shape_choice_free(nav->shape_choice);
        nav->shape_choice = NULL;
    }
    *out = nav->shape_choice;
    return rc;
}

static void add(const struct nav_postings *found, uint32_t from, uint32_t kinds, uint8_t *may)
{
    for (size_t i = 0; i < found->n; i++)
        if (found->at[i].b & kinds)
            may[found->at[i].block - from] |= (uint8_t)found->at[i].steps;
}

int nav_shape_choice_steps(struct nav_shape_choice *v, const struct nav_index *x, uint32_t s,
                           uint8_t *step)
{
    static const uint64_t any = NAV_ANY_SHAPE;
    const struct nav_segment *segment = &x->segment[s];
    const uint32_t from = segment->from, n = segment->to - from;
    struct nav_postings found = {0};
    uint8_t *may = calloc((size_t)n + 1, 1);
    int rc = may ? TROD_OK : TROD_ERR_NOMEM;

    if (rc == TROD_OK)
        rc = nav_postings_keys(x, segment, NAV_S_SITES, v->pc, v->n_pcs, &found);
    if (rc == TROD_OK)
        add(&found, from, 1u << TROD_INSTR, may);
    found.n = 0;
    if (rc == TROD_OK)
        rc = nav_postings_keys(x, segment, NAV_S_TEXTS, v->id, v->n_ids, &found);
    if (rc == TROD_OK)
        rc = nav_postings_keys(x, segment, NAV_S_TEXTS, &any, 1, &found);
    for (size_t i = 0; rc == TROD_OK && i < found.n; i++)
        may[found.at[i].block - from] |= (uint8_t)found.at[i].steps;
    found.n = 0;
    for (unsigned kind = 0; rc == TROD_OK && kind < TROD_KINDS; kind++)
        if (v->kinds >> kind & PLAIN >> kind & 1)
            rc = nav_postings_find(x, segment, NAV_S_MARKS, kind, &found);
    for (size_t i = 0; rc == TROD_OK && i < found.n; i++)
        may[found.at[i].block - from] = NAV_ALL_STEPS;
    for (uint32_t k = 0; rc == TROD_OK && k < n; k++)
        step[k] &= may[k];
    free(found.at);
    free(may);
    return rc;
}

/* Add the row counts of FOUND, which are of KIND, to AT (by block from FROM on, and kind). */
static void sum(const struct nav_postings *found, uint32_t from, unsigned kind, uint64_t *at)
{
    for (size_t i = 0; i < found->n; i++) {
        uint64_t *n = &at[TROD_KINDS * (found->at[i].block - from) + kind];

        if (*n != NAV_UNCOUNTED)
            *n += found->at[i].a;
    }
}

/* Mark in AT that the number of rows of KINDS is not known in the blocks of FOUND. */
static void unknown(const struct nav_postings *found, uint32_t from, uint32_t kinds, uint64_t *at)
{
    for (size_t i = 0; i < found->n; i++)
        for (unsigned kind = 0; kind < TROD_KINDS; kind++)
            if (kinds >> kind & 1)
                at[TROD_KINDS * (found->at[i].block - from) + kind] = NAV_UNCOUNTED;
}

/* Count the executions of chosen instructions. */
static int count_instructions(const struct nav_shape_choice *v, const struct nav_index *x,
                              const struct nav_segment *segment, bool whole,
                              struct nav_postings *found, uint64_t *at)
{
    const bool bare = v->n_pcs || v->kinds & 1u << TROD_INSTR;
    int rc =
        nav_postings_keys(x, segment, whole ? NAV_S_EXECUTED : NAV_S_SITES, v->pc, v->n_pcs, found);

    if (rc < 0)
        return rc;
    for (uint32_t k = segment->from; k < segment->to; k++)
        if (bare && x->block[k].flags & NAV_B_BARE)
            at[TROD_KINDS * (k - segment->from) + TROD_INSTR] = NAV_UNCOUNTED;
    sum(found, segment->from, TROD_INSTR, at);
    for (size_t i = 0; i < found->n; i++)
        if (found->at[i].a && among(v->mixed, v->n_mixed, found->at[i].key))
            at[TROD_KINDS * (found->at[i].block - segment->from) + TROD_INSTR] = NAV_UNCOUNTED;
    return rc;
}

/* Count rows of other chosen shapes. In blocks with shapes that are not kept no count is known. */
static int count_shapes(const struct nav_shape_choice *v, const struct nav_index *x,
                        const struct nav_segment *segment, struct nav_postings *found, uint64_t *at)
{
    static const uint64_t any = NAV_ANY_SHAPE;
    int rc = nav_postings_keys(x, segment, NAV_S_TEXTS, v->id, v->n_ids, found);

    for (size_t i = 0; rc == TROD_OK && i < found->n; i++)
        sum(&(struct nav_postings){.at = &found->at[i], .n = 1}, segment->from,
            v->kind[found->at[i].key], at);
    found->n = 0;
    if (rc == TROD_OK)
        rc = nav_postings_keys(x, segment, NAV_S_TEXTS, &any, 1, found);
    unknown(found, segment->from, UINT32_MAX, at);
    return rc;
}

int nav_shape_choice_count(const struct nav_shape_choice *v, const struct nav_index *x, uint32_t s,
                           bool whole, uint64_t *at)
{
    const struct nav_segment *segment = &x->segment[s];
    const uint32_t from = segment->from, plain = v->kinds & PLAIN & ~(1u << TROD_INSTR);
    struct nav_postings found = {0};
    int rc;

    for (size_t i = 0; i < TROD_KINDS * (size_t)(segment->to - from); i++)
        at[i] = v->counts ? 0 : NAV_UNCOUNTED;
    if (!v->counts)
        return TROD_OK;
    rc = count_instructions(v, x, segment, whole, &found, at);
    found.n = 0;
    if (rc == TROD_OK)
        rc = count_shapes(v, x, segment, &found, at);
    for (unsigned kind = 0; rc == TROD_OK && kind < TROD_KINDS; kind++) {
        found.n = 0;
        if (!(plain >> kind & 1))
            continue;
        rc = nav_postings_find(x, segment, NAV_S_MARKS, kind, &found);
        if (v->shaped >> kind & 1)
            unknown(&found, from, 1u << kind, at);
        else
            sum(&found, from, kind, at);
    }
    free(found.at);
    return rc;
}
