/*
 * damages.c - problems of the reader as findings (damages.h).
 */
#include "damages.h"

#include <stdlib.h>
#include <string.h>

enum { DAMAGES = 1000 };

void cli_damages_note(struct cli_damages *d, const struct trod_problem *p)
{
    struct cli_damage *to;

    if (p->severity != TROD_SEV_ERROR)
        return;
    if (!d->damage)
        d->damage = calloc(DAMAGES, sizeof *d->damage);
    if (!d->damage || d->n >= DAMAGES)
        return;
    to = &d->damage[d->n++];
    to->problem = *p;
    snprintf(to->path, sizeof to->path, "%s", p->at.path ? p->at.path : "");
    snprintf(to->message, sizeof to->message, "%s", p->message);
    if (p->at.text_len > sizeof to->text)
        to->problem.at.text_len = sizeof to->text;
    if (p->at.text && p->at.text_len)
        memcpy(to->text, p->at.text, to->problem.at.text_len);
    to->problem.at.text = to->text;
    to->problem.at.path = to->path;
    to->problem.message = to->message;
}

static uint32_t file_called(const struct trod_trace *t, const char *path)
{
    for (size_t i = 0; i < trod_trace_files(t); i++)
        if (strcmp(trod_trace_path(t, i), path) == 0)
            return (uint32_t)i;
    return UINT32_MAX;
}

/* What D and the counts of DIAG say goes to the findings of ITEM. 0 or TROD_ERR_NOMEM. */
static int add(const struct cli_damages *d, const struct trod_run *run, size_t item,
               const struct trod_diag *diag)
{
    void *st = trod_run_state(run, item);
    int r = TROD_OK;

    for (uint64_t i = 0; r == TROD_OK && i < d->n; i++)
        r = trod_check_problem(st, &d->damage[i].problem,
                               file_called(trod_run_trace(run), d->damage[i].path), 1);
    for (uint32_t i = 0; r == TROD_OK && i < diag->n_counts; i++) {
        const struct trod_diag_count *count = &diag->counts[i];
        struct trod_problem p = {.severity = count->severity,
                                 .kind = count->kind,
                                 .message = "more of the same kind",
                                 .at = trod_place_path(NULL)};
        uint64_t listed = 0;

        for (uint64_t j = 0; j < d->n; j++)
            listed += strcmp(d->damage[j].problem.kind, count->kind) == 0;
        r = trod_check_problem(st, &p, UINT32_MAX, count->n - listed);
    }
    return r;
}

/* The schedule files beside the trace are held against what ITEM found. 0 or an error. */
static int check_schedules(const struct trod_run *run, size_t item, struct trod_diag *diag)
{
    int r = TROD_OK;

    for (int serial = 1; r >= 0 && serial >= 0; serial--) {
        struct trod_schedule_entry *entry = NULL;
        const char *path;
        size_t n;

        r = trod_trace_schedule(trod_run_trace(run), serial, &entry, &n, &path, diag);
        if (r == 1)
            r = trod_check_schedule(trod_run_state(run, item), serial, entry, n, path);
        free(entry);
        if (r != TROD_ERR_NOMEM)
            r = TROD_OK; /* what cannot be read is reported as damage */
    }
    return r;
}

int cli_check_complete(const struct cli_damages *d, const struct trod_run *run, size_t item,
                       const struct trod_diag *diag)
{
    struct trod_diag copy = *diag;
    uint32_t n = 0;
    int r;

    /* what the trace lacks for others is no damage */
    for (uint32_t j = 0; j < diag->n_counts; j++)
        if (strcmp(diag->counts[j].kind, "run.columns") != 0)
            copy.counts[n++] = diag->counts[j];
    copy.n_counts = n;
    r = check_schedules(run, item, &copy);
    return r == 0 ? add(d, run, item, &copy) : r;
}

void cli_damages_fini(struct cli_damages *d)
{
    free(d->damage);
}
