/*
 * detail.c - the fields of the structs of the detail column, as one table.
 *
 * Implements the functions of detail.h. What copies, compares or prints details takes them from
 * here: a new field is one line. How a source wrote a number is not listed.
 */
#include "trod/detail.h"

#include "trod/batch.h"

#define FIELD(type, name, field, what, given)                                                      \
    {                                                                                              \
        name, offsetof(struct trod_detail_##type, field),                                          \
            sizeof((struct trod_detail_##type *)0)->field, TROD_FIELD_##what, given                \
    }
#define GIVEN(type, field) offsetof(struct trod_detail_##type, field)

static const struct trod_detail_field of_instr[] = {
    FIELD(instr, "mode", mode, TEXT, 0),
    FIELD(instr, "id", id, TEXT, 0),
    FIELD(instr, "folded", folded, FLAG, 0),
    FIELD(instr, "pa2", paddr2, HEX, GIVEN(instr, has_paddr2)),
    FIELD(instr, "pa2_security", sec2, SEC, GIVEN(instr, has_paddr2)),
};

static const struct trod_detail_field of_branch[] = {
    FIELD(branch, "target_pa", target_paddr, HEX, GIVEN(branch, has_target_paddr)),
    FIELD(branch, "target_security", target_sec, SEC, GIVEN(branch, has_target_paddr)),
    FIELD(branch, "target_only", target_only, FLAG, 0),
};

static const struct trod_detail_field of_reg[] = {
    FIELD(reg, "hi", hi, NUMBER, GIVEN(reg, has_range)),
    FIELD(reg, "lo", lo, NUMBER, GIVEN(reg, has_range)),
    FIELD(reg, "note", note, TEXT, 0),
    FIELD(reg, "comment", comment, TEXT, 0),
    FIELD(reg, "system_op", system_op, FLAG, 0),
    FIELD(reg, "mask", mask, MASK, 0),
    FIELD(reg, "unwritten", unwritten, MASK, 0),
};

static const struct trod_detail_field of_mem[] = {
    FIELD(mem, "type", type, TEXT, 0),
    FIELD(mem, "note", note, TEXT, 0),
    FIELD(mem, "insn", insn, HEX, GIVEN(mem, has_insn)),
    FIELD(mem, "serial", serial, NUMBER, GIVEN(mem, has_insn)),
    FIELD(mem, "attribute", attr, LETTER, 0),
    FIELD(mem, "mask", mask, MASK, 0),
    FIELD(mem, "unwritten", unwritten, MASK, 0),
};

static const struct trod_detail_field of_atomic[] = {
    FIELD(atomic, "more", more, TEXT, 0),
    FIELD(atomic, "mask", mask, MASK, 0),
};

static const struct trod_detail_field of_bus[] = {
    FIELD(bus, "direction", write, WRITE, 0),
    FIELD(bus, "idle", idle, FLAG, 0),
    FIELD(bus, "coprocessor", coprocessor, FLAG, 0),
    FIELD(bus, "inner", inner, CACHE, GIVEN(bus, has_cache)),
    FIELD(bus, "outer", outer, CACHE, GIVEN(bus, has_cache)),
    FIELD(bus, "master", master, TEXT, 0),
    FIELD(bus, "type", type, TEXT, 0),
    FIELD(bus, "note", note, TEXT, 0),
    FIELD(bus, "insn", insn, HEX, GIVEN(bus, has_insn)),
    FIELD(bus, "serial", serial, NUMBER, GIVEN(bus, has_insn)),
    FIELD(bus, "mask", mask, MASK, 0),
};

static const struct trod_detail_field of_cache_op[] = {
    FIELD(cache_op, "pagesize", pagesize, TEXT, 0),
    FIELD(cache_op, "memtype", memtype, TEXT, 0),
};

static const struct trod_detail_field of_cache_line[] = {
    FIELD(cache_line, "op", op, TEXT, 0),
};

static const struct trod_detail_field of_walk[] = {
    FIELD(walk, "side", side, TEXT, 0),     FIELD(walk, "format", format, TEXT, 0),
    FIELD(walk, "stage", stage, NUMBER, 0), FIELD(walk, "level", level, NUMBER, 0),
    FIELD(walk, "update", update, FLAG, 0), FIELD(walk, "attrs", attrs, TEXT, 0),
};

static const struct trod_detail_field of_tlb[] = {
    FIELD(tlb, "region", size, NUMBER, 0),
    FIELD(tlb, "virtual_security", sec, SEC, 0),
    FIELD(tlb, "el", el, TEXT, 0),
    FIELD(tlb, "vmid", vmid, NUMBER, GIVEN(tlb, has_vmid)),
    FIELD(tlb, "asid", asid, NUMBER, GIVEN(tlb, has_asid)),
    FIELD(tlb, "nonglobal", non_global, FLAG, 0),
    FIELD(tlb, "attrs", attrs, TEXT, 0),
    FIELD(tlb, "memtype", memtype, TEXT, 0),
    FIELD(tlb, "size_text", size_text, WRITING, 0),
    FIELD(tlb, "regime", regime, WRITING, 0),
};

static const struct trod_detail_field of_event[] = {
    FIELD(event, "mode", mode, TEXT, 0),
    FIELD(event, "value1", value1, HEX, GIVEN(event, has_value1)),
    FIELD(event, "rest", rest, TEXT, 0),
    FIELD(event, "event", what, NUMBER, 0),
};

static const struct trod_detail_field of_ppc_access[] = {
    FIELD(ppc_access, "recorded_address", address, BYTES, 0),
    FIELD(ppc_access, "third", third, BYTES, 0),
};

static const struct trod_detail_field of_ppc_instr[] = {
    FIELD(ppc_instr, "target_pa", target_paddr, BYTES, 0),
};

/* Address, type, size, processor and ticks of byu12 are columns; so is what enables do not say. */
#define LOW(type, name, field, byte, bits)                                                         \
    {                                                                                              \
        name, offsetof(struct trod_detail_##type, field) + (byte), bits, TROD_FIELD_LOW, 0         \
    }

static const struct trod_detail_field of_byu6[] = {
    FIELD(byu6, "enables", enables, HEX, 0),
    LOW(byu6, "control_low", control, 0, 4),
    LOW(byu6, "address_low", address, 3, 3),
};

static const struct trod_detail_field of_byu12[] = {
    FIELD(byu12, "attributes", attributes, HEX, 0),
};

#define STRUCT(number, kind, type)                                                                 \
    {                                                                                              \
        of_##type, sizeof of_##type / sizeof *of_##type, sizeof(struct trod_detail_##type),        \
            TROD_##kind, number                                                                    \
    }
/* Of the two words behind an opcode only the first. */
#define FIRST(number, kind)                                                                        \
    {                                                                                              \
        of_ppc_access, 1, offsetof(struct trod_detail_ppc_access, third), TROD_##kind, number      \
    }

/* Numbers are those of the lines. */
static const struct trod_detail_struct structs[] = {
    STRUCT(0, INSTR, instr),
    STRUCT(1, BRANCH, branch),
    STRUCT(2, REG, reg),
    STRUCT(3, READ, mem),
    STRUCT(4, WRITE, mem),
    STRUCT(5, ATOMIC, atomic),
    STRUCT(6, BUS, bus),
    STRUCT(7, CACHE_OP, cache_op),
    STRUCT(8, CACHE_LINE, cache_line),
    STRUCT(9, WALK, walk),
    STRUCT(10, TLB, tlb),
    STRUCT(11, EXCEPTION, event),
    STRUCT(12, MODE, event),
    STRUCT(13, MARKER, event),
    STRUCT(14, INSTR, ppc_instr),
    STRUCT(15, READ, ppc_access),
    STRUCT(16, WRITE, ppc_access),
    STRUCT(17, PREFETCH, ppc_access),
    STRUCT(18, FLUSH, ppc_access),
    STRUCT(19, CACHE_OP, ppc_access),
    FIRST(20, READ),
    FIRST(21, WRITE),
    FIRST(22, PREFETCH),
    FIRST(23, FLUSH),
    FIRST(24, CACHE_OP),
    STRUCT(25, READ, byu6),
    STRUCT(26, WRITE, byu6),
    STRUCT(27, BUS, byu6),
    STRUCT(28, MARKER, byu6),
    STRUCT(29, READ, byu12),
    STRUCT(30, WRITE, byu12),
    STRUCT(31, BUS, byu12),
    STRUCT(32, MARKER, byu12),
    STRUCT(33, NOTE, byu12),
};

enum { N_STRUCTS = sizeof structs / sizeof *structs };

_Static_assert((int)N_STRUCTS <= (int)TROD_DETAIL_STRUCTS, "more structs than there is room for");

const struct trod_detail_struct *trod_detail_at(size_t i)
{
    return i < N_STRUCTS ? &structs[i] : NULL;
}

const struct trod_detail_struct *trod_detail_struct_of(unsigned kind, size_t len)
{
    for (size_t i = 0; i < N_STRUCTS; i++)
        if (structs[i].kind == kind && structs[i].len == len)
            return &structs[i];
    return NULL;
}

size_t trod_detail_slice(unsigned kind, size_t len, unsigned i)
{
    const struct trod_detail_struct *s = trod_detail_struct_of(kind, len);

    for (unsigned k = 0; s && k < s->n; k++)
        if (trod_field_is_slice(s->field[k].type) && i-- == 0)
            return s->field[k].at;
    return 0;
}
