/*
 * flow.c - blocks and loops, from executions of sites and jumps between them (hot.h).
 *
 * A basic block begins where a jump leads to, behind a branch or another instruction that was left
 * by a jump, and where instructions that ran are not neighbours. It is what ran, not what the
 * program could run. A loop is identified by its head: the target of a backward jump that is no
 * call or return, within one function where functions are known. It was entered as often as its
 * head was executed without such a jump, and its trips are executions of its head.
 */
#include "analysis/hot/hot.h"

#include "core/grow.h"

#include <stdlib.h>

/* MIPS: the instruction behind a branch is executed before the branch is taken. It leaves the
 * block, where it ran. */
static void delay(struct hot_flow *f, const struct hot_state *s)
{
    const enum trod_isa isa = trod_sites_meta(s->context.sites)->isa;

    if (isa != TROD_ISA_MIPS32 && isa != TROD_ISA_MIPS64)
        return;
    for (size_t i = f->n; i-- > 1;) {
        struct hot_insn *slot = &f->insn[i], *branch = slot - 1;

        if (!branch->branch || branch->pc + branch->size != slot->pc)
            continue;
        slot->branch = true;
        slot->returns = branch->returns;
        branch->branch = branch->returns = false;
    }
}

/* By site the number of its instruction. NULL: no memory. */
static uint32_t *numbers(const struct hot_flow *f, const struct hot_state *s)
{
    uint32_t *of = calloc(s->n_ran + 1, sizeof *of);

    for (size_t i = 0; of && i < f->n; i++)
        of[f->insn[i].site] = (uint32_t)i;
    return of;
}

/* There are jumps from site FROM to site TO. */
static void mark_jump(struct hot_flow *f, const uint32_t *of, uint32_t from, uint32_t to)
{
    f->insn[of[to]].begins = true;
    if (from != TROD_NO_SITE && of[from] + 1 < f->n)
        f->insn[of[from] + 1].begins = true;
}

static void mark_blocks(struct hot_flow *f, const struct hot_state *s, const uint32_t *of)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct hot_insn *before = i ? &f->insn[i - 1] : NULL;

        f->insn[i].begins = !before || before->branch || before->pc + before->size != f->insn[i].pc;
    }
    for (size_t from = 0; from < s->n_back; from++)
        if (s->back[from].n)
            mark_jump(f, of, (uint32_t)from, hot_back_to(&s->back[from]));
    for (size_t k = 0; k < s->jumps.size; k++) {
        const struct trod_pair *p = &s->jumps.at[k];

        if (p->n)
            mark_jump(f, of, (uint32_t)(p->key >> 32), (uint32_t)(p->key & UINT32_MAX));
    }
}

static int make_blocks(struct hot_flow *f)
{
    f->block = malloc((f->n + 1) * sizeof *f->block); /* few pages of it are touched */
    if (!f->block)
        return TROD_ERR_NOMEM;
    for (size_t i = 0; i < f->n; i++) {
        struct hot_block *b;

        if (f->insn[i].begins)
            f->block[f->n_blocks++] = (struct hot_block){.first = i, .executions = f->insn[i].n};
        b = &f->block[f->n_blocks - 1];
        b->n++;
        b->executed += f->insn[i].n;
    }
    return TROD_OK;
}

/* ---- loops */

bool hot_same_function(const struct hot_state *s, uint32_t a, uint32_t b)
{
    struct trod_sites *sites = s->context.sites;
    const uint64_t pc[2] = {trod_site_at(sites, a)->pc, trod_site_at(sites, b)->pc};
    const char *name[2] = {NULL, NULL};
    uint64_t offset[2] = {0, 0};
    bool known = trod_site_function(sites, a, &name[0], &offset[0]);

    if (trod_site_function(sites, b, &name[1], &offset[1]) != known)
        return false;
    if (!known) {
        known = trod_sites_module(sites, pc[0], &name[0], &offset[0]);
        if (trod_sites_module(sites, pc[1], &name[1], &offset[1]) != known)
            return false;
        /* stretches of one module have paths of their own */
        return !known || pc[0] - offset[0] == pc[1] - offset[1];
    }
    return name[0] == name[1] && pc[0] - offset[0] == pc[1] - offset[1];
}

static int by_head(const void *a, const void *b)
{
    const struct hot_loop *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->back != y->back)
        return x->back < y->back ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static int by_executed(const void *a, const void *b)
{
    const struct hot_loop *x = a, *y = b;

    if (x->executed != y->executed)
        return x->executed > y->executed ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Jumps back with one head become one loop. Until then entries are the jumps. */
static void join(struct hot_flow *f)
{
    size_t n = 0;

    qsort(f->loop, f->n_loops, sizeof *f->loop, by_head);
    for (size_t i = 0; i < f->n_loops; i++) {
        struct hot_loop *l = n ? &f->loop[n - 1] : NULL;

        if (l && l->first == f->loop[i].first) {
            l->entries += f->loop[i].entries;
            l->back = f->loop[i].back;
            l->edges += l->from != f->loop[i].from;
            l->from = f->loop[i].from;
        } else {
            f->loop[n++] = f->loop[i];
        }
    }
    f->n_loops = n;
}

/* Executions of all instructions from the address of number HEAD to that of number BACK. SUM: of
 * the instructions before each. */
static uint64_t between(const struct hot_flow *f, const uint64_t *sum, size_t head, size_t back)
{
    while (head > 0 && f->insn[head - 1].pc == f->insn[head].pc)
        head--;
    while (back + 1 < f->n && f->insn[back + 1].pc == f->insn[back].pc)
        back++;
    return sum[back + 1] - sum[head];
}

/* N jumps from site FROM to site TO are a loop's, if they go back. */
static int add_loop(struct hot_flow *f, const struct hot_state *s, const uint32_t *of,
                    uint32_t from, uint32_t to, uint64_t n)
{
    const struct hot_insn *a = &f->insn[of[from]], *b = &f->insn[of[to]];

    if (!(a->branch || a->unsaid) || a->returns || b->pc > a->pc || !hot_same_function(s, from, to))
        return TROD_OK;
    if (!trod_grow(&f->loop, f->n_loops, &f->cap_loops, sizeof *f->loop, 64))
        return TROD_ERR_NOMEM;
    f->loop[f->n_loops++] = (struct hot_loop){.head = b->pc,
                                              .back = a->pc,
                                              .entries = n,
                                              .edges = 1,
                                              .from = from,
                                              .site = to,
                                              .first = of[to]};
    return TROD_OK;
}

static int add_loops(struct hot_flow *f, const struct hot_state *s, const uint32_t *of)
{
    int rc = TROD_OK;

    for (size_t from = 0; rc == TROD_OK && from < s->n_back; from++)
        if (s->back[from].n)
            rc = add_loop(f, s, of, (uint32_t)from, hot_back_to(&s->back[from]), s->back[from].n);
    for (size_t k = 0; rc == TROD_OK && k < s->jumps.size; k++) {
        const struct trod_pair *p = &s->jumps.at[k];
        const uint32_t from = (uint32_t)(p->key >> 32);

        if (p->n && from != TROD_NO_SITE)
            rc = add_loop(f, s, of, from, (uint32_t)(p->key & UINT32_MAX), p->n);
    }
    return rc;
}

static int make_loops(struct hot_flow *f, const struct hot_state *s, const uint32_t *of)
{
    uint64_t *sum = malloc((f->n + 1) * sizeof *sum);

    if (!sum || add_loops(f, s, of) < 0) {
        free(sum);
        return TROD_ERR_NOMEM;
    }
    if (f->n_loops)
        join(f);
    sum[0] = 0;
    for (size_t i = 0; i < f->n; i++)
        sum[i + 1] = sum[i] + f->insn[i].n;
    for (size_t i = 0; i < f->n_loops; i++) {
        struct hot_loop *l = &f->loop[i];

        l->iterations = f->insn[of[l->site]].n - hot_again(s, l->site);
        l->entries = l->iterations - l->entries;
        l->executed = between(f, sum, l->first, of[l->from]);
    }
    if (f->n_loops)
        qsort(f->loop, f->n_loops, sizeof *f->loop, by_executed);
    free(sum);
    return TROD_OK;
}

int hot_flow_init(struct hot_flow *f, const struct hot_state *s)
{
    uint32_t *of = NULL;
    int rc;

    *f = (struct hot_flow){.n = 0};
    rc = hot_insns(f, s);
    if (rc == TROD_OK && !(of = numbers(f, s)))
        rc = TROD_ERR_NOMEM;
    if (rc == TROD_OK) {
        delay(f, s);
        mark_blocks(f, s, of);
        rc = make_blocks(f);
    }
    if (rc == TROD_OK)
        rc = make_loops(f, s, of);
    free(of);
    return rc;
}

void hot_flow_fini(struct hot_flow *f)
{
    free(f->insn);
    free(f->block);
    free(f->loop);
}

/* ---- memory */

int hot_code_lines(struct hot_lines *to, const struct hot_state *s, const struct hot_flow *f,
                   unsigned shift)
{
    struct hot_line sum = {.n = 0}; /* of a block that instructions in a row lie in */
    int rc = hot_lines_copy(to, &s->code, shift);

    for (size_t i = 0; rc == TROD_OK && i < f->n; i++) {
        const struct hot_insn *insn = &f->insn[i];
        const uint64_t first = insn->pc >> to->shift;
        const uint64_t last = (insn->pc + insn->size - 1) >> to->shift;
        const uint64_t fetched = insn->n - hot_again(s, insn->site);

        if (fetched == 0)
            continue;
        if (sum.n && (first != sum.number || first != last)) {
            rc = hot_line_add(to, &sum, 0);
            sum.n = 0;
        }
        if (first == last)
            sum = (struct hot_line){.number = first, .n = sum.n + fetched};
        else if (rc == TROD_OK)
            rc = hot_lines_touch(to, insn->pc, insn->size, fetched, 0);
    }
    return rc == TROD_OK && sum.n ? hot_line_add(to, &sum, 0) : rc;
}
