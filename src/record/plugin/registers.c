/*
 * registers.c - registers of the program, where QEMU 7.2 lets them be seen.
 *
 * Implements registers.h. The plugin interface of 7.2 has no registers, but the program exports the
 * functions that serve its debugger interface, current_cpu and what it uses of GLib. Where one of
 * them is missing there are no registers.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "record/plugin/registers.h"

#include "record/protocol.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* GByteArray, as GLib documents it. */
struct bytes {
    uint8_t *data;
    unsigned len;
};

typedef int (*read_fn)(void *cpu, struct bytes *to, int number);
typedef struct bytes *(*new_fn)(void);
typedef struct bytes *(*size_fn)(struct bytes *, unsigned);

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

static bool there, big;

static _Thread_local struct bytes *buffer;

void registers_begin(unsigned isa)
{
    int *alone;
    const char *name = isa == REC_ARM ? "arm_cpu_gdb_read_register" : NULL;

    if (isa == REC_PPC)
        name = "ppc_cpu_gdb_read_register";
    if (!name)
        return;
    big = isa == REC_PPC;
    reader.symbol = dlsym(RTLD_DEFAULT, name);
    new_bytes.symbol = dlsym(RTLD_DEFAULT, "g_byte_array_new");
    set_size.symbol = dlsym(RTLD_DEFAULT, "g_byte_array_set_size");
    there =
        reader.symbol && new_bytes.symbol && set_size.symbol && dlsym(RTLD_DEFAULT, "current_cpu");
    if (isa != REC_PPC)
        return;
    /* Registers are exact where a block of code begins: each instruction becomes one. */
    alone = dlsym(RTLD_DEFAULT, "singlestep");
    there = there && alone;
    if (there)
        *alone = 1;
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

bool registers_read(int number, uint32_t *value)
{
    static _Thread_local void **cpu; /* current_cpu is one a thread */
    const uint8_t *p;

    if (!there)
        return false;
    if (!cpu)
        cpu = (void **)dlsym(RTLD_DEFAULT, "current_cpu");
    if (!buffer)
        buffer = new_bytes.call();
    if (!*cpu || !buffer)
        return false;
    set_size.call(buffer, 0);
    if (reader.call(*cpu, buffer, number) < 4 || buffer->len < 4)
        return false;
    p = buffer->data;
    *value = big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                 : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
    return true;
}
