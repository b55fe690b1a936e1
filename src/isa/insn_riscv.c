/*
 * insn_riscv.c - facts of RISC-V instructions.
 *
 * Implements the RISC-V part of trod/insn.h (The RISC-V Instruction Set Manual, volume I). Which
 * jumps are calls and returns is what its chapter 2.5 says of the link registers x1 and x5.
 */
#include "isa/insn_int.h"
#include "isa/riscv.h"

enum { FIRST_X = 1, FIRST_F = 33, RA = 1, T0 = 5 };

static bool is_link(unsigned x)
{
    return x == RA || x == T0;
}

static void jump(const struct trod_rv *r, uint64_t pc, struct trod_insn *out)
{
    const unsigned rd = trod_rv_rd(r->word), rs1 = trod_rv_rs1(r->word);

    if (r->facts & RV_JAL) {
        out->branch = is_link(rd) ? TROD_BR_CALL : TROD_BR_DIRECT;
        out->target = pc + (uint64_t)(int64_t)trod_rv_jump(r->word);
        out->flags |= TROD_INSN_TARGET;
    } else if (r->facts & RV_COND) {
        out->branch = TROD_BR_COND;
        out->target = pc + (uint64_t)(int64_t)trod_rv_branch(r->word);
        out->flags |= TROD_INSN_TARGET;
    } else if (r->facts & RV_JALR) {
        out->branch = is_link(rd)    ? TROD_BR_ICALL
                      : is_link(rs1) ? TROD_BR_RETURN
                                     : TROD_BR_INDIRECT;
    } else if (r->facts & (RV_ECALL | RV_ERET)) {
        out->branch = r->facts & RV_ECALL ? TROD_BR_SYSCALL : TROD_BR_ERET;
    }
}

static void memory(const struct trod_rv *r, struct trod_insn *out)
{
    const uint32_t size = r->facts & RV_SIZE;

    out->flags |= TROD_INSN_COUNTS;
    out->loads = (r->facts & (RV_LOAD | RV_LR | RV_AMO)) != 0;
    out->stores = (r->facts & (RV_STORE | RV_SC | RV_AMO)) != 0;
    out->read_size = out->loads ? size : 0;
    out->write_size = out->stores ? size : 0;
    if (size)
        out->flags |= TROD_INSN_SIZES;
    if (r->facts & RV_PREFETCH)
        out->flags |= TROD_INSN_PREFETCH;
    if (r->facts & RV_FLUSH)
        out->flags |= TROD_INSN_FLUSH;
    if (r->facts & RV_SC)
        out->flags |= TROD_INSN_PREDICATED;
}

/* Register 0 is none: reading it depends on nothing. */
static void add(uint16_t *list, uint8_t *n, unsigned first, unsigned reg)
{
    if (first == FIRST_F || reg)
        trod_insn_add(list, n, (uint16_t)(first + reg));
}

static const char *operands_of(const struct trod_rv *r)
{
    struct trod_rv full;
    const uint8_t code[] = {(uint8_t)r->word, (uint8_t)(r->word >> 8), (uint8_t)(r->word >> 16),
                            (uint8_t)(r->word >> 24)};

    if (r->size == sizeof code || !trod_rv_decode(code, sizeof code, 64, &full))
        return r->operands;
    return full.operands; /* of what an instruction of 16 bits stands for */
}

static void registers(const struct trod_rv *r, struct trod_insn *out)
{
    const uint32_t w = r->word;

    for (const char *o = operands_of(r); *o; o++)
        switch (*o) {
        case 'd':
            add(out->writes, &out->n_writes, FIRST_X, trod_rv_rd(w));
            break;
        case 's':
        case 'j':
        case 'q':
        case 'A':
            add(out->reads, &out->n_reads, FIRST_X, trod_rv_rs1(w));
            break;
        case 't':
            add(out->reads, &out->n_reads, FIRST_X, trod_rv_rs2(w));
            break;
        case 'D':
            add(out->writes, &out->n_writes, FIRST_F, trod_rv_rd(w));
            break;
        case 'S':
            add(out->reads, &out->n_reads, FIRST_F, trod_rv_rs1(w));
            break;
        case 'T':
            add(out->reads, &out->n_reads, FIRST_F, trod_rv_rs2(w));
            break;
        case 'R':
            add(out->reads, &out->n_reads, FIRST_F, trod_rv_rs3(w));
            break;
        default:
            break;
        }
}

static const char *extension(const struct trod_rv *r)
{
    if (r->facts & RV_M)
        return "m";
    if (r->facts & (RV_AMO | RV_LR | RV_SC))
        return "a";
    if (r->facts & RV_D)
        return "d";
    if (r->facts & RV_F)
        return "f";
    if (r->facts & RV_B)
        return "b";
    return r->size == 2 ? "c" : NULL;
}

void trod_insn_riscv(const uint8_t *code, size_t n, uint64_t pc, unsigned bits,
                     struct trod_insn *out)
{
    struct trod_rv r;

    if (!trod_rv_decode(code, n, bits, &r))
        return;
    out->valid = 1;
    out->size = r.size;
    jump(&r, pc, out);
    if (bits == 32)
        out->target = (uint32_t)out->target;
    memory(&r, out);
    registers(&r, out);
    if (r.facts & (RV_F | RV_D))
        out->flags |= TROD_INSN_FP;
    if (r.facts & (RV_AMO | RV_LR | RV_SC))
        out->flags |= TROD_INSN_ATOMIC;
    if (r.facts & (RV_SYSTEM | RV_ERET))
        out->flags |= TROD_INSN_SYSTEM;
    if (r.facts & RV_TRAP)
        out->flags |= TROD_INSN_TRAP;
    out->extension = extension(&r);
}

const char *trod_insn_riscv_reg(unsigned reg)
{
    if (reg >= FIRST_F && reg < FIRST_F + 32)
        return trod_rv_f(reg - FIRST_F);
    return reg >= FIRST_X && reg < FIRST_F ? trod_rv_x(reg - FIRST_X) : "";
}
