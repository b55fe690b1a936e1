/*
 * diffs.h - differences of a comparison as text, JSON, CSV and JUnit.
 */
#ifndef CLI_DIFFS_H
#define CLI_DIFFS_H

#include "cli.h"
#include "trod/compare.h"

enum { CLI_SYMBOL = 160 };

enum cli_diff_layout { CLI_DIFF_UNIFIED, CLI_DIFF_SIDE };

/* One comparison of two traces, as it is printed. */
struct cli_diffs {
    struct cli *c;
    const char *path[2];
    const struct trod_meta *meta[2];
    struct trod_symbols *symbols;  /* NULL: none */
    struct trod_disasm *disasm[2]; /* of rows without text; NULL: not needed so far, or none */
    bool no_disasm[2];
    bool quiet;             /* nothing is printed */
    bool trouble;           /* the comparison was not made to its end: nothing is found equal */
    struct trod_emit *emit; /* of JSON and CSV; NULL for text */
    FILE *file;
    uint64_t most;    /* differences printed; the rest is counted */
    uint64_t context; /* rows before a difference */
    enum cli_diff_layout layout;
    unsigned width;
    unsigned fold; /* columns that the summary is folded to; 0: not */
    bool colour;
};

/* The callback of trod_compare_run; USER is a struct cli_diffs. */
int cli_diffs_add(void *user, const struct trod_compare *c, const struct trod_difference *d);

/* The summary, behind the differences. */
void cli_diffs_summary(struct cli_diffs *p, const struct trod_compare_summary *sum);

/* "changed", "missing", ... */
const char *cli_diff_name(enum trod_difference_type type);

/* One line that says what D is: "changed: value of x0 at 0x8000". Returns its length. */
size_t cli_diff_title(const struct cli_diffs *p, const struct trod_difference *d, char *out,
                      size_t n);

/* The same through the emitter. */
void cli_diffs_emit(const struct cli_diffs *p, const struct trod_difference *d);

/* " <function+0x10>", "" without symbols. */
void cli_diff_symbol(const struct cli_diffs *p, uint64_t addr, char *out, size_t n);

/* Names of the fields that differ: "value, addr". */
void cli_diff_fields(const struct trod_difference *d, char *out, size_t n);

/* Disassemblers are for one pair of traces. */
void cli_diffs_fini(struct cli_diffs *p);

/* The stream D is in; NULL: it has no name. */
const char *cli_diff_stream(const struct cli_diffs *p, const struct trod_difference *d);

/* N bytes at P as the text of an XML element or attribute. */
void cli_xml_text(FILE *to, const char *p, size_t n);

#endif
