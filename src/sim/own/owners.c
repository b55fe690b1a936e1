/*
 * owners.c - the table of misses by owner: instructions, or their functions, files of code, lines
 * of source; pages, lines and owners of data; threads and cores.
 *
 * Implements trod_own_who() of own/report.h. Names are those of the files of --symbols
 * (trod/owners.h), or those of whose.h.
 */
#include "sim/own/report.h"
#include "sim/ref.h"

#include "sim/whose/whose.h"
#include "trod/meta.h"
#include "trod/owners.h"

#include <inttypes.h>
#include <stdio.h>

/* What is counted for each: references, then the misses of each cache. */
enum { REFS, MISSES, COUNTS = MISSES + TROD_OWN_CACHES };

/* Are rows put together by what their addresses belong to? */
static bool is_named(const struct trod_own_report *o)
{
    return o->symbols && !o->whose &&
           (o->by == TROD_CACHE_BY_INSTRUCTION || o->by >= TROD_CACHE_BY_FUNCTION);
}

static void put(const struct trod_own_report *o, const struct trod_meta *meta,
                const struct trod_owners *all, const struct trod_owner *w, struct trod_result *r)
{
    char text[TROD_WHOSE_NAME];

    if (o->whose) {
        trod_whose_name(o->whose, (uint32_t)w->number, meta, text);
        trod_result_str(r, NULL, text);
    } else if (o->by == TROD_CACHE_BY_CORE) {
        trod_result_u64(r, NULL, w->number);
    } else if (is_named(o) || o->by != TROD_CACHE_BY_THREAD) {
        trod_owners_put(all, w, r);
    } else if (w->number < meta->n_streams) {
        trod_result_strn(r, NULL, meta->streams[w->number].name, meta->streams[w->number].name_len);
    } else if (w->number == TROD_REF_UNSAID) {
        trod_result_absent(r);
    } else { /* a stream without a name */
        snprintf(text, sizeof text, "%" PRIu64, w->number);
        trod_result_str(r, NULL, text);
    }
}

/* The rows of S by owner, most misses of the last cache first: they cost most. */
static int gather(const struct trod_own_sim *s, const struct trod_own_report *o,
                  struct trod_owners *all)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        const uint64_t *row = s->row + i * TROD_OWN_ROW, key = row[TROD_OWN_KEY];
        uint64_t *count =
            i + 1 == s->no_key ? trod_owners_none(all)
            : is_named(o)
                ? trod_owners_of(all, key)
                : trod_owners_number(all, o->whose ? trod_whose_of(o->whose, (uint32_t)key) : key);

        if (!count)
            return TROD_ERR_NOMEM;
        count[REFS] += row[TROD_OWN_REFS];
        for (unsigned c = 0; c < TROD_OWN_CACHES; c++)
            count[MISSES + c] += row[TROD_OWN_MISSES + c];
    }
    return trod_owners_sort(all, COUNTS - 1);
}

/* How many of the owners ALL have a miss. */
static size_t missing_of(const struct trod_own_sim *s, const struct trod_owners *all)
{
    size_t missing = 0;

    for (size_t i = 0; i < trod_owners_n(all); i++)
        for (unsigned k = 0; k < s->config->n; k++)
            if (trod_owners_at(all, i)->count[MISSES + k]) {
                missing++;
                break;
            }
    return missing;
}

const char *trod_own_who_column(int by, const struct trod_symbols *symbols)
{
    static const char *const names[] = {"",       "instruction", "page",     "line",
                                        "thread", "core",        "function", "module",
                                        "source", "data",        "block",    "region"};

    return by == TROD_CACHE_BY_INSTRUCTION && symbols ? "function" : names[by];
}

int trod_own_who(const struct trod_own_sim *s, const struct trod_own_report *o,
                 const struct trod_meta *meta, struct trod_result *r)
{
    const char *columns[TROD_OWN_CACHES + 2];
    const enum trod_by by = o->by == TROD_CACHE_BY_MODULE   ? TROD_BY_MODULE
                            : o->by == TROD_CACHE_BY_SOURCE ? TROD_BY_LINE
                                                            : TROD_BY_FUNCTION;
    struct trod_owners *all;
    int rc = trod_owners_new(&all, by, o->symbols, NULL, COUNTS);

    if (rc == TROD_OK)
        rc = gather(s, o, all);
    if (rc < 0) {
        trod_owners_free(all);
        return rc;
    }
    columns[0] = trod_own_who_column(o->by, o->symbols);
    columns[1] = "references";
    for (unsigned i = 0; i < s->config->n; i++)
        columns[2 + i] = s->config->spec[i].name;
    trod_result_u64(r, "missing", missing_of(s, all));
    trod_result_counts(r, "by", "Misses by cache", columns, s->config->n + 2);
    for (size_t i = 0; i < trod_owners_n(all) && (o->top == 0 || i < o->top); i++) {
        put(o, meta, all, trod_owners_at(all, i), r);
        trod_result_u64(r, NULL, trod_owners_at(all, i)->count[REFS]);
        for (unsigned k = 0; k < s->config->n; k++)
            trod_result_u64(r, NULL, trod_owners_at(all, i)->count[MISSES + k]);
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
    trod_owners_free(all);
    return TROD_OK;
}
