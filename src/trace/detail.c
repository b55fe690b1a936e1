/*
 * detail.c - where the slices are inside the structs of the detail column.
 *
 * Implements the function of detail.h.
 */
#include "trod/detail.h"

#include "trod/batch.h"

static const struct {
    uint8_t kind;
    uint16_t len;
    uint16_t at[TROD_DETAIL_SLICES + 1];
} structs[] = {
#define AT(type, field) offsetof(struct trod_detail_##type, field)
#define LEN(type)       sizeof(struct trod_detail_##type)
    {TROD_INSTR, LEN(instr), {AT(instr, mode), AT(instr, id)}},
    {TROD_REG, LEN(reg), {AT(reg, note), AT(reg, comment), AT(reg, mask), AT(reg, unwritten)}},
    {TROD_READ, LEN(mem), {AT(mem, type), AT(mem, note), AT(mem, mask), AT(mem, unwritten)}},
    {TROD_WRITE, LEN(mem), {AT(mem, type), AT(mem, note), AT(mem, mask), AT(mem, unwritten)}},
    {TROD_ATOMIC, LEN(atomic), {AT(atomic, more), AT(atomic, mask)}},
    {TROD_BUS, LEN(bus), {AT(bus, master), AT(bus, type), AT(bus, note), AT(bus, mask)}},
    {TROD_CACHE_OP, LEN(cache_op), {AT(cache_op, pagesize), AT(cache_op, memtype)}},
    {TROD_CACHE_LINE, LEN(cache_line), {AT(cache_line, op)}},
    {TROD_WALK, LEN(walk), {AT(walk, side), AT(walk, format), AT(walk, attrs)}},
    {TROD_TLB,
     LEN(tlb),
     {AT(tlb, size_text), AT(tlb, regime), AT(tlb, el), AT(tlb, memtype), AT(tlb, attrs)}},
    {TROD_EXCEPTION, LEN(event), {AT(event, mode), AT(event, rest)}},
    {TROD_MODE, LEN(event), {AT(event, mode), AT(event, rest)}},
    {TROD_MARKER, LEN(event), {AT(event, mode), AT(event, rest)}},
#undef AT
#undef LEN
};

size_t trod_detail_slice(unsigned kind, size_t len, unsigned i)
{
    for (size_t k = 0; i < TROD_DETAIL_SLICES && k < sizeof structs / sizeof *structs; k++)
        if (structs[k].kind == kind && structs[k].len == len)
            return structs[k].at[i];
    return 0;
}
