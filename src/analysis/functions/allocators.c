/*
 * allocators.c - code of allocators, known by the addresses of their functions (functions.h).
 *
 * An allocator also works by itself: at the end of a thread glibc frees, by its own free, blocks
 * that the program has freed and that it had kept for that thread. Such code lies between the
 * functions of the allocator, or elsewhere in its shared library. In a program that is linked
 * statically the library is the program: there the former counts only.
 */
#include "analysis/functions/functions.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

/*
 * Is F a function of a C library's allocator? Those of C++ call it from another library, mappings
 * are no blocks of it, and reallocarray lies by itself in glibc.
 */
static bool of_allocator(const struct fun_function *f)
{
    const char *plain = f->name ? strrchr(f->name, '!') : NULL;

    if (!plain || f->address == 0 || f->kind == TROD_ALLOC_OTHER || f->kind == TROD_ALLOC_MMAP ||
        f->kind == TROD_ALLOC_MUNMAP)
        return false;
    return strncmp(plain + 1, "_Z", 2) != 0 && strncmp(plain + 1, "operator ", 9) != 0 &&
           strcmp(plain + 1, "reallocarray") != 0;
}

static bool same_library(const struct fun_function *a, const struct fun_function *b)
{
    return strncmp(a->name, b->name, (size_t)(strrchr(a->name, '!') - a->name) + 1) == 0;
}

static int add(struct fun_ranges *r, uint64_t from, uint64_t to)
{
    if (!trod_grow(&r->at, r->n, &r->cap, sizeof *r->at, 4))
        return TROD_ERR_NOMEM;
    r->at[r->n++] = (struct fun_range){from, to};
    return TROD_OK;
}

static bool holds(const struct fun_ranges *r, uint64_t pc)
{
    for (size_t i = 0; i < r->n; i++)
        if (pc >= r->at[i].from && pc < r->at[i].to)
            return true;
    return false;
}

/* The code between the functions of the library of FIRST, its first one in the list. */
static int add_code(struct fun_state *s, const struct fun_function *first)
{
    uint64_t from = first->address, to = from;

    for (size_t i = 0; i < s->n_functions; i++) {
        const struct fun_function *f = &s->function[i];

        if (!of_allocator(f) || !same_library(first, f))
            continue;
        if (f < first)
            return TROD_OK; /* it is not the first one */
        from = f->address < from ? f->address : from;
        to = f->address > to ? f->address : to;
    }
    return to - from < FUN_CODE ? add(&s->allocators, from, to) : TROD_OK;
}

/* Is the file at PATH a shared library, by its name? */
static bool is_shared(const char *path)
{
    const char *slash = strrchr(path, '/'), *so = strstr(slash ? slash : path, ".so");

    return so && (so[3] == '.' || so[3] == '\0');
}

/* All mappings of the shared library that F lies in. */
static int add_library(struct fun_state *s, const struct fun_function *f, const struct trod_meta *m)
{
    const struct trod_module *lib = NULL;
    int rc = TROD_OK;

    for (uint32_t i = 0; i < m->n_modules && !lib; i++)
        if (f->address >= m->modules[i].from && f->address < m->modules[i].to)
            lib = &m->modules[i];
    for (uint32_t i = 0; lib && is_shared(lib->path) && i < m->n_modules && rc == TROD_OK; i++)
        if (m->modules[i].base == lib->base && strcmp(m->modules[i].path, lib->path) == 0)
            rc = add(&s->libraries, m->modules[i].from, m->modules[i].to);
    return rc;
}

int fun_allocators_init(struct fun_state *s, const struct trod_meta *m)
{
    int rc = TROD_OK;

    for (size_t i = 0; i < s->n_functions && rc == TROD_OK; i++) {
        const struct fun_function *f = &s->function[i];

        if (!of_allocator(f))
            continue;
        rc = add_code(s, f);
        if (rc == TROD_OK && f->kind == TROD_ALLOC_FREE && !holds(&s->libraries, f->address))
            rc = add_library(s, f, m);
    }
    return rc;
}

void fun_allocators_fini(struct fun_state *s)
{
    free(s->allocators.at);
    free(s->libraries.at);
    s->allocators = s->libraries = (struct fun_ranges){NULL, 0, 0};
}

bool fun_allocates(const struct fun_state *s, uint64_t pc)
{
    return holds(&s->allocators, pc);
}

bool fun_calls_own(const struct fun_state *s, uint64_t pc)
{
    return holds(&s->allocators, pc) || holds(&s->libraries, pc);
}
