/*
 * streams.c - what encoders remember of streams. Implements streams.h.
 */
#include "format/streams.h"

#include <stdlib.h>
#include <string.h>

void fmt_one_stream_check(struct fmt_one_stream *one, struct trod_loss *loss,
                          const struct trod_batch *b, uint32_t row, const char *why)
{
    if (!(b->have & b->has[row] & TROD_COL_STREAM))
        return;
    if (!one->set)
        one->stream = b->stream[row];
    one->set = true;
    if (b->stream[row] != one->stream)
        trod_loss_columns(loss, b, row, TROD_COL_STREAM, why);
}

void fmt_last_pc_set(struct fmt_last_pc *last, uint32_t stream, uint64_t pc)
{
    if (stream >= last->n) {
        const size_t n = 2 * (size_t)stream + 16;
        uint64_t *grown = realloc(last->pc, n * sizeof *grown);

        if (!grown)
            return;
        memset(grown + last->n, 0, (n - last->n) * sizeof *grown);
        last->pc = grown;
        last->n = n;
    }
    last->pc[stream] = pc;
}

void fmt_last_pc_fini(struct fmt_last_pc *last)
{
    free(last->pc);
}
