/*
 * writer.c - traces from arrays.
 *
 * Rows come as buffers of exactly the type that the column has, and as sequences of bytes; they are
 * copied into a batch, as many at a time as it holds.
 */
#include "native.h"

#include <string.h>

struct writer {
    PyObject_HEAD struct trod_writer *w;
    struct trod_batch *b;
    struct trod_meta meta;
    struct py_problems problems;
    uint32_t columns;
    uint64_t rows;
    bool made;
};

/* What was given for the rows of one call. */
struct given {
    Py_buffer view[PY_COLUMNS];
    PyObject *slices[PY_SLICES]; /* of PySequence_Fast */
    bool there[PY_COLUMNS];
    Py_ssize_t n; /* -1: nothing yet */
};

static void given_fini(struct given *g)
{
    for (int i = 0; i < PY_COLUMNS; i++)
        if (g->there[i])
            PyBuffer_Release(&g->view[i]);
    for (int i = 0; i < PY_SLICES; i++)
        Py_XDECREF(g->slices[i]);
}

static int same_length(struct given *g, const char *name, Py_ssize_t n)
{
    if (g->n >= 0 && g->n != n) {
        PyErr_Format(PyExc_ValueError, "column '%s' has %zd rows, those before it %zd", name, n,
                     g->n);
        return -1;
    }
    g->n = n;
    return 0;
}

static int given_init(struct given *g, PyObject *columns)
{
    memset(g, 0, sizeof *g);
    g->n = -1;
    for (int i = 0; i < PY_COLUMNS; i++) {
        const struct py_column *c = &py_columns[i];
        PyObject *v = PyDict_GetItemString(columns, c->name);

        if (!v)
            continue;
        if (PyObject_GetBuffer(v, &g->view[i], PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
            return -1;
        g->there[i] = true;
        if (g->view[i].ndim != 1 || g->view[i].itemsize != (Py_ssize_t)c->size) {
            PyErr_Format(PyExc_TypeError, "column '%s' is no array of %u-byte numbers", c->name,
                         c->size);
            return -1;
        }
        if (same_length(g, c->name, g->view[i].len / g->view[i].itemsize) < 0)
            return -1;
    }
    for (int i = 0; i < PY_SLICES; i++) {
        PyObject *v = PyDict_GetItemString(columns, py_slices[i].name);

        if (!v)
            continue;
        g->slices[i] = PySequence_Fast(v, "columns of bytes are sequences");
        if (!g->slices[i] ||
            same_length(g, py_slices[i].name, PySequence_Fast_GET_SIZE(g->slices[i])) < 0)
            return -1;
    }
    return 0;
}

/* Row AT of G as row I of B. 1, 0 where the pool is full, or -1. */
static int put_slices(struct trod_batch *b, const struct given *g, Py_ssize_t at, uint32_t i)
{
    for (int k = 0; k < PY_SLICES; k++) {
        PyObject *v = g->slices[k] ? PySequence_Fast_GET_ITEM(g->slices[k], at) : NULL;
        struct trod_slice s = {0, 0}, *column;
        Py_ssize_t n;
        const char *p;
        void *room;

        if (!v)
            continue;
        memcpy(&column, (uint8_t *)b + py_slices[k].field, sizeof column);
        column[i] = s;
        if (v == Py_None) {
            b->has[i] &= ~py_slices[k].bit;
            continue;
        }
        if (PyUnicode_Check(v)) {
            p = PyUnicode_AsUTF8AndSize(v, &n);
        } else {
            p = PyBytes_AsString(v);
            n = p ? PyBytes_GET_SIZE(v) : 0;
        }
        if (!p)
            return -1;
        if ((size_t)n > b->pool_cap - 8) {
            PyErr_Format(PyExc_ValueError, "row %zd: more than %u bytes", at, b->pool_cap - 8);
            return -1;
        }
        room = trod_batch_pool(b, (uint32_t)n, &s);
        if (!room)
            return 0;
        memcpy(room, p, (size_t)n);
        column[i] = s;
        b->has[i] |= py_slices[k].bit;
    }
    return 1;
}

/* An instruction is where it is: pc and address are the same. */
static void put_pc(struct trod_batch *b, const struct given *g, uint32_t i)
{
    const uint32_t both = TROD_COL_ADDR | TROD_COL_PC;

    (void)g;
    if (b->kind[i] != TROD_INSTR || (b->has[i] & both) == both || !(b->has[i] & both))
        return;
    if (b->has[i] & TROD_COL_ADDR)
        b->pc[i] = b->addr[i];
    else
        b->addr[i] = b->pc[i];
    b->has[i] |= both;
}

static bool valid(const struct writer *w, const struct trod_batch *b, uint32_t i)
{
    if (b->kind[i] >= TROD_KINDS)
        PyErr_Format(PyExc_ValueError, "%d is no kind of row", b->kind[i]);
    else if ((b->has[i] & TROD_COL_STREAM) && b->stream[i] >= w->meta.n_streams)
        PyErr_Format(PyExc_ValueError, "there is no stream %lu", (unsigned long)b->stream[i]);
    else
        return true;
    return false;
}

/* Rows from AT on into W's batch: how many, or -1. */
static int fill(struct writer *w, const struct given *g, Py_ssize_t at)
{
    struct trod_batch *b = w->b;
    const Py_ssize_t left = g->n - at;
    const uint32_t n = left < b->cap ? (uint32_t)left : b->cap;
    uint32_t have = TROD_COL_KIND | TROD_COL_FLAGS;

    trod_batch_clear(b);
    memset(b->flags, 0, n * sizeof *b->flags);
    for (int k = 0; k < PY_COLUMNS; k++) {
        const struct py_column *c = &py_columns[k];
        void *to;

        memcpy(&to, (uint8_t *)b + c->field, sizeof to);
        if (!g->there[k])
            continue;
        memcpy(to, (const uint8_t *)g->view[k].buf + (size_t)at * c->size, n * (size_t)c->size);
        have |= c->bit;
    }
    for (uint32_t i = 0; i < n; i++) {
        b->has[i] = g->there[0] ? (b->has[i] & have) | TROD_COL_KIND | TROD_COL_FLAGS : have;
        if (!valid(w, b, i))
            return -1;
        put_pc(b, g, i);
        switch (put_slices(b, g, at + i, i)) {
        case 1:
            b->n = i + 1;
            continue;
        case 0:
            i = n;
            break;
        default:
            return -1;
        }
    }
    for (uint32_t i = 0; i < b->n; i++)
        have |= b->has[i];
    b->have = have;
    b->first = w->rows;
    b->meta = &w->meta;
    return (int)b->n;
}

static int ready(struct writer *w)
{
    if (!w->w)
        PyErr_SetString(PyExc_ValueError, "the writer has ended");
    return w->w ? 0 : -1;
}

static PyObject *put(PyObject *self, PyObject *columns)
{
    struct writer *w = (struct writer *)self;
    struct given g;
    int r = 0;

    if (ready(w) < 0)
        return NULL;
    if (!PyDict_Check(columns) || !PyDict_GetItemString(columns, "kind")) {
        PyErr_SetString(PyExc_ValueError, "rows need a column 'kind'");
        return NULL;
    }
    if (given_init(&g, columns) == 0)
        for (Py_ssize_t at = 0; at < g.n;) {
            const int n = fill(w, &g, at);

            if (n == 0)
                PyErr_Format(PyExc_ValueError, "row %zd has too many bytes", at);
            if (n <= 0)
                break;
            r = trod_writer_put(w->w, w->b);
            if (r < 0)
                break;
            at += n;
            w->rows += (uint64_t)n;
        }
    given_fini(&g);
    if (r < 0)
        py_raise(&w->problems, r);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *commit(PyObject *self, PyObject *none)
{
    struct writer *w = (struct writer *)self;
    struct trod_writer *ending = w->w;
    struct trod_writer_summary sum;
    int r;

    (void)none;
    if (ready(w) < 0)
        return NULL;
    memset(&sum, 0, sizeof sum);
    w->w = NULL;
    Py_BEGIN_ALLOW_THREADS
    r = trod_writer_commit(ending, &sum);
    Py_END_ALLOW_THREADS
    if (r < 0)
        return py_raise(&w->problems, r);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:N}", "rows", (unsigned long long)sum.rows, "rows_lost",
                         (unsigned long long)trod_loss_rows(&sum.loss), "bytes",
                         (unsigned long long)sum.bytes, "files", (unsigned long long)sum.files,
                         "lost", py_loss(&sum.loss));
}

static PyObject *discard(PyObject *self, PyObject *none)
{
    struct writer *w = (struct writer *)self;

    (void)none;
    trod_writer_discard(w->w);
    w->w = NULL;
    Py_RETURN_NONE;
}

static void writer_release(PyObject *self)
{
    struct writer *w = (struct writer *)self;

    if (w->made) {
        trod_writer_discard(w->w);
        trod_batch_free(w->b);
        trod_meta_fini(&w->meta);
        py_problems_fini(&w->problems);
    }
    Py_TYPE(self)->tp_free(self);
}

/* STREAMS: names or thread ids. */
static int take_streams(struct writer *w, PyObject *streams)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(streams); i++) {
        PyObject *s = PyList_GET_ITEM(streams, i);
        const char *name = PyUnicode_Check(s) ? PyUnicode_AsUTF8(s) : NULL;
        const uint64_t tid = PyLong_Check(s) ? PyLong_AsUnsignedLongLong(s) : 0;
        int r;

        if (PyErr_Occurred())
            return -1;
        r = name ? trod_meta_stream(&w->meta, name, strlen(name))
                 : trod_meta_thread(&w->meta, tid, TROD_NOWHERE, 0);
        if (r < 0) {
            py_raise(&w->problems, r);
            return -1;
        }
    }
    return 0;
}

static int take_meta(struct writer *w, PyObject *options)
{
    const char *isa = py_option_text(options, "isa"), *unit = py_option_text(options, "time_unit");
    uint64_t bits, endian;
    int r = 0;

    if (py_option_number(options, "addr_bits", &bits) < 0 ||
        py_option_number(options, "endian", &endian) < 0)
        return -1;
    w->meta.addr_bits = bits < 64 ? (unsigned)bits : 64;
    w->meta.endian = (enum trod_endian)endian;
    while (isa && w->meta.isa < TROD_ISAS && strcmp(trod_isa_name(w->meta.isa), isa) != 0)
        w->meta.isa++;
    if (w->meta.isa == TROD_ISAS) {
        PyErr_Format(PyExc_ValueError, "no instruction set is called '%s'", isa);
        return -1;
    }
    if (unit && (r = trod_meta_unit(&w->meta, unit, strlen(unit))) < 0) {
        PyErr_Format(PyExc_ValueError, "'%s' cannot be a unit of time", unit);
        return -1;
    }
    w->meta.unit = (uint8_t)r;
    return 0;
}

static int open_writer(struct writer *w, const char *path, PyObject *options, uint32_t columns)
{
    struct trod_writer_options o = {.struct_size = sizeof o, .columns = columns};
    uint64_t level;
    int r;

    if (py_option_number(options, "level", &level) < 0)
        return -1;
    o.to = py_option_text(options, "to");
    o.output.compress = py_option_text(options, "compress");
    o.output.level = level > 99 ? 99 : (int)level;
    o.allow_loss = py_option_true(options, "allow_loss");
    r = trod_writer_open(&w->w, path, &o, &w->meta, &w->problems.diag);
    if (r == 0)
        r = trod_batch_new(&w->b, TROD_BATCH_ROWS);
    if (r < 0)
        py_raise(&w->problems, r);
    return r < 0 ? -1 : 0;
}

/* (path, options, streams, columns) */
static int writer_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct writer *w = (struct writer *)self;
    PyObject *options, *streams, *columns;
    const char *path;
    uint32_t mask;

    (void)keywords;
    if (w->made) {
        PyErr_SetString(PyExc_RuntimeError, "a writer is opened once");
        return -1;
    }
    if (!PyArg_ParseTuple(args, "yO!O!O", &path, &PyDict_Type, &options, &PyList_Type, &streams,
                          &columns) ||
        !(mask = py_columns_mask(columns)))
        return -1;
    w->made = true;
    py_problems_init(&w->problems, false);
    trod_meta_init(&w->meta);
    if (take_meta(w, options) < 0 || take_streams(w, streams) < 0)
        return -1;
    return open_writer(w, path, options, mask);
}

static PyMethodDef methods[] = {
    {"put", put, METH_O, "Write rows: a dict of columns."},
    {"commit", commit, METH_NOARGS, "End the trace; the file appears."},
    {"discard", discard, METH_NOARGS, "Throw it away."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject py_writer_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "trod._trod.Writer",
    .tp_doc = "A trace that is being written.",
    .tp_basicsize = sizeof(struct writer),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_init = writer_init,
    .tp_dealloc = writer_release,
    .tp_methods = methods,
};
