/*
 * segment.c - postings: which blocks hold what, by key. Implements index.h.
 *
 * A section: CRC-32C of what follows before the pages, number of pages (32 bits each), a directory
 * of them (first key, offset, length, length before compression, CRC-32C: 64, 32, 32, 32, 32 bits),
 * then the pages. What no question is about is not checked. A page: for each key the difference to
 * the one before, how many blocks, and for each the difference to the one before (the first: to the
 * segment's first) and what it holds of the key (LINES: a byte says of what form two masks are, and
 * of one step which it is; for several a byte with a bit each follows; then the masks. SITES,
 * TEXTS, ALIKE: how often, times 8, + 1 where kinds follow, as what differs from those
 * before (the first: from instructions alone), + 2 where a byte of steps follows, + 4 where rows
 * besides it are not as many, or, without other kinds, some: zigzag). Numbers are packed.
 */
#include "navigate/index.h"

#include "core/endian.h"
#include "core/grow.h"
#include "core/pack.h"
#include "core/wide.h"
#include "io/crc32c.h"
#include "navigate/events.h"

#include <stdlib.h>
#include <string.h>

/* Of the byte of forms: one step, whose number stands above it. */
enum { ONE_STEP = 1 << 4 };

enum { HEAD = 8, ENTRY = 24, AHEAD = 16 };

int nav_postings_room(struct nav_postings *p, size_t n)
{
    struct nav_posting *more;
    size_t cap = p->cap ? p->cap : 256;

    if (n <= p->cap - p->n)
        return TROD_OK;
    while (cap - p->n < n)
        cap *= 2;
    if (!(more = realloc(p->at, cap * sizeof *more)))
        return TROD_ERR_NOMEM;
    p->at = more;
    p->cap = cap;
    return TROD_OK;
}

int nav_postings_add(struct nav_postings *p, uint64_t key, uint32_t block, uint64_t a, uint64_t b)
{
    if (!trod_grow(&p->at, p->n, &p->cap, sizeof *p->at, 256))
        return TROD_ERR_NOMEM;
    p->at[p->n++] = (struct nav_posting){key, block, 0, a, b};
    return TROD_OK;
}

/* By key; of equal keys the order stays, which is that of blocks. */
int nav_postings_sort(struct nav_postings *p)
{
    const size_t n = p->n;
    struct nav_posting *out = malloc((n + 1) * sizeof *out);
    struct nav_sort_key *a = malloc((n + 1) * sizeof *a), *b = malloc((n + 1) * sizeof *b);
    uint32_t *count = malloc(NAV_SORT_COUNTS * sizeof *count);
    int rc = out && a && b && count ? TROD_OK : TROD_ERR_NOMEM;

    if (rc == TROD_OK && n) {
        const struct nav_sort_key *s;

        for (size_t i = 0; i < n; i++)
            a[i] = (struct nav_sort_key){p->at[i].key, i};
        s = nav_sort(a, b, n, count);
        for (size_t i = 0; i < n; i++) {
            __builtin_prefetch(&p->at[s[i + AHEAD < n ? i + AHEAD : i].at]);
            out[i] = p->at[s[i].at];
        }
        free(p->at);
        p->at = out;
        p->cap = n + 1;
        out = NULL;
    }
    free(out);
    free(a);
    free(b);
    free(count);
    return rc;
}

/* ---- masks of bytes: most are none, all, or neighbours */

enum { MASK_NONE, MASK_ALL, MASK_RUN, MASK_ANY };

static unsigned mask_form(uint64_t m)
{
    uint64_t low = m & (0 - m);

    if (m == 0)
        return MASK_NONE;
    if (m == UINT64_MAX)
        return MASK_ALL;
    return ((m + low) & m) == 0 ? MASK_RUN : MASK_ANY;
}

/* M to P, where there is room for eight bytes. Returns where it ends. */
static uint8_t *put_mask(uint8_t *p, uint64_t m)
{
    switch (mask_form(m)) {
    case MASK_RUN:
        *p++ = (uint8_t)__builtin_ctzll(m);
        *p++ = (uint8_t)__builtin_popcountll(m);
        return p;
    case MASK_ANY:
        trod_store_le64(p, m);
        return p + 8;
    default:
        return p;
    }
}

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

/* ---- writing */

enum {
    POSTING_MOST = 10 + 10 + 10 + 10 + 1 + 8 + 8
}; /* bytes, besides what MEMORY and WITHIN tell */

/* Of the number of executions of a SITE: what follows it. */
enum { SITE_KINDS = 1, SITE_STEPS = 2, SITE_ROWS = 4, SITE_BITS = 3, SITE_ALONE = 1 << TROD_INSTR };

/* How many rows belong to an instruction of section ID, of KINDS and executed N times, as a rule.
 */
static uint64_t usual_rows(unsigned id, uint32_t kinds, uint64_t n)
{
    return id == NAV_S_SITES && kinds & ~(uint32_t)SITE_ALONE ? n : 0;
}

/* That of section ID; BEFORE: the one before with the same key, or NULL. */
static uint8_t *put_site(uint8_t *p, const struct nav_posting *at, unsigned id,
                         const struct nav_posting *before)
{
    const uint32_t kinds = (uint32_t)at->b ^ (before ? (uint32_t)before->b : SITE_ALONE);
    uint64_t rows = at->b >> NAV_SITE_ROWS;
    const bool some = at->steps != NAV_ALL_STEPS;

    if (rows || id == NAV_S_SITES)
        rows = trod_zigzag(rows, usual_rows(id, (uint32_t)at->b, at->a));
    p = trod_pack_at(p, at->a << SITE_BITS | (kinds ? SITE_KINDS : 0u) | (some ? SITE_STEPS : 0u) |
                            (rows ? SITE_ROWS : 0u));
    if (kinds)
        p = trod_pack_at(p, kinds);
    if (some)
        *p++ = (uint8_t)at->steps;
    return rows ? trod_pack_at(p, rows) : p;
}

/* BEFORE: the one before with the same key; NULL: none, blocks begin with FROM. Returns where it
 * ends. */
static uint8_t *put_posting(uint8_t *p, const struct nav_postings *all,
                            const struct nav_posting *at, unsigned id,
                            const struct nav_posting *before, uint32_t from)
{
    const bool one = at->steps && (at->steps & (at->steps - 1)) == 0;

    p = trod_pack_at(p, at->block - (before ? before->block : from));
    switch (id) {
    case NAV_S_REGS:
        return p;
    case NAV_S_SITES:
    case NAV_S_TEXTS:
    case NAV_S_CLASS_ROWS:
        return put_site(p, at, id, before);
    case NAV_S_MARKS:
    case NAV_S_SPREAD:
    case NAV_S_EXECUTED:
        return trod_pack_at(p, at->a);
    case NAV_S_MEMORY:
    case NAV_S_WITHIN:
        p = trod_pack_at(p, at->b);
        memcpy(p, all->payload.p + at->a, (size_t)at->b);
        return p + at->b;
    default:
        *p++ = (uint8_t)(mask_form(at->a) | mask_form(at->b) << 2 |
                         (one ? ONE_STEP | (unsigned)__builtin_ctz(at->steps) << 5 : 0));
        if (!one)
            *p++ = (uint8_t)at->steps;
        return put_mask(put_mask(p, at->a), at->b);
    }
}

/* The N postings from AT on, which have one key; that before it is BEFORE. */
static int put_key(const struct nav_postings *all, const struct nav_posting *at, size_t n,
                   unsigned id, uint32_t from, uint64_t before, struct trod_buf *out)
{
    size_t most = 10 + 10 + n * POSTING_MOST;
    uint8_t *p;

    for (size_t i = 0; (id == NAV_S_MEMORY || id == NAV_S_WITHIN) && i < n; i++)
        most += (size_t)at[i].b;
    if (trod_buf_reserve(out, most) < 0)
        return TROD_ERR_NOMEM;
    p = trod_pack_at(out->p + out->n, at->key - before);
    p = trod_pack_at(p, n);
    for (size_t i = 0; i < n; i++)
        p = put_posting(p, all, &at[i], id, i ? &at[i - 1] : NULL, from);
    out->n = (size_t)(p - out->p);
    return TROD_OK;
}

/* A section on its way: the page at hand, those before it and their directory. */
struct section {
    struct nav_squeezer *squeezer; /* NULL: its pages stay as they are */
    struct trod_buf page, dir, all;
};

/* A page that is full, and its entry in the directory. */
static int end_page(struct section *s, uint64_t key)
{
    uint8_t entry[ENTRY];
    const size_t at = s->all.n;
    int rc = s->squeezer ? nav_squeeze_by(s->squeezer, s->page.p, s->page.n, &s->all)
                         : trod_buf_add(&s->all, s->page.p, s->page.n);

    if (rc < 0)
        return rc;
    trod_store_le64(entry, key);
    trod_store_le32(entry + 8, (uint32_t)at);
    trod_store_le32(entry + 12, (uint32_t)(s->all.n - at));
    trod_store_le32(entry + 16, (uint32_t)s->page.n);
    trod_store_le32(entry + 20, trod_crc32c(s->all.p + at, s->all.n - at));
    s->page.n = 0;
    return trod_buf_add(&s->dir, entry, sizeof entry);
}

int nav_postings_encode(const struct nav_postings *p, unsigned id, uint32_t from,
                        struct trod_buf *out)
{
    struct section s = {0};
    uint64_t first = 0, before = 0;
    const size_t at = out->n;
    const uint8_t head[HEAD] = {0};
    /* what WITHIN tells are small numbers at random, as short as they get */
    int rc = id == NAV_S_WITHIN ? TROD_OK : nav_squeezer_new(&s.squeezer);

    for (size_t i = 0, n; rc == TROD_OK && i < p->n; i += n) {
        for (n = 1; i + n < p->n && p->at[i + n].key == p->at[i].key;)
            n++;
        if (s.page.n == 0)
            first = before = p->at[i].key;
        rc = put_key(p, &p->at[i], n, id, from, before, &s.page);
        before = p->at[i].key;
        if (rc == TROD_OK && s.page.n >= NAV_PAGE)
            rc = end_page(&s, first);
    }
    if (rc == TROD_OK && s.page.n)
        rc = end_page(&s, first);
    if (rc == TROD_OK)
        rc = trod_buf_add(out, head, sizeof head);
    if (rc == TROD_OK)
        rc = trod_buf_add(out, s.dir.p, s.dir.n);
    if (rc == TROD_OK) {
        trod_store_le32(out->p + at + 4, (uint32_t)(s.dir.n / ENTRY));
        trod_store_le32(out->p + at, trod_crc32c(out->p + at + 4, HEAD - 4 + s.dir.n));
    }
    if (rc == TROD_OK)
        rc = trod_buf_add(out, s.all.p, s.all.n);
    nav_squeezer_free(s.squeezer);
    trod_buf_fini(&s.page);
    trod_buf_fini(&s.dir);
    trod_buf_fini(&s.all);
    return rc;
}

/* ---- reading */

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

/* What is looked for: keys from LO to HI, of which, if KEY is there, those of its N. */
struct wanted {
    uint64_t lo, hi;
    const uint64_t *key;
    size_t n;
};

static bool is_wanted(struct wanted *w, uint64_t key)
{
    if (!w->key)
        return key >= w->lo;
    while (w->n && *w->key < key) {
        w->key++;
        w->n--;
    }
    return w->n && *w->key == key;
}

/*
 * The N postings of KEY that stand at *IN; TAKE: to OUT. ID is the section's, or that of one whose
 * postings look the same.
 */
TROD_HOT int get_postings(struct trod_span *in, const struct nav_segment *s, unsigned id,
                          uint64_t key, uint64_t n, bool take, struct nav_postings *out)
{
    struct nav_posting p = {.key = key, .block = s->from, .b = SITE_ALONE};

    if (n > in->n)
        return TROD_ERR_CORRUPT;
    while (take && n > out->cap - out->n)
        if (!trod_grow(&out->at, out->cap, &out->cap, sizeof p, 256))
            return TROD_ERR_NOMEM;
    while (n--) {
        const uint8_t *payload = NULL;

        if (!get_posting(in, id, &p, &payload) || p.block >= s->to || p.block < s->from)
            return TROD_ERR_CORRUPT;
        if (!take)
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
            rc = get_postings(&in, s, NAV_S_MARKS, key, n, is_wanted(w, key), out);
        else if (id == NAV_S_CLASS_ROWS)
            rc = get_postings(&in, s, NAV_S_CLASS_ROWS, key, n, is_wanted(w, key), out);
        else
            rc = get_postings(&in, s, id, key, n, is_wanted(w, key), out);
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

static int look(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                struct wanted *w, struct nav_postings *out)
{
    struct trod_buf page = {0};
    struct pages p;
    int rc = pages_of(x, s, id, &p);

    for (uint32_t i = 0; rc == TROD_OK && i < p.n; i++) {
        const uint8_t *e;
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
        if (rc == TROD_OK)
            rc = nav_index_check_part(x, p.section, p.data + at, n, trod_load_le32(e + 20));
        if (rc == TROD_OK)
            rc = nav_unsqueeze(x, p.data + at, n, trod_load_le32(e + 16), &page);
        if (rc == TROD_OK)
            rc = find_in_page((struct trod_span){.p = page.p, .n = page.n}, s, id, first_key(&p, i),
                              w, out);
        /* keys between the last one of this page and the first one of the next are nowhere */
        while (w->key && w->n && (i + 1 == p.n || *w->key < first_key(&p, i + 1))) {
            w->key++;
            w->n--;
        }
    }
    trod_buf_fini(&page);
    return rc;
}

int nav_postings_range(const struct nav_index *x, const struct nav_segment *s, unsigned id,
                       uint64_t lo, uint64_t hi, struct nav_postings *out)
{
    struct wanted w = {.lo = lo, .hi = hi};

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
    struct wanted w = {.key = key, .n = n};

    if (n == 0)
        return TROD_OK;
    w.lo = key[0];
    w.hi = key[n - 1];
    return look(x, s, id, &w, out);
}

int nav_postings_by_block(struct nav_postings *p, const struct nav_segment *s, size_t **first)
{
    const uint32_t blocks = s->to - s->from;
    struct nav_posting *to = malloc((p->n + 1) * sizeof *to);
    size_t *at = calloc((size_t)blocks + 2, sizeof *at);

    free(*first);
    *first = at;
    if (!to || !at) {
        free(to);
        return TROD_ERR_NOMEM;
    }
    /* AT[K + 1] goes from where those of K begin to where they end */
    for (size_t i = 0; i < p->n; i++)
        at[p->at[i].block - s->from + 2]++;
    for (uint32_t k = 1; k <= blocks; k++)
        at[k + 1] += at[k];
    for (size_t i = 0; i < p->n; i++)
        to[at[p->at[i].block - s->from + 1]++] = p->at[i];
    free(p->at);
    p->at = to;
    p->cap = p->n + 1;
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
