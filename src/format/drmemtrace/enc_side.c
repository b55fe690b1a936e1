/*
 * enc_side.c - what an encoder keeps without a bound: instructions by pc, the schedule.
 */
#include "format/drmemtrace/encode.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SEEN = 1 << 8 };

int drm_enc_side_new(struct drm_enc_side **out)
{
    struct drm_enc_side *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return TROD_ERR_NOMEM;
    s->epoch = 1;
    *out = s;
    return TROD_OK;
}

void drm_enc_side_free(struct drm_enc_side *s)
{
    if (!s)
        return;
    trod_insn_decoder_free(s->insn);
    free(s->seen);
    free(s->schedule);
    free(s);
}

static struct drm_seen *place(struct drm_seen *table, uint32_t mask, uint64_t pc)
{
    for (uint32_t at = drm_side_hash(pc);; at++) {
        struct drm_seen *k = &table[at & mask];

        if (k->pc == pc || !k->used)
            return k;
    }
}

static bool grow(struct drm_enc_side *s)
{
    uint32_t size = s->seen ? 2 * (s->mask + 1) : FIRST_SEEN;
    struct drm_seen *table = size ? calloc(size, sizeof *table) : NULL;

    if (!table)
        return false;
    for (uint32_t i = 0; s->seen && i <= s->mask; i++)
        if (s->seen[i].used)
            *place(table, size - 1, s->seen[i].pc) = s->seen[i];
    free(s->seen);
    s->seen = table;
    s->mask = size - 1;
    return true;
}

struct drm_seen *drm_seen_at(struct drm_enc_side *s, uint64_t pc)
{
    struct drm_seen *k;

    if ((!s->seen || 2 * s->n > s->mask) && !grow(s))
        return NULL;
    k = place(s->seen, s->mask, pc);
    if (!k->used) {
        k->used = 1;
        k->pc = pc;
        s->n++;
    }
    return k;
}

int drm_schedule_add(struct drm_enc_side *s, const struct drm_schedule *entry)
{
    if (s->n_schedule && memcmp(&s->schedule[s->n_schedule - 1], entry, sizeof *entry) == 0)
        return TROD_OK;
    if (!trod_grow(&s->schedule, s->n_schedule, &s->cap_schedule, sizeof *s->schedule, 64))
        return TROD_ERR_NOMEM;
    s->schedule[s->n_schedule++] = *entry;
    return TROD_OK;
}
