/*
 * system.c - whole machines: physical addresses, ports, modes.
 *
 * Implements system.h. Where an instruction lies physically is asked when it is translated: QEMU
 * looks translated code up by its physical address. 7.2 tells the physical address of data only for
 * the machine's main memory; the program exports the function that debuggers translate addresses
 * with, which is asked once a page. The level of an Arm processor changes only where a block of
 * code begins. Ports are in the opcode or in DX, which is exact where QEMU executes one instruction
 * a block.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "record/plugin/system.h"

#include "record/plugin/collect.h"
#include "record/plugin/registers.h"
#include "record/plugin/state.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 1 << 16, PAGES = 1 << 12, PAGE = 1 << REC_PAGE_BITS };

/* What port_of() says beside the bits of REC_PORT. */
enum { PORT_HERE = 1 << 21, PORT_STRING = 1 << 22 };

/* The interface has no word for "not known"; the debugger's function has. */
static const uint64_t nowhere = UINT64_MAX;

/* POSIX lets functions be found as objects. */
static union {
    void *symbol;
    uint64_t (*call)(void *cpu, uint64_t addr);
} translate;
static union {
    void *symbol;
    int (*call)(void *cpu, uint64_t addr, void *to, uint64_t n, bool write);
} read_memory;

static bool arm, x86;
static uint32_t modes[LANES]; /* 1 + what was reported last; 0: nothing */
static bool tried[LANES];     /* INS stores twice: first to see whether it can */

/* What QEMU tells of a page of the machine's memory, to what it is; a virtual page each. */
static _Thread_local struct page {
    uint64_t reported, virtual, physical;
} pages[PAGES];

static void *cpu(void)
{
    static _Thread_local void **current; /* current_cpu is one a thread */

    if (!current)
        current = (void **)dlsym(RTLD_DEFAULT, "current_cpu");
    return current ? *current : NULL;
}

void system_begin(const char *target)
{
    int *singlestep = dlsym(RTLD_DEFAULT, "singlestep");

    x86 = strcmp(target, "i386") == 0;
    arm = strcmp(target, "arm") == 0 || strcmp(target, "aarch64") == 0;
    if (dlsym(RTLD_DEFAULT, "current_cpu")) {
        translate.symbol = dlsym(RTLD_DEFAULT, "cpu_get_phys_page_debug");
        read_memory.symbol = dlsym(RTLD_DEFAULT, "cpu_memory_rw_debug");
    }
    if (x86 && singlestep)
        *singlestep = 1;
    if (read_memory.symbol && collect_shared->values)
        atomic_fetch_or(&collect_shared->gives, REC_GIVES_VALUES);
}

/* The physical address of ADDR. */
static uint64_t physical(uint64_t addr)
{
    void *c = translate.symbol ? cpu() : NULL;
    const uint64_t at = c ? translate.call(c, addr & ~(uint64_t)(PAGE - 1)) : nowhere;

    return at == nowhere ? nowhere : at + (addr & (PAGE - 1));
}

static uint32_t number_of(uint64_t addr)
{
    const uint64_t at = physical(addr);

    return at == nowhere || at >> REC_PAGE_BITS >= UINT32_MAX ? 0
                                                              : 1 + (uint32_t)(at >> REC_PAGE_BITS);
}

void system_pages(struct rec_segment *s)
{
    const struct rec_insn *last = &s->insn[s->n - 1];
    const uint64_t end = last->pc + last->size - 1;

    s->page = number_of(s->insn[0].pc);
    s->next_page = (end ^ last->pc) >> REC_PAGE_BITS ? number_of(end) : 0;
}

/* --- events --- */

static void on_segment(unsigned vcpu, void *word)
{
    uint64_t *p = collect_room(vcpu, false);

    if (collect_shared->registers)
        p = collect_before(vcpu, collect_insn(word), p);
    *p = (uintptr_t)word;
    collect_advance(vcpu, p + 1);
}

/* The same for what begins a block: the processor may have another mode than before. */
static void on_block(unsigned vcpu, void *word)
{
    uint64_t *p = collect_room(vcpu, false);
    uint32_t *reported = &modes[vcpu % LANES], mode;

    if (registers_read(collect_shared->isa == REC_A64 ? REC_A64_CPSR : REC_ARM_CPSR, &mode) &&
        *reported != 1 + (mode & REC_MODE_BITS)) {
        *reported = 1 + (mode & REC_MODE_BITS);
        *p++ = (uint64_t)REC_MODE << REC_EVENT_TYPE | (mode & REC_MODE_BITS);
        if (collect_shared->registers)
            state_thread(vcpu); /* other registers have the names */
    }
    if (collect_shared->registers)
        p = collect_before(vcpu, collect_insn(word), p);
    *p = (uintptr_t)word;
    collect_advance(vcpu, p + 1);
}

static void on_port(unsigned vcpu, void *what)
{
    uint64_t *p = collect_room(vcpu, true);

    *p = (uint64_t)REC_PORT << REC_EVENT_TYPE | (uint32_t)(uintptr_t)what;
    collect_advance(vcpu, p + 1);
}

static void on_port_dx(unsigned vcpu, void *what)
{
    uint32_t dx;

    if (registers_read(REC_X86_EDX, &dx))
        on_port(vcpu, (void *)((uintptr_t)what | (dx & 0xffff)));
}

/* What QEMU tells of ADDR corrected. */
static uint64_t corrected(uint64_t reported, uint64_t addr)
{
    const uint64_t from = reported >> REC_PAGE_BITS, virtual = addr >> REC_PAGE_BITS;
    struct page *page = &pages[(from * 31 ^ virtual) % PAGES];

    if (!translate.symbol)
        return reported;
    if (page->reported != 1 + from || page->virtual != virtual) {
        const uint64_t at = physical(addr);

        if (at == nowhere)
            return reported;
        *page = (struct page){1 + from, virtual, at >> REC_PAGE_BITS};
    }
    return page->physical << REC_PAGE_BITS | (addr & (PAGE - 1));
}

static uint64_t *put_physical(uint32_t info, uint64_t addr, uint64_t *p)
{
    const struct qemu_plugin_hwaddr *h = qemu_plugin_get_hwaddr(info, addr);
    const uint64_t next = (addr | (PAGE - 1)) + 1;

    if (!h)
        return p;
    p[0] = (uint64_t)REC_PHYSICAL << REC_EVENT_TYPE;
    if (qemu_plugin_hwaddr_is_io(h))
        p[0] |= REC_DEVICE;
    p[1] = corrected(qemu_plugin_hwaddr_phys_addr(h), addr);
    p[2] = nowhere;
    if (next - addr < UINT64_C(1) << qemu_plugin_mem_size_shift(info))
        p[2] = physical(next);
    if (p[2] == nowhere)
        p[2] = p[1] + (next - addr);
    return p + 3;
}

static uint64_t *put_value(uint32_t info, uint64_t addr, uint64_t *p)
{
    const size_t n = (size_t)1 << qemu_plugin_mem_size_shift(info);

    p[1] = p[2] = 0;
    if (n > 16 || !read_memory.symbol || read_memory.call(cpu(), addr, p + 1, n, false) != 0)
        return p;
    p[0] = (uint64_t)REC_VALUE << REC_EVENT_TYPE | (n + 7) / 8;
    return p + 1 + (n + 7) / 8;
}

static void on_memory(unsigned vcpu, uint32_t info, uint64_t addr, void *port)
{
    uint64_t *p;
    const uint32_t shift = qemu_plugin_mem_size_shift(info);
    const bool store = qemu_plugin_mem_is_store(info);
    const uint32_t dx = (uint32_t)(uintptr_t)port | shift << REC_PORT_SIZE;

    if (port && store) { /* ins */
        tried[vcpu % LANES] = !tried[vcpu % LANES];
        if (tried[vcpu % LANES])
            return;
        on_port_dx(vcpu, (void *)(uintptr_t)(dx & ~(uint32_t)PORT_STRING));
    }
    p = collect_room(vcpu, true);
    p[0] = (uint64_t)REC_MEMORY << REC_EVENT_TYPE |
           ((store ? REC_EVENT_STORE : 0) | (uint64_t)shift << REC_EVENT_SIZE) >> 32;
    p[1] = addr;
    p += 2;
    if (collect_shared->values && !qemu_plugin_hwaddr_is_io(qemu_plugin_get_hwaddr(info, addr)))
        p = put_value(info, addr, p);
    collect_advance(vcpu, put_physical(info, addr, p));
    if (port && !store) /* outs */
        on_port_dx(vcpu, (void *)(uintptr_t)(dx & ~(uint32_t)PORT_STRING));
}

/* --- translation --- */

/* Log 2 of the bytes that an IN or OUT moves whose opcode has the bit of wide operands set. */
static uint32_t width(const struct qemu_plugin_insn *insn)
{
    char *text = qemu_plugin_insn_disas(insn);
    const bool narrow = text && strstr(text, "%ax");

    free(text);
    return narrow ? 1 : 2;
}

/*
 * Which port the instruction with CODE accesses, as the low bits of REC_PORT; ports in DX are 0.
 * String instructions: PORT_STRING. 0: none.
 */
static uint32_t port_of(const uint8_t *code, const struct qemu_plugin_insn *insn, bool *dx)
{
    size_t i = 0;
    uint32_t what;

    while (i + 2 < REC_INSN_CODE && code[i] && strchr("\x66\x67\xf2\xf3\x26\x2e\x36\x3e", code[i]))
        i++;
    if ((code[i] & 0xfc) == 0x6c)
        return PORT_STRING | (code[i] & 2 ? (uint32_t)REC_PORT_OUT : 0);
    if ((code[i] & 0xf4) != 0xe4)
        return 0;
    *dx = code[i] & 8;
    what = PORT_HERE | (code[i] & 2 ? (uint32_t)REC_PORT_OUT : 0);
    if (code[i] & 1)
        what |= width(insn) << REC_PORT_SIZE;
    return *dx ? what : what | code[i + 1];
}

void system_segment(const struct qemu_plugin_tb *tb, size_t from, size_t last, uint32_t place)
{
    struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, from);
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, last);
    void *word = (void *)(uintptr_t)place;
    bool dx = false;
    uint32_t port;

    if (place == 0)
        return;
    qemu_plugin_register_vcpu_insn_exec_cb(first, arm && from == 0 ? on_block : on_segment,
                                           registers_flags(), word);
    port = x86 ? port_of(collect_insn(word)[last - from].code, insn, &dx) : 0;
    if (port & PORT_HERE)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, dx ? on_port_dx : on_port, registers_flags(),
                                               (void *)(uintptr_t)(port & ~(uint32_t)PORT_HERE));
    if (collect_memory(&collect_insn(word)[last - from]))
        qemu_plugin_register_vcpu_mem_cb(
            insn, on_memory, port & PORT_STRING ? registers_flags() : QEMU_PLUGIN_CB_NO_REGS,
            QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)(port & PORT_STRING ? port : 0));
}
