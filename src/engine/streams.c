/*
 * streams.c - streams and units of time of one trace in another one (streams.h).
 */
#include "engine/streams.h"

#include "core/pack.h"
#include "engine/stream_run.h"

#include <string.h>

#if TROD_AVX2
TROD_WIDE static uint32_t stream_run_wide(const struct trod_batch *b, uint32_t from, uint32_t to)
{
    return trod_stream_run(b, from, to);
}
#endif

uint32_t engine_stream_run(const struct trod_batch *b, uint32_t from, uint32_t to)
{
#if TROD_AVX2
    if (trod_wide())
        return stream_run_wide(b, from, to);
#endif
    return trod_stream_run(b, from, to);
}

int engine_stream_same(struct trod_meta *to, const struct trod_meta *from, uint32_t number)
{
    const struct trod_stream *s = number < from->n_streams ? &from->streams[number] : NULL;

    if (!s)
        return (int)number;
    return s->tid == TROD_NOWHERE ? trod_meta_stream(to, s->name, s->name_len)
                                  : trod_meta_thread(to, s->tid, s->pid, s->file);
}

int engine_stream_same_key(struct trod_meta *to, const struct trod_meta *from, uint32_t key)
{
    const int number = key ? engine_stream_same(to, from, key - 1) : -1;

    return key && number < 0 ? number : number + 1;
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

/* The first number of a saved stream. */
enum { SAID_NONE, KNOWN, NUMBER_ONLY };

int engine_stream_save(struct trod_buf *out, const struct trod_meta *m, uint32_t key)
{
    const struct trod_stream *s = key && key - 1 < m->n_streams ? &m->streams[key - 1] : NULL;
    const bool thread = s && s->tid != TROD_NOWHERE; /* names are the same in all files */
    const uint64_t v[] = {KNOWN, s ? s->tid : 0, s ? s->pid : 0, thread ? s->file : 0,
                          s ? s->cpu : 0};
    int rc = TROD_OK;

    if (key == 0)
        return trod_pack(out, SAID_NONE);
    if (!s)
        return (rc = trod_pack(out, NUMBER_ONLY)) < 0 ? rc : trod_pack(out, key - 1);
    for (size_t k = 0; rc == TROD_OK && k < sizeof v / sizeof *v; k++)
        rc = trod_pack(out, v[k]);
    if (rc == TROD_OK)
        rc = trod_pack(out, s->name_len);
    return rc == TROD_OK ? trod_buf_add(out, s->name, s->name_len) : rc;
}

/* The key of the stream of IN that the meta of its run knew. Below 0: an error. */
static int load_known(struct trod_meta *m, struct trod_span *in)
{
    uint64_t tid, pid, file, cpu, len;
    const char *name;
    int number;

    if (trod_unpack(in, &tid) < 0 || trod_unpack(in, &pid) < 0 || trod_unpack(in, &file) < 0 ||
        trod_unpack(in, &cpu) < 0 || trod_unpack(in, &len) < 0 || file > UINT32_MAX || len > in->n)
        return TROD_ERR_CORRUPT;
    name = (const char *)in->p;
    in->p += len;
    in->n -= (size_t)len;
    number = tid == TROD_NOWHERE ? trod_meta_stream(m, name, (size_t)len)
                                 : trod_meta_thread(m, tid, pid, (uint32_t)file);
    if (number < 0)
        return number;
    if (m->streams[number].cpu == TROD_NOWHERE)
        m->streams[number].cpu = cpu;
    return number + 1;
}

int engine_stream_load(struct trod_meta *m, struct trod_span *in)
{
    uint64_t said, number;

    if (trod_unpack(in, &said) < 0 || said > NUMBER_ONLY)
        return TROD_ERR_CORRUPT;
    if (said == SAID_NONE)
        return 0;
    if (said == KNOWN)
        return load_known(m, in);
    return trod_unpack(in, &number) < 0 || number >= TROD_STREAM_MAX ? TROD_ERR_CORRUPT
                                                                     : (int)number + 1;
}
