/*
 * inputs.c - what the diverging instruction reads, and who wrote that last.
 *
 * Implements cmp_find_inputs of match.h. Registers come from the decoded opcode (trod/insn.h),
 * bytes from the READ rows of the instruction. It is done when a difference is found, because by
 * the time it is told others may have written.
 */
#include "compare/match.h"

#include "trod/insn.h"

#include <string.h>

static bool known_already(const struct cmp_diff *d, const struct trod_compare_input *in)
{
    for (size_t i = 0; i < d->n_inputs; i++) {
        const struct trod_compare_input *o = &d->inputs[i];

        if (strcmp(o->name, in->name) == 0 && o->addr == in->addr && o->size == in->size)
            return true;
    }
    return false;
}

static void add(struct cmp_diff *d, const struct trod_compare_input *in)
{
    if (d->n_inputs < TROD_COMPARE_INPUTS && !known_already(d, in))
        d->inputs[d->n_inputs++] = *in;
}

static void add_registers(const struct cmp_lane *l, const struct cmp_match *m, struct cmp_diff *d,
                          const struct trod_compare_row *r)
{
    unsigned iset = (r->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    const struct trod_insn *insn;

    if (!m->decoder || r->code_len == 0)
        return;
    insn = trod_insn_decode(m->decoder, iset, r->addr, r->code, r->code_len);
    for (unsigned i = 0; insn->valid && i < insn->n_reads; i++) {
        const char *name = trod_insn_reg_name(m->decoder, iset, insn->reads[i]);
        struct trod_compare_input in = {.written = false};
        size_t len = strlen(name);

        if (len == 0 || len >= sizeof in.name)
            continue;
        memcpy(in.name, name, len);
        in.written = cmp_history_register(m->history, m->rules, l->pair, name, len, &in.last);
        add(d, &in);
    }
}

void cmp_find_inputs(const struct cmp_lane *l, const struct cmp_match *m, struct cmp_diff *d)
{
    for (int side = 0; side < 2; side++) {
        const struct cmp_row *r = d->instr[side];

        if (!r)
            continue;
        add_registers(l, m, d, &r->pub);
        for (unsigned i = 0; i < r->n_reads; i++) {
            struct trod_compare_input in = {.addr = r->reads[i].addr, .size = r->reads[i].size};

            in.written = cmp_history_memory(m->history, in.addr, in.size, &in.last);
            add(d, &in);
        }
    }
}
