/*
 * option.h - option tables: one table feeds the parser, --help, the completion, the man-page
 * check and the `name:key=value,...` strings of formats and analyses (docs/design.md, rule 6).
 */
#ifndef TROD_OPTION_H
#define TROD_OPTION_H

#include "trod/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

enum trod_option_type {
    TROD_OPT_END,   /* closes a table */
    TROD_OPT_GROUP, /* a heading in --help: text only */
    TROD_OPT_BOOL,  /* bool */
    TROD_OPT_U64,   /* uint64_t; 0x hex, suffixes k (or K) M G (1000) and Ki Mi Gi (1024) */
    TROD_OPT_STR,   /* const char *: points into the arguments */
    /* int: index in choices, a NULL-terminated list; with more: CHOICE:KEY=VALUE,... */
    TROD_OPT_ENUM,
    TROD_OPT_RANGE, /* struct trod_range: A..B, A.., ..B, A (from 0; 0x hex), B included */
    /* struct trod_list: up to TROD_LIST_MAX strings, given several times or separated by commas */
    TROD_OPT_LIST,
    /* the options of the table more: text is their heading (NULL: that of the option before),
     * offset is added to theirs */
    TROD_OPT_FUNC,
    TROD_OPT_BYTES, /* uint64_t: as U64, but k M G are powers of 1024, too, as sizes of caches */
    TROD_OPT_COUNT, /* as U64, from 1 */
    TROD_OPT_SIZE,  /* as BYTES, from 1 */
    TROD_OPT_JOINED /* as STR: a list, with the commas between its values */
};

struct trod_range {
    bool set;        /* false: none was given, and lo and hi mean nothing */
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
    const struct trod_option *more; /* FUNC: the shared table; ENUM: what a choice may go on with */
};

/*
 * Set the field of option KEY in the options struct BASE, which TABLE describes, to VALUE; NULL is
 * for flags (BOOL), which become true. Strings are kept as pointers into VALUE, and lists and
 * choices with options of their own are split in place: VALUE must be writable and outlive BASE.
 * Returns 0, or TROD_ERR_USAGE, reported: there is no such option, or it cannot have that value.
 */
int trod_option_set(const struct trod_option *table, void *base, const char *key, char *value,
                    struct trod_diag *diag);

/*
 * Set from "key=value,key=value" (SPEC is cut up in place and must outlive BASE). Flags may stand
 * alone. The value of a list (LIST, JOINED) goes on behind a comma with words that name no option
 * of TABLE and are like its first value: all of them are KEY=VALUE (the key a word of letters,
 * digits, - and _), or none is. Returns 0 or TROD_ERR_USAGE, reported.
 */
int trod_option_spec(const struct trod_option *table, void *base, char *spec,
                     struct trod_diag *diag);

/* Parse one number as TROD_OPT_U64 does. Returns 0 or TROD_ERR_USAGE (nothing reported). */
int trod_option_number(const char *text, uint64_t *out);

/* Parse a number of bytes as TROD_OPT_BYTES does. Returns 0 or TROD_ERR_USAGE, not reported. */
int trod_option_bytes(const char *text, uint64_t *out);

/* Parse a range as TROD_OPT_RANGE does. Returns 0 or TROD_ERR_USAGE (nothing reported). */
int trod_option_range(const char *text, struct trod_range *out);

enum { TROD_OPTIONS = 96 }; /* options of a table and its shared tables, at most */

/* An option of a table laid flat: shared tables (TROD_OPT_FUNC) opened, offsets added up. */
struct trod_option_ref {
    const struct trod_option *option;
    size_t offset;     /* of the field from the start of the options struct */
    const char *group; /* heading it stands under, or NULL */
};

/*
 * The options of TABLE and of its shared tables into OUT, as many as there is room for (CAP).
 * Headings are no entries: each option has the one that it stands under. Returns how many options
 * were put there.
 */
size_t trod_option_flatten(const struct trod_option *table, struct trod_option_ref *out,
                           size_t cap);

/* Find an option by its long name (LEN bytes), by its letter. False if there is none. */
bool trod_option_find(const struct trod_option *table, const char *name, size_t len,
                      struct trod_option_ref *out);
bool trod_option_letter(const struct trod_option *table, char letter, struct trod_option_ref *out);

/*
 * As trod_option_set for an option already found; PREFIX ("--" or "") stands before its name in
 * messages.
 */
int trod_option_assign(const struct trod_option_ref *ref, void *base, const char *prefix,
                       char *value, struct trod_diag *diag);

/*
 * The name in LIST (N names) that NAME (LEN bytes) is most likely a misspelling of; NULL: none is
 * similar enough.
 */
const char *trod_suggest(const char *name, size_t len, const char *const *list, size_t n);
/* The same among the long names of TABLE. */
const char *trod_option_suggest(const struct trod_option *table, const char *name, size_t len);

struct trod_buf;

/*
 * Append the help text of TABLE to OUT: options under their headings, wrapped to WIDTH columns
 * (at least 40). PREFIX is "--" for command lines, "" for `name:key=value` options.
 * Returns 0 or TROD_ERR_NOMEM.
 */
int trod_option_help(const struct trod_option *table, const char *prefix, unsigned width,
                     struct trod_buf *out);

/*
 * Append TEXT to OUT, wrapped to WIDTH columns: the first line goes on at COLUMN, the others are
 * indented by INDENT. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_wrap(struct trod_buf *out, const char *text, unsigned column, unsigned indent,
              unsigned width);

#ifdef __cplusplus
}
#endif

#endif
