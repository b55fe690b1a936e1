/*
 * export.h - writing a view: what `trod export` and `trod convert --to VIEW` share.
 */
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H

#include "cli.h"

struct cli_export {
    const char *const *paths; /* inputs */
    size_t n;
    const char *out, *to;
    const struct cli_input *input;
    const struct cli_index *index;
    const struct trod_match_options *filter;
    const struct cli_cut *cut;
    const char *compress;
    uint64_t level;
    int format; /* of the summary: enum trod_emit_format */
};

/* Read the trace, write the view, tell what came of it. Returns the exit status. */
int cli_export(struct cli *c, const struct cli_export *x);

/* Does TO ("NAME[:OPTION=VALUE,...]") name a view? */
bool cli_export_names(const char *to);

#endif
