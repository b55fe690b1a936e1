/*
 * segment_find.c - postings of a section by key. Implements index.h; the layout is described in
 * segment.c.
 */
#include "navigate/segment.h"

#include "core/endian.h"
#include "core/grow.h"
#include "core/pack.h"
#include "core/wide.h"
#include "io/crc32c.h"

#include <stdlib.h>
#include <string.h>

/* USUAL: postings that a key has at most, as a rule; room is made for EXPECTED keys. */
enum { USUAL = 256, EXPECTED = 64 };

static bool get_mask(struct trod_span *in, unsigned form, uint64_t *m)
{
    const size_t n = form == MASK_RUN ? 2 : form == MASK_ANY ? 8 : 0;

    if (in->n < n)
        return false;
    *m = form == MASK_ALL ? UINT64_MAX : 0;
    if (form == MASK_RUN) {
        if (in->p[0] > 63 || in->p[1] == 0 || in->p[1] > 63)
            return false;
        *m = ((UINT64_C(1) << in->p[1]) - 1) << in->p[0];
    } else if (form == MASK_ANY) {
        *m = trod_load_le64(in->p);
    }
    in->p += n;
    in->n -= n;
    return true;
}

TROD_HOT bool get_steps(struct trod_span *in, uint32_t *steps)
{
    if (in->n == 0)
        return false;
    *steps = *in->p++;
    in->n--;
    return true;
}

/* P: the one before with the same key, and then this one. */
TROD_HOT bool get_site(struct trod_span *in, unsigned id, struct nav_posting *p)
{
    uint64_t n, kinds = 0, rows = 0;

    if (trod_unpack(in, &n) < 0 || (n & SITE_KINDS && trod_unpack(in, &kinds) < 0))
        return false;
    p->a = n >> SITE_BITS;
    p->b = (uint32_t)(p->b ^ kinds);
    p->steps = NAV_ALL_STEPS;
    if ((n & SITE_STEPS && !get_steps(in, &p->steps)) ||
        (n & SITE_ROWS && trod_unpack(in, &rows) < 0))
        return false;
    p->b |= trod_unzigzag(rows, usual_rows(id, (uint32_t)p->b, p->a)) << NAV_SITE_ROWS;
    return true;
}

TROD_HOT bool get_posting(struct trod_span *in, unsigned id, struct nav_posting *p,
                          const uint8_t **payload)
{
    uint64_t delta;
    uint32_t forms;

    if (trod_unpack(in, &delta) < 0)
        return false;
    p->block += (uint32_t)delta;
    if (id == NAV_S_SITES || id == NAV_S_TEXTS || id == NAV_S_CLASS_ROWS)
        return get_site(in, id, p);
    p->a = p->b = 0;
    p->steps = 0;
    if (id == NAV_S_REGS)
        return true;
    if (id == NAV_S_MARKS || id == NAV_S_SPREAD || id == NAV_S_EXECUTED)
        return trod_unpack(in, &p->a) == TROD_OK;
    if (id == NAV_S_MEMORY || id == NAV_S_WITHIN) {
        if (trod_unpack(in, &p->b) < 0 || p->b > in->n)
            return false;
        *payload = in->p;
        in->p += p->b;
        in->n -= (size_t)p->b;
        return true;
    }
    if (!get_steps(in, &forms))
        return false;
    p->steps = 1u << (forms >> 5);
    if (!(forms & ONE_STEP) && !get_steps(in, &p->steps))
        return false;
    return get_mask(in, forms & 3, &p->a) && get_mask(in, forms >> 2 & 3, &p->b);
}

/* What is looked for: keys from LO to HI, of which, if KEY is there, those of its N; in BLOCKS. */
struct wanted {
    uint64_t lo, hi;
    const uint64_t *key;
    size_t n;
    struct nav_blocks blocks;
};

static void next_wanted(struct wanted *w)
{
    w->key++;
    w->n--;
    if (w->blocks.since)
        w->blocks.since++;
}

static bool is_wanted(struct wanted *w, uint64_t key)
{
    if (!w->key)
        return key >= w->lo;
    while (w->n && *w->key < key)
        next_wanted(w);
    return w->n && *w->key == key;
}

/* The blocks of KEY whose postings W wants. */
static struct nav_blocks blocks_of(struct wanted *w, uint64_t key)
{
    struct nav_blocks blocks = w->blocks;

    if (!is_wanted(w, key))
        blocks.to = 0;
    else if (w->blocks.since)
        blocks.from = *w->blocks.since;
    return blocks;
}

/*
 * Of the N postings of KEY that stand at *IN, those of BLOCKS, to OUT. ID is the section's, or that
 * of one whose postings look the same.
 */
TROD_HOT int get_postings(struct trod_span *in, const struct nav_segment *s, unsigned id,
                          uint64_t key, uint64_t n, struct nav_blocks blocks,
                          struct nav_postings *out)
{
    struct nav_posting p = {.key = key, .block = s->from, .b = SITE_ALONE};

    if (n > in->n)
        return TROD_ERR_CORRUPT;
    while (blocks.to && n > out->cap - out->n)
        if (!trod_grow(&out->at, out->cap, &out->cap, sizeof p, 256))
            return TROD_ERR_NOMEM;
    while (n--) {
        const uint8_t *payload = NULL;

        if (!get_posting(in, id, &p, &payload) || p.block >= s->to || p.block < s->from)
            return TROD_ERR_CORRUPT;
        if (p.block < blocks.from || p.block >= blocks.to)
            continue;
        if (payload) {
            p.a = out->payload.n;
            if (trod_buf_add(&out->payload, payload, (size_t)p.b) < 0)
                return TROD_ERR_NOMEM;
        }
        out->at[out->n++] = p;
    }
    return TROD_OK;
}

/* The postings of keys that W wants in a page to OUT. */
static int find_in_page(struct trod_span in, const struct nav_segment *s, unsigned id,
                        uint64_t first, struct wanted *w, struct nav_postings *out)
{
    uint64_t key = first, delta, n;
    int rc = TROD_OK;

    while (rc == TROD_OK && in.n) {
        if (trod_unpack(&in, &delta) < 0 || trod_unpack(&in, &n) < 0)
            return TROD_ERR_CORRUPT;
        key += delta;
        if (key > w->hi)
            return TROD_OK;
        if (id == NAV_S_SPREAD || id == NAV_S_MARKS || id == NAV_S_EXECUTED)
            rc = get_postings(&in, s, NAV_S_MARKS, key, n, blocks_of(w, key), out);
        else if (id == NAV_S_CLASS_ROWS)
            rc = get_postings(&in, s, NAV_S_CLASS_ROWS, key, n, blocks_of(w, key), out);
        else
            rc = get_postings(&in, s, id, key, n, blocks_of(w, key), out);
    }
    return rc;
}

static const struct nav_section *section_of(const struct nav_segment *s, unsigned id)
{
    return id == NAV_S_LINES        ? s->lines
           : id == NAV_S_SITES      ? s->sites
           : id == NAV_S_MEMORY     ? s->memory
           : id == NAV_S_MARKS      ? s->marks
           : id == NAV_S_TEXTS      ? s->texts
           : id == NAV_S_CLASS_ROWS ? s->class_rows
           : id == NAV_S_SPREAD     ? s->spread
           : id == NAV_S_WITHIN     ? s->within
           : id == NAV_S_EXECUTED   ? s->executed
                                    : s->regs;
}

/* The pages of a section. */
struct pages {
    const struct nav_section *section;
    const uint8_t *dir, *data;
    size_t bytes; /* of DATA */
    uint32_t n;
};

static int pages_of(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                    struct pages *out)
{
    const struct nav_section *section = section_of(s, id);
    const uint8_t *head;

    memset(out, 0, sizeof *out);
    if (!section || section->length < HEAD)
        return TROD_OK;
    head = x->file + section->offset;
    out->section = section;
    out->dir = head + HEAD;
    out->n = trod_load_le32(head + 4);
    if (out->n > (section->length - HEAD) / ENTRY) {
        nav_index_check(x, section); /* it is damaged, which is noted there */
        return TROD_ERR_CORRUPT;
    }
    out->data = out->dir + (size_t)ENTRY * out->n;
    out->bytes = (size_t)(section->length - HEAD) - (size_t)ENTRY * out->n;
    return nav_index_check_directory(x, section, head + 4, (size_t)(out->data - head) - 4,
                                     trod_load_le32(head));
}

static uint64_t first_key(const struct pages *p, uint32_t i)
{
    return trod_load_le64(p->dir + (size_t)ENTRY * i);
}

/* The last page from FROM on that does not begin after KEY. */
static uint32_t page_of(const struct pages *p, uint32_t from, uint64_t key)
{
    for (uint32_t to = p->n; from + 1 < to;) {
        const uint32_t mid = from + (to - from) / 2;

        if (first_key(p, mid) <= key)
            from = mid;
        else
            to = mid;
    }
    return from;
}

/* How many pages W may look at, at the most. */
static uint64_t looks_of(const struct pages *p, const struct wanted *w)
{
    return w->key ? w->n : page_of(p, 0, w->hi) - page_of(p, 0, w->lo) + 1;
}

static int look(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                struct wanted *w, struct nav_postings *out)
{
    struct trod_buf page = {0}, room = {0};
    struct pages p;
    int rc = pages_of(x, s, id, &p);
    const bool few = rc == TROD_OK && nav_index_few(looks_of(&p, w), p.bytes);

    for (uint32_t i = 0; rc == TROD_OK && i < p.n; i++) {
        const uint8_t *e, *packed = NULL;
        uint32_t at, n;

        if (w->key && w->n == 0)
            break;
        i = page_of(&p, i, w->key ? *w->key : i ? first_key(&p, i) : w->lo);
        e = p.dir + (size_t)ENTRY * i;
        at = trod_load_le32(e + 8);
        n = trod_load_le32(e + 12);
        if (first_key(&p, i) > w->hi)
            break;
        if (at > p.bytes || n > p.bytes - at)
            rc = TROD_ERR_CORRUPT;
        page.n = 0;
        if (rc == TROD_OK) {
            packed = nav_index_copy(x, p.data + at, n, few, &room);
            rc = nav_index_check_part(x, p.section, packed, n, trod_load_le32(e + 20));
        }
        if (rc == TROD_OK)
            rc = nav_unsqueeze(x, packed, n, trod_load_le32(e + 16), &page);
        if (rc == TROD_OK)
            rc = find_in_page((struct trod_span){.p = page.p, .n = page.n}, s, id, first_key(&p, i),
                              w, out);
        /* keys between the last one of this page and the first one of the next are nowhere */
        while (w->key && w->n && (i + 1 == p.n || *w->key < first_key(&p, i + 1)))
            next_wanted(w);
    }
    trod_buf_fini(&page);
    trod_buf_fini(&room);
    return rc;
}

int nav_postings_range(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                       uint64_t lo, uint64_t hi, struct nav_postings *out)
{
    struct wanted w = {.lo = lo, .hi = hi, .blocks.to = UINT32_MAX};

    return look(x, s, id, &w, out);
}

int nav_postings_find(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                      uint64_t key, struct nav_postings *out)
{
    return nav_postings_range(x, s, id, key, key, out);
}

int nav_postings_keys(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                      const uint64_t *key, size_t n, struct nav_postings *out)
{
    const struct nav_blocks all = {.to = UINT32_MAX};

    return nav_postings_in(x, s, id, key, n, &all, out);
}

int nav_postings_in(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                    const uint64_t *key, size_t n, const struct nav_blocks *blocks,
                    struct nav_postings *out)
{
    struct wanted w = {.key = key, .n = n, .blocks = *blocks};

    if (n == 0)
        return TROD_OK;
    w.lo = key[0];
    w.hi = key[n - 1];
    /* room that is not needed is never touched, and room that grows is touched twice */
    if (nav_postings_room(out, n < EXPECTED ? n * USUAL : EXPECTED * USUAL) < 0)
        return TROD_ERR_NOMEM;
    return look(x, s, id, &w, out);
}

int nav_postings_by_block(struct nav_postings *p, const struct nav_segment *s, size_t **first)
{
    const uint32_t blocks = s->to - s->from;
    size_t *at = calloc((size_t)blocks + 2, sizeof *at);

    free(*first);
    free(p->order);
    *first = at;
    p->order = malloc((p->n + 1) * sizeof *p->order);
    if (!p->order || !at || p->n > UINT32_MAX)
        return TROD_ERR_NOMEM;
    /* AT[K + 1] goes from where those of K begin to where they end */
    for (size_t i = 0; i < p->n; i++)
        at[p->at[i].block - s->from + 2]++;
    for (uint32_t k = 1; k <= blocks; k++)
        at[k + 1] += at[k];
    for (size_t i = 0; i < p->n; i++)
        p->order[at[p->at[i].block - s->from + 1]++] = (uint32_t)i;
    return TROD_OK;
}

uint32_t nav_index_segment(const struct nav_index *x, size_t k)
{
    uint32_t lo = 0, hi = x->n_segments;

    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;

        if (x->segment[mid].to <= k)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}
