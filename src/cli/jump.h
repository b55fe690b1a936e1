/*
 * jump.h - rows shown from a place on.
 */
#ifndef CLI_JUMP_H
#define CLI_JUMP_H

#include "navigating.h"

struct cli_jump {
    const char *at;
    struct cli_index index;
};
extern const struct trod_option cli_jump_options[];

/*
 * If J names a place of the operands of C, look it up in N, which cli_nav_close closes in every
 * case: FILTER begins there. Returns 0 or an error, reported.
 */
int cli_jump(struct cli *c, const struct cli_input *in, const struct cli_jump *j,
             struct trod_match_options *filter, struct cli_nav *n, struct trod_diag *diag);

#endif
