/*
 * system.h - whole machines: physical addresses, ports, modes.
 */
#ifndef TROD_RECORD_SYSTEM_H
#define TROD_RECORD_SYSTEM_H

#include "record/plugin/qemu_api.h"
#include "record/protocol.h"

/* Find out what the QEMU for TARGET ("i386") can tell. */
void system_begin(const char *target);
/* The physical pages of the instructions of S, which begin in one virtual page. */
void system_pages(struct rec_segment *s);
/* Have the execution of instructions FROM to LAST of TB recorded, which are entry PLACE of the log.
 */
void system_segment(const struct qemu_plugin_tb *tb, size_t from, size_t last, uint32_t place);

#endif
