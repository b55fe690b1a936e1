/*
 * run.c - analyses over a trace.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

struct running {
    struct py_problems problems;
    struct py_args args;
    struct trod_match *match;
    struct trod_run *run;
    const struct trod_analysis *analysis[TROD_RUN_ITEMS];
    void *options[TROD_RUN_ITEMS];
    size_t n;
    volatile bool stop;
};

/* Now and then on the thread that runs: Ctrl-C ends the run. */
static void progress(void *user, const struct trod_trace_progress *p)
{
    struct running *r = user;
    const PyGILState_STATE state = PyGILState_Ensure();

    (void)p;
    if (PyErr_CheckSignals() < 0)
        r->stop = true;
    PyGILState_Release(state);
}

static int filter(void *user, struct trod_batch *b)
{
    struct running *r = user;
    const int n = trod_match_batch(r->match, b);

    if (n < 0)
        return n;
    trod_batch_keep(b, trod_match_keep(r->match));
    return !trod_match_done(r->match);
}

static int take_options(struct trod_run_options *o, PyObject *options)
{
    uint64_t jobs, in, *const number[] = {&o->interval, &o->region_from, &o->region_to, &o->warmup};
    static const char *const name[] = {"interval", "region_from", "region_to", "warmup"};
    enum trod_measure *const measure[] = {&o->interval_in, &o->region_in, NULL, &o->warmup_in};

    if (py_trace_options(&o->trace, options) < 0 || py_option_number(options, "jobs", &jobs) < 0)
        return -1;
    o->jobs = jobs < TROD_RUN_JOBS ? (unsigned)jobs : TROD_RUN_JOBS;
    o->by_stream = py_option_true(options, "by_thread");
    for (int i = 0; i < 4; i++) {
        char key[32];

        PyOS_snprintf(key, sizeof key, "%s_in", name[i]);
        if (py_option_number(options, name[i], number[i]) < 0 ||
            py_option_number(options, key, &in) < 0)
            return -1;
        if (measure[i])
            *measure[i] = (enum trod_measure)in;
        if (*number[i] && in == TROD_IN_TIME)
            o->trace.want |= TROD_COL_TIME;
    }
    return 0;
}

/* What A with options O wants of the order of the rows, where nobody named one. */
static void take_order(struct trod_trace_options *t, const struct trod_analysis *a, const void *o,
                       bool named)
{
    const bool timed = a->timed_of ? a->timed_of(o) : a->timed;

    t->idle = t->idle || a->idle;
    if (timed && !named)
        t->order = TROD_ORDER_TIME;
}

static const struct trod_analysis *find(struct running *r, PyObject *item, const char **spec)
{
    const struct trod_analysis *a;
    const char *name;

    if (!PyArg_ParseTuple(item, "sz", &name, spec))
        return NULL;
    a = trod_analysis_find(name, strlen(name));
    if (!a)
        PyErr_Format(PyExc_ValueError, "no analysis is called '%s'", name);
    else if (r->n == TROD_RUN_ITEMS)
        PyErr_Format(PyExc_ValueError, "more than %d analyses in one run", TROD_RUN_ITEMS);
    return PyErr_Occurred() ? NULL : a;
}

/* An analysis and its options, kept in R. */
static int plan(struct running *r, PyObject *item)
{
    const char *spec;
    const struct trod_analysis *a = find(r, item, &spec);
    char *text;
    void *o;
    int rc;

    if (!a)
        return -1;
    o = calloc(1, a->options_size + 1);
    if (!o) {
        PyErr_NoMemory();
        return -1;
    }
    r->analysis[r->n] = a;
    r->options[r->n++] = o;
    if (a->defaults)
        memcpy(o, a->defaults, a->options_size);
    if (spec && *spec) {
        if (!a->options) {
            PyErr_Format(PyExc_ValueError, "analysis '%s' has no options", a->name);
            return -1;
        }
        if (!(text = py_args_keep(&r->args, spec)))
            return -1;
        rc = trod_option_spec(a->options, o, text, &r->problems.diag);
        if (rc < 0) {
            py_raise(&r->problems, rc);
            return -1;
        }
    }
    return 0;
}

static int open_run(struct running *r, PyObject *analyses, PyObject *options)
{
    struct trod_run_options o = {.struct_size = sizeof o, .progress = progress, .user = r};
    const bool named = PyDict_GetItemString(options, "order") != NULL;
    int rc;

    if (take_options(&o, options) < 0)
        return -1;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(analyses); i++) {
        if (plan(r, PyList_GET_ITEM(analyses, i)) < 0)
            return -1;
        take_order(&o.trace, r->analysis[i], r->options[i], named);
    }
    rc = trod_match_new(&r->match, &r->args.filter, &r->problems.diag);
    if (rc == 0) {
        o.trace.want |= TROD_COL_KIND | trod_match_want(r->match);
        o.symbols = trod_match_symbols(r->match);
        o.stop = &r->stop;
        if (!trod_match_all(r->match))
            o.filter = filter;
        Py_BEGIN_ALLOW_THREADS
        rc = trod_run_open(&r->run, r->args.path, r->args.n_paths, &o, &r->problems.diag);
        Py_END_ALLOW_THREADS
    }
    for (size_t i = 0; rc == 0 && i < r->n; i++) {
        rc = trod_run_add(r->run, r->analysis[i], r->options[i]);
        rc = rc < 0 ? rc : 0;
    }
    if (rc < 0)
        py_raise(&r->problems, rc);
    return rc < 0 ? -1 : 0;
}

/* What analysis I found, or NULL. */
static PyObject *found(struct running *r, size_t i)
{
    struct trod_result *result;
    PyObject *o = NULL;
    int rc = trod_result_new(&result);

    if (rc == 0)
        rc = trod_run_result(r->run, i, result);
    if (rc == 0)
        rc = trod_result_status(result);
    if (rc == 0)
        o = py_result(trod_result_root(result));
    else
        py_raise(&r->problems, rc);
    trod_result_free(result);
    return o;
}

static PyObject *results(struct running *r)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < r->n; i++) {
        PyObject *o = found(r, i);

        if (!o || PyList_Append(list, o) < 0)
            Py_CLEAR(list);
        Py_XDECREF(o);
    }
    return list;
}

static PyObject *go(struct running *r, PyObject *analyses, PyObject *options)
{
    int rc;

    if (open_run(r, analyses, options) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    rc = trod_run_go(r->run);
    Py_END_ALLOW_THREADS
    if (PyErr_Occurred())
        return NULL;
    /* what cannot be analysed as asked for has no numbers */
    if (rc == TROD_ERR_NOMEM || rc == TROD_ERR_USAGE || rc == TROD_ERR_UNSUPPORTED ||
        (rc < 0 && r->problems.diag.strict))
        return py_raise(&r->problems, rc);
    return results(r);
}

/* (paths, filter, options, [(name, spec)]) -> ([result], [problem], errors) */
PyObject *py_run(PyObject *module, PyObject *args)
{
    struct running r = {.n = 0};
    PyObject *paths, *filters, *options, *analyses, *list = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!O!O!", &PyList_Type, &paths, &PyList_Type, &filters,
                          &PyDict_Type, &options, &PyList_Type, &analyses))
        return NULL;
    py_problems_init(&r.problems, py_option_true(options, "strict"));
    if (py_args_init(&r.args, paths, filters, &r.problems) == 0)
        list = go(&r, analyses, options);
    if (list)
        list = Py_BuildValue("(NNK)", list, py_problems_list(&r.problems),
                             (unsigned long long)r.problems.diag.errors);
    trod_run_free(r.run);
    trod_match_free(r.match);
    for (size_t i = 0; i < r.n; i++)
        free(r.options[i]);
    py_args_fini(&r.args);
    py_problems_fini(&r.problems);
    return list;
}
