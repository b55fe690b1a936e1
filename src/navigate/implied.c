/*
 * implied.c - values of registers from other rows than register writes: the states of FULL, what
 * records of TT6 tell, and the arguments and results of functions in drmemtrace's markers.
 *
 * Implements regs.h (docs/formats/amber.md, "FULL"; docs/formats/drmemtrace.md, "Functions and
 * system calls"; the argument registers of the procedure call standards and of Linux's syscall(2)).
 */
#include "navigate/regs.h"

#include "isa/ppc_state.h"
#include "trod/drmemtrace.h"

#include <stdio.h>
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

static bool is_system(const struct nav_regs *r, uint64_t function)
{
    const enum trod_isa isa = r->names->isa;

    return function >= (isa == TROD_ISA_X86_32 || isa == TROD_ISA_ARM ? TROD_DRM_SYSCALL_BASE_32
                                                                      : TROD_DRM_SYSCALL_BASE_64);
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
        name = argument_name(isa, is_system(r, f->function), f->argument++);
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

/* If NAME is that of a field of cr or xer, what it has becomes unknown. */
static bool forget_field(const struct nav_regs *r, struct nav_file *f, const char *name)
{
    static const struct {
        const char *name;
        uint8_t at, bits; /* of the register's byte AT, the least significant being 0 */
    } fields[] = {{"xer.ca", 3, 0x20}, {"xer.ov", 3, 0xc0}, {"xer.cnt", 0, 0x7f}};
    uint32_t id, n;

    if (nav_fields(r->names->isa, "cr", name)) {
        const unsigned field = (unsigned)(name[2] - '0');

        id = nav_names_find(r->names, "cr", false);
        n = id < f->n && f->reg[id].size > 0;
        nav_regs_forget_bits(f, id, 3 - field / 2, field % 2 ? 0x0f : 0xf0);
    } else if (nav_fields(r->names->isa, "xer", name)) {
        id = nav_names_find(r->names, "xer", false);
        n = id < f->n && f->reg[id].size > 0;
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            if (strcmp(name, fields[i].name) == 0)
                nav_regs_forget_bits(f, id, fields[i].at, fields[i].bits);
    } else {
        return false;
    }
    f->known -= n && !f->reg[id].size;
    return true;
}

static void forget_named(struct nav_regs *r, struct nav_file *f, const char *name)
{
    struct nav_part part;

    if (name && forget_field(r, f, name))
        return;
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
    const struct trod_insn *insn = NULL;

    if (r->insn && (b->have & b->has[i] & TROD_COL_CODE) && b->code[i].len)
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
