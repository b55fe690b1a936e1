/*
 * count_lane.c - lanes and windows of `trod count`: found, closed, settled, merged.
 *
 * A lane whose file has been read to its end is settled: its footprints become numbers and its sets
 * go into those of all, so that memory does not grow with the number of threads.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/count_int.h"

#include "core/grow.h"
#include "core/hash.h"

void trod_count_lane_fini(struct count_lane *l)
{
    for (uint32_t i = 0; i < l->n_windows; i++)
        trod_pages_free(l->window[i].code);
    free(l->window);
    trod_pages_free(l->code);
    trod_pages_free(l->data);
    free(l->name);
}

/* ---- looking up */

/* Threads are told apart by their file as well; what has only a name goes on in other files. */
static uint64_t file_of(const struct count_lane *l)
{
    return l->tid == TROD_NOWHERE ? 0 : l->file;
}

static uint32_t hash_of(const struct count_lane *l)
{
    const uint64_t h = TROD_FNV ^ l->tid ^ l->pid << 24 ^ file_of(l) << 40;

    return trod_map_hash(trod_fnv(h, l->name, l->name_len));
}

static bool same(const struct count_lane *a, const struct count_lane *b)
{
    return a->tid == b->tid && a->pid == b->pid && file_of(a) == file_of(b) &&
           a->name_len == b->name_len && !a->name == !b->name &&
           (!a->name || memcmp(a->name, b->name, a->name_len) == 0);
}

/* A lane that is KEY, with one window. */
static struct count_lane *add_lane(struct count_state *s, const struct count_lane *key)
{
    struct count_lane l = *key;

    if (!trod_grow(&s->lane, s->n_lanes, &s->cap_lanes, sizeof *s->lane, 8))
        return NULL;
    l.window = calloc(1, sizeof *l.window);
    l.n_windows = 1;
    l.cap_windows = 1;
    if (key->name && (l.name = malloc(key->name_len + 1u))) {
        memcpy(l.name, key->name, key->name_len);
        l.name[key->name_len] = '\0';
    }
    if (!l.window || (key->name && !l.name)) {
        free(l.window);
        free(l.name);
        return NULL;
    }
    l.window->id = TROD_NOWHERE;
    s->lane[s->n_lanes] = l;
    return &s->lane[s->n_lanes++];
}

struct count_lane *trod_count_lane(struct count_state *s, const struct count_lane *key)
{
    const uint32_t h = hash_of(key);
    struct count_lane *l;
    uint32_t i;

    for (size_t at = h; trod_map_next(&s->map, h, &at, &i);)
        if (same(&s->lane[i], key))
            return &s->lane[i];
    l = add_lane(s, key);
    if (l && !trod_map_put(&s->map, h, s->n_lanes - 1)) {
        trod_count_lane_fini(l);
        s->n_lanes--;
        return NULL;
    }
    return l;
}

struct count_lane *trod_count_stream(struct count_state *s, uint32_t stream, bool known)
{
    const struct trod_meta *m = s->meta;
    struct count_lane key = {
        .filetype = TROD_NOWHERE, .tid = TROD_NOWHERE, .pid = TROD_NOWHERE, .cpu = TROD_NOWHERE};
    struct count_lane *l;
    uint32_t at = known ? stream + 1 : 0;

    if (at < s->n_of_stream && s->of_stream[at])
        return &s->lane[s->of_stream[at] - 1];
    if (!trod_grow_to(&s->of_stream, &s->n_of_stream, at, sizeof *s->of_stream, NULL))
        return NULL;
    if (known && m && stream < m->n_streams) {
        const struct trod_stream *t = &m->streams[stream];

        key.name = (char *)(uintptr_t)t->name;
        key.name_len = (uint32_t)t->name_len;
        key.tid = t->tid;
        key.pid = t->pid;
        key.cpu = t->cpu;
        key.file = t->file;
    }
    l = trod_count_lane(s, &key);
    if (!l)
        return NULL;
    if (!s->drm && m)
        l->line = m->line_size;
    s->of_stream[at] = (uint32_t)(l - s->lane) + 1;
    return l;
}

/* ---- sets and windows */

struct trod_pages *trod_count_code(const struct count_state *s, struct count_lane *l)
{
    struct count_window *w = count_open(l);

    if (!w->code)
        w->code = trod_pages_new(2, s->opt.footprint == TROD_COUNT_EXACT ? 0 : COUNT_CODE_CAP);
    return w->code;
}

struct trod_pages *trod_count_data(const struct count_state *s, struct count_lane *l)
{
    if (!l->data)
        l->data = trod_pages_new(1, s->opt.footprint == TROD_COUNT_EXACT ? 0 : COUNT_DATA_CAP);
    return l->data;
}

uint32_t trod_count_tag(struct count_state *s, struct count_lane *l, bool encoded)
{
    struct count_window *w = count_open(l);

    if (!s->recent && !(s->recent = trod_recent_new()))
        return 0;
    if (w->tag == 0 || w->tag_encoded != encoded ||
        (w->tag - 1) / TROD_RECENT_TAGS != (s->tags - 1) / TROD_RECENT_TAGS) {
        if (s->tags && s->tags % TROD_RECENT_TAGS == 0) /* a new table is clear */
            trod_recent_clear(s->recent);
        w->tag = ++s->tags;
        w->tag_encoded = encoded;
    }
    return (w->tag - 1) % TROD_RECENT_TAGS;
}

/* *INTO gets what is in *FROM, which is gone afterwards. */
static int take(struct trod_pages **into, struct trod_pages **from)
{
    int rc = TROD_OK;

    if (!*into) {
        *into = *from;
    } else if (*from) {
        rc = trod_pages_merge(*into, *from);
        trod_pages_free(*from);
    }
    *from = NULL;
    return rc;
}

static int close_window(struct count_lane *l, struct count_window *w)
{
    if (w->code)
        w->unique = trod_pages_count(w->code, 0);
    w->tag = 0; /* which spoke of this set */
    return take(&l->code, &w->code);
}

int trod_count_window_add(struct count_lane *l, uint64_t id, bool keep)
{
    int rc = keep ? TROD_OK : close_window(l, count_open(l));

    if (rc != TROD_OK)
        return rc;
    if (!trod_grow(&l->window, l->n_windows, &l->cap_windows, sizeof *l->window, 1))
        return TROD_ERR_NOMEM;
    l->window[l->n_windows++] = (struct count_window){.id = id};
    return TROD_OK;
}

void trod_count_filetype(struct count_state *s, struct count_lane *l, uint64_t value)
{
    if (l->filetype == TROD_NOWHERE)
        l->filetype = value;
    if (l->filetype == value || l->filetype_differs)
        return;
    l->filetype_differs = true;
    trod_error(s->diag, TROD_ERR_CORRUPT, "count.filetype-differs", NULL,
               "file type of thread '%s' changes from 0x%llx to 0x%llx", l->name ? l->name : "",
               (unsigned long long)l->filetype, (unsigned long long)value);
}

int trod_count_window(struct count_state *s, struct count_lane *l, uint64_t id)
{
    struct count_window *w = count_open(l);

    if (w->id == id)
        return TROD_OK;
    if (w->id == TROD_NOWHERE && !s->part) {
        w->id = id; /* the rows before the first number belong to it */
        return TROD_OK;
    }
    if (!s->part && l->window->id != 0 && !l->windows_late) {
        l->windows_late = true;
        trod_error(s->diag, TROD_ERR_CORRUPT, "count.windows-late", NULL,
                   "windows of thread '%s' do not begin with number 0", l->name ? l->name : "");
    }
    return trod_count_window_add(l, id, s->part);
}

/* ---- footprints */

/* The union of sets, without a copy where it is only one. */
struct gather {
    const struct trod_pages *is;
    struct trod_pages *own;
};

static int gather(struct gather *g, const struct trod_pages *add)
{
    if (!add)
        return TROD_OK;
    if (!g->is) {
        g->is = add;
        return TROD_OK;
    }
    if (!g->own && !(g->own = trod_pages_copy(g->is)))
        return TROD_ERR_NOMEM;
    g->is = g->own;
    return trod_pages_merge(g->own, add);
}

static int gather_code(struct gather *g, const struct count_lane *l)
{
    int rc = gather(g, l->code);

    for (uint32_t i = 0; rc == TROD_OK && i < l->n_windows; i++)
        rc = gather(g, l->window[i].code);
    return rc;
}

uint32_t trod_count_line(const struct count_state *s, uint64_t said)
{
    if (s->opt.line)
        return (uint32_t)s->opt.line;
    return said ? (uint32_t)said : COUNT_LINE;
}

static void feet_of(struct count_feet *f, const struct trod_pages *code,
                    const struct trod_pages *data, uint32_t line)
{
    *f = (struct count_feet){.line = line};
    if (code) {
        f->starts = trod_pages_count(code, 0);
        f->code_bytes = trod_pages_count(code, 1);
        f->code_lines = trod_pages_lines(code, 1, line);
        f->code_level = code->level;
    }
    if (data) {
        f->data_bytes = trod_pages_count(data, 0);
        f->data_lines = trod_pages_lines(data, 0, line);
        f->data_level = data->level;
    }
}

int trod_count_feet(const struct count_state *s, const struct count_lane *l, struct count_feet *f)
{
    struct gather code = {NULL, NULL};
    int rc = gather_code(&code, l);

    if (rc == TROD_OK)
        feet_of(f, code.is, l->data, trod_count_line(s, l->line));
    trod_pages_free(code.own);
    return rc;
}

int trod_count_feet_all(const struct count_state *s, struct count_feet *f)
{
    struct gather code = {s->code, NULL}, data = {s->data, NULL};
    uint64_t line = 0;
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < s->n_lanes; i++) {
        const struct count_lane *l = &s->lane[i];

        if (line == 0)
            line = l->line;
        rc = gather_code(&code, l);
        if (rc == TROD_OK)
            rc = gather(&data, l->data);
    }
    if (rc == TROD_OK)
        feet_of(f, code.is, data.is, trod_count_line(s, line));
    trod_pages_free(code.own);
    trod_pages_free(data.own);
    return rc;
}

static int settle_lane(struct count_state *s, struct count_lane *l)
{
    int rc = TROD_OK;

    for (uint32_t i = 0; rc == TROD_OK && i < l->n_windows; i++)
        rc = close_window(l, &l->window[i]);
    if (rc < 0)
        return rc;
    feet_of(&l->feet, l->code, l->data, trod_count_line(s, l->line));
    l->settled = true;
    rc = take(&s->code, &l->code);
    return rc < 0 ? rc : take(&s->data, &l->data);
}

int trod_count_shard(struct count_state *s, uint32_t file, const struct count_feet *feet)
{
    if (!trod_grow(&s->shard, s->n_shards, &s->cap_shards, sizeof *s->shard, 8))
        return TROD_ERR_NOMEM;
    s->shard[s->n_shards++] = (struct count_shard){file, *feet};
    return TROD_OK;
}

static bool settles(const struct count_lane *l, uint32_t file)
{
    return !l->settled && l->file == file && l->tid != TROD_NOWHERE;
}

/* What the lanes of FILE, whose sets are there, have together. 1; 0 where it has not several lanes;
 * TROD_ERR_NOMEM. */
static int shard_feet(const struct count_state *s, uint32_t file, struct count_feet *feet)
{
    struct gather code = {NULL, NULL}, data = {NULL, NULL};
    uint64_t line = 0;
    uint32_t n = 0;
    int rc = TROD_OK;

    for (uint32_t i = 0; i < s->n_lanes; i++)
        n += s->lane[i].file == file && s->lane[i].tid != TROD_NOWHERE;
    if (n < 2)
        return 0;
    for (uint32_t i = 0; rc == TROD_OK && i < s->n_lanes; i++) {
        const struct count_lane *l = &s->lane[i];

        if (!settles(l, file))
            continue;
        if (line == 0)
            line = l->line;
        rc = gather_code(&code, l);
        if (rc == TROD_OK)
            rc = gather(&data, l->data);
    }
    if (rc == TROD_OK)
        feet_of(feet, code.is, data.is, trod_count_line(s, line));
    trod_pages_free(code.own);
    trod_pages_free(data.own);
    return rc < 0 ? rc : 1;
}

static int by_file(const void *a, const void *b)
{
    const struct count_shard *x = a, *y = b;

    return x->file < y->file ? -1 : x->file > y->file;
}

int trod_count_shards(const struct count_state *s, struct count_shard **out, uint32_t *n)
{
    struct count_shard *shard = malloc((s->n_shards + s->n_lanes + 1) * sizeof *shard);
    int rc = shard ? TROD_OK : TROD_ERR_NOMEM;

    *out = shard;
    *n = s->n_shards;
    if (shard && s->n_shards)
        memcpy(shard, s->shard, s->n_shards * sizeof *shard);
    for (uint32_t i = 0; rc >= 0 && i < s->n_lanes; i++) {
        const uint32_t file = s->lane[i].file;
        bool had = !settles(&s->lane[i], file);

        for (uint32_t k = 0; k < *n && !had; k++)
            had = shard[k].file == file;
        if (had || (rc = shard_feet(s, file, &shard[*n].feet)) <= 0)
            continue;
        shard[(*n)++].file = file;
    }
    if (rc >= 0)
        qsort(shard, *n, sizeof *shard, by_file);
    return rc < 0 ? rc : TROD_OK;
}

/*
 * Threads are told apart by their file as well, so those of FILE are complete; lanes that have only
 * a name may go on in another file.
 */
int trod_count_settle(void *st, uint32_t file)
{
    struct count_state *s = st;
    struct count_feet feet;
    int rc = shard_feet(s, file, &feet);

    if (rc > 0)
        rc = trod_count_shard(s, file, &feet);
    for (uint32_t i = 0; rc == TROD_OK && i < s->n_lanes; i++)
        if (settles(&s->lane[i], file))
            rc = settle_lane(s, &s->lane[i]);
    return rc;
}

/* ---- merging */

void trod_count_add(struct count_sums *to, const struct count_sums *from)
{
    uint64_t *a = (uint64_t *)(void *)to;
    const uint64_t *b = (const uint64_t *)(const void *)from;

    for (unsigned i = 0; i < COUNT_SUMS; i++)
        a[i] += b[i];
}

static int merge_pages(struct trod_pages **into, const struct trod_pages *from)
{
    if (!from)
        return TROD_OK;
    if (*into)
        return trod_pages_merge(*into, from);
    *into = trod_pages_copy(from);
    return *into ? TROD_OK : TROD_ERR_NOMEM;
}

static int merge_window(struct count_state *s, struct count_lane *l, const struct count_window *w)
{
    uint32_t had = l->n_windows;
    int rc = w->id == TROD_NOWHERE ? TROD_OK : trod_count_window(s, l, w->id);

    if (rc < 0)
        return rc;
    trod_count_add(&count_open(l)->sums, &w->sums);
    if (!w->code && (l->n_windows > had || !count_open(l)->code))
        count_open(l)->unique = w->unique;
    return merge_pages(&count_open(l)->code, w->code);
}

/* NEW: L was made for FROM. */
static int merge_lane(struct count_state *s, struct count_lane *l, const struct count_lane *from,
                      bool new)
{
    int rc = TROD_OK;

    if (!new && (l->settled || from->settled))
        return TROD_ERR_USAGE; /* the union is not known without the sets */
    /* what FROM says was reported there */
    l->filetype_differs |= from->filetype_differs;
    l->windows_late |= from->windows_late;
    if (from->filetype != TROD_NOWHERE)
        trod_count_filetype(s, l, from->filetype);
    if (from->line)
        l->line = from->line;
    for (uint32_t i = 0; rc == TROD_OK && i < from->n_windows; i++)
        rc = merge_window(s, l, &from->window[i]);
    if (rc == TROD_OK)
        rc = merge_pages(&l->code, from->code);
    if (rc == TROD_OK)
        rc = merge_pages(&l->data, from->data);
    if (rc == TROD_OK && from->settled) {
        l->feet = from->feet;
        l->settled = true;
    }
    return rc;
}

int trod_count_merge(void *into, const void *from)
{
    struct count_state *s = into;
    const struct count_state *f = from;
    int rc = TROD_OK;

    s->have |= f->have;
    s->part |= s->n_lanes == 0 && f->part; /* what comes first begins in the middle of a file */
    s->known.source = 0;                   /* windows change */
    if (!s->names)
        s->names = f->names;
    for (uint32_t i = 0; rc == TROD_OK && i < f->n_lanes; i++) {
        struct count_lane key = {.tid = f->lane[i].tid,
                                 .pid = f->lane[i].pid,
                                 .cpu = f->lane[i].cpu,
                                 .filetype = TROD_NOWHERE,
                                 .file = f->lane[i].file,
                                 .name = f->lane[i].name,
                                 .name_len = f->lane[i].name_len};
        uint32_t had = s->n_lanes;
        struct count_lane *l = trod_count_lane(s, &key);

        rc = l ? merge_lane(s, l, &f->lane[i], s->n_lanes > had) : TROD_ERR_NOMEM;
    }
    for (uint32_t i = 0; rc == TROD_OK && i < f->n_shards; i++)
        rc = trod_count_shard(s, f->shard[i].file, &f->shard[i].feet);
    if (rc == TROD_OK)
        rc = trod_count_owned_merge(s, f);
    if (rc == TROD_OK)
        rc = merge_pages(&s->code, f->code);
    return rc == TROD_OK ? merge_pages(&s->data, f->data) : rc;
}
