/*
 * eval.c - the program of an expression over a tile of rows: numbers, and masks of rows.
 *
 * Words of a mask in which no row counts are passed over. What a row does not say is not in the
 * mask "present" of a number; its element is noise until then.
 */
#include <string.h>
#include <strings.h>

#include "core/origin.h"
#include "isa/flow.h"
#include "show/where/where_int.h"
#include "trod/format.h"

/* Rows of word K of a mask over tile T. */
static uint32_t rows_of(const struct where_tile *t, unsigned k)
{
    const uint32_t left = t->n > 64 * k ? t->n - 64 * k : 0;

    return left < 64 ? left : 64;
}

/* One word of a mask: bit I is COND for I below N. */
#define BITS(to, n, cond)                                                                          \
    do {                                                                                           \
        uint64_t bits_ = 0;                                                                        \
        for (uint32_t i = 0; i < (n); i++)                                                         \
            bits_ |= (uint64_t)(cond) << i;                                                        \
        (to) = bits_;                                                                              \
    } while (0)

/* Rows of ACTIVE that say COLUMN. */
static void said(const struct where_tile *t, uint32_t column, const struct where_mask *active,
                 struct where_mask *out)
{
    for (unsigned k = 0; k < WHERE_WORDS; k++) {
        const uint32_t *has = t->b->has + t->at + 64 * k;

        out->w[k] = 0;
        if (active->w[k] == 0 || !(t->b->have & column))
            continue;
        BITS(out->w[k], rows_of(t, k), (has[i] & column) != 0);
        out->w[k] &= active->w[k];
    }
}

/* ---- numbers of rows */

/* Columns that are numbers of 64 bits as they lie there. */
static const uint64_t *plain(const struct trod_batch *b, unsigned column, uint32_t *bit)
{
    static const uint32_t bits[] = {0,
                                    TROD_COL_INDEX,
                                    TROD_COL_TIME,
                                    0,
                                    TROD_COL_ADDR,
                                    TROD_COL_PADDR,
                                    TROD_COL_SIZE,
                                    TROD_COL_VALUE,
                                    TROD_COL_TARGET,
                                    TROD_COL_CORE,
                                    TROD_COL_SUB,
                                    TROD_COL_FLAGS};
    const uint64_t *at[] = {NULL, b->index, b->time,   NULL, b->addr, b->paddr,
                            NULL, b->value, b->target, NULL, NULL,    NULL};

    *bit = column < sizeof bits / sizeof bits[0] ? bits[column] : 0;
    return column < sizeof at / sizeof at[0] ? at[column] : NULL;
}

/* Columns of fewer bits. */
static uint64_t narrow(const struct trod_batch *b, unsigned column, uint32_t i)
{
    return column == COL_SIZE   ? b->size[i]
           : column == COL_CORE ? b->core[i]
           : column == COL_SUB  ? b->sub[i]
                                : b->flags[i];
}

static uint64_t stream_number(const struct trod_where *w, const struct trod_meta *m,
                              uint32_t stream, unsigned column, bool *there)
{
    *there = stream < w->n_streams;
    if (!*there)
        return 0;
    if (column == COL_STREAM)
        return w->stream_number[stream];
    *there = (column == COL_TID ? m->streams[stream].tid : m->streams[stream].pid) != TROD_NOWHERE;
    return column == COL_TID ? m->streams[stream].tid : m->streams[stream].pid;
}

/* The opcode as the listing shows it. */
static uint64_t opcode(const struct where_tile *t, uint32_t i, bool *there)
{
    const struct trod_batch *b = t->b;
    char text[32], *end;
    uint64_t v = 0;

    *there = show_has(b, i, TROD_COL_CODE) && b->code[i].len > 0 && b->code[i].len <= 8;
    if (!*there)
        return 0;
    end = show_put_opcode(&t->w->show, b, i, text);
    for (const char *p = text; p < end; p++)
        v = v << 4 | (uint64_t)(*p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10);
    return v;
}

/* Numbers that are worked out, row by row. */
static uint64_t derived(const struct where_tile *t, unsigned column, uint32_t i, bool *there)
{
    const struct trod_batch *b = t->b;
    const char *name;
    uint64_t at, v = 0;
    uint32_t line = 0;

    switch (column) {
    case COL_PC:
        *there = t->w->has_pc[i];
        return t->w->pc[i];
    case COL_OPCODE:
        return opcode(t, i, there);
    case COL_OFFSET:
        *there = where_place_of(t->w, b, i, COL_FUNCTION, &at) &&
                 trod_symbols_find(t->w->symbols, at, &name, &v);
        return v;
    case COL_LINE:
        *there = where_place_of(t->w, b, i, COL_FUNCTION, &at) &&
                 trod_symbols_line(t->w->symbols, at, &name, &line);
        return line;
    default:
        *there = show_has(b, i, TROD_COL_STREAM);
        return *there ? stream_number(t->w, b->meta, b->stream[i], column, there) : 0;
    }
}

static void load_derived(const struct where_tile *t, struct where_number *to, unsigned column,
                         const struct where_mask *active)
{
    memset(&to->present, 0, sizeof to->present);
    for (unsigned k = 0; k < WHERE_WORDS; k++)
        for (uint64_t left = active->w[k]; left; left &= left - 1) {
            const uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(left);
            bool there;

            to->own[i] = derived(t, column, t->at + i, &there);
            to->present.w[k] |= (uint64_t)there << (i & 63);
        }
}

static void load(const struct where_tile *t, struct where_number *to, unsigned column,
                 const struct where_mask *active)
{
    uint32_t bit;
    const uint64_t *v = plain(t->b, column, &bit);

    to->v = to->own;
    if (column == COL_ROW) {
        for (uint32_t i = 0; i < t->n; i++)
            to->own[i] = t->first + trod_origin_row(t->b, t->at + i) - t->b->first;
        to->present = *active;
    } else if (bit) {
        said(t, bit, active, &to->present);
        if (v)
            to->v = v + t->at;
        else if (t->b->have & bit)
            for (uint32_t i = 0; i < t->n; i++)
                to->own[i] = narrow(t->b, column, t->at + i);
    } else {
        load_derived(t, to, column, active);
    }
}

/* ---- arithmetic */

#define EACH(n, expression)                                                                        \
    for (uint32_t i = 0; i < (n); i++)                                                             \
    to->own[i] = (expression)

/* A OP B into TO, which may be A. B's elements are those of K where B is NULL. */
static void arithmetic(struct where_number *to, const struct where_number *a,
                       const struct where_number *b, const struct where_step *s, uint32_t n)
{
    const uint64_t *x = a->v, *y = b ? b->v : NULL, c = s->k;

    if (b)
        for (unsigned k = 0; k < WHERE_WORDS; k++)
            to->present.w[k] = a->present.w[k] & b->present.w[k];
#define Y (y ? y[i] : c)
    switch (s->sub) {
    case OP_MUL:
        EACH(n, x[i] * Y);
        break;
    case OP_DIV:
    case OP_MOD: /* by zero: no number */
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t d = Y;

            if (d == 0)
                to->present.w[i / 64] &= ~(UINT64_C(1) << (i % 64));
            to->own[i] = d == 0 ? 0 : s->sub == OP_DIV ? x[i] / d : x[i] % d;
        }
        break;
    case OP_ADD:
        EACH(n, x[i] + Y);
        break;
    case OP_SUB:
        EACH(n, x[i] - Y);
        break;
    case OP_SHL:
        EACH(n, Y < 64 ? x[i] << (Y & 63) : 0);
        break;
    case OP_SHR:
        EACH(n, Y < 64 ? x[i] >> (Y & 63) : 0);
        break;
    case OP_BAND:
        EACH(n, x[i] & Y);
        break;
    case OP_BXOR:
        EACH(n, x[i] ^ Y);
        break;
    default:
        EACH(n, x[i] | Y);
    }
#undef Y
    to->v = to->own;
}

static void run_number(const struct where_tile *t, const struct where_step *s,
                       const struct where_mask *active)
{
    struct where_number *number = t->w->number, *to = &number[s->dst];

    switch (s->code) {
    case RUN_LOAD:
        load(t, to, (unsigned)s->a, active);
        break;
    case RUN_CONST:
        EACH(t->n, s->k);
        to->present = *active;
        to->v = to->own;
        break;
    case RUN_NEG:
        EACH(t->n, 0 - to->v[i]);
        to->v = to->own;
        break;
    case RUN_INV:
        EACH(t->n, ~to->v[i]);
        to->v = to->own;
        break;
    default:
        arithmetic(to, &number[s->a], s->b < 0 ? NULL : &number[s->b], s, t->n);
    }
}

/* ---- comparisons of numbers */

static uint64_t compare_constant(unsigned op, const uint64_t *v, uint64_t c, uint32_t n)
{
    uint64_t w;

    switch (op) {
    case OP_EQ:
        BITS(w, n, v[i] == c);
        break;
    case OP_NE:
        BITS(w, n, v[i] != c);
        break;
    case OP_LT:
        BITS(w, n, v[i] < c);
        break;
    case OP_LE:
        BITS(w, n, v[i] <= c);
        break;
    case OP_GT:
        BITS(w, n, v[i] > c);
        break;
    default:
        BITS(w, n, v[i] >= c);
    }
    return w;
}

static uint64_t compare_numbers(unsigned op, const uint64_t *v, const uint64_t *c, uint32_t n)
{
    uint64_t less, equal;

    BITS(less, n, v[i] < c[i]);
    BITS(equal, n, v[i] == c[i]);
    switch (op) {
    case OP_EQ:
        return equal;
    case OP_NE:
        return ~equal;
    case OP_LT:
        return less;
    case OP_LE:
        return less | equal;
    case OP_GT:
        return ~(less | equal);
    default:
        return ~less;
    }
}

static bool is_member(const struct where_set *set, uint64_t v)
{
    size_t lo = 0, hi = set->n;

    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;

        if (set->item[mid] == v)
            return true;
        if (set->item[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

static void run_compare(const struct where_tile *t, const struct where_step *s,
                        const struct where_mask *active, struct where_mask *out)
{
    const struct where_number *a = &t->w->number[s->a];

    for (unsigned k = 0; k < WHERE_WORDS; k++) {
        const uint64_t there = a->present.w[k] & active->w[k], *v = a->v + 64 * k;
        const uint32_t n = rows_of(t, k);
        uint64_t w = there;

        if (there == 0) {
            out->w[k] = 0;
            continue;
        }
        if (s->code == RUN_BETWEEN)
            BITS(w, n, v[i] - s->k <= s->most - s->k);
        else if (s->code == RUN_MEMBER)
            BITS(w, n, is_member(&t->w->set[s->k], v[i]));
        else if (s->code == RUN_COMPARE && s->b < 0)
            w = compare_constant(s->sub, v, s->k, n);
        else if (s->code == RUN_COMPARE)
            w = compare_numbers(s->sub, v, t->w->number[s->b].v + 64 * k, n) &
                t->w->number[s->b].present.w[k];
        out->w[k] = w & there;
    }
}

/* ---- rows */

/* Is row I of one of the kinds or records that X names? The rule is that of --kind. */
static bool of_kind(const struct where_test *x, const struct trod_batch *b, uint32_t i)
{
    const char *name;

    if (x->kinds >> b->kind[i] & 1)
        return true;
    if (x->fetches && b->kind[i] == TROD_BUS && show_has(b, i, TROD_COL_FLAGS) &&
        (b->flags[i] & TROD_F_IFETCH))
        return true;
    if (!x->named || !(name = show_record_name(b, i)))
        return false;
    for (size_t k = 0; k < x->n; k++)
        if (strcasecmp(x->item[k], name) == 0)
            return true;
    return false;
}

static void run_kind(const struct where_tile *t, const struct where_step *s,
                     const struct where_mask *active, struct where_mask *out)
{
    const struct where_test *x = t->w->test[s->k];

    for (unsigned k = 0; k < WHERE_WORDS; k++) {
        const uint8_t *kind = t->b->kind + t->at + 64 * k;

        out->w[k] = 0;
        if (active->w[k] == 0)
            continue;
        if (x->fetches || x->named)
            BITS(out->w[k], rows_of(t, k), of_kind(x, t->b, t->at + 64 * k + i));
        else
            BITS(out->w[k], rows_of(t, k), x->kinds >> kind[i] & 1);
        out->w[k] = active->w[k] & (s->negate ? ~out->w[k] : out->w[k]);
    }
}

unsigned where_branch(struct trod_where *w, const struct trod_batch *b, uint32_t i)
{
    const uint32_t flags = show_has(b, i, TROD_COL_FLAGS) ? b->flags[i] : 0;

    if (w->flow)
        return w->flow[i] & TROD_FLOW_BRANCH;
    if ((flags & TROD_F_BRANCH) || b->kind[i] != TROD_INSTR || !show_has(b, i, TROD_COL_CODE) ||
        b->code[i].len == 0)
        return flags & TROD_F_BRANCH;
    if (!w->decoder_tried && b->meta->isa != TROD_ISA_UNKNOWN) {
        w->decoder_tried = true;
        trod_insn_decoder_new(&w->decoder, b->meta->isa, b->meta->endian);
    }
    return w->decoder ? trod_insn_decode(w->decoder, (flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT,
                                         show_has(b, i, TROD_COL_ADDR) ? b->addr[i] : 0,
                                         trod_batch_bytes(b, b->code[i]), b->code[i].len)
                            ->branch
                      : TROD_BR_NONE;
}

/* 1: row I is a branch that was made, 0: one that was not, -1: neither, or not known. */
static int taken(struct trod_where *w, const struct trod_batch *b, uint32_t i)
{
    const unsigned branch = where_branch(w, b, i);

    if (branch == TROD_BR_NONE || branch == TROD_BR_OTHER || branch == TROD_BR_SYSCALL)
        return -1;
    if (branch == TROD_BR_COND_UNTAKEN ||
        (show_has(b, i, TROD_COL_FLAGS) && (b->flags[i] & TROD_F_SKIPPED)))
        return 0;
    if (branch != TROD_BR_COND)
        return 1;
    if (w->flow)
        return w->flow[i] & TROD_FLOW_MADE ? 1 : w->flow[i] & TROD_FLOW_PASSED ? 0 : -1;
    return flow_made(b, i);
}

/* Is row I of privileged code: 1, of a user's program: 0, or not known: -1. */
static int kernel(const struct trod_where *w, const struct trod_batch *b, uint32_t i)
{
    const char *format = b->meta && b->meta->driver ? b->meta->driver->name : "";

    if (w->flow)
        return w->flow[i] & TROD_FLOW_KERNEL ? 1 : w->flow[i] & TROD_FLOW_USER ? 0 : -1;
    return flow_kernel(b, i, flow_always(format));
}

/* Word of COLUMN of row I: 0 where it says none. */
static unsigned word_of(struct trod_where *w, const struct trod_batch *b, uint32_t i,
                        unsigned column)
{
    if (column == COL_BRANCH)
        return where_branch(w, b, i);
    if (!show_has(b, i, TROD_COL_FLAGS))
        return 0;
    return column == COL_ISET ? (b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT
                              : (b->flags[i] & TROD_F_SEC) >> TROD_F_SEC_SHIFT;
}

/* Is row I of stream test X? */
static bool of_stream(const struct where_test *x, const struct trod_batch *b, uint32_t i,
                      bool negate)
{
    const uint8_t verdict = b->stream[i] < x->n_streams ? x->stream[b->stream[i]] : VERDICT_ABSENT;

    return verdict == (negate ? VERDICT_NO : VERDICT_YES);
}

static bool row_passes(const struct where_tile *t, const struct where_step *s, uint32_t i)
{
    struct trod_where *w = t->w;
    unsigned word;

    switch (s->code) {
    case RUN_WORD:
        word = word_of(w, t->b, i, s->sub);
        return word && (s->k >> word & 1) != s->negate;
    case RUN_TAKEN:
        return taken(w, t->b, i) == 1;
    case RUN_UNTAKEN:
        return taken(w, t->b, i) == 0;
    case RUN_KERNEL:
        return kernel(w, t->b, i) == 1;
    case RUN_USER:
        return kernel(w, t->b, i) == 0;
    case RUN_STREAM:
        return show_has(t->b, i, TROD_COL_STREAM) && of_stream(w->test[s->k], t->b, i, s->negate);
    default:
        return match_touches(&w->ranges[s->k], t->b, i);
    }
}

static void run_rows(const struct where_tile *t, const struct where_step *s,
                     const struct where_mask *active, struct where_mask *out)
{
    for (unsigned k = 0; k < WHERE_WORDS; k++) {
        uint64_t w = 0;

        for (uint64_t left = active->w[k]; left; left &= left - 1) {
            const uint32_t i = (uint32_t)__builtin_ctzll(left);

            w |= (uint64_t)row_passes(t, s, t->at + 64 * k + i) << i;
        }
        out->w[k] = w;
    }
}

static void run_flag(const struct where_tile *t, const struct where_step *s,
                     const struct where_mask *active, struct where_mask *out)
{
    struct where_mask there;

    said(t, TROD_COL_FLAGS, active, &there);
    for (unsigned k = 0; k < WHERE_WORDS; k++) {
        const uint32_t *flags = t->b->flags + t->at + 64 * k;

        out->w[k] = 0;
        if (there.w[k] == 0)
            continue;
        BITS(out->w[k], rows_of(t, k), (flags[i] & s->k) != 0);
        out->w[k] &= there.w[k];
    }
}

static bool is_empty(const struct where_mask *m)
{
    uint64_t any = 0;

    for (unsigned k = 0; k < WHERE_WORDS; k++)
        any |= m->w[k];
    return any == 0;
}

static void run_mask(const struct where_tile *t, const struct where_step *s,
                     const struct where_mask *active, struct where_mask *out)
{
    const struct where_mask *mask = t->w->mask;

    switch (s->code) {
    case RUN_ANDN:
        for (unsigned k = 0; k < WHERE_WORDS; k++)
            out->w[k] = mask[s->a].w[k] & ~mask[s->b].w[k];
        break;
    case RUN_OR:
        for (unsigned k = 0; k < WHERE_WORDS; k++)
            out->w[k] = mask[s->a].w[k] | mask[s->b].w[k];
        break;
    case RUN_ALL:
        *out = mask[s->a];
        break;
    case RUN_NONE:
        memset(out, 0, sizeof *out);
        break;
    case RUN_HAS:
        said(t, (uint32_t)s->k, active, out);
        break;
    case RUN_FLAG:
        run_flag(t, s, active, out);
        break;
    case RUN_KIND:
        run_kind(t, s, active, out);
        break;
    case RUN_COMPARE:
    case RUN_BETWEEN:
    case RUN_MEMBER:
    case RUN_PRESENT:
        run_compare(t, s, active, out);
        break;
    case RUN_TEXT:
        where_run_text(t, s, active, out);
        break;
    default:
        run_rows(t, s, active, out);
    }
}

void where_run(const struct where_tile *t)
{
    struct where_mask *mask = t->w->mask;

    for (size_t i = 0; i < t->w->n_steps; i++) {
        const struct where_step *s = &t->w->step[i];

        if (s->code == RUN_SKIP) {
            if (is_empty(&mask[s->a]))
                i = (size_t)s->k - 1;
        } else if (s->code >= RUN_LOAD && s->code <= RUN_ARITH) {
            run_number(t, s, &mask[s->active]);
        } else {
            run_mask(t, s, &mask[s->active], &mask[s->dst]);
        }
    }
}
