/*
 * syscalls.c - system calls by number.
 *
 * Implements syscalls.h with the numbers of the Linux headers (syscalls.def).
 */
#include "trod/syscalls.h"

#include <stddef.h>

enum { X86_64, I386, AARCH64, ARM, ARCHES };

static const struct {
    const char *name;
    int32_t number[ARCHES];
} calls[] = {
#define TROD_SYSCALL(name, x86_64, i386, aarch64, arm) {#name, {x86_64, i386, aarch64, arm}},
#include "syscalls.def"
#undef TROD_SYSCALL
};

const char *trod_syscall_name(enum trod_isa isa, uint64_t number)
{
    unsigned arch = ARCHES;

    if (isa == TROD_ISA_X86_64)
        arch = X86_64;
    else if (isa == TROD_ISA_X86_32)
        arch = I386;
    else if (isa == TROD_ISA_A64)
        arch = AARCH64;
    else if (isa == TROD_ISA_ARM)
        arch = ARM;
    for (size_t i = 0; arch < ARCHES && i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number[arch] >= 0 && (uint64_t)calls[i].number[arch] == number)
            return calls[i].name;
    return NULL;
}
