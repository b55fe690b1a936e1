/*
 * ran.cc - a plug-in in C++: the instructions by how often they ran, most often first.
 *
 * docs/adding-an-analysis.md, "A plug-in in C++". The state is made by init and destroyed by fini;
 * no exception leaves a function that the engine calls.
 */
#include "trod/owners.h"

#include <algorithm>
#include <new>
#include <vector>

namespace {

struct state {
    trod_sites *sites;
    trod_symbols *symbols;
    trod_by by;                 /* what --by asks for */
    std::vector<uint64_t> *ran; /* by site */
};

int init(void *st, const void *, const trod_context *context)
{
    state *s = static_cast<state *>(st);

    s->sites = context->sites;
    s->symbols = context->symbols;
    s->by = context->by;
    s->ran = new (std::nothrow) std::vector<uint64_t>;
    return s->ran ? TROD_OK : TROD_ERR_NOMEM;
}

void count(state *s, uint32_t site, uint64_t n)
{
    if (site >= s->ran->size())
        s->ran->resize(site + 1 + s->ran->size());
    (*s->ran)[site] += n;
}

int feed(void *st, const trod_batch *b, uint32_t from, uint32_t to) try {
    for (uint32_t i = from; i < to; i++)
        if (b->kind[i] == TROD_INSTR && b->site[i] != TROD_NO_SITE)
            count(static_cast<state *>(st), b->site[i], 1);
    return TROD_OK;
} catch (const std::bad_alloc &) {
    return TROD_ERR_NOMEM;
}

int merge(void *into, const void *from) try {
    const std::vector<uint64_t> &ran = *static_cast<const state *>(from)->ran;

    for (size_t i = 0; i < ran.size(); i++)
        count(static_cast<state *>(into), static_cast<uint32_t>(i), ran[i]);
    return TROD_OK;
} catch (const std::bad_alloc &) {
    return TROD_ERR_NOMEM;
}

/* With --by: the executions of each module, function or line of source, most first. */
int put_owners(const state *s, trod_result *r)
{
    trod_owners *o;
    int rc = trod_owners_new(&o, s->by, s->symbols, s->sites, 1);

    for (uint32_t i = 0; rc == TROD_OK && i < s->ran->size(); i++) {
        uint64_t *count = (*s->ran)[i] ? trod_owners_site(o, i) : nullptr;

        if (count)
            *count += (*s->ran)[i];
        else if ((*s->ran)[i])
            rc = TROD_ERR_NOMEM;
    }
    if (rc == TROD_OK && (rc = trod_owners_sort(o, 0)) == TROD_OK) {
        const char *const columns[] = {trod_owners_column(o), "executions"};

        trod_result_counts(r, "owners", "executions by what they belong to", columns, 2);
        for (size_t i = 0; i < trod_owners_n(o); i++) {
            trod_owners_put(o, trod_owners_at(o, i), r);
            trod_result_u64(r, "executions", *trod_owners_at(o, i)->count);
            trod_result_row_end(r);
        }
        trod_result_table_close(r);
    }
    trod_owners_free(o);
    return rc;
}

int result(const void *st, trod_result *r) try {
    const state *s = static_cast<const state *>(st);
    std::vector<uint32_t> order;
    const char *const columns[] = {"pc", "executions", "instruction"};

    for (uint32_t i = 0; i < s->ran->size(); i++)
        if ((*s->ran)[i])
            order.push_back(i);
    /* The numbers of sites depend on the threads: what is equal stands by address. */
    std::sort(order.begin(), order.end(), [s](uint32_t a, uint32_t b) {
        if ((*s->ran)[a] != (*s->ran)[b])
            return (*s->ran)[a] > (*s->ran)[b];
        return trod_site_at(s->sites, a)->pc < trod_site_at(s->sites, b)->pc;
    });
    trod_result_counts(r, "instructions", "instructions by executions", columns, 3);
    for (uint32_t i : order) {
        char text[160];

        trod_site_text(s->sites, i, text, sizeof text);
        trod_result_hex(r, "pc", trod_site_at(s->sites, i)->pc);
        trod_result_u64(r, "executions", (*s->ran)[i]);
        trod_result_str(r, "instruction", text);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    return s->by >= TROD_BY_MODULE ? put_owners(s, r) : TROD_OK;
} catch (const std::bad_alloc &) {
    return TROD_ERR_NOMEM;
}

void fini(void *st)
{
    delete static_cast<state *>(st)->ran;
}

trod_analysis describe()
{
    trod_analysis a = {};

    a.name = "ran";
    a.title = "instructions by how often they ran";
    a.state_size = sizeof(state);
    a.needs = TROD_COL_KIND | TROD_COL_SITE;
    a.init = init;
    a.feed = feed;
    a.merge = merge;
    a.result = result;
    a.fini = fini;
    a.owners = true;
    return a;
}

const trod_analysis ran = describe();

}

const trod_analysis *const trod_plugin_analyses[] = {&ran, nullptr};
const unsigned trod_plugin_interface = TROD_PLUGIN_INTERFACE;
