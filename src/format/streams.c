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

static const char not_shown[] = "the instruction there does not follow in the output";

void fmt_aims_set(struct fmt_aims *aims, struct trod_loss *l, const struct trod_batch *b,
                  uint32_t row, uint32_t stream)
{
    if (stream >= aims->n) {
        const size_t n = 2 * (size_t)stream + 16;
        struct fmt_aim *grown = realloc(aims->of, n * sizeof *grown);

        if (!grown) {
            trod_loss_columns(l, b, row, TROD_COL_TARGET, "there is no memory to follow it");
            return;
        }
        memset(grown + aims->n, 0, (n - aims->n) * sizeof *grown);
        aims->of = grown;
        aims->n = n;
    }
    aims->of[stream] = (struct fmt_aim){trod_loss_hold(b, row), b->target[row], true};
    aims->waiting++;
}

void fmt_aims_settle(struct fmt_aims *aims, struct trod_loss *l, uint32_t stream, uint64_t pc)
{
    struct fmt_aim *aim = stream < aims->n ? &aims->of[stream] : NULL;

    if (!aim || !aim->waits)
        return;
    aim->waits = false;
    aims->waiting--;
    if (aim->target != pc)
        trod_loss_late(l, &aim->row, TROD_COL_TARGET, not_shown);
}

void fmt_aims_end(struct fmt_aims *aims, struct trod_loss *l)
{
    for (size_t i = 0; i < aims->n; i++) {
        if (aims->of[i].waits)
            trod_loss_late(l, &aims->of[i].row, TROD_COL_TARGET, not_shown);
        aims->of[i].waits = false;
    }
    aims->waiting = 0;
}

void fmt_aims_fini(struct fmt_aims *aims)
{
    free(aims->of);
}
