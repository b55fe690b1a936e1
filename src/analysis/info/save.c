/*
 * save.c - states of the analysis "info": put together, to bytes and back.
 *
 * States of parts number streams and units of time as their own metas do. What they are put into
 * has a meta of its own, in which the same name, or the same thread, is the same number.
 */
#include "analysis/info/info.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

void info_merge_span(struct info_span *to, const struct info_span *from, uint64_t base)
{
    if (from->n == 0)
        return;
    if (to->n == 0 || base + from->first_at < to->first_at) {
        to->first = from->first;
        to->first_at = base + from->first_at;
    }
    if (to->n == 0 || base + from->last_at > to->last_at) {
        to->last = from->last;
        to->last_at = base + from->last_at;
    }
    if (to->n == 0 || from->least < to->least)
        to->least = from->least;
    if (to->n == 0 || from->most > to->most)
        to->most = from->most;
    to->n += from->n;
}

/* The number in TO of unit UNIT of FROM. */
static unsigned unit_of(const struct trod_meta *to, const struct trod_meta *from, unsigned unit)
{
    const char *name = trod_meta_unit_name(from, unit);

    if (unit == INFO_UNSAID)
        return unit;
    for (unsigned i = TROD_UNITS; (unit & 0xf) >= TROD_UNITS && i <= 0xf; i++)
        if (strcmp(trod_meta_unit_name(to, i), name) == 0)
            return (unit & 0xf0) | i;
    return unit;
}

/* Give S a meta of its own, with the numbers that it uses so far. */
static int own_meta(struct info_state *s)
{
    if (s->owned)
        return TROD_OK;
    s->owned = true;
    return s->meta ? trod_meta_learn(&s->own, s->meta) : TROD_OK;
}

int info_merge(void *into, const void *from)
{
    struct info_state *s = into;
    const struct info_state *f = from;
    const struct trod_meta *m = info_meta(f);
    int r = own_meta(s);

    if (r == TROD_OK)
        r = trod_meta_learn(&s->own, m);
    if (r < 0)
        return TROD_ERR_NOMEM;
    for (unsigned u = 0; u < INFO_UNITS; u++)
        info_merge_span(&s->time[unit_of(&s->own, m, u)], &f->time[u], s->rows);
    s->rows += f->rows;
    s->synthetic += f->synthetic;
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        s->kind[i] += f->kind[i];
        for (unsigned k = 0; k < NAMED_SLOTS; k++)
            s->named[i][k] += f->named[i][k];
    }
    for (size_t i = 0; r == TROD_OK && i < f->n_streams; i++)
        r = info_add_stream(s, (size_t)trod_meta_find(&s->own, &m->streams[i]), f->stream[i]);
    if (r == TROD_OK)
        r = info_names_merge(&s->notes, &f->notes);
    return r == TROD_OK ? info_names_merge(&s->markers, &f->markers) : r;
}

/* ---- to bytes */

static int pack_bytes(struct trod_buf *out, const char *s, size_t n)
{
    return trod_pack(out, n) | (n ? trod_buf_add(out, s, n) : TROD_OK);
}

static int save_names(struct trod_buf *out, const struct info_names *t)
{
    int r = trod_pack(out, t->n) | trod_pack(out, t->others);

    for (size_t i = 0; i < t->n; i++)
        r |= trod_pack(out, t->at[i].n) | pack_bytes(out, t->at[i].name, t->at[i].len);
    return r;
}

static int save_meta(struct trod_buf *out, const struct info_state *s)
{
    const struct trod_meta *m = info_meta(s);
    int r = trod_pack(out, m->unit) | trod_pack(out, m->n_streams);

    for (unsigned i = 0; i < TROD_OWN_UNITS; i++)
        r |= pack_bytes(out, m->own_unit[i], strlen(m->own_unit[i]));
    for (uint32_t i = 0; i < m->n_streams; i++) {
        const struct trod_stream *t = &m->streams[i];

        r |= pack_bytes(out, t->name, t->name_len) | trod_pack(out, t->tid) |
             trod_pack(out, t->pid) | trod_pack(out, t->cpu) | trod_pack(out, t->file) |
             trod_pack(out, i < s->n_streams ? s->stream[i] : 0);
    }
    return r;
}

int info_save(const void *st, struct trod_buf *out)
{
    const struct info_state *s = st;
    int r = trod_pack(out, s->rows) | trod_pack(out, s->synthetic) | save_meta(out, s);

    for (unsigned i = 0; i < TROD_KINDS; i++) {
        r |= trod_pack(out, s->kind[i]);
        for (unsigned k = 0; k < NAMED_SLOTS; k++)
            r |= trod_pack(out, s->named[i][k]);
    }
    for (unsigned u = 0; u < INFO_UNITS; u++) {
        const struct info_span *t = &s->time[u];

        r |= trod_pack(out, t->n);
        if (t->n)
            r |= trod_pack(out, t->first) | trod_pack(out, t->last) | trod_pack(out, t->least) |
                 trod_pack(out, t->most) | trod_pack(out, t->first_at) | trod_pack(out, t->last_at);
    }
    r |= save_names(out, &s->notes) | save_names(out, &s->markers);
    return r == TROD_OK ? TROD_OK : TROD_ERR_NOMEM;
}

/* ---- and back */

static int unpack_bytes(struct trod_span *in, const char **s, uint64_t *n)
{
    if (trod_unpack(in, n) < 0 || *n > in->n)
        return TROD_ERR_CORRUPT;
    *s = (const char *)in->p;
    in->p += *n;
    in->n -= (size_t)*n;
    return TROD_OK;
}

static int load_names(struct trod_span *in, struct info_names *t)
{
    uint64_t n, others;
    int r;

    if (trod_unpack(in, &n) < 0 || trod_unpack(in, &others) < 0 || n > INFO_NAMES)
        return TROD_ERR_CORRUPT;
    t->others = others;
    while (n--) {
        uint64_t rows, len;
        const char *s;

        if (trod_unpack(in, &rows) < 0 || unpack_bytes(in, &s, &len) < 0 || len > INFO_NAME)
            return TROD_ERR_CORRUPT;
        if ((r = info_names_add(t, (const uint8_t *)s, (uint32_t)len, rows)) < 0)
            return r;
    }
    return TROD_OK;
}

static int load_stream(struct trod_span *in, struct info_state *s)
{
    uint64_t len, tid, pid, cpu, file, rows;
    const char *name;
    int at;

    if (unpack_bytes(in, &name, &len) < 0 || trod_unpack(in, &tid) < 0 ||
        trod_unpack(in, &pid) < 0 || trod_unpack(in, &cpu) < 0 || trod_unpack(in, &file) < 0 ||
        trod_unpack(in, &rows) < 0 || file > UINT32_MAX)
        return TROD_ERR_CORRUPT;
    s->own.file = (uint32_t)file;
    at = tid == TROD_NOWHERE ? trod_meta_stream(&s->own, name, (size_t)len)
                             : trod_meta_thread(&s->own, tid, pid, (uint32_t)file);
    if (at < 0)
        return at == TROD_ERR_NOMEM ? at : TROD_ERR_CORRUPT;
    s->own.streams[at].pid = pid;
    s->own.streams[at].cpu = cpu;
    return info_add_stream(s, (size_t)at, rows);
}

static int load_meta(struct trod_span *in, struct info_state *s)
{
    uint64_t unit, n, len;
    const char *name;
    int r = TROD_OK;

    if (trod_unpack(in, &unit) < 0 || trod_unpack(in, &n) < 0 || unit > UINT8_MAX)
        return TROD_ERR_CORRUPT;
    s->own.unit = (uint8_t)unit;
    for (unsigned i = 0; i < TROD_OWN_UNITS; i++)
        if (unpack_bytes(in, &name, &len) < 0 ||
            (len && trod_meta_unit(&s->own, name, (size_t)len) < 0))
            return TROD_ERR_CORRUPT;
    while (r == TROD_OK && n--)
        r = load_stream(in, s);
    return r;
}

static int load_spans(struct trod_span *in, struct info_state *s)
{
    for (unsigned u = 0; u < INFO_UNITS; u++) {
        struct info_span *t = &s->time[u];

        if (trod_unpack(in, &t->n) < 0 ||
            (t->n && (trod_unpack(in, &t->first) < 0 || trod_unpack(in, &t->last) < 0 ||
                      trod_unpack(in, &t->least) < 0 || trod_unpack(in, &t->most) < 0 ||
                      trod_unpack(in, &t->first_at) < 0 || trod_unpack(in, &t->last_at) < 0)))
            return TROD_ERR_CORRUPT;
    }
    return TROD_OK;
}

int info_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct info_state *s = st;
    int r;

    (void)sites;
    s->owned = true;
    if (trod_unpack(&in, &s->rows) < 0 || trod_unpack(&in, &s->synthetic) < 0)
        return TROD_ERR_CORRUPT;
    if ((r = load_meta(&in, s)) < 0)
        return r;
    for (unsigned i = 0; i < TROD_KINDS; i++) {
        r = trod_unpack(&in, &s->kind[i]);
        for (unsigned k = 0; k < NAMED_SLOTS; k++)
            r |= trod_unpack(&in, &s->named[i][k]);
        if (r < 0)
            return TROD_ERR_CORRUPT;
    }
    if ((r = load_spans(&in, s)) < 0 || (r = load_names(&in, &s->notes)) < 0 ||
        (r = load_names(&in, &s->markers)) < 0)
        return r;
    return in.n ? TROD_ERR_CORRUPT : TROD_OK;
}
