/*
 * flags.c - flags of status registers in words, as the architectures name them.
 *
 * Implements trod_nav_flags (Arm ARM, "CPSR", "SPSR_ELx", "FPSCR", "FPCR", "FPSR"; Armv7-M ARM,
 * "xPSR"; PowerPC PEM, "CR", "XER", "FPSCR", "MSR", "VSCR"; Intel SDM, "EFLAGS", "MXCSR"; RISC-V,
 * "fcsr").
 */
#include "navigate/regs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct flag {
    uint8_t bit;
    const char *name;
};

static const struct flag arm_flags[] = {{31, "N"}, {30, "Z"}, {29, "C"}, {28, "V"}, {27, "Q"}};
static const struct flag arm_masks[] = {{9, "E"}, {8, "A"}, {7, "I"}, {6, "F"}, {5, "T"}};
static const struct flag a64_masks[] = {{9, "D"}, {8, "A"}, {7, "I"}, {6, "F"}};
static const struct flag x86_flags[] = {{0, "CF"}, {2, "PF"}, {4, "AF"},  {6, "ZF"}, {7, "SF"},
                                        {8, "TF"}, {9, "IF"}, {10, "DF"}, {11, "OF"}};
static const struct flag xer_flags[] = {{31, "SO"}, {30, "OV"}, {29, "CA"}};
static const struct flag msr_flags[] = {{15, "EE"}, {14, "PR"}, {13, "FP"}, {12, "ME"},
                                        {10, "SE"}, {9, "BE"},  {5, "IR"},  {4, "DR"},
                                        {1, "RI"},  {0, "LE"},  {25, "VEC"}};
static const struct flag vscr_flags[] = {{16, "NJ"}, {0, "SAT"}};
static const struct flag mxcsr_flags[] = {{15, "FTZ"}, {6, "DAZ"}, {0, "IE"},  {1, "DE"}, {2, "ZE"},
                                          {3, "OE"},   {4, "UE"},  {5, "PE"},  {7, "IM"}, {8, "DM"},
                                          {9, "ZM"},   {10, "OM"}, {11, "UM"}, {12, "PM"}};
static const struct flag fcsr_flags[] = {{4, "NV"}, {3, "DZ"}, {2, "OF"}, {1, "UF"}, {0, "NX"}};

/* Arm: FPSCR is N to V and both of the others. */
static const struct flag fp_control[] = {{26, "AHP"}, {25, "DN"},  {24, "FZ"},  {19, "FZ16"},
                                         {15, "IDE"}, {12, "IXE"}, {11, "UFE"}, {10, "OFE"},
                                         {9, "DZE"},  {8, "IOE"}};
static const struct flag fp_a64[] = {{2, "NEP"}, {1, "AH"}, {0, "FIZ"}};
static const struct flag fp_status[] = {{27, "QC"}, {7, "IDC"}, {4, "IXC"}, {3, "UFC"},
                                        {2, "OFC"}, {1, "DZC"}, {0, "IOC"}};
static const struct flag ppc_fp[] = {
    {31, "FX"},   {30, "FEX"},    {29, "VX"},    {28, "OX"},     {27, "UX"},    {26, "ZX"},
    {25, "XX"},   {24, "VXSNAN"}, {23, "VXISI"}, {22, "VXIDI"},  {21, "VXZDZ"}, {20, "VXIMZ"},
    {19, "VXVC"}, {18, "FR"},     {17, "FI"},    {10, "VXSOFT"}, {9, "VXSQRT"}, {8, "VXCVI"},
    {7, "VE"},    {6, "OE"},      {5, "UE"},     {4, "ZE"},      {3, "XE"},     {2, "NI"}};
static const char *const arm_round[] = {"RN", "RP", "RM", "RZ"};
static const char *const ppc_round[] = {"RN", "RZ", "RP", "RM"};
static const char *const x86_round[] = {"RN", "RM", "RP", "RZ"};
static const char *const riscv_round[] = {"RNE", "RTZ", "RDN", "RUP", "RMM", "-", "-", "DYN"};

struct out {
    char *p, *end;
    const char *begin;
};

static void put(struct out *o, const char *text)
{
    while (*text && o->p + 1 < o->end)
        *o->p++ = *text++;
    *o->p = '\0';
}

/* Letters of the flags that are set in upper case, of others in lower case. */
static void letters(struct out *o, uint64_t v, const struct flag *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c[2] = {f[i].name[0], '\0'};

        if (!(v >> f[i].bit & 1))
            c[0] = (char)tolower((unsigned char)c[0]);
        put(o, c);
    }
}

/* A word, with a blank before it if there are words already. */
static void word(struct out *o, const char *text)
{
    if (o->p != o->begin)
        put(o, " ");
    put(o, text);
}

/* Names of the flags that are set. */
static void words(struct out *o, uint64_t v, const struct flag *f, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v >> f[i].bit & 1)
            word(o, f[i].name);
}

#define WORDS(o, v, f) words(o, v, f, sizeof(f) / sizeof *(f))

static void arm(struct out *o, uint64_t v)
{
    static const char *const modes[16] = {"usr", "fiq", "irq", "svc", NULL, NULL, "mon", "abt",
                                          NULL,  NULL,  "hyp", "und", NULL, NULL, NULL,  "sys"};
    static const char *const levels[16] = {"EL0t", NULL,   NULL, NULL, "EL1t", "EL1h", NULL, NULL,
                                           "EL2t", "EL2h", NULL, NULL, "EL3t", "EL3h", NULL, NULL};
    const bool a32 = v >> 4 & 1;
    const char *mode = (a32 ? modes : levels)[v & 15];

    letters(o, v, arm_flags, a32 ? 5 : 4);
    put(o, " ");
    if (a32)
        letters(o, v, arm_masks, sizeof arm_masks / sizeof *arm_masks);
    else
        letters(o, v, a64_masks, sizeof a64_masks / sizeof *a64_masks);
    if (mode) {
        put(o, " ");
        put(o, mode);
    }
}

/* M-profile: bit 24, which is T, is set in all states but the one that faults. */
static void xpsr(struct out *o, uint64_t v)
{
    char text[32];

    letters(o, v, arm_flags, 5);
    if (v & 511) {
        snprintf(text, sizeof text, "exception %u", (unsigned)(v & 511));
        word(o, text);
    } else {
        word(o, "thread");
    }
}

static bool arm_status(struct out *o, enum trod_isa isa, const char *name, uint64_t v)
{
    const bool both = strcmp(name, "fpscr") == 0, status = strcmp(name, "fpsr") == 0;

    if (strncmp(name, "cpsr", 4) == 0 || strncmp(name, "spsr", 4) == 0) {
        if (isa == TROD_ISA_ARM && v >> 24 & 1)
            xpsr(o, v);
        else
            arm(o, v);
        return true;
    }
    if (!both && !status && strcmp(name, "fpcr") != 0)
        return false;
    if (both)
        letters(o, v, arm_flags, 4);
    if (both || status)
        WORDS(o, v, fp_status);
    if (status)
        return true;
    WORDS(o, v, fp_control);
    if (!both)
        WORDS(o, v, fp_a64);
    word(o, arm_round[v >> 22 & 3]);
    return true;
}

static void condition(struct out *o, uint64_t v)
{
    static const char *const names[] = {"SO", "EQ", "GT", "LT"};

    for (unsigned field = 0; field < 8; field++)
        for (unsigned k = 4; k-- > 0;) {
            char text[16];

            if (!(v >> (28 - 4 * field + k) & 1))
                continue;
            snprintf(text, sizeof text, "cr%u:%s", field, names[k]);
            word(o, text);
        }
}

static bool ppc_status(struct out *o, const char *name, uint64_t v)
{
    if (strcmp(name, "cr") == 0) {
        condition(o, v);
    } else if (strcmp(name, "xer") == 0) {
        WORDS(o, v, xer_flags);
    } else if (strcmp(name, "msr") == 0) {
        WORDS(o, v, msr_flags);
    } else if (strcmp(name, "vscr") == 0) {
        WORDS(o, v, vscr_flags);
    } else if (strcmp(name, "fpscr") == 0) {
        WORDS(o, v, ppc_fp);
        word(o, ppc_round[v & 3]);
    } else {
        return false;
    }
    return true;
}

static bool x86_status(struct out *o, const char *name, uint64_t v)
{
    if (strcmp(name, "rflags") == 0) {
        WORDS(o, v, x86_flags);
    } else if (strcmp(name, "mxcsr") == 0) {
        WORDS(o, v, mxcsr_flags);
        word(o, x86_round[v >> 13 & 3]);
    } else {
        return false;
    }
    return true;
}

static bool riscv_status(struct out *o, const char *name, uint64_t v)
{
    if (strcmp(name, "fcsr") != 0)
        return false;
    WORDS(o, v, fcsr_flags);
    word(o, riscv_round[v >> 5 & 7]);
    return true;
}

static bool status(struct out *o, enum trod_isa isa, const char *name, uint64_t v)
{
    switch (isa) {
    case TROD_ISA_ARM:
    case TROD_ISA_A64:
        return arm_status(o, isa, name, v);
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
        return ppc_status(o, name, v);
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        return x86_status(o, name, v);
    case TROD_ISA_RISCV32:
    case TROD_ISA_RISCV64:
        return riscv_status(o, name, v);
    default:
        return false;
    }
}

bool trod_nav_flags(const struct trod_meta *meta, const struct trod_nav_register *reg, char *out,
                    size_t n)
{
    struct out o = {out, out + n, out};
    uint64_t v = 0;

    if (n == 0 || reg->size < 4)
        return false;
    *out = '\0';
    for (unsigned i = 0; i < 8 && i < reg->size; i++) {
        if (i < 4 && reg->known[i] != 0xff)
            return false;
        v |= (uint64_t)reg->value[i] << (8 * i);
    }
    if (!status(&o, meta->isa, reg->name, v))
        return false;
    if (o.p == out)
        put(&o, "none");
    return true;
}

static const char *flag_of(const struct flag *f, size_t n, const char *name, const char *reg,
                           unsigned *bit)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(f[i].name, name) == 0) {
            *bit = f[i].bit;
            return reg;
        }
    return NULL;
}

const char *nav_flag(enum trod_isa isa, const char *name, unsigned *bit)
{
    switch (isa) {
    case TROD_ISA_ARM:
        return flag_of(arm_flags, 5, name, "cpsr", bit);
    case TROD_ISA_A64:
        return flag_of(arm_flags, 4, name, "cpsr", bit);
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
        return flag_of(xer_flags, sizeof xer_flags / sizeof *xer_flags, name, "xer", bit);
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        return flag_of(x86_flags, sizeof x86_flags / sizeof *x86_flags, name, "rflags", bit);
    default:
        return NULL;
    }
}
