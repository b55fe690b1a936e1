/*
 * records.h - the records of STF, the Simulation Trace Format of RISC-V models (version 1.6).
 */
#ifndef TROD_FORMAT_STF_RECORDS_H
#define TROD_FORMAT_STF_RECORDS_H

#include "core/endian.h"
#include "trod/batch.h"
#include "trod/meta.h"

/* The first byte of each. */
enum stf_id {
    STF_IDENTIFIER = 1,
    STF_VERSION = 2,
    STF_COMMENT = 3,
    STF_ISA = 4,
    STF_INST_IEM = 5,
    STF_TRACE_INFO = 6,
    STF_FEATURES = 7,
    STF_PROCESS = 8,
    STF_FORCE_PC = 9,
    STF_VLEN = 10,
    STF_PROTOCOL = 11,
    STF_CLOCK = 12,
    STF_ISA_EXTENDED = 13,
    STF_END_HEADER = 19,
    STF_PC_TARGET = 31,
    STF_REG = 40,
    STF_READY_REG = 41,
    STF_WALK = 50,
    STF_ACCESS = 60,
    STF_CONTENT = 61,
    STF_BUS_ACCESS = 62,
    STF_BUS_CONTENT = 63,
    STF_EVENT = 100,
    STF_EVENT_TARGET = 101,
    STF_MICRO_OP = 230,
    STF_INST_32 = 240,
    STF_INST_16 = 241,
    STF_TRANSACTION = 250,
    STF_DEPENDENCY = 251
};

enum { STF_FEATURE_EVENT64 = 0x80000, STF_IEM_RV32 = 1, STF_ISA_RISCV = 1 };

/* Types and uses of registers. */
enum { STF_TYPE_X = 1, STF_TYPE_F, STF_TYPE_V, STF_TYPE_CSR };
enum { STF_USE_STATE = 1, STF_USE_SOURCE, STF_USE_RESULT };

/* What the length of records depends on. */
struct stf_widths {
    uint32_t vlen; /* bits of a vector register; 0: there are none */
    bool event32;  /* events have 32 bits */
};

enum { STF_CUT = 0, STF_UNKNOWN = -1, STF_OTHER = -2 };

/*
 * Bytes of the record at P, of which N are here. STF_CUT: more are needed to tell, or it ends
 * behind them. STF_UNKNOWN: no record begins so. STF_OTHER: a record of transaction traces.
 */
int64_t stf_length(const struct stf_widths *w, const uint8_t *p, size_t n);

/* What the record at P says of the lengths of those behind it. */
void stf_widen(struct stf_widths *w, const uint8_t *p);

/* Which field of the event ID is an address: counted from 1; 0: none. */
unsigned stf_address_field(uint64_t id);

/* The event at P: its number, as 64 bits would have it; whether it is a change of mode. */
uint64_t stf_event(const struct stf_widths *w, const uint8_t *p, bool *mode);

/* The stream of a file that names no thread, called by the number of the file. 0 or an error. */
int stf_file_stream(struct trod_meta *meta, uint32_t *stream);

#endif
