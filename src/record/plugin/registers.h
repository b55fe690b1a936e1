/*
 * registers.h - registers of the program, as far as QEMU lets them be seen.
 *
 * Numbers are those of QEMU's debugger interface for the instruction set, vectors have numbers of
 * their own (record/protocol.h). Later versions of QEMU have functions for it in their interface
 * for plugins; of 7.2 the functions are used that serve debuggers.
 */
#ifndef TROD_RECORD_REGISTERS_H
#define TROD_RECORD_REGISTERS_H

#include "record/plugin/qemu_api.h"

enum { REGISTERS_WORDS = 2 };

/*
 * Find out what can be read. EACH: registers must be those of each instruction (QEMU then executes
 * them one by one).
 */
void registers_begin(unsigned isa, bool each);
/* A thread begins: what its registers are called. */
void registers_thread(void);
/* Must the registers of instruction CODE be known, to know what it accesses? */
bool registers_wanted(unsigned isa, const uint8_t *code);
/* Can registers be read? */
bool registers_there(void);
/* Are they those of each instruction, and not only those where a block of code begins? */
bool registers_exact(void);
/* Flags of callbacks that read registers. */
enum qemu_plugin_cb_flags registers_flags(void);

/* Register NUMBER of the thread that runs. False: it cannot be had. */
bool registers_read(int number, uint32_t *value);
/* Its words, lowest first. Returns how many, 0: it cannot be had. */
unsigned registers_words(unsigned number, uint64_t words[REGISTERS_WORDS]);
/* One past the largest number. */
unsigned registers_end(unsigned isa);

#endif
