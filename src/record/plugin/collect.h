/*
 * collect.h - events into blocks, on the threads of the program.
 */
#ifndef TROD_RECORD_COLLECT_H
#define TROD_RECORD_COLLECT_H

#include "record/plugin/plain.h"
#include "record/plugin/qemu_api.h"
#include "record/protocol.h"

extern struct rec_shared *collect_shared;
extern uint32_t collect_image; /* 0: the first program */

void collect_begin(qemu_plugin_id_t id, int version);

/*
 * Is there no recorder any more, or does it want nothing more? Whoever waits for it must ask: it
 * may have been killed.
 */
bool collect_alone(void);

/* A process was forked off: its thread writes to blocks of its own. */
void collect_forked(void);

/*
 * Have the execution of the segment PLACE of the log recorded; 0: it could not be logged.
 * WITH_REGISTERS: it is one instruction, and its registers are reported too.
 */
void collect_segment(struct qemu_plugin_insn *first, struct qemu_plugin_insn *last, uint32_t place,
                     bool with_registers);

/* Must the accesses of INSN be told? Those of string operations always: they count iterations. */
bool collect_memory(const struct rec_insn *insn);

/*
 * For system.c: where the next event of VCPU goes, with room for the largest (BEHIND: it belongs to
 * the event before), and that it is there up to P. collect_before() tells what comes before INSN.
 */
uint64_t *collect_room(unsigned vcpu, bool behind);
void collect_advance(unsigned vcpu, uint64_t *p);
uint64_t *collect_before(unsigned vcpu, const struct rec_insn *insn, uint64_t *p);
const struct rec_insn *collect_insn(void *word);

/* The N words of an event of VCPU, which may be its first. */
void collect_words(unsigned vcpu, const uint64_t *words, size_t n);

/* The byte that the program has at ADDR is at HOST here; NULL: not known. */
void collect_base(const void *host, uint64_t addr);
bool collect_has_base(void);
/* Where the program's byte at address 0 would be here. */
uintptr_t collect_host_base(void);

void collect_thread(qemu_plugin_id_t id, unsigned vcpu);
void collect_thread_end(qemu_plugin_id_t id, unsigned vcpu);
void collect_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2,
                     uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
void collect_sysret(qemu_plugin_id_t id, unsigned vcpu, int64_t num, int64_t ret);

#endif
