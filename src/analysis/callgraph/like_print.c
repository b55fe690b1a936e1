/*
 * like_print.c - what Arm's tarmac-calltree, tarmac-profile, tarmac-flamegraph and tarmac-callinfo
 * print (like.h).
 */
#include "analysis/callgraph/like.h"

#include "core/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names */

/* The symbols of the image in the order that searching them takes. */
struct names {
    struct trod_symbol_raw *by_address, *by_name; /* of equal ones the first of the table first */
    size_t n;
};

struct ordered {
    struct trod_symbol_raw raw;
    size_t number;
};

static int by_address(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;

    if (x->raw.address != y->raw.address)
        return x->raw.address < y->raw.address ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int by_name(const void *a, const void *b)
{
    const struct trod_symbol_raw *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static void names_fini(struct names *n)
{
    free(n->by_address);
    free(n->by_name);
}

static int names_init(struct names *n, const struct cg_core *core)
{
    const struct trod_symbols *s = core->context.symbols;
    struct ordered *all;
    struct trod_symbol_raw raw;

    *n = (struct names){.n = 0};
    while (s && trod_symbols_raw(s, n->n, &raw))
        n->n++;
    all = calloc(n->n + 1, sizeof *all);
    n->by_address = calloc(n->n + 1, sizeof *n->by_address);
    n->by_name = calloc(n->n + 1, sizeof *n->by_name);
    if (!all || !n->by_address || !n->by_name) {
        free(all);
        return TROD_ERR_NOMEM;
    }
    for (size_t i = 0; i < n->n; i++) {
        trod_symbols_raw(s, i, &all[i].raw);
        all[i].number = i;
        n->by_name[i] = all[i].raw;
    }
    qsort(all, n->n, sizeof *all, by_address);
    qsort(n->by_name, n->n, sizeof *n->by_name, by_name);
    for (size_t i = 0; i < n->n; i++)
        n->by_address[i] = all[i].raw;
    free(all);
    return TROD_OK;
}

/*
 * The symbol of address A: the nearest at or below that has a size and contains it, else the first
 * of the table at the nearest address below. The lowest address of the table is never looked at.
 */
static const struct trod_symbol_raw *symbol_of(const struct names *n, uint64_t a)
{
    const struct trod_symbol_raw *best = NULL, *inside = NULL;
    size_t lo = 0, hi = n->n;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (n->by_address[mid].address <= a)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo-- > 0 && n->by_address[lo].address != n->by_address[0].address) {
        const struct trod_symbol_raw *s = &n->by_address[lo];

        if (!best || s->address == best->address)
            best = s;
        if (inside && s->address != inside->address)
            break;
        if (s->size && a - s->address < s->size)
            inside = s;
    }
    return inside ? inside : best;
}

static bool several(const struct names *n, const char *name)
{
    size_t lo = 0, hi = n->n;

    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;

        if (strcmp(n->by_name[mid].name, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo + 1 < n->n && strcmp(n->by_name[lo + 1].name, name) == 0;
}

static int put_name(const struct cg_core *core, const struct names *n, uint64_t a,
                    struct trod_buf *out)
{
    const struct trod_symbol_raw *s = symbol_of(n, a);
    int rc;

    if (!s)
        return TROD_OK;
    rc = trod_buf_printf(out, several(n, s->name) ? "%s@0x%" PRIx64 : "%s", s->name, s->address);
    if (rc == TROD_OK && s->address != a && !core->opt->no_offsets)
        rc = trod_buf_printf(out, " + 0x%" PRIx64, a);
    return rc;
}

/* ---- activations */

struct act {
    struct cg_group entry, exit, site, resume;
    size_t parent, first, last, next; /* SIZE_MAX: none */
};

struct acts {
    struct act *at;
    size_t n, cap;
    struct names names;
};

static int open_act(struct acts *a, size_t parent, const struct cg_mark *m)
{
    struct act x = {.parent = parent, .first = SIZE_MAX, .last = SIZE_MAX, .next = SIZE_MAX};

    if (m) {
        x.entry = m->at;
        x.site = m->before;
    }
    if (!trod_grow(&a->at, a->n, &a->cap, sizeof *a->at, 256))
        return TROD_ERR_NOMEM;
    a->at[a->n] = x;
    if (parent != SIZE_MAX) {
        struct act *p = &a->at[parent];

        if (p->last == SIZE_MAX)
            p->first = a->n;
        else
            a->at[p->last].next = a->n;
        p->last = a->n;
    }
    a->n++;
    return TROD_OK;
}

/* The tree of activations: the root is the first. */
static int build(const struct cg_core *core, struct acts *a)
{
    const struct cg_like *k = core->like;
    size_t at = 0;
    int rc = names_init(&a->names, core);

    if (rc == TROD_OK && k->has_first)
        rc = open_act(a, SIZE_MAX, NULL);
    if (rc < 0 || !k->has_first)
        return rc;
    a->at[0].entry = k->first;
    a->at[0].exit = k->now;
    for (size_t i = 0; i < k->n_marks; i++) {
        const struct cg_mark *m = &k->mark[i];

        if (m->call && m->other) {
            if ((rc = open_act(a, at, m)) < 0)
                return rc;
            at = a->n - 1;
        } else if (!m->call) {
            a->at[at].exit = m->before;
            a->at[at].resume = m->at;
            at = a->at[at].parent;
        }
    }
    return TROD_OK;
}

/* ---- calltree */

static int put_place(struct trod_buf *out, const struct cg_group *g)
{
    return trod_buf_printf(out, "t:%" PRIu64 " l:%" PRIu64 " pc:0x%" PRIx64, g->time, g->line,
                           g->pc);
}

static int put_line(struct trod_buf *out, int indent, char sign, const struct cg_group *from,
                    const struct cg_group *to)
{
    int rc = trod_buf_printf(out, "%*s%c ", indent, "", sign);

    if (rc == TROD_OK)
        rc = put_place(out, from);
    if (rc == TROD_OK)
        rc = trod_buf_printf(out, " - ");
    return rc < 0 ? rc : put_place(out, to);
}

static int put_act(const struct cg_core *core, const struct acts *a, const struct act *x,
                   int indent, struct trod_buf *out)
{
    int rc = put_line(out, indent, 'o', &x->entry, &x->exit);

    if (rc == TROD_OK)
        rc = trod_buf_printf(out, " : ");
    if (rc == TROD_OK)
        rc = put_name(core, &a->names, x->entry.pc, out);
    return rc < 0 ? rc : trod_buf_printf(out, "\n");
}

static int put_tree(const struct cg_core *core, const struct acts *a, struct trod_buf *out)
{
    size_t at = 0;
    int indent = 0;
    int rc = a->n ? put_act(core, a, &a->at[0], 0, out) : TROD_OK;

    while (rc == TROD_OK && a->n) {
        size_t next = a->at[at].first;

        while (next == SIZE_MAX && at != 0) {
            next = a->at[at].next;
            at = a->at[at].parent;
            indent -= 4;
        }
        if (next == SIZE_MAX)
            break;
        rc = put_line(out, indent + 2, '-', &a->at[next].site, &a->at[next].resume);
        if (rc == TROD_OK)
            rc = trod_buf_printf(out, "\n");
        indent += 4;
        at = next;
        if (rc == TROD_OK)
            rc = put_act(core, a, &a->at[at], indent, out);
    }
    return rc;
}

/* ---- callinfo */

static int put_visits(const struct cg_core *core, struct trod_buf *out)
{
    const struct cg_like *k = core->like;
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < k->n_names; i++) {
        const struct cg_like_name *n = &k->name[i];

        if (n->is_name && !n->found) {
            rc = trod_buf_printf(out,
                                 core->context.symbols
                                     ? "Symbol '%s' not found !\n"
                                     : "No image, symbol '%s' can not be looked up !\n",
                                 n->name);
            continue;
        }
        if (n->is_name)
            rc = trod_buf_printf(out,
                                 "Symbol '%s' at 0x%" PRIx64 " (%" PRIu64 " bytes) called from :\n",
                                 n->name, n->address, n->size);
        for (size_t v = 0; rc == TROD_OK && v < k->n_visits; v++)
            if (k->visit[v].name == i)
                rc = trod_buf_printf(out,
                                     " - time: %" PRIu64 " (line:%" PRIu64 ", pos:%" PRIu64 ")\n",
                                     k->visit[v].time, k->visit[v].line, k->visit[v].pos);
    }
    return rc;
}

static int end(int rc)
{
    return rc == TROD_OK ? 1 : TROD_ERR_NOMEM;
}

/* The activations by PUT, in the order of SORT; NULL: that of their beginning. */
static int print(const struct cg_core *core, int (*sort)(const void *, const void *),
                 int (*put)(const struct cg_core *, const struct acts *, struct trod_buf *),
                 struct trod_buf *out)
{
    struct acts a = {0};
    int rc = build(core, &a);

    if (rc == TROD_OK && sort && a.n)
        qsort(a.at, a.n, sizeof *a.at, sort);
    if (rc == TROD_OK)
        rc = put(core, &a, out);
    names_fini(&a.names);
    free(a.at);
    return end(rc);
}

int cg_like_calls(const void *st, struct trod_buf *out)
{
    const struct cg_core *core = ((const struct cg_state *)st)->core;

    if (!core->like)
        return 0;
    if (core->like->refused)
        return 1;
    if (core->like->n_names)
        return end(put_visits(core, out));
    if (trod_buf_add(out, core->like->debug.p, core->like->debug.n) < 0)
        return TROD_ERR_NOMEM;
    return print(core, NULL, put_tree, out);
}

/* ---- profile */

static int by_entry(const void *a, const void *b)
{
    const struct act *x = a, *y = b;

    return x->entry.pc < y->entry.pc ? -1 : x->entry.pc > y->entry.pc;
}

static int put_profile(const struct cg_core *core, const struct acts *a, struct trod_buf *out)
{
    int rc = trod_buf_printf(out, "%-12s%-12s%-12sFunction name\n", "Address", "Count", "Time");

    for (size_t i = 0, next; rc == TROD_OK && i < a->n; i = next) {
        uint64_t time = 0;
        char address[32];

        for (next = i; next < a->n && a->at[next].entry.pc == a->at[i].entry.pc; next++)
            time += a->at[next].exit.time - a->at[next].entry.time + 1;
        snprintf(address, sizeof address, "0x%" PRIx64, a->at[i].entry.pc);
        rc = trod_buf_printf(out, "%-11s %-11zu %-11" PRIu64 " ", address, next - i, time);
        if (rc == TROD_OK)
            rc = put_name(core, &a->names, a->at[i].entry.pc, out);
        if (rc == TROD_OK)
            rc = trod_buf_printf(out, "\n");
    }
    return rc;
}

int cg_like_profile(const void *st, struct trod_buf *out)
{
    const struct cg_core *core = ((const struct cg_state *)st)->core;

    if (!core->like)
        return 0;
    if (core->like->refused)
        return 1;
    return print(core, by_entry, put_profile, out);
}

/* ---- flamegraph */

struct line {
    char *stack;
    uint64_t n;
};

static int by_stack(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->stack, ((const struct line *)b)->stack);
}

/* The name of X behind that of its caller, and what it cost by itself. */
static int make_line(const struct cg_core *core, const struct acts *a, const struct line *lines,
                     size_t i, struct line *to)
{
    const struct act *x = &a->at[i];
    struct trod_buf text = {0}, name = {0};
    int rc = TROD_OK;

    if (x->parent != SIZE_MAX)
        rc = trod_buf_printf(&text, "%s;", lines[x->parent].stack);
    if (rc == TROD_OK)
        rc = put_name(core, &a->names, x->entry.pc, &name);
    if (rc == TROD_OK && name.n)
        rc = trod_buf_add(&text, name.p, name.n);
    else if (rc == TROD_OK)
        rc = trod_buf_printf(&text, "0x%" PRIx64, x->entry.pc);
    if (rc == TROD_OK)
        rc = trod_buf_add(&text, "", 1);
    trod_buf_fini(&name);
    to->stack = (char *)text.p;
    to->n = x->exit.time - x->entry.time;
    for (size_t c = x->first; c != SIZE_MAX; c = a->at[c].next)
        to->n -= a->at[c].exit.time - a->at[c].entry.time;
    return rc;
}

static int put_flame(const struct cg_core *core, const struct acts *a, struct trod_buf *out)
{
    struct line *lines = calloc(a->n + 1, sizeof *lines);
    int rc = lines ? TROD_OK : TROD_ERR_NOMEM;

    for (size_t i = 0; rc == TROD_OK && i < a->n; i++) /* callers come before what they call */
        rc = make_line(core, a, lines, i, &lines[i]);
    if (rc == TROD_OK && a->n)
        qsort(lines, a->n, sizeof *lines, by_stack);
    for (size_t i = 0, next; rc == TROD_OK && i < a->n; i = next) {
        uint64_t n = 0;

        for (next = i; next < a->n && strcmp(lines[next].stack, lines[i].stack) == 0; next++)
            n += lines[next].n;
        rc = trod_buf_printf(out, "%s %" PRIu64 "\n", lines[i].stack, n);
    }
    for (size_t i = 0; lines && i < a->n; i++)
        free(lines[i].stack);
    free(lines);
    return rc;
}

int cg_like_flame(const void *st, struct trod_buf *out)
{
    const struct cg_core *core = ((const struct cg_state *)st)->core;

    if (!core->like)
        return 0;
    if (core->like->refused)
        return 1;
    return print(core, NULL, put_flame, out);
}
