/*
 * count_feed.c - rows into sums: what `trod count` does with every row.
 *
 * Implements drmemtrace, "basic_counts". Rows come in runs of one lane; a run is taken 64 rows at
 * a time, as masks: instructions, branches, reads, writes. An instruction or access then costs a
 * few operations: the test that its bytes have been seen before. Batches in which an instruction or
 * access does not say address or size, and what is rare, go row by row (slow_row).
 */
#include "analysis/count_int.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { BLOCK = 64 };

/* drmemtrace: numbers of markers that mean something for counting. */
enum { FILETYPE = 9, LINE_SIZE = 10, WINDOW_ID = 14, FILETYPE_ENCODINGS = 0x200 };

enum {
    SPECIAL = TROD_F_KERNEL | TROD_F_NOFETCH | TROD_F_NEWCODE | TROD_F_SKIPPED | TROD_F_SYNTHETIC
};

/* What the rows of one batch are counted with. */
struct run {
    struct count_state *s;
    const struct trod_batch *b;
    struct trod_diag *diag;
    struct count_lane *lane;
    struct trod_pages *code, *data; /* of the lane's open window; data NULL: not counted */
    const uint32_t *flags, *streams;
    uint32_t stream, has; /* of the run's first row */
    uint32_t said;        /* TROD_COL_STREAM where rows may say one */
    bool encoded;         /* other code at the same address comes with TROD_F_NEWCODE */
    bool fast;
    bool fresh; /* the last accesses touched what none had before */
};

/* Numbers of a run until they go to the lane. */
struct sums {
    uint32_t branch[COUNT_BRANCHES];
    uint64_t instrs, plain, reads, writes, read_bytes, write_bytes;
};

/* Where a batch has no column. */
static const uint32_t zeros[TROD_BATCH_ROWS];

/* N low bits; everything for 64 and more. */
static inline uint64_t low_bits(uint32_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* The word of PLANE with the bit of ADDR. */
static inline const uint64_t *word_at(const uint64_t *plane, uint64_t addr)
{
    return &plane[(addr >> 6) & (TROD_PAGE_WORDS - 1)];
}

/* Are the N bytes at ADDR all set in PLANE? False where they lie in two words. */
static inline bool seen(const uint64_t *plane, uint64_t addr, uint32_t n)
{
    uint64_t want = low_bits(n);

    return ((word_at(plane, addr)[0] >> (addr & 63)) & want) == want && n <= 64;
}

static inline bool begins(const uint64_t *plane, uint64_t addr)
{
    return *word_at(plane, addr) >> (addr & 63) & 1;
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

    if (flags & TROD_F_SYNTHETIC) {
        c->synthetic++;
        return TROD_OK;
    }
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
    return trod_count_mark_data(r->data, b, i, addr, size);
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
    uint64_t instr, read, write, branch;
    uint32_t flags;   /* of all, together */
    uint32_t differs; /* not 0: not all rows belong to the run */
};

static void scan_one(const struct run *r, uint32_t from, uint32_t i, struct masks *m)
{
    const struct trod_batch *b = r->b;
    uint8_t kind = b->kind[from + i];
    uint32_t flags = r->flags[from + i];

    m->instr |= (uint64_t)(kind == TROD_INSTR) << i;
    m->read |= (uint64_t)(kind == TROD_READ) << i;
    m->write |= (uint64_t)(kind == TROD_WRITE) << i;
    m->branch |= (uint64_t)((flags & TROD_F_BRANCH) != 0) << i;
    m->flags |= flags;
    m->differs |= (r->streams[from + i] ^ r->stream) | ((b->has[from + i] ^ r->has) & r->said);
}

#ifdef __SSE2__
static inline __m128i load(const void *p)
{
    return _mm_loadu_si128(p);
}

static inline uint32_t any_bit(__m128i v)
{
    v = _mm_or_si128(v, _mm_shuffle_epi32(v, 0x4e));
    v = _mm_or_si128(v, _mm_shuffle_epi32(v, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(v);
}

static inline uint64_t equal(__m128i v, uint8_t to)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)to)));
}

/* The same for 64 rows. */
static void scan_block(const struct run *r, uint32_t from, struct masks *m)
{
    const struct trod_batch *b = r->b;
    const uint32_t *flags = r->flags + from, *stream = r->streams + from, *has = b->has + from;
    const __m128i branch = _mm_set1_epi32(TROD_F_BRANCH), lane = _mm_set1_epi32((int)r->stream),
                  said = _mm_set1_epi32((int)r->has), zero = _mm_setzero_si128();
    __m128i all = zero, other = zero, lacks = zero;

    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i kind = load(b->kind + from + i), is[4];

        for (unsigned k = 0; k < 4; k++) {
            __m128i f = load(flags + i + 4 * k);

            all = _mm_or_si128(all, f);
            is[k] = _mm_cmpeq_epi32(_mm_and_si128(f, branch), zero);
            other = _mm_or_si128(other, _mm_xor_si128(load(stream + i + 4 * k), lane));
            lacks = _mm_or_si128(lacks, _mm_xor_si128(load(has + i + 4 * k), said));
        }
        is[0] = _mm_packs_epi16(_mm_packs_epi32(is[0], is[1]), _mm_packs_epi32(is[2], is[3]));
        m->branch |= (~(uint64_t)(uint32_t)_mm_movemask_epi8(is[0]) & 0xffff) << i;
        m->instr |= equal(kind, TROD_INSTR) << i;
        m->read |= equal(kind, TROD_READ) << i;
        m->write |= equal(kind, TROD_WRITE) << i;
    }
    m->flags = any_bit(all);
    m->differs = any_bit(other) | (any_bit(lacks) & r->said);
}
#else
static void scan_block(const struct run *r, uint32_t from, struct masks *m)
{
    for (uint32_t i = 0; i < BLOCK; i++)
        scan_one(r, from, i, m);
}
#endif

/* What the N rows from FROM on are. */
static struct masks scan(const struct run *r, uint32_t from, uint32_t n)
{
    struct masks m = {0};

    if (n == BLOCK)
        scan_block(r, from, &m);
    else
        for (uint32_t i = 0; i < n; i++)
            scan_one(r, from, i, &m);
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

/* Instructions of the rows from FROM on that M says, none of which has a flag of SPECIAL. */
static int instrs(struct run *r, struct sums *a, uint32_t from, uint64_t m, uint64_t branches)
{
    const uint64_t *addr = r->b->addr + from, *page = NULL;
    const uint32_t *size = r->b->size + from;
    uint64_t number = TROD_NO_PAGE;
    bool encoded = r->encoded;

    a->plain += bits_set(m & ~branches);
    for (uint64_t k = m & branches; k; k &= k - 1)
        a->branch[r->flags[from + first_bit(k)] & TROD_F_BRANCH]++;
    for (; m; m &= m - 1) {
        unsigned i = first_bit(m);
        uint64_t pc = addr[i];

        if (pc >> TROD_PAGE_SHIFT != number) {
            number = pc >> TROD_PAGE_SHIFT;
            if (!(page = trod_pages_get(r->code, number)))
                return TROD_ERR_NOMEM;
        }
        if (begins(page, pc) && (encoded || seen(page + TROD_PAGE_WORDS, pc, size[i])))
            continue;
        if (mark_code(r, pc, size[i]) < 0)
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

        if (f & TROD_F_SYNTHETIC) {
            c->synthetic++;
            continue;
        }
        c->instr[class_of(f)]++;
        c->skipped += (f & TROD_F_SKIPPED) != 0;
        if (f & TROD_F_NOFETCH)
            continue;
        if (!(page = trod_pages_get(r->code, pc >> TROD_PAGE_SHIFT)))
            return TROD_ERR_NOMEM;
        if (begins(page, pc) &&
            ((r->encoded && !(f & TROD_F_NEWCODE)) || seen(page + TROD_PAGE_WORDS, pc, size[i])))
            continue;
        if (mark_code(r, pc, size[i]) < 0)
            return TROD_ERR_NOMEM;
    }
    return TROD_OK;
}

/* Reads and writes of the rows from FROM on that M says. */
static int accesses(struct run *r, struct sums *a, uint32_t from, uint64_t m, uint64_t writes)
{
    const uint64_t *addr = r->b->addr + from;
    const uint32_t *size = r->b->size + from;
    struct trod_pages *data = r->data;
    uint64_t all = 0, written = 0, fresh = 0;
    bool look = !r->fresh;

    for (; m; m &= m - 1) {
        unsigned i = first_bit(m), bit;
        uint64_t at = addr[i], want;
        uint32_t n = size[i];
        const uint64_t *w;

        all += n;
        written += n & (0 - (writes >> i & 1));
        if (!data)
            continue;
        bit = at & 63;
        if (n - 1 >= BLOCK - bit) { /* nothing, or more than a word */
            if (trod_pages_mark(data, 0, at, n) < 0)
                return TROD_ERR_NOMEM;
            continue;
        }
        want = UINT64_MAX >> (BLOCK - n) << bit;
        if (!(w = trod_pages_get(data, at >> TROD_PAGE_SHIFT)))
            return TROD_ERR_NOMEM;
        w = word_at(w, at);
        fresh |= look ? trod_pages_set(data, at >> TROD_PAGE_SHIFT, w, want)
                      : trod_pages_or(data, at >> TROD_PAGE_SHIFT, w, want);
    }
    r->fresh = fresh != 0;
    a->read_bytes += all - written;
    a->write_bytes += written;
    return TROD_OK;
}

static void put_sums(struct run *r, struct sums *a)
{
    struct count_sums *c = &count_open(r->lane)->sums;

    for (unsigned i = 0; i < COUNT_BRANCHES; i++)
        c->instr[i] += a->branch[i];
    c->instr[TROD_BR_NONE] += a->plain;
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

static inline uint64_t others(const struct masks *m, uint32_t n)
{
    return low_bits(n) & ~(m->instr | m->read | m->write);
}

/* The N rows from FROM on, which M says what they are. *DONE of them were counted. */
static int block(struct run *r, struct sums *a, uint32_t from, uint32_t n, struct masks m,
                 uint32_t *done)
{
    uint64_t other = others(&m, n);
    unsigned cut = other ? window_at(r, from, other) : BLOCK;
    int rc;

    if (cut == 0) { /* what came before belongs to the window before */
        put_sums(r, a);
        *done = 1;
        return slow_row(r, from);
    }
    if (cut < n) {
        n = cut;
        m = scan(r, from, n);
        other = others(&m, n);
    }
    *done = n;
    a->instrs += bits_set(m.instr);
    a->reads += bits_set(m.read);
    a->writes += bits_set(m.write);
    rc = m.flags & SPECIAL ? special_instrs(r, from, m.instr)
                           : instrs(r, a, from, m.instr, m.branch);
    if (rc == TROD_OK)
        rc = accesses(r, a, from, m.read | m.write, m.write);
    for (; rc == TROD_OK && other; other &= other - 1)
        rc = slow_row(r, from + first_bit(other));
    return rc;
}

/* Conditional branches of unknown direction, where the target tells it. */
static void directions(struct run *r, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (r->b->kind[i] == TROD_INSTR)
            slow_branch(&count_open(r->lane)->sums, r->b, i, r->flags[i]);
}

/* ---- the batch */

static bool in_run(const struct run *r, uint32_t i)
{
    return r->streams[i] == r->stream && !((r->b->has[i] ^ r->has) & r->said);
}

/* Rows from *AT on, as long as they belong to the run; *AT is set behind them. */
static int fast_rows(struct run *r, struct sums *a, uint32_t *at)
{
    uint32_t i = *at, done;
    int rc = TROD_OK;

    for (; rc == TROD_OK && i < r->b->n; i += done) {
        uint32_t n = r->b->n - i < BLOCK ? r->b->n - i : BLOCK;
        struct masks m = scan(r, i, n);

        if (m.differs) {
            uint32_t same = 0;

            while (same < n && in_run(r, i + same))
                same++;
            if (same == 0)
                break;
            n = same;
            m = scan(r, i, n);
        }
        rc = block(r, a, i, n, m, &done);
    }
    *at = i;
    return rc;
}

/* The run that begins at row *AT, which is set behind it. */
static int lane_rows(struct run *r, uint32_t *at)
{
    struct sums a = {0};
    uint32_t from = *at;
    int rc = use_window(r);

    if (rc == TROD_OK && r->fast)
        rc = fast_rows(r, &a, at);
    while (rc == TROD_OK && !r->fast && *at < r->b->n && in_run(r, *at))
        rc = slow_row(r, (*at)++);
    if (rc == TROD_OK && r->fast && (r->b->have & TROD_COL_TARGET) && !r->s->drm)
        directions(r, from, *at);
    if (rc == TROD_OK && r->s->names)
        trod_count_named(r->lane, r->b, from, *at);
    put_sums(r, &a);
    return rc;
}

/*
 * Does every instruction, read and write say address and size, and every instruction its flags?
 * Those of drmemtrace do (docs/formats/drmemtrace.md, "Rows").
 */
static bool complete(const struct run *r)
{
    const uint32_t need = TROD_COL_ADDR | TROD_COL_SIZE, flags = r->b->have & TROD_COL_FLAGS;
    const struct trod_batch *b = r->b;
    uint32_t missing = need & ~b->have;

    for (uint32_t i = 0; !missing && !r->s->drm && i < b->n; i++) {
        uint8_t k = b->kind[i];
        uint32_t instr = 0 - (uint32_t)(k == TROD_INSTR);
        uint32_t access = 0 - (uint32_t)((k == TROD_READ) | (k == TROD_WRITE));

        missing |= ((need | flags) & ~b->has[i] & instr) | (need & ~b->has[i] & access);
        missing |= ((uint32_t)(b->size[i] == 0) & instr) | (r->flags[i] & TROD_F_HOLES & access);
    }
    return missing == 0;
}

int trod_count_feed(void *st, const struct trod_batch *batch, uint32_t from, uint32_t to)
{
    struct count_state *s = st;
    struct trod_batch view;
    const struct trod_batch *b = trod_batch_rows(&view, batch, from, to);
    struct run r = {.s = s, .b = b, .diag = s->diag};
    uint32_t at = 0;
    int rc = TROD_OK;

    s->have |= b->have;
    r.flags = b->have & TROD_COL_FLAGS ? b->flags : zeros;
    r.said = b->have & TROD_COL_STREAM;
    r.streams = r.said ? b->stream : zeros;
    r.encoded = s->drm && s->meta && (s->meta->filetype & FILETYPE_ENCODINGS);
    r.fast = complete(&r);
    while (rc == TROD_OK && at < b->n) {
        bool known = r.said & b->has[at];

        r.stream = r.streams[at];
        r.has = b->has[at];
        r.lane = trod_count_stream(s, known ? r.stream : 0, known);
        rc = r.lane ? lane_rows(&r, &at) : TROD_ERR_NOMEM;
    }
    return rc;
}
