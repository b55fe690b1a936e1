/*
 * functions.c - which functions are recorded by name, and the list of those that were found.
 *
 * Implements the rec_functions functions of record.h. The list is DynamoRIO's funclist.log: a line
 * for each name, "id,arguments,0xaddress[,noret],library!symbol" (docs/formats/drmemtrace.md,
 * "Directories"). Functions found under several names have one number.
 */
#include "record/record.h"

#include "trod/buf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The functions of C and C++ that allocate and free memory (C11 7.22.3, POSIX, Itanium C++ ABI). */
static const struct {
    const char *name;
    uint8_t arguments;
    bool returns;
} heap[] = {{"malloc", 1, true},        {"calloc", 2, true},
            {"realloc", 2, true},       {"reallocarray", 3, true},
            {"free", 1, false},         {"posix_memalign", 3, true},
            {"aligned_alloc", 2, true}, {"memalign", 2, true},
            {"valloc", 1, true},        {"malloc_usable_size", 1, true},
            {"_Znwm", 1, true},         {"_Znam", 1, true},
            {"_Znwj", 1, true},         {"_Znaj", 1, true},
            {"_ZdlPv", 1, false},       {"_ZdaPv", 1, false},
            {"_ZdlPvm", 2, false},      {"_ZdaPvm", 2, false},
            {"_ZdlPvj", 2, false},      {"_ZdaPvj", 2, false}};

enum { HEAP = sizeof heap / sizeof *heap };

static void add(struct rec_functions *f, const char *name, size_t n, unsigned arguments,
                bool returns, bool asked)
{
    if (f->n == REC_FUNCTION_NAMES || n >= sizeof f->item[0].name)
        return;
    for (size_t i = 0; i < f->n; i++)
        if (strlen(f->item[i].name) == n && memcmp(f->item[i].name, name, n) == 0)
            return;
    memcpy(f->item[f->n].name, name, n);
    f->item[f->n].arguments = (uint8_t)arguments;
    f->item[f->n].returns = returns;
    f->item[f->n].asked = asked;
    f->n++;
}

/* "NAME[:ARGUMENTS]" or "NAME:ARGUMENTS:noret". */
static int add_item(struct rec_functions *f, const char *item, struct trod_diag *diag)
{
    const size_t n = strcspn(item, ":");
    unsigned long arguments = REC_CALL_ARGS;
    bool returns = true;
    char *end = (char *)(uintptr_t)(item + n);

    for (size_t i = 0; i < HEAP; i++)
        if (strlen(heap[i].name) == n && memcmp(heap[i].name, item, n) == 0) {
            arguments = heap[i].arguments;
            returns = heap[i].returns;
        }
    if (*end == ':' && end[1] >= '0' && end[1] <= '9') {
        arguments = strtoul(end + 1, &end, 10);
        returns = true;
    }
    if (strcmp(end, ":noret") == 0) {
        returns = false;
        end += strlen(end);
    }
    if (*end || n == 0 || n >= sizeof f->item[0].name || arguments > REC_ARGUMENTS)
        return trod_error(diag, TROD_ERR_USAGE, "record.function", NULL,
                          "'%s': a function is NAME, NAME:N or NAME:N:noret, with N arguments (0 "
                          "to %d)",
                          item, REC_ARGUMENTS);
    add(f, item, n, (unsigned)arguments, returns, true);
    return TROD_OK;
}

int rec_functions_of(struct rec_functions *f, const struct trod_record_options *opt,
                     const struct trod_format *to, struct trod_diag *diag)
{
    int rc = TROD_OK;

    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < opt->functions.n && rc == TROD_OK; i++)
        rc = add_item(f, opt->functions.item[i], diag);
    for (size_t i = 0; i < HEAP && opt->heap; i++)
        add(f, heap[i].name, strlen(heap[i].name), heap[i].arguments, heap[i].returns, false);
    if (rc == TROD_OK && f->n && to && !(to->flags & TROD_FMT_TIMESTAMPS))
        rc = trod_error(diag, TROD_ERR_USAGE, "record.function", NULL,
                        "%s has no place for calls of functions: drmemtrace has", to->name);
    if (rc == TROD_OK && f->n && opt->system)
        rc = trod_error(diag, TROD_ERR_USAGE, "record.function", NULL,
                        "calls of functions are recorded of programs, not of whole machines");
    return rc;
}

void rec_functions_want(const struct rec_functions *f, struct rec_places *p, struct rec_shared *s)
{
    for (size_t i = 0; i < f->n; i++)
        rec_places_call(p, f->item[i].name, REC_CALLED + (uint32_t)i, f->item[i].arguments,
                        f->item[i].returns);
    if (f->n)
        s->calls = s->placed = 1;
}

static bool was_found(const struct rec_shared *s, uint32_t code)
{
    const uint32_t n = atomic_load(&s->n_functions);

    for (uint32_t i = 0; i < n; i++)
        if (s->functions[i].code == code)
            return true;
    return false;
}

void rec_functions_missing(const struct rec_functions *f, const struct rec_shared *s,
                           const char *program, struct trod_diag *diag)
{
    bool any = false;

    for (size_t i = 0; i < f->n; i++) {
        const bool found = was_found(s, REC_CALLED + (uint32_t)i);

        any |= found;
        if (!found && f->item[i].asked)
            trod_error(diag, TROD_ERR_LOSS, "record.function", NULL,
                       "neither '%s' nor a library that it loaded has a function '%s'", program,
                       f->item[i].name);
    }
    if (f->n && !any && !f->item[0].asked)
        trod_error(diag, TROD_ERR_LOSS, "record.function", NULL,
                   "neither '%s' nor a library that it loaded has functions that allocate memory",
                   program);
}

uint32_t rec_function_number(const struct rec_shared *s, uint32_t i)
{
    uint32_t k = 0;

    while (k < i &&
           (s->functions[k].address != s->functions[i].address ||
            s->functions[k].image != s->functions[i].image || s->functions[k].code < REC_CALLED))
        k++;
    return k;
}

int rec_functions_list(const struct rec_functions *f, const struct rec_shared *s,
                       const struct rec_places *p, struct trod_meta *meta)
{
    const uint32_t n = atomic_load(&s->n_functions);
    struct trod_buf b = {0};
    int rc = TROD_OK;

    for (uint32_t i = 0; i < n && rc == TROD_OK; i++) {
        const char *path = rec_places_library(p, i), *slash = path ? strrchr(path, '/') : NULL;
        const uint32_t which = s->functions[i].code - REC_CALLED;

        if (s->functions[i].code < REC_CALLED || which >= f->n)
            continue;
        rc = trod_buf_printf(&b, "%" PRIu32 ",%u,0x%016" PRIx64 "%s,%s!%s\n",
                             rec_function_number(s, i), f->item[which].arguments,
                             s->functions[i].address, f->item[which].returns ? "" : ",noret",
                             slash ? slash + 1 : "unknown", f->item[which].name);
    }
    if (rc == TROD_OK && f->n)
        rc = trod_meta_keep(meta, "funclist.log", b.p, b.n);
    trod_buf_fini(&b);
    return rc;
}
