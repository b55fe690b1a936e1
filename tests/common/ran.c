/*
 * ran.c - implements ran.h.
 */
#include "ran.h"

#include "testlib.h"
#include "trod/buf.h"

#include <stdio.h>
#include <stdlib.h>

/* Fails unless RC, of WHAT, says that all went well. */
static void well(int rc, const char *what)
{
    if (rc != TROD_OK)
        test_die("%s", what);
}

char *test_found(const struct trod_run *run, size_t n)
{
    const struct trod_emit_options json = {.format = TROD_EMIT_JSON};
    struct trod_result *r;
    struct trod_emit *e;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        test_die("out of memory");
    well(trod_result_new(&r), "a result cannot be made");
    for (size_t i = 0; i < n; i++) {
        trod_result_open(r, i ? "next" : "first", NULL);
        well(trod_run_result(run, i, r), "a run has no result");
        trod_result_close(r);
    }
    well(trod_emit_new(&e, out, &json), "a result cannot be printed");
    trod_result_emit(r, e);
    well(trod_emit_free(e), "a result was not printed");
    trod_result_free(r);
    fclose(out);
    return text;
}

static void note(void *user, const struct trod_problem *p)
{
    const struct trod_place *at = &p->at;

    well(trod_buf_printf(user, "%s %s %llu %llu %llu %.*s: %s\n", p->kind,
                         at->path ? at->path : "-", (unsigned long long)at->offset,
                         (unsigned long long)at->line, (unsigned long long)at->record,
                         at->text ? (int)at->text_len : 0, at->text ? (const char *)at->text : "",
                         p->message),
         "out of memory");
}

char *test_ran(const char *const *paths, size_t n_paths, const struct trod_run_options *opt,
               const struct trod_analysis *const *what, size_t n)
{
    struct trod_buf text = {0};
    struct trod_diag diag;
    struct trod_run *run;
    size_t added = 0;

    trod_diag_init(&diag, note, &text);
    if (trod_run_open(&run, paths, n_paths, opt, &diag) < 0) {
        trod_buf_fini(&text);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        added += trod_run_add(run, what[i], what[i]->defaults) >= 0;
    if (added) {
        const int rc = trod_run_go(run);
        char *json = test_found(run, added);

        well(trod_buf_printf(&text, "ends with %d\n%s", rc, json), "out of memory");
        free(json);
    }
    trod_run_free(run);
    if (!added)
        trod_buf_fini(&text);
    return (char *)text.p; /* NULL without any */
}

void test_merge_part(struct trod_run *all, const struct trod_run *part)
{
    struct trod_buf state = {0};

    well(trod_run_save(part, &state), "a part cannot be saved");
    well(trod_run_merge(all, (struct trod_span){.p = state.p, .n = state.n, .last = true}),
         "a part cannot be merged");
    trod_buf_fini(&state);
}

bool test_refused(const char *path, const char *from)
{
    const struct trod_run_options opt = {.jobs = 2, .trace = {.from = from}};
    struct trod_run *run;
    const bool opens = trod_run_open(&run, &path, 1, &opt, NULL) == TROD_OK;

    if (opens)
        trod_run_free(run);
    return !opens;
}
