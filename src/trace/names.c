/*
 * names.c - the names of kinds, columns, units, branches and ISAs.
 *
 * Implements the name functions of batch.h and meta.h.
 */
#include "trod/batch.h"
#include "trod/meta.h"

#include <string.h>
#include <strings.h>

static const char *const kinds[TROD_KINDS] = {
    [TROD_NOTE] = "NOTE",         [TROD_INSTR] = "INSTR",
    [TROD_READ] = "READ",         [TROD_WRITE] = "WRITE",
    [TROD_ATOMIC] = "ATOMIC",     [TROD_PREFETCH] = "PREFETCH",
    [TROD_FLUSH] = "FLUSH",       [TROD_REG] = "REG",
    [TROD_BRANCH] = "BRANCH",     [TROD_EXCEPTION] = "EXCEPTION",
    [TROD_MODE] = "MODE",         [TROD_SYNC] = "SYNC",
    [TROD_MARKER] = "MARKER",     [TROD_STATE] = "STATE",
    [TROD_CACHE_OP] = "CACHE_OP", [TROD_CACHE_LINE] = "CACHE_LINE",
    [TROD_WALK] = "WALK",         [TROD_TLB] = "TLB",
    [TROD_BUS] = "BUS",           [TROD_THREAD] = "THREAD",
};

static const char *const columns[TROD_COLUMNS] = {
    "kind",   "flags", "size", "stream", "time", "unit", "index", "addr",   "paddr", "pc",
    "target", "value", "sub",  "site",   "code", "data", "text",  "detail", "raw",   "core",
};

static const char *const units[TROD_UNITS] = {
    [TROD_UNIT_NONE] = "",   [TROD_UNIT_CLK] = "clk",       [TROD_UNIT_FS] = "fs",
    [TROD_UNIT_PS] = "ps",   [TROD_UNIT_NS] = "ns",         [TROD_UNIT_US] = "us",
    [TROD_UNIT_MS] = "ms",   [TROD_UNIT_S] = "s",           [TROD_UNIT_CS] = "cs",
    [TROD_UNIT_CYC] = "cyc", [TROD_UNIT_CYCLES] = "cycles", [TROD_UNIT_TIC] = "tic",
};

static const char *const branches[] = {
    [TROD_BR_NONE] = "none",
    [TROD_BR_DIRECT] = "direct",
    [TROD_BR_INDIRECT] = "indirect",
    [TROD_BR_COND] = "conditional",
    [TROD_BR_COND_TAKEN] = "taken",
    [TROD_BR_COND_UNTAKEN] = "untaken",
    [TROD_BR_CALL] = "call",
    [TROD_BR_ICALL] = "indirect-call",
    [TROD_BR_RETURN] = "return",
    [TROD_BR_SYSCALL] = "syscall",
    [TROD_BR_ERET] = "exception-return",
    [TROD_BR_OTHER] = "other",
};

static const char *const isas[TROD_ISAS] = {
    [TROD_ISA_UNKNOWN] = "unknown", [TROD_ISA_ARM] = "ARM",         [TROD_ISA_A64] = "A64",
    [TROD_ISA_PPC32] = "PPC32",     [TROD_ISA_PPC64] = "PPC64",     [TROD_ISA_X86_32] = "x86-32",
    [TROD_ISA_X86_64] = "x86-64",   [TROD_ISA_MIPS32] = "MIPS32",   [TROD_ISA_MIPS64] = "MIPS64",
    [TROD_ISA_RISCV64] = "RISCV64", [TROD_ISA_REGDEPS] = "REGDEPS", [TROD_ISA_RISCV32] = "RISCV32",
};

static const char *const isets[] = {"none", "A32", "T32", "T32EE", "A64", "Jazelle"};
static const char *const secs[] = {"none", "s", "ns", "root", "realm"};

#define NAME_OF(table, i) ((i) < sizeof(table) / sizeof *(table) ? (table)[i] : NULL)

const char *trod_kind_name(unsigned kind)
{
    return NAME_OF(kinds, kind);
}

const char *trod_column_name(unsigned bit)
{
    return NAME_OF(columns, bit);
}

const char *trod_unit_name(unsigned unit)
{
    return NAME_OF(units, unit);
}

const char *trod_branch_name(unsigned branch)
{
    return NAME_OF(branches, branch);
}

const char *trod_iset_name(unsigned iset)
{
    return NAME_OF(isets, iset);
}

const char *trod_sec_name(unsigned sec)
{
    return NAME_OF(secs, sec);
}

const char *trod_isa_name(unsigned isa)
{
    return NAME_OF(isas, isa);
}

unsigned trod_isa_alignment(unsigned isa)
{
    switch (isa) {
    case TROD_ISA_A64:
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
    case TROD_ISA_MIPS32:
    case TROD_ISA_MIPS64:
        return 4;
    case TROD_ISA_ARM:
    case TROD_ISA_RISCV32:
    case TROD_ISA_RISCV64:
        return 2;
    default:
        return 1;
    }
}

static int find(const char *const *table, unsigned n, const char *name, size_t len)
{
    for (unsigned i = 0; i < n; i++)
        if (strlen(table[i]) == len && strncasecmp(table[i], name, len) == 0)
            return (int)i;
    return -1;
}

int trod_kind_find(const char *name, size_t len)
{
    return find(kinds, TROD_KINDS, name, len);
}

int trod_unit_find(const char *name, size_t len)
{
    return find(units, TROD_UNITS, name, len);
}
