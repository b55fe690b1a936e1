/*
 * insn_kind.c - what family an instruction belongs to: vectors, cryptography, strings, atomic
 * accesses, the system; and the extension of the instruction set that it is part of.
 *
 * Implements those flags and the extension of trod/insn.h, from Capstone's groups and mnemonics.
 * Documents: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 5;
 * Arm Architecture Reference Manual; MIPS Architecture For Programmers, volume II. PowerPC:
 * insn_ppc.c.
 */
#include "isa/insn_int.h"

#include "isa/capstone.h"

#if TROD_HAVE_CAPSTONE

#include <string.h>

enum { FIRST_GROUP = 128 }; /* of those that an instruction set has for itself */

/* Most names differ in their first letter: nothing is called for these. */
static bool begins(const char *s, const char *const *with)
{
    for (; *with; with++)
        if (s[0] == (*with)[0] && strncmp(s, *with, strlen(*with)) == 0)
            return true;
    return false;
}

static bool in_group(const cs_insn *insn, uint8_t group)
{
    for (unsigned i = 0; i < insn->detail->groups_count; i++)
        if (insn->detail->groups[i] == group)
            return true;
    return false;
}

/* Groups that say where an instruction is allowed, or which generation has it, are no extensions.
 */
static const char *extension_of(csh handle, const cs_insn *insn)
{
    static const char *const none[] = {"mode",      "not",       "stdenc",      "novlx", "thumb",
                                       "v4t",       "v5t",       "v6",          "v7",    "v8",
                                       "prev8",     "arm",       "mclass",      "use",   "long",
                                       "smallcode", "micromips", "relocnotpic", NULL};

    for (unsigned i = 0; i < insn->detail->groups_count; i++) {
        const uint8_t group = insn->detail->groups[i];
        const char *name =
            group >= FIRST_GROUP ? trod_capstone_library.cs_group_name(handle, group) : NULL;

        if (name && !begins(name, none))
            return name;
    }
    return NULL;
}

static bool has_memory(const cs_insn *insn)
{
    const cs_x86 *x = &insn->detail->x86;

    for (unsigned i = 0; i < x->op_count; i++)
        if (x->operands[i].type == X86_OP_MEM)
            return true;
    return false;
}

/* One number in a vector register: addss, vfmadd231sd, ucomisd; not pabsd or packssdw. */
static bool is_scalar(const char *m)
{
    static const char *const packed[] = {"p", "vp", NULL};
    const size_t n = strlen(m);

    return n > 2 && (strcmp(m + n - 2, "ss") == 0 || strcmp(m + n - 2, "sd") == 0) &&
           !begins(m, packed);
}

static uint32_t x86(const cs_insn *insn, uint32_t flags)
{
    static const char *const crypto[] = {"aes",   "vaes",   "sha1",    "sha256", "pclmul",
                                         "gf2p8", "vgf2p8", "vpclmul", NULL};
    static const char *const strings[] = {
        "movsb", "movsw", "movsq", "stosb", "stosw", "stosd", "stosq", "lodsb", "lodsw",
        "lodsd", "lodsq", "cmpsb", "cmpsw", "cmpsq", "scasb", "scasw", "scasd", "scasq",
        "insb",  "insw",  "insd",  "outsb", "outsw", "outsd", NULL};
    static const char *const system[] = {
        "cpuid",    "rdtsc",   "rdtscp", "rdpmc", "rdmsr",  "wrmsr",    "xgetbv",   "xsetbv",
        "in",       "out",     "hlt",    "cli",   "sti",    "invd",     "wbinvd",   "invlpg",
        "invpcid",  "lgdt",    "sgdt",   "lidt",  "sidt",   "lldt",     "sldt",     "ltr",
        "str",      "lmsw",    "smsw",   "clts",  "swapgs", "rdfsbase", "wrfsbase", "rdgsbase",
        "wrgsbase", "monitor", "mwait",  "xsave", "xrstor", "xsavec",   "xsaveopt", "fxsave",
        "fxrstor",  "rdrand",  "rdseed", NULL};
    const char *m = strrchr(insn->mnemonic, ' '); /* prefixes stand before it */
    const cs_x86 *x = &insn->detail->x86;
    uint32_t f = 0;

    m = m ? m + 1 : insn->mnemonic;
    if (begins(m, crypto))
        f |= TROD_INSN_CRYPTO;
    /* movsd and cmpsd are also the names of vector instructions */
    if (trod_insn_named(m, strings) ||
        ((strcmp(m, "movsd") == 0 || strcmp(m, "cmpsd") == 0) && !(flags & TROD_INSN_FP)))
        f |= TROD_INSN_STRING;
    if (x->prefix[0] == X86_PREFIX_LOCK || (strcmp(m, "xchg") == 0 && has_memory(insn)))
        f |= TROD_INSN_ATOMIC;
    if (trod_insn_named(m, system) || in_group(insn, X86_GRP_PRIVILEGE) ||
        in_group(insn, X86_GRP_VM))
        f |= TROD_INSN_SYSTEM;
    if (flags & TROD_INSN_FP && !in_group(insn, X86_GRP_FPU) && !is_scalar(m))
        f |= TROD_INSN_SIMD;
    return f;
}

static const char *const arm_crypto[] = {"aes", "sha1", "sha256", "sha512", "pmull", "sm3",
                                         "sm4", "eor3", "rax1",   "bcax",   "xar",   NULL};

static uint32_t a64(const cs_insn *insn)
{
    static const char *const atomic[] = {"ldxr",   "ldxp",   "ldaxr",  "ldaxp",  "stxr",   "stxp",
                                         "stlxr",  "stlxp",  "clrex",  "cas",    "swp",    "ldadd",
                                         "ldclr",  "ldeor",  "ldset",  "ldsmax", "ldsmin", "ldumax",
                                         "ldumin", "stadd",  "stclr",  "steor",  "stset",  "stsmax",
                                         "stsmin", "stumax", "stumin", NULL};
    static const char *const system[] = {"mrs", "msr",  "sys", "at",   "tlbi", "ic",
                                         "isb", "dsb",  "dmb", "hint", "wfi",  "wfe",
                                         "sev", "sevl", "dc",  "hlt",  NULL};
    const cs_arm64 *x = &insn->detail->arm64;
    uint32_t f = 0;

    if (begins(insn->mnemonic, arm_crypto) || in_group(insn, ARM64_GRP_CRYPTO))
        f |= TROD_INSN_CRYPTO;
    if (begins(insn->mnemonic, atomic))
        f |= TROD_INSN_ATOMIC;
    if (trod_insn_named(insn->mnemonic, system))
        f |= TROD_INSN_SYSTEM;
    for (unsigned i = 0; i < x->op_count; i++)
        if (x->operands[i].vas != ARM64_VAS_INVALID)
            f |= TROD_INSN_SIMD;
    return f;
}

static uint32_t a32(const cs_insn *insn)
{
    static const char *const atomic[] = {"ldrex", "ldaex", "strex", "stlex", "clrex", "swp", NULL};
    static const char *const system[] = {"mrs", "msr", "mcr",    "mrc", "mcrr", "mrrc",
                                         "cps", "srs", "isb",    "dsb", "dmb",  "wfi",
                                         "wfe", "sev", "setend", NULL};
    uint32_t f = 0;

    if (begins(insn->mnemonic, arm_crypto) || in_group(insn, ARM_GRP_CRYPTO))
        f |= TROD_INSN_CRYPTO;
    if (begins(insn->mnemonic, atomic))
        f |= TROD_INSN_ATOMIC;
    if (begins(insn->mnemonic, system))
        f |= TROD_INSN_SYSTEM;
    if (in_group(insn, ARM_GRP_NEON))
        f |= TROD_INSN_SIMD;
    return f;
}

static uint32_t mips(const cs_insn *insn)
{
    static const char *const atomic[] = {"ll", "lld", "sc", "scd", NULL};
    static const char *const system[] = {"mfc0", "mtc0",  "dmfc0", "dmtc0", "tlbp",
                                         "tlbr", "tlbwi", "tlbwr", "di",    "ei",
                                         "wait", "rdhwr", "sync",  "synci", NULL};
    uint32_t f = 0;

    if (trod_insn_named(insn->mnemonic, atomic))
        f |= TROD_INSN_ATOMIC;
    if (trod_insn_named(insn->mnemonic, system))
        f |= TROD_INSN_SYSTEM;
    if (in_group(insn, MIPS_GRP_MSA) || in_group(insn, MIPS_GRP_DSP) ||
        in_group(insn, MIPS_GRP_DSPR2))
        f |= TROD_INSN_SIMD;
    return f;
}

void trod_insn_kind(size_t handle, const cs_insn *insn, enum trod_isa isa, unsigned iset,
                    struct trod_insn *out)
{
    if (isa == TROD_ISA_X86_32 || isa == TROD_ISA_X86_64)
        out->flags |= x86(insn, out->flags);
    else if (iset == TROD_ISET_A64)
        out->flags |= a64(insn);
    else if (iset != TROD_ISET_NONE)
        out->flags |= a32(insn);
    else if (isa == TROD_ISA_MIPS32 || isa == TROD_ISA_MIPS64)
        out->flags |= mips(insn);
    if (out->flags & (TROD_INSN_SIMD | TROD_INSN_CRYPTO)) /* ciphers work on vectors */
        out->flags |= TROD_INSN_FP | TROD_INSN_SIMD;
    out->extension = extension_of(handle, insn);
}

#endif
