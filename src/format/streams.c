/*
 * streams.c - what encoders remember of streams. Implements streams.h.
 */
#include "format/streams.h"

#include <stdlib.h>
#include <string.h>

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
