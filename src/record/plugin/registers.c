/*
 * registers.c - registers of the program, as far as QEMU lets them be seen.
 *
 * Implements registers.h. From version 4 of the interface for plugins on QEMU lists registers by
 * name and reads them (QEMU 9.1). 7.2 has no such functions, but the program exports those that
 * serve its debugger interface, current_cpu and what it uses of GLib. Where one of them is missing
 * there are no registers.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "record/plugin/registers.h"

#include "record/protocol.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* GByteArray and GArray, as GLib documents them. */
struct bytes {
    uint8_t *data;
    unsigned len;
};

typedef int (*read_fn)(void *cpu, struct bytes *to, int number);
typedef struct bytes *(*new_fn)(void);
typedef struct bytes *(*size_fn)(struct bytes *, unsigned);
typedef struct bytes *(*list_fn)(void);
typedef int (*handle_fn)(void *handle, struct bytes *to);

/* POSIX lets functions be found as objects. */
static union {
    void *symbol;
    read_fn call;
} reader;
static union {
    void *symbol;
    new_fn call;
} new_bytes;
static union {
    void *symbol;
    size_fn call;
} set_size;
static union {
    void *symbol;
    list_fn call;
} list_registers;
static union {
    void *symbol;
    handle_fn call;
} read_handle;

static bool there, big, by_handle, exact;
static unsigned set; /* enum rec_isa */
static void *handles[REC_REGS];

static _Thread_local struct bytes *buffer;

/* 7.2: registers are exact where a block of code begins: each instruction becomes one. */
static bool alone(void)
{
    int *singlestep = dlsym(RTLD_DEFAULT, "singlestep");

    if (!singlestep)
        return false;
    *singlestep = 1;
    return true;
}

void registers_begin(unsigned isa, bool each)
{
    static const char *const names[] = {
        [REC_A64] = "aarch64_cpu_gdb_read_register", [REC_ARM] = "arm_cpu_gdb_read_register",
        [REC_PPC] = "ppc_cpu_gdb_read_register",     [REC_MIPS] = "mips_cpu_gdb_read_register",
        [REC_MIPSEL] = "mips_cpu_gdb_read_register", [REC_X86] = "x86_cpu_gdb_read_register",
        [REC_X86_64] = "x86_cpu_gdb_read_register",  [REC_OTHER] = NULL,
    };

    set = isa;
    big = isa == REC_PPC || isa == REC_MIPS;
    if (!names[isa])
        return;
    new_bytes.symbol = dlsym(RTLD_DEFAULT, "g_byte_array_new");
    set_size.symbol = dlsym(RTLD_DEFAULT, "g_byte_array_set_size");
    list_registers.symbol = dlsym(RTLD_DEFAULT, "qemu_plugin_get_registers");
    read_handle.symbol = dlsym(RTLD_DEFAULT, "qemu_plugin_read_register");
    if (!new_bytes.symbol || !set_size.symbol)
        return;
    if (list_registers.symbol && read_handle.symbol) {
        there = by_handle = exact = true;
        return;
    }
    reader.symbol = dlsym(RTLD_DEFAULT, names[isa]);
    there = reader.symbol && dlsym(RTLD_DEFAULT, "current_cpu");
    if (there && (each || isa == REC_PPC))
        there = exact = alone();
}

/* NAME is PREFIX and a number below END: BASE and the number, else -1. */
static int numbered(const char *name, const char *prefix, int end, int base)
{
    const size_t n = strlen(prefix);
    char *rest;
    long k;

    if (strncmp(name, prefix, n) != 0 || name[n] < '0' || name[n] > '9')
        return -1;
    k = strtol(name + n, &rest, 10);
    return *rest == '\0' && k < end ? base + (int)k : -1;
}

/* The number of the register that QEMU calls NAME, or -1. */
static int number_of(const char *name)
{
    static const struct {
        unsigned isa;
        const char *name;
        int number;
    } single[] = {
        {REC_PPC, "msr", REC_PPC_MSR},
        {REC_PPC, "cr", REC_PPC_CR},
        {REC_PPC, "lr", REC_PPC_LR},
        {REC_PPC, "ctr", REC_PPC_CTR},
        {REC_PPC, "xer", REC_PPC_XER},
        {REC_PPC, "fpscr", REC_PPC_FPSCR},
        {REC_PPC, "vscr", REC_PPC_VSCR},
        {REC_PPC, "vrsave", REC_PPC_VRSAVE},
        {REC_A64, "sp", REC_A64_SP},
        {REC_A64, "cpsr", REC_A64_CPSR},
        {REC_ARM, "sp", REC_ARM_SP},
        {REC_ARM, "lr", 14},
        {REC_ARM, "cpsr", REC_ARM_CPSR},
        {REC_ARM, "fpscr", REC_ARM_FPSCR},
        {REC_A64, "fpsr", REC_A64_FPSR},
        {REC_A64, "fpcr", REC_A64_FPCR},
        {REC_X86, "edx", REC_X86_EDX},
        {REC_X86, "eax", 0},
        {REC_X86, "esp", REC_X86_SP},
        {REC_X86_64, "rax", 0},
        {REC_X86_64, "rcx", 2},
        {REC_X86_64, "rdx", 3},
        {REC_X86_64, "rsi", 4},
        {REC_X86_64, "rdi", 5},
        {REC_X86_64, "rsp", REC_X86_64_SP},
    };
    static const struct {
        unsigned isa;
        const char *prefix;
        int end, base;
    } many[] = {
        {REC_PPC, "r", 32, 0},
        {REC_PPC, "f", 32, REC_PPC_FPR},
        {REC_PPC, "vr", 32, REC_PPC_VR},
        {REC_A64, "x", 31, 0},
        {REC_X86_64, "r", 16, 0}, /* r8 to r15 */
        {REC_A64, "v", 32, REC_A64_V},
        {REC_ARM, "r", 13, 0},
        {REC_ARM, "d", 32, REC_ARM_D},
        {REC_A64, "z", 32, REC_A64_V}, /* with SVE: its lower 16 bytes are those of v */
    };
    int found = -1;

    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (single[i].isa == set && strcmp(single[i].name, name) == 0)
            return single[i].number;
    for (size_t i = 0; i < sizeof many / sizeof *many && found < 0; i++)
        if (many[i].isa == set)
            found = numbered(name, many[i].prefix, many[i].end, many[i].base);
    return found;
}

void registers_thread(void)
{
    static bool known;
    const struct bytes *list;
    struct described {
        void *handle;
        const char *name, *feature;
    };

    if (!by_handle || known)
        return;
    known = true;
    /* those of MIPS are not listed: handles are numbers, and one more */
    for (unsigned i = 0; (set == REC_MIPS || set == REC_MIPSEL) && i < registers_end(set); i++)
        handles[i] = (void *)(uintptr_t)(i + 1);
    list = list_registers.call();
    for (unsigned i = 0; list && i < list->len; i++) {
        struct described d;
        int number;

        memcpy(&d, list->data + i * sizeof d, sizeof d);
        number = d.name ? number_of(d.name) : -1;
        if (number >= 0)
            handles[number] = d.handle;
    }
}

bool registers_wanted(unsigned isa, const uint8_t *code)
{
    static const uint16_t minors[] = {
        54, 86, 150, 246, 278, 342, 374, 470, 533, 597, 661, 725, 758, 982, 1014,
    }; /* dcbst dcbf stwcx. dcbtst dcbt dst dstst dcbi lswx lswi stswx stswi dcba icbi dcbz */
    const unsigned major = code[0] >> 2, minor = (code[2] << 8 | code[3]) >> 1 & 0x3ff;

    if (!there || isa != REC_PPC)
        return false;
    if (major == 46 || major == 47) /* lmw, stmw */
        return true;
    for (size_t i = 0; major == 31 && i < sizeof minors / sizeof *minors; i++)
        if (minors[i] == minor)
            return true;
    return false;
}

bool registers_there(void)
{
    return there;
}

bool registers_exact(void)
{
    return exact;
}

enum qemu_plugin_cb_flags registers_flags(void)
{
    return by_handle ? QEMU_PLUGIN_CB_R_REGS : QEMU_PLUGIN_CB_NO_REGS;
}

unsigned registers_end(unsigned isa)
{
    switch (isa) {
    case REC_PPC:
        return REC_PPC_VRSAVE + 1;
    case REC_A64:
        return REC_A64_FPCR + 1;
    case REC_ARM:
        return REC_ARM_FPSCR + 1;
    default:
        return REC_MIPS_F + 33;
    }
}

/* Is NUMBER one that the functions for debuggers of 7.2 know? */
static bool debugger_knows(unsigned number)
{
    if (set == REC_PPC)
        return number <= REC_PPC_FPSCR;
    if (set == REC_A64)
        return number <= REC_A64_CPSR;
    if (set == REC_ARM)
        return number < 16 || number == REC_ARM_CPSR;
    return true;
}

unsigned registers_words(unsigned number, uint64_t words[REGISTERS_WORDS])
{
    static _Thread_local void **cpu; /* current_cpu is one a thread */
    unsigned n;

    if (!there || number >= REC_REGS || (by_handle ? !handles[number] : !debugger_knows(number)))
        return 0;
    if (!buffer && !(buffer = new_bytes.call()))
        return 0;
    if (!by_handle && !cpu)
        cpu = (void **)dlsym(RTLD_DEFAULT, "current_cpu");
    if (!by_handle && !*cpu)
        return 0;
    set_size.call(buffer, 0);
    if (by_handle)
        read_handle.call(handles[number], buffer);
    else
        reader.call(*cpu, buffer, (int)number);
    n = buffer->len;
    if (n == 0)
        return 0;
    if (n > 8 * REGISTERS_WORDS) /* z0 */
        n = 8 * REGISTERS_WORDS;
    memset(words, 0, 8 * REGISTERS_WORDS);
    for (unsigned i = 0; i < n; i++)
        words[i / 8] |= (uint64_t)buffer->data[big ? n - 1 - i : i] << (i % 8 * 8);
    return (n + 7) / 8;
}

bool registers_read(int number, uint32_t *value)
{
    uint64_t words[REGISTERS_WORDS];

    if (registers_words((unsigned)number, words) == 0)
        return false;
    *value = (uint32_t)words[0];
    return true;
}
