/*
 * state.h - what instructions do to registers: reported when the next one begins.
 */
#ifndef TROD_RECORD_STATE_H
#define TROD_RECORD_STATE_H

#include "record/protocol.h"

/* The thread of VCPU begins anew: nothing is known of its registers. */
void state_thread(unsigned vcpu);

/*
 * INSN is about to be executed: events of what the one before did to registers go to P, and it is
 * the one before from here on. Returns where the next event goes.
 */
uint64_t *state_step(unsigned vcpu, const struct rec_insn *insn, uint64_t *p);

/* Ask what the instruction of entry PLACE of the log writes, and wait for the answer. */
void state_ask(uint32_t place);
/* Wait for the answer to what was asked for it, here or in another process. */
void state_answered(uint32_t place);

#endif
