/*
 * waves.h - signals of a trace and what they do. Implements trod/waves.h.
 *
 * survey.c finds out what signals there are, rows.c what they are from row to row, vcd.c writes
 * those that changed when the time goes on.
 */
#ifndef WAVES_WAVES_H
#define WAVES_WAVES_H

#include "navigate/regs.h"
#include "trod/callstack.h"
#include "trod/waves.h"

enum {
    WAVE_ID = 6,       /* characters of an identifier, with its NUL */
    WAVE_NAME = 64,    /* of a name of a scope or signal */
    WAVE_TEXT = 256,   /* bytes of a text */
    WAVE_WIDEST = 2048 /* bytes of a signal: what is wider is left out */
};

enum wave_type { WAVE_WIRE, WAVE_REG, WAVE_STRING };

struct wave_signal {
    char id[WAVE_ID];
    uint8_t type;  /* enum wave_type */
    bool dirty;    /* in the list of what may have changed */
    bool on;       /* written at all */
    uint32_t bits; /* 1 for texts */
    uint32_t size; /* bytes of it; of texts that which is used of WAVE_TEXT */
    uint32_t was_size;
    uint8_t *now, *known; /* value and known bits, as they are at the time at hand */
    uint8_t *was, *was_known;
};

/* Signals of every stream besides its registers. */
enum wave_own {
    OWN_PC,
    OWN_OPCODE,
    OWN_INSN,
    OWN_FUNCTION,
    OWN_EXECUTED,
    OWN_MODE,
    OWN_EXCEPTION,
    OWN_MEM_ADDR,
    OWN_MEM_RDATA,
    OWN_MEM_WDATA,
    OWN_MEM_READ,
    OWN_MEM_WRITE,
    OWNS
};

struct wave_stream {
    char name[WAVE_NAME];
    bool instr, text, skipped, mode, exception; /* what was seen of it */
    uint32_t code, data;                        /* bytes of the widest opcode, data accessed */
    struct wave_signal own[OWNS];
    struct wave_signal *reg; /* by number of nav_names */
    uint32_t n_regs;
    uint64_t time; /* of its last row */
    uint64_t instruction_time;
    bool timed, executed, accessed; /* mem_read or mem_write is 1 */
    uint64_t function;
    bool in_function;
};

struct trod_waves {
    struct trod_waves_options opt;
    const struct trod_meta *meta;
    struct trod_diag *diag;
    struct nav_names names;
    struct nav_regs regs;
    struct wave_stream *stream;
    uint32_t n_streams;
    size_t cap_streams;
    struct wave_signal **changed; /* that are dirty */
    size_t n_changed, cap_changed;
    struct trod_callstack *calls;
    struct like *like; /* NULL: the form of our own */
    struct trod_disasm *disasm;
    bool disasm_tried, writing, begun, any_time, any_unit;
    int finest;            /* power of ten of seconds that a tick is */
    uint64_t now;          /* time at hand */
    uint64_t instructions; /* so far, for cycles */
    uint64_t ids;          /* given */
    struct trod_buf *out;
    struct trod_waves_summary sum;
    int status;
};

/* survey.c */
struct wave_stream *wave_stream_of(struct trod_waves *w, uint32_t stream);
/* The time of row I in ticks of the file; false: it has none. */
bool wave_time(const struct trod_waves *w, const struct trod_batch *b, uint32_t i, uint64_t *t);

/* rows.c */
int wave_rows(void *ctx, const struct trod_batch *b, uint32_t from, uint32_t to,
              struct trod_frame *f);

/* vcd.c: the value of S, of N bytes, KNOWN bits (NULL: all). */
void wave_set(struct trod_waves *w, struct wave_signal *s, const uint8_t *v, const uint8_t *known,
              uint32_t n);
void wave_set_number(struct trod_waves *w, struct wave_signal *s, uint64_t v);
void wave_set_text(struct trod_waves *w, struct wave_signal *s, const char *p, size_t n);
/* Write what has changed at the time at hand. */
int wave_flush(struct trod_waves *w);
/* The first time: every signal has a value. */
int wave_begin_dump(struct trod_waves *w);
/* Give S an identifier, room, and a line of the header. */
int wave_declare(struct trod_waves *w, struct wave_signal *s, unsigned type, uint32_t bits,
                 const char *name, struct trod_buf *out);

#endif
