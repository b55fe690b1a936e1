/*
 * a64.c - accesses of A64 instructions that QEMU tells nothing of, and the processor that tells
 * most.
 *
 * Implements docs/recording.md, "aarch64": Arm Architecture Reference Manual, "DC ZVA",
 * "DCZID_EL0", "SVE encodings". QEMU tells of SVE the accesses of ldr, str and ld1r only, which it
 * translates; for all others it calls functions. So programs get a processor without SVE, unless
 * the user wants one.
 */
#include "record/record.h"

#include "core/endian.h"

#include <stdlib.h>
#include <string.h>

static const char variable[] = "QEMU_CPU";

const char *rec_target_cpu(const struct rec_target *t)
{
    return t->isa != TROD_ISA_A64 || getenv(variable) ? NULL : "max,sve=off,sme=off";
}

/* DCZID_EL0.BS of QEMU's processors for programs. */
uint32_t rec_a64_block(const struct rec_target *t)
{
    const char *cpu = getenv(variable);
    const size_t n = strcspn(cpu ? cpu : "max", ",");

    if (t->system || t->isa != TROD_ISA_A64)
        return 0;
    if (!cpu || (n == 3 && (memcmp(cpu, "max", n) == 0 || memcmp(cpu, "any", n) == 0)))
        return 512;
    return n == 5 && memcmp(cpu, "a64fx", n) == 0 ? 256 : 64;
}

/* DC ZVA, DC GZVA: they clear a block. */
static bool is_zero(uint32_t op)
{
    const uint32_t what = op & ~UINT32_C(31);

    return what == 0xd50b7420 || what == 0xd50b7480;
}

bool rec_a64_access(const uint8_t code[4], uint64_t value, uint32_t block, struct rec_access *out)
{
    const uint64_t address = (uint64_t)((int64_t)(value << 8) >> 8); /* without a tag */

    if (block == 0 || !is_zero(trod_load_le32(code)))
        return false;
    *out = (struct rec_access){
        .kind = TROD_WRITE, .size = block, .addr = address & ~(uint64_t)(block - 1)};
    return true;
}

enum rec_untold rec_a64_untold(const uint8_t code[4])
{
    const uint32_t op = trod_load_le32(code);

    if (is_zero(op))
        return REC_UNTOLD_ZERO;
    if ((op & 0x9e000000) != 0x84000000)
        return REC_TOLD;
    /* ldr, str of a predicate or a vector; ld1r of one element */
    if ((op & 0xffc0a000) == 0x85800000 || (op & 0xffc0a000) == 0xe5800000 ||
        (op & 0xfe408000) == 0x84408000)
        return REC_TOLD;
    return REC_UNTOLD_SVE;
}
