/*
 * loss.c - the account of what a conversion does not keep. Implements loss.h.
 */
#include "core/origin.h"
#include "trace/loss_streams.h"
#include "trod/meta.h"

static const char *const names[TROD_COLUMNS] = {
    "kinds of records",
    "flags",
    "sizes",
    "cpus or threads",
    "times",
    "units of time",
    "instruction numbers",
    "virtual addresses",
    "physical addresses",
    "addresses of instructions",
    "branch targets",
    "values",
    "subtypes",
    "sites",
    "opcodes",
    "values wider than 64 bits",
    "texts (disassembly, names)",
    "details",
    "source records",
    "cores",
};

const char *trod_loss_name(unsigned bit)
{
    return bit < TROD_COLUMNS ? names[bit] : "";
}

static unsigned kind_of(const struct trod_batch *b, uint32_t row)
{
    return b->kind[row] < TROD_KINDS ? b->kind[row] : TROD_NOTE;
}

/* In the flags that count, what tells the kind of a branch if these do not. */
enum { TOLD_BY_OPCODE = 1, TOLD_BY_NOTHING = 2 };

/* The flags of ROW that count. Which kind of branch it is makes no difference to the account. */
static uint32_t flags_of(const struct trod_batch *b, uint32_t row)
{
    const uint32_t flags = b->have & b->has[row] & TROD_COL_FLAGS ? b->flags[row] : 0;
    const uint32_t branch = flags & TROD_F_BRANCH, others = flags - branch;
    const uint8_t kind = b->kind[row];

    if (!branch)
        return flags;
    if (kind != TROD_INSTR && (kind != TROD_BRANCH || branch == TROD_BR_OTHER))
        return others;
    if (flags & TROD_F_ISET || (b->meta && b->meta->isa != TROD_ISA_UNKNOWN))
        return others | TOLD_BY_OPCODE;
    return others | TOLD_BY_NOTHING;
}

/* Is the kind of a branch of a row with SAYS and FLAGS known in the output by its opcode? */
static bool opcode_tells(const struct trod_loss *l, unsigned kind, uint32_t says, uint32_t flags)
{
    return (flags & TROD_F_BRANCH) == TOLD_BY_OPCODE && says & ~l->watch[kind] & TROD_COL_CODE;
}

/* The number that ROW says in COLUMNS, if these are one column of numbers. */
static bool number_of(const struct trod_batch *b, uint32_t row, uint32_t columns, uint64_t *value)
{
    const uint64_t *at = columns == TROD_COL_TIME     ? b->time
                         : columns == TROD_COL_INDEX  ? b->index
                         : columns == TROD_COL_ADDR   ? b->addr
                         : columns == TROD_COL_PADDR  ? b->paddr
                         : columns == TROD_COL_TARGET ? b->target
                         : columns == TROD_COL_VALUE  ? b->value
                                                      : NULL;

    if (columns == TROD_COL_SIZE)
        *value = b->size[row];
    else if (at)
        *value = at[row];
    return at || columns == TROD_COL_SIZE;
}

static void note_first(struct trod_loss *l, const struct trod_batch *b, uint32_t row,
                       uint32_t columns, const char *why)
{
    struct trod_loss_first *f = &l->first;

    if (f->why)
        return;
    *f = (struct trod_loss_first){
        .why = why,
        .row = trod_origin_row(b, row),
        .kind = (uint8_t)kind_of(b, row),
        .columns = columns,
    };
    f->has_value = columns && number_of(b, row, columns, &f->value);
}

/* The columns of a row of KIND that count as lost, of those it says. */
static uint32_t watched(const struct trod_loss *l, unsigned kind, uint32_t says, uint32_t flags)
{
    uint32_t lost = says & l->watch[kind] & ~(uint32_t)TROD_COL_FLAGS;

    if (opcode_tells(l, kind, says, flags))
        flags &= ~(uint32_t)TROD_F_BRANCH;
    return lost | (flags & l->watch_flags[kind] ? (uint32_t)TROD_COL_FLAGS : 0);
}

static void add(struct trod_loss *l, unsigned kind, uint32_t columns, uint64_t n)
{
    for (; columns; columns &= columns - 1)
        l->columns[kind][__builtin_ctz(columns)] += n;
}

/* Rows of one kind that lose the same: how many of them were not added so far. */
struct alike {
    uint32_t says, flags; /* of these rows */
    uint32_t lost;
    uint64_t n;
};

void trod_loss_watch(struct trod_loss *l, const struct trod_batch *b)
{
    struct alike of[TROD_KINDS] = {{0}};

    for (uint32_t i = 0; l->watching && i < b->n; i++) {
        const unsigned kind = kind_of(b, i);
        struct alike *a = &of[kind];
        uint32_t says, flags;

        if (!(l->watch[kind] | l->watch_flags[kind]))
            continue;
        says = b->have & b->has[i];
        flags = flags_of(b, i) & l->watch_flags[kind];
        if (opcode_tells(l, kind, says, flags))
            flags &= ~(uint32_t)TROD_F_BRANCH;
        says &= l->watch[kind];
        if (says != a->says || flags != a->flags) {
            add(l, kind, a->lost, a->n);
            *a = (struct alike){says, flags, watched(l, kind, says, flags), 0};
            if (a->lost)
                note_first(l, b, i, a->lost, "the format has no place for it");
        }
        a->n++;
    }
    for (unsigned kind = 0; l->watching && kind < TROD_KINDS; kind++)
        add(l, kind, of[kind].lost, of[kind].n);
}

struct trod_loss_held trod_loss_hold(const struct trod_batch *b, uint32_t row)
{
    return (struct trod_loss_held){trod_origin_row(b, row),  b->have & b->has[row],
                                   flags_of(b, row),         0,
                                   (uint8_t)kind_of(b, row), trod_batch_stream(b, row)};
}

/* What was counted of ROW, which is not written, does not count. */
static void uncount(struct trod_loss *l, const struct trod_loss_held *row)
{
    if (l->watching)
        add(l, row->kind, watched(l, row->kind, row->columns, row->flags), UINT64_MAX);
    add(l, row->kind, row->lost, UINT64_MAX);
    if (l->streams)
        trod_loss_streams_drop(l, row);
    if (l->first.why && l->first.row == row->ordinal)
        l->first.why = NULL;
}

void trod_loss_dropped(struct trod_loss *l, const struct trod_loss_held *row, const char *why)
{
    if (!l)
        return;
    uncount(l, row);
    if (!why) {
        l->left[row->kind]++;
        return;
    }
    if (!l->first.why)
        l->first = (struct trod_loss_first){.why = why, .row = row->ordinal, .kind = row->kind};
    l->rows[row->kind]++;
}

void trod_loss_row(struct trod_loss *l, const struct trod_batch *b, uint32_t row, const char *why)
{
    const struct trod_loss_held held = trod_loss_hold(b, row);

    trod_loss_dropped(l, &held, why);
}

uint32_t trod_loss_columns(struct trod_loss *l, const struct trod_batch *b, uint32_t row,
                           uint32_t columns, const char *why)
{
    const struct trod_loss_held held = trod_loss_hold(b, row);

    if (!l)
        return 0;
    columns &= held.columns & ~watched(l, held.kind, held.columns, held.flags);
    if (!columns)
        return 0;
    note_first(l, b, row, columns, why);
    add(l, held.kind, columns, 1);
    return columns;
}

uint32_t trod_loss_branch(struct trod_loss *l, const struct trod_batch *b, uint32_t row,
                          unsigned written, bool coded, const char *why)
{
    const struct trod_loss_held held = trod_loss_hold(b, row);
    const unsigned said = held.flags & TROD_F_BRANCH ? b->flags[row] & TROD_F_BRANCH : TROD_BR_NONE;
    const bool turned =
        said == TROD_BR_COND && (written == TROD_BR_COND_TAKEN || written == TROD_BR_COND_UNTAKEN);

    if (!l || !said || said == written || turned ||
        (coded && opcode_tells(l, held.kind, held.columns, held.flags)))
        return 0;
    return trod_loss_columns(l, b, row, TROD_COL_FLAGS, why);
}

uint32_t trod_loss_late(struct trod_loss *l, struct trod_loss_held *row, uint32_t columns,
                        const char *why)
{
    if (!l)
        return 0;
    columns &= row->columns & ~row->lost & ~watched(l, row->kind, row->columns, row->flags);
    if (!columns)
        return 0;
    if (!l->first.why)
        l->first = (struct trod_loss_first){
            .why = why, .row = row->ordinal, .kind = row->kind, .columns = columns};
    add(l, row->kind, columns, 1);
    row->lost |= columns;
    return columns;
}

void trod_loss_left(struct trod_loss *l, const struct trod_batch *b, uint32_t row)
{
    const struct trod_loss_held held = trod_loss_hold(b, row);

    trod_loss_dropped(l, &held, NULL);
}

void trod_loss_invent(struct trod_loss *l, uint64_t ordinal, uint8_t kind, const char *why)
{
    if (!l)
        return;
    if (!l->first.why)
        l->first = (struct trod_loss_first){.why = why, .row = ordinal, .kind = kind};
    l->invented++;
}

uint64_t trod_loss_rows(const struct trod_loss *l)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < TROD_KINDS; i++)
        n += l->rows[i];
    return n;
}

uint64_t trod_loss_values(const struct trod_loss *l)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < TROD_KINDS; i++)
        for (unsigned k = 0; k < TROD_COLUMNS; k++)
            n += l->columns[i][k];
    return n;
}

bool trod_loss_any(const struct trod_loss *l)
{
    return l->invented || trod_loss_rows(l) || trod_loss_values(l);
}
