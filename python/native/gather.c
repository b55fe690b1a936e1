/*
 * gather.c - whole columns of a trace, and what is known of it.
 *
 * Elements that rows do not say are 0 here: whole columns are for programs that do not look at has.
 */
#include "native.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_ROWS = 1 << 16, HUGE_FROM = 1 << 22 };

/* A column that grows, of numbers or of slices. */
struct whole {
    const struct py_column *column;
    const struct py_slices *slices;
    uint8_t *p;
    PyObject *list;
};

struct gathering {
    const struct trod_trace *trace;
    struct whole whole[PY_COLUMNS + PY_SLICES];
    size_t n;
    bool lists;
    size_t rows, room; /* of the columns of numbers */
    uint64_t left;     /* rows still wanted */
};

/*
 * Fresh memory is given page by page, each at the cost of a fault: large columns take large pages
 * where the system has them, as NumPy's own arrays do.
 */
static void take_large_pages(uint8_t *p, size_t size)
{
#ifdef MADV_HUGEPAGE
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)p & (page - 1);

    /* from the beginning of its first page on: in two parts it could not be moved as one */
    if (size >= HUGE_FROM)
        (void)madvise(p - before, (before + size + page - 1) & ~(page - 1), MADV_HUGEPAGE);
#else
    (void)p;
    (void)size;
#endif
}

/* Room for so many rows in each column. False: there is none, and the columns are what they were. */
static bool resize(struct gathering *g, size_t room)
{
    for (size_t k = 0; k < g->n; k++) {
        struct whole *w = &g->whole[k];
        uint8_t *p;

        if (!w->column)
            continue;
        if (room > SIZE_MAX / w->column->size || !(p = realloc(w->p, room * w->column->size)))
            return false;
        w->p = p;
        take_large_pages(p, room * w->column->size);
    }
    g->room = room;
    return true;
}

/* Rows that there will be if the files go on as they began; 0 where nobody knows. */
static size_t expected(const struct gathering *g)
{
    struct trod_trace_progress at;
    double all;

    trod_trace_progress(g->trace, &at);
    if (at.total == TROD_NOWHERE || at.bytes == 0 || at.bytes >= at.total)
        return 0;
    all = (double)g->rows * ((double)at.total / (double)at.bytes) * 1.25;
    if (all > (double)g->left + (double)g->rows)
        all = (double)g->left + (double)g->rows;
    return all < (double)(SIZE_MAX / 2) ? (size_t)all : 0;
}

/* Room for N more rows: for all that are to come, so that the columns need not be moved again. */
static int grow(struct gathering *g, size_t n)
{
    size_t room = g->room ? g->room : FIRST_ROWS;
    const size_t all = g->room && g->rows + n > g->room ? expected(g) : 0;

    while (room - g->rows < n)
        room *= 2;
    if (room == g->room || (all > room && resize(g, all)) || resize(g, room))
        return 0;
    return TROD_ERR_NOMEM;
}

static void blank(uint8_t *p, size_t size, const uint32_t *has, uint32_t bit, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!(has[i] & bit))
            memset(p + i * size, 0, size);
}

/* Rows [FROM, FROM + N) of B behind ROWS; ALL is what each of them says. */
static void add(struct whole *w, size_t rows, const struct trod_batch *b, uint32_t from, uint32_t n,
                uint32_t all)
{
    const struct py_column *c = w->column;
    uint8_t *to = w->p + rows * c->size;

    if (c->bit && !(b->have & c->bit)) {
        memset(to, 0, n * (size_t)c->size);
        return;
    }
    memcpy(to, (const uint8_t *)py_column_at(b, c) + from * (size_t)c->size, n * (size_t)c->size);
    if (c->bit & ~all)
        blank(to, c->size, b->has + from, c->bit, n);
}

static int add_all(struct gathering *g, const struct trod_batch *b, uint32_t from, uint32_t n)
{
    uint32_t all = UINT32_MAX;

    if (grow(g, n) < 0)
        return TROD_ERR_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        all &= b->has[from + i];
    for (size_t k = 0; k < g->n; k++)
        if (g->whole[k].column)
            add(&g->whole[k], g->rows, b, from, n, all);
    g->rows += n;
    return 0;
}

static int add_lists(struct gathering *g, const struct trod_batch *b, uint32_t from, uint32_t n)
{
    for (size_t k = 0; k < g->n; k++)
        if (g->whole[k].slices &&
            py_slices_append(g->whole[k].list, b, g->whole[k].slices, from, n) < 0)
            return -1;
    return 0;
}

/* Rows of the next batch, as many as are wanted; without Python's lock. *N is set to how many. */
static int gather_some(struct py_trace *t, struct gathering *g, struct trod_batch **b, uint32_t *n)
{
    int r = py_trace_step(t, b);

    if (r != 1)
        return r;
    *n = (*b)->n - t->at;
    if (*n > g->left)
        *n = (uint32_t)g->left;
    return add_all(g, *b, t->at, *n) < 0 ? TROD_ERR_NOMEM : 1;
}

/* As many batches as there are, or one where lists must grow with Python's lock. */
static int gather(struct py_trace *t, struct gathering *g)
{
    enum { AT_ONCE = 256 }; /* then signals are looked at */
    struct trod_batch *b = NULL;
    uint32_t n = 0;
    int r = 1;

    Py_BEGIN_ALLOW_THREADS
    for (int i = 0; r == 1 && g->left && i < (g->lists ? 1 : AT_ONCE); i++) {
        r = gather_some(t, g, &b, &n);
        if (r != 1)
            break;
        g->left -= n;
        if (!g->lists)
            py_trace_given(t, n);
    }
    Py_END_ALLOW_THREADS
    if (r != 1 || !g->lists)
        return r;
    r = add_lists(g, b, t->at, n);
    py_trace_given(t, n);
    return r < 0 ? r : 1;
}

static int prepare(struct gathering *g, PyObject *names)
{
    const Py_ssize_t n = PySequence_Length(names);

    if (py_columns_mask(names) == 0)
        return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(names, i);
        const char *name = item ? PyUnicode_AsUTF8(item) : NULL;
        struct whole *w = &g->whole[g->n];

        if (g->n == PY_COLUMNS + PY_SLICES)
            PyErr_SetString(PyExc_ValueError, "a column is named twice");
        else if (name) {
            w->column = py_column_find(name);
            w->slices = w->column ? NULL : py_slices_find(name);
            if (w->slices)
                w->list = PyList_New(0);
            g->lists = g->lists || w->slices;
            g->n++;
        }
        Py_XDECREF(item);
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

static PyObject *finish(struct gathering *g)
{
    PyObject *dict = PyDict_New();

    for (size_t k = 0; dict && k < g->n; k++) {
        struct whole *w = &g->whole[k];
        const char *name = w->column ? w->column->name : w->slices->name;
        PyObject *v;

        if (w->column) {
            uint8_t *fit = realloc(w->p, g->rows * w->column->size + 1);

            v = py_array(NULL, fit ? fit : w->p, g->rows, w->column);
            w->p = NULL;
        } else {
            v = w->list;
            w->list = NULL;
        }
        if (py_put(dict, name, v) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

/* A number of rows; one that is below 0 or too large is an OverflowError. */
static int take_limit(PyObject *limit, uint64_t *most)
{
    PyObject *whole = PyNumber_Index(limit);

    if (!whole)
        return -1;
    *most = PyLong_AsUnsignedLongLong(whole);
    Py_DECREF(whole);
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *py_trace_gather(PyObject *self, PyObject *args)
{
    struct py_trace *t = (struct py_trace *)self;
    struct gathering g = {.n = 0};
    uint64_t most;
    PyObject *names, *limit, *dict = NULL;
    int r = 1;

    if (!PyArg_ParseTuple(args, "OO", &names, &limit) || take_limit(limit, &most) < 0 ||
        py_trace_ready(t) < 0 || py_trace_leave(t) < 0)
        return NULL;
    g.trace = t->t;
    g.left = most;
    t->busy = true;
    if (prepare(&g, names) < 0)
        r = -1;
    while (r == 1 && g.left && !PyErr_Occurred()) {
        r = gather(t, &g);
        if (PyErr_Occurred() || PyErr_CheckSignals() < 0)
            break;
    }
    t->busy = false;
    if (r == TROD_ERR_NOMEM || (r < 0 && t->problems.diag.strict))
        py_raise(&t->problems, r);
    if (!PyErr_Occurred())
        dict = finish(&g);
    for (size_t k = 0; k < g.n; k++) {
        free(g.whole[k].p);
        Py_XDECREF(g.whole[k].list);
    }
    return dict;
}

/* ---- the meta */

static PyObject *known(uint64_t v)
{
    return v == TROD_NOWHERE ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(v);
}

static PyObject *stream(const struct trod_stream *s, uint32_t number)
{
    PyObject *d = PyDict_New();

    if (d && py_put(d, "number", PyLong_FromUnsignedLong(number)) == 0 &&
        py_put(d, "name",
               PyUnicode_DecodeUTF8(s->name ? s->name : "", s->name ? (Py_ssize_t)s->name_len : 0,
                                    "backslashreplace")) == 0 &&
        py_put(d, "tid", known(s->tid)) == 0 && py_put(d, "pid", known(s->pid)) == 0 &&
        py_put(d, "cpu", known(s->cpu)) == 0 &&
        py_put(d, "file", PyLong_FromUnsignedLong(s->file)) == 0)
        return d;
    Py_XDECREF(d);
    return NULL;
}

static PyObject *streams(const struct trod_meta *m)
{
    PyObject *list = PyList_New(0);

    for (uint32_t i = 0; list && i < m->n_streams; i++) {
        PyObject *d = stream(&m->streams[i], i);

        if (!d || PyList_Append(list, d) < 0)
            Py_CLEAR(list);
        Py_XDECREF(d);
    }
    return list;
}

static PyObject *text(const char *s)
{
    return s ? PyUnicode_FromString(s) : Py_NewRef(Py_None);
}

PyObject *py_meta(const struct trod_meta *m, const struct trod_format *f)
{
    static const char *const endian[] = {NULL, "little", "big"};
    PyObject *d = PyDict_New();

    if (d && py_put(d, "format", text(f ? f->name : NULL)) == 0 &&
        py_put(d, "dialect", text(m->dialect)) == 0 &&
        py_put(d, "isa", text(m->isa ? trod_isa_name(m->isa) : NULL)) == 0 &&
        py_put(d, "endian", text(endian[m->endian])) == 0 &&
        py_put(d, "addr_bits", PyLong_FromUnsignedLong(m->addr_bits)) == 0 &&
        py_put(d, "time_unit", text(trod_meta_unit_name(m, m->unit))) == 0 &&
        py_put(d, "line_size", PyLong_FromUnsignedLong(m->line_size)) == 0 &&
        py_put(d, "page_size", PyLong_FromUnsignedLong(m->page_size)) == 0 &&
        py_put(d, "version", PyLong_FromUnsignedLong(m->version)) == 0 &&
        py_put(d, "columns", PyLong_FromUnsignedLong(f ? f->reads : 0)) == 0 &&
        py_put(d, "streams", streams(m)) == 0)
        return d;
    Py_XDECREF(d);
    return NULL;
}
