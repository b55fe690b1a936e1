/*
 * calls.h - calls of the functions that are recorded by name: arguments, return address, result.
 */
#ifndef TROD_RECORD_PLUGIN_CALLS_H
#define TROD_RECORD_PLUGIN_CALLS_H

#include "record/protocol.h"

/* Nothing is known of the calls of thread VCPU any more: it begins. */
void calls_thread(unsigned vcpu);
/*
 * Thread VCPU comes to INSN. Events of calls that have ended, or that begin there, to P, which has
 * room for REC_CALL_WORDS. Returns what P becomes.
 */
uint64_t *calls_step(unsigned vcpu, const struct rec_insn *insn, uint64_t *p);

#endif
