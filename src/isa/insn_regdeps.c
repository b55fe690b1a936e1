/*
 * insn_regdeps.c - facts of the synthetic instructions of REGDEPS traces.
 *
 * Implements trod_insn_regdeps of trod/insn.h: DynamoRIO's encoding of what instructions read and
 * write without their opcodes (docs/formats/drmemtrace.md, "REGDEPS").
 */
#include "isa/insn_int.h"

enum {
    WRITES_FLAGS = 1 << 8,
    READS_FLAGS = 1 << 9,
    CATEGORY_SHIFT = 10,
    CAT_FP = 1,
    CAT_LOAD = 2,
    CAT_STORE = 4,
    CAT_SIMD = 0x10
};

void trod_insn_regdeps(struct trod_insn *out, const uint8_t *code, uint32_t n)
{
    uint32_t head, category, to, from;

    *out = (struct trod_insn){.valid = 0};
    if (n < 4)
        return;
    head = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
    to = head & 15;
    from = head >> 4 & 15;
    if (to + from && 5 + to + from > n)
        return;
    out->valid = 1;
    category = head >> CATEGORY_SHIFT;
    out->loads = (category & CAT_LOAD) != 0;
    out->stores = (category & CAT_STORE) != 0;
    if (category & (CAT_FP | CAT_SIMD))
        out->flags |= TROD_INSN_FP | (category & CAT_SIMD ? TROD_INSN_SIMD : 0);
    for (uint32_t i = 0; i < to; i++)
        trod_insn_add(out->writes, &out->n_writes, code[5 + i]);
    for (uint32_t i = 0; i < from; i++)
        trod_insn_add(out->reads, &out->n_reads, code[5 + to + i]);
    if (head & WRITES_FLAGS)
        trod_insn_add(out->writes, &out->n_writes, TROD_INSN_REGDEPS_FLAGS);
    if (head & READS_FLAGS)
        trod_insn_add(out->reads, &out->n_reads, TROD_INSN_REGDEPS_FLAGS);
}
