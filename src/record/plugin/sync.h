/*
 * sync.h - PowerPC: calls of the pthread functions that synchronize threads.
 */
#ifndef TROD_RECORD_SYNC_H
#define TROD_RECORD_SYNC_H

#include <stdbool.h>
#include <stdint.h>

struct rec_insn;

/*
 * The calling thread, whose vcpu is number VCPU, is about to execute INSN. True: a record of
 * synchronization comes before it: its code, sync point and count in *WORDS.
 */
bool sync_step(unsigned vcpu, const struct rec_insn *insn, uint64_t words[2]);

#endif
