/*
 * count_save.c - the state of `trod count` as bytes and back, for other processes.
 *
 * "TRODcnt" and a version byte, then numbers as pack.h writes them: columns, options that matter
 * for what is stored, sets of all, shards, lanes with windows and sets, and what is counted by
 * site where there are owners. Whatever comes in is
 * either a state or refused: sizes are checked against the bytes that are there.
 */
#include "analysis/count_int.h"
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = "TRODcnt\4";

enum { LANE_SETTLED = 1, LANE_FILETYPE = 2, LANE_LATE = 4, LANE_NAMED = 8 };

/* ---- saving */

static int save_pages(struct trod_buf *out, const struct trod_pages *p)
{
    int rc = trod_pack(out, p != NULL);

    return rc == TROD_OK && p ? trod_pages_save(p, out) : rc;
}

static int save_words(struct trod_buf *out, const void *words, unsigned n)
{
    const uint64_t *w = words;
    int rc = TROD_OK;

    for (unsigned i = 0; rc == TROD_OK && i < n; i++)
        rc = trod_pack(out, w[i]);
    return rc;
}

static int save_window(struct trod_buf *out, const struct count_window *w)
{
    const uint64_t head[] = {w->id, w->unique};
    int rc = save_words(out, head, 2);

    if (rc == TROD_OK)
        rc = save_words(out, &w->sums, COUNT_SUMS);
    return rc == TROD_OK ? save_pages(out, w->code) : rc;
}

static int save_lane(struct trod_buf *out, const struct count_lane *l)
{
    const uint64_t head[] = {(l->settled ? LANE_SETTLED : 0u) |
                                 (l->filetype_differs ? LANE_FILETYPE : 0u) |
                                 (l->windows_late ? LANE_LATE : 0u) | (l->name ? LANE_NAMED : 0u),
                             l->tid,
                             l->pid,
                             l->cpu,
                             l->file,
                             l->filetype,
                             l->line,
                             l->name_len,
                             l->n_windows};
    int rc = save_words(out, head, sizeof head / sizeof *head);

    if (rc == TROD_OK && l->name)
        rc = trod_buf_add(out, l->name, l->name_len);
    if (rc == TROD_OK)
        rc = save_words(out, &l->feet, COUNT_FEET);
    for (uint32_t i = 0; rc == TROD_OK && i < l->n_windows; i++)
        rc = save_window(out, &l->window[i]);
    if (rc == TROD_OK)
        rc = save_pages(out, l->code);
    return rc == TROD_OK ? save_pages(out, l->data) : rc;
}

/* Place of the format whose names count, from 1 on; 0: none. */
static uint64_t format_number(const struct count_state *s)
{
    for (size_t i = 0; s->names && trod_format_at(i); i++)
        if (trod_format_at(i) == s->names)
            return i + 1;
    return 0;
}

int trod_count_save(const void *st, struct trod_buf *out)
{
    const struct count_state *s = st;
    const uint64_t head[] = {
        s->have,     s->drm,           s->part,   s->opt.line, (uint64_t)s->opt.footprint,
        s->n_shards, format_number(s), s->n_lanes};
    int rc = trod_buf_add(out, magic, sizeof magic);

    if (rc == TROD_OK)
        rc = save_words(out, head, sizeof head / sizeof *head);
    for (uint32_t i = 0; rc == TROD_OK && i < s->n_shards; i++) {
        rc = trod_pack(out, s->shard[i].file);
        if (rc == TROD_OK)
            rc = save_words(out, &s->shard[i].feet, COUNT_FEET);
    }
    if (rc == TROD_OK)
        rc = save_pages(out, s->code);
    if (rc == TROD_OK)
        rc = save_pages(out, s->data);
    for (uint32_t i = 0; rc == TROD_OK && i < s->n_lanes; i++)
        rc = save_lane(out, &s->lane[i]);
    return rc == TROD_OK && s->by >= TROD_BY_MODULE ? trod_count_owned_save(s, out) : rc;
}

/* ---- loading */

static int load_words(struct trod_span *in, void *words, unsigned n)
{
    uint64_t *w = words;
    int rc = TROD_OK;

    for (unsigned i = 0; rc == TROD_OK && i < n; i++)
        rc = trod_unpack(in, &w[i]);
    return rc;
}

static int load_pages(struct trod_span *in, struct trod_pages **out, unsigned planes)
{
    uint64_t some;
    int rc = trod_unpack(in, &some);

    if (rc < 0 || some > 1)
        return TROD_ERR_CORRUPT;
    if (some)
        rc = trod_pages_load(out, in);
    return rc == TROD_OK && *out && (*out)->planes != planes ? TROD_ERR_CORRUPT : rc;
}

static int load_feet(struct trod_span *in, struct count_feet *f)
{
    int rc = load_words(in, f, COUNT_FEET);

    return rc == TROD_OK && f->line > COUNT_LINE_MAX ? TROD_ERR_CORRUPT : rc;
}

static int load_window(struct trod_span *in, struct count_window *w)
{
    uint64_t head[2];
    int rc = load_words(in, head, 2);

    w->id = head[0];
    w->unique = head[1];
    if (rc == TROD_OK)
        rc = load_words(in, &w->sums, COUNT_SUMS);
    return rc == TROD_OK ? load_pages(in, &w->code, 2) : rc;
}

/* What LANE is, and how many windows it says it has. */
static int load_key(struct trod_span *in, struct count_lane *key, uint64_t *windows)
{
    uint64_t h[9];
    int rc = load_words(in, h, 9);

    if (rc < 0 || h[0] > 15 || h[4] > UINT32_MAX || h[7] > in->n || h[7] >= UINT32_MAX ||
        h[6] > COUNT_LINE_MAX || (h[6] & (h[6] - 1)) || h[8] == 0 || h[8] > in->n)
        return TROD_ERR_CORRUPT;
    *key = (struct count_lane){.settled = h[0] & LANE_SETTLED,
                               .filetype_differs = h[0] & LANE_FILETYPE,
                               .windows_late = h[0] & LANE_LATE,
                               .tid = h[1],
                               .pid = h[2],
                               .cpu = h[3],
                               .file = (uint32_t)h[4],
                               .filetype = h[5],
                               .line = h[6],
                               .name_len = (uint32_t)h[7]};
    if (h[0] & LANE_NAMED)
        key->name = (char *)(uintptr_t)in->p;
    else if (key->name_len)
        return TROD_ERR_CORRUPT;
    in->p += key->name_len;
    in->n -= key->name_len;
    *windows = h[8];
    return load_feet(in, &key->feet);
}

static int load_lane(struct count_state *s, struct trod_span *in)
{
    struct count_lane key, *l;
    uint64_t windows;
    uint32_t had = s->n_lanes;
    int rc = load_key(in, &key, &windows);

    if (rc < 0)
        return rc;
    l = trod_count_lane(s, &key);
    if (!l)
        return TROD_ERR_NOMEM;
    if (s->n_lanes == had)
        return TROD_ERR_CORRUPT; /* twice the same */
    for (uint64_t i = 0; rc == TROD_OK && i < windows; i++) {
        if (i)
            rc = trod_count_window_add(l, 0, true);
        if (rc == TROD_OK)
            rc = load_window(in, count_open(l));
    }
    if (rc == TROD_OK)
        rc = load_pages(in, &l->code, 2);
    return rc == TROD_OK ? load_pages(in, &l->data, 1) : rc;
}

static int load_shards(struct count_state *s, struct trod_span *in, uint64_t n)
{
    uint64_t file;
    int rc = TROD_OK;

    for (uint64_t i = 0; rc == TROD_OK && i < n; i++) {
        struct count_feet feet;

        if (trod_unpack(in, &file) < 0 || file > UINT32_MAX)
            return TROD_ERR_CORRUPT;
        rc = load_feet(in, &feet);
        if (rc == TROD_OK)
            rc = trod_count_shard(s, (uint32_t)file, &feet);
    }
    return rc;
}

int trod_count_load(void *st, struct trod_span in, const uint32_t *sites)
{
    struct count_state *s = st;
    uint64_t head[8];
    int rc;

    if (in.n < sizeof magic || memcmp(in.p, magic, sizeof magic) != 0)
        return TROD_ERR_CORRUPT;
    in.p += sizeof magic;
    in.n -= sizeof magic;
    rc = load_words(&in, head, 8);
    if (rc < 0 || head[1] > 1 || head[2] > 1 || head[3] > COUNT_LINE_MAX ||
        (head[3] & (head[3] - 1)) || head[4] > TROD_COUNT_NONE ||
        (head[6] && (head[6] > UINT16_MAX || !trod_format_at(head[6] - 1) ||
                     !trod_format_at(head[6] - 1)->sub_name)))
        return TROD_ERR_CORRUPT;
    s->have = head[0];
    s->drm = head[1];
    s->part = head[2];
    s->opt.line = head[3];
    s->opt.footprint = (int)head[4];
    s->names = head[6] ? trod_format_at(head[6] - 1) : NULL;
    if (s->names && s->names->streams)
        s->word = s->names->streams;
    rc = load_shards(s, &in, head[5]);
    if (rc == TROD_OK)
        rc = load_pages(&in, &s->code, 2);
    if (rc == TROD_OK)
        rc = load_pages(&in, &s->data, 1);
    for (uint64_t i = 0; rc == TROD_OK && i < head[7]; i++)
        rc = load_lane(s, &in);
    if (rc == TROD_OK && s->by >= TROD_BY_MODULE)
        rc = trod_count_owned_load(s, &in, sites);
    return rc == TROD_OK && in.n ? TROD_ERR_CORRUPT : rc;
}
