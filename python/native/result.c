/*
 * result.c - results as dicts and lists: tables are lists of dicts, addresses are numbers.
 */
#include "native.h"

static PyObject *value(const struct trod_value *v)
{
    switch (v->type) {
    case TROD_RESULT_U64:
    case TROD_RESULT_HEX:
        return PyLong_FromUnsignedLongLong(v->is.u64);
    case TROD_RESULT_I64:
        return PyLong_FromLongLong(v->is.i64);
    case TROD_RESULT_F64:
        return PyFloat_FromDouble(v->is.f64);
    case TROD_RESULT_BOOL:
        return PyBool_FromLong(v->is.boolean);
    case TROD_RESULT_STR:
        return PyUnicode_DecodeFSDefault(v->is.str);
    default:
        return Py_NewRef(Py_None);
    }
}

static PyObject *row(const struct trod_node *t, size_t i)
{
    PyObject *d = PyDict_New();

    for (size_t k = 0; d && k < t->n_columns; k++)
        if (py_put(d, t->columns[k].name, value(&t->cells[i * t->n_columns + k])) < 0)
            Py_CLEAR(d);
    return d;
}

static PyObject *table(const struct trod_node *t)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; list && i < t->n_rows; i++) {
        PyObject *d = row(t, i);

        if (!d || PyList_Append(list, d) < 0)
            Py_CLEAR(list);
        Py_XDECREF(d);
    }
    return list;
}

PyObject *py_result(const struct trod_node *node)
{
    PyObject *all;

    if (node->type == TROD_NODE_VALUE)
        return value(&node->value);
    if (node->type == TROD_NODE_TABLE)
        return table(node);
    all = node->type == TROD_NODE_LIST ? PyList_New(0) : PyDict_New();
    for (const struct trod_node *n = node->first; all && n; n = n->next) {
        PyObject *v = py_result(n);
        const int r = !v                             ? -1
                      : node->type == TROD_NODE_LIST ? PyList_Append(all, v)
                                                     : PyDict_SetItemString(all, n->key, v);

        Py_XDECREF(v);
        if (r < 0)
            Py_CLEAR(all);
    }
    return all;
}

static int append(PyObject *list, PyObject *v)
{
    const int r = v ? PyList_Append(list, v) : -1;

    Py_XDECREF(v);
    return r;
}

PyObject *py_analyses(PyObject *module, PyObject *none)
{
    PyObject *list = PyList_New(0);
    const struct trod_analysis *a;

    (void)module;
    (void)none;
    for (size_t i = 0; list && (a = trod_analysis_at(i)); i++)
        if (append(list, Py_BuildValue("(ss)", a->name, a->title)) < 0)
            Py_CLEAR(list);
    return list;
}

PyObject *py_formats(PyObject *module, PyObject *none)
{
    PyObject *list = PyList_New(0);
    const struct trod_format *f;

    (void)module;
    (void)none;
    for (size_t i = 0; list && (f = trod_format_at(i)); i++)
        if (append(list, Py_BuildValue("(ssO)", f->name, f->title, f->begin ? Py_True : Py_False)) <
            0)
            Py_CLEAR(list);
    return list;
}

PyObject *py_loss(const struct trod_loss *l)
{
    PyObject *d = PyDict_New();

    for (unsigned i = 0; d && i < TROD_KINDS; i++) {
        if (l->rows[i] && py_put(d, trod_kind_name(i), PyLong_FromUnsignedLongLong(l->rows[i])) < 0)
            Py_CLEAR(d);
        for (unsigned k = 0; d && k < TROD_COLUMNS; k++) {
            char name[64];

            if (l->columns[i][k] == 0)
                continue;
            PyOS_snprintf(name, sizeof name, "%s.%s", trod_kind_name(i), trod_column_name(k));
            if (py_put(d, name, PyLong_FromUnsignedLongLong(l->columns[i][k])) < 0)
                Py_CLEAR(d);
        }
    }
    return d;
}
