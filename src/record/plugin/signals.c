/*
 * signals.c - handlers of signals: where what they interrupt goes on.
 *
 * Implements signals.h and docs/recording.md, "Signals". QEMU tells plugins nothing of signals, but
 * sigaction names the handlers, and at the first instruction of one the stack has the frame that
 * Linux lays out (struct rt_sigframe, and struct sigframe of i386 and Arm: arch/.../signal.c,
 * asm/sigcontext.h). A handler that is called as a function has none: it is told by its return
 * address, which does not lead to a sigreturn system call.
 */
#define _GNU_SOURCE /* process_vm_readv */
#include "record/plugin/signals.h"

#include "record/plugin/collect.h"
#include "record/plugin/registers.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { HANDLERS = 1024, CODE = 8, NONE = 0xff };

/* What the system calls are called, and where things are in registers and frames. */
struct convention {
    uint16_t rt_sigaction, sigaction; /* system calls; 0: there is none */
    uint8_t word, stack;              /* bytes of an address; number of the stack pointer */
    uint8_t link;                     /* register with the return address; NONE: on the stack */
    uint8_t number;                   /* register with the signal's number; NONE: on the stack */
    uint16_t pc, rt_pc; /* of both kinds of frame: the interrupted pc, see interrupted() */
};

static const struct convention conventions[] = {
    [REC_X86_64] = {13, 0, 8, REC_X86_64_SP, NONE, 5, 176, 176},
    [REC_X86] = {174, 67, 4, REC_X86_SP, NONE, NONE, 64, 76},
    [REC_A64] = {134, 0, 8, REC_A64_SP, 30, 0, 568, 568},
    [REC_ARM] = {174, 67, 4, REC_ARM_SP, 14, 0, 92, 220},
    [REC_PPC] = {173, 67, 4, REC_PPC_SP, REC_PPC_LR, 3, 28, 48},
    [REC_OTHER] = {0},
};

/* Open addressing. Handlers are never forgotten: that would be of no use. */
static _Atomic uint64_t handlers[HANDLERS];

static _Atomic uint64_t *slot_of(uint64_t handler)
{
    for (uint32_t i = 0, h = (uint32_t)(handler * UINT64_C(0x9e3779b97f4a7c15) >> 32); i < HANDLERS;
         i++, h++) {
        _Atomic uint64_t *slot = &handlers[h % HANDLERS];
        const uint64_t there = atomic_load_explicit(slot, memory_order_relaxed);

        if (there == 0 || there == handler)
            return slot;
    }
    return NULL;
}

/* N bytes of the program at ADDR. False: there is no memory, or it is not known where. */
static bool read_bytes(uint64_t addr, void *to, size_t n)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the program's memory is part of QEMU's */
    struct iovec from = {(void *)(collect_host_base() + (uintptr_t)addr), n}, here = {to, n};

    return collect_has_base() && process_vm_readv(getpid(), &here, 1, &from, 1, 0) == (ssize_t)n;
}

/* The word at ADDR: 0 where there is none. */
static uint64_t read_word(const struct convention *c, uint64_t addr)
{
    uint8_t bytes[8] = {0};
    uint64_t value = 0;

    if (!read_bytes(addr, bytes, c->word))
        return 0;
    for (unsigned i = 0; i < c->word; i++)
        value |= (uint64_t)bytes[collect_shared->isa == REC_PPC ? c->word - 1 - i : i] << 8 * i;
    return value;
}

static uint64_t read_register(unsigned number)
{
    uint64_t words[REGISTERS_WORDS];

    return registers_words(number, words) ? words[0] : 0;
}

static const struct convention *convention(void)
{
    const unsigned isa = collect_shared->isa;

    return !collect_shared->system && isa < sizeof conventions / sizeof *conventions &&
                   conventions[isa].rt_sigaction && registers_there()
               ? &conventions[isa]
               : NULL;
}

void signals_called(int64_t number, uint64_t action)
{
    const struct convention *c = convention();
    _Atomic uint64_t *slot;
    uint64_t handler;

    if (!c || action == 0 ||
        (number != c->rt_sigaction && !(c->sigaction && number == c->sigaction)))
        return;
    handler = read_word(c, action); /* the first member of either struct */
    if (handler <= 1)               /* SIG_DFL, SIG_IGN */
        return;
    if (collect_shared->isa == REC_ARM)
        handler &= ~UINT64_C(1);
    if ((slot = slot_of(handler)) != NULL)
        atomic_store_explicit(slot, handler, memory_order_relaxed);
}

/* Is the code at ADDR the system call sigreturn or rt_sigreturn? Debuggers know it by this, too. */
static bool is_return(uint64_t addr)
{
    static const struct {
        uint8_t isa, thumb, n, code[CODE];
    } known[] = {
        {REC_X86_64, 0, 8, {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f}}, /* mov $15, %rax */
        {REC_X86_64, 0, 7, {0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}},       /* mov $15, %eax */
        {REC_X86, 0, 8, {0x58, 0xb8, 0x77, 0x00, 0x00, 0x00, 0xcd, 0x80}},    /* pop; mov $119 */
        {REC_X86, 0, 7, {0xb8, 0xad, 0x00, 0x00, 0x00, 0xcd, 0x80}},          /* mov $173, %eax */
        {REC_A64, 0, 8, {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}},    /* mov x8, #139 */
        {REC_PPC, 0, 8, {0x38, 0x00, 0x00, 0x77, 0x44, 0x00, 0x00, 0x02}},    /* li r0, 119 */
        {REC_PPC, 0, 8, {0x38, 0x00, 0x00, 0xac, 0x44, 0x00, 0x00, 0x02}},    /* li r0, 172 */
        {REC_ARM, 0, 4, {0x77, 0x70, 0xa0, 0xe3}},                            /* mov r7, #119 */
        {REC_ARM, 0, 4, {0xad, 0x70, 0xa0, 0xe3}},                            /* mov r7, #173 */
        {REC_ARM, 1, 4, {0x77, 0x27, 0x00, 0xdf}},
        {REC_ARM, 1, 4, {0xad, 0x27, 0x00, 0xdf}},
        {REC_ARM, 1, 4, {0x4f, 0xf0, 0x77, 0x07}},
        {REC_ARM, 1, 4, {0x4f, 0xf0, 0xad, 0x07}},
    };
    const unsigned thumb = collect_shared->isa == REC_ARM && addr & 1;
    uint8_t code[CODE];

    if (!read_bytes(addr - thumb, code, sizeof code))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].isa == collect_shared->isa && known[i].thumb == thumb &&
            memcmp(known[i].code, code, known[i].n) == 0)
            return true;
    return false;
}

/*
 * The address that the frame at STACK says the interrupted code goes on at. Those of 32 bits are of
 * two kinds, for handlers with and without siginfo. On i386 that with one has its address; on Arm
 * it begins with it, whose first word is the NUMBER of the signal (that of the other is 0). On
 * PowerPC r4 has the address of a struct sigcontext or, where r5 has that of a struct ucontext,
 * within the same frame, of the siginfo: both refer to the registers.
 */
static uint64_t interrupted(const struct convention *c, uint64_t stack, uint64_t number)
{
    enum { NIP = 128, FRAME = 8192 };

    if (collect_shared->isa == REC_PPC) {
        const uint64_t context = read_register(4), ucontext = read_register(5);
        const bool rt = ucontext > context && ucontext - context < FRAME && context > stack;
        const uint64_t regs = read_word(c, rt ? ucontext + c->rt_pc : context + c->pc);

        return read_word(c, regs + NIP);
    }
    if (collect_shared->isa == REC_X86 && read_word(c, stack + 8) == stack + 16)
        return read_word(c, read_word(c, stack + 12) + c->rt_pc);
    if (collect_shared->isa == REC_ARM && read_word(c, stack) == number)
        return read_word(c, stack + c->rt_pc);
    return read_word(c, stack + c->pc);
}

static void on_handler(unsigned vcpu, void *user)
{
    const struct convention *c = convention();
    const uint64_t stack = c ? read_register(c->stack) : 0;
    uint64_t words[2], number;

    (void)user;
    if (!c || !is_return(c->link == NONE ? read_word(c, stack) : read_register(c->link)))
        return;
    number = c->number == NONE ? read_word(c, stack + c->word) : read_register(c->number);
    words[0] = (uint64_t)REC_SIGNALLED << REC_EVENT_TYPE | (uint32_t)number;
    words[1] = interrupted(c, stack, number);
    if (words[1])
        collect_words(vcpu, words, 2);
}

void signals_translated(struct qemu_plugin_insn *first, uint64_t pc)
{
    const _Atomic uint64_t *slot = convention() ? slot_of(pc) : NULL;

    if (slot && pc && atomic_load_explicit(slot, memory_order_relaxed) == pc)
        qemu_plugin_register_vcpu_insn_exec_cb(first, on_handler, registers_flags(), NULL);
}
