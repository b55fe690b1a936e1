/*
 * native.c - rows as DynamoRIO's view tool lays them out.
 *
 * Implements docs/formats/drmemtrace.md, "The listing": record number, instruction number, thread,
 * then the record. Disassembly is that of the library, whose operands may be worded differently.
 */
#include "format/drmemtrace/native.h"
#include "core/endian.h"
#include "format/drmemtrace/decode.h"
#include "trod/disasm.h"
#include "trod/put.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 1 << 11, CODE_LINE = 7, REGDEPS_LINE = 8 };

/* The state between rows, in the memory of struct trod_native. */
struct memory {
    uint64_t begun;
    uint64_t tid, ordinal; /* of the line before */
    uint64_t held;         /* 1: a TIMESTAMP waits for the row that follows */
    uint64_t held_value, held_ordinal, held_index, held_tid;
    uint64_t window; /* number + 1 of the last one, 0: none */
    uint64_t instrs;
};

_Static_assert(sizeof(struct memory) <= sizeof((struct trod_native *)0)->memory, "it fits");

struct text {
    char buf[LINES];
    size_t n;
};

static const char dashes[] = "------------------------------------------------------------\n";

static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *fmt, ...)
{
    size_t room = sizeof t->buf - t->n;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(t->buf + t->n, room, fmt, ap);
    va_end(ap);
    if (n > 0)
        t->n += (size_t)n < room ? (size_t)n : room - 1;
}

static void put_prefix(struct text *t, uint64_t ordinal, uint64_t index, uint64_t tid)
{
    char name[32];

    snprintf(name, sizeof name, "W0.T%" PRId64, (int64_t)tid);
    put(t, "%12" PRIu64 "%12" PRIu64 ": %11s ", ordinal, index, name);
}

/* The prefix of a line, after a dashed one where the thread changes or numbers jump. */
static void begin_line(struct text *t, struct memory *m, uint64_t ordinal, uint64_t index,
                       uint64_t tid)
{
    if (m->ordinal && (m->tid != tid || ordinal > m->ordinal + 1))
        put(t, dashes);
    m->tid = tid;
    m->ordinal = ordinal;
    put_prefix(t, ordinal, index, tid);
}

static void let_go(struct text *t, struct memory *m)
{
    if (!m->held)
        return;
    m->held = 0;
    begin_line(t, m, m->held_ordinal, m->held_index, m->held_tid);
    put(t, "<marker: timestamp %" PRIu64 ">\n", m->held_value);
}

/* Marker texts: 'd' a decimal value follows, 'x' a hexadecimal one, 0 none; then what closes it. */
static const struct {
    const char *before;
    char form;
    const char *after;
} texts[TROD_DRM_MARKERS] = {
    [TROD_DRM_FUNC_RETADDR] = {"function return address 0x", 'x', ""},
    [TROD_DRM_FUNC_ARG] = {"function argument 0x", 'x', ""},
    [TROD_DRM_FUNC_RETVAL] = {"function return value 0x", 'x', ""},
    [TROD_DRM_FILETYPE] = {"filetype 0x", 'x', ""},
    [TROD_DRM_CACHE_LINE_SIZE] = {"cache line size ", 'd', ""},
    [TROD_DRM_INSTRUCTION_COUNT] = {"instruction count ", 'd', ""},
    [TROD_DRM_VERSION] = {"version ", 'd', ""},
    [TROD_DRM_RSEQ_ABORT] = {"rseq abort from 0x", 'x', " to handler"},
    [TROD_DRM_WINDOW_ID] = {"window ", 'd', ""},
    [TROD_DRM_PHYSICAL_ADDRESS] = {"physical address for following virtual: 0x", 'x', ""},
    [TROD_DRM_PHYSICAL_NOT_AVAILABLE] = {"physical address not available for 0x", 'x', ""},
    [TROD_DRM_VIRTUAL_ADDRESS] = {"virtual address for prior physical: 0x", 'x', ""},
    [TROD_DRM_PAGE_SIZE] = {"page size ", 'd', ""},
    [TROD_DRM_CHUNK_INSTR_COUNT] = {"chunk instruction count ", 'd', ""},
    [TROD_DRM_CHUNK_FOOTER] = {"chunk footer #", 'd', ""},
    [TROD_DRM_RECORD_ORDINAL] = {"record ordinal 0x", 'x', ""},
    [TROD_DRM_FILTER_ENDPOINT] = {"filter endpoint", 0, ""},
    [TROD_DRM_RSEQ_ENTRY] = {"rseq entry with end at 0x", 'x', ""},
    [TROD_DRM_SYSCALL] = {"system call ", 'd', ""},
    [TROD_DRM_MAYBE_BLOCKING] = {"maybe-blocking system call", 0, ""},
    [TROD_DRM_SYSCALL_TRACE_START] = {"trace start for system call number ", 'd', ""},
    [TROD_DRM_SYSCALL_TRACE_END] = {"trace end for system call number ", 'd', ""},
    [TROD_DRM_BRANCH_TARGET] = {"indirect branch target 0x", 'x', ""},
    [TROD_DRM_SYSCALL_FAILED] = {"system call failed: ", 'd', ""},
    [TROD_DRM_DIRECT_THREAD_SWITCH] = {"direct switch to thread ", 'd', ""},
    [TROD_DRM_CORE_WAIT] = {"wait for another core", 0, ""},
    [TROD_DRM_CORE_IDLE] = {"core is idle", 0, ""},
    [TROD_DRM_CONTEXT_SWITCH_START] = {"trace start for context switch type ", 'd', ""},
    [TROD_DRM_CONTEXT_SWITCH_END] = {"trace end for context switch type ", 'd', ""},
    [TROD_DRM_VECTOR_LENGTH] = {"vector length ", 'd', " bytes"},
    [TROD_DRM_SYSCALL_UNSCHEDULE] = {"current thread going unscheduled", 0, ""},
    [TROD_DRM_SYSCALL_SCHEDULE] = {"re-schedule thread ", 'd', ""},
    [TROD_DRM_SYSCALL_ARG_TIMEOUT] = {"syscall timeout arg ", 'd', ""},
    [TROD_DRM_SIGNAL_NUMBER] = {"signal #", 'd', ""},
    [TROD_DRM_UNCOMPLETED_INSTRUCTION] = {"uncompleted instruction, encoding 0x", 'x', ""},
};

static void put_marker(struct text *t, const struct trod_batch *b, uint32_t row, uint64_t tid)
{
    unsigned marker = b->sub[row];
    uint64_t value = b->value[row];
    bool offset = b->meta->version <= DRM_VERSION_NO_KERNEL_PC; /* of a module, no address */
    uint64_t base = TROD_DRM_SYSCALL_BASE(b->meta->addr_bits);

    if (marker == TROD_DRM_CPU_ID &&
        (value == UINT64_MAX || (b->meta->addr_bits == 32 && value == UINT32_MAX)))
        put(t, "<marker: W0.T%" PRId64 " on core unknown>\n", (int64_t)tid);
    else if (marker == TROD_DRM_CPU_ID)
        put(t, "<marker: W0.T%" PRId64 " on core %" PRIu64 ">\n", (int64_t)tid, value);
    else if (marker == TROD_DRM_KERNEL_EVENT)
        put(t, "<marker: kernel xfer from %s0x%" PRIx64 " to handler>\n",
            offset ? "module offset +" : "", value);
    else if (marker == TROD_DRM_KERNEL_XFER)
        put(t, "<marker: syscall xfer from %s0x%" PRIx64 ">\n", offset ? "module offset +" : "",
            value);
    else if (marker == TROD_DRM_FUNC_ID && value >= base)
        put(t, "<marker: function==syscall #%" PRIu64 ">\n", value - base);
    else if (marker == TROD_DRM_FUNC_ID)
        put(t, "<marker: function #%" PRIu64 ">\n", value);
    else if (marker >= TROD_DRM_MARKERS || !texts[marker].before)
        put(t, "<marker: type %u; value %" PRIu64 ">\n", marker, value);
    else if (texts[marker].form == 'x')
        put(t, "<marker: %s%" PRIx64 "%s>\n", texts[marker].before, value, texts[marker].after);
    else if (texts[marker].form == 'd')
        put(t, "<marker: %s%" PRIu64 "%s>\n", texts[marker].before, value, texts[marker].after);
    else
        put(t, "<marker: %s>\n", texts[marker].before);
}

/*
 * Put encoding bytes in the order that is usual for the ISA; of x86 up to 7 fit on the line.
 * Returns how many.
 */
static uint32_t put_code(struct text *t, const struct trod_batch *b, const uint8_t *code,
                         uint32_t n)
{
    enum trod_isa isa = b->meta->isa;
    uint32_t some = n < CODE_LINE ? n : CODE_LINE;

    if (n == 4 && (isa == TROD_ISA_A64 || isa == TROD_ISA_ARM)) {
        put(t, " %08" PRIx32 "   ", trod_load_le32(code));
        return n;
    }
    if (isa == TROD_ISA_REGDEPS && n % 4 == 0) { /* words, two of them on the line */
        some = n < REGDEPS_LINE ? n : REGDEPS_LINE;
        for (uint32_t i = 0; i < some; i += 4)
            put(t, " %08" PRIx32, trod_load_le32(code + i));
        put(t, "%*s", (int)(1 + 9 * ((REGDEPS_LINE - some) / 4)), "");
        return some;
    }
    put(t, " ");
    for (uint32_t i = 0; i < some; i++)
        put(t, "%02x ", code[i]);
    for (uint32_t i = some; i < CODE_LINE; i++)
        put(t, "   ");
    return some;
}

static void put_instr(struct text *t, struct trod_native *listing, const struct trod_batch *b,
                      uint32_t row, uint64_t ordinal, uint64_t tid)
{
    unsigned type = b->sub[row];
    const uint8_t *code;
    uint32_t n, shown;
    const char *text = "";
    size_t len = 0;

    put(t, "%-12s%2" PRIu32 " byte(s) @ 0x%0*" PRIx64,
        type == DRM_NO_FETCH ? "non-fetched" : "ifetch", b->size[row],
        b->meta->addr_bits == 32 ? 8 : 16, b->addr[row]);
    if (!(b->have & b->has[row] & TROD_COL_CODE)) {
        put(t, " %s\n", drm_type_info(type)->name);
        return;
    }
    code = trod_batch_bytes(b, b->code[row]);
    n = b->code[row].len;
    shown = put_code(t, b, code, n);
    if (listing->disasm)
        text = trod_disasm_text(listing->disasm, 0, b->addr[row], code, n, &len);
    put(t, "%.*s", (int)len, text);
    if (type == DRM_TAKEN_JUMP)
        put(t, " (taken)");
    else if (type == DRM_UNTAKEN_JUMP)
        put(t, " (untaken)");
    else if (b->meta->version >= DRM_VERSION_BRANCH_INFO && drm_type_info(type)->indirect)
        put(t, " (target 0x%" PRIx64 ")",
            b->have & b->has[row] & TROD_COL_TARGET ? b->target[row] : 0);
    put(t, "\n");
    if (shown == n)
        return;
    put_prefix(t, ordinal, b->index[row], tid);
    put(t, "%43s", "");
    for (uint32_t i = shown; i < n; i++) {
        if (b->meta->isa == TROD_ISA_REGDEPS && n % 4 == 0 && i % 4 == 0)
            put(t, " %08" PRIx32, trod_load_le32(code + i));
        else if (b->meta->isa != TROD_ISA_REGDEPS || n % 4)
            put(t, " %02x", code[i]);
    }
    put(t, "\n");
}

static void put_row(struct text *t, struct trod_native *listing, const struct trod_batch *b,
                    uint32_t row, uint64_t ordinal, uint64_t tid)
{
    unsigned type = b->sub[row];

    switch (b->kind[row]) {
    case TROD_MARKER:
        put_marker(t, b, row, tid);
        return;
    case TROD_INSTR:
        put_instr(t, listing, b, row, ordinal, tid);
        return;
    case TROD_THREAD:
        put(t, "<thread W0.T%" PRId64 " exited>\n", (int64_t)tid);
        return;
    case TROD_NOTE:
        put(t, "<entry type %u>\n", type);
        return;
    default:
        put(t, "%-12s%2" PRIu32 " byte(s) @ 0x%0*" PRIx64 " by PC 0x%0*" PRIx64 "\n",
            drm_type_info(type)->name, b->size[row], b->meta->addr_bits == 32 ? 8 : 16,
            b->addr[row], b->meta->addr_bits == 32 ? 8 : 16,
            b->has[row] & TROD_COL_PC ? b->pc[row] : 0);
    }
}

/* The lines of ROW, with the TIMESTAMP that waited for it. */
static void put_lines(struct text *t, struct trod_native *listing, struct memory *m,
                      const struct trod_batch *b, uint32_t row)
{
    uint64_t ordinal = b->first + row + 1;
    uint64_t tid = b->meta->streams[b->stream[row]].tid;
    bool marker = b->kind[row] == TROD_MARKER;

    if (!m->begun) {
        put(t, "Output format:\n<--record#-> <--instr#->: <Wrkld.Tid> <record details>\n%s",
            dashes);
        m->begun = 1;
    }
    if (marker && b->sub[row] == TROD_DRM_WINDOW_ID) {
        if (m->window && m->window != b->value[row] + 1)
            put(t, dashes);
        m->window = b->value[row] + 1;
    }
    let_go(t, m);
    if (marker && b->sub[row] == TROD_DRM_TIMESTAMP) {
        m->held = 1;
        m->held_value = b->value[row];
        m->held_ordinal = ordinal;
        m->held_index = b->index[row];
        m->held_tid = tid;
        return;
    }
    m->instrs += b->kind[row] == TROD_INSTR;
    begin_line(t, m, ordinal, b->index[row], tid);
    put_row(t, listing, b, row, ordinal, tid);
}

int drm_native(struct trod_native *listing, const struct trod_batch *b, uint32_t row,
               struct trod_room *out)
{
    struct memory m;
    struct text t = {.n = 0};

    memcpy(&m, listing->memory, sizeof m);
    if (row == TROD_NATIVE_END) {
        let_go(&t, &m);
        put(&t, "View tool results:\n%15" PRIu64 " : total instructions\n", m.instrs);
    } else {
        put_lines(&t, listing, &m, b, row);
    }
    if ((size_t)(out->end - out->p) < t.n)
        return TROD_ENC_FULL;
    memcpy(listing->memory, &m, sizeof m);
    memcpy(out->p, t.buf, t.n);
    out->p += t.n;
    return TROD_ENC_DONE;
}
