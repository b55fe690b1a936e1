/*
 * parts.c - states of parts of a file: what they keep, and how they go on with each other.
 *
 * Implements parts.h. Memory of a part is bounded: by the engine where rows are kept (recorded),
 * and by the number of streams.
 */
#include "check/parts.h"

#include "core/grow.h"
#include "engine/streams.h"

#include <stdlib.h>
#include <string.h>

/*
 * LEAD: rows of each stream that come before the seam. SOME: rows kept at a time. Of MANY rows kept
 * they may be one in SHARE of all, for their judging is done in order.
 */
enum { LEAD = 512, SOME = 256, MANY = 1 << 16, SHARE = 4 };

struct chk_part *chk_part_new(void)
{
    return calloc(1, sizeof(struct chk_part));
}

void chk_part_free(struct chk_part *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_kept; i++) {
        trod_batch_free(p->kept[i].b);
        free(p->kept[i].at);
    }
    for (uint32_t i = 0; i < p->n_seams; i++)
        free(p->seam[i].st);
    free(p->kept);
    free(p->entry);
    free(p->seam);
    free(p->stretch);
    free(p->op);
    free(p);
}

size_t chk_part_bytes(const void *st)
{
    enum { ROW = 192 }; /* bytes of the columns of a row, and of where it lies, about */
    const struct chk *c = st;
    const struct chk_part *p = c->part;
    size_t bytes;

    if (!p)
        return 0;
    if (p->lost)
        return SIZE_MAX;
    bytes = p->n_kept * sizeof *p->kept + p->kept_rows * ROW + p->cap_ops * sizeof *p->op +
            p->cap_entries * sizeof *p->entry;
    for (size_t i = 0; i < p->n_kept; i++)
        bytes += p->kept[i].b->pool_n;
    return bytes;
}

/* ---- rows of a part */

/* Room for SOME rows and the rest of a record: what is kept last. NULL: no memory. */
static struct chk_kept *room(struct chk_part *p)
{
    struct chk_kept *k = p->n_kept ? &p->kept[p->n_kept - 1] : NULL;

    if (k && k->b->n + 2 * SOME <= k->b->cap && k->b->pool_n <= k->b->pool_cap / 2)
        return k;
    if (!trod_grow(&p->kept, p->n_kept, &p->cap_kept, sizeof *p->kept, 4))
        return NULL;
    k = &p->kept[p->n_kept];
    if (!(k->at = malloc(TROD_BATCH_ROWS * sizeof *k->at)))
        return NULL;
    if (trod_batch_new(&k->b, TROD_BATCH_ROWS) < 0) {
        free(k->at);
        return NULL;
    }
    p->n_kept++;
    return k;
}

/* Rows [FROM, TO) of KEPT, of STREAM, are the next. */
static bool enter(struct chk_part *p, uint32_t stream, uint32_t from, uint32_t to)
{
    const uint32_t kept = (uint32_t)p->n_kept - 1;
    struct chk_entry *e = p->n_entries ? &p->entry[p->n_entries - 1] : NULL;

    if (e && !e->stretch && e->stream == stream && e->kept == kept && e->to == from) {
        e->to = to;
        return true;
    }
    if (!trod_grow(&p->entry, p->n_entries, &p->cap_entries, sizeof *p->entry, 64))
        return false;
    p->entry[p->n_entries++] =
        (struct chk_entry){.stream = stream, .kept = kept, .from = from, .to = to};
    return true;
}

/* Where the record that row I of B, one of [I, TO), belongs to ends. */
static uint32_t end_of_record(const struct trod_batch *b, uint32_t i, uint32_t to)
{
    while (i < to && (b->flags[i] & TROD_F_CONT))
        i++;
    return i;
}

int chk_part_keep(struct chk *c, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct chk_part *p = c->part;

    while (from < to && !p->lost) {
        const uint32_t n = (to - from < SOME ? to : end_of_record(b, from + SOME, to)) - from;
        struct chk_kept *k = room(p);
        uint32_t at;

        if (!k)
            return TROD_ERR_NOMEM;
        at = k->b->n;
        for (uint32_t i = 0; i < n; i++)
            k->at[at + i] = chk_locate(c, b, from + i);
        p->lost = trod_batch_append(k->b, b, from, n) < n; /* rows that no trace has */
        if (!enter(p, c->stream, at, k->b->n))
            return TROD_ERR_NOMEM;
        p->kept_rows += n;
        from += n;
    }
    p->lost |= p->kept_rows > MANY && p->kept_rows > p->rows / SHARE;
    return TROD_OK;
}

/* Rows of a family with join, up to the seam at first. */
static int lead(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct chk_part *p = c->part;
    uint32_t behind = to;
    struct chk_seam *s;
    int rc;

    if (!trod_grow_to(&p->seam, &p->n_seams, c->stream, sizeof *p->seam, NULL))
        return TROD_ERR_NOMEM;
    s = &p->seam[c->stream];
    if (s->st)
        return c->family->rows(c, st, b, from, to);
    if (to - from > LEAD - s->rows)
        behind = end_of_record(b, from + LEAD - s->rows, to);
    s->rows += behind - from;
    rc = chk_part_keep(c, b, from, behind);
    c->muted = true;
    if (rc == TROD_OK)
        rc = c->family->rows(c, st, b, from, behind);
    c->muted = false;
    if (rc < 0 || s->rows < LEAD)
        return rc;
    if (!(s->st = calloc(1, c->family->stream_size)))
        return TROD_ERR_NOMEM;
    c->family->seam(s->st, st);
    return behind < to ? c->family->rows(c, st, b, behind, to) : TROD_OK;
}

int chk_part_rows(struct chk *c, void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct chk_part *p = c->part;

    if (!p->begun) {
        p->begun = true;
        p->from = b->offset;
        p->lost = !c->family->join && !c->family->go_on;
        c->muted = c->family->go_on != NULL;
    }
    p->rows += to - from;
    if (p->lost)
        return TROD_OK;
    return c->family->go_on ? c->family->rows(c, st, b, from, to) : lead(c, st, b, from, to);
}

/* ---- states that go on with each other */

/* The key in INTO of the stream that has KEY in FROM. */
static int same(struct chk *into, const struct chk *from, uint32_t key)
{
    return engine_stream_same_key((struct trod_meta *)(uintptr_t)into->meta, from->meta, key);
}

/* What FROM knows of the stream that its last row is of. */
static int last_stream(struct chk *into, const struct chk *from)
{
    const uint32_t last = from->lasts[from->file];
    const int key = last ? same(into, from, last - 1) : 0;

    if (key >= 0 && last)
        into->lasts[into->file] = (uint32_t)key + 1;
    return key < 0 ? key : TROD_OK;
}

/* Findings FOUND, N of them, and those of FROM, which INTO numbers, by the order of their rows. */
static int adopt(struct chk *into, const struct trod_finding *found, size_t n, struct chk *from)
{
    int rc = TROD_OK;

    for (size_t i = 0; i < from->n_found; i++) {
        struct trod_finding *f = &from->found[i];

        f->ordinal += into->rows;
        f->line =
            into->lines_known && f->line != TROD_NOWHERE ? into->lines - 1 + f->line : TROD_NOWHERE;
    }
    for (size_t i = 0, k = 0; rc == TROD_OK && (i < n || k < from->n_found);) {
        const bool mine =
            k == from->n_found || (i < n && found[i].ordinal < from->found[k].ordinal);

        rc = chk_adopt(into, mine ? &found[i++] : &from->found[k++]);
    }
    for (size_t i = 0; i < CHK_RULES; i++)
        into->count[i] += from->count[i];
    return rc;
}

/* FROM is the beginning of a file: INTO goes on as it would have. */
static int begin(struct chk *into, struct chk *from)
{
    const size_t size = into->family->file_size;
    int rc = TROD_OK;

    if (size)
        memcpy(into->files + into->file * size, from->files + from->file * size, size);
    into->rows = into->lines_to = 0;
    into->lines = 1;
    into->lines_known = into->family->text;
    for (uint32_t i = 0; rc == TROD_OK && i < from->n_streams; i++) {
        struct chk_stream *s = &from->streams[i];
        int key;
        void *st;

        if (!s->st)
            continue;
        key = same(into, from, i);
        rc = key < 0 ? key : chk_stream_state(into, (uint32_t)key, &st);
        if (rc < 0)
            break;
        free(st);
        into->streams[key].st = s->st;
        into->streams[key].last = s->last;
        s->st = NULL;
    }
    if (rc == TROD_OK)
        rc = last_stream(into, from);
    return rc == TROD_OK ? adopt(into, NULL, 0, from) : rc;
}

/* INTO goes over entry E of FROM. */
static int go_over(struct chk *into, struct chk *from, const struct chk_entry *e)
{
    const struct chk_part *p = from->part;
    const int key = same(into, from, e->stream);
    const struct chk_kept *k = &p->kept[e->kept];
    void *st;
    int rc = key < 0 ? key : chk_stream_state(into, (uint32_t)key, &st);

    if (rc < 0)
        return rc;
    if (e->stretch)
        return into->family->go_on(into, st, p, e->from) ? TROD_OK : TROD_ERR_UNSUPPORTED;
    into->at = k->at;
    rc = into->family->rows(into, st, k->b, e->from, e->to);
    into->at = NULL;
    into->streams[key].last = into->rows + k->at[e->to - 1].ordinal;
    return rc;
}

/* INTO goes on behind the seams of FROM. */
static int join(struct chk *into, struct chk *from)
{
    const struct chk_part *p = from->part;

    for (uint32_t i = 0; i < p->n_seams; i++) {
        int key;
        void *st;

        if (!p->seam[i].st)
            continue;
        key = same(into, from, i);
        if (key < 0)
            return key;
        st = into->streams[key].st;
        if (!into->family->join(into, st, p->seam[i].st, from->streams[i].st))
            return TROD_ERR_UNSUPPORTED;
        into->streams[key].last = into->rows + from->streams[i].last;
    }
    return TROD_OK;
}

/* What FROM has kept is judged, and the findings of both come behind those of INTO. */
static int go_on(struct chk *into, struct chk *from)
{
    const struct chk_part *p = from->part;
    struct trod_finding *const found = into->found;
    const size_t n = into->n_found, cap = into->cap_found;
    uint64_t kept[CHK_RULES];
    struct trod_finding *later;
    size_t n_later;
    int rc = TROD_OK;

    memcpy(kept, into->kept, sizeof kept);
    memset(into->kept, 0, sizeof kept);
    into->found = NULL;
    into->n_found = into->cap_found = 0;
    for (size_t i = 0; rc == TROD_OK && i < p->n_entries; i++)
        rc = go_over(into, from, &p->entry[i]);
    later = into->found;
    n_later = into->n_found;
    into->found = found;
    into->n_found = n;
    into->cap_found = cap;
    memcpy(into->kept, kept, sizeof kept);
    if (rc == TROD_OK)
        rc = join(into, from);
    if (rc == TROD_OK)
        rc = adopt(into, later, n_later, from);
    free(later);
    return rc == TROD_OK ? last_stream(into, from) : rc;
}

/* Lines and rows of FROM are counted behind those of INTO. */
static void count(struct chk *into, const struct chk *from)
{
    into->rows += from->rows;
    into->lines_known = into->lines_known && from->lines_known;
    into->lines += from->lines - 1;
    into->lines_to = from->lines_to;
}

/* Is FROM where INTO is, so that lines can be counted on? */
static bool follows(const struct chk *into, const struct chk *from)
{
    return !into->family->text || !into->lines_known || into->lines_to == from->part->from;
}

int chk_part_merge(struct chk *into, struct chk *from)
{
    int rc;

    if (from->part && from->part->lost)
        return TROD_ERR_UNSUPPORTED;
    if (!from->family || !from->any) /* no rows, or no rules for them */
        return TROD_OK;
    into->chosen = true;
    into->family = from->family;
    rc = chk_use_file(into, from->file);
    if (rc == TROD_OK)
        rc = chk_use_facts(into);
    if (rc == TROD_OK && !from->part)
        rc = begin(into, from);
    else if (rc == TROD_OK)
        rc = follows(into, from) ? go_on(into, from) : TROD_ERR_UNSUPPORTED;
    if (rc < 0)
        return rc;
    chk_schedule_merge(&into->schedule, &from->schedule);
    count(into, from);
    return into->schedule.nomem ? TROD_ERR_NOMEM : TROD_OK;
}
