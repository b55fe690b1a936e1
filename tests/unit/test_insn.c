/*
 * test_insn.c - facts of instructions, against values worked out by hand from the manuals (Arm
 * Architecture Reference Manual; MIPS32 volume II; PowerPC Programming Environments; Intel volume
 * 2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trod/insn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trod_config.h"

/* What is expected. Sizes of 0 with loads or stores: not told. */
struct fact {
    const char *text;
    uint32_t word; /* as the manual writes it: A32, A64, MIPS, PowerPC; T32: first halfword high */
    unsigned branch;
    uint64_t target; /* 0: none in the opcode */
    unsigned loads, stores, read_size, write_size;
    uint32_t flags, not_flags;
    const char *reads, *writes; /* registers, each with a blank behind; NULL: not looked at */
};

enum { AT = 0x8000 };

#define PRED    TROD_INSN_PREDICATED
#define COUNTS  TROD_INSN_COUNTS
#define SIZES   TROD_INSN_SIZES
#define NOTHING TROD_BR_NONE, 0, 0, 0, 0, 0

static unsigned wrong;

static void say(const char *text, const char *what, uint64_t got, uint64_t want)
{
    if (got == want)
        return;
    fprintf(stderr, "%s: %s is 0x%llx, not 0x%llx\n", text, what, (unsigned long long)got,
            (unsigned long long)want);
    wrong++;
}

/* LIST ("x0 x1 ") names just the N registers at REGS. */
static void registers(struct trod_insn_decoder *d, unsigned iset, const struct fact *f,
                      const char *list, const uint16_t *regs, unsigned n, const char *what)
{
    unsigned blanks = 0;

    if (!list)
        return;
    for (const char *p = list; *p; p++)
        blanks += *p == ' ';
    say(f->text, what, n, blanks);
    for (unsigned i = 0; i < n; i++) {
        char name[32], padded[512];

        snprintf(name, sizeof name, " %s ", trod_insn_reg_name(d, iset, regs[i]));
        snprintf(padded, sizeof padded, " %s", list);
        if (!strstr(padded, name)) {
            fprintf(stderr, "%s: %s%sis not expected\n", f->text, what, name);
            wrong++;
        }
    }
}

static void look(struct trod_insn_decoder *d, unsigned iset, const struct fact *f,
                 const uint8_t *code, uint32_t n)
{
    const struct trod_insn *i = trod_insn_decode(d, iset, AT, code, n);

    say(f->text, "valid", i->valid, 1);
    say(f->text, "size", i->size, n);
    say(f->text, "branch", i->branch, f->branch);
    say(f->text, "has a target", (i->flags & TROD_INSN_TARGET) != 0, f->target != 0);
    if (f->target)
        say(f->text, "target", i->target, f->target);
    say(f->text, "loads", i->loads, f->loads);
    say(f->text, "stores", i->stores, f->stores);
    if (f->read_size)
        say(f->text, "bytes read", i->read_size, f->read_size);
    if (f->write_size)
        say(f->text, "bytes written", i->write_size, f->write_size);
    say(f->text, "flags", i->flags & f->flags, f->flags);
    say(f->text, "flags that should not be", i->flags & f->not_flags, 0);
    registers(d, iset, f, f->reads, i->reads, i->n_reads, "read");
    registers(d, iset, f, f->writes, i->writes, i->n_writes, "written");
}

static struct trod_insn_decoder *decoder(enum trod_isa isa, enum trod_endian endian)
{
    struct trod_insn_decoder *d = NULL;

    assert_int_equal(trod_insn_decoder_new(&d, isa, endian), TROD_OK);
    wrong = 0;
    return d;
}

/* Words of four bytes; two where the high half of a T32 word is 0, or a RISC-V word says so. */
static void words(enum trod_isa isa, enum trod_endian endian, unsigned iset, const struct fact *f,
                  size_t n)
{
    struct trod_insn_decoder *d = decoder(isa, endian);

    for (size_t k = 0; k < n; k++) {
        uint32_t w = f[k].word;
        uint8_t b[4] = {(uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16), (uint8_t)(w >> 24)};
        uint8_t be[4] = {b[3], b[2], b[1], b[0]}, t32[4] = {b[2], b[3], b[0], b[1]};

        if (iset == TROD_ISET_T32)
            look(d, iset, &f[k], w >> 16 ? t32 : b, w >> 16 ? 4 : 2);
        else if (isa == TROD_ISA_RISCV64 || isa == TROD_ISA_RISCV32)
            look(d, iset, &f[k], b, (w & 3) == 3 ? 4 : 2);
        else
            look(d, iset, &f[k], endian == TROD_ENDIAN_BIG ? be : b, 4);
    }
    trod_insn_decoder_free(d);
    assert_int_equal(wrong, 0);
}

#define WORDS(isa, endian, iset, table)                                                            \
    words(isa, endian, iset, table, sizeof(table) / sizeof *(table))

#if TROD_HAVE_CAPSTONE

static void test_a64(void **state)
{
    static const struct fact facts[] = {
        {"nop", 0xd503201f, NOTHING, COUNTS, PRED, "", ""},
        {"add x0,x1,x2", 0x8b020020, NOTHING, COUNTS, 0, "x1 x2 ", "x0 "},
        {"b +0x10", 0x14000004, TROD_BR_DIRECT, 0x8010, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bl +0x10", 0x94000004, TROD_BR_CALL, 0x8010, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"b.ne -0x10", 0x54ffff81, TROD_BR_COND, 0x7ff0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"b.al +0x10", 0x5400008e, TROD_BR_DIRECT, 0x8010, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"cbz x0,+0x20", 0xb4000100, TROD_BR_COND, 0x8020, 0, 0, 0, 0, COUNTS, 0, "x0 ", ""},
        {"tbnz w0,#3,+8", 0x37180040, TROD_BR_COND, 0x8008, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"br x3", 0xd61f0060, TROD_BR_INDIRECT, 0, 0, 0, 0, 0, COUNTS, 0, "x3 ", NULL},
        {"blr x3", 0xd63f0060, TROD_BR_ICALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"ret", 0xd65f03c0, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, "x30 ", ""},
        {"retaa", 0xd65f0bff, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, "x30 sp ", ""},
        {"retab", 0xd65f0fff, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, "x30 sp ", ""},
        {"eretaa", 0xd69f0bff, TROD_BR_ERET, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"braa x1,x2", 0xd71f0822, TROD_BR_INDIRECT, 0, 0, 0, 0, 0, COUNTS, 0, "x1 x2 ", ""},
        {"braaz x1", 0xd61f083f, TROD_BR_INDIRECT, 0, 0, 0, 0, 0, COUNTS, 0, "x1 ", ""},
        {"blrab x3,sp", 0xd73f0c7f, TROD_BR_ICALL, 0, 0, 0, 0, 0, COUNTS, 0, "x3 sp ", "x30 "},
        {"blraaz x3", 0xd63f087f, TROD_BR_ICALL, 0, 0, 0, 0, 0, COUNTS, 0, "x3 ", "x30 "},
        {"ret x5", 0xd65f00a0, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, "x5 ", ""},
        {"eret", 0xd69f03e0, TROD_BR_ERET, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"svc #0", 0xd4000001, TROD_BR_SYSCALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"brk #0", 0xd4200000, NOTHING, TROD_INSN_TRAP, 0, NULL, NULL},
        {"ldr x0,[x1]", 0xf9400020, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, "x1 ", "x0 "},
        {"ldr w0,[x1]", 0xb9400020, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldrb w0,[x1]", 0x39400020, TROD_BR_NONE, 0, 1, 0, 1, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldrsh x0,[x1]", 0x79800020, TROD_BR_NONE, 0, 1, 0, 2, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldrsw x0,[x1]", 0xb9800020, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldr x0,+0x10", 0x58000080, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldr q0,[x1]", 0x3dc00020, TROD_BR_NONE, 0, 1, 0, 16, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldp x0,x1,[sp]", 0xa94007e0, TROD_BR_NONE, 0, 1, 0, 16, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldp q0,q1,[x2]", 0xad400440, TROD_BR_NONE, 0, 1, 0, 32, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldpsw x0,x1,[x2]", 0x69400440, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL,
         NULL},
        {"ldxr x0,[x1]", 0xc85f7c20, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldaxrb w0,[x1]", 0x085ffc20, TROD_BR_NONE, 0, 1, 0, 1, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldar x0,[x1]", 0xc8dffc20, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldnp x0,x1,[x2]", 0xa8400440, TROD_BR_NONE, 0, 1, 0, 16, 0, COUNTS | SIZES, 0, NULL,
         NULL},
        {"str x0,[x1]", 0xf9000020, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS | SIZES, 0, NULL, ""},
        {"strh w0,[x1]", 0x79000020, TROD_BR_NONE, 0, 0, 1, 0, 2, COUNTS | SIZES, 0, NULL, NULL},
        {"sturb w0,[x1]", 0x38000020, TROD_BR_NONE, 0, 0, 1, 0, 1, COUNTS | SIZES, 0, NULL, NULL},
        {"stp d0,d1,[x2]", 0x6d000440, TROD_BR_NONE, 0, 0, 1, 0, 16, COUNTS | SIZES, 0, NULL, NULL},
        {"stp w0,w1,[x2]", 0x29000440, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS | SIZES, 0, NULL, NULL},
        {"stlr w0,[x1]", 0x889ffc20, TROD_BR_NONE, 0, 0, 1, 0, 4, COUNTS | SIZES, 0, NULL, NULL},
        {"stxr w2,x0,[x1]", 0xc8027c20, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS | PRED, 0, NULL, NULL},
        {"stxp w2,x0,x3,[x1]", 0xc8220c20, TROD_BR_NONE, 0, 0, 1, 0, 16, PRED, 0, NULL, NULL},
        {"ld1 {v0.16b},[x0]", 0x4c407000, TROD_BR_NONE, 0, 1, 0, 0, 0, 0, SIZES, NULL, NULL},
        {"st1 {v0.16b},[x0]", 0x4c007000, TROD_BR_NONE, 0, 0, 1, 0, 0, 0, SIZES, NULL, NULL},
        {"prfm pldl1keep,[x0]", 0xf9800000, NOTHING, TROD_INSN_PREFETCH, 0, NULL, NULL},
        {"dc zva,x0", 0xd50b7420, NOTHING, TROD_INSN_FLUSH, COUNTS, NULL, NULL},
        {"fadd d0,d1,d2", 0x1e622820, NOTHING, TROD_INSN_FP | COUNTS, 0, "d1 d2 ", "d0 "},
    };

    (void)state;
    WORDS(TROD_ISA_A64, TROD_ENDIAN_LITTLE, TROD_ISET_A64, facts);
}

static void test_a32(void **state)
{
    static const struct fact facts[] = {
        {"mov r0,r0", 0xe1a00000, NOTHING, COUNTS, PRED, "r0 ", "r0 "},
        {"addne r0,r1,r2", 0x10810002, NOTHING, COUNTS | PRED, 0, NULL, NULL},
        {"b +0x10", 0xea000002, TROD_BR_DIRECT, 0x8010, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bne -0x10", 0x1afffffa, TROD_BR_COND, 0x7ff0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bl +0x10", 0xeb000002, TROD_BR_CALL, 0x8010, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"blx +0x10", 0xfa000002, TROD_BR_CALL, 0x8010, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"blx r3", 0xe12fff33, TROD_BR_ICALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bx lr", 0xe12fff1e, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, "lr ", NULL},
        {"bx r3", 0xe12fff13, TROD_BR_INDIRECT, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"mov pc,lr", 0xe1a0f00e, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"add pc,pc,r0", 0xe08ff000, TROD_BR_INDIRECT, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"ldr pc,[r0]", 0xe590f000, TROD_BR_INDIRECT, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"pop {r4,pc}", 0xe8bd8010, TROD_BR_RETURN, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldm r0,{r1,r2,r3}", 0xe890000e, TROD_BR_NONE, 0, 1, 0, 12, 0, COUNTS | SIZES, 0, NULL,
         NULL},
        {"svc #0", 0xef000000, TROD_BR_SYSCALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bkpt #0", 0xe1200070, NOTHING, TROD_INSN_TRAP, 0, NULL, NULL},
        {"ldr r0,[r1]", 0xe5910000, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, "r1 ", "r0 "},
        {"ldrb r0,[r1]", 0xe5d10000, TROD_BR_NONE, 0, 1, 0, 1, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldrsh r0,[r1]", 0xe1d100f0, TROD_BR_NONE, 0, 1, 0, 2, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldrsb r0,[r1]", 0xe1d100d0, TROD_BR_NONE, 0, 1, 0, 1, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldrd r0,r1,[r2]", 0xe1c200d0, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldrht r0,[r1],#0", 0xe0f100b0, TROD_BR_NONE, 0, 1, 0, 2, 0, COUNTS | SIZES, 0, NULL,
         NULL},
        {"str r0,[r1]", 0xe5810000, TROD_BR_NONE, 0, 0, 1, 0, 4, COUNTS | SIZES, 0, NULL, NULL},
        {"strh r0,[r1]", 0xe1c100b0, TROD_BR_NONE, 0, 0, 1, 0, 2, COUNTS | SIZES, 0, NULL, NULL},
        {"strd r0,r1,[r2]", 0xe1c200f0, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS | SIZES, 0, NULL, NULL},
        {"push {r4,lr}", 0xe92d4010, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS | SIZES, 0, NULL, NULL},
        {"push {r4}", 0xe52d4004, TROD_BR_NONE, 0, 0, 1, 0, 4, COUNTS | SIZES, 0, NULL, NULL},
        {"stmdb r0!,{r1-r4}", 0xe920001e, TROD_BR_NONE, 0, 0, 1, 0, 16, COUNTS | SIZES, 0, NULL,
         NULL},
        {"vldr d0,[r0]", 0xed900b00, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"vstr s0,[r0]", 0xed800a00, TROD_BR_NONE, 0, 0, 1, 0, 4, COUNTS | SIZES, 0, NULL, NULL},
        {"vpush {d8,d9}", 0xed2d8b04, TROD_BR_NONE, 0, 0, 1, 0, 16, COUNTS | SIZES, 0, NULL, NULL},
        {"pld [r0]", 0xf5d0f000, NOTHING, TROD_INSN_PREFETCH, 0, NULL, NULL},
        {"ldrex r0,[r1]", 0xe1910f9f, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"strex r2,r0,[r1]", 0xe1812f90, TROD_BR_NONE, 0, 0, 1, 0, 4, COUNTS | PRED, 0, NULL, NULL},
    };

    (void)state;
    WORDS(TROD_ISA_ARM, TROD_ENDIAN_LITTLE, TROD_ISET_A32, facts);
}

static void test_t32(void **state)
{
    static const struct fact facts[] = {
        {"nop", 0xbf00, NOTHING, COUNTS, PRED, NULL, NULL},
        {"b +0x10", 0xe006, TROD_BR_DIRECT, 0x8010, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bne -0x10", 0xd1f6, TROD_BR_COND, 0x7ff0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"b.w +0x1000", 0xf000bffe, TROD_BR_DIRECT, 0x9000, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bl +0x1000", 0xf000fffe, TROD_BR_CALL, 0x9000, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"cbz r0,+0x10", 0xb130, TROD_BR_COND, 0x8010, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bx lr", 0x4770, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, "lr ", NULL},
        {"blx r3", 0x4798, TROD_BR_ICALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"pop {r4,pc}", 0xbd10, TROD_BR_RETURN, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"push {r4,lr}", 0xb510, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS | SIZES, 0, NULL, NULL},
        {"ldr r0,[r1]", 0x6808, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldr r0,[pc,#4]", 0x4801, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"strb r0,[r1]", 0x7008, TROD_BR_NONE, 0, 0, 1, 0, 1, COUNTS | SIZES, 0, NULL, NULL},
        {"ldrd r0,r1,[r2]", 0xe9d20100, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"ldm r0!,{r1,r2}", 0xc806, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"tbb [pc,r0]", 0xe8dff000, TROD_BR_INDIRECT, 0, 1, 0, 1, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"svc #0", 0xdf00, TROD_BR_SYSCALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
    };

    (void)state;
    WORDS(TROD_ISA_ARM, TROD_ENDIAN_LITTLE, TROD_ISET_T32, facts);
}

static void test_mips(void **state)
{
    static const struct fact facts[] = {
        {"lui t0,0x1", 0x3c080001, NOTHING, COUNTS, 0, NULL, "t0 "},
        {"j 0x10000", 0x08004000, TROD_BR_DIRECT, 0x10000, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"jal 0x10000", 0x0c004000, TROD_BR_CALL, 0x10000, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"jr ra", 0x03e00008, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"jr t9", 0x03200008, TROD_BR_INDIRECT, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"jalr t9", 0x0320f809, TROD_BR_ICALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"beq t0,t1,+0x14", 0x11090004, TROD_BR_COND, 0x8014, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"b +0x14", 0x10000004, TROD_BR_DIRECT, 0x8014, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bal +0x14", 0x04110004, TROD_BR_CALL, 0x8014, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bltz t0,+0x14", 0x05000004, TROD_BR_COND, 0x8014, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"syscall", 0x0000000c, TROD_BR_SYSCALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"eret", 0x42000018, TROD_BR_ERET, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"lw t1,0(t0)", 0x8d090000, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, "t0 ", "t1 "},
        {"lbu t1,0(t0)", 0x91090000, TROD_BR_NONE, 0, 1, 0, 1, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"lh t1,0(t0)", 0x85090000, TROD_BR_NONE, 0, 1, 0, 2, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"sw t1,0(t0)", 0xad090000, TROD_BR_NONE, 0, 0, 1, 0, 4, COUNTS | SIZES, 0, NULL, NULL},
        {"sb t1,0(t0)", 0xa1090000, TROD_BR_NONE, 0, 0, 1, 0, 1, COUNTS | SIZES, 0, NULL, NULL},
        {"ldc1 f0,0(t0)", 0xd5000000, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"lwl t1,0(t0)", 0x89090000, TROD_BR_NONE, 0, 1, 0, 0, 0, COUNTS, SIZES, NULL, NULL},
        {"sc t1,0(t0)", 0xe1090000, TROD_BR_NONE, 0, 0, 1, 0, 4, COUNTS | PRED, 0, NULL, NULL},
        {"break", 0x0000000d, NOTHING, TROD_INSN_TRAP, 0, NULL, NULL},
    };

    (void)state;
    WORDS(TROD_ISA_MIPS32, TROD_ENDIAN_BIG, TROD_ISET_NONE, facts);
}

/* x86 instructions are bytes. */
static void test_x86(void **state)
{
    static const struct {
        struct fact f;
        uint8_t n, code[10];
    } facts[] = {
        {{"nop", 0, NOTHING, COUNTS, PRED, "", ""}, 1, {0x90}},
        {{"nop [rax]", 0, NOTHING, COUNTS, 0, NULL, NULL}, 3, {0x0f, 0x1f, 0x00}},
        {{"lea rax,[rdi]", 0, NOTHING, COUNTS, 0, "rdi ", "rax "}, 3, {0x48, 0x8d, 0x07}},
        {{"mov rax,[rdi]", 0, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, "rdi ", "rax "},
         3,
         {0x48, 0x8b, 0x07}},
        {{"mov [rdi],eax", 0, TROD_BR_NONE, 0, 0, 1, 0, 4, COUNTS | SIZES, 0, NULL, ""},
         2,
         {0x89, 0x07}},
        {{"add [rdi],al", 0, TROD_BR_NONE, 0, 1, 1, 1, 1, COUNTS | SIZES, 0, NULL, NULL},
         2,
         {0x00, 0x07}},
        {{"cmp [rdi],eax", 0, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, NULL, NULL},
         2,
         {0x39, 0x07}},
        {{"push rbx", 0, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS | SIZES, 0, NULL, NULL}, 1, {0x53}},
        {{"push [rdi]", 0, TROD_BR_NONE, 0, 1, 1, 8, 8, COUNTS | SIZES, 0, NULL, NULL},
         2,
         {0xff, 0x37}},
        {{"pop [rdi]", 0, TROD_BR_NONE, 0, 1, 1, 8, 8, COUNTS | SIZES, 0, NULL, NULL},
         2,
         {0x8f, 0x07}},
        {{"leave", 0, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL}, 1, {0xc9}},
        {{"call +0x10", 0, TROD_BR_CALL, 0x8015, 0, 1, 0, 8, COUNTS | SIZES, 0, NULL, NULL},
         5,
         {0xe8, 0x10, 0, 0, 0}},
        {{"call [rdi]", 0, TROD_BR_ICALL, 0, 1, 1, 8, 8, COUNTS | SIZES, 0, NULL, NULL},
         2,
         {0xff, 0x17}},
        {{"jmp +0x10", 0, TROD_BR_DIRECT, 0x8012, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
         2,
         {0xeb, 0x10}},
        {{"jmp [rdi]", 0, TROD_BR_INDIRECT, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
         2,
         {0xff, 0x27}},
        {{"jne -2", 0, TROD_BR_COND, 0x8000, 0, 0, 0, 0, COUNTS, 0, NULL, NULL}, 2, {0x75, 0xfe}},
        {{"loop -2", 0, TROD_BR_COND, 0x8000, 0, 0, 0, 0, COUNTS, 0, NULL, NULL}, 2, {0xe2, 0xfe}},
        {{"jrcxz +2", 0, TROD_BR_COND, 0x8004, 0, 0, 0, 0, COUNTS, 0, NULL, NULL}, 2, {0xe3, 0x02}},
        {{"ret", 0, TROD_BR_RETURN, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL}, 1, {0xc3}},
        {{"ret 16", 0, TROD_BR_RETURN, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, NULL, NULL},
         3,
         {0xc2, 0x10, 0}},
        {{"syscall", 0, TROD_BR_SYSCALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL}, 2, {0x0f, 0x05}},
        {{"int 0x80", 0, TROD_BR_SYSCALL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL}, 2, {0xcd, 0x80}},
        {{"int3", 0, NOTHING, TROD_INSN_TRAP, 0, NULL, NULL}, 1, {0xcc}},
        {{"iretq", 0, TROD_BR_ERET, 0, 0, 0, 0, 0, 0, COUNTS, NULL, NULL}, 2, {0x48, 0xcf}},
        {{"xchg [rdi],eax", 0, TROD_BR_NONE, 0, 1, 1, 4, 4, COUNTS | SIZES, 0, NULL, NULL},
         2,
         {0x87, 0x07}},
        {{"lock cmpxchg [rdi],ecx", 0, TROD_BR_NONE, 0, 1, 1, 4, 4, COUNTS | SIZES, 0, NULL, NULL},
         4,
         {0xf0, 0x0f, 0xb1, 0x0f}},
        {{"cmpxchg ebx,ecx", 0, NOTHING, COUNTS, 0, "ebx ecx eax ", "ebx eax rflags "},
         3,
         {0x0f, 0xb1, 0xcb}},
        {{"rol dword [rax],3", 0, TROD_BR_NONE, 0, 1, 1, 4, 4, COUNTS | SIZES, 0, "rax ",
          "rflags "},
         3,
         {0xc1, 0x00, 0x03}},
        {{"ror byte [rax],cl", 0, TROD_BR_NONE, 0, 1, 1, 1, 1, COUNTS | SIZES, 0, NULL, NULL},
         2,
         {0xd2, 0x08}},
        {{"rcl qword [rax]", 0, TROD_BR_NONE, 0, 1, 1, 8, 8, COUNTS | SIZES, 0, "rax rflags ",
          "rflags "},
         3,
         {0x48, 0xd1, 0x10}},
        {{"rcr ecx", 0, NOTHING, COUNTS, 0, "ecx rflags ", "rflags ecx "}, 2, {0xd1, 0xd9}},
        {{"movbe [rax],ecx", 0, TROD_BR_NONE, 0, 0, 1, 0, 4, COUNTS | SIZES, 0, NULL, NULL},
         4,
         {0x0f, 0x38, 0xf1, 0x08}},
        {{"movbe ecx,[rax]", 0, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, NULL, NULL},
         4,
         {0x0f, 0x38, 0xf0, 0x08}},
        {{"xlatb", 0, TROD_BR_NONE, 0, 1, 0, 1, 0, COUNTS | SIZES, 0, "rbx al ", "al "}, 1, {0xd7}},
        /* of the bytes at rdi those that the mask chooses */
        {{"maskmovq mm2,mm1", 0, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS | PRED, 0, NULL, NULL},
         3,
         {0x0f, 0xf7, 0xd1}},
        {{"maskmovdqu xmm2,xmm1", 0, TROD_BR_NONE, 0, 0, 1, 0, 16, COUNTS | PRED, 0, NULL, NULL},
         4,
         {0x66, 0x0f, 0xf7, 0xd1}},
        {{"enter 16,0", 0, NOTHING, 0, COUNTS, "rsp rbp ", "rsp rbp "}, 4, {0xc8, 0x10, 0, 0}},
        {{"adox eax,ecx", 0, NOTHING, COUNTS, 0, "rflags eax ecx ", "rflags eax "},
         5,
         {0xf3, 0x0f, 0x38, 0xf6, 0xc1}},
        {{"vzeroupper", 0, NOTHING, COUNTS, 0, "", ""}, 3, {0xc5, 0xf8, 0x77}},
        /* the x87 unit: names count from the top of its stack */
        {{"fld qword [rbp-8]", 0, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS, 0, "rbp ", "fpsw st(0) "},
         3,
         {0xdd, 0x45, 0xf8}},
        {{"fld st(2)", 0, NOTHING, COUNTS, 0, "st(2) ", "fpsw st(0) "}, 2, {0xd9, 0xc2}},
        {{"fadd dword [rbp-8]", 0, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS, 0, "rbp st(0) ",
          "fpsw st(0) "},
         3,
         {0xd8, 0x45, 0xf8}},
        {{"fmul st,st(1)", 0, NOTHING, COUNTS, 0, "st(0) st(1) ", "st(0) "}, 2, {0xd8, 0xc9}},
        {{"fmul st(1),st", 0, NOTHING, COUNTS, 0, "st(0) st(1) ", "st(1) "}, 2, {0xdc, 0xc9}},
        {{"faddp st(1),st", 0, NOTHING, COUNTS, 0, "st(0) st(1) ", "st(0) "}, 2, {0xde, 0xc1}},
        {{"faddp st(3),st", 0, NOTHING, COUNTS, 0, "st(0) st(3) ", "st(2) "}, 2, {0xde, 0xc3}},
        {{"fst st(1)", 0, NOTHING, COUNTS, 0, "st(0) ", "fpsw st(1) "}, 2, {0xdd, 0xd1}},
        {{"fstp qword [rbp-8]", 0, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS, 0, "rbp st(0) ", "fpsw "},
         3,
         {0xdd, 0x5d, 0xf8}},
        {{"fxch st(1)", 0, NOTHING, COUNTS, 0, "st(0) st(1) ", "fpsw st(0) st(1) "},
         2,
         {0xd9, 0xc9}},
        {{"fcmovb st,st(1)", 0, NOTHING, COUNTS, 0, "rflags st(0) st(1) ", "fpsw st(0) "},
         2,
         {0xda, 0xc1}},
        {{"fcompp", 0, NOTHING, COUNTS, 0, "st(0) st(1) ", ""}, 2, {0xde, 0xd9}},
        {{"fucomi st,st(1)", 0, NOTHING, COUNTS, 0, "st(0) st(1) ", "rflags fpsw "},
         2,
         {0xdb, 0xe9}},
        {{"fyl2x", 0, NOTHING, COUNTS, 0, "st(0) st(1) ", "st(0) "}, 2, {0xd9, 0xf1}},
        {{"fnstsw ax", 0, NOTHING, COUNTS, 0, "fpsw ", "ax "}, 2, {0xdf, 0xe0}},
        {{"movsb", 0, TROD_BR_NONE, 0, 1, 1, 1, 1, COUNTS | SIZES, TROD_INSN_REPEAT, NULL, NULL},
         1,
         {0xa4}},
        {{"rep movsb", 0, TROD_BR_NONE, 0, 1, 1, 1, 1, TROD_INSN_REPEAT, 0, NULL, NULL},
         2,
         {0xf3, 0xa4}},
        {{"movaps xmm0,[rdi]", 0, TROD_BR_NONE, 0, 1, 0, 16, 0, COUNTS | SIZES | TROD_INSN_FP, 0,
          NULL, NULL},
         3,
         {0x0f, 0x28, 0x07}},
        {{"movaps [rdi],xmm0", 0, TROD_BR_NONE, 0, 0, 1, 0, 16, COUNTS | SIZES, 0, NULL, NULL},
         3,
         {0x0f, 0x29, 0x07}},
        {{"vmovdqu ymm0,[rdi]", 0, TROD_BR_NONE, 0, 1, 0, 32, 0, COUNTS | SIZES, 0, NULL, NULL},
         4,
         {0xc5, 0xfe, 0x6f, 0x07}},
        {{"vpgatherdd xmm0,[rdi+xmm1*4],xmm2", 0, TROD_BR_NONE, 0, 1, 0, 0, 0, PRED, 0, NULL, NULL},
         6,
         {0xc4, 0xe2, 0x69, 0x90, 0x04, 0x8f}},
        {{"prefetcht0 [rdi]", 0, NOTHING, TROD_INSN_PREFETCH | COUNTS, 0, NULL, NULL},
         3,
         {0x0f, 0x18, 0x0f}},
        {{"clflush [rdi]", 0, NOTHING, TROD_INSN_FLUSH | COUNTS, 0, NULL, NULL},
         3,
         {0x0f, 0xae, 0x3f}},
        {{"fstp [rdi] (64 bits)", 0, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS | SIZES, 0, NULL, NULL},
         2,
         {0xdd, 0x1f}},
        {{"xsave [rdi]", 0, TROD_BR_NONE, 0, 0, 1, 0, 0, COUNTS, SIZES, NULL, NULL},
         3,
         {0x0f, 0xae, 0x27}},
    };
    struct trod_insn_decoder *d = decoder(TROD_ISA_X86_64, TROD_ENDIAN_LITTLE);

    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        look(d, TROD_ISET_NONE, &facts[i].f, facts[i].code, facts[i].n);
    /* 06 (push es) is no instruction in 64-bit mode; a cut one is none either */
    say("push es", "valid",
        trod_insn_decode(d, TROD_ISET_NONE, AT, (const uint8_t[]){0x06}, 1)->valid, 0);
    say("a cut mov", "valid",
        trod_insn_decode(d, TROD_ISET_NONE, AT, (const uint8_t[]){0x48, 0x8b}, 2)->valid, 0);
    trod_insn_decoder_free(d);
    assert_int_equal(wrong, 0);
}

/* What is kept is kept under address, bytes and instruction set. */
static void test_kept(void **state)
{
    struct trod_insn_decoder *d = decoder(TROD_ISA_ARM, TROD_ENDIAN_LITTLE);
    const uint8_t b[4] = {0x02, 0x00, 0x00, 0xea}, nop[4] = {0x00, 0x00, 0xa0, 0xe1};

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        say("b", "target", trod_insn_decode(d, TROD_ISET_A32, 0x8000, b, 4)->target, 0x8010);
        say("b", "target", trod_insn_decode(d, TROD_ISET_A32, 0x9000, b, 4)->target, 0x9010);
        say("nop", "branch", trod_insn_decode(d, TROD_ISET_A32, 0x8000, nop, 4)->branch, 0);
        /* as T32 these are movs r2,r0 and b.n */
        say("t32", "branch", trod_insn_decode(d, TROD_ISET_T32, 0x8000, b, 2)->branch, 0);
        say("t32", "size", trod_insn_decode(d, TROD_ISET_T32, 0x8000, b, 2)->size, 2);
    }
    say("nothing", "valid", trod_insn_decode(d, TROD_ISET_A32, 0, b, 0)->valid, 0);
    trod_insn_decoder_free(d);
    assert_int_equal(wrong, 0);
}

#endif

static void test_ppc(void **state)
{
    static const struct fact facts[] = {
        {"nop", 0x60000000, NOTHING, COUNTS, 0, NULL, NULL},
        {"add r3,r4,r5", 0x7c642a14, NOTHING, COUNTS, 0, "r4 r5 ", "r3 "},
        {"b +0x10", 0x48000010, TROD_BR_DIRECT, 0x8010, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"ba 0x100", 0x48000102, TROD_BR_DIRECT, 0x100, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bl -0x10", 0x4bfffff1, TROD_BR_CALL, 0x7ff0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"beq +0x10", 0x41820010, TROD_BR_COND, 0x8010, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"blr", 0x4e800020, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bctr", 0x4e800420, TROD_BR_INDIRECT, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"bctrl", 0x4e800421, TROD_BR_ICALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"sc", 0x44000002, TROD_BR_SYSCALL, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"rfi", 0x4c000064, TROD_BR_ERET, 0, 0, 0, 0, 0, COUNTS, 0, NULL, NULL},
        {"lwz r3,0(r4)", 0x80640000, TROD_BR_NONE, 0, 1, 0, 4, 0, COUNTS | SIZES, 0, "r4 ", "r3 "},
        {"lbz r3,0(r4)", 0x88640000, TROD_BR_NONE, 0, 1, 0, 1, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"lhau r3,2(r4)", 0xac640002, TROD_BR_NONE, 0, 1, 0, 2, 0, COUNTS | SIZES, 0, "r4 ",
         "r3 r4 "},
        {"lfd f1,0(r4)", 0xc8240000, TROD_BR_NONE, 0, 1, 0, 8, 0, TROD_INSN_FP | SIZES, 0, NULL,
         NULL},
        {"lmw r29,0(r4)", 0xbba40000, TROD_BR_NONE, 0, 1, 0, 12, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"stmw r30,0(r4)", 0xbfc40000, TROD_BR_NONE, 0, 0, 1, 0, 8, COUNTS | SIZES, 0, NULL, NULL},
        {"lswx r3,0,r4", 0x7c60242a, TROD_BR_NONE, 0, 1, 0, 0, 0, COUNTS, SIZES, NULL, NULL},
        {"stwcx. r3,0,r4", 0x7c60212d, TROD_BR_NONE, 0, 0, 1, 0, 4, COUNTS | PRED, 0, NULL, NULL},
        {"lvx v0,0,r4", 0x7c0020ce, TROD_BR_NONE, 0, 1, 0, 16, 0, COUNTS | SIZES, 0, NULL, NULL},
        {"dcbt 0,r4", 0x7c00222c, NOTHING, TROD_INSN_PREFETCH, 0, NULL, NULL},
        {"dcbf 0,r4", 0x7c0020ac, NOTHING, TROD_INSN_FLUSH, 0, NULL, NULL},
        {"fadd f1,f2,f3", 0xfc22182a, NOTHING, TROD_INSN_FP | COUNTS, 0, NULL, NULL},
    };

    (void)state;
    WORDS(TROD_ISA_PPC32, TROD_ENDIAN_BIG, TROD_ISET_NONE, facts);
}

static void test_riscv(void **state)
{
    static const struct fact facts[] = {
        {"jal ra,+16", 0x010000ef, TROD_BR_CALL, 0x8010, 0, 0, 0, 0, COUNTS, 0, "", "ra "},
        {"jal t1,+16", 0x0100036f, TROD_BR_DIRECT, 0x8010, 0, 0, 0, 0, COUNTS, 0, "", "t1 "},
        {"c.j -8", 0xbfe5, TROD_BR_DIRECT, 0x7ff8, 0, 0, 0, 0, COUNTS, 0, "", ""},
        {"jalr ra,18(ra)", 0x012080e7, TROD_BR_ICALL, 0, 0, 0, 0, 0, 0, 0, "ra ", "ra "},
        {"c.jr ra", 0x8082, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, "ra ", ""},
        {"c.jr t0", 0x8282, TROD_BR_RETURN, 0, 0, 0, 0, 0, COUNTS, 0, "t0 ", ""},
        {"c.jr t1", 0x8302, TROD_BR_INDIRECT, 0, 0, 0, 0, 0, COUNTS, 0, "t1 ", ""},
        {"c.jalr a0", 0x9502, TROD_BR_ICALL, 0, 0, 0, 0, 0, COUNTS, 0, "a0 ", "ra "},
        {"beq a0,a1,+32", 0x02b50063, TROD_BR_COND, 0x8020, 0, 0, 0, 0, 0, 0, "a0 a1 ", ""},
        {"bgeu t0,t6,-16", 0xfff2f8e3, TROD_BR_COND, 0x7ff0, 0, 0, 0, 0, 0, 0, "t0 t6 ", ""},
        {"c.beqz a0,+8", 0xc501, TROD_BR_COND, 0x8008, 0, 0, 0, 0, 0, 0, "a0 ", ""},
        {"ecall", 0x00000073, TROD_BR_SYSCALL, 0, 0, 0, 0, 0, COUNTS, 0, "", ""},
        {"mret", 0x30200073, TROD_BR_ERET, 0, 0, 0, 0, 0, TROD_INSN_SYSTEM, 0, "", ""},
        {"c.ebreak", 0x9002, NOTHING, TROD_INSN_TRAP, 0, "", ""},
        {"c.ld a2,8(a1)", 0x6590, TROD_BR_NONE, 0, 1, 0, 8, 0, COUNTS | SIZES, 0, "a1 ", "a2 "},
        {"lbu a2,-1(a1)", 0xfff5c603, TROD_BR_NONE, 0, 1, 0, 1, 0, SIZES, 0, "a1 ", "a2 "},
        {"sd a2,-8(sp)", 0xfec13c23, TROD_BR_NONE, 0, 0, 1, 0, 8, SIZES, 0, "sp a2 ", ""},
        {"sb zero,0(a0)", 0x00050023, TROD_BR_NONE, 0, 0, 1, 0, 1, SIZES, 0, "a0 ", ""},
        {"c.sdsp ra,8(sp)", 0xe406, TROD_BR_NONE, 0, 0, 1, 0, 8, SIZES, 0, "sp ra ", ""},
        {"c.fldsp fa0,16(sp)", 0x2542, TROD_BR_NONE, 0, 1, 0, 8, 0, TROD_INSN_FP, 0, "sp ", "fa0 "},
        {"fsw ft1,4(s0)", 0x00142227, TROD_BR_NONE, 0, 0, 1, 0, 4, TROD_INSN_FP, 0, "s0 ft1 ", ""},
        {"amoadd.w.aqrl a0,a1,(a2)", 0x06b6252f, TROD_BR_NONE, 0, 1, 1, 4, 4, TROD_INSN_ATOMIC, 0,
         "a1 a2 ", "a0 "},
        {"lr.d a0,(a2)", 0x1006352f, TROD_BR_NONE, 0, 1, 0, 8, 0, TROD_INSN_ATOMIC, PRED, "a2 ",
         "a0 "},
        {"sc.d a1,a0,(a2)", 0x18a635af, TROD_BR_NONE, 0, 0, 1, 0, 8, TROD_INSN_ATOMIC | PRED, 0,
         "a0 a2 ", "a1 "},
        {"fmadd.d fa0,fa1,fa2,fa3", 0x6ac5f543, NOTHING, TROD_INSN_FP, 0, "fa1 fa2 fa3 ", "fa0 "},
        {"fcvt.w.s a0,fa0", 0xc0057553, NOTHING, TROD_INSN_FP, 0, "fa0 ", "a0 "},
        {"csrrw zero,mtvec,t0", 0x30529073, NOTHING, TROD_INSN_SYSTEM, 0, "t0 ", ""},
        {"csrrsi a0,fflags,3", 0x0011e573, NOTHING, TROD_INSN_SYSTEM, 0, "", "a0 "},
        {"mul a0,a1,a2", 0x02c58533, NOTHING, COUNTS, SIZES, "a1 a2 ", "a0 "},
        {"lui a0,0x12345", 0x12345537, NOTHING, COUNTS, 0, "", "a0 "},
        {"c.addi a0,-1", 0x157d, NOTHING, COUNTS, 0, "a0 ", "a0 "},
        {"c.addi16sp sp,-64", 0x7139, NOTHING, COUNTS, 0, "sp ", "sp "},
        {"c.addi4spn a0,sp,16", 0x0808, NOTHING, COUNTS, 0, "sp ", "a0 "},
        {"c.mv a0,a1", 0x852e, NOTHING, COUNTS, 0, "a1 ", "a0 "},
        {"c.add a0,a1", 0x952e, NOTHING, COUNTS, 0, "a0 a1 ", "a0 "},
        {"sh1add a0,a1,a2", 0x20c5a533, NOTHING, COUNTS, 0, "a1 a2 ", "a0 "},
    };
    /* 0x2505 is c.addiw a0,1 in 64-bit code */
    static const struct fact facts32[] = {
        {"c.jal +0x620", 0x2505, TROD_BR_CALL, 0x8620, 0, 0, 0, 0, COUNTS, 0, "", "ra "},
        {"c.flw fa0,0(a0)", 0x6108, TROD_BR_NONE, 0, 1, 0, 4, 0, TROD_INSN_FP, 0, "a0 ", "fa0 "},
    };

    (void)state;
    WORDS(TROD_ISA_RISCV64, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, facts);
    WORDS(TROD_ISA_RISCV32, TROD_ENDIAN_LITTLE, TROD_ISET_NONE, facts32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if TROD_HAVE_CAPSTONE
        cmocka_unit_test(test_a64),
        cmocka_unit_test(test_a32),
        cmocka_unit_test(test_t32),
        cmocka_unit_test(test_mips),
        cmocka_unit_test(test_x86),
        cmocka_unit_test(test_kept),
#endif
        cmocka_unit_test(test_ppc),
        cmocka_unit_test(test_riscv),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
