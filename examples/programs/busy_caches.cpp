// busy_caches.cpp - run two analyses in one pass and read their results, in C++.
//
//   busy_caches TRACE...
//
// Prints the instructions that `count` found and, for each cache of the default hierarchy, its
// references and misses: numbers by their path, and a table row by row (trod/result.h).
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <trod/trod.h>

namespace
{

struct release {
    void operator()(trod_run *run) const
    {
        trod_run_free(run);
    }
    void operator()(trod_result *result) const
    {
        trod_result_free(result);
    }
};
using run_ptr = std::unique_ptr<trod_run, release>;
using result_ptr = std::unique_ptr<trod_result, release>;

void problem(void *, const trod_problem *p)
{
    std::fprintf(stderr, "%s: %s\n", p->at.path ? p->at.path : "busy_caches", p->message);
}

// What analysis ITEM of RUN found; empty where there is no memory.
result_ptr result_of(const trod_run *run, size_t item)
{
    trod_result *made = nullptr;

    if (trod_result_new(&made) != TROD_OK)
        return nullptr;
    result_ptr result(made);
    if (trod_run_result(run, item, made) != TROD_OK || trod_result_status(made) != TROD_OK)
        return nullptr;
    return result;
}

uint64_t number(const trod_result *result, const char *path)
{
    const trod_node *node = trod_result_find(result, path);

    return node && node->type == TROD_NODE_VALUE ? node->value.is.u64 : 0;
}

// The rows of the table at PATH: its first column, and those called references and misses.
bool print_caches(const trod_result *result, const char *path)
{
    const trod_node *table = trod_result_find(result, path);

    if (!table || table->type != TROD_NODE_TABLE)
        return false;
    const int references = trod_result_column(table, "references");
    const int misses = trod_result_column(table, "misses");

    if (references < 0 || misses < 0)
        return false;
    for (size_t row = 0; row < table->n_rows; row++) {
        const trod_value *cell = table->cells + row * table->n_columns;

        std::printf("%s %" PRIu64 " %" PRIu64 "\n", cell[0].is.str, cell[references].is.u64,
                    cell[misses].is.u64);
    }
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: busy_caches TRACE...\n");
        return 2;
    }
    trod_diag diag;
    trod_run *opened = nullptr;

    trod_diag_init(&diag, problem, nullptr);
    if (trod_run_open(&opened, argv + 1, static_cast<size_t>(argc - 1), nullptr, &diag) != TROD_OK)
        return 2;
    const run_ptr run(opened);

    const std::array<const char *, 2> names = {"count", "cache"};

    for (const char *name : names) {
        const trod_analysis *analysis = trod_analysis_find(name, std::strlen(name));

        if (!analysis || trod_run_add(run.get(), analysis, nullptr) < 0)
            return 2;
    }
    const int read = trod_run_go(run.get()); // what could be read has results
    const result_ptr count = result_of(run.get(), 0), cache = result_of(run.get(), 1);

    if (!count || !cache)
        return 2;
    std::printf("instructions %" PRIu64 "\n", number(count.get(), "total.fetched_instructions"));
    if (!print_caches(cache.get(), "caches"))
        return 2;
    return read < 0 || diag.errors ? 2 : 0;
}
