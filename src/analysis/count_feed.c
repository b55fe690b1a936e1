/*
 * count_feed.c - rows into sums: what `trod count` does with every row.
 *
 * Implements DynamoRIO's basic_counts. Rows come in runs of one lane; a run is processed 64 rows at
 * a time, as masks: instructions, branches, reads, writes. An instruction or access then costs a
 * few operations: the test whether its bytes have been seen before. Batches in which an instruction
 * or access does not say address or size, and rare rows, go row by row (count_row).
 */
#include "analysis/count_row.h"
#include "core/origin.h"

/* Numbers of a run until they go to the lane. */
struct sums {
    uint32_t branch[COUNT_BRANCHES];
    uint64_t instrs, plain, reads, writes, regs, read_bytes, write_bytes;
};

/* Where lanes change so often within so many rows, their rows are not counted as runs. */
enum { TURNS = 4, NEAR = 16 };

/* Where a batch has no column. */
static const uint32_t zeros[TROD_BATCH_ROWS];

/* The word of PLANE with the bit of ADDR. */
TROD_HOT const uint64_t *word_at(const uint64_t *plane, uint64_t addr)
{
    return &plane[(addr >> 6) & (TROD_PAGE_WORDS - 1)];
}

/* Are the N bytes at ADDR all set in PLANE? False where they lie in two words. */
TROD_HOT bool seen(const uint64_t *plane, uint64_t addr, uint32_t n)
{
    uint64_t want = low_bits(n);

    return ((word_at(plane, addr)[0] >> (addr & 63)) & want) == want && n <= 64;
}

TROD_HOT bool begins(const uint64_t *plane, uint64_t addr)
{
    return *word_at(plane, addr) >> (addr & 63) & 1;
}

/* ---- 64 rows at a time */

/* Number of bits set in M; not WIDE: without popcnt, which old processors lack. */
TROD_HOT unsigned bits_set(uint64_t m, const bool wide)
{
    if (wide)
        return (unsigned)__builtin_popcountll(m);
    m -= m >> 1 & UINT64_C(0x5555555555555555);
    m = (m & UINT64_C(0x3333333333333333)) + (m >> 2 & UINT64_C(0x3333333333333333));
    m = (m + (m >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(m * UINT64_C(0x0101010101010101) >> 56);
}

TROD_HOT unsigned first_bit(uint64_t m)
{
    return (unsigned)__builtin_ctzll(m);
}

/* The instructions of M, of the N rows from FROM on, that r->recent does not have. */
TROD_HOT uint64_t unknown(const struct run *r, uint32_t from, uint32_t n, uint64_t m,
                          const bool wide)
{
    const uint64_t *addr = r->b->addr + from;

#if TROD_AVX2
    if (n == BLOCK && wide)
        return trod_recent_lacks_wide(r->recent, addr, m, BLOCK, r->tag);
#endif
    (void)n, (void)wide;
    return trod_recent_lacks(r->recent, addr, m, r->tag);
}

/*
 * Mark the instructions of M, of the rows from FROM on. r->recent learns those in LEARNS: it says
 * of an address that an instruction begins there and, unless that is enough, that it has 4 bytes.
 */
static int mark_instrs(struct run *r, uint32_t from, uint64_t m, uint64_t learns)
{
    const uint64_t *addr = r->b->addr + from;
    const uint32_t *size = r->b->size + from;

    for (; m; m &= m - 1) {
        const unsigned i = first_bit(m);
        const uint64_t pc = addr[i], *page = trod_pages_get(r->code, pc >> TROD_PAGE_SHIFT);
        uint64_t bits = UINT64_C(1) << (pc & 63);

        if (!page)
            return TROD_ERR_NOMEM;
        if (!begins(page, pc) || !(r->encoded || seen(page + TROD_PAGE_WORDS, pc, size[i]))) {
            if (count_mark_code(r, pc, size[i]) < 0)
                return TROD_ERR_NOMEM;
        } else if (r->encoded) {
            bits = *word_at(page, pc);
        }
        if (learns >> i & 1)
            trod_recent_put(r->recent, pc, r->tag, bits);
    }
    return TROD_OK;
}

/* Instructions of the N rows from FROM on that M says, none of which has a flag of SPECIAL. */
TROD_HOT int instrs(struct run *r, struct sums *a, uint32_t from, uint32_t n, uint64_t m,
                    uint64_t branches, const bool wide)
{
    uint64_t learns;

    a->plain += bits_set(m & ~branches, wide);
    for (uint64_t k = m & branches; k; k &= k - 1)
        a->branch[r->flags[from + first_bit(k)] & TROD_F_BRANCH]++;
    if (r->known)
        return TROD_OK;
    learns = r->encoded ? m : m & rows_equal(r->b->size, from, n, UINT32_MAX, 4, wide);
    m = (m & ~learns) | unknown(r, from, n, learns, wide);
    return m ? mark_instrs(r, from, m, learns) : TROD_OK;
}

/* Mark the instruction of SIZE bytes at PC, in PAGE, which is new or has other bytes. */
static int mark_special(struct run *r, uint64_t pc, uint32_t size, const uint64_t *page)
{
    const uint64_t number = pc >> TROD_PAGE_SHIFT, *w = word_at(page, pc);
    const uint32_t bit = pc & 63;

    if (size - 1 >= BLOCK - bit) /* nothing, or more than a word */
        return count_mark_code(r, pc, size);
    trod_pages_or(r->code, number, w + TROD_PAGE_WORDS, UINT64_MAX >> (BLOCK - size) << bit);
    if (!(page = trod_pages_get(r->code, number)))
        return TROD_ERR_NOMEM;
    trod_pages_or(r->code, number, word_at(page, pc), UINT64_C(1) << bit);
    return TROD_OK;
}

/* The same with flags of SPECIAL. */
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

        if (f & TROD_F_NEWCODE && f & (TROD_F_NOFETCH | TROD_F_SYNTHETIC))
            count_unknown(r); /* it is not marked */
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
        if (mark_special(r, pc, size[i], page) < 0)
            return TROD_ERR_NOMEM;
        if (r->encoded && !r->known)
            trod_recent_put(r->recent, pc, r->tag, UINT64_C(1) << (pc & 63));
    }
    return TROD_OK;
}

/*
 * Mark the accesses of M, of the rows from FROM on, and add their bytes to *SUM. LOOK: most of what
 * they touch has been touched before.
 */
TROD_HOT int touch(struct run *r, uint32_t from, uint64_t m, uint64_t *sum, const bool look)
{
    const uint64_t *addr = r->b->addr + from;
    const uint32_t *size = r->b->size + from;
    struct trod_pages *data = r->data;
    uint64_t fresh = 0, bytes = 0;

    for (; m; m &= m - 1) {
        const unsigned i = first_bit(m);
        const uint64_t at = addr[i], number = at >> TROD_PAGE_SHIFT;
        const uint32_t n = size[i], bit = at & 63;
        const uint64_t *w;
        uint64_t want;

        bytes += n;
        if (n - 1 >= BLOCK - bit) { /* nothing, or more than a word */
            if (trod_pages_mark(data, 0, at, n) < 0)
                return TROD_ERR_NOMEM;
            continue;
        }
        want = UINT64_MAX >> (BLOCK - n) << bit;
        if (!(w = trod_pages_get(data, number)))
            return TROD_ERR_NOMEM;
        w = word_at(w, at);
        fresh |=
            look ? trod_pages_set(data, number, w, want) : trod_pages_or(data, number, w, want);
    }
    *sum += bytes;
    r->fresh |= fresh != 0;
    return TROD_OK;
}

/* Bytes of the rows from FROM on that M says. */
TROD_HOT uint64_t sum_sizes(const struct run *r, uint32_t from, uint64_t m)
{
    uint64_t sum = 0;

    for (; m; m &= m - 1)
        sum += r->b->size[from + first_bit(m)];
    return sum;
}

/* Reads and writes of the rows from FROM on that M says. */
TROD_HOT int accesses(struct run *r, struct sums *a, uint32_t from, const struct masks *m)
{
    const bool look = !r->fresh;
    int rc;

    if (!r->data) {
        a->read_bytes += sum_sizes(r, from, m->read);
        a->write_bytes += sum_sizes(r, from, m->write);
        return TROD_OK;
    }
    r->fresh = false;
    if (look) {
        rc = touch(r, from, m->read, &a->read_bytes, true);
        return rc < 0 ? rc : touch(r, from, m->write, &a->write_bytes, true);
    }
    rc = touch(r, from, m->read, &a->read_bytes, false);
    return rc < 0 ? rc : touch(r, from, m->write, &a->write_bytes, false);
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
    c->rows[TROD_REG] += a->regs;
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

TROD_HOT uint64_t others(const struct masks *m, uint32_t n)
{
    return low_bits(n) & ~(m->instr | m->read | m->write | m->reg);
}

/* The rows of M, of the block from FROM on, one at a time. */
static int slow_rows(struct run *r, uint32_t from, uint64_t m)
{
    struct count_sums *c = &count_open(r->lane)->sums;
    int rc = TROD_OK;

    for (; rc == TROD_OK && m; m &= m - 1) {
        const uint32_t i = from + first_bit(m);

        if (r->b->kind[i] == TROD_BRANCH) { /* some traces have one for each jump */
            count_flow(c, r->b, i);
            continue;
        }
        rc = count_row(r, i);
        c = &count_open(r->lane)->sums; /* the row may begin a window */
    }
    return rc;
}

/* The N rows from FROM on by kind, as masks; OTHER: rows of other kinds. */
TROD_HOT int count_rows(struct run *r, struct sums *a, uint32_t from, uint32_t n, struct masks m,
                        uint64_t other, const bool wide)
{
    int rc = TROD_OK;

    a->instrs += bits_set(m.instr, wide);
    a->reads += bits_set(m.read, wide);
    a->writes += bits_set(m.write, wide);
    a->regs += bits_set(m.reg, wide);
    for (uint64_t k = r->targets ? m.instr & m.branch : 0; k; k &= k - 1)
        count_branch(&count_open(r->lane)->sums, r->b, from + first_bit(k),
                     r->flags[from + first_bit(k)]);
    if (m.flags & SPECIAL) {
        const uint64_t special = m.instr & ~rows_equal(r->flags, from, n, SPECIAL, 0, wide);

        rc = special_instrs(r, from, special);
        m.instr &= ~special;
    }
    if (rc == TROD_OK)
        rc = instrs(r, a, from, n, m.instr, m.branch, wide);
    if (rc == TROD_OK)
        rc = accesses(r, a, from, &m);
    return rc == TROD_OK && other ? slow_rows(r, from, other) : rc;
}

/* Count the N rows from FROM on, whose kinds are in M. *DONE of them were counted. */
TROD_HOT int block(struct run *r, struct sums *a, uint32_t from, uint32_t n, struct masks m,
                   uint32_t *done, const bool wide)
{
    uint64_t other = others(&m, n);
    unsigned cut = other ? window_at(r, from, other) : BLOCK;

    if (cut == 0) { /* what came before belongs to the window before */
        put_sums(r, a);
        *done = 1;
        return slow_rows(r, from, 1);
    }
    if (cut < n) {
        n = cut;
        m = scan(r, from, n, wide);
        other = others(&m, n);
    }
    *done = n;
    return count_rows(r, a, from, n, m, other, wide);
}

/* ---- the batch */

static bool in_run(const struct run *r, uint32_t i)
{
    return r->streams[i] == r->stream && !((r->b->has[i] ^ r->has) & r->said);
}

/* Rows from *AT on, as long as they belong to the run; *AT is set behind them. */
TROD_HOT int fast_rows(struct run *r, struct sums *a, uint32_t *at, const bool wide)
{
    uint32_t i = *at, done;
    int rc = TROD_OK;

    for (; rc == TROD_OK && i < r->b->n; i += done) {
        uint32_t n = r->b->n - i < BLOCK ? r->b->n - i : BLOCK;
        struct masks m = scan(r, i, n, wide);

        if (m.differs) {
            uint32_t same = 0;

            while (same < n && in_run(r, i + same))
                same++;
            if (same == 0)
                break;
            n = same;
            m = scan(r, i, n, wide);
        }
        rc = block(r, a, i, n, m, &done, wide);
    }
    *at = i;
    return rc;
}

static int fast_rows_plain(struct run *r, struct sums *a, uint32_t *at)
{
    return fast_rows(r, a, at, false);
}

static TROD_WIDE int fast_rows_wide(struct run *r, struct sums *a, uint32_t *at)
{
    return fast_rows(r, a, at, TROD_AVX2);
}

/* Do rows of several lanes come by turns from AT on? Windows keep the rows of a lane in order. */
static bool by_turns(const struct run *r, uint32_t at)
{
    const uint32_t to = r->b->n - at < NEAR ? r->b->n : at + NEAR;
    unsigned turns = 0;

    if (!r->fast || r->s->drm)
        return false;
    for (uint32_t i = at + 1; i < to; i++)
        turns += r->streams[i] != r->streams[i - 1];
    return turns >= TURNS;
}

/*
 * The block that begins at row *AT, which is set behind it: the rows of the lane that comes first,
 * then those of the lane that comes first of what is left.
 */
TROD_HOT int turns(struct run *r, uint32_t *at, const bool wide)
{
    const uint32_t from = *at, n = r->b->n - from < BLOCK ? r->b->n - from : BLOCK;
    const struct masks all = scan(r, from, n, wide);
    uint64_t left = low_bits(n);
    int rc = TROD_OK;

    while (rc == TROD_OK && left) {
        const uint32_t i = from + first_bit(left), has = r->b->has[i] & r->said;
        struct masks m = all;
        struct sums a = {0};
        uint64_t mine;

        r->stream = r->streams[i];
        mine = left & rows_equal(r->streams, from, n, UINT32_MAX, r->stream, wide);
        if (r->said)
            mine &= rows_equal(r->b->has, from, n, r->said, has, wide);
        left &= ~mine;
        r->lane = trod_count_stream(r->s, has ? r->stream : 0, has != 0);
        rc = r->lane ? count_use_window(r) : TROD_ERR_NOMEM;
        m.instr &= mine;
        m.read &= mine;
        m.write &= mine;
        m.reg &= mine;
        if (rc == TROD_OK)
            rc = count_rows(r, &a, from, n, m, mine & others(&all, n), wide);
        for (; rc == TROD_OK && r->s->names && mine; mine &= mine - 1)
            count_name(count_open(r->lane)->sums.named, r->s->names, r->b, from + first_bit(mine));
        if (r->lane)
            put_sums(r, &a);
    }
    *at = from + n;
    return rc;
}

static int turns_plain(struct run *r, uint32_t *at)
{
    return turns(r, at, false);
}

static TROD_WIDE int turns_wide(struct run *r, uint32_t *at)
{
    return turns(r, at, TROD_AVX2);
}

/* Do rows [FROM, TO) of B continue the sequence of batches whose new instructions were marked? */
static bool goes_on(struct count_known *t, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    const struct trod_origin s = trod_origin_of(b);

    if (s.number && s.before + from == 0)
        *t = (struct count_known){s.number, 0, 0};
    if (t->source != s.number || t->next != s.before + from)
        t->source = 0;
    t->next = s.before + to;
    return t->source != 0;
}

/* A run of R->lane begins: instructions marked as new are so for one lane only. */
static void check_known(struct run *r)
{
    struct count_known *t = &r->s->known;
    const uint32_t lane = (uint32_t)(r->lane - r->s->lane) + 1;

    if (t->lane == 0)
        t->lane = lane;
    if (t->lane != lane || !r->encoded)
        count_unknown(r);
}

/* The run that begins at row *AT, which is set behind it. */
static int lane_rows(struct run *r, uint32_t *at)
{
    struct sums a = {0};
    uint32_t from = *at;
    int rc = count_use_window(r);

    if (r->known)
        check_known(r);
    if (rc == TROD_OK && r->fast)
        rc = r->wide ? fast_rows_wide(r, &a, at) : fast_rows_plain(r, &a, at);
    while (rc == TROD_OK && !r->fast && *at < r->b->n && in_run(r, *at))
        rc = count_row(r, (*at)++);
    if (rc == TROD_OK && r->s->names) {
        uint64_t *const sums = count_open(r->lane)->sums.named;

        for (; from < *at; from++)
            count_name(sums, r->s->names, r->b, from);
    }
    put_sums(r, &a);
    return rc;
}

/* Not 0: one of the rows [FROM, TO) lacks a column that complete() demands. */
TROD_HOT uint32_t lacking(const struct run *r, uint32_t from, uint32_t to)
{
    const uint32_t need = TROD_COL_ADDR | TROD_COL_SIZE, flags = r->b->have & TROD_COL_FLAGS;
    const struct trod_batch *b = r->b;
    uint32_t missing = 0;

    for (uint32_t i = from; i < to; i++) {
        uint8_t k = b->kind[i];
        uint32_t instr = 0 - (uint32_t)(k == TROD_INSTR);
        uint32_t access = 0 - (uint32_t)((k == TROD_READ) | (k == TROD_WRITE));

        missing |= ((need | flags) & ~b->has[i] & instr) | (need & ~b->has[i] & access);
        missing |= ((uint32_t)(b->size[i] == 0) & instr) | (r->flags[i] & TROD_F_HOLES & access);
    }
    return missing;
}

static TROD_WIDE uint32_t lacking_wide(const struct run *r, uint32_t from, uint32_t to)
{
    return lacking(r, from, to);
}

/*
 * Does every instruction, read and write say address and size, and every instruction its flags?
 * Those of drmemtrace do (docs/formats/drmemtrace.md, "Rows").
 */
static bool complete(const struct run *r)
{
    uint32_t missing = (TROD_COL_ADDR | TROD_COL_SIZE) & ~r->b->have;

    for (uint32_t i = 0; !missing && !r->s->drm && i < r->b->n; i += 4 * BLOCK) {
        uint32_t to = r->b->n - i < 4 * BLOCK ? r->b->n : i + 4 * BLOCK;

        missing = r->wide ? lacking_wide(r, i, to) : lacking(r, i, to);
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
    if (s->by >= TROD_BY_MODULE && trod_count_owned_rows(s, batch, from, to) < 0)
        return TROD_ERR_NOMEM;
    r.flags = b->have & TROD_COL_FLAGS ? b->flags : zeros;
    r.said = b->have & TROD_COL_STREAM;
    r.streams = r.said ? b->stream : zeros;
    r.encoded = s->drm && s->meta && (s->meta->filetype & FILETYPE_ENCODINGS);
    r.wide = trod_wide();
    r.known = goes_on(&s->known, batch, from, to);
    r.fast = complete(&r);
    r.targets = (b->have & TROD_COL_TARGET) && !s->drm;
    while (rc == TROD_OK && at < b->n) {
        bool known = r.said & b->has[at];

        r.stream = r.streams[at];
        r.has = b->has[at];
        if (by_turns(&r, at)) { /* never of a source: r.encoded */
            rc = r.wide ? turns_wide(&r, &at) : turns_plain(&r, &at);
            continue;
        }
        r.lane = trod_count_stream(s, known ? r.stream : 0, known);
        rc = r.lane ? lane_rows(&r, &at) : TROD_ERR_NOMEM;
    }
    return rc;
}
