/*
 * stacks.c - folded stacks (trod/flame.h): a tree of names, and its text.
 */
#include "callstack/stacks.h"

#include "core/hash.h"
#include "core/sized.h"
#include "core/slab.h"
#include "core/zeroed.h"
#include "trod/buf.h"

#include <stdlib.h>
#include <string.h>

int trod_flame_new(struct trod_flame **out)
{
    struct trod_flame *f = calloc(1, sizeof *f);

    *out = f;
    if (!f)
        return TROD_ERR_NOMEM;
    if (trod_zeroed_room(&f->node, &f->cap, 1, sizeof *f->node) < 0) {
        trod_flame_free(f);
        *out = NULL;
        return TROD_ERR_NOMEM;
    }
    f->n = 1;
    return TROD_OK;
}

void trod_flame_free(struct trod_flame *f)
{
    if (!f)
        return;
    trod_zeroed_free(f->node, f->cap * sizeof *f->node);
    trod_zeroed_free(f->names, f->names_cap);
    trod_map_fini(&f->map);
    free(f);
}

/* ---- names */

static uint32_t hash(uint32_t parent, const char *name, size_t len)
{
    return trod_map_hash(trod_fnv(TROD_FNV + parent, name, len));
}

static bool keep_name(struct trod_flame *f, const char *name, size_t len)
{
    if (trod_zeroed_room(&f->names, &f->names_cap, f->names_n + len, 1) < 0)
        return false;
    memcpy(f->names + f->names_n, name, len);
    f->names_n += len;
    return true;
}

bool stacks_room(struct trod_flame *f, size_t n)
{
    struct stacks_node *node = n > f->cap ? trod_zeroed_new(n * sizeof *node) : f->node;

    if (node && node != f->node) {
        memcpy(node, f->node, f->n * sizeof *node);
        trod_zeroed_free(f->node, f->cap * sizeof *f->node);
        f->node = node;
        f->cap = n;
    }
    return node != NULL;
}

static bool is_named(const struct trod_flame *f, const struct stacks_node *n, const char *name,
                     size_t len)
{
    return n->len == len && memcmp(f->names + n->name, name, len) == 0;
}

/* Put nodes from I on, which are siblings, into the map. */
static bool map_siblings(struct trod_flame *f, uint32_t i)
{
    bool ok = true;

    for (; i && ok; i = f->node[i].next) {
        const struct stacks_node *n = &f->node[i];

        ok = trod_map_put(&f->map, hash(n->parent, f->names + n->name, n->len), i);
    }
    return ok;
}

/*
 * Few children are gone through, as they were made: they lie near each other. Of parents that have
 * more, all are in the map.
 */
enum { FEW = 8 };

/* The child of PARENT with this name; 0: none. *CHILDREN: so many there are, FEW + 1 for more. */
static uint32_t find_child(const struct trod_flame *f, uint32_t parent, const char *name,
                           size_t len, unsigned *children)
{
    uint32_t i = f->node[parent].first, h;
    unsigned k = 0;

    for (; i && k < FEW; i = f->node[i].next, k++)
        if (is_named(f, &f->node[i], name, len))
            return i;
    *children = k + (i != 0);
    if (!i)
        return 0;
    h = hash(parent, name, len);
    for (size_t at = h; trod_map_next(&f->map, h, &at, &i);)
        if (f->node[i].parent == parent && is_named(f, &f->node[i], name, len))
            return i;
    return 0;
}

uint32_t stacks_child(struct trod_flame *f, uint32_t parent, const char *name, size_t len)
{
    unsigned children = 0;
    const uint32_t found = find_child(f, parent, name, len, &children);

    if (found)
        return found;
    if (f->n >= UINT32_MAX / 4 || len > UINT32_MAX ||
        trod_zeroed_room(&f->node, &f->cap, f->n + 1, sizeof *f->node) < 0 ||
        !keep_name(f, name, len))
        return 0;
    f->node[f->n] = (struct stacks_node){.name = f->names_n - len,
                                         .len = (uint32_t)len,
                                         .parent = parent,
                                         .next = f->node[parent].first};
    if (children >= FEW &&
        !trod_map_put(&f->map, hash(parent, name, len), (uint32_t)f->n)) /* one of many */
        return 0;
    if (children == FEW && !map_siblings(f, f->node[parent].first)) /* they become many */
        return 0;
    f->node[parent].first = (uint32_t)f->n;
    return (uint32_t)f->n++;
}

int trod_flame_add(struct trod_flame *f, const char *stack, size_t n, unsigned side, uint64_t count)
{
    uint32_t at = 0;

    for (const char *p = stack, *const end = stack + n; p < end;) {
        const char *semicolon = memchr(p, ';', (size_t)(end - p));
        const char *stop = semicolon ? semicolon : end;

        if (stop > p && !(at = stacks_child(f, at, p, (size_t)(stop - p))))
            return TROD_ERR_NOMEM;
        p = stop + 1;
    }
    f->node[at].self[side & 1] += count;
    return TROD_OK;
}

int trod_flame_add_result(struct trod_flame *f, const struct trod_result *r, unsigned side)
{
    const struct trod_node *t = trod_result_find(r, "stacks");
    const int stack = t && t->type == TROD_NODE_TABLE ? trod_result_column(t, "stack") : -1;
    const int count = stack >= 0 ? trod_result_column(t, "count") : -1;
    int rc = TROD_OK;

    if (count < 0)
        return TROD_ERR_USAGE;
    for (size_t i = 0; rc == TROD_OK && i < t->n_rows; i++) {
        const struct trod_value *s = &t->cells[i * t->n_columns + (size_t)stack];
        const struct trod_value *c = &t->cells[i * t->n_columns + (size_t)count];

        if (s->type == TROD_RESULT_STR && c->type == TROD_RESULT_U64)
            rc = trod_flame_add(f, s->is.str, strlen(s->is.str), side, c->is.u64);
    }
    return rc;
}

/* ---- sums */

uint64_t trod_flame_total(const struct trod_flame *f, unsigned side)
{
    uint64_t n = 0;

    for (size_t i = 0; i < f->n; i++)
        n += f->node[i].self[side & 1];
    return n;
}

size_t trod_flame_stacks(const struct trod_flame *f)
{
    size_t n = 0;

    for (size_t i = 1; i < f->n; i++)
        n += (f->node[i].self[0] | f->node[i].self[1]) != 0;
    return n;
}

uint64_t (*stacks_totals(const struct trod_flame *f))[STACKS_SIDES]
{
    uint64_t(*total)[STACKS_SIDES] = trod_slab_zeroed(f->n * sizeof *total);

    for (size_t i = f->n; total && i-- > 0;) {
        for (unsigned s = 0; s < STACKS_SIDES; s++) {
            total[i][s] += f->node[i].self[s];
            if (i)
                total[f->node[i].parent][s] += total[i][s];
        }
    }
    return total;
}

bool stacks_options(struct trod_flame_options *to, const struct trod_flame_options *from)
{
    return trod_sized(to, sizeof *to, sizeof *to, from);
}

double stacks_scale(const struct trod_flame *f, const struct trod_flame_options *opt)
{
    const uint64_t a = opt->both && opt->normalize ? trod_flame_total(f, 0) : 0;

    return a ? (double)trod_flame_total(f, 1) / (double)a : 1;
}

/* ---- text */

/*
 * Of a child what stands in the line that ends with it, or in those that lead on (ABOVE); AT: bytes
 * of the line before its name.
 */
struct named {
    const struct trod_flame *f;
    size_t at;
    uint32_t node;
    bool above;
};

/* What follows M bytes of the name of X, of which it has at least as many. */
static int following(const struct named *x, size_t m)
{
    const struct stacks_node *n = &x->f->node[x->node];

    if (m < n->len)
        return (unsigned char)x->f->names[n->name + m];
    return x->above ? ';' : -1;
}

/* As the lines are ordered, byte by byte. */
static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    const struct stacks_node *m = &x->f->node[x->node], *n = &y->f->node[y->node];
    const size_t len = m->len < n->len ? m->len : n->len;
    const int c = memcmp(x->f->names + m->name, y->f->names + n->name, len);

    return c ? c : following(x, len) - following(y, len);
}

size_t stacks_children(const struct trod_flame *f, uint32_t node, uint32_t *list)
{
    size_t n = 0;
    struct named *sorted;

    for (uint32_t c = f->node[node].first; c; c = f->node[c].next)
        list[n++] = c;
    sorted = n > 1 ? malloc(n * sizeof *sorted) : NULL;
    if (!sorted)
        return n;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct named){f, 0, list[i], false};
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 0; i < n; i++)
        list[i] = sorted[i].node;
    free(sorted);
    return n;
}

static bool has_count(const struct stacks_node *n)
{
    return (n->self[0] | n->self[1]) != 0;
}

/* The lines of NODE's children, AT bytes into each, onto LIST, the first one last; how many items.
 */
static size_t put_children(const struct trod_flame *f, uint32_t node, size_t at, struct named *list)
{
    size_t n = 0;

    for (uint32_t c = f->node[node].first; c; c = f->node[c].next) {
        if (has_count(&f->node[c]))
            list[n++] = (struct named){f, at, c, false};
        if (f->node[c].first)
            list[n++] = (struct named){f, at, c, true};
    }
    qsort(list, n, sizeof *list, by_name);
    for (size_t i = 0; i < n / 2; i++) {
        const struct named one = list[i];

        list[i] = list[n - 1 - i];
        list[n - 1 - i] = one;
    }
    return n;
}

int trod_flame_each(const struct trod_flame *f,
                    int (*call)(void *user, const char *stack, size_t n, const uint64_t count[2]),
                    void *user)
{
    struct named *list = malloc(2 * f->n * sizeof *list);
    struct trod_buf line = {0};
    size_t n = list ? put_children(f, 0, 0, list) : 0;
    int rc = list ? TROD_OK : TROD_ERR_NOMEM;

    while (rc == TROD_OK && n) {
        const struct named at = list[--n];
        const struct stacks_node *node = &f->node[at.node];

        line.n = at.at; /* the names before it are there already */
        rc = trod_buf_add(&line, f->names + node->name, node->len);
        if (rc == TROD_OK && at.above) {
            rc = trod_buf_add(&line, ";", 1);
            n += put_children(f, at.node, line.n, list + n);
        } else if (rc == TROD_OK) {
            rc = call(user, (const char *)line.p, line.n, node->self);
        }
    }
    trod_buf_fini(&line);
    free(list);
    return rc;
}

struct folding {
    struct trod_flame_options opt;
    double scale;
    struct trod_buf *out;
};

static int put_number(struct trod_buf *out, uint64_t n)
{
    char text[21], *p = text + sizeof text;

    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    *--p = ' ';
    return trod_buf_add(out, p, (size_t)(text + sizeof text - p));
}

static int put_line(void *user, const char *stack, size_t n, const uint64_t count[2])
{
    struct folding *k = user;
    int rc;

    if (!k->opt.both && count[0] == 0)
        return TROD_OK;
    rc = trod_buf_add(k->out, stack, n);
    if (rc == TROD_OK)
        rc = put_number(k->out, stacks_scaled(count[0], k->scale));
    if (rc == TROD_OK && k->opt.both)
        rc = put_number(k->out, count[1]);
    if (rc == TROD_OK)
        rc = trod_buf_add(k->out, "\n", 1);
    return rc < 0 ? rc : trod_buf_pour(k->out);
}

int trod_flame_folded(const struct trod_flame *f, const struct trod_flame_options *opt,
                      struct trod_buf *out)
{
    struct folding k = {.out = out};

    if (!stacks_options(&k.opt, opt))
        return TROD_ERR_USAGE;
    k.scale = stacks_scale(f, &k.opt);
    return trod_flame_each(f, put_line, &k);
}
