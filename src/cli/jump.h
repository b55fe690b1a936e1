/*
 * jump.h - rows shown from a place on: found with the index of the trace, if there is one.
 */
#ifndef CLI_JUMP_H
#define CLI_JUMP_H

#include "navigating.h"

struct cli_jump {
    const char *at, *index;
    bool no_index;
};
extern const struct trod_option cli_jump_options[];

/*
 * Of the operands those rows are wanted that FILTER chooses, from J->at on, which becomes its
 * range. *OUT is the trace, opened near the first of them, NULL where it is to be opened as usual;
 * no row from *END on is one of them. Returns 0 or an error, reported.
 */
int cli_jump(struct cli *c, const struct cli_input *in, const struct cli_jump *j,
             struct trod_match_options *filter, struct trod_trace **out, uint64_t *end,
             struct trod_diag *diag);

#endif
