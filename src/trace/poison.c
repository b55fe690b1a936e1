/*
 * poison.c - noise where rows say nothing. Implements poison.h.
 */
#include "trace/poison.h"

#ifdef TROD_POISON

#include "trace/batch_own.h"

#include <string.h>

/* Another number each time. */
static uint64_t noise(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 27;
}

static void poison_numbers(const struct trod_batch *b, uint32_t column, void *p, size_t size,
                           uint64_t *state)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (!(b->have & b->has[i] & column)) {
            const uint64_t x = noise(state);

            memcpy((uint8_t *)p + i * size, &x, size);
        }
}

/* Far from anything, whichever memory the offset is taken to be in. */
static void poison_slices(const struct trod_batch *b, uint32_t column, struct trod_slice *s)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (!(b->have & b->has[i] & column))
            s[i] = (struct trod_slice){0x1fffff00, 0x00ffffff};
}

void trod_batch_poison(struct trod_batch *b)
{
    uint64_t state = (uint64_t)(uintptr_t)b ^ b->first * 0x94d049bb133111ebu;
    const struct {
        uint32_t column;
        void *p;
        size_t size;
    } numbers[] = {
        {TROD_COL_SIZE, b->size, sizeof *b->size},
        {TROD_COL_TIME, b->time, sizeof *b->time},
        {TROD_COL_UNIT, b->unit, sizeof *b->unit},
        {TROD_COL_INDEX, b->index, sizeof *b->index},
        {TROD_COL_ADDR, b->addr, sizeof *b->addr},
        {TROD_COL_PADDR, b->paddr, sizeof *b->paddr},
        {TROD_COL_PC, b->pc, sizeof *b->pc},
        {TROD_COL_TARGET, b->target, sizeof *b->target},
        {TROD_COL_VALUE, b->value, sizeof *b->value},
        {TROD_COL_SUB, b->sub, sizeof *b->sub},
        {TROD_COL_SITE, b->site, sizeof *b->site},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        poison_numbers(b, numbers[i].column, numbers[i].p, numbers[i].size, &state);
    poison_slices(b, TROD_COL_CODE, b->code);
    poison_slices(b, TROD_COL_DATA, b->data);
    poison_slices(b, TROD_COL_TEXT, b->text);
    poison_slices(b, TROD_COL_DETAIL, b->detail);
    poison_slices(b, TROD_COL_RAW, b->raw);
    /* What a driver fills once a batch object must be filled again. */
    trod_batch_other(b);
}

#endif
