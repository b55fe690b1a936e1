/*
 * streams.c - streams and units of time of one trace in another one (streams.h).
 */
#include "engine/streams.h"

#include "core/pack.h"

#include <string.h>

int engine_stream_same(struct trod_meta *to, const struct trod_meta *from, uint32_t number)
{
    const struct trod_stream *s = number < from->n_streams ? &from->streams[number] : NULL;

    if (!s)
        return (int)number;
    return s->tid == TROD_NOWHERE ? trod_meta_stream(to, s->name, s->name_len)
                                  : trod_meta_thread(to, s->tid, s->pid, s->file);
}

bool engine_units_fit(const struct trod_meta *whole, const struct trod_meta *from)
{
    struct trod_meta all;

    if (!from->own_unit[0][0])
        return true;
    all = *whole;
    for (unsigned i = 0; i < TROD_OWN_UNITS && from->own_unit[i][0]; i++)
        if (trod_meta_unit(&all, from->own_unit[i], strlen(from->own_unit[i])) < 0)
            return false;
    return true;
}

int engine_stream_save(struct trod_buf *out, const struct trod_meta *m, uint32_t number)
{
    const struct trod_stream *s = number < m->n_streams ? &m->streams[number] : NULL;
    const bool thread = s && s->tid != TROD_NOWHERE; /* names are the same in all files */
    const uint64_t v[] = {1, s ? s->tid : 0, s ? s->pid : 0, thread ? s->file : 0};
    int rc = TROD_OK;

    if (!s)
        return (rc = trod_pack(out, 0)) < 0 ? rc : trod_pack(out, number);
    for (size_t k = 0; rc == TROD_OK && k < 4; k++)
        rc = trod_pack(out, v[k]);
    if (rc == TROD_OK)
        rc = trod_pack(out, s->name_len);
    return rc == TROD_OK ? trod_buf_add(out, s->name, s->name_len) : rc;
}

int engine_stream_load(struct trod_meta *m, struct trod_span *in)
{
    const uint8_t *name;
    uint64_t known, v[4];
    int rc = trod_unpack(in, &known);

    if (rc == TROD_OK && !known)
        return trod_unpack(in, &v[0]) < 0 || v[0] > TROD_STREAM_MAX ? TROD_ERR_CORRUPT : (int)v[0];
    for (size_t k = 0; rc == TROD_OK && k < 4; k++)
        rc = trod_unpack(in, &v[k]);
    if (rc < 0 || known != 1 || v[2] > UINT32_MAX || v[3] > in->n)
        return TROD_ERR_CORRUPT;
    name = in->p;
    in->p += v[3];
    in->n -= (size_t)v[3];
    return v[0] == TROD_NOWHERE ? trod_meta_stream(m, (const char *)name, (size_t)v[3])
                                : trod_meta_thread(m, v[0], v[1], (uint32_t)v[2]);
}
