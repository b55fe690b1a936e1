/*
 * owners.c - references and misses by owner, and strides of instructions (locality.h).
 *
 * Functions and instructions are counted by site, pages and lines in a table. The space-saving
 * algorithm for strides: Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and top-k
 * elements in data streams", 2005; sums of its counters: Agarwal et al., "Mergeable summaries",
 * 2012.
 */
#include "analysis/locality/locality.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_SHIFT = 12,
    MISS = 1 << 10 /* misses of pages and lines are counted in parts of one: samples have them */
};

void loc_owners_fini(struct loc_state *s)
{
    free(s->owner);
    free(s->strides);
    free(s->fetch);
    trod_map_fini(&s->fetches);
    if (s->pages.at)
        trod_lines_free(&s->pages);
}

/* Room for site SITE. */
static int reserve(struct loc_state *s, uint32_t site)
{
    size_t n = s->n_sites ? s->n_sites : 1024;

    if (site < s->n_sites)
        return TROD_OK;
    while (n <= site)
        n *= 2;
    if (s->opt->per) {
        struct loc_owner *more = realloc(s->owner, n * sizeof *more);

        if (!more)
            return TROD_ERR_NOMEM;
        memset(more + s->n_sites, 0, (n - s->n_sites) * sizeof *more);
        s->owner = more;
    }
    if (s->opt->strides) {
        struct loc_strides *more = realloc(s->strides, n * sizeof *more);

        if (!more)
            return TROD_ERR_NOMEM;
        memset(more + s->n_sites, 0, (n - s->n_sites) * sizeof *more);
        s->strides = more;
    }
    s->n_sites = n;
    return TROD_OK;
}

/* The number of the fetch of ADDR; SIZE_MAX: there is no memory. */
static size_t fetch_at(struct loc_state *s, uint64_t addr)
{
    const uint32_t hash = trod_map_hash(addr);
    uint32_t i;

    for (size_t at = hash; trod_map_next(&s->fetches, hash, &at, &i);)
        if (s->fetch[i].addr == addr)
            return i;
    if (s->n_fetches >= LOC_FETCH - 1 ||
        !trod_grow(&s->fetch, s->n_fetches, &s->cap_fetches, sizeof *s->fetch, 1024) ||
        !trod_map_put(&s->fetches, hash, (uint32_t)s->n_fetches))
        return SIZE_MAX;
    s->fetch[s->n_fetches] = (struct loc_fetch){.addr = addr};
    return s->n_fetches++;
}

int loc_fetch_number(struct loc_state *s, uint64_t addr, uint32_t *site)
{
    const size_t n = fetch_at(s, addr);

    if (n == SIZE_MAX)
        return TROD_ERR_NOMEM;
    *site = LOC_FETCH | (uint32_t)n;
    return TROD_OK;
}

/* The numbers of SITE, which may stand for a fetch; TROD_NO_SITE: no instruction is known. NULL:
 * there is no memory. */
static struct loc_owner *owner_of(struct loc_state *s, uint32_t site)
{
    if (site != TROD_NO_SITE && site & LOC_FETCH)
        return &s->fetch[site & ~LOC_FETCH].of;
    return reserve(s, site + 1) < 0 ? NULL : &s->owner[site + 1]; /* 0: no instruction */
}

static void owner_add(struct loc_owner *to, const struct loc_owner *from)
{
    to->refs += from->refs;
    to->misses += from->misses;
    to->cold += from->cold;
}

/* Counters of the page or line that LINE lies in. There is room. */
static struct trod_line_count *page_of(struct loc_state *s, uint64_t line)
{
    const unsigned shift =
        s->opt->per == LOC_PER_PAGE && s->shift < PAGE_SHIFT ? PAGE_SHIFT - s->shift : 0;
    const size_t slot = trod_lines_slot(&s->pages, line >> shift);

    if (s->pages.at[slot].pos == TROD_LINE_EMPTY) {
        s->pages.at[slot] = (struct trod_line){.line = line >> shift};
        s->pages.used++;
    }
    return &s->pages.count[slot];
}

/* What reference I of B, which says how far it went, stands for as a miss of the cache. */
static double miss_of(const struct loc_state *s, const struct loc_block *b, size_t i, double *cold)
{
    const uint64_t lines = s->opt->size >> s->shift;
    double weight = 1;

    *cold = 0;
    if (s->own.shards) {
        if (b->out[i] == TROD_SHARDS_OUT)
            return 0;
        weight = b->weight[i];
    }
    if (b->out[i] == TROD_DIST_COLD)
        *cold = weight;
    return b->out[i] >= lines ? weight : 0;
}

int loc_owners_count(struct loc_state *s, const struct loc_block *b)
{
    const bool by_site = s->opt->per < LOC_PER_PAGE;

    if (!by_site && !trod_lines_reserve(&s->pages, b->n))
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < b->n; i++) {
        double cold, miss = miss_of(s, b, i, &cold);

        if (by_site) {
            const struct loc_owner one = {1, cold, miss};
            struct loc_owner *owner = owner_of(s, b->site[i]);

            if (!owner)
                return TROD_ERR_NOMEM;
            owner_add(owner, &one);
        } else {
            struct trod_line_count *c = page_of(s, b->line[i]);

            c->refs++;
            c->distant += (uint64_t)(miss * MISS + 0.5);
        }
    }
    return TROD_OK;
}

/* Is stride BY among those of S? It came N times more, OVER of which may have been others. */
static bool stride_found(struct loc_strides *s, int64_t by, uint64_t n, uint64_t over)
{
    for (unsigned i = 0; i < LOC_STRIDES; i++)
        if (s->n[i] && s->by[i] == by) {
            s->n[i] += n;
            s->over[i] += over;
            return true;
        }
    return false;
}

static unsigned stride_least(const struct loc_strides *s)
{
    unsigned least = 0;

    for (unsigned i = 1; i < LOC_STRIDES; i++)
        if (s->n[i] < s->n[least])
            least = i;
    return least;
}

/* Replace the least frequent stride by BY, which may have come as often before. */
static void stride_put(struct loc_strides *s, int64_t by)
{
    const unsigned least = stride_least(s);

    s->by[least] = by;
    s->over[least] = s->n[least]++;
}

/*
 * Add the strides of another thread: one that a table lacks came there at most as often as its
 * least one.
 */
static void strides_add(struct loc_strides *to, const struct loc_strides *from)
{
    const uint64_t here = to->n[stride_least(to)], there = from->n[stride_least(from)];
    struct loc_strides rest = *from;

    for (unsigned i = 0; i < LOC_STRIDES; i++) {
        unsigned k = 0;

        while (k < LOC_STRIDES && !(rest.n[k] && to->n[i] && rest.by[k] == to->by[i]))
            k++;
        if (k < LOC_STRIDES && stride_found(to, rest.by[k], rest.n[k], rest.over[k]))
            rest.n[k] = 0;
        else if (to->n[i])
            stride_found(to, to->by[i], there, there);
    }
    for (unsigned k = 0; k < LOC_STRIDES; k++) {
        const unsigned least = stride_least(to);

        if (!rest.n[k] || rest.n[k] + here <= to->n[least])
            continue;
        to->by[least] = rest.by[k];
        to->n[least] = rest.n[k] + here;
        to->over[least] = rest.over[k] + here;
    }
    to->refs += from->refs;
    to->steps += from->steps;
}

int loc_owners_add(struct loc_state *s, const struct loc_state *from)
{
    if (from->n_sites && reserve(s, (uint32_t)from->n_sites - 1) < 0)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; from->owner && i < from->n_sites; i++)
        owner_add(&s->owner[i], &from->owner[i]);
    for (size_t i = 0; i < from->n_fetches; i++) {
        const size_t n = fetch_at(s, from->fetch[i].addr);

        if (n == SIZE_MAX)
            return TROD_ERR_NOMEM;
        owner_add(&s->fetch[n].of, &from->fetch[i].of);
    }
    for (size_t i = 0; from->strides && i < from->n_sites; i++)
        strides_add(&s->strides[i], &from->strides[i]);
    if (!from->pages.at)
        return TROD_OK;
    if (!trod_lines_reserve(&s->pages, from->pages.used))
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < from->pages.size; i++) {
        const struct trod_line *e = &from->pages.at[i];
        size_t slot;

        if (e->pos == TROD_LINE_EMPTY)
            continue;
        slot = trod_lines_slot(&s->pages, e->line);
        if (s->pages.at[slot].pos == TROD_LINE_EMPTY) {
            s->pages.at[slot] = (struct trod_line){.line = e->line};
            s->pages.used++;
        }
        s->pages.count[slot].refs += from->pages.count[i].refs;
        s->pages.count[slot].distant += from->pages.count[i].distant;
    }
    return TROD_OK;
}

int loc_strides_count(struct loc_state *s, uint32_t site, uint64_t addr)
{
    struct loc_strides *t;

    if (site == TROD_NO_SITE)
        return TROD_OK;
    if (reserve(s, site + 1) < 0)
        return TROD_ERR_NOMEM;
    t = &s->strides[site + 1];
    if (t->refs && !stride_found(t, (int64_t)(addr - t->last), 1, 0))
        stride_put(t, (int64_t)(addr - t->last));
    t->steps += t->refs > 0;
    t->last = addr;
    t->refs++;
    return TROD_OK;
}

/* ---- results */

struct row {
    uint64_t key;     /* address, line of source, number of the owner; 0 where the name says all */
    const char *name; /* "" where there is none */
    uint64_t offset, refs;
    double cold, misses;
    bool placed; /* the address of the code is known */
};

static int by_misses(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->misses != y->misses)
        return x->misses < y->misses ? 1 : -1;
    if (x->refs != y->refs)
        return x->refs < y->refs ? 1 : -1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const int names = strcmp(x->name, y->name);

    return names ? names : x->key < y->key ? -1 : x->key > y->key;
}

/* Rows of the same name and number become one. Returns how many are left. */
static size_t join(struct row *row, size_t n)
{
    size_t k = 0;

    qsort(row, n, sizeof *row, by_name);
    for (size_t i = 0; i < n; i++) {
        if (k && by_name(&row[k - 1], &row[i]) == 0) {
            row[k - 1].refs += row[i].refs;
            row[k - 1].misses += row[i].misses;
            row[k - 1].cold += row[i].cold;
        } else {
            row[k++] = row[i];
        }
    }
    return k;
}

/* What the code at PC belongs to. */
static void name_code(const struct loc_state *s, uint64_t pc, struct row *r)
{
    uint32_t line = 0;

    r->name = "(no symbol)";
    r->placed = true;
    switch (s->opt->per) {
    case LOC_PER_MODULE:
        if (s->context.symbols)
            trod_symbols_file(s->context.symbols, pc, &r->name);
        break;
    case LOC_PER_SOURCE:
        if (s->context.symbols && trod_symbols_line(s->context.symbols, pc, &r->name, &line))
            r->key = line;
        break;
    default:
        r->key = s->opt->per == LOC_PER_INSTRUCTION ? pc : 0;
        if (s->context.symbols)
            trod_symbols_find(s->context.symbols, pc, &r->name, &r->offset);
    }
}

static size_t site_rows(const struct loc_state *s, struct row *row)
{
    size_t n = 0;

    for (size_t i = 0; s->owner && i < s->n_sites; i++) {
        struct row *r = &row[n];

        if (!s->owner[i].refs)
            continue;
        *r = (struct row){.name = s->whose ? "" : "(none)",
                          .refs = s->owner[i].refs,
                          .cold = s->owner[i].cold,
                          .misses = s->owner[i].misses};
        if (s->whose)
            r->key = i ? trod_whose_of(s->whose, (uint32_t)i - 1) : 0;
        else if (i > 0 && s->context.sites)
            name_code(s, trod_site_at(s->context.sites, (uint32_t)i - 1)->pc, r);
        n++;
    }
    for (size_t i = 0; i < s->n_fetches; i++) {
        const struct loc_owner *of = &s->fetch[i].of;

        if (!of->refs)
            continue;
        row[n] = (struct row){.refs = of->refs, .cold = of->cold, .misses = of->misses};
        name_code(s, s->fetch[i].addr, &row[n++]);
    }
    return s->opt->per == LOC_PER_INSTRUCTION ? n : join(row, n);
}

static size_t page_rows(const struct loc_state *s, struct row *row)
{
    const unsigned shift =
        s->opt->per == LOC_PER_PAGE && s->shift < PAGE_SHIFT ? PAGE_SHIFT : s->shift;
    size_t n = 0;

    for (size_t i = 0; i < s->pages.size; i++)
        if (s->pages.at[i].pos != TROD_LINE_EMPTY && s->pages.count[i].refs)
            row[n++] = (struct row){.key = s->pages.at[i].line << shift,
                                    .name = "",
                                    .refs = s->pages.count[i].refs,
                                    .misses = (double)s->pages.count[i].distant / MISS};
    return n;
}

static void put_row(struct trod_result *r, const struct loc_state *s, const struct row *row,
                    double all)
{
    const int per = s->opt->per;
    char text[TROD_WHOSE_NAME];

    if (s->whose) {
        trod_whose_name(s->whose, (uint32_t)row->key, s->context.meta, text);
        trod_result_str(r, NULL, text);
    } else if (per == LOC_PER_SOURCE && row->key) {
        snprintf(text, sizeof text, "%.500s:%" PRIu64, row->name, row->key);
        trod_result_str(r, NULL, text);
    } else if (per == LOC_PER_INSTRUCTION && !row->placed) {
        trod_result_str(r, "address", "(none)");
    } else if (per == LOC_PER_INSTRUCTION || per >= LOC_PER_PAGE) {
        trod_result_hex(r, "address", row->key);
    } else {
        trod_result_str(r, NULL, row->name);
    }
    if (per == LOC_PER_INSTRUCTION)
        trod_result_str(r, "function", row->name);
    trod_result_u64(r, "references", row->refs);
    trod_result_u64(r, "misses", (uint64_t)(row->misses + 0.5));
    trod_result_f64(r, "miss_ratio", row->refs ? row->misses / (double)row->refs : 0, 4);
    trod_result_f64(r, "share", all > 0 ? 100 * row->misses / all : 0, 2);
    trod_result_row_end(r);
}

int loc_owners_result(const struct loc_state *s, struct trod_result *r)
{
    static const char *const keys[] = {"",     "function", "address", "module",  "source",
                                       "data", "block",    "region",  "address", "address"};
    const struct trod_result_column columns[] = {
        {keys[s->opt->per], TROD_COLUMN_KEY, NULL, NULL},
        {"function", TROD_COLUMN_PLAIN, NULL, NULL},
        {"references", TROD_COLUMN_MEASURE, "references", NULL},
        {"misses", TROD_COLUMN_MEASURE, "references", "in a cache of miss_size bytes"},
        {"miss_ratio", TROD_COLUMN_MEASURE, NULL, "misses by references"},
        {"share", TROD_COLUMN_MEASURE, "percent", "of all misses"},
    };
    const bool two = s->opt->per == LOC_PER_INSTRUCTION;
    const size_t most = s->n_sites + s->n_fetches + s->pages.size + 1;
    struct trod_result_column used[6];
    struct row *row = calloc(most, sizeof *row);
    double all = 0;
    size_t n, k = 0;

    if (!row || (s->whose && trod_whose_end(s->whose) < 0)) {
        free(row);
        return TROD_ERR_NOMEM;
    }
    for (size_t i = 0; i < 6; i++)
        if (i != 1 || two)
            used[k++] = columns[i];
    n = s->opt->per < LOC_PER_PAGE ? site_rows(s, row) : page_rows(s, row);
    qsort(row, n, sizeof *row, by_misses);
    for (size_t i = 0; i < n; i++)
        all += row[i].misses;
    trod_result_u64(r, "miss_size", s->opt->size);
    trod_result_describe(r, "bytes", "cache whose misses are given to owners");
    trod_result_table(r, "owners", "references and misses by owner, most misses first", used, k);
    for (size_t i = 0; i < n && i < s->opt->top; i++)
        put_row(r, s, &row[i], all);
    trod_result_table_close(r);
    free(row);
    return TROD_OK;
}

struct stride_row {
    uint64_t pc, refs, steps, n;
    int64_t by;
    uint32_t site;
};

static void put_stride(struct trod_result *r, const struct loc_state *s,
                       const struct stride_row *row)
{
    const char *name = "(no symbol)";
    uint64_t offset;

    trod_result_hex(r, "address", row->pc);
    if (s->context.symbols) {
        trod_site_function(s->context.sites, row->site, &name, &offset);
        trod_result_str(r, "function", name);
    }
    trod_result_u64(r, "references", row->refs);
    trod_result_i64(r, "stride", row->by);
    trod_result_f64(r, "share", 100 * (double)row->n / (double)row->steps, 2);
    trod_result_row_end(r);
}

static int by_refs(const void *a, const void *b)
{
    const struct stride_row *x = a, *y = b;

    if (x->refs != y->refs)
        return x->refs < y->refs ? 1 : -1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

int loc_strides_result(const struct loc_state *s, struct trod_result *r)
{
    static const struct trod_result_column columns[] = {
        {"address", TROD_COLUMN_KEY, NULL, "of the instruction"},
        {"function", TROD_COLUMN_PLAIN, NULL, NULL},
        {"references", TROD_COLUMN_MEASURE, "references", NULL},
        {"stride", TROD_COLUMN_PLAIN, "bytes", "the most frequent one"},
        {"share", TROD_COLUMN_MEASURE, "percent", "of its strides, at least"},
    };
    struct trod_result_column used[5];
    struct stride_row *row = calloc(s->n_sites + 1, sizeof *row);
    uint64_t steps = 0, regular = 0;
    size_t n = 0, n_used = 0;

    if (!row)
        return TROD_ERR_NOMEM;
    for (size_t i = 1; s->strides && i < s->n_sites; i++) {
        const struct loc_strides *t = &s->strides[i];
        unsigned best = 0;

        if (!t->steps)
            continue;
        for (unsigned k = 1; k < LOC_STRIDES; k++)
            if (t->n[k] - t->over[k] > t->n[best] - t->over[best])
                best = k;
        row[n++] = (struct stride_row){trod_site_at(s->context.sites, (uint32_t)i - 1)->pc,
                                       t->refs,
                                       t->steps,
                                       t->n[best] - t->over[best],
                                       t->by[best],
                                       (uint32_t)i - 1};
        steps += t->steps;
        regular += row[n - 1].n;
    }
    qsort(row, n, sizeof *row, by_refs);
    trod_result_f64(r, "regular", steps ? 100 * (double)regular / (double)steps : 0, 2);
    trod_result_describe(r, "percent",
                         "strides that are the most frequent one of their instruction, at least");
    for (size_t i = 0; i < 5; i++)
        if (i != 1 || s->context.symbols)
            used[n_used++] = columns[i];
    trod_result_table(r, "strides", "strides of instructions, most references first", used, n_used);
    for (size_t i = 0; i < n && i < s->opt->top; i++)
        put_stride(r, s, &row[i]);
    trod_result_table_close(r);
    free(row);
    return TROD_OK;
}
