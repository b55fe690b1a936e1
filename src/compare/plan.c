/*
 * plan.c - what is compared, settled before the first row.
 *
 * What one side does not have is not compared: columns that a format cannot give, and classes of
 * rows that a format cannot have or that do not occur among many rows of one side while they do on
 * the other (a trace recorded without registers).
 */
#include "compare/fast.h"

#include "trod/insn.h"

#include <string.h>

/*
 * Rows looked at, and so many more where slides are to be found. A class that does not occur beside
 * ENOUGH instructions while the other side has it SEEN times is not recorded.
 */
enum { ROWS = 1024, ROWS_FOR_SLIDES = TROD_BATCH_ROWS, ENOUGH = 256, SEEN = 16 };

/* Classes whose kinds FORMAT can have. */
static uint32_t classes_of(const struct trod_format *format)
{
    uint32_t classes = 0;

    for (unsigned kind = 0; kind < TROD_KINDS; kind++)
        if (cmp_class_of[kind] < TROD_TRACK_CLASSES &&
            (format->kinds == 0 || (format->kinds >> kind & 1)))
            classes |= 1u << cmp_class_of[kind];
    return classes;
}

static void count_classes(const struct cmp_side *s, uint32_t n[TROD_TRACK_CLASSES])
{
    memset(n, 0, TROD_TRACK_CLASSES * sizeof *n);
    for (uint32_t i = s->at; s->b && i < s->b->n; i++)
        if (cmp_class_of[s->b->kind[i]] < TROD_TRACK_CLASSES)
            n[cmp_class_of[s->b->kind[i]]]++;
}

/* Whether both sides come from tracers of one kind: they record the same kinds of events. */
static bool same_tracer(const struct trod_compare *c)
{
    const struct trod_format *f = trod_trace_format(c->side[0].trace);
    const char *d[2] = {trod_trace_meta(c->side[0].trace)->dialect,
                        trod_trace_meta(c->side[1].trace)->dialect};

    if (f != trod_trace_format(c->side[1].trace))
        return false;
    return !(f->flags & TROD_FMT_TRACERS) || d[0] == d[1] ||
           (d[0] && d[1] && strcmp(d[0], d[1]) == 0);
}

static uint32_t choose_track(struct trod_compare *c)
{
    const struct trod_format *f[2] = {trod_trace_format(c->side[0].trace),
                                      trod_trace_format(c->side[1].trace)};
    uint32_t both = classes_of(f[0]) & classes_of(f[1]);
    uint32_t any = classes_of(f[0]) | classes_of(f[1]), track;
    uint32_t n[2][TROD_TRACK_CLASSES];

    if (c->rules.opt->track)
        return c->rules.opt->track;
    for (int side = 0; side < 2; side++)
        count_classes(&c->side[side], n[side]);
    for (int side = 0; side < 2; side++)
        for (unsigned cls = 0; cls < TROD_TRACK_CLASSES; cls++)
            if (n[side][0] >= ENOUGH && n[side][cls] == 0 && n[!side][cls] >= SEEN)
                both &= ~(1u << cls);
    c->sum->absent = any & ~both;
    track = both;
    /* Tracers of different kinds do not report the same events. */
    if (!same_tracer(c))
        track &= ~(uint32_t)(TROD_TRACK_OTHER | TROD_TRACK_EVENT);
    if (!track)
        track = both;
    c->sum->unlike = both & ~track;
    return track;
}

/* Whether any instruction at hand comes with its opcode. */
static bool gives_code(const struct cmp_side *s)
{
    for (uint32_t i = s->at; s->b && i < s->b->n; i++)
        if (s->b->kind[i] == TROD_INSTR && (s->b->have & s->b->has[i] & TROD_COL_CODE) &&
            s->b->code[i].len)
            return true;
    return false;
}

/*
 * Columns that tracers of different kinds do not agree on: what a branch that is not taken is,
 * executed or skipped.
 */
static uint32_t unlike_columns(const struct trod_compare *c)
{
    return same_tracer(c) ? 0 : TROD_COL_SUB | TROD_COL_FLAGS | TROD_COL_DETAIL;
}

static uint32_t choose_columns(const struct trod_compare *c)
{
    uint32_t not = TROD_COL_MADE | TROD_COL_TIME | TROD_COL_UNIT | TROD_COL_INDEX | TROD_COL_TEXT |
                   TROD_COL_PC | TROD_COL_STREAM;

    not |= unlike_columns(c);
    return (TROD_COL_ALL | (uint32_t)TROD_COMPARE_MODE | TROD_COMPARE_NAME) & ~not ;
}

/* What the rows at hand of S say, by kind and by detail struct. */
static void list_given(const struct cmp_rules *rules, int side, const struct cmp_side *s,
                       uint32_t columns[TROD_KINDS], uint16_t detail[TROD_DETAIL_STRUCTS])
{
    for (uint32_t i = s->at; s->b && i < s->b->n; i++) {
        const struct cmp_detail d = cmp_detail_of(s->b, i);

        columns[s->b->kind[i]] |= s->b->have & s->b->has[i];
        if ((s->b->have & s->b->has[i] & TROD_COL_STREAM) &&
            cmp_pid(rules, side, s->b->stream[i]) != TROD_NOWHERE)
            columns[s->b->kind[i]] |= TROD_COMPARE_PID;
        if (d.of)
            detail[d.of->number] |= (uint16_t)cmp_detail_given(&d);
    }
}

/* Tracers of one kind: what both give in some rows of a kind is looked for in all of them. */
static void choose_given(struct trod_compare *c)
{
    static const uint32_t never = TROD_COL_FLAGS | TROD_COL_DETAIL | TROD_COL_TEXT | TROD_COL_RAW |
                                  TROD_COL_MADE | TROD_COL_STREAM;
    uint32_t columns[2][TROD_KINDS] = {{0}};
    uint16_t detail[2][TROD_DETAIL_STRUCTS] = {{0}};
    struct cmp_fields *f = &c->rules.fields;

    for (int side = 0; f->alike && side < 2; side++)
        list_given(&c->rules, side, &c->side[side], columns[side], detail[side]);
    for (unsigned k = 0; k < TROD_KINDS; k++)
        f->given[k] = columns[0][k] & columns[1][k] & f->columns & ~never;
    for (unsigned k = 0; k < TROD_DETAIL_STRUCTS; k++)
        f->given_detail[k] = detail[0][k] & detail[1][k];
}

/* Whether NAME is one that only MIPS has. */
static bool is_mips(const char *name, size_t n)
{
    static const char *const names[] = {"zero", "at", "gp", "ra", "k0", "k1", "s8"};

    if (n > 1 && name[0] == '$')
        return true;
    if (n == 2 && (name[0] | 0x20) == 't' && name[1] >= '0' && name[1] <= '9')
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0)
            return true;
    return false;
}

/*
 * The instruction set of S: what its format or the user says; where that is Arm's or not known,
 * what the rows at hand show.
 */
static enum trod_isa isa_of(const struct cmp_side *s)
{
    enum trod_isa isa = trod_trace_meta(s->trace)->isa;
    const struct trod_batch *b = s->b;
    uint32_t isets = 0;

    if (isa != TROD_ISA_UNKNOWN && isa != TROD_ISA_ARM)
        return isa;
    for (uint32_t i = s->at; b && i < b->n; i++) {
        uint32_t has = b->have & b->has[i];

        if (b->kind[i] == TROD_INSTR && (has & TROD_COL_FLAGS))
            isets |= 1u << ((b->flags[i] & TROD_F_ISET) >> TROD_F_ISET_SHIFT);
        if (isa == TROD_ISA_UNKNOWN && b->kind[i] == TROD_REG && (has & TROD_COL_TEXT) &&
            is_mips((const char *)trod_batch_bytes(b, b->text[i]), b->text[i].len))
            return TROD_ISA_MIPS32;
    }
    if (isets >> TROD_ISET_A64 & 1)
        return TROD_ISA_A64;
    return isets & (1u << TROD_ISET_A32 | 1u << TROD_ISET_T32) ? TROD_ISA_ARM : isa;
}

/* Both sides have the same registers: where they disagree, A64 is what ARM may be as well. */
static enum trod_isa common_isa(const struct trod_compare *c)
{
    enum trod_isa a = isa_of(&c->side[0]), b = isa_of(&c->side[1]);

    /* Trace Matcher writes an A for instruction sets that are not Arm's as well. */
    if (a == TROD_ISA_UNKNOWN || (a == TROD_ISA_ARM && b != TROD_ISA_UNKNOWN))
        return b;
    return a;
}

static void plan_endian(struct trod_compare *c)
{
    enum trod_endian a = trod_trace_meta(c->side[0].trace)->endian;
    enum trod_endian b = trod_trace_meta(c->side[1].trace)->endian;
    enum trod_endian e = a ? a : b;

    c->rules.mixed_code = a && b && a != b;
    c->rules.big_endian = e == TROD_ENDIAN_BIG;
    c->rules.endian_known = e != TROD_ENDIAN_UNKNOWN && (a == b || !a || !b);
    /* Not being able to decode costs a part of the report, nothing else. */
    if (trod_insn_decoder_new(&c->match.decoder, c->rules.isa,
                              c->rules.mixed_code ? TROD_ENDIAN_BIG : e) < 0)
        c->match.decoder = NULL;
}

/* Ticks are of the unit of the first time of the first trace, whatever decimals times have. */
static uint8_t tick_of(const struct cmp_side *s, const struct trod_meta *meta)
{
    const uint32_t both = TROD_COL_TIME | (uint32_t)TROD_COL_UNIT;

    for (uint32_t i = s->at; s->b && i < s->b->n; i++)
        if ((s->b->have & s->b->has[i] & both) == both)
            return s->b->unit[i] & 15;
    return meta->unit & 15;
}

int cmp_plan(struct trod_compare *c, struct trod_diag *diag)
{
    const struct trod_compare_options *opt = c->rules.opt;
    int rc;

    for (int side = 0; side < 2; side++) {
        rc = cmp_side_gather(&c->side[side], opt->auto_slide ? ROWS_FOR_SLIDES : ROWS);
        if (rc < 0)
            return rc;
        c->sum->rows[side] += c->side[side].passed;
        c->sum->skipped[side] += c->side[side].passed;
    }
    cmp_pairs_choose(&c->pairs, c->side);
    c->rules.isa = common_isa(c);
    c->rules.tick = tick_of(&c->side[0], c->rules.meta[0]);
    cmp_names_prepare(&c->rules);
    plan_endian(c);
    c->rules.track = c->sum->track = choose_track(c);
    c->rules.fields.alike = same_tracer(c);
    if ((rc = cmp_fields_choose(&c->rules.fields, opt, choose_columns(c), diag)) < 0)
        return rc;
    c->sum->unlike_columns = unlike_columns(c) & ~c->rules.fields.columns &
                             trod_trace_format(c->side[0].trace)->reads &
                             trod_trace_format(c->side[1].trace)->reads;
    choose_given(c);
    for (int side = 0; side < 2; side++)
        c->side[side].run_markers = c->rules.fields.columns & TROD_COL_TIME
                                        ? 0
                                        : trod_trace_format(c->side[side].trace)->run_markers;
    c->rules.n_slides = opt->n_slides;
    memcpy(c->rules.slides, opt->slides, sizeof c->rules.slides);
    c->match.with_code = (c->rules.fields.columns & TROD_COL_CODE) && gives_code(&c->side[0]) &&
                         gives_code(&c->side[1]);
    c->flags = c->rules.fields.columns & TROD_COL_FLAGS ? c->rules.fields.flags : 0;
    if (!c->rules.fields.alike)
        c->flags &= TROD_F_ISET | TROD_F_SKIPPED;
    c->modes = c->rules.fields.columns & TROD_COMPARE_MODE;
    c->kinds = cmp_stretch_kinds(c);
    return opt->auto_slide ? cmp_find_slides(&c->match) : TROD_OK;
}
