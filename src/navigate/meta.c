/*
 * meta.c - the section of an index that says what it is of: the trace, the reading, streams, names
 * of registers, segments. Implements build.h.
 */
#include "navigate/build.h"

#include "core/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int put_text(struct trod_buf *out, const char *text, size_t n)
{
    int rc = trod_pack(out, n);

    return rc < 0 || n == 0 ? rc : trod_buf_add(out, text, n);
}

static int put_string(struct trod_buf *out, const char *text)
{
    return put_text(out, text ? text : "", text ? strlen(text) : 0);
}

static int put_all(struct trod_buf *out, const uint64_t *v, size_t n)
{
    int rc = TROD_OK;

    for (size_t i = 0; rc == TROD_OK && i < n; i++)
        rc = trod_pack(out, v[i]);
    return rc;
}

static int put_sources(const struct nav_builder *b, struct trod_buf *out)
{
    int rc = trod_pack(out, b->n_sources);

    for (uint32_t i = 0; rc == TROD_OK && i < b->n_sources; i++) {
        const struct nav_source *s = &b->source[i];
        const uint64_t v[] = {s->bound.size,  s->bound.mtime_s, s->bound.mtime_ns,
                              s->bound.edges, s->bound.whole,   s->row,
                              s->log};

        rc = put_all(out, v, sizeof v / sizeof *v);
    }
    return rc;
}

static int put_streams(const struct trod_meta *meta, struct trod_buf *out)
{
    int rc = trod_pack(out, meta->n_streams);

    for (uint32_t i = 0; rc == TROD_OK && i < meta->n_streams; i++) {
        const struct trod_stream *s = &meta->streams[i];
        const uint64_t v[] = {s->tid + 1, s->pid + 1, s->cpu + 1, s->file};

        rc = put_text(out, s->name, s->name_len);
        if (rc == TROD_OK)
            rc = put_all(out, v, 4);
    }
    return rc;
}

static int put_counts(const struct nav_calls *c, struct trod_buf *out)
{
    struct trod_callstack_counts counts;

    nav_calls_counts(c, &counts);
    return put_all(out, (const uint64_t *)(const void *)&counts, sizeof counts / sizeof(uint64_t));
}

int nav_meta_save(const struct nav_builder *b, struct trod_buf *out)
{
    const struct trod_meta *meta = trod_trace_meta(b->trace);
    const uint64_t v[] = {b->row,          b->newlines,     b->insns,        b->problems,
                          b->lines_known,  !b->incomplete,  b->isa,          b->endian,
                          meta->isa,       meta->endian,    meta->addr_bits, meta->unit,
                          meta->line_size, meta->page_size, meta->version,   meta->filetype};
    int rc = put_all(out, v, sizeof v / sizeof *v);

    put_string(out, meta->format);
    put_string(out, meta->dialect);
    put_string(out, b->opt->options);
    if (rc == TROD_OK)
        rc = trod_buf_add(out, meta->own_unit, sizeof meta->own_unit);
    if (rc == TROD_OK)
        rc = put_sources(b, out);
    if (rc == TROD_OK)
        rc = put_streams(meta, out);
    if (rc == TROD_OK)
        rc = trod_pack(out, b->names.n);
    for (uint32_t i = 0; rc == TROD_OK && i < b->names.n; i++)
        rc = put_string(out, b->names.at[i].text);
    if (rc == TROD_OK)
        rc = trod_pack(out, b->n_segments);
    for (uint32_t i = 0; rc == TROD_OK && i < b->n_segments; i++) {
        uint32_t range[2];

        memcpy(range, b->segments.p + i * sizeof range, sizeof range);
        trod_pack(out, range[0]);
        rc = trod_pack(out, range[1]);
    }
    if (rc == TROD_OK)
        rc = put_counts(b->calls, out);
    if (rc == TROD_OK)
        rc = trod_pack(out, b->named ? nav_functions(b->opt->symbols) : 0);
    return rc < 0 || !b->named ? rc : put_counts(b->named, out);
}

/* ---- and back */

static bool get_text(struct trod_span *in, char *out, size_t size, size_t *n)
{
    uint64_t len;

    if (trod_unpack(in, &len) < 0 || len > in->n || len >= size)
        return false;
    memcpy(out, in->p, len);
    out[len] = '\0';
    *n = (size_t)len;
    in->p += len;
    in->n -= len;
    return true;
}

static int get_sources(struct nav_index *x, struct trod_span *in)
{
    uint64_t n, v[7];

    if (trod_unpack(in, &n) < 0 || n == 0 || n > in->n / 7)
        return TROD_ERR_CORRUPT;
    x->source = calloc(n, sizeof *x->source);
    if (!x->source)
        return TROD_ERR_NOMEM;
    for (; x->n_sources < n; x->n_sources++) {
        for (unsigned i = 0; i < sizeof v / sizeof *v; i++)
            if (trod_unpack(in, &v[i]) < 0)
                return TROD_ERR_CORRUPT;
        x->source[x->n_sources] = (struct nav_source){{v[0], v[1], v[2], v[3], v[4]}, v[5], v[6]};
    }
    return TROD_OK;
}

static int get_streams(struct nav_index *x, struct trod_span *in)
{
    uint64_t n, v[4];
    char name[4096];
    size_t len;

    if (trod_unpack(in, &n) < 0 || n > TROD_STREAM_MAX)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++) {
        int at;

        if (!get_text(in, name, sizeof name, &len))
            return TROD_ERR_CORRUPT;
        for (unsigned k = 0; k < 4; k++)
            if (trod_unpack(in, &v[k]) < 0)
                return TROD_ERR_CORRUPT;
        at = v[0] ? trod_meta_thread(&x->meta, v[0] - 1, v[1] - 1, (uint32_t)v[3])
                  : trod_meta_stream(&x->meta, name, len);
        if (at < 0)
            return at;
        if ((uint64_t)at != i)
            return TROD_ERR_CORRUPT;
        x->meta.streams[at].tid = v[0] - 1;
        x->meta.streams[at].pid = v[1] - 1;
        x->meta.streams[at].cpu = v[2] - 1;
        x->meta.streams[at].file = (uint32_t)v[3];
    }
    return TROD_OK;
}

static int get_names(struct nav_index *x, struct trod_span *in)
{
    uint64_t n;
    char name[NAV_NAME];
    size_t len;

    if (trod_unpack(in, &n) < 0 || n > NAV_REGS)
        return TROD_ERR_CORRUPT;
    for (uint64_t i = 0; i < n; i++)
        if (!get_text(in, name, sizeof name, &len) ||
            nav_names_find(&x->names, name, true) != (uint32_t)i)
            return TROD_ERR_CORRUPT;
    return TROD_OK;
}

static const struct nav_section *find(const struct nav_index *x, unsigned id, uint32_t segment)
{
    for (uint32_t i = 0; i < x->n_sections; i++)
        if (x->section[i].id == id && x->section[i].segment == segment)
            return &x->section[i];
    return NULL;
}

static int get_segments(struct nav_index *x, struct trod_span *in)
{
    uint64_t n, from, to;

    if (trod_unpack(in, &n) < 0 || n > x->n_blocks)
        return TROD_ERR_CORRUPT;
    x->segment = calloc(n + 1, sizeof *x->segment);
    if (!x->segment)
        return TROD_ERR_NOMEM;
    for (x->n_segments = 0; x->n_segments < n; x->n_segments++) {
        const uint32_t i = x->n_segments, before = i ? x->segment[i - 1].to : 0;

        if (trod_unpack(in, &from) < 0 || trod_unpack(in, &to) < 0 || from != before ||
            to <= from || to > x->n_blocks)
            return TROD_ERR_CORRUPT;
        x->segment[i] = (struct nav_segment){(uint32_t)from,
                                             (uint32_t)to,
                                             find(x, NAV_S_LINES, i),
                                             find(x, NAV_S_SITES, i),
                                             find(x, NAV_S_REGS, i),
                                             find(x, NAV_S_CALLS, i),
                                             find(x, NAV_S_MEMORY, i),
                                             find(x, NAV_S_MARKS, i),
                                             find(x, NAV_S_BLOOM, i),
                                             find(x, NAV_S_VALUES, i),
                                             find(x, NAV_S_SHAPES, i),
                                             find(x, NAV_S_TEXTS, i),
                                             find(x, NAV_S_CLASSES, i),
                                             find(x, NAV_S_CLASS_ROWS, i),
                                             find(x, NAV_S_SPREAD, i),
                                             find(x, NAV_S_WITHIN, i),
                                             find(x, NAV_S_NAMED, i),
                                             find(x, NAV_S_EXECUTED, i)};
    }
    return n ? (x->segment[n - 1].to == x->n_blocks ? TROD_OK : TROD_ERR_CORRUPT) : TROD_OK;
}

static int get_counts(struct trod_callstack_counts *to, struct trod_span *in)
{
    uint64_t *v = (uint64_t *)(void *)to;

    for (size_t i = 0; i < sizeof *to / sizeof *v; i++)
        if (trod_unpack(in, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    return TROD_OK;
}

static int get_calls(struct nav_index *x, struct trod_span *in)
{
    const int rc = get_counts(&x->calls, in);

    if (rc < 0 || trod_unpack(in, &x->functions) < 0)
        return TROD_ERR_CORRUPT;
    return x->functions ? get_counts(&x->named, in) : TROD_OK;
}

static int get_trace(struct nav_index *x, const uint64_t *v)
{
    x->rows = v[0];
    x->lines = v[1];
    x->insns = v[2];
    x->problems = v[3];
    x->lines_known = v[4] != 0;
    x->complete = v[5] != 0;
    if (v[6] >= TROD_ISAS || v[8] >= TROD_ISAS || v[7] > TROD_ENDIAN_BIG || v[9] > TROD_ENDIAN_BIG)
        return TROD_ERR_CORRUPT;
    nav_names_init(&x->names, (enum trod_isa)v[6]);
    x->endian = (enum trod_endian)v[7];
    x->meta.isa = (enum trod_isa)v[8];
    x->meta.endian = (enum trod_endian)v[9];
    x->meta.addr_bits = (unsigned)v[10];
    x->meta.unit = (uint8_t)v[11];
    x->meta.line_size = (uint32_t)v[12];
    x->meta.page_size = (uint32_t)v[13];
    x->meta.version = (uint32_t)v[14];
    x->meta.filetype = v[15];
    return TROD_OK;
}

int nav_meta_load(struct nav_index *x, struct trod_span in)
{
    uint64_t v[16];
    size_t n;
    int rc;

    for (unsigned i = 0; i < sizeof v / sizeof *v; i++)
        if (trod_unpack(&in, &v[i]) < 0)
            return TROD_ERR_CORRUPT;
    rc = get_trace(x, v);
    if (rc < 0 || !get_text(&in, x->format, sizeof x->format, &n) ||
        !get_text(&in, x->dialect, sizeof x->dialect, &n) ||
        !get_text(&in, x->options, sizeof x->options, &n) || in.n < sizeof x->meta.own_unit)
        return TROD_ERR_CORRUPT;
    memcpy(x->meta.own_unit, in.p, sizeof x->meta.own_unit);
    in.p += sizeof x->meta.own_unit;
    in.n -= sizeof x->meta.own_unit;
    if ((rc = get_sources(x, &in)) < 0 || (rc = get_streams(x, &in)) < 0 ||
        (rc = get_names(x, &in)) < 0)
        return rc;
    rc = get_segments(x, &in);
    return rc < 0 ? rc : get_calls(x, &in);
}
