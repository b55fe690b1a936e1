/*
 * survey.c - what signals a trace has, and what its times are: the first time through.
 */
#include <stdio.h>
#include <string.h>

#include "core/grow.h"
#include "core/times.h"
#include "trod/detail.h"
#include "waves/like.h"
#include "waves/waves.h"

static bool says(const struct trod_batch *b, uint32_t i, uint32_t column)
{
    return (b->have & b->has[i] & column) != 0;
}

/* Names of scopes are words without brackets and dots (IEEE 1364-2005, 18.2.1). */
static void name_stream(const struct trod_waves *w, uint32_t stream, char *name)
{
    const char *what =
        w->meta->driver && w->meta->driver->streams ? w->meta->driver->streams : "cpu";
    const struct trod_stream *s = stream < w->meta->n_streams ? &w->meta->streams[stream] : NULL;

    if (s && s->name_len && s->name_len < WAVE_NAME - 8) {
        memcpy(name, s->name, s->name_len);
        name[s->name_len] = '\0';
        if (name[0] >= '0' && name[0] <= '9')
            snprintf(name, WAVE_NAME, "%s%.*s", what, (int)s->name_len, s->name);
    } else if (s && s->tid != TROD_NOWHERE) {
        snprintf(name, WAVE_NAME, "%s%llu", what, (unsigned long long)s->tid);
    } else {
        snprintf(name, WAVE_NAME, "%s%u", what, stream);
    }
    for (char *p = name; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9')))
            *p = '_';
}

struct wave_stream *wave_stream_of(struct trod_waves *w, uint32_t stream)
{
    while (stream >= w->n_streams) {
        struct wave_stream *s;

        if (!trod_grow(&w->stream, w->n_streams, &w->cap_streams, sizeof *w->stream, 4)) {
            w->status = TROD_ERR_NOMEM;
            return NULL;
        }
        s = &w->stream[w->n_streams];
        memset(s, 0, sizeof *s);
        w->n_streams++;
    }
    return &w->stream[stream];
}

static uint8_t unit_of(const struct trod_waves *w, const struct trod_batch *b, uint32_t i)
{
    return says(b, i, TROD_COL_UNIT) ? b->unit[i] : w->meta->unit;
}

bool wave_time(const struct trod_waves *w, const struct trod_batch *b, uint32_t i, uint64_t *t)
{
    const uint8_t unit = unit_of(w, b, i);
    int power;

    if (!says(b, i, TROD_COL_TIME))
        return false;
    *t = b->time[i];
    if (w->any_unit && trod_time_power(unit, &power))
        for (power = trod_time_exponent(unit); power > w->finest; power--)
            *t = *t > UINT64_MAX / 10 ? UINT64_MAX : 10 * *t;
    return true;
}

static void survey_time(struct trod_waves *w, const struct trod_batch *b, uint32_t i)
{
    const uint8_t unit = unit_of(w, b, i);
    int power;

    if (!says(b, i, TROD_COL_TIME))
        return;
    w->any_time = true;
    if (!trod_time_power(unit, &power))
        return;
    power = trod_time_exponent(unit);
    if (power < -15)
        power = -15;
    if (!w->any_unit || power < w->finest)
        w->finest = power;
    w->any_unit = true;
}

static void survey_row(struct wave_stream *s, const struct trod_batch *b, uint32_t i)
{
    const struct trod_detail_instr *d;
    const uint32_t size = says(b, i, TROD_COL_SIZE) ? b->size[i] : 8;

    switch (b->kind[i]) {
    case TROD_INSTR:
        s->instr = true;
        s->text |= says(b, i, TROD_COL_TEXT) || says(b, i, TROD_COL_CODE);
        s->skipped |= says(b, i, TROD_COL_FLAGS) && (b->flags[i] & TROD_F_SKIPPED);
        if (says(b, i, TROD_COL_CODE) && b->code[i].len > s->code && b->code[i].len <= 16)
            s->code = b->code[i].len;
        d = trod_batch_detail(b, i);
        s->mode |= d && b->detail[i].len == sizeof *d && d->mode.len;
        break;
    case TROD_READ:
    case TROD_WRITE:
    case TROD_ATOMIC:
        if (size > s->data)
            s->data = size < WAVE_WIDEST ? size : WAVE_WIDEST;
        break;
    case TROD_EXCEPTION:
        s->exception = true;
        break;
    case TROD_MODE:
        s->mode = true;
        break;
    default:
        break;
    }
}

int trod_waves_survey(struct trod_waves *w, const struct trod_batch *b)
{
    if (w->like) {
        like_survey(w->like, b);
        return 0;
    }
    if (w->names.n == 0) /* text formats know it once rows were read */
        w->names.isa = b->meta->isa;
    for (uint32_t i = 0; i < b->n; i++) {
        const uint32_t stream = trod_batch_stream(b, i);
        struct wave_stream *s = wave_stream_of(w, stream);

        if (!s || nav_regs_row(&w->regs, b, i, b->first + i) < 0)
            return TROD_ERR_NOMEM;
        if (!s->name[0])
            name_stream(w, stream, s->name);
        survey_time(w, b, i);
        survey_row(s, b, i);
    }
    return 0;
}
