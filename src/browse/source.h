/*
 * source.h - the code around the cursor: lines of source, instructions by address.
 */
#ifndef BROWSE_SOURCE_H
#define BROWSE_SOURCE_H

#include "browse/model.h"

/* A file of source, in memory. */
struct browse_source {
    char *name;    /* as the debugging information has it; NULL: none */
    char *path;    /* where it was found; NULL: it was not */
    char *text;    /* lines end with NUL */
    size_t *start; /* of lines */
    size_t n;
};

/*
 * The line of source at the cursor: *S is its file (kept for the next call), *LINE its number from
 * 1. False: nothing says it; *WHY tells why.
 */
bool browse_source_line(struct browse *b, struct browse_source *s, uint32_t *line,
                        const char **why);
/* Line I (from 1) of S, "" where there is none. */
const char *browse_source_text(const struct browse_source *s, size_t i);
void browse_source_fini(struct browse_source *s);

/* An instruction that rows around the cursor execute. */
struct browse_code {
    uint64_t pc;
    char text[96];
};
/*
 * Instructions by address, at most N: those around the one at the cursor. *AT is its place among
 * them. Returns how many.
 */
size_t browse_code_around(struct browse *b, struct browse_code *out, size_t n, size_t *at);

#endif
