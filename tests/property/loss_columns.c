/*
 * loss_columns.c - what a row says, against what those say that it became, column by column.
 * Implements loss_rows.h after the rules in test_loss.c.
 */
#include "loss_rows.h"

#include <strings.h>

/* Does the output row B say COLUMN? What its format does not write it may say by chance. */
static bool kept(const struct pair *p, const struct row *b, uint32_t column)
{
    return (b->has & column) && (p->target->writes & column || p->from == p->target);
}

static bool same_bytes(struct trod_span a, struct trod_span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool loss_same_code(const struct pair *p, struct trod_span a, struct trod_span b)
{
    if (!p->turned || a.n != 4 || b.n != 4)
        return same_bytes(a, b);
    return a.p[0] == b.p[3] && a.p[1] == b.p[2] && a.p[2] == b.p[1] && a.p[3] == b.p[0];
}

/* cbp2025: registers have names of their own, in lower case. */
static bool has_registers(const struct pair *p, const struct row *a)
{
    return loss_is(p->target, "cbp2025") && a->kind == TROD_REG;
}

/* The register that NAME is: parts and views of one are the same. */
static struct trod_span same_register(struct trod_span name, char out[16])
{
    size_t n = name.n < 15 ? name.n : 15;

    for (size_t i = 0; i < n; i++)
        out[i] = (char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] + 32 : name.p[i]);
    out[n] = '\0';
    if (strcmp(out, "cpsr") == 0)
        strcpy(out, "nzcv");
    else if (strncmp(out, "sp_el", 5) == 0 || strcmp(out, "wsp") == 0)
        strcpy(out, "sp");
    else if (strcmp(out, "lr") == 0 || strcmp(out, "fp") == 0)
        strcpy(out, out[0] == 'l' ? "x30" : "x29");
    else if (n > 1 && out[1] >= '0' && out[1] <= '9' && strchr("wqds", out[0]))
        out[0] = out[0] == 'w' ? 'x' : 'v';
    return (struct trod_span){(const uint8_t *)out, strlen(out), 0, false};
}

bool loss_same_register(const struct pair *p, const struct row *a, const struct row *b)
{
    char one[16], two[16];

    return has_registers(p, a) &&
           same_bytes(same_register(a->text, one), same_register(b->text, two));
}

bool loss_same_text(const struct pair *p, const struct row *a, const struct row *b)
{
    static const char marker[] = "MARKER_";
    struct trod_span out = b->text;

    if ((has_registers(p, a) || (loss_is(p->target, "matcher") && a->kind == TROD_REG)) &&
        a->text.n == out.n)
        return strncasecmp((const char *)a->text.p, (const char *)out.p, out.n) == 0;
    if (loss_family(p->target) == 2 && loss_family(p->from) != 2 && a->kind == TROD_MARKER &&
        out.n >= sizeof marker - 1 && memcmp(out.p, marker, sizeof marker - 1) == 0) {
        out.p += sizeof marker - 1;
        out.n -= sizeof marker - 1;
    }
    return same_bytes(a->text, out);
}

static void lost(struct pair *p, const struct row *a, uint32_t column)
{
    p->columns[a->kind][__builtin_ctz(column)]++;
}

static bool same_stream(struct pair *p, const struct row *a, const struct row *b)
{
    uint32_t *to = &p->map[a->stream % STREAMS], *back = &p->back[b->stream % STREAMS];

    if (!loss_says(b, TROD_COL_STREAM))
        return false;
    if (!*to && !*back) {
        *to = b->stream + 1;
        *back = a->stream + 1;
    }
    return *to == b->stream + 1 && *back == a->stream + 1;
}

/* The time of A in ticks of gem5's packets, picoseconds; a clock counts as a nanosecond. */
static bool in_ticks(const struct row *a, uint64_t *tick)
{
    static const uint64_t units[TROD_UNITS] = {[TROD_UNIT_FS] = 1,
                                               [TROD_UNIT_PS] = 1000,
                                               [TROD_UNIT_US] = 1000000000,
                                               [TROD_UNIT_MS] = 1000000000000,
                                               [TROD_UNIT_S] = 1000000000000000,
                                               [TROD_UNIT_CS] = 10000000000000};
    const unsigned unit = a->unit & 15;
    uint64_t by = unit < TROD_UNITS && units[unit] ? units[unit] : 1000000, divide = 1000, v;

    for (unsigned i = 0; i < a->unit >> 4; i++)
        divide *= 10;
    for (; by % 10 == 0 && divide % 10 == 0; by /= 10)
        divide /= 10;
    if (__builtin_mul_overflow(a->time, by, &v))
        return false;
    *tick = v / divide;
    return v % divide == 0;
}

static bool same_time(struct pair *p, const struct row *a, const struct row *b)
{
    uint64_t tick;
    bool same;

    if ((p->drm && p->from != p->target) || !loss_says(b, TROD_COL_TIME))
        return false;
    if (loss_is(p->target, "gem5packet") && p->from != p->target)
        return in_ticks(a, &tick) && tick == b->time;
    if (!loss_is(p->target, "byu12"))
        return a->time == b->time && a->unit >> 4 == b->unit >> 4;
    same = !p->timed || a->time - p->time_in == b->time - p->time_out;
    p->timed = true;
    p->time_in = a->time;
    p->time_out = b->time;
    return same;
}

/* Flags OTHERWISE are said by what the row becomes. */
static bool same_flags(const struct row *a, const struct row *b, uint32_t otherwise)
{
    const uint32_t fields = TROD_F_BRANCH | TROD_F_ISET | TROD_F_SEC;
    const uint32_t counted = TROD_LOSS_FLAGS & ~fields & ~otherwise;

    return !(a->flags & ~b->flags & counted) &&
           (!(a->flags & TROD_F_ISET) || (a->flags & TROD_F_ISET) == (b->flags & TROD_F_ISET)) &&
           (!(a->flags & TROD_F_SEC) || (a->flags & TROD_F_SEC) == (b->flags & TROD_F_SEC));
}

/* The value of A against those of the N output rows B, byte by byte where these are parts. */
static bool same_value(const struct row *a, const struct row *b, size_t n)
{
    uint64_t at = 0;

    if (n == 1 && loss_says(a, TROD_COL_VALUE) && loss_says(b, TROD_COL_VALUE))
        return a->value == b->value;
    for (size_t i = 0; i < n; i++) {
        const uint64_t len = loss_says(&b[i], TROD_COL_DATA) ? b[i].data.n : b[i].size;

        if (!loss_says(&b[i], TROD_COL_VALUE | TROD_COL_DATA))
            return false;
        for (uint64_t k = 0; k < len; k++, at++) {
            const unsigned y = loss_says(&b[i], TROD_COL_DATA) ? b[i].data.p[k]
                               : k < 8                         ? b[i].value >> 8 * k & 0xff
                                                               : 0;
            const unsigned x = loss_says(a, TROD_COL_DATA) ? (at < a->data.n ? a->data.p[at] : 0)
                               : at < 8                    ? a->value >> 8 * at & 0xff
                                                           : 0;

            if (x != y)
                return false;
        }
    }
    return !loss_says(a, TROD_COL_DATA) || at >= a->data.n;
}

/* Do lines have the names of the source's cpus, as far as they are words? */
static bool names_streams(const struct pair *p)
{
    return loss_is(p->target, "tarmac") && loss_family(p->from) != 2;
}

/* Do the records behind A, an instruction, show where it goes on? */
static bool shows_target(const struct pair *p, const struct row *a)
{
    const int family = loss_family(p->target);

    return a->kind == TROD_INSTR && (family == 2 || family == 4) &&
           loss_family(p->from) != family && p->target->writes & TROD_COL_TARGET;
}

/* Columns that follow from the row's place in the output, where its format has them at all. */
static void derived(struct pair *p, const struct row *a, const struct row *b)
{
    if (loss_says(a, TROD_COL_PC) && loss_pc_gone(p, a, b))
        lost(p, a, TROD_COL_PC);
    if (loss_says(a, TROD_COL_DETAIL) && loss_is(p->from, "cloudsuite") &&
        loss_is(p->target, "champsim")) /* which has places for fewer registers */
        lost(p, a, TROD_COL_DETAIL);
    if (p->bus && p->from != p->target && a->record.n)
        loss_bus_record(p, a);
    else if (loss_says(a, TROD_COL_DETAIL) &&
             (p->bus || loss_family(p->target) == 5
                  ? p->from != p->target
                  : loss_family(p->from) != loss_family(p->target)))
        lost(p, a, TROD_COL_DETAIL);
}

/* A line that is not understood: its cpu is called as the other format calls them. */
static bool as_it_was(const struct pair *p, const struct row *a)
{
    return a->kind == TROD_NOTE && p->from != p->target && loss_family(p->target) == 2;
}

/* Pictures of the es dialect say of digits that are not written that they are not known. */
static bool dashes_gone(const struct pair *p, const struct row *a, const struct row *b)
{
    return p->es && loss_family(p->from) == 2 && (a->kind == TROD_READ || a->kind == TROD_WRITE) &&
           (a->flags & ~b->flags & TROD_F_PARTIAL);
}

void loss_columns(struct pair *p, const struct row *a, const struct row *b, size_t n, uint64_t size)
{
    const bool written = p->bus && loss_says(a, TROD_COL_PADDR);
    const bool dashes = dashes_gone(p, a, b);

    derived(p, a, b);
    if (!same_flags(a, b,
                    p->bus                                                   ? TROD_F_HOLES
                    : (p->drm || p->memory) && loss_becomes(p, a) != a->kind ? TROD_F_IFETCH
                                                                             : 0) ||
        loss_branch_gone(p, a, b) || (dashes && !loss_says(a, TROD_COL_VALUE | TROD_COL_DATA)))
        lost(p, a, TROD_COL_FLAGS);
    if (loss_says(a, TROD_COL_SIZE) && (!kept(p, b, TROD_COL_SIZE) || a->size != size))
        lost(p, a, TROD_COL_SIZE);
    if (loss_says(a, TROD_COL_STREAM) &&
        (as_it_was(p, a) || (a->no_word && names_streams(p)) || !same_stream(p, a, b)))
        lost(p, a, TROD_COL_STREAM);
    if (loss_says(a, TROD_COL_TIME) && !same_time(p, a, b))
        lost(p, a, TROD_COL_TIME);
    if (loss_says(a, TROD_COL_INDEX) &&
        ((p->drm && p->from != p->target) || !kept(p, b, TROD_COL_INDEX) || a->index != b->index))
        lost(p, a, TROD_COL_INDEX);
    if (loss_says(a, TROD_COL_ADDR) &&
        (!kept(p, b, TROD_COL_ADDR) ||
         (a->flags & TROD_F_HOLES && !written ? false : a->addr != b->addr)))
        lost(p, a, TROD_COL_ADDR);
    if (loss_says(a, TROD_COL_PADDR) && (!kept(p, b, TROD_COL_PADDR) || a->paddr != b->paddr))
        lost(p, a, TROD_COL_PADDR);
    if (loss_says(a, TROD_COL_TARGET) &&
        (shows_target(p, a) ? loss_target_gone(p, a, b)
                            : !kept(p, b, TROD_COL_TARGET) || a->target != b->target))
        lost(p, a, TROD_COL_TARGET);
    if (loss_says(a, TROD_COL_VALUE) && (dashes || !same_value(a, b, n)))
        lost(p, a, TROD_COL_VALUE);
    if (loss_says(a, TROD_COL_DATA) && (dashes || !same_value(a, b, n) ||
                                        (a->kind == TROD_MARKER && !kept(p, b, TROD_COL_DATA) &&
                                         !(loss_is(p->target, "csv") && loss_data_is_value(p, a)))))
        lost(p, a, TROD_COL_DATA);
    if (loss_says(a, TROD_COL_CODE) &&
        (!kept(p, b, TROD_COL_CODE) || !loss_same_code(p, a->code, b->code)))
        lost(p, a, TROD_COL_CODE);
    if (loss_says(a, TROD_COL_TEXT) && (!kept(p, b, TROD_COL_TEXT) || !loss_same_text(p, a, b)))
        lost(p, a, TROD_COL_TEXT);
    /* in tables without that column, what nothing else tells of the row */
    if (loss_is(p->target, "csv") && loss_says(a, TROD_COL_SUB) && !loss_says(b, TROD_COL_SUB) &&
        (a->kind == TROD_CACHE_LINE || a->kind == TROD_TLB || a->kind == TROD_SYNC ||
         (a->kind == TROD_MARKER && !(loss_says(a, TROD_COL_TEXT) && a->text.n))))
        lost(p, a, TROD_COL_SUB);
}
