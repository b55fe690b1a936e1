/*
 * damages.h - problems that the reader met, kept until a run is over: what could not be read is a
 * finding of `check`.
 */
#ifndef CLI_DAMAGES_H
#define CLI_DAMAGES_H

#include "cli.h"

struct cli_damage {
    struct trod_problem problem;
    char path[1024], message[TROD_CHECK_MESSAGE];
    uint8_t text[TROD_CHECK_TEXT];
};

/* The first ones; a diag tells no more of each kind anyway. Begins as all zero. */
struct cli_damages {
    struct cli_damage *damage;
    uint64_t n;
};

/* Keep P with what it points to, if it is an error. */
void cli_damages_note(struct cli_damages *d, const struct trod_problem *p);

/*
 * What the rows of analysis ITEM of RUN, which is "check" and had the option schedule, do not tell
 * becomes findings, too: the schedule files beside the trace, what D has, and what DIAG only
 * counted. Returns 0 or TROD_ERR_NOMEM.
 */
int cli_check_complete(const struct cli_damages *d, const struct trod_run *run, size_t item,
                       const struct trod_diag *diag);

void cli_damages_fini(struct cli_damages *d);

#endif
