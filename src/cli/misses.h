/*
 * misses.h - `trod cache --misses`: what goes to memory, written as a trace.
 */
#ifndef CLI_MISSES_H
#define CLI_MISSES_H

#include "cli.h"

struct cli_misses {
    struct trod_writer *writer;
    struct trod_meta meta; /* what is true of the misses too */
    const char *path;
    struct trod_batch *turn; /* a time at each change of the thread; NULL: not wanted */
    uint64_t rows;           /* put so far */
    uint64_t stream;         /* of the last one */
    /* Rows come on the thread of the simulation: errors are reported when it has ended. */
    struct trod_diag diag;
    int rc;
    const char *code; /* of the first error, with its message */
    char message[512];
};

/* Begin PATH in format TO (NULL: by its suffix); META is that of the trace. 0 or an error,
 * reported. */
int cli_misses_begin(struct cli_misses *m, const char *path, const char *to,
                     const struct trod_meta *meta, struct trod_diag *diag);
/* trod_cache_options.memory, with M as its user. */
int cli_misses_put(void *m, const struct trod_batch *b);
/*
 * The rows have ended, or never came; the file appears under its name where GOOD. What it has no
 * place for is said to C. 0 or an error, reported to DIAG.
 */
int cli_misses_end(struct cli_misses *m, struct cli *c, bool good, struct trod_diag *diag);

#endif
