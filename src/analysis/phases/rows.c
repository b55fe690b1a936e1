/*
 * rows.c - rows as blocks, categories of instructions, misses (phases.h).
 *
 * Streaks (trod/streak.h) are counted at once: how many of their instructions are of a category is
 * the difference of two sums over sites. The cache is a list of lines for each set, the line used
 * last in front.
 */
#include "analysis/phases/phases.h"

#include "analysis/by_site.h"
#include "core/wide.h"
#include "trod/streak.h"

_Static_assert(TROD_BATCH_ROWS <= UINT16_MAX, "differences of sums are exact");

/* ---- sites */

static enum phases_category category_of(const struct trod_insn *insn)
{
    if (!insn->valid)
        return PHASES_UNKNOWN;
    if (insn->flags & TROD_INSN_FP)
        return PHASES_FP;
    if (insn->loads && insn->stores)
        return PHASES_BOTH;
    if (insn->loads || insn->stores)
        return insn->loads ? PHASES_LOAD : PHASES_STORE;
    return PHASES_OTHER;
}

static const struct trod_insn not_told;

/* Know all sites that there are when the rows of B come. */
static int know_sites(struct phases_state *s, const struct trod_batch *b)
{
    const uint32_t n = s->context.sites ? trod_sites_count(s->context.sites) : 0;

    if (n == 0 || (n == s->n_known && s->sums))
        return TROD_OK;
    if (trod_by_site_room(&s->sums, &s->cap_sums, (size_t)n + 1, sizeof *s->sums) < 0 ||
        trod_by_site_room(&s->count, &s->n_sites, n, sizeof *s->count) < 0 ||
        trod_by_site_room(&s->id, &s->n_ids_of, n, sizeof *s->id) < 0 ||
        trod_by_site_room(&s->direction_of, &s->n_directions_of, n, sizeof *s->direction_of) < 0)
        return TROD_ERR_NOMEM;
    for (; s->n_known < n; s->n_known++) {
        const uint32_t number = (uint32_t)s->n_known;
        const struct trod_insn *insn = trod_by_site_told(s->context.sites, number, b)
                                           ? trod_site_insn(s->context.sites, number)
                                           : &not_told;
        const unsigned said = trod_site_at(s->context.sites, number)->branch;
        const bool branch = (insn->valid && insn->branch) || said;
        struct phases_sums *to = &s->sums[s->n_known + 1];

        *to = s->sums[s->n_known];
        to->n[branch ? PHASES_BRANCH : category_of(insn)]++;
        to->n[PHASES_ENDS] += branch;
    }
    return TROD_OK;
}

static inline uint32_t ends(const struct phases_state *s, uint32_t site, uint32_t n)
{
    return (uint16_t)(s->sums[site + n].n[PHASES_ENDS] - s->sums[site].n[PHASES_ENDS]);
}

/* ---- accesses */

/* SET was not full when it missed LINE: was that so before these rows, too? */
static void note_cold(struct phases_state *s, unsigned set, uint64_t line)
{
    s->cold[set][s->n_cold[set]++] = (struct phases_cold){line, s->n};
}

/* An access to LINE, which is not the one used last in set SET. Returns 1 where it misses. */
static inline unsigned miss_or_move(struct phases_state *s, unsigned set, uint64_t line)
{
    uint64_t *const at = s->line[set], before[PHASES_WAYS - 1];
    unsigned way = 1;

    while (way < PHASES_WAYS && at[way] != line)
        way++;
    if (way == PHASES_WAYS) {
        if (s->n_cold[set] < PHASES_WAYS)
            note_cold(s, set, line);
        memcpy(before, at, sizeof before);
        memcpy(at + 1, before, sizeof before);
        at[0] = line;
        return 1;
    }
    for (; way > 0; way--)
        at[way] = at[way - 1];
    at[0] = line;
    return 0;
}

static inline void line_access(struct phases_state *s, uint64_t line)
{
    const unsigned set = (unsigned)(line % PHASES_SETS);

    s->now.accesses++;
    if (s->working)
        phases_working_line(s->working, line, s->now.fresh);
    if (s->line[set][0] != line)
        s->now.misses += miss_or_move(s, set, line);
}

static inline void access_row(struct phases_state *s, uint64_t addr, uint32_t size)
{
    const uint64_t last = (addr + (size ? size - 1 : 0)) / PHASES_LINE;
    uint64_t line = addr / PHASES_LINE;

    if (line == last) {
        line_access(s, line);
        return;
    }
    for (uint64_t n = 0; line <= last && n < PHASES_LINE; line++, n++)
        line_access(s, line);
}

/* The accesses of a batch, as far as they were counted. */
struct accesses {
    const struct trod_batch *b;
    const uint16_t *row;
    uint32_t n;
};

/* Those before row TO. */
static void count_accesses(struct phases_state *s, struct accesses *a, uint32_t to)
{
    const uint64_t *const addr = a->b->addr;
    const uint32_t *const size = a->b->size;
    const uint8_t *const kind = a->b->kind;

    for (; a->n && *a->row < to; a->row++, a->n--)
        if (kind[*a->row] <= TROD_ATOMIC)
            access_row(s, addr[*a->row], size[*a->row]);
}

/* ---- instructions */

/* What streaks consisted of since the last call becomes part of the interval. */
void phases_settle(struct phases_state *s)
{
    for (unsigned c = 0; c < PHASES_CATEGORIES; c++)
        s->now.category[c] += s->recent[c];
    memset(s->recent, 0, sizeof s->recent);
}

/* The interval is as long as it may be: it ends before row I. */
static int full(struct phases_state *s, struct accesses *a, uint32_t i)
{
    if (!s->length || s->now.instructions < s->length)
        return TROD_OK;
    count_accesses(s, a, i);
    return phases_end_interval(s);
}

/* N instructions from SITE on, from ADDR to NEXT, none of which but the last ends a block. */
static inline int count_code(struct phases_state *s, struct phases_lane *l, uint32_t site,
                             uint32_t n, uint64_t addr, uint64_t next)
{
    const struct phases_sums before = s->sums[site], behind = s->sums[site + n];

    if (l->ended || l->head == TROD_NO_SITE || addr != l->next) {
        if (phases_count_block(s, l) < 0)
            return TROD_ERR_NOMEM;
        l->head = site;
    }
    l->run += n;
    l->next = next;
    l->ended = ends(s, site + n - 1, 1) != 0;
    s->now.instructions += n;
    for (unsigned c = 0; c < PHASES_SUMS; c++)
        s->recent[c] += (uint16_t)(behind.n[c] - before.n[c]);
    return TROD_OK;
}

/* The lane of row I, an instruction. NULL: no memory. */
static struct phases_lane *lane_at(struct phases_state *s, const struct trod_batch *b, uint32_t i)
{
    const uint32_t file = b->meta && !s->context.merged ? b->meta->file : 0;
    const uint32_t stream = b->have & b->has[i] & TROD_COL_STREAM ? b->stream[i] + 1 : 0;
    struct phases_lane *l = stream < s->n_lanes ? &s->lane[stream] : phases_lane_of(s, stream);

    if (l && l->file != file) {
        if (phases_count_block(s, l) < 0)
            return NULL;
        *l = (struct phases_lane){.head = TROD_NO_SITE, .file = file};
    }
    return l;
}

static int instruction_row(struct phases_state *s, const struct trod_batch *b, uint32_t i,
                           struct accesses *a)
{
    const uint32_t place = TROD_COL_ADDR | TROD_COL_SIZE;
    struct phases_lane *l = lane_at(s, b, i);
    int rc = l ? full(s, a, i) : TROD_ERR_NOMEM;

    if (rc < 0)
        return rc;
    if (!(b->have & TROD_COL_SITE) || b->site[i] >= s->n_known) {
        s->now.instructions++;
        s->now.category[PHASES_UNKNOWN]++;
        return TROD_OK;
    }
    if ((b->have & b->has[i] & place) != place) /* how it goes on is not known */
        return count_code(s, l, b->site[i], 1, 0, UINT64_MAX);
    return count_code(s, l, b->site[i], 1, b->addr[i], b->addr[i] + b->size[i]);
}

/* The instructions of STREAK one by one: an interval or a block ends in it. */
static int streak_rows(struct phases_state *s, const struct trod_batch *b,
                       const struct trod_streak *streak, struct accesses *a)
{
    int rc = TROD_OK;

    for (uint32_t i = streak->row; rc == TROD_OK && i <= streak->last; i++)
        if (b->kind[i] == TROD_INSTR)
            rc = instruction_row(s, b, i, a);
    return rc;
}

static int streak_row(struct phases_state *s, const struct trod_batch *b,
                      const struct trod_streak *streak, struct accesses *a)
{
    const uint32_t first = streak->row, last = streak->last, n = streak->n;
    struct phases_lane *l;

    if ((s->length && s->now.instructions + n > s->length) || ends(s, streak->site, n - 1))
        return streak_rows(s, b, streak, a);
    l = lane_at(s, b, first);
    if (!l)
        return TROD_ERR_NOMEM;
    return count_code(s, l, streak->site, n, b->addr[first], b->addr[last] + b->size[last]);
}

/* Row I, which is no part of a streak. */
static int any_row(struct phases_state *s, const struct trod_batch *b, uint32_t i,
                   struct accesses *a)
{
    const uint32_t place = TROD_COL_ADDR | TROD_COL_SIZE;

    if (b->kind[i] == TROD_INSTR)
        return b->flags[i] & TROD_F_SYNTHETIC ? TROD_OK : instruction_row(s, b, i, a);
    if (b->kind[i] < TROD_READ || b->kind[i] > TROD_ATOMIC)
        return TROD_OK;
    count_accesses(s, a, i);
    if ((b->have & b->has[i] & place) == place && !(b->flags[i] & TROD_F_IFETCH))
        access_row(s, b->addr[i], b->size[i]);
    return TROD_OK;
}

/* What belongs to a streak of W that comes soon is fetched into the caches. */
TROD_HOT void expect(const struct phases_state *s, const struct trod_streak_walk *w)
{
    uint32_t end;
    const uint32_t site = trod_streak_soon(w, &end);

    if (!s->n_known)
        return;
    __builtin_prefetch(&s->sums[site]);
    __builtin_prefetch(&s->sums[end]);
    __builtin_prefetch(&s->count[site], 1);
}

int phases_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct phases_state *s = st;
    struct accesses a = {.b = b};
    struct trod_streak_walk walk;
    const struct trod_streak *streak;
    const uint32_t file = (b->meta && !s->context.merged ? b->meta->file : 0) + 1;
    int rc = know_sites(s, b);

    if (rc == TROD_OK && s->file != file)
        rc = phases_begin_file(s, file);

    for (uint32_t i = from; !b->streaks && rc == TROD_OK && i < to; i++)
        rc = any_row(s, b, i, &a);
    if (!b->streaks || rc < 0) {
        phases_settle(s);
        return rc;
    }
    a.row = trod_streak_accesses(b, from, to, &a.n);
    trod_streak_walk_begin(&walk, b, from, to);
    while (rc == TROD_OK && (streak = trod_streak_next(&walk))) {
        expect(s, &walk);
        rc = streak->n ? streak_row(s, b, streak, &a) : any_row(s, b, streak->row, &a);
    }
    count_accesses(s, &a, to);
    phases_settle(s); /* 32 bits hold what a batch has */
    return rc;
}
