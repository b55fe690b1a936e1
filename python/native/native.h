/*
 * native.h - what the parts of trod._trod share.
 *
 * The extension is thin: it makes NumPy-ready buffers of columns, turns results into Python objects
 * and lets other Python threads run while the library works. Names, defaults and conversions of
 * arguments are python/trod/__init__.py's.
 */
#ifndef TROD_NATIVE_H
#define TROD_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <trod/trod.h>

/* ---- problems (problems.c) */

struct py_problem {
    struct py_problem *next;
    enum trod_severity severity;
    int status;
    char *kind, *path, *message;
    uint64_t offset, record, line;
};

/* A diag and what it was told. Filled by whichever thread the library works on, without Python. */
struct py_problems {
    struct trod_diag diag;
    struct py_problem *first, **end;
};

void py_problems_init(struct py_problems *p, bool strict);
void py_problems_fini(struct py_problems *p);
/* A list of dicts. */
PyObject *py_problems_list(const struct py_problems *p);
/* Raise trod.Error for STATUS with the problems so far. Always NULL. */
PyObject *py_raise(const struct py_problems *p, int status);
extern PyObject *py_error;

/* ---- arguments (args.c) */

enum { PY_KEPT = 64 };

/* Texts that C structs point into. */
struct py_args {
    PyObject *paths; /* list of bytes */
    const char **path;
    size_t n_paths;
    char *text[PY_KEPT]; /* copies that option parsing cuts up */
    size_t n_text;
    struct trod_match_options filter;
    bool filtered;
};

/*
 * Take PATHS (a list of bytes) and FILTER (a list of pairs of texts: option, value or None).
 * OPTIONS is a dict of fields of struct trod_trace_options, some under other names. 0, or -1 with a
 * Python exception. Release with py_args_fini, also after an error.
 */
int py_args_init(struct py_args *a, PyObject *paths, PyObject *filter, struct py_problems *p);
int py_trace_options(struct trod_trace_options *t, PyObject *options);
void py_args_fini(struct py_args *a);
/* A copy of TEXT that lives as long as A; NULL with a Python exception. */
char *py_args_keep(struct py_args *a, const char *text);
/* OPTIONS[NAME] as a text, number or truth; what stands for absence where there is none. */
const char *py_option_text(PyObject *options, const char *name);
int py_option_number(PyObject *options, const char *name, uint64_t *out);
bool py_option_true(PyObject *options, const char *name);

/* ---- columns (columns.c) */

struct py_column {
    const char *name, *format; /* of the buffer protocol */
    size_t field;              /* in struct trod_batch */
    unsigned size;
    uint32_t bit; /* 0: has */
};

extern const struct py_column py_columns[];
enum { PY_COLUMNS = 15 };

/* Columns of slices: bytes or text. */
struct py_slices {
    const char *name;
    size_t field;
    uint32_t bit;
    bool text;
};

extern const struct py_slices py_slices[];
enum { PY_SLICES = 4 };

const struct py_column *py_column_find(const char *name);
const struct py_slices *py_slices_find(const char *name);
uint32_t py_columns_mask(PyObject *names); /* 0 with an exception where one is unknown */
const void *py_column_at(const struct trod_batch *b, const struct py_column *c);
/* Rows [FROM, FROM + N) of slices as objects (None where absent), appended to LIST. 0 or -1. */
int py_slices_append(PyObject *list, const struct trod_batch *b, const struct py_slices *s,
                     uint32_t from, uint32_t n);

/*
 * A buffer of N elements at P. OWNER (may be NULL) is kept; with no owner P is freed at the end,
 * and who gets the buffer may write to it.
 */
PyObject *py_array(PyObject *owner, void *p, size_t n, const struct py_column *c);
extern PyTypeObject py_array_type;

/* ---- traces (trace.c, gather.c) */

enum { PY_SPARE = 4 };

/* Batches that nobody needs any more, for the trace to fill again. */
struct py_pool {
    unsigned refs;
    bool open;
    struct trod_batch *spare[PY_SPARE];
    unsigned n;
};

struct py_batch {
    PyObject_HEAD struct trod_batch *b;
    struct py_pool *pool;
    uint64_t first;
    bool owned;  /* b is this object's: the trace fills another one */
    bool slices; /* what slices point to is still there */
};

struct py_trace {
    PyObject_HEAD struct trod_trace *t;
    struct trod_match *match;
    struct py_problems problems;
    struct py_args args;
    struct py_pool *pool;
    struct py_batch *current;
    struct trod_batch *rest; /* what was read last; NULL: all its rows were given */
    uint32_t at;             /* of the next row of it to give */
    bool dropped;            /* rows of it did not match */
    bool made, busy, copies;
};

extern PyTypeObject py_batch_type, py_trace_type;

/*
 * The next rows that match, as trod_trace_next: from T->at on, those of *B that were not given yet;
 * without Python's lock.
 */
int py_trace_step(struct py_trace *t, struct trod_batch **b);
/* N rows of that batch were given. */
void py_trace_given(struct py_trace *t, uint32_t n);
/* Check that T can be read; -1 with an exception where not. */
int py_trace_ready(struct py_trace *t);
/* Rows are about to be overwritten: part from the batch that somebody may look at. */
int py_trace_leave(struct py_trace *t);
PyObject *py_trace_gather(PyObject *self, PyObject *args);
PyObject *py_meta(const struct trod_meta *m, const struct trod_format *f);

/* ---- functions (run.c, result.c, convert.c) */

PyObject *py_run(PyObject *module, PyObject *args);
PyObject *py_convert(PyObject *module, PyObject *args);
PyObject *py_result(const struct trod_node *node);
PyObject *py_analyses(PyObject *module, PyObject *none);
PyObject *py_formats(PyObject *module, PyObject *none);
/* Rows lost, by kind and by kind and column. */
PyObject *py_loss(const struct trod_loss *l);

extern PyTypeObject py_writer_type;

/* Put V (a new reference, or NULL after an error) into DICT. 0 or -1. */
int py_put(PyObject *dict, const char *key, PyObject *v);

#endif
