/*
 * ran.c - implements ran.h.
 */
#include "ran.h"

#include "testlib.h"
#include "trod/buf.h"

#include <stdio.h>

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
