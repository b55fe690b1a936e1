/*
 * streams.c - what encoders remember of streams. Implements streams.h.
 */
#include "format/streams.h"

#include "core/grow.h"

#include <stdlib.h>

void fmt_last_pc_set(struct fmt_last_pc *last, uint32_t stream, uint64_t pc)
{
    if (trod_grow_to(&last->pc, &last->n, stream, sizeof *last->pc, NULL))
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
    if (!trod_grow_to(&aims->of, &aims->n, stream, sizeof *aims->of, NULL)) {
        trod_loss_columns(l, b, row, TROD_COL_TARGET, "there is no memory to follow it");
        return;
    }
    aims->of[stream] = (struct fmt_aim){trod_loss_hold(b, row), b->target[row], true};
    aims->waiting++;
}

struct trod_loss_held fmt_aims_settle(struct fmt_aims *aims, struct trod_loss *l, uint32_t stream,
                                      uint64_t pc)
{
    struct fmt_aim *aim = stream < aims->n ? &aims->of[stream] : NULL;

    if (!aim || !aim->waits)
        return (struct trod_loss_held){0};
    aim->waits = false;
    aims->waiting--;
    if (aim->target == pc)
        return aim->row;
    trod_loss_late(l, &aim->row, TROD_COL_TARGET, not_shown);
    return (struct trod_loss_held){0};
}

void fmt_aims_drop(struct fmt_aims *aims, uint32_t stream)
{
    if (stream >= aims->n || !aims->of[stream].waits)
        return;
    aims->of[stream].waits = false;
    aims->waiting--;
}

void fmt_aims_end(struct fmt_aims *aims, struct trod_loss *l)
{
    for (uint32_t i = 0; i < aims->n; i++) {
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
