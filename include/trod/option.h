/*
 * option.h - option tables: one table feeds the parser, --help, the completion, the man-page
 * check and the `name:key=value,...` strings of formats and analyses (docs/design.md, rule 6).
 */
#ifndef TROD_OPTION_H
#define TROD_OPTION_H

#include "trod/diag.h"

enum trod_option_type {
    TROD_OPT_END,   /* closes a table */
    TROD_OPT_GROUP, /* a heading in --help: text only */
    TROD_OPT_BOOL,  /* bool */
    TROD_OPT_U64,   /* uint64_t; 0x hex, suffixes k M G (1000) and Ki Mi Gi (1024) */
    TROD_OPT_STR,   /* const char *: points into the arguments */
    TROD_OPT_ENUM,  /* int: index in choices, a NULL-terminated list */
    TROD_OPT_RANGE, /* struct trod_range: A..B, A.., ..B, A (from 0; 0x hex), B included */
    TROD_OPT_LIST,  /* struct trod_list of strings: given several times or separated by commas */
    TROD_OPT_FUNC   /* a table of further options: text names it, choices unused, offset: base */
};

struct trod_range {
    bool set;
    uint64_t lo, hi; /* both included */
};

enum { TROD_LIST_MAX = 64 };

struct trod_list {
    size_t n;
    const char *item[TROD_LIST_MAX];
};

struct trod_option {
    const char *name; /* long name, without dashes */
    char letter;      /* short name or 0 */
    enum trod_option_type type;
    size_t offset;    /* of the field in the options struct */
    const char *arg;  /* what the value is called in --help, NULL for flags */
    const char *text; /* one line, lower case, no full stop */
    const char *const *choices;
    const struct trod_option *more; /* TROD_OPT_FUNC: the shared table */
};

/*
 * Set field KEY of the options struct BASE described by TABLE to VALUE (NULL: a flag).
 * Strings are kept as pointers to VALUE; lists are split in place, so VALUE must be writable and
 * outlive BASE. Returns 0 or TROD_ERR_USAGE, reported.
 */
int trod_option_set(const struct trod_option *table, void *base, const char *key, char *value,
                    struct trod_diag *diag);

/*
 * Set from "key=value,key=value" (SPEC is cut up in place and must outlive BASE). Flags may stand
 * alone. Returns 0 or TROD_ERR_USAGE, reported.
 */
int trod_option_spec(const struct trod_option *table, void *base, char *spec,
                     struct trod_diag *diag);

/* Parse one number as TROD_OPT_U64 does. Returns 0 or TROD_ERR_USAGE (nothing reported). */
int trod_option_number(const char *text, uint64_t *out);

#endif
