/*
 * signals.h - handlers of signals: where what they interrupt goes on.
 */
#ifndef TROD_RECORD_PLUGIN_SIGNALS_H
#define TROD_RECORD_PLUGIN_SIGNALS_H

#include "record/plugin/qemu_api.h"

/* System call NUMBER is made, with ACTION as its second argument: it may name a handler. */
void signals_called(int64_t number, uint64_t action);
/* FIRST, at PC, is the first instruction of a block of code: a handler may begin there. */
void signals_translated(struct qemu_plugin_insn *first, uint64_t pc);

#endif
