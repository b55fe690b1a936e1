/*
 * flags.c - flags of status registers in words, as the architectures name them.
 *
 * Implements trod_nav_flags (Arm ARM, "CPSR" and "SPSR_ELx"; PowerPC PEM, "CR", "XER", "MSR"; Intel
 * SDM, "EFLAGS").
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

struct out {
    char *p, *end;
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

/* Names of the flags that are set. */
static void words(struct out *o, uint64_t v, const struct flag *f, size_t n)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        if (!(v >> f[i].bit & 1))
            continue;
        if (any)
            put(o, " ");
        put(o, f[i].name);
        any = true;
    }
    if (!any)
        put(o, "none");
}

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

static void condition(struct out *o, uint64_t v)
{
    static const char *const names[] = {"SO", "EQ", "GT", "LT"};
    bool any = false;

    for (unsigned field = 0; field < 8; field++)
        for (unsigned k = 4; k-- > 0;) {
            char text[16];

            if (!(v >> (28 - 4 * field + k) & 1))
                continue;
            snprintf(text, sizeof text, "%scr%u:%s", any ? " " : "", field, names[k]);
            put(o, text);
            any = true;
        }
    if (!any)
        put(o, "none");
}

bool trod_nav_flags(const struct trod_meta *meta, const struct trod_nav_register *reg, char *out,
                    size_t n)
{
    struct out o = {out, out + n};
    uint64_t v = 0;

    if (n == 0 || reg->size < 4)
        return false;
    *out = '\0';
    for (unsigned i = 0; i < 8 && i < reg->size; i++) {
        if (i < 4 && reg->known[i] != 0xff)
            return false;
        v |= (uint64_t)reg->value[i] << (8 * i);
    }
    switch (meta->isa) {
    case TROD_ISA_ARM:
    case TROD_ISA_A64:
        if (strncmp(reg->name, "cpsr", 4) != 0 && strncmp(reg->name, "spsr", 4) != 0)
            return false;
        arm(&o, v);
        return true;
    case TROD_ISA_PPC32:
    case TROD_ISA_PPC64:
        if (strcmp(reg->name, "cr") == 0)
            condition(&o, v);
        else if (strcmp(reg->name, "xer") == 0)
            words(&o, v, xer_flags, sizeof xer_flags / sizeof *xer_flags);
        else
            return false;
        return true;
    case TROD_ISA_X86_32:
    case TROD_ISA_X86_64:
        if (strcmp(reg->name, "rflags") != 0)
            return false;
        words(&o, v, x86_flags, sizeof x86_flags / sizeof *x86_flags);
        return true;
    default:
        return false;
    }
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
