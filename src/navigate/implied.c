/*
 * implied.c - values of registers from other rows than register writes: the states of FULL, what
 * records of TT6 tell, and the arguments and results of functions in drmemtrace's markers.
 *
 * Implements regs.h (docs/formats/amber.md, "FULL"; docs/formats/drmemtrace.md, "Functions and
 * system calls"; the argument registers of the procedure call standards and of Linux's syscall(2)).
 */
#include "navigate/regs.h"

#include "core/endian.h"
#include "isa/ppc_state.h"
#include "trod/drmemtrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)NAV_STATE_WORDS == (int)TROD_PPC_STATE_END, "words of a state");

/* The value at P, N bytes of them with the most significant first, of register NAME. */
static int learn(struct nav_regs *r, struct nav_file *f, const char *name, const uint8_t *p,
                 uint32_t n, uint64_t row)
{
    uint32_t id = nav_names_find(r->names, name, true);
    uint8_t value[16];
    bool known;

    if (id == UINT32_MAX)
        return TROD_OK;
    for (uint32_t k = 0; k < n; k++)
        value[k] = p[n - 1 - k];
    known = id < f->n && f->reg[id].size == n;
    if (known && memcmp(f->reg[id].bytes, value, n) == 0)
        return TROD_OK;
    if (known)
        r->wrote[r->n_wrote++] = id;
    return nav_regs_put(f, id, 0, value, NULL, n, TROD_NAV_READ, row);
}

int nav_regs_state(struct nav_regs *r, struct nav_file *f, const struct trod_batch *b, uint32_t i,
                   uint64_t row)
{
    static const char names[TROD_PPC_STATE_REGISTERS][8] = {TROD_PPC_STATE_NAMES};
    struct trod_ppc_state_register reg;
    const uint8_t *p;

    if (!(b->have & b->has[i] & TROD_COL_DATA) || b->data[i].len < sizeof f->state)
        return TROD_OK;
    p = trod_batch_bytes(b, b->data[i]);
    for (unsigned w = 0; w < NAV_STATE_WORDS; w++) {
        if (f->has_state && memcmp(f->state + 4 * w, p + 4 * w, 4) == 0)
            continue;
        if (!trod_ppc_state_register(w, &reg))
            continue;
        if (learn(r, f, names[reg.number], p + 4 * reg.first, 4 * reg.words, row) < 0)
            return TROD_ERR_NOMEM;
        w = reg.first + reg.words - 1;
    }
    memcpy(f->state, p, sizeof f->state);
    f->has_state = true;
    return TROD_OK;
}

/* ---- markers of drmemtrace */

/* The register that argument N of a function (SYSTEM: of a system call) is passed in. */
static const char *argument_name(enum trod_isa isa, bool system, uint32_t n)
{
    static const char *const sysv[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"},
                             *const linux64[] = {"rdi", "rsi", "rdx", "r10", "r8", "r9"},
                             *const linux32[] = {"rbx", "rcx", "rdx", "rsi", "rdi", "rbp"},
                             *const x[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"},
                             *const arm[] = {"r0", "r1", "r2", "r3"},
                             *const arm_eabi[] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6"},
                             *const a[] = {"x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17"};

    switch (isa) {
    case TROD_ISA_X86_64:
        return n < 6 ? (system ? linux64 : sysv)[n] : NULL;
    case TROD_ISA_X86_32:
        return system && n < 6 ? linux32[n] : NULL;
    case TROD_ISA_A64:
        return n < 8 ? x[n] : NULL;
    case TROD_ISA_ARM:
        return system ? (n < 7 ? arm_eabi[n] : NULL) : n < 4 ? arm[n] : NULL;
    case TROD_ISA_RISCV32:
    case TROD_ISA_RISCV64:
        return n < 8 ? a[n] : NULL;
    default:
        return NULL;
    }
}

static const char *result_name(enum trod_isa isa)
{
    switch (isa) {
    case TROD_ISA_X86_64:
    case TROD_ISA_X86_32:
        return "rax";
    case TROD_ISA_A64:
        return "x0";
    case TROD_ISA_ARM:
        return "r0";
    case TROD_ISA_RISCV32:
    case TROD_ISA_RISCV64:
        return "x10";
    default:
        return NULL;
    }
}

static void forget_all(struct nav_file *f)
{
    for (uint32_t id = 0; f->known && id < f->n; id++)
        nav_regs_forget(f, id);
    f->known = 0;
}

/* Do instructions that are not in the trace, or the kernel, write registers at a marker SUB? */
static bool interrupts(uint32_t sub)
{
    switch (sub) {
    case TROD_DRM_KERNEL_EVENT:
    case TROD_DRM_KERNEL_EVENT_RAW:
    case TROD_DRM_KERNEL_XFER:
    case TROD_DRM_RSEQ_ABORT:
    case TROD_DRM_WINDOW_ID:
    case TROD_DRM_FILTER_ENDPOINT:
    case TROD_DRM_SYSCALL_TRACE_START:
    case TROD_DRM_SYSCALL_TRACE_END:
    case TROD_DRM_CONTEXT_SWITCH_START:
    case TROD_DRM_CONTEXT_SWITCH_END:
        return true;
    default:
        return false;
    }
}

/* Were instructions left out by a filter, each of which may have written registers? */
static bool filtered(const struct trod_batch *b)
{
    return b->meta && b->meta->filetype & (TROD_DRM_FILTERED | TROD_DRM_IFILTERED);
}

/*
 * A register is known until an instruction writes it, which is known from opcodes, as of
 * drmemtrace.
 */
static int put_told(struct nav_regs *r, struct nav_file *f, const char *name, uint64_t v,
                    uint32_t size, uint64_t row)
{
    uint8_t value[8];
    const uint32_t id = r->insn ? nav_names_find(r->names, name, true) : UINT32_MAX;

    if (id == UINT32_MAX)
        return TROD_OK;
    for (unsigned k = 0; k < 8; k++)
        value[k] = (uint8_t)(v >> (8 * k));
    f->known += id >= f->n || !f->reg[id].size;
    return nav_regs_put(f, id, 0, value, NULL, size, TROD_NAV_READ, row);
}

int nav_regs_marker(struct nav_regs *r, struct nav_file *f, const struct trod_batch *b, uint32_t i,
                    uint64_t row)
{
    const enum trod_isa isa = r->names->isa;
    const char *name = NULL;
    uint32_t size = isa == TROD_ISA_X86_32 || isa == TROD_ISA_ARM ? 4 : 8;

    if (interrupts(b->sub[i]))
        forget_all(f);
    if (!(b->have & b->has[i] & TROD_COL_VALUE) || filtered(b))
        return TROD_OK;
    switch (b->sub[i]) {
    case TROD_DRM_FUNC_ID:
        f->function = b->value[i];
        f->argument = 0;
        return TROD_OK;
    case TROD_DRM_FUNC_ARG:
        name = argument_name(isa, f->function >= TROD_DRM_SYSCALL_BASE(b->meta->addr_bits),
                             f->argument++);
        break;
    case TROD_DRM_FUNC_RETVAL:
        name = result_name(isa);
        break;
    default:
        return TROD_OK;
    }
    return name ? put_told(r, f, name, b->value[i], size, row) : TROD_OK;
}

int nav_regs_told(struct nav_regs *r, const struct trod_batch *b, uint32_t i, uint64_t row)
{
    struct nav_file *f;
    uint32_t value;
    const char *name = r->format->register_told(b, i, &value);

    if (!name)
        return TROD_OK;
    f = nav_regs_file(r, trod_batch_stream(b, i));
    return f ? put_told(r, f, name, value, sizeof value, row) : TROD_ERR_NOMEM;
}

/* Fields of cr and xer, which instructions write: of the register's byte AT, bits BITS. */
static const struct {
    const char *name, *reg;
    uint8_t at, bits;
} fields[] = {{"cr0", "cr", 3, 0xf0},     {"cr1", "cr", 3, 0x0f},     {"cr2", "cr", 2, 0xf0},
              {"cr3", "cr", 2, 0x0f},     {"cr4", "cr", 1, 0xf0},     {"cr5", "cr", 1, 0x0f},
              {"cr6", "cr", 0, 0xf0},     {"cr7", "cr", 0, 0x0f},     {"xer.ca", "xer", 3, 0x20},
              {"xer.ov", "xer", 3, 0xc0}, {"xer.cnt", "xer", 0, 0x7f}};

enum { FIELDS = sizeof fields / sizeof *fields, ALL_FIELDS = (1 << FIELDS) - 1 };

/*
 * The fields that the instruction at P, N bytes, writes: bit K for field K. All of them if it is
 * not known, or a system call, after which code follows that is not in the trace.
 */
static uint16_t fields_written(const struct nav_regs *r, const struct nav_file *f, uint64_t pc,
                               const uint8_t *p, uint32_t n)
{
    const struct trod_insn *insn = trod_insn_decode(r->insn, f->iset, pc, p, n);
    unsigned written = 0;

    if (!insn || !insn->valid || insn->branch == TROD_BR_SYSCALL)
        return ALL_FIELDS;
    for (unsigned k = 0; k < insn->n_writes; k++) {
        const char *name = trod_insn_reg_name(r->insn, f->iset, insn->writes[k]);

        for (unsigned i = 0; name && i < FIELDS; i++)
            if (strcmp(name, fields[i].name) == 0)
                written |= 1u << i;
    }
    return (uint16_t)written;
}

static void forget_fields(struct nav_regs *r, struct nav_file *f, unsigned written)
{
    if (r->field_names != r->names->n) { /* there are new ones; old ones keep their numbers */
        r->field_names = r->names->n;
        r->field_of[0] = nav_names_find(r->names, "cr", false) + 1;
        r->field_of[1] = nav_names_find(r->names, "xer", false) + 1;
    }
    for (; written; written &= written - 1) {
        const unsigned i = (unsigned)__builtin_ctz(written);
        const uint32_t id = r->field_of[fields[i].reg[0] == 'x'];

        if (id == 0 || id > f->n || f->reg[id - 1].size == 0)
            continue;
        nav_regs_forget_bits(f, id - 1, fields[i].at, fields[i].bits);
        f->known -= f->reg[id - 1].size == 0;
    }
}

/* Instructions are many: what their opcodes write is kept. */
static void spoil_fields(struct nav_regs *r, struct nav_file *f, const struct trod_batch *b,
                         uint32_t i)
{
    const uint8_t *p = trod_batch_bytes(b, b->code[i]);
    const uint32_t opcode = trod_load_be32(p);
    const uint32_t at = (opcode * UINT32_C(0x9e3779b1)) >> (32 - NAV_SPOILED_BITS);
    struct nav_spoiled *e;

    if (!r->spoiled && !(r->spoiled = calloc(1 << NAV_SPOILED_BITS, sizeof *r->spoiled))) {
        forget_all(f); /* what is not looked at may have changed */
        return;
    }
    e = &r->spoiled[at];
    if (!e->known || e->opcode != opcode) {
        e->opcode = opcode;
        e->fields = fields_written(r, f, b->addr[i], p, b->code[i].len);
        e->known = true;
    }
    if (e->fields == ALL_FIELDS)
        forget_all(f);
    else if (e->fields)
        forget_fields(r, f, e->fields);
}

static void forget_named(struct nav_regs *r, struct nav_file *f, const char *name)
{
    struct nav_part part;

    if (!name || !nav_names_part(r->names, name, strlen(name), "", 0, false, &part))
        return;
    f->known -= part.id < f->n && f->reg[part.id].size > 0;
    nav_regs_forget(f, part.id);
}

/*
 * The registers that instruction row I writes become unknown, also those that the kernel writes in
 * a system call; all registers do where its opcode is not known.
 */
void nav_regs_spoil(struct nav_regs *r, struct nav_file *f, const struct trod_batch *b, uint32_t i)
{
    const bool coded = r->insn && (b->have & b->has[i] & TROD_COL_CODE) && b->code[i].len;
    const struct trod_insn *insn = NULL;

    if (coded && r->format && b->code[i].len == 4) {
        spoil_fields(r, f, b, i);
        return;
    }
    if (coded)
        insn = trod_insn_decode(r->insn, f->iset, b->addr[i], trod_batch_bytes(b, b->code[i]),
                                b->code[i].len);
    if (!insn || !insn->valid) {
        forget_all(f);
        return;
    }
    for (unsigned k = 0; k < insn->n_writes; k++)
        forget_named(r, f, trod_insn_reg_name(r->insn, f->iset, insn->writes[k]));
    if (insn->branch == TROD_BR_SYSCALL) {
        forget_named(r, f, result_name(r->names->isa));
        if (r->names->isa == TROD_ISA_X86_64) {
            forget_named(r, f, "rcx");
            forget_named(r, f, "r11");
        }
    }
}
