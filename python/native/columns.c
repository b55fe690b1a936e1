/*
 * columns.c - columns as buffers: arrays of NumPy lie upon them without a copy.
 */
#include "native.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN(name, format, bit)                                                                  \
    {                                                                                              \
#name, format, offsetof(struct trod_batch, name), sizeof *((struct trod_batch *)0)->name,  \
            bit                                                                                    \
    }

const struct py_column py_columns[] = {
    COLUMN(has, "I", 0),
    COLUMN(kind, "B", TROD_COL_KIND),
    COLUMN(flags, "I", TROD_COL_FLAGS),
    COLUMN(size, "I", TROD_COL_SIZE),
    COLUMN(stream, "I", TROD_COL_STREAM),
    COLUMN(time, "Q", TROD_COL_TIME),
    COLUMN(unit, "B", TROD_COL_UNIT),
    COLUMN(index, "Q", TROD_COL_INDEX),
    COLUMN(addr, "Q", TROD_COL_ADDR),
    COLUMN(paddr, "Q", TROD_COL_PADDR),
    COLUMN(pc, "Q", TROD_COL_PC),
    COLUMN(target, "Q", TROD_COL_TARGET),
    COLUMN(value, "Q", TROD_COL_VALUE),
    COLUMN(sub, "H", TROD_COL_SUB),
    COLUMN(core, "H", TROD_COL_CORE),
};

_Static_assert(sizeof py_columns / sizeof *py_columns == PY_COLUMNS, "all of them");
_Static_assert(sizeof(unsigned) == 4 && sizeof(unsigned long long) == 8, "what I and Q mean");

const struct py_slices py_slices[] = {
    {"code", offsetof(struct trod_batch, code), TROD_COL_CODE, false},
    {"data", offsetof(struct trod_batch, data), TROD_COL_DATA, false},
    {"text", offsetof(struct trod_batch, text), TROD_COL_TEXT, true},
    {"raw", offsetof(struct trod_batch, raw), TROD_COL_RAW, false},
};

const struct py_column *py_column_find(const char *name)
{
    for (int i = 0; i < PY_COLUMNS; i++)
        if (strcmp(py_columns[i].name, name) == 0)
            return &py_columns[i];
    return NULL;
}

const struct py_slices *py_slices_find(const char *name)
{
    for (int i = 0; i < PY_SLICES; i++)
        if (strcmp(py_slices[i].name, name) == 0)
            return &py_slices[i];
    return NULL;
}

uint32_t py_columns_mask(PyObject *names)
{
    const Py_ssize_t n = PySequence_Length(names);
    uint32_t mask = TROD_COL_KIND;

    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(names, i);
        const char *name = item ? PyUnicode_AsUTF8(item) : NULL;
        const struct py_column *c = name ? py_column_find(name) : NULL;
        const struct py_slices *s = name ? py_slices_find(name) : NULL;

        if (name && !c && !s)
            PyErr_Format(PyExc_KeyError, "no column is called '%s'", name);
        Py_XDECREF(item);
        if (!c && !s)
            return 0;
        mask |= c ? c->bit : s->bit;
    }
    return n < 0 ? 0 : mask;
}

const void *py_column_at(const struct trod_batch *b, const struct py_column *c)
{
    const void *p;

    memcpy(&p, (const uint8_t *)b + c->field, sizeof p);
    return p;
}

static PyObject *slice_object(const struct trod_batch *b, struct trod_slice s, bool text)
{
    const char *p = (const char *)trod_batch_bytes(b, s);

    return text ? PyUnicode_DecodeUTF8(p, (Py_ssize_t)s.len, "backslashreplace")
                : PyBytes_FromStringAndSize(p, (Py_ssize_t)s.len);
}

int py_slices_append(PyObject *list, const struct trod_batch *b, const struct py_slices *s,
                     uint32_t from, uint32_t n)
{
    const struct trod_slice *slice;

    memcpy(&slice, (const uint8_t *)b + s->field, sizeof slice);
    for (uint32_t i = from; i < from + n; i++) {
        const bool there = (b->have & b->has[i] & s->bit) && slice[i].len;
        PyObject *v = there ? slice_object(b, slice[i], s->text) : Py_NewRef(Py_None);
        const int r = v ? PyList_Append(list, v) : -1;

        Py_XDECREF(v);
        if (r < 0)
            return -1;
    }
    return 0;
}

/* ---- the buffer */

struct array {
    PyObject_HEAD PyObject *owner;
    void *p;
    Py_ssize_t n, stride;
    const struct py_column *column;
};

static int get_buffer(PyObject *self, Py_buffer *view, int flags)
{
    struct array *a = (struct array *)self;

    if ((flags & PyBUF_WRITABLE) && a->owner) {
        PyErr_SetString(PyExc_BufferError, "rows are for reading; copy them to change them");
        view->obj = NULL;
        return -1;
    }
    view->buf = a->p;
    view->obj = Py_NewRef(self);
    view->len = a->n * a->stride;
    view->itemsize = a->stride;
    view->readonly = a->owner != NULL;
    view->ndim = 1;
    view->format = NULL;
    if (flags & PyBUF_FORMAT) /* a constant: the protocol's field is not const */
        memcpy(&view->format, &a->column->format, sizeof view->format);
    view->shape = (flags & PyBUF_ND) == PyBUF_ND ? &a->n : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &a->stride : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static Py_ssize_t length(PyObject *self)
{
    return ((struct array *)self)->n;
}

static void release(PyObject *self)
{
    struct array *a = (struct array *)self;

    if (!a->owner)
        free(a->p);
    Py_XDECREF(a->owner);
    Py_TYPE(self)->tp_free(self);
}

static PyBufferProcs buffer = {.bf_getbuffer = get_buffer};
static PySequenceMethods sequence = {.sq_length = length};

PyTypeObject py_array_type = {
    .ob_base = PyVarObject_HEAD_INIT(NULL, 0).tp_name = "trod._trod.Array",
    .tp_doc = "The elements of a column, through the buffer protocol.",
    .tp_basicsize = sizeof(struct array),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = release,
    .tp_as_buffer = &buffer,
    .tp_as_sequence = &sequence,
};

PyObject *py_array(PyObject *owner, void *p, size_t n, const struct py_column *c)
{
    struct array *a = PyObject_New(struct array, &py_array_type);

    if (!a) {
        if (!owner)
            free(p);
        return NULL;
    }
    a->owner = Py_XNewRef(owner);
    a->p = p;
    a->n = (Py_ssize_t)n;
    a->stride = (Py_ssize_t)c->size;
    a->column = c;
    return (PyObject *)a;
}
