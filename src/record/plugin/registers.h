/*
 * registers.h - registers of the program, where QEMU 7.2 lets them be seen.
 */
#ifndef TROD_RECORD_REGISTERS_H
#define TROD_RECORD_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of registers as QEMU gives them to debuggers. */
enum { REGISTERS_ARM_CPSR = 25, REGISTERS_PPC_XER = 69 };

/* Look for what it takes for programs of ISA (enum rec_isa). */
void registers_begin(unsigned isa);

/*
 * PowerPC: must the registers be told with the instruction CODE (memory order), because QEMU tells
 * nothing of its access?
 */
bool registers_wanted(unsigned isa, const uint8_t *code);

/* Can registers of this ISA be read at all? */
bool registers_there(void);

/*
 * Register NUMBER, of 32 bits, of the vcpu that the calling thread runs: as it was when the block
 * of code that is executed or translated was entered. False: not to be had.
 */
bool registers_read(int number, uint32_t *value);

#endif
