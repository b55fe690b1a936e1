/*
 * reporting.c - one pass of many analyses over a trace, for `trod report` (reporting.h), and where
 * sync needs another order of the rows than the others one more for it.
 *
 * An analysis that the trace has too little for is left out, and the report says why. What the
 * reader met is reported on standard error as usual, and kept for the report.
 */
#include "reporting.h"

#include <stdlib.h>
#include <string.h>

/* ---- problems */

static void put_number(struct trod_result *r, uint64_t v)
{
    if (v == TROD_NOWHERE)
        trod_result_absent(r);
    else
        trod_result_u64(r, NULL, v);
}

static void problem(void *user, const struct trod_problem *p)
{
    static const char *const names[] = {"note", "warning", "error"};
    struct cli_reporting *k = user;

    if (strcmp(p->kind, "run.columns") == 0) { /* what the trace lacks is no problem */
        snprintf(k->last, sizeof k->last, "%s", p->message);
        k->refused++;
        return;
    }
    if (k->in_sync && strncmp(p->kind, "sync.", 5) != 0 && strcmp(p->kind, "run.interrupted") != 0)
        return; /* the pass of all other analyses said it */
    k->errors += k->in_sync && p->severity == TROD_SEV_ERROR;
    k->warnings += k->in_sync && p->severity == TROD_SEV_WARNING;
    k->unread |= p->status == TROD_ERR_IO;
    if (!k->in_sync)
        cli_damages_note(&k->damages, p);
    k->print.sink(k->print.user, p);
    if (k->n_problems++ >= CLI_REPORT_PROBLEMS)
        return;
    trod_result_str(k->problems, NULL, names[p->severity]);
    trod_result_str(k->problems, NULL, p->kind);
    if (p->at.path)
        trod_result_str(k->problems, NULL, p->at.path);
    else
        trod_result_absent(k->problems);
    put_number(k->problems, p->at.offset);
    put_number(k->problems, p->at.line);
    trod_result_str(k->problems, NULL, p->message);
    trod_result_row_end(k->problems);
}

static int problems_begin(struct cli_reporting *k)
{
    static const struct trod_result_column columns[] = {
        {"severity", TROD_COLUMN_PLAIN, NULL, NULL}, {"kind", TROD_COLUMN_KEY, NULL, NULL},
        {"file", TROD_COLUMN_PLAIN, NULL, NULL},     {"offset", TROD_COLUMN_PLAIN, "bytes", NULL},
        {"line", TROD_COLUMN_PLAIN, NULL, NULL},     {"message", TROD_COLUMN_PLAIN, NULL, NULL},
    };
    int r = trod_result_new(&k->problems);

    if (r == 0)
        trod_result_table(k->problems, "problems", "what could not be read as it should be",
                          columns, 6);
    return r;
}

static int problems_end(struct cli_reporting *k)
{
    trod_result_table_close(k->problems);
    if (k->rc == 0)
        k->rc = trod_result_status(k->problems);
    if (k->rc == 0 && k->n_problems)
        trod_result_add(k->trace, k->problems);
    return k->rc;
}

/* ---- what the trace is */

static void put_meta(struct trod_result *r, const struct trod_trace *t)
{
    static const char *const endians[] = {NULL, "little", "big"};
    const struct trod_meta *m = trod_trace_meta(t);
    const struct trod_format *f = trod_trace_format(t);

    if (f) {
        trod_result_str(r, "format", f->name);
        trod_result_str(r, "title", f->title);
    }
    if (m->dialect)
        trod_result_str(r, "dialect", m->dialect);
    if (m->version)
        trod_result_u64(r, "version", m->version);
    if (m->bits >= 0) {
        trod_result_u64(r, "evidence_bits", (uint64_t)m->bits);
        trod_result_describe(r, NULL, "other data would pass as this format once in 2^N");
    }
    if (m->isa != TROD_ISA_UNKNOWN)
        trod_result_str(r, "isa", trod_isa_name(m->isa));
    if (endians[m->endian])
        trod_result_str(r, "endian", endians[m->endian]);
    if (m->addr_bits)
        trod_result_u64(r, "address_bits", m->addr_bits);
    if (!m->filetype || !f || !f->filetype_name)
        return;
    trod_result_list(r, "filetype_bits", "type of the files");
    for (unsigned i = 0; i < 64; i++)
        if ((m->filetype >> i & 1) && f->filetype_name(i))
            trod_result_str(r, NULL, f->filetype_name(i));
    trod_result_list_close(r);
}

static void put_bytes(struct trod_result *r, const char *key, uint64_t v)
{
    trod_result_u64(r, key, v);
    trod_result_describe(r, "bytes", NULL);
}

static void put_files(struct trod_result *r, const struct trod_trace *t)
{
    static const struct trod_result_column columns[] = {
        {"file", TROD_COLUMN_KEY, NULL, NULL},
        {"file_bytes", TROD_COLUMN_MEASURE, "bytes", NULL},
    };

    trod_result_table(r, "files", "files", columns, 2);
    for (size_t i = 0; i < trod_trace_files(t); i++) {
        trod_result_str(r, NULL, trod_trace_path(t, i));
        put_number(r, trod_trace_bytes(t, i));
        trod_result_row_end(r);
    }
    trod_result_table_close(r);
}

/* What RUN has read of the trace, and with it DIAG reported; RC: how the reading ended. */
static int put_trace(struct cli_reporting *k, const struct trod_run *run,
                     const struct trod_diag *diag, int rc)
{
    const struct trod_trace *t = trod_run_trace(run);
    struct trod_result *r = k->trace;
    struct trod_trace_progress p;

    k->whole = rc >= 0;
    k->errors = diag->errors - k->refused;
    k->warnings = diag->warnings;
    put_meta(r, t);
    trod_trace_progress(t, &p);
    trod_run_progress((struct trod_run *)(uintptr_t)run, &p);
    if (p.total != TROD_NOWHERE || p.bytes)
        put_bytes(r, "file_bytes", p.total != TROD_NOWHERE ? p.total : p.bytes);
    put_bytes(r, "decoded_bytes", p.decoded);
    if (p.skipped && p.skipped != TROD_NOWHERE)
        put_bytes(r, "skipped_bytes", p.skipped);
    put_files(r, t);
    return trod_result_status(r);
}

/* Whether all could be read, in both passes where there are two. */
static void put_state(const struct cli_reporting *k, struct trod_result *r)
{
    trod_result_bool(r, "complete", k->whole && !k->stopped && !k->errors);
    trod_result_describe(r, NULL, "read to its end, and without an error");
    if (k->stopped)
        trod_result_bool(r, "partial", true);
    if (!k->found)
        return;
    trod_result_u64(r, "errors", k->errors);
    trod_result_u64(r, "warnings", k->warnings);
}

/* ---- the run */

static bool is_sync(const struct trod_analysis *a)
{
    return strcmp(a->name, "sync") == 0;
}

/* Has a file of format F its threads one after the other, and records of what orders them? */
static bool in_threads(const struct trod_format *f)
{
    return f && trod_rule_family(f->name) == TROD_RULE_TT6;
}

/* Why analysis I has no result. */
static int leave_out(struct cli_reporting *k, size_t i, const char *why)
{
    k->number[i] = TROD_ERR_UNSUPPORTED;
    k->reason[i] = strdup(why);
    return k->reason[i] ? 0 : TROD_ERR_NOMEM;
}

static int add(void *user, size_t i, struct trod_run *run, bool lacks)
{
    struct cli_reporting *k = user;
    const struct trod_analysis *a = k->item[i].analysis;
    const struct trod_format *f = trod_trace_format(trod_run_trace(run));

    if (k->apart && is_sync(a) != k->in_sync) {
        k->number[i] = TROD_ERR_UNSUPPORTED; /* in this pass */
        return 0;
    }
    if (cli_lacks(f, a->name, k->last, sizeof k->last))
        return leave_out(k, i, k->last);
    if (lacks) {
        snprintf(k->last, sizeof k->last,
                 "analysis '%s' looks at all records of a trace, of which some were chosen",
                 a->name);
        return leave_out(k, i, k->last);
    }
    if (k->once && is_sync(a) && in_threads(f))
        return leave_out(k, i,
                         "a pipe is read once, and sync needs another order of the rows than the "
                         "other analyses: use --order sync, which all take then, or name a file");
    k->number[i] = trod_run_add(run, a, k->item[i].options);
    if (k->number[i] == TROD_ERR_UNSUPPORTED)
        return leave_out(k, i, k->last);
    return k->number[i] < 0 ? k->number[i] : 0;
}

static int found(void *user, const struct trod_run *run, const struct trod_diag *diag, int rc)
{
    struct cli_reporting *k = user;
    int r = 0;

    if (rc == TROD_ERR_NOMEM || rc == TROD_ERR_USAGE) {
        k->rc = rc;
        return rc;
    }
    k->found = true;
    k->stopped |= trod_run_stopped(run);
    for (size_t i = 0; r >= 0 && i < k->n; i++) {
        if (k->number[i] < 0)
            continue;
        if (strcmp(k->item[i].analysis->name, "check") == 0)
            r = cli_check_complete(&k->damages, run, (size_t)k->number[i], diag);
        if (r >= 0)
            r = trod_result_new(&k->part[i]);
        if (r >= 0)
            r = trod_run_result(run, (size_t)k->number[i], k->part[i]);
    }
    k->rc = r < 0 || k->in_sync ? r : put_trace(k, run, diag, rc);
    return k->rc;
}

/*
 * Look at the trace before it is read: how many files it has decides how `check` numbers records,
 * and in what order threads come, which of one file is of use to sync alone; the format may have an
 * analysis of its own.
 */
static void probe(struct cli_reporting *k, const struct cli_analyse *o, struct cli_input *input,
                  struct trod_check_options *check)
{
    const struct trod_trace_options opt = {.from = o->input.from};
    const struct trod_format *f;
    struct trod_trace *t;

    check->merged = input->order > TROD_ORDER_FILE;
    for (size_t i = 0; i < k->c->n_operands; i++)
        if (cli_once_only(k->c->operands[i])) {
            k->once = input->order < 0;
            return;
        }
    if (trod_trace_open(&t, k->c->operands, k->c->n_operands, &opt, NULL) < 0)
        return;
    f = trod_trace_format(t);
    if (trod_trace_files(t) > 1) {
        if (input->order < 0)
            input->order = in_threads(f) ? TROD_ORDER_SYNC : TROD_ORDER_TIME;
        check->merged = input->order != TROD_ORDER_FILE;
    } else {
        for (size_t i = 0; i < k->n && input->order < 0; i++)
            k->apart |= is_sync(k->item[i].analysis) && in_threads(f);
    }
    if (f && f->info && k->n < TROD_RUN_ITEMS)
        k->item[k->n++] = (struct cli_planned){f->info, f->info->defaults};
    trod_trace_close(t);
}

/* Sync of one file whose threads follow each other, in a second pass in the order of sync. */
static int read_in_order(struct cli_reporting *k, const struct cli_analyse *o,
                         const struct cli_parts *parts)
{
    struct cli_analyse in_order = *o;
    int r = 0;

    if (k->stopped) {
        for (size_t i = 0; r == 0 && i < k->n; i++)
            if (is_sync(k->item[i].analysis))
                r = leave_out(k, i, "interrupted before the trace was read for it");
        return r;
    }
    in_order.input.order = TROD_ORDER_SYNC;
    k->in_sync = true;
    cli_analyse(k->c, &in_order, k->item, k->n, parts);
    k->in_sync = false;
    return k->rc;
}

int cli_reporting_read(struct cli_reporting *k, struct cli *c, const struct cli_analyse *o,
                       const struct cli_plan *plan)
{
    const struct cli_share share = {.problem = problem, .add = add, .found = found, .user = k};
    const struct cli_parts parts = {.share = &share};
    struct trod_check_options check = {.struct_size = sizeof check};
    struct cli_analyse own = *o;

    *k = (struct cli_reporting){.c = c, .plan = plan, .n = plan->n};
    cli_diag_init(c, &k->print);
    for (size_t i = 0; i < plan->n; i++) {
        k->item[i] = plan->item[i];
        if (strcmp(plan->item[i].analysis->name, "check") != 0)
            continue;
        memcpy(&check, plan->item[i].options, sizeof check);
        check.schedule = true;
        k->item[i].options = &check;
    }
    probe(k, o, &own.input, &check);
    if (trod_result_new(&k->trace) < 0 || problems_begin(k) < 0)
        return TROD_ERR_NOMEM;
    cli_analyse(c, &own, k->item, k->n, &parts);
    if (k->rc == 0 && k->apart && k->found)
        k->rc = read_in_order(k, &own, &parts);
    if (k->rc == 0 && !k->found && k->unread)
        k->rc = TROD_ERR_IO;
    return problems_end(k);
}

int cli_reporting_stop(struct cli_reporting *k, struct cli *c, const char *path)
{
    const struct trod_place at = trod_place_path(path);
    struct trod_diag diag;

    *k = (struct cli_reporting){.c = c, .stopped = true};
    cli_diag_init(c, &k->print);
    if (trod_result_new(&k->trace) < 0 || problems_begin(k) < 0)
        return TROD_ERR_NOMEM;
    trod_diag_init(&diag, problem, k);
    trod_warning(&diag, TROD_ERR_TRUNCATED, "run.interrupted", &at, "interrupted: not read");
    return problems_end(k);
}

/* ---- what it is for */

int cli_reporting_put(const struct cli_reporting *k, struct trod_result *r)
{
    trod_result_open(r, "trace", "what was read, and whether all of it could be");
    put_state(k, r);
    trod_result_add(r, k->trace);
    trod_result_close(r);
    for (size_t i = 0; i < k->n; i++) {
        if (!k->part[i] && !k->reason[i])
            continue;
        trod_result_open(r, k->item[i].analysis->name, k->item[i].analysis->title);
        if (k->part[i])
            trod_result_add(r, k->part[i]);
        else
            trod_result_str(r, "absent", k->reason[i]);
        trod_result_close(r);
    }
    return trod_result_status(r);
}

/* What analysis A of K found, or NULL. */
static const struct trod_result *part_of(const struct cli_reporting *k,
                                         const struct trod_analysis *a)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->item[i].analysis == a)
            return k->part[i];
    return NULL;
}

int cli_reporting_differences(const struct cli_reporting *a, const struct cli_reporting *b,
                              struct trod_result *r)
{
    const struct trod_result_diff_options opt = {.struct_size = sizeof opt};
    int status = 0;

    trod_result_open(r, "differences", "of the second trace from the first");
    for (size_t i = 0; status == 0 && i < a->n; i++) {
        const struct trod_result *other = part_of(b, a->item[i].analysis);
        uint64_t different;

        if (!a->part[i] || !other)
            continue;
        trod_result_open(r, a->item[i].analysis->name, a->item[i].analysis->name);
        status = trod_result_diff(a->part[i], other, &opt, r, &different);
        trod_result_close(r);
    }
    trod_result_close(r);
    return status;
}

void cli_reporting_fini(struct cli_reporting *k)
{
    for (size_t i = 0; i <= TROD_RUN_ITEMS; i++) {
        trod_result_free(k->part[i]);
        free(k->reason[i]);
    }
    trod_result_free(k->trace);
    trod_result_free(k->problems);
    cli_damages_fini(&k->damages);
}
