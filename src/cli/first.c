/*
 * first.c - implements first.h.
 */
#include "first.h"

#include <string.h>

bool cli_first_wait(struct cli_first *f, const struct trod_batch *b, uint32_t i, uint64_t row,
                    uint8_t mark, bool keep)
{
    uint32_t n;

    if (f->over || !cli_first_waits(f, row) || (!f->b && trod_batch_new(&f->b, CLI_FIRST) < 0))
        return false;
    n = f->b->n;
    if (n == 0) {
        trod_batch_clear(f->b);
        f->b->want = TROD_COL_ALL;
    }
    if (n == CLI_FIRST || trod_batch_append(f->b, b, i, 1) != 1)
        return false;
    f->meta = *b->meta; /* B's, which the copy has now, may go with its trace */
    f->b->meta = &f->meta;
    f->row[n] = row;
    f->mark[n] = mark;
    f->keep[n] = keep;
    return true;
}

bool cli_first_waits(const struct cli_first *f, uint64_t row)
{
    return !f->over && (!f->b || f->b->n == 0 || row - f->row[0] < CLI_FIRST_REACH);
}

void cli_first_fini(struct cli_first *f)
{
    trod_batch_free(f->b);
    f->b = NULL;
}

void cli_first_measure(struct trod_show *rows, const struct trod_batch *b, uint32_t i, uint64_t row)
{
    uint8_t keep[TROD_BATCH_ROWS] = {0};

    keep[i] = 1;
    trod_show_measure(rows, b, keep, cli_first_row(row));
}
