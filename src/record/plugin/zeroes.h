/*
 * zeroes.h - A64: the register that DC ZVA names, whose access QEMU does not tell.
 */
#ifndef TROD_RECORD_ZEROES_H
#define TROD_RECORD_ZEROES_H

#include "record/plugin/qemu_api.h"

/* Before anything of TB is told: a DC ZVA may have been the last instruction of the page before. */
void zeroes_begin(const struct qemu_plugin_tb *tb);
/*
 * Instruction I of TB, whose execution is told already and whose bytes are at CODE: if it is DC ZVA
 * or DC GZVA, its register is told too, as far as it can be read there.
 */
void zeroes_tell(const struct qemu_plugin_tb *tb, size_t i, const uint8_t *code);

#endif
