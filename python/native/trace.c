/*
 * trace.c - traces and their batches.
 *
 * A batch that somebody still holds when the next rows are asked for is taken from the trace
 * (trod_trace_take) and belongs to its Python object from then on: arrays upon its columns keep it,
 * and no array ever changes or dangles. Orders that give windows have their rows copied instead.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* ---- the pool */

static void pool_drop(struct py_pool *p)
{
    if (--p->refs)
        return;
    while (p->n)
        trod_batch_free(p->spare[--p->n]);
    free(p);
}

static void pool_give(struct py_pool *p, struct trod_batch *b)
{
    if (p->open && p->n < PY_SPARE)
        p->spare[p->n++] = b;
    else
        trod_batch_free(b);
}

static struct trod_batch *pool_take(struct py_pool *p)
{
    return p->n ? p->spare[--p->n] : NULL;
}

/* ---- batches */

static void batch_release(PyObject *self)
{
    struct py_batch *o = (struct py_batch *)self;

    if (o->owned && o->b)
        pool_give(o->pool, o->b);
    if (o->pool)
        pool_drop(o->pool);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *batch_column(PyObject *self, PyObject *name)
{
    struct py_batch *o = (struct py_batch *)self;
    const char *text = PyUnicode_AsUTF8(name);
    const struct py_column *c = text ? py_column_find(text) : NULL;
    void *zeros;

    if (!text)
        return NULL;
    if (!c)
        return PyErr_Format(PyExc_KeyError, "no column of numbers is called '%s'", text);
    if (c->bit == 0 || (o->b->have & c->bit)) {
        void *p;

        memcpy(&p, (const uint8_t *)o->b + c->field, sizeof p);
        return py_array(self, p, o->b->n, c);
    }
    zeros = calloc((size_t)o->b->n + 1, c->size);
    return zeros ? py_array(NULL, zeros, o->b->n, c) : PyErr_NoMemory();
}

static PyObject *batch_slices(PyObject *self, PyObject *name)
{
    struct py_batch *o = (struct py_batch *)self;
    const char *text = PyUnicode_AsUTF8(name);
    const struct py_slices *s = text ? py_slices_find(text) : NULL;
    PyObject *list;

    if (!text)
        return NULL;
    if (!s)
        return PyErr_Format(PyExc_KeyError, "no column of bytes is called '%s'", text);
    if (!o->slices)
        return PyErr_Format(PyExc_ValueError,
                            "the %s of a batch must be read before the next batch", text);
    list = PyList_New(0);
    if (list && py_slices_append(list, o->b, s, 0, o->b->n) < 0)
        Py_CLEAR(list);
    return list;
}

static PyObject *batch_have(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(((struct py_batch *)self)->b->have);
}

static PyObject *batch_first(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(((struct py_batch *)self)->first);
}

static Py_ssize_t batch_length(PyObject *self)
{
    return (Py_ssize_t)((struct py_batch *)self)->b->n;
}

static PyMethodDef batch_methods[] = {
    {"column", batch_column, METH_O, "The buffer of a column of numbers."},
    {"slices", batch_slices, METH_O, "A column of bytes or texts as a list."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef batch_fields[] = {
    {"have", batch_have, NULL, "Columns that rows of this batch say.", NULL},
    {"first", batch_first, NULL, "Number of the first row.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PySequenceMethods batch_sequence = {.sq_length = batch_length};

PyTypeObject py_batch_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "trod._trod.Batch",
    .tp_doc = "Rows as columns.",
    .tp_basicsize = sizeof(struct py_batch),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = batch_release,
    .tp_methods = batch_methods,
    .tp_getset = batch_fields,
    .tp_as_sequence = &batch_sequence,
};

/* FIRST: number of row 0 of B in the trace. */
static struct py_batch *batch_new(struct py_trace *t, struct trod_batch *b, uint64_t first,
                                  bool owned)
{
    struct py_batch *o = PyObject_New(struct py_batch, &py_batch_type);

    if (!o) {
        if (owned)
            pool_give(t->pool, b);
        return NULL;
    }
    o->b = b;
    o->pool = t->pool;
    o->pool->refs++;
    o->first = first;
    o->owned = owned;
    o->slices = true;
    return o;
}

int py_trace_leave(struct py_trace *t)
{
    struct py_batch *o = t->current;
    int r = 0;

    t->current = NULL;
    if (!o)
        return 0;
    if (!o->owned && Py_REFCNT(o) > 1) {
        r = trod_trace_take(t->t, pool_take(t->pool));
        if (r == 0)
            o->owned = true;
        o->slices = false;
    }
    if (r < 0) { /* somebody looks at it: nothing may be read over it */
        t->current = o;
        py_raise(&t->problems, r);
        return -1;
    }
    Py_DECREF(o);
    return 0;
}

/* ---- traces */

static void trace_shut(struct py_trace *t)
{
    if (t->t && t->current && !t->current->owned && Py_REFCNT(t->current) > 1 &&
        py_trace_leave(t) < 0)
        return; /* the trace stays open rather than leave an array without its rows */
    Py_CLEAR(t->current);
    trod_trace_close(t->t);
    t->t = NULL;
    trod_match_free(t->match);
    t->match = NULL;
    if (t->pool) {
        t->pool->open = false;
        pool_drop(t->pool);
        t->pool = NULL;
    }
}

static void trace_release(PyObject *self)
{
    struct py_trace *t = (struct py_trace *)self;

    if (t->made) {
        PyObject *type, *value, *traceback;

        PyErr_Fetch(&type, &value, &traceback);
        trace_shut(t);
        PyErr_Restore(type, value, traceback);
        py_problems_fini(&t->problems);
        py_args_fini(&t->args);
    }
    Py_TYPE(self)->tp_free(self);
}

static int open_trace(struct py_trace *t, PyObject *options)
{
    struct trod_trace_options opt;
    int r;

    if (py_trace_options(&opt, options) < 0)
        return -1;
    r = trod_match_new(&t->match, &t->args.filter, &t->problems.diag);
    if (r == 0) {
        if (opt.want)
            opt.want |= trod_match_want(t->match) | TROD_COL_KIND;
        Py_BEGIN_ALLOW_THREADS
        r = trod_trace_open(&t->t, t->args.path, t->args.n_paths, &opt, &t->problems.diag);
        Py_END_ALLOW_THREADS
    }
    t->copies = opt.order != TROD_ORDER_FILE && opt.order != TROD_ORDER_DYNAMIC;
    if (r < 0)
        py_raise(&t->problems, r);
    return r < 0 ? -1 : 0;
}

static int trace_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct py_trace *t = (struct py_trace *)self;
    PyObject *paths, *filter, *options;

    (void)keywords;
    if (t->made) {
        PyErr_SetString(PyExc_RuntimeError, "a trace is opened once");
        return -1;
    }
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyList_Type, &paths, &PyList_Type, &filter, &PyDict_Type,
                          &options))
        return -1;
    t->made = true;
    py_problems_init(&t->problems, py_option_true(options, "strict"));
    t->pool = calloc(1, sizeof *t->pool);
    if (!t->pool) {
        PyErr_NoMemory();
        return -1;
    }
    t->pool->refs = 1;
    t->pool->open = true;
    if (py_args_init(&t->args, paths, filter, &t->problems) < 0)
        return -1;
    return open_trace(t, options);
}

static PyObject *busy(void)
{
    PyErr_SetString(PyExc_RuntimeError, "another thread is reading this trace");
    return NULL;
}

int py_trace_ready(struct py_trace *t)
{
    if (!t->t)
        PyErr_SetString(PyExc_ValueError, "the trace is closed");
    else if (t->busy)
        busy();
    else
        return 0;
    return -1;
}

int py_trace_step(struct py_trace *t, struct trod_batch **b)
{
    *b = t->rest;
    while (!t->rest) {
        int r;

        if (t->args.filtered && trod_match_done(t->match))
            return 0;
        r = trod_trace_next(t->t, b);
        if (r <= 0)
            return r;
        t->dropped = false;
        if (t->args.filtered) {
            r = trod_match_batch(t->match, *b);
            if (r < 0)
                return r;
            t->dropped = (uint32_t)r < (*b)->n;
            if (t->dropped)
                trod_batch_keep(*b, trod_match_keep(t->match));
        }
        if (r > 0) {
            t->rest = *b;
            t->at = 0;
        }
    }
    return 1;
}

void py_trace_given(struct py_trace *t, uint32_t n)
{
    t->at += n;
    if (t->at == t->rest->n)
        t->rest = NULL;
}

/* The number in the trace of the row that is given next. */
static uint64_t number_of_next(const struct py_trace *t)
{
    const uint8_t *keep = trod_match_keep(t->match);
    uint32_t i = 0, n = 0;

    if (!t->dropped)
        return t->rest->first + t->at;
    while (n < t->at || !keep[i])
        n += keep[i++] != 0;
    return t->rest->first + i;
}

/* Rows that come next into B, as many as its pool has room for. *FIRST: the number of the first. */
static int copy_rows(struct py_trace *t, struct trod_batch *b, uint64_t *first)
{
    struct trod_batch *from;
    const int r = py_trace_step(t, &from);
    uint32_t n;

    if (r <= 0)
        return r;
    *first = number_of_next(t);
    trod_batch_clear(b);
    b->have = from->have;
    n = trod_batch_append(b, from, t->at, from->n - t->at);
    py_trace_given(t, n);
    return n ? 1 : TROD_ERR_LIMIT;
}

/* The batch that comes next, or what is left of it. */
static int take_rows(struct py_trace *t, struct trod_batch **b, uint64_t *first)
{
    const int r = py_trace_step(t, b);
    uint8_t keep[TROD_BATCH_ROWS];

    if (r <= 0)
        return r;
    *first = number_of_next(t);
    if (t->at) {
        memset(keep, 1, (*b)->n);
        memset(keep, 0, t->at);
        trod_batch_keep(*b, keep);
    }
    t->rest = NULL;
    return 1;
}

static PyObject *trace_next(PyObject *self, PyObject *none)
{
    struct py_trace *t = (struct py_trace *)self;
    struct trod_batch *b = NULL;
    uint64_t first = 0;
    int r = 0;

    (void)none;
    if (py_trace_ready(t) < 0 || py_trace_leave(t) < 0)
        return NULL;
    if (t->copies && !(b = pool_take(t->pool)))
        r = trod_batch_new(&b, TROD_BATCH_ROWS);
    if (r < 0)
        return PyErr_NoMemory();
    t->busy = true;
    Py_BEGIN_ALLOW_THREADS
    r = t->copies ? copy_rows(t, b, &first) : take_rows(t, &b, &first);
    Py_END_ALLOW_THREADS
    t->busy = false;
    if (r == 1) {
        t->current = batch_new(t, b, first, t->copies);
        return Py_XNewRef((PyObject *)t->current);
    }
    if (t->copies)
        pool_give(t->pool, b);
    if (r == TROD_ERR_NOMEM || (r < 0 && t->problems.diag.strict))
        return py_raise(&t->problems, r);
    Py_RETURN_NONE;
}

static PyObject *trace_close(PyObject *self, PyObject *none)
{
    struct py_trace *t = (struct py_trace *)self;

    (void)none;
    if (t->busy)
        return busy();
    trace_shut(t);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *trace_meta(PyObject *self, void *closure)
{
    struct py_trace *t = (struct py_trace *)self;

    (void)closure;
    return py_trace_ready(t) < 0 ? NULL : py_meta(trod_trace_meta(t->t), trod_trace_format(t->t));
}

static PyObject *trace_files(PyObject *self, void *closure)
{
    struct py_trace *t = (struct py_trace *)self;
    PyObject *list;

    (void)closure;
    if (py_trace_ready(t) < 0 || !(list = PyList_New(0)))
        return NULL;
    for (size_t i = 0; i < trod_trace_files(t->t); i++) {
        PyObject *path = PyUnicode_DecodeFSDefault(trod_trace_path(t->t, i));

        if (!path || PyList_Append(list, path) < 0)
            Py_CLEAR(list);
        Py_XDECREF(path);
        if (!list)
            return NULL;
    }
    return list;
}

static PyObject *trace_problems(PyObject *self, void *closure)
{
    struct py_trace *t = (struct py_trace *)self;

    (void)closure;
    return t->busy ? busy() : py_problems_list(&t->problems);
}

static PyObject *trace_errors(PyObject *self, void *closure)
{
    struct py_trace *t = (struct py_trace *)self;

    (void)closure;
    return t->busy ? busy() : PyLong_FromUnsignedLongLong(t->problems.diag.errors);
}

static PyMethodDef trace_methods[] = {
    {"next", trace_next, METH_NOARGS, "The next batch, None at the end."},
    {"gather", py_trace_gather, METH_VARARGS, "All rows that are left, as whole columns."},
    {"close", trace_close, METH_NOARGS, "Release files and memory; batches stay."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef trace_fields[] = {
    {"meta", trace_meta, NULL, "What is known of the trace.", NULL},
    {"files", trace_files, NULL, "Its files.", NULL},
    {"problems", trace_problems, NULL, "What was wrong with it so far.", NULL},
    {"errors", trace_errors, NULL, "How many errors there were.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject py_trace_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "trod._trod.Trace",
    .tp_doc = "A trace that is being read.",
    .tp_basicsize = sizeof(struct py_trace),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_init = trace_init,
    .tp_dealloc = trace_release,
    .tp_methods = trace_methods,
    .tp_getset = trace_fields,
};
