/*
 * browse.h - the browser, as the command starts it.
 */
#ifndef BROWSE_BROWSE_H
#define BROWSE_BROWSE_H

#include "trod/trod.h"

struct browse_setup {
    const char *const *paths; /* one or two traces */
    size_t n_paths;
    const struct trod_trace_options *trace[2]; /* how each is opened */
    struct trod_symbols *symbols;              /* NULL: none */
    const char *index_dir, *at;                /* may be NULL */
    const char *where; /* go to the first row from there on for which this holds; NULL: no */
    bool no_index, colour, strict; /* STRICT: damage ends reading */
    const char *colours;           /* "PART=STYLE,..."; NULL: those there are */
    const char *const *source;
    size_t n_source;
    unsigned jobs; /* threads for the index */
};

/* Is the browser in this build? */
bool browse_there(void);

/*
 * Browse on the terminal at standard input and output until the user ends it. Returns 0, a signal's
 * number that ended it (the terminal is as it was before), or a negative code, reported to DIAG.
 */
int browse_run(const struct browse_setup *s, struct trod_diag *diag);

#endif
