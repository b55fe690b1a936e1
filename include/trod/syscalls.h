/*
 * syscalls.h - names of Linux system calls.
 */
#ifndef TROD_SYSCALLS_H
#define TROD_SYSCALLS_H

#include "trod/meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The name of system call NUMBER of ISA ("openat"); static, NULL where it is not known. */
const char *trod_syscall_name(enum trod_isa isa, uint64_t number);

#ifdef __cplusplus
}
#endif

#endif
