/*
 * frames.c - folded stacks as the functions of a flame graph (report.h).
 *
 * The stacks are walked in an order in which those that begin alike are neighbours, so that a path
 * of open functions is all that has to be remembered. Functions too small to be seen are summed up
 * in the one that called them; the sum of all stays what it is.
 */
#include "report/report.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

struct frame {
    const char *name;
    size_t len;
    uint32_t parent, row; /* row: in the table */
    uint64_t self, total;
};

struct framing {
    struct frame *frame;
    size_t n, cap;
    uint32_t *path; /* open functions, outermost first */
    size_t depth, path_cap;
};

/* What ends a name comes before all that may stand in one. */
static unsigned rank(const char *s, size_t i)
{
    const unsigned char c = (unsigned char)s[i];

    return c == '\0' ? 0 : c == ';' ? 1 : c + 1u;
}

static int compare(const void *a, const void *b)
{
    const struct trod_value *x = *(const struct trod_value *const *)a,
                            *y = *(const struct trod_value *const *)b;
    const char *s = x->is.str, *t = y->is.str;
    size_t i = 0;

    while (s[i] && s[i] == t[i])
        i++;
    return (int)rank(s, i) - (int)rank(t, i);
}

static bool push(struct framing *k, const char *name, size_t len)
{
    const uint32_t parent = k->depth ? k->path[k->depth - 1] : 0;

    if (!trod_grow(&k->frame, k->n, &k->cap, sizeof *k->frame, 256) ||
        !trod_grow(&k->path, k->depth, &k->path_cap, sizeof *k->path, 64))
        return false;
    k->frame[k->n] = (struct frame){.name = name, .len = len, .parent = parent};
    k->path[k->depth++] = (uint32_t)k->n++;
    return true;
}

static bool open_is(const struct framing *k, size_t depth, const char *name, size_t len)
{
    const struct frame *f = depth < k->depth ? &k->frame[k->path[depth]] : NULL;

    return f && f->len == len && memcmp(f->name, name, len) == 0;
}

/* COUNT more for STACK. The root is at depth 0. */
static bool add(struct framing *k, const char *stack, uint64_t count)
{
    size_t depth = 1;

    for (const char *at = stack; *at; depth++) {
        const size_t len = strcspn(at, ";");

        if (!open_is(k, depth, at, len)) {
            k->depth = depth;
            if (!push(k, at, len))
                return false;
        }
        at += len + (at[len] == ';');
    }
    k->depth = depth;
    k->frame[k->path[depth - 1]].self += count;
    return true;
}

static int larger_first(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* Sum up, and return the cost beyond which there are no more than ROWS functions. */
static uint64_t sum_up(struct framing *k, uint64_t *total, uint64_t rows)
{
    for (size_t i = 0; i < k->n; i++)
        k->frame[i].total = k->frame[i].self;
    for (size_t i = k->n; i-- > 1;)
        k->frame[k->frame[i].parent].total += k->frame[i].total;
    for (size_t i = 0; i < k->n; i++)
        total[i] = k->frame[i].total;
    qsort(total, k->n, sizeof *total, larger_first);
    return rows < k->n ? total[rows] : 0;
}

static void put(struct framing *k, uint64_t least, struct trod_result *out)
{
    static const struct trod_result_column columns[] = {
        {"parent", TROD_COLUMN_PLAIN, NULL, "row of its caller, from 0"},
        {"name", TROD_COLUMN_KEY, NULL, NULL},
        {"total", TROD_COLUMN_MEASURE, NULL, "with all that it called"},
        {"self", TROD_COLUMN_MEASURE, NULL, "by itself, and by what is too small to be shown"},
    };
    uint32_t row = 0;

    for (size_t i = k->n; i-- > 1;)
        if (k->frame[i].total <= least)
            k->frame[k->frame[i].parent].self += k->frame[i].self;
    trod_result_table(out, "frames", "functions by what they cost with all that they called",
                      columns, 4);
    for (size_t i = 0; i < k->n; i++) {
        struct frame *f = &k->frame[i];

        if (i && f->total <= least)
            continue;
        f->row = row++;
        if (i)
            trod_result_u64(out, NULL, k->frame[f->parent].row);
        else
            trod_result_absent(out);
        trod_result_strn(out, NULL, f->name, f->len < TROD_REPORT_NAME ? f->len : TROD_REPORT_NAME);
        trod_result_u64(out, NULL, f->total);
        trod_result_u64(out, NULL, f->self);
        trod_result_row_end(out);
    }
    trod_result_table_close(out);
}

int report_frames(const struct trod_node *stacks, uint64_t rows, struct trod_result *out,
                  uint64_t *all, uint64_t *kept)
{
    const int name = trod_result_column(stacks, "stack"),
              count = trod_result_column(stacks, "count");
    const struct trod_value **row = calloc(stacks->n_rows + 1, sizeof *row);
    struct framing k = {.frame = NULL};
    bool ok = row && push(&k, "all", 3);
    uint64_t *total = NULL, least;

    for (size_t i = 0; ok && i < stacks->n_rows; i++)
        row[i] = &stacks->cells[i * stacks->n_columns + (size_t)name];
    if (ok)
        qsort(row, stacks->n_rows, sizeof *row, compare);
    for (size_t i = 0; ok && i < stacks->n_rows; i++)
        ok = add(&k, row[i]->is.str, row[i][count - name].is.u64);
    ok = ok && (total = calloc(k.n, sizeof *total));
    if (ok) {
        least = sum_up(&k, total, rows);
        for (*all = k.n, *kept = 1; *kept < k.n && total[*kept] > least;)
            ++*kept;
        put(&k, least, out);
    }
    free(total);
    free(row);
    free(k.frame);
    free(k.path);
    return ok ? TROD_OK : TROD_ERR_NOMEM;
}
