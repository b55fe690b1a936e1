/*
 * match.h - the state of matching: set up by match.c, used row by row in match_rows.c.
 */
#ifndef TROD_SHOW_MATCH_H
#define TROD_SHOW_MATCH_H

#include <regex.h>

#include "show/literal.h"
#include "trod/disasm.h"
#include "trod/match.h"
#include "trod/where.h"

/* Some of them wanted, none: all. */
struct match_ranges {
    size_t n;
    struct trod_range at[TROD_LIST_MAX];
};

struct trod_match {
    struct trod_match_options own;
    const struct trod_match_options *filter; /* own */
    struct trod_symbols *symbols;            /* NULL: no files of symbols given */
    struct match_ranges address, pc, without;
    regex_t text;
    struct show_literal literal; /* of it */
    struct trod_where *where;    /* NULL: none given */
    bool plain;                  /* nothing else chooses */
    struct trod_disasm *disasm;  /* for the texts of instructions that have none */
    bool has_text, disasm_tried;
    uint32_t kinds;       /* bit by kind, wanted */
    uint32_t kinds_named; /* of records by the names that were asked for */
    bool own_kinds;       /* the format calls no records as kinds are called that are asked for */
    bool fetches, named;  /* fetches on a bus, records by their names were asked for */
    uint32_t kinds_seen;  /* bit by kind, where kinds are chosen */
    uint8_t *stream;      /* by stream: 1 wanted, 0 not */
    uint32_t n_streams;   /* streams judged so far */
    bool unnamed;         /* rows that name no stream are wanted */
    uint64_t seen, found; /* rows so far; of them matching */
    uint64_t end;         /* no row from here on can match */
    uint64_t skip, take;  /* of those matching: still to be left out, still to be given */
    bool single;          /* the trace is one file: without streams instruction numbers rise */
    bool all, done;       /* nothing is filtered out; nothing more can match */
    uint8_t keep[TROD_BATCH_ROWS];
};

/* spans.c: numbers of both A and B; those of either; LO to HI as well. Or somewhat more. */
struct trod_match_spans match_spans_both(const struct trod_match_spans *a,
                                         const struct trod_match_spans *b);
struct trod_match_spans match_spans_either(const struct trod_match_spans *a,
                                           const struct trod_match_spans *b);
void match_spans_add(struct trod_match_spans *s, uint64_t lo, uint64_t hi);
/* What both A and B need; what a row needs to touch a byte of LO to HI. */
struct trod_match_need match_need_both(struct trod_match_need a, struct trod_match_need b);
struct trod_match_need match_need_bytes(uint64_t lo, uint64_t hi);
/* Does ITEM name stream I of META: by name, thread id or "#I"? */
bool match_is_stream(const struct trod_meta *meta, uint32_t i, const char *item);
/* The kinds that rows asked for by --kind may be of. */
uint32_t match_kinds(const struct trod_match *m);
/* Are rows chosen by numbers that the format of META does not give? */
bool match_unnumbered(const struct trod_match *m, const struct trod_meta *meta);
/* The kinds of records that format F, or some format (NULL), calls NAME; 0: none. */
uint32_t match_record_kinds(const struct trod_format *f, const char *name);
/* Is NAME what some format calls records of its own? */
bool match_is_record_name(const char *name);
/* Does row I touch a byte of R? */
bool match_touches(const struct match_ranges *r, const struct trod_batch *b, uint32_t i);

#endif
