/*
 * navigating.h - what `trod state`, `trod who` and `trod index` share: opening a trace to move
 * about in, places, rows as fields of a report.
 */
#ifndef CLI_NAVIGATING_H
#define CLI_NAVIGATING_H

#include "cli.h"

struct cli_nav {
    struct cli *c;
    struct trod_diag diag;
    struct trod_nav *nav;
    struct trod_symbols *symbols; /* NULL: none */
    struct trod_disasm *disasm;
    bool no_disasm; /* there is none for this trace */
};

/* Options that places and symbols need. */
struct cli_nav_options {
    const char *stream;
    struct trod_list symbols;
    struct cli_index index;
};
extern const struct trod_option cli_nav_options[];
#define CLI_NAV_OPTIONS CLI_SHARED(where, NULL, cli_nav_options)

/*
 * The two places of OPTION, whose values LIST are: both there, or the second one behind it, as an
 * operand of C that is no file. FILES, which has room for all operands, gets the N other ones.
 * Without values PLACE is left as it is. Returns 0 or TROD_ERR_USAGE, reported.
 */
int cli_nav_places(struct cli *c, const char *option, const struct trod_list *list,
                   const char *place[2], const char **files, size_t *n);

/* Open the N files PATHS. Returns 0 or an error, reported. cli_nav_close in every case. */
int cli_nav_open(struct cli_nav *n, struct cli *c, const struct cli_input *in,
                 const struct cli_nav_options *o, const char *const *paths, size_t count);
/* Memory of one part of the trace that a question reads is kept for the next. */
void cli_nav_memory(void);
/* Searches of NAV look for what M chooses, as far as its index knows that. */
void cli_nav_match(struct trod_nav *nav, struct trod_match *m);
/* The exit status of the run that ended with R. */
int cli_nav_close(struct cli_nav *n, int r, int status);

/* The stream called NAME, to *STREAM. Returns 0 or an error, reported. */
int cli_nav_stream(struct cli_nav *n, const char *name, uint32_t *stream);
/* Warn if NAME is no register that the instruction set has or S tells. */
void cli_nav_register(struct cli_nav *n, const struct trod_nav_state *s, const char *name);

/* LO..HI, an address, or a symbol, to *LO and *HI. Returns 0 or an error, reported. */
int cli_nav_range(struct cli_nav *n, const char *option, const char *text, uint64_t *lo,
                  uint64_t *hi);

/* The text of row ROW, an instruction (or its kind), into OUT of SIZE bytes. */
int cli_nav_text(struct cli_nav *n, uint64_t row, char *out, size_t size);
/* The symbol that ADDRESS lies in, "name+0x10", into OUT. False: none. */
bool cli_nav_symbol(const struct cli_nav *n, uint64_t address, char *out, size_t size);
/* Fields: number, line, time, stream, kind, instruction of row ROW. */
int cli_nav_fields(struct cli_nav *n, struct trod_emit *e, uint64_t row);
/* A field: whose state S is, where that is not who row ROW belongs to. */
int cli_nav_whose(struct cli_nav *n, struct trod_emit *e, uint64_t row,
                  const struct trod_nav_state *s);

#endif
