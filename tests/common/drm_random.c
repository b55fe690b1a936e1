/*
 * drm_random.c - random traces in DynamoRIO's format: sound ones, and (wild) what no tracer writes.
 * See drm.h.
 */
#include "drm.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 200 };

struct maker {
    struct trod_gen *g;
    const struct drm_random *how;
    struct trod_buf *out;
    bool given[PLACES]; /* encodings of this chunk */
    uint8_t version[PLACES];
    uint64_t tid, time, cpu;
    uint64_t records, instrs, chunks;
    size_t *ends, n_ends;
};

static uint64_t fit(const struct maker *m, uint64_t v)
{
    return m->how->width == 8 ? (uint32_t)v : v;
}

static void put(struct maker *m, unsigned type, unsigned size, uint64_t addr)
{
    drm_put(m->out, m->how->width, type, size, addr);
}

static void mark(struct maker *m, unsigned marker, uint64_t value)
{
    put(m, 28, marker, value);
    m->records++;
}

static void tick(struct maker *m)
{
    m->time += gen_below(m->g, 300);
    m->cpu = gen_below(m->g, 8);
    mark(m, 2, fit(m, m->time));
    mark(m, 3, m->cpu);
}

static void cut_chunk(struct maker *m)
{
    if (!m->how->chunk || m->instrs == 0 || m->instrs % m->how->chunk ||
        m->instrs / m->how->chunk == m->chunks)
        return;
    mark(m, 21, m->chunks++);
    m->ends = realloc(m->ends, (m->n_ends + 1) * sizeof *m->ends);
    if (!m->ends)
        test_die("out of memory");
    m->ends[m->n_ends++] = m->out->n;
    put(m, 28, 22, m->records);
    put(m, 28, 2, fit(m, m->time));
    put(m, 28, 3, m->cpu);
    memset(m->given, 0, sizeof m->given);
}

static void encoding(struct maker *m, uint64_t place, unsigned size)
{
    unsigned room = m->how->width - 4;
    bool regdeps = m->how->filetype & 0x20000;
    unsigned n = regdeps ? 4 * (1 + (unsigned)place % 3) : size;

    if (m->given[place] && !gen_once_in(m->g, 20))
        return;
    if (m->given[place])
        m->version[place]++; /* the program changed itself */
    m->given[place] = true;
    for (unsigned at = 0; at < n; at += room) {
        uint64_t bytes = 0;
        unsigned some = n - at < room ? n - at : room;

        for (unsigned i = some; i-- > 0;)
            bytes = bytes << 8 | ((place * 31 + (at + i) * 7 + m->version[place]) & 0xff);
        put(m, 47, some, bytes);
    }
}

static void instruction(struct maker *m)
{
    static const uint8_t old[] = {10, 10, 10, 10, 11, 12, 13, 14, 15, 16, 31};
    static const uint8_t new[] = {10, 10, 10, 10, 11, 12, 48, 49, 14, 15, 16};
    uint64_t place = gen_below(m->g, PLACES), pc = fit(m, 0x7f1200400000 + 16 * place);
    unsigned type = m->how->version >= 5 ? new[gen_below(m->g, 11)] : old[gen_below(m->g, 11)];
    unsigned size = 1 + (unsigned)(place % (m->how->filetype & 0x20000 ? 15 : 12));
    bool indirect = type == 12 || type == 15 || type == 16;
    bool filtered = m->how->filetype & 0x80;
    bool first = gen_below(m->g, 2);

    cut_chunk(m);
    if (filtered && gen_below(m->g, 3) == 0)
        size = 0;
    if (m->how->version >= 5 && indirect && !filtered && first)
        put(m, 28, 29, fit(m, gen_u64(m->g)));
    if (m->how->filetype & 0x200 && size)
        encoding(m, place, size);
    if (m->how->version >= 5 && indirect && !filtered && !first)
        put(m, 28, 29, fit(m, gen_u64(m->g)));
    put(m, type, size, pc);
    m->records += size != 0;
    m->instrs += size != 0;
    for (uint64_t n = gen_below(m->g, 4); n-- > 0;) {
        put(m, (unsigned)gen_below(m->g, 2), 1u << gen_below(m->g, 7), fit(m, gen_u64(m->g)));
        m->records++;
    }
    if (size && gen_once_in(m->g, 30))
        for (uint64_t n = gen_below(m->g, 5); n-- > 0; m->records += 2) {
            put(m, 29, size, pc);
            put(m, 0, 1, fit(m, gen_u64(m->g)));
        }
    if (size && m->how->bundles && gen_once_in(m->g, 6)) {
        unsigned count = 1 + (unsigned)gen_below(m->g, m->how->width - 4);

        put(m, 17, count, gen_u64(m->g) & 0x0707070707070707);
        m->records += count;
        m->instrs += count;
    }
}

static void other(struct maker *m)
{
    static const uint8_t plain[] = {1,  4,  5,  6,  7,  11, 14, 15, 16, 17, 24, 25, 26,
                                    30, 31, 36, 37, 38, 39, 40, 41, 46, 70, 0,  13};
    static const uint8_t prefetches[] = {2, 3, 9, 27, 32, 40, 46};

    switch (gen_below(m->g, 8)) {
    case 0:
        put(m, prefetches[gen_below(m->g, 7)], 1, fit(m, gen_u64(m->g)));
        m->records++;
        return;
    case 1:
        put(m, gen_below(m->g, 2) ? 18 : 20, 64, fit(m, gen_u64(m->g)));
        m->records++;
        return;
    case 2: {
        uint64_t at = gen_below(m->g, 1 << 20);
        unsigned type = gen_below(m->g, 2) ? 18 : 20;

        put(m, type, 0, at);
        put(m, type + 1, 0, at + gen_below(m->g, 1 << 12));
        m->records++;
        return;
    }
    case 3:
        mark(m, 27, 3);
        instruction(m);
        mark(m, 28, 3);
        return;
    case 4:
        mark(m, 43, 1);
        instruction(m);
        mark(m, 44, 1);
        return;
    default:
        mark(m, plain[gen_below(m->g, sizeof plain)], fit(m, gen_wide(m->g)));
    }
}

/* What no tracer writes. The next entries are sound again: readers stay in step. */
static void wild(struct maker *m)
{
    unsigned n = 1 + (unsigned)gen_below(m->g, gen_once_in(m->g, 10) ? 200 : 3);

    switch (gen_below(m->g, 9)) {
    case 0:
        for (; n > 0; n--)
            put(m, 26, 0, gen_u64(m->g));
        break;
    case 1:
        for (; n > 0; n--)
            put(m, 28, 29, fit(m, gen_u64(m->g)));
        break;
    case 2:
        for (; n > 0; n--)
            put(m, 47, (unsigned)gen_below(m->g, 10), gen_u64(m->g));
        break;
    case 3:
        put(m, 51 + (unsigned)gen_below(m->g, 1000), 1, gen_u64(m->g));
        break;
    case 4:
        put(m, gen_below(m->g, 2) ? 19 : 21, 0, gen_u64(m->g));
        break;
    case 5:
        put(m, 17, (unsigned)gen_below(m->g, 12), gen_u64(m->g));
        break;
    case 6:
        for (; n > 0; n--)
            put(m, 25, 0, gen_u64(m->g));
        break;
    case 7:
        mark(m, (unsigned)gen_below(m->g, 50), gen_wide(m->g));
        break;
    default:
        for (; n > 0; n--)
            put(m, 10 + (unsigned)gen_below(m->g, 7), 0, fit(m, gen_u64(m->g)));
    }
}

void drm_random(struct trod_gen *g, const struct drm_random *how, size_t n, struct trod_buf *out,
                size_t **ends, size_t *n_ends)
{
    struct maker m = {.g = g, .how = how, .out = out, .tid = 1000, .time = 13386385969186755};

    put(&m, 25, 0, how->version);
    if (how->version > 1) {
        mark(&m, 12, how->version);
        mark(&m, 9, how->filetype);
    }
    put(&m, 22, 4, m.tid);
    put(&m, 24, 4, 999);
    if (how->version > 1) {
        mark(&m, 10, 64);
        mark(&m, 20, how->chunk);
        mark(&m, 18, 4096);
    }
    tick(&m);
    while (out->n / how->width < n && gen_more(g)) {
        uint64_t what = gen_below(g, 40);

        if (what < 32)
            instruction(&m);
        else if (what < 36)
            other(&m);
        else if (what == 36 && how->wild)
            wild(&m);
        else if (what == 37 && how->threads > 1) {
            m.tid = 1000 + gen_below(g, how->threads);
            put(&m, 22, 0, m.tid);
            if (gen_below(g, 2))
                put(&m, 24, 0, 900 + m.tid % 3);
            tick(&m);
        } else {
            tick(&m);
        }
    }
    put(&m, 23, 4, m.tid);
    put(&m, 26, 0, 0);
    if (n_ends)
        *n_ends = m.n_ends;
    if (ends)
        *ends = m.ends;
    else
        free(m.ends);
}
