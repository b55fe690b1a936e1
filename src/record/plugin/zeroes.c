/*
 * zeroes.c - A64: the register that DC ZVA names, whose access QEMU does not tell.
 *
 * Implements zeroes.h; docs/recording.md, "aarch64".
 */
#include "record/plugin/zeroes.h"

#include "record/plugin/collect.h"
#include "record/plugin/registers.h"

enum { ZERO_REGISTER = 31 };

/* 1 + the register of a DC ZVA that ends its page: it is told where the next block begins. */
static _Thread_local unsigned waiting;

static void on_zero(unsigned vcpu, void *number)
{
    uint64_t words[REGISTERS_WORDS], *p;

    if (registers_words((unsigned)(uintptr_t)number, words) == 0)
        return;
    p = collect_room(vcpu, true);
    p[0] = (uint64_t)REC_REGISTERS << REC_EVENT_TYPE | 3;
    p[1] = words[0];
    p[2] = p[3] = 0;
    collect_advance(vcpu, p + 4);
}

static void on_end(unsigned vcpu, void *number)
{
    (void)vcpu;
    waiting = 1 + (unsigned)(uintptr_t)number;
}

static void on_begin(unsigned vcpu, void *unused)
{
    const unsigned number = waiting - 1;

    (void)unused;
    if (waiting == 0)
        return;
    waiting = 0;
    on_zero(vcpu, (void *)(uintptr_t)number);
}

void zeroes_begin(const struct qemu_plugin_tb *tb)
{
    struct qemu_plugin_insn *first = qemu_plugin_tb_get_insn(tb, 0);

    if (!registers_exact() && registers_there() && collect_shared->memory &&
        qemu_plugin_insn_vaddr(first) % (1u << REC_PAGE_BITS) == 0)
        qemu_plugin_register_vcpu_insn_exec_cb(first, on_begin, registers_flags(), NULL);
}

/*
 * Where registers are not exact at each instruction they are so where a block begins, and behind a
 * function that QEMU has called for an instruction, as it does for DC ZVA: there all of them are in
 * memory. The register is the same then. A block ends with its page.
 */
void zeroes_tell(const struct qemu_plugin_tb *tb, size_t i, const uint8_t *code)
{
    const bool zva = code[3] == 0xd5 && code[2] == 0x0b && code[1] == 0x74 &&
                     ((code[0] & 0xe0) == 0x20 || (code[0] & 0xe0) == 0x80);
    const uint8_t number = code[0] & 31;
    bool last;

    if (!zva || number == ZERO_REGISTER || !registers_there() || !collect_shared->memory)
        return;
    last = !registers_exact() && i + 1 == qemu_plugin_tb_n_insns(tb);
    if (!registers_exact() && !last)
        i++;
    qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, i), last ? on_end : on_zero,
                                           registers_flags(), (void *)(uintptr_t)number);
}
