/*
 * classes.c - what an instruction that did not lead straight on is (docs/navigating.md, "What a
 * call is", the table of instruction sets).
 *
 * What the row says counts. Else the opcode is decoded, once as long as it stays in a small cache.
 * PowerPC is classified by the opcode itself: whether a conditional branch links or goes to the
 * link register is what matters here.
 */
#include "callstack/callstack_int.h"

#include "trod/format.h"

#include <string.h>

static enum cs_class of_branch(unsigned branch)
{
    switch (branch) {
    case TROD_BR_DIRECT:
    case TROD_BR_COND:
    case TROD_BR_COND_TAKEN:
    case TROD_BR_COND_UNTAKEN:
        return CS_JUMP;
    case TROD_BR_INDIRECT:
        return CS_INDIRECT;
    case TROD_BR_CALL:
    case TROD_BR_ICALL:
        return CS_CALL;
    case TROD_BR_RETURN:
        return CS_RETURN;
    case TROD_BR_SYSCALL:
        return CS_SYSCALL;
    case TROD_BR_ERET:
        return CS_ERET;
    case TROD_BR_NONE:
        return CS_NONE;
    default:
        return CS_UNKNOWN;
    }
}

static uint32_t word(const struct trod_callstack *c, const uint8_t *p)
{
    if (c->endian == TROD_ENDIAN_BIG || c->isa == TROD_ISA_PPC32 || c->isa == TROD_ISA_PPC64)
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* PowerPC User Instruction Set Architecture, "Branch Instructions"; LK is bit 31. */
static enum cs_class ppc(uint32_t op)
{
    const unsigned extended = op >> 1 & 0x3ff;

    switch (op >> 26) {
    case 16:
    case 18:
        return op & 1 ? CS_CALL : CS_JUMP;
    case 17:
        return CS_SYSCALL;
    case 19:
        if (extended == 16)
            return op & 1 ? CS_CALL : CS_RETURN;
        if (extended == 528)
            return op & 1 ? CS_CALL : CS_INDIRECT;
        return extended == 50 || extended == 18 ? CS_ERET : CS_NONE;
    default:
        return CS_NONE;
    }
}

/*
 * Returns from exceptions that Capstone's operands do not show. Arm Architecture Reference Manual,
 * A32: data processing with S and Rd pc (SUBS pc,lr), RFE, LDM with pc and ^, ERET. T32: SUBS
 * PC,LR,#imm8, RFE.
 */
static bool arm_back(uint32_t op)
{
    if ((op & 0x0c10f000) == 0x0010f000 && (op >> 21 & 15) != 10 && (op >> 21 & 12) != 8)
        return (op & 0x0fc000f0) != 0x00000090; /* no multiplication */
    return (op & 0xfe50ffff) == 0xf8100a00 || (op & 0x0e508000) == 0x08508000 ||
           (op & 0x0fffffff) == 0x0160006e;
}

static bool thumb_back(uint32_t first, uint32_t second)
{
    return (first == 0xf3de && (second & 0xff00) == 0x8f00) ||
           ((first & 0xffd0) == 0xe810 && second == 0xc000) ||
           ((first & 0xffd0) == 0xe990 && second == 0xc000);
}

static bool is_return_load(const struct trod_callstack *c, const struct cs_insn *insn)
{
    /* LDR pc,[sp],#4 */
    if (insn->code_n != 4)
        return false;
    if ((insn->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT == TROD_ISET_A32)
        return (word(c, insn->code) & 0x0fffffff) == 0x049df004;
    return (insn->code[0] | insn->code[1] << 8) == 0xf85d &&
           (insn->code[2] | insn->code[3] << 8) == 0xfb04;
}

static enum cs_class arm(const struct trod_callstack *c, const struct cs_insn *insn,
                         enum cs_class decoded)
{
    const unsigned iset = (insn->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    const uint8_t *p = insn->code;

    if (iset == TROD_ISET_A32 && insn->code_n == 4 && arm_back(word(c, p)))
        return CS_ERET;
    if (iset == TROD_ISET_T32 && insn->code_n == 4 &&
        thumb_back((uint32_t)(p[0] | p[1] << 8), (uint32_t)(p[2] | p[3] << 8)))
        return CS_ERET;
    return decoded == CS_INDIRECT && is_return_load(c, insn) ? CS_RETURN : decoded;
}

/* BR x30 returns, as RET does. RETAA, RETAB, BLRAA and kin, BRAA: not known to every Capstone. */
static enum cs_class a64(uint32_t op, enum cs_class decoded)
{
    if (op == 0xd61f03c0 || (op & 0xfffffbff) == 0xd65f0bff)
        return CS_RETURN;
    if ((op & 0xfefff800) == 0xd63f0800)
        return CS_CALL;
    if ((op & 0xfefff800) == 0xd61f0800)
        return CS_INDIRECT;
    return (op & 0xfffffbff) == 0xd69f0bff ? CS_ERET : decoded;
}

static bool decoder(struct trod_callstack *c)
{
    if (c->decoder_tried && c->decoder_isa == c->isa && c->decoder_endian == c->endian)
        return c->decoder != NULL;
    trod_insn_decoder_free(c->decoder);
    c->decoder = NULL;
    c->decoder_tried = true;
    c->decoder_isa = c->isa;
    c->decoder_endian = c->endian;
    return c->isa && trod_insn_decoder_new(&c->decoder, (enum trod_isa)c->isa,
                                           (enum trod_endian)c->endian) == TROD_OK;
}

static enum cs_class decode(struct trod_callstack *c, const struct cs_insn *insn)
{
    const unsigned iset = (insn->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT;
    enum cs_class decoded = CS_UNKNOWN;
    const struct trod_insn *facts;

    if (c->isa == TROD_ISA_PPC32 || c->isa == TROD_ISA_PPC64)
        return insn->code_n == 4 ? ppc(word(c, insn->code)) : CS_UNKNOWN;
    if (decoder(c)) {
        facts = trod_insn_decode(c->decoder, iset, insn->at.pc, insn->code, insn->code_n);
        decoded = facts->valid ? of_branch(facts->branch) : CS_UNKNOWN;
        if (decoded == CS_NONE && facts->flags & TROD_INSN_TRAP)
            decoded = CS_SYSCALL;
    }
    if (c->isa != TROD_ISA_ARM && c->isa != TROD_ISA_A64)
        return decoded;
    /* what the row says counts: a machine of A64 may execute A32 and T32, too */
    if (iset == TROD_ISET_A64 || (iset == TROD_ISET_NONE && c->isa == TROD_ISA_A64))
        return insn->code_n == 4 ? a64(word(c, insn->code), decoded) : decoded;
    return arm(c, insn, decoded);
}

enum cs_class cs_class_of(struct trod_callstack *c, const struct cs_lane *l,
                          const struct cs_insn *insn)
{
    const unsigned said = insn->flags & TROD_F_BRANCH;
    const uint8_t iset = (uint8_t)((insn->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT);
    struct cs_class_cache *e;
    uint64_t key = 0;

    (void)l;
    if (insn->flags & TROD_F_SKIPPED)
        return CS_NONE;
    if (said || c->own_classes)
        return of_branch(said);
    if (insn->code_n == 0)
        return CS_UNKNOWN;
    memcpy(&key, insn->code, insn->code_n < sizeof key ? insn->code_n : sizeof key);
    e = &c->classes[(insn->at.pc * UINT64_C(0x9e3779b97f4a7c15) >> 32) % CS_CLASSES];
    if (e->pc != insn->at.pc || e->key != key || e->iset != iset + 1) {
        e->pc = insn->at.pc;
        e->key = key;
        e->iset = (uint8_t)(iset + 1);
        e->class = (uint8_t)decode(c, insn);
    }
    return (enum cs_class)e->class;
}

bool cs_target(struct trod_callstack *c, const struct cs_insn *insn, uint64_t *target)
{
    const struct trod_insn *facts;

    if (insn->code_n == 0 || !decoder(c))
        return false;
    facts = trod_insn_decode(c->decoder, (insn->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT,
                             insn->at.pc, insn->code, insn->code_n);
    *target = facts->target;
    return facts->valid && facts->flags & TROD_INSN_TARGET;
}

bool cs_surely(struct trod_callstack *c, const struct cs_insn *insn)
{
    const unsigned said = insn->flags & TROD_F_BRANCH;
    const struct trod_insn *facts;

    if (said || c->own_classes)
        return said == TROD_BR_DIRECT || said == TROD_BR_INDIRECT || said == TROD_BR_CALL ||
               said == TROD_BR_ICALL || said == TROD_BR_COND_TAKEN;
    if (insn->code_n == 0 || !decoder(c))
        return false;
    facts = trod_insn_decode(c->decoder, (insn->flags & TROD_F_ISET) >> TROD_F_ISET_SHIFT,
                             insn->at.pc, insn->code, insn->code_n);
    return facts->valid && facts->branch != TROD_BR_COND && !(facts->flags & TROD_INSN_PREDICATED);
}
