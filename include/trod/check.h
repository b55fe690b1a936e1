/*
 * check.h - is a trace what its format says it should be?
 *
 * The analysis "check" (trod_analysis_find("check", 5)) applies the rules of a trace's format to
 * its rows. Rules have stable names, a severity and a reference; all findings are counted, and the
 * first ones of each rule are kept. Implements docs/checking.md: the semantic invariants of
 * drmemtrace, and for the other formats what follows from their specifications.
 */
#ifndef TROD_CHECK_H
#define TROD_CHECK_H

#include "trod/analysis.h"
#include "trod/diag.h"
#include "trod/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

enum trod_rule_severity { TROD_RULE_NOTE, TROD_RULE_WARNING, TROD_RULE_ERROR };

/* Formats a rule is for: bits. */
enum trod_rule_family {
    TROD_RULE_DRMEMTRACE = 1 << 0,
    TROD_RULE_TARMAC = 1 << 1,
    TROD_RULE_MATCHER = 1 << 2,
    TROD_RULE_TT6 = 1 << 3, /* TT6 and TT6E */
    TROD_RULE_FULL = 1 << 4,
    TROD_RULE_BYU6 = 1 << 5,
    TROD_RULE_BYU12 = 1 << 6,
    TROD_RULE_ANY = (1 << 7) - 1
};

struct trod_rule {
    const char *id; /* "drm.pc-continuity" */
    enum trod_rule_severity severity;
    unsigned families;
    const char *text;   /* what is true of a trace that obeys the rule */
    const char *source; /* document and section */
};

/* Rule I, NULL past the last; the rule called ID (LEN bytes), NULL if none. */
const struct trod_rule *trod_rule_at(size_t i);
const struct trod_rule *trod_rule_find(const char *id, size_t len);
/* "note", "warning", "error". */
const char *trod_rule_severity_name(unsigned severity);
/* The family of FORMAT (its name), 0 if there are no rules for it but those for all. */
unsigned trod_rule_family(const char *format);

enum { TROD_CHECK_TEXT = 96, TROD_CHECK_MESSAGE = 200 };

/* Options of the analysis. */
struct trod_check_options {
    size_t struct_size;          /* sizeof the struct; 0 stands for its size in version 0 */
    struct trod_list only, skip; /* ids of rules, or their beginnings ("drm.") */
    uint64_t keep;               /* findings kept of each rule; 0: 20 */
    bool merged;       /* rows of several files come in turns (no file order): a file does not end
                          when another begins, and offsets and lines of findings are not known */
    bool schedule;     /* keep what schedule files should say, for trod_check_schedule */
    const char *where; /* findings at rows for which this expression (trod/where.h) does not hold
                          are not counted; row is the number in the file. NULL: all are */
};

/*
 * Check OPT before a run: every name in only and skip selects a rule, and where is an expression.
 * Returns 0, TROD_ERR_USAGE (it is not so, or OPT is of another version; reported) or
 * TROD_ERR_NOMEM. The analysis refuses such options, too.
 */
int trod_check_options_valid(const struct trod_check_options *opt, struct trod_diag *diag);

/* One finding that was kept. Numbers that are not known are TROD_NOWHERE. */
struct trod_finding {
    const struct trod_rule *rule;
    uint64_t ordinal; /* record: the row in its file, from 0 */
    uint64_t offset;  /* byte of the record in the decoded file */
    uint64_t line;    /* line of a text format, from 1 */
    uint32_t file;    /* number of the file in the trace */
    char stream[32];  /* thread or cpu, empty where there is none */
    char message[TROD_CHECK_MESSAGE];
    char text[TROD_CHECK_TEXT]; /* the record, where it is text */
};

/*
 * Findings in ST, a state of the analysis "check" (trod_run_state): the number for RULE, and kept
 * finding I of all rules, NULL past the last. Those that only the end of a stream shows are there
 * once the run is over.
 */
uint64_t trod_check_count(const void *st, const struct trod_rule *rule);
const struct trod_finding *trod_check_finding(const void *st, size_t i);
/* Findings at or above SEVERITY. */
uint64_t trod_check_total(const void *st, enum trod_rule_severity severity);

/*
 * Count problem P, which the reader met N times in file FILE (UINT32_MAX: not known), as N findings
 * of the rule read.damaged. Nothing is counted for notes and warnings, or where another rule
 * reports the same fact from the rows. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_check_problem(void *st, const struct trod_problem *p, uint32_t file, uint64_t n);

/*
 * Compare the N entries of the schedule file PATH (SERIAL: that of all cpus, else that by cpu) with
 * the trace, all of which has been fed: rules schedule.serial and schedule.cpu. Consecutive entries
 * of one thread may be joined into one. Nothing is checked of a file without entries or of a
 * core-sharded trace. The option schedule must have been set. Returns 0 or TROD_ERR_NOMEM.
 */
int trod_check_schedule(void *st, bool serial, const struct trod_schedule_entry *entry, size_t n,
                        const char *path);

#ifdef __cplusplus
}
#endif

#endif
