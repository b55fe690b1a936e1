/*
 * findings.h - findings of `trod check` as text, JSON, CSV and JUnit.
 */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include "cli.h"
#include "trod/check.h"

/* What is printed. */
struct cli_findings {
    const struct trod_trace *trace;
    const void *state; /* of the analysis "check" */
    int severity;      /* from which on a finding is a failure */
    bool colour;
    unsigned fold; /* columns that lines are folded to; 0: not */
    bool partial;  /* reading was stopped before the end */
};

void cli_findings_text(const struct cli_findings *f, FILE *to);
/* JSON or CSV: a table of the findings, then one of the rules. */
void cli_findings_emit(const struct cli_findings *f, struct trod_emit *e);
/* Every rule of the format is a test case. */
void cli_findings_junit(const struct cli_findings *f, FILE *to);
/* All rules there are. */
void cli_rules_emit(struct trod_emit *e);

#endif
