/*
 * log.h - the lines of a QEMU log (-d in_asm,exec,nochain), taken apart.
 */
#ifndef TROD_FORMAT_QEMU_LOG_H
#define TROD_FORMAT_QEMU_LOG_H

#include "format/lines/lines.h"
#include "format/qemu/blocks.h"

/* Trace 0: 0x7f888e800100 [0000000000000000/0000000000401000/1040c0b3/00000200] _start */
struct ql_trace_line {
    uint64_t cpu, host, pc;
    uint64_t cflags; /* TROD_NOWHERE: not given */
};

/*
 * 0x00401000:  48 b8 88 77 66 55 44 33  movabsq  $0x1122334455667788, %rax
 *
 * BIG: groups of more than two digits are numbers in big-endian memory. The instruction set is that
 * of 32-bit Arm: groups of four digits are T32. LN_OK or LN_BAD, as for all of these.
 */
enum ln_result ql_parse_code(struct ln_line *l, bool big, struct ql_code *out);
enum ln_result ql_parse_trace(struct ln_line *l, struct ql_trace_line *out);
/* Stopped execution of TB chain before 0x7f888e800100 [0000000000401000] _start */
enum ln_result ql_parse_stopped(struct ln_line *l, uint64_t *pc);

#endif
