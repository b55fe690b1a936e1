/*
 * follow.h - programs that the program executes: QEMU is started with the plugin for them as well.
 */
#ifndef TROD_RECORD_FOLLOW_H
#define TROD_RECORD_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The program calls execve, or execveat (AT), with the ARGUMENTS. Does not return if the program
 * that is executed can be recorded. Returns where the call is going to fail, and where the program
 * cannot be recorded: that is counted, and QEMU makes the call.
 */
void follow(bool at, const uint64_t arguments[5]);
/* A system call has returned: if follow() has counted a program, it was not executed after all. */
void follow_failed(void);

#endif
