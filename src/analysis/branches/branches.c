/*
 * branches.c - the analysis "branches": what branches do, and how well they can be predicted.
 *
 * Implements docs/analysing.md, "branches". Whether a branch was taken is what its row says, or
 * else follows from the next instruction of its stream. The kind of a branch is found out once for
 * each site.
 */
#include "analysis/branches/branches.h"

#include "analysis/by_site.h"
#include "core/grow.h"
#include "core/wide.h"

#include "trod/drmemtrace.h"
#include "trod/format.h"

#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct br_options, field)

static const struct trod_option options[] = {
    {"predictors", 0, TROD_OPT_JOINED, AT(predictors), "NAME[:KEY=N...],...",
     "predictors: taken, btfn, bimodal, gshare, local, perceptron, tage, btb, ras, ittage", NULL,
     NULL},
    {"top", 0, TROD_OPT_U64, AT(top), "N", "rows of each list (default: 10; 0: all)", NULL, NULL},
    {"alignment", 0, TROD_OPT_COUNT, AT(alignment), "BYTES",
     "what instructions are aligned to: 1, 2, 4 (default: as their set has it; 1 for REGDEPS)",
     NULL, NULL},
    {.type = TROD_OPT_END},
};

static const struct br_options defaults = {
    .predictors = "btfn,bimodal,gshare,local,perceptron,tage,btb,ras,ittage", .top = 10};

int br_init(void *st, const void *opt, const struct trod_context *context)
{
    struct br_state *s = st;
    int n;

    s->opt = opt ? opt : &defaults;
    s->context = *context;
    n = trod_bp_choose(s->choice, s->opt->predictors ? s->opt->predictors : "", context->diag);
    if (n < 0)
        return n;
    s->n_choices = (unsigned)n;
    if (s->opt->alignment != 0 && s->opt->alignment != 1 && s->opt->alignment != 2 &&
        s->opt->alignment != 4)
        return trod_error(context->diag, TROD_ERR_USAGE, "branches.alignment", NULL,
                          "alignment %llu is none of 1, 2, 4",
                          (unsigned long long)s->opt->alignment);
    br_deal(s);
    return TROD_OK;
}

void br_fini(void *st)
{
    struct br_state *s = st;

    br_lanes_free(s);
    free(s->kind);
    free(s->fact);
    free(s->site);
    free(s->wrong);
    free(s->targets.at);
    free(s->interval);
}

/* No more shards than predictors. */
static unsigned shards(const void *opt, unsigned jobs)
{
    struct trod_bp_choice choice[TROD_BP_MOST];
    const struct br_options *o = opt ? opt : &defaults;
    const int n = trod_bp_choose(choice, o->predictors ? o->predictors : "", NULL);

    return n < 1 ? 1 : (unsigned)n < jobs ? (unsigned)n : jobs;
}

/* More than threads, so that none waits long for another one. */
static unsigned takers(const void *opt, unsigned jobs)
{
    return shards(opt, 2 * jobs);
}

static bool records(const void *opt)
{
    (void)opt;
    return true;
}

int br_room(struct br_state *s, size_t n)
{
    size_t kinds = s->n_sites, facts = s->n_sites, sites = s->n_sites, wrong = s->n_sites;

    if (trod_by_site_room(&s->kind, &kinds, n, sizeof *s->kind) < 0 ||
        trod_by_site_room(&s->fact, &facts, n, sizeof *s->fact) < 0 ||
        trod_by_site_room(&s->site, &sites, n, sizeof *s->site) < 0 ||
        (s->n_choices &&
         trod_by_site_room(&s->wrong, &wrong, n, s->n_choices * sizeof *s->wrong) < 0))
        return TROD_ERR_NOMEM;
    s->n_sites = facts;
    return TROD_OK;
}

/* ---- what a site is */

void br_learn_isa(struct br_state *s, const struct trod_batch *b)
{
    /* that of the context may be growing, of the whole trace at that */
    const enum trod_isa isa = b->meta ? b->meta->isa : s->context.meta->isa;

    if (s->isa_known || isa == TROD_ISA_UNKNOWN)
        return;
    s->isa_known = true;
    s->delay = isa == TROD_ISA_MIPS32 || isa == TROD_ISA_MIPS64;
}

/*
 * What the instructions of L are aligned to follows from its first branch, row I of B, alone: what
 * its file, or those before, said of the instruction set elsewhere depends on where reading began.
 */
static void align(const struct br_state *s, struct br_lane *l, const struct trod_batch *b,
                  uint32_t flags)
{
    const unsigned iset = (flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    const unsigned isa = iset == TROD_ISET_A64    ? TROD_ISA_A64
                         : iset != TROD_ISET_NONE ? TROD_ISA_ARM
                         : b->meta                ? b->meta->isa
                                                  : TROD_ISA_UNKNOWN;
    const uint64_t alignment = s->opt->alignment ? s->opt->alignment : trod_isa_alignment(isa);

    l->shift = (uint8_t)__builtin_ctzll(alignment);
    l->aligned = true;
}

static uint8_t kind_of(unsigned branch)
{
    switch (branch) {
    case TROD_BR_COND:
    case TROD_BR_COND_TAKEN:
    case TROD_BR_COND_UNTAKEN:
        return TROD_BP_COND + 1;
    case TROD_BR_DIRECT:
        return TROD_BP_JUMP + 1;
    case TROD_BR_CALL:
        return TROD_BP_CALL + 1;
    case TROD_BR_INDIRECT:
        return TROD_BP_INDIRECT + 1;
    case TROD_BR_ICALL:
        return TROD_BP_ICALL + 1;
    case TROD_BR_RETURN:
        return TROD_BP_RETURN + 1;
    default:
        return BR_NOT;
    }
}

/* What the opcode of site NUMBER, of a row of B, which is not known yet, tells. */
static void find_out(struct br_state *s, const struct trod_batch *b, uint32_t number)
{
    struct br_fact *f = &s->fact[number];
    const struct trod_insn *insn;

    br_learn_isa(s, b);
    if (!trod_by_site_told(s->context.sites, number, b))
        return;
    insn = trod_site_insn(s->context.sites, number);
    s->kind[number] = insn->valid ? kind_of(insn->branch) : BR_NOT;
    f->may_pass = insn->valid && insn->flags & TROD_INSN_PREDICATED;
    f->target = insn->valid && insn->flags & TROD_INSN_TARGET ? insn->target : 0;
}

/*
 * The kind of a row of B that says BRANCH and is of site NUMBER. Rows go before opcodes, and each
 * row is asked, because code without opcodes that changes stays one site.
 */
static inline uint8_t kind_said(struct br_state *s, const struct trod_batch *b, uint32_t number,
                                unsigned branch)
{
    const uint8_t kind = branch == TROD_BR_NONE ? BR_NOT : kind_of(branch);

    if (s->kind[number] == BR_UNKNOWN)
        find_out(s, b, number);
    if (kind == BR_NOT && s->kind[number] != BR_UNKNOWN)
        return s->kind[number];
    return kind;
}

/* ---- rows */

/* Row I, a branch of KIND, begins to wait for the next instruction. */
static void begin(struct br_state *s, struct br_lane *l, const struct trod_batch *b, uint32_t i,
                  uint32_t said, uint8_t kind)
{
    const struct br_fact *const f = &s->fact[b->site[i]];
    const uint32_t flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;
    const unsigned branch = flags & TROD_F_BRANCH;
    const struct trod_site *site = trod_site_at(s->context.sites, b->site[i]);

    if (!l->aligned)
        align(s, l, b, flags);
    const uint64_t size = said & TROD_COL_SIZE && b->size[i] ? b->size[i]
                          : site->code_n                     ? site->code_n
                                                             : 4;

    l->event = (struct trod_bp_event){.pc = b->addr[i],
                                      .target = f->target,
                                      .next = b->addr[i] + (s->delay ? 2 * size : size),
                                      .site = b->site[i],
                                      .kind = (uint8_t)(kind - 1)};
    l->waits = true;
    l->row = i;
    l->delay = s->delay;
    l->known =
        branch == TROD_BR_COND_TAKEN || branch == TROD_BR_COND_UNTAKEN || flags & TROD_F_SKIPPED;
    l->event.taken = branch == TROD_BR_COND_TAKEN;
    if (!l->known && kind != TROD_BP_COND + 1 && !f->may_pass)
        l->known = l->event.taken = true;
    if (said & TROD_COL_TARGET)
        l->event.target = b->target[i];
}

TROD_HOT int instruction(struct br_state *s, struct br_lane *l, const struct trod_batch *b,
                         uint32_t i, uint32_t said)
{
    const uint32_t flags = said & TROD_COL_FLAGS ? b->flags[i] : 0;
    uint8_t branch;

    if (flags & TROD_F_SYNTHETIC)
        return TROD_OK;
    s->sums.instructions += s->context.shard == 0;
    if (b->site[i] >= s->n_sites)
        return l->waits ? br_given_up(s, l) : TROD_OK;
    if (l->waits) {
        if (l->delay && b->addr[i] == l->event.pc + (l->event.next - l->event.pc) / 2)
            l->delay = 0; /* the delay slot */
        else if (br_led_to(s, l, b->addr[i], b->site[i]) < 0)
            return TROD_ERR_NOMEM;
    }
    if (flags & TROD_F_NOFETCH)
        return TROD_OK;
    branch = kind_said(s, b, b->site[i], flags & TROD_F_BRANCH);
    if (branch != BR_NOT && !(l->waits && s->delay))
        begin(s, l, b, i, said, branch);
    return TROD_OK;
}

/* A BRANCH row: where the instruction before it goes, or a taken branch without its instruction. */
static int flow(struct br_state *s, struct br_lane *l, const struct trod_batch *b, uint32_t i,
                uint32_t said)
{
    const unsigned branch = said & TROD_COL_FLAGS ? b->flags[i] & TROD_F_BRANCH : TROD_BR_OTHER;
    uint8_t kind;

    if (!(said & TROD_COL_TARGET) || !(said & TROD_COL_ADDR) || branch == TROD_BR_ERET ||
        branch == TROD_BR_SYSCALL)
        return TROD_OK;
    if (!l->waits || b->addr[i] != l->event.pc) {
        if (b->site[i] >= s->n_sites || (l->waits && br_given_up(s, l) < 0))
            return l->waits ? TROD_ERR_NOMEM : TROD_OK;
        kind = kind_said(s, b, b->site[i], branch);
        if (kind == BR_NOT) /* its kind is not known */
            kind = TROD_BP_JUMP + 1;
        begin(s, l, b, i, said, kind);
        l->known = l->event.taken = true;
    }
    return br_led_to(s, l, b->target[i], TROD_NO_SITE);
}

/* A row that is no instruction, and that may end the waiting of its stream. */
static int other(struct br_state *s, struct br_lane *l, const struct trod_batch *b, uint32_t i,
                 uint32_t said)
{
    const bool drm = b->meta && b->meta->driver && b->meta->driver->flags & TROD_FMT_MARKERS;

    if (b->kind[i] == TROD_BRANCH)
        return flow(s, l, b, i, said);
    if (!l->waits)
        return TROD_OK;
    switch (b->kind[i]) {
    case TROD_EXCEPTION:
        return br_given_up(s, l);
    case TROD_MARKER: /* a signal: its value is where the program was interrupted */
        if (!drm || !(said & TROD_COL_SUB) ||
            (b->sub[i] != TROD_DRM_KERNEL_EVENT && b->sub[i] != TROD_DRM_RSEQ_ABORT))
            return TROD_OK;
        if (b->sub[i] == TROD_DRM_KERNEL_EVENT && said & TROD_COL_VALUE && b->value[i])
            return br_led_to(s, l, b->value[i], TROD_NO_SITE);
        return br_given_up(s, l);
    default:
        return TROD_OK;
    }
}

int br_row(struct br_state *s, struct br_lane *l, const struct trod_batch *b, uint32_t i,
           uint32_t said)
{
    return b->kind[i] == TROD_INSTR ? instruction(s, l, b, i, said) : other(s, l, b, i, said);
}

/*
 * Where the rows of B from I on, before TO, end that are accesses, or instructions of the stream
 * NOW - 1 that are known to be no branches; while no branch waits, nothing but their number is
 * counted.
 */
TROD_HOT uint32_t plain_rows(struct br_state *s, const struct trod_batch *b, uint32_t i,
                             uint32_t to, uint32_t now)
{
    const uint32_t odd = TROD_F_BRANCH | TROD_F_SYNTHETIC | TROD_F_NOFETCH;
    const uint32_t need = TROD_COL_FLAGS | TROD_COL_STREAM;
    uint64_t instructions = 0;

    if (need & ~b->have)
        return i;
    for (; i < to; i++) {
        if (b->kind[i] >= TROD_READ && b->kind[i] <= TROD_FLUSH)
            continue;
        if (b->kind[i] != TROD_INSTR || need & ~b->has[i] || b->flags[i] & odd ||
            b->stream[i] + 1 != now || b->site[i] >= s->n_sites || s->kind[b->site[i]] != BR_NOT)
            break;
        instructions++;
    }
    s->sums.instructions += s->context.shard == 0 ? instructions : 0;
    return i;
}

int br_feed(void *st, const struct trod_batch *b, uint32_t from, uint32_t to)
{
    struct br_state *s = st;
    const uint32_t file = b->meta && !s->context.merged ? b->meta->file : 0;
    struct br_lane *l = NULL;
    uint32_t stream = UINT32_MAX;
    int rc = br_room(s, trod_sites_count(s->context.sites));

    for (uint32_t i = from; rc == TROD_OK && i < to; i++) {
        const unsigned kind = b->kind[i];
        uint32_t said, now;

        if (kind >= TROD_READ && kind <= TROD_FLUSH)
            continue;
        said = b->have & b->has[i];
        now = said & TROD_COL_STREAM ? b->stream[i] + 1 : 0;
        if (now != stream || !l) {
            l = br_lane(s, stream = now, file);
            if (!l || br_begin_fed(s, l) < 0)
                return TROD_ERR_NOMEM;
        }
        if (l->part.open && (rc = br_part_waits(s, l, b, i, said)) != 0) {
            rc = rc < 0 ? rc : TROD_OK;
            continue;
        }
        rc = kind == TROD_INSTR ? instruction(s, l, b, i, said) : other(s, l, b, i, said);
        if (!l->waits)
            i = plain_rows(s, b, i + 1, to, now) - 1;
    }
    return rc < 0 ? rc : br_end_fed(s);
}

/* ---- intervals */

static int end_interval(struct br_state *s, const struct trod_boundary *at)
{
    struct br_interval v = {at->number, at->instructions, s->sums};

    if (!trod_grow(&s->interval, s->n_intervals, &s->cap_intervals, sizeof *s->interval, 16))
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < BR_SUMS; i++)
        *br_sum(&v.sums, i) -= *br_sum(&s->before, i);
    s->before = s->sums;
    s->interval[s->n_intervals++] = v;
    return TROD_OK;
}

/* Predictors are not reset: what they learned in a warm-up or an interval they keep in the next. */
static void end_warm_up(struct br_state *s)
{
    s->sums = (struct br_sums){0};
    if (s->n_sites) {
        memset(s->site, 0, s->n_sites * sizeof *s->site);
        memset(s->wrong, 0, s->n_sites * s->n_choices * sizeof *s->wrong);
    }
    free(s->targets.at);
    s->targets = (struct trod_pairs){0};
}

int br_boundary(void *st, const struct trod_boundary *at)
{
    struct br_state *s = st;
    const bool end = at->type == TROD_BOUNDARY_END;
    int rc = TROD_OK;

    for (size_t i = 0; end && rc == TROD_OK && i < s->n_lanes; i++)
        if (s->lane[i]->waits)
            rc = br_given_up(s, s->lane[i]);
    if (rc == TROD_OK)
        rc = br_flush_all(s);
    if (at->type == TROD_BOUNDARY_WARM)
        end_warm_up(s);
    if (rc == TROD_OK && (at->type == TROD_BOUNDARY_INTERVAL ||
                          (end && s->n_intervals &&
                           s->interval[s->n_intervals - 1].instructions_end != at->instructions)))
        rc = end_interval(s, at);
    return rc;
}

static int settle(void *st, uint32_t file)
{
    const struct br_state *s = st;

    return s->context.merged ? TROD_OK : br_end_files(st, file, false);
}

const struct trod_analysis trod_analysis_branches = {
    .name = "branches",
    .title = "what branches do, and how well predictors foretell them",
    .names = true,
    .about = "Counts executions, outcomes and targets of every branch, and runs branch\n"
             "predictors over the trace: how many branches each predicts wrong, in percent\n"
             "and for every thousand instructions (MPKI), and which ones.\n"
             "\n"
             "Each thread or cpu has predictors of its own. Predictors of one kind may be\n"
             "asked for in several sizes. Their parameters, with what they are by default:\n"
             "bimodal:log=12, gshare:log=14:history=14, local:log=10:history=10,\n"
             "perceptron:log=10:history=28,\n"
             "tage:log=10:tables=12:least=4:most=640:tag=11:extras=1, btb:log=10:ways=4,\n"
             "ras:depth=16, ittage:log=9:tables=8:least=4:most=512:tag=11. A log is the\n"
             "base-two logarithm of a number of entries.",
    .examples = "  trod branches app.trace.zip\n"
                "  trod branches --predictors gshare:log=12,gshare:log=16,tage app.trace.zip\n"
                "  trod branches --interval 1000000 --format json app.trace.zip\n",
    .options = options,
    .options_size = sizeof(struct br_options),
    .defaults = &defaults,
    .state_size = sizeof(struct br_state),
    .order = TROD_STREAM_ORDER,
    .needs = TROD_COL_KIND | TROD_COL_ADDR,
    .uses = TROD_COL_SITE | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_STREAM | TROD_COL_TARGET |
            TROD_COL_SUB | TROD_COL_VALUE | TROD_WANT_MODULES,
    .shards = shards,
    .init = br_init,
    .feed = br_feed,
    .boundary = br_boundary,
    .settle = settle,
    .merge = br_merge,
    .save = br_save,
    .load = br_load,
    .result = br_result,
    .fini = br_fini,
    .owners = true,
    .weigher = &br_weigher,
    .records = records,
    .recorded = br_recorded,
    .takers = takers,
};
