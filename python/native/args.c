/*
 * args.c - arguments from Python as the structs of the library.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

char *py_args_keep(struct py_args *a, const char *text)
{
    char *copy;

    if (a->n_text == PY_KEPT) {
        PyErr_SetString(PyExc_ValueError, "too many options");
        return NULL;
    }
    copy = strdup(text);
    if (!copy)
        PyErr_NoMemory();
    else
        a->text[a->n_text++] = copy;
    return copy;
}

static int take_paths(struct py_args *a, PyObject *paths)
{
    const Py_ssize_t n = PyList_Size(paths);

    if (n < 0)
        return -1;
    a->paths = Py_NewRef(paths);
    a->path = calloc((size_t)n + 1, sizeof *a->path);
    if (!a->path) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(a->path[i] = PyBytes_AsString(PyList_GET_ITEM(paths, i))))
            return -1;
    a->n_paths = (size_t)n;
    return 0;
}

static int take_filter(struct py_args *a, PyObject *filter, struct py_problems *p)
{
    const Py_ssize_t n = PyList_Size(filter);

    a->filter.struct_size = sizeof a->filter;
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *key, *value;
        char *copy;
        int r;

        if (!PyArg_ParseTuple(PyList_GET_ITEM(filter, i), "ss", &key, &value) ||
            !(copy = py_args_keep(a, value)))
            return -1;
        r = trod_option_set(trod_match_option_table, &a->filter, key, copy, &p->diag);
        if (r < 0) {
            py_raise(p, r);
            return -1;
        }
        a->filtered = true;
    }
    return n < 0 ? -1 : 0;
}

int py_args_init(struct py_args *a, PyObject *paths, PyObject *filter, struct py_problems *p)
{
    memset(a, 0, sizeof *a);
    return take_paths(a, paths) < 0 || take_filter(a, filter, p) < 0 ? -1 : 0;
}

void py_args_fini(struct py_args *a)
{
    for (size_t i = 0; i < a->n_text; i++)
        free(a->text[i]);
    free(a->path);
    Py_XDECREF(a->paths);
    memset(a, 0, sizeof *a);
}

const char *py_option_text(PyObject *options, const char *name)
{
    PyObject *v = PyDict_GetItemString(options, name);

    return v && v != Py_None ? PyUnicode_AsUTF8(v) : NULL;
}

int py_option_number(PyObject *options, const char *name, uint64_t *out)
{
    PyObject *v = PyDict_GetItemString(options, name);

    *out = 0;
    if (!v || v == Py_None)
        return 0;
    *out = PyLong_AsUnsignedLongLong(v);
    return PyErr_Occurred() ? -1 : 0;
}

bool py_option_true(PyObject *options, const char *name)
{
    PyObject *v = PyDict_GetItemString(options, name);

    return v && PyObject_IsTrue(v) == 1;
}

static uint32_t small(uint64_t v)
{
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

/* The texts belong to OPTIONS, which the caller keeps. */
int py_trace_options(struct trod_trace_options *t, PyObject *options)
{
    uint64_t order, cores, rows, want;

    memset(t, 0, sizeof *t);
    t->struct_size = sizeof *t;
    if (py_option_number(options, "order", &order) < 0 ||
        py_option_number(options, "cores", &cores) < 0 ||
        py_option_number(options, "batch_rows", &rows) < 0 ||
        py_option_number(options, "want", &want) < 0 ||
        py_option_number(options, "skip_rows", &t->skip_rows) < 0 ||
        py_option_number(options, "skip_instructions", &t->skip_instructions) < 0)
        return -1;
    if (rows > TROD_BATCH_ROWS || cores > TROD_MOST_CORES) {
        PyErr_Format(PyExc_ValueError, "at most %d rows a batch and %d cores", TROD_BATCH_ROWS,
                     TROD_MOST_CORES);
        return -1;
    }
    t->order = (enum trod_order)order;
    t->cores = small(cores);
    t->batch_rows = small(rows);
    t->want = small(want);
    t->from = py_option_text(options, "format");
    t->schedule = py_option_text(options, "schedule");
    t->beside.struct_size = sizeof t->beside;
    t->beside.modules = py_option_text(options, "modules");
    t->beside.module_dir = py_option_text(options, "module_dir");
    t->beside.more = true;
    t->input.struct_size = sizeof t->input;
    t->input.no_thread = py_option_true(options, "no_thread");
    return PyErr_Occurred() ? -1 : 0;
}
