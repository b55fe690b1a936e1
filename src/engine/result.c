/*
 * result.c - building and reading the result of an analysis.
 *
 * Implements trod/result.h. Nodes and texts live in an arena of blocks that is released as a whole;
 * the cells of a table grow in one array, which belongs to the table that is open or was built.
 */
#include "engine/result_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384 };

struct block {
    struct block *next;
    size_t used, cap;
    max_align_t bytes[];
};

/* The cells of one table. */
struct cells {
    struct cells *next;
    struct trod_value *at;
    size_t n, cap;
};

struct level {
    struct trod_node *node, *last;
};

struct trod_result {
    struct trod_node root;
    struct level level[TROD_EMIT_DEPTH];
    unsigned depth;
    struct block *blocks;
    struct cells *cells;     /* of the newest table first */
    struct trod_node *table; /* that is open, or NULL */
    struct trod_node *value; /* added last, or NULL */
    int status;
};

int trod_result_new(struct trod_result **out)
{
    struct trod_result *r = calloc(1, sizeof *r);

    *out = r;
    if (!r)
        return TROD_ERR_NOMEM;
    r->root.type = TROD_NODE_OBJECT;
    r->level[0].node = &r->root;
    return TROD_OK;
}

void trod_result_free(struct trod_result *r)
{
    if (!r)
        return;
    while (r->blocks) {
        struct block *next = r->blocks->next;

        free(r->blocks);
        r->blocks = next;
    }
    while (r->cells) {
        struct cells *next = r->cells->next;

        free(r->cells->at);
        free(r->cells);
        r->cells = next;
    }
    free(r);
}

int trod_result_status(const struct trod_result *r)
{
    return r->status;
}

/* N bytes that live as long as R, zeroed; NULL when there is no memory, which R remembers. */
static void *take(struct trod_result *r, size_t n)
{
    struct block *b = r->blocks;
    void *p;

    n = (n + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!b || b->cap - b->used < n) {
        size_t cap = n > BLOCK ? n : BLOCK;

        b = calloc(1, sizeof *b + cap);
        if (!b) {
            r->status = TROD_ERR_NOMEM;
            return NULL;
        }
        b->cap = cap;
        b->next = r->blocks;
        r->blocks = b;
    }
    p = (uint8_t *)b->bytes + b->used;
    b->used += n;
    return p;
}

static const char *copy_text(struct trod_result *r, const char *s, size_t n)
{
    char *p = take(r, n + 1);

    if (p)
        memcpy(p, s, n);
    return p;
}

static const char *copy_name(struct trod_result *r, const char *s)
{
    return s ? copy_text(r, s, strlen(s)) : NULL;
}

/*
 * The number that NAME has of those called KEY: 1 if it is KEY, N if it is KEY_N. 0: it is another
 * name.
 */
static unsigned long number_of(const char *name, const char *key, size_t len)
{
    unsigned long n;
    char *end;

    if (strncmp(name, key, len) != 0)
        return 0;
    if (!name[len])
        return 1;
    if (name[len] != '_' || name[len + 1] < '1' || name[len + 1] > '9')
        return 0;
    n = strtoul(name + len + 1, &end, 10);
    return *end || n == 1 ? 0 : n; /* KEY_1 is a name of its own */
}

/* KEY for a member of OBJECT, copied; with a number behind it where OBJECT has one of that name. */
static const char *own_key(struct trod_result *r, const struct trod_node *object, const char *key)
{
    const size_t len = key ? strlen(key) : 0;
    unsigned long most = 1;
    bool taken = false;
    char numbered[128];

    for (const struct trod_node *c = object->first; key && c; c = c->next) {
        const unsigned long n = c->key && *c->key == *key ? number_of(c->key, key, len) : 0;

        taken |= n == 1;
        most = n > most ? n : most;
    }
    if (!taken)
        return copy_name(r, key);
    snprintf(numbered, sizeof numbered, "%.100s_%lu", key, most + 1);
    return copy_name(r, numbered);
}

/* A node of TYPE after the last child of the open level. NULL: no memory. */
static struct trod_node *add(struct trod_result *r, enum trod_node_type type, const char *key)
{
    struct level *l = &r->level[r->depth];
    struct trod_node *n = take(r, sizeof *n);

    r->value = NULL;
    if (!n)
        return NULL;
    n->type = type;
    n->key = l->node->type == TROD_NODE_LIST ? NULL : own_key(r, l->node, key);
    if (l->last)
        l->last->next = n;
    else
        l->node->first = n;
    l->last = n;
    return n;
}

static void begin(struct trod_result *r, enum trod_node_type type, const char *key,
                  const char *title)
{
    struct trod_node *n = add(r, type, key);

    if (!n || r->depth + 1 >= TROD_EMIT_DEPTH) {
        r->status = TROD_ERR_NOMEM;
        return;
    }
    n->title = copy_name(r, title);
    r->level[++r->depth] = (struct level){.node = n};
}

static void end(struct trod_result *r)
{
    if (r->depth)
        r->depth--;
}

void trod_result_open(struct trod_result *r, const char *key, const char *title)
{
    begin(r, TROD_NODE_OBJECT, key, title);
}

void trod_result_close(struct trod_result *r)
{
    end(r);
}

void trod_result_list(struct trod_result *r, const char *key, const char *title)
{
    begin(r, TROD_NODE_LIST, key, title);
}

void trod_result_list_close(struct trod_result *r)
{
    end(r);
}

/* ---- values and cells */

static void add_cell(struct trod_result *r, struct trod_value v)
{
    struct cells *c = r->cells;

    if (c->n == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 64;
        struct trod_value *at = realloc(c->at, cap * sizeof *at);

        if (!at) {
            r->status = TROD_ERR_NOMEM;
            return;
        }
        c->at = at;
        c->cap = cap;
        r->table->cells = at;
    }
    c->at[c->n++] = v;
}

static void put(struct trod_result *r, const char *key, struct trod_value v)
{
    struct trod_node *n;

    if (r->table) {
        add_cell(r, v);
        return;
    }
    n = add(r, TROD_NODE_VALUE, key);
    if (n)
        n->value = v;
    r->value = n;
}

void trod_result_u64(struct trod_result *r, const char *key, uint64_t v)
{
    put(r, key, (struct trod_value){.type = TROD_RESULT_U64, .is.u64 = v});
}

void trod_result_i64(struct trod_result *r, const char *key, int64_t v)
{
    put(r, key, (struct trod_value){.type = TROD_RESULT_I64, .is.i64 = v});
}

void trod_result_hex(struct trod_result *r, const char *key, uint64_t v)
{
    put(r, key, (struct trod_value){.type = TROD_RESULT_HEX, .is.u64 = v});
}

void trod_result_f64(struct trod_result *r, const char *key, double v, int decimals)
{
    put(r, key, (struct trod_value){.type = TROD_RESULT_F64, .decimals = decimals, .is.f64 = v});
}

void trod_result_bool(struct trod_result *r, const char *key, bool v)
{
    put(r, key, (struct trod_value){.type = TROD_RESULT_BOOL, .is.boolean = v});
}

void trod_result_str(struct trod_result *r, const char *key, const char *v)
{
    trod_result_strn(r, key, v, strlen(v));
}

void trod_result_strn(struct trod_result *r, const char *key, const char *v, size_t n)
{
    const char *s = copy_text(r, v, n);

    if (s)
        put(r, key, (struct trod_value){.type = TROD_RESULT_STR, .is.str = s});
}

void trod_result_below(struct trod_result *r, const char *key, const char *v, unsigned blanks)
{
    const char *s = copy_text(r, v, strlen(v));

    if (s)
        put(r, key,
            (struct trod_value){.type = TROD_RESULT_STR, .decimals = (int)blanks, .is.str = s});
}

void trod_result_absent(struct trod_result *r)
{
    if (r->table)
        add_cell(r, (struct trod_value){.type = TROD_RESULT_ABSENT});
}

void trod_result_describe(struct trod_result *r, const char *unit, const char *about)
{
    if (!r->value)
        return;
    r->value->unit = unit;
    r->value->about = about;
}

/* ---- tables */

void trod_result_table(struct trod_result *r, const char *key, const char *title,
                       const struct trod_result_column *columns, size_t n)
{
    struct trod_node *t = add(r, TROD_NODE_TABLE, key);
    struct trod_result_column *copy = take(r, n * sizeof *copy);
    struct cells *c = calloc(1, sizeof *c);

    if (!t || !copy || !c) {
        free(c);
        r->status = TROD_ERR_NOMEM;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        copy[i] = columns[i];
        copy[i].name = copy_name(r, columns[i].name);
    }
    t->title = copy_name(r, title);
    t->columns = copy;
    t->n_columns = n;
    c->next = r->cells;
    r->cells = c;
    r->table = t;
}

void trod_result_counts(struct trod_result *r, const char *key, const char *title,
                        const char *const *names, size_t n)
{
    struct trod_result_column columns[TROD_RESULT_COLUMNS];

    if (n > TROD_RESULT_COLUMNS)
        n = TROD_RESULT_COLUMNS;
    for (size_t i = 0; i < n; i++)
        columns[i] = (struct trod_result_column){.name = names[i],
                                                 .role = i ? TROD_COLUMN_MEASURE : TROD_COLUMN_KEY};
    trod_result_table(r, key, title, columns, n);
}

void trod_result_row_end(struct trod_result *r)
{
    struct trod_node *t = r->table;

    if (!t)
        return;
    while (r->status == TROD_OK && r->cells->n % t->n_columns)
        trod_result_absent(r);
    t->n_rows = r->cells->n / t->n_columns;
}

/* Of thousands of threads each has tables: no room is kept for cells that do not come. */
void trod_result_table_close(struct trod_result *r)
{
    struct cells *c = r->cells;
    struct trod_value *at = NULL;

    if (r->table && c->n && c->n < c->cap)
        at = realloc(c->at, c->n * sizeof *at);
    if (at) {
        c->at = at;
        c->cap = c->n;
        r->table->cells = at;
    }
    r->table = NULL;
}

/* ---- reading */

const struct trod_node *trod_result_root(const struct trod_result *r)
{
    return &r->root;
}

static const struct trod_node *child(const struct trod_node *n, const char *name, size_t len)
{
    size_t number = 0, wanted = 0;
    const struct trod_node *c;

    if (n->type == TROD_NODE_LIST)
        for (size_t i = 0; i < len; i++) {
            if (name[i] < '0' || name[i] > '9')
                return NULL;
            wanted = 10 * wanted + (size_t)(name[i] - '0');
        }
    if (n->type != TROD_NODE_LIST && n->type != TROD_NODE_OBJECT)
        return NULL;
    for (c = n->first; c; c = c->next, number++)
        if (n->type == TROD_NODE_LIST
                ? number == wanted
                : c->key && strlen(c->key) == len && memcmp(c->key, name, len) == 0)
            return c;
    return NULL;
}

const struct trod_node *trod_result_find(const struct trod_result *r, const char *path)
{
    const struct trod_node *n = &r->root;

    while (n && *path) {
        size_t len = strcspn(path, ".");

        n = child(n, path, len);
        path += len + (path[len] == '.');
    }
    return n;
}

int trod_result_column(const struct trod_node *t, const char *name)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- copying and printing: one walk over the tree, two things to do with what it meets */

void result_add_value(struct trod_result *r, const char *key, const struct trod_value *v)
{
    if (v->type == TROD_RESULT_STR)
        trod_result_below(r, key, v->is.str, (unsigned)v->decimals);
    else
        put(r, key, *v);
}

static void add_node(struct trod_result *r, const struct trod_node *n)
{
    switch (n->type) {
    case TROD_NODE_VALUE:
        result_add_value(r, n->key, &n->value);
        trod_result_describe(r, n->unit, n->about);
        break;
    case TROD_NODE_TABLE:
        trod_result_table(r, n->key, n->title, n->columns, n->n_columns);
        for (size_t i = 0; i < n->n_rows * n->n_columns; i++) {
            result_add_value(r, NULL, &n->cells[i]);
            if ((i + 1) % n->n_columns == 0)
                trod_result_row_end(r);
        }
        trod_result_table_close(r);
        break;
    default:
        begin(r, n->type, n->key, n->title);
        for (const struct trod_node *c = n->first; c; c = c->next)
            add_node(r, c);
        end(r);
    }
}

void trod_result_add(struct trod_result *into, const struct trod_result *from)
{
    if (from->status < 0)
        into->status = from->status;
    for (const struct trod_node *c = from->root.first; c && into->status == TROD_OK; c = c->next)
        add_node(into, c);
}

/* How people read a number. */
enum manner { AS_NUMBER, AS_COUNT, AS_BYTES };

/* NAME of a field or a column; UNIT of a field. Numbers that name something are not grouped. */
static enum manner manner_of(const char *name, const char *unit)
{
    static const char *const identities[] = {"tid",    "pid",    "cpu",      "core",   "thread",
                                             "agent",  "stream", "number",   "file",   "seed",
                                             "window", "format", "interval", "version"};

    for (size_t i = 0; name && i < sizeof identities / sizeof *identities; i++)
        if (strcmp(name, identities[i]) == 0)
            return AS_NUMBER;
    return unit && strcmp(unit, "bytes") == 0 ? AS_BYTES : AS_COUNT;
}

static enum manner manner_of_column(const struct trod_result_column *c)
{
    if (c->role == TROD_COLUMN_KEY || (c->role != TROD_COLUMN_MEASURE && !c->unit))
        return AS_NUMBER;
    return manner_of(c->name, NULL);
}

static void emit_value(struct trod_emit *e, const char *key, const struct trod_value *v,
                       enum manner manner)
{
    switch (v->type) {
    case TROD_RESULT_U64:
        if (manner == AS_BYTES)
            trod_emit_bytes(e, key, v->is.u64);
        else if (manner == AS_COUNT)
            trod_emit_count(e, key, v->is.u64);
        else
            trod_emit_u64(e, key, v->is.u64);
        break;
    case TROD_RESULT_I64:
        trod_emit_i64(e, key, v->is.i64);
        break;
    case TROD_RESULT_HEX:
        trod_emit_hex(e, key, v->is.u64);
        break;
    case TROD_RESULT_F64:
        trod_emit_f64(e, key, v->is.f64, v->decimals);
        break;
    case TROD_RESULT_BOOL:
        trod_emit_bool(e, key, v->is.boolean);
        break;
    case TROD_RESULT_STR:
        trod_emit_below(e, key, v->is.str, (unsigned)v->decimals);
        break;
    default:
        trod_emit_absent(e);
    }
}

static void emit_table(struct trod_emit *e, const struct trod_node *n)
{
    const char **names = calloc(n->n_columns, sizeof *names);

    if (!names)
        return;
    for (size_t i = 0; i < n->n_columns; i++)
        names[i] = n->columns[i].name;
    trod_emit_table(e, n->key, n->title, names, n->n_columns);
    for (size_t i = 0; i < n->n_rows * n->n_columns; i++) {
        emit_value(e, NULL, &n->cells[i], manner_of_column(&n->columns[i % n->n_columns]));
        if ((i + 1) % n->n_columns == 0)
            trod_emit_row_end(e);
    }
    trod_emit_table_close(e);
    free(names);
}

static void emit_node(struct trod_emit *e, const struct trod_node *n)
{
    switch (n->type) {
    case TROD_NODE_VALUE:
        emit_value(e, n->key, &n->value, manner_of(n->key, n->unit));
        break;
    case TROD_NODE_TABLE:
        emit_table(e, n);
        break;
    case TROD_NODE_OBJECT:
        trod_emit_open(e, n->key, n->title);
        for (const struct trod_node *c = n->first; c; c = c->next)
            emit_node(e, c);
        trod_emit_close(e);
        break;
    case TROD_NODE_LIST:
        trod_emit_list(e, n->key, n->title);
        for (const struct trod_node *c = n->first; c; c = c->next)
            emit_node(e, c);
        trod_emit_list_close(e);
        break;
    }
}

void trod_result_emit(const struct trod_result *r, struct trod_emit *e)
{
    for (const struct trod_node *c = r->root.first; c; c = c->next)
        emit_node(e, c);
}
