/*
 * test_filtered.c - rows that are left out of a trace leave the others as they were.
 *
 * Every golden file, and random rows of every format, of which records may be copied as they are
 * (verbatim), are written in their own format without some of their rows, and read again: the rows
 * are those that were chosen, in their order. Where the format cannot say those alone, the writer
 * must have said so. Tried with instructions only, without writes, with every third row left out.
 */
#include "prop.h"

#include "trod/trod.h"

#include <unistd.h>

enum { GENERATED = 10 };

/* What is left out. */
enum choice { INSTRUCTIONS, NO_WRITES, NO_THIRD, CHOICES };

static const char *const names[CHOICES] = {"instructions only", "no writes", "no third row"};

/* What is compared of a row. */
struct seen {
    uint8_t kind;
    uint64_t addr, value;
};

struct list {
    struct seen *row;
    size_t n;
};

static bool chosen(enum choice choice, uint8_t kind, uint64_t row)
{
    switch (choice) {
    case INSTRUCTIONS:
        return kind == TROD_INSTR;
    case NO_WRITES:
        return kind != TROD_WRITE;
    default:
        return row % 3 != 1;
    }
}

static void add(struct list *l, const struct trod_batch *b, uint32_t i)
{
    const uint32_t has = b->have & b->has[i];

    l->row = realloc(l->row, (l->n + 1) * sizeof *l->row);
    assert_non_null(l->row);
    l->row[l->n++] = (struct seen){.kind = b->kind[i],
                                   .addr = has & TROD_COL_ADDR ? b->addr[i] : 0,
                                   .value = has & TROD_COL_VALUE ? b->value[i] : 0};
}

/* The rows of B go to W, and those of CHOICE to L; *ROW is the number of the first. */
static int put(struct trod_writer *w, struct trod_batch *b, enum choice choice, uint64_t *row,
               struct list *l)
{
    uint8_t keep[TROD_BATCH_ROWS];

    for (uint32_t i = 0; i < b->n; i++) {
        keep[i] = chosen(choice, b->kind[i], *row + i);
        if (keep[i])
            add(l, b, i);
    }
    *row += b->n;
    return trod_writer_put_some(w, b, keep);
}

/* IN without what CHOICE leaves out to OUT, and its rows to L. */
static int leave_out(const struct golden *g, const char *in, const char *out, enum choice choice,
                     struct list *l)
{
    const struct trod_trace_options opt = {.from = g->format->name, .want = TROD_COL_ALL};
    struct trod_writer_options w = {.to = g->format->name, .drops = TROD_DROP_OTHER};
    struct trod_writer_summary sum;
    struct trod_writer *writer;
    struct trod_diag quiet;
    struct trod_trace *t;
    struct trod_batch *b;
    uint64_t row = 0;
    int rc;

    trod_diag_init(&quiet, NULL, NULL);
    assert_int_equal(trod_trace_open(&t, &in, 1, &opt, &quiet), TROD_OK);
    w.source = trod_trace_format(t);
    w.source_options = trod_trace_format_options(t);
    rc = trod_writer_open(&writer, out, &w, trod_trace_meta(t), &quiet);
    while (rc == TROD_OK && trod_trace_next(t, &b) > 0)
        rc = put(writer, b, choice, &row, l);
    if (rc == TROD_OK)
        rc = trod_writer_commit(writer, &sum);
    else
        trod_writer_discard(writer);
    trod_trace_close(t);
    return rc;
}

static void same_rows(const struct golden *g, const char *path, enum choice choice,
                      const struct list *l)
{
    const struct trod_trace_options opt = {.from = g->format->name, .want = TROD_COL_ALL};
    struct trod_diag quiet;
    struct trod_trace *t;
    struct trod_batch *b;
    struct list out = {0};

    trod_diag_init(&quiet, NULL, NULL);
    assert_int_equal(trod_trace_open(&t, &path, 1, &opt, &quiet), TROD_OK);
    while (trod_trace_next(t, &b) > 0)
        for (uint32_t i = 0; i < b->n; i++)
            add(&out, b, i);
    trod_trace_close(t);
    prop_true(out.n == l->n, g, names[choice], out.n);
    for (size_t i = 0; i < out.n; i++)
        prop_true(out.row[i].kind == l->row[i].kind && out.row[i].addr == l->row[i].addr &&
                      out.row[i].value == l->row[i].value,
                  g, names[choice], i);
    free(out.row);
}

static unsigned written;

static void try_input(const struct golden *g)
{
    char *dir, *in, *out;

    if (!g->format->verbatim || !g->format->begin || g->damaged)
        return;
    dir = test_tmpdir();
    in = test_path(dir, "in");
    out = test_path(dir, "out");
    test_save(in, g->data.p, g->data.n);
    for (unsigned choice = 0; choice < CHOICES; choice++) {
        struct list rows = {0};

        if (leave_out(g, in, out, choice, &rows) == TROD_OK && rows.n > 0) {
            same_rows(g, out, choice, &rows);
            written++;
        }
        free(rows.row);
        unlink(out);
    }
    test_remove(dir);
    free(dir);
    free(in);
    free(out);
}

static void test_filtered(void **state)
{
    (void)state;
    golden_each(GENERATED, try_input);
    print_message("%u traces\n", written);
    assert_true(written > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_filtered)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
