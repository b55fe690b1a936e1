/*
 * sources.c - which trace sources of the TarmacTrace document are recorded.
 *
 * Implements rec_sources_of() of record.h: a switch for each source that the document "TarmacTrace
 * file format" lists. Three of them tell what a cache or a bus does; QEMU has neither.
 */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t bit; /* 0: nothing that QEMU shows */
    uint32_t kinds;
    bool matcher; /* Trace Matcher's format has such records too */
} sources[] = {
    {"instructions", REC_SOURCE_INSTRUCTIONS, 1u << TROD_INSTR, true},
    {"flow", REC_SOURCE_FLOW, 1u << TROD_BRANCH, false},
    {"registers", REC_SOURCE_REGISTERS, 1u << TROD_REG, true},
    {"cache", 0, 1u << TROD_CACHE_OP, false},
    {"walks", 0, 1u << TROD_WALK, false},
    {"tlb", 0, 1u << TROD_TLB, false},
    {"events", REC_SOURCE_EVENTS, 1u << TROD_EXCEPTION | 1u << TROD_MODE, false},
    {"memory", REC_SOURCE_MEMORY,
     1u << TROD_READ | 1u << TROD_WRITE | 1u << TROD_PREFETCH | 1u << TROD_FLUSH, true},
    {"updates", REC_SOURCE_UPDATES, 1u << TROD_ATOMIC, false},
    {"bus", 0, 1u << TROD_BUS, false},
};

enum { SOURCES = sizeof sources / sizeof *sources };

static int find(const char *name)
{
    for (int i = 0; i < SOURCES; i++)
        if (strcmp(sources[i].name, name) == 0)
            return i;
    return -1;
}

/* SOURCES are named, but they are those of Tarmac lines, and F has others. */
static int check_format(const struct trod_format *f, struct trod_diag *diag)
{
    if (f && f->flags & TROD_FMT_TEXT)
        return TROD_OK;
    return trod_error(diag, TROD_ERR_USAGE, "record.sources", NULL,
                      "%s has no trace sources: those of --sources are of tarmac and matcher",
                      f ? f->name : "the format");
}

int rec_sources_of(uint32_t *out, const struct trod_record_options *opt,
                   const struct trod_format *f, struct trod_diag *diag)
{
    const struct trod_list *list = &opt->sources;

    *out = REC_SOURCE_INSTRUCTIONS | REC_SOURCE_EVENTS | REC_SOURCE_MEMORY | REC_SOURCE_UPDATES;
    if (list->n) {
        *out = 0;
        if (check_format(f, diag) < 0)
            return TROD_ERR_USAGE;
    }
    for (size_t i = 0; i < list->n; i++) {
        const int found = find(list->item[i]);

        if (found < 0)
            return trod_error(diag, TROD_ERR_USAGE, "record.sources", NULL,
                              "'%s' is no trace source: instructions, flow, registers, events, "
                              "memory and updates are",
                              list->item[i]);
        if (!sources[found].bit)
            return trod_error(diag, TROD_ERR_UNSUPPORTED, "record.sources", NULL,
                              "'%s' cannot be recorded: QEMU does not show what caches, table "
                              "walks and buses do",
                              list->item[i]);
        if (!sources[found].matcher && strcmp(f->name, "matcher") == 0)
            return trod_error(diag, TROD_ERR_USAGE, "record.sources", NULL,
                              "matcher has no records of '%s'", list->item[i]);
        *out |= sources[found].bit;
    }
    if (opt->registers)
        *out |= REC_SOURCE_REGISTERS;
    if (opt->no_memory)
        *out &= ~(uint32_t)(REC_SOURCE_MEMORY | REC_SOURCE_UPDATES);
    return TROD_OK;
}

/* Have records of F, with its options as they are by default, a place for the values of accesses?
 */
static int holds_values(const struct trod_format *f, bool *yes)
{
    struct trod_meta meta;
    struct trod_keeps keeps = {.lost = 0};
    void *options = calloc(1, f->options_size + 1);

    if (!options)
        return TROD_ERR_NOMEM;
    if (f->defaults)
        memcpy(options, f->defaults, f->options_size);
    for (unsigned i = 0; i < TROD_KINDS; i++)
        keeps.columns[i] = f->writes;
    trod_meta_init(&meta);
    if (f->keeps)
        f->keeps(options, &meta, &keeps);
    trod_meta_fini(&meta);
    free(options);
    *yes = keeps.columns[TROD_READ] & TROD_COL_VALUE;
    return TROD_OK;
}

int rec_values_check(const struct trod_record_options *opt, const struct trod_format *f,
                     bool memory, struct trod_diag *diag)
{
    bool yes = true;
    int rc = f && !opt->allow_loss ? holds_values(f, &yes) : TROD_OK;

    if (rc == TROD_OK && !memory)
        return trod_error(diag, TROD_ERR_USAGE, "record.values", NULL,
                          "values of accesses are wanted, and no accesses are recorded");
    if (rc == TROD_OK && !yes)
        return trod_error(diag, TROD_ERR_USAGE, "record.values", NULL,
                          "%s has no place for the values of accesses: csv, tarmac and matcher "
                          "have; or say --allow-loss",
                          f->name);
    return rc;
}

uint32_t rec_source_kinds(uint32_t bits)
{
    uint32_t known = 0, wanted = 0;

    for (size_t i = 0; i < SOURCES; i++) {
        known |= sources[i].kinds;
        if (sources[i].bit & bits)
            wanted |= sources[i].kinds;
    }
    return ~known | wanted;
}
