/*
 * unplaced.c - implements unplaced.h.
 *
 * Such a file has its symbols at its own addresses, mostly from 0 on, so that nothing in the trace
 * gets a name, and the user would not know why. Rows are examined until one is in the file.
 */
#include "engine/unplaced.h"

#include "engine/modules.h"
#include "trod/diag.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct file {
    const char *path;
    uint64_t from, to;
    atomic_bool met;
};

struct engine_unplaced {
    atomic_bool ran; /* an instruction, whatever its address */
    size_t n;
    struct file at[];
};

int engine_unplaced_new(struct engine_unplaced **out, const struct trod_symbols *symbols)
{
    struct engine_unplaced *u;
    const char *path;
    uint64_t from, to;
    size_t n = 0;

    *out = NULL;
    if (trod_symbols_placed(symbols))
        return TROD_OK;
    for (size_t i = 0; trod_symbols_module(symbols, i, &path, &from, &to); i++)
        n += trod_symbols_unplaced(symbols, i);
    u = calloc(1, sizeof *u + n * sizeof *u->at);
    if (!u)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; trod_symbols_module(symbols, i, &path, &from, &to); i++)
        if (trod_symbols_unplaced(symbols, i)) {
            struct file *f = &u->at[u->n++];

            f->path = path;
            f->from = from;
            f->to = to;
        }
    *out = u;
    return TROD_OK;
}

void engine_unplaced_free(struct engine_unplaced *u)
{
    free(u);
}

static bool is_set(const atomic_bool *b)
{
    return atomic_load_explicit((atomic_bool *)(uintptr_t)b, memory_order_relaxed);
}

static void set(atomic_bool *b)
{
    atomic_store_explicit(b, true, memory_order_relaxed);
}

static bool in_file(const struct file *f, uint64_t pc)
{
    return pc >= f->from && pc < f->to;
}

/* Is there an instruction of F among the rows of B, or, if F is NULL, any? */
static bool runs(const struct trod_batch *b, const struct file *f)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (b->kind[i] == TROD_INSTR && b->have & b->has[i] & TROD_COL_ADDR &&
            (!f || in_file(f, b->addr[i])))
            return true;
    return false;
}

void engine_unplaced_rows(struct engine_unplaced *u, const struct trod_batch *b)
{
    if (!u)
        return;
    if (!is_set(&u->ran) && runs(b, NULL))
        set(&u->ran);
    for (size_t i = 0; i < u->n; i++)
        if (!is_set(&u->at[i].met) && runs(b, &u->at[i]))
            set(&u->at[i].met);
}

void engine_code_tell(struct engine_unplaced *u, const struct trod_sites *sites,
                      const struct trod_trace *t, struct trod_diag *diag)
{
    struct engine_modules modules = {.at = NULL};

    if (sites)
        engine_sites_report_unknown(sites, diag);
    for (size_t i = 0; u && is_set(&u->ran) && i < u->n; i++) {
        const struct file *f = &u->at[i];
        const struct trod_place at = trod_place_path(f->path);
        char address[24] = "ADDRESS";
        uint64_t base;
        bool known;

        if (is_set(&f->met))
            continue;
        engine_modules_read(&modules, t, NULL); /* what is wrong with it is said where it is used */
        known = engine_modules_base(&modules, f->path, &base);
        if (known)
            snprintf(address, sizeof address, "0x%" PRIx64, base);
        trod_warning(
            diag, TROD_OK, "symbols.place", &at,
            "nothing has a name from this position-independent file: no instruction ran at "
            "the addresses that it has by itself (0x%" PRIx64 " to 0x%" PRIx64
            "); say where it was loaded: --symbols %s@%s%s",
            f->from, f->to, f->path, address,
            known ? " (from the list of modules beside the trace)" : "");
    }
    engine_modules_free(&modules);
}
