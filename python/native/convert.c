/*
 * convert.c - a trace, or part of one, into a format: what `trod convert` does.
 */
#include "native.h"

#include <string.h>
#include <unistd.h>

struct converting {
    struct py_problems problems;
    struct py_args args;
    struct trod_trace *trace;
    struct trod_match *match;
    struct trod_writer *writer;
    uint64_t kept;
    const char *to;
};

/* OUT is nothing that is read: the trace would be lost. */
static int apart(struct converting *v, const char *out)
{
    if (strcmp(out, "-") == 0 || access(out, F_OK) != 0)
        return TROD_OK;
    return trod_trace_reads(v->args.path, v->args.n_paths, out)
               ? trod_error(&v->problems.diag, TROD_ERR_USAGE, "convert.same-file", NULL,
                            "'%s' is input and output at once", out)
               : TROD_OK;
}

static int open_all(struct converting *v, const char *out, PyObject *options)
{
    struct trod_trace_options topt;
    struct trod_writer_options w = {.struct_size = sizeof w};
    const struct trod_format *f;
    uint64_t level;
    int r;

    if (py_trace_options(&topt, options) < 0 || py_option_number(options, "level", &level) < 0)
        return TROD_ERR_USAGE;
    r = apart(v, out);
    if (r == 0)
        r = trod_match_new(&v->match, &v->args.filter, &v->problems.diag);
    if (r == 0) {
        topt.want = 0;
        topt.batch_rows = trod_match_rows(v->match);
        r = trod_trace_open(&v->trace, v->args.path, v->args.n_paths, &topt, &v->problems.diag);
    }
    if (r < 0)
        return r;
    v->to = py_option_text(options, "to");
    f = trod_trace_format(v->trace);
    if (!v->to) {
        r = trod_format_by_name(&f, out, f, trod_trace_path(v->trace, 0), &v->problems.diag);
        if (r < 0)
            return r;
        v->to = f->name;
    }
    w.to = v->to;
    w.output.compress = py_option_text(options, "compress");
    w.output.level = level > 99 ? 99 : (int)level;
    w.allow_loss = py_option_true(options, "allow_loss");
    w.drops = trod_match_drops(v->match);
    w.source = trod_trace_format(v->trace);
    w.source_options = trod_trace_format_options(v->trace);
    r = trod_writer_open(&v->writer, out, &w, trod_trace_meta(v->trace), &v->problems.diag);
    if (r == 0)
        trod_trace_want(v->trace, trod_writer_want(v->writer) | trod_match_want(v->match));
    return r;
}

/* Some batches: 1 when there are more. */
static int copy(struct converting *v)
{
    struct trod_batch *b;
    int r = 1;

    for (int i = 0; r == 1 && i < 256; i++) {
        int n;

        r = trod_trace_next(v->trace, &b);
        if (r <= 0)
            return r;
        n = trod_match_batch(v->match, b);
        if (n < 0)
            return n;
        v->kept += (uint64_t)n;
        r = (uint32_t)n == b->n ? trod_writer_put(v->writer, b)
                                : trod_writer_put_some(v->writer, b, trod_match_keep(v->match));
        if (r == 0)
            r = !trod_match_done(v->match);
    }
    return r;
}

static PyObject *summary(const struct converting *v, const struct trod_writer_summary *sum)
{
    return Py_BuildValue(
        "{s:s,s:s,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:N,s:N}", "from", trod_trace_format(v->trace)->name,
        "to", v->to, "rows_read", (unsigned long long)trod_match_seen(v->match), "rows_chosen",
        (unsigned long long)v->kept, "rows_lost", (unsigned long long)trod_loss_rows(&sum->loss),
        "rows_copied_verbatim", (unsigned long long)sum->copied, "bytes",
        (unsigned long long)sum->bytes, "files", (unsigned long long)sum->files, "errors",
        (unsigned long long)v->problems.diag.errors, "lost", py_loss(&sum->loss), "problems",
        py_problems_list(&v->problems));
}

static PyObject *go(struct converting *v, const char *out, PyObject *options)
{
    struct trod_writer_summary sum;
    int r, end;

    memset(&sum, 0, sizeof sum);
    r = open_all(v, out, options);
    if (r < 0)
        return py_raise(&v->problems, r);
    do {
        Py_BEGIN_ALLOW_THREADS
        r = copy(v);
        Py_END_ALLOW_THREADS
    } while (r == 1 && PyErr_CheckSignals() == 0);
    /* damage in the input does not keep what was read from being written */
    if (PyErr_Occurred() || r == TROD_ERR_NOMEM || r == TROD_ERR_LOSS || r == TROD_ERR_USAGE ||
        (r < 0 && v->problems.diag.strict)) {
        trod_writer_discard(v->writer);
        return py_raise(&v->problems, r);
    }
    end = trod_writer_commit(v->writer, &sum);
    return end < 0 ? py_raise(&v->problems, end) : summary(v, &sum);
}

/* (paths, filter, options, out) -> summary */
PyObject *py_convert(PyObject *module, PyObject *args)
{
    struct converting v = {.kept = 0};
    PyObject *paths, *filters, *options, *done = NULL;
    const char *out;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!y", &PyList_Type, &paths, &PyList_Type, &filters,
                          &PyDict_Type, &options, &out))
        return NULL;
    py_problems_init(&v.problems, py_option_true(options, "strict"));
    if (py_args_init(&v.args, paths, filters, &v.problems) == 0)
        done = go(&v, out, options);
    trod_trace_close(v.trace);
    trod_match_free(v.match);
    py_args_fini(&v.args);
    py_problems_fini(&v.problems);
    return done;
}
