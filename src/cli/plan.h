/*
 * plan.h - analyses named on a command line or in a saved state.
 */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "analyse.h"

struct cli_plan {
    struct cli_planned item[TROD_RUN_ITEMS];
    void *options[TROD_RUN_ITEMS]; /* owned */
    size_t n;
    char *text; /* owned; options point into it */
};

/*
 * "NAME[:OPTION=VALUE,...],...": what stands between commas and is no name of an analysis goes on
 * with the options of the one before. Returns 0 or an error, reported.
 */
int cli_plan_parse(struct cli_plan *p, const char *spec, struct trod_diag *diag);
/* Options of P that depend on the FORMAT of the output (enum trod_emit_format). */
void cli_plan_for(struct cli_plan *p, int format);
void cli_plan_fini(struct cli_plan *p);

/* A saved state begins with text: what was run on which files, by which part; */
int cli_plan_head(struct trod_buf *out, const struct cli *c, const struct cli_analyse *o,
                  const struct cli_parts *parts);
/* and, known when the part was read: were problems reported, and did reading end with one? */
int cli_plan_head_end(struct trod_buf *out, bool damaged, bool ended);

/* "I/N" with I from 0 to N - 1. False if TEXT is something else. */
bool cli_plan_part(const char *text, unsigned *part, unsigned *parts);

struct cli_plan_head {
    const char *spec, *from, *modules, *module_dir;
    int by; /* enum trod_by */
    unsigned part, parts;
    bool strict, damaged, ended;
    struct trod_list symbols;
    const char **path; /* owned; the texts are in the state */
    size_t n_paths;
};
/*
 * Take the head off STATE (N bytes), which is cut up in place and must outlive HEAD. Returns 0 and
 * the bytes it has in *SIZE; TROD_ERR_CORRUPT where it cannot be read, or TROD_ERR_NOMEM, neither
 * reported. HEAD is to be freed in any case.
 */
int cli_plan_read(struct cli_plan_head *head, char *state, size_t n, size_t *size);
void cli_plan_head_free(struct cli_plan_head *head);

/*
 * A saved state ends with the sum of all bytes before it (FNV-1a, 64 bits, lowest byte first):
 * SUM goes on with N bytes at P; begin with CLI_PLAN_SUM.
 */
#define CLI_PLAN_SUM UINT64_C(0xcbf29ce484222325)
enum { CLI_PLAN_SUM_BYTES = 8 };
uint64_t cli_plan_sum(uint64_t sum, const void *p, size_t n);
/* Do the N bytes at P begin as a saved state does? */
bool cli_plan_is(const void *p, size_t n);
/* Does the state of N bytes at P end with its sum? */
bool cli_plan_whole(const void *p, size_t n);

#endif
