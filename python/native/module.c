/*
 * module.c - trod._trod: types, functions, and the names of the library's enumerations.
 */
#include "native.h"

/* NAME(0), NAME(1), ... up to NULL or N. */
static PyObject *names(const char *(*name)(unsigned), unsigned n)
{
    PyObject *list = PyList_New(0);

    for (unsigned i = 0; list && i < n; i++) {
        PyObject *s = PyUnicode_FromString(name(i));

        if (!s || PyList_Append(list, s) < 0)
            Py_CLEAR(list);
        Py_XDECREF(s);
    }
    return list;
}

/* The option names of TABLE, with whether each is a range, a list or a text. */
static PyObject *filters(void)
{
    static const char *const types[] = {[TROD_OPT_RANGE] = "range", [TROD_OPT_LIST] = "list"};
    PyObject *d = PyDict_New();

    for (const struct trod_option *o = trod_match_option_table; d && o->type != TROD_OPT_END; o++) {
        const bool known = o->type < sizeof types / sizeof *types && types[o->type];

        if (o->name &&
            py_put(d, o->name, PyUnicode_FromString(known ? types[o->type] : "text")) < 0)
            Py_CLEAR(d);
    }
    return d;
}

static PyMethodDef functions[] = {
    {"run", py_run, METH_VARARGS, "Run analyses."},
    {"convert", py_convert, METH_VARARGS, "Convert a trace."},
    {"analyses", py_analyses, METH_NOARGS, "Names and titles of analyses."},
    {"formats", py_formats, METH_NOARGS, "Names and titles of formats; can they be written?"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "trod._trod",
    .m_doc = "What trod is made of; use the package trod.",
    .m_size = -1,
    .m_methods = functions,
};

static int add(PyObject *m, const char *name, PyObject *v)
{
    const int r = v ? PyModule_AddObjectRef(m, name, v) : -1;

    Py_XDECREF(v);
    return r;
}

PyMODINIT_FUNC PyInit__trod(void); /* what Python looks for */

PyMODINIT_FUNC PyInit__trod(void)
{
    PyObject *m;

    if (PyType_Ready(&py_array_type) < 0 || PyType_Ready(&py_batch_type) < 0 ||
        PyType_Ready(&py_trace_type) < 0 || PyType_Ready(&py_writer_type) < 0 ||
        !(m = PyModule_Create(&definition)))
        return NULL;
    py_error = PyErr_NewExceptionWithDoc("trod.Error",
                                         "Something cannot be read, written or analysed: status "
                                         "says in a word why, problems is the list of all.",
                                         NULL, NULL);
    if (add(m, "Error", Py_XNewRef(py_error)) == 0 &&
        add(m, "Array", Py_NewRef((PyObject *)&py_array_type)) == 0 &&
        add(m, "Batch", Py_NewRef((PyObject *)&py_batch_type)) == 0 &&
        add(m, "Trace", Py_NewRef((PyObject *)&py_trace_type)) == 0 &&
        add(m, "Writer", Py_NewRef((PyObject *)&py_writer_type)) == 0 &&
        add(m, "kinds", names(trod_kind_name, TROD_KINDS)) == 0 &&
        add(m, "columns", names(trod_column_name, TROD_COLUMNS)) == 0 &&
        add(m, "branches", names(trod_branch_name, TROD_BR_OTHER + 1)) == 0 &&
        add(m, "isas", names(trod_isa_name, TROD_ISAS)) == 0 && add(m, "filters", filters()) == 0 &&
        add(m, "version", PyUnicode_FromString(trod_version())) == 0)
        return m;
    Py_DECREF(m);
    return NULL;
}
