/*
 * problems.c - what the library has to say, as lists of dicts and as exceptions.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

PyObject *py_error;

static char *copy(const char *s)
{
    return s ? strdup(s) : NULL;
}

static void told(void *user, const struct trod_problem *p)
{
    struct py_problems *all = user;
    struct py_problem *one = calloc(1, sizeof *one);

    if (!one)
        return;
    one->severity = p->severity;
    one->status = p->status;
    one->kind = copy(p->kind);
    one->path = copy(p->at.path);
    one->message = copy(p->message);
    one->offset = p->at.offset;
    one->record = p->at.record;
    one->line = p->at.line;
    *all->end = one;
    all->end = &one->next;
}

void py_problems_init(struct py_problems *p, bool strict)
{
    trod_diag_init(&p->diag, told, p);
    p->diag.strict = strict;
    p->first = NULL;
    p->end = &p->first;
}

void py_problems_fini(struct py_problems *p)
{
    struct py_problem *one, *next;

    for (one = p->first; one; one = next) {
        next = one->next;
        free(one->kind);
        free(one->path);
        free(one->message);
        free(one);
    }
    p->first = NULL;
    p->end = &p->first;
}

int py_put(PyObject *dict, const char *key, PyObject *v)
{
    int r = v ? PyDict_SetItemString(dict, key, v) : -1;

    Py_XDECREF(v);
    return r;
}

static PyObject *text(const char *s)
{
    return s ? PyUnicode_DecodeFSDefault(s) : Py_NewRef(Py_None);
}

static PyObject *place(uint64_t v)
{
    return v == TROD_NOWHERE ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(v);
}

static PyObject *problem(const struct py_problem *p)
{
    static const char *const severities[] = {"note", "warning", "error"};
    PyObject *d = PyDict_New();

    if (d && py_put(d, "severity", PyUnicode_FromString(severities[p->severity])) == 0 &&
        py_put(d, "status", PyUnicode_FromString(trod_status_name(p->status))) == 0 &&
        py_put(d, "kind", text(p->kind)) == 0 && py_put(d, "path", text(p->path)) == 0 &&
        py_put(d, "offset", place(p->offset)) == 0 && py_put(d, "record", place(p->record)) == 0 &&
        py_put(d, "line", place(p->line)) == 0 && py_put(d, "message", text(p->message)) == 0)
        return d;
    Py_XDECREF(d);
    return NULL;
}

PyObject *py_problems_list(const struct py_problems *p)
{
    PyObject *list = PyList_New(0);

    for (const struct py_problem *one = p->first; list && one; one = one->next) {
        PyObject *d = problem(one);

        if (!d || PyList_Append(list, d) < 0)
            Py_CLEAR(list);
        Py_XDECREF(d);
    }
    return list;
}

/* The first error, or where there is none what the status is called. */
static PyObject *message(const struct py_problems *p, int status)
{
    const struct py_problem *one = p->first;
    PyObject *path, *m;

    while (one && one->severity != TROD_SEV_ERROR)
        one = one->next;
    if (!one || !one->message)
        return PyUnicode_FromString(trod_status_name(status));
    if (!one->path)
        return text(one->message);
    path = text(one->path);
    m = text(one->message);
    if (path && m && one->line != TROD_NOWHERE)
        Py_SETREF(m, PyUnicode_FromFormat("%U:%llu: %U", path, (unsigned long long)one->line, m));
    else if (path && m)
        Py_SETREF(m, PyUnicode_FromFormat("%U: %U", path, m));
    Py_XDECREF(path);
    return m;
}

PyObject *py_raise(const struct py_problems *p, int status)
{
    PyObject *what, *e, *list, *name;

    if (PyErr_Occurred())
        return NULL;
    if (status == TROD_ERR_NOMEM)
        return PyErr_NoMemory();
    what = message(p, status);
    e = what ? PyObject_CallOneArg(py_error, what) : NULL;
    list = py_problems_list(p);
    name = PyUnicode_FromString(trod_status_name(status));
    if (e && list && name && PyObject_SetAttrString(e, "problems", list) == 0 &&
        PyObject_SetAttrString(e, "status", name) == 0)
        PyErr_SetObject(py_error, e);
    Py_XDECREF(what);
    Py_XDECREF(list);
    Py_XDECREF(name);
    Py_XDECREF(e);
    return NULL;
}
