/*
 * The call stack where exceptions, system calls and task switches follow one another without an
 * instruction between, and where they come just after a branch.
 */
#include "trod/callstack.h"

#include "trod/drmemtrace.h"
#include "trod/format.h"
#include "trod/io.h"
#include "trod/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What happens: "+" where an activation begins, of which kind and where; "-" where it ends. */
struct log {
    char text[4096];
    size_t n;
};

static int enter(void *ctx, struct trod_frame *f)
{
    struct log *l = ctx;

    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "+%s %llx ",
                             trod_frame_kind_name(f->kind), (unsigned long long)f->entry.pc);
    return 0;
}

static int leave(void *ctx, struct trod_frame *f, const struct trod_frame_left *end)
{
    struct log *l = ctx;

    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "-%llx%s ",
                             (unsigned long long)f->entry.pc,
                             end->how == TROD_FRAME_RETURNED ? ""
                             : end->how == TROD_FRAME_OPEN   ? "?"
                                                             : "!");
    return 0;
}

static struct log seen;
static const struct trod_callstack_sink sink = {&seen, enter, leave, NULL};

/* ---- drmemtrace: instructions of x86-64 and markers */

struct row {
    bool marker; /* else an instruction */
    uint64_t at; /* its address; value of the marker */
    enum trod_drm_marker sub;
    enum trod_branch is;
};

static const char *drmemtrace(const struct row *row, size_t n)
{
    struct trod_callstack *c;
    struct trod_batch *b;
    struct trod_meta meta;

    seen.n = 0;
    trod_meta_init(&meta);
    meta.driver = trod_format_find("drmemtrace", strlen("drmemtrace"));
    meta.isa = TROD_ISA_X86_64;
    assert_int_equal(trod_batch_new(&b, (uint32_t)n), 0);
    trod_batch_clear(b);
    b->meta = &meta;
    b->have = TROD_COL_KIND | TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR | TROD_COL_SUB |
              TROD_COL_VALUE;
    for (uint32_t i = 0; i < n; i++) {
        const bool marker = row[i].marker;

        b->kind[i] = marker ? TROD_MARKER : TROD_INSTR;
        b->has[i] = TROD_COL_KIND | (marker ? TROD_COL_SUB | TROD_COL_VALUE
                                            : TROD_COL_FLAGS | TROD_COL_SIZE | TROD_COL_ADDR);
        b->sub[i] = (uint16_t)row[i].sub;
        b->value[i] = b->addr[i] = row[i].at;
        b->size[i] = 4;
        b->flags[i] = row[i].is;
    }
    b->n = (uint32_t)n;
    assert_int_equal(trod_callstack_new(&c, &sink, NULL, false), 0);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(trod_callstack_feed(c, b, i, i + 1), 0);
    assert_int_equal(trod_callstack_end(c), 0);
    trod_callstack_free(c);
    trod_batch_free(b);
    trod_meta_fini(&meta);
    return seen.text;
}

#define MARK(name, value)                                                                          \
    {                                                                                              \
        true, value, TROD_DRM_##name, TROD_BR_NONE                                                 \
    }
#define INSN(pc, is)                                                                               \
    {                                                                                              \
        false, pc, 0, TROD_BR_##is                                                                 \
    }

/* A signal's handler is left, and the next signal comes before anything else is executed. */
static void signal_after_signal(void **state)
{
    static const struct row row[] = {
        INSN(0x1000, OTHER),   MARK(KERNEL_EVENT, 0x1004), INSN(0x9000, OTHER),
        INSN(0x9004, SYSCALL), MARK(KERNEL_XFER, 0x9008),  MARK(KERNEL_EVENT, 0x1004),
        INSN(0x9000, OTHER),   INSN(0x9004, SYSCALL),      MARK(KERNEL_XFER, 0x9008),
        INSN(0x1004, CALL),    INSN(0x2000, RETURN),       INSN(0x1008, OTHER),
    };

    (void)state;
    assert_string_equal(drmemtrace(row, sizeof row / sizeof *row),
                        "+root 1000 +exception 9000 -9000 +exception 9000 -9000 +call 2000 -2000 "
                        "-1000? ");
}

/* The kernel's code of a system call ends with the delivery of a signal, or with its return. */
static void signal_after_system_call(void **state)
{
    static const struct row row[] = {
        INSN(0x1000, SYSCALL),         MARK(SYSCALL_TRACE_START, 39),
        INSN(0xf000, OTHER),           INSN(0xf004, INDIRECT),
        MARK(SYSCALL_TRACE_END, 39),   MARK(KERNEL_EVENT, 0x1004),
        INSN(0x9000, OTHER),           INSN(0x9004, SYSCALL),
        MARK(SYSCALL_TRACE_START, 15), INSN(0xf100, OTHER),
        INSN(0xf104, INDIRECT),        MARK(SYSCALL_TRACE_END, 15),
        MARK(KERNEL_XFER, 0x9008),     INSN(0x1004, CALL),
        INSN(0x2000, RETURN),          INSN(0x1008, OTHER),
    };

    (void)state;
    assert_string_equal(drmemtrace(row, sizeof row / sizeof *row),
                        "+root 1000 +exception f000 -f000 +exception 9000 +exception f100 -f100 "
                        "-9000 +call 2000 -2000 -1000? ");
}

/* The kernel's code of a task switch comes between a branch and where it leads. */
static void switch_after_branch(void **state)
{
    static const struct row row[] = {
        INSN(0x1000, CALL),          MARK(CONTEXT_SWITCH_START, 1), INSN(0xf000, INDIRECT),
        MARK(CONTEXT_SWITCH_END, 1), INSN(0x2000, RETURN),          MARK(CONTEXT_SWITCH_START, 1),
        INSN(0xf000, INDIRECT),      MARK(CONTEXT_SWITCH_END, 1),   INSN(0x1004, OTHER),
    };

    (void)state;
    assert_string_equal(drmemtrace(row, sizeof row / sizeof *row),
                        "+root 1000 +exception f000 -f000 +call 2000 +exception f000 -f000 -2000 "
                        "-1000? ");
}

/* ---- Tarmac of A64, a line for each letter of a text */

static const char *tarmac(const char *text)
{
    struct trod_reader_options options = {.struct_size = sizeof options, .from = "tarmac"};
    struct trod_callstack *c;
    struct trod_input *in;
    struct trod_reader *r;
    struct trod_batch *b;
    struct trod_meta meta;

    seen.n = 0;
    trod_meta_init(&meta);
    assert_int_equal(trod_input_memory(&in, text, strlen(text), "test", NULL, NULL), 0);
    assert_int_equal(trod_reader_open(&r, in, &options, &meta, NULL), 0);
    assert_int_equal(trod_batch_new(&b, TROD_BATCH_ROWS), 0);
    b->want = TROD_CALLSTACK_COLUMNS;
    assert_int_equal(trod_callstack_new(&c, &sink, NULL, false), 0);
    while (trod_reader_next(r, b) == 1)
        for (uint32_t i = 0; i < b->n; i += 3)
            assert_int_equal(trod_callstack_feed(c, b, i, b->n - i < 3 ? b->n : i + 3), 0);
    assert_int_equal(trod_callstack_end(c), 0);
    trod_callstack_free(c);
    trod_batch_free(b);
    trod_reader_close(r);
    trod_meta_fini(&meta);
    return seen.text;
}

#define I(pc, op) "1 clk IT (1) " pc " " op " O EL1h_n : X\n"
#define NOP       "d503201f"
#define RET       "d65f03c0"
#define BLR       "d63f0020"
#define SP(value) "1 clk R SP_EL1 00000000" value "\n"
/* An interrupt; the record says where the handler is, not where it will return to. */
#define IRQ  "1 clk E 00009000 00000085 CoreEvent_CURRENT_SPx_IRQ\n" I("00009000", NOP)
#define ERET I("00009004", "d69f03e0")

/* It comes just after a branch. */
static void interrupt_after_branch(void **state)
{
    (void)state;
    assert_string_equal(tarmac(I("00001000", "94000400") IRQ ERET I("00002000", NOP)
                                   I("00002004", RET) IRQ ERET I("00001004", NOP)),
                        "+root 1000 +exception 9000 -9000 +call 2000 +exception 9000 -9000 -2000 "
                        "-1000? ");
    /* through a register: a function that is known, or a stack that is */
    assert_string_equal(tarmac(I("00001000", "94000400") I("00002000", RET) I("00001004", BLR)
                                   IRQ ERET I("00002000", NOP) I("00002004", RET)
                                       I("00001008", NOP)),
                        "+root 1000 +call 2000 -2000 +exception 9000 -9000 +call 2000 -2000 "
                        "-1000? ");
    assert_string_equal(tarmac(SP("00008000") I("00001000", BLR) IRQ SP("00007f00") SP("00008000")
                                   ERET I("00002000", NOP) I("00002004", RET) I("00001004", NOP)),
                        "+root 1000 +exception 9000 -9000 +call 2000 -2000 -1000? ");
}

/* A kernel switches from a task that has just called to one that has just returned, and back. */
static void task_after_branch(void **state)
{
    static const char *const want =
        "+root 1000 +call 2000 +exception 9000 -9000 +root 5000 +exception 9000 -9000 -2000 "
        "+exception 9000 -9000 +call 6000 -6000 -5000? -1000? ";

    (void)state;
    assert_string_equal(tarmac(I("00001000", "94000400") I("00002000", NOP) I("00002004", RET)
                                   IRQ ERET I("00005000", NOP) I("00005004", "940003ff")
                                       IRQ ERET I("00001004", NOP) IRQ ERET I("00006000", NOP)
                                           I("00006004", RET) I("00005008", NOP)),
                        want);
    assert_string_equal(
        tarmac(SP("00008000") I("00001000", "94000400") I("00002000", NOP) I("00002004", RET)
                   IRQ SP("00007000") ERET I("00005000", NOP) I("00005004", "940003ff")
                       IRQ SP("00008000") ERET I("00001004", NOP) IRQ SP("00007000")
                           ERET I("00006000", NOP) I("00006004", RET) I("00005008", NOP)),
        want);
}

/* What a handler restores the link register to was not written by what it interrupted. */
static void restored_link(void **state)
{
    (void)state;
    assert_string_equal(
        tarmac(
            I("00001000", "94000400") "1 clk R X30 0000000000001004\n" I("00002000", RET) I(
                "00001004", NOP) I("00001008", NOP)
                I("0000100c", "17ffffff") "1 clk E 00001008 00000085 CoreEvent_CURRENT_SPx_IRQ\n" I(
                    "00009000", NOP) "1 clk R X30 0000000000001004\n" ERET I("00001008", NOP)),
        "+root 1000 +call 2000 -2000 +exception 9000 -9000 -1000? ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signal_after_signal), cmocka_unit_test(signal_after_system_call),
        cmocka_unit_test(switch_after_branch), cmocka_unit_test(interrupt_after_branch),
        cmocka_unit_test(task_after_branch),   cmocka_unit_test(restored_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
