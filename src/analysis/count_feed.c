/*
 * count_feed.c - rows into sums: what `trod count` does with every row.
 *
 * Implements drmemtrace, "basic_counts". Rows come in runs of one lane; a run is taken 64 rows at
 * a time, as three masks: instructions, accesses, all others. Instructions and accesses then cost a
 * few operations each: a count by class, and the test that their bytes have been seen before.
 * Batches in which an instruction or access does not say address or size, and what is rare, go row
 * by row (slow_row).
 */
#include "analysis/count_int.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 64, HIST = 4 };

/* drmemtrace: numbers of markers that mean something for counting. */
enum { FILETYPE = 9, LINE_SIZE = 10, WINDOW_ID = 14, FILETYPE_ENCODINGS = 0x200 };

enum { SPECIAL = TROD_F_KERNEL | TROD_F_NOFETCH | TROD_F_NEWCODE | TROD_F_SKIPPED };

/* What the rows of one batch are counted with. */
struct run {
    struct count_state *s;
    const struct trod_batch *b;
    struct trod_diag *diag;
    struct count_lane *lane;
    struct trod_pages *code, *data; /* of the lane's open window; data NULL: not counted */
    const uint32_t *flags;
    bool special; /* some row has a flag of SPECIAL */
    bool encoded; /* other code at the same address comes with TROD_F_NEWCODE */
    bool fast;
};

/* Numbers of a run until they go to the lane. */
struct sums {
    uint32_t hist[HIST][COUNT_BRANCHES];
    uint64_t instrs, reads, writes, read_bytes, write_bytes;
};

static const uint32_t no_flags[TROD_BATCH_ROWS];

/* N low bits; everything for 64 and more. */
static inline uint64_t low_bits(uint32_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* Are the N bytes at ADDR all set in PLANE? False where they lie in two words. */
static inline bool seen(const uint64_t *plane, uint64_t addr, uint32_t n)
{
    uint64_t want = low_bits(n);

    return ((plane[(addr >> 6) & (TROD_PAGE_WORDS - 1)] >> (addr & 63)) & want) == want && n <= 64;
}

static inline bool begins(const uint64_t *plane, uint64_t addr)
{
    return plane[(addr >> 6) & (TROD_PAGE_WORDS - 1)] >> (addr & 63) & 1;
}

static inline unsigned class_of(uint32_t flags)
{
    return (flags & TROD_F_BRANCH) | (flags & TROD_F_KERNEL ? COUNT_KERNEL : 0u) |
           (flags & TROD_F_NOFETCH ? COUNT_NOFETCH : 0u) |
           (flags & TROD_F_NEWCODE ? COUNT_NEWCODE : 0u);
}

static int mark_code(struct run *r, uint64_t pc, uint32_t size)
{
    int rc = trod_pages_mark(r->code, 0, pc, 1);

    return rc < 0 ? rc : trod_pages_mark(r->code, 1, pc, size);
}

static int use_window(struct run *r)
{
    r->code = trod_count_code(r->s, r->lane);
    r->data = NULL;
    if (r->s->opt.footprint != TROD_COUNT_NONE && !(r->data = trod_count_data(r->s, r->lane)))
        return TROD_ERR_NOMEM;
    return r->code ? TROD_OK : TROD_ERR_NOMEM;
}

/* ---- one row at a time */

static void slow_branch(struct count_sums *c, const struct trod_batch *b, uint32_t i,
                        uint32_t flags)
{
    uint32_t need = TROD_COL_TARGET | TROD_COL_ADDR | TROD_COL_SIZE;

    if ((flags & TROD_F_BRANCH) != TROD_BR_COND || (b->have & b->has[i] & need) != need)
        return;
    if (b->target[i] == b->addr[i] + b->size[i])
        c->untaken++;
    else
        c->taken++;
}

static int slow_instr(struct run *r, uint32_t i, uint32_t said, uint32_t flags)
{
    const struct trod_batch *b = r->b;
    struct count_sums *c = &count_open(r->lane)->sums;
    uint32_t size = said & TROD_COL_SIZE ? b->size[i] : 0;

    c->instr[class_of(flags)]++;
    c->skipped += (flags & TROD_F_SKIPPED) != 0;
    slow_branch(c, b, i, flags);
    if (size == 0)
        c->unsized_code++;
    if (!(said & TROD_COL_ADDR) || (flags & TROD_F_NOFETCH))
        return TROD_OK;
    return mark_code(r, b->addr[i], size ? size : 1);
}

static int slow_access(struct run *r, uint32_t i, uint32_t said, uint64_t *bytes)
{
    const struct trod_batch *b = r->b;
    struct count_sums *c = &count_open(r->lane)->sums;
    uint32_t size = said & TROD_COL_SIZE ? b->size[i] : 1;
    uint64_t addr;

    if (said & TROD_COL_SIZE)
        *bytes += size;
    else
        c->unsized_data++;
    if (!r->data || !(said & (TROD_COL_ADDR | TROD_COL_PADDR)))
        return TROD_OK;
    addr = said & TROD_COL_ADDR ? b->addr[i] : b->paddr[i];
    return trod_pages_mark(r->data, 0, addr, size);
}

static void filetype(struct run *r, uint64_t value)
{
    struct count_lane *l = r->lane;

    if (l->filetype == TROD_NOWHERE)
        l->filetype = value;
    if (l->filetype == value || l->filetype_differs)
        return;
    l->filetype_differs = true;
    trod_error(r->diag, TROD_ERR_CORRUPT, "count.filetype-differs", NULL,
               "file type of thread '%s' changes from 0x%llx to 0x%llx", l->name ? l->name : "",
               (unsigned long long)l->filetype, (unsigned long long)value);
}

static int window(struct run *r, uint64_t id)
{
    bool late = r->lane->windows_late;
    int rc = trod_count_window(r->s, r->lane, id);

    if (rc == TROD_OK && r->lane->windows_late && !late)
        trod_error(r->diag, TROD_ERR_CORRUPT, "count.windows-late", NULL,
                   "windows of thread '%s' do not begin with number 0",
                   r->lane->name ? r->lane->name : "");
    return rc == TROD_OK ? use_window(r) : rc;
}

static int marker(struct run *r, uint32_t i, uint32_t said)
{
    const struct trod_batch *b = r->b;
    uint32_t sub = said & TROD_COL_SUB ? b->sub[i] : COUNT_MARKERS - 1;
    int rc = TROD_OK;

    if (r->s->drm && (said & TROD_COL_VALUE)) {
        uint64_t value = b->value[i];

        if (sub == FILETYPE)
            filetype(r, value);
        else if (sub == LINE_SIZE && value && value <= COUNT_LINE_MAX && !(value & (value - 1)))
            r->lane->line = value;
        else if (sub == WINDOW_ID)
            rc = window(r, value);
    }
    count_open(r->lane)->sums.rows[TROD_MARKER]++;
    count_open(r->lane)->sums.marker[sub < COUNT_MARKERS ? sub : COUNT_MARKERS - 1]++;
    return rc;
}

static int slow_row(struct run *r, uint32_t i)
{
    const struct trod_batch *b = r->b;
    uint32_t said = b->have & b->has[i], flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;
    unsigned kind = b->kind[i] < TROD_KINDS ? b->kind[i] : TROD_NOTE;
    struct count_sums *c = &count_open(r->lane)->sums;

    if (kind == TROD_MARKER)
        return marker(r, i, said);
    c->rows[kind]++;
    switch (kind) {
    case TROD_INSTR:
        return slow_instr(r, i, said, flags);
    case TROD_READ:
        return slow_access(r, i, said, &c->read_bytes);
    case TROD_WRITE:
        return slow_access(r, i, said, &c->write_bytes);
    case TROD_ATOMIC:
        return slow_access(r, i, said, &c->atomic_bytes);
    case TROD_BUS:
        return slow_access(r, i, said, &c->bus_bytes);
    case TROD_BRANCH:
        c->branch[flags & TROD_F_BRANCH]++;
        return TROD_OK;
    case TROD_FLUSH:
        c->code_flushes += (flags & TROD_F_IFETCH) != 0;
        return TROD_OK;
    default:
        return TROD_OK;
    }
}

/* ---- 64 rows at a time */

struct masks {
    uint64_t instr, read, write, other;
};

/* Which of the N rows with KIND are what. */
static inline struct masks masks_of(const uint8_t *kind, uint32_t n)
{
    struct masks m = {0, 0, 0, 0};

#ifdef __SSE2__
    if (n == BLOCK) {
        for (unsigned i = 0; i < BLOCK; i += 16) {
            __m128i k = _mm_loadu_si128((const __m128i *)(const void *)(kind + i));
            __m128i is_instr = _mm_cmpeq_epi8(k, _mm_set1_epi8(TROD_INSTR));
            __m128i is_read = _mm_cmpeq_epi8(k, _mm_set1_epi8(TROD_READ));
            __m128i is_write = _mm_cmpeq_epi8(k, _mm_set1_epi8(TROD_WRITE));

            m.instr |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_instr) << i;
            m.read |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_read) << i;
            m.write |= (uint64_t)(uint32_t)_mm_movemask_epi8(is_write) << i;
        }
        m.other = ~(m.instr | m.read | m.write);
        return m;
    }
#endif
    for (uint32_t i = 0; i < n; i++) {
        m.instr |= (uint64_t)(kind[i] == TROD_INSTR) << i;
        m.read |= (uint64_t)(kind[i] == TROD_READ) << i;
        m.write |= (uint64_t)(kind[i] == TROD_WRITE) << i;
    }
    m.other = low_bits(n) & ~(m.instr | m.read | m.write);
    return m;
}

/* Bits set in M, without the help of an instruction that old processors lack. */
static inline unsigned bits_set(uint64_t m)
{
    m -= m >> 1 & UINT64_C(0x5555555555555555);
    m = (m & UINT64_C(0x3333333333333333)) + (m >> 2 & UINT64_C(0x3333333333333333));
    m = (m + (m >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(m * UINT64_C(0x0101010101010101) >> 56);
}

static inline unsigned first_bit(uint64_t m)
{
    return (unsigned)__builtin_ctzll(m);
}

/* Instructions of the rows from FROM on that M says; none has a flag of SPECIAL. */
static int instrs(struct run *r, struct sums *a, uint32_t from, uint64_t m)
{
    const uint64_t *addr = r->b->addr + from, *page = NULL;
    const uint32_t *size = r->b->size + from, *flags = r->flags + from;
    uint64_t number = TROD_NO_PAGE;
    bool encoded = r->encoded;

    for (; m; m &= m - 1) {
        unsigned i = first_bit(m);
        uint64_t pc = addr[i];

        a->hist[i & (HIST - 1)][flags[i] & TROD_F_BRANCH]++;
        if (pc >> TROD_PAGE_SHIFT != number) {
            number = pc >> TROD_PAGE_SHIFT;
            if (!(page = trod_pages_get(r->code, number)))
                return TROD_ERR_NOMEM;
        }
        if (begins(page, pc) && (encoded || seen(page + TROD_PAGE_WORDS, pc, size[i])))
            continue;
        if (mark_code(r, pc, size[i] ? size[i] : 1) < 0)
            return TROD_ERR_NOMEM;
        number = TROD_NO_PAGE; /* its words may have gone */
    }
    return TROD_OK;
}

/* The same with flags. */
static int special_instrs(struct run *r, uint32_t from, uint64_t m)
{
    const uint64_t *addr = r->b->addr + from;
    const uint32_t *size = r->b->size + from, *flags = r->flags + from;
    struct count_sums *c = &count_open(r->lane)->sums;

    for (; m; m &= m - 1) {
        unsigned i = first_bit(m);
        uint64_t pc = addr[i];
        uint32_t f = flags[i];
        const uint64_t *page;

        c->instr[class_of(f)]++;
        c->skipped += (f & TROD_F_SKIPPED) != 0;
        if (f & TROD_F_NOFETCH)
            continue;
        if (!(page = trod_pages_get(r->code, pc >> TROD_PAGE_SHIFT)))
            return TROD_ERR_NOMEM;
        if (begins(page, pc) &&
            ((r->encoded && !(f & TROD_F_NEWCODE)) || seen(page + TROD_PAGE_WORDS, pc, size[i])))
            continue;
        if (mark_code(r, pc, size[i] ? size[i] : 1) < 0)
            return TROD_ERR_NOMEM;
    }
    return TROD_OK;
}

/* Reads and writes of the rows from FROM on. */
static int accesses(struct run *r, struct sums *a, uint32_t from, uint64_t m, uint64_t writes)
{
    const uint64_t *addr = r->b->addr + from;
    const uint32_t *size = r->b->size + from;
    struct trod_pages *data = r->data;
    uint64_t all = 0, written = 0;

    for (; m; m &= m - 1) {
        unsigned i = first_bit(m);
        uint64_t at = addr[i];
        uint32_t n = size[i];
        const uint64_t *page;

        all += n;
        written += n & (0 - (writes >> i & 1));
        if (!data)
            continue;
        if (!(page = trod_pages_get(data, at >> TROD_PAGE_SHIFT)))
            return TROD_ERR_NOMEM;
        if (!seen(page, at, n) && trod_pages_mark(data, 0, at, n) < 0)
            return TROD_ERR_NOMEM;
    }
    a->read_bytes += all - written;
    a->write_bytes += written;
    return TROD_OK;
}

static void put_sums(struct run *r, struct sums *a)
{
    struct count_sums *c = &count_open(r->lane)->sums;

    for (unsigned k = 0; k < HIST; k++)
        for (unsigned i = 0; i < COUNT_BRANCHES; i++)
            c->instr[i] += a->hist[k][i];
    c->rows[TROD_INSTR] += a->instrs;
    c->rows[TROD_READ] += a->reads;
    c->rows[TROD_WRITE] += a->writes;
    c->read_bytes += a->read_bytes;
    c->write_bytes += a->write_bytes;
    *a = (struct sums){0};
}

/* The first of the rows from FROM on that M says and that begins a window; BLOCK: none. */
static unsigned window_at(const struct run *r, uint32_t from, uint64_t m)
{
    for (; r->s->drm && m; m &= m - 1) {
        uint32_t i = from + first_bit(m);

        if (r->b->kind[i] == TROD_MARKER && (r->b->have & r->b->has[i] & TROD_COL_SUB) &&
            r->b->sub[i] == WINDOW_ID)
            return i - from;
    }
    return BLOCK;
}

/* At most 64 rows from FROM on, up to TO; *DONE rows were counted. */
static int block(struct run *r, struct sums *a, uint32_t from, uint32_t to, uint32_t *done)
{
    uint32_t n = to - from < BLOCK ? to - from : BLOCK;
    struct masks m = masks_of(r->b->kind + from, n);
    unsigned cut = m.other ? window_at(r, from, m.other) : BLOCK;
    int rc;

    if (cut == 0) { /* what came before belongs to the window before */
        put_sums(r, a);
        *done = 1;
        return slow_row(r, from);
    }
    if (cut < n) {
        n = cut;
        m = masks_of(r->b->kind + from, n);
    }
    *done = n;
    a->instrs += bits_set(m.instr);
    a->reads += bits_set(m.read);
    a->writes += bits_set(m.write);
    rc = r->special ? special_instrs(r, from, m.instr) : instrs(r, a, from, m.instr);
    if (rc == TROD_OK)
        rc = accesses(r, a, from, m.read | m.write, m.write);
    for (uint64_t o = m.other; rc == TROD_OK && o; o &= o - 1)
        rc = slow_row(r, from + first_bit(o));
    return rc;
}

/* Conditional branches of unknown direction, where the target tells it. */
static void directions(struct run *r, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (r->b->kind[i] == TROD_INSTR)
            slow_branch(&count_open(r->lane)->sums, r->b, i, r->flags[i]);
}

/* Rows FROM to TO, all of the lane. */
static int lane_rows(struct run *r, uint32_t from, uint32_t to)
{
    struct sums a = {0};
    uint32_t n = 0;
    int rc = use_window(r);

    for (uint32_t i = from; rc == TROD_OK && i < to; i += n) {
        if (r->fast) {
            rc = block(r, &a, i, to, &n);
        } else {
            rc = slow_row(r, i);
            n = 1;
        }
    }
    if (rc == TROD_OK && r->fast && (r->b->have & TROD_COL_TARGET) && !r->s->drm)
        directions(r, from, to);
    put_sums(r, &a);
    return rc;
}

/* ---- the batch */

/* The row after those from FROM on that belong to the same stream. */
static uint32_t run_end(const struct trod_batch *b, uint32_t from)
{
    uint32_t stream = b->stream[from], has = b->has[from], to = from + 1;

    for (; to + 16 <= b->n; to += 16) {
        uint32_t differ = 0;

        for (unsigned k = 0; k < 16; k++)
            differ |= (b->stream[to + k] ^ stream) | ((b->has[to + k] ^ has) & TROD_COL_STREAM);
        if (differ)
            break;
    }
    while (to < b->n && b->stream[to] == stream && !((b->has[to] ^ has) & TROD_COL_STREAM))
        to++;
    return to;
}

/* Does every instruction, read and write say address and size? */
static bool complete(const struct trod_batch *b)
{
    const uint32_t need = TROD_COL_ADDR | TROD_COL_SIZE, flags = b->have & TROD_COL_FLAGS;
    uint32_t missing = 0;

    if ((b->have & need) != need)
        return false;
    for (uint32_t i = 0; i < b->n; i++) {
        uint8_t k = b->kind[i];
        uint32_t instr = 0 - (uint32_t)(k == TROD_INSTR);
        uint32_t access = 0 - (uint32_t)((k == TROD_READ) | (k == TROD_WRITE));

        missing |= ((need | flags) & ~b->has[i] & instr) | (need & ~b->has[i] & access);
        missing |= (uint32_t)(b->size[i] == 0) & instr;
    }
    return missing == 0;
}

static void look_at(struct run *r)
{
    const struct trod_batch *b = r->b;
    uint32_t any = 0;

    r->flags = b->have & TROD_COL_FLAGS ? b->flags : no_flags;
    for (uint32_t i = 0; i < b->n; i++)
        any |= r->flags[i];
    r->special = any & SPECIAL;
    r->encoded = r->s->drm && r->s->meta && (r->s->meta->filetype & FILETYPE_ENCODINGS);
    r->fast = complete(b);
}

int trod_count_feed(void *st, const struct trod_batch *b, struct trod_diag *diag)
{
    struct count_state *s = st;
    struct run r = {.s = s, .b = b, .diag = diag};
    int rc = TROD_OK;

    s->have |= b->have;
    look_at(&r);
    for (uint32_t from = 0, to; rc == TROD_OK && from < b->n; from = to) {
        bool known = b->have & b->has[from] & TROD_COL_STREAM;

        to = b->have & TROD_COL_STREAM ? run_end(b, from) : b->n;
        r.lane = trod_count_stream(s, known ? b->stream[from] : 0, known);
        rc = r.lane ? lane_rows(&r, from, to) : TROD_ERR_NOMEM;
    }
    return rc;
}
