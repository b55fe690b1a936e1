/*
 * names.c - one name for each register, whatever a trace calls it.
 *
 * Implements trod_register_canonical of compare.h. The aliases are those of the procedure call
 * standards (AAPCS, AAPCS64, MIPS o32 and n64, PowerPC SysV, x86-64, RISC-V) and of the tracers
 * named in the Tarmac page: a name that is in no table is its own lower case.
 */
#include "trod/compare.h"

#include <ctype.h>
#include <string.h>

struct alias {
    const char *name, *canonical;
    unsigned bits; /* the width the alias implies, 0: none */
};

static const struct alias arm[] = {
    {"sp", "r13", 0}, {"lr", "r14", 0},   {"pc", "r15", 0},    {"ip", "r12", 0}, {"fp", "r11", 0},
    {"sl", "r10", 0}, {"sb", "r9", 0},    {"a1", "r0", 0},     {"a2", "r1", 0},  {"a3", "r2", 0},
    {"a4", "r3", 0},  {"v1", "r4", 0},    {"v2", "r5", 0},     {"v3", "r6", 0},  {"v4", "r7", 0},
    {"v5", "r8", 0},  {"psr", "cpsr", 0}, {"xpsr", "cpsr", 0}, {NULL, NULL, 0},
};

static const struct alias a64[] = {
    {"fp", "x29", 0},   {"lr", "x30", 0},      {"x31", "sp", 0},    {"xsp", "sp", 0},
    {"wsp", "sp", 32},  {"ip0", "x16", 0},     {"ip1", "x17", 0},   {"xr", "x8", 0},
    {"psr", "cpsr", 0}, {"pstate", "cpsr", 0}, {"nzcv", "cpsr", 0}, {NULL, NULL, 0},
};

static const struct alias mips[] = {
    {"zero", "r0", 0}, {"at", "r1", 0},  {"v0", "r2", 0},  {"v1", "r3", 0},  {"a0", "r4", 0},
    {"a1", "r5", 0},   {"a2", "r6", 0},  {"a3", "r7", 0},  {"t0", "r8", 0},  {"t1", "r9", 0},
    {"t2", "r10", 0},  {"t3", "r11", 0}, {"t4", "r12", 0}, {"t5", "r13", 0}, {"t6", "r14", 0},
    {"t7", "r15", 0},  {"s0", "r16", 0}, {"s1", "r17", 0}, {"s2", "r18", 0}, {"s3", "r19", 0},
    {"s4", "r20", 0},  {"s5", "r21", 0}, {"s6", "r22", 0}, {"s7", "r23", 0}, {"t8", "r24", 0},
    {"t9", "r25", 0},  {"k0", "r26", 0}, {"k1", "r27", 0}, {"gp", "r28", 0}, {"sp", "r29", 0},
    {"s8", "r30", 0},  {"fp", "r30", 0}, {"ra", "r31", 0}, {NULL, NULL, 0},
};

static const struct alias ppc[] = {
    {"sp", "r1", 0},
    {"toc", "r2", 0},
    {"fpr0", "f0", 0},
    {NULL, NULL, 0},
};

static const struct alias x86[] = {
    {"eax", "rax", 32}, {"ax", "rax", 16},  {"al", "rax", 8},         {"ebx", "rbx", 32},
    {"bx", "rbx", 16},  {"bl", "rbx", 8},   {"ecx", "rcx", 32},       {"cx", "rcx", 16},
    {"cl", "rcx", 8},   {"edx", "rdx", 32}, {"dx", "rdx", 16},        {"dl", "rdx", 8},
    {"esi", "rsi", 32}, {"si", "rsi", 16},  {"sil", "rsi", 8},        {"edi", "rdi", 32},
    {"di", "rdi", 16},  {"dil", "rdi", 8},  {"ebp", "rbp", 32},       {"bp", "rbp", 16},
    {"bpl", "rbp", 8},  {"esp", "rsp", 32}, {"sp", "rsp", 16},        {"spl", "rsp", 8},
    {"eip", "rip", 32}, {"ip", "rip", 16},  {"eflags", "rflags", 32}, {"flags", "rflags", 16},
    {NULL, NULL, 0},
};

static const struct alias riscv[] = {
    {"zero", "x0", 0},  {"ra", "x1", 0},   {"sp", "x2", 0},   {"gp", "x3", 0},
    {"tp", "x4", 0},    {"t0", "x5", 0},   {"t1", "x6", 0},   {"t2", "x7", 0},
    {"s0", "x8", 0},    {"s1", "x9", 0},   {"a0", "x10", 0},  {"a1", "x11", 0},
    {"a2", "x12", 0},   {"a3", "x13", 0},  {"a4", "x14", 0},  {"a5", "x15", 0},
    {"a6", "x16", 0},   {"a7", "x17", 0},  {"s2", "x18", 0},  {"s3", "x19", 0},
    {"s4", "x20", 0},   {"s5", "x21", 0},  {"s6", "x22", 0},  {"s7", "x23", 0},
    {"s8", "x24", 0},   {"s9", "x25", 0},  {"s10", "x26", 0}, {"s11", "x27", 0},
    {"t3", "x28", 0},   {"t4", "x29", 0},  {"t5", "x30", 0},  {"t6", "x31", 0},
    {"fp", "x8", 0},    {"ft0", "f0", 0},  {"ft1", "f1", 0},  {"ft2", "f2", 0},
    {"ft3", "f3", 0},   {"ft4", "f4", 0},  {"ft5", "f5", 0},  {"ft6", "f6", 0},
    {"ft7", "f7", 0},   {"fs0", "f8", 0},  {"fs1", "f9", 0},  {"fa0", "f10", 0},
    {"fa1", "f11", 0},  {"fa2", "f12", 0}, {"fa3", "f13", 0}, {"fa4", "f14", 0},
    {"fa5", "f15", 0},  {"fa6", "f16", 0}, {"fa7", "f17", 0}, {"fs2", "f18", 0},
    {"fs3", "f19", 0},  {"fs4", "f20", 0}, {"fs5", "f21", 0}, {"fs6", "f22", 0},
    {"fs7", "f23", 0},  {"fs8", "f24", 0}, {"fs9", "f25", 0}, {"fs10", "f26", 0},
    {"fs11", "f27", 0}, {"ft8", "f28", 0}, {"ft9", "f29", 0}, {"ft10", "f30", 0},
    {"ft11", "f31", 0}, {NULL, NULL, 0},
};

static const struct alias *const tables[TROD_ISAS] = {
    [TROD_ISA_ARM] = arm,       [TROD_ISA_A64] = a64,     [TROD_ISA_PPC32] = ppc,
    [TROD_ISA_PPC64] = ppc,     [TROD_ISA_X86_32] = x86,  [TROD_ISA_X86_64] = x86,
    [TROD_ISA_MIPS32] = mips,   [TROD_ISA_MIPS64] = mips, [TROD_ISA_RISCV64] = riscv,
    [TROD_ISA_RISCV32] = riscv,
};

enum { NAME_MAX_LEN = 31 };

/* "w7", "e7" are the low halves of x7; q, d, s, h, b those of v. N: number behind the letter. */
static void fold_a64(char *name, size_t len, unsigned *bits)
{
    static const struct {
        char letter, canonical;
        unsigned bits;
    } folds[] = {
        {'w', 'x', 32}, {'e', 'x', 0},  {'r', 'x', 0}, {'q', 'v', 128}, {'d', 'v', 64},
        {'s', 'v', 32}, {'h', 'v', 16}, {'b', 'v', 8}, {'z', 'v', 0},
    };

    if (len < 2 || len > 3)
        return;
    for (size_t i = 1; i < len; i++)
        if (!isdigit((unsigned char)name[i]))
            return;
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        if (name[0] == folds[i].letter) {
            name[0] = folds[i].canonical;
            *bits = folds[i].bits;
            return;
        }
}

/* "r8d", "r8w", "r8b" of x86-64; "xmm3", "ymm3" are the low parts of zmm3. */
static size_t fold_x86(char *name, size_t len, unsigned *bits)
{
    if (len > 3 && len < 6 && memcmp(name + 1, "mm", 2) == 0 && strchr("xyz", name[0])) {
        *bits = name[0] == 'x' ? 128 : name[0] == 'y' ? 256 : 0;
        name[0] = 'z';
        return len;
    }
    if (len < 3 || len > 4 || name[0] != 'r' || !isdigit((unsigned char)name[1]) ||
        isdigit((unsigned char)name[len - 1]) || (len == 4 && !isdigit((unsigned char)name[2])))
        return len;
    switch (name[len - 1]) {
    case 'd':
        *bits = 32;
        break;
    case 'w':
        *bits = 16;
        break;
    case 'b':
    case 'l':
        *bits = 8;
        break;
    default:
        return len;
    }
    name[len - 1] = '\0';
    return len - 1;
}

/* "gpr3", "fpr3", "vr3" of PowerPC tracers; "$8" of MIPS ones. */
static size_t strip_prefix(enum trod_isa isa, char *name, size_t len)
{
    static const char *const from[] = {"gpr", "fpr", "vr"}, *const to[] = {"r", "f", "v"};

    if ((isa == TROD_ISA_MIPS32 || isa == TROD_ISA_MIPS64) && len > 1 && name[0] == '$') {
        if (isdigit((unsigned char)name[1])) {
            name[0] = 'r';
            return len;
        }
        memmove(name, name + 1, len);
        return len - 1;
    }
    if (isa != TROD_ISA_PPC32 && isa != TROD_ISA_PPC64)
        return len;
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        size_t n = strlen(from[i]);

        if (len > n && memcmp(name, from[i], n) == 0 && isdigit((unsigned char)name[n])) {
            name[0] = to[i][0];
            memmove(name + 1, name + n, len - n + 1);
            return len - n + 1;
        }
    }
    return len;
}

size_t trod_register_canonical(enum trod_isa isa, const char *name, size_t len, char *out,
                               unsigned *bits)
{
    const struct alias *table = (unsigned)isa < TROD_ISAS ? tables[isa] : NULL;
    size_t base;

    *bits = 0;
    if (len > NAME_MAX_LEN)
        len = NAME_MAX_LEN;
    for (size_t i = 0; i < len; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    out[len] = '\0';
    len = strip_prefix(isa, out, len);
    if (isa == TROD_ISA_A64)
        fold_a64(out, len, bits);
    if (isa == TROD_ISA_X86_32 || isa == TROD_ISA_X86_64)
        len = fold_x86(out, len, bits);
    /* A bank suffix ("sp_svc", "r13_mon") stays behind whatever its base becomes. */
    base = strcspn(out, "_");
    for (; table && table->name; table++) {
        size_t n = strlen(table->canonical);

        if (strlen(table->name) != base || memcmp(table->name, out, base) != 0 ||
            n + len - base > NAME_MAX_LEN)
            continue;
        memmove(out + n, out + base, len - base + 1);
        memcpy(out, table->canonical, n);
        *bits = table->bits;
        return n + len - base;
    }
    return len;
}
