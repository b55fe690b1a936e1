/*
 * state.c - a decoder's state between two lines, as bytes.
 *
 * Implements save and load of format.h. Heads and names that were met before make decoding fast and
 * change no row: they are not saved but learned again.
 */
#include "core/pack.h"
#include "format/tarmac/tarmac.h"

enum { NUMBERS = 13 };

int tm_save(void *dec, struct trod_buf *state, struct trod_buf *log)
{
    const struct tm_dec *d = dec;
    const uint64_t v[NUMBERS] = {d->lines,     d->rows,    d->time,          d->stream, d->unit,
                                 d->unit_seen, d->timed,   d->source_seen,   d->isets,  d->wide,
                                 d->skipping,  d->picture, d->picture_column};
    int rc = TROD_OK;

    (void)log;
    for (unsigned i = 0; i < NUMBERS; i++)
        rc = trod_pack(state, v[i]);
    return rc;
}

int tm_load(void *dec, struct trod_span *state, struct trod_span *log)
{
    struct tm_dec *d = dec;
    uint64_t v[NUMBERS];

    (void)log;
    for (unsigned i = 0; i < NUMBERS; i++)
        if (trod_unpack(state, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    d->lines = v[0];
    d->rows = v[1];
    d->time = v[2];
    d->stream = (uint32_t)v[3];
    d->unit = (uint8_t)v[4];
    d->unit_seen = (uint8_t)v[5];
    d->timed = (uint8_t)v[6];
    d->source_seen = (uint8_t)v[7];
    d->isets = (uint8_t)v[8];
    d->wide = (uint8_t)v[9];
    d->skipping = (uint8_t)v[10];
    d->picture = (uint8_t)v[11];
    d->picture_column = (uint32_t)v[12];
    if (d->type_at || d->bare_at) /* there are forms, which are of what was known of the trace */
        tm_forget_forms(d);
    d->type_at = d->bare_at = d->es_forms = d->forms_unit = d->unit_wait = 0;
    return TROD_OK;
}
