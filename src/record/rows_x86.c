/*
 * rows_x86.c - x86 instructions whose accesses QEMU tells otherwise than the opcode says.
 *
 * Implements the function of rows.h; docs/recording.md, "What is recorded". Opcodes are from the
 * Intel manual, volume 2, appendix A.
 */
#include "record/rows.h"

#include <string.h>

/* Bytes of CODE in front of its opcode. */
static unsigned prefixes(const uint8_t *code, bool wide)
{
    unsigned i = 0;

    while (i + 3 < REC_INSN_CODE && code[i] &&
           (strchr("\x66\x67\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65", code[i]) ||
            (wide && (code[i] & 0xf0) == 0x40)))
        i++;
    return i;
}

/* Does the instruction with opcode P load a segment register? */
static bool loads_segment(const uint8_t *p, bool wide)
{
    switch (p[0]) {
    case 0x8e: /* mov */
    case 0xca: /* retf */
    case 0xcb:
    case 0xcf: /* iret */
        return true;
    case 0x07: /* pop es, ss, ds */
    case 0x17:
    case 0x1f:
    case 0x9a: /* lcall, ljmp */
    case 0xea:
        return !wide;
    case 0xc4: /* les, lds; else VEX */
    case 0xc5:
        return !wide && p[1] < 0xc0;
    case 0x0f: /* pop fs, gs; lss, lfs, lgs */
        return p[1] == 0xa1 || p[1] == 0xa9 || p[1] == 0xb2 || p[1] == 0xb4 || p[1] == 0xb5;
    case 0xff: /* lcall, ljmp */
        return (p[1] >> 3 & 7) == 3 || (p[1] >> 3 & 7) == 5;
    default:
        return false;
    }
}

/* What the decoder does not count of a far transfer with opcode P: what it reads and writes. */
static uint32_t far_access(const uint8_t *p)
{
    const uint32_t read = WHOLE, write = (uint32_t)WHOLE << 16;

    switch (p[0]) {
    case 0xca:
    case 0xcb:
    case 0xcf:
        return read;
    case 0x9a:
        return write;
    case 0xff:
        return (p[1] >> 3 & 7) == 3 ? read | write : read;
    default:
        return 0;
    }
}

void rec_rows_x86(const struct rec_rows *r, struct rec_insn *in, const struct trod_insn *what)
{
    const bool wide = r->meta->isa == TROD_ISA_X86_64;
    const uint8_t *p = in->code + prefixes(in->code, wide);
    const uint32_t size = what->read_size | what->write_size;

    if (what->flags & TROD_INSN_PREDICATED && what->flags & TROD_INSN_FP)
        in->flags |= ELEMENTS;
    /* environments and states of x87: no other operand has such a size */
    if (what->flags & TROD_INSN_SIZES && size > 10 && (size & (size - 1) || size == 512))
        in->flags |= AREA;
    if (r->system || !loads_segment(p, wide))
        return;
    in->flags |= NO_MORE;
    if (in->access == 0)
        in->access = far_access(p);
}
