/*
 * evex_x86.c - memory operands of x86 instructions with an EVEX prefix (AVX-512).
 *
 * Capstone 4 knows few of those that work on parts of a register (VL, BW). Their length and their
 * memory operand follow from the prefix, the opcode's map and number, and ModRM: Intel 64 and IA-32
 * Architectures Software Developer's Manual, volume 2, sections 2.7 (encoding, compressed
 * displacement) and chapter 5. Sizes of the less common forms are left to Capstone, which knows
 * those of AVX512F.
 */
#include "isa/operands.h"

#include "core/endian.h"

struct evex {
    const uint8_t *p;
    unsigned map, opcode, prefix, length; /* mandatory prefix: 0, 66, f3, f2; bytes of a vector */
    bool wide, broadcast;
    uint8_t mod, rm, reg;
};

enum { P66 = 1, PF3 = 2, PF2 = 3 };

/* Bytes that are accessed, and by which a displacement of one byte counts. */
static unsigned size_of(const struct evex *e)
{
    const unsigned op = e->opcode, element = e->wide ? 8 : 4;

    if (e->broadcast)
        return element;
    if (e->map == 1 && (op == 0x10 || op == 0x11 || op == 0x51 || (op >= 0x58 && op <= 0x5f)) &&
        e->prefix >= PF3)
        return e->prefix == PF3 ? 4 : 8; /* scalars */
    if (e->map == 1 && (op == 0x2e || op == 0x2f || op == 0x2a || op == 0x2c || op == 0x2d ||
                        op == 0x6e || op == 0x7e))
        return e->map == 1 && op == 0x7e && e->prefix == PF3 ? 8
               : op == 0x2e || op == 0x2f                    ? (e->prefix == P66 ? 8u : 4u)
               : op == 0x2c || op == 0x2d                    ? (e->prefix == PF2 ? 8u : 4u)
                                                             : element;
    if (e->map == 1 && (op == 0x13 || op == 0x17 || op == 0xd6))
        return 8;
    if (e->map == 1 && (op == 0x12 || op == 0x16) && e->prefix < PF3)
        return 8;
    if (e->map == 1 && op == 0x12 && e->prefix == PF2 && e->length == 16)
        return 8;
    if (e->map == 2 &&
        (op == 0x78 || op == 0x79 || op == 0x58 || op == 0x59 || op == 0x18 || op == 0x19))
        return op == 0x78 ? 1 : op == 0x79 ? 2 : op == 0x59 || op == 0x19 ? 8 : 4;
    if (e->map == 2 && (op == 0x5a || op == 0x1a))
        return 16;
    if (e->map == 2 && (op == 0x5b || op == 0x1b))
        return 32;
    if (e->map == 2 && ((op >= 0x20 && op <= 0x25) || (op >= 0x30 && op <= 0x35) ||
                        (op >= 0x10 && op <= 0x15 && e->prefix == PF3))) {
        static const uint8_t parts[] = {2, 4, 8, 2, 4, 2};

        return e->length / parts[op & 7];
    }
    if (e->map == 3 && (op == 0x14 || op == 0x20))
        return 1;
    if (e->map == 3 && op == 0x15)
        return 2;
    if (e->map == 3 && (op == 0x16 || op == 0x17 || op == 0x21 || op == 0x22))
        return op == 0x17 || op == 0x21 ? 4 : element;
    if (e->map == 3 && (op == 0x18 || op == 0x19 || op == 0x38 || op == 0x39))
        return 16;
    if (e->map == 3 && (op == 0x1a || op == 0x1b || op == 0x3a || op == 0x3b))
        return 32;
    return e->length;
}

/* Moves from a register to memory; all else reads. */
static bool writes(const struct evex *e)
{
    const unsigned op = e->opcode;

    if (e->map == 1)
        return op == 0x11 || op == 0x13 || op == 0x17 || op == 0x29 || op == 0x2b || op == 0x7f ||
               op == 0xd6 || op == 0xe7 || (op == 0x7e && e->prefix == P66);
    if (e->map == 2)
        return op == 0x63 || op == 0x8a || op == 0x8b ||
               (e->prefix == PF3 && op >= 0x10 && op <= 0x35 && (op & 7) <= 5);
    return op == 0x14 || op == 0x15 || op == 0x16 || op == 0x17 || op == 0x19 || op == 0x1b ||
           op == 0x39 || op == 0x3b || op == 0x1d;
}

/* Does a byte follow the operands? */
static bool has_immediate(const struct evex *e)
{
    return e->map == 3 ||
           (e->map == 1 && ((e->opcode >= 0x70 && e->opcode <= 0x73) || e->opcode == 0xc2 ||
                            (e->opcode >= 0xc4 && e->opcode <= 0xc6)));
}

/* The fields of the N bytes at P. False: no such instruction. */
static bool fields(const uint8_t *p, uint32_t n, struct evex *e)
{
    if (n < 6 || p[0] != 0x62 || (p[1] & 0x08) || !(p[2] & 0x04))
        return false;
    *e = (struct evex){.p = p,
                       .map = p[1] & 7u,
                       .prefix = p[2] & 3u,
                       .wide = p[2] >> 7,
                       .length = 16u << (p[3] >> 5 & 3),
                       .broadcast = p[3] >> 4 & 1,
                       .opcode = p[4],
                       .mod = p[5] >> 6,
                       .reg = p[5] >> 3 & 7,
                       .rm = p[5] & 7};
    if (e->map < 1 || e->map > 3)
        return false;
    if (e->mod == 3 && e->broadcast)
        e->length = 64; /* the field is a rounding mode */
    return e->length <= 64;
}

/* Where the memory operand is: the base and what is added, into OP. Returns bytes of ModRM on. */
static uint32_t place(const struct evex *e, uint32_t n, uint64_t pc, struct trod_operand *op)
{
    const unsigned high = e->p[1] & 0x20 ? 0 : 8;
    uint32_t len = 1, at = 6;
    unsigned base = e->rm;
    bool indexed = false;

    if (e->rm == 4) {
        if (at >= n)
            return 0;
        base = e->p[at] & 7;
        indexed = (e->p[at] >> 3 & 7) != 4 || !(e->p[1] & 0x40);
        at++;
        len++;
    }
    op->form = indexed ? TROD_OPERAND_OTHER : TROD_OPERAND_BASE;
    op->base = (uint8_t)(base + high);
    if (e->mod == 1 && at < n) {
        op->disp = (uint64_t)((int64_t)(int8_t)e->p[at] * (int64_t)size_of(e));
        return len + 1;
    }
    if ((e->mod == 2 || (e->mod == 0 && base == 5)) && at + 4 <= n) {
        op->disp = (uint64_t)(int64_t)(int32_t)trod_load_le32(e->p + at);
        len += 4;
    } else if (e->mod != 0 || base == 5) {
        return 0;
    }
    if (e->mod == 0 && base == 5 && !indexed) {
        op->form = TROD_OPERAND_FIXED;
        if (e->rm == 5)
            op->disp += pc + 5 + len + has_immediate(e);
    }
    return len;
}

/* The general register that it writes, if it does: few do. */
static uint64_t changes(const struct evex *e)
{
    const uint64_t both = UINT64_C(1) | UINT64_C(1) << 16;
    const unsigned op = e->opcode, reg = e->reg + (e->p[1] & 0x80 ? 0u : 8u),
                   rm = e->rm + (e->p[1] & 0x20 ? 0u : 8u);

    if (e->map == 1 && (op == 0x2c || op == 0x2d || op == 0xc5 ||
                        ((op == 0x78 || op == 0x79) && e->prefix >= PF3)))
        return both << reg;
    if (e->mod == 3 && ((e->map == 1 && op == 0x7e && e->prefix == P66) ||
                        (e->map == 3 && op >= 0x14 && op <= 0x17)))
        return both << rm;
    return 0;
}

/* Instructions on masks, between registers: VEX prefixes of two or three bytes. */
static bool on_masks(const uint8_t *p, uint32_t n, struct trod_operands *out)
{
    const unsigned head = p[0] == 0xc5 ? 2 : 3, map = p[0] == 0xc5 ? 1 : n > 1 ? p[1] & 0x1f : 0;
    const unsigned len = head + 2 + (map == 3);
    const unsigned op = n > head ? p[head] : 0;

    if ((p[0] != 0xc5 && p[0] != 0xc4) || n < len || p[head + 1] >> 6 != 3)
        return false;
    if (!(map == 1 &&
          ((op >= 0x41 && op <= 0x4b) || (op >= 0x90 && op <= 0x93) || op == 0x98 || op == 0x99)) &&
        !(map == 3 && op >= 0x30 && op <= 0x33))
        return false;
    if (op == 0x93)
        out->changes |= (UINT64_C(1) | UINT64_C(1) << 16)
                        << ((p[head + 1] >> 3 & 7) + (p[1] & 0x80 ? 0 : 8));
    out->insn.valid = 1;
    out->insn.size = (uint8_t)len;
    return true;
}

bool trod_operands_evex(uint64_t pc, const uint8_t *code, uint32_t n, struct trod_operands *out)
{
    struct trod_operand op = {.disp = 0};
    struct evex e;
    uint32_t len = 1;

    if (n > 3 && on_masks(code, n, out))
        return true;
    if (!fields(code, n, &e))
        return false;
    if (e.mod != 3) {
        op.size = size_of(&e);
        len = place(&e, n, pc, &op);
        if (len == 0)
            return false;
        if (writes(&e))
            out->written[out->n_written++] = op;
        else
            out->read[out->n_read++] = op;
    }
    len += 5 + has_immediate(&e);
    if (len > n)
        return false;
    out->changes |= changes(&e);
    out->insn.valid = 1;
    out->insn.size = (uint8_t)len;
    return true;
}
